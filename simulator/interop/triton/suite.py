#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Triton's kernels against numpy, over Triton's own driver for AMD GPUs or over that of Windlass.

    windlass exec -- python3 simulator/interop/triton/suite.py [NAME...]
    python3 simulator/interop/triton/suite.py --device hip-sim://gfx942 [NAME...]

Needs the packages triton (3.9) and numpy. Triton's own driver needs a C compiler for its stub, the other one the package
windlass. PyTorch is not needed: the folder `torch` beside this file replaces it. Prints a line for each kernel, then the
number that agree; the exit code is 0 if all do.
"""

import os
import sys
import time

# The folder `torch` beside this file replaces PyTorch.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import chosen

chosen.use(chosen.take_device(sys.argv))

import numpy as np
import torch
import triton
import triton.language as tl
from torch import Tensor

import kernels

CASES = {}
rng = np.random.default_rng(7)


def case(function):
    CASES[function.__name__] = function
    return function


def close(found, expected, tolerance):
    """The greatest difference against the greatest value, which must not be more than the tolerance."""
    found, expected = found.astype(np.float64), np.asarray(expected).astype(np.float64)
    worst = np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-30)
    assert worst <= tolerance, f"off by {worst:.1e}, {tolerance:g} is allowed"
    return f"off by {worst:.1e}"


def equal(found, expected):
    wrong = np.count_nonzero(found != expected)
    assert wrong == 0, f"{wrong} of {found.size} differ"
    return "equal"


def floats(*shape, kind=np.float32):
    return rng.standard_normal(shape).astype(kind)


def to_brain(values):
    """bfloat16 as integers, rounded to nearest even."""
    bits = values.astype(np.float32).view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_brain(bits):
    return (bits.astype(np.uint32) << 16).view(np.float32)


def from_eighth(bits):
    """E4M3FNUZ: bias 8, no infinities, 0x80 is NaN."""
    sign = np.where(bits & 0x80, -1.0, 1.0)
    exponent, mantissa = (bits >> 3 & 15).astype(int), (bits & 7).astype(np.float64)
    value = np.where(exponent == 0, mantissa * 2.0**-10, (1 + mantissa / 8) * 2.0 ** (exponent - 8.0))
    return np.where(bits == 0x80, np.nan, sign * value)


@case
def vector_add():
    n = 98432
    a, b = floats(n), floats(n)
    out = torch.zeros(n, torch.float32)
    kernels.vector_add[(triton.cdiv(n, 1024),)](Tensor(a), Tensor(b), out, n, BLOCK=1024)
    return equal(out.numpy().view(np.float32), a + b)


@case
def vector_add_half():
    n = 5000
    a, b = floats(n, kind=np.float16), floats(n, kind=np.float16)
    out = torch.zeros(n, torch.float16)
    kernels.vector_add[(triton.cdiv(n, 256),)](Tensor(a), Tensor(b), out, n, BLOCK=256)
    return equal(out.numpy().view(np.float16), a + b)


@case
def arithmetic():
    from math import erf

    n = 3001
    x, y = floats(n), floats(n)
    out = torch.zeros(n, torch.float32)
    kernels.arithmetic[(triton.cdiv(n, 512),)](Tensor(x), Tensor(y), out, n, BLOCK=512)
    p, q = x.astype(np.float64), y.astype(np.float64)
    expected = np.exp(-abs(p)) * np.sin(q) + np.sqrt(abs(p) + 1) / (abs(q) + 0.5) + np.log(abs(q) + 1)
    expected += np.vectorize(erf)(p) + 1 / np.sqrt(abs(q) + 1) + np.floor(p) - 1 / (1 + np.exp(-q))
    return close(out.numpy().view(np.float32), np.where(p > q, expected, np.clip(expected, -5, 5)), 1e-5)


@case
def integers():
    n = 3001
    for kind in (np.int32, np.int64):
        x, y = (rng.integers(-100000, 100000, n).astype(kind) for _ in range(2))
        out = Tensor(np.zeros(n, kind))
        kernels.integers[(triton.cdiv(n, 512),)](Tensor(x), Tensor(y), out, n, BLOCK=512)
        first = (x * kind(3) + y) ^ (x >> kind(3)) | (y << kind(2)) & kind(0xFF)
        divisor, modulus = np.where(y == 0, 1, y), np.where(y == 0, 7, y)
        # As in C, quotients are truncated towards zero.
        expected = np.trunc(first / divisor).astype(kind) + np.fmod(x, modulus) - abs(x)
        equal(out.numpy(), expected)
    return "equal"


@case
def softmax():
    rows, columns = 127, 781
    x = floats(rows, columns)
    out = torch.zeros((rows, columns), torch.float32)
    kernels.softmax[(rows,)](Tensor(x), out, columns, columns, BLOCK=1024)
    power = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return close(out.numpy().view(np.float32), power / power.sum(axis=1, keepdims=True), 1e-5)


@case
def softmax_of_many_rows():
    x = floats(200, 333)
    out = torch.zeros((200, 333), torch.float32)
    kernels.softmax_of_many_rows[(16,)](Tensor(x), out, 200, 333, BLOCK=512)
    power = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    return close(out.numpy(), power / power.sum(axis=1, keepdims=True), 1e-5)


@case
def layer_norm_gradients():
    rows, columns, locks = 60, 500, 4
    x, weight, given = floats(rows, columns), floats(columns), floats(rows, columns)
    of_x = torch.zeros((rows, columns), torch.float32)
    of_weight, of_bias = (torch.zeros((locks, columns), torch.float32) for _ in range(2))
    inputs, free = (Tensor(x), Tensor(weight), Tensor(given)), torch.zeros(locks, torch.int32)
    kernels.layer_norm_gradients[(rows,)](
        *inputs, of_x, of_weight, of_bias, free, columns, 1e-5, LOCKS=locks, BLOCK=512
    )
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    scale = 1 / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5)
    normal, part = centred * scale, given * weight
    expected = scale * (part - part.mean(axis=1, keepdims=True) - normal * (part * normal).mean(axis=1, keepdims=True))
    close(of_weight.numpy().astype(np.float64).sum(axis=0), (given * normal).sum(axis=0), 1e-5)
    close(of_bias.numpy().astype(np.float64).sum(axis=0), given.astype(np.float64).sum(axis=0), 1e-5)
    return close(of_x.numpy(), expected, 1e-5)


@case
def layer_norm():
    rows, columns = 50, 768
    x, weight, bias = floats(rows, columns, kind=np.float16), floats(columns), floats(columns)
    out = torch.zeros((rows, columns), torch.float32)
    kernels.layer_norm[(rows,)](Tensor(x), Tensor(weight), Tensor(bias), out, columns, 1e-5, BLOCK=1024)
    wide = x.astype(np.float64)
    centred = wide - wide.mean(axis=1, keepdims=True)
    expected = centred / np.sqrt((centred**2).mean(axis=1, keepdims=True) + 1e-5) * weight + bias
    return close(out.numpy().view(np.float32), expected, 1e-5)


def product(a, b, left, right, total, result, tolerance, tile=(32, 32, 32), exact=False):
    m, k = left.shape
    n = right.shape[1]
    out = torch.zeros((m, n), result)
    rows, columns, depth = tile
    grid = (triton.cdiv(m, rows), triton.cdiv(n, columns))
    kernels.matmul[grid](a, b, out, m, n, k, ROWS=rows, COLUMNS=columns, DEPTH=depth, TOTAL=total, EXACT=exact)
    expected = left.astype(np.float64) @ right.astype(np.float64)
    found = out.numpy().view(np.int32 if result is torch.int32 else np.float32)
    return close(found, expected, tolerance)


@case
def matmul_half():
    a, b = floats(192, 160, kind=np.float16), floats(160, 130, kind=np.float16)
    return product(Tensor(a), Tensor(b), a, b, tl.float32, torch.float32, 1e-5, (64, 64, 32))


@case
def tuned_matmul():
    a, b = floats(150, 96, kind=np.float16), floats(96, 200, kind=np.float16)
    out = torch.zeros((150, 200), torch.float16)
    grid = lambda meta: (triton.cdiv(150, meta["ROWS"]) * triton.cdiv(200, meta["COLUMNS"]),)
    kernels.tuned_matmul[grid](Tensor(a), Tensor(b), out, 150, 200, 96, TOGETHER=2)
    return close(out.numpy(), a.astype(np.float64) @ b.astype(np.float64), 1e-3)


@case
def matmul_brain():
    a, b = to_brain(floats(100, 64)), to_brain(floats(64, 96))
    left, right = from_brain(a), from_brain(b)
    return product(
        Tensor(a, torch.bfloat16), Tensor(b, torch.bfloat16), left, right, tl.float32, torch.float32, 1e-5
    )


@case
def matmul_single():
    a, b = floats(96, 100), floats(100, 64)
    # Triton uses xf32, with ten bits of mantissa.
    return product(Tensor(a), Tensor(b), a, b, tl.float32, torch.float32, 2e-3)


@case
def matmul_integer():
    a, b = (rng.integers(-128, 128, (128, 128)).astype(np.int8) for _ in range(2))
    return product(Tensor(a), Tensor(b), a, b, tl.int32, torch.int32, 0)


@case
def matmul_eighth():
    a, b = (rng.choice(np.r_[0x28:0x58, 0xA8:0xD8].astype(np.uint8), (64, 64)) for _ in range(2))
    fp8 = torch.float8_e4m3fnuz
    left, right = from_eighth(a), from_eighth(b)
    # Triton does not convert the zeros of masked lanes to fp8.
    return product(Tensor(a, fp8), Tensor(b, fp8), left, right, tl.float32, torch.float32, 1e-6, exact=True)


@case
def attention():
    heads, length, width = 3, 128, 64
    q, k, v = (floats(heads, length, width, kind=np.float16) for _ in range(3))
    out = torch.zeros((heads, length, width), torch.float32)
    kernels.attention[(length // 64, heads)](
        Tensor(q), Tensor(k), Tensor(v), out, length, 0.125, WIDTH=width, QUERIES=64, KEYS=32
    )
    scores = np.einsum("hiw,hjw->hij", q.astype(np.float64), k.astype(np.float64)) * 0.125
    scores = np.where(np.tril(np.ones((length, length))) > 0, scores, -np.inf)
    power = np.exp(scores - scores.max(axis=2, keepdims=True))
    expected = np.einsum("hij,hjw->hiw", power / power.sum(axis=2, keepdims=True), v.astype(np.float64))
    return close(out.numpy().view(np.float32), expected, 2e-3)


@case
def histogram():
    n = 20000
    values = rng.integers(0, 37, n).astype(np.int32)
    counts = torch.zeros(37, torch.int32)
    kernels.histogram[(triton.cdiv(n, 512),)](Tensor(values), counts, n, BLOCK=512)
    return equal(counts.numpy().view(np.int32), np.bincount(values, minlength=37))


@case
def atomics():
    n = 4096
    values = rng.integers(-1000, 1000, n).astype(np.int32)
    out = Tensor(np.array([-(2**31), 2**31 - 1, 0, 0, 0], np.int32))
    kernels.atomics[(n // 256,)](Tensor(values), out, n, BLOCK=256)
    found = out.numpy()
    expected = [values.max(), values.min(), np.bitwise_xor.reduce(values), np.bitwise_or.reduce(values)]
    assert 1 <= found[4] <= n // 256, f"{found[4]} swapped in"
    return equal(found[:4], np.array(expected, np.int32))


@case
def float_atomics():
    n = 4096
    values = floats(n)
    out = torch.zeros(16, torch.float32)
    kernels.float_atomics[(n // 256,)](Tensor(values), out, n, BLOCK=256)
    return close(out.numpy().view(np.float32), values.reshape(-1, 16).astype(np.float64).sum(axis=0), 1e-5)


@case
def prefix_sum():
    rows, columns = 9, 1000
    x = rng.integers(-50, 50, (rows, columns)).astype(np.int32)
    out = torch.zeros((rows, columns), torch.int32)
    kernels.prefix_sum[(rows,)](Tensor(x), out, columns, BLOCK=1024)
    return equal(out.numpy().view(np.int32), np.cumsum(x, axis=1))


@case
def sort():
    for kind in (np.int32, np.float32):
        x = (rng.standard_normal((5, 256)) * 1000).astype(kind)
        out = Tensor(np.zeros_like(x))
        kernels.sort[(5,)](Tensor(x), out, COLUMNS=256)
        equal(out.numpy(), np.sort(x, axis=1))
    return "equal"


@case
def arg_max():
    x = floats(20, 500)
    out = torch.zeros(20, torch.int32)
    kernels.arg_max[(20,)](Tensor(x), out, 500, BLOCK=512)
    return equal(out.numpy().view(np.int32), np.argmax(x, axis=1))


@case
def transpose():
    for kind in (np.float32, np.float16, np.int8):
        x = (rng.standard_normal((70, 150)) * 50).astype(kind)
        out = Tensor(np.zeros((150, 70), kind))
        kernels.transpose[(3, 5)](Tensor(x), out, 70, 150, TILE=32)
        equal(out.numpy(), x.T)
    return "equal"


@case
def gather():
    table, index = floats(100, 90), rng.integers(0, 100, 40).astype(np.int64)
    out = torch.zeros((40, 90), torch.float32)
    kernels.gather[(40,)](Tensor(table), Tensor(index), out, 90, BLOCK=128)
    return equal(out.numpy().view(np.float32), table[index])


@case
def dropout():
    n = 8192
    x = np.ones(n, np.float32)
    out = torch.zeros(n, torch.float32)
    kernels.dropout[(n // 512,)](Tensor(x), out, n, 1234, 0.25, BLOCK=512)
    found = out.numpy().view(np.float32)
    kept = np.count_nonzero(found)
    assert set(np.unique(found)) <= {np.float32(0), np.float32(1 / 0.75)}, np.unique(found)
    assert abs(kept / n - 0.75) < 0.03, f"{kept} of {n} were kept"
    return f"{kept} of {n} kept"


@case
def convert():
    n = 3000
    x = np.concatenate([floats(n - 6) * 20, np.float32([0, -0.0, 1e-6, 65520, 1e30, -3e-8])]).astype(np.float32)
    half, brain = torch.zeros(n, torch.float16), torch.zeros(n, torch.bfloat16)
    eighth = torch.zeros(n, torch.float8_e4m3fnuz)
    kernels.convert[(triton.cdiv(n, 256),)](Tensor(x), half, brain, eighth, n, BLOCK=256)
    with np.errstate(over="ignore"):
        equal(half.numpy().view(np.uint16), x.astype(np.float16).view(np.uint16))
    equal(brain.numpy(), to_brain(x))
    small = np.abs(x) < 200
    # Three bits of mantissa: half a unit in the last place is a sixteenth.
    found, wanted = from_eighth(eighth.numpy())[small], x.astype(np.float64)[small]
    assert (np.abs(found - wanted) <= np.maximum(np.abs(wanted) / 16, 2.0**-11)).all(), "fp8 is not the nearest"
    return "equal"


def main():
    names = [name for name in CASES if not sys.argv[1:] or any(part in name for part in sys.argv[1:])]
    agree = 0
    for name in names:
        start = time.perf_counter()
        try:
            said = CASES[name]()
            agree += 1
            print(f"ok   {name}: {said}, {time.perf_counter() - start:.2f} s", flush=True)
        except Exception as error:
            print(f"FAIL {name}: {type(error).__name__}: {str(error).strip()[-600:]}", flush=True)
    print(f"{agree}/{len(names)} kernels agree")
    return 0 if names and agree == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
