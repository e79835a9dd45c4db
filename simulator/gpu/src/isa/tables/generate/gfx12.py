# SPDX-License-Identifier: MIT OR Apache-2.0
"""The formats of GFX12. Those of GFX11 with the same fields are taken from there.

`scope` and `th`, the temporal hint, are the cache bits. Memory instructions but those of LDS have a third word.
"""

from gfx11 import FORMATS as GFX11
from gfx11 import LDS, MEMORY, OFF, PROMOTED, SCALAR, SGPR, VECTOR, VGPR, choose, sop2, sopk, vop3  # noqa: F401

NAME = "gfx12"
HAS_SDWA, HAS_E64_DPP = False, True
# Whether 32-bit forms have only 128 registers for halves.
HAS_HALVES = True
# Whether memory instructions have a scope and a temporal hint, and offsets of 24 bits.
HAS_SCOPES = True
# Types that differ from those of other families.
TYPES = {"v_ldexp_f16": ("F16", ["F16", "F16"], set())}
# Instructions that mean something else than those of the same mnemonic in other families: floats of 8 bits as in the Open Compute
# Project, matrices of which one lane has an element.
OTHERS = {name: f"{name}_ocp" for name in (
    "v_cvt_f32_fp8", "v_cvt_f32_bf8", "v_cvt_pk_f32_fp8", "v_cvt_pk_f32_bf8",
    "v_cvt_pk_fp8_f32", "v_cvt_pk_bf8_f32", "v_cvt_sr_fp8_f32", "v_cvt_sr_bf8_f32",
)} | {name: f"{name}_once" for name in (
    "v_wmma_f32_16x16x16_f16", "v_wmma_f32_16x16x16_bf16", "v_wmma_f16_16x16x16_f16", "v_wmma_bf16_16x16x16_bf16",
    "v_wmma_i32_16x16x16_iu8", "v_wmma_i32_16x16x16_iu4",
)}
PROCESSOR = "gfx1201"
WITH_E64 = {"v_mov_b16"}


def smem(code, f):
    first = 0x3D << 26 | f("th") % 4 << 23 | f("scope") << 21 | code << 13 | f("dst") << 6 | f("s0") >> 1
    return [first, f("soffset", OFF) << 25 | f("offset") & 0xFFFFFF]


def ds(code, f):
    return [0x36 << 26 | code << 18 | f("offset", 0x0102), f("dst") << 24 | (f("s2") & 0xFF) << 16 | (f("s1") & 0xFF) << 8 | f("s0") & 0xFF]


def address(f):
    """The third word."""
    return (f("offset", 0x10) & 0xFFFFFF) << 8 | f("s0") & 0xFF


def flat(segment):
    def words(code, f):
        cache = f("th") << 20 | f("scope") << 18
        first = 0x3B << 26 | segment << 24 | code << 14 | f("saddr", OFF)
        return [first, (f("s1") & 0xFF) << 23 | cache | f("sve") << 17 | f("dst"), address(f)]

    return words


def buffer(first, f):
    modes = f("idxen") << 31 | f("offen", 1) << 30 | f("format", 0) << 23
    second = modes | f("th") << 20 | f("scope") << 18 | f("resource", 2) << 11 | f("s1") & 0xFF
    return [0x31 << 26 | f("tfe") << 22 | first << 14 | f("soffset", 5), second, address(f)]


def mubuf(code, f):
    return buffer(code, lambda name, default=0: 0 if name == "format" else f(name, default))


def mtbuf(code, f):
    return buffer(0x80 | code, lambda name, default=0: f(name, 22 if name == "format" else default))


BUFFER = [choose(VGPR, "s0", "s1"), choose(VGPR, "s0"), {"offset": 0, "soffset": 0, "resource": 0, "offen": 0}]
OWN = {
    "SOP2": (sop2, 0x60, SCALAR + [SCALAR[0] | {"more": [0x12345678]}]),
    "SOPK": (sopk, 0x20, [choose(SGPR, "dst"), {}, {"more": [0x12345678]}]),
    "VOP3": (vop3, 0x400, [*VECTOR[:-1], choose(SGPR, "dst", "s0"), {}]),
    "SMEM": (smem, 0x40, [choose(SGPR, "dst", "s0", offset=16), choose(SGPR, "s0", offset=16), {"offset": 16}, {"soffset": 0}]),
    "DS": (ds, 0x100, [fields for fields in LDS if not fields["gds"]]),
    "FLAT": (flat(0), 0x100, MEMORY),
    "SCRATCH": (flat(1), 0x100, [fields | {"sve": 1} for fields in MEMORY]),
    "GLOBAL": (flat(2), 0x100, MEMORY + [{"offset": 0}]),
    "MUBUF": (mubuf, 0x80, BUFFER),
    "MTBUF": (mtbuf, 0x10, BUFFER),
}
FORMATS = [(name, OWN[name][1], OWN[name][0], OWN[name][2]) if name in OWN else (name, codes, words, tries) for name, codes, words, tries in GFX11]
