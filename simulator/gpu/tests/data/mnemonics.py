#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes mnemonics.txt: every mnemonic that LLVM 19's assembler accepts for gfx942, with today's spelling if it is an
older one; and for each older part, as mnemonics.gfx90a.txt, those of the part before that it lacks, with a minus, and its
further ones, with a plus.

Candidates are all names in LLVM's library that look like mnemonics; the assembler checks each. Needs llvm-mc-19
and the library that it is linked with; LLVM_MC and LLVM_LIBRARY select others.
"""

import glob
import os
import pathlib
import re
import subprocess

MC = [os.environ.get("LLVM_MC", "llvm-mc-19"), "-triple=amdgcn-amd-amdhsa"]
LIBRARY = os.environ.get("LLVM_LIBRARY") or sorted(glob.glob("/usr/lib/llvm-19/lib/libLLVM*.so*"))[0]
SUFFIX = re.compile(r"_(e32|e64|dpp|sdwa|e64_dpp)$")
OTHERS = {"v_mul_lo_i32": ["v1, v2, v3"], "v_accvgpr_write": ["a1, v2"]}


def errors(lines, gpu):
    """The assembler's complaint about each line, or nothing."""
    result = subprocess.run(MC + [f"-mcpu={gpu}"], input="\n".join(lines) + "\n", capture_output=True, text=True, check=False)
    found = dict.fromkeys(range(len(lines)))
    for number, text in re.findall(r"^<stdin>:(\d+):\d+: error: (.*)$", result.stderr, re.M):
        found[int(number) - 1] = text
    return [found[at] for at in range(len(lines))]


def registers(first, count, file="v"):
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def stands_for(name, gpu):
    """The disassembler's name of an instruction that the assembler accepted by this name."""
    operands = OTHERS.get(name) or [
        f"{registers(32, size, file)}, {registers(2, inputs)}, {registers(4, inputs)}, {registers(64, size, file)}"
        for file in "va"
        for size in (2, 4, 8, 16, 32)
        for inputs in (1, 2)
    ]
    for operand in operands:
        made = subprocess.run(MC + [f"-mcpu={gpu}", "-show-encoding"], input=f"{name} {operand}\n", capture_output=True, text=True, check=False)
        encoding = re.search(r"encoding: \[([^\]]*)\]", made.stdout)
        if encoding:
            shown = subprocess.run(
                MC + [f"-mcpu={gpu}", "--disassemble"], input=encoding[1] + "\n", capture_output=True, text=True, check=True
            )
            text = [line.strip() for line in shown.stdout.splitlines() if line.startswith("\t") and ".text" not in line]
            return SUFFIX.sub("", text[0].split()[0])
    raise SystemExit(f"no operands for {name}")


# Older names of matrix products have no underscore before their input type.
OLDER = re.compile(r"^v_mfma_.*x\d+(bf|xf|f|i)\d+(_1k)?$")


def mnemonics(names, gpu):
    """The mnemonics that the assembler accepts for a GPU, and the instruction of each."""
    taken = [name for name, error in zip(names, errors(names, gpu)) if error in (None, "too few operands for instruction")]
    taken = sorted({SUFFIX.sub("", name) for name in taken})
    return {name: stands_for(name, gpu) if OLDER.match(name) or name in OTHERS else name for name in taken}


def candidates():
    """The names in LLVM's library that look like mnemonics."""
    data = pathlib.Path(LIBRARY).read_bytes()
    pattern = rb"(?:s|v|ds|buffer|tbuffer|flat|global|scratch|image|exp|export|lds)_[a-z0-9_]+"
    return sorted({match.decode() for match in re.findall(pattern, data)} | {"exp"})


def main():
    names = candidates()
    first = mnemonics(names, "gfx942")
    rows = [name if name == today else f"{name}\t{today}" for name, today in first.items()]
    lines = ["# The mnemonics that LLVM 19 assembles for gfx942, written by mnemonics.py; a second one is today's spelling."]
    folder = pathlib.Path(__file__).parent
    (folder / "mnemonics.txt").write_text("\n".join(lines + rows) + "\n")
    before = set(first.values())
    for part in ("gfx90a", "gfx908", "gfx906", "gfx900"):
        own = set(mnemonics(names, part).values())
        rows = [f"-{name}" for name in sorted(before - own)] + [f"+{name}" for name in sorted(own - before)]
        lines = [f"# What LLVM 19 does not assemble for {part} of the part before, and what else it does, written by mnemonics.py."]
        (folder / f"mnemonics.{part}.txt").write_text("\n".join(lines + rows) + "\n")
        before = own


if __name__ == "__main__":
    main()
