"""What programs do with a device: models, optimisers, files, threads, processes."""

from __future__ import annotations

import copy
import gc
import io
import os
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any

import torch
import torch_npu  # noqa: F401
from torch.utils._pytree import tree_leaves

import amct_ops.hifloat8_cast  # noqa: F401


def convnet() -> torch.nn.Module:
    return torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3, bias=False), torch.nn.BatchNorm2d(4), torch.nn.ReLU(),
        torch.nn.Dropout(0.0), torch.nn.Flatten(), torch.nn.Linear(4 * 36, 10),
    )  # fmt: skip


class Training(unittest.TestCase):
    def setUp(self) -> None:
        torch.manual_seed(0)
        self.x, self.target = torch.randn(8, 3, 8, 8), torch.arange(8)

    def loss(self, model: torch.nn.Module, device: str) -> torch.Tensor:
        output = model(self.x.to(device))
        return torch.nn.functional.cross_entropy(output, self.target.to(device))

    def assert_same(self, model: torch.nn.Module, on_npu: torch.nn.Module) -> None:
        for (name, a), b in zip(model.state_dict().items(), on_npu.state_dict().values()):
            torch.testing.assert_close(b.cpu(), a, msg=lambda text, name=name: f"{name}: {text}")

    def test_steps_of_each_optimiser_are_those_of_the_cpu(self) -> None:
        for optimiser in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
            for way in ({}, {"foreach": True}, {"foreach": False}, {"fused": True}):
                with self.subTest(optimiser=optimiser.__name__, way=way):
                    model = convnet()
                    on_npu = copy.deepcopy(model).npu()
                    for device, trained in (("cpu", model), ("npu", on_npu)):
                        steps = optimiser(trained.parameters(), lr=0.01, **way)
                        for _ in range(3):
                            steps.zero_grad()
                            self.loss(trained, device).backward()
                            steps.step()
                    self.assert_same(model, on_npu)

    def test_recurrent_layers_and_their_gradients(self) -> None:
        for layer in (torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN):
            for options in ({"num_layers": 2}, {"bidirectional": True, "bias": False}):
                with self.subTest(layer=layer.__name__, options=options):
                    model = layer(5, 7, **options)
                    on_npu = copy.deepcopy(model).npu()
                    x = torch.randn(4, 3, 5, requires_grad=True)
                    y = x.detach().npu().requires_grad_()
                    expected, actual = (
                        torch.autograd.grad(
                            sum(t.square().sum() for t in tree_leaves(trained(inputs))),
                            [inputs, *trained.parameters()],
                        )
                        for trained, inputs in ((model, x), (on_npu, y))
                    )
                    torch.testing.assert_close([g.cpu() for g in actual], list(expected))

    def test_cells_with_one_used_output(self) -> None:
        cell = torch.nn.LSTMCell(5, 7)
        x = torch.randn(3, 5)
        for used in (0, 1):
            on_npu = copy.deepcopy(cell).npu()
            weights = (cell.weight_ih, cell.bias_hh)
            expected = torch.autograd.grad(cell(x)[used].sum(), weights)
            weights = (on_npu.weight_ih, on_npu.bias_hh)
            actual = torch.autograd.grad(on_npu(x.npu())[used].sum(), weights)
            torch.testing.assert_close([g.cpu() for g in actual], list(expected))

    def test_gradient_scaler_steps_and_skips_infinite_gradients(self) -> None:
        model = convnet().npu()
        steps = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("npu", init_scale=1024.0)
        losses = []
        for _ in range(5):
            with torch.autocast("npu", dtype=torch.float16):
                loss = self.loss(model, "npu")
            steps.zero_grad()
            scaler.scale(loss).backward()
            scaler.unscale_(steps)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(steps)
            scaler.update()
            losses.append(loss.item())
        self.assertLess(losses[-1], losses[0])
        before = copy.deepcopy(model.state_dict())
        steps.zero_grad()
        model[-1].weight.grad = torch.full_like(model[-1].weight, float("inf"))
        scaler.scale(torch.zeros(1, device="npu"))
        scaler.step(steps)
        scaler.update()
        self.assertEqual(scaler.get_scale(), 512.0)
        self.assertTrue(torch.equal(before["5.weight"], model[-1].weight))


