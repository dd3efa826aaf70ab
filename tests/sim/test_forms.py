"""Mask, bit-mask and counter forms of vector instructions, and what else kernels call, by numpy."""

from __future__ import annotations

import unittest
from pathlib import Path

import numpy as np

from .bench import F16, F32, I16, I32, U16, Bench, fit, floats, integers
from .test_toolkit import ARCH, compile_kernels

I8, U8, U32, I64 = np.int8, np.uint8, np.uint32, np.int64
only_3510 = unittest.skipUnless(ARCH == "dav-3510", "dav-2201 does not have them")
only_2201 = unittest.skipUnless(ARCH == "dav-2201", "dav-3510 does it otherwise")


def numbers(count: int, dtype: type, seed: int = 0, high: int = 50) -> np.ndarray:
    low = 0 if np.dtype(dtype).kind == "u" else -high
    return np.random.default_rng(seed).integers(low, high, count).astype(dtype)


def lanes(count: int, per_repeat: int, active: list[int] | range) -> np.ndarray:
    """Whether each element is an active lane of its repeat."""
    return np.isin(np.arange(count) % per_repeat, np.array(active))


def bits(values: np.ndarray) -> np.ndarray:
    return np.packbits(values, bitorder="little")


class Forms(Bench):
    source = "forms"

    def test_accumulation(self) -> None:
        x, y = numbers(256, F32), numbers(256, F32, 1)
        first = lanes(256, 64, range(40))
        self.check(self.run_kernel("AxpyMask_f32", x), np.where(first, 1 + 3 * x, 1).astype(F32))
        half = x.astype(F16)
        self.check(self.run_kernel("AxpyWide", half, dtype=F32), (1 + 2 * x).astype(F32))
        counted = np.arange(256) < 100
        self.check(self.run_kernel("MulAddDstCounter_f32", x, y),
                   np.where(counted, 1 + x * y, 1).astype(F32))  # fmt: skip
        some = lanes(256, 128, [*range(8, 16), 64])
        fused = np.maximum(half * F16(2) + y.astype(F16), 0)
        self.check(self.run_kernel("FusedMulAddReluBits_f16", half, y.astype(F16)),
                   np.where(some, fused, 2).astype(F16))  # fmt: skip
        words = x.astype(I16), y.astype(I16)
        self.check(self.run_kernel("SubReluMask_i16", *words),
                   np.where(lanes(256, 128, range(100)), np.maximum(words[0] - words[1], 0), 0)
                   .astype(I16))  # fmt: skip

    @only_2201
    def test_logic_and_shifts(self) -> None:
        x, y = map(fit, integers(I32))
        self.check(self.run_kernel("AndTwice_i32", x, y), x & y)
        half = np.arange(len(x)) < len(x) // 2
        self.check(self.run_kernel("OrHalf_i32", x, y), np.where(half, x | y, 0).astype(I32))
        words = fit(np.append(numbers(120, I16, high=30000), I16([8, 7, -8, -9, 32767, -32768])))
        self.check(self.run_kernel("ShiftRound_i16", words),
                   np.floor(words.astype(F32) / 16 + 0.5).astype(I16))  # fmt: skip

    def test_comparison(self) -> None:
        x, y = map(fit, floats(F32))
        less = x < y
        got = self.run_kernel("CompareMask_f32", x, y, dtype=U8)
        if ARCH == "dav-3510":  # There masks count.
            less &= lanes(len(x), 64, range(10))
        self.check(got[: len(x) // 8], bits(less))
        half = fit(floats(F16)[0])
        unequal = (half != 1) & ~np.isnan(half)
        self.check(self.run_kernel("CompareScalarMask_f16", half, dtype=U8)[: len(half) // 8],
                   bits(unequal))  # fmt: skip
        words = numbers(256, I32, high=10)
        self.check(self.run_kernel("ComparesCount_i32", words, dtype=U8)[:32], bits(words == 7))

    def test_mask_of_comparison_in_a_register(self) -> None:
        x, y = numbers(256, F16), numbers(256, F16, 1)
        greater = np.resize((x > y)[:128], 256)
        self.check(self.run_kernel("CmpMask_f16", x, y), np.where(greater, x, y))
        x, y = x.astype(F32), y.astype(F32)
        got = self.run_kernel("GetCmpMask_f32", x, y, dtype=U8)[:16]
        self.check(got, bits((x <= y)[:128] & (np.arange(128) < 16)))

    def test_selection(self) -> None:
        x, y = numbers(256, F32), numbers(256, F32, 1)
        first = lanes(256, 64, range(60))
        self.check(self.run_kernel("SelectMask_f32", x, y),
                   np.where(first, np.minimum(x, y), 0).astype(F32))  # fmt: skip
        self.check(self.run_kernel("SelectReused_f32", x, y),
                   np.where(np.resize((x < y)[:64], 256), x, y))  # fmt: skip
        half = x.astype(F16), y.astype(F16)
        self.check(self.run_kernel("SelectScalar_f16", *half),
                   np.where(half[0] < half[1], half[0], F16(7)))  # fmt: skip

    @only_2201
    def test_a_selection_mode_that_does_not_fit(self) -> None:
        with self.assertRaisesRegex(RuntimeError, r"\[mask\].*VSEL_TENSOR_SCALAR_MODE is the"):
            self.run_kernel("SelectBadMode", numbers(64, F32))

    def test_gathering(self) -> None:
        x = numbers(512, F16)
        back = x[::-1]
        expected = np.zeros(512, F16)
        expected[:100], expected[256:356] = back[:100], back[128:228]
        self.check(self.run_kernel("GatherMasked_f16", x), expected)

    def test_packing(self) -> None:
        x = numbers(512, F32)
        pattern = np.random.default_rng(3).integers(0, 2**32, 512, dtype=U32)
        # Two words for each repeat, 32 bytes apart.
        chosen = np.unpackbits(pattern.view(U8), bitorder="little").astype(bool)
        each = np.concatenate([chosen[256 * r : 256 * r + 64] for r in range(8)])
        got = self.run_kernel("GatherByTensor_f32", x, pattern.view(F32))
        self.assertEqual(got[-1], each.sum())
        self.check(got[: each.sum()], x[each])
        kept = np.concatenate([x[:100][chosen[:100]], x[128:228][chosen[:100]]])
        got = self.run_kernel("GatherCounted_f32", x, pattern.view(F32))
        self.assertEqual(got[-1], len(kept))
        self.check(got[: len(kept)], kept)

    def test_copies_and_indices(self) -> None:
        x = numbers(256, U16, high=60000)
        active = lanes(256, 128, [*range(16), *range(32, 48)])
        self.check(self.run_kernel("CopyBits_u16", x), np.where(active, x, 0).astype(U16))
        expected = np.zeros(256, U16)
        expected[:40], expected[128:168] = x[:40], x[64:104]
        self.check(self.run_kernel("CopyCounter_u16", x), expected)
        index = np.where(lanes(128, 64, range(20)), np.arange(5, 133), 0).astype(I32)
        self.check(self.run_kernel("IndexMask_i32", np.zeros(128, I32)), index)

    def test_reductions(self) -> None:
        x = numbers(512, F32, high=1000)
        rows = x.reshape(8, 64)
        got = self.run_kernel("ReduceMasked_f32", x)
        self.assertEqual(got[0], rows[:, :50].sum())
        odd = np.where(np.arange(512) % 2 == 1, x, -np.inf)
        self.assertEqual((got[8], got[9].view(U32)), (odd.max(), odd.argmax()))
        self.assertEqual((got[16], got[17].view(U32)), (x.min(), x.argmin()))

        got = self.run_kernel("NewNames_f32", x)
        self.check(got[:8], rows.sum(1))
        self.check(got[64:72], rows.max(1))
        self.assertEqual((got[32], got[33].view(U32)), (x.max(), x.argmax()))
        self.check(got[128:192], x.reshape(64, 8).min(1))
        self.check(got[192:448], x.reshape(256, 2).sum(1))
        self.check(got[448:456], rows.sum(1))
        self.assertEqual((got[480], got[34]), (x.sum(), x.sum()))

        got = self.run_kernel("CounterSum_f32", x)
        self.check(got[:2], F32([x[:64].sum(), x[64:100].sum()]))

    def test_transposing_blocks(self) -> None:
        words = np.arange(512, dtype=U16)
        self.check(self.run_kernel("To5HD_u16", words),
                   words.reshape(2, 16, 16).transpose(0, 2, 1).ravel())  # fmt: skip
        x = np.arange(128, dtype=F32)
        self.check(self.run_kernel("To5HD_f32", x), x.reshape(16, 8).T.ravel())
        octets = numbers(512, U8, high=255)
        got = self.run_kernel("To5HD_u8", octets).reshape(16, 32)[:, :16]
        self.check(got.copy(), octets.reshape(16, 32)[:, 16:].T.copy())

    def test_sorting(self) -> None:
        x = np.random.default_rng(5).integers(0, 40, 128).astype(F32)
        self.check(self.run_kernel("FullSort_f32", x), np.sort(x)[::-1].copy())
        # The eight greatest of the second list are all taken, and what is as great of the first.
        first, second = np.sort(x[:32])[::-1], np.sort(x[32:64])[::-1][:8]
        got = self.run_kernel("MergeShort_f32", x)
        self.assertEqual(tuple(got[:2]), ((first >= second[-1]).sum(), 8))

    def test_operators(self) -> None:
        x, y = numbers(256, F32), numbers(256, F32, 1)
        self.check(self.run_kernel("OperatorAdd_f32", x, y), x + y)
        half = x.astype(F16), y.astype(F16)
        with np.errstate(all="ignore"):
            self.check(self.run_kernel("OperatorDiv_f16", *half), half[0] / half[1])
        words = map(fit, integers(I32))
        left, right = words
        self.check(self.run_kernel("OperatorAnd_i32", left, right), left & right)
        got = self.run_kernel("OperatorLess_f32", x, y, dtype=U8)
        self.check(got[:32], bits(x < y))
        source = Path(__file__).with_name("forms.asc").read_text().splitlines()
        line = 1 + next(i for i, text in enumerate(source) if "OperatorWild" in text)
        with self.assertRaisesRegex(RuntimeError, rf"\[ub-extent\].*forms\.asc:{line} \(Add\)"):
            self.run_kernel("OperatorWild", x, y)

    def test_scaled_casts(self) -> None:
        x = fit(I32([0, 1, -1, 7, 1000, -30001, 2**24, 2**30, -(2**31)]))
        with np.errstate(over="ignore"):
            half = (x.astype(F32) * F32(0.5)).astype(F16)
        self.check(self.run_kernel("Deq_i32_f16", x, dtype=F16), half)

        words = fit(I16([0, 1, 3, 5, -5, 257, 300, -300, 32767, -32768]))[:128]
        scaled = np.clip(np.rint(words * F32(0.5) - 3), -128, 127).astype(I8)
        got = self.run_kernel("CastDeq_i16_i8", words, dtype=I8).reshape(4, 32)[:, :16]
        self.check(got.copy(), scaled.reshape(8, 16)[:4])
        step = np.arange(128) % 16
        scaled = np.clip(words.astype(F32) * step + 10 * step, 0, 255).astype(U8)
        got = self.run_kernel("CastDeqVector_i16_u8", words, dtype=U8).reshape(4, 32)[:, :16]
        self.check(got.copy(), scaled.reshape(8, 16)[:4])

    def test_arithmetic_that_ends_in_a_cast(self) -> None:
        x, y = numbers(256, F32) / F32(4), numbers(256, F32, 1)
        self.check(self.run_kernel("AddReluCast_f32_f16", x, y, dtype=F16),
                   np.maximum(x + y, 0).astype(F16))  # fmt: skip
        half = (x * 8).astype(F16), y.astype(F16)
        self.check(self.run_kernel("SubReluCast_f16_i8", *half, dtype=I8),
                   np.clip(np.rint(half[0] - half[1]), 0, 127).astype(I8))  # fmt: skip
        self.check(self.run_kernel("MulCast_f16_u8", *half, dtype=U8),
                   np.clip(np.rint(half[0] * half[1]), 0, 255).astype(U8))  # fmt: skip

    def test_four_bit_integers(self) -> None:
        x = fit(F16([0, 1.5, -1.5, 7, 8, 100, -8, -9, -100, 3.9, np.nan]))
        whole = np.clip(np.nan_to_num(np.floor(x)), -8, 7).astype(I8)
        packed = (whole[0::2] & 15 | whole[1::2] << 4).astype(U8)
        got = self.run_kernel("ToInt4", x, dtype=U8)[: len(x) // 2]
        self.check(got, packed)
        octets = np.arange(256, dtype=U8)
        pairs = np.stack([octets & 15, octets >> 4], 1).ravel().astype(I8)
        expected = np.where(pairs > 7, pairs - 16, pairs).astype(F16)
        self.check(self.run_kernel("FromInt4", octets, dtype=F16), expected[:256])

    def test_counter_of_more_than_255_repeats(self) -> None:
        x = np.zeros(20480, F32)
        self.check(self.run_kernel("LongCounter", x), np.full(20480, 3, F32))
        with self.assertRaisesRegex(RuntimeError, r"\[repeat\].*256 repeats, allowed are 0 to 255"):
            self.run_kernel("TooManyRepeats", numbers(128, F32))

    def test_scalar_unit(self) -> None:
        x = np.zeros(16, I64)
        x[1] = 77
        expected = [4, 60, 2, 3, -1, 63, 3, 3, 0x3F800000, 3, 5, 64, 16 << 20, 77, 0x7C00, 1]
        self.assertEqual(self.run_kernel("Scalars", x).tolist(), expected)

    def test_what_a_direct_launch_lacks(self) -> None:
        x = np.zeros(16, F32)
        with self.assertRaisesRegex(RuntimeError, r"\[launch\].*no workspace is set"):
            self.run_kernel("NoWorkspace", x)
        with self.assertRaisesRegex(RuntimeError, r"\[launch\].*-DTILING_KEY_VAR=<key>"):
            self.run_kernel("NoTilingKey", x)
        with self.assertRaisesRegex(RuntimeError, r"\[assert\].*n == 0 does not hold"):
            self.run_kernel("FailedAssert", x)

    def test_blocks_that_wait_for_single_others(self) -> None:
        x = np.zeros(64, I32)
        turns = 0
        for block in [0, 1, 2, 3] * 2:
            turns = turns * 3 + block
        self.assertEqual(self.run_kernel("Turns", x, blocks=4)[-1], turns)
        self.assertEqual(self.run_kernel("Pair", x, blocks=2)[-1], 20)
        with self.assertRaisesRegex(RuntimeError, r"\[sync\].*a word of global memory at .*IBWait"):
            self.run_kernel("PairAlone", x)

    def test_parts_of_the_unified_buffer(self) -> None:
        x = numbers(128, F32)
        self.check(self.run_kernel("Pools", x), x + 2)
        with self.assertRaisesRegex(RuntimeError, r"\[ub-extent\].*takes 96 bytes.*usable are 64"):
            self.run_kernel("PoolTooSmall", x)
        expected = np.where(np.arange(128) < 64, x + 1, 5).astype(F32)
        self.check(self.run_kernel("Allocated", x), expected)

    @only_3510
    def test_instructions_of_the_newer_architecture(self) -> None:
        words = numbers(256, U16, high=60000)
        expected = np.concatenate([np.zeros(128, U16), words[:128][::-1]])
        self.check(self.run_kernel("Scatter_u16", words), expected)
        left, right = numbers(256, U8, high=255), numbers(256, U8, 1, high=255)
        self.check(self.run_kernel("Interleave_u8", left, right),
                   np.stack([left[:128], right[:128]], 1).ravel())  # fmt: skip
        x, y = (fit(v) for v in floats(F32))
        self.check(self.run_kernel("DeInterleave_f32", x), np.concatenate([x[::2], x[1::2]]))
        with np.errstate(all="ignore"):
            self.check(self.run_kernel("Subs_f32", x), F32(1) - x)
            self.check(self.run_kernel("Truncate_f32", x), np.ceil(x))
            half = x.astype(F16), y.astype(F16)
            self.check(self.run_kernel("Prelu_f16", *half),
                       np.where(half[0] >= 0, half[0], half[0] * half[1]))  # fmt: skip
        ints = fit(integers(I32)[0]), fit(integers(I32)[1])
        with np.errstate(all="ignore"):
            self.check(self.run_kernel("Divs_i32", ints[0]), -ints[0])
        self.check(self.run_kernel("ShiftBy_i32", *ints), ints[0] >> (ints[1] & 31))
        wide = ints[0].astype(I64) * 2**32, ints[1].astype(I64)
        self.check(self.run_kernel("Xor_i64", *wide), wide[0] ^ wide[1])
        self.check(self.run_kernel("Neg_i8", left.view(I8)), -left.view(I8))
        self.check(self.run_kernel("Ands_u8", left), left & U8(0x3C))
        factors = np.random.default_rng(9).integers(0, 2**32, 128, dtype=U32)
        high = (factors.astype(np.uint64) ** 2 >> np.uint64(32)).astype(U32)
        self.check(self.run_kernel("Mull_u32", factors), high)

    @only_2201
    def test_types_that_the_architecture_lacks(self) -> None:
        calls = {
            "Add": "uint32_t", "Div": "int32_t", "FusedMulAdd": "int16_t", "AddRelu": "int32_t",
            "Max": "bfloat16_t",
        }  # fmt: skip
        body = "".join(
            f"{op}(LocalTensor<{kind}>(), LocalTensor<{kind}>(), LocalTensor<{kind}>(), 8);\n"
            for op, kind in calls.items()
        )
        source = Path(self.folder.name) / "types.asc"
        source.write_text(
            '#include "kernel_operator.h"\nusing namespace AscendC;\n'
            f'extern "C" __global__ __aicore__ void types(GM_ADDR) {{\n{body}}}\n'
        )
        run = compile_kernels(source, source.with_suffix(".so"))
        for op in calls:
            self.assertIn(f"{op}: this architecture does not support the type", run.stderr)


if __name__ == "__main__":
    unittest.main()
