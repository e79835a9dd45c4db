# SPDX-License-Identifier: MIT OR Apache-2.0
"""libwindlass.so: it is found and loaded at the first call, and its errors become exceptions."""

from __future__ import annotations

import ctypes
import os
import reprlib
import threading
from typing import Any, Optional, Union

from . import _abi
from ._errors import Error, FailedPreconditionError, NotFoundError, UnavailableError
from ._installation import runtime

VARIABLE = "WINDLASS_LIBRARY"

_lock = threading.Lock()


class _Functions:
    """The library's functions as attributes. The results of those that can fail are checked: an error is raised."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._library = library

    def __getattr__(self, name: str) -> Any:
        result, parameters = _abi.FUNCTIONS[name]
        function = self._library[name]
        function.argtypes = parameters
        function.restype = result
        if result is _abi.ERROR:
            function.restype = ctypes.c_void_p
            check: Any = _raise
            if name not in ("windlass_error_create", "windlass_error_retain"):
                function.errcheck = check
        setattr(self, name, function)
        return function


class _Refusing:
    """Stands for the library in a forked child, where its threads and devices do not exist."""

    def __getattr__(self, name: str) -> Any:
        raise FailedPreconditionError(
            f"{name} in a forked child of a process that uses Windlass: threads and devices do not survive a fork. Start "
            'children by multiprocessing.get_context("spawn") or subprocess'
        )


_functions: Optional[Any] = None


def lib() -> Any:
    """The functions of the library, which is loaded at the first call."""
    return _functions if _functions is not None else _load()


def path() -> str:
    """The path of libwindlass.so: that of the variable WINDLASS_LIBRARY, else the one that the wheel installed."""
    return os.environ.get(VARIABLE) or runtime()


def _load() -> Any:
    global _functions
    with _lock:
        if _functions is None:
            file = path()
            try:
                library = ctypes.CDLL(file)
            except OSError as error:
                source = f"{VARIABLE} names" if os.environ.get(VARIABLE) else "the wheel installed"
                code = NotFoundError if not os.path.exists(file) else UnavailableError
                raise code(f"cannot load {file}, which {source}: {error}") from None
            _check_version(library, file)
            os.register_at_fork(after_in_child=_forked)
            _functions = _Functions(library)
    return _functions


def _check_version(library: ctypes.CDLL, file: str) -> None:
    try:
        version = library.windlass_abi_version
    except AttributeError:
        raise UnavailableError(f"{file} is not libwindlass.so: it has no windlass_abi_version") from None
    version.restype = ctypes.c_uint32
    has, wanted = version(), _abi.ABI_VERSION
    if has >> 16 != wanted >> 16 or has & 0xFFFF < wanted & 0xFFFF:
        raise UnavailableError(
            f"{file} has version {has >> 16}.{has & 0xFFFF} of the C ABI, and this package needs {wanted >> 16}.{wanted & 0xFFFF}: "
            "use the library and the package of one release"
        )


def _forked() -> None:
    global _functions
    _functions = _Refusing()
    for action in _after_fork:
        action()


_after_fork: list[Any] = []


def after_fork(action: Any) -> Any:
    """Runs an action in each forked child of a process that has loaded the library."""
    _after_fork.append(action)
    return action


def taken(pointer: int) -> Error:
    """The exception for an error of the library, which is released."""
    functions = lib()
    error = borrowed(pointer)
    functions.windlass_error_release(pointer)
    return error


def borrowed(pointer: int) -> Error:
    """The exception for an error that the library keeps."""
    functions = lib()
    code = functions.windlass_error_code(pointer)
    message, name = text(functions.windlass_error_message(pointer)), text(functions.windlass_code_name(code))
    # The class of the exception says the name.
    return Error.of(code, message[len(name) + 2 :] if name and message.startswith(f"{name}: ") else message)


class Lent:
    """An error for a call that keeps none: `with Lent(error) as pointer`. A text is ABORTED."""

    __slots__ = ("_code", "_message", "_pointer")

    def __init__(self, error: Union[Error, str]) -> None:
        self._pointer: Optional[int] = None
        if not isinstance(error, (Error, str)):
            raise TypeError(f"a failure is a windlass.Error or a text, and this is {reprlib.repr(error)}")
        self._code = int(error.code) if isinstance(error, Error) else _abi.CODE_ABORTED
        self._message = encoded("a message", str(error).replace("\0", " "))

    def __enter__(self) -> Optional[int]:
        self._pointer = lib().windlass_error_create(self._code, self._message)
        return self._pointer

    def __exit__(self, *_: object) -> None:
        if self._pointer is not None:
            lib().windlass_error_release(self._pointer)


def _raise(result: Optional[int], _function: object, _arguments: object) -> None:
    if result is not None:
        raise taken(result)


def text(value: Optional[bytes]) -> str:
    """A string of the library; empty for NULL."""
    return value.decode("utf-8", "replace") if value else ""


def encoded(what: str, value: object) -> bytes:
    """A string for the library, which ends strings at a zero byte."""
    if not isinstance(value, str):
        raise TypeError(f"{what} is a text, and this one is {reprlib.repr(value)} of type {type(value).__name__}")
    bytes_ = value.encode("utf-8", "surrogateescape")
    if b"\0" in bytes_:
        raise ValueError(f"{what} has a zero byte: {reprlib.repr(value)}")
    return bytes_


def nanoseconds(timeout: Optional[float]) -> int:
    """A timeout in seconds as the library takes it. None never expires."""
    if timeout is None:
        return _abi.TIMEOUT_INFINITE
    try:
        is_valid = timeout >= 0
    except TypeError:
        words = f"a timeout is a number of seconds, or None, and this one is {reprlib.repr(timeout)} of type {type(timeout).__name__}"
        raise TypeError(words) from None
    if not is_valid:
        raise ValueError(f"a timeout is a number of seconds from 0, or None, and this one is {reprlib.repr(timeout)}")
    return min(int(timeout * 1e9), _abi.TIMEOUT_INFINITE) if timeout < 1e10 else _abi.TIMEOUT_INFINITE


def number(what: str, value: object, most: int = 2**64 - 1) -> int:
    """A number that C can take. ctypes would cut off the upper bits."""
    try:
        index = value.__index__()  # type: ignore[attr-defined]
    except AttributeError:
        raise TypeError(f"{what} is a whole number, and this one is {reprlib.repr(value)} of type {type(value).__name__}") from None
    if not 0 <= index <= most:
        raise Error.of(_abi.CODE_OUT_OF_RANGE, f"{what} is {index}, and must be from 0 to {most}")
    return int(index)
