"""The rules of an operator, each a function from plain data to the list of what breaks it.

`probe` observes the data; test_operators.py applies the checks to the real operators, and
test_checks.py to broken data, which each of them must find. docs/operators.md explains the rules.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from typing import Any

import torch

FORBIDDEN_KEYS = ("CPU", "CUDA", "CompositeImplicitAutograd", "CompositeExplicitAutograd")
# Folders and files that belong to torch, torch_npu and ACL.
FOREIGN = re.compile(
    r"(?:torch|torch_npu|ATen|c10|caffe2|acl|aclnn|aclnnop|hccl)|(?:acl|aclnn|torch)_?\w*\.h(?:pp)?"
)
# What changes a tensor's layout, dtype or device, or its values; the kernels do that.
CHANGING = frozenset((
    "bfloat16", "bool", "byte", "char", "clone", "contiguous", "copy_", "cpu", "cuda", "double",
    "expand", "flatten", "float", "half", "int", "long", "movedim", "npu", "npu_dtype_cast",
    "npu_format_cast", "pad", "permute", "ravel", "repeat", "reshape", "reshape_as", "short",
    "squeeze", "swapaxes", "t", "to", "transpose", "type", "type_as", "unflatten", "unsqueeze",
    "view", "view_as",
))  # fmt: skip


def dispatch(function: str, keys: Iterable[str]) -> list[str]:
    """A function has kernels for the NPU and for shapes, and for nothing else."""
    keys = set(keys)
    missing = [key for key in ("PrivateUse1", "Meta") if key not in keys]
    extra = [key for key in FORBIDDEN_KEYS if key in keys]
    return [
        *(f"{function} has no {key} kernel: m.impl() it in register.cpp" for key in missing),
        *(f"{function} has a {key} kernel; remove it from register.cpp" for key in extra),
    ]


def meta_equals_real(function: str, samples: Iterable[Mapping[str, Any]]) -> list[str]:
    """The Meta kernel gives the shape, strides and dtype of what the NPU's kernel returns."""
    return [
        f"{function}, sample {sample['name']!r}: the Meta kernel says {sample['meta']}, the real "
        f"one returns {sample['real']}"
        for sample in samples
        if sample["meta"] != sample["real"]
    ]


def _name(schema: str) -> str:
    return schema.split("(")[0]


def schemas(operator: str, recorded: str, present: Iterable[str]) -> list[str]:
    """The functions have the recorded schemas; `recorded` is the text of schema.txt."""
    file = f"ops/{operator}/schema.txt"
    old = {_name(line): line.strip() for line in recorded.splitlines() if line.strip()}
    new = {_name(schema): schema for schema in present}
    problems = []
    for name, schema in new.items():
        if name not in old:
            problems.append(f"{name} is new; record it: add the line to {file}:\n{schema}")
            continue
        before = torch._C.parse_schema(f"amct::{old[name]}")
        after = torch._C.parse_schema(f"amct::{schema}")
        if before == after:
            continue
        change = f"\n  recorded  {old[name]}\n  now       {schema}"
        if after.is_backward_compatible_with(before):
            problems.append(
                f"{name} has changed, and old calls still work; record it: replace its line in "
                f"{file}{change}"
            )
        else:
            problems.append(
                f"{name} has changed so that old calls break. Keep it as it was, and add a new "
                f"function for what is new{change}"
            )
    problems += [
        f"{name} is gone, so old calls break. Keep it: {schema}"
        for name, schema in old.items()
        if name not in new
    ]
    return problems


_DTYPES = {str(value)[6:] for value in vars(torch).values() if isinstance(value, torch.dtype)}
_DTYPE = re.compile(r"\b(?:" + "|".join(sorted(_DTYPES)) + r")\b")


def documented_dtypes(doc: str, argument: str) -> set[str] | None:
    """Return the dtypes that the docstring's Args section names for `argument`; None without it."""
    section = re.search(r"^Args:\n((?:[ \t]+.*\n|\n)*)", doc + "\n", re.M)
    entry = section and re.search(
        rf"^([ \t]+){re.escape(argument)}(?: \([^)]*\))?:((?:.*\n)(?:\1[ \t]+.*\n|\n)*)",
        section[1],
        re.M,
    )
    return set(_DTYPE.findall(entry[2])) if entry else None


