"""``python -m amct_ops``: what is installed here, and whether it fits this machine."""

from __future__ import annotations

import argparse
import importlib
import os
import sys

from amct_ops import _loader, _manifest


def show() -> int:
    """Print the installation; return 0 if all of it works on this machine, else 1."""
    manifest = _manifest.read()
    source = manifest.revision or "unknown revision"
    print(f"amct_ops {manifest.version} ({source}{', modified' if manifest.dirty else ''})")
    kind = "simulated toolkit" if manifest.simulated else "CANN"
    print(f"built with {kind} {manifest.toolkit}, torch {manifest.torch}, torch_npu "
          f"{manifest.torch_npu}")  # fmt: skip
    try:
        _loader.check_torch()
        device = _loader.find_device()
        _loader.check_toolkit(device)
    except ImportError as error:
        print(f"does not fit: {error}")
        return 1
    if device.name is None:
        print("device: none; operators work for export and compile only")
    else:
        arch = device.soc.npu_arch if device.soc else "unknown SOC"
        print(f"device: {device.name}, {arch}{', simulated' if device.simulated else ''}")
    failed = 0
    for operator in manifest.operators.values():
        print(f"{operator.name}: {', '.join(operator.libraries)}")
        reason = _loader.unsupported(operator, device)
        if reason is not None:
            print(f"  not for this machine: {reason}")
            continue
        try:
            importlib.import_module(f"amct_ops.{operator.name}")
        except ImportError as error:
            failed = 1
            print(f"  does not fit: {error}")
            continue
        for schema, function in zip(operator.schemas, operator.functions):
            print(f"  {schema}  [{', '.join(_loader.dispatch_keys(function))}]")
    return failed


def show_toolkit() -> int:
    """Print the folder of the simulated toolkit, for ``source "$(...)/set_env.sh"``."""
    manifest = _manifest.read()
    if not manifest.simulated:
        print(f"amct_ops {manifest.version} is a wheel for CANN: it holds no simulated toolkit",
              file=sys.stderr)  # fmt: skip
        return 1
    print(_manifest.resource("_sim/toolkit"))
    return 0


def run_estimated(trace: str | None, script: str, arguments: list[str]) -> int:
    """Run a Python script and print what its kernels are estimated to cost on hardware."""
    import runpy

    from amct_ops.sim import estimate

    sys.argv = [script, *arguments]
    sys.path.insert(0, os.path.dirname(os.path.abspath(script)))
    with estimate(trace=trace is not None) as cost:
        runpy.run_path(script, run_name="__main__")
    print(cost)
    if trace is not None:
        cost.write_trace(trace)
    return 0


def main() -> int:
    """Run the command line; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m amct_ops", description=__doc__)
    commands = parser.add_subparsers(dest="command", metavar="command")
    commands.add_parser("show", help="what is installed and whether it fits (default)")
    commands.add_parser("toolkit", help="print the folder of the simulated toolkit")
    run = commands.add_parser(
        "estimate", help="run a Python script and estimate the cycles of its kernels on hardware"
    )
    run.add_argument("--trace", metavar="FILE", help="write a Chrome trace of all instructions")
    run.add_argument("script")
    run.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")
    arguments = parser.parse_args()
    try:
        if arguments.command == "estimate":
            return run_estimated(arguments.trace, arguments.script, arguments.arguments)
        return show_toolkit() if arguments.command == "toolkit" else show()
    except ImportError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
