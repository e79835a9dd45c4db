# SPDX-License-Identifier: MIT OR Apache-2.0
"""Candidate lines of instructions that gfx908 has and later parts lack, or do otherwise: matrix products, whose sums are in
accumulation registers, atomics without a result, and an older form of a product."""

import matrix
import vector

GPU = "gfx908"

# Name, registers of A and of B, and of the result, and blocks.
SHAPES = [
    ("f32_32x32x4f16", 2, 32, 2), ("f32_16x16x4f16", 2, 16, 4), ("f32_4x4x4f16", 2, 4, 16), ("f32_32x32x8f16", 2, 16, 1),
    ("f32_16x16x16f16", 2, 4, 1), ("f32_32x32x2bf16", 1, 32, 2), ("f32_16x16x2bf16", 1, 16, 4), ("f32_4x4x2bf16", 1, 4, 16),
    ("f32_32x32x4bf16", 1, 16, 1), ("f32_16x16x8bf16", 1, 4, 1), ("i32_32x32x8i8", 1, 16, 1), ("i32_16x16x16i8", 1, 4, 1),
    ("f32_32x32x1f32", 1, 32, 2), ("f32_16x16x1f32", 1, 16, 4), ("f32_4x4x1f32", 1, 4, 16), ("f32_32x32x2f32", 1, 16, 1),
    ("f32_16x16x4f32", 1, 4, 1), ("i32_32x32x4i8", 1, 32, 2), ("i32_16x16x4i8", 1, 16, 4), ("i32_4x4x4i8", 1, 4, 16),
]


def products():
    regs, out = matrix.regs, []
    for name, inputs, results, blocks in SHAPES:
        op = f"v_mfma_{name}"
        a, b, c, d = regs(2, inputs), regs(4, inputs), regs(8, results, "a"), regs(64, results, "a")
        out += [f"{op} {d}, {a}, {b}, {c}", f"{op} {c}, {a}, {b}, {c}", f"{op} {d}, {a}, {b}, 1.0", f"{op} {d}, {a}, {b}, 0"]
        out += [f"{op} {d}, {regs(2, inputs, 'a')}, {b}, {c}", f"{op} {d}, {a}, {regs(4, inputs, 'a')}, {c}"]
        out += matrix.exchanged(f"{op} {d}, {a}, {b}, {c}", blocks)
    return out


def candidates():
    """All lines."""
    out = vector.lines("v_mul_legacy_f32", "i1 f1 f1", vector.Dealer())
    for name in ("add_f32", "pk_add_f16"):
        out += [f"global_atomic_{name} v[4:5], v10, off", f"global_atomic_{name} v4, v10, s[8:9] offset:16 slc"]
    return out + products()
