"""Observes the installed operators on one architecture, in a process of its own.

A process has one device, so the checks of an operator for another architecture need another one:
`observe` starts this file with AMCT_SIM_SOC and returns what it prints. No judgement is made here;
that is what `checks` does, with plain data that its own tests can change.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import inspect
import json
import os
import subprocess
import sys
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

import torch

from amct_ops import _loader, _manifest, _soc
from tests.contract.samples import ROOT, Sample, load, operators

BACKENDS = ("PrivateUse1", "Meta", "CPU", "CUDA", "CompositeImplicitAutograd",
            "CompositeExplicitAutograd")  # fmt: skip


def observe(operator: str, arch: str) -> dict[str, Any]:
    """Return what is seen of an operator on an architecture, see `_operator`.

    On hardware `arch` must be the architecture that is there.
    """
    seen: dict[str, Any] = _observe_all(arch)[operator]
    if "error" in seen:
        raise RuntimeError(f"{operator} cannot be observed on {arch}:\n{seen['error']}")
    return seen


@functools.cache
def _observe_all(arch: str) -> dict[str, Any]:
    (chip, *_) = (soc.chips[0].example for soc in _soc.SOCS if soc.npu_arch == arch)
    # Not a simulator that is set up otherwise, with another Unified Buffer for instance.
    environment = {k: v for k, v in os.environ.items() if not k.startswith("AMCT_SIM_")}
    run = subprocess.run(
        [sys.executable, "-m", "tests.contract.probe", arch],
        cwd=ROOT, env={**environment, "AMCT_SIM_SOC": chip}, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    if run.returncode != 0:
        raise RuntimeError(f"the operators of {arch} cannot be observed:\n{run.stderr}")
    observed: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return observed


@functools.cache
def targets() -> list[tuple[str, str]]:
    """Return (operator, architecture) of each library that this process' machine can run."""
    manifest = _manifest.read()
    device = _loader.find_device()
    here = device.soc.npu_arch if device.soc else None
    return [
        (name, arch)
        for name in operators()
        if name in manifest.operators
        for arch in manifest.operators[name].libraries
        if manifest.simulated or arch == here
    ]


def _like(x: torch.Tensor, device: str) -> torch.Tensor:
    """An empty tensor of the size, strides, dtype and offset of `x`."""
    if x.numel() == 0:
        return torch.empty_strided(x.size(), x.stride(), dtype=x.dtype, device=device)
    last = sum((size - 1) * stride for size, stride in zip(x.size(), x.stride()))
    storage = torch.empty(x.storage_offset() + last + 1, dtype=x.dtype, device=device)
    return storage.as_strided(x.size(), x.stride(), x.storage_offset())


def _call(function: str, arguments: dict[str, Any]) -> list[torch.Tensor]:
    results = getattr(torch.ops.amct, function).default(**arguments)
    return [results] if isinstance(results, torch.Tensor) else list(results)


def _to_meta(arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        name: _like(value, "meta") if isinstance(value, torch.Tensor) else value
        for name, value in arguments.items()
    }


def _describe(tensors: list[torch.Tensor]) -> list[dict[str, object]]:
    return [
        {"shape": list(t.shape), "stride": list(t.stride()), "dtype": str(t.dtype)[6:]}
        for t in tensors
    ]


@functools.cache
def _every_dtype() -> dict[str, torch.dtype]:
    found = {value for value in vars(torch).values() if isinstance(value, torch.dtype)}
    return {str(dtype)[6:]: dtype for dtype in sorted(found, key=str)}


@functools.cache
def _zeros(shape: tuple[int, ...], dtype: torch.dtype, device: str) -> torch.Tensor | None:
    """None where torch cannot make such a tensor."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of dtypes that torch is about to drop
        try:
            if device == "meta":
                return torch.empty(shape, dtype=dtype, device=device)
            return torch.zeros(shape, dtype=dtype).to(device)
        except (RuntimeError, TypeError):
            return None


def _others(
    arguments: dict[str, Any], types: dict[str, str], device: str
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Calls with one argument of another dtype: (argument, dtype, all arguments)."""
    for name, type_ in types.items():
        for key, dtype in _every_dtype().items():
            changed: Any = dtype
            if "Tensor" in type_:
                if not isinstance(arguments.get(name), torch.Tensor):
                    continue
                changed = _zeros(tuple(arguments[name].shape), dtype, device)
                if changed is None:
                    continue
            yield name, key, {**arguments, name: changed}


