"""torch on the simulated device, through the real torch_npu."""

from __future__ import annotations

import ctypes
import io
import os
import subprocess
import sys
import unittest

import torch
import torch_npu

import amct_ops


def run(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", "import torch\n" + code],
        env={**os.environ, **environment}, capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip


class Operators(unittest.TestCase):
    def test_results_are_the_cpu_kernels(self) -> None:
        generator = torch.Generator().manual_seed(0)
        a, b = (torch.randn(5, 7, generator=generator) for _ in range(2))
        for function in (
            lambda x, y: x + y * 2,
            lambda x, y: x @ y.t(),
            lambda x, y: torch.softmax(x, -1),
            lambda x, y: x.t()[1:].contiguous(),
            lambda x, y: torch.where(x > y, x, y),
            lambda x, y: x[:, [0, 2]],
            lambda x, y: torch.cat([x, y]).sort(0).values,
            lambda x, y: x.clone().add_(y)[::2],
        ):
            self.assertTrue(torch.equal(function(a.npu(), b.npu()).cpu(), function(a, b)))

    def test_out_is_resized(self) -> None:
        x = torch.arange(6.0, device="npu").view(2, 3)
        out = torch.empty(0, device="npu")
        torch.add(x, x, out=out)
        self.assertTrue(torch.equal(out.cpu(), 2 * torch.arange(6.0).view(2, 3)))

    def test_views_share_memory(self) -> None:
        x = torch.zeros(4, 4, device="npu")
        x.t()[1].fill_(3)
        x.view(-1)[0:2].add_(1)
        self.assertEqual(x.sum().item(), 14)

    def test_random_numbers_follow_the_seed_of_the_device(self) -> None:
        def draw() -> list[torch.Tensor]:
            return [torch.randn(8, device="npu"), torch.dropout(torch.ones(64).npu(), 0.5, True)]

        cpu = torch.get_rng_state()
        torch.npu.manual_seed(5)
        first = draw()
        self.assertFalse(torch.equal(first[0], draw()[0]))
        torch.npu.manual_seed(5)
        self.assertTrue(all(torch.equal(x, y) for x, y in zip(first, draw())))
        self.assertTrue(torch.equal(cpu, torch.get_rng_state()))

    def test_a_training_step_with_autocast(self) -> None:
        torch.manual_seed(0)
        net = torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(),
            torch.nn.Flatten(), torch.nn.Linear(4 * 36, 10),
        ).npu()  # fmt: skip
        optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
        x, target = torch.randn(8, 3, 8, 8).npu(), torch.arange(8).npu()
        losses = []
        for _ in range(8):
            with torch.autocast("npu", dtype=torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(net(x), target)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        self.assertLess(losses[-1], losses[0] / 2)

    def test_save_and_load(self) -> None:
        buffer = io.BytesIO()
        x = torch.randn(3, device="npu")
        torch.save(x, buffer)
        buffer.seek(0)
        y = torch.load(buffer)
        self.assertEqual(y.device.type, "npu")
        self.assertTrue(torch.equal(x, y))

    def test_two_kinds_of_devices_do_not_mix(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "at least two devices, npu:0 and cpu!"):
            torch.ones(3, device="npu") + torch.ones(3)

    def test_indices_of_the_host_for_a_tensor_of_the_device_only(self) -> None:
        x, indices = torch.arange(4), torch.tensor([1, 2])
        self.assertEqual(x.npu()[indices].tolist(), [1, 2])
        with self.assertRaisesRegex(RuntimeError, "at least two devices, npu:0 and cpu!"):
            x[indices.npu()]

    def test_sparse_tensors(self) -> None:
        indices, values = torch.tensor([[0, 0, 2], [1, 1, 0]]), torch.tensor([1.0, 2.0, 3.0])
        sparse = torch.sparse_coo_tensor(indices.npu(), values.npu(), (3, 3))
        self.assertEqual(sparse.coalesce().values().tolist(), [3.0, 3.0])
        dense = torch.tensor([[0.0, 3.0, 0.0], [0.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
        self.assertTrue(torch.equal((sparse @ torch.eye(3).npu()).cpu(), dense))
        for other in (dense.npu().to_sparse(), dense.npu().to_sparse_csr()):
            self.assertEqual(other.device.type, "npu")
            self.assertTrue(torch.equal(other.to_dense().cpu(), dense))
        weight = torch.zeros(4, 2, device="npu", requires_grad=True)
        rows = torch.tensor([1, 1, 3]).npu()
        torch.nn.functional.embedding(rows, weight, sparse=True).sum().backward()
        self.assertEqual(weight.grad.layout, torch.sparse_coo)
        torch.optim.SparseAdam([weight], lr=1.0).step()
        self.assertEqual(weight.count_nonzero().item(), 4)

    def test_kinds_of_tensors_that_are_refused_by_name(self) -> None:
        x = torch.ones(4, device="npu")
        for name, function in {
            "quantize_per_tensor": lambda: torch.quantize_per_tensor(x, 0.1, 0, torch.quint8),
            "to_mkldnn": x.to_mkldnn,
        }.items():
            with self.assertRaisesRegex(NotImplementedError, f"aten::{name}: .* not simulated"):
                function()

    def test_an_operator_of_cann_is_refused_by_name(self) -> None:
        x = torch.ones(4, 8, device="npu")
        with self.assertRaisesRegex(NotImplementedError, "npu::npu_swiglu is an operator of CANN"):
            torch_npu.npu_swiglu(x)


class Device(unittest.TestCase):
    def test_queries(self) -> None:
        self.assertTrue(torch.npu.is_available())
        self.assertRegex(torch.npu.get_device_name(0), "^Ascend")
        free, total = torch.npu.mem_get_info()
        self.assertLessEqual(free, total)

    def test_memory_runs_out(self) -> None:
        _, total = torch.npu.mem_get_info()
        with self.assertRaises(torch.OutOfMemoryError):
            torch.empty(total + 1, dtype=torch.uint8, device="npu")
        self.assertEqual(torch.ones(2, device="npu").sum().item(), 2)

    def test_streams_and_events(self) -> None:
        first, second = torch.npu.Stream(), torch.npu.Stream()
        start, end = (torch.npu.Event(enable_timing=True) for _ in range(2))
        with torch.npu.stream(first):
            start.record()
            x = torch.ones(1000, device="npu") * 2
            end.record()
        with torch.npu.stream(second):
            second.wait_event(end)
            y = x + 1
        second.synchronize()
        self.assertTrue(end.query())
        self.assertGreaterEqual(start.elapsed_time(end), 0)
        self.assertEqual(y.sum().item(), 3000)

    def test_work_is_asynchronous_and_in_order(self) -> None:
        # A host callback holds the stream; nothing behind it may have run.
        runtime = ctypes.CDLL("libascendcl.so")
        released = ctypes.c_int(0)
        order: list[str] = []
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

        @function
        def hold(_: int) -> None:
            while not released.value:
                pass
            order.append("held")

        @function
        def follow(_: int) -> None:
            order.append("followed")

        stream = torch.npu.Stream()
        handle = ctypes.c_void_p(stream.npu_stream)
        for callback in (hold, follow):
            self.assertEqual(runtime.aclrtLaunchHostFunc(handle, callback, None), 0)
        self.assertFalse(stream.query())
        self.assertEqual(order, [])
        released.value = 1
        stream.synchronize()  # releases the interpreter to the callbacks
        self.assertEqual(order, ["held", "followed"])

    def test_pinned_and_non_blocking_copies(self) -> None:
        x = torch.arange(10.0).pin_memory()
        self.assertTrue(x.is_pinned())
        y = x.npu(non_blocking=True)
        back = y.to("cpu", non_blocking=True)
        torch.npu.synchronize()
        self.assertTrue(torch.equal(back, x))

    def test_soc_and_number_of_devices_follow_the_environment(self) -> None:
        code = "print(torch.npu.get_device_name(0), torch.npu.device_count())"
        out = run(code, AMCT_SIM_SOC="ascend910_9391", AMCT_SIM_DEVICES="3")
        self.assertEqual(out.stdout, "Ascend910_9391 3\n", out.stderr)
        out = run("torch.ones(1).npu()", AMCT_SIM_SOC="Ascend310")
        self.assertIn("AMCT_SIM_SOC=Ascend310 is not known. Allowed: Ascend910B3,", out.stderr)

    def test_wrong_numbers_in_the_environment(self) -> None:
        for name, value in (("AMCT_SIM_DEVICES", "many"), ("AMCT_SIM_UB_BYTES", "1")):
            out = run("torch.ones(1).npu()", **{name: value})
            self.assertIn(f"{name}={value} is not allowed: a number from", out.stderr)

    def test_two_devices(self) -> None:
        code = (
            "a = torch.ones(2, device='npu:0'); b = torch.ones(2, device='npu:1') * 3\n"
            "print((a.to('npu:1') + b).tolist(), b.to('npu:0').device)\n"
        )
        self.assertEqual(run(code, AMCT_SIM_DEVICES="2").stdout, "[4.0, 4.0] npu:0\n")

    def test_each_mode_of_the_task_queue(self) -> None:
        code = "x = torch.ones(8).npu(); x = (x + x).t().contiguous(); print(x.sum().item())"
        for mode in ("0", "1", "2"):
            self.assertEqual(run(code, TASK_QUEUE_ENABLE=mode).stdout, "16.0\n")

    def test_exit_with_live_tensors_and_pending_work(self) -> None:
        code = "x = torch.ones(8).npu(); s = torch.npu.Stream(); y = x * 2; import sys; sys.exit(3)"
        self.assertEqual(run(code).returncode, 3)

    def test_a_forked_child_may_use_the_cpu(self) -> None:
        code = (
            "import os\n"
            "torch.ones(1).npu()\n"
            "pid = os.fork()\n"
            "if pid == 0: os._exit(int(torch.ones(2).sum().item()))\n"
            "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n"
        )
        self.assertEqual(run(code).stdout, "2\n")


class Acl(unittest.TestCase):
    """The C interface, with arguments that are wrong."""

    INVALID = 107000

    def setUp(self) -> None:
        torch.ones(1).npu()
        self.runtime = ctypes.CDLL("libascendcl.so")
        self.runtime.aclGetRecentErrMsg.restype = ctypes.c_char_p

    def check(self, error: int, message: str) -> None:
        self.assertEqual(error, self.INVALID)
        self.assertRegex(self.runtime.aclGetRecentErrMsg().decode(), message)

    def allocate(self, size: int) -> ctypes.c_void_p:
        address = ctypes.c_void_p()
        self.assertEqual(
            self.runtime.aclrtMalloc(ctypes.byref(address), ctypes.c_size_t(size), 0), 0
        )
        return address

    def test_copies(self) -> None:
        copy, size = self.runtime.aclrtMemcpy, ctypes.c_size_t
        device, host = self.allocate(64), ctypes.create_string_buffer(128)
        self.assertEqual(copy(device, size(64), host, size(64), 1), 0)
        self.check(copy(device, size(32), host, size(64), 1), "64 bytes to a place of 32")
        self.check(copy(device, size(128), host, size(128), 1), "writes: bytes .0, 128. of .* 64")
        self.check(copy(host, size(128), device, size(65), 2), "reads: bytes .0, 65. of .* 64")
        self.check(copy(None, size(64), host, size(64), 1), "a copy writes: a null pointer")
        self.assertEqual(self.runtime.aclrtFree(device), 0)
        self.check(copy(device, size(64), host, size(64), 1), "writes: 0x.*, which was freed")
        self.assertNotEqual(self.runtime.aclrtFree(device), 0)

    def test_fills(self) -> None:
        fill, size = self.runtime.aclrtMemset, ctypes.c_size_t
        self.check(fill(None, size(8), 0, size(8)), "a fill writes: a null pointer")
        self.check(fill(self.allocate(64), size(65), 0, size(65)), "bytes .0, 65. of .* 64 bytes")

    def test_events_and_streams_that_are_gone(self) -> None:
        for kind in ("Event", "Stream"):
            handle = ctypes.c_void_p()
            self.assertEqual(getattr(self.runtime, f"aclrtCreate{kind}")(ctypes.byref(handle)), 0)
            destroy = getattr(self.runtime, f"aclrtDestroy{kind}")
            self.assertEqual(destroy(handle), 0)
            self.check(destroy(handle), f"is no {kind.lower()}")
            self.check(getattr(self.runtime, f"aclrtSynchronize{kind}")(handle), "is no ")
        event = ctypes.c_void_p()
        self.runtime.aclrtCreateEvent(ctypes.byref(event))
        self.check(self.runtime.aclrtRecordEvent(event, handle), "is no stream")
        self.assertEqual(self.runtime.aclrtSynchronizeEvent(event), 0)  # nothing was recorded
        self.check(self.runtime.aclrtRecordEvent(handle, None), "is no event")

    def test_a_program_that_initialises_the_runtime_before_torch(self) -> None:
        out = subprocess.run(
            [sys.executable, "-c",
             "import ctypes, sys\nprint(ctypes.CDLL(sys.argv[1]).aclInit(None))\n"
             "import torch\nprint((torch.ones(2).npu() + 1).tolist())",
             f"{amct_ops.__path__[0]}/_sim/toolkit/lib64/libascendcl.so"],
            capture_output=True, text=True, check=False, cwd="/",
        )  # fmt: skip
        self.assertEqual(out.stdout, "0\n[2.0, 2.0]\n", out.stderr)


if __name__ == "__main__":
    unittest.main()
