"""Make `import torch` find the simulated runtime; run by a .pth file at each start of Python.

torch loads torch_npu by itself, and torch_npu cannot load without CANN's libraries. The loader
takes a library that is in the process already by its soname, so it is enough to load the simulated
ones before torch. A machine with real CANN is left alone.
"""

import os
import sys

from amct_ops._import_hook import before_import

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
    """Return whether this process is set up for a toolkit, real or simulated, by environment."""
    if os.environ.get("ASCEND_HOME_PATH"):
        return True
    folders = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    return any(os.path.exists(os.path.join(f, "libascendcl.so")) for f in folders if f)


def preload() -> None:
    """Load the simulated runtime into this process."""
    import ctypes  # costs more than the rest of an interpreter's start

    for name in LIBRARIES:
        ctypes.CDLL(os.path.join(toolkit(), "lib64", name))


if not has_cann():
    # torch_npu imports torch itself; whichever comes first.
    for module in ("torch", "torch_npu"):
        if module not in sys.modules:
            before_import(module, preload)
