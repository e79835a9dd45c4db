#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes LLVM's text behind the words of gfx942.txt, in place.

A line is the words of one instruction in hexadecimal, a tab and the text. To add an instruction, add a line with the
words alone and run this. Needs llvm-mc-19; LLVM_MC selects another one.
"""

import os
import pathlib
import subprocess

path = pathlib.Path(__file__).with_name("gfx942.txt")
lines = path.read_text().splitlines()
comments = [line for line in lines if line.startswith("#")]
rows = [line.split("\t")[0].split() for line in lines if line and not line.startswith("#")]
asked = "".join(
    " ".join(f"{byte:#04x}" for word in row for byte in int(word, 16).to_bytes(4, "little")) + "\n" for row in rows
)
command = [os.environ.get("LLVM_MC", "llvm-mc-19"), "--disassemble", "-triple=amdgcn-amd-amdhsa", "-mcpu=gfx942"]
result = subprocess.run(command, input=asked, capture_output=True, text=True, check=True)
if result.stderr:
    raise SystemExit(result.stderr)
texts = [line.strip() for line in result.stdout.splitlines() if line.startswith("\t") and line.strip() != ".text"]
if len(texts) != len(rows):
    raise SystemExit(f"{len(rows)} instructions, but {len(texts)} texts")
path.write_text("".join(f"{line}\n" for line in comments + [f"{' '.join(r)}\t{t}" for r, t in zip(rows, texts)]))
