# SPDX-License-Identifier: MIT OR Apache-2.0
"""The memory of Python objects with the buffer protocol, as C takes it: an address and a size."""

from __future__ import annotations

import ctypes
import re
import reprlib
import sys
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


_SIMPLE, _WRITABLE, _WITH_FORMAT = 0x0, 0x1, 0x3C
_FOREIGN = ">!" if sys.byteorder == "little" else "<"

# Not `ctypes.pythonapi`, in which other packages declare the same functions with types of their own.
python = ctypes.PyDLL(None)
_get = python.PyObject_GetBuffer
_get.argtypes = [ctypes.py_object, ctypes.POINTER(_Buffer), ctypes.c_int]
_get.restype = ctypes.c_int
_release = python.PyBuffer_Release
_release.argtypes = [ctypes.POINTER(_Buffer)]
_release.restype = None


class Memory:
    """The contiguous bytes of an object, which cannot be freed or resized while this lives."""

    __slots__ = ("_view", "address", "size", "__weakref__")

    def __init__(self, source: Any, writable: bool = False) -> None:
        view, flags = _Buffer(), _WRITABLE if writable else _SIMPLE
        try:
            _get(source, ctypes.byref(view), flags | _WITH_FORMAT)
        except (BufferError, TypeError, ValueError, NotImplementedError):
            # Types such as bfloat16 have no format.
            _get(source, ctypes.byref(view), flags)
        self._view = view
        self._check(source, (view.format or b"").decode("utf-8", "replace"))
        self.address: int = view.buf or 0
        self.size: int = view.len

    @staticmethod
    def _check(source: Any, form: str) -> None:
        kinds = re.sub(":[^:]*:", "", form)
        if "O" in kinds:
            raise TypeError(f"Python's objects have no bytes for a device: {reprlib.repr(source)}")
        if any(order in kinds for order in _FOREIGN):
            raise TypeError(f'elements of another byte order: pass `array.astype(array.dtype.newbyteorder("="))` for {reprlib.repr(source)}')

    def __del__(self, release: Any = _release, byref: Any = ctypes.byref) -> None:
        view = getattr(self, "_view", None)
        if view is not None:
            release(byref(view))

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        pass
