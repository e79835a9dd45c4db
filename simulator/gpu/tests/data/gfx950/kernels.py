#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Triton's matrix products for gfx950, compiled without a GPU into this folder. Needs Triton 3.9.

They have loads that transpose, products of formats with and without scales, and more than 64 KiB of LDS.
"""

import pathlib

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

SIDE = 64
TYPES = {"e2m1": "*u8", "e4m3": "*fp8e4nv", "e5m2": "*fp8e5"}


@triton.jit
def product(a, b, c, k, M: tl.constexpr, DEPTH: tl.constexpr):
    row = tl.arange(0, M)[:, None]
    column = tl.arange(0, M)[None, :]
    total = tl.zeros((M, M), dtype=tl.float32)
    for start in range(0, k, DEPTH):
        across = start + tl.arange(0, DEPTH)[None, :]
        down = start + tl.arange(0, DEPTH)[:, None]
        total += tl.dot(tl.load(a + row * k + across), tl.load(b + down * M + column))
    tl.store(c + row * M + column, total)


@triton.jit
def scaled(a, b, of_a, of_b, c, k, M: tl.constexpr, DEPTH: tl.constexpr, A: tl.constexpr, B: tl.constexpr, IN_A: tl.constexpr, IN_B: tl.constexpr):
    """IN_A and IN_B: elements in a byte. A scale is of 32 elements of a row of A, or of a column of B."""
    row = tl.arange(0, M)
    total = tl.zeros((M, M), dtype=tl.float32)
    for start in range(0, k, DEPTH):
        left = tl.load(a + row[:, None] * (k // IN_A) + start // IN_A + tl.arange(0, DEPTH // IN_A)[None, :])
        right = tl.load(b + (start // IN_B + tl.arange(0, DEPTH // IN_B)[:, None]) * M + row[None, :])
        block = row[:, None] * (k // 32) + start // 32 + tl.arange(0, DEPTH // 32)[None, :]
        total = tl.dot_scaled(left, tl.load(of_a + block), A, right, tl.load(of_b + block), B, total)
    tl.store(c + row[:, None] * M + row[None, :], total)


def compiled(name, function, arguments, constants, side):
    signature = arguments | {constant: "constexpr" for constant in constants}
    options = {"num_warps": 4, "matrix_instr_nonkdim": side, "enable_fp_fusion": True}
    made = triton.compile(ASTSource(function, signature, constants), target=GPUTarget("hip", "gfx950", 64), options=options)
    pathlib.Path(__file__).with_name(f"{name}.hsaco").write_bytes(made.asm["hsaco"])
    print(name, "LDS", made.metadata.shared)


def main():
    for name, (a, b), side in (("halves", ("*fp16", "*fp16"), 16), ("eighths", ("*fp8e5", "*fp8e4nv"), 32)):
        compiled(name, product, {"a": a, "b": b, "c": "*fp32", "k": "i32"}, {"M": SIDE, "DEPTH": 128}, side)
    for a, b, side in (("e5m2", "e4m3", 16), ("e4m3", "e2m1", 32), ("e2m1", "e2m1", 16)):
        arguments = {"a": TYPES[a], "b": TYPES[b], "of_a": "*u8", "of_b": "*u8", "c": "*fp32", "k": "i32"}
        inside = {"IN_A": 2 if a == "e2m1" else 1, "IN_B": 2 if b == "e2m1" else 1}
        compiled(f"scaled_{a}_{b}", scaled, arguments, {"M": SIDE, "DEPTH": 256, "A": a, "B": b} | inside, side)


if __name__ == "__main__":
    main()
