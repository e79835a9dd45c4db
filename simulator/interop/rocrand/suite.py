# SPDX-License-Identifier: MIT OR Apache-2.0
"""Debian's rocRAND, whose kernels are compiled for gfx900, gfx906, gfx908 and gfx90a, among others: random numbers of its
generators. Those of Philox are compared with NumPy. The others must be the same on every GPU: with --folder, the numbers are
kept in the folder, and compared with those that a run on another GPU left there.
"""

import argparse
import ctypes
import pathlib
import sys

import numpy as np

COUNT = 4096
SEED = 0x1234_5678_9ABC
DEVICE_TO_HOST = 2
GENERATORS = {"xorwow": 401, "mrg32k3a": 402, "mtgp32": 403, "philox": 404}


def philox(count, seed):
    """The numbers of Philox 4x32-10: the counter of each four in a row is their place."""
    place, zero = np.arange(count // 4, dtype=np.uint64), np.zeros(count // 4, np.uint64)
    low, half = np.uint64(0xFFFF_FFFF), np.uint64(32)
    words, keys = [place, zero, zero, zero], [np.uint64(seed) & low, np.uint64(seed) >> half]
    for _ in range(10):
        first, second = np.uint64(0xD251_1F53) * words[0], np.uint64(0xCD9E_8D57) * words[2]
        words = [(second >> half) ^ words[1] ^ keys[0], second & low, (first >> half) ^ words[3] ^ keys[1], first & low]
        keys = [(keys[0] + np.uint64(0x9E37_79B9)) & low, (keys[1] + np.uint64(0xBB67_AE85)) & low]
    return np.stack(words, -1).astype(np.uint32).ravel()


def check(status, what):
    if status != 0:
        raise SystemExit(f"{what} returned {status}")


def numbers(hip, rocrand, kind):
    """Integers, uniform and normal floats of one generator."""
    generator, memory, found = ctypes.c_void_p(), ctypes.c_void_p(), {}
    check(hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(4 * COUNT)), "hipMalloc")
    check(rocrand.rocrand_create_generator(ctypes.byref(generator), kind), "rocrand_create_generator")
    normal = (ctypes.c_float(0.0), ctypes.c_float(1.0))
    for name, dtype, more in (("generate", np.uint32, ()), ("generate_uniform", np.float32, ()), ("generate_normal", np.float32, normal)):
        check(rocrand.rocrand_set_seed(generator, ctypes.c_ulonglong(SEED)), "rocrand_set_seed")
        check(getattr(rocrand, f"rocrand_{name}")(generator, memory, ctypes.c_size_t(COUNT), *more), f"rocrand_{name}")
        found[name] = np.empty(COUNT, dtype)
        to = found[name].ctypes.data_as(ctypes.c_void_p)
        check(hip.hipMemcpy(to, memory, ctypes.c_size_t(4 * COUNT), DEVICE_TO_HOST), "hipMemcpy")
    check(rocrand.rocrand_destroy_generator(generator), "rocrand_destroy_generator")
    check(hip.hipFree(memory), "hipFree")
    return found


def problems(kind, found, folder):
    uniform, normal = found["generate_uniform"], found["generate_normal"]
    if not (0 < uniform.min() and uniform.max() <= 1 and abs(uniform.mean() - 0.5) < 0.02 and abs(uniform.std() - 12**-0.5) < 0.02):
        yield "uniform numbers are not uniform"
    if not (abs(normal.mean()) < 0.06 and abs(normal.std() - 1) < 0.06):
        yield "normal numbers are not normal"
    if kind == "philox" and not np.array_equal(found["generate"], philox(COUNT, SEED)):
        yield "the integers are not those of Philox"
    for name, values in found.items():
        kept = folder / f"{kind}.{name}.npy" if folder else None
        if kept and kept.exists():
            if not np.array_equal(values, np.load(kept)):
                yield f"{name} differs from that of another GPU"
        elif kept:
            np.save(kept, values)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    hip, rocrand = ctypes.CDLL("libamdhip64.so.5"), ctypes.CDLL("librocrand.so.1")
    failed = 0
    for kind, number in GENERATORS.items():
        wrong = list(problems(kind, numbers(hip, rocrand, number), folder))
        failed += bool(wrong)
        print(f"rocRAND, {kind}: {'; '.join(wrong) or 'ok'}")
    sys.exit(failed != 0)


main()
