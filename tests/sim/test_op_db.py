"""torch's own catalogue of operators and samples, on the simulated device against the CPU."""

from __future__ import annotations

import itertools
import re
import unittest
from collections.abc import Callable, Iterator
from typing import Any

import torch
import torch_npu  # noqa: F401
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import OpInfo, SampleInput
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

SAMPLES = 8
PASS_RATE = 0.97
# An operator that does not run says so: what torch_npu itself refuses, on a real device too, and
# sparse kernels that it does not have.
CLEAR = re.compile(
    r"Only c10::MemoryFormat::Contiguous is supported for creating a npu tensor"
    r"|Could not run 'aten::\w+' with arguments from the 'Sparse(Csr)?npu' backend"
)

# (function, arguments, named arguments): what is called
Call = tuple[OpInfo, SampleInput, tuple[Any, ...], dict[str, Any]]


def to_cpu(value: Any) -> Any:
    """The same on the CPU; a tensor keeps its place in its storage."""
    if isinstance(value, torch.device):
        return torch.device("cpu")
    if isinstance(value, str) and value.startswith("npu"):
        return "cpu"
    if not isinstance(value, torch.Tensor) or value.device.type == "cpu":
        return value
    tensor = value.detach()
    if tensor.layout != torch.strided:
        return tensor.cpu().requires_grad_(value.requires_grad)
    tensor = tensor.resolve_conj().resolve_neg()
    place = tensor.storage_offset(), tensor.size(), tensor.stride()
    cpu = torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage().cpu(), *place)
    return cpu.requires_grad_(value.requires_grad)


class Recorder(TorchDispatchMode):
    """Finds out whether random numbers are drawn."""

    def __init__(self) -> None:
        super().__init__()
        self.random = False

    def __torch_dispatch__(
        self, function: Any, _: Any, arguments: Any = (), named: Any = None
    ) -> Any:
        self.random |= torch.Tag.nondeterministic_seeded in function.tags
        return function(*arguments, **(named or {}))


def tensors(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_leaves(value) if isinstance(leaf, torch.Tensor)]


# --- the ways to use an operator; each returns what is compared, or None where there is no such way


def result(op: OpInfo, _: SampleInput, arguments: Any, named: Any) -> Any:
    return op(*arguments, **named)


def in_place(op: OpInfo, sample: SampleInput, arguments: Any, named: Any) -> Any:
    if op.inplace_variant is None or sample.broadcasts_input:
        return None
    return op.inplace_variant(arguments[0].clone(), *arguments[1:], **named)


def out_of(shape: Callable[[torch.Tensor], Any]) -> Callable[..., Any]:
    def call(op: OpInfo, _: SampleInput, arguments: Any, named: Any) -> Any:
        plain = op(*arguments, **named) if op.supports_out else None
        if not isinstance(plain, torch.Tensor):
            return None
        out = torch.zeros(shape(plain), dtype=plain.dtype, device=plain.device)
        op(*arguments, **named, out=out)
        return out

    return call


def gradients(op: OpInfo, sample: SampleInput, arguments: Any, named: Any) -> Any:
    outputs = sample.output_process_fn_grad(op(*arguments, **named))
    sums = [t.abs().sum() for t in tensors(outputs) if t.requires_grad]
    inputs = [t for t in tensors((arguments, named)) if t.requires_grad]
    return torch.autograd.grad(sums, inputs, allow_unused=True) if sums else None


class OpDb(unittest.TestCase):
    def setUp(self) -> None:
        self.addCleanup(torch.set_num_threads, torch.get_num_threads())
        torch.set_num_threads(1)  # the samples are tiny
        torch.manual_seed(0)

    def check(self, way: Callable[..., Any], dtype: torch.dtype, samples: int = SAMPLES) -> None:
        problems = {op.full_name: self.problem_of(op, way, dtype, samples) for op in op_db}
        tried = [problem for problem in problems.values() if problem is not None]
        print(f"{self.id()}: {tried.count('')} of {len(tried)} operators")
        wrong = {name: text for name, text in problems.items() if text and not CLEAR.search(text)}
        self.assertEqual(wrong, {})
        self.assertGreaterEqual(tried.count(""), PASS_RATE * len(tried))

    def problem_of(
        self, op: OpInfo, way: Callable[..., Any], dtype: torch.dtype, samples: int
    ) -> str | None:
        """The first problem of an operator, "" if it has none, None if there is nothing to try."""
        differentiate = way is gradients
        if dtype not in (op.supported_backward_dtypes if differentiate else op.supported_dtypes)(
            "cpu"
        ):
            return None
        tried = False
        try:
            for sample in itertools.islice(
                op.sample_inputs("npu:0", dtype, requires_grad=differentiate), samples
            ):
                call = (op, sample, (sample.input, *sample.args), sample.kwargs)
                expected = self.on_cpu(way, call)
                if expected is not None:
                    tried = True
                    self.compare(way(*call), expected, way, call)
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return "" if tried else None

    @staticmethod
    def on_cpu(way: Callable[..., Any], call: Call) -> Any:
        """What the CPU makes of it, None if it fails: then there is nothing to compare with."""
        op, sample, arguments, named = call
        try:
            return way(op, sample, *tree_map(to_cpu, (arguments, named)))
        except Exception:
            return None

    def compare(self, actual: Any, expected: Any, way: Callable[..., Any], call: Call) -> None:
        op, _, arguments, named = call
        if tensors(arguments) and "device" not in named:
            self.assertLessEqual({t.device.type for t in tensors(actual)}, {"npu"})
        actual = tree_map(to_cpu, actual)
        try:
            torch.testing.assert_close(actual, expected, equal_nan=True)
        except AssertionError:
            with Recorder() as recorder:
                self.on_cpu(way, call)
            if not recorder.random and "empty" not in op.name:
                raise
            self.assertEqual(list(described(actual)), list(described(expected)))

    def test_float32(self) -> None:
        self.check(result, torch.float32)

    def test_bfloat16(self) -> None:
        self.check(result, torch.bfloat16)

    def test_gradients(self) -> None:
        self.check(gradients, torch.float32, samples=3)

    def test_in_place(self) -> None:
        self.check(in_place, torch.float32)

    def test_out(self) -> None:
        self.check(out_of(lambda plain: plain.shape), torch.float32)

    def test_out_that_is_resized(self) -> None:
        self.check(out_of(lambda _: 0), torch.float32)


def described(value: Any) -> Iterator[tuple[torch.Size, torch.dtype]]:
    return ((t.shape, t.dtype) for t in tensors(value))


if __name__ == "__main__":
    unittest.main()
