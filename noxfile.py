"""One command per task: ``nox -s tests | lint | docs | bench``. nox makes the environments."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import nox

sys.path.insert(0, str(Path(__file__).parent / "cmake"))

from amct_plan import TORCH_MINOR

nox.needs_version = ">=2024.4.15"
nox.options.sessions = ["lint", "tests"]

TORCH = (f"torch=={TORCH_MINOR}.*", f"torch_npu=={TORCH_MINOR}.*")


def _install_wheel(session: nox.Session) -> None:
    """Build the wheel with all SOCs for this session's Python and torch, and install it."""
    session.install(*TORCH)
    dist = Path(session.create_tmp()) / "dist"
    for old in dist.glob("*.whl"):
        old.unlink()
    session.run(
        "python", "-m", "pip", "wheel", ".", "--no-deps", "--wheel-dir", str(dist),
        "-C", "cmake.define.SOC=all",
    )  # fmt: skip
    (wheel,) = dist.glob("amct_ops-*.whl")
    session.install("--force-reinstall", "--no-deps", str(wheel))


@nox.session
def tests(session: nox.Session) -> None:
    """Build the wheel and run every test; arguments go to pytest."""
    # Builds without isolation are tested too: they need what isolation would bring.
    requires = nox.project.load_toml("pyproject.toml")["build-system"]["requires"]
    session.install(
        "pytest>=8", "expecttest>=0.2", "hypothesis>=6.100", "build>=1.2", "numpy>=1.26",
        "cmake>=3.24", "ninja>=1.10", *requires,
    )  # fmt: skip
    _install_wheel(session)
    session.run("pytest", *session.posargs)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style and types; change nothing."""
    session.install("ruff>=0.6", "mypy>=1.11", "clang-format>=18,<22", "nox", "pybind11>=3.0")
    python = ["amct_ops", "cmake", "docs", "ops", "sim/control", "tests", "benchmarks",
              "noxfile.py", "sim/toolkit/bin/bisheng"]  # fmt: skip
    session.run("ruff", "check", *python)
    session.run("ruff", "format", "--check", *python)
    session.run("mypy", "cmake/amct_plan.py", "amct_ops")
    sources = [
        str(path)
        for folder in ("ops", "sim", "tests", "benchmarks")
        for path in sorted(Path(folder).rglob("*"))
        if path.suffix in (".cpp", ".h", ".asc")
    ]
    session.run("clang-format", "--dry-run", "--Werror", *sources)


@nox.session
def docs(session: nox.Session) -> None:
    """Write the documents that are made from the code and from the simulator's estimates."""
    session.run("python", "docs/make_supported.py")
    _install_wheel(session)
    session.run("python", "docs/make_performance.py")


@nox.session
def bench(session: nox.Session) -> None:
    """Run the benchmarks; they print ratios that were measured side by side."""
    session.install("numpy>=1.26", "en-dtypes>=0.0.4")
    _install_wheel(session)
    for script in sorted(Path("benchmarks").glob("bench_*.py")):
        session.run("python", os.fspath(script))
