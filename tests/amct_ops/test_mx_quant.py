"""mx_quant against golden data and a reference in numpy.

It needs Ascend950. With another simulated device the tests run in a process that has two of them.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import unittest
from pathlib import Path

import numpy as np
import torch
import torch._dynamo.testing
import torch_npu  # noqa: F401
from hypothesis import given, settings
from hypothesis import strategies as st

import amct_ops.sim
from amct_ops import _manifest
from tests.contract.samples import layouts

PROFILE = amct_ops.sim.profile()
HERE = PROFILE["npu_arch"] == "dav-3510"
ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"
FLOATS = {"bf16": torch.bfloat16, "fp16": torch.float16}
# Exponent bits, mantissa bits, bias, greatest value.
FORMATS = {"mxfp4_e2m1": (2, 1, 1, 6.0), "mxfp8_e4m3": (4, 3, 7, 448.0),
           "mxfp8_e5m2": (5, 2, 15, 57344.0)}  # fmt: skip
CASES = [("mxfp4_e2m1", "rint"), ("mxfp4_e2m1", "round"), ("mxfp4_e2m1", "floor"),
         ("mxfp8_e4m3", "rint"), ("mxfp8_e5m2", "rint")]  # fmt: skip
FP8 = (torch.float8_e4m3fn, torch.float8_e5m2)
needs_950 = unittest.skipUnless(HERE, "runs in a process of its own, with Ascend950")


def run(arguments: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


# --- the reference: exact in float64 ---


def values_of(bits: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "bf16":
        bits = bits.astype(np.uint32) << 16
    with np.errstate(invalid="ignore"):
        return bits.view(np.float32 if dtype == "bf16" else np.float16).astype(np.float64)


def finite_codes(name: str) -> np.ndarray:
    """The value of each non-negative finite code."""
    exponents, mantissas, bias, greatest = FORMATS[name]
    code = np.arange(1 << (exponents + mantissas))
    exponent, mantissa = code >> mantissas, code & ((1 << mantissas) - 1)
    value = np.where(
        exponent == 0,
        mantissa * 2.0 ** (1 - bias - mantissas),
        (1 + mantissa / (1 << mantissas)) * 2.0 ** (exponent - float(bias)),
    )
    return value[value <= greatest]


def by_blocks(x: np.ndarray) -> np.ndarray:
    padded = np.zeros((x.shape[0], -(-x.shape[1] // 64) * 64), x.dtype)
    padded[:, : x.shape[1]] = x
    return padded.reshape(x.shape[0], -1, 32)


def quantised(x: np.ndarray, name: str, mode: str) -> tuple[np.ndarray, np.ndarray]:
    """Return codes, two in a byte for FP4, and scale bytes (rows, pairs, 2)."""
    _, mantissas, bias, greatest = FORMATS[name]
    blocks = by_blocks(x)
    magnitude = np.abs(blocks).max(-1, keepdims=True)
    finite = np.isfinite(magnitude)
    blocks = np.where(finite, blocks, 0.0)
    top = np.where(finite & (magnitude > 0), magnitude, 1.0)
    least = np.frexp(greatest)[1]
    scale = np.maximum(np.frexp(top)[1] - least, -127)
    scale = np.where(finite & (magnitude == 0), -127, scale)
    q = blocks * 2.0 ** -scale.astype(np.float64)
    ulp = 2.0 ** (np.maximum(np.frexp(q)[1] - 1, 1 - bias) - float(mantissas))
    steps = q / ulp
    rounded = {
        "rint": np.rint,
        "round": lambda v: np.copysign(np.floor(np.abs(v) + 0.5), v),
        "floor": np.floor,
    }[mode](steps)
    result = np.minimum(np.abs(rounded * ulp), greatest)
    table = finite_codes(name)
    code = np.searchsorted(table, result)
    assert (table[code] == result).all()
    sign = 0x8 if name == "mxfp4_e2m1" else 0x80
    code = np.where(finite, code | np.where(np.signbit(q), sign, 0), 0).astype(np.uint8)
    code = code.reshape(x.shape[0], -1)[:, : x.shape[1]]
    if name == "mxfp4_e2m1":
        code = code[:, ::2] | code[:, 1::2] << 4
    byte = np.where(finite, scale + 127, 255).astype(np.uint8)
    return code, byte.reshape(x.shape[0], -1, 2)


def dequantised(code: np.ndarray, scale: np.ndarray, name: str, dtype: torch.dtype) -> torch.Tensor:
    if name == "mxfp4_e2m1":
        code = np.stack([code & 15, code >> 4], -1).reshape(code.shape[0], -1)
        table = finite_codes(name)
        element = np.concatenate([table, -table])[code]
    else:
        kind = torch.float8_e4m3fn if name == "mxfp8_e4m3" else torch.float8_e5m2
        element = torch.from_numpy(code).view(kind).double().numpy()
    factor = np.where(scale == 255, np.nan, 2.0 ** (scale.astype(np.float64) - 127))
    factor = np.repeat(factor.reshape(scale.shape[0], -1), 32, axis=1)[:, : element.shape[1]]
    # Exact in float, but for what is beyond it: one rounding is left.
    return torch.from_numpy(element * factor).float().to(dtype)


def bits_of(x: torch.Tensor) -> np.ndarray:
    """The bits, with one NaN for all."""
    x = x.cpu()
    bits = x.contiguous().view(torch.int16).numpy().view(np.uint16).copy()
    bits[x.isnan().numpy()] = 0x7FFF
    return bits


def tensor_of(bits: np.ndarray, dtype: str) -> torch.Tensor:
    return torch.from_numpy(bits.view(np.int16)).view(FLOATS[dtype])


# --- with any device ---


class OtherDevices(unittest.TestCase):
    @unittest.skipIf(HERE, "has Ascend950 already")
    def test_everything_on_two_ascend950(self) -> None:
        done = run(
            ["-m", "unittest", "-q", "tests.amct_ops.test_mx_quant"],
            AMCT_SIM_SOC="Ascend950PR_9599", AMCT_SIM_DEVICES="2",
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"Ran \d{2,} tests")

    def test_other_devices_are_refused_with_what_is_required(self) -> None:
        for soc, alias in (("Ascend910B3", "A2"), ("Ascend910_9391", "A3")):
            message = f"mx_quant requires Ascend950 (A5); the device here is {soc} ({alias})"
            code = (
                "import torch, torch_npu, amct_ops\n"
                "for attempt in (lambda: torch.ops.amct.mx_quant, lambda: amct_ops.mx_quant):\n"
                "    try: attempt()\n"
                "    except (AttributeError, ImportError) as error: print(error)\n"
                "print(torch.ops.amct.encode_to_hifloat8(torch.ones(1).half().npu()).item())\n"
            )
            out = run(["-c", code], AMCT_SIM_SOC=soc).stdout.splitlines()
            self.assertEqual(out, [f"torch.ops.amct.mx_quant: {message}", message, "8"])

    def test_without_a_device_it_serves_export(self) -> None:
        code = (
            "import torch, torch_npu\n"
            "x = torch.empty(3, 70, dtype=torch.half, device='meta')\n"
            "print([tuple(t.shape) for t in torch.ops.amct.mx_quant(x)])\n"
        )
        done = run(["-c", code], AMCT_SIM_DEVICES="0")
        self.assertEqual(done.stdout, "[(3, 35), (3, 2, 2)]\n", done.stderr)

    def test_the_wheel_holds_it_for_ascend950_only(self) -> None:
        operator = _manifest.read().operators["mx_quant"]
        self.assertEqual((*operator.socs, *operator.libraries), ("ascend950", "dav-3510"))


# --- with Ascend950 ---


@needs_950
class Values(unittest.TestCase):
    def check(self, bits: np.ndarray, dtype: str, name: str, mode: str) -> None:
        y, scale = torch.ops.amct.mx_quant(
            tensor_of(bits, dtype).npu(), format=name, round_mode=mode
        )
        code, byte = quantised(values_of(bits, dtype), name, mode)
        np.testing.assert_array_equal(scale.cpu().numpy(), byte)
        np.testing.assert_array_equal(y.cpu().view(torch.uint8).numpy(), code)
        for wanted in FLOATS.values():
            back = torch.ops.amct.mx_dequant(y, scale, name, wanted)
            expected = dequantised(code, byte, name, wanted)
            np.testing.assert_array_equal(bits_of(back), bits_of(expected))

    def test_golden_data(self) -> None:
        for dtype in FLOATS:
            data = np.load(GOLDEN / f"mx_{dtype}.npz")
            for name, mode in CASES:
                for tail in ("", "_tail"):
                    key = f"{name.split('_')[1]}_{mode}{tail}"
                    with self.subTest(dtype=dtype, key=key):
                        bits = data["x" + tail]
                        y, scale = torch.ops.amct.mx_quant(
                            tensor_of(bits, dtype).npu(), format=name, round_mode=mode
                        )
                        codes = y.cpu().view(torch.uint8).numpy()
                        np.testing.assert_array_equal(codes, data[key + "_y"])
                        np.testing.assert_array_equal(scale.cpu().numpy(), data[key + "_scale_npu"])
                        self.check(bits, dtype, name, mode)

    @settings(max_examples=120, deadline=None, derandomize=True, database=None)
    @given(
        case=st.sampled_from(CASES),
        dtype=st.sampled_from(sorted(FLOATS)),
        rows=st.integers(1, 9),
        columns=st.integers(1, 330),
        palette=st.lists(
            st.integers(0, 0xFFFF)
            | st.sampled_from([0, 0x8000, 1, 0x8001, 0x7F7F, 0x7BFF, 0x7F80, 0x7C00, 0x7FC0]),
            min_size=1, max_size=9,
        ),
        seed=st.integers(0, 1 << 16),
    )  # fmt: skip
    def test_any_bits_of_any_shape(
        self, case: tuple[str, str], dtype: str, rows: int, columns: int, palette: list[int],
        seed: int,
    ) -> None:  # fmt: skip
        columns += columns % 2 if case[0] == "mxfp4_e2m1" else 0
        chosen = np.random.default_rng(seed).integers(len(palette), size=(rows, columns))
        self.check(np.array(palette, np.uint16)[chosen], dtype, *case)

    def test_every_finite_value_below_other_scales(self) -> None:
        # Blocks of 31 neighbours, below powers of two from all over the range.
        for dtype, infinity in (("bf16", 0x7F80), ("fp16", 0x7C00)):
            step = 128 if dtype == "bf16" else 1024
            for name, mode in CASES:
                with self.subTest(dtype=dtype, format=name, mode=mode):
                    bits = np.arange(infinity, dtype=np.uint16)[: infinity // 31 * 31]
                    blocks = np.empty((len(bits) // 31, 32), np.uint16)
                    blocks[:, 1:] = bits.reshape(-1, 31) | 0x8000
                    top = np.arange(len(blocks)) * 7 % (infinity // step) * step
                    blocks[:, 0] = np.maximum(top, bits.reshape(-1, 31).max(1))
                    self.check(blocks, dtype, name, mode)

    def test_every_code_and_scale_dequantises(self) -> None:
        scale = np.arange(256, dtype=np.uint8)[:, None, None].repeat(2, 2)
        for name in FORMATS:
            code = np.arange(256, dtype=np.uint8)
            if name == "mxfp4_e2m1":
                code = code[:16] | (code[:16] + 3 & 15) << 4
            code = np.broadcast_to(code, (256, len(code))).copy()
            pairs = code.shape[1] * (2 if name == "mxfp4_e2m1" else 1) // 64 or 1
            scales = scale.repeat(pairs, 1)
            kind = {"mxfp4_e2m1": torch.uint8, "mxfp8_e4m3": torch.float8_e4m3fn,
                    "mxfp8_e5m2": torch.float8_e5m2}[name]  # fmt: skip
            y = torch.from_numpy(code).view(kind).npu()
            for dtype in FLOATS.values():
                with self.subTest(format=name, dtype=dtype):
                    back = torch.ops.amct.mx_dequant(y, torch.from_numpy(scales).npu(), name, dtype)
                    expected = dequantised(code, scales, name, dtype)
                    np.testing.assert_array_equal(bits_of(back), bits_of(expected))

    def test_shapes_around_steps_tiles_and_rows(self) -> None:
        generator = np.random.default_rng(1)
        shapes = [(1, 2), (1, 32), (1, 34), (2, 96), (3, 62), (5, 254), (5, 258), (1, 2050),
                  (70, 100), (4100, 2), (700, 30), (3, 20_002), (66, 2048), (65, 8226)]  # fmt: skip
        for shape in shapes:
            for name in ("mxfp4_e2m1", "mxfp8_e5m2"):
                with self.subTest(shape=shape, format=name):
                    bits = generator.integers(0, 0x7B00, size=shape, dtype=np.uint16)
                    self.check(bits, "bf16" if shape[0] % 2 else "fp16", name, "rint")

    def test_from_one_core_to_all(self) -> None:
        generator = np.random.default_rng(2)
        for cores in range(1, PROFILE["aiv_cores"] + 1):
            with self.subTest(cores=cores):
                bits = generator.integers(0, 0x7B00, size=(1, 2048 * cores), dtype=np.uint16)
                with amct_ops.sim.estimate() as cost:
                    self.check(bits, "bf16", "mxfp8_e4m3", "rint")
                self.assertEqual({launch.blocks for launch in cost.launches}, {cores})

    def test_error_of_a_normal_distribution(self) -> None:
        x = torch.randn(512, 1024, generator=torch.Generator().manual_seed(4)).bfloat16()
        for name, decibels in (
            ("mxfp4_e2m1", 18.80),
            ("mxfp8_e4m3", 30.67),
            ("mxfp8_e5m2", 25.36),
        ):
            y, scale = torch.ops.amct.mx_quant(x.npu(), format=name)
            back = torch.ops.amct.mx_dequant(y, scale, name, torch.bfloat16).cpu().double()
            error = (back - x.double()).square().sum()
            ratio = 10 * torch.log10(x.double().square().sum() / error)
            self.assertAlmostEqual(ratio.item(), decibels, delta=0.05)

    def test_other_sizes_of_the_unified_buffer(self) -> None:
        if "AMCT_SIM_UB_BYTES" in os.environ:
            self.skipTest("has one")
        suite = "tests.amct_ops.test_mx_quant.UnifiedBuffer"
        for size in (96, 160, 512):
            done = run(["-m", "unittest", "-q", suite], AMCT_SIM_UB_BYTES=str(size << 10))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stderr, r"Ran 2 tests")


@needs_950
class UnifiedBuffer(unittest.TestCase):
    """Also run with other sizes of it."""

    def setUp(self) -> None:
        amct_ops.mx_quant  # noqa: B018 - loads the library
        operator = _manifest.read().operators["mx_quant"].libraries["dav-3510"]
        account = ctypes.CDLL(str(_manifest.resource(operator.path))).mx_quant_ub_bytes
        account.restype = ctypes.c_uint64
        account.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64]
        self.account = account

    def test_each_launch_takes_what_the_budget_says(self) -> None:
        for rows, columns in ((1, 64), (3, 100), (1000, 30), (5, 70_002), (2400, 2048)):
            bits = np.random.default_rng(3).integers(0, 0x7B00, (rows, columns), np.uint16)
            for name in ("mxfp4_e2m1", "mxfp8_e4m3"):
                with amct_ops.sim.estimate() as cost:
                    x = tensor_of(bits, "bf16").npu()
                    y, scale = torch.ops.amct.mx_quant(x, format=name)
                    torch.ops.amct.mx_dequant(y, scale, name, torch.float16)
                code, byte = quantised(values_of(bits, "bf16"), name, "rint")
                np.testing.assert_array_equal(scale.cpu().numpy(), byte)
                np.testing.assert_array_equal(y.cpu().view(torch.uint8).numpy(), code)
                self.assertEqual(len(cost.launches), 2)
                for launch, width in zip(cost.launches, (columns, y.shape[1])):
                    with self.subTest(kernel=launch.kernel, rows=rows, columns=columns):
                        own = self.account(launch.kernel.encode(), rows, width)
                        self.assertEqual(launch.ub_bytes, own)
                        self.assertLessEqual(own, PROFILE["ub_bytes"] - 8192)

    def test_more_than_four_billion_elements_have_a_tiling(self) -> None:
        for rows, columns in ((1, 1 << 40), (1 << 40, 1), (1 << 33, 100), (3, (1 << 36) + 1)):
            own = self.account(b"mx_quant_e4m3_bf16", rows, columns)
            self.assertGreater(own, 40_000)
            self.assertLessEqual(own, PROFILE["ub_bytes"] - 8192)


@needs_950
class Contract(unittest.TestCase):
    def refused(self, pattern: str, function: str, *args: object, **kwargs: object) -> None:
        """By the NPU's kernel and by that for shapes, in the same words."""
        messages = []
        for device in ("npu", "meta"):
            there = [a.to(device) if isinstance(a, torch.Tensor) else a for a in args]
            with self.assertRaisesRegex(RuntimeError, pattern) as caught:
                getattr(torch.ops.amct, function)(*there, **kwargs)
            messages.append(str(caught.exception).splitlines()[0])
        self.assertEqual(messages[0], messages[1])

    def test_refused_arguments_of_mx_quant(self) -> None:
        x = torch.ones(2, 64, dtype=torch.half)
        for dtype in (torch.float32, torch.float64, torch.int8, torch.bool, torch.uint8):
            self.refused(r"mx_quant: x has dtype \w+, allowed are", "mx_quant", x.to(dtype))
        self.refused("mx_quant: x has 0 dimensions, allowed are 1 to 8", "mx_quant", x[0, 0])
        self.refused("x has 9 dimensions", "mx_quant", x.reshape(1, 1, 1, 1, 1, 1, 1, 2, 64))
        self.refused("last dimension of x is 0, allowed is 1", "mx_quant", x[:, :0])
        self.refused("last dimension of x is 33, .* must be even", "mx_quant", x[:, :33])
        self.refused("format is 'fp4', allowed are 'mxfp4_e2m1',", "mx_quant", x, format="fp4")
        self.refused("round_mode is 'up', allowed are 'rint',", "mx_quant", x, round_mode="up")
        self.refused(
            "round_mode is 'floor', for format 'mxfp8_e4m3' allowed is 'rint'",
            "mx_quant", x, format="mxfp8_e4m3", round_mode="floor",
        )  # fmt: skip

    def test_refused_arguments_of_mx_dequant(self) -> None:
        y = torch.zeros(2, 64, dtype=torch.uint8)
        scale = torch.zeros(2, 2, 2, dtype=torch.uint8)
        four, half = "mxfp4_e2m1", torch.half
        for arguments, pattern in (
            ((y.view(torch.int8), scale, four, half), "y has dtype Char, .* allowed is Byte"),
            ((y, scale, "mxfp8_e4m3", half), "y has dtype Byte, .* allowed is Float8_e4m3fn"),
            ((y, scale.view(torch.int8), four, half), "scale has dtype Char, allowed is uint8"),
            ((y, scale, four, torch.float32), "dtype is Float, allowed are float16 and"),
            ((y, scale, "nf4", half), "format is 'nf4', allowed"),
            ((y[0, 0], scale, four, half), "y has 0 dimensions"),
            ((y[:, :0], scale, four, half), "last dimension of y is 0"),
            ((y, scale[:, :1], four, half), r"scale has shape \[2, 1, 2\], .* must be \[2, 2, 2\]"),
            ((y, scale[:1], four, half), r"scale has shape \[1, 2, 2\]"),
        ):
            self.refused(f"mx_dequant: .*{pattern}", "mx_dequant", *arguments)
        with self.assertRaisesRegex(RuntimeError, "y is on npu:0 and scale on cpu; move them"):
            torch.ops.amct.mx_dequant(y.npu(), scale, four, half)

    def test_there_is_no_cpu_kernel(self) -> None:
        with self.assertRaises(NotImplementedError):
            torch.ops.amct.mx_quant(torch.zeros(64, dtype=torch.half))

    def opcheck(self, function: str, *args: object, **kwargs: object) -> None:
        """All of opcheck that torch can do with the arguments."""
        tests = ["test_schema", "test_autograd_registration", "test_faketensor",
                 "test_aot_dispatch_dynamic"]  # fmt: skip
        tensors = [a for a in args if isinstance(a, torch.Tensor)]
        if any(t.dtype in FP8 for t in tensors):
            tests.remove("test_schema")  # no allclose for FP8; see test_inputs_are_kept
        if any(t.requires_grad for t in tensors):
            # Not for npu; see test_results_are_outside_of_autograd.
            tests.remove("test_autograd_registration")
        overload = getattr(torch.ops.amct, function).default
        torch.library.opcheck(overload, args, kwargs, test_utils=tests)

    def test_opcheck(self) -> None:
        generator = torch.Generator().manual_seed(2)
        for dtype in FLOATS.values():
            x = torch.randn(6, 70, generator=generator).to(dtype).npu()
            inputs = {
                **layouts(x),
                "channels last": x.view(1, 7, 10, 6).permute(0, 3, 1, 2),
                "1-dim": x[0],
                "empty": torch.empty(0, 6, dtype=dtype, device="npu"),
                "gradient": x.clone().requires_grad_(),
            }
            for layout, sample in inputs.items():
                for name in FORMATS:
                    with self.subTest(dtype=dtype, layout=layout, format=name):
                        self.opcheck("mx_quant", sample, format=name)
                        y, scale = torch.ops.amct.mx_quant(sample, format=name)
                        if layout == "transposed":
                            y, scale = (t.transpose(0, 1).contiguous().transpose(0, 1)
                                        for t in (y, scale))  # fmt: skip
                            self.assertFalse(y.is_contiguous() or scale.is_contiguous())
                        self.opcheck("mx_dequant", y, scale, name, dtype)

    def test_any_strides(self) -> None:
        x = torch.randn(8, 70, generator=torch.Generator().manual_seed(5)).half().npu()
        for layout, view in layouts(x).items():
            for name in FORMATS:
                with self.subTest(layout=layout, format=name):
                    y, scale = torch.ops.amct.mx_quant(view, format=name)
                    y2, scale2 = torch.ops.amct.mx_quant(view.contiguous(), format=name)
                    self.assertTrue(torch.equal(y.view(torch.uint8), y2.view(torch.uint8)))
                    self.assertTrue(torch.equal(scale, scale2))
                    back = torch.ops.amct.mx_dequant(y, scale, name, torch.half)
                    wide = torch.stack([y.view(torch.uint8)] * 2, -1)[..., 0].view(y.dtype)
                    self.assertFalse(wide.is_contiguous())
                    again = torch.ops.amct.mx_dequant(wide, scale, name, torch.half)
                    self.assertTrue(torch.equal(back, again))

    def test_results_are_outside_of_autograd(self) -> None:
        x = torch.ones(2, 64, dtype=torch.bfloat16, device="npu", requires_grad=True)
        for name in FORMATS:
            y, scale = torch.ops.amct.mx_quant(x, format=name)
            self.assertFalse(y.requires_grad or scale.requires_grad)
        codes = y.detach().requires_grad_()  # FP8 is a float dtype
        back = torch.ops.amct.mx_dequant(codes, scale, name, torch.bfloat16)
        self.assertFalse(back.requires_grad)

    def test_one_compilation_serves_all_shapes(self) -> None:
        counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")

        def round_trip(x: torch.Tensor) -> torch.Tensor:
            y, scale = torch.ops.amct.mx_quant(x)
            return torch.ops.amct.mx_dequant(y, scale, "mxfp4_e2m1", torch.float16)

        compiled = torch.compile(round_trip, fullgraph=True, dynamic=True, backend=counter)
        # Rows of at most 64 have one pair of scales, and torch compiles anew for a size of 1.
        for shape in ((4, 66), (5, 70), (16, 640), (128, 1002)):
            x = torch.randn(shape, generator=torch.Generator().manual_seed(3)).half().npu()
            self.assertTrue(torch.equal(compiled(x), round_trip(x)))
        self.assertEqual(counter.frame_count, 1)

    def test_two_runs_are_equal(self) -> None:
        x = torch.randn(70, 100, generator=torch.Generator().manual_seed(6)).half().npu()
        first, second = (torch.ops.amct.mx_quant(x) for _ in range(2))
        self.assertTrue(all(torch.equal(a, b) for a, b in zip(first, second)))

    def test_inputs_are_kept_and_results_share_no_memory(self) -> None:
        x = torch.randn(70, 100, generator=torch.Generator().manual_seed(6)).half().npu()
        for name in FORMATS:
            y, scale = torch.ops.amct.mx_quant(x, format=name)
            inputs = [x, y.view(torch.uint8), scale]
            before = [t.clone() for t in inputs]
            back = torch.ops.amct.mx_dequant(y, scale, name, torch.half)
            torch.ops.amct.mx_quant(x, format=name)
            self.assertTrue(all(torch.equal(a, b) for a, b in zip(inputs, before)))
            storages = {t.untyped_storage().data_ptr() for t in (*inputs, back)}
            self.assertEqual(len(storages), 4)


