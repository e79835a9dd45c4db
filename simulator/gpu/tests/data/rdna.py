#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Writes lists of words and LLVM's text: gfx1100.txt and gfx1100.wave64.txt, gfx1150.txt and gfx1150.wave64.txt, and so on.

The rows are drawn by rule: for each opcode of each format, and for each form of it (with a literal, with DPP, ...), random operands
and modifiers until LLVM takes them. The files of wave64 have the rows whose text differs in waves of 64 lanes, `-` where LLVM has no
such instruction there. The lists of a GPU whose tables are those of another (gfx1150 of gfx1100) have what differs from the
other's lists. Needs llvm-mc-19 and llvm-objdump-19; LLVM_MC and LLVM_OBJDUMP select others.
"""

import pathlib
import random
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER / "../../src/isa/tables/generate"))

import gfx10  # noqa: E402
import gfx101  # noqa: E402
import gfx11  # noqa: E402
import gfx115  # noqa: E402
import gfx12  # noqa: E402
import llvm  # noqa: E402
import rows  # noqa: E402

TRIES = 12
LITERALS = [0, 1, 64, 65, 0xFFFFFFFF, 0xFFFFFFEF, 0x3F000000, 0x3E22F983, 0x3C00, 0x13C00, 0x3118, 0x3FF00000, 0xFFF0, 0x12345678]
# 1.0 as the low one of two floats with 16 bits, and of two brain floats.
PACKED_ONES = [0x3C00, 0x3F80]
SPECIAL = [106, 107, 108, 112, 123, 124, 125, 126, 127, 235, 236, 237, 238, 251, 252, 253]
CONTROLS = [0xE4, 0x1B, 0x101, 0x11F, 0x12F, 0x140, 0x141, 0x150, 0x15F, 0x161, 0x16F]
# What hardware does not have, though LLVM shows it: signs of integers, masks that are no registers, exchanges without a register.
ODD = re.compile(
    r"sext\(|v_cmp\w+ (?:src_|-?\d)|v_(?:cndmask|\w+_co_ci)_\w+ .*, src_\w+(?: |$)"
    r"|v_(?:swap|swaprel|permlane64)_b32 v\d+, (?!v\d)|v_s_\w+ (?:src_|-?\d)"
)


def scalar(draw):
    return draw.choice([draw.randrange(106), draw.randrange(0, 100, 4), draw.choice(SPECIAL[:9])])


def source(draw, is_vector):
    if is_vector and draw.random() < 0.5:
        return 256 + draw.randrange(draw.choice([128, 256]))
    constant = draw.choice([128 + draw.randrange(81), 240 + draw.randrange(9)])
    return draw.choice([scalar(draw), constant, draw.choice(SPECIAL)])


def dpp(draw):
    signs = draw.choice([0, draw.randrange(16)])
    return draw.randrange(256) | draw.choice(CONTROLS) << 8 | draw.randrange(4) << 18 | signs << 20 | draw.randrange(256) << 24


def operands(draw, base, form, is_vector):
    """Random registers and constants in the place of those that LLVM took."""
    fields = dict(base)
    for field in ("dst", "s0", "s1", "s2", "sdst", "s0x", "s1x", "dsty"):
        if field not in base:
            continue
        if field.startswith("d"):
            fields[field] = draw.randrange(draw.choice([128, 256])) if is_vector and field == "dst" else scalar(draw)
        elif is_vector and base[field] >= 0x100 and field != "s0" and draw.random() < 0.6:
            fields[field] = 256 + draw.randrange(draw.choice([128, 256]))
        else:
            fields[field] = source(draw, is_vector)
    if form == "literal":
        place = draw.choice([field for field in ("s0", "s1", "s2") if field in base] or ["s0"])
        fields |= {place: 255, "more": [draw.choice(LITERALS)]}
    if form == "dpp":
        fields |= {"s0": 250, "more": [dpp(draw)]}
    if form == "sdwa":
        selections = draw.randrange(7) << 8 | draw.randrange(3) << 11 | draw.randrange(7) << 16 | draw.randrange(7) << 24
        scalars = draw.choice([0, 0, 1 << 23, 1 << 31])
        word = draw.randrange(100) | selections | draw.choice([0, draw.getrandbits(6) << 19 & 0x380000]) | scalars
        fields |= {"s0": 249, "more": [word]}
    if form == "dpp8":
        fields |= {"s0": draw.choice([233, 234]), "more": [draw.getrandbits(32)]}
    return fields


def scoped(draw):
    """The cache bits and a wide offset of GFX12."""
    offset = draw.choice([0, 16, draw.getrandbits(24), 0x7FFFFF, 0x800000])
    return {"scope": draw.randrange(4), "th": draw.choice([0, draw.randrange(8)]), "offset": offset}


def memory(draw, base):
    """Random registers, offsets and cache bits."""
    fields = {field: 0x100 + draw.randrange(250) if value >= 0x100 else value for field, value in base.items()}
    fields |= {field: draw.randrange(2) for field in ("glc", "slc", "dlc", "offen", "idxen")}
    fields["offset"] = draw.choice([0, 1, draw.randrange(4096), 4095])
    if "dst" in base:
        fields["dst"] = draw.randrange(250)
    return fields


def variant(draw, family, name, base, form):
    """Random fields of a format."""
    if name in ("DS", "FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MTBUF"):
        fields = memory(draw, base)
        if name in ("GLOBAL", "SCRATCH"):
            fields |= {"saddr": draw.choice([family.OFF, scalar(draw)]), "sve": draw.randrange(2)}
            fields["offset"] = draw.choice([0, 4095, 4096, 8191])
        if name == "DS":
            fields["offset"] = draw.choice([0, draw.randrange(0x10000)])
        if name in ("MUBUF", "MTBUF"):
            fields |= {"resource": draw.randrange(31), "soffset": source(draw, False), "tfe": int(draw.random() < 0.2)}
            fields["format"] = draw.randrange(128)
        if family.HAS_SCOPES and name != "DS":
            fields |= scoped(draw)
        if family.HAS_SDWA:
            fields |= {"sve": 0, "lds": int(draw.random() < 0.1)}
        # Cache control has no operands.
        return base if "resource" in base else fields
    if name == "SMEM":
        fields = operands(draw, base, form, False)
        soffset = draw.choice([family.OFF, scalar(draw)])
        if family.HAS_SCOPES:
            return fields | scoped(draw) | {"soffset": soffset} if base else base
        return fields | {"offset": draw.choice([0, 16, draw.getrandbits(21)]), "soffset": soffset} if base else base
    fields = operands(draw, base, form, name[0] == "V")
    if name in ("SOPK", "SOPP"):
        fields["constant"] = draw.choice([0, draw.getrandbits(16), draw.getrandbits(8)])
    if name == "SOPK" and "more" in base:
        fields["more"] = [draw.choice(LITERALS)]
    if name == "VOPD":
        fields |= {"other": draw.randrange(14), "s0x": source(draw, True), "s1x": draw.choice([0, draw.randrange(256)])}
        fields |= {"dsty": draw.randrange(128), "more": [draw.choice(LITERALS)][: int(form == "literal")]}
    if form == "modified":
        fields |= {"neg": draw.randrange(8), "abs": draw.randrange(8), "clamp": draw.randrange(2), "omod": draw.randrange(4)}
        fields |= {"op_sel": draw.randrange(16), "op_sel_hi": draw.randrange(8), "neg_hi": draw.randrange(8)}
        # Instructions have some of them.
        kept = draw.sample(["neg", "abs", "clamp", "omod", "op_sel", "op_sel_hi", "neg_hi"], 2)
        fields = {field: value for field, value in fields.items() if field in base or field in kept}
        if name == "VOP3P":
            fields = {"op_sel_hi": 7} | {field: value for field, value in fields.items() if field not in ("abs", "omod")}
            fields["op_sel"] = fields.get("op_sel", 0) & 7
    if "sdst" in base or name == "VOP3" and draw.random() < 0.3 and form == "plain":
        fields["sdst"] = scalar(draw)
    return fields


# The forms of each format, and the number of rows of each.
FORMS = {
    "VOP1": {"plain": 2, "literal": 1, "dpp": 1, "dpp8": 1},
    "VOP2": {"plain": 2, "literal": 1, "dpp": 2, "dpp8": 1},
    "VOPC": {"plain": 1, "literal": 1, "dpp": 1},
    "VOP3": {"plain": 1, "literal": 1, "packed one": 2, "modified": 1, "dpp": 1, "dpp8": 1},
    "VOP3P": {"plain": 2, "literal": 2, "packed one": 2, "modified": 4, "dpp": 1, "dpp8": 1},
    "VOPD": {"plain": 8, "literal": 6},
    "SOP2": {"plain": 2, "literal": 1},
    "SOP1": {"plain": 2, "literal": 1},
    "SOPC": {"plain": 2, "literal": 1},
    "SOPP": {"plain": 4},
    "SOPK": {"plain": 2},
    "SMEM": {"plain": 4},
    "MUBUF": {"plain": 2},
    "MTBUF": {"plain": 4},
}
# Further forms of GFX10.
SDWA = {"VOP1": 1, "VOP2": 1, "VOPC": 1}
# Named messages, counters and dependencies; registers of the hardware; versions.
FIELDS = [0xBF870000 | value for value in (0, 1, 0x11, 0xB2, 0x1C1, 0x5BB, 0x150)]
FIELDS += [0xBF890000 | value for value in (0, 0xFFFF, 0xFC07, 0x3F7, 0x07F0, 0x1234)]
FIELDS += [0xBF880000 | value for value in (0, 0xFF9F, 0xFF1F, 0xFFFF, 0x0F9E)]
FIELDS += [0xBFB60000 | value for value in (*range(12), 0x100, 0x102, 0x112, 0x83, 0xFFFF)]
FIELDS += [0xBE884C00 | value for value in (0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87)]
FIELDS += [0xB0800000 | value for value in (0, 4, 6, 9, 7, 0x2004, 0x4006, 0xE009, 0x1004)]
FIELDS += [0xB8880000 | 31 << 11 | value for value in range(32)]
# Waits of GFX12, and a register of the hardware.
FIELDS_GFX12 = [0xB8880000 | 31 << 11 | 32] + [0xBF800000 | code << 16 | value for code in (0x14, *range(0x40, 0x4A)) for value in (0, 3, 0x303, 0xFFFF)]


def drawn(family, name, codes, words, tries, base):
    """Rows of a format, as words and text: those of instructions that the base lacks."""
    forms = FORMS.get(name, {"plain": 2}) | ({"sdwa": SDWA[name]} if family.HAS_SDWA and name in SDWA else {})
    found = rows.Probe(family).found(codes, words, tries)
    same = rows.Probe(base).found(codes, words, tries) if base else {}
    found = {code: row for code, row in found.items() if code not in same or row.name != same[code].name}
    asked = []
    for code, row in found.items():
        for form, wanted in forms.items():
            if form != "plain" and name[0] == "V" and "s0" not in row.fields:
                # It has no source to take from elsewhere.
                continue
            if form == "packed one" and not row.name.startswith(("v_pk_", "v_dot2")):
                continue
            draw = random.Random(f"{name} {code} {form}")
            for attempt in range(TRIES):
                fields = variant(draw, family, name, row.fields, form)
                if form == "packed one":
                    fields |= {"s0": 255, "more": [PACKED_ONES[attempt % 2]]}
                asked.append(((code, form), wanted, words(code, lambda field, default=0, fields=fields: fields.get(field, default))))
        asked.append(((code, "base"), 1, words(code, lambda field, default=0, fields=row.fields: fields.get(field, default))))
    taken, counts = {}, {}
    shown = llvm.disassemble([row for _, _, row in asked], family.PROCESSOR)
    for (key, wanted, row), (text, size) in zip(asked, [found or (None, 0) for found in shown]):
        # The base is for opcodes of which LLVM took no draw.
        usual = key[1] != "base" or not any(counts.get((key[0], form)) for form in forms)
        if text and usual and counts.get(key, 0) < wanted and not ODD.search(text):
            # Hardware takes no literal beside DPP, nor in matrix products.
            if size < (3 if text.startswith(("v_wmma", "v_swmmac")) else 4):
                counts[key] = counts.get(key, 0) + 1
                taken[tuple(row[:size])] = text
    return taken


def show(row):
    return " ".join(f"{word:08x}" for word in row)


def read(path):
    """The rows of a list."""
    lines = [line.split("\t") for line in path.read_text().splitlines() if not line.startswith("#")]
    return {tuple(int(word, 16) for word in words.split()): text for words, text in lines}


def texts(taken, processor, features=""):
    """LLVM's text of each row, `-` if it has none."""
    return [text or "-" for text in llvm.texts([list(row) for row in taken], processor, features)]


