# SPDX-License-Identifier: MIT OR Apache-2.0
"""LLVM's disassembler as a function of words. Needs llvm-mc-19 and llvm-objdump-19; LLVM_MC and LLVM_OBJDUMP select others."""

import os
import re
import subprocess
import tempfile

MC = os.environ.get("LLVM_MC", "llvm-mc-19")
OBJDUMP = os.environ.get("LLVM_OBJDUMP", "llvm-objdump-19")
PLACE = 32
NOP = 0xBF800000


def texts(rows, processor, features=""):
    """LLVM's text of each list of words, or None."""
    return [found and found[0] for found in disassemble(rows, processor, features)]


def disassemble(rows, processor, features=""):
    """LLVM's text of each list of words with the number of words that it stands for, or None. Each list is at a multiple of 32 bytes,
    so that an invalid one does not affect the next."""
    words = [list(row) + [NOP] * (PLACE // 4 - len(row)) for row in rows]
    lines = [".long " + ",".join(map(str, row)) for row in words]
    attributes = [f"--mattr={features}"] if features else []
    with tempfile.TemporaryDirectory() as folder:
        made = f"{folder}/rows.o"
        command = [MC, "-triple=amdgcn-amd-amdhsa", f"-mcpu={processor}", *attributes, "-filetype=obj", "-o", made]
        subprocess.run(command, input="\n".join([".text", *lines, ""]), text=True, check=True)
        command = [OBJDUMP, "-d", "--no-print-imm-hex", f"--mcpu={processor}", *attributes, made]
        shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = [None] * len(rows)
    for text, address, encoded in re.findall(r"^\t(.*?)\s*// ([0-9A-F]+): ([0-9A-F ]*)", shown, re.M):
        index, rest = divmod(int(address, 16), PLACE)
        # A comment in the text says what is not supported. An instruction that continues in the padding is none either.
        if rest == 0 and not text.startswith(".long") and "/*" not in text and len(encoded.split()) <= len(rows[index]):
            found[index] = (text, len(encoded.split()))
    return found


def split(text):
    """The mnemonic and the operands of a text, without modifiers."""
    mnemonic, _, rest = text.partition(" ")
    pieces = rest.split(", ")
    # Commas of modifiers have no spaces behind them, those of operands do.
    operands = [piece.split(" ")[0] for piece in pieces if piece]
    return mnemonic, operands
