# SPDX-License-Identifier: MIT OR Apache-2.0
"""Candidate lines of instructions that gfx90a has and gfx942 lacks: unfused products and sums, matrix instructions, loads into LDS."""

import matrix
import vector

GPU = "gfx90a"

# Name, registers of A and of B, and of the result, and blocks.
SHAPES = [
    ("f32_32x32x4f16", 2, 32, 2), ("f32_16x16x4f16", 2, 16, 4), ("f32_4x4x4f16", 2, 4, 16), ("f32_32x32x8f16", 2, 16, 1),
    ("f32_16x16x16f16", 2, 4, 1), ("f32_32x32x4bf16_1k", 2, 32, 2), ("f32_16x16x4bf16_1k", 2, 16, 4),
    ("f32_4x4x4bf16_1k", 2, 4, 16), ("f32_32x32x8bf16_1k", 2, 16, 1), ("f32_16x16x16bf16_1k", 2, 4, 1),
    ("f32_32x32x2bf16", 1, 32, 2), ("f32_16x16x2bf16", 1, 16, 4), ("f32_4x4x2bf16", 1, 4, 16),
    ("f32_32x32x4bf16", 1, 16, 1), ("f32_16x16x8bf16", 1, 4, 1), ("i32_32x32x8i8", 1, 16, 1), ("i32_16x16x16i8", 1, 4, 1),
    ("f64_16x16x4f64", 2, 8, 1), ("f64_4x4x4f64", 2, 2, 1), ("f32_32x32x1f32", 1, 32, 2), ("i32_4x4x4i8", 1, 4, 16),
]


def products():
    regs, out = matrix.regs, []
    for name, inputs, results, blocks in SHAPES:
        op = f"v_mfma_{name}"
        a, b, c, d = regs(2, inputs), regs(4, inputs), regs(8, results), regs(80, results)
        out += [f"{op} {d}, {a}, {b}, {c}", f"{op} {c}, {a}, {b}, {c}", f"{op} {d}, {a}, {b}, 1.0"]
        out += [f"{op} {regs(16, results, 'a')}, {regs(2, inputs, 'a')}, {b}, {regs(64, results, 'a')}"]
        if "f64" not in name:
            out += matrix.exchanged(f"{op} {d}, {a}, {b}, {c}", blocks)
    return out


def candidates():
    """All lines."""
    deal = vector.Dealer()
    out = vector.lines("v_mac_f32", "i1 f1 f1", deal)
    for name in ("v_mad_f32", "v_mad_legacy_f32"):
        out += vector.lines(name, "i1 f1 f1 f1", deal)
    out += ["v_madmk_f32 v40, v4, 0x40490fdb, v10", "v_madmk_f32 v40, 2.0, 0x1, v10"]
    out += ["v_madak_f32 v40, v4, v10, 0x40490fdb", "v_madak_f32 v40, -1.0, v10, 0x40490fdb", "buffer_invl2"]
    for name in ("ubyte", "sbyte", "ushort", "sshort", "dword"):
        out += [f"global_load_{name} v[4:5], off lds", f"global_load_{name} v4, s[8:9] offset:16 glc lds"]
        out += [f"scratch_load_{name} v4, off lds", f"scratch_load_{name} off, s8 offset:16 lds"]
    return out + products()
