"""A corpus of kernels: each broken one is found by the right check at its line, no other is blamed.

The sources say everything, see corpus/corpus.h.
"""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
import torch_npu  # noqa: F401

from .test_toolkit import ARCH, load_kernels

CORPUS = Path(__file__).with_name("corpus")
# How a kernel is launched and what is right stands in a comment above it.
KERNEL = re.compile(
    r"^// (?:(?P<broken>\d+) or )?(?P<blocks>\d+) blocks?, (?P<x>\w+)\[(?P<n>\d+)\]"
    r"(?:, (?P<z>\w+)\[(?P<m>\d+)\])?: y = (?P<y>.*)\n(?:.*\n)*?"
    r'(?:(?P<pair>PAIR)\(|extern "C" .*\bvoid )(?P<name>\w+)', re.M
)  # fmt: skip
MARKER = re.compile(r"// here: (?P<check>[\w-]+)$", re.M)


class Fault(NamedTuple):
    check: str
    line: int


class Kernel(NamedTuple):
    name: str
    blocks: int
    x: np.ndarray
    z: np.ndarray
    y: np.ndarray
    # Of a pair of a broken and a mended kernel.
    broken_blocks: int
    fault: Fault | None


def numbers(dtype: str, count: str, seed: int) -> np.ndarray:
    """Small whole numbers: their sums and products are exact in each type."""
    low = 0 if dtype.startswith("u") else -8
    return np.random.default_rng(seed).integers(low, 9, int(count)).astype(dtype)


def kernels(source: Path) -> list[Kernel]:
    text = source.read_text()
    found = list(KERNEL.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)]
    return [kernel(text, match, end) for match, end in zip(found, ends)]


def kernel(text: str, match: re.Match[str], end: int) -> Kernel:
    x = numbers(match["x"], match["n"], 0)
    z = numbers(match["z"], match["m"], 2) if match["z"] else np.zeros(1024, np.int32)
    y = eval(match["y"], {"np": np, "x": x, "z": z}).ravel()
    assert y.any(), f"{match['name']}: a kernel that does nothing would be right"
    faults = [
        Fault(marker["check"], text.count("\n", 0, marker.start()) + 1)
        for marker in MARKER.finditer(text, match.start(), end)
    ]
    assert len(faults) == (1 if match["pair"] else 0), f"{match['name']}: {len(faults)} markers"
    blocks = int(match["blocks"])
    broken_blocks = int(match["broken"] or blocks)
    return Kernel(match["name"], blocks, x, z, y, broken_blocks, *(faults or [None]))


def launch(library: ctypes.CDLL, name: str, blocks: int, kernel: Kernel) -> np.ndarray:
    inputs = [torch.from_numpy(v.view(np.uint8).copy()).npu() for v in (kernel.x, kernel.z)]
    y = torch.zeros(kernel.y.nbytes, dtype=torch.uint8).npu()
    getattr(library, name)(
        ctypes.c_uint32(blocks), None, ctypes.c_void_p(torch.npu.current_stream().npu_stream),
        *(ctypes.c_void_p(t.data_ptr()) for t in (*inputs, y)), len(kernel.x),
    )  # fmt: skip
    torch.npu.synchronize()
    return y.cpu().numpy().view(kernel.y.dtype)


@unittest.skipUnless(ARCH == "dav-2201", "kernels for dav-2201")
class Corpus(unittest.TestCase):
    found = silent = 0

    @classmethod
    def tearDownClass(cls) -> None:
        print(f"{cls.found} broken kernels found, {cls.silent} correct ones not blamed")

    def judge(self, theme: str) -> None:
        source = CORPUS / f"{theme}.asc"
        with tempfile.TemporaryDirectory() as folder:
            library = load_kernels(f"corpus/{theme}", folder)
        for kernel in kernels(source):
            with self.subTest(source=source.name, kernel=kernel.name):
                mended = kernel.name if kernel.fault is None else f"{kernel.name}_mended"
                y = launch(library, mended, kernel.blocks, kernel)
                np.testing.assert_array_equal(y, kernel.y)
                type(self).silent += 1
                if kernel.fault is not None:
                    self.check_fault(library, source, kernel, kernel.fault)
                    type(self).found += 1

    def check_fault(self, library: ctypes.CDLL, source: Path, kernel: Kernel, fault: Fault) -> None:
        broken = f"{kernel.name}_broken"
        with self.assertRaises(RuntimeError) as caught:
            launch(library, broken, kernel.broken_blocks, kernel)
        message = str(caught.exception)
        self.assertRegex(message, rf"\[{fault.check}\] kernel {broken}\b")
        # A leak is found at the end of the kernel: what counts is where the tensor comes from.
        place = (
            rf"(?:, at|, after|allocated at|waits for .* at) \S*/{source.name}:{fault.line}(?: |$)"
        )
        self.assertRegex(message, place)

    def test_memory(self) -> None:
        self.judge("memory")

    def test_order(self) -> None:
        self.judge("order")

    def test_queues(self) -> None:
        self.judge("queues")

    def test_parameters(self) -> None:
        self.judge("parameters")

    def test_blocks(self) -> None:
        self.judge("blocks")

    def test_correct_kernels(self) -> None:
        self.judge("correct")

    def test_without_auto_sync(self) -> None:
        # The environment is read once for each process.
        run = subprocess.run(
            [sys.executable, "-m", "unittest", f"{__name__}.Corpus.judge_without_auto_sync"],
            env={**os.environ, "AMCT_SIM_AUTO_SYNC": "off"}, cwd=CORPUS.parents[2],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        counts = re.search(r"(\d+) broken kernels found, (\d+) correct", run.stdout)
        assert counts is not None
        type(self).found += int(counts[1])
        type(self).silent += int(counts[2])

    def judge_without_auto_sync(self) -> None:
        self.judge("auto_sync_off")

    def test_every_source_is_judged(self) -> None:
        judged = set(re.findall(r'self\.judge\("(\w+)"\)', Path(__file__).read_text()))
        self.assertEqual(judged, {source.stem for source in CORPUS.glob("*.asc")})


if __name__ == "__main__":
    unittest.main()
