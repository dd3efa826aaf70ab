"""Write docs/performance.md: what the simulator estimates for the operators' performance cases.

Needs the installed wheel of all architectures.

    python docs/make_performance.py [--check]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from amct_ops import _soc  # noqa: E402
from tests.contract import probe  # noqa: E402

TARGET = ROOT / "docs/performance.md"
HEAD = """# What the operators are estimated to cost

Made by `nox -s docs` from the performance cases in `ops/<op>/samples.py`; do not edit.

**All figures are estimates of the simulator, from published figures; nothing here was measured on
hardware.** They rank variants of a kernel and show what bounds it, no more. Those of dav-3510 rest
on fewer published figures than those of dav-2201; do not compare the two.
[simulator.md](simulator.md#what-a-kernel-may-cost) says what the model knows.

* cycles: of one vector core for each element of the call's greatest tensor, without the launch. All
  cores work at once: the call takes elements * cycles / cores.
* bound: the pipe that is busy longest. MTE2 moves into the Unified Buffer, MTE3 out of it, V
  computes, S is the scalar unit.
* UB bytes: of the Unified Buffer, used by one core.

| operator | function | case | SOC | NPU_ARCH | cycles | bound | UB bytes |
|---|---|---|---|---|---|---|---|
"""


def document() -> str:
    """Return the text of the document: one chip of each architecture."""
    rows = []
    for operator, arch in probe.targets():
        soc = next(soc for soc in _soc.SOCS if soc.npu_arch == arch)
        for case in probe.observe(operator, arch)["performance"]:
            rows.append(
                (
                    operator,
                    f"`{case['function']}`",
                    case["case"],
                    f"{soc.name} ({soc.chips[0].example})",
                    arch,
                    f"{case['cycles']:.3g}",
                    case["bound"],
                    str(case["ub_bytes"]),
                )
            )
    return HEAD + "".join(f"| {' | '.join(row)} |\n" for row in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail if the file is out of date")
    arguments = parser.parse_args()
    text = document()
    if not arguments.check:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        sys.exit("docs/performance.md is out of date: nox -s docs")


if __name__ == "__main__":
    main()
