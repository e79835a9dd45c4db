# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tensors: memory of the device with a shape and a type. numpy computes all but the kernels, on copies."""

import builtins
import contextlib

import numpy as np

from . import _dtypes, _memory
from ._dtypes import dtype

_recording = [True]


@contextlib.contextmanager
def no_grad():
    before, _recording[0] = _recording[0], False
    try:
        yield
    finally:
        _recording[0] = before


class device:
    def __init__(self, kind, index=None):
        self.type, _, number = str(kind).partition(":")
        self.index = int(number) if number else index

    def __eq__(self, other):
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self):
        return hash((self.type, self.index))

    def __str__(self):
        return self.type if self.index is None else f"{self.type}:{self.index}"

    __repr__ = __str__


class Step:
    """How a tensor was computed: its operands, and for each the gradient of it from that of the tensor."""

    def __init__(self, operands, gradients):
        self.operands, self.gradients = operands, gradients


class Tensor:
    """Made of a numpy array. For a type that numpy lacks, integers of its size are taken as its bits."""

    def __init__(self, array, kind=None):
        array = np.ascontiguousarray(array).reshape(np.shape(array))
        self.dtype = kind or _dtypes.of_numpy(array)
        raw = _dtypes.store(array, self.dtype) if array.dtype.itemsize != self.dtype.itemsize or array.dtype.kind == "f" else array
        self._memory = _memory.allocate(raw.nbytes)
        self._memory.write(raw)
        self._lay(raw.shape, tuple(step // max(raw.itemsize, 1) for step in raw.strides), 0)

    @staticmethod
    def zeros(shape, kind):
        new = Tensor.__new__(Tensor)
        new.dtype, new._memory = kind, _memory.allocate(int(np.prod(shape)) * kind.itemsize)
        new._memory.clear()
        new._lay(shape, [int(np.prod(shape[index + 1 :])) for index in range(len(shape))], 0)
        return new

    def _lay(self, shape, strides, offset):
        self.shape, self._strides, self._offset = tuple(shape), tuple(strides), offset
        self.requires_grad, self.grad, self._step = False, None, None

    def _view(self, shape, strides, offset, kind=None):
        new = Tensor.__new__(Tensor)
        new.dtype, new._memory = kind or self.dtype, self._memory
        new._lay(shape, strides, offset)
        return new

    # Facts.

    def data_ptr(self):
        return self._memory.address + self._offset * self.dtype.itemsize

    def ptr_range(self):
        return self._memory.size

    @property
    def device(self):
        from . import cuda

        return device("cuda", cuda.current_device())

    @property
    def is_cuda(self):
        return True

    @property
    def ndim(self):
        return len(self.shape)

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def stride(self, dim=None):
        return self._strides if dim is None else self._strides[dim]

    def numel(self):
        return int(np.prod(self.shape))

    nelement = numel

    def element_size(self):
        return self.dtype.itemsize

    def is_contiguous(self):
        expected = 1
        for length, stride in zip(reversed(self.shape), reversed(self._strides)):
            if length != 1 and stride != expected:
                return False
            expected *= length
        return True

    def __len__(self):
        return self.shape[0]

    # Contents.

    def numpy(self):
        """The contents, once all kernels have ended; of a type that numpy lacks, its bits."""
        raw = self._memory.read().view(self.dtype.raw)
        step = self.dtype.itemsize
        return np.lib.stride_tricks.as_strided(raw[self._offset :], self.shape, [step * one for one in self._strides]).copy()

    def _values(self):
        return _dtypes.compute(self.numpy(), self.dtype)

    def _replace(self, values):
        raw = self._memory.read().view(self.dtype.raw)
        step = self.dtype.itemsize
        np.lib.stride_tricks.as_strided(raw[self._offset :], self.shape, [step * one for one in self._strides])[...] = _dtypes.store(
            values, self.dtype
        )
        self._memory.write(raw)
        return self

    def item(self):
        return self._values().item()

    def tolist(self):
        return self._values().tolist()

    def copy_(self, other):
        return self._replace(np.broadcast_to(_values(other), self.shape))

    def zero_(self):
        if self.numel() * self.dtype.itemsize != self._memory.size:
            return self._replace(np.zeros(self.shape, np.float32))
        self._memory.clear()
        return self

    def fill_(self, value):
        return self._replace(np.full(self.shape, value))

    def normal_(self, mean=0.0, std=1.0):
        from . import _random

        return self._replace(_random().normal(mean, std, self.shape))

    def __setitem__(self, key, value):
        key = _key(key)
        values = self._values()
        values[key] = _values(value)
        self._replace(values)
        if self._step is not None and _recording[0]:
            before = self._view(self.shape, self._strides, self._offset)
            before.requires_grad, before._step = True, self._step
            kept = np.ones(self.shape, np.float32)
            kept[key] = 0
            self._step = Step([before], [lambda gradient: gradient * kept])

    def __getitem__(self, key):
        def spread(gradient):
            whole = np.zeros(self.shape, np.float32)
            np.add.at(whole, _key(key), gradient)
            return whole

        parts = key if isinstance(key, tuple) else (key,)
        if all(part is None or part is Ellipsis or isinstance(part, (int, slice)) for part in parts):
            # The same memory: numpy computes the place of the part in an array of these strides, and reads nothing.
            whole = np.lib.stride_tricks.as_strided(np.zeros(1, np.int8), self.shape, self._strides)
            part = whole[parts if any(part is Ellipsis for part in parts) else (*parts, Ellipsis)]
            offset = part.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
            return recorded(self._view(part.shape, part.strides, self._offset + offset), [self], [spread])
        return result(self._values()[_key(key)], self.dtype, [self], [spread])

    def __iter__(self):
        return (self[index] for index in range(len(self)))

    def __repr__(self):
        return f"tensor({np.array2string(self._values(), separator=', ', threshold=20)}, device='{self.device}', dtype={self.dtype})"

    def __format__(self, form):
        return format(self.item(), form) if self.ndim == 0 else repr(self)

    def __bool__(self):
        return builtins.bool(self.item())

    def __float__(self):
        return float(self.item())

    __hash__ = object.__hash__

    # Other types and shapes.

    def to(self, *what, dtype=None, **_):
        kind = dtype or next((one for one in what if isinstance(one, _dtypes.dtype)), self.dtype)
        return self if kind is self.dtype else result(self._values(), kind, [self], [lambda gradient: gradient])

    type = to

    def half(self):
        return self.to(_dtypes.float16)

    def float(self):
        return self.to(_dtypes.float32)

    def cpu(self):
        return self

    def cuda(self, *_):
        return self

    def contiguous(self):
        return self if self.is_contiguous() else result(self._values(), self.dtype, [self], [lambda gradient: gradient])

    def clone(self):
        return result(self._values(), self.dtype, [self], [lambda gradient: gradient])

    def detach(self):
        return self._view(self.shape, self._strides, self._offset)

    @property
    def data(self):
        return self.detach()

    @data.setter
    def data(self, other):
        self.dtype, self._memory = other.dtype, other._memory
        self.shape, self._strides, self._offset = other.shape, other._strides, other._offset

    def new_empty(self, *size, dtype=None):
        return Tensor.zeros(tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size, dtype or self.dtype)

    new_zeros = new_empty

    def new_full(self, size, value, dtype=None):
        return self.new_empty(size, dtype=dtype).fill_(value)

    def reshape(self, *shape):
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        if not self.is_contiguous():
            return self.contiguous().reshape(*shape)
        lengths = np.empty(self.shape, np.uint8).reshape(shape).shape
        strides = tuple(int(np.prod(lengths[index + 1 :])) for index in range(len(lengths)))
        return recorded(self._view(lengths, strides, self._offset), [self], [lambda gradient: gradient.reshape(self.shape)])

    view = reshape

    def permute(self, *order):
        order = order[0] if len(order) == 1 else order
        new = self._view([self.shape[one] for one in order], [self._strides[one] for one in order], self._offset)
        return recorded(new, [self], [lambda gradient: gradient.transpose(np.argsort(order))])

    def transpose(self, first, second):
        order = list(range(self.ndim))
        order[first], order[second] = order[second], order[first]
        return self.permute(order)

    @property
    def T(self):
        return self.permute(list(reversed(range(self.ndim))))

    t = transpose

    # Numbers.

    def __add__(self, other):
        return _pairwise(np.add, self, other, lambda g, a, b: g, lambda g, a, b: g)

    __radd__ = __add__

    def __sub__(self, other):
        return _pairwise(np.subtract, self, other, lambda g, a, b: g, lambda g, a, b: -g)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        return _pairwise(np.multiply, self, other, lambda g, a, b: g * b, lambda g, a, b: g * a)

    __rmul__ = __mul__

    def __truediv__(self, other):
        return _pairwise(np.divide, self, other, lambda g, a, b: g / b, lambda g, a, b: -g * a / b**2)

    def __neg__(self):
        return self * -1

    def __matmul__(self, other):
        return matmul(self, other)

    def __eq__(self, other):
        return Tensor(self._values() == _values(other))

    def __ne__(self, other):
        return Tensor(self._values() != _values(other))

    def __lt__(self, other):
        return Tensor(self._values() < _values(other))

    def __gt__(self, other):
        return Tensor(self._values() > _values(other))

    def __ge__(self, other):
        return Tensor(self._values() >= _values(other))

    def abs(self):
        values = self._values()
        return result(np.abs(values), self.dtype, [self], [lambda gradient: gradient * np.sign(values)])

    def exp(self):
        values = np.exp(_wide(self._values()))
        return result(values, self.dtype, [self], [lambda gradient: gradient * values])

    def max(self, dim=None):
        values = self._values()
        if dim is None:
            return Tensor(np.asarray(values.max()), self.dtype)
        return result(values.max(dim), self.dtype), Tensor(values.argmax(dim))

    def sum(self, dim=None, axis=None, keepdim=False):
        dim = axis if dim is None else dim
        values = _wide(self._values())

        def spread(gradient):
            gradient = gradient if keepdim or dim is None else np.expand_dims(gradient, dim)
            return np.broadcast_to(gradient, self.shape)

        return result(values.sum(dim, keepdims=keepdim), self.dtype, [self], [spread])

    def mean(self, dim=None):
        return self.sum(dim) / (self.numel() if dim is None else self.shape[dim])

    # Gradients.

    def requires_grad_(self, requires_grad=True):
        self.requires_grad = requires_grad
        return self

    def backward(self, gradient=None, retain_graph=False):
        from . import autograd

        autograd.backward(self, gradient)


def result(values, kind, operands=(), gradients=()):
    return recorded(Tensor(_dtypes.store(values, kind), kind), operands, gradients)


def recorded(tensor, operands, gradients):
    """Notes how a tensor was computed, if a gradient may be asked for."""
    if _recording[0] and any(one.requires_grad for one in operands):
        tensor.requires_grad, tensor._step = True, Step(list(operands), list(gradients))
    return tensor


def matmul(left, right):
    a, b = _wide(left._values()), _wide(right._values())
    # Numbers of 16 bits are multiplied exactly and summed up in 32, as matrix instructions do it.
    return result(
        a @ b,
        _dtypes.joined(left.dtype, right.dtype),
        [left, right],
        [lambda gradient: _wide(gradient) @ b.swapaxes(-1, -2), lambda gradient: a.swapaxes(-1, -2) @ _wide(gradient)],
    )


def _pairwise(operation, left, right, of_left, of_right):
    a, b = left._values(), _values(right)
    operands, gradients = [left], [lambda g: _narrowed(of_left(g, _wide(a), _wide(b)), left.shape)]
    kind = left.dtype
    if isinstance(right, Tensor):
        operands.append(right)
        gradients.append(lambda g: _narrowed(of_right(g, _wide(a), _wide(b)), right.shape))
        kind = _dtypes.joined(left.dtype, right.dtype)
    elif isinstance(right, float) and not kind.is_floating_point:
        kind = _dtypes.float32
    return result(operation(_wide(a), _wide(b)), kind, operands, gradients)


def _narrowed(gradient, shape):
    """The gradient of an operand that was broadcast from a shape."""
    while gradient.ndim > len(shape):
        gradient = gradient.sum(0)
    for dim, length in enumerate(shape):
        if length == 1 and gradient.shape[dim] != 1:
            gradient = gradient.sum(dim, keepdims=True)
    return gradient


def _wide(values):
    """Numbers of 16 bits are computed in 32."""
    values = np.asarray(values)
    return values.astype(np.float32) if values.dtype == np.float16 else values


def _values(value):
    return value._values() if isinstance(value, Tensor) else value


def _key(key):
    return tuple(map(_values, key)) if isinstance(key, tuple) else _values(key)
