# SPDX-License-Identifier: MIT OR Apache-2.0
"""The formats of GFX10. Those of GFX11 with the same fields are taken from there."""

from gfx11 import BUFFER, LDS, LITERAL, MEMORY, SCALAR, SGPR, VECTOR, choose
from gfx11 import ds, sop1, sop2, sopc, sopk, sopp, vop1, vop2, vop3, vop3p, vopc

NAME = "gfx10"
# The family whose rows the tables leave out.
BASE = None
HAS_SDWA, HAS_E64_DPP = True, False
# Whether 32-bit forms have only 128 registers for halves.
HAS_HALVES = False
WITH_E64 = set()
# Whether memory instructions have a scope and a temporal hint, and offsets of 24 bits.
HAS_SCOPES = False
# Types that differ from those of other families.
TYPES = {}
# Instructions that mean something else than those of the same mnemonic in other families.
OTHERS = {}
PROCESSOR = "gfx1030"
OFF = 125


def smem(code, f):
    first = 0x3D << 26 | code << 18 | f("glc") << 16 | f("dlc") << 14 | f("dst") << 6 | f("s0") >> 1
    return [first, f("soffset", OFF) << 25 | f("offset")]


def flat(segment):
    def words(code, f):
        cache = f("slc") << 17 | f("glc") << 16 | f("dlc") << 12
        first = 0x37 << 26 | code << 18 | segment << 14 | f("lds") << 13 | cache | f("offset", 0x10)
        return [first, f("dst") << 24 | f("saddr", OFF) << 16 | (f("s1") & 0xFF) << 8 | f("s0") & 0xFF]

    return words


def buffer(first, second, f):
    modes = f("dlc") << 15 | f("glc") << 14 | f("idxen") << 13 | f("offen", 1) << 12
    second |= f("soffset", 5) << 24 | f("tfe") << 23 | f("slc") << 22
    return [first | modes | f("offset", 0x10), second | f("resource", 2) << 16 | (f("s1") & 0xFF) << 8 | f("s0") & 0xFF]


def mubuf(code, f):
    return buffer(0x38 << 26 | code << 18 | f("lds") << 16, 0, f)


def mtbuf(code, f):
    return buffer(0x3A << 26 | f("format", 22) << 19 | (code & 7) << 16, code >> 3 << 21, f)


FORMATS = [
    ("SOP2", 0x60, sop2, SCALAR),
    ("SOPK", 0x1D, sopk, [choose(SGPR, "dst"), {}, choose(SGPR, "dst", literal=1), {"more": [0x12345678]}]),
    ("SOP1", 0x100, sop1, SCALAR),
    ("SOPC", 0x80, sopc, SCALAR),
    ("SOPP", 0x80, sopp, [{"constant": 4}, {}]),
    ("SMEM", 0x100, smem, [choose(SGPR, "dst", "s0", offset=16), choose(SGPR, "s0", offset=16), choose(SGPR, "dst"), {}]),
    ("VOP2", 0x3E, vop2, VECTOR + LITERAL),
    ("VOP1", 0x100, vop1, VECTOR),
    ("VOPC", 0x100, vopc, VECTOR),
    ("VOP3", 0x400, vop3, VECTOR),
    ("VOP3P", 0x80, vop3p, VECTOR + [fields | {"op_sel_hi": 0} for fields in VECTOR]),
    ("DS", 0x100, ds, LDS),
    ("FLAT", 0x80, flat(0), MEMORY),
    ("SCRATCH", 0x80, flat(1), MEMORY),
    ("GLOBAL", 0x80, flat(2), MEMORY),
    ("MUBUF", 0x100, mubuf, BUFFER),
    ("MTBUF", 0x10, mtbuf, BUFFER),
]

# Where VOP3 has the other formats.
PROMOTED = {"VOPC": 0, "VOP2": 0x100, "VOP1": 0x180}
