"""What kernels are estimated to cost on hardware; see :func:`estimate`."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch

from amct_ops._sim import _control

_NOTICE = "Estimate of the simulator from published figures; nothing here was measured on hardware."
_PIPES = ("MTE2", "V", "MTE3", "S")


@dataclass(frozen=True)
class Launch:
    """The estimate of one launch, or the sum over a kernel's launches.

    Attributes:
        kernel: the name of the kernel.
        launches: how many launches this is the sum of.
        blocks: number of blocks, of the largest launch.
        cores: vector cores of the device; more blocks than that run in turns.
        cycles: until the last core has finished. The launch itself is not part of it: an empty
            kernel takes some microseconds on a device.
        microseconds: the same at the device's clock.
        busy: cycles that each pipe (MTE2, V, MTE3, S) is busy, the sum over all cores.
        bound: the pipe that is busy longest.
        bytes_in: bytes read from global memory.
        bytes_out: bytes written to global memory.
        ub_bytes: the highest address in use in the Unified Buffer of any core.
    """

    kernel: str
    launches: int
    blocks: int
    cores: int
    cycles: float
    microseconds: float
    busy: dict[str, float]
    bound: str
    bytes_in: int
    bytes_out: int
    ub_bytes: int
    _spans: list[tuple[int, int, str, str, float, float, str]] = field(repr=False, compare=False)
    _clock_mhz: int = field(repr=False, compare=False)

    def _plus(self, other: Launch) -> Launch:
        busy = {pipe: self.busy[pipe] + other.busy[pipe] for pipe in _PIPES}
        longer = self if self.cycles / self.launches >= other.cycles / other.launches else other
        return Launch(
            self.kernel,
            self.launches + other.launches,
            max(self.blocks, other.blocks),
            self.cores,
            self.cycles + other.cycles,
            self.microseconds + other.microseconds,
            busy,
            longer.bound,
            self.bytes_in + other.bytes_in,
            self.bytes_out + other.bytes_out,
            max(self.ub_bytes, other.ub_bytes),
            [],
            self._clock_mhz,
        )


class Estimate:
    """What :func:`estimate` collects; complete when its ``with`` block has ended.

    Attributes:
        launches: one :class:`Launch` for each launch, in order.
    """

    def __init__(self) -> None:
        self.launches: list[Launch] = []
        self._traced = False
        self._untraced = 0

    def kernels(self) -> list[Launch]:
        """Return the sum over the launches of each kernel, the most expensive first."""
        sums: dict[str, Launch] = {}
        for launch in self.launches:
            known = sums.get(launch.kernel)
            sums[launch.kernel] = launch if known is None else known._plus(launch)
        return sorted(sums.values(), key=lambda kernel: -kernel.cycles)

    def __str__(self) -> str:
        """Return the kernels as a table for a terminal."""
        head = ("kernel", "launches", "blocks", "cycles", "us", *(f"{p} busy" for p in _PIPES),
                "bound", "MB in", "MB out", "UB KB")  # fmt: skip
        rows = [head]
        for kernel in self.kernels():
            whole = kernel.cycles * min(kernel.blocks, kernel.cores)
            rows.append(
                (
                    kernel.kernel,
                    f"{kernel.launches}",
                    f"{kernel.blocks}",
                    f"{kernel.cycles:.0f}",
                    f"{kernel.microseconds:.1f}",
                    *(f"{kernel.busy[pipe] / whole:.0%}" if whole else "-" for pipe in _PIPES),
                    kernel.bound,
                    f"{kernel.bytes_in / 1e6:.3f}",
                    f"{kernel.bytes_out / 1e6:.3f}",
                    f"{kernel.ub_bytes / 1024:.1f}",
                )
            )
        widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
        lines = [
            "  ".join(
                cell.ljust(width) if i in (0, len(head) - 4) else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(row, widths))
            ).rstrip()
            for row in rows
        ]
        return "\n".join([_NOTICE, *lines])

    def write_trace(self, path: str | os.PathLike[str]) -> None:
        """Write every instruction as a Chrome trace (chrome://tracing, Perfetto).

        A launch is a process row, a pipe of a core a thread row; times are estimates.

        Raises:
            ValueError: the estimate was not made with ``trace=True``.
        """
        if not self._traced:
            raise ValueError("there is no trace: call estimate(trace=True)")
        events: list[dict[str, object]] = []
        start = 0.0
        for number, launch in enumerate(self.launches):
            name = f"{number}: {launch.kernel} (estimate)"
            events.append(
                {"ph": "M", "name": "process_name", "pid": number, "args": {"name": name}}
            )
            for core, block, pipe, api, begin, duration, location in launch._spans:
                events.append(
                    {
                        "ph": "X",
                        "name": api,
                        "pid": number,
                        "tid": f"core {core} {pipe}",
                        "ts": start + begin / launch._clock_mhz,
                        "dur": duration / launch._clock_mhz,
                        "args": {"block": block, "cycles": duration, "at": location},
                    }
                )
            start += launch.microseconds
        other = {"notice": _NOTICE, "instructions left out": self._untraced}
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": events, "otherData": other}, file)


@contextmanager
def estimate(trace: bool = False) -> Iterator[Estimate]:
    """Estimate the cycles of the kernels that are launched in a ``with`` block.

    >>> with amct_ops.sim.estimate() as cost:
    ...     y = torch.ops.amct.encode_to_hifloat8(x)
    >>> print(cost)

    The figures come from a model of the pipes, of their queues and flags, fed with published
    figures for the hardware. They rank variants of a kernel and show what bounds it; they are no
    measurement. A vector instruction is taken as dependent on the ones before only if the check
    `race` is on.

    Args:
        trace: keep each instruction, for :meth:`Estimate.write_trace`; at most a million.

    Yields:
        an :class:`Estimate`, filled when the block ends, which synchronises the device.
    """
    result = Estimate()
    torch.npu.synchronize()
    listener = _control.listen(trace)
    try:
        yield result
        torch.npu.synchronize()
    finally:
        launches = _control.take(listener)
        result._traced = trace
        result._untraced = sum(raw["untraced"] for raw in launches)
        result.launches = [
            Launch(
                raw["kernel"], 1, raw["blocks"], raw["cores"], raw["cycles"],
                raw["cycles"] / raw["clock_mhz"], raw["busy"], raw["bound"], raw["bytes_in"],
                raw["bytes_out"], raw["ub_bytes"], raw["spans"], raw["clock_mhz"],
            )
            for raw in launches
        ]  # fmt: skip
