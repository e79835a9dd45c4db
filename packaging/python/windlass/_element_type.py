# SPDX-License-Identifier: MIT OR Apache-2.0
"""Types of elements: of arrays, and of collective operations."""

from __future__ import annotations

import ctypes
import enum
import reprlib
from typing import Any

from . import _abi
from ._library import encoded, lib, text


class ElementType(enum.IntEnum):
    """The type of an array's elements, with IREE's numbers."""

    BOOL_8 = _abi.ELEMENT_TYPE_BOOL_8
    INT_8 = _abi.ELEMENT_TYPE_INT_8
    INT_16 = _abi.ELEMENT_TYPE_INT_16
    INT_32 = _abi.ELEMENT_TYPE_INT_32
    INT_64 = _abi.ELEMENT_TYPE_INT_64
    SINT_8 = _abi.ELEMENT_TYPE_SINT_8
    SINT_16 = _abi.ELEMENT_TYPE_SINT_16
    SINT_32 = _abi.ELEMENT_TYPE_SINT_32
    SINT_64 = _abi.ELEMENT_TYPE_SINT_64
    UINT_8 = _abi.ELEMENT_TYPE_UINT_8
    UINT_16 = _abi.ELEMENT_TYPE_UINT_16
    UINT_32 = _abi.ELEMENT_TYPE_UINT_32
    UINT_64 = _abi.ELEMENT_TYPE_UINT_64
    FLOAT_16 = _abi.ELEMENT_TYPE_FLOAT_16
    FLOAT_32 = _abi.ELEMENT_TYPE_FLOAT_32
    FLOAT_64 = _abi.ELEMENT_TYPE_FLOAT_64
    BFLOAT_16 = _abi.ELEMENT_TYPE_BFLOAT_16

    @classmethod
    def of(cls, kind: Any) -> ElementType:
        """The element type of a name of IREE's ("f32", "si32", "ui8", "bf16", "bool"), or of a dtype of numpy."""
        if isinstance(kind, int):
            return cls(kind)
        if isinstance(kind, str):
            found = ctypes.c_uint32()
            lib().windlass_element_type_parse(encoded("an element type", kind), ctypes.byref(found))
            return cls(found.value)
        letter, size = getattr(kind, "kind", None), getattr(kind, "itemsize", None)
        if getattr(kind, "isnative", True) is False:
            raise TypeError(f"elements of another byte order: {reprlib.repr(kind)}; use `dtype.newbyteorder(\"=\")` and convert the array")
        name = {"b": "BOOL", "i": "SINT", "u": "UINT", "f": "FLOAT"}.get(letter or "")
        if name is None or f"{name}_{8 * (size or 0)}" not in cls.__members__:
            raise TypeError(f'an element type is a name such as "f32", or a dtype of numpy, and this is {reprlib.repr(kind)}')
        return cls[f"{name}_{8 * (size or 0)}"]

    @property
    def size(self) -> int:
        """The number of bytes."""
        return (self & 0xFF) // 8

    @property
    def short_name(self) -> str:
        """IREE's name, such as "f32"."""
        return text(lib().windlass_element_type_name(self))
