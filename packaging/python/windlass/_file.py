# SPDX-License-Identifier: MIT OR Apache-2.0
"""Files that queues read and write."""

from __future__ import annotations

import ctypes
import os
import reprlib
from typing import Union

from . import _abi
from ._handle import Object, out
from ._library import lib


class File(Object):
    """A file for `queue.read` and `queue.write`: `File("weights.bin")`, or `File(descriptor)` of a file that is open, whose descriptor is
    duplicated. Submitted work keeps it open.

    The mode of a path is that of `open`: "r", "r+" for reading and writing, or "w", which makes or empties the file."""

    __slots__ = ()
    KIND = "file"

    def __init__(self, path: Union[str, bytes, int, "os.PathLike[str]"], mode: str = "r") -> None:
        pointer = out()
        if isinstance(path, int):
            if not -(2**31) <= path < 2**31:
                raise ValueError(f"{path} is no descriptor")
            lib().windlass_file_from_descriptor(path, ctypes.byref(pointer))
        else:
            if mode not in _MODES:
                raise ValueError(f'the mode of a file is "r", "r+" or "w", and this is {reprlib.repr(mode)}')
            name = os.fsencode(path)
            if b"\0" in name:
                raise ValueError(f"a path has a zero byte: {reprlib.repr(path)}")
            lib().windlass_file_open(name, _MODES[mode], ctypes.byref(pointer))
        self._adopt(pointer.value or 0)


_MODES = {
    "r": _abi.FILE_READ,
    "r+": _abi.FILE_READ | _abi.FILE_WRITE,
    "w": _abi.FILE_READ | _abi.FILE_WRITE | _abi.FILE_CREATE | _abi.FILE_TRUNCATE,
}
