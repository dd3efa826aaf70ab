"""AMCT's operators for Ascend NPUs, as ``torch.ops.amct.<fn>``.

>>> import torch
>>> import amct_ops
>>> amct_ops.__all__  # the operators of this installation
['hifloat8_cast']
>>> torch.ops.amct.encode_to_hifloat8(torch.ones(4, dtype=torch.bfloat16, device="npu"))
tensor([8, 8, 8, 8], device='npu:0', dtype=torch.uint8)

Importing this package loads no library. An operator's library is loaded with its package
(``import amct_ops.hifloat8_cast``), or when one of its functions is first used from
``torch.ops.amct``.
"""

from __future__ import annotations

import os
import sys

from amct_ops._import_hook import around_import


def _package_path() -> list[str]:
    """Return where the package's modules are: not in the source tree if there is an installed one.

    Python started in the source tree finds this file there, where no operator is built.
    """
    for folder in (*__path__, *(os.path.join(entry, "amct_ops") for entry in sys.path)):
        if os.path.isfile(os.path.join(folder, "_manifest.json")):
            return [folder]
    return __path__


class _ExtendTorch:
    """Gives torch its ``torch.ops.amct`` once it is imported."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, error: object, *_: object) -> None:
        if error is None:
            from amct_ops import _namespace  # needs torch

            _namespace.install()


__path__ = _package_path()
around_import("torch", _ExtendTorch())


def __getattr__(name: str) -> object:
    if name in ("__all__", "__version__"):
        from amct_ops import _manifest  # keep the start of Python light

        manifest = _manifest.read()
        return sorted(manifest.operators) if name == "__all__" else manifest.version
    public = not name.startswith("_")
    if public and (name == "sim" or name in __getattr__("__all__")):  # type: ignore[operator]
        import importlib

        return importlib.import_module(f"amct_ops.{name}")
    raise AttributeError(f"module 'amct_ops' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), *__getattr__("__all__")]  # type: ignore[misc]
