"""What tests of single instructions share: running them, edge values, comparing."""

from __future__ import annotations

import ctypes
import math
import tempfile
import unittest

import numpy as np
import torch
import torch_npu  # noqa: F401

from .test_toolkit import load_kernels

F16, F32, I16, I32, U16 = np.float16, np.float32, np.int16, np.int32, np.uint16
TYPES = {"f16": F16, "f32": F32, "i16": I16, "i32": I32, "u16": U16}
EDGES = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, math.inf, -math.inf, math.nan, 1e-8,
         -1e-8, 6e-5, 65504.0, -65504.0, 300.0, -300.0, 2048.5]  # fmt: skip


def floats(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Each pair of edge values."""
    with np.errstate(all="ignore"):
        edges = np.array(EDGES).astype(dtype)
    x, y = (m.ravel() for m in np.meshgrid(edges, edges))
    return x, y


def integers(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    info = np.iinfo(dtype)
    edges = np.array([info.min, info.min + 1, 0, 1, 2, 3, 7, 1000, info.max - 1, info.max], dtype)
    x, y = (m.ravel() for m in np.meshgrid(edges, edges))
    return x, y


def fit(x: np.ndarray) -> np.ndarray:
    """Repeat to a multiple of 128 elements."""
    return np.resize(x, -(-len(x) // 128) * 128)


class Bench(unittest.TestCase):
    """Kernels of one source: each is z = op(x, y) over all elements."""

    source: str
    folder: tempfile.TemporaryDirectory[str]
    library: ctypes.CDLL

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.library = load_kernels(cls.source, cls.folder.name)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def run_kernel(
        self, name: str, x: np.ndarray, y: np.ndarray | None = None, dtype: type | None = None,
        blocks: int = 1,
    ) -> np.ndarray:  # fmt: skip
        y = x if y is None else y
        tensors = [torch.from_numpy(v.view(np.uint8).copy()).npu() for v in (x, y)]
        tensors.append(
            torch.zeros(len(x) * np.dtype(dtype or x.dtype).itemsize, dtype=torch.uint8).npu()
        )
        getattr(self.library, name)(
            ctypes.c_uint32(blocks), None, ctypes.c_void_p(torch.npu.current_stream().npu_stream),
            *(ctypes.c_void_p(t.data_ptr()) for t in tensors), len(x),
        )  # fmt: skip
        torch.npu.synchronize()
        return tensors[2].cpu().numpy().view(dtype or x.dtype)

    def check(self, got: np.ndarray, expected: np.ndarray, ulps: int = 0) -> None:
        self.assertEqual(got.dtype, expected.dtype)
        if got.dtype.kind == "f":
            both = np.isnan(got) & np.isnan(expected)
            same = both | (got == expected)
            if ulps:
                with np.errstate(all="ignore"):
                    same |= np.abs(got - expected) <= ulps * np.spacing(np.abs(expected))
            zero = (got == 0) & (expected == 0)
            same &= ~zero | (np.signbit(got) == np.signbit(expected))
        else:
            same = got == expected
        wrong = np.flatnonzero(~same)[:4]
        self.assertTrue(same.all(), f"at {wrong}: {got[wrong]}, expected {expected[wrong]}")
