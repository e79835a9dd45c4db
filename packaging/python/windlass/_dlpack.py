# SPDX-License-Identifier: MIT OR Apache-2.0
"""DLPack's capsules, made and taken by ctypes."""

from __future__ import annotations

import ctypes
import reprlib
from typing import Any, Optional, Tuple

from . import _abi, _streams
from ._errors import Error
from ._handle import Handle, handle_of, out
from ._inbox import Message, callback, ticket
from ._library import lib
from ._memory import python

_VERSION = 1, 1
"""The version of DLPack that the library makes and takes."""

_UNVERSIONED, _VERSIONED = b"dltensor", b"dltensor_versioned"


def _immortal(name: bytes) -> int:
    """The address of a string that outlives Python, as capsules only point to their names."""
    text = ctypes.create_string_buffer(name)
    python.Py_IncRef(ctypes.py_object(text))
    return ctypes.addressof(text)


_NAMES = {name: _immortal(name) for name in (_UNVERSIONED, _VERSIONED, b"used_dltensor", b"used_dltensor_versioned")}

_new = python.PyCapsule_New
_new.argtypes, _new.restype = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p], ctypes.py_object
_is_valid = python.PyCapsule_IsValid
_is_valid.argtypes, _is_valid.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_int
_pointer = python.PyCapsule_GetPointer
_pointer.argtypes, _pointer.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
_set_name = python.PyCapsule_SetName
_set_name.argtypes, _set_name.restype = [ctypes.py_object, ctypes.c_void_p], ctypes.c_int

_destructor: Optional[int] = None


def _destroy() -> int:
    """The library's destructor of capsules. One of Python would lose the exception that is pending when a consumer fails."""
    global _destructor
    if _destructor is None:
        functions = lib()
        as_pointer = ctypes.cast(python.PyCapsule_IsValid, ctypes.c_void_p).value
        is_valid = ctypes.cast(as_pointer or 0, _abi.windlass_capsule_is_valid_t)
        as_pointer = ctypes.cast(python.PyCapsule_GetPointer, ctypes.c_void_p).value
        get_pointer = ctypes.cast(as_pointer or 0, _abi.windlass_capsule_get_pointer_t)
        functions.windlass_dlpack_capsule_functions(is_valid, get_pointer)
        _destructor = ctypes.cast(functions.windlass_dlpack_capsule_destroy, ctypes.c_void_p).value
    return _destructor or 0


def device_of(buffer: Any) -> Tuple[int, int]:
    """DLPack's device of a buffer."""
    kind, index = ctypes.c_int32(), ctypes.c_int32()
    try:
        lib().windlass_buffer_dlpack_device(buffer._h, ctypes.byref(kind), ctypes.byref(index))
    except Error as error:
        raise BufferError(str(error)) from error
    return kind.value, index.value


def capsule(view: Handle, max_version: Optional[Tuple[int, int]]) -> Any:
    """The capsule of a view, for a consumer that knows DLPack up to a version; None before version 1."""
    tensor, destroy = out(), _destroy()
    versioned = max_version is not None and max_version[0] >= 1
    try:
        if versioned:
            lib().windlass_buffer_view_to_dlpack(view, 0, ctypes.byref(tensor))
        else:
            lib().windlass_buffer_view_to_dlpack_unversioned(view, ctypes.byref(tensor))
    except Error as error:
        raise BufferError(str(error)) from error
    return _new(tensor, _NAMES[_VERSIONED if versioned else _UNVERSIONED], destroy)


def view_of(source: Any, device: Any, queue: Any, kind: Any) -> Any:
    """A view of another library's array."""
    given, stream = source, None
    if hasattr(source, "__dlpack__"):
        if source.__dlpack_device__()[0] in (_streams.ROCM, _streams.ROCM_HOST):
            stream = _streams.DEFAULT
        try:
            given = source.__dlpack__(stream=stream, max_version=_VERSION)
        except TypeError:
            # A producer before DLPack 1.
            given = source.__dlpack__(stream=stream) if stream is not None else source.__dlpack__()
    for name, take in (
        (_VERSIONED, "windlass_buffer_view_from_dlpack"),
        (_UNVERSIONED, "windlass_buffer_view_from_dlpack_unversioned"),
    ):
        if _is_valid(given, name):
            view = _taken(given, name, getattr(lib(), take), device, kind)
            if stream is not None:
                view.ready, view.queue = _streams.wait_for(queue, stream), queue
            return view
    used = any(_is_valid(given, b"used_" + name) for name in (_VERSIONED, _UNVERSIONED))
    raise BufferError("the capsule was taken before" if used else f"{reprlib.repr(source)} is neither a capsule of DLPack nor an object with __dlpack__")


def _taken(given: Any, name: bytes, take: Any, device: Any, kind: Any) -> Any:
    tensor = _pointer(given, name)
    head = _Versioned if name == _VERSIONED else _Unversioned

    def delete(_: Message) -> None:
        deleter = head.from_address(tensor).deleter
        if deleter:
            _DELETER(deleter)(tensor)

    from ._device import Device

    mine, pointer = ticket(delete), out()
    try:
        take(handle_of(Device, device), tensor, mine.address, callback(_abi.windlass_destroy_t, "windlass_ticket_destroy"), ctypes.byref(pointer))
    except BaseException:
        mine.revoke()
        raise
    # The capsule no longer owns the tensor.
    _set_name(given, _NAMES[b"used_" + name])
    return kind._of(pointer.value)


_DELETER = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
"""Deleters of Python's libraries take the interpreter's lock themselves, and do not mind to have it already."""


class _Device(ctypes.Structure):
    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class _Type(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", _Device),
        ("ndim", ctypes.c_int32),
        ("dtype", _Type),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Unversioned(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


class _Versioned(ctypes.Structure):
    _fields_ = [
        ("version", ctypes.c_uint32 * 2),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    ]