class Files(unittest.TestCase):
    def test_every_map_location(self) -> None:
        saved = {"a": torch.randn(3, device="npu"), "t": torch.randn(2, 3, device="npu").t()}
        for location, device in (
            (None, "npu"), ("cpu", "cpu"), ("npu", "npu"), (torch.device("npu:0"), "npu"),
            ({"npu:0": "cpu"}, "cpu"), (lambda storage, _: storage, "cpu"),
        ):  # fmt: skip
            with self.subTest(location=location):
                buffer = io.BytesIO()
                torch.save(saved, buffer)
                buffer.seek(0)
                loaded = torch.load(buffer, map_location=location)
                self.assertEqual({x.device.type for x in loaded.values()}, {device})
                self.assertTrue(all(torch.equal(loaded[k].cpu(), saved[k].cpu()) for k in saved))

    def test_a_model_of_the_cpu(self) -> None:
        model, other = convnet(), convnet().npu()
        buffer = io.BytesIO()
        torch.save(model.state_dict(), buffer)
        buffer.seek(0)
        other.load_state_dict(torch.load(buffer, map_location="npu"))
        self.assertTrue(torch.equal(other[0].weight.cpu(), model[0].weight))


class Memory(unittest.TestCase):
    def test_what_is_in_use(self) -> None:
        gc.collect()
        torch.npu.empty_cache()
        torch.npu.reset_peak_memory_stats()
        before, (free, _) = torch.npu.memory_allocated(), torch.npu.mem_get_info()
        x = torch.empty(10 << 20, dtype=torch.uint8, device="npu")
        self.assertGreaterEqual(torch.npu.memory_allocated() - before, x.nbytes)
        self.assertGreaterEqual(free - torch.npu.mem_get_info()[0], x.nbytes)
        self.assertGreaterEqual(torch.npu.memory_reserved(), x.nbytes)
        del x
        self.assertEqual(torch.npu.memory_allocated(), before)
        self.assertGreaterEqual(torch.npu.max_memory_allocated() - before, 10 << 20)
        torch.npu.empty_cache()
        self.assertEqual(torch.npu.mem_get_info()[0], free)

    def test_out_of_memory_says_how_much_there_is(self) -> None:
        total = torch.npu.mem_get_info()[1]
        with self.assertRaisesRegex(
            torch.OutOfMemoryError,
            r"Tried to allocate .* GiB total capacity; .* already allocated",
        ):
            torch.empty(total + 1, dtype=torch.uint8, device="npu")
        self.assertEqual(torch.ones(3, device="npu").sum().item(), 3)

    def test_properties(self) -> None:
        properties = torch.npu.get_device_properties(0)
        self.assertEqual(properties.name, torch.npu.get_device_name())
        self.assertEqual(properties.total_memory, torch.npu.mem_get_info()[1])
        self.assertGreaterEqual(properties.vector_core_num, properties.cube_core_num)
        self.assertEqual(torch.npu.device_count(), torch.accelerator.device_count())
        self.assertEqual(torch.accelerator.current_accelerator(), torch.device("npu"))
        self.assertEqual(torch.npu.current_device(), 0)
        self.assertEqual(torch.npu.current_stream(), torch.npu.default_stream())
        self.assertTrue(torch.npu.is_bf16_supported())

    def test_devices_that_do_not_exist(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "device 63 does not exist, there are 1"):
            torch.ones(1, device="npu:63")


