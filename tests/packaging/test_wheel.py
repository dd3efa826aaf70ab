"""The wheel: name, tag, content, metadata; and what a second build does again."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile
import venv
from pathlib import Path

import pytest

from .conftest import Checkout, Wheel, clean_environment, compiled

CPYTHON = f"cp{sys.version_info.major}{sys.version_info.minor}"
PLATFORM = f"linux_{os.uname().machine}"
KERNEL = "ops/hifloat8_cast/op_kernel/hifloat8_cast_kernel.cpp"


def wheel_name(label: str) -> str:
    return f"amct_ops-1.0.0+{label}-{CPYTHON}-{CPYTHON}-{PLATFORM}.whl"


def readelf(content: bytes, tmp_path: Path, *flags: str) -> str:
    file = tmp_path / "library.so"
    file.write_bytes(content)
    return subprocess.run(
        ["readelf", *flags, str(file)], capture_output=True, text=True, check=True
    ).stdout


def test_a_killed_build_goes_on_and_gives_the_default_wheel(default_wheel: Wheel) -> None:
    assert default_wheel.name == wheel_name("sim.dav2201")


def test_files(default_wheel: Wheel) -> None:
    names = set(default_wheel.files())
    expected = {
        "amct_ops/__init__.py",
        "amct_ops/__main__.py",
        "amct_ops/_manifest.json",
        "amct_ops/hifloat8_cast/__init__.py",
        "amct_ops/hifloat8_cast/ops.py",
        "amct_ops/hifloat8_cast/dav-2201/libhifloat8_cast_ops.so",
        "amct_ops/_sim/toolkit/lib64/libascendcl.so",
        "amct_ops/_sim/toolkit/set_env.sh",
        "amct_ops/_sim/toolkit/bin/bisheng",
        "amct_ops_sim.pth",
    }
    assert expected <= names
    allowed = r"amct_ops/.*|amct_ops_sim\.pth|amct_ops-[^/]*\.dist-info/.*"
    assert [name for name in names if not re.fullmatch(allowed, name)] == []
    stray = r".*(__pycache__|\.pyc|\.o|\.cpp|\.log|CMakeLists\.txt|CMakeCache.*)$"
    assert [name for name in names if re.fullmatch(stray, name)] == []


def test_metadata(default_wheel: Wheel) -> None:
    metadata = default_wheel.metadata()
    assert re.findall(r"^Requires-Dist: (.*)$", metadata, re.M) == [
        "torch==2.13.*",
        "torch_npu==2.13.*",
    ]
    assert "Version: 1.0.0+sim.dav2201\n" in metadata


def test_manifest(default_wheel: Wheel) -> None:
    manifest = default_wheel.manifest()
    assert manifest["version"] == "1.0.0+sim.dav2201"
    assert manifest["toolkit"] == {"kind": "sim", "version": "1.0.0"}
    assert manifest["torch"].startswith("2.13.")
    assert manifest["torch_npu"].startswith("2.13.")
    assert manifest["cxx11_abi"] == 1
    assert set(manifest["git"]) == {"revision", "dirty"}
    operator = manifest["operators"]["hifloat8_cast"]
    assert operator["schemas"] == [
        "encode_to_hifloat8(Tensor x, *, bool saturate=True) -> Tensor",
        "decode_from_hifloat8(Tensor x, ScalarType? dtype=None) -> Tensor",
    ]
    (arch, library) = next(iter(operator["npu_archs"].items()))
    assert arch == "dav-2201"
    assert library["socs"] == ["ascend910b", "ascend910_93"]
    assert operator["socs"] == ["ascend910b", "ascend910_93", "ascend950"]
    content = default_wheel.files()["amct_ops/" + library["library"]]
    assert library["sha256"] == hashlib.sha256(content).hexdigest()


def test_libraries_are_clean(default_wheel: Wheel, checkout: Checkout, tmp_path: Path) -> None:
    libraries = {n: c for n, c in default_wheel.files().items() if re.search(r"\.so$", n)}
    for name, content in libraries.items():
        dynamic = readelf(content, tmp_path, "-d")
        for path in re.findall(r"R(?:UN)?PATH.*\[(.*)\]", dynamic):
            assert path.startswith("$ORIGIN"), (name, path)
            inside = os.path.normpath(
                Path("/wheel", name).parent / path[len("$ORIGIN") :].lstrip("/")
            )
            assert inside.startswith("/wheel/amct_ops/"), (name, path)
        assert "libpython" not in dynamic, name
        sections = readelf(content, tmp_path, "-SW")
        assert ".debug_" not in sections, name
        for trace in (str(checkout.path).encode(), b"/site-packages/", b"/tmp/"):
            assert trace not in content, (name, trace)


def test_operators_need_no_python_symbol(default_wheel: Wheel, tmp_path: Path) -> None:
    for content in default_wheel.libraries().values():
        assert not re.search(r"UND Py", readelf(content, tmp_path, "-W", "--dyn-syms"))


def test_an_unchanged_build_compiles_nothing(checkout: Checkout, default_wheel: Wheel) -> None:
    wheel, log = checkout.build()
    assert compiled(log) == []
    assert wheel.path.read_bytes() == default_wheel.path.read_bytes()


def test_an_unchanged_isolated_build_compiles_nothing(
    checkout: Checkout, default_wheel: Wheel
) -> None:
    checkout.build(isolated=True)  # another path of pybind11 and scikit-build-core each time
    wheel, log = checkout.build(isolated=True)
    assert compiled(log) == []
    assert wheel.path.read_bytes() == default_wheel.path.read_bytes()


def test_a2_and_a3_give_the_same_bytes(checkout: Checkout, default_wheel: Wheel) -> None:
    wheel, log = checkout.build("cmake.define.SOC=ascend910_93")
    assert compiled(log) == []
    assert wheel.name == default_wheel.name
    assert wheel.path.read_bytes() == default_wheel.path.read_bytes()


@pytest.mark.parametrize(
    ("soc", "label", "archs"),
    [
        ("ascend910b;ascend950", "sim.dav2201.dav3510", ["dav-2201", "dav-3510"]),
        ("all", "sim.dav2201.dav3510", ["dav-2201", "dav-3510"]),
        ("A5", "sim.dav3510", ["dav-3510"]),
        ("Ascend950PR_9599,a3", "sim.dav2201.dav3510", ["dav-2201", "dav-3510"]),
        ("ASCEND910B2C", "sim.dav2201", ["dav-2201"]),
    ],
)
def test_soc_decides_name_and_libraries(
    checkout: Checkout, default_wheel: Wheel, soc: str, label: str, archs: list[str]
) -> None:
    wheel, _ = checkout.build(f"cmake.define.SOC={soc}")
    assert wheel.name == wheel_name(label)
    assert sorted({name.split("/")[2] for name in wheel.libraries()}) == archs
    if "dav-2201" in archs:
        name = "amct_ops/hifloat8_cast/dav-2201/libhifloat8_cast_ops.so"
        assert wheel.libraries()[name] == default_wheel.libraries()[name]


def test_an_operator_for_one_soc(checkout: Checkout, default_wheel: Wheel) -> None:
    # Left out with one line where it was not asked for by name.
    wheel, log = checkout.build()
    assert log.count("operator mx_quant is left out for ascend910b: it supports ascend950") == 1
    others = set(wheel.manifest()["operators"])
    assert "hifloat8_cast" in others
    assert "mx_quant" not in others
    # An error where it was.
    run = checkout.pip_wheel("cmake.define.OPS=mx_quant")
    assert run.returncode != 0
    assert "operator mx_quant does not support SOC ascend910b. It supports: ascend950" in (
        " ".join(run.stdout.split())
    )
    # In a wheel for all, it is there for its architecture.
    wheel, _ = checkout.build("cmake.define.SOC=all")
    operator = wheel.manifest()["operators"]["mx_quant"]
    assert (operator["socs"], set(operator["npu_archs"])) == (["ascend950"], {"dav-3510"})
    assert operator["schemas"][0].startswith('mx_quant(Tensor x, *, str format="mxfp4_e2m1", ')
    assert set(wheel.manifest()["operators"]["hifloat8_cast"]["npu_archs"]) == {
        "dav-2201",
        "dav-3510",
    }
    # Alone, it is the only one; and the setting is forgotten by the next build.
    wheel, _ = checkout.build("cmake.define.SOC=ascend950", "cmake.define.OPS=mx_quant")
    assert set(wheel.manifest()["operators"]) == {"mx_quant"}
    assert not any(name.startswith("amct_ops/hifloat8_cast") for name in wheel.files())
    wheel, _ = checkout.build()
    assert set(wheel.manifest()["operators"]) == others


def test_an_edited_kernel_is_the_only_thing_compiled(
    checkout: Checkout, default_wheel: Wheel
) -> None:
    source = checkout.path / KERNEL
    text = source.read_text()
    try:
        source.write_text(text + "\n// edited\n")
        _, log = checkout.build()
        assert [Path(name).name for name in compiled(log)] == ["hifloat8_cast_kernel.cpp.o"]
    finally:
        source.write_text(text)
    checkout.build()


def test_an_edited_kernel_header_is_noticed(checkout: Checkout, default_wheel: Wheel) -> None:
    header = checkout.path / "ops/hifloat8_cast/op_kernel/hifloat8_cast_tiling.h"
    os.utime(header)
    _, log = checkout.build()
    assert sorted(Path(name).name for name in compiled(log)) == [
        "hifloat8_cast_kernel.cpp.o",
        "hifloat8_cast_torch.cpp.o",
    ]


def test_a_wrong_kernel_is_reported_at_its_own_line(
    checkout: Checkout, default_wheel: Wheel
) -> None:
    source = checkout.path / KERNEL
    text = source.read_text()
    line = text.count("\n") + 1
    try:
        source.write_text(text + "static int wrong = undeclared;\n")
        run = checkout.pip_wheel()
        assert run.returncode != 0
        errors = [x for x in run.stdout.splitlines() if "error: " in x and "undeclared" in x]
        assert len(errors) == 1
        assert f"hifloat8_cast_kernel.cpp:{line}:" in errors[0]
    finally:
        source.write_text(text)


def test_another_toolkit_in_a_tree_is_noticed(
    checkout: Checkout, default_wheel: Wheel, tmp_path: Path
) -> None:
    (tree,) = (checkout.path / "build").glob("sim-*")
    cann = tmp_path / "cann"
    cann.mkdir()
    run = subprocess.run(
        ["cmake", str(tree), "-DTOOLKIT=cann"], capture_output=True, text=True, check=False,
        env=clean_environment(ASCEND_HOME_PATH=str(cann)),
    )  # fmt: skip
    assert run.returncode != 0
    assert "was configured with the toolkit in" in " ".join(run.stderr.split())
    checkout.build()


def test_an_sdist_builds_the_same_wheel(
    checkout: Checkout, default_wheel: Wheel, tmp_path: Path
) -> None:
    subprocess.run(
        [sys.executable, "-m", "build", "--sdist", "--no-isolation", "-o", str(tmp_path)],
        cwd=checkout.path, env=clean_environment(), check=True, capture_output=True,
    )  # fmt: skip
    (archive,) = tmp_path.glob("amct_ops-1.0.0.tar.gz")
    with tarfile.open(archive) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
        sdist.extractall(tmp_path)
    assert {"CMakeLists.txt", "cmake/amct_backend.py", "sim/toolkit/bin/bisheng", KERNEL} <= names
    assert not any(name.startswith(("build/", "dist/")) for name in names)
    wheel, _ = Checkout(tmp_path / "amct_ops-1.0.0").build()
    assert wheel.name == default_wheel.name
    other = wheel.files()
    assert [n for n, content in default_wheel.files().items() if other.get(n) != content] == []


@pytest.fixture(scope="module")
def installed(default_wheel: Wheel, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment that sees this one's torch, with the wheel; returns its python."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    target = next((folder / "lib").glob("python*/site-packages"))
    here = subprocess.run(
        [sys.executable, "-c", "import os, torch; print(os.path.dirname(torch.__path__[0]))"],
        env={**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip
    # Their own amct_ops must not be seen: link the packages, do not add the folder.
    for package in Path(here).iterdir():
        if not package.name.startswith(("amct_ops", "_amct", "__pycache__")):
            (target / package.name).symlink_to(package)
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", str(target),
         "--upgrade", str(default_wheel.path)],
        check=True, capture_output=True,
    )  # fmt: skip
    return python


def run_python(
    python: Path, code: str, **environment: str | None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(python), "-c", code], capture_output=True, text=True, check=False, cwd="/",
        env=clean_environment(**environment),
    )  # fmt: skip


USE = """
x = torch.tensor([1.0, -0.5, 1e9], dtype=torch.bfloat16, device="npu")
print(torch.ops.amct.encode_to_hifloat8(x).tolist())
"""


@pytest.mark.parametrize(
    "imports",
    [
        "import torch; import amct_ops",
        "import amct_ops; import torch",
        "import torch_npu; import amct_ops.hifloat8_cast; import torch",
        "import amct_ops.hifloat8_cast as op; import torch; assert op.encode_to_hifloat8",
        "import torch; import torch_npu; from amct_ops import hifloat8_cast",
    ],
)
def test_imports_in_any_order(installed: Path, imports: str) -> None:
    run = run_python(installed, imports + USE)
    assert run.returncode == 0, run.stderr
    assert run.stdout.splitlines()[-1] == "[8, 152, 110]"


def test_the_wheel_lists_its_operators(installed: Path, default_wheel: Wheel) -> None:
    run = run_python(installed, "import amct_ops; print(amct_ops.__all__, amct_ops.__version__)")
    operators = sorted(default_wheel.manifest()["operators"])
    assert run.stdout == f"{operators} 1.0.0+sim.dav2201\n", run.stderr
    run = run_python(installed, "import amct_ops, torch; torch.ops.amct.nope")
    assert "amct_ops 1.0.0+sim.dav2201 has no such function. It has: decode_from" in run.stderr


def test_python_starts_without_loading_anything(installed: Path) -> None:
    code = (
        "import sys; print([m for m in ('torch', 'ctypes', 'typing', 'json') if m in sys.modules])"
    )
    assert run_python(installed, code).stdout == "[]\n"


def test_looking_for_torch_npu_imports_nothing(installed: Path) -> None:
    code = (
        "import importlib.util, os, sys\n"
        "for name in ('torch', 'torch_npu'): assert importlib.util.find_spec(name)\n"
        "assert 'ctypes' not in sys.modules and 'ASCEND_HOME_PATH' not in os.environ\n"
        "import torch_npu, amct_ops, torch\n"
        "assert 'ASCEND_HOME_PATH' not in os.environ\n"
    )
    run = run_python(installed, code + USE)
    assert run.stdout.splitlines()[-1:] == ["[8, 152, 110]"], run.stderr


def test_real_cann_is_left_alone(installed: Path, tmp_path: Path) -> None:
    hooks = "import amct_ops._sim.boot as b; print(b.has_cann())"
    assert run_python(installed, hooks).stdout == "False\n"
    assert run_python(installed, hooks, ASCEND_HOME_PATH=str(tmp_path)).stdout == "True\n"
    (tmp_path / "libascendcl.so").touch()
    assert run_python(installed, hooks, LD_LIBRARY_PATH=f"/x:{tmp_path}").stdout == "True\n"


def test_show(installed: Path) -> None:
    run = subprocess.run(
        [str(installed), "-m", "amct_ops"], capture_output=True, text=True, check=False, cwd="/",
        env=clean_environment(),
    )  # fmt: skip
    assert run.returncode == 0, run.stdout + run.stderr
    assert "device: Ascend910B3, dav-2201, simulated" in run.stdout
    assert (
        "encode_to_hifloat8(Tensor x, *, bool saturate=True) -> Tensor  [PrivateUse1, Meta]"
        in run.stdout
    )


def test_a_device_without_a_library_is_refused_with_the_reasons(installed: Path) -> None:
    run = run_python(installed, "import amct_ops.hifloat8_cast", AMCT_SIM_SOC="Ascend950PR_9599")
    assert run.returncode != 0
    message = run.stderr.splitlines()[-1]
    for part in (
        "ImportError: ",
        "no library for this device, Ascend950PR_9599 (dav-3510)",
        "dav-2201 is for ascend910b, ascend910_93",
        "bash ops_build.sh --soc ascend950 hifloat8_cast",
    ):
        assert part in run.stderr, message


@pytest.fixture
def manifest_file(installed: Path):
    (file,) = installed.parent.parent.glob("lib/python*/site-packages/amct_ops/_manifest.json")
    text = file.read_text()
    yield file
    file.write_text(text)


def test_another_torch_is_refused(installed: Path, manifest_file: Path) -> None:
    manifest = json.loads(manifest_file.read_text())
    manifest["torch"] = "2.12.1"
    manifest_file.write_text(json.dumps(manifest))
    run = run_python(installed, "import amct_ops.hifloat8_cast")
    assert "was built against torch 2.12.1, but torch 2.13.0" in run.stderr
    assert "pip install 'torch==2.12.*'" in run.stderr


def test_a_damaged_library_is_refused(installed: Path, manifest_file: Path) -> None:
    manifest = json.loads(manifest_file.read_text())
    entry = manifest["operators"]["hifloat8_cast"]["npu_archs"]["dav-2201"]
    entry["sha256"] = "0" * 64
    manifest_file.write_text(json.dumps(manifest))
    run = run_python(installed, "import amct_ops.hifloat8_cast")
    assert "libhifloat8_cast_ops.so is damaged" in run.stderr
    assert "pip install --force-reinstall" in run.stderr


def test_the_source_tree_does_not_hide_the_installation(
    installed: Path, checkout: Checkout, default_wheel: Wheel
) -> None:
    (packages,) = installed.parent.parent.glob("lib/python*/site-packages")
    run = subprocess.run(
        [str(installed), "-S", "-c",
         f"import sys; sys.path += [{str(checkout.path)!r}, {str(packages)!r}]; "
         "import amct_ops; print(amct_ops.__file__, amct_ops.__all__)"],
        capture_output=True, text=True, check=False, env=clean_environment(), cwd="/",
    )  # fmt: skip
    assert str(checkout.path) in run.stdout, run.stderr
    operators = sorted(default_wheel.manifest()["operators"])
    assert run.stdout.endswith(f" {operators}\n"), run.stderr
