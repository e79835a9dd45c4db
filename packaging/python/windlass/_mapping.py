# SPDX-License-Identifier: MIT OR Apache-2.0
"""Host memory of buffers as memoryviews."""

from __future__ import annotations

import ctypes
from typing import Any

from ._handle import Handle, Object, out
from ._library import lib


class _Export(Object):
    __slots__ = ()
    KIND = "export"


def mapped(buffer: Handle, read_only: bool) -> memoryview:
    """The host memory of a mappable buffer. The view keeps it, also when the buffer and the device are closed."""
    size = lib().windlass_buffer_size(buffer)
    if size == 0:
        return memoryview(bytes() if read_only else bytearray())
    pointer = out()
    lib().windlass_buffer_export_host_pointer(buffer, ctypes.byref(pointer))
    exported = _Export._around(pointer.value)
    array: Any = (ctypes.c_ubyte * size).from_address(lib().windlass_export_host_pointer(exported._h))
    # The memoryview keeps the array, and the array this.
    array._exported = exported
    view = memoryview(array).cast("B")
    return view.toreadonly() if read_only else view