@needs_950
class Order(unittest.TestCase):
    def test_two_streams_see_their_own_input(self) -> None:
        streams = [torch.npu.Stream(), torch.npu.Stream()]
        x = torch.ones(1 << 18, dtype=torch.bfloat16, device="npu")
        torch.npu.synchronize()
        results = []
        for power, stream in enumerate(streams, 1):
            with torch.npu.stream(stream):
                y, scale = torch.ops.amct.mx_quant(x * 2**power)  # freed before the kernel ran
                results.append((y, scale))
        for power, (stream, (y, scale)) in enumerate(zip(streams, results), 1):
            stream.synchronize()
            self.assertEqual(y.unique().tolist(), [0x66])
            self.assertEqual(scale.unique().tolist(), [127 + power - 2])

    def test_threads_may_launch_at_once(self) -> None:
        x = torch.randn(300, 100, generator=torch.Generator().manual_seed(7)).half().npu()
        expected = [t.cpu() for t in torch.ops.amct.mx_quant(x)]
        results: list[bool] = []

        def work() -> None:
            with torch.npu.stream(torch.npu.Stream()):
                found = [t.cpu() for t in torch.ops.amct.mx_quant(x)]
                results.append(all(torch.equal(a, b) for a, b in zip(found, expected)))

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [True] * 4)

    def test_two_devices(self) -> None:
        if torch.npu.device_count() < 2:
            self.skipTest("there is one device: AMCT_SIM_DEVICES=2")
        x = torch.randn(3, 100, generator=torch.Generator().manual_seed(8)).half()
        found = [torch.ops.amct.mx_quant(x.to(f"npu:{i}")) for i in range(2)]
        for i, (y, scale) in enumerate(found):
            self.assertEqual((y.device.index, scale.device.index), (i, i))
            back = torch.ops.amct.mx_dequant(y, scale, "mxfp4_e2m1", torch.half)
            self.assertEqual(back.device.index, i)
        self.assertTrue(torch.equal(found[0][0].cpu(), found[1][0].cpu()))
        with self.assertRaisesRegex(RuntimeError, "y is on npu:0 and scale on npu:1"):
            torch.ops.amct.mx_dequant(found[0][0], found[1][1], "mxfp4_e2m1", torch.half)


if __name__ == "__main__":
    unittest.main()
