#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""CuPy's own kernels, which it compiles by hipRTC, against numpy.

    windlass exec -- python3 simulator/interop/cupy/suite.py [NAME...]

Needs the packages cupy-rocm-7-0 (14.2) and numpy, the libraries of `stand_ins.py` on LD_LIBRARY_PATH, and the folder of `hipcc.py`
as ROCM_HOME with `bin` on PATH. Prints a line for each program, then the number that agree; the exit code is 0 if all do.
"""

import os
import sys
import tempfile
import time
import warnings

_cache = tempfile.TemporaryDirectory()
# Without the compiled code of other runs.
os.environ["CUPY_CACHE_DIR"] = _cache.name
warnings.simplefilter("ignore")

import cupy
import numpy

PROGRAMS = {}


def program(tolerance):
    def enter(function):
        PROGRAMS[function.__name__] = (function, tolerance)
        return function

    return enter


def numbers(kind, low, high, seed=1, shape=(300,)):
    generator = numpy.random.default_rng(seed)
    if numpy.dtype(kind).kind == "c":
        return (generator.uniform(low, high, shape) + 1j * generator.uniform(low, high, shape)).astype(kind)
    return generator.uniform(low, high, shape).astype(kind)


# Each program gets cupy or numpy, and a way to make an array of it.
@program(2e-6)
def mathematics_of_singles(np, of):
    x = of(numbers("float32", 0.05, 0.95))
    names = "sin cos tan arcsin arctan sinh tanh arcsinh arctanh exp expm1 log log2 log1p sqrt cbrt rint floor sign"
    return [getattr(np, name)(x) for name in names.split()]


@program(2e-13)
def mathematics_of_doubles(np, of):
    x = of(numbers("float64", 0.05, 0.95))
    names = "sin cos tan arccos arctan cosh tanh arctanh exp exp2 log log10 log1p sqrt cbrt isnan signbit"
    return [getattr(np, name)(x) for name in names.split()]


@program(2e-3)
def half_precision(np, of):
    x, y = of(numbers("float16", 0.1, 2)), of(numbers("float16", 0.1, 2, 2))
    return [x + y, x * y, x / y, np.exp(x), np.maximum(x, y), x < y, x.sum()]


@program(1e-12)
def pairs(np, of):
    x, y = of(numbers("float64", 0.1, 4)), of(numbers("float64", -2, 2, 2))
    names = "add subtract multiply divide power maximum fmin fmod remainder floor_divide arctan2 hypot copysign nextafter logaddexp less"
    return [getattr(np, name)(x, y) for name in names.split()]


@program(1e-10)
def complex_numbers(np, of):
    z, w = of(numbers("complex128", -1, 1)), of(numbers("complex128", -1, 1, 2))
    return [z * w, z / w, np.exp(z), np.sqrt(z), np.log(z), np.tanh(z), np.abs(z), np.conj(z), z.sum()]


@program(0)
def integers(np, of):
    made = []
    for kind in ("int8", "uint16", "int32", "uint64"):
        x, y = of(numbers(kind, 1, 100)), of(numbers(kind, 1, 7, 2))
        made += [x + y, x * y, x // y, x % y, x & y, x ^ y, x << y, np.gcd(x, y), np.where(x > 50, x, y)]
    return made


@program(1e-5)
def reductions(np, of):
    x = of(numbers("float32", 0, 1, shape=(97, 130)))
    by_name = [getattr(x, name)(axis=axis) for name in ("sum", "max", "argmin", "mean", "std") for axis in (None, 0, 1)]
    return [*by_name, (x > 0.5).any(axis=0), np.cumsum(x.ravel()[:500])]


@program(0)
def indices(np, of):
    x = of(numbers("int32", 0, 1000, shape=(20, 30)))
    y = x.copy()
    y[:, ::3] = 7
    return [x[[3, 1, 2]], x.T + 1, x[x > 500], np.concatenate([x, y]), np.repeat(x, 2, axis=0), np.tile(x, (2, 2)), y]


@program(1e-6)
def own_kernels(np, of):
    x = numbers("float32", 0, 1, shape=(64,))
    if np is numpy:
        return [x * 3, x * x + 1, numpy.float32(0.5) * x, (x * x).sum()]
    raw = cupy.RawKernel(
        'extern "C" __global__ void three(const float *x, float *y) { int i = threadIdx.x; y[i] = x[i] * 3; }', "three"
    )
    module = cupy.RawModule(
        code="template <class T> __global__ void halve(T *x) { x[threadIdx.x] *= T(0.5); }",
        options=("-std=c++17",),
        name_expressions=["halve<float>", "halve<double>"],
    )
    tripled, halved = cupy.empty(64, "float32"), of(x)
    raw((1,), (64,), (of(x), tripled))
    module.get_function("halve<float>")((1,), (64,), (halved,))
    square = cupy.ElementwiseKernel("T x", "T y", "y = x * x + 1", "square")
    norm = cupy.ReductionKernel("T x", "T y", "x * x", "a + b", "y = a", "0", "norm")
    return [tripled, square(of(x)), halved, norm(of(x))]


@program(0)
def errors(np, of):
    if np is numpy:
        return [numpy.asarray(True)]
    try:
        cupy.RawKernel('extern "C" __global__ void f() { undeclared(); }', "f").compile()
    except cupy.cuda.compiler.CompileException as error:
        return [cupy.asarray("undeclared" in str(error))]
    return [cupy.asarray(False)]


def main(names):
    wanted = {name: one for name, one in PROGRAMS.items() if not names or any(part in name for part in names)}
    right = 0
    for name, (function, tolerance) in wanted.items():
        start = time.monotonic()
        made, expected = function(cupy, cupy.asarray), function(numpy, numpy.asarray)
        wrong = [
            index
            for index, (one, other) in enumerate(zip(made, expected, strict=True))
            if one.dtype != other.dtype
            or not numpy.allclose(one.get(), other, rtol=tolerance, atol=tolerance / 10, equal_nan=True)
        ]
        right += not wrong
        verdict = f"WRONG: results {wrong}" if wrong else f"ok: {len(made)} results"
        print(f"{name}: {verdict}, {time.monotonic() - start:.1f} s", flush=True)
    print(f"{right}/{len(wanted)} programs agree")
    return right != len(wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
