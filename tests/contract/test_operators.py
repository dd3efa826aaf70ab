"""Each operator in ops/, installed, keeps the rules; those of its kernels on each architecture."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from amct_ops import _manifest, _soc
from tests.contract import checks, probe
from tests.contract.samples import ROOT, operators

OPS = ROOT / "ops"
operator_of_each = pytest.mark.parametrize("operator", operators())
on_each_architecture = pytest.mark.parametrize(
    ("operator", "arch"), probe.targets(), ids=lambda value: str(value)
)


def texts(folder: Path, *patterns: str) -> dict[str, str]:
    found = {
        path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
        for pattern in patterns
        for path in sorted(folder.rglob(pattern))
    }
    assert found, f"{folder} holds no {', '.join(patterns)}"
    return found


def fail_with(problems: list[str]) -> None:
    assert not problems, "\n".join(problems)


@operator_of_each
def test_it_is_installed(operator: str) -> None:
    present = _manifest.read().operators
    assert operator in present, f"{operator} is not in the installed wheel: build it again"


@on_each_architecture
def test_it_has_kernels_for_the_npu_and_for_shapes_and_no_others(operator: str, arch: str) -> None:
    for name, function in probe.observe(operator, arch)["functions"].items():
        fail_with(checks.dispatch(name, function["keys"]))


@on_each_architecture
def test_shapes_strides_and_dtypes_are_known_before_it_runs(operator: str, arch: str) -> None:
    for name, function in probe.observe(operator, arch)["functions"].items():
        fail_with(checks.meta_equals_real(name, function["samples"]))


@on_each_architecture
def test_old_calls_still_work(operator: str, arch: str) -> None:
    file = OPS / operator / "schema.txt"
    recorded = file.read_text(encoding="utf-8") if file.is_file() else ""
    present = [
        function["schema"] for function in probe.observe(operator, arch)["functions"].values()
    ]
    fail_with(checks.schemas(operator, recorded, present))


@on_each_architecture
def test_the_docstring_names_the_dtypes_that_are_accepted(operator: str, arch: str) -> None:
    for name, function in probe.observe(operator, arch)["functions"].items():
        fail_with(checks.dtypes(name, function))


@on_each_architecture
def test_the_samples_show_all_that_is_accepted(operator: str, arch: str) -> None:
    observed = probe.observe(operator, arch)
    cases = [case["function"] for case in observed["performance"]]
    for name, function in observed["functions"].items():
        fail_with(checks.coverage(name, function, cases))


@pytest.mark.skipif(not _manifest.read().simulated, reason="measured by the simulator")
@on_each_architecture
def test_the_budget_of_the_unified_buffer_is_what_is_used(operator: str, arch: str) -> None:
    launches = probe.observe(operator, arch)["budgets"]
    assert launches, f"no sample of {operator} launches a kernel"
    fail_with(checks.budgets(operator, launches))


@operator_of_each
def test_kernels_know_neither_torch_nor_acl(operator: str) -> None:
    fail_with(checks.kernel_includes(texts(OPS / operator / "op_kernel", "*.h", "*.cpp", "*.asc")))


@operator_of_each
def test_the_python_layer_only_passes_on(operator: str) -> None:
    fail_with(checks.python_calls(texts(OPS / operator / "python", "*.py")))


@operator_of_each
def test_it_does_not_import_what_is_built_on_it(operator: str) -> None:
    fail_with(checks.imports(texts(OPS / operator, "*.py")))


def test_the_package_does_not_import_what_is_built_on_it() -> None:
    fail_with(checks.imports(texts(ROOT / "amct_ops", "*.py")))


@operator_of_each
def test_a_translated_readme_says_the_same(operator: str) -> None:
    chinese = OPS / operator / "README.zh-CN.md"
    if not chinese.is_file():
        pytest.skip(f"{operator} has no README.zh-CN.md")
    english = chinese.with_name("README.md").read_text(encoding="utf-8")
    fail_with(checks.translation(english, chinese.read_text(encoding="utf-8")))


def test_the_table_of_estimates_is_up_to_date() -> None:
    manifest = _manifest.read()
    built = {arch for operator in manifest.operators.values() for arch in operator.libraries}
    if not manifest.simulated or built != set(_soc.npu_archs()):
        pytest.skip("needs a simulated wheel of all operators and architectures")
    spec = importlib.util.spec_from_file_location("performance", ROOT / "docs/make_performance.py")
    assert spec is not None and spec.loader is not None
    performance = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(performance)
    committed = (ROOT / "docs/performance.md").read_text(encoding="utf-8")
    assert performance.document() == committed, "docs/performance.md is out of date: nox -s docs"
