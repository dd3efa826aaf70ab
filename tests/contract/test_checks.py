"""Each check finds what it is there for: good data passes, and each way to break it is reported."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
import torch_npu  # noqa: F401

import amct_ops.hifloat8_cast  # noqa: F401 - torch.ops.amct
from tests.contract import checks, probe, samples

DOC = """Do something.

Args:
    x: float16 or
        bfloat16 on an NPU.
    mode (str): "float32" is not a dtype of x.

    dtype: torch.float16; None is
        bfloat16.

Returns:
    float64.
"""
OUTPUT = {"shape": [3, 4], "stride": [4, 1], "dtype": "uint8"}
SEEN: dict[str, Any] = {
    "doc": DOC,
    "samples": [
        {"name": "a", "real": [OUTPUT], "meta": [OUTPUT], "dtypes": {"x": "float16"},
         "empty": True, "contiguous": True},
        {"name": "b", "real": [OUTPUT], "meta": [OUTPUT], "dtypes": {"x": "bfloat16"},
         "empty": False, "contiguous": False},
    ],
    "accepted": {
        device: {"x": ["bfloat16", "float16"], "dtype": ["bfloat16", "float16"]}
        for device in ("npu", "meta")
    },
    "refusals": ["f: x has dtype Float"],
}  # fmt: skip


def broken(change: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    seen: dict[str, Any] = json.loads(json.dumps(SEEN))  # no part is there twice
    change(seen)
    return seen


def finds(problems: list[str], text: str) -> None:
    assert len(problems) == 1 and text in problems[0], problems


class TestDispatch:
    def test_the_two_kernels(self) -> None:
        assert checks.dispatch("f", ["PrivateUse1", "Meta"]) == []
        finds(checks.dispatch("f", ["PrivateUse1"]), "f has no Meta kernel")
        finds(checks.dispatch("f", ["Meta"]), "f has no PrivateUse1 kernel")

    @pytest.mark.parametrize("key", checks.FORBIDDEN_KEYS)
    def test_no_other(self, key: str) -> None:
        finds(checks.dispatch("f", ["PrivateUse1", "Meta", key]), f"f has a {key} kernel")


class TestMeta:
    @pytest.mark.parametrize(
        ("key", "value"), [("shape", [4, 3]), ("stride", [1, 3]), ("dtype", "int8")]
    )
    def test_shape_strides_and_dtype(self, key: str, value: object) -> None:
        assert checks.meta_equals_real("f", SEEN["samples"]) == []
        wrong = broken(lambda seen: seen["samples"][1]["meta"][0].update({key: value}))
        finds(checks.meta_equals_real("f", wrong["samples"]), "f, sample 'b': the Meta kernel says")

    def test_number_of_results(self) -> None:
        wrong = broken(lambda seen: seen["samples"][0]["meta"].append(OUTPUT))
        finds(checks.meta_equals_real("f", wrong["samples"]), "sample 'a'")


class TestSchemas:
    OLD = "f(Tensor x, *, bool s=True) -> Tensor"

    def check(self, *present: str) -> list[str]:
        return checks.schemas("op", self.OLD + "\n", present)

    def test_the_recorded_ones_pass(self) -> None:
        assert self.check(self.OLD) == []

    @pytest.mark.parametrize(
        "new",
        [
            "f(Tensor x, *, bool s=False) -> Tensor",
            "f(Tensor x, *, bool s) -> Tensor",
            "f(Tensor x, *, bool s=True, int k) -> Tensor",
            "f(Tensor y, *, bool s=True) -> Tensor",
            "f(Tensor x, *, str s='a') -> Tensor",
            "f(Tensor x) -> Tensor",
            "f(Tensor x, *, bool s=True) -> (Tensor, Tensor)",
            "f(Tensor(a!) x, *, bool s=True) -> Tensor",
        ],
    )
    def test_what_breaks_old_calls_needs_a_new_function(self, new: str) -> None:
        finds(self.check(new), "add a new function")

    @pytest.mark.parametrize(
        "new",
        [
            "f(Tensor x, *, bool s=True, int k=1) -> Tensor",
            "f(Tensor x, bool s=True) -> Tensor",
            "f(Tensor? x, *, bool s=True) -> Tensor",
        ],
    )
    def test_what_old_calls_do_not_notice_is_to_be_recorded(self, new: str) -> None:
        (problem,) = self.check(new)
        assert "replace its line in ops/op/schema.txt" in problem
        assert new in problem and "add a new function" not in problem

    def test_a_new_function_is_to_be_recorded(self) -> None:
        new = "g(Tensor x) -> Tensor"
        finds(self.check(self.OLD, new), f"add the line to ops/op/schema.txt:\n{new}")

    def test_a_function_that_is_gone(self) -> None:
        finds(self.check(), "f is gone")

    def test_nothing_recorded(self) -> None:
        finds(checks.schemas("op", "", [self.OLD]), "f is new; record it")


class TestDtypes:
    def test_what_a_docstring_names(self) -> None:
        assert checks.documented_dtypes(DOC, "x") == {"float16", "bfloat16"}
        assert checks.documented_dtypes(DOC, "dtype") == {"float16", "bfloat16"}
        assert checks.documented_dtypes(DOC, "y") is None
        assert checks.documented_dtypes("x: float16", "x") is None
        assert checks.dtypes("f", SEEN) == []

    def test_accepted_and_not_named(self) -> None:
        def change(seen: dict[str, Any]) -> None:
            for device in ("npu", "meta"):
                seen["accepted"][device]["x"].append("float32")

        finds(checks.dtypes("f", broken(change)), "x: float32 is accepted, but the docstring")

    def test_named_and_not_accepted(self) -> None:
        def change(seen: dict[str, Any]) -> None:
            for device in ("npu", "meta"):
                seen["accepted"][device]["dtype"].remove("float16")

        finds(checks.dtypes("f", broken(change)), "dtype: float16 is named by the docstring")

    def test_the_two_kernels_differ(self) -> None:
        wrong = broken(lambda seen: seen["accepted"]["meta"]["x"].remove("float16"))
        finds(checks.dtypes("f", wrong), "x: float16 is accepted by the NPU's kernel and refused")
        wrong = broken(lambda seen: seen["accepted"]["meta"]["x"].append("int8"))
        finds(checks.dtypes("f", wrong), "x: int8 is refused by the NPU's kernel and accepted")

    def test_no_docstring_and_no_entry(self) -> None:
        finds(checks.dtypes("f", broken(lambda seen: seen.update(doc=None))), "no docstring")
        text = DOC.replace("    x:", "    y:")
        finds(checks.dtypes("f", broken(lambda seen: seen.update(doc=text))), "no entry 'x'")

    def test_a_refusal_that_does_not_say_whose_it_is(self) -> None:
        wrong = broken(lambda seen: seen["refusals"].append("expected Half"))
        finds(checks.dtypes("f", wrong), "'expected Half'")


class TestCoverage:
    def test_complete(self) -> None:
        assert checks.coverage("f", SEEN, ["f"]) == []

    @pytest.mark.parametrize(
        ("change", "text"),
        [
            (lambda s: s["samples"][0].update(empty=False), "no sample with an empty tensor"),
            (lambda s: s["samples"][1].update(contiguous=True), "that is not contiguous"),
            (lambda s: s["samples"][1].update(dtypes={"x": "float16"}), "whose x is bfloat16"),
        ],
    )
    def test_a_missing_sample(self, change: Callable[[dict[str, Any]], object], text: str) -> None:
        finds(checks.coverage("f", broken(change), ["f"]), text)

    def test_no_performance_case(self) -> None:
        finds(checks.coverage("f", SEEN, ["g"]), "f has no performance case")

    def test_no_sample_at_all(self) -> None:
        none = broken(lambda seen: seen["samples"].clear())
        assert len(checks.coverage("f", none, ["f"])) == 2


class TestBudgets:
    def test_what_is_used(self) -> None:
        assert checks.budgets("op", [("k", 1, 64, 512, 512)]) == []
        finds(checks.budgets("op", [("k", 1, 64, 512, 544)]), "takes 544 bytes")
        finds(checks.budgets("op", [("k", 1, 64, None, 512)]), "does not export op_ub_bytes")


class TestFiles:
    @pytest.mark.parametrize(
        "header",
        ["torch/library.h", "ATen/ATen.h", "c10/util/Half.h", "acl/acl.h", "acl_rt.h",
         "torch_npu/csrc/core/npu/NPUStream.h", "third_party/acl/inc/acl/acl_base.h",
         "aclnnop/aclnn_add.h", "../op_extension/ops.h"],
    )  # fmt: skip
    def test_a_kernel_that_includes_what_is_not_for_it(self, header: str) -> None:
        for line in (f"#include <{header}>", f'  #  include "{header}"'):
            finds(checks.kernel_includes({"k.h": f"#pragma once\n{line}\n"}), f"includes {header}")

    def test_a_kernel_that_includes_what_it_may(self) -> None:
        text = (
            '#include <cstdint>\n#include "kernel_operator.h"\n#include "op_tiling.h"\n'
            "// #include <torch/library.h>\n/*\n#include <acl/acl.h>\n*/\n"
        )
        assert checks.kernel_includes({"k.h": text}) == []

    @pytest.mark.parametrize(
        "call",
        ["x.contiguous()", "x.reshape(-1)", "torch.reshape(x, (-1,))", "x.to(torch.float16)",
         "x.half()", "x.view(torch.uint8)", "torch_npu.npu_dtype_cast(x, 1)"],
    )  # fmt: skip
    def test_a_python_layer_that_changes_its_tensors(self, call: str) -> None:
        text = f"def f(x):\n    return torch.ops.amct.f({call})\n"
        finds(checks.python_calls({"ops.py": text}), "ops.py:2 calls")

    def test_a_python_layer_that_passes_on(self) -> None:
        text = 'def f(x):\n    """x.contiguous()"""\n    return torch.ops.amct.f(x, float(1))\n'
        assert checks.python_calls({"ops.py": text}) == []

    @pytest.mark.parametrize(
        "line",
        ["import amct_pytorch", "import torch, amct_pytorch.quant as q",
         "from amct_pytorch import x", "from amct_pytorch.quant import x",
         'importlib.import_module("amct_pytorch.x")', '__import__("amct_pytorch")'],
    )  # fmt: skip
    def test_an_import_of_what_is_built_on_it(self, line: str) -> None:
        finds(checks.imports({"ops.py": f"def f():\n    {line}\n"}), "ops.py:2 imports amct_pyt")

    def test_other_imports(self) -> None:
        text = "import torch\nfrom amct_ops import _loader\nfrom . import amct_pytorch_like\n"
        assert checks.imports({"ops.py": text}) == []


class TestTranslation:
    TEXT = "# op\n\nSays 0x6F of 40960 by `f`.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"

    def test_the_same(self) -> None:
        assert checks.translation(self.TEXT, self.TEXT.replace("Says", "说")) == []

    @pytest.mark.parametrize(
        ("old", "new", "what"),
        [
            ("# op", "## op", "headings"),
            ("| 1 | 2 |\n", "", "cells of tables"),
            ("`f`", "`g`", "code"),
            ("0x6F", "0x6E", "numbers"),
            ("40960", "40961", "numbers"),
        ],
    )
    def test_a_difference(self, old: str, new: str, what: str) -> None:
        problems = checks.translation(self.TEXT, self.TEXT.replace(old, new))
        assert any(what in problem for problem in problems)


class TestProbe:
    """The probe sees what is wrong with an operator that is there."""

    @pytest.fixture
    def function(self) -> Iterator[Any]:
        library = torch.library.Library("amct", "FRAGMENT")
        library.define("broken_operator(Tensor x, ScalarType? dtype=None) -> Tensor")

        def real(x: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
            if x.dtype not in (torch.float16, torch.int8):
                raise RuntimeError("broken_operator: x has another dtype")
            return torch.empty_like(x)

        def meta(x: torch.Tensor, dtype: torch.dtype | None = None) -> torch.Tensor:
            if x.dtype != torch.float16:
                raise RuntimeError("another dtype")
            return x.new_empty(x.shape)

        library.impl("broken_operator", real, "PrivateUse1")
        library.impl("broken_operator", meta, "Meta")
        library.impl("broken_operator", real, "CPU")
        yield probe._Function("hifloat8_cast", "broken_operator")
        library._destroy()

    def test_it_is_seen(self, function: Any) -> None:
        x = torch.zeros(4, 6, dtype=torch.float16, device="npu")
        for name, view in samples.layouts(x).items():
            sample = samples.Sample("broken_operator", name, (view,))
            function.run(sample)
            function.try_dtypes(sample)
        seen = function.seen()
        finds(checks.dispatch("broken_operator", seen["keys"]), "has a CPU kernel")
        finds(checks.meta_equals_real("broken_operator", seen["samples"]), "sample 'transposed'")
        assert seen["accepted"]["npu"]["x"] == ["float16", "int8"]
        assert seen["accepted"]["meta"]["x"] == ["float16"]
        assert "another dtype" in seen["refusals"]
        assert seen["doc"] is None

    def test_an_operator_without_samples(self, tmp_path: Path, monkeypatch: Any) -> None:
        monkeypatch.setattr(samples, "ROOT", tmp_path)
        with pytest.raises(FileNotFoundError, match=r"some_op.samples\.py is missing"):
            samples.load("some_op")

    def test_operators_are_discovered(self, tmp_path: Path, monkeypatch: Any) -> None:
        monkeypatch.setattr(samples, "ROOT", tmp_path)
        for name in ("second", "first"):
            (tmp_path / "ops" / name).mkdir(parents=True)
            (tmp_path / "ops" / name / "CMakeLists.txt").touch()
        (tmp_path / "ops" / "__pycache__").mkdir()
        assert samples.operators() == ["first", "second"]

    def test_one_failing_operator_is_reported_alone(self, monkeypatch: Any) -> None:
        everything = {"good": {"functions": {}}, "bad": {"error": "Traceback: boom"}}
        monkeypatch.setattr(probe, "_observe_all", lambda arch: everything)
        assert probe.observe("good", "dav-2201") == {"functions": {}}
        with pytest.raises(RuntimeError, match=r"bad cannot be observed on dav-2201:\n.*boom"):
            probe.observe("bad", "dav-2201")