def write(family, base=None):
    """Writes the lists of a family; those of its base are written."""
    processor = family.PROCESSOR
    known, known_wave64, fields = {}, {}, [[word] for word in FIELDS + (FIELDS_GFX12 if family.HAS_SCOPES else [])]
    if base:
        known, known_wave64 = (read(FOLDER / f"{base.PROCESSOR}{part}.txt") for part in ("", ".wave64"))
        fields = []
    taken = {}
    for name, codes, words, tries in family.FORMATS:
        taken |= drawn(family, name, codes, words, tries, base)
    taken |= {tuple(row): text for row, text in zip(fields, llvm.texts(fields, processor)) if text}
    taken = {row: text for row, text in zip(known, texts(known, processor)) if text != known[row]} | taken
    lines = [f"# Words of {processor} instructions and LLVM 19's text, written by rdna.py."]
    if base:
        lines = [f"# Rows that differ from those of {base.PROCESSOR}.txt, and rows of instructions that {base.PROCESSOR} lacks, written by rdna.py."]
    lines += [f"{show(row)}\t{text}" for row, text in taken.items()]
    (FOLDER / f"{processor}.txt").write_text("\n".join(lines) + "\n")
    every = known | taken
    expected = every | known_wave64
    lines = [f"# The rows of {processor}.txt that are something else in waves of 64 lanes, written by rdna.py."]
    if base:
        lines = [f"# The same for waves of 64 lanes: rows that are neither as in {base.PROCESSOR}.wave64.txt nor as in the lists of waves of 32."]
    lines += [f"{show(row)}\t{text}" for row, text in zip(every, texts(every, processor, "+wavefrontsize64")) if text != expected[row]]
    (FOLDER / f"{processor}.wave64.txt").write_text("\n".join(lines) + "\n")


for one, base in ((gfx11, None), (gfx115, gfx11), (gfx10, None), (gfx101, gfx10), (gfx12, None)):
    write(one, base)
