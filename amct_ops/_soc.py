"""The SOC table: which chips there are, and which NPU architecture each one runs.

This is the only place that knows it. The build resolves ``SOC=...`` here, the loader maps the
device's name to the library to load, and the simulator takes its profiles from it.

The core counts, Unified Buffer sizes and clocks serve the simulator only; kernels ask the platform
for them (``GetCoreMemSize``, ``GetCoreNumAiv``). They follow Huawei's published documents: 192 KB
UB per vector core on A2 and A3, 248 KB of 256 KB usable on A5.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_KIB = 1024


@dataclass(frozen=True)
class Chip:
    """One product of a SOC, by the name that ``npu-smi`` gives it.

    Attributes:
        name: e.g. ``Ascend910B3``; a trailing ``*`` makes it a prefix.
        aic_cores: number of cube (AIC) cores.
        aiv_cores: number of vector (AIV) cores.
        ub_bytes: Unified Buffer of one vector core, as ``GetCoreMemSize`` reports it.
        hbm_gib: device memory in GiB.
        clock_mhz: clock of a vector core.
    """

    name: str
    aic_cores: int
    aiv_cores: int
    ub_bytes: int
    hbm_gib: int
    clock_mhz: int

    @property
    def example(self) -> str:
        """A full name that this chip matches."""
        return self.name.replace("*", "9599")

    def matches(self, name: str) -> bool:
        """Return whether `name` (any case) names this chip."""
        if self.name.endswith("*"):
            return name.lower().startswith(self.name[:-1].lower())
        return name.lower() == self.name.lower()


@dataclass(frozen=True)
class Soc:
    """One SOC that can be built for.

    Attributes:
        name: the value of the build's ``SOC``, lower case.
        alias: the generation's short name (A2, A3, A5).
        npu_arch: the architecture its kernels are compiled for.
        chips: its products.
    """

    name: str
    alias: str
    npu_arch: str
    chips: tuple[Chip, ...]

    @property
    def label(self) -> str:
        """Its name in messages, e.g. ``Ascend950 (A5)``."""
        return f"{self.name.capitalize()} ({self.alias})"

    def matches(self, name: str) -> bool:
        """Return whether `name` (any case) is this SOC's name, alias or one of its chips."""
        return name.lower() in (self.name, self.alias.lower()) or any(
            chip.matches(name) for chip in self.chips
        )


SOCS: tuple[Soc, ...] = (
    Soc(
        "ascend910b",
        "A2",
        "dav-2201",
        (
            Chip("Ascend910B3", 20, 40, 192 * _KIB, 64, 1800),
            Chip("Ascend910B1", 24, 48, 192 * _KIB, 64, 1850),
            Chip("Ascend910B2", 24, 48, 192 * _KIB, 64, 1800),
            Chip("Ascend910B2C", 24, 48, 192 * _KIB, 64, 1800),
            Chip("Ascend910B4", 20, 40, 192 * _KIB, 32, 1650),
            Chip("Ascend910B4-1", 20, 40, 192 * _KIB, 64, 1650),
        ),
    ),
    Soc(
        "ascend910_93",
        "A3",
        "dav-2201",
        tuple(
            Chip(f"Ascend910_{model}", cores, 2 * cores, 192 * _KIB, 64, 1850)
            for model, cores in (
                ("9391", 24),
                ("9392", 24),
                ("9381", 24),
                ("9382", 24),
                ("9372", 20),
                ("9362", 20),
            )
        ),
    ),
    Soc(
        "ascend950",
        "A5",
        "dav-3510",
        (
            Chip("Ascend950PR_*", 32, 64, 248 * _KIB, 128, 1650),
            Chip("Ascend950DT_*", 32, 64, 248 * _KIB, 144, 1650),
        ),
    ),
)


def known() -> str:
    """Return one line that lists every accepted SOC name, for error messages."""
    return "; ".join(
        f"{soc.name} (or {', '.join((soc.alias, *(chip.name for chip in soc.chips)))})"
        for soc in SOCS
    )


def resolve(spec: str) -> list[Soc]:
    """Return the SOCs that `spec` names, in table order, each once.

    Args:
        spec: ``all``, or names separated by ``;`` or ``,``: a SOC, an alias or a chip, any case.

    Raises:
        ValueError: a name is unknown or none is given; the message lists the known ones.
    """
    names = [name.strip() for name in re.split("[;,]", spec) if name.strip()]
    if not names:
        raise ValueError(f"SOC is empty. Allowed: all, or a list of: {known()}")
    unknown = [
        name
        for name in names
        if name.lower() != "all" and not any(soc.matches(name) for soc in SOCS)
    ]
    if unknown:
        raise ValueError(
            f"unknown SOC {', '.join(unknown)!r}. Allowed: all, or a list of: {known()}"
        )
    return [
        soc for soc in SOCS if any(name.lower() == "all" or soc.matches(name) for name in names)
    ]


def of_device(name: str) -> Soc | None:
    """Return the SOC of a device by the name that ``aclrtGetSocName`` gives it, None if unknown."""
    return next((soc for soc in SOCS if any(chip.matches(name) for chip in soc.chips)), None)


def npu_archs(socs: list[Soc] | tuple[Soc, ...] = SOCS) -> list[str]:
    """Return the NPU architectures of `socs`, sorted, each once."""
    return sorted({soc.npu_arch for soc in socs})
