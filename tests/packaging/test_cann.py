"""The path of real CANN, with a folder of CANN's shape whose compiler is the simulated one."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from .conftest import ROOT, Checkout, Wheel, clean_environment, compiled

HOST = f"{os.uname().machine}-linux"


@pytest.fixture(scope="module")
def cann(
    checkout: Checkout, default_wheel: Wheel, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """A CANN tree: modules and headers of the simulated toolkit, a compiler that keeps a record."""
    home = tmp_path_factory.mktemp("cann") / "8.5"
    toolkit = ROOT / "sim" / "toolkit"
    shutil.copytree(toolkit / "lib64", home / "lib64")
    shutil.copytree(toolkit / "include", home / HOST / "include")
    (home / HOST / "ascend_toolkit_install.info").write_text("version=8.5.0\narch=x86_64\n")
    (built,) = (checkout.path / "build").glob("sim-*/sim/lib64")
    for library in built.glob("*.so"):
        shutil.copy(library, home / "lib64")
    # CANN's package does this to its caller.
    with (home / "lib64" / "cmake" / "asc-config.cmake").open("a") as config:
        config.write('set(CMAKE_CXX_FLAGS_RELEASE "")\n')
    compiler = home / "bin" / "bisheng"
    compiler.parent.mkdir()
    compiler.write_text(
        f'#!/bin/sh\necho "$@" >>"{home}/record.txt"\nexec "{toolkit}/bin/bisheng" "$@"\n'
    )
    compiler.chmod(0o755)
    return home


def build(checkout: Checkout, home: Path, *settings: str) -> tuple[Wheel, str]:
    shutil.rmtree(checkout.path / "dist", ignore_errors=True)
    run = checkout.pip_wheel(*settings, environment=clean_environment(ASCEND_HOME_PATH=str(home)))
    assert run.returncode == 0, run.stdout
    (wheel,) = (checkout.path / "dist").glob("*.whl")
    return Wheel(wheel), run.stdout


def test_the_complete_wheel_has_a_plain_version_and_serves_every_python(
    checkout: Checkout, cann: Path
) -> None:
    wheel, log = build(checkout, cann, "cmake.define.SOC=all")
    assert wheel.name == f"amct_ops-1.0.0-py3-none-linux_{os.uname().machine}.whl"
    assert "SIMULATED" not in log
    assert not any("_sim" in name or name.endswith(".pth") for name in wheel.files())
    assert wheel.manifest()["toolkit"] == {"kind": "cann", "version": "8.5.0"}


def test_a_part_is_labelled(checkout: Checkout, cann: Path) -> None:
    wheel, _ = build(checkout, cann)
    assert wheel.name == f"amct_ops-1.0.0+dav2201-py3-none-linux_{os.uname().machine}.whl"
    wheel, _ = build(checkout, cann, "cmake.define.SOC=A5")
    assert wheel.name == f"amct_ops-1.0.0+dav3510-py3-none-linux_{os.uname().machine}.whl"
    # All architectures, but not all operators by default: not the complete wheel.
    wheel, _ = build(checkout, cann, "cmake.define.SOC=all", "cmake.define.OPS=hifloat8_cast")
    assert wheel.name.startswith("amct_ops-1.0.0+dav2201.dav3510-py3-none-")


def test_each_kernel_is_compiled_for_its_architecture(checkout: Checkout, cann: Path) -> None:
    build(checkout, cann, "cmake.define.SOC=all")
    lines = (cann / "record.txt").read_text().splitlines()
    archs = {re.search(r"--npu-arch=(\S+)", line).group(1) for line in lines}
    assert archs == {"dav-2201", "dav-3510"}
    assert all("--asc-aicore-lang" in line and "-std=c++17" in line for line in lines)


def test_host_code_keeps_its_release_flags(checkout: Checkout, cann: Path) -> None:
    build(checkout, cann)
    (tree,) = (checkout.path / "build").glob("cann-*")
    commands = json.loads((tree / "compile_commands.json").read_text())
    (line,) = (
        c["command"]
        for c in commands
        if c["file"].endswith("hifloat8_cast/op_extension/register.cpp")
    )
    assert "-O3 -DNDEBUG" in line


def test_libraries_need_no_path_and_only_known_libraries(
    checkout: Checkout, cann: Path, tmp_path: Path
) -> None:
    wheel, _ = build(checkout, cann, "cmake.define.SOC=all")
    for name, content in wheel.libraries().items():
        file = tmp_path / "library.so"
        file.write_bytes(content)
        dynamic = subprocess.run(
            ["readelf", "-d", str(file)], capture_output=True, text=True, check=True
        ).stdout
        assert "PATH" not in dynamic, name
        needed = set(re.findall(r"NEEDED.*\[((?!ld-linux).*)\]", dynamic))
        assert needed <= {
            "libtorch_npu.so", "libtorch_cpu.so", "libc10.so", "libascendcl.so",
            "libascendc_runtime.so", "libplatform.so", "libstdc++.so.6", "libm.so.6",
            "libgcc_s.so.1", "libc.so.6",
        }, name  # fmt: skip


def test_a_wheel_for_cann_refuses_the_simulated_runtime(
    checkout: Checkout, cann: Path, default_wheel: Wheel, tmp_path: Path
) -> None:
    wheel, _ = build(checkout, cann)
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "-t", str(tmp_path),
         str(wheel.path)],
        check=True, capture_output=True,
    )  # fmt: skip
    run = subprocess.run(
        [sys.executable, "-c", "import amct_ops.hifloat8_cast"],
        env=clean_environment(PYTHONPATH=str(tmp_path), LD_LIBRARY_PATH=str(cann / "lib64")),
        capture_output=True, text=True, check=False, cwd="/",
    )  # fmt: skip
    assert "was built with CANN 8.5.0, but this process runs on the simulated toolkit" in run.stderr


def test_another_cann_gets_another_tree(checkout: Checkout, cann: Path, tmp_path: Path) -> None:
    build(checkout, cann)
    other = tmp_path / "9.0"
    shutil.copytree(cann, other, symlinks=True)
    _, log = build(checkout, other)
    assert compiled(log) != []
    assert len(list((checkout.path / "build").glob("cann-*"))) == 2
    _, log = build(checkout, cann)
    assert compiled(log) == []
