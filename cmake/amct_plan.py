"""What to build with what: the one place where the build looks at its surroundings.

`make_plan` turns the user's three settings (SOC, OPS, TOOLKIT) and the machine into a `Plan`, or
into a `PlanError` whose text is all that the user needs to read. The PEP 517 backend asks it for
the wheel's version and requirements, CMake for the rest:

    python amct_plan.py plan --soc ascend910b --ops "" --toolkit auto --output plan.json
    python amct_plan.py manifest --plan plan.json --prefix <install prefix>

It needs the standard library only, imports neither torch nor torch_npu (an import of torch fails
on a build host without NPU libraries), and asks neither npu-smi nor the network.
"""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from amct_ops import _soc  # noqa: E402

VERSION = "1.0.0"
# The pair that an isolated build fetches where the machine has none. torch_npu X.Y fits torch X.Y.
TORCH_MINOR = "2.13"
# In an sdist this file carries the git revision that it was made from.
REVISION_FILE = ROOT / "REVISION.json"


class PlanError(Exception):
    """The build cannot start; the message says why and what to do."""


@dataclass(frozen=True)
class Package:
    """An installed Python package whose headers or libraries the build uses."""

    name: str
    version: str
    path: str

    @property
    def minor(self) -> str:
        """The version's first two numbers, e.g. ``2.13``."""
        return ".".join(self.version.split(".")[:2])


@dataclass(frozen=True)
class Toolkit:
    """The Ascend toolkit that builds the operators: CANN, or the simulated one."""

    kind: str  # "cann" | "sim"
    home: str
    version: str

    @property
    def identity(self) -> str:
        """A short name that differs between toolkits, for names of build trees."""
        if self.kind == "sim":
            return "sim"
        digest = hashlib.sha256(f"{self.home}:{self.version}".encode()).hexdigest()[:8]
        return f"cann-{digest}"


@dataclass(frozen=True)
class Plan:
    """All that the build needs to know before CMake looks for a compiler."""

    version: str
    socs: dict[str, str]  # name -> NPU architecture
    npu_archs: list[str]
    ops: list[str]
    ops_named: bool
    soc_all: bool
    schemas: dict[str, list[str]]
    toolkit: Toolkit
    torch: Package
    torch_npu: Package
    pybind11: Package | None
    cxx11_abi: int
    cxx_standard: int
    sim_soc: str  # what the simulator is where AMCT_SIM_SOC does not say

    @property
    def requirements(self) -> list[str]:
        """The wheel's Requires-Dist: torch has no stable C++ ABI across minor versions."""
        return [f"torch=={self.torch.minor}.*", f"torch_npu=={self.torch_npu.minor}.*"]


def resolve_socs(spec: str) -> list[_soc.Soc]:
    """Return the SOCs that `spec` names; see `_soc.resolve`."""
    if spec.startswith("["):
        raise PlanError(
            f"SOC is {spec!r}, a repeated -C cmake.define.SOC. Pass one list: "
            '-C "cmake.define.SOC=ascend910b;ascend950"'
        )
    try:
        return _soc.resolve(spec)
    except ValueError as error:
        raise PlanError(str(error)) from None


def resolve_ops(spec: str, root: Path = ROOT) -> list[str]:
    """Return the operators that `spec` names (a list by ``;`` or ``,``); all for an empty one."""
    folders = sorted(
        path.name for path in (root / "ops").iterdir() if path.is_dir() and path.name[0] not in "._"
    )
    named = [name.strip() for name in re.split("[;,]", spec) if name.strip()]
    unknown = [name for name in named if name not in folders]
    if unknown:
        raise PlanError(
            f"unknown operator {', '.join(unknown)!r}. Operators in ops/: {', '.join(folders)}"
        )
    ops = [name for name in folders if not named or name in named]
    if not ops:
        raise PlanError("ops/ holds no operator")
    for name in ops:
        if not (root / "ops" / name / "CMakeLists.txt").is_file():
            raise PlanError(
                f"ops/{name}/CMakeLists.txt is missing. Declare the operator there with "
                f"amct_op({name} ...), or remove ops/{name}"
            )
    return ops


