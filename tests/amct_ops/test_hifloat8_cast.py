"""hifloat8_cast on the NPU that is there, real or simulated, against the golden tables.

Runs under pytest and ``python -m unittest``; needs an installed amct_ops wheel.
"""

from __future__ import annotations

import itertools
import os
import threading
import unittest
from pathlib import Path

os.environ.setdefault("TASK_QUEUE_ENABLE", "1")

import torch
import torch._dynamo.testing
import torch_npu  # noqa: F401

import amct_ops.hifloat8_cast
import amct_ops.sim
from amct_ops.hifloat8_cast import decode_from_hifloat8, encode_to_hifloat8
from tests.contract.samples import layouts

PROFILE = amct_ops.sim.profile()
GOLDEN = Path(__file__).resolve().parent.parent / "golden"
FLOATS = {"fp16": torch.float16, "bf16": torch.bfloat16}
SIMULATED = hasattr(amct_ops, "_sim")


def golden(name: str, dtype: torch.dtype) -> torch.Tensor:
    return torch.frombuffer(bytearray((GOLDEN / name).read_bytes()), dtype=dtype)


def every(dtype: torch.dtype) -> torch.Tensor:
    """All 65536 values of a 16-bit dtype, in the order of their bits."""
    return torch.arange(65536, dtype=torch.int32).to(torch.uint16).view(dtype)


class Codes(unittest.TestCase):
    def test_every_value_of_both_dtypes_encodes_as_the_golden_table_in_both_modes(self) -> None:
        for (key, dtype), (mode, saturate) in itertools.product(
            FLOATS.items(), (("sat", True), ("inf", False))
        ):
            with self.subTest(dtype=key, saturate=saturate):
                codes = torch.ops.amct.encode_to_hifloat8(every(dtype).npu(), saturate=saturate)
                expected = golden(f"hif8_encode_{key}_{mode}.bin", torch.uint8)
                wrong = (codes.cpu() != expected).nonzero().flatten()
                self.assertEqual(wrong.tolist()[:8], [])

    def test_every_code_decodes_to_the_golden_value_in_both_dtypes(self) -> None:
        codes = torch.arange(256, dtype=torch.uint8).npu()
        for key, dtype in FLOATS.items():
            with self.subTest(dtype=key):
                values = torch.ops.amct.decode_from_hifloat8(codes, dtype).cpu()
                expected = golden(f"hif8_decode_{key}.bin", torch.uint16).view(dtype)
                self.assertEqual(values.dtype, dtype)
                # NaN's payload is unspecified; bits tell -0 from 0.
                nan = expected.isnan()
                self.assertTrue(torch.equal(values.isnan(), nan))
                self.assertTrue(
                    torch.equal(values[~nan].view(torch.int16), expected[~nan].view(torch.int16))
                )

    def test_decode_gives_bfloat16_by_default(self) -> None:
        codes = torch.tensor([0x08, 0x18, 0x6E], dtype=torch.uint8).npu()
        values = decode_from_hifloat8(codes)
        self.assertEqual(values.dtype, torch.bfloat16)
        self.assertEqual(values.tolist(), [1.0, 0.5, 32768.0])

    def test_encoding_saturates_by_default(self) -> None:
        x = torch.tensor([1e9, -1e9], dtype=torch.bfloat16).npu()
        self.assertEqual(encode_to_hifloat8(x).tolist(), [0x6E, 0xEE])
        self.assertEqual(encode_to_hifloat8(x, saturate=False).tolist(), [0x6F, 0xEF])


