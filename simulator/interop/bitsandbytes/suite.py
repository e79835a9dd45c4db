#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""The kernels of bitsandbytes' builds for ROCm, without PyTorch, against numpy.

    windlass exec -- python3 simulator/interop/bitsandbytes/suite.py [NAME...]

Needs the packages bitsandbytes (0.50) and numpy, and the libraries of `stand_ins.py` on LD_LIBRARY_PATH. Runs each program on each
build. Prints a line for each build, then the number of runs that agree; the exit code is 0 if all do.
"""

import ctypes
import importlib.util
import pathlib
import sys
import time

import numpy as np

PROGRAMS = {}
POINTER, INT, FLOAT = ctypes.c_void_p, ctypes.c_int32, ctypes.c_float
KINDS = {"fp32": np.float32, "fp16": np.float16}
TO_DEVICE, TO_HOST = 1, 2
rng = np.random.default_rng(11)


def load_hip():
    for version in (7, 6):
        try:
            # The builds name no HIP, because PyTorch has loaded one.
            return ctypes.CDLL(f"libamdhip64.so.{version}", mode=ctypes.RTLD_GLOBAL)
        except OSError as error:
            reason = error
    sys.exit(f"there is no HIP: {reason}")


hip = load_hip()


def checked(status):
    if status != 0:
        raise RuntimeError(f"HIP returned {status}")


class Array:
    """An array in device memory, made of a numpy array."""

    def __init__(self, values):
        self.host = np.array(values, order="C")
        self.address = POINTER()
        checked(hip.hipMalloc(ctypes.byref(self.address), ctypes.c_size_t(self.host.nbytes)))
        checked(hip.hipMemcpy(self.address, POINTER(self.host.ctypes.data), ctypes.c_size_t(self.host.nbytes), TO_DEVICE))

    def get(self):
        checked(hip.hipMemcpy(POINTER(self.host.ctypes.data), self.address, ctypes.c_size_t(self.host.nbytes), TO_HOST))
        return self.host

    def __del__(self):
        hip.hipFree(self.address)


def call(function, *arguments):
    """Arrays go as pointers, `None` as a null pointer, Python's numbers as C's."""
    kinds = {int: INT, float: FLOAT, bool: ctypes.c_bool}
    as_c = lambda one: one.address if isinstance(one, Array) else POINTER() if one is None else kinds[type(one)](one)
    function.restype = None
    function(*map(as_c, arguments))
    checked(hip.hipDeviceSynchronize())


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def agree(made, expected, tolerance=0.0):
    made, expected = np.asarray(made, np.float64), np.asarray(expected, np.float64)
    np.testing.assert_allclose(made, expected, rtol=tolerance, atol=tolerance)


def blocks(values, size):
    return values.reshape(-1, size)


@program
def quantise_to_8_bits(library):
    codes = np.sort(rng.uniform(-1, 1, 256)).astype(np.float32)
    codes[0], codes[-1] = -1, 1
    for name, kind in KINDS.items():
        for size in (64, 256, 1024, 4096):
            values = rng.standard_normal(16384).astype(kind)
            greatest, packed = Array(np.zeros(values.size // size, np.float32)), Array(np.zeros(values.size, np.uint8))
            on_device = Array(codes)
            quantise = getattr(library, f"cquantize_blockwise_{name}")
            call(quantise, on_device, Array(values), greatest, packed, size, values.size)
            agree(greatest.get(), np.abs(blocks(values, size)).max(axis=1), 1e-6)
            scaled = (blocks(values, size) / greatest.get()[:, None]).astype(np.float32).ravel()
            distance = np.abs(codes[packed.get()] - scaled)
            agree(distance, np.abs(codes[:, None] - scaled).min(axis=0), 1e-5)

            back = Array(np.zeros(values.size, kind))
            call(getattr(library, f"cdequantize_blockwise_{name}"), on_device, packed, greatest, back, size, values.size, None)
            exact = blocks(codes[packed.get()], size) * greatest.get()[:, None]
            agree(back.get(), exact.ravel().astype(kind), 1e-3 if kind == np.float16 else 1e-6)


def codes_of(library, form):
    """The 16 values of a form of 4 bits: each code with 1 as the block's greatest value."""
    packed = np.tile(np.arange(0, 16, 2, dtype=np.uint8) << 4 | np.arange(1, 16, 2, dtype=np.uint8), 512)
    values, greatest = Array(np.zeros(packed.size * 2, np.float32)), Array(np.ones(packed.size * 2 // 64, np.float32))
    function = getattr(library, f"cdequantize_blockwise_fp32_{form}")
    call(function, None, Array(packed), greatest, values, 64, packed.size * 2, None)
    codes = values.get()
    agree(codes, np.tile(codes[:16], 512))
    return codes[:16].copy()


def unpacked(packed):
    return np.stack([packed >> 4, packed & 15], axis=1).ravel()


@program
def quantise_to_4_bits(library):
    for form in ("nf4", "fp4"):
        codes = codes_of(library, form)
        assert codes.min() == -1 and codes.max() == 1 and np.any(codes == 0), codes
        for name, kind in KINDS.items():
            for size in (64, 512):
                values = rng.standard_normal(16384).astype(kind)
                greatest, packed = Array(np.zeros(values.size // size, np.float32)), Array(np.zeros(values.size // 2, np.uint8))
                quantise = getattr(library, f"cquantize_blockwise_{name}_{form}")
                call(quantise, None, Array(values), greatest, packed, size, values.size)
                agree(greatest.get(), np.abs(blocks(values, size)).max(axis=1), 1e-6)
                scaled = (blocks(values, size) / greatest.get()[:, None]).astype(np.float32).ravel()
                distance = np.abs(codes[unpacked(packed.get())] - scaled)
                agree(distance, np.abs(codes[:, None] - scaled).min(axis=0), 2e-3)


@program
def product_of_4_bits_and_vector(library):
    rows, columns, size = 96, 512, 64
    codes = codes_of(library, "nf4")
    packed = rng.integers(0, 256, rows * columns // 2, dtype=np.uint8)
    greatest = rng.uniform(0.5, 2, rows * columns // size).astype(np.float32)
    matrix = (blocks(codes[unpacked(packed)], size) * greatest[:, None]).reshape(rows, columns)
    for name, kind in KINDS.items():
        vector = rng.standard_normal(columns).astype(kind)
        made = Array(np.zeros(rows, kind))
        call(
            getattr(library, f"cgemm_4bit_inference_naive_{name}"),
            *(rows, 1, columns, Array(vector), Array(packed), Array(greatest), Array(codes), made),
            *(rows, (columns + 1) // 2, rows, size, None),
        )
        agree(made.get(), matrix.astype(np.float64) @ vector, 0.3 if kind == np.float16 else 1e-4)


@program
def quantise_rows(library):
    values = rng.standard_normal((24, 1000)).astype(np.float16)
    made, greatest = Array(np.zeros(values.shape, np.int8)), Array(np.zeros(24, np.float32))
    call(library.cint8_vector_quant, Array(values), made, greatest, 0.0, 24, 1000, None)
    agree(greatest.get(), np.abs(values).max(axis=1))
    scaled = values.astype(np.float32) * (127 / np.abs(values).max(axis=1, keepdims=True).astype(np.float32))
    assert np.abs(made.get() - scaled).max() <= 0.501


@program
def dequantise_product(library):
    rows, columns = 40, 72
    product = rng.integers(-100000, 100000, (rows, columns), dtype=np.int32)
    of_rows, of_columns = (rng.uniform(0.5, 2, count).astype(np.float32) for count in (rows, columns))
    bias, made = rng.standard_normal(columns).astype(np.float16), Array(np.zeros((rows, columns), np.float16))
    arguments = (Array(product), Array(of_rows), Array(of_columns), made, Array(bias), rows, columns, None)
    call(library.cdequant_mm_int32_fp16, *arguments)
    agree(made.get(), product / 127.0**2 * of_rows[:, None] * of_columns + bias, 2e-3)


def optimise(library, name, gradient, parameter, first, second, step):
    arrays = [Array(one) for one in (gradient, parameter, first)] + [None if second is None else Array(second)]
    factors = (0.0, 0.0, 0.9, 0.99, 0.0, 0.0, 1e-8, 0.01, step, 0.003, 1.0, False, gradient.size)
    call(getattr(library, name), *arrays, None, *factors)
    return arrays[1].get()


@program
def optimisers(library):
    for suffix, kind in KINDS.items():
        tolerance = 2e-3 if kind == np.float16 else 1e-5
        gradient, parameter = (rng.standard_normal(3000).astype(kind) for _ in range(2))
        first, second = rng.standard_normal(3000).astype(np.float32), rng.uniform(0.1, 1, 3000).astype(np.float32)
        exact = gradient.astype(np.float64)

        made = optimise(library, f"cadam32bit_grad_{suffix}", gradient, parameter, first, second, 3)
        mean, square = 0.9 * first + 0.1 * exact, 0.99 * second + 0.01 * exact**2
        step = 0.003 * np.sqrt(1 - 0.99**3) / (1 - 0.9**3)
        moved = parameter - step * mean / (np.sqrt(square) + 1e-8 * np.sqrt(1 - 0.99**3))
        agree(made, moved * (1 - 0.003 * 0.01), tolerance)

        made = optimise(library, f"clion32bit_grad_{suffix}", gradient, parameter, first, None, 3)
        moved = parameter * (1 - 0.003 * 0.01) - 0.003 * np.sign(0.9 * first + 0.1 * exact)
        agree(made, moved, tolerance)


def main(names):
    wanted = {name: one for name, one in PROGRAMS.items() if not names or any(part in name for part in names)}
    package = pathlib.Path(importlib.util.find_spec("bitsandbytes").submodule_search_locations[0])
    builds = sorted(package.glob("libbitsandbytes_rocm*.so"))
    right = 0
    for build in builds:
        start, wrong = time.monotonic(), []
        library = ctypes.CDLL(build)
        for name, function in wanted.items():
            try:
                function(library)
                right += 1
            except (AssertionError, AttributeError, RuntimeError) as error:
                wrong.append(f"{name}: {error}")
        print("\n".join([f"{build.stem}: {len(wanted) - len(wrong)} programs, {time.monotonic() - start:.1f} s", *wrong]), flush=True)
    print(f"{right}/{len(builds) * len(wanted)} runs agree")
    return right == 0 or right != len(builds) * len(wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
