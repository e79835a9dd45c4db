# SPDX-License-Identifier: MIT OR Apache-2.0
"""The formats of GFX11: the words of an opcode with given fields.

A field is one of `dst`, `sdst`, `s0` to `s2` (operands), or the name of a modifier. Fields that are not given are zero. Each format
has lists of fields to try, because LLVM takes a field that an instruction does not use only if it is zero.
"""

NAME = "gfx11"
# The family whose rows the tables leave out.
BASE = None
HAS_SDWA, HAS_E64_DPP = False, True
# Whether 32-bit forms have only 128 registers for halves.
HAS_HALVES = True
# Whether memory instructions have a scope and a temporal hint, and offsets of 24 bits.
HAS_SCOPES = False
# Types that differ from those of other families.
TYPES = {"v_ldexp_f16": ("F16", ["F16", "F16"], set())}
# Instructions that mean something else than those of the same mnemonic in other families.
OTHERS = {}
PROCESSOR = "gfx1100"
# Instructions whose 64-bit form LLVM 19 lacks, and later releases have.
WITH_E64 = {"v_mov_b16"}

# Registers to try; the first number of a register tells the field that it came from.
VGPR = {"dst": 40, "s0": 0x100 + 2, "s1": 0x100 + 16, "s2": 0x100 + 24}
SGPR = {"dst": 40, "s0": 4, "s1": 16, "s2": 24}
OFF = 124


def choose(registers, *fields, **others):
    return {field: registers[field] for field in fields} | others


def sop2(code, f):
    return [2 << 30 | code << 23 | f("dst") << 16 | f("s1") << 8 | f("s0")] + f("more", [])


def sopk(code, f):
    return [11 << 28 | code << 23 | f("dst") << 16 | f("constant", 0x1234)] + f("more", [])


def sop1(code, f):
    return [0x17D << 23 | f("dst") << 16 | code << 8 | f("s0")] + f("more", [])


def sopc(code, f):
    return [0x17E << 23 | code << 16 | f("s1") << 8 | f("s0")] + f("more", [])


def sopp(code, f):
    return [0x17F << 23 | code << 16 | f("constant")]


def smem(code, f):
    first = 0x3D << 26 | code << 18 | f("glc") << 14 | f("dlc") << 13 | f("dst") << 6 | f("s0") >> 1
    return [first, f("soffset", OFF) << 25 | f("offset")]


def vop2(code, f):
    return [code << 25 | f("dst") << 17 | (f("s1") & 0xFF) << 9 | f("s0")] + f("more", [])


def vop1(code, f):
    return [0x3F << 25 | f("dst") << 17 | code << 9 | f("s0")] + f("more", [])


def vopc(code, f):
    return [0x3E << 25 | code << 17 | (f("s1") & 0xFF) << 9 | f("s0")] + f("more", [])


def vop3(code, f):
    first = 0x35 << 26 | code << 16 | f("clamp") << 15 | f("op_sel") << 11 | f("sdst") << 8 | f("abs") << 8 | f("dst")
    return [first, f("neg") << 29 | f("omod") << 27 | f("s2") << 18 | f("s1") << 9 | f("s0")] + f("more", [])


def vop3p(code, f):
    high = f("op_sel_hi", 7)
    first = 0xCC << 24 | code << 16 | f("clamp") << 15 | high >> 2 << 14 | f("op_sel") << 11 | f("neg_hi") << 8 | f("dst")
    return [first, f("neg") << 29 | (high & 3) << 27 | f("s2") << 18 | f("s1") << 9 | f("s0")] + f("more", [])


def ds(code, f):
    first = 0x36 << 26 | code << 18 | f("gds") << 17 | f("offset", 0x0102)
    return [first, f("dst") << 24 | (f("s2") & 0xFF) << 16 | (f("s1") & 0xFF) << 8 | f("s0") & 0xFF]


def flat(segment):
    def words(code, f):
        cache = f("slc") << 15 | f("glc") << 14 | f("dlc") << 13
        first = 0x37 << 26 | code << 18 | segment << 16 | cache | f("offset", 0x10)
        return [first, f("dst") << 24 | f("saddr", OFF) << 16 | (f("s1") & 0xFF) << 8 | f("s0") & 0xFF | f("sve") << 23]

    return words


