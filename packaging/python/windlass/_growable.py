# SPDX-License-Identifier: MIT OR Apache-2.0
"""Buffers that grow in place."""

from __future__ import annotations

import ctypes
from typing import Optional

from ._buffer import Buffer
from ._handle import Object, out
from ._library import lib, number


class GrowableBuffer(Object):
    """Memory that grows in place: reserved device addresses with memory behind their first part. The addresses never change, and growing
    keeps all contents. `Device.reserve_growable` makes one. All numbers are bytes. Threads may share it."""

    __slots__ = ()
    KIND = "growable"

    @property
    def size(self) -> int:
        """The bytes that have memory, counted from the first address."""
        return int(lib().windlass_growable_size(self._h))

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return True

    @property
    def capacity(self) -> int:
        """The reserved bytes, which are the greatest size."""
        return int(lib().windlass_growable_capacity(self._h))

    @property
    def granularity(self) -> int:
        """The bytes of the pages that memory comes in."""
        return int(lib().windlass_growable_granularity(self._h))

    @property
    def device_address(self) -> int:
        """The first address for device code, which never changes. The host must not use it."""
        return int(lib().windlass_growable_device_address(self._h))

    def grow_to(self, size: int) -> None:
        """Puts memory behind the first `size` bytes, rounded up to whole pages. The contents of new memory are undefined. OutOfRangeError
        above the capacity; ResourceExhaustedError if memory is short, and nothing has changed then."""
        lib().windlass_growable_grow_to(self._h, number("a size", size))

    def shrink_to(self, size: int) -> None:
        """Gives memory behind the first `size` bytes back, in the pieces in which it came. A buffer that was made of a piece keeps it until it
        is gone. Never waits: a thread of the library takes the memory back, and a growth or an allocation that needs it waits for that."""
        lib().windlass_growable_shrink_to(self._h, number("a size", size))

    def buffer(self, offset: int = 0, length: Optional[int] = None) -> Buffer:
        """A buffer of a part, by default up to the size now. It keeps its memory. OutOfRangeError if a part has no memory."""
        pointer, start = out(), number("an offset", offset)
        length = max(self.size - start, 0) if length is None else number("a length", length)
        lib().windlass_growable_buffer(self._h, start, length, ctypes.byref(pointer))
        return Buffer._around(pointer.value)

    def __repr__(self) -> str:
        if self.closed:
            return "<windlass.GrowableBuffer, closed>"
        return f"<windlass.GrowableBuffer of {self.size} bytes, capacity {self.capacity}>"