class Threads(unittest.TestCase):
    def test_operators_of_ours_from_two_threads(self) -> None:
        inputs = [torch.randn(3000).half().npu() for _ in range(4)]
        expected = [torch.ops.amct.encode_to_hifloat8(x).cpu() for x in inputs]

        def work(start: int, stream: torch.npu.Stream, wrong: list[Any]) -> None:
            with torch.npu.stream(stream):
                for i in range(start, start + 20):
                    codes = torch.ops.amct.encode_to_hifloat8(inputs[i % 4])
                    if not torch.equal(codes.cpu(), expected[i % 4]):
                        wrong.append((start, i))

        shared = torch.npu.Stream()
        for streams in ((shared, shared), (torch.npu.Stream(), torch.npu.Stream())):
            wrong: list[Any] = []
            threads = [
                threading.Thread(target=work, args=(start, stream, wrong))
                for start, stream in enumerate(streams)
            ]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(wrong, [])

    def test_backward_in_the_threads_of_autograd(self) -> None:
        def work(results: list[float]) -> None:
            x = torch.ones(5, device="npu", requires_grad=True)
            (x * x).sum().backward()
            results.append(x.grad.sum().item())

        results: list[float] = []
        threads = [threading.Thread(target=work, args=(results,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [10.0] * 4)


class Processes(unittest.TestCase):
    def run_main(self, text: str, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a program from a file, as spawned children must be able to import it."""
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program.py"
            program.write_text(text)
            return subprocess.run(
                [sys.executable, str(program)], env={**os.environ, **environment},
                capture_output=True, text=True, check=False, timeout=120, cwd="/",
            )  # fmt: skip

    def test_spawned_children_have_the_device(self) -> None:
        out = self.run_main(
            "import torch, torch.multiprocessing as mp\n"
            "def child(x, results):\n"
            "    results.put((x.npu() * 2).tolist())\n"
            "if __name__ == '__main__':\n"
            "    x = torch.arange(3.0).npu()\n"
            "    context = mp.get_context('spawn')\n"
            "    results = context.Queue()\n"
            "    process = context.Process(target=child, args=(x.cpu(), results))\n"
            "    process.start()\n"
            "    print(results.get(), flush=True)\n"
            "    process.join()\n"
            "    print(process.exitcode)\n"
        )
        self.assertEqual(out.stdout, "[0.0, 2.0, 4.0]\n0\n", out.stderr)

    def test_device_memory_is_not_shared_between_processes(self) -> None:
        out = self.run_main(
            "import torch, torch.multiprocessing as mp\n"
            "if __name__ == '__main__':\n"
            "    mp.get_context('spawn').SimpleQueue().put(torch.ones(2).npu())\n"
        )
        self.assertEqual(out.returncode, 1)
        self.assertRegex(out.stderr, "aclrtIpcMemGetExportKey")

    def test_several_devices(self) -> None:
        out = self.run_main(
            "import torch\n"
            "import amct_ops.hifloat8_cast\n"
            "x = torch.arange(-4, 4).half()\n"
            "codes = [torch.ops.amct.encode_to_hifloat8(x.to(f'npu:{i}')) for i in range(3)]\n"
            "print([c.device.index for c in codes], all(torch.equal(c.cpu(), codes[0].cpu()) "
            "for c in codes))\n"
            "with torch.npu.device(2):\n"
            "    print(torch.ones(1, device='npu').device, torch.npu.memory_allocated() > 0)\n"
            "try:\n"
            "    codes[0] + codes[1]\n"
            "except RuntimeError as error:\n"
            "    print(error)\n",
            AMCT_SIM_DEVICES="3",
        )
        self.assertRegex(
            out.stdout,
            r"^\[0, 1, 2\] True\nnpu:2 True\nExpected all tensors to be on the same device, .* "
            "npu:0 and npu:1!",
            out.stderr,
        )

    def test_exit_with_operators_of_ours_in_several_streams(self) -> None:
        out = self.run_main(
            "import threading, torch\n"
            "import amct_ops.hifloat8_cast\n"
            "x = torch.randn(100000).half().npu()\n"
            "def work():\n"
            "    with torch.npu.stream(torch.npu.Stream()):\n"
            "        for _ in range(10):\n"
            "            torch.ops.amct.encode_to_hifloat8(x)\n"
            "        torch.npu.Event().record()\n"
            "threads = [threading.Thread(target=work) for _ in range(3)]\n"
            "for thread in threads: thread.start()\n"
            "work()\n"
            "print('end')\n"
        )
        self.assertEqual((out.returncode, out.stdout), (0, "end\n"), out.stderr)


if __name__ == "__main__":
    unittest.main()
