"""Write docs/supported.md: what of Ascend C the simulated toolkit has, from its headers.

The headers are preprocessed for each architecture. What an API allows stands in its static_asserts,
whose message begins with its name; a small program evaluates them for each type.

    python docs/make_supported.py [--check]
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "sim/toolkit/include"
TARGET = ROOT / "docs/supported.md"
ARCHS = {"dav-2201": 2201, "dav-3510": 3510}
COMMON = ["half", "bfloat16_t", "float", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t",
          "uint32_t", "int64_t", "uint64_t", "int4b_t"]  # fmt: skip
SMALL = ["hifloat8_t", "fp8_e4m3fn_t", "fp8_e5m2_t", "fp8_e8m0_t", "fp4x2_e2m1_t", "fp4x2_e1m2_t"]
TYPES = {"dav-2201": COMMON, "dav-3510": COMMON + SMALL}
MODES = "NRFCAZOH"
HEAD = """# What of Ascend C is simulated

Made from the toolkit's headers by `nox -s docs`; do not edit. A call, a type or a pair of types
that is not here is an error of the compiler; what only the run knows, such as a rounding mode, an
error of the launch. "yes": the call is there, with no condition on one type alone.
"""
ASSERT = re.compile(r'static_assert\(([^;]*?),\s*"((?:[^"\\;]|"\s*")*)"\s*\)', re.S)
NAME = re.compile(r"^(?:Reg::)?[A-Z]\w*(?=:)")
# What a condition on one type T consists of.
WORD = re.compile(r"T|sizeof|is_\w+|std|k[A-Z]\w*|half|float|\w+_t")
CALL = re.compile(r'"((?:Reg::)?[A-Z][A-Za-z0-9]+)", loc\b')


def compiler(arch: int, *flags: str) -> list[str]:
    return [*os.environ.get("CXX", "g++").split(), "-std=c++17", "-w", "-x", "c++",
            f"-D__NPU_ARCH__={arch}", "-isystem", str(INCLUDE), "-include",
            str(INCLUDE / "sim/builtins.h"), *flags]  # fmt: skip


def conditions(arch: int) -> dict[str, set[str]]:
    """Return each API's conditions on one type T; an empty set where it has none."""
    run = subprocess.run(
        compiler(arch, "-E", "-P", "-"), input='#include "kernel_operator.h"\n',
        stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    found: dict[str, set[str]] = {name: set() for name in CALL.findall(run.stdout)}
    for condition, message in ASSERT.findall(run.stdout):
        name = NAME.match(re.sub(r'"\s*"', "", message))
        text = re.sub(r"\bE\b", "T", " ".join(condition.split()))
        text = re.sub(r"\b(?:sim|detail)::", "", text)
        words = set(re.findall(r"\b[A-Za-z_]\w*", text))
        if name and "T" in words and all(WORD.fullmatch(word) for word in words):
            found.setdefault(name[0], set()).add(text)
    found.pop("Cast", None)
    return found


def evaluate(arch: str, known: dict[str, set[str]]) -> tuple[dict[str, str], list[list[str]]]:
    """Return each API's types, and the rows of the cast matrix, by a program of its own."""
    every = sorted({condition for found in known.values() for condition in found})
    types = TYPES[arch]
    lines = ['#include "kernel_operator.h"', "#include <cstdio>"]
    for i, condition in enumerate(every):
        namespaces = ["AscendC", "AscendC::detail"]
        if arch == "dav-3510":
            namespaces += ["AscendC::Reg", "AscendC::Reg::detail"]
        using = " ".join(f"using namespace {namespace};" for namespace in namespaces)
        lines.append(f"namespace probe{i} {{ {using} using namespace sim;")
        lines.append(f"template <typename T> constexpr bool holds = ({condition}); }}")
    lines.append("int main() {")
    for i in range(len(every)):
        lines += [f'std::printf("%d ", int(probe{i}::holds<{t}>));' for t in types]
    lines.append('std::puts("");')
    for source in types:
        lines += [f'std::printf("%u ", sim::CastModes<{d}, {source}>());' for d in types]
    lines.append("}")
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "probe"
        source = "\n".join(lines)
        subprocess.run(
            compiler(ARCHS[arch], "-c", "-o", f"{program}.o", "-"), input=source, text=True,
            check=True,
        )  # fmt: skip
        link = [*os.environ.get("CXX", "g++").split(), f"{program}.o", "-o", str(program),
                "-Wl,--unresolved-symbols=ignore-all"]  # fmt: skip
        subprocess.run(link, check=True)
        output = subprocess.run(
            [str(program)], stdout=subprocess.PIPE, text=True, check=True
        ).stdout
    holds, casts = (line.split() for line in output.splitlines())
    allowed = {
        condition: {t for k, t in enumerate(types) if holds[i * len(types) + k] == "1"}
        for i, condition in enumerate(every)
    }
    cells = {}
    for name, found in known.items():
        sets = [allowed[condition] for condition in found]
        fits = [t for t in types if any(t in one for one in sets)]
        cells[name] = ", ".join(short(t) for t in fits) if sets else "yes"
    rows = []
    for i, source in enumerate(types):
        bits = casts[i * len(types) : (i + 1) * len(types)]
        pairs = [f"{short(d)} {letters(int(b))}" for d, b in zip(types, bits) if b != "0"]
        if pairs:
            rows.append([short(source), ", ".join(pairs)])
    return cells, rows


def short(name: str) -> str:
    return name.removesuffix("_t")


def letters(bits: int) -> str:
    return "".join(letter for i, letter in enumerate(MODES) if bits >> i & 1)


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(row)} |" for row in lines) + "\n"


def document() -> str:
    cells, casts = {}, {}
    for arch, number in ARCHS.items():
        cells[arch], casts[arch] = evaluate(arch, conditions(number))
    names = sorted(set().union(*cells.values()))
    parts = [HEAD]
    for title, keep in (("Calls", False), ("Vector registers (`Reg::`)", True)):
        rows = [
            [f"`{name}`", *(cells[arch].get(name, "-") for arch in ARCHS)]
            for name in names
            if name.startswith("Reg::") == keep
        ]
        parts.append(f"## {title}\n\n{table(['call', *ARCHS], rows)}")
    parts.append(
        "## Cast\n\nRounding modes: N none, R to nearest even, F floor, C ceil, A half away, Z "
        "towards zero, O odd,\nH hybrid.\n"
    )
    for arch in ARCHS:
        parts.append(f"### {arch}\n\n{table(['from', 'to'], casts[arch])}")
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="fail if the file is out of date")
    arguments = parser.parse_args()
    text = document()
    if not arguments.check:
        TARGET.write_text(text, encoding="utf-8")
    elif not TARGET.exists() or TARGET.read_text(encoding="utf-8") != text:
        sys.exit("docs/supported.md is out of date: nox -s docs")


if __name__ == "__main__":
    main()
