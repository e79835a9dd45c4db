# SPDX-License-Identifier: MIT OR Apache-2.0
"""The kernels of test_driver.py."""

import triton
import triton.language as tl


@triton.jit
def add(x, y, out, length, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < length
    tl.store(out + at, tl.load(x + at, inside) + tl.load(y + at, inside), inside)


@triton.jit
def increase(x, by, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + at, tl.load(x + at) + by)


@triton.jit
def store_far_away(x, distance):
    at = tl.arange(0, 64)
    tl.store(x + distance + at, at)


@triton.jit
def scalars(
    out,
    small: tl.int8,
    short: tl.int16,
    plain: tl.int32,
    long: tl.int64,
    byte: tl.uint8,
    word: tl.uint64,
    half: tl.float16,
    brain: tl.bfloat16,
    single: tl.float32,
    double: tl.float64,
    flag,
    unused,
    number,
):
    tl.store(out + 0, small.to(tl.float64))
    tl.store(out + 1, short.to(tl.float64))
    tl.store(out + 2, plain.to(tl.float64))
    tl.store(out + 3, long.to(tl.float64))
    tl.store(out + 4, byte.to(tl.float64))
    tl.store(out + 5, word.to(tl.float64))
    tl.store(out + 6, half.to(tl.float64))
    tl.store(out + 7, brain.to(tl.float64))
    tl.store(out + 8, single.to(tl.float64))
    tl.store(out + 9, double)
    tl.store(out + 10, flag.to(tl.float64))
    tl.store(out + 11, number + 0.0)
    if unused is not None:
        tl.store(out + 12, tl.load(unused))


@triton.jit
def of_tuples(out, pair, nested, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    first, second = pair
    tl.store(out + at, tl.load(first + at) * second + tl.load(nested[1][0] + at) * nested[0])


@triton.jit
def through_descriptors(source, target, rows: tl.constexpr, columns: tl.constexpr):
    tile = source.load([rows, columns])
    target.store([0, 0], tile * 2)


@triton.jit
def row_sums(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    total = tl.zeros([BLOCK], tl.float32)
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x + row * columns + at, at < columns, 0.0)
    tl.atomic_add(out + row, tl.sum(total))


tuned_row_sums = triton.autotune(
    [triton.Config({"BLOCK": size}, num_warps=warps) for size in (64, 256) for warps in (1, 4)],
    key=["columns"],
    reset_to_zero=["out"],
)(row_sums)

restored_increase = triton.autotune([triton.Config({"BLOCK": 64}, num_warps=warps) for warps in (1, 2)], key=["by"], restore_value=["x"])(
    increase
)


@triton.jit
def product(a, b, out, SIZE: tl.constexpr):
    rows, columns = tl.arange(0, SIZE)[:, None], tl.arange(0, SIZE)[None, :]
    left, right = tl.load(a + rows * SIZE + columns), tl.load(b + rows * SIZE + columns)
    tl.store(out + rows * SIZE + columns, tl.dot(left, right))
