#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes mnemonics.gfx1100.txt, mnemonics.gfx1030.txt and mnemonics.gfx1201.txt: every mnemonic that LLVM 19's assembler accepts for
the GPU, with today's spelling if it is an older one. Two spellings are one instruction if both assemble to the same words.
mnemonics.gfx1150.txt has the difference from gfx1100's, `+` and `-`, and mnemonics.gfx1010.txt that from gfx1030's.

Needs llvm-mc-19 and the library that it is linked with; LLVM_MC and LLVM_LIBRARY select others.
"""

import pathlib
import re
import subprocess
import sys

from mnemonics import MC, candidates, errors

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER / "../../src/isa/tables/generate"))

import gfx10  # noqa: E402
import gfx101  # noqa: E402
import gfx11  # noqa: E402
import gfx115  # noqa: E402
import gfx12  # noqa: E402
import names  # noqa: E402
import rows as table_rows  # noqa: E402

SUFFIX = re.compile(r"(_e64_dpp|_e32|_e64|_dpp|_sdwa)$")
# LLVM's own names of instructions with halves of registers.
INTERNAL = re.compile(r"_(t16|fake16|op_sel)$")
# Spellings between those of GFX9 and today's.
BETWEEN = {
    "s_set_inst_prefetch_distance": "s_inst_prefetch",
    "v_fma_dx9_zero_f32": "v_fma_legacy_f32",
    "v_fmac_dx9_zero_f32": "v_fmac_legacy_f32",
    "global_load_addtid_b32": "global_load_dword_addtid",
    "global_store_addtid_b32": "global_store_dword_addtid",
}


def older(name):
    """Older spellings of a mnemonic."""
    yield names.older(name)
    yield BETWEEN.get(name, name)
    yield re.sub(r"_atomic_(cmpswap|min|max)_f32$", r"_atomic_f\1", name)
    yield name.replace("_atomic_csub_u32", "_atomic_csub")
    yield name.replace("_not0", "n1").replace("_not1", "n2")
    # Before GFX12.
    yield name.replace("_num_", "_")
    yield re.sub(r"_atomic_(min|max)_num_f32$", r"_atomic_f\1", name)
    yield name.replace("_atomic_sub_clamp_u32", "_atomic_csub")


def assembled(texts, processor):
    """The bytes of each text, None where it is no instruction."""
    made = subprocess.run(MC + [f"-mcpu={processor}", "-show-encoding"], input="\n".join(texts) + "\n", capture_output=True, text=True, check=False)
    failed = {int(line) - 1 for line in re.findall(r"^<stdin>:(\d+):\d+: error", made.stderr, re.M)}
    encodings = iter(re.findall(r"encoding: \[([^\]]*)\]", made.stdout))
    return [None if at in failed else next(encodings) for at in range(len(texts))]



def write(family, base=None):
    """Writes the list of a family's GPU; that of its base is written."""
    processor = family.PROCESSOR
    texts = []
    for _, codes, words, tries in family.FORMATS:
        texts += [row.text for row in table_rows.Probe(family).found(codes, words, tries).values()]
    shown = {SUFFIX.sub("", half.split()[0]) for text in texts for half in text.split(" :: ")}
    taken = candidates()
    taken = [name for name, error in zip(taken, errors(taken, processor)) if error in (None, "too few operands for instruction")]
    taken = {name for name in (SUFFIX.sub("", name) for name in taken) if not INTERNAL.search(name)}
    asked = []
    for text in texts:
        name, rest = text.split()[0], text.partition(" ")[2]
        today = SUFFIX.sub("", name)
        asked += [(other, today, f"{other}{name[len(today):]} {rest}", text) for other in set(older(today)) & taken - shown]
    made = zip(assembled([text for *_, text, _ in asked], processor), assembled([text for *_, text in asked], processor))
    same = {other: today for (other, today, *_), (ours, theirs) in zip(asked, made) if ours and ours == theirs}
    print(f"{processor}: {len(taken)} mnemonics, {len(same)} of them older; not shown: {', '.join(sorted(taken - shown - set(same)))}")
    lines = [f"# The mnemonics that LLVM 19 assembles for {processor}, written by mnemonics_rdna.py; a second one is today's spelling."]
    lines += [f"{name}\t{same[name]}" if name in same else name for name in sorted(taken)]
    if base:
        known = [line for line in (FOLDER / f"mnemonics.{base.PROCESSOR}.txt").read_text().splitlines() if line[0] != "#"]
        changes = [f"+{line}" for line in lines[1:] if line not in known] + [f"-{line}" for line in known if line not in lines]
        lines = [f"# The difference of {processor}'s mnemonics from those in mnemonics.{base.PROCESSOR}.txt, written by mnemonics_rdna.py."] + changes
    (FOLDER / f"mnemonics.{processor}.txt").write_text("\n".join(lines) + "\n")


for one, base in ((gfx11, None), (gfx115, gfx11), (gfx10, None), (gfx101, gfx10), (gfx12, None)):
    write(one, base)