def buffer(first, f):
    cache = f("glc") << 14 | f("dlc") << 13 | f("slc") << 12
    modes = f("idxen") << 23 | f("offen", 1) << 22 | f("tfe") << 21
    second = f("soffset", 5) << 24 | modes | f("resource", 2) << 16 | (f("s1") & 0xFF) << 8 | f("s0") & 0xFF
    return [first | cache | f("offset", 0x10), second]


def mubuf(code, f):
    return buffer(0x38 << 26 | code << 18, f)


def mtbuf(code, f):
    return buffer(0x3A << 26 | f("format", 22) << 19 | code << 15, f)


def vopd(code, f):
    other = f("other", 16 if code < 16 else 8)
    x, y = (other, code) if code > 15 else (code, other)
    first = 0x32 << 26 | x << 22 | y << 17 | (f("s1x") & 0xFF) << 9 | f("s0x", 0x102)
    return [first, f("dst") << 24 | f("dsty", 3) << 17 | (f("s1") & 0xFF) << 9 | f("s0")] + f("more", [])


SCALAR = [choose(SGPR, "dst", "s0", "s1"), choose(SGPR, "dst", "s0"), choose(SGPR, "s0", "s1"), choose(SGPR, "s0"), choose(SGPR, "dst")]
VECTOR = [
    choose(VGPR, "dst", "s0", "s1", "s2"),
    choose(VGPR, "dst", "s0", "s1") | choose(SGPR, "s2"),
    choose(VGPR, "dst", "s0", "s1"),
    choose(VGPR, "dst", "s0", s1=SGPR["s1"], s2=SGPR["s2"]),
    choose(VGPR, "dst", "s0", s1=SGPR["s1"]),
    choose(VGPR, "dst", s0=SGPR["s0"], s1=SGPR["s1"]),
    choose(VGPR, "dst", "s0"),
    {},
]
LDS = [
    choose(VGPR, *fields, gds=gds)
    for fields in (("dst", "s0", "s1", "s2"), ("dst", "s0", "s1"), ("dst", "s0"), ("dst",), ("s0", "s1", "s2"), ("s0", "s1"), ("s1",), ("s0",), ())
    for gds in (0, 1)
] + [{"offset": 0, "gds": 0}]
MEMORY = [choose(VGPR, *fields) for fields in (("dst", "s0", "s1"), ("dst", "s0"), ("s0", "s1"), ("dst",), ("s1",), ())]
BUFFER = [choose(VGPR, "s0", "s1"), choose(VGPR, "s0"), {"offset": 0, "soffset": 0, "resource": 0, "offen": 0}]
LITERAL = [fields | {"more": [0x12345678]} for fields in VECTOR]

# Name, codes, words, fields to try.
FORMATS = [
    ("SOP2", 0x60, sop2, SCALAR),
    ("SOPK", 0x1D, sopk, [choose(SGPR, "dst"), {}, {"more": [0x12345678]}]),
    ("SOP1", 0x100, sop1, SCALAR),
    ("SOPC", 0x80, sopc, SCALAR),
    ("SOPP", 0x80, sopp, [{"constant": 4}, {}]),
    ("SMEM", 0x100, smem, [choose(SGPR, "dst", "s0", offset=16), choose(SGPR, "s0", offset=16), {}]),
    ("VOP2", 0x3E, vop2, VECTOR + LITERAL),
    ("VOP1", 0x100, vop1, VECTOR),
    ("VOPC", 0x100, vopc, VECTOR),
    ("VOP3", 0x400, vop3, VECTOR),
    ("VOP3P", 0x80, vop3p, VECTOR + [fields | {"op_sel_hi": 0} for fields in VECTOR]),
    ("DS", 0x100, ds, LDS),
    ("FLAT", 0x80, flat(0), MEMORY),
    ("SCRATCH", 0x80, flat(1), [fields | {"sve": 1} for fields in MEMORY]),
    ("GLOBAL", 0x80, flat(2), MEMORY),
    ("MUBUF", 0x100, mubuf, BUFFER),
    ("MTBUF", 0x10, mtbuf, BUFFER),
    ("VOPD", 0x20, vopd, [fields | more for fields in (VECTOR[2], VECTOR[6]) for more in ({}, {"more": [0x12345678]}, {"s1x": 6}, {"s1x": 6, "more": [0x12345678]})]),
]

# Where VOP3 has the other formats.
PROMOTED = {"VOPC": 0, "VOP2": 0x100, "VOP1": 0x180}
