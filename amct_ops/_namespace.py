"""``torch.ops.amct``: loads an operator's library when one of its functions is first used."""

from __future__ import annotations

import importlib
from typing import Any

import torch
from torch._ops import _OpNamespace

from amct_ops import _manifest


class AmctNamespace(_OpNamespace):
    """``torch.ops.amct``."""

    def __getattr__(self, name: str) -> Any:
        """Return the function `name`, loading the operator that has it.

        Raises:
            AttributeError: no operator has it, or the one that has does not fit this machine.
        """
        if not name.startswith("__"):
            _load_operator_of(name)
        return super().__getattr__(name)


def _load_operator_of(function: str) -> None:
    if torch._C._dispatch_has_kernel(f"amct::{function}"):
        return
    manifest = _manifest.read()
    for operator in manifest.operators.values():
        if function in operator.functions:
            try:
                importlib.import_module(f"amct_ops.{operator.name}")
            except ImportError as error:
                # hasattr() must stay usable.
                raise AttributeError(f"torch.ops.amct.{function}: {error}") from error
            return
    functions = sorted(f for o in manifest.operators.values() for f in o.functions)
    raise AttributeError(
        f"torch.ops.amct.{function}: amct_ops {manifest.version} has no such function. It has: "
        f"{', '.join(functions)}"
    )


def install() -> None:
    """Put the namespace in its place."""
    torch.ops.amct = AmctNamespace("amct")
