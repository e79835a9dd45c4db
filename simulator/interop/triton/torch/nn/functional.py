# SPDX-License-Identifier: MIT OR Apache-2.0
"""Softmax and layer normalisation, with their gradients."""

import numpy as np

from .._tensor import _wide, result


def softmax(input, dim=None, axis=None):
    dim = axis if dim is None else dim
    values = _wide(input._values())
    power = np.exp(values - values.max(dim, keepdims=True))
    shares = power / power.sum(dim, keepdims=True)

    def gradient_of(gradient):
        part = gradient * shares
        return part - shares * part.sum(dim, keepdims=True)

    return result(shares, input.dtype, [input], [gradient_of])


def layer_norm(input, normalized_shape, weight, bias, eps=1e-5):
    axes = tuple(range(input.ndim - len(normalized_shape), input.ndim))
    others = tuple(range(input.ndim - len(normalized_shape)))
    values, scale = _wide(input._values()), _wide(weight._values())
    spread = 1 / np.sqrt(values.var(axes, keepdims=True) + np.float32(eps))
    normal = (values - values.mean(axes, keepdims=True)) * spread

    def of_input(gradient):
        part = gradient * scale
        return spread * (part - part.mean(axes, keepdims=True) - normal * (part * normal).mean(axes, keepdims=True))

    return result(
        normal * scale + _wide(bias._values()),
        input.dtype,
        [input, weight, bias],
        [of_input, lambda gradient: (gradient * normal).sum(others), lambda gradient: _wide(gradient).sum(others)],
    )
