"""A checkout to build in: a copy of the sources, in a folder with spaces and Chinese characters."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
IGNORED = (
    "build",
    "dist",
    ".git",
    ".nox",
    ".venv",
    "venv*",
    "__pycache__",
    ".*_cache",
    ".hypothesis",
)


def clean_environment(**changes: str | None) -> dict[str, str]:
    """The environment of a user who set nothing of ours; None removes a variable."""
    ours = ("ASCEND_", "AMCT_", "SKBUILD_", "CMAKE_")
    environment = {k: v for k, v in os.environ.items() if not k.startswith(ours)}
    for key in ("CXX", "CC", "MAX_JOBS", "PYTHONPATH"):
        environment.pop(key, None)
    for key, value in changes.items():
        if value is None:
            environment.pop(key, None)
        else:
            environment[key] = value
    return environment


@dataclasses.dataclass
class Wheel:
    path: Path

    @property
    def name(self) -> str:
        return self.path.name

    def files(self) -> dict[str, bytes]:
        with zipfile.ZipFile(self.path) as archive:
            return {name: archive.read(name) for name in archive.namelist()}

    def manifest(self) -> dict[str, Any]:
        return json.loads(self.files()["amct_ops/_manifest.json"])

    def metadata(self) -> str:
        (name,) = (n for n in self.files() if n.endswith(".dist-info/METADATA"))
        return self.files()[name].decode()

    def libraries(self) -> dict[str, bytes]:
        return {n: b for n, b in self.files().items() if n.endswith("_ops.so")}


@dataclasses.dataclass
class Checkout:
    """Sources that can be built, and changed by a test that puts them back."""

    path: Path

    def pip_wheel(
        self, *settings: str, isolated: bool = False, environment: dict[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run `pip wheel .` with -C settings into dist/ and return the finished process."""
        command = [sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "-w", "dist", "-v"]
        if not isolated:
            command.append("--no-build-isolation")
        for setting in settings:
            command += ["-C", setting]
        return subprocess.run(
            command,
            cwd=self.path,
            env=environment or clean_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def build(self, *settings: str, isolated: bool = False) -> tuple[Wheel, str]:
        """Build the one wheel of these settings; return it and what the build printed."""
        shutil.rmtree(self.path / "dist", ignore_errors=True)
        run = self.pip_wheel(*settings, isolated=isolated)
        assert run.returncode == 0, run.stdout
        (wheel,) = (self.path / "dist").glob("*.whl")
        return Wheel(wheel), run.stdout

    def plan(
        self,
        soc: str = "ascend910b",
        ops: str = "",
        toolkit: str = "auto",
        **environment: str | None,
    ) -> subprocess.CompletedProcess[str]:
        """Run only the plan of a build: what each build says first."""
        return subprocess.run(
            [sys.executable, "cmake/amct_plan.py", "plan", "--soc", soc, "--ops", ops,
             "--toolkit", toolkit, "--output", str(self.path / "plan.json")],
            cwd=self.path,
            env=clean_environment(**environment),
            capture_output=True,
            text=True,
            check=False,
        )  # fmt: skip


def compiled(log: str) -> list[str]:
    """Return the objects that a build's output says it compiled."""
    return [line.rsplit(" ", 1)[1] for line in log.splitlines() if "] Building " in line]


def copy_sources(destination: Path) -> Checkout:
    shutil.copytree(ROOT, destination, ignore=shutil.ignore_patterns(*IGNORED))
    return Checkout(destination)


@pytest.fixture(scope="session")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A checkout whose first build was killed while it compiled."""
    made = copy_sources(tmp_path_factory.mktemp("构建 amct") / "源 码")
    log = made.path / "killed.log"
    with log.open("w") as output:
        build = subprocess.Popen(
            [sys.executable, "-m", "pip", "wheel", ".", "--no-deps", "--no-build-isolation", "-v"],
            cwd=made.path,
            env=clean_environment(),
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        while len(list((made.path / "build").rglob("*.o"))) < 3 and build.poll() is None:
            time.sleep(0.05)
        os.killpg(build.pid, signal.SIGKILL)
        build.wait()
    assert "Building" in log.read_text(), log.read_text()
    log.unlink()
    return made


@pytest.fixture(scope="session")
def default_wheel(checkout: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Wheel:
    """The wheel of the default settings, built in the tree that the killed build left."""
    wheel, _ = checkout.build()
    kept = tmp_path_factory.mktemp("default") / wheel.name
    shutil.copy(wheel.path, kept)
    return Wheel(kept)
