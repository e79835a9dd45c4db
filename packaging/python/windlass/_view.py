# SPDX-License-Identifier: MIT OR Apache-2.0
"""Buffers as arrays, and their exchange with other libraries."""

from __future__ import annotations

import ctypes
import math
from typing import Any, Optional, Sequence, Tuple, Union

from . import _dlpack, _streams
from ._buffer import Buffer
from ._element_type import ElementType
from ._errors import UnimplementedError
from ._handle import Object, handle_of, out
from ._library import lib, number
from ._semaphore import PointList, Points, wait_all_blocking


class BufferView(Object):
    """A buffer that holds a dense row-major array. It keeps the buffer's memory.

    `ready` are the points behind which the array has its contents. Whoever takes the array by `__dlpack__`, `numpy.asarray` or
    `map` gets it behind them. Without any, the program orders all work itself."""

    __slots__ = ("ready", "queue")
    KIND = "buffer view"

    ready: Points
    queue: Any

    def __init__(
        self, buffer: Buffer, shape: Union[int, Sequence[int]], element_type: Any = "ui8", *, ready: Points = ()
    ) -> None:
        sizes: Any = [shape] if hasattr(shape, "__index__") else shape
        dimensions = [number("a dimension", one) for one in sizes]
        array, pointer = (ctypes.c_uint64 * len(dimensions))(*dimensions), out()
        kind = ElementType.of(element_type)
        lib().windlass_buffer_view_create(
            handle_of(Buffer, buffer), len(dimensions), array if dimensions else None, kind, ctypes.byref(pointer)
        )
        self._adopt(pointer.value or 0)
        PointList(ready)
        self.ready, self.queue = ready, None

    @classmethod
    def _of(cls, pointer: Optional[int]) -> BufferView:
        self = cls._around(pointer)
        self.ready, self.queue = (), None
        return self

    @property
    def shape(self) -> Tuple[int, ...]:
        """The dimensions, the outermost first."""
        dimensions, one = [], ctypes.c_uint64()
        for index in range(lib().windlass_buffer_view_rank(self._h)):
            lib().windlass_buffer_view_dimension(self._h, index, ctypes.byref(one))
            dimensions.append(one.value)
        return tuple(dimensions)

    @property
    def element_type(self) -> ElementType:
        """The type of the elements."""
        return ElementType(lib().windlass_buffer_view_element_type(self._h))

    @property
    def buffer(self) -> Buffer:
        """The buffer of the view."""
        pointer = out()
        lib().windlass_buffer_view_buffer(self._h, ctypes.byref(pointer))
        return Buffer._around(pointer.value)

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return math.prod(self.shape) * self.element_type.size

    def map(self) -> memoryview[Any]:
        """The host memory of a mappable buffer as a memoryview of this shape, when `ready` is reached. It keeps the memory.
        UnimplementedError for bfloat16, which Python has no letter for: `view.buffer.map()` has its bytes."""
        letter = _LETTERS.get(self.element_type)
        if letter is None:
            raise UnimplementedError(f"Python has no format for {self.element_type.short_name}")
        wait_all_blocking(self.ready)
        view: Any = self.buffer.map()
        shape = self.shape
        # Python has no views without elements but of one dimension.
        mapped: memoryview[Any] = view.cast(letter, shape) if 0 not in shape else view.cast(letter)
        return mapped

    def __buffer__(self, flags: int) -> memoryview[Any]:
        # Python 3.12 and newer; older ones ask only types of C.
        return _for_flags(self.map(), flags)

    def __array__(self, dtype: Any = None, copy: Optional[bool] = None) -> Any:
        import numpy

        array = numpy.asarray(self.map()).reshape(self.shape)
        if dtype is not None and array.dtype != dtype:
            if copy is False:
                raise ValueError(f"an array of {dtype} needs a copy of one of {array.dtype}")
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack_device__(self) -> Tuple[int, int]:
        """The kind and the number of the device: (1, 0) for the CPU, 10 and HIP's number for a GPU, (11, 0) for its host memory."""
        return _dlpack.device_of(self.buffer)

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: Optional[Tuple[int, int]] = None,
        dl_device: Optional[Tuple[int, int]] = None,
        copy: Optional[bool] = None,
    ) -> Any:
        """A capsule for the consumer. On a GPU, `stream` is HIP's stream in which the consumer will use the array: None and 0 for the
        default stream, -1 for no synchronization, else a handle. BufferError if the array cannot be had in this way."""
        device = self.__dlpack_device__()
        if dl_device is not None and tuple(dl_device) != device:
            raise BufferError(f"the array is on DLPack's device {device}, and cannot be had on {tuple(dl_device)}: copy it")
        if copy:
            raise BufferError("a copy of a Windlass buffer is made by Queue.copy: ask for copy=None")
        _streams.check(device[0], stream)
        if stream != -1:
            _streams.let_wait(self.ready, self.queue, device[0], stream)
        return _dlpack.capsule(self._h, max_version)

    def __repr__(self) -> str:
        if self.closed:
            return "<windlass.BufferView, closed>"
        return f"<windlass.BufferView {'x'.join(map(str, self.shape))}x{self.element_type.short_name}>"


_LETTERS = {
    ElementType.BOOL_8: "?",
    ElementType.INT_8: "b",
    ElementType.INT_16: "h",
    ElementType.INT_32: "i",
    ElementType.INT_64: "q",
    ElementType.SINT_8: "b",
    ElementType.SINT_16: "h",
    ElementType.SINT_32: "i",
    ElementType.SINT_64: "q",
    ElementType.UINT_8: "B",
    ElementType.UINT_16: "H",
    ElementType.UINT_32: "I",
    ElementType.UINT_64: "Q",
    ElementType.FLOAT_16: "e",
    ElementType.FLOAT_32: "f",
    ElementType.FLOAT_64: "d",
}
"""The letters of Python's buffer protocol. Other types have none."""

_WRITABLE = 1


def _for_flags(view: memoryview[Any], flags: int) -> memoryview[Any]:
    if flags & _WRITABLE and view.readonly:
        raise BufferError("the buffer is read-only")
    return view


def from_dlpack(source: Any, device: Any, *, queue: Any = None) -> BufferView:
    """A view of another library's array, without a copy: of an object with `__dlpack__`, or of a capsule. The array is dense and
    row-major, in memory that the device can use. Its owner keeps the memory until the last work with the view's buffer has ended. The
    buffer of a read-only array can only be read.

    The array's contents are there when `ready` of the result is reached. With a queue, this is ordered without the host where the
    device can do that."""
    view: BufferView = _dlpack.view_of(source, device, queue, BufferView)
    return view
