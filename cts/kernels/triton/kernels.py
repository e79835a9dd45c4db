# SPDX-License-Identifier: MIT OR Apache-2.0
"""Triton kernels, compiled without a GPU.

    python kernels.py OUTPUT_FOLDER [TARGET]    writes NAME.TARGET.hsaco and NAME.TARGET.json for each kernel
"""

import json
import pathlib
import sys

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


# kernel: vector_add
# args: a *f32 in, b *f32 in, out *f32 out, n i32, scratch *void null, profile *void null
# block: 256
# grid: x = ceil(n / 1024)
# does: out[i] = a[i] + b[i] for i < n
# for: Triton's form: two trailing pointers, null
@triton.jit
def vector_add(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    tl.store(out + i, tl.load(a + i, mask=live) + tl.load(b + i, mask=live), mask=live)


# kernel: softmax
# args: x *f32 in, out *f32 out, row_stride i32, columns i32, scratch *void null, profile *void null
# block: 256
# grid: x = rows
# lds: 16
# does: out = softmax of each row of x; rows start row_stride elements apart, columns up to 256 are used
# for: LDS size that only the JSON states
@triton.jit
def softmax(x, out, row_stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * row_stride
    column = tl.arange(0, BLOCK)
    live = column < columns
    value = tl.load(x + row + column, mask=live, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row + column, power / tl.sum(power, axis=0), mask=live)


# kernel: matmul
# args: a *f16 in, b *f16 in, c *f32 out, m i32, n i32, k i32, scratch *void null, profile *void null
# block: 256
# grid: x = ceil(m / 32), y = ceil(n / 32)
# lds: 2048
# does: c[m,n] = a[m,k] * b[k,n], row major, f32 sums; no size need divide by 32
# for: v_mfma_f32_*_f16, masked tiles
@triton.jit
def matmul(a, b, c, m, n, k, TILE: tl.constexpr, DEPTH: tl.constexpr):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)[:, None]
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)[None, :]
    total = tl.zeros((TILE, TILE), dtype=tl.float32)
    for start in range(0, k, DEPTH):
        across = start + tl.arange(0, DEPTH)[None, :]
        down = start + tl.arange(0, DEPTH)[:, None]
        left = tl.load(a + row * k + across, mask=(row < m) & (across < k), other=0.0)
        right = tl.load(b + down * n + column, mask=(down < k) & (column < n), other=0.0)
        total += tl.dot(left, right)
    tl.store(c + row * n + column, total, mask=(row < m) & (column < n))


KERNELS = {
    "vector_add": (
        vector_add,
        {"a": "*fp32", "b": "*fp32", "out": "*fp32", "n": "i32"},
        {"BLOCK": 1024},
    ),
    "softmax": (
        softmax,
        {"x": "*fp32", "out": "*fp32", "row_stride": "i32", "columns": "i32"},
        {"BLOCK": 256},
    ),
    "matmul": (
        matmul,
        {"a": "*fp16", "b": "*fp16", "c": "*fp32", "m": "i32", "n": "i32", "k": "i32"},
        {"TILE": 32, "DEPTH": 32},
    ),
}


def main():
    folder = pathlib.Path(sys.argv[1])
    arch = sys.argv[2] if len(sys.argv) > 2 else "gfx942"
    target = GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)
    folder.mkdir(parents=True, exist_ok=True)
    for name, (function, arguments, constants) in KERNELS.items():
        signature = arguments | {constant: "constexpr" for constant in constants}
        made = triton.compile(ASTSource(function, signature, constants), target=target, options={"num_warps": 4, "enable_fp_fusion": True})
        facts = {
            "name": made.metadata.name,
            "target": arch,
            "triton": triton.__version__,
            "block": made.metadata.num_warps * made.metadata.warp_size,
            "shared": made.metadata.shared,
            "signature": arguments,
            "constants": constants,
            "trailing": ["global scratch pointer", "profile scratch pointer"],
        }
        (folder / f"{name}.{arch}.hsaco").write_bytes(made.asm["hsaco"])
        (folder / f"{name}.{arch}.json").write_text(json.dumps(facts, indent=2) + "\n")


if __name__ == "__main__":
    main()
