"""The simulated NPU: what it is, and what kernels are estimated to cost on hardware.

Only a wheel of the simulated toolkit has it.
"""

from __future__ import annotations

try:
    from amct_ops._sim._control import profile
    from amct_ops._sim.estimate import Estimate, Launch, estimate
except ModuleNotFoundError as error:
    if error.name not in ("amct_ops._sim", "amct_ops._sim._control"):
        raise
    raise ImportError(
        "amct_ops.sim: this wheel of amct_ops is built for CANN and holds no simulator. A wheel "
        "built without ASCEND_HOME_PATH, or with -C cmake.define.TOOLKIT=sim, has one"
    ) from error

__all__ = ["Estimate", "Launch", "estimate", "profile"]
