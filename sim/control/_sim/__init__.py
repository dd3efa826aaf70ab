"""The simulated NPU, as Python sees it. Only wheels of the simulated toolkit hold this package."""

from __future__ import annotations

__all__ = ["profile"]


def profile() -> dict[str, object]:
    """Return the simulated SOC.

    Keys: name, npu_arch, aic_cores, aiv_cores, ub_bytes, hbm_bytes, clock_mhz.

    AMCT_SIM_SOC chooses it, by the name that npu-smi gives a chip.

    Raises:
        ValueError: AMCT_SIM_SOC names no known chip.
    """
    from amct_ops._sim._control import profile as read  # keep the start of Python light

    return read()