def read_schemas(ops: list[str], root: Path = ROOT) -> dict[str, list[str]]:
    """Return the schemas that each operator's register.cpp defines.

    Raises:
        PlanError: an operator defines none, or two define one name.
    """
    schemas: dict[str, list[str]] = {}
    owner: dict[str, str] = {}
    for op in ops:
        source = root / "ops" / op / "op_extension" / "register.cpp"
        if not source.is_file():
            raise PlanError(
                f"ops/{op}/op_extension/register.cpp is missing: it registers the schema"
            )
        code = re.sub(r"//[^\n]*|/\*.*?\*/", "", source.read_text(encoding="utf-8"), flags=re.S)
        calls = re.findall(r'\bm\s*\.\s*def\s*\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+)', code)
        schemas[op] = [
            re.sub(r"\\(.)", r"\1", "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', call)))
            for call in calls
        ]
        if not schemas[op]:
            raise PlanError(f'ops/{op}/op_extension/register.cpp defines no schema: m.def("...")')
        for schema in schemas[op]:
            name = schema.split("(")[0].strip()
            if name in owner:
                raise PlanError(
                    f"operator amct::{name} is defined twice: in ops/{owner[name]} and in "
                    f"ops/{op}. Rename one of them"
                )
            owner[name] = op
    return schemas


def resolve_toolkit(kind: str) -> Toolkit:
    """Return the toolkit for TOOLKIT=`kind`: ``auto`` takes CANN where ASCEND_HOME_PATH is set."""
    if kind not in ("auto", "cann", "sim"):
        raise PlanError(f"unknown TOOLKIT {kind!r}. Allowed: auto, cann, sim")
    home = os.environ.get("ASCEND_HOME_PATH", "")
    simulated = Toolkit("sim", str(ROOT / "sim" / "toolkit"), VERSION)
    if kind == "sim" or (kind == "auto" and not home):
        return simulated
    how = "source <CANN>/set_env.sh first, or build with TOOLKIT=sim"
    if not home:
        raise PlanError(f"TOOLKIT=cann, but ASCEND_HOME_PATH is not set: {how}")
    path = Path(home)
    if not path.is_dir():
        raise PlanError(f"ASCEND_HOME_PATH={home} is not a folder: {how}")
    if (path / "SIMULATED.txt").is_file():
        if kind == "cann":
            raise PlanError(
                f"TOOLKIT=cann, but ASCEND_HOME_PATH={home} is a simulated toolkit: {how}"
            )
        return simulated
    return Toolkit("cann", str(path.resolve()), _cann_version(path))


def _cann_version(home: Path) -> str:
    for info in sorted(home.glob("*-linux/ascend_toolkit_install.info")):
        match = re.search(r"^version=(\S+)", info.read_text(encoding="utf-8"), re.M)
        if match:
            return match.group(1)
    return "unknown"


_FIND = """
import importlib.util, json, sys
found = {}
for name in sys.argv[1:]:
    spec = importlib.util.find_spec(name)
    if spec is not None and spec.submodule_search_locations:
        found[name] = list(spec.submodule_search_locations)[0]
print(json.dumps(found))
"""


def find_packages(*names: str) -> dict[str, Package]:
    """Return those of `names` that are installed, all from one environment.

    An isolated build (pip) hides the user's environment behind PYTHONPATH. The environment of the
    build itself comes first; ``python -E`` then shows the user's.
    """
    best: dict[str, Package] = {}
    for flags in ([], ["-E"]):
        answer = subprocess.run(
            [sys.executable, *flags, "-c", _FIND, *names],
            capture_output=True,
            text=True,
            check=True,
            cwd=os.path.dirname(__file__),
        )
        found = {
            name: Package(name, _package_version(Path(path)), path)
            for name, path in json.loads(answer.stdout).items()
        }
        if len(found) > len(best):
            best = found
    return best


def _package_version(path: Path) -> str:
    for source in (path / "version.py", path / "_version.py"):
        if source.is_file():
            text = source.read_text(encoding="utf-8")
            match = re.search(r"^_*version_*\s*(?::[^=]*)?=\s*['\"]([^'\"]+)['\"]", text, re.M)
            if match:
                return match.group(1)
    raise PlanError(f"cannot read the version of {path.name} in {path}")


def missing_requirements() -> list[str]:
    """Return what an isolated build environment must fetch: a torch pair where there is none."""
    found = find_packages("torch", "torch_npu")
    if "torch" in found and "torch_npu" in found:
        return []
    minor = found["torch"].minor if "torch" in found else TORCH_MINOR
    return [f"torch=={minor}.*", f"torch_npu=={minor}.*"]


def find_torch_pair() -> tuple[Package, Package]:
    """Return the installed torch and torch_npu.

    Raises:
        PlanError: one is missing, or their minor versions differ.
    """
    found = find_packages("torch", "torch_npu")
    for name in ("torch", "torch_npu"):
        if name not in found:
            minor = next(iter(found.values())).minor if found else TORCH_MINOR
            raise PlanError(
                f"{name} is not installed for {sys.executable}. Run: pip install "
                f"'torch=={minor}.*' 'torch_npu=={minor}.*', or build without --no-build-isolation"
            )
    torch, torch_npu = found["torch"], found["torch_npu"]
    if torch.minor != torch_npu.minor:
        raise PlanError(
            f"torch_npu {torch_npu.version} does not match torch {torch.version} (in "
            f"{os.path.dirname(torch.path)}). Run: pip install 'torch_npu=={torch.minor}.*'"
        )
    return torch, torch_npu


def _cxx11_abi(torch: Package) -> int:
    # torch < 2.8 writes the ABI of its libraries here; since then there is only the new one.
    config = Path(torch.path) / "share" / "cmake" / "Torch" / "TorchConfig.cmake"
    text = config.read_text(encoding="utf-8") if config.is_file() else ""
    match = re.search(r"_GLIBCXX_USE_CXX11_ABI=([01])", text)
    return int(match.group(1)) if match else 1


def _check_compiler() -> None:
    cxx = os.environ.get("CXX", "")
    names = [cxx.split()[0]] if cxx.split() else ["c++", "g++", "clang++"]
    if not any(shutil.which(name) for name in names):
        raise PlanError(
            f"no C++ compiler: looked for {', '.join(names)}. Install one (apt install g++), "
            "or set CXX to it"
        )


def label_version(kind: str, npu_archs: list[str], complete: bool) -> str:
    """Return the wheel's version: plain only for a complete wheel of the real toolkit."""
    label = ["sim"] if kind == "sim" else []
    if label or not complete:
        label += [arch.replace("-", "") for arch in npu_archs]
    return VERSION + ("+" + ".".join(label) if label else "")


def make_plan(soc: str, ops: str, toolkit: str) -> Plan:
    """Return the plan for the three settings.

    Raises:
        PlanError: a setting or the machine is wrong; the settings are looked at first.
    """
    socs = resolve_socs(soc)
    chosen = resolve_ops(ops)
    schemas = read_schemas(chosen)
    kit = resolve_toolkit(toolkit)
    _check_compiler()
    torch, torch_npu = find_torch_pair()
    pybind11 = None
    if kit.kind == "sim":
        pybind11 = find_packages("pybind11").get("pybind11")
        if pybind11 is None:
            raise PlanError(
                "pybind11 is not installed, the simulator needs it: pip install pybind11"
            )
    archs = _soc.npu_archs(socs)
    first = next(soc for soc in _soc.SOCS if soc.npu_arch == archs[0])
    ops_named = bool(ops.strip(" ;,"))
    return Plan(
        version=label_version(kit.kind, archs, archs == _soc.npu_archs() and not ops_named),
        socs={soc.name: soc.npu_arch for soc in socs},
        npu_archs=archs,
        ops=chosen,
        ops_named=ops_named,
        soc_all="all" in re.split("[;, ]", soc.lower()),
        schemas=schemas,
        toolkit=kit,
        torch=torch,
        torch_npu=torch_npu,
        pybind11=pybind11,
        cxx11_abi=_cxx11_abi(torch),
        # torch 2.14's headers need C++20; g++ 12 still compiles 2.13's as C++17.
        cxx_standard=20 if tuple(map(int, torch.minor.split("."))) >= (2, 14) else 17,
        sim_soc=first.chips[0].example,
    )


def git_state(root: Path = ROOT) -> dict[str, object]:
    """Return ``{"revision": str | None, "dirty": bool | None}`` of the sources."""
    if REVISION_FILE.is_file():
        state: dict[str, object] = json.loads(REVISION_FILE.read_text(encoding="utf-8"))
        return state

    def git(*args: str) -> str | None:
        try:
            run = subprocess.run(
                ["git", "-C", str(root), *args], capture_output=True, text=True, check=True
            )
        except (OSError, subprocess.CalledProcessError):
            return None
        return run.stdout.strip()

    # A checkout of another project around an unpacked archive says nothing about these sources.
    top = git("rev-parse", "--show-toplevel")
    if top is None or Path(top).resolve() != root:
        return {"revision": None, "dirty": None}
    return {"revision": git("rev-parse", "HEAD"), "dirty": bool(git("status", "--porcelain"))}


def write_soc_table(path: Path) -> None:
    """Write the SOC table as the X-macro list that the simulated runtime includes."""
    lines = [
        f'SIM_SOC("{chip.name}", {soc.npu_arch.replace("dav-", "")}, {chip.aic_cores}, '
        f"{chip.aiv_cores}, {chip.ub_bytes}, {chip.hbm_gib}, {chip.clock_mhz})\n"
        for soc in _soc.SOCS
        for chip in soc.chips
    ]
    text = "".join(lines)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:  # else all is rebuilt
        path.write_text(text, encoding="utf-8")


def write_manifest(plan: dict[str, Any], prefix: Path, limits: dict[str, list[str]]) -> None:
    """Write ``amct_ops/_manifest.json`` below `prefix` for the libraries that are installed there.

    An architecture serves all its SOCs, whichever was asked for: two builds with one name have one
    content. `limits` holds the SOCs of those operators that do not support all.
    """
    package = prefix / "amct_ops"
    operators: dict[str, object] = {}
    for op, schemas in sorted(plan["schemas"].items()):
        libraries = {}
        for library in sorted(package.glob(f"{op}/dav-*/lib{op}_ops.so")):
            arch = library.parent.name
            libraries[arch] = {
                "library": library.relative_to(package).as_posix(),
                "sha256": hashlib.sha256(library.read_bytes()).hexdigest(),
                "socs": [
                    soc.name
                    for soc in _soc.SOCS
                    if soc.npu_arch == arch and soc.name in limits.get(op, [soc.name])
                ],
            }
        if libraries:
            supported = limits.get(op, [soc.name for soc in _soc.SOCS])
            operators[op] = {"schemas": schemas, "socs": supported, "npu_archs": libraries}
    torch, torch_npu, toolkit = plan["torch"], plan["torch_npu"], plan["toolkit"]
    manifest = {
        "format": 1,
        "version": plan["version"],
        "operators": operators,
        "toolkit": {key: toolkit[key] for key in ("kind", "version")},
        "torch": torch["version"],
        "torch_npu": torch_npu["version"],
        "cxx11_abi": plan["cxx11_abi"],
        "builder": VERSION,
        "git": git_state(),
    }
    text = json.dumps(manifest, indent=2, sort_keys=True) + "\n"
    (package / "_manifest.json").write_text(text, encoding="utf-8")


def main() -> None:
    """Run the command line that CMake uses; a `PlanError` is printed alone, exit status 1."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    plan = commands.add_parser("plan")
    for option in ("--soc", "--ops", "--toolkit"):
        plan.add_argument(option, required=True)
    plan.add_argument("--output", type=Path, required=True)
    manifest = commands.add_parser("manifest")
    manifest.add_argument("--plan", type=Path, required=True)
    manifest.add_argument("--prefix", type=Path, required=True)
    manifest.add_argument("--limit", action="append", default=[], metavar="OP=SOC,...")
    table = commands.add_parser("soc-table")
    table.add_argument("--output", type=Path, required=True)
    args = parser.parse_args()
    if args.command == "soc-table":
        return write_soc_table(args.output)
    if args.command == "manifest":
        limits = {op: socs.split(",") for op, _, socs in (x.partition("=") for x in args.limit)}
        plan_made = json.loads(args.plan.read_text(encoding="utf-8"))
        return write_manifest(plan_made, args.prefix, limits)
    try:
        made = make_plan(args.soc, args.ops, args.toolkit)
    except PlanError as error:
        sys.exit(str(error))
    args.output.write_text(json.dumps(dataclasses.asdict(made), indent=2), encoding="utf-8")
    return None


if __name__ == "__main__":
    main()
