#!/usr/bin/env bash
# Builds the wheel into dist/: a thin wrapper of `pip wheel .`
set -euo pipefail

usage() {
    cat <<'USAGE'
Usage: bash ops_build.sh [--soc <soc>[,<soc>...]|all] [<op>...]

Builds one wheel with the operators <op>... (default: all that support the SOC) into dist/.

  --soc    ascend910b (A2, the default), ascend910_93 (A3), ascend950 (A5), a chip's name,
           a list of them, or all
  --help   this text

Environment:
  ASCEND_HOME_PATH   CANN, set by its set_env.sh; without it the simulated toolkit is used
  AMCT_TOOLKIT       cann | sim | auto (default), to force one of the two
  PYTHON             the Python to build for (default: python3)
  MAX_JOBS           parallel compile jobs
USAGE
}

soc=()
ops=()
while [ $# -gt 0 ]; do
    case "$1" in
        --soc=*) soc=(-C "cmake.define.SOC=${1#--soc=}") ;;
        --soc)
            if [ $# -lt 2 ]; then
                echo "ops_build.sh: --soc needs a value, e.g. --soc ascend910_93" >&2
                exit 2
            fi
            soc=(-C "cmake.define.SOC=$2")
            shift
            ;;
        -h | --help)
            usage
            exit
            ;;
        -*)
            echo "ops_build.sh: unknown option $1" >&2
            usage >&2
            exit 2
            ;;
        *) ops+=("$1") ;;
    esac
    shift
done
if [ ${#ops[@]} -gt 0 ]; then
    ops=(-C "cmake.define.OPS=$(IFS=';' && echo "${ops[*]}")")
fi

cd "$(dirname "${BASH_SOURCE[0]}")"
exec "${PYTHON:-python3}" -m pip --disable-pip-version-check wheel . --verbose --no-deps --wheel-dir dist \
    ${soc[@]+"${soc[@]}"} ${ops[@]+"${ops[@]}"}