class _Function:
    """What is seen of one function while its samples run."""

    def __init__(self, operator: str, name: str) -> None:
        overload = getattr(torch.ops.amct, name).default
        wrapper = getattr(importlib.import_module(f"amct_ops.{operator}"), name, None)
        self.name = name
        self.schema = str(overload._schema).removeprefix("amct::")
        self.arguments = [a.name for a in overload._schema.arguments]
        # What takes a dtype: {argument: type of the schema}.
        self.types = {
            a.name: str(a.real_type)
            for a in overload._schema.arguments
            if str(a.real_type) in ("Tensor", "ScalarType")
            or str(a.real_type) in ("Optional[Tensor]", "Optional[ScalarType]")
        }
        self.doc = inspect.getdoc(wrapper)
        self.keys = [
            key
            for key in BACKENDS
            if torch._C._dispatch_has_kernel_for_dispatch_key(f"amct::{name}", key)
        ]
        self.samples: list[dict[str, Any]] = []
        self.accepted: dict[str, dict[str, set[str]]] = {
            device: {argument: set() for argument in self.types} for device in ("npu", "meta")
        }
        self.refusals: set[str] = set()
        self.tried: set[str] = set()

    def bind(self, sample: Sample) -> dict[str, Any]:
        return {**dict(zip(self.arguments, sample.args)), **sample.kwargs}

    def run(self, sample: Sample) -> list[torch.Tensor]:
        bound = self.bind(sample)
        results = _call(self.name, bound)
        inputs = {name: value for name, value in bound.items() if isinstance(value, torch.Tensor)}
        self.samples.append(
            {
                "name": sample.name,
                "real": _describe(results),
                "meta": _describe(_call(self.name, _to_meta(bound))),
                "dtypes": {name: str(x.dtype)[6:] for name, x in inputs.items()},
                "empty": any(x.numel() == 0 for x in inputs.values()),
                "contiguous": all(x.is_contiguous() for x in inputs.values()),
            }
        )
        return results

    def try_dtypes(self, sample: Sample) -> None:
        bound = self.bind(sample)
        plain = {
            name: value.contiguous() if isinstance(value, torch.Tensor) else value
            for name, value in bound.items()
        }
        key = repr(
            [
                (n, (tuple(v.shape), v.dtype) if isinstance(v, torch.Tensor) else v)
                for n, v in plain.items()
            ]
        )
        if key in self.tried:
            return
        self.tried.add(key)
        for device in ("npu", "meta"):
            base = plain if device == "npu" else _to_meta(plain)
            for argument, dtype, changed in _others(base, self.types, device):
                try:
                    _call(self.name, changed)
                    torch.npu.synchronize()
                    self.accepted[device][argument].add(dtype)
                except RuntimeError as error:
                    self.refusals.add(str(error).splitlines()[0])

    def seen(self) -> dict[str, Any]:
        return {
            "schema": self.schema,
            "doc": self.doc,
            "keys": self.keys,
            "samples": self.samples,
            "accepted": {
                device: {argument: sorted(dtypes) for argument, dtypes in found.items()}
                for device, found in self.accepted.items()
            },
            "refusals": sorted(self.refusals),
        }


def _size(x: torch.Tensor) -> tuple[int, int]:
    """Rows and columns."""
    columns = x.size(-1) if x.dim() else 1
    return (x.numel() // columns if columns else 0), columns


def _operator(operator: str, arch: str) -> dict[str, Any]:
    """Return what is seen of one operator.

    functions: {function: see `_Function.seen`}
    budgets: [kernel, rows, columns, UB bytes by the operator's own account or None, UB bytes used]
    performance: [{function, case, cycles, bound, ub_bytes}], cycles of one core for an element;
        only the first two on hardware
    """
    manifest = _manifest.read()
    declared = manifest.operators[operator]
    importlib.import_module(f"amct_ops.{operator}")
    functions = {name: _Function(operator, name) for name in declared.functions}
    library = ctypes.CDLL(str(_manifest.resource(declared.libraries[arch].path)))
    account = getattr(library, f"{operator}_ub_bytes", None)
    if account is not None:
        account.restype = ctypes.c_uint64
        account.argtypes = [ctypes.c_char_p, ctypes.c_uint64, ctypes.c_uint64]
    module = load(operator)
    budgets: set[tuple[str, int, int, int | None, int]] = set()
    performance: list[dict[str, Any]] = []

    for sample in module.samples("npu"):
        function = functions[sample.function]
        for launch in _launches(function, sample)[1]:
            budgets.add(_budget(launch, sample, account))
        function.try_dtypes(sample)
    for sample in module.performance("npu"):
        case: dict[str, Any] = {"function": sample.function, "case": sample.name}
        elements, launches = _launches(functions[sample.function], sample, keep=False)
        if launches:
            budgets.update(_budget(launch, sample, account) for launch in launches)
            case["cycles"] = sum(launch.cycles * launch.cores for launch in launches) / elements
            case["bound"] = max(launches, key=lambda launch: launch.cycles).bound
            case["ub_bytes"] = max(launch.ub_bytes for launch in launches)
        performance.append(case)
    return {
        "functions": {name: function.seen() for name, function in functions.items()},
        "budgets": sorted(budgets, key=str),
        "performance": performance,
    }


def _launches(function: _Function, sample: Sample, keep: bool = True) -> tuple[int, list[Any]]:
    """Run a sample; return the elements of its greatest tensor, and what its launches cost."""

    def call() -> list[torch.Tensor]:
        return function.run(sample) if keep else _call(sample.function, function.bind(sample))

    if not _manifest.read().simulated:
        call()
        return 0, []
    from amct_ops.sim import estimate

    with estimate() as cost:
        results = call()
    tensors = [*results, *(x for x in sample.args if isinstance(x, torch.Tensor))]
    return max(x.numel() for x in tensors), cost.launches


def _budget(launch: Any, sample: Sample, account: Any) -> tuple[str, int, int, int | None, int]:
    rows, columns = _size(sample.args[0])
    own = account(launch.kernel.encode(), rows, columns) if account is not None else None
    return launch.kernel, rows, columns, own, launch.ub_bytes


def main() -> None:
    """Print what is seen of all operators that have a library for the architecture."""
    (arch,) = sys.argv[1:]
    seen: dict[str, Any] = {}
    for name, known in targets():
        if known == arch:
            try:
                seen[name] = _operator(name, arch)
            except Exception:  # one operator's failure is not that of the others
                seen[name] = {"error": traceback.format_exc()}
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
