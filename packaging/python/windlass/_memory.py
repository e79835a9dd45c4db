# SPDX-License-Identifier: MIT OR Apache-2.0
"""The memory of Python objects with the buffer protocol, as C takes it: an address and a size."""

from __future__ import annotations

import ctypes
from typing import Any


class _Buffer(ctypes.Structure):
    """Py_buffer, whose layout is part of Python's stable ABI."""

    _fields_ = [
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.c_void_p),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    ]


_SIMPLE, _WRITABLE = 0, 1
_get = ctypes.pythonapi.PyObject_GetBuffer
_get.argtypes = [ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int]
_get.restype = ctypes.c_int
_release = ctypes.pythonapi.PyBuffer_Release
_release.argtypes = [ctypes.POINTER(_Buffer)]
_release.restype = None


class Memory:
    """The contiguous bytes of an object, which cannot be freed or resized while this lives."""

    __slots__ = ("_view", "address", "size", "__weakref__")

    def __init__(self, source: Any, writable: bool = False) -> None:
        view = _Buffer()
        _get(source, ctypes.byref(view), _WRITABLE if writable else _SIMPLE)
        self._view = view
        self.address: int = view.buf or 0
        self.size: int = view.len

    def __del__(self, release: Any = _release, byref: Any = ctypes.byref) -> None:
        view = getattr(self, "_view", None)
        if view is not None:
            release(byref(view))

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        pass
