# Source this file to build against, and run on, the simulated toolkit of amct_ops.
_amct_sim="$(cd "$(dirname "${BASH_SOURCE[0]:-$0}")" && pwd)"
export ASCEND_HOME_PATH="${_amct_sim}"
export ASCEND_OPP_PATH="${_amct_sim}/opp"
export PATH="${_amct_sim}/bin:${PATH}"
export LD_LIBRARY_PATH="${_amct_sim}/lib64${LD_LIBRARY_PATH:+:${LD_LIBRARY_PATH}}"
export CMAKE_PREFIX_PATH="${_amct_sim}/lib64/cmake${CMAKE_PREFIX_PATH:+:${CMAKE_PREFIX_PATH}}"
unset _amct_sim
