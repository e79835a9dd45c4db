#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""JAX's plugin for ROCm, unmodified, against JAX's own CPU backend.

    windlass exec -- python3 simulator/interop/jax/suite.py [NAME...]

Needs the packages jax, jaxlib, jax-rocm7-plugin and jax-rocm7-pjrt (0.10.2), and the libraries of `stand_ins.py` on
LD_LIBRARY_PATH. Programs that need what stands in (MIOpen, hipBLAS and the like) are not among these: XLA compiles all of them to
kernels. Prints a line for each program, then the number that agree; the exit code is 0 if all do.
"""

import os
import sys
import time

# Tuning compares many kernels by their times, which say nothing here.
os.environ.setdefault("XLA_FLAGS", "--xla_gpu_autotune_level=0 --xla_gpu_cublas_fallback=false")
os.environ.update(JAX_PLATFORMS="rocm,cpu", TF_CPP_MIN_LOG_LEVEL="2")

import jax
from jax._src import hardware_utils

# JAX looks for devices of the amdgpu driver before it asks HIP.
hardware_utils.num_available_amd_gpus = lambda stop_at=None: 1

import jax.numpy as jnp
import numpy as np

PROGRAMS = {}
rng = np.random.default_rng(5)


def program(tolerance, *shapes, dtype=np.float32):
    def enter(function):
        PROGRAMS[function.__name__] = (function, tolerance, [rng.standard_normal(shape).astype(dtype) for shape in shapes])
        return function

    return enter


@program(1e-6, (64, 300), (64, 300))
def elementwise(x, y):
    return jnp.where(x > y, jnp.tanh(x) * y, jnp.exp(y) - x), jnp.floor(x * 10) % 3


@program(1e-6, (48, 1000))
def softmax(x):
    return jax.nn.softmax(x, axis=1), jax.nn.logsumexp(x, axis=0)


@program(1e-5, (32, 256))
def layer_norm(x):
    return (x - x.mean(1, keepdims=True)) / jnp.sqrt(x.var(1, keepdims=True) + 1e-5)


@program(1e-5, (7, 4096))
def reductions(x):
    return x.sum(1), x.max(0), x.prod(1), jnp.any(x > 3, axis=1), x.argmax(1), x.argmin(0)


@program(0, (5, 700))
def sorts(x):
    return jnp.sort(x, axis=1), jnp.argsort(x[0]), jax.lax.top_k(x, 9)


@program(1e-5, (4, 1500))
def scans(x):
    return jnp.cumsum(x, axis=1), jax.lax.cummax(x, axis=1), jax.lax.associative_scan(jnp.multiply, 1 + x * 0.01, axis=1)


@program(0, (600,))
def gather_and_scatter(x):
    places = jnp.arange(600) * 7 % 600
    return x[places], jnp.zeros(600).at[places // 3].max(x), x.at[::4].set(9)


@program(1e-6, (200, 30))
def histogram(x):
    bins = jnp.clip((x * 4 + 16).astype(jnp.int32), 0, 31)
    return jnp.zeros(32, jnp.int32).at[bins.ravel()].add(1), jnp.bincount(bins[:, 0], length=32)


@program(1e-6, (1,))
def random_numbers(x):
    key = jax.random.key(42)
    return jax.random.normal(key, (500,)), jax.random.randint(key, (100,), 0, 1000), jax.random.permutation(key, 64)


@program(1e-4, (96, 160), (160, 72))
def matmul(x, y):
    return jnp.matmul(x, y, precision="highest"), jnp.einsum("ij,kj->ik", x[:40], x, precision="highest")


@program(5e-3, (128, 64), (64, 128), dtype=np.float16)
def matmul_half(x, y):
    return (x @ y).astype(jnp.float32)


@program(1e-4, (4, 32, 48), (4, 48, 40))
def batched_matmul(x, y):
    return jnp.einsum("bij,bjk->bik", x, y)


@program(1e-5, (100,))
def loops(x):
    def collatz(state):
        value, steps = state
        return jnp.where(value % 2 == 0, value // 2, 3 * value + 1), steps + 1

    fixed = jax.lax.fori_loop(0, 20, lambda i, y: 0.5 * (y + x * x / y), 1 + x * x)
    steps = jax.lax.while_loop(lambda s: s[0] > 1, collatz, (jnp.int32(27), jnp.int32(0)))[1]
    return fixed, steps, jax.lax.scan(lambda c, y: (c * 0.9 + y, c), 0.0, x)[1]


@program(1e-5, (64,), (64,))
def control_flow(x, y):
    return jax.lax.cond(x.sum() > y.sum(), lambda: x - y, lambda: y * 2), jax.lax.switch(2, [jnp.sin, jnp.cos, jnp.tan], x)


@program(2e-4, (16, 32), (32, 8))
def gradients(x, w):
    loss = lambda w: jnp.mean(jax.nn.gelu(x @ w) ** 2)
    return jax.grad(loss)(w), jax.jacfwd(lambda v: jnp.sin(v) * v.sum())(x[0])


@program(1e-5, (40, 50))
def complex_numbers(x):
    z = x + 1j * x.T[:40, :40].sum()
    return jnp.abs(z), jnp.exp(1j * x).real, (z * z.conj()).imag


@program(1e-4, (2, 24, 32))
def training_of_attention(x):
    def loss(weights):
        q, k, v = (x @ weights[index] for index in range(3))
        weights_of = jax.nn.softmax(q @ k.swapaxes(1, 2) / 32**0.5)
        return jnp.mean((weights_of @ v - x) ** 2)

    @jax.jit
    def step(weights):
        value, slopes = jax.value_and_grad(loss)(weights)
        return weights - 0.5 * slopes, value

    weights, losses = jnp.tile(jnp.eye(32) * 0.5, (3, 1, 1)), []
    for _ in range(10):
        weights, value = step(weights)
        losses.append(value)
    return jnp.stack(losses)


def run(function, arguments, device):
    with jax.default_device(device):
        placed = [jax.device_put(one, device) for one in arguments]
        made = function(*placed) if function is training_of_attention else jax.jit(function)(*placed)
        return [np.asarray(one) for one in jax.tree.leaves(made)]


def main(names):
    wanted = {name: one for name, one in PROGRAMS.items() if not names or any(part in name for part in names)}
    gpu, cpu = jax.devices("rocm")[0], jax.devices("cpu")[0]
    print(gpu.device_kind, flush=True)
    right = 0
    for name, (function, tolerance, arguments) in wanted.items():
        start = time.monotonic()
        made, expected = run(function, arguments, gpu), run(function, arguments, cpu)
        close = lambda one, other: one.dtype == other.dtype and np.allclose(one, other, rtol=tolerance, atol=tolerance)
        wrong = [index for index, pair in enumerate(zip(made, expected, strict=True)) if not close(*pair)]
        right += not wrong
        verdict = f"WRONG: results {wrong}" if wrong else f"ok: {len(made)} results"
        print(f"{name}: {verdict}, {time.monotonic() - start:.1f} s", flush=True)
    print(f"{right}/{len(wanted)} programs agree")
    return right == 0 or right != len(wanted)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
