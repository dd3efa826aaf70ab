"""hifloat8_cast on the simulated device against the en-dtypes package on numpy, side by side.

Prints ratios of medians over interleaved runs on this machine's processor. They say how fast the
simulator is, and nothing about hardware.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import en_dtypes
import numpy as np
import torch

import amct_ops.hifloat8_cast
import amct_ops.sim
from amct_ops.hifloat8_cast import decode_from_hifloat8, encode_to_hifloat8


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def compare(name: str, ours: Callable[[], object], theirs: Callable[[], object], runs: int) -> None:
    def synchronised() -> None:
        ours()
        torch.npu.synchronize()

    synchronised()
    theirs()
    pairs = [(seconds(synchronised), seconds(theirs)) for _ in range(runs)]
    mine, other = (statistics.median(column) for column in zip(*pairs))
    print(f"{name:18} simulated {mine * 1e3:8.2f} ms   en-dtypes {other * 1e3:8.2f} ms   "
          f"ratio {mine / other:6.2f}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--elements", type=int, default=1 << 20)
    parser.add_argument("--runs", type=int, default=11)
    arguments = parser.parse_args()

    generator = torch.Generator().manual_seed(0)
    values = torch.randn(arguments.elements, generator=generator)
    half, bfloat = values.half(), values.bfloat16()
    codes = torch.randint(0, 256, (arguments.elements,), generator=generator, dtype=torch.uint8)
    half_npu, bfloat_npu, codes_npu = half.npu(), bfloat.npu(), codes.npu()
    half_np, float_np = half.numpy(), bfloat.float().numpy()
    codes_np = codes.numpy().view(en_dtypes.hifloat8)

    profile = amct_ops.sim.profile()
    print(f"{arguments.elements} elements, {profile['name']} (simulated), {arguments.runs} runs")
    compare("encode float16", lambda: encode_to_hifloat8(half_npu, saturate=False),
            lambda: half_np.astype(en_dtypes.hifloat8), arguments.runs)  # fmt: skip
    compare("encode bfloat16", lambda: encode_to_hifloat8(bfloat_npu, saturate=False),
            lambda: float_np.astype(en_dtypes.hifloat8), arguments.runs)  # fmt: skip
    compare("decode float16", lambda: decode_from_hifloat8(codes_npu, torch.float16),
            lambda: codes_np.astype(np.float16), arguments.runs)  # fmt: skip
    compare("decode bfloat16", lambda: decode_from_hifloat8(codes_npu, torch.bfloat16),
            lambda: codes_np.astype(np.float32), arguments.runs)  # fmt: skip


if __name__ == "__main__":
    main()
