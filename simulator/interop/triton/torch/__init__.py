# SPDX-License-Identifier: MIT OR Apache-2.0
"""The part of the module `torch` that Triton's AMD driver, its tutorials and the suite beside it use.

Triton finds devices, streams and tensors through PyTorch. This replaces PyTorch for running kernels: tensors
are device memory with a shape and a type, and numpy computes everything but kernels on copies of them. The device is
that of `windlass.triton` if the program has imported it, otherwise that of HIP.
"""

from builtins import float as builtin_float
from builtins import int as builtin_int

import numpy as np

from . import _dtypes, autograd, cuda, nn, testing
from ._dtypes import (
    bfloat16,
    dtype,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
)
from ._tensor import Tensor, device, matmul, no_grad
from .nn.functional import softmax

half, float, int, bool = float16, float32, int32, _dtypes.bool_
_generator = [np.random.default_rng()]


class version:
    hip = "7.0"
    cuda = None


def _random():
    return _generator[0]


def manual_seed(seed):
    _generator[0] = np.random.default_rng(seed)


def _shape(size):
    size = size or ((),)
    return tuple(size[0]) if len(size) == 1 and not isinstance(size[0], builtin_int) else tuple(size)


def _made(values, kind, requires_grad=False):
    return Tensor(_dtypes.store(values, kind), kind).requires_grad_(requires_grad)


def zeros(*size, dtype=float32, device=None, requires_grad=False):
    # The type may come without its name.
    if len(size) > 1 and isinstance(size[-1], _dtypes.dtype):
        size, dtype = size[:-1], size[-1]
    return Tensor.zeros(_shape(size), dtype).requires_grad_(requires_grad)


empty = zeros


def ones(*size, dtype=float32, device=None, requires_grad=False):
    return _made(np.ones(_shape(size), np.float32), dtype, requires_grad)


def full(size, value, dtype=None, device=None):
    return _made(np.full(_shape((size,)), value), dtype or (float32 if isinstance(value, builtin_float) else int64))


def arange(*limits, dtype=None, device=None):
    values = np.arange(*limits)
    return _made(values, dtype or _dtypes.of_numpy(values))


def equal(left, right):
    return np.array_equal(left._values(), right._values())


def ones_like(tensor):
    return ones(*tensor.shape, dtype=tensor.dtype)


def all(tensor):
    return Tensor(np.asarray(tensor._values().all()))


def rand(*shape, size=None, dtype=float32, device=None, requires_grad=False):
    return _made(_random().random(_shape(shape or size), np.float32), dtype, requires_grad)


def randn(*shape, size=None, dtype=float32, device=None, requires_grad=False):
    return _made(_random().standard_normal(_shape(shape or size), np.float32), dtype, requires_grad)


def empty_like(tensor, dtype=None):
    # In the order of dimensions that the tensor has.
    order = sorted(range(tensor.ndim), key=lambda dim: -tensor.stride(dim))
    made = zeros([tensor.shape[dim] for dim in order], dtype=dtype or tensor.dtype)
    return made.permute([order.index(dim) for dim in range(tensor.ndim)])


zeros_like = empty_like


def randn_like(tensor):
    return randn(*tensor.shape, dtype=tensor.dtype)


def tensor(values, dtype=None, device=None):
    values = np.asarray(values)
    return Tensor(values.astype(np.float32) if values.dtype == np.float64 else values, dtype)


def tril(tensor):
    return _made(np.tril(tensor._values()), tensor.dtype)


def exp(tensor):
    return tensor.exp()


def asin(tensor):
    return _made(np.arcsin(tensor._values()), tensor.dtype)


def abs(tensor):
    return tensor.abs()


def max(tensor, dim=None):
    return tensor.max(dim)


def sum(tensor, dim=None):
    return tensor.sum(dim)


def allclose(left, right, rtol=1e-5, atol=1e-8):
    return np.allclose(left._values().astype(np.float64), right._values().astype(np.float64), rtol, atol)
