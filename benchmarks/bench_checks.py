"""What the simulator's checks cost: hifloat8_cast with all checks on and with all off.

Two processes take turns on the same work; the ratio is of the medians. It says how fast the
simulator is, and nothing about hardware.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

CASES = ("encode float16", "encode bfloat16", "decode float16", "decode bfloat16")


def work(elements: int) -> None:
    """Run one case for each line of the standard input; print the seconds."""
    import torch

    from amct_ops.hifloat8_cast import decode_from_hifloat8, encode_to_hifloat8

    values = torch.randn(elements, generator=torch.Generator().manual_seed(0))
    inputs = {"float16": values.half().npu(), "bfloat16": values.bfloat16().npu()}
    codes = encode_to_hifloat8(inputs["bfloat16"])
    for line in sys.stdin:
        way, dtype = line.split()
        torch.npu.synchronize()
        start = time.perf_counter()
        if way == "encode":
            encode_to_hifloat8(inputs[dtype])
        else:
            decode_from_hifloat8(codes, getattr(torch, dtype))
        torch.npu.synchronize()
        print(time.perf_counter() - start, flush=True)


def start(elements: int, off: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, __file__, "--work", "--elements", str(elements)],
        env={**os.environ, "AMCT_SIM_CHECKS_OFF": off}, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip


def seconds(worker: subprocess.Popen[str], case: str) -> float:
    assert worker.stdin is not None and worker.stdout is not None
    print(case, file=worker.stdin, flush=True)
    return float(worker.stdout.readline())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=1 << 20)
    parser.add_argument("--runs", type=int, default=11)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.work:
        work(arguments.elements)
        return
    with start(arguments.elements, "") as checked, start(arguments.elements, "all") as free:
        print(f"{arguments.elements} elements, {arguments.runs} runs")
        for case in CASES:
            for worker in (checked, free):
                seconds(worker, case)
            pairs = [(seconds(checked, case), seconds(free, case)) for _ in range(arguments.runs)]
            on, off = (statistics.median(column) for column in zip(*pairs))
            print(f"{case:16} checks on {on * 1e3:8.2f} ms   off {off * 1e3:8.2f} ms   "
                  f"ratio {on / off:5.2f}")  # fmt: skip
        for worker in (checked, free):
            assert worker.stdin is not None
            worker.stdin.close()


if __name__ == "__main__":
    main()
