#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""Runs Triton's tutorials, which are in the folder python/tutorials of its repository, and checks their numbers.

    python3 simulator/interop/triton/tutorials.py FOLDER [--device hip-sim://gfx942] [--benchmarks] [NAME...]
    windlass exec -- python3 simulator/interop/triton/tutorials.py FOLDER [NAME...]

The first line runs them over `windlass.triton`, the second over Triton's own driver. They are not changed; the folder `torch`
beside this file stands for PyTorch, and numpy computes their references. With `--benchmarks` their benchmarks run too, each
with its smallest size. Prints a line for each tutorial; the exit code is 0 if all agree.
"""

import contextlib
import io
import os
import runpy
import sys
import time

# The folder `torch` beside this file replaces PyTorch.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import chosen

DEVICE = chosen.take_device(sys.argv)
chosen.use(DEVICE)

import numpy as np
import triton

BENCHMARKS = "--benchmarks" in sys.argv


def difference(found, expected, allowed):
    worst = np.abs(found.numpy().astype(np.float64) - expected.numpy().astype(np.float64)).max()
    assert worst <= allowed, f"off by {worst:.1e}, {allowed:g} is allowed"
    return f"off by {worst:.1e}"


def attention(module):
    said = []
    for mode, provider, causal, width in (
        ("bwd", "triton-fp16", True, 64),
        ("bwd", "triton-fp16", False, 128),
        ("fwd", "triton-fp8", False, 64),
    ):
        module["test_op"](1, 2, 128, width, causal, False, mode, provider)
        said.append(f"{mode} {provider[7:]}")
    return ", ".join(said)


# Checks beyond those of the tutorials themselves.
TUTORIALS = {
    "01-vector-add": lambda module: difference(module["output_triton"], module["output_torch"], 0),
    "02-fused-softmax": lambda module: difference(module["y_triton"], module["y_torch"], 1e-6),
    "03-matrix-multiplication": lambda module: difference(module["triton_output"], module["torch_output"], 1e-2),
    "04-low-memory-dropout": lambda module: difference(module["output"], module["output2"], 0),
    "05-layer-norm": lambda module: "forward and backward",
    "06-fused-attention": attention,
    "07-extern-functions": lambda module: difference(module["output_triton"], module["output_torch"], 1e-6),
    "08-grouped-gemm": lambda module: max(map(difference, module["tri_out"], module["ref_out"], [0.25] * 4)),
}


def run_benchmark(mark, **_):
    benchmarks = mark.benchmarks if isinstance(mark.benchmarks, list) else [mark.benchmarks]
    for benchmark in benchmarks if BENCHMARKS else ():
        sizes = benchmark.x_vals[0]
        sizes = sizes if isinstance(sizes, (list, tuple)) else [sizes] * len(benchmark.x_names)
        for line in benchmark.line_vals:
            given = {**dict(zip(benchmark.x_names, sizes)), benchmark.line_arg: line, **benchmark.args}
            print(f"{benchmark.plot_name} {line} {sizes}: {mark.fn(**given)}")


triton.testing.Mark.run = run_benchmark
launches = [0]


def count(_):
    launches[0] += 1


triton.knobs.runtime.launch_enter_hook.add(count)


def main():
    words = [word for word in sys.argv[1:] if word != "--benchmarks"]
    if not words:
        print(__doc__.strip())
        return 2
    folder, agree, tried = words[0], 0, 0
    for name, check in TUTORIALS.items():
        if words[1:] and not any(word in name for word in words[1:]):
            continue
        tried += 1
        launches[0], start, said = 0, time.perf_counter(), io.StringIO()
        try:
            with contextlib.redirect_stdout(said):
                module = runpy.run_path(os.path.join(folder, name + ".py"), run_name="tutorial")
                result = check(module)
            assert launches[0], "no kernel was launched"
            agree += 1
            print(f"ok   {name}: {result}, {launches[0]} launches, {time.perf_counter() - start:.1f} s", flush=True)
            if BENCHMARKS:
                print(said.getvalue())
        except ModuleNotFoundError as error:
            tried -= 1
            print(f"skip {name}: it needs the package {error.name}", flush=True)
        except Exception as error:
            print(f"FAIL {name}: {type(error).__name__}: {str(error).strip()[-2000:]}", flush=True)
    print(f"{agree}/{tried} tutorials agree")
    return 0 if tried and agree == tried else 1


if __name__ == "__main__":
    sys.exit(main())
