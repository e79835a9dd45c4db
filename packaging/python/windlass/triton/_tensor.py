# SPDX-License-Identifier: MIT OR Apache-2.0
"""Tensors: dense arrays in a device's memory, which kernels take as pointers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Sequence

from .. import BufferRange
from ._dtype import DType, dtype_of
from ._exchange import view_of
from ._storage import Storage

if TYPE_CHECKING:
    from numpy import ndarray

    from ._device import OpenDevice
    from ._stream import Stream


class Tensor:
    """A dense row-major array in the memory of a device.

    Copies, fills and kernels are ordered by streams alone, by default the current one. A tensor that another stream
    writes is read behind `Stream.wait_stream` or `synchronize`.
    """

    def __init__(self, storage: Storage, shape: Sequence[int], dtype: DType, offset: int = 0):
        self.storage, self.shape, self.dtype, self._offset = storage, tuple(shape), dtype, offset

    # Asked by Triton of each argument.

    def data_ptr(self) -> int:
        """The device address of the first element."""
        storage = self.storage
        storage.buffer
        return storage.address + self._offset

    def ptr_range(self) -> int:
        """The bytes of the allocation: Triton uses 32-bit offsets where they suffice."""
        return self.storage.size

    # Facts.

    @property
    def device(self) -> OpenDevice:
        return self.storage.device

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def nbytes(self) -> int:
        return self.numel() * self.dtype.itemsize

    def numel(self) -> int:
        return math.prod(self.shape)

    def element_size(self) -> int:
        return self.dtype.itemsize

    def stride(self, dimension: int | None = None) -> Any:
        """The distance between neighbours of a dimension, in elements; of all dimensions without an argument."""
        strides = tuple(math.prod(self.shape[index + 1 :]) for index in range(self.ndim))
        return strides if dimension is None else strides[dimension]

    def is_contiguous(self) -> bool:
        return True

    # Contents.

    def numpy(self, stream: Stream | None = None) -> ndarray[Any, Any]:
        """A copy of the contents in a new numpy array, behind the stream's work. Blocks until it is there."""
        import numpy

        array = numpy.empty(self.shape, self.dtype.numpy)
        if array.nbytes:
            stream = self.device.stream_or_current(stream)
            stream.submit_and_wait(stream.queue.download_blocking, self._range(), into=array)
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> ndarray[Any, Any]:
        if copy is False:
            raise ValueError("a tensor in a device's memory has no numpy array without a copy")
        array = self.numpy()
        return array if dtype is None else array.astype(dtype)

    def __dlpack_device__(self) -> tuple[int, int]:
        return view_of(self, self.device.current_stream).__dlpack_device__()

    def __dlpack__(self, **options: Any) -> Any:
        """DLPack's capsule of this memory, for `from_dlpack` of other libraries. They use it behind the work that the
        current stream has so far."""
        return view_of(self, self.device.current_stream).__dlpack__(**options)

    def copy_(self, source: Any, stream: Stream | None = None) -> Tensor:
        """Replaces the contents by those of a tensor or of an array of the same shape and type. Returns this tensor."""
        stream = self.device.stream_or_current(stream)
        if isinstance(source, Tensor):
            self._check_same(source.shape, source.dtype)
            if source.device is not self.device:
                raise ValueError(f"copy_: the source is on {source.device}, this tensor on {self.device}: use source.numpy()")
            if self.nbytes:
                stream.submit(stream.queue.copy, source._range(), self._range())
            return self
        import numpy

        array = numpy.ascontiguousarray(source)
        self._check_same(array.shape, _of_array(array, self.dtype))
        if array.nbytes:
            stream.submit_and_wait(stream.queue.upload_blocking, array, self._range())
        return self

    def zero_(self, stream: Stream | None = None) -> Tensor:
        """Makes all elements zero. Returns this tensor."""
        if self.nbytes:
            stream = self.device.stream_or_current(stream)
            stream.submit(stream.queue.fill, self._range(), b"\0")
        return self

    def clone(self) -> Tensor:
        """A copy in memory of its own."""
        return self.device.empty(self.shape, self.dtype).copy_(self)

    def reshape(self, *shape: Any) -> Tensor:
        """The same memory with another shape. One dimension may be -1."""
        wanted = list(shape[0]) if len(shape) == 1 and not isinstance(shape[0], int) else list(shape)
        if wanted.count(-1) == 1:
            rest = -math.prod(wanted)
            wanted[wanted.index(-1)] = self.numel() // rest if rest else 0
        if math.prod(wanted) != self.numel() or min(wanted, default=0) < 0:
            raise ValueError(f"reshape: a tensor of shape {self.shape} has no shape {shape}")
        return Tensor(self.storage, wanted, self.dtype, self._offset)

    def view(self, dtype: Any) -> Tensor:
        """The same bytes as elements of another type of the same size."""
        dtype = dtype_of(dtype)
        if dtype.itemsize != self.dtype.itemsize:
            raise TypeError(f"view: {dtype} has {dtype.itemsize} bytes, {self.dtype} has {self.dtype.itemsize}")
        return Tensor(self.storage, self.shape, dtype, self._offset)

    def free(self) -> None:
        """Gives the memory back before the tensor ends. Work in flight still has it; later uses are refused."""
        self.storage.free()

    def _range(self) -> BufferRange:
        return self.storage.buffer.range(self._offset, self.nbytes)

    def _check_same(self, shape: Sequence[int], dtype: DType) -> None:
        if dtype != self.dtype:
            raise TypeError(f"copy_: the source's elements are {dtype}, this tensor's {self.dtype}: use view() for the same bytes")
        if tuple(shape) != self.shape:
            raise ValueError(f"copy_: the source has shape {tuple(shape)}, this tensor {self.shape}")

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"<tensor {self.shape} of {self.dtype} on {self.device.uri}>"


def of_numpy(device: OpenDevice, array: Any, dtype: Any, stream: Stream | None) -> Tensor:
    """A new tensor with the contents of an array. The copy has ended when this returns."""
    import numpy

    array = numpy.ascontiguousarray(array)
    tensor = device.empty(array.shape, _of_array(array, None if dtype is None else dtype_of(dtype)))
    # Nothing can use the new memory yet, so the copy waits for no work.
    if array.nbytes:
        device.stream_or_current(stream).queue.upload_blocking(array, tensor.storage.buffer)
    return tensor


def _of_array(array: Any, wanted: DType | None) -> DType:
    """The type of an array's elements. Types that numpy lacks may come as unsigned integers of their size."""
    if wanted is not None and array.dtype in (wanted.numpy, f"uint{8 * wanted.itemsize}"):
        return wanted
    found = dtype_of(array.dtype)
    if wanted is not None and wanted != found:
        raise TypeError(f"the array's elements are {found}, not {wanted}: convert them with astype()")
    return found
