# SPDX-License-Identifier: MIT OR Apache-2.0
"""Types and modifiers of vector instructions, by probing: constants in the place of each source, and each modifier's bits."""

import llvm
import names
from rows import bits

# The codes of 0.5, of 1 / (2 pi) and of a literal; a literal whose low half is 1.0 as f16.
HALF, SMALL, LITERAL = 240, 248, 255
F16_LITERAL = 0x00013C00
# Literals that are 1.0 as the low one of two packed floats.
PACKED_ONES = {"PKF16": 0x3C00, "PKBF16": 0x3F80}
SOURCES = ("s0", "s1", "s2")


def operands(row):
    """The number of registers of the destination and of each source, and flags that the operands show."""
    row.counts = [row.operand(row.fields[field] - 0x100) if row.fields.get(field, 0) >= 0x100 else None for field in SOURCES]
    for at, field in enumerate(SOURCES):
        code = row.fields.get(field, 0)
        if row.counts[at] is None and 0 < code < 0x100:
            row.counts[at] = row.operand(code, "s")
    row.width = row.operand(40)
    if row.width is None and row.operand(40, "s") and not row.name.startswith("v_cmp"):
        row.width = row.operand(40, "s")
        row.flags.add("SCALAR_DST")
    # The field of the scalar destination is zero.
    if row.width and row.operands[1:2] in (["s0"], ["vcc_lo"]):
        row.flags.add("CARRY_OUT")
    carries = row.fields.get("s2") == 24 and row.counts[2] and not row.name.startswith("v_permlane")
    if carries or row.operands[2:] and row.operands[-1] == "vcc_lo":
        row.flags.add("CARRY_IN")
        row.counts[2] = None
    if row.name.startswith("v_permlane") and row.counts[2]:
        row.flags.add("SCALAR_LANES")
    if row.name in ("v_readlane_b32", "v_writelane_b32"):
        row.flags.add("LANE")
    if row.name in ("v_readfirstlane_b32", "v_swap_b32", "v_swaprel_b32", "v_permlane64_b32"):
        row.flags.add("VECTOR_SRC")
    if row.name.startswith(("v_fmamk", "v_madmk")):
        row.flags.add("MADMK")
    if row.name.startswith(("v_fmaak", "v_madak")):
        row.flags.add("MADAK")


def element(half, small, literal, negative):
    """The element type of a source by the texts of its operand."""
    if small == "0.15915494309189532":
        return "F64" if negative else "B64"
    if half == "0x3800":
        return "I16"
    if literal == "1.0":
        return "F16"
    return "F32" if negative else "B32"


def shown(text, row, at):
    """The operand in the place of source `at` of a row in another text of the instruction."""
    if text is None:
        return None
    _, found = llvm.split(text)
    place = len(row.operands) - sum(count is not None for count in row.counts) - ("CARRY_IN" in row.flags)
    place += sum(count is not None for count in row.counts[:at])
    return found[place] if place < len(found) else None


def probe(probe_of, words, rows, packed=False):
    """Finds types and modifiers of rows of VOP3 or VOP3P."""
    for row in rows:
        operands(row)
        row.elements, row.has_probe = [None] * 3, True
    for at, field in enumerate(SOURCES):
        own = [row for row in rows if row.counts[at]]
        with_code = lambda code, more=(): lambda row: {field: code} | ({"more": list(more)} if more else {})
        half = probe_of.changes(words, own, with_code(HALF))
        small = probe_of.changes(words, own, with_code(SMALL))
        literal = probe_of.changes(words, own, with_code(LITERAL, [F16_LITERAL]))
        sign = probe_of.changes(words, own, lambda row: {"neg": 1 << at})
        for row, *found, signed in zip(own, half, small, literal, sign):
            texts = [shown(text, row, at) for text in found]
            negative = signed is not None and signed != row.text
            row.elements[at] = element(*texts, negative)
        own = [row for row in own if packed and "_mix" not in row.name]
        for kind, one in PACKED_ONES.items():
            for row, text in zip(own, probe_of.changes(words, own, with_code(LITERAL, [one]))):
                if shown(text, row, at) == "1.0":
                    row.elements[at] = kind
    modifiers = [("CLAMP", {"clamp": 1}), ("OMOD", {"omod": 1})]
    if not packed:
        modifiers += [("OP_SEL", {"op_sel": 1 << bit}) for bit in (0, 2, 3)]
    for flag, fields in modifiers:
        for row, text in zip(rows, probe_of.changes(words, rows, lambda row: fields)):
            if text is not None and text != row.text and not (flag == "OP_SEL" and "op_sel" not in text):
                row.flags.add(flag)
    word = [0xFF00E405]
    for row, text in zip(rows, probe_of.changes(words, rows, lambda row: {"s0": 250, "more": word})):
        if text is None or "quad_perm" not in text:
            row.flags.add("NO_E64_DPP")


def typed(row, known, types):
    """Sets the types of a row: those in `types`, those of GFX9's row of the same meaning where they have as many registers, or
    else the probed ones."""
    older = known.get(row.op)
    row.src = []
    for at, count in enumerate(row.counts):
        if count is None:
            continue
        kind = bits(count, row.elements[at] or "B32")
        if older and at < len(older["src"]) and width(older["src"][at]) == count:
            # Packed values look like others.
            if older["src"][at] not in (kind, "PK16", "PKF16") and row.has_probe:
                row.differing.append((at, kind, older["src"][at]))
            kind = older["src"][at]
        row.src.append(kind)
    if "CARRY_IN" in row.flags:
        row.src.append("MASK")
    if row.name.startswith("v_cmp_"):
        row.dst = "MASK"
    elif row.width:
        row.dst = bits(row.width, names.result(row.name, row.width))
        if older and width(older["dst"]) == row.width:
            row.dst = older["dst"]
    if row.op in types:
        row.dst, row.src, flags = types[row.op]
        row.flags |= flags


def width(kind):
    """The number of registers of a type."""
    if ".x(" in kind:
        return int(kind.split("(")[1][:-1])
    return {"N": 0, "B64": 2, "F64": 2, "MASK": 2}.get(kind, 1)
