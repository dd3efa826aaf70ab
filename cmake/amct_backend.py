"""PEP 517 backend: scikit-build-core, plus what must be known before it starts.

A static pyproject.toml cannot make the version label and the requirements from ``-C`` settings,
ask for torch only where the machine has none, or name a build tree after the toolkit. Everything
else is scikit-build-core's.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import amct_plan

try:
    import scikit_build_core.build as skbuild
    from scikit_build_core.build import get_requires_for_build_sdist
    from scikit_build_core.settings.skbuild_read_settings import SettingsReader
except ImportError:
    sys.exit(
        f"scikit-build-core is not installed for {sys.executable}. Run: pip install "
        "scikit-build-core pybind11, or build without --no-build-isolation"
    )

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "dynamic_metadata",
    "dynamic_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]

Settings = Mapping[str, Any]
# How the plan reaches `dynamic_metadata`, which scikit-build-core calls without the -C settings.
_METADATA_VARIABLE = "AMCT_BUILD_METADATA"


@contextlib.contextmanager
def _user_errors() -> Iterator[None]:
    try:
        yield
    except amct_plan.PlanError as error:
        # A traceback would bury the one line that matters.
        sys.exit(f"error: {error}")


def _read_settings(config: Settings | None, state: Any) -> Any:
    return SettingsReader.from_file("pyproject.toml", config, state=state).settings


def _define(settings: Any, name: str) -> str:
    return str(settings.cmake.define.get(name) or "")


@contextlib.contextmanager
def _planned(config: Settings | None, state: str) -> Iterator[None]:
    """Make the plan and hand it to scikit-build-core through its environment settings."""
    settings = _read_settings(config, state)
    with _user_errors():
        plan = amct_plan.make_plan(
            soc=_define(settings, "SOC"),
            ops=_define(settings, "OPS"),
            toolkit=_define(settings, "TOOLKIT"),
        )
    metadata = {"version": plan.version, "dependencies": plan.requirements}
    os.environ[_METADATA_VARIABLE] = json.dumps(metadata)
    simulated = plan.toolkit.kind == "sim"
    # Operators hold no Python symbol; only the simulator's control module does.
    os.environ["SKBUILD_WHEEL_PY_API"] = "" if simulated else "py3"
    if simulated:
        os.environ["SKBUILD_MESSAGES_AFTER_SUCCESS"] = (
            "{bold.yellow}**** SIMULATED: this wheel runs on no NPU ****{normal}"
        )
    if not settings.build_dir:
        # One tree per toolkit, so that a tree never mixes two.
        tag = sys.implementation.cache_tag if simulated else "py3"
        os.environ["SKBUILD_BUILD_DIR"] = f"build/{plan.toolkit.identity}-{tag}"
    yield


@contextlib.contextmanager
def _locked_build_tree(config: Settings | None, state: str) -> Iterator[None]:
    """Keep a second build out of the tree, and the tree alive from build to build."""
    tree = Path(str(_read_settings(config, state).build_dir))
    tree.mkdir(parents=True, exist_ok=True)
    with open(tree / ".amct-lock", "w", encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print(f"waiting for another build in {tree}", file=sys.stderr, flush=True)
            fcntl.flock(lock, fcntl.LOCK_EX)
        _adopt_build_tree(tree)
        yield


def _adopt_build_tree(tree: Path) -> None:
    """Let an isolated build go on in the tree of the last one.

    scikit-build-core clears a tree that was configured from another path of itself, and each
    isolated environment is at a new path. Here nothing in the tree depends on that path: packages
    are reached through links named by version (AmctPackages.cmake).
    """
    record = tree / ".skbuild-info.json"
    with contextlib.suppress(OSError, ValueError):
        info = json.loads(record.read_text(encoding="utf-8"))
        info["skbuild_path"] = str(Path(skbuild.__file__).resolve().parent.parent)
        record.write_text(json.dumps(info), encoding="utf-8")


def get_requires_for_build_wheel(config_settings: Settings | None = None) -> list[str]:
    """Return scikit-build-core's requirements, and a torch pair where the machine has none."""
    settings = _read_settings(config_settings, "wheel")
    with _user_errors():
        amct_plan.resolve_socs(_define(settings, "SOC"))
        amct_plan.resolve_ops(_define(settings, "OPS"))
        amct_plan.resolve_toolkit(_define(settings, "TOOLKIT"))
        missing = amct_plan.missing_requirements()
    return [*skbuild.get_requires_for_build_wheel(config_settings), *missing]


def get_requires_for_build_editable(config_settings: Settings | None = None) -> list[str]:
    """Like `get_requires_for_build_wheel`."""
    return get_requires_for_build_wheel(config_settings)


def prepare_metadata_for_build_wheel(
    metadata_directory: str, config_settings: Settings | None = None
) -> str:
    """Write the metadata of the wheel that these settings make."""
    with _planned(config_settings, "metadata_wheel"):
        return skbuild.prepare_metadata_for_build_wheel(metadata_directory, config_settings)


def prepare_metadata_for_build_editable(
    metadata_directory: str, config_settings: Settings | None = None
) -> str:
    """Write the metadata of the editable wheel that these settings make."""
    with _planned(config_settings, "metadata_editable"):
        return skbuild.prepare_metadata_for_build_editable(metadata_directory, config_settings)


def build_wheel(
    wheel_directory: str,
    config_settings: Settings | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build the wheel."""
    with _planned(config_settings, "wheel"), _locked_build_tree(config_settings, "wheel"):
        return skbuild.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(
    wheel_directory: str,
    config_settings: Settings | None = None,
    metadata_directory: str | None = None,
) -> str:
    """Build the editable wheel."""
    with _planned(config_settings, "editable"), _locked_build_tree(config_settings, "editable"):
        return skbuild.build_editable(wheel_directory, config_settings, metadata_directory)


def build_sdist(sdist_directory: str, config_settings: Settings | None = None) -> str:
    """Build the sdist; it carries the git revision, since it has no git."""
    if amct_plan.REVISION_FILE.exists():
        return skbuild.build_sdist(sdist_directory, config_settings)
    state = json.dumps(amct_plan.git_state())
    try:
        amct_plan.REVISION_FILE.write_text(state, encoding="utf-8")
        return skbuild.build_sdist(sdist_directory, config_settings)
    finally:
        amct_plan.REVISION_FILE.unlink(missing_ok=True)


def dynamic_metadata(settings: Settings, project: Settings) -> dict[str, Any]:
    """Return version and dependencies; an sdist has neither label nor pins."""
    planned = os.environ.get(_METADATA_VARIABLE)
    if planned:
        made: dict[str, Any] = json.loads(planned)
        return made
    return {"version": amct_plan.VERSION, "dependencies": ["torch", "torch_npu"]}


def dynamic_wheel(settings: Settings) -> dict[str, bool]:
    """Tell that a wheel's requirements differ from the sdist's."""
    return {"dependencies": True}
