"""The register model of dav-3510 ("Reg") against numpy, torch and the golden tables.

On another simulated device the tests run in a process that has Ascend950.
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
from typing import Any

import numpy as np
import torch
import torch_npu  # noqa: F401

from .test_toolkit import ARCH, compile_kernels, load_kernels
from .test_vector import F16, F32, I16, I32, U16, floats, integers

GOLDEN = Path(__file__).resolve().parent.parent / "golden"
SOURCE = Path(__file__).with_name("reg.asc")
U8, I8, U32 = np.uint8, np.int8, np.uint32
ON_950 = unittest.skipUnless(ARCH == "dav-3510", "runs in a process of its own, with Ascend950")
EVERY = np.arange(65536, dtype=U16)


def golden(name: str) -> np.ndarray:
    return np.frombuffer((GOLDEN / name).read_bytes(), U8)


def widened(bf16: np.ndarray) -> np.ndarray:
    """Bits of bfloat16 as float."""
    return (bf16.astype(U32) << 16).view(F32)


def full(x: np.ndarray, of: int = 256) -> np.ndarray:
    """Repeat to a multiple of `of` bytes."""
    return np.resize(x, -(-x.nbytes // of) * of // x.itemsize)


@unittest.skipIf(ARCH == "dav-3510", "has Ascend950 already")
class OnAscend950(unittest.TestCase):
    def test_registers(self) -> None:
        run = subprocess.run(
            [sys.executable, "-m", "unittest", "-q", "tests.sim.test_reg"],
            cwd=Path(__file__).resolve().parents[2], capture_output=True, text=True, check=False,
            env={**os.environ, "AMCT_SIM_SOC": "Ascend950PR_9599"},
        )  # fmt: skip
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertRegex(run.stderr, r"Ran \d{2,} tests")


class Registers(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    library: ctypes.CDLL

    @classmethod
    def setUpClass(cls) -> None:
        if ARCH != "dav-3510":
            raise unittest.SkipTest("runs in a process of its own, with Ascend950")
        cls.folder = tempfile.TemporaryDirectory()
        cls.library = load_kernels("reg", cls.folder.name)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def launch(
        self, name: str, x: np.ndarray, y: np.ndarray | int | None = None, *, size: int = 0
    ) -> np.ndarray:
        """Run a kernel; the result has `size` bytes, which begin as zeros."""
        second = x if y is None or isinstance(y, int) else y
        size = size or x.nbytes
        arrays = (x, second, np.zeros(size, U8))
        tensors = [torch.from_numpy(a.view(U8).copy()).npu() for a in arrays]
        getattr(self.library, name)(
            ctypes.c_uint32(1), None, ctypes.c_void_p(torch.npu.current_stream().npu_stream),
            *(ctypes.c_void_p(t.data_ptr()) for t in tensors), x.nbytes,
            y if isinstance(y, int) else second.nbytes, size,
        )  # fmt: skip
        torch.npu.synchronize()
        return tensors[2].cpu().numpy()

    def check(
        self, got: np.ndarray, expected: np.ndarray, message: str = "", ulps: int = 0
    ) -> None:
        self.assertEqual((got.dtype, got.shape), (expected.dtype, expected.shape), message)
        if got.dtype.kind == "f":
            same = (np.isnan(got) & np.isnan(expected)) | (got == expected)
            if ulps:
                with np.errstate(all="ignore"):
                    same |= np.abs(got - expected) <= ulps * np.spacing(np.abs(expected))
            same &= ((got != 0) | (expected != 0)) | (np.signbit(got) == np.signbit(expected))
        else:
            same = got == expected
        wrong = np.flatnonzero(~same)[:4]
        self.assertTrue(
            same.all(), f"{message} at {wrong}: {got[wrong]}, expected {expected[wrong]}"
        )


def flush(x: np.ndarray) -> np.ndarray:
    small = np.abs(x) < np.finfo(x.dtype).tiny
    return np.where(small, np.copysign(x.dtype.type(0), x), x)


class Arithmetic(Registers):
    def rows(
        self, suffix: str, expected: dict[str, np.ndarray], x: np.ndarray, y: np.ndarray,
        kernel: str = "arithmetic",
    ) -> None:  # fmt: skip
        got = self.launch(f"{kernel}_{suffix}", x, y, size=x.nbytes * len(expected)).view(x.dtype)
        for row, (name, values) in zip(got.reshape(len(expected), -1), expected.items(),
                                       strict=True):  # fmt: skip
            ulps = 2 if name in ("Exp", "Ln") else 0
            self.check(row, values, f"{name} {suffix}", ulps)

    def floats_of(self, x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
        one, three, half = x.dtype.type(1), x.dtype.type(3), x.dtype.type(0.5)

        def fused(a: Any, b: Any, c: Any) -> np.ndarray:
            return (a.astype(F32) * F32(b) + F32(c)).astype(F32).astype(x.dtype)

        with np.errstate(all="ignore"):
            maximum = np.where(x == y, np.where(np.signbit(x), y, x), np.maximum(x, y))
            minimum = np.where(x == y, np.where(np.signbit(x), x, y), np.minimum(x, y))
            return {
                "Add": x + y, "Sub": x - y, "Mul": x * y, "Max": maximum, "Min": minimum,
                "Adds": x + three, "Muls": x * three, "Maxs": np.maximum(x, three),
                "Mins": np.minimum(x, three), "Div": flush(flush(x) / flush(y)), "Div keep": x / y,
                "Abs": np.abs(x), "Neg": -x,
                "Relu": np.where(np.isnan(x) | (x > 0), x, x.dtype.type(0)),
                "LeakyRelu": np.where(x >= 0, x, x * half), "Prelu": np.where(x >= 0, x, x * y),
                "Sqrt": flush(np.sqrt(flush(x))), "MulAddDst": fused(x, y, one),
                "MulDstAdd": fused(np.ones_like(x), x, y), "Axpy": fused(x, three, one),
                "Truncate": np.floor(x), "Exp": flush(np.exp(flush(x))),
                "Ln": flush(np.log(flush(x))),
            }  # fmt: skip

    def test_floats(self) -> None:
        for suffix, dtype in (("f16", F16), ("f32", F32)):
            x, y = (full(v) for v in floats(dtype))
            self.rows(suffix, self.floats_of(x, y), x, y)

    def integers_of(self, x: np.ndarray, y: np.ndarray) -> dict[str, np.ndarray]:
        info, three = np.iinfo(x.dtype), x.dtype.type(3)
        with np.errstate(all="ignore"):
            out = {
                "Add": x + y, "Sub": x - y, "Mul": x * y, "Max": np.maximum(x, y),
                "Min": np.minimum(x, y), "Adds": x + three, "Muls": x * three,
                "Maxs": np.maximum(x, three), "Mins": np.minimum(x, three),
            }  # fmt: skip
            if x.itemsize > 1:
                exact = x.astype(np.int64), np.where(y == 0, 1, y).astype(np.int64)
                quotient = np.sign(exact[0]) * np.sign(exact[1]) * (abs(exact[0]) // abs(exact[1]))
                ones = x.dtype.type(-1 if info.min else info.max)
                out["Div"] = np.where(y == 0, ones, quotient.astype(x.dtype))
            return out | {
                "And": x & y, "Or": x | y, "Xor": x ^ y, "Not": ~x, "ShiftLefts": x << three,
                "ShiftRights": x >> three,
            }  # fmt: skip

    def test_integers_wrap(self) -> None:
        for suffix, dtype in (("i16", I16), ("u32", U32), ("i8", I8)):
            info = np.iinfo(dtype)
            edges = np.array([info.min, info.min + 1, 0, 1, 2, 3, 7, info.max - 1, info.max], dtype)
            x, y = (full(m.ravel()) for m in np.meshgrid(edges, edges))
            self.rows(suffix, self.integers_of(x, y), x, y)

    def test_integers_saturate_if_ctrl_says_so(self) -> None:
        x, y = (full(v) for v in integers(I16))
        expected = self.integers_of(x, y)
        wide = x.astype(I32), y.astype(I32)
        for name, values in {
            "Add": wide[0] + wide[1], "Sub": wide[0] - wide[1], "Mul": wide[0] * wide[1],
            "Adds": wide[0] + 3, "Muls": wide[0] * 3,
        }.items():  # fmt: skip
            expected[name] = values.clip(-32768, 32767).astype(I16)
        self.rows("i16", expected, x, y, "saturating")

    def test_half_saturates_if_ctrl_says_so(self) -> None:
        x, y = (full(v) for v in floats(F16))
        unchanged = ("Max", "Min", "Maxs", "Mins", "Abs", "Neg", "Relu")
        expected = {}
        for name, values in self.floats_of(x, y).items():
            keeps = name in unchanged
            sat = np.where(np.isnan(values), F16(0), values.clip(F16(-65504), F16(65504)))
            expected[name] = values if keeps else sat
        positive = x >= 0
        expected["LeakyRelu"] = np.where(positive, x, expected["LeakyRelu"])
        expected["Prelu"] = np.where(positive, x, expected["Prelu"])
        self.rows("f16", expected, x, y, "saturating")


class Moves(Registers):
    X = np.random.default_rng(1).integers(1, 256, 1024).astype(U8)

    def rows(self, kernel: str, expected: list[np.ndarray]) -> None:
        got = self.launch(kernel, self.X, size=256 * len(expected)).reshape(-1, 256)
        for number, (row, values) in enumerate(zip(got, expected, strict=True)):
            self.check(row, np.ascontiguousarray(values).view(U8).ravel(), f"{kernel}, {number}")

    def spread(self, x: np.ndarray, count: int) -> list[np.ndarray]:
        n = 256 // x.itemsize
        unpacked = np.zeros((n // 2, 2), x.dtype)
        unpacked[:, 0] = x[: n // 2]
        return [x[:n], np.repeat(x[:1], n), np.repeat(x[: n // 2], 2), x[: 2 * n : 2], unpacked][
            :count
        ]

    def test_loads(self) -> None:
        x = self.X
        four = np.zeros((64, 4), U8)
        four[:, 0] = x[:64]
        self.rows("loads_b8", [*self.spread(x, 5), four, np.tile(x[:32], 8)])
        half, word = x.view(U16), x.view(U32)
        self.rows("loads_b16", [*self.spread(half, 5), np.repeat(half[:8], 16)])
        norm, broadcast, _, _, unpacked = self.spread(word, 5)
        self.rows("loads_b32", [norm, broadcast, unpacked, np.repeat(word[:8], 8)])

    def test_pairs_of_registers(self) -> None:
        for dtype in (U8, U16, U32):
            x = self.X[:512].view(dtype)
            even, odd = x[::2], x[1::2]
            expected = np.concatenate([even, odd, x, x])
            got = self.launch(f"pairs_b{8 * x.itemsize}", self.X, size=expected.nbytes)
            self.check(got, expected.view(U8))

    def test_stores(self) -> None:
        for dtype in (U8, U16, U32):
            x = self.X[:256].view(dtype)
            kept = np.where(np.arange(len(x)) % 3 == 0, x, dtype(0))
            first = np.zeros_like(x)
            first[0] = x[0]
            rows = [kept, kept, first]
            for parts in {1: [], 2: [2], 4: [2, 4]}[x.itemsize]:
                narrow = kept.view(U8).reshape(len(x), -1)[:, : x.itemsize // parts].ravel()
                rows.append(np.pad(narrow, (0, 256 - len(narrow))))
            self.rows(f"stores_b{8 * x.itemsize}", rows)

    def test_addresses(self) -> None:
        x = self.X[:512]
        blocks = x.reshape(-1, 32)
        few = np.zeros(256, U8)
        few[:64] = x[:64]
        expected = np.concatenate([x, x, x, x, blocks[::2].ravel(), np.tile(blocks[0], 8), few])
        self.check(self.launch("addresses", self.X, size=len(expected)), expected)

    def test_unaligned(self) -> None:
        expected = np.zeros(544, U8)
        expected[36 : 36 + 254] = self.X[12 : 12 + 254]
        expected[514:520] = self.X[2:8]
        self.check(self.launch("unaligned", self.X, size=544), expected)

    def test_masks(self) -> None:
        def bits(raw: np.ndarray) -> np.ndarray:
            return np.unpackbits(raw, bitorder="little")

        x = self.X
        y = np.random.default_rng(2).integers(0, 256, 1024).astype(U8)
        a, b = bits(x[:32]), bits(y[:32])
        lane = np.arange(256)
        pairs = np.stack([a.reshape(-1, 2), b.reshape(-1, 2)], 1).ravel()
        packed = np.zeros(256, U8)
        packed[:128] = a[::2]
        unpacked = np.zeros(256, U8)
        unpacked[::2] = a[128:]
        rows = [
            lane >= 0, lane < 6, lane // 4 % 4 == 0, lane < 128, lane < 64, lane < 0,
            lane >= 0, lane < 4, lane < 0,
            a & b, a | b, a ^ b, (1 - a) & b, np.where(b, a, 1), packed, unpacked,
            pairs[:256], pairs[256:], a, b, np.repeat(a[:128], 2), bits(x[:64])[::2],
            packed, np.repeat(bits(x[8:16]), 4),
        ]  # fmt: skip
        got = self.launch("masks", x, y, size=32 * len(rows)).reshape(-1, 32)
        for number, (row, values) in enumerate(zip(got, rows, strict=True)):
            self.check(bits(row), values.astype(U8), f"row {number}")

    def test_lanes(self) -> None:
        rng = np.random.default_rng(3)
        x = rng.integers(0, 65536, 512).astype(U16)
        y = rng.permutation(128).astype(U16) + U16(128) * rng.integers(0, 4, 128).astype(U16)
        y = y.astype(U16)
        a, lane = x[:128], np.arange(128)
        third = lane % 3 == 0
        index = y % 128
        zero = U16(0)
        squeezed = np.zeros(128, U16)
        squeezed[: third.sum()] = a[third]
        packed = np.zeros(256, U8)
        packed[:128] = a & 255
        scattered = np.zeros(128, U16)
        scattered[index] = a
        values = a.view(U8)
        counts = np.bincount(values, minlength=256).astype(U16)
        rows = [
            squeezed, np.cumsum(third) - third, lane + 5, np.full(128, a[0]),
            np.where(third, a[127], zero), np.where(third, a, y), np.where(third, a, y),
            np.where(third, a + a, y), packed.view(U16), a[64:].astype(U32).view(U16),
            a[index], np.where(third, a[index], zero), x.view(U8)[index], scattered,
            x.reshape(-1, 16)[1:9].ravel(), counts[128:] + 1, np.cumsum(counts)[:128],
        ]  # fmt: skip
        got = self.launch("lanes", x, y, size=256 * len(rows)).view(U16).reshape(-1, 128)
        for number, (row, expected) in enumerate(zip(got, rows, strict=True)):
            self.check(row, expected.astype(U16), f"row {number}")

    def test_compress(self) -> None:
        x = np.random.default_rng(4).integers(0, 2000, 512).astype(U16)
        kept = x[x > 1000]
        got = self.launch("compress", x).view(U16)
        self.check(got[: len(kept)], kept)

    def test_carries(self) -> None:
        x, y = (full(v)[:64] for v in integers(U32))
        a, b = x.astype(np.uint64), y.astype(np.uint64)
        total = a + b
        carry, fits = total >> np.uint64(32), (a >= b).astype(np.uint64)
        difference = a - b
        product = a * b
        rows = [total, total + carry, difference, difference - (np.uint64(1) - fits), product,
                product >> np.uint64(32)]  # fmt: skip
        expected = np.concatenate([(r & np.uint64(0xFFFFFFFF)).astype(U32) for r in rows])
        self.check(self.launch("carries", x, y, size=expected.nbytes).view(U32), expected)

    def test_comparisons(self) -> None:
        for suffix, (x, y) in {"f16": floats(F16), "i32": integers(I32)}.items():
            x, y = full(x), full(y)
            rows = [x < y, x > y, x <= y, x >= y, x == y, x != y, x >= 1]
            got = self.launch(f"comparisons_{suffix}", x, y, size=7 * x.nbytes).view(x.dtype)
            self.check(got, np.concatenate(rows).astype(x.dtype), suffix)


class Reductions(Registers):
    def test_reductions(self) -> None:
        for suffix, dtype in (("f16", F16), ("f32", F32), ("i32", I32)):
            n = 256 // np.dtype(dtype).itemsize
            x = np.random.default_rng(5).integers(-100, 100, (6, n)).astype(dtype)
            y = np.random.default_rng(6).integers(0, 2, (6, n)).astype(dtype)
            x[1], y[1] = 7, 0
            y[1, : n // 2] = 1  # whole blocks without a lane, and equal values
            y[2] = 0
            if dtype != I32:
                x[3] *= dtype(0.37)
                y[4], x[4, 9], x[4, 5] = 1, np.nan, np.nan
                x[5] = -0.0
                x[5, 3], y[5] = 0.0, 1
            self.check_rows(suffix, x, y)

    def tree(self, values: np.ndarray) -> np.ndarray:
        while values.shape[-1] > 1:
            values = values[..., ::2] + values[..., 1::2]
        return values[..., 0]

    def extreme(self, values: np.ndarray, active: np.ndarray, sign: int) -> tuple[Any, int]:
        """The maximum or minimum and its first lane."""
        if not active.any():
            if values.dtype == I32:
                info = np.iinfo(I32)
                return (info.min if sign > 0 else info.max), 0
            return values.dtype.type(-sign * np.inf), 0
        lanes = np.flatnonzero(active)
        nan = [lane for lane in lanes if values[lane] != values[lane]]
        if nan:
            return values[nan[0]], int(nan[0])
        # +0 is greater than -0.
        key = [(sign * values[lane], -sign * int(np.signbit(values[lane]))) for lane in lanes]
        lane = int(lanes[key.index(max(key))])
        return values[lane], lane

    def check_rows(self, suffix: str, x: np.ndarray, y: np.ndarray) -> None:
        rows, n = x.shape
        ops = 6 if x.dtype != I32 else 5
        got = self.launch(f"reductions_{suffix}", x.ravel(), y.ravel(), size=ops * x.nbytes)
        results = got.view(x.dtype).reshape(ops, rows, n)
        index = results.view(f"u{x.itemsize}")
        block = 32 // x.itemsize
        for row in range(rows):
            active = y[row] != 0
            kept = np.where(active, x[row], x.dtype.type(0))
            self.check(results[0, row, :1], self.tree(kept)[None], f"sum {suffix} {row}")
            for op, sign in ((1, 1), (2, -1)):
                value, lane = self.extreme(x[row], active, sign)
                self.check(results[op, row, :1], np.array([value], x.dtype), f"{op} {suffix} {row}")
                self.assertEqual(index[op, row, 1], lane, f"index {op} {suffix} {row}")
                self.assertFalse(results[op, row, 2:].any())
            self.check(results[3, row, :8], self.tree(kept.reshape(8, block)), f"blocks {suffix}")
            biggest = [
                self.extreme(v, m, 1)[0]
                for v, m in zip(x[row].reshape(8, -1), active.reshape(8, -1), strict=True)
            ]
            self.check(results[4, row, :8], np.array(biggest, x.dtype), f"block max {suffix}")
            if ops == 6:
                self.check(results[5, row, : n // 2], kept[::2] + kept[1::2], f"pairs {suffix}")


class Casts(Registers):
    def cast(self, name: str, x: np.ndarray, dtype: type) -> np.ndarray:
        """The results of a cast, from the first byte or lane that they may be in."""
        return self.launch(f"cast_{name}", x).view(dtype)

    def narrow(self, name: str, x: np.ndarray, ratio: int, slot: int = 0) -> np.ndarray:
        """The bytes of a cast to eight bits; the others must be 0."""
        got = self.cast(name, x, U8).reshape(-1, ratio)
        self.assertFalse(np.delete(got, slot, 1).any())
        return got[:, slot]

    def saturated(self, codes: np.ndarray) -> np.ndarray:
        """Codes of HiFloat8 that keep infinity and NaN, as those that do not."""
        out = np.where((codes & 0x7F) == 0x6F, codes - 1, codes)
        return np.where(codes == 0x80, U8(0), out).astype(U8)

    def test_every_half_to_hifloat8(self) -> None:
        expected = golden("hif8_encode_fp16_inf.bin")
        for half in (0, 1):
            x = EVERY[32768 * half : 32768 * (half + 1)]
            part = expected[x]
            self.check(self.narrow("f16_hif8", x, 2), part)
            self.check(self.narrow("f16_hif8_sat", x, 2, 1), self.saturated(part))
            self.check(self.narrow("global_keeps", x, 2), part)
            self.check(self.narrow("global_saturates", x, 2), self.saturated(part))
            self.check(self.launch("tensor_f16_hif8", x, size=32768), part)
            self.check(self.launch("tensor_f16_hif8_sat", x, size=32768), self.saturated(part))

    def test_every_bfloat16_to_hifloat8(self) -> None:
        expected = golden("hif8_encode_bf16_inf.bin")
        for start in range(0, 65536, 16384):
            x = EVERY[start : start + 16384]
            self.check(self.narrow("f32_hif8", widened(x), 4, 3), expected[x])
            self.check(self.launch("tensor_f32_hif8", widened(x), size=16384), expected[x])

    def test_hybrid_rounding(self) -> None:
        # Below 2^4 ties go away from zero, whatever the low bits are.
        bits = np.random.default_rng(7).integers(0x3F800000, 0x41800000, 1024).astype(U32)
        x = bits.view(F32)
        self.check(self.narrow("f32_hif8_hybrid", x, 4), self.narrow("f32_hif8", x, 4, 3))
        # 2^4 to 2^8 keep two bits of the mantissa, and compare the 14 behind them with the low 14.
        bits = np.random.default_rng(8).integers(0x41800000, 0x43800000, 1024).astype(U32)
        x = np.concatenate([bits, bits | U32(0x80000000)]).view(F32)
        up = (bits >> 7 & 0x3FFF) >= (bits & 0x3FFF)
        code = (0x40 + ((bits >> 21) - (0x41800000 >> 21)) + up).astype(U8)
        # The code of the next exponent's width, where rounding reaches it.
        code[code == 0x50] = 0x60
        self.check(self.narrow("f32_hif8_hybrid", x, 4), np.concatenate([code, code | U8(0x80)]))
        # A half whose low bit is 0 has the threshold 1 of 3: one bit behind the mantissa suffices.
        halves = full(np.array([0x4C00, 0x4C40, 0x4C80, 0x4C41], U16))
        self.check(self.narrow("f16_hif8_hybrid", halves, 2)[:4],
                   np.array([0x40, 0x41, 0x41, 0x40], U8))  # fmt: skip

    def test_every_hifloat8_to_half_and_float(self) -> None:
        codes = np.arange(256, dtype=U8)
        expected = np.frombuffer((GOLDEN / "hif8_decode_fp16.bin").read_bytes(), F16)
        self.check(self.cast("hif8_f16", full(np.repeat(codes, 2)), F16), expected)
        self.check(self.cast("hif8_f32", np.repeat(codes, 4), F32), expected.astype(F32))
        self.check(self.launch("tensor_hif8_f16", codes, size=512).view(F16), expected)

    def test_fp8(self) -> None:
        for name, dtype, largest in (
            ("e4m3", torch.float8_e4m3fn, 448.0),
            ("e5m2", torch.float8_e5m2, 57344.0),
        ):
            codes = torch.arange(256, dtype=torch.uint8)
            values = codes.view(dtype).float().numpy()
            self.check(self.cast(f"{name}_f32", np.repeat(codes.numpy(), 4), F32), values)
            for start in range(0, 65536, 16384):
                x = widened(EVERY[start : start + 16384])
                plain = torch.from_numpy(x.copy()).to(dtype).float().numpy()
                if name == "e4m3":  # torch lets more than half of the last step be 448 still
                    plain[np.abs(x) > 464] = np.nan
                got = torch.from_numpy(self.narrow(f"f32_{name}", x, 4).copy()).view(dtype)
                self.check(got.float().numpy(), plain, name)
                clipped = np.where(np.isnan(x), F32(0), x.clip(-largest, largest))
                nearest = torch.from_numpy(clipped).to(dtype).view(torch.uint8).numpy()
                self.check(self.narrow(f"f32_{name}_sat", x, 4), nearest, name)
        x = full(np.array([448, 464, 465, -1e9, np.inf, -np.inf, 2**-10, 3 * 2**-11], F32))
        self.check(self.launch("tensor_f32_e4m3", x, size=64)[:8],
                   np.array([0x7E, 0x7E, 0x7F, 0xFF, 0x7F, 0xFF, 0, 1], U8))  # fmt: skip

    def fp4(self, x: np.ndarray, grid: list[float], mode: str) -> np.ndarray:
        """Codes of FP4: sign and place in the grid of magnitudes."""
        values = np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=1e9, neginf=-1e9)
        negative = np.signbit(x) & ~np.isnan(x)
        magnitude = np.minimum(np.abs(values), grid[-1])
        points = np.array(grid)
        below = np.searchsorted(points, magnitude, side="right") - 1
        above = np.minimum(below + 1, len(points) - 1)
        exact = points[below] == magnitude
        low, high = magnitude - points[below], points[above] - magnitude
        up = {
            "RINT": (low > high) | ((low == high) & (below % 2 == 1)), "ROUND": low >= high,
            "FLOOR": negative, "CEIL": ~negative, "TRUNC": np.zeros(len(x), bool),
        }[mode]  # fmt: skip
        code = np.where(up & ~exact, above, below)
        return (code | negative * 8).astype(U8)

    def test_every_bfloat16_to_fp4(self) -> None:
        grids = {
            "e2m1": [0, 0.5, 1, 1.5, 2, 3, 4, 6],
            "e1m2": [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75],
        }
        cases = [("e2m1", "RINT", 2), ("e2m1", "ROUND", 0), ("e2m1", "FLOOR", 0),
                 ("e1m2", "RINT", 0), ("e1m2", "CEIL", 0), ("e1m2", "TRUNC", 0)]  # fmt: skip
        for start in range(0, 65536, 32768):
            x = EVERY[start : start + 32768]
            for name, mode, slot in cases:
                codes = self.fp4(widened(x), grids[name], mode)
                pairs = codes[::2] | codes[1::2] << 4
                got = self.narrow(f"bf16_{name}_{mode}", x, 4, slot)
                self.check(got, pairs.astype(U8), f"{name} {mode}")
            codes = self.fp4(widened(x), grids["e2m1"], "RINT")
            self.check(self.launch("tensor_bf16_e2m1", x, size=16384),
                       (codes[::2] | codes[1::2] << 4).astype(U8))  # fmt: skip
        pairs = np.arange(256, dtype=U8)
        for name, grid in grids.items():
            values = np.array([*grid, *(-v for v in grid)], F32)
            values[8] = -0.0
            expected = np.stack([values[pairs & 15], values[pairs >> 4]], 1).ravel()
            got = self.cast(f"{name}_bf16", np.repeat(pairs, 4), U16)
            self.check(widened(got), expected, name)
        got = self.launch("tensor_e2m1_bf16", pairs, size=1024).view(U16)
        values = np.array([*grids["e2m1"], *(-v for v in grids["e2m1"])], F32)
        values[8] = -0.0
        self.check(widened(got), np.stack([values[pairs & 15], values[pairs >> 4]], 1).ravel())

    def test_e8m0(self) -> None:
        codes = np.arange(256, dtype=U8)
        with np.errstate(all="ignore"):
            values = np.ldexp(F32(1), codes.astype(I32) - 127)
        values[255] = np.nan
        got = self.cast("e8m0_bf16", np.repeat(codes, 2), U16)
        self.check(widened(got), values)
        x = codes.astype(U16) << 7
        x[0], x[255] = 0x0040, 0x7FC0
        self.check(self.narrow("bf16_e8m0", x, 2), codes)
        infinity = np.full(128, 0x7F80, U16)
        self.check(self.narrow("bf16_e8m0", infinity, 2), np.full(128, 0xFE, U8))

    def test_between_wide_floats(self) -> None:
        x = EVERY[:32768]
        self.check(self.cast("bf16_f32", x, F32), widened(x[1::2]))
        halves = x.view(F16)
        expected = torch.from_numpy(halves.copy()).bfloat16().view(torch.uint16).numpy()
        self.check(widened(self.cast("f16_bf16", halves, U16)), widened(expected))
        wide = widened(x)
        with np.errstate(all="ignore"):
            expected = wide.clip(-65504, 65504).astype(F16)
        expected[np.isnan(wide)] = 0
        self.check(self.cast("bf16_f16_sat", x, F16), expected)

    def test_integers(self) -> None:
        finite = EVERY[:31744].view(F16)
        for x in (finite, -finite):
            low = np.rint(x.astype(np.float64)).astype(np.int64)
            self.check(self.narrow("f16_i8", x, 2), (low & 255).astype(U8))
            clipped = np.trunc(x.astype(np.float64)).clip(0, 255)
            self.check(self.narrow("f16_u8_sat", x, 2), clipped.astype(U8))
        edges = full(np.array([np.inf, -np.inf, np.nan, 257.0], F16))
        self.check(self.narrow("f16_i8", edges, 2)[:4], np.array([127, 128, 0, 1], U8))
        wide = full(np.array([2.0**31, -(2.0**31) - 256, 1e10, -0.5, np.inf, -np.inf, np.nan], F32))
        self.check(self.cast("f32_i32", wide, I32)[:7],
                   np.array([-(2**31), 2**31 - 256, 1410065408, -1, 2**31 - 1, -(2**31), 0],
                            np.int64).astype(I32))  # fmt: skip
        ints = EVERY.view(I16)[::2].copy()
        self.check(self.cast("i16_u32", ints, U32), ints[1::2].clip(0).astype(U32))
        self.check(self.narrow("i16_u8", ints, 2), (ints & 255).astype(U8))
        self.check(self.narrow("i16_u8_sat", ints, 2), ints.clip(0, 255).astype(U8))
        codes = np.arange(256, dtype=U8)
        self.check(self.launch("tensor_u8_u16", codes, size=512).view(U16), codes.astype(U16))


class Faults(Registers):
    X = np.arange(256, dtype=F32)

    def check_fault(self, name: str, check: str, text: str) -> None:
        lines = SOURCE.read_text().splitlines()
        marked = [i for i, line in enumerate(lines, 1) if re.search(rf"// here: {name}\b", line)]
        with self.assertRaises(RuntimeError) as caught:
            self.launch(f"fault_{name}", self.X, 0)
        message = str(caught.exception)
        self.assertIn(f"[{check}] kernel fault_{name}, block 0: ", message)
        self.assertRegex(message, text)
        self.assertIn(f"reg.asc:{marked[0]} ", message)
        self.launch(f"fault_{name}", self.X, 1)

    def test_order_of_loads_and_stores(self) -> None:
        self.check_fault(
            "StoreThenLoad", "vf-order",
            r"reads UB byte \d+ that the same vector function stores at \S+reg.asc:\d+ "
            r"\(Reg::StoreAlign\): .*LocalMemBar<MemType::VEC_STORE, MemType::VEC_LOAD> is missing",
        )  # fmt: skip
        self.check_fault("LoadThenStore", "vf-order", "VEC_LOAD, MemType::VEC_STORE> is missing")
        self.check_fault("StoreThenStore", "vf-order", "VEC_STORE, MemType::VEC_STORE> is missing")

    def test_addresses(self) -> None:
        self.check_fault("Misaligned", "ub-align", "UB address 4 is not a multiple of 32")
        self.check_fault("Outside", "ub-extent", "outside of the Unified Buffer")
        self.check_fault("FarIndex", "gather-offset", "an index leads to UB bytes")

    def test_what_nobody_wrote(self) -> None:
        self.check_fault("Unwritten", "uninit-read", r"nobody wrote, loaded at \S+reg.asc:\d+")
        self.check_fault("UnwrittenChoice", "uninit-read", "compares lanes that come from UB bytes")
        self.check_fault("NeverLoaded", "uninit-read", "lanes of a register that nothing wrote")

    def test_unaligned_registers(self) -> None:
        self.check_fault("NoPost", "vf-order", "StoreUnAlignPost is missing")
        self.check_fault("NoPre", "vf-order", "LoadUnAlignPre is missing")
        self.check_fault("FifthStore", "vf-order", "a fifth unaligned register for stores")

    def test_outside_of_a_vector_function(self) -> None:
        self.check_fault("NoScope", "vf-order", "__simd_vf__ or __VEC_SCOPE__ is missing")

    def test_what_is_not_simulated(self) -> None:
        self.check_fault("Unrounded", "cast-mode", "3, which is no power of two, rounds to")
        self.check_fault("Saturating", "launch", r"CTRL\[48\] = 0, .*is not simulated")


@ON_950
class CompileErrors(unittest.TestCase):
    def compile_error(self, body: str, arch: str = "dav-3510") -> str:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "wrong.asc"
            source.write_text(
                '#include "kernel_operator.h"\nusing namespace AscendC;\n'
                f"__simd_vf__ inline void F(__ubuf__ half *p) {{ {body} }}\n"
                'extern "C" __global__ __aicore__ void k(GM_ADDR) { F(nullptr); }\n'
            )
            run = compile_kernels(source, Path(folder) / "wrong.so", arch)
        self.assertNotEqual(run.returncode, 0)
        return run.stderr

    def test_what_the_architecture_does_not_have(self) -> None:
        registers = (
            "Reg::MaskReg m; Reg::RegTensor<half> h; Reg::RegTensor<bfloat16_t> b; "
            "Reg::RegTensor<hifloat8_t> q; "
        )
        trait = "static constexpr Reg::CastTrait t{{Reg::RegLayout::{}, Reg::SatMode::SAT, {}}};"
        zeroing = "Reg::MaskMergeMode::ZEROING, RoundMode::CAST_"
        for statement, expected in {
            trait.format("ZERO", zeroing + "ROUND")
            + "Reg::Cast<hifloat8_t, bfloat16_t, t>(q, b, m);":
                "no cast between these types",
            trait.format("ZERO", zeroing + "RINT") + "Reg::Cast<hifloat8_t, half, t>(q, h, m);":
                "do not have the trait's RoundMode",
            trait.format("TWO", zeroing + "ROUND") + "Reg::Cast<hifloat8_t, half, t>(q, h, m);":
                "RegLayout must be ZERO or ONE",
            "Reg::LoadAlign<half, Reg::LoadDist::DIST_BDINTLV>(h, p);": "LoadDist is not simulated",
            "Reg::RegTensor<int64_t, Reg::RegTraitNumTwo> w;": "RegTraitNumTwo is not simulated",
            "Reg::Exp(b, b, m);": "dav-3510 does not support the type",
        }.items():  # fmt: skip
            with self.subTest(statement=statement):
                self.assertIn(expected, self.compile_error(registers + statement))

    def test_loops_that_vector_functions_do_not_have(self) -> None:
        nested = "".join(f"for (uint16_t {i} = 0; {i} < 2; ++{i}) " for i in "abcde")
        for body, expected in {
            "while (p != nullptr) { ++p; }": "have no 'while'",
            "do { ++p; } while (p != nullptr);": "have no 'do'",
            "switch (p == nullptr) { default: ; }": "have no 'switch'",
            nested + "{ ++p; }": "more than 4 loops",
        }.items():
            with self.subTest(body=body):
                error = self.compile_error(body)
                self.assertRegex(error, f"wrong.asc:3: error: .*{expected}")

    def test_loops_that_the_hardware_does_not_run(self) -> None:
        loops = "for (uint16_t i = 0; i < 4; ++i) { ++p; } for (int j = 0; j < 4; ++j) { ++p; } "
        frame = "do { ++p; } while (false); "
        error = self.compile_error(loops + frame + "not_declared();")
        self.assertIn("wrong.asc:3: warning: the loop's counter is int;", error)
        self.assertEqual(error.count("the loop's counter"), 1, error)
        self.assertNotIn("vector functions have no", error)

    def test_another_architecture(self) -> None:
        self.assertIn("wrong.asc:3: error: __simd_vf__", self.compile_error("", "dav-2201"))
