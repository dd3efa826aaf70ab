"""The protocol of ``ops/<op>/samples.py``: what an operator shows of itself to tests and documents.

Such a file defines two functions. Both make their tensors on `device` ("npu"), from fixed seeds:

    def samples(device: str) -> Iterator[Sample]:
        '''Calls that succeed: for each function each accepted dtype of each tensor, a tensor that
        is not contiguous, and an empty one.'''

    def performance(device: str) -> Iterator[Sample]:
        '''Calls that are large enough to cost what large tensors cost, at least one for each
        function; the name is what the table of estimates has in its column "case".'''

Samples of a function that an architecture lacks are left out there by the file itself; an operator
that it lacks altogether is not asked.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

import torch

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Sample:
    """One call, ``torch.ops.amct.<function>(*args, **kwargs)``.

    Attributes:
        function: the name of the function.
        name: tells the sample from the function's others.
        args, kwargs: of the call. The first argument is a tensor.
    """

    function: str
    name: str
    args: tuple[object, ...]
    kwargs: Mapping[str, object] = field(default_factory=dict)


def layouts(x: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return `x`, which has two dimensions, and views of its shape with other strides or offsets.

    All but "expanded", which repeats the first row, have the values of `x`.
    """
    rows, columns = x.shape
    wide = torch.empty(rows, 2 * columns, dtype=x.dtype, device=x.device)
    wide[:, ::2] = x
    shifted = torch.empty(x.numel() + 3, dtype=x.dtype, device=x.device)
    shifted[3:] = x.reshape(-1)
    return {
        "contiguous": x,
        "transposed": x.t().contiguous().t(),
        "every other column": wide[:, ::2],
        "storage offset": shifted[3:].view(rows, columns),
        "expanded": x[:1].expand(rows, columns),
    }


def operators() -> list[str]:
    """Return the names of all operators: the folders in ops/ that declare one."""
    return sorted(path.parent.name for path in (ROOT / "ops").glob("*/CMakeLists.txt"))


def load(operator: str) -> ModuleType:
    """Return the module ``ops/<operator>/samples.py``."""
    path = ROOT / "ops" / operator / "samples.py"
    spec = importlib.util.spec_from_file_location(f"samples_of_{operator}", path)
    if not path.is_file() or spec is None or spec.loader is None:
        raise FileNotFoundError(f"{path} is missing; tests/contract/samples.py says what it holds")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
