#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes LLVM's text behind the words of gfx90a.txt, gfx908.txt, gfx906.txt and gfx900.txt, in place. Each list adds what
differs from the one before it, the first from gfx942.txt.

A line is the words of one instruction in hexadecimal, a tab and the text, or `-` where the part has no such instruction. A
row of the list before that is not listed is the same on the part, with the cache bits called glc, slc and scc. To add an
instruction, add a line with the words alone and run this. Needs llvm-mc-19 and llvm-objdump-19; LLVM_MC and LLVM_OBJDUMP
select others.
"""

import os
import pathlib
import re
import subprocess
import tempfile

MC = os.environ.get("LLVM_MC", "llvm-mc-19")
OBJDUMP = os.environ.get("LLVM_OBJDUMP", "llvm-objdump-19")
PLACE = 16
CACHE = {"sc0": "glc", "nt": "slc", "sc1": "scc"}
PARTS = ["gfx90a", "gfx908", "gfx906", "gfx900"]


def texts(rows, part):
    """LLVM's text of each instruction, or `-`. Each is at a multiple of 16 bytes, so that an invalid one does not affect the next."""
    nop = [0xBF800000] * (PLACE // 4)
    lines = [".long " + ",".join(map(str, [int(word, 16) for word in row.split()] + nop[len(row.split()) :])) for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        made = f"{folder}/rows.o"
        command = [MC, "-triple=amdgcn-amd-amdhsa", f"-mcpu={part}", "-filetype=obj", "-o", made]
        subprocess.run(command, input="\n".join([".text", *lines, ""]), text=True, check=True)
        command = [OBJDUMP, "-d", "--no-print-imm-hex", made]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = ["-"] * len(rows)
    for text, address in re.findall(r"^\t(.*?)\s*// ([0-9A-F]+): ", shown, re.M):
        index, rest = divmod(int(address, 16), PLACE)
        # A comment in the text says what is not supported.
        if rest == 0 and not text.startswith(".long") and "/*" not in text:
            found[index] = text
    return found


def renamed(text):
    return re.sub(r"(?<= )(sc0|nt|sc1)\b", lambda match: CACHE[match[1]], text)


def rows_of(path):
    return [line.split("\t") for line in path.read_text().splitlines() if line and not line.startswith("#")]


folder = pathlib.Path(__file__).parent
before = {words: renamed(text) for words, text in rows_of(folder / "gfx942.txt")}
for part in PARTS:
    path = folder / f"{part}.txt"
    comments = [line for line in path.read_text().splitlines() if line.startswith("#")]
    own = [row[0] for row in rows_of(path) if row[0] not in before]
    differing = [(words, text) for words, text in zip(before, texts(before, part)) if text != before[words]]
    rows = list(zip(own, texts(own, part))) + differing
    path.write_text("".join(f"{line}\n" for line in comments + [f"{words}\t{text}" for words, text in rows]))
    before.update(rows)