class Shapes(unittest.TestCase):
    def check(self, x: torch.Tensor, codes: torch.Tensor) -> None:
        table = golden("hif8_encode_bf16_sat.bin", torch.uint8)
        bits = x.cpu().contiguous().view(torch.int16).to(torch.int64) & 0xFFFF
        self.assertTrue(torch.equal(codes.cpu(), table[bits]))
        self.assertTrue(codes.is_contiguous())

    def test_sizes_around_granules_tiles_and_blocks(self) -> None:
        sizes = [1, 2, 31, 33, 127, 128, 129, 511, 512, 513, 4095, 4096, 4097, 16384, 32768 + 7]
        sizes += [40 * 4096 - 1, 40 * 4096 + 1, 700_001]
        for size in sizes:
            with self.subTest(size=size):
                x = every(torch.bfloat16).repeat(size // 65536 + 1)[:size].npu()
                codes = encode_to_hifloat8(x)
                self.check(x, codes)
                again = encode_to_hifloat8(decode_from_hifloat8(codes))
                self.assertTrue(torch.equal(again, codes))

    def test_any_strides(self) -> None:
        x = torch.randn(37, 66, generator=torch.Generator().manual_seed(1)).bfloat16().npu()
        for name, view in layouts(x).items():
            with self.subTest(layout=name):
                codes = encode_to_hifloat8(view)
                self.check(view, codes)
                self.assertTrue(torch.equal(decode_from_hifloat8(codes.t()).t().contiguous(),
                                            decode_from_hifloat8(codes)))  # fmt: skip

    def test_zero_dimensional_and_empty(self) -> None:
        one = encode_to_hifloat8(torch.tensor(1.0, dtype=torch.float16).npu())
        self.assertEqual((one.shape, one.item()), (torch.Size([]), 0x08))
        for shape in ((0,), (3, 0, 5)):
            empty = encode_to_hifloat8(torch.empty(shape, dtype=torch.float16, device="npu"))
            self.assertEqual((tuple(empty.shape), empty.dtype), (shape, torch.uint8))
            back = decode_from_hifloat8(empty, torch.float16)
            self.assertEqual((tuple(back.shape), back.dtype), (shape, torch.float16))

    def test_the_result_never_shares_memory_with_the_input(self) -> None:
        x = torch.zeros(64, dtype=torch.bfloat16, device="npu")
        codes = encode_to_hifloat8(x)
        x.fill_(1.0)
        self.assertEqual(codes.unique().tolist(), [0])


class Contract(unittest.TestCase):
    def test_other_dtypes_are_refused_by_name(self) -> None:
        for dtype in (torch.float32, torch.float64, torch.int8, torch.bool, torch.complex64):
            x = torch.zeros(4, dtype=dtype, device="npu")
            for device in ("npu", "meta"):
                with (
                    self.subTest(dtype=dtype, device=device),
                    self.assertRaisesRegex(
                        RuntimeError,
                        r"encode_to_hifloat8: x has dtype \w+, allowed are float16 and",
                    ),
                ):
                    torch.ops.amct.encode_to_hifloat8(x.to(device))
        codes = torch.zeros(4, dtype=torch.uint8, device="npu")
        with self.assertRaisesRegex(RuntimeError, "decode_from_hifloat8: dtype is Float"):
            decode_from_hifloat8(codes, torch.float32)
        with self.assertRaisesRegex(RuntimeError, "decode_from_hifloat8: x has dtype Char"):
            decode_from_hifloat8(codes.view(torch.int8))

    def test_there_is_no_cpu_kernel(self) -> None:
        with self.assertRaises(NotImplementedError):
            torch.ops.amct.encode_to_hifloat8(torch.zeros(4, dtype=torch.float16))

    def test_opcheck_of_each_layout_dtype_empty_and_zero_dimensional(self) -> None:
        for dtype in FLOATS.values():
            x = torch.randn(6, 8, generator=torch.Generator().manual_seed(2)).to(dtype).npu()
            samples = {
                **layouts(x),
                "empty": torch.empty(0, 3, dtype=dtype, device="npu"),
                "0-dim": torch.tensor(1.5, dtype=dtype, device="npu"),
            }
            for name, sample in samples.items():
                with self.subTest(dtype=dtype, sample=name):
                    encode = torch.ops.amct.encode_to_hifloat8.default
                    torch.library.opcheck(encode, (sample,))
                    torch.library.opcheck(encode, (sample,), {"saturate": False})
                    codes = encode_to_hifloat8(sample)
                    if name == "transposed":
                        codes = codes.t()
                    torch.library.opcheck(
                        torch.ops.amct.decode_from_hifloat8.default, (codes, dtype)
                    )

    def test_codes_are_outside_of_autograd(self) -> None:
        x = torch.ones(4, dtype=torch.bfloat16, device="npu", requires_grad=True)
        self.assertFalse(encode_to_hifloat8(x).requires_grad)

    def test_one_compilation_serves_all_shapes(self) -> None:
        counter = torch._dynamo.testing.CompileCounterWithBackend("aot_eager")

        @torch.compile(fullgraph=True, dynamic=True, backend=counter)
        def round_trip(x: torch.Tensor) -> torch.Tensor:
            return decode_from_hifloat8(encode_to_hifloat8(x), torch.float16)

        for shape in ((4, 6), (5, 7), (16, 33), (128, 2)):
            x = torch.randn(shape, generator=torch.Generator().manual_seed(3)).half().npu()
            expected = decode_from_hifloat8(encode_to_hifloat8(x), torch.float16)
            self.assertTrue(torch.equal(round_trip(x), expected))
        self.assertEqual(counter.frame_count, 1)

    def test_fake_tensors_need_no_data(self) -> None:
        from torch._subclasses import FakeTensorMode

        with FakeTensorMode():
            x = torch.empty(3, 5, dtype=torch.bfloat16, device="npu")
            codes = torch.ops.amct.encode_to_hifloat8(x)
            self.assertEqual((codes.shape, codes.dtype), (x.shape, torch.uint8))
            self.assertEqual(codes.device.type, "npu")


class Cost(unittest.TestCase):
    """By the simulator's estimate, which is deterministic."""

    @unittest.skipIf(PROFILE["npu_arch"] != "dav-2201", "the floor is that of dav-2201")
    def test_within_twice_of_the_memory_floor(self) -> None:
        # Three bytes for each element; a core's share of the bandwidth is 21 bytes in a cycle.
        floor = 3 / 21
        elements = 1 << 24
        for dtype in (torch.float16, torch.bfloat16):
            x = torch.ones(elements, dtype=dtype, device="npu")
            with amct_ops.sim.estimate() as cost:
                decode_from_hifloat8(encode_to_hifloat8(x), dtype)
            for launch in cost.launches:
                with self.subTest(launch.kernel):
                    self.assertLess(launch.cycles * launch.cores / elements, 2 * floor)

    def test_small_tensors_cost_no_more_than_one_tile_on_each_core(self) -> None:
        def cycles(elements: int) -> list[float]:
            x = torch.ones(elements, dtype=torch.bfloat16, device="npu")
            with amct_ops.sim.estimate() as cost:
                decode_from_hifloat8(encode_to_hifloat8(x))
            return [launch.cycles for launch in cost.launches]

        tile = cycles(13 * 1024 * PROFILE["aiv_cores"])
        for elements in (1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18):
            with self.subTest(elements):
                for small, whole in zip(cycles(elements), tile):
                    self.assertLess(small, whole)


class Order(unittest.TestCase):
    def test_a_side_stream_sees_its_own_input(self) -> None:
        stream = torch.npu.Stream()
        x = torch.ones(1 << 18, dtype=torch.bfloat16, device="npu")
        torch.npu.synchronize()
        with torch.npu.stream(stream):
            codes = encode_to_hifloat8(x * 2)  # the product is freed before the kernel ran
        stream.synchronize()
        self.assertEqual(codes.unique().tolist(), [0x10])

    def test_threads_may_launch_at_once(self) -> None:
        x = every(torch.bfloat16).npu()
        expected = golden("hif8_encode_bf16_sat.bin", torch.uint8)
        results: list[torch.Tensor] = []

        def work() -> None:
            with torch.npu.stream(torch.npu.Stream()):
                results.append(encode_to_hifloat8(x).cpu())

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([torch.equal(result, expected) for result in results], [True] * 4)

    def test_threads_may_share_a_stream_and_free_at_once(self) -> None:
        wrong: list[list[int]] = []

        def work() -> None:
            for _ in range(50):
                codes = encode_to_hifloat8(torch.ones(2, dtype=torch.half, device="npu")).tolist()
                if codes != [0x08, 0x08]:
                    wrong.append(codes)

        threads = [threading.Thread(target=work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])


if __name__ == "__main__":
    unittest.main()
