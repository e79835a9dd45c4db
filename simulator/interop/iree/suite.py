#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""IREE's own runtime on HIP against IREE's CPU backend, on the same random inputs.

    windlass exec -- python3 simulator/interop/iree/suite.py [--work DIR] [--target GPU] [NAME...]

Compiles each program of modules.py for a GPU (default gfx942) and for the CPU, runs both, and compares. Needs the packages
iree-base-compiler and iree-base-runtime (3.13), and numpy. Prints a line for each program, then the number that agree; the exit code is
0 if all do. A NAME selects the programs whose names contain it.
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import time

import numpy as np

from modules import MODULES

NUMPY = {
    "f16": np.float16, "f32": np.float32, "f64": np.float64,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
}
HIP = ["--iree-hal-target-device=hip"]
CPU = [
    "--iree-hal-target-device=local", "--iree-hal-local-target-device-backends=llvm-cpu",
    "--iree-llvmcpu-target-cpu=host",
]
SECONDS = 300


def tool(name):
    """The path of a program of the packages: beside this Python, or on the path."""
    beside = os.path.join(os.path.dirname(sys.executable), name)
    return beside if os.path.exists(beside) else name


def numbers(shape, ty, kind, rng):
    """An input, and its type as iree-run-module spells it if numpy lacks the type."""
    if ty == "bf16":
        return (rng.standard_normal(shape) if kind == "normal" else rng.random(shape) * 0.9 + 0.05).astype(np.float32)
    if kind == "fp8":
        # Every exponent but the largest, so that sums stay exact enough; 0x80 is NaN.
        return rng.choice(np.r_[0x28:0x58, 0xA8:0xD8].astype(np.uint8), shape)
    if ty[0] == "f":
        values = rng.random(shape) * 0.9 + 0.05 if kind == "unit" else rng.standard_normal(shape)
        return values.astype(NUMPY[ty])
    limits = np.iinfo(NUMPY[ty])
    if kind == "permutation":
        return rng.permutation(60)[: int(np.prod(shape))].astype(NUMPY[ty]).reshape(shape)
    if kind == "shift":
        return rng.integers(0, 7, shape).astype(NUMPY[ty])
    if kind == "small":
        return rng.integers(-9, 10, shape).astype(NUMPY[ty])
    values = rng.integers(limits.min, limits.max, shape, dtype=NUMPY[ty], endpoint=True)
    if kind == "nonzero":
        # Neither 0 nor -1: dividing the least integer by -1 overflows.
        values[(values == 0) | (values == -1)] = 3
        small = rng.random(shape) < 0.5
        values[small] = values[small] % 50 + 1
    return values


def write_inputs(folder, module, rng):
    """The inputs as options of iree-run-module."""
    options = []
    for index, (dimensions, ty, *kind) in enumerate(module.inputs):
        shape = tuple(int(extent) for extent in dimensions.split("x"))
        values = numbers(shape, ty, kind[0] if kind else "normal", rng)
        path = os.path.join(folder, f"in{index}")
        if ty in NUMPY:
            np.save(path + ".npy", values)
            options.append(f"--input=@{path}.npy")
        else:
            raw = (values.view(np.uint32) >> 16).astype(np.uint16) if ty == "bf16" else values
            raw.tofile(path + ".bin")
            options.append(f"--input={dimensions}x{ty}=@{path}.bin")
    return options


def compile_for(folder, module, name, flags):
    """The compiled program, made once in each folder."""
    source, output = os.path.join(folder, "module.mlir"), os.path.join(folder, name + ".vmfb")
    if os.path.exists(output) and open(source).read() == module.text:
        return output
    with open(source, "w") as file:
        file.write(module.text)
    command = [tool("iree-compile"), source, "-o", output, "--iree-input-demote-f64-to-f32=false", *flags, *module.flags]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"compiling for {name}: {done.stderr.strip().splitlines()[0][:300]}")
    return output


