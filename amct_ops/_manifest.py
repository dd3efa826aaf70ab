"""What this installation holds: ``_manifest.json``, written when the wheel was built."""

from __future__ import annotations

import functools
import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Library:
    """An operator's library for one NPU architecture.

    Attributes:
        path: the file, below the package.
        sha256: its digest.
        socs: the SOCs that it serves.
    """

    path: str
    sha256: str
    socs: tuple[str, ...]


@dataclass(frozen=True)
class Operator:
    """One operator.

    Attributes:
        name: its name.
        schemas: what it registers.
        socs: the SOCs that it can be built for, whether or not they are in this wheel.
        libraries: those of this wheel, by NPU architecture.
    """

    name: str
    schemas: tuple[str, ...]
    socs: tuple[str, ...]
    libraries: dict[str, Library]

    @property
    def functions(self) -> tuple[str, ...]:
        """The names of its functions in ``torch.ops.amct``."""
        return tuple(schema.split("(")[0].strip() for schema in self.schemas)


@dataclass(frozen=True)
class Manifest:
    """The whole manifest.

    Attributes:
        version: the wheel's version with its label.
        simulated: whether it was built with the simulated toolkit.
        toolkit: CANN's version, or that of the simulated toolkit.
        torch, torch_npu: the versions that it was built against.
        revision: the git revision of the sources, None if it was not known.
        dirty: whether the sources differed from that revision.
        operators: by name.
    """

    version: str
    simulated: bool
    toolkit: str
    torch: str
    torch_npu: str
    revision: str | None
    dirty: bool | None
    operators: dict[str, Operator]


def resource(path: str) -> Path:
    """Return the file at `path` below the installed package."""
    import amct_ops

    return Path(amct_ops.__path__[0]) / path


@functools.cache
def read() -> Manifest:
    """Return the manifest of this installation.

    Raises:
        ImportError: there is none, as in a source tree that nothing was built from.
    """
    file = resource("_manifest.json")
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ImportError(
            f"amct_ops in {file.parent} is not built. Run: bash ops_build.sh && pip install "
            "dist/amct_ops-*.whl"
        ) from None
    return Manifest(
        version=data["version"],
        simulated=data["toolkit"]["kind"] == "sim",
        toolkit=data["toolkit"]["version"],
        torch=data["torch"],
        torch_npu=data["torch_npu"],
        revision=data["git"]["revision"],
        dirty=data["git"]["dirty"],
        operators={
            name: Operator(
                name,
                tuple(operator["schemas"]),
                tuple(operator["socs"]),
                {
                    arch: Library(entry["library"], entry["sha256"], tuple(entry["socs"]))
                    for arch, entry in operator["npu_archs"].items()
                },
            )
            for name, operator in data["operators"].items()
        },
    )
