"""The cycle estimate against what was published for hardware."""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import torch
import torch_npu  # noqa: F401

import amct_ops.sim

from .test_toolkit import ARCH, load_kernels

CALLS = 1000
# Cycles of one Add of 64 repeats on a dav-2201 core, by where its operands lie in the banks.
PUBLISHED = {
    "add_free": 88.4,
    "add_read_read": 154.0,
    "add_read_write": 139.0,
    "add_broadcast": 133.0,
}


class Estimates(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    library: ctypes.CDLL

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.library = load_kernels("estimate", cls.folder.name)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def launch(self, name: str, *tensors: torch.Tensor, blocks: int = 1) -> None:
        stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
        count = [len(tensors[0])] if tensors else []
        pointers = (ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors)
        getattr(self.library, name)(ctypes.c_uint32(blocks), None, stream, *pointers, *count)

    def cost(
        self, name: str, *tensors: torch.Tensor, blocks: int = 1, trace: bool = False
    ) -> amct_ops.sim.Launch:
        with amct_ops.sim.estimate(trace) as estimate:
            self.launch(name, *tensors, blocks=blocks)
        (launch,) = estimate.launches
        return launch

    def near(self, estimate: float, published: float) -> None:
        self.assertLess(abs(estimate / published - 1), 0.25, f"{estimate} for {published}")

    @unittest.skipIf(ARCH != "dav-2201", "the banks are those of dav-2201")
    def test_bank_conflicts_cost_what_the_vendor_measured(self) -> None:
        for name, published in PUBLISHED.items():
            with self.subTest(name):
                self.near(self.cost(name).busy["V"] / CALLS, published)

    @unittest.skipIf(ARCH != "dav-2201", "measured on dav-2201")
    def test_a_scalar_table_lookup_takes_52_cycles_an_element(self) -> None:
        x = torch.arange(256, dtype=torch.uint8).npu()
        y = torch.zeros_like(x)
        launch = self.cost("scalar_lookup", x, y)
        self.assertTrue(torch.equal(x.cpu(), y.cpu()))
        self.near(launch.busy["S"] / len(x), 52)
        self.assertEqual(launch.bound, "S")

    def test_two_buffers_hide_the_copies(self) -> None:
        x = torch.ones(1 << 16, device="npu")
        y = torch.zeros_like(x)
        single = self.cost("single_buffer", x, y)
        double = self.cost("double_buffer", x, y)
        self.assertLess(double.cycles, 0.7 * single.cycles)
        self.assertEqual((single.bytes_in, single.bytes_out), (4 << 16, 4 << 16))
        self.assertEqual((single.ub_bytes, double.ub_bytes), (16384, 32768))
        self.assertIn(double.bound, ("MTE2", "MTE3"))
        # A pipe is not busy longer than the whole takes.
        for launch in (single, double):
            self.assertLessEqual(max(launch.busy.values()), launch.cycles)

    def test_more_blocks_than_cores_take_turns(self) -> None:
        cores = int(amct_ops.sim.profile()["aiv_cores"])  # type: ignore[call-overload]
        once = self.cost("add_free", blocks=cores).cycles
        self.assertAlmostEqual(self.cost("add_free", blocks=1).cycles, once)
        self.assertAlmostEqual(self.cost("add_free", blocks=cores + 1).cycles, 2 * once)

    def test_nothing_is_collected_outside(self) -> None:
        self.launch("add_free")
        with amct_ops.sim.estimate() as outer:
            self.launch("add_free")
            with amct_ops.sim.estimate() as inner:
                self.launch("add_broadcast")
        self.assertEqual([launch.kernel for launch in inner.launches], ["add_broadcast"])
        self.assertEqual(
            [launch.kernel for launch in outer.launches], ["add_free", "add_broadcast"]
        )

    def test_the_table_says_that_it_is_an_estimate(self) -> None:
        with amct_ops.sim.estimate() as estimate:
            for _ in range(3):
                self.launch("add_free")
        notice, head, row = str(estimate).splitlines()
        self.assertIn("Estimate", notice)
        self.assertIn("nothing here was measured on hardware", notice)
        self.assertEqual(row.split()[:2], ["add_free", "3"])
        self.assertIn("bound", head)
        self.assertEqual(estimate.kernels()[0].launches, 3)

    def test_a_chrome_trace_holds_each_instruction(self) -> None:
        x = torch.ones(1 << 14, device="npu")
        with amct_ops.sim.estimate(trace=True) as estimate:
            self.launch("double_buffer", x, torch.zeros_like(x))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "trace.json"
            estimate.write_trace(path)
            trace = json.loads(path.read_text())
        spans = [event for event in trace["traceEvents"] if event["ph"] == "X"]
        self.assertEqual(sum(span["name"] == "Muls" for span in spans), 8)
        self.assertEqual(sum(span["name"] == "DataCopy" for span in spans), 16)
        self.assertTrue(all("estimate.asc:" in span["args"]["at"] for span in spans))
        self.assertIn("Estimate", trace["otherData"]["notice"])
        for pipe in ("V", "MTE2", "MTE3"):
            ends = 0.0
            for span in sorted((s for s in spans if s["tid"] == f"core 0 {pipe}"),
                               key=lambda s: s["ts"]):  # fmt: skip
                self.assertGreaterEqual(span["ts"], ends - 1e-9)
                ends = span["ts"] + span["dur"]

    def test_no_trace_without_asking(self) -> None:
        with amct_ops.sim.estimate() as estimate:
            self.launch("add_free")
        with self.assertRaisesRegex(ValueError, r"call estimate\(trace=True\)"):
            estimate.write_trace("trace.json")

    def test_a_script_from_the_command_line(self) -> None:
        script = (
            "import sys, torch, torch_npu, amct_ops\n"
            "x = torch.ones(int(sys.argv[1]), dtype=torch.bfloat16, device='npu')\n"
            "torch.ops.amct.encode_to_hifloat8(x)\n"
        )
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "script.py").write_text(script)
            run = subprocess.run(
                [sys.executable, "-m", "amct_ops", "estimate", "--trace", "trace.json",
                 "script.py", "1000"],
                cwd=folder, capture_output=True, text=True, check=False,
            )  # fmt: skip
            self.assertEqual(run.returncode, 0, run.stderr)
            self.assertRegex(run.stdout, r"(?s)Estimate.*hifloat8_encode_bf16 +1 ")
            self.assertTrue((Path(folder) / "trace.json").exists())


if __name__ == "__main__":
    unittest.main()
