"""What a user reads who asked for something wrong: one message, and no wheel."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from .conftest import Checkout, clean_environment, copy_sources


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """Sources that these tests never build."""
    return copy_sources(tmp_path_factory.mktemp("errors") / "sources")


@pytest.fixture
def second_operator(sources: Checkout):
    folder = sources.path / "ops" / "second"
    shutil.copytree(sources.path / "ops" / "hifloat8_cast", folder)
    yield folder
    shutil.rmtree(folder)


def message(run) -> str:
    assert run.returncode != 0
    assert "Traceback" not in run.stderr
    return run.stderr


def test_unknown_soc_lists_the_known_ones(sources: Checkout) -> None:
    text = message(sources.plan(soc="ascend310"))
    assert "unknown SOC 'ascend310'" in text
    for name in ("ascend910b", "ascend910_93", "ascend950", "A2", "A3", "A5", "Ascend910_9391"):
        assert name in text


def test_unknown_soc_ends_pip_with_one_message_and_no_wheel(sources: Checkout) -> None:
    run = sources.pip_wheel("cmake.define.SOC=ascend310")
    assert run.returncode != 0
    assert run.stdout.count("unknown SOC 'ascend310'") == 1
    assert "Traceback" not in run.stdout
    assert "CMake" not in run.stdout
    assert not list(sources.path.glob("dist/*"))


def test_repeated_setting_is_named(sources: Checkout) -> None:
    run = sources.pip_wheel("cmake.define.SOC=ascend910b", "cmake.define.SOC=ascend950")
    assert "a repeated -C cmake.define.SOC" in run.stdout


def test_empty_soc(sources: Checkout) -> None:
    assert "SOC is empty" in message(sources.plan(soc=" ; "))


def test_unknown_operator_lists_the_known_ones(sources: Checkout) -> None:
    assert "unknown operator 'nope'. Operators in ops/: hifloat8_cast" in message(
        sources.plan(ops="hifloat8_cast;nope")
    )


def test_unknown_toolkit(sources: Checkout) -> None:
    assert "unknown TOOLKIT 'real'. Allowed: auto, cann, sim" in message(
        sources.plan(toolkit="real")
    )


def test_cann_without_cann_says_what_to_source(sources: Checkout) -> None:
    text = message(sources.plan(toolkit="cann"))
    assert "ASCEND_HOME_PATH is not set: source <CANN>/set_env.sh" in text


def test_cann_in_a_missing_folder(sources: Checkout) -> None:
    text = message(sources.plan(ASCEND_HOME_PATH="/nonexistent/cann"))
    assert "ASCEND_HOME_PATH=/nonexistent/cann is not a folder" in text


def test_cann_that_is_the_simulated_toolkit(sources: Checkout) -> None:
    home = str(sources.path / "sim" / "toolkit")
    assert "is a simulated toolkit" in message(sources.plan(toolkit="cann", ASCEND_HOME_PATH=home))
    assert sources.plan(ASCEND_HOME_PATH=home).returncode == 0


def test_no_compiler(sources: Checkout) -> None:
    text = message(sources.plan(CXX="no-such-compiler"))
    assert "no C++ compiler: looked for no-such-compiler. Install one" in text
    text = message(sources.plan(PATH="/nonexistent"))
    assert "looked for c++, g++, clang++" in text


def fake_package(folder: Path, name: str, version: str) -> None:
    (folder / name).mkdir(parents=True)
    (folder / name / "__init__.py").write_text("raise AssertionError('imported by the build')")
    (folder / name / "version.py").write_text(f"__version__ = '{version}'\n")


def test_torch_npu_that_does_not_match_torch(sources: Checkout, tmp_path: Path) -> None:
    fake_package(tmp_path, "torch", "2.13.0")
    fake_package(tmp_path, "torch_npu", "2.12.0")
    text = message(sources.plan(PYTHONPATH=str(tmp_path)))
    assert "torch_npu 2.12.0 does not match torch 2.13.0" in text
    assert "pip install 'torch_npu==2.13.*'" in text


def test_no_torch_without_isolation(sources: Checkout, tmp_path: Path) -> None:
    import subprocess
    import sys

    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "bare")], check=True
    )
    run = subprocess.run(
        [str(tmp_path / "bare" / "bin" / "python"), "cmake/amct_plan.py", "plan", "--soc", "A2",
         "--ops", "", "--toolkit", "auto", "--output", str(tmp_path / "plan.json")],
        cwd=sources.path, env=clean_environment(), capture_output=True, text=True, check=False,
    )  # fmt: skip
    text = message(run)
    assert "torch is not installed for" in text
    assert "pip install 'torch==2.13.*' 'torch_npu==2.13.*'" in text
    assert "without --no-build-isolation" in text


def test_operator_without_declaration(sources: Checkout, second_operator: Path) -> None:
    (second_operator / "CMakeLists.txt").unlink()
    assert "ops/second/CMakeLists.txt is missing" in message(sources.plan())
    assert sources.plan(ops="hifloat8_cast").returncode == 0


def test_two_operators_with_one_schema_name(sources: Checkout, second_operator: Path) -> None:
    text = message(sources.plan())
    assert (
        "amct::encode_to_hifloat8 is defined twice: in ops/hifloat8_cast and in ops/second" in text
    )


def test_operator_without_schema(sources: Checkout, second_operator: Path) -> None:
    register = second_operator / "op_extension" / "register.cpp"
    register.write_text('// m.def("commented(Tensor x) -> Tensor");\n')
    assert "defines no schema" in message(sources.plan())


def test_ops_build_refuses_unknown_options(sources: Checkout) -> None:
    import subprocess

    for arguments, text in (
        (["--sok", "A2"], "unknown option --sok"),
        (["--soc"], "needs a value"),
    ):
        run = subprocess.run(
            ["bash", "ops_build.sh", *arguments], cwd=sources.path, capture_output=True, text=True,
            check=False, env={"PATH": os.environ["PATH"]},
        )  # fmt: skip
        assert run.returncode == 2
        assert text in run.stderr
    run = subprocess.run(
        ["bash", "ops_build.sh", "--help"],
        cwd=sources.path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert "--soc <soc>" in run.stdout
