"""The functions that CANN composes of many instructions against numpy, over edge values."""

from __future__ import annotations

import math
import unittest

import numpy as np

from .bench import F16, F32, I32, TYPES, U16, Bench, fit, floats, integers


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


FUNCTIONS = {
    "Sin": np.sin, "Cos": np.cos, "Tan": np.tan, "Asin": np.arcsin, "Acos": np.arccos,
    "Atan": np.arctan, "Sinh": np.sinh, "Cosh": np.cosh, "Tanh": np.tanh, "Asinh": np.arcsinh,
    "Acosh": np.arccosh, "Atanh": np.arctanh, "Log": np.log, "Log2": np.log2, "Log10": np.log10,
    "Floor": np.floor, "Ceil": np.ceil, "Trunc": np.trunc, "Round": np.rint,
    "Frac": lambda x: x - np.trunc(x), "Sign": lambda x: np.nan_to_num(np.sign(x)) + 0.0,
    "Sigmoid": sigmoid,
}  # fmt: skip


class Functions(Bench):
    source = "functions"

    def test_functions_of_one_argument(self) -> None:
        for suffix in ("f16", "f32"):
            x = fit(floats(TYPES[suffix])[0][:24])
            for name, function in FUNCTIONS.items():
                with self.subTest(function=name, type=suffix), np.errstate(all="ignore"):
                    expected = function(x.astype(np.float64)).astype(x.dtype)
                    self.check(self.run_kernel(f"{name}_{suffix}", x), expected, ulps=4)

    def test_error_function_and_activations(self) -> None:
        x, y = (v.astype(F32) for v in np.random.default_rng(0).uniform(-4, 4, (2, 256)))
        inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x.astype(np.float64) ** 3)
        expected = {
            "Erf": np.vectorize(math.erf)(x), "Erfc": np.vectorize(math.erfc)(x),
            "Gelu": x / 2 * (1 + np.tanh(inner)), "FasterGelu": x * sigmoid(1.702 * x),
            "Silu": x * sigmoid(x), "Swish": x * sigmoid(2 * x),
            "SwiGLU": x * y * sigmoid(0.5 * y),
        }  # fmt: skip
        for name, values in expected.items():
            with self.subTest(function=name):
                got = self.run_kernel(f"{name}_f32", x, y)
                np.testing.assert_allclose(got, values, rtol=2e-5, atol=1e-7)

    def test_powers(self) -> None:
        x = np.linspace(0.1, 4, 64).astype(F32)
        y = np.linspace(-3, 3, 64).astype(F32)
        self.check(self.run_kernel("Power_f32", x, y), np.power(x, y), ulps=2)
        half = x.astype(F16)
        self.check(self.run_kernel("PowerScalar_f16", half), half * half)
        exponents = fit(I32([0, 1, 2, 3, 30, 31, -1, 33]))
        expected = [1, -2, 4, -8, 2**30, -(2**31), 0, 0]
        self.check(self.run_kernel("PowerOfScalar_i32", exponents)[:8], I32(expected))

    def test_clamping_and_bits(self) -> None:
        for name, suffix, function in (
            ("ClampMax", "f32", np.minimum), ("ClampMin", "f16", np.maximum),
        ):  # fmt: skip
            x = fit(floats(TYPES[suffix])[0])
            self.check(self.run_kernel(f"{name}_{suffix}", x), function(x, x.dtype.type(1)))
        left, right = map(fit, integers(U16))
        self.check(self.run_kernel("Xor_u16", left, right), left ^ right)
        got = self.run_kernel("ArithProgression_i32", np.zeros(64, I32))
        self.check(got, np.arange(5, 5 - 3 * 64, -3, dtype=I32))

    def test_rows(self) -> None:
        x = np.random.default_rng(1).integers(-9, 9, 512).astype(F32)
        rows = x.reshape(8, 64)
        self.check(self.run_kernel("Sum_f32", x)[:8], rows[:, :10].sum(1))
        self.check(self.run_kernel("CumSum_f32", x), rows.cumsum(1).ravel())
        half = rows.astype(F16)
        self.check(self.run_kernel("CumSumColumns_f16", half.ravel()), half.cumsum(0).ravel())
        self.check(self.run_kernel("BroadcastRow_f32", x), np.tile(rows[0], 8))
        half = half.ravel()
        self.check(self.run_kernel("BroadcastColumn_f16", half), np.repeat(half[:16], 32))

    def test_mistakes(self) -> None:
        x = np.zeros(64, F32)
        with self.assertRaisesRegex(RuntimeError, r"dimension 0 has 2 elements, in dst 8; only"):
            self.run_kernel("BroadcastWrong", x)
        with self.assertRaisesRegex(RuntimeError, r"\[uninit-read\].*Adds"):
            self.run_kernel("UsesTemporary", x)


if __name__ == "__main__":
    unittest.main()
