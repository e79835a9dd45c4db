# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs llvm-mc over candidate lines and keeps the lines that it accepts."""

import os
import re
import subprocess

MC = [os.environ.get("LLVM_MC", "llvm-mc-19"), "-triple=amdgcn-amd-amdhsa"]


def assemble(lines, gpu, mc=None):
    """(words, text) of each line that the assembler accepts, in order, without repetition.

    The text is the disassembler's, so that it is LLVM's own spelling of the words.
    """
    command = ([mc] if mc else MC[:1]) + MC[1:] + [f"-mcpu={gpu}"]
    lines = list(dict.fromkeys(lines))
    while True:
        result = subprocess.run(
            command + ["-show-encoding"], input="\n".join(lines) + "\n", capture_output=True, text=True, check=False
        )
        refused = {int(number) for number in re.findall(r"^<stdin>:(\d+):\d+: error", result.stderr, re.M)}
        if not refused:
            break
        lines = [line for number, line in enumerate(lines, 1) if number not in refused]
    encodings = re.findall(r"encoding: \[([^\]]*)\]", result.stdout)
    if len(encodings) != len(lines):
        raise SystemExit(f"{len(lines)} lines, but {len(encodings)} encodings")
    result = subprocess.run(
        command + ["--disassemble"],
        input="".join(" ".join(encoding.split(",")) + "\n" for encoding in encodings),
        capture_output=True,
        text=True,
        check=True,
    )
    texts = [line.strip() for line in result.stdout.splitlines() if line.startswith("\t") and line.strip() != ".text"]
    if len(texts) != len(lines):
        raise SystemExit(f"{len(lines)} lines, but {len(texts)} texts\n{result.stderr}")
    rows = []
    for encoding, text in zip(encodings, texts):
        data = bytes(int(byte, 16) for byte in encoding.split(","))
        words = " ".join(data[at : at + 4][::-1].hex() for at in range(0, len(data), 4))
        rows.append((words, text))
    return list(dict.fromkeys(rows))


def mnemonic(text):
    """The mnemonic of a line, without the suffix of an encoding."""
    return re.sub(r"_(e32|e64|dpp|sdwa)$", "", text.split()[0])