def run(folder, module, program, name, device, inputs):
    """The outputs, and the time in seconds."""
    # The tool writes no bfloat16 to .npy.
    endings = ["bin" if ty.endswith("bf16") else "npy" for ty in module.outputs]
    files = [os.path.join(folder, f"{name}.{index}.{ending}") for index, ending in enumerate(endings)]
    for file in files:
        if os.path.exists(file):
            os.remove(file)
    command = [tool("iree-run-module"), f"--module={program}", "--function=f", f"--device={device}", *inputs]
    start = time.perf_counter()
    done = subprocess.run(
        command + [f"--output=@{file}" for file in files], capture_output=True, text=True, timeout=SECONDS
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        lines = [line for line in done.stderr.strip().splitlines() if line] or [f"exit code {done.returncode}"]
        raise RuntimeError(f"running on {name}: {lines[0][:400]}")
    return [load(file) for file in files], seconds


def load(path):
    if path.endswith(".npy"):
        return np.load(path)
    return (np.fromfile(path, np.uint16).astype(np.uint32) << 16).view(np.float32)


def difference(expected, found):
    """The greatest difference against the greatest value; infinite where one is NaN or infinite and the other is not."""
    if expected.shape != found.shape or expected.dtype != found.dtype:
        return np.inf
    if expected.dtype.kind != "f":
        return 0.0 if np.array_equal(expected, found) else np.inf
    expected, found = expected.astype(np.float64), found.astype(np.float64)
    odd = ~np.isfinite(expected)
    if not np.array_equal(odd, ~np.isfinite(found)) or not np.array_equal(expected[odd], found[odd], equal_nan=True):
        return np.inf
    if odd.all():
        return 0.0
    return float(np.abs(expected - found)[~odd].max() / max(np.abs(expected[~odd]).max(), 1e-30))


def check(work, name, gpu):
    """One program on both devices: whether they agree, and a line about it."""
    module, folder = MODULES[name], os.path.join(work, name)
    os.makedirs(folder, exist_ok=True)
    inputs = write_inputs(folder, module, np.random.default_rng(sum(name.encode())))
    try:
        cpu = compile_for(folder, module, "cpu", CPU)
        hip = compile_for(folder, module, gpu, [*HIP, f"--iree-rocm-target={gpu}"])
        expected, _ = run(folder, module, cpu, "cpu", "local-task", inputs)
        found, seconds = run(folder, module, hip, gpu, "hip", inputs)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        return False, f"FAIL {name}: {error}"
    differences = list(map(difference, expected, found))
    worst = max(differences)
    good = worst <= module.tolerance
    if not good:
        wrong = [index for index, each in enumerate(differences) if each > module.tolerance]
        return False, f"FAIL {name}: off by {worst:.1e} in outputs {wrong}, {module.tolerance:g} is allowed"
    return True, f"ok   {name}: {worst:.1e} of {module.tolerance:g} allowed, {seconds:.2f} s"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", help="where compiled programs are kept; a folder for this run alone without it")
    parser.add_argument("--target", default="gfx942", metavar="GPU", help="the GPU to compile for, gfx942 without it")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="programs at a time")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth program")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    names = [name for name in MODULES if not options.names or any(part in name for part in options.names)]
    names = names[:: options.every]
    # IREE compiles these floats of 8 bits for gfx940 to gfx942 only.
    own = [name for name in names if "FNUZ" in MODULES[name].text and not options.target.startswith("gfx94")]
    for name in own:
        print(f"skip {name}: its floats of 8 bits are not {options.target}'s")
        names.remove(name)
    with tempfile.TemporaryDirectory() as own:
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            agree = 0
            for good, line in pool.map(lambda name: check(options.work or own, name, options.target), names):
                agree += good
                print(line, flush=True)
    print(f"{agree}/{len(names)} modules agree")
    return 0 if names and agree == len(names) else 1


if __name__ == "__main__":
    sys.exit(main())
