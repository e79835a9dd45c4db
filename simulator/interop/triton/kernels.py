# SPDX-License-Identifier: MIT OR Apache-2.0
"""Triton kernels as in models."""

import triton
import triton.language as tl


@triton.jit
def vector_add(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    tl.store(out + i, tl.load(a + i, mask=live) + tl.load(b + i, mask=live), mask=live)


@triton.jit
def arithmetic(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    x, y = tl.load(a + i, mask=live), tl.load(b + i, mask=live, other=1.0)
    result = tl.exp(-tl.abs(x)) * tl.sin(y) + tl.sqrt(tl.abs(x) + 1.0) / (tl.abs(y) + 0.5) + tl.log(tl.abs(y) + 1.0)
    result += tl.erf(x) + tl.math.rsqrt(tl.abs(y) + 1.0) + tl.floor(x) - tl.sigmoid(y)
    tl.store(out + i, tl.where(x > y, result, tl.maximum(tl.minimum(result, 5.0), -5.0)), mask=live)


@triton.jit
def integers(a, b, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    x, y = tl.load(a + i, mask=live), tl.load(b + i, mask=live, other=1)
    result = (x * 3 + y) ^ (x >> 3) | (y << 2) & 0xFF
    result = result // tl.where(y == 0, 1, y) + x % tl.where(y == 0, 7, y) - tl.abs(x)
    tl.store(out + i, result, mask=live)


@triton.jit
def softmax(x, out, stride, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0) * stride
    column = tl.arange(0, BLOCK)
    live = column < columns
    value = tl.load(x + row + column, mask=live, other=-float("inf"))
    power = tl.exp(value - tl.max(value, axis=0))
    tl.store(out + row + column, power / tl.sum(power, axis=0), mask=live)


@triton.jit
def layer_norm(x, weight, bias, out, columns, epsilon, BLOCK: tl.constexpr):
    row = tl.program_id(0) * columns
    column = tl.arange(0, BLOCK)
    live = column < columns
    value = tl.load(x + row + column, mask=live, other=0.0).to(tl.float32)
    mean = tl.sum(value, axis=0) / columns
    centred = tl.where(live, value - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + epsilon)
    result = centred * scale * tl.load(weight + column, mask=live) + tl.load(bias + column, mask=live)
    tl.store(out + row + column, result, mask=live)


@triton.jit
def matmul(
    a, b, c, m, n, k, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, TOTAL: tl.constexpr, EXACT: tl.constexpr
):
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)[:, None]
    column = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    total = tl.zeros((ROWS, COLUMNS), dtype=TOTAL)
    for start in range(0, k, DEPTH):
        across = start + tl.arange(0, DEPTH)[None, :]
        down = start + tl.arange(0, DEPTH)[:, None]
        if EXACT:
            left = tl.load(a + row * k + across)
            right = tl.load(b + down * n + column)
        else:
            left = tl.load(a + row * k + across, mask=(row < m) & (across < k), other=0)
            right = tl.load(b + down * n + column, mask=(down < k) & (column < n), other=0)
        total = tl.dot(left, right, total, out_dtype=TOTAL)
    tl.store(c + row * n + column, total, mask=(row < m) & (column < n))


@triton.jit
def attention(q, k, v, out, length, scale, WIDTH: tl.constexpr, QUERIES: tl.constexpr, KEYS: tl.constexpr):
    head = tl.program_id(1) * length * WIDTH
    row = tl.program_id(0) * QUERIES + tl.arange(0, QUERIES)
    across = tl.arange(0, WIDTH)
    queries = tl.load(q + head + row[:, None] * WIDTH + across[None, :])
    most = tl.full((QUERIES,), -float("inf"), tl.float32)
    total = tl.zeros((QUERIES,), tl.float32)
    result = tl.zeros((QUERIES, WIDTH), tl.float32)
    for start in range(0, length, KEYS):
        key = start + tl.arange(0, KEYS)
        scores = tl.dot(queries, tl.load(k + head + key[None, :] * WIDTH + across[:, None])) * scale
        # Causal: a query sees the keys up to its own position.
        scores = tl.where(row[:, None] >= key[None, :], scores, -float("inf"))
        new_most = tl.maximum(most, tl.max(scores, axis=1))
        power = tl.exp(scores - new_most[:, None])
        shrink = tl.exp(most - new_most)
        total = total * shrink + tl.sum(power, axis=1)
        values = tl.load(v + head + key[:, None] * WIDTH + across[None, :])
        result = result * shrink[:, None] + tl.dot(power.to(values.dtype), values)
        most = new_most
    tl.store(out + head + row[:, None] * WIDTH + across[None, :], result / total[:, None])


@triton.jit
def histogram(values, counts, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    tl.atomic_add(counts + tl.load(values + i, mask=live, other=0), 1, mask=live)


@triton.jit
def atomics(values, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    value = tl.load(values + i, mask=live, other=0)
    tl.atomic_max(out + 0, tl.max(value, axis=0))
    tl.atomic_min(out + 1, tl.min(value, axis=0))
    tl.atomic_xor(out + 2, tl.xor_sum(value, axis=0))
    tl.atomic_or(out + 3 + i * 0, value, mask=live)
    tl.atomic_cas(out + 4, 0, tl.program_id(0) + 1)


@triton.jit
def float_atomics(values, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    live = i < n
    tl.atomic_add(out + i % 16, tl.load(values + i, mask=live, other=0.0), mask=live)


@triton.jit
def prefix_sum(x, out, columns, BLOCK: tl.constexpr):
    column = tl.program_id(0) * columns + tl.arange(0, BLOCK)
    live = tl.arange(0, BLOCK) < columns
    tl.store(out + column, tl.cumsum(tl.load(x + column, mask=live, other=0), axis=0), mask=live)


@triton.jit
def sort(x, out, COLUMNS: tl.constexpr):
    column = tl.program_id(0) * COLUMNS + tl.arange(0, COLUMNS)
    tl.store(out + column, tl.sort(tl.load(x + column)))


@triton.jit
def arg_max(x, out, columns, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    value = tl.load(x + tl.program_id(0) * columns + column, mask=column < columns, other=-float("inf"))
    tl.store(out + tl.program_id(0), tl.argmax(value, axis=0))


@triton.jit
def transpose(x, out, rows, columns, TILE: tl.constexpr):
    row = tl.program_id(0) * TILE + tl.arange(0, TILE)
    column = tl.program_id(1) * TILE + tl.arange(0, TILE)
    inside = (row[:, None] < rows) & (column[None, :] < columns)
    tile = tl.load(x + row[:, None] * columns + column[None, :], mask=inside)
    tl.store(out + column[:, None] * rows + row[None, :], tl.trans(tile), mask=tl.trans(inside))


@triton.jit
def gather(table, index, out, width, BLOCK: tl.constexpr):
    row = tl.load(index + tl.program_id(0))
    column = tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0) * width + column, tl.load(table + row * width + column, mask=column < width), mask=column < width)


@triton.jit
def dropout(x, out, n, seed, p, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    keep = tl.rand(seed, i) > p
    tl.store(out + i, tl.where(keep, tl.load(x + i, mask=i < n) / (1 - p), 0.0), mask=i < n)


@triton.jit
def convert(x, half, brain, eighth, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, mask=i < n)
    tl.store(half + i, value.to(tl.float16), mask=i < n)
    tl.store(brain + i, value.to(tl.bfloat16), mask=i < n)
    tl.store(eighth + i, value.to(tl.float8e4b8), mask=i < n)


@triton.jit
def softmax_of_many_rows(x, out, rows, columns, BLOCK: tl.constexpr):
    column = tl.arange(0, BLOCK)
    for row in tl.range(tl.program_id(0), rows, tl.num_programs(0), num_stages=2):
        value = tl.load(x + row * columns + column, mask=column < columns, other=-float("inf"))
        power = tl.exp(value - tl.max(value, axis=0))
        tl.store(out + row * columns + column, power / tl.sum(power, axis=0), mask=column < columns)


@triton.jit
def layer_norm_gradients(x, weight, given, of_x, of_weight, of_bias, locks, columns, eps, LOCKS: tl.constexpr, BLOCK: tl.constexpr):
    row, column = tl.program_id(0), tl.arange(0, BLOCK)
    live = column < columns
    value = tl.load(x + row * columns + column, mask=live, other=0.0).to(tl.float32)
    gradient = tl.load(given + row * columns + column, mask=live, other=0.0)
    mean = tl.sum(value, axis=0) / columns
    centred = tl.where(live, value - mean, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / columns + eps)
    normal = centred * scale
    part = tl.load(weight + column, mask=live, other=0.0) * gradient
    result = scale * (part - tl.sum(part, axis=0) / columns - normal * (tl.sum(part * normal, axis=0) / columns))
    tl.store(of_x + row * columns + column, result, mask=live)
    # Rows that share a lock add to the same sums, one after the other.
    group = row % LOCKS
    while tl.atomic_cas(locks + group, 0, 1) == 1:
        pass
    place = group * columns + column
    tl.store(of_weight + place, tl.load(of_weight + place, mask=live) + gradient * normal, mask=live)
    tl.store(of_bias + place, tl.load(of_bias + place, mask=live) + gradient, mask=live)
    tl.debug_barrier()
    tl.atomic_xchg(locks + group, 0)


@triton.autotune(
    [
        triton.Config({"ROWS": rows, "COLUMNS": columns, "DEPTH": 32}, num_warps=warps, num_stages=2)
        for rows, columns, warps in ((32, 32, 2), (64, 64, 4), (128, 64, 8))
    ],
    key=["m", "n", "k"],
)
@triton.jit
def tuned_matmul(a, b, out, m, n, k, ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr, TOGETHER: tl.constexpr):
    # Programs that run together use the same rows and columns.
    wide, tall = tl.cdiv(n, COLUMNS), tl.cdiv(m, ROWS)
    group = tl.program_id(0) // (TOGETHER * wide)
    height = min(tall - group * TOGETHER, TOGETHER)
    rest = tl.program_id(0) % (TOGETHER * wide)
    row = (group * TOGETHER + rest % height) * ROWS + tl.arange(0, ROWS)
    column = rest // height * COLUMNS + tl.arange(0, COLUMNS)
    depth = tl.arange(0, DEPTH)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for start in range(0, k, DEPTH):
        at = start + depth
        left = tl.load(a + row[:, None] * k + at[None, :], mask=(row[:, None] < m) & (at[None, :] < k), other=0.0)
        right = tl.load(b + at[:, None] * n + column[None, :], mask=(at[:, None] < k) & (column[None, :] < n), other=0.0)
        total = tl.dot(left, right, total)
    tl.store(out + row[:, None] * n + column[None, :], total.to(tl.float16), mask=(row[:, None] < m) & (column[None, :] < n))
