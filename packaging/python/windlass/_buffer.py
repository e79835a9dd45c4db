# SPDX-License-Identifier: MIT OR Apache-2.0
"""Memory of devices, and references to ranges of it."""

from __future__ import annotations

import ctypes
import enum
import reprlib
from typing import TYPE_CHECKING, Any, NamedTuple, Optional, Union

from . import _abi
from ._handle import Handle, Object, handle_of, out
from ._library import lib, number
from ._mapping import mapped
from ._memory import Memory

if TYPE_CHECKING:
    from ._view import BufferView

WHOLE = _abi.WHOLE_BUFFER
"""The length of a range that extends to the end of the buffer."""


class MemoryType(enum.IntFlag):
    """The place of memory and its access by host and device, with IREE's numbers."""

    HOST_VISIBLE = _abi.MEMORY_TYPE_HOST_VISIBLE
    HOST_COHERENT = _abi.MEMORY_TYPE_HOST_COHERENT
    HOST_CACHED = _abi.MEMORY_TYPE_HOST_CACHED
    HOST_LOCAL = _abi.MEMORY_TYPE_HOST_LOCAL
    DEVICE_VISIBLE = _abi.MEMORY_TYPE_DEVICE_VISIBLE
    DEVICE_LOCAL = _abi.MEMORY_TYPE_DEVICE_LOCAL


class BufferUsage(enum.IntFlag):
    """The permitted uses of a buffer, with IREE's numbers."""

    TRANSFER_SOURCE = _abi.BUFFER_USAGE_TRANSFER_SOURCE
    TRANSFER_TARGET = _abi.BUFFER_USAGE_TRANSFER_TARGET
    TRANSFER = _abi.BUFFER_USAGE_TRANSFER
    DISPATCH_INDIRECT_PARAMETERS = _abi.BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS
    DISPATCH_STORAGE_READ = _abi.BUFFER_USAGE_DISPATCH_STORAGE_READ
    DISPATCH_STORAGE_WRITE = _abi.BUFFER_USAGE_DISPATCH_STORAGE_WRITE
    DISPATCH_STORAGE = _abi.BUFFER_USAGE_DISPATCH_STORAGE
    MAPPING = _abi.BUFFER_USAGE_MAPPING
    DEFAULT = _abi.BUFFER_USAGE_DEFAULT


class BufferParams(NamedTuple):
    """Parameters of an allocation: its place, the permitted uses, the least alignment of its address in bytes (0 for the device's
    own), and the queues that use it most (bit n for queue n, 0 for any)."""

    memory_type: MemoryType = MemoryType.DEVICE_LOCAL
    usage: BufferUsage = BufferUsage.DEFAULT
    min_alignment: int = 0
    queue_affinity: int = 0

    @classmethod
    def device(cls) -> BufferParams:
        """Device memory for transfers and dispatches."""
        return cls()

    @classmethod
    def host(cls) -> BufferParams:
        """Host memory that the device can use and the host can map."""
        place = MemoryType.HOST_LOCAL | MemoryType.HOST_COHERENT | MemoryType.DEVICE_VISIBLE
        return cls(place, BufferUsage.DEFAULT | BufferUsage.MAPPING)

    def _c(self) -> Any:
        params = sized(_abi.windlass_buffer_params_t)
        params.memory_type = number("a memory type", self.memory_type, 2**32 - 1)
        params.usage = number("a buffer usage", self.usage, 2**32 - 1)
        params.min_alignment = number("an alignment", self.min_alignment)
        params.queue_affinity = number("a queue affinity", self.queue_affinity)
        return params


def sized(kind: Any) -> Any:
    """An empty struct that states its size."""
    struct = kind()
    struct.struct_size = ctypes.sizeof(kind)
    return struct


def params_argument(params: Optional[BufferParams]) -> Any:
    """Parameters for C; None are those of the function."""
    if params is None:
        return None
    if not isinstance(params, BufferParams):
        raise TypeError(f"parameters of memory are a windlass.BufferParams, and this is {reprlib.repr(params)}")
    return ctypes.byref(params._c())


