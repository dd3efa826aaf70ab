"""Run functions around the first import of a module, whenever that comes."""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # typing's would cost each start of Python its import
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


class _Hook:
    def __init__(
        self, module: str, before: Callable[[], None] | None, after: Callable[[], None] | None
    ) -> None:
        self._module = module
        self._before = before
        self._after = after

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._module:
            return None
        sys.meta_path.remove(self)
        if self._before is not None:
            self._before()
        if self._after is None:
            return None
        import importlib.util

        spec = importlib.util.find_spec(name)
        if spec is not None and spec.loader is not None:
            _call_after(spec.loader, self._after)
        return spec


def _call_after(loader: object, after: Callable[[], None]) -> None:
    execute = loader.exec_module  # type: ignore[attr-defined]

    def exec_module(module: ModuleType) -> None:
        execute(module)
        after()

    loader.exec_module = exec_module  # type: ignore[attr-defined]


def around_import(
    module: str,
    before: Callable[[], None] | None = None,
    after: Callable[[], None] | None = None,
) -> None:
    """Call `before` when `module` is first looked for, and `after` when it has been imported.

    Both are called at once if it is imported already.
    """
    if module in sys.modules:
        for function in (before, after):
            if function is not None:
                function()
    else:
        sys.meta_path.insert(0, _Hook(module, before, after))