def dtypes(function: str, seen: Mapping[str, Any]) -> list[str]:
    """The docstring names exactly the dtypes that both kernels accept; the others are refused."""
    if not seen["doc"]:
        return [f"the Python function {function} is missing, or has no docstring"]
    problems = []
    for argument, real in seen["accepted"]["npu"].items():
        named = documented_dtypes(seen["doc"], argument)
        if named is None:
            problems.append(f"{function}: the docstring has no entry {argument!r} below 'Args:'")
            continue
        accepted = set(real)
        meta = set(seen["accepted"]["meta"][argument])
        for wrong, what in (
            (accepted - named, "is accepted, but the docstring's entry does not name it"),
            (named - accepted, "is named by the docstring's entry, but not accepted"),
            (accepted - meta, "is accepted by the NPU's kernel and refused by the Meta kernel"),
            (meta - accepted, "is refused by the NPU's kernel and accepted by the Meta kernel"),
        ):
            problems += [f"{function}, argument {argument}: {one} {what}" for one in sorted(wrong)]
    problems += [
        f"{function} refuses a dtype without saying who it is: {text!r}"
        for text in seen["refusals"]
        if not re.search(rf"\b{function}\b", text)
    ]
    return problems


def coverage(function: str, seen: Mapping[str, Any], cases: Iterable[str]) -> list[str]:
    """The samples show each accepted dtype, strides and an empty tensor; `cases`, the cost."""
    samples = seen["samples"]
    problems = []
    if function not in cases:
        problems.append(f"{function} has no performance case")
    if not any(sample["empty"] for sample in samples):
        problems.append(f"{function} has no sample with an empty tensor")
    if all(sample["contiguous"] for sample in samples):
        problems.append(f"{function} has no sample with a tensor that is not contiguous")
    used: dict[str, set[str]] = {}
    for sample in samples:
        for argument, dtype in sample["dtypes"].items():
            used.setdefault(argument, set()).add(dtype)
    for argument, found in used.items():
        for dtype in sorted(set(seen["accepted"]["npu"][argument]) - found):
            problems.append(f"{function} has no sample whose {argument} is {dtype}")
    return problems


def budgets(operator: str, launches: Iterable[tuple[str, int, int, int | None, int]]) -> list[str]:
    """What each launch took of the Unified Buffer is what the operator's header says it takes."""
    problems = []
    for kernel, rows, columns, own, used in launches:
        if own is None:
            return [
                f"the library of {operator} does not export {operator}_ub_bytes(kernel, rows, "
                "columns): docs/operators.md says what it returns"
            ]
        if own != used:
            problems.append(
                f"{kernel} for {rows} rows of {columns} takes {used} bytes of the Unified Buffer, "
                f"{own} by the budget: correct the budget, or the buffers"
            )
    return problems


def kernel_includes(files: Mapping[str, str]) -> list[str]:
    """No file of op_kernel includes a header of torch, of ACL or of op_extension."""
    problems = []
    for name, text in files.items():
        code = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
        for header in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', code, re.M):
            parts = header.split("/")
            if "op_extension" in parts or any(FOREIGN.fullmatch(part) for part in parts):
                problems.append(f"{name} includes {header}: only op_extension/ may")
    return problems


def python_calls(files: Mapping[str, str]) -> list[str]:
    """The Python layer passes its tensors on as they are."""
    return [
        f"{name}:{node.lineno} calls {node.func.attr}(): the Python layer passes tensors on as "
        "they are, the kernels do the rest"
        for name, text in files.items()
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CHANGING
    ]


def imports(files: Mapping[str, str]) -> list[str]:
    """Nothing imports amct_pytorch: it imports amct_ops."""
    problems = []
    for name, text in files.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            elif isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
                called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                if called not in ("import_module", "__import__"):
                    continue
                modules = [str(a.value) for a in node.args if isinstance(a, ast.Constant)]
            else:
                continue
            problems += [
                f"{name}:{node.lineno} imports {module}: amct_pytorch imports amct_ops, never the "
                "reverse"
                for module in modules
                if module.split(".")[0] == "amct_pytorch"
            ]
    return problems


def translation(english: str, chinese: str) -> list[str]:
    """A translated README has the headings, tables, names and numbers of the original."""

    def facts(text: str) -> dict[str, list[str]]:
        lines = text.splitlines()
        return {
            "levels of headings": [m[0] for line in lines if (m := re.match(r"#+(?= )", line))],
            "cells of tables": [str(line.count("|")) for line in lines if line.startswith("|")],
            "code": sorted(set(re.findall(r"`[^`\n]+`", text))),
            "numbers": sorted(set(re.findall(r"0x[0-9A-F]+|(?<![\w.-])\d[\d.]*\b", text))),
        }

    theirs = facts(chinese)
    return [
        f"the {what} differ: {ours} in README.md, {theirs[what]} in README.zh-CN.md"
        for what, ours in facts(english).items()
        if ours != theirs[what]
    ]
