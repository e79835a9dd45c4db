# SPDX-License-Identifier: MIT OR Apache-2.0
"""Rows of a format: which opcodes it has, and by probing, the operands, their types and the modifiers of each."""

import re

import llvm
import names

SUFFIX = re.compile(r"_e32$|_e64$")
# Shaders use these; they are not decoded.
NOT_DECODED = re.compile(r"v_interp_|ds_ordered_count|ds_\w+_src2_|exp$|image_")


class Row:
    """An instruction in a format."""

    def __init__(self, family, code, fields, text):
        self.code, self.fields = code, fields
        self.text = text
        self.mnemonic, self.operands = llvm.split(text)
        self.has_suffix = SUFFIX.search(self.mnemonic) is not None
        self.name = SUFFIX.sub("", self.mnemonic)
        self.op = family.OTHERS.get(self.name) or names.older(self.name)
        self.dst, self.src, self.flags = "N", [], set()
        # Whether the types of sources were probed, and where GFX9 has others.
        self.has_probe, self.differing = False, []

    def operand(self, number, file="v"):
        """The number of registers of the operand that starts at a register, or None."""
        for operand in self.operands:
            if operand in (f"{file}{number}", f"{file}{number}.l"):
                return 1
            if match := re.fullmatch(rf"{file}\[{number}:(\d+)\]", operand):
                return int(match[1]) - number + 1
        return None


class Probe:
    """The disassembler for one family."""

    def __init__(self, family):
        self.family = family

    def texts(self, rows):
        """LLVM's text of each (words function, code, fields)."""
        words = [function(code, lambda name, default=0, fields=fields: fields.get(name, default)) for function, code, fields in rows]
        return llvm.texts(words, self.family.PROCESSOR)

    def found(self, codes, words, tries):
        """The row of each opcode, with the first fields that LLVM takes."""
        asked = [(code, fields) for code in range(codes) for fields in tries]
        rows = {}
        for (code, fields), text in zip(asked, self.texts([(words, code, fields) for code, fields in asked])):
            if text and code not in rows and not NOT_DECODED.match(text):
                rows[code] = Row(self.family, code, fields, text)
        return rows

    def changes(self, words, rows, extra):
        """The text of each row with further fields, None where LLVM does not take them."""
        return self.texts([(words, row.code, row.fields | extra(row)) for row in rows])


def bits(dwords, element="B32"):
    """The type of `dwords` registers."""
    if dwords == 1:
        return element
    if dwords == 2 and element == "B32":
        return "B64"
    return element if dwords == 2 and element in ("B64", "F64") else f"{element}.x({dwords})"


def scalar(row):
    """Operands of a scalar instruction."""
    if count := row.operand(40, "s"):
        row.dst = bits(count)
    row.src = [bits(count) for field in (4, 16) if (count := row.operand(field, "s"))]
    if found := names.scalar_float(row.name):
        row.dst, row.src, flags = found
        row.flags |= flags
    if "sendmsg_rtn" in row.name:
        row.flags.add("MESSAGE")


def sopk(row):
    if re.match(r"s_cmpk|s_setreg_b32|s_waitcnt", row.name):
        row.src = ["B32"]
    elif count := row.operand(40, "s"):
        row.dst = bits(count)
    if "hwreg" in row.text:
        row.flags.add("HWREG")
    if row.fields.get("more"):
        row.src = ["B32"]
        row.flags.add("LITERAL")


def sopp(row):
    if not row.operands and row.name != "s_endpgm":
        row.flags.add("NO_IMM")


def smem(row):
    scalar(row)
    data = row.dst
    if "_store_" in row.name:
        row.dst, row.src = "N", [*row.src, data]
    if "_atomic_" in row.name:
        row.flags.add("ATOMIC")
        older = {"B64": "B32", "B32.x(4)": "B64"}[data] if "cmpswap" in row.name else data
        row.dst, row.src = older, [*row.src, data]
    if "discard" in row.name:
        row.flags.add("CACHE")
    if not row.operands:
        row.flags.add("CACHE")
    if "_probe" in row.name:
        row.flags.add("PROBE")
    if "_prefetch" in row.name:
        row.flags.add("PREFETCH")


def lds(row):
    if count := row.operand(40):
        row.dst = bits(count)
    if row.name.endswith("gs_reg_rtn"):
        row.src = ["B32"]
    else:
        counts = [row.operand(field) for field in (2, 16, 24)]
        row.src = [bits(count) if count else "N" for count in counts]
    while row.src and row.src[-1] == "N":
        row.src.pop()
    if "offset0" in row.text:
        row.flags.add("TWO_OFFSETS")
    if row.fields.get("gds"):
        row.flags.add("GWS")


def memory(row):
    data = row.operand(16)
    atomic = "_atomic_" in row.name
    loaded = row.operand(40) or ("_load_" in row.name and data)
    if atomic:
        row.flags.add("ATOMIC")
        row.dst, row.src = bits(data // 2 if "cmpswap" in row.name else data), [bits(data)]
    elif loaded:
        row.dst = bits(loaded)
    elif data:
        row.src = [bits(data)]
    if "addtid" in row.name:
        row.flags.add("ADDTID")
    # Each lane gets a part of a matrix.
    if "_load_tr_" in row.name:
        row.flags.add("SPREAD")
    if "_load_lds_" in row.name:
        row.flags.add("LDS_DST")
    if not row.operands:
        row.flags.add("CACHE")


SIMPLE = {
    "SOP2": scalar,
    "SOP1": scalar,
    "SOPC": scalar,
    "SOPK": sopk,
    "SOPP": sopp,
    "SMEM": smem,
    "DS": lds,
    "FLAT": memory,
    "GLOBAL": memory,
    "SCRATCH": memory,
    "MUBUF": memory,
    "MTBUF": memory,
}
