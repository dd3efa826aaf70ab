"""Projects that are not ours, built with the installed simulated toolkit."""

from __future__ import annotations

import ctypes
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import torch
import torch_npu

import amct_ops

PROJECTS = Path(__file__).with_name("projects")
TOOLKIT = Path(amct_ops.__path__[0]) / "_sim" / "toolkit"
ARCH = {"Ascend910": "dav-2201", "Ascend950": "dav-3510"}[torch.npu.get_device_name()[:9]]


def shell(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script as a user of the toolkit would, with nothing else in the environment."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("ASCEND", "CMAKE"))}
    environment["PATH"] = f"{Path(sys.executable).parent}:{environment['PATH']}"
    return subprocess.run(
        ["bash", "-c", 'source "$(python -m amct_ops toolkit)/set_env.sh" || exit 99\n' + script],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


class Project(unittest.TestCase):
    """One of projects/, built by CMake in a folder of its own."""

    name: str
    settings: tuple[str, ...] = ()
    folder: tempfile.TemporaryDirectory[str]

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        shutil.copytree(PROJECTS / cls.name, cls.folder.name, dirs_exist_ok=True)
        settings = " ".join(f"-D{setting}" for setting in (f"NPU_ARCH={ARCH}", *cls.settings))
        run = cls.shell(f"cmake -S . -B build -G Ninja {settings} && cmake --build build")
        if run.returncode:
            raise AssertionError(run.stdout + run.stderr)

    @classmethod
    def shell(cls, script: str) -> subprocess.CompletedProcess[str]:
        return shell(script, Path(cls.folder.name))


class Program(Project):
    name = "host"

    def test_result(self) -> None:
        for program in ("host", "host_by_cxx"):
            run = self.shell(f"build/{program}")
            self.assertEqual((run.returncode, run.stderr), (0, ""))

    def test_faulty_kernel(self) -> None:
        run = self.shell("build/host faulty")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(
            run.stderr,
            r"^aclrtSynchronizeStream\(stream\): 507035: \[gm-extent\] kernel increment, block 3: "
            r"accesses bytes \[3104, 4128\) of a device allocation of 4096 bytes, at .*asc:29 ",
        )

    def test_unknown_device(self) -> None:
        run = self.shell("AMCT_SIM_DEVICES=0 build/host")
        self.assertEqual(run.returncode, 1)
        self.assertIn("107001: device 0 does not exist, there are 0", run.stderr)


class Extension(Project):
    name = "extension"
    settings = (f"TORCH={torch.__path__[0]}", f"TORCH_NPU={torch_npu.__path__[0]}")

    @classmethod
    def setUpClass(cls) -> None:
        super().setUpClass()
        torch.ops.load_library(f"{cls.folder.name}/build/libextension.so")

    def test_a_kernel_in_a_cpp_file(self) -> None:
        x = torch.arange(1000.0)
        self.assertTrue(torch.equal(torch.ops.sim_extension.scale(x.npu(), 2.5).cpu(), x * 2.5))

    def test_a_kernel_beside_its_operator(self) -> None:
        x = torch.zeros(8, device="npu")
        self.assertEqual(torch.ops.sim_extension.fill(x, 3.0).tolist(), [3.0] * 8)


class Headers(unittest.TestCase):
    def run_source(self, text: str, *flags: str, compiler: str = "c++") -> str:
        """Compile a program against the toolkit, and return what it prints."""
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "program.c").write_text(text)
            script = f"{compiler} {' '.join(flags)} -Wall -Wextra -Werror program.c && ./a.out"
            run = shell(script, folder)
            self.assertEqual(run.returncode, 0, run.stderr)
            return run.stdout

    def test_the_runtime_is_declared_as_in_the_headers_of_torch_npu(self) -> None:
        text = "".join(header.read_text() for header in (TOOLKIT / "include" / "acl").iterdir())
        functions = sorted(set(re.findall(r"ACL_FUNC_VISIBILITY .*?\b(acl\w+)\(", text)))
        values = sorted(set(re.findall(r"\b(ACL_[A-Z0-9_]+)(?: =|,| 0x| \})", text)))
        self.assertGreater(min(len(functions), len(values)), 50)
        runtime = ctypes.CDLL(str(TOOLKIT / "lib64" / "libascendcl.so"))
        self.assertEqual([f for f in functions if not hasattr(runtime, f)], [])
        program = (
            '#include <cstdio>\n#include <typeinfo>\n#include "acl/acl.h"\n#define T(x) '
            'std::printf("%s %s\\n", #x, typeid(decltype(x)).name());\n#define V(x) '
            'std::printf("%s %lld\\n", #x, static_cast<long long>(x));\nint main() {\n'
            + "".join(f"T({f})\n" for f in functions) + "".join(f"V({v})\n" for v in values) + "}\n"
        )  # fmt: skip
        ours, theirs = (
            self.run_source(program, "-x c++", f"-I{folder}")
            for folder in (TOOLKIT / "include", f"{torch_npu.__path__[0]}/include")
        )
        self.assertEqual(ours, theirs)

    def test_half_precision(self) -> None:
        expected = torch.arange(1 << 16, dtype=torch.int32).to(torch.uint16).view(torch.half)
        floats = torch.cat([expected.float(), torch.randn(1000) * 100, torch.randn(1000) * 1e-6])
        runtime = ctypes.CDLL(str(TOOLKIT / "lib64" / "libascendcl.so"))
        to_float, to_half = runtime.aclFloat16ToFloat, runtime.aclFloatToFloat16
        to_float.restype, to_float.argtypes = ctypes.c_float, [ctypes.c_uint16]
        to_half.restype, to_half.argtypes = ctypes.c_uint16, [ctypes.c_float]
        widened = torch.tensor([to_float(bits) for bits in range(1 << 16)])
        torch.testing.assert_close(widened, expected.float(), rtol=0, atol=0, equal_nan=True)
        bits = torch.tensor([to_half(x) for x in floats.tolist()]).to(torch.uint16)
        torch.testing.assert_close(
            bits.view(torch.half), floats.half(), rtol=0, atol=0, equal_nan=True
        )

    def test_bounds_checked_functions(self) -> None:
        text = (PROJECTS / "securec.c").read_text()
        for compiler, flags in (("cc", "-std=c11 -D_GNU_SOURCE"), ("c++", "-x c++ -std=c++17")):
            with self.subTest(compiler=compiler):
                self.run_source(text, flags, f"-I{TOOLKIT}/include", compiler=compiler)


if __name__ == "__main__":
    unittest.main()
