"""Finds and loads an operator's library for the device that is there, or says why there is none.

Everything is checked against the manifest before a library enters the process: a library for
another torch or another chip would fail with an undefined symbol, or compute garbage.
"""

from __future__ import annotations

import ctypes
import hashlib
import importlib
import re
from dataclasses import dataclass

from amct_ops import _manifest, _soc


@dataclass(frozen=True)
class Device:
    """The NPU of this process.

    Attributes:
        name: as ``aclrtGetSocName`` gives it; None where there is no device.
        simulated: whether the runtime is the simulated one.
    """

    name: str | None
    simulated: bool

    @property
    def soc(self) -> _soc.Soc | None:
        """Its entry in the SOC table; None if there is none."""
        return _soc.of_device(self.name) if self.name else None


def find_device() -> Device:
    """Return the device of this process without initialising it.

    A process that has used the NPU cannot fork any more, so an import must not.
    """
    import torch
    import torch_npu  # noqa: F401 - brings torch.npu

    runtime = ctypes.CDLL("libascendcl.so")  # loaded by torch_npu
    simulated = hasattr(runtime, "simProfile")
    if torch.npu.device_count() == 0:
        return Device(None, simulated)
    runtime.aclrtGetSocName.restype = ctypes.c_char_p
    name = runtime.aclrtGetSocName()
    return Device(name.decode() if name else None, simulated)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def check_torch() -> None:
    """Hold the installed torch and torch_npu against the manifest.

    Raises:
        ImportError: one is missing, or of another minor version than the wheel was built against.
    """
    manifest = _manifest.read()
    for name, built in (("torch", manifest.torch), ("torch_npu", manifest.torch_npu)):
        wanted = f"pip install '{name}=={_minor(built)}.*'"
        try:
            here = importlib.import_module(name).__version__
        except ModuleNotFoundError:
            raise ImportError(
                f"amct_ops {manifest.version} needs {name} {_minor(built)}, which is not "
                f"installed. Run: {wanted}"
            ) from None
        if _minor(here) != _minor(built):
            raise ImportError(
                f"amct_ops {manifest.version} was built against {name} {built}, but {name} {here} "
                f"is installed; their C++ interfaces differ. Run: {wanted}, or build amct_ops "
                "against the installed one: bash ops_build.sh"
            )


def check_toolkit(device: Device) -> None:
    """Hold the runtime of this process against the toolkit that the wheel was built with.

    Raises:
        ImportError: one is simulated, the other is not.
    """
    manifest = _manifest.read()
    if manifest.simulated and not device.simulated:
        raise ImportError(
            f"amct_ops {manifest.version} is simulated, but this process runs on real CANN. "
            "Install a wheel that was built with CANN, or start Python without ASCEND_HOME_PATH "
            "and CANN's LD_LIBRARY_PATH"
        )
    if device.simulated and not manifest.simulated:
        raise ImportError(
            f"amct_ops {manifest.version} was built with CANN {manifest.toolkit}, but this process "
            "runs on the simulated toolkit. Source CANN's set_env.sh instead"
        )


def unsupported(operator: _manifest.Operator, device: Device) -> str | None:
    """Return why no build of the operator can serve `device`; None if one can, or none is there."""
    soc = device.soc
    if soc is None or soc.name in operator.socs:
        return None
    needed = " or ".join(soc.label for soc in _soc.SOCS if soc.name in operator.socs)
    return f"{operator.name} requires {needed}; the device here is {device.name} ({soc.alias})"


def select(operator: _manifest.Operator, device: Device) -> _manifest.Library:
    """Return the operator's library for `device`.

    Without a device it is the first one: its Meta kernels serve export and compile. With a device
    that the operator does not support there is none, not for Meta kernels either: what would be
    traced on such a machine could not run there.

    Raises:
        ImportError: the operator does not support the device, or the wheel has no library for it;
            then the message lists each one with the reason.
    """
    if device.name is None:
        return next(iter(operator.libraries.values()))
    reason = unsupported(operator, device)
    if reason is not None:
        raise ImportError(reason)
    soc = device.soc
    for arch, library in operator.libraries.items():
        if soc is not None and arch == soc.npu_arch and soc.name in library.socs:
            return library
    here = f"{device.name} ({soc.npu_arch if soc else 'an unknown SOC'})"
    reasons = "; ".join(
        f"{arch} is for {', '.join(library.socs)}" for arch, library in operator.libraries.items()
    )
    build = f"bash ops_build.sh --soc {soc.name} {operator.name}" if soc else "bash ops_build.sh"
    raise ImportError(
        f"amct_ops.{operator.name} has no library for this device, {here}: {reasons}. To build "
        f"one: {build}"
    )


def load(name: str) -> None:
    """Load the library of the operator `name`; its functions are in ``torch.ops.amct`` then.

    Raises:
        ImportError: the wheel does not fit torch, the toolkit or the device, or is damaged.
    """
    operator = _manifest.read().operators[name]
    check_torch()
    import torch  # check_torch() has the better message

    device = find_device()
    check_toolkit(device)
    library = select(operator, device)
    file = _manifest.resource(library.path)
    if not file.is_file() or hashlib.sha256(file.read_bytes()).hexdigest() != library.sha256:
        raise ImportError(
            f"{file} is {'damaged' if file.is_file() else 'missing'}: it is not the library of "
            "this wheel. Run: pip install --force-reinstall --no-deps <the amct_ops wheel>"
        )
    torch.ops.load_library(str(file))


def dispatch_keys(function: str) -> list[str]:
    """Return those of the backends' dispatch keys that ``torch.ops.amct.<function>`` has."""
    import torch

    return [
        key
        for key in ("PrivateUse1", "Meta", "CPU", "CUDA")
        if torch._C._dispatch_has_kernel_for_dispatch_key(
            f"amct::{re.sub('[.].*', '', function)}", key
        )
    ]
