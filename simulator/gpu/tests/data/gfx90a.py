#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes LLVM's gfx90a text behind the words of gfx90a.txt, in place, and adds the rows of gfx942.txt that mean something
else there.

A line is the words of one instruction in hexadecimal, a tab and the text, or `-` where gfx90a has no such instruction. A
row of gfx942.txt that is not listed is the same on gfx90a, with the cache bits called glc, slc and scc. To add an
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


def texts(rows):
    """LLVM's text of each instruction, or `-`. Each is at a multiple of 16 bytes, so that an invalid one does not affect the next."""
    nop = [0xBF800000] * (PLACE // 4)
    lines = [".long " + ",".join(map(str, [int(word, 16) for word in row.split()] + nop[len(row.split()) :])) for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        made = f"{folder}/rows.o"
        command = [MC, "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-filetype=obj", "-o", made]
        subprocess.run(command, input="\n".join([".text", *lines, ""]), text=True, check=True)
        command = [OBJDUMP, "-d", "--no-print-imm-hex", made]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = ["-"] * len(rows)
    for text, address in re.findall(r"^\t(.*?)\s*// ([0-9A-F]+): ", shown, re.M):
        index, rest = divmod(int(address, 16), PLACE)
        if rest == 0 and not text.startswith(".long"):
            found[index] = text
    return found


def renamed(text):
    return re.sub(r"(?<= )(sc0|nt|sc1)\b", lambda match: CACHE[match[1]], text)


path = pathlib.Path(__file__).with_name("gfx90a.txt")
split = [line.split("\t") for line in path.with_name("gfx942.txt").read_text().splitlines() if not line.startswith("#")]
theirs = {row[0]: row[1] for row in split}
lines = path.read_text().splitlines()
comments = [line for line in lines if line.startswith("#")]
own = [line.split("\t")[0] for line in lines if line and not line.startswith("#")]
own = [row for row in own if row not in theirs]
differing = [(row, text) for row, text in zip(theirs, texts(theirs)) if text != renamed(theirs[row])]
rows = list(zip(own, texts(own))) + differing
path.write_text("".join(f"{line}\n" for line in comments + [f"{row}\t{text}" for row, text in rows]))
