"""The installed simulated toolkit as another project's compiler, and what its checks say."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import torch
import torch_npu  # noqa: F401

import amct_ops

TOOLKIT = Path(amct_ops.__path__[0]) / "_sim" / "toolkit"
SOURCE = Path(__file__).with_name("kernels.asc")
ARCH = {"Ascend910": "dav-2201", "Ascend950": "dav-3510"}[torch.npu.get_device_name()[:9]]


def line_of(fault: str) -> int:
    """The line of kernels.asc at which a fault is found: it is marked there."""
    lines = SOURCE.read_text().splitlines()
    (line,) = (i for i, text in enumerate(lines, 1) if re.search(rf"// here: .*\b{fault}\b", text))
    return line


def compile_kernels(
    source: Path, output: Path, arch: str = ARCH
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(TOOLKIT / "bin" / "bisheng"), f"--npu-arch={arch}", "-std=c++17", "-O2", "-fPIC",
         "-shared", str(source), "-o", str(output)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


class Kernels(unittest.TestCase):
    folder: tempfile.TemporaryDirectory[str]
    library: ctypes.CDLL

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.library = load_kernels("kernels", cls.folder.name)

    @classmethod
    def tearDownClass(cls) -> None:
        cls.folder.cleanup()

    def launch(
        self, name: str, *, blocks: int = 4, count: int = 1024, stub: bool = False
    ) -> torch.Tensor:
        x = torch.arange(count, dtype=torch.float32).npu()
        y = torch.zeros(count, device="npu")
        stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
        arguments = (ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(y.data_ptr()), count)
        function = getattr(self.library, name)
        function.restype = None
        if stub:
            function(ctypes.c_uint32(blocks), None, stream, *arguments)
        else:
            function(ctypes.c_uint32(blocks), stream, *arguments)
        torch.npu.synchronize()
        return y.cpu()

    def check_doubled(self, y: torch.Tensor) -> None:
        self.assertTrue(torch.equal(y, 2 * torch.arange(len(y), dtype=torch.float32)))

    def check_fault(self, name: str, check: str, text: str, has_line: bool = True) -> None:
        with self.assertRaises(RuntimeError) as caught:
            self.launch(f"Launch{name}", blocks=2)
        message = str(caught.exception)
        self.assertIn(f"[{check}] kernel ", message)
        self.assertRegex(message, text)
        self.assertIn("error code is 507035", message)
        if has_line:
            self.assertIn(f"kernels.asc:{line_of(name)} ", message)
        # The process goes on, and so does the device.
        self.check_doubled(self.launch("LaunchNone"))

    def test_launch_by_chevrons(self) -> None:
        for blocks in (1, 3, 40):
            self.check_doubled(self.launch("LaunchNone", blocks=blocks))

    def test_host_stub_with_c_linkage(self) -> None:
        self.check_doubled(self.launch("c_kernel", stub=True))

    def test_host_stub_with_cpp_linkage(self) -> None:
        self.check_doubled(self.launch("_Z8c_kerneljPvS_PhS0_j", stub=True))
        self.check_doubled(self.launch("_ZN5inner10cpp_kernelEjPvS0_PhS1_j", stub=True))

    def test_blocks_wait_for_each_other(self) -> None:
        y = self.launch("barrier", blocks=8, count=128, stub=True)
        self.assertEqual(y[::16].tolist(), [36.0] * 8)

    def test_queue_hang(self) -> None:
        self.check_fault("QueueHang", "queue-state", "all 2 buffers of the queue are in use")

    def test_leak(self) -> None:
        self.check_fault(
            "Leak", "queue-leak", "is still dequeued at the end|are in use", has_line=False
        )

    def test_uninitialised_read(self) -> None:
        self.check_fault("Uninitialised", "uninit-read", "nothing was written to byte 0")

    def test_outside_of_global_memory(self) -> None:
        self.check_fault("Outside", "gm-extent", r"bytes \[0, 1024\) of a GlobalTensor with")

    def test_overrun_of_a_buffer(self) -> None:
        self.check_fault(
            "Overrun", "ub-extent", r"reads UB bytes \[0, 1056\), the buffer ends at 1024"
        )

    def test_flag_that_nobody_sets(self) -> None:
        self.check_fault("Flag", "event-pair", "waits for flag MTE3_V 3, which was not set")

    def test_second_tpipe(self) -> None:
        self.check_fault("SecondTPipe", "queue-state", "a second TPipe while one is alive")

    def test_pipes_that_nothing_orders(self) -> None:
        self.check_doubled(self.launch("LaunchFlags", blocks=2))
        for name, text in {
            "FlagsIn": "pipe V reads UB bytes .* that pipe MTE2 writes .*MTE2_V",
            "FlagsOut": "pipe MTE3 reads UB bytes .* that pipe V writes .*V_MTE3",
            "FlagsReuseIn": "pipe MTE2 writes UB bytes .* that pipe V reads .*V_MTE2",
            "FlagsReuseOut": "pipe V writes UB bytes .* that pipe MTE3 reads .*MTE3_V",
        }.items():
            with self.subTest(missing=name):
                self.check_fault(name, "race", text)

    def test_two_blocks_that_write_one_place(self) -> None:
        self.check_fault("Overlap", "gm-overlap", "writes 1024 bytes .* that block 0 writes at ")

    def test_deadlock_names_the_wait(self) -> None:
        text = rf"kernel deadlock hangs: block 1 waits for .*:{line_of('deadlock')} "
        with self.assertRaisesRegex(RuntimeError, text):
            self.launch("deadlock", stub=True)

    def test_endless_loop(self) -> None:
        text = rf"endless loop\? It has executed 1000000 .*:{line_of('endless')} \(GetValue\)"
        limit = mock.patch.dict(os.environ, {"AMCT_SIM_MAX_CALLS": "1000000"})
        with limit, self.assertRaisesRegex(RuntimeError, text):
            self.launch("endless", blocks=1, stub=True)

    def test_exception(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "kernel thrower throws"):
            self.launch("thrower", stub=True)

    def test_assertion_with_a_message(self) -> None:
        text = (
            r"\[assert\] kernel asserts.*count < 100 does not hold: count is 1024, at "
            rf".*:{line_of('asserts')} "
        )
        with self.assertRaisesRegex(RuntimeError, text):
            self.launch("asserts", stub=True)
        self.launch("asserts", stub=True, count=99)

    def test_faults_of_the_processor_end_the_launch_only(self) -> None:
        for name, text in {
            "divides": "divides an integer by zero",
            "wild_pointer": "accesses memory that is not there",
            "deep": "accesses memory that is not there",
        }.items():
            with self.subTest(name):
                with self.assertRaisesRegex(RuntimeError, rf"\[fault\] kernel {name}.*{text}"):
                    self.launch(name, blocks=1, stub=True)
                self.check_doubled(self.launch("LaunchNone"))

    def test_stop_for_the_debugger(self) -> None:
        script = (
            f"import sys\nsys.path.insert(0, {str(SOURCE.parents[2])!r})\n"
            "from tests.sim.test_toolkit import Kernels, load_library\n"
            f"Kernels.library = load_library({self.folder.name + '/libkernels.so'!r})\n"
            "Kernels().launch('LaunchFlag', blocks=1)\n"
        )
        run = subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "AMCT_SIM_STOP": "1"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        self.assertEqual(run.returncode, -signal.SIGTRAP, run.stderr)
        self.assertIn("[event-pair] kernel ", run.stderr)

    def test_bad_numbers_of_blocks(self) -> None:
        for blocks in (0, 65536):
            with self.assertRaisesRegex(RuntimeError, f"{blocks} blocks, allowed are 1 to 65535"):
                self.launch("LaunchNone", blocks=blocks)

    def test_work_behind_a_failure_is_dropped_until_it_was_seen(self) -> None:
        x = torch.zeros(256, device="npu")
        stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
        arguments = (ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(x.data_ptr()), 256)
        self.library.LaunchFlag(ctypes.c_uint32(1), stream, *arguments)
        with self.assertRaisesRegex(RuntimeError, "event-pair"):
            torch.npu.synchronize()
        torch.npu.synchronize()

    def test_memory_that_was_freed_or_is_too_small(self) -> None:
        # Without torch's cache, a tensor's memory is an allocation of its own.
        environment = {**os.environ, "PYTORCH_NO_NPU_MEMORY_CACHING": "1"}
        program = (
            "import ctypes, sys, torch\n"
            "x, y = torch.ones(1024, device='npu'), torch.ones(1024, device='npu')\n"
            "small = torch.ones(256, device='npu')\n"
            "place = y.data_ptr()\n"
            "del y\n"
            "library = [ctypes.CDLL(path) for path in sys.argv[1:]][-1]\n"
            "stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)\n"
            "z = torch.ones(1024, device='npu')\n"
            "for output in (place, small.data_ptr(), small.data_ptr() + 2048):\n"
            "    addresses = [ctypes.c_void_p(a) for a in (x.data_ptr(), output)]\n"
            "    library.LaunchNone(ctypes.c_uint32(1), stream, *addresses, 1024)\n"
            "    try:\n"
            "        torch.npu.synchronize()\n"
            "    except RuntimeError as error:\n"
            "        print(str(error))\n"
            "print(small.sum().item(), z.sum().item())\n"
        )
        libraries = [str(TOOLKIT / "lib64" / f"lib{n}.so") for n in ("ascendcl", "ascendc_runtime")]
        run = subprocess.run(
            [sys.executable, "-c", program, *libraries, f"{self.folder.name}/libkernels.so"],
            env=environment, capture_output=True, text=True, check=False, cwd="/",
        )  # fmt: skip
        self.assertRegex(
            run.stdout,
            r"(?s)\[gm-extent\] kernel .* accesses 1024 bytes at 0x\w+, which is no device memory"
            r".*\[gm-extent\] kernel .* accesses bytes \[1024, 2048\) of a device allocation of "
            r".*\[gm-extent\] kernel .* accesses 1024 bytes at 0x\w+, which is no device memory"
            r".*\n512\.0 1024\.0\n$",
            run.stderr,
        )

    def test_a_kernel_for_another_architecture(self) -> None:
        other = "dav-3510" if ARCH == "dav-2201" else "dav-2201"
        with tempfile.TemporaryDirectory() as folder:
            output = Path(folder) / "libother.so"
            self.assertEqual(compile_kernels(SOURCE, output, other).returncode, 0)
            library = ctypes.CDLL(str(output))
            x = torch.zeros(256, device="npu")
            library.LaunchNone(
                ctypes.c_uint32(1), ctypes.c_void_p(torch.npu.current_stream().npu_stream),
                ctypes.c_void_p(x.data_ptr()), ctypes.c_void_p(x.data_ptr()), 256,
            )  # fmt: skip
            with self.assertRaisesRegex(
                RuntimeError, f"compiled for {other}, but the device .* is {ARCH}"
            ):
                torch.npu.synchronize()


def load_kernels(name: str, folder: str) -> ctypes.CDLL:
    """Compile a source of this folder and load it."""
    source = Path(__file__).parent / f"{name}.asc"
    output = Path(folder) / f"lib{source.stem}.so"
    run = compile_kernels(source, output)
    if run.returncode:
        raise AssertionError(run.stderr)
    return load_library(output)


def load_library(path: Path | str) -> ctypes.CDLL:
    torch.ones(1).npu()
    # What the kernels link to is not on the loader's path.
    for library in ("libascendcl.so", "libascendc_runtime.so"):
        ctypes.CDLL(str(TOOLKIT / "lib64" / library))
    return ctypes.CDLL(str(path))


class Translation(unittest.TestCase):
    def test_sources_that_are_hard_to_translate(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            library = load_kernels("translation", folder)
            expected = {
                "Macro": 2.5,
                "CBlock": 4.0,
                "Templated": 4.0,
                "Lambda": 4.0,
                "Declared": 7.0,
            }
            for launcher, value in expected.items():
                with self.subTest(launcher=launcher):
                    x = torch.zeros(8, device="npu")
                    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
                    getattr(library, launcher)(ctypes.c_void_p(x.data_ptr()), stream)
                    torch.npu.synchronize()
                    self.assertEqual(x[0].item(), value)
            for text in ("Quoted", "Raw"):
                getattr(library, text).restype = ctypes.c_char_p
            self.assertEqual(library.Quoted(), b"k<<<1, 2, 3>>>(x) __global__ void f()")
            self.assertEqual(library.Raw(), b'k<<<"1>>>(x) __global__ ')


class Compiler(unittest.TestCase):
    def compile(self, text: str, *flags: str) -> str:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "wrong.asc"
            source.write_text(text)
            run = subprocess.run(
                [str(TOOLKIT / "bin" / "bisheng"), *(flags or ["--npu-arch=dav-2201"]),
                 "-std=c++17", "-c", "wrong.asc", "-o", "wrong.o"],
                cwd=folder, capture_output=True, text=True, check=False,
            )  # fmt: skip
            self.assertNotEqual(run.returncode, 0)
            self.assertNotIn("Traceback", run.stderr)
            return run.stderr

    def test_unknown_architecture(self) -> None:
        self.assertIn(
            "Unsupported NPU architecture or soc: 'dav-1'. Simulated are: dav-2201, dav-3510",
            self.compile("", "--npu-arch=dav-1"),
        )

    def test_unsupported_mode(self) -> None:
        self.assertIn("--enable-simt is not supported", self.compile("", "--enable-simt"))

    def test_errors_are_at_their_own_line(self) -> None:
        text = '#include "kernel_operator.h"\n__global__ __aicore__ void k() {\n    nope(1);\n}\n'
        self.assertRegex(self.compile(text), r"wrong\.asc:3:\d+: error: .nope.")

    def test_launch_without_stream(self) -> None:
        text = "template <typename T> void k(T);\nvoid f(int *p) {\n    k<int *><<<1, 0>>>(p);\n}\n"
        self.assertIn(
            "wrong.asc:3: error: kernel launch: 2 launch parameters, allowed are three",
            self.compile(text),
        )

    def test_a_cast_that_the_architecture_lacks(self) -> None:
        text = (
            '#include "kernel_operator.h"\nvoid f(AscendC::LocalTensor<bfloat16_t> d, '
            "AscendC::LocalTensor<half> s) {\n"
            "    AscendC::Cast(d, s, AscendC::RoundMode::CAST_RINT, 8);\n}\n"
        )
        self.assertIn("this architecture has no cast between these types", self.compile(text))


if __name__ == "__main__":
    unittest.main()
