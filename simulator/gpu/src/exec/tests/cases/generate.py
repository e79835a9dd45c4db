# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes the lists of instructions beside it: words and LLVM's text of each, by llvm-mc of LLVM 19 (or $LLVM_MC), for gfx950 by that of LLVM 22.

    python3 simulator/gpu/src/exec/tests/cases/generate.py

The tests execute every row and compare it with a reference that reads the text.
"""

import pathlib
import sys

import assembler
import buffer
import gfx1010
import gfx900
import gfx908
import gfx90a
import gfx950
import matrix
import memory
import packed
import scalar
import vector

FAMILIES = {"vector": vector, "scalar": scalar, "packed": packed, "memory": memory,
            "buffer": buffer, "matrix": matrix, "gfx90a": gfx90a,
            "gfx908": gfx908, "gfx900": gfx900, "gfx1010": gfx1010, "gfx950": gfx950}


def main():
    folder = pathlib.Path(__file__).parent
    for name, family in FAMILIES.items():
        mc = getattr(family, "MC", None)
        rows = assembler.assemble(family.candidates(), getattr(family, "GPU", "gfx942"), mc)
        lines = [f"# Instructions and LLVM {22 if mc else 19}'s text, written by generate.py from {name}.py."]
        lines += [f"{words}\t{text}" for words, text in rows]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
        print(f"{name}: {len(rows)} instructions, {len({assembler.mnemonic(t) for _, t in rows})} mnemonics", file=sys.stderr)


main()
