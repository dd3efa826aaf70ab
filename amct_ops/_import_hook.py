"""Put something around the first import of a module, whenever that comes."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing's would cost each start of Python its import
if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from importlib.machinery import ModuleSpec
    from types import ModuleType


class _Hook:
    def __init__(self, module: str, context: AbstractContextManager[object]) -> None:
        self._module = module
        self._context = context

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._module:
            return None
        # Who only looks for the module does not import it: the loader does the rest.
        for finder in sys.meta_path:
            spec = None if finder is self else finder.find_spec(name, path, target)
            if spec is not None:
                self._wrap(spec.loader)
                return spec
        return None

    def _wrap(self, loader: object) -> None:
        execute = loader.exec_module  # type: ignore[attr-defined]

        def exec_module(module: ModuleType) -> None:
            if self in sys.meta_path:
                sys.meta_path.remove(self)
            with self._context:
                execute(module)

        loader.exec_module = exec_module  # type: ignore[attr-defined]


def around_import(module: str, context: AbstractContextManager[object]) -> None:
    """Run the code of `module` inside of `context` when it is imported first.

    If it is imported already, `context` is entered and left at once.
    """
    if module in sys.modules:
        with context:
            pass
    else:
        sys.meta_path.insert(0, _Hook(module, context))
