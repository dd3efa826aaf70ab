"""Make torch_npu find the simulated runtime; run by a .pth file at each start of Python.

`import torch` imports torch_npu, which cannot be loaded without CANN's libraries. The loader takes
a library that is in the process already by its soname, so it is enough to load the simulated ones
before. A machine with real CANN is left alone.
"""

import os
import sys

from amct_ops._import_hook import around_import

LIBRARIES = (
    "libascendcl.so",
    "libacl_op_compiler.so",
    "libhccl.so",
    "libge_runner.so",
    "libgraph.so",
    "libacl_tdt_channel.so",
)


def toolkit() -> str:
    """Return the folder of the installed simulated toolkit."""
    return os.path.join(os.path.dirname(__file__), "toolkit")


def has_cann() -> bool:
    """Return whether the environment names a toolkit, real or simulated."""
    if os.environ.get("ASCEND_HOME_PATH"):
        return True
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return any(os.path.exists(os.path.join(f, "libascendcl.so")) for f in folders if f)


class _Runtime:
    """What torch_npu needs while it is imported."""

    def __enter__(self) -> None:
        import ctypes  # costs more than the rest of an interpreter's start

        for name in LIBRARIES:
            ctypes.CDLL(os.path.join(toolkit(), "lib64", name))
        # torch_npu looks at these. They must not stay: to a build that this process starts they
        # would mean an installed CANN.
        os.environ["ASCEND_HOME_PATH"] = toolkit()
        os.environ["ASCEND_OPP_PATH"] = os.path.join(toolkit(), "opp")

    def __exit__(self, *_: object) -> None:
        for name in ("ASCEND_HOME_PATH", "ASCEND_OPP_PATH"):
            os.environ.pop(name, None)


if not has_cann() and "torch_npu" not in sys.modules:
    around_import("torch_npu", _Runtime())
