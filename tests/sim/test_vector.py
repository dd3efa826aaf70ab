"""Each vector instruction of the simulated core against numpy, over edge values."""

from __future__ import annotations

import unittest
import warnings

import numpy as np

from .bench import F16, F32, I16, I32, TYPES, U16, Bench, fit, floats, integers


class Vector(Bench):
    source = "vector"

    def test_arithmetic_of_floats(self) -> None:
        for suffix in ("f16", "f32"):
            x, y = map(fit, floats(TYPES[suffix]))
            three = x.dtype.type(3)
            with np.errstate(all="ignore"):
                # numpy leaves open which zero it takes.
                maximum = np.where(x == y, np.where(np.signbit(x), y, x), np.maximum(x, y))
                minimum = np.where(x == y, np.where(np.signbit(x), x, y), np.minimum(x, y))
                expected = {
                    "Add": x + y, "Sub": x - y, "Mul": x * y, "Div": x / y, "Max": maximum,
                    "Min": minimum, "Adds": x + three, "Muls": x * three,
                    "Maxs": np.maximum(x, three), "Mins": np.minimum(x, three), "Abs": np.abs(x),
                    "Sqrt": np.sqrt(x), "Relu": np.where(np.isnan(x) | (x > 0), x, x.dtype.type(0)),
                }  # fmt: skip
                close = {"Exp": np.exp(x), "Ln": np.log(x)}
            for op, values in expected.items():
                with self.subTest(op=op, type=suffix):
                    self.check(self.run_kernel(f"{op}_{suffix}", x, y), values)
            for op, values in close.items():
                with self.subTest(op=op, type=suffix):
                    self.check(self.run_kernel(f"{op}_{suffix}", x, y), values, ulps=2)

    def test_arithmetic_of_integers_wraps(self) -> None:
        for suffix in ("i16", "i32"):
            x, y = map(fit, integers(TYPES[suffix]))
            three = x.dtype.type(3)
            with np.errstate(all="ignore"):
                expected = {
                    "Add": x + y, "Sub": x - y, "Mul": x * y, "Max": np.maximum(x, y),
                    "Min": np.minimum(x, y), "Adds": x + three, "Muls": x * three,
                    "Maxs": np.maximum(x, three), "Mins": np.minimum(x, three),
                    "Relu": np.maximum(x, 0),
                }  # fmt: skip
            for op, values in expected.items():
                with self.subTest(op=op, type=suffix):
                    self.check(self.run_kernel(f"{op}_{suffix}", x, y), values)

    def test_logic_and_shifts(self) -> None:
        x, y = map(fit, integers(U16))
        self.check(self.run_kernel("And_u16", x, y), x & y)
        self.check(self.run_kernel("Or_u16", x, y), x | y)
        self.check(self.run_kernel("Not_u16", x), ~x)
        self.check(self.run_kernel("ShiftRight_u16", x), x >> 4)
        self.check(self.run_kernel("ShiftLeft_u16", x), x << U16(1))
        signed = fit(np.append(integers(I16)[0], U16(0xAAAA).astype(I16)))
        self.check(self.run_kernel("ShiftRight_i16", signed), signed >> 4)
        # The sign bit stays, the others move.
        moved = (signed.view(U16) & U16(0x8000)) | ((signed.view(U16) << U16(1)) & U16(0x7FFF))
        self.check(self.run_kernel("ShiftLeft_i16", signed), moved.view(I16))

    ROUND = {  # noqa: RUF012
        "RINT": np.rint, "FLOOR": np.floor, "CEIL": np.ceil, "TRUNC": np.trunc,
        "ROUND": lambda v: np.copysign(np.floor(np.abs(v) + 0.5), v),
    }  # fmt: skip

    def test_casts_to_integers_saturate(self) -> None:
        every = np.arange(65536, dtype=U16).view(F16)
        cases = [("f16_i32", every, I32), ("f16_i8", every, np.int8), ("f16_u8", every, np.uint8)]
        wide = fit(np.concatenate([floats(F32)[0], F32([32767.5, -32768.5, 1e9, -1e9])]))
        cases.append(("f32_i16", wide, I16))
        for name, x, dtype in cases:
            info = np.iinfo(dtype)
            for mode, function in self.ROUND.items():
                with self.subTest(cast=name, mode=mode), np.errstate(all="ignore"):
                    rounded = np.nan_to_num(function(x.astype(np.float64)), nan=0.0)
                    expected = np.clip(rounded, info.min, info.max).astype(dtype)
                    for part in range(0, len(x), 8192):
                        chunk = slice(part, part + 8192)
                        got = self.run_kernel(f"Cast_{name}_{mode}", x[chunk], dtype=dtype)
                        self.check(got, expected[chunk])

    def test_casts_to_narrower_floats(self) -> None:
        random = np.random.default_rng(0)
        bits = random.integers(0, 2**32, 8192, dtype=np.uint32)
        ties = (random.integers(0, 2**16, 4096, dtype=np.uint32) << 16) | 0x8000
        half_ties = (
            random.integers(0x33000000, 0x47800000, 4096, dtype=np.uint32) & ~np.uint32(0x1FFF)
        ) | 0x1000
        x = np.concatenate([bits, ties, half_ties]).astype(np.uint32).view(F32)
        for name, mantissa, low, maximum in (
            ("f32_f16", 10, -14, 65504.0),
            ("f32_bf16", 7, -126, None),
        ):
            for mode, function in self.ROUND.items():
                with self.subTest(cast=name, mode=mode), np.errstate(all="ignore"):
                    wide = x.astype(np.float64)
                    exponent = np.maximum(np.frexp(wide)[1] - 1, low)
                    step = np.ldexp(1.0, exponent - mantissa)
                    expected = np.where(np.isfinite(wide), function(wide / step) * step, wide)
                    limit = maximum or float(np.uint32(0x7F7F0000).view(F32))
                    over = np.isfinite(wide) & (np.abs(expected) > limit)
                    grows = {"RINT": over, "ROUND": over, "FLOOR": over & (wide < 0),
                             "CEIL": over & (wide > 0), "TRUNC": over & False}[mode]  # fmt: skip
                    expected = np.where(
                        over, np.copysign(np.where(grows, np.inf, limit), wide), expected
                    )
                    expected = np.where(expected == 0, np.copysign(0.0, wide), expected)
                    if name == "f32_f16":
                        got = self.run_kernel(f"Cast_{name}_{mode}", x, dtype=F16).astype(F32)
                    else:
                        got = self.run_kernel(f"Cast_{name}_{mode}", x, dtype=U16)
                        got = (got.astype(np.uint32) << 16).view(F32)
                    self.check(got, expected.astype(F32))

    def test_exact_casts(self) -> None:
        every = np.arange(65536, dtype=U16)[: 65536 // 2]
        half = every.view(F16)[:16384]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.check(self.run_kernel("Cast_f16_f32_NONE", half, dtype=F32), half.astype(F32))
        words = every[:16384]
        self.check(self.run_kernel("Cast_bf16_f32_NONE", words, dtype=F32),
                   (words.astype(np.uint32) << 16).view(F32))  # fmt: skip
        signed = np.arange(-8192, 8192, dtype=I16)
        self.check(self.run_kernel("Cast_i16_f32_NONE", signed, dtype=F32), signed.astype(F32))
        self.check(self.run_kernel("Cast_i16_f16_NONE", signed, dtype=F16), signed.astype(F16))
        octets = np.arange(256, dtype=np.uint8)
        self.check(self.run_kernel("Cast_u8_f16_NONE", octets, dtype=F16), octets.astype(F16))
        wide = fit(integers(I32)[0])
        self.check(self.run_kernel("Cast_i32_i16_NONE", wide, dtype=I16),
                   np.clip(wide, -32768, 32767).astype(I16))  # fmt: skip

    def test_a_rounding_mode_that_does_not_exist(self) -> None:
        with self.assertRaisesRegex(
            RuntimeError, r"\[cast-mode\].*CAST_FLOOR does not exist for this"
        ):
            self.run_kernel("BadMode", np.zeros(128, F16), dtype=F32)

    def test_masks_repeats_and_strides(self) -> None:
        x, y = np.arange(1024, dtype=F16), np.arange(1024, dtype=F16) + 5
        expected = np.zeros(1024, F16)
        for repeat in range(2):
            for lane in range(60):
                source = repeat * 256 + (lane // 16) * 32 + lane % 16
                expected[repeat * 128 + lane] = x[source] + y[lane % 16]
        self.check(self.run_kernel("Masked_f16", x, y), expected)

        x, y = np.arange(128, dtype=F32), np.ones(128, F32)
        lanes = np.array([0xF0F0 >> (i % 64) & 1 for i in range(128)], bool)
        self.check(self.run_kernel("MaskBits_f32", x, y), np.where(lanes, x + 1, 0).astype(F32))
        first = np.arange(128) < 100
        self.check(self.run_kernel("Counter_f32", x, y), np.where(first, x + 1, 0).astype(F32))

    def test_moves(self) -> None:
        x = np.random.default_rng(1).standard_normal(512).astype(F32)
        self.check(self.run_kernel("Duplicate_f32", x), np.full(512, 1.5, F32))
        self.check(self.run_kernel("Index_i32", np.zeros(512, I32)), np.arange(7, 519, dtype=I32))
        half = x.astype(F16)
        self.check(self.run_kernel("Gather_f16", half)[:256], half[::-1][:256])
        self.check(self.run_kernel("GatherMask_f32", x)[:256], x[1::2])
        self.check(self.run_kernel("Brcb_f32", x), np.repeat(x[:64], 8))
        y = np.roll(x, 1)
        self.check(self.run_kernel("Select_f32", x[:64], y[:64]), np.minimum(x[:64], y[:64]))

    def test_reductions(self) -> None:
        x = np.random.default_rng(2).integers(-100, 100, 1000).astype(F32)
        self.assertEqual(self.run_kernel("ReduceSum_f32", x)[0], x.sum())
        value, index = self.run_kernel("ReduceMax_f32", x)[:2]
        self.assertEqual((value, index.view(np.uint32)), (x.max(), x.argmax()))
        x[17] = np.nan
        self.assertTrue(np.isnan(self.run_kernel("ReduceMin_f16", x.astype(F16))[0]))

    def test_reductions_of_repeats_blocks_and_pairs(self) -> None:
        x = np.random.default_rng(3).integers(-100, 100, 512).astype(F32)
        repeats = x.reshape(8, 64)
        first = repeats[:, :50]
        self.check(self.run_kernel("WholeSum_f32", x)[:8], first.sum(1))
        pairs = self.run_kernel("WholeMax_f32", x)[:16].reshape(8, 2)
        self.check(pairs[:, 0].copy(), first.max(1))
        self.check(pairs[:, 1].copy().view(np.uint32), first.argmax(1).astype(np.uint32))
        half = x.astype(F16)
        self.check(self.run_kernel("WholeMin_f16", half)[:4], half.reshape(4, 128).min(1))
        self.check(self.run_kernel("BlockMax_f16", half)[:32], half.reshape(32, 16).max(1))
        self.check(self.run_kernel("BlockMin_f32", x)[:64], x.reshape(64, 8).min(1))
        self.check(self.run_kernel("PairSum_f32", x)[:256], x.reshape(256, 2).sum(1))
        blocks = np.zeros((8, 8), F32)
        blocks[:, :2] = repeats[:, :16].reshape(8, 2, 8).sum(2)
        blocks[:, 2] = repeats[:, 16:20].sum(1)
        self.check(self.run_kernel("BlockSum_f32", x)[:64], blocks.ravel())

    def test_accumulation(self) -> None:
        x = np.random.default_rng(4).integers(-50, 50, 256).astype(F32)
        y = np.roll(x, 3)
        self.check(self.run_kernel("Axpy_f32", x), 1 + 3 * x)
        self.check(self.run_kernel("FusedMulAdd_f32", x, y), 2 * x + y)
        half = (x.astype(F16), y.astype(F16))
        self.check(self.run_kernel("MulAddDst_f16", *half), (1 + x * y).astype(F16))
        words = (x.astype(I16), y.astype(I16))
        self.check(self.run_kernel("AddRelu_i16", *words), np.maximum(words[0] + words[1], 0))

    def test_rearranging_and_sorting(self) -> None:
        words = np.arange(512, dtype=U16)
        self.check(self.run_kernel("Transpose_u16", words)[:256],
                   words[:256].reshape(16, 16).T.ravel())  # fmt: skip
        self.check(self.run_kernel("Gatherb_u16", words), words.reshape(32, 16)[::-1].ravel())
        x = np.random.default_rng(5).integers(0, 40, 128).astype(F32)
        self.check(self.run_kernel("Sort_f32", x), np.sort(x)[::-1])

    def test_tiling_data_in_global_memory(self) -> None:
        x = np.zeros(8, F32)
        x[0], x.view(np.uint32)[1] = 1.5, 6
        self.assertEqual(self.run_kernel("Tiling_f32", x)[0], 9.0)

    def test_atomic_copies_add_up_over_blocks(self) -> None:
        x = np.arange(256, dtype=F32)
        self.check(self.run_kernel("AtomicAdd_f32", x, blocks=5), 5 * x)

    def test_operands_are_checked(self) -> None:
        x = np.zeros(128, F32)
        with self.assertRaisesRegex(
            RuntimeError, r"\[ub-align\].*UB address \d+ is not a multiple of 32"
        ):
            self.run_kernel("Misaligned", x)
        with self.assertRaisesRegex(
            RuntimeError, r"\[gather-offset\].*offset 400000 reads UB bytes"
        ):
            self.run_kernel("GatherWild", x.astype(F16))


if __name__ == "__main__":
    unittest.main()
