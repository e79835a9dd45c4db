#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""tinygrad's own device for HIP (`DEV=HIP`), and the kernels that it writes, against numpy.

    windlass exec -- python3 simulator/interop/tinygrad/suite.py [NAME...]

Needs the packages tinygrad (0.14) and numpy, and clang 19 with lld. clang compiles in place of AMD's libamd_comgr, because
Debian's, 5.2, does not know gfx942. Prints a line for each program, then the number that agree; the exit code is 0 if all do.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time

_cache = tempfile.TemporaryDirectory()
# Only in this process, and without the compiled code of other runs.
os.environ.update(DEV="HIP", PARALLEL="0", CACHEDB=os.path.join(_cache.name, "cache.db"))

import numpy as np
from tinygrad import Device, Tensor, TinyJit, dtypes
from tinygrad.codegen.opt import tc
from tinygrad.runtime.support import compiler_amd

CLANG = next(filter(shutil.which, ("clang-19", "clang")), None)
# The definitions of AMD's device libraries.
LIBRARY = """
#define LIBRARY(type) extern "C" __attribute__((device, always_inline)) type
#define OF_DIMENSION(d, what) (d == 0 ? what##_x() : d == 1 ? what##_y() : what##_z())
LIBRARY(unsigned long) __ockl_get_group_id(unsigned d) { return OF_DIMENSION(d, __builtin_amdgcn_workgroup_id); }
LIBRARY(unsigned long) __ockl_get_local_id(unsigned d) { return OF_DIMENSION(d, __builtin_amdgcn_workitem_id); }
LIBRARY(float) __ocml_exp2_f32(float x) { return __builtin_exp2f(x); }
LIBRARY(float) __ocml_log2_f32(float x) { return __builtin_log2f(x); }
LIBRARY(float) __ocml_sqrt_f32(float x) { return __builtin_sqrtf(x); }
LIBRARY(float) __ocml_trunc_f32(float x) { return __builtin_truncf(x); }
LIBRARY(float) __ocml_sin_f32(float x) { return __builtin_sinf(x); }
"""


def compile_with_clang(self, source):
    with tempfile.TemporaryDirectory() as folder:
        text, code = os.path.join(folder, "kernel.hip"), os.path.join(folder, "kernel.co")
        with open(text, "w") as file:
            file.write(source + LIBRARY)
        words = [CLANG, "-x", "hip", "--cuda-device-only", f"--offload-arch={self.arch.split(':')[0]}", "-nogpulib", "-nogpuinc"]
        done = subprocess.run([*words, "-O3", "-o", code, text], capture_output=True, text=True)
        if done.returncode != 0:
            raise compiler_amd.CompileError(done.stderr)
        with open(code, "rb") as file:
            return file.read()


def load_nothing(self, arch):
    """As the constructor, without libamd_comgr."""
    self.arch = arch
    super(compiler_amd.HIPCompiler, self).__init__(None)


compiler_amd.HIPCompiler.__init__ = load_nothing
compiler_amd.HIPCompiler.compile = compile_with_clang
# HIP names a GPU with its modes (`gfx942:sramecc+:xnack-`). For such a name tinygrad 0.14 emits matrix instructions of RDNA.
tc.get_amd = lambda arch, known=tc.get_amd: known(arch.split(":")[0])

CASES = {}
rng = np.random.default_rng(7)


def case(tolerance):
    def add(function):
        CASES[function.__name__] = (function, tolerance)
        return function

    return add


def floats(*shape, dtype=np.float32):
    return rng.standard_normal(shape).astype(dtype)


@case(0)
def add():
    a, b = floats(1000), floats(1000)
    return Tensor(a) + Tensor(b), a + b


@case(0)
def integers():
    a = np.arange(-2048, 2048, dtype=np.int32)
    return Tensor(a) * 3 + (Tensor(a) & 255) - (Tensor(a) >> 3), a * 3 + (a & 255) - (a >> 3)


@case(0)
def wide():
    a = rng.integers(-(2**62), 2**62, 777)
    return Tensor(a) * 5 ^ Tensor(a), a * 5 ^ a


@case(1e-6)
def doubles():
    a = floats(500, dtype=np.float64)
    return (Tensor(a) * 3 + 1).cast(dtypes.float32), (a * 3 + 1).astype(np.float32)


@case(1e-5)
def matmul():
    a, b = floats(96, 130), floats(130, 72)
    return Tensor(a) @ Tensor(b), a.astype(np.float64) @ b


@case(2e-3)
def matmul_half():
    a, b = floats(128, 64, dtype=np.float16), floats(64, 96, dtype=np.float16)
    return Tensor(a).matmul(Tensor(b), dtype=dtypes.float32), a.astype(np.float64) @ b


@case(1e-5)
def convolution():
    image, weights = floats(1, 3, 18, 18), floats(4, 3, 3, 3)
    windows = np.lib.stride_tricks.sliding_window_view(image[0], (3, 3), axis=(1, 2))
    return Tensor(image).conv2d(Tensor(weights)), np.einsum("chwij,ocij->ohw", windows, weights)[None]


@case(1e-5)
def softmax():
    a = floats(48, 200)
    exps = np.exp(a - a.max(axis=1, keepdims=True))
    return Tensor(a).softmax(), exps / exps.sum(axis=1, keepdims=True)


@case(1e-5)
def normalised():
    a = floats(32, 128)
    return Tensor(a).layernorm(), (a - a.mean(axis=1, keepdims=True)) / np.sqrt(a.var(axis=1, keepdims=True) + 1e-5)


@case(1e-5)
def sums():
    a = floats(7, 3000)
    return Tensor(a).sum(axis=1), a.astype(np.float64).sum(axis=1)


@case(0)
def sort():
    a = rng.permutation(200).astype(np.int32)
    return Tensor(a).sort()[0], np.sort(a)


@case(0)
def gather():
    a, index = floats(300), rng.integers(0, 300, 512).astype(np.int32)
    return Tensor(a)[Tensor(index)], a[index]


@case(1e-5)
def gradient():
    a, b = floats(16, 24), floats(24, 8)
    weights = Tensor(b)
    return (Tensor(a) @ weights).relu().sum().gradient(weights)[0], a.T.astype(np.float64) @ (a @ b > 0)


@case(0)
def captured():
    step = TinyJit(lambda x: (x * 2 + 1).realize())
    a = floats(64)
    for _ in range(4):
        result = step(Tensor(a).realize())
    return result, a * 2 + 1


def run(name):
    function, tolerance = CASES[name]
    start = time.perf_counter()
    try:
        result, expected = function()
        found, expected = result.numpy().astype(np.float64), np.asarray(expected).astype(np.float64)
        worst = np.abs(found - expected).max() / max(np.abs(expected).max(), 1e-30)
        agrees, said = found.shape == expected.shape and worst <= tolerance, f"{worst:.1e} of {tolerance:g} allowed"
    except Exception as error:
        agrees, said = False, f"{type(error).__name__}: {error}"
    print(f"{'ok  ' if agrees else 'FAIL'} {name}: {said}, {time.perf_counter() - start:.2f} s", flush=True)
    return agrees


def main():
    if CLANG is None:
        sys.exit("suite.py: there is no clang-19 or clang to compile kernels with")
    wanted = [name for name in CASES if not sys.argv[1:] or any(word in name for word in sys.argv[1:])]
    if not wanted:
        sys.exit(f"no such program; there are {', '.join(CASES)}")
    print(f"tinygrad on {Device['HIP'].arch}")
    agree = sum([run(name) for name in wanted])
    print(f"{agree}/{len(wanted)} programs agree")
    return 0 if agree == len(wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