class Buffer(Object):
    """Memory of a device: an allocation or a part of one, which lives until the last buffer that shares it is gone and the last
    work with it has ended."""

    __slots__ = ()
    KIND = "buffer"

    @property
    def size(self) -> int:
        """The number of bytes."""
        return int(lib().windlass_buffer_size(self._h))

    def __len__(self) -> int:
        return self.size

    @property
    def device_address(self) -> int:
        """The address for device code. The host must not use it."""
        return int(lib().windlass_buffer_device_address(self._h))

    @property
    def offset(self) -> int:
        """The offset in the allocation, in bytes."""
        return int(lib().windlass_buffer_offset(self._h))

    @property
    def params(self) -> BufferParams:
        """The parameters of the allocation, as they were given."""
        params = sized(_abi.windlass_buffer_params_t)
        lib().windlass_buffer_params(self._h, ctypes.byref(params))
        place, usage = MemoryType(params.memory_type), BufferUsage(params.usage)
        return BufferParams(place, usage, params.min_alignment, params.queue_affinity)

    def subspan(self, offset: int, length: int = WHOLE) -> Buffer:
        """A part as a buffer of its own, which shares the memory."""
        part, offset = out(), number("an offset", offset)
        if length == WHOLE:
            length = max(self.size - offset, 0)
        lib().windlass_buffer_subspan(self._h, offset, number("a length", length), ctypes.byref(part))
        return Buffer._around(part.value)

    def range(self, offset: int, length: int = WHOLE) -> BufferRange:
        """A part as the target or the source of an operation."""
        return BufferRange(self, offset, length)

    def read(self, offset: int = 0, size: Optional[int] = None) -> bytearray:
        """Copies bytes of a mappable buffer, at once. Only semaphores order this with work on queues.
        FailedPreconditionError for other buffers: Queue.download_blocking copies them."""
        size = max(self.size - offset, 0) if size is None else number("a size", size)
        self._check(offset, size)
        target = bytearray(size)
        with Memory(target, writable=True) as memory:
            lib().windlass_buffer_read(self._h, number("an offset", offset), memory.address or None, size)
        return target

    def write(self, source: Any, offset: int = 0) -> None:
        """Copies contiguous bytes into a mappable buffer, at once: see `read`."""
        with Memory(source) as memory:
            lib().windlass_buffer_write(self._h, number("an offset", offset), memory.address or None, memory.size)

    def map(self) -> memoryview:
        """The host memory of a mappable buffer, without a copy. The view keeps the memory, also when the buffer and the device are
        closed. The device may write it at any time that semaphores do not exclude. FailedPreconditionError for other buffers."""
        writes = BufferUsage.TRANSFER_TARGET | BufferUsage.DISPATCH_STORAGE_WRITE
        return mapped(self._h, not self.params.usage & writes)

    def __buffer__(self, flags: int) -> memoryview:
        # Python 3.12 and newer; older ones ask only types of C.
        view = self.map()
        if flags & 1 and view.readonly:
            raise BufferError("the buffer is read-only")
        return view

    def _check(self, offset: int, size: int) -> None:
        # Before Python makes room for a size that cannot be.
        if size > self.size:
            self.subspan(offset, size)

    def __repr__(self) -> str:
        if self.closed:
            return f"<windlass.{type(self).__name__}, closed>"
        return f"<windlass.{type(self).__name__} of {self.size} bytes>"


class BufferRange(NamedTuple):
    """A range of a buffer: `buffer.range(offset, length)`."""

    buffer: Buffer
    offset: int = 0
    length: int = WHOLE


class Slot(NamedTuple):
    """A range of the buffer that the binding table of a command buffer holds in a slot. Only arguments of dispatches may leave out
    the length."""

    slot: int
    offset: int = 0
    length: int = WHOLE


BufferLike = Union[Buffer, BufferRange, "BufferView"]
"""A buffer, a range of one, or the buffer of a view."""
Target = Union[Buffer, BufferRange, "BufferView", Slot]
"""A buffer, a range of one, the buffer of a view, or a slot of a binding table."""


def is_view(thing: object) -> bool:
    """Whether it is a BufferView, which is in a layer above."""
    return isinstance(thing, Object) and thing.KIND == "buffer view"


def reference(target: Any) -> tuple[Any, Optional[Handle]]:
    """A reference for C, and the handle that it borrows."""
    if isinstance(target, Slot):
        slot = number("a slot", target.slot, 2**32 - 1)
        place = number("an offset", target.offset), number("a length", target.length)
        return _abi.windlass_buffer_ref_t(_abi.REF_SLOT, slot, None, *place), None
    if isinstance(target, BufferRange):
        buffer, offset, length = target
    elif is_view(target):
        buffer, offset, length = target.buffer, 0, WHOLE
    elif isinstance(target, Buffer):
        buffer, offset, length = target, 0, WHOLE
    else:
        raise TypeError(f"a buffer, a range of one or a slot is needed, and this is {reprlib.repr(target)}")
    handle = handle_of(Buffer, buffer)
    place = number("an offset", offset), number("a length", length)
    return _abi.windlass_buffer_ref_t(_abi.REF_BUFFER, 0, handle.address, *place), handle
