# SPDX-License-Identifier: MIT OR Apache-2.0
"""Errors of the library as exceptions: one class for each code."""

from __future__ import annotations

import enum
from typing import ClassVar, Dict, Type

from . import _abi


class Code(enum.IntEnum):
    """The kind of a failure, with the numbers of gRPC and IREE."""

    CANCELLED = _abi.CODE_CANCELLED
    UNKNOWN = _abi.CODE_UNKNOWN
    INVALID_ARGUMENT = _abi.CODE_INVALID_ARGUMENT
    DEADLINE_EXCEEDED = _abi.CODE_DEADLINE_EXCEEDED
    NOT_FOUND = _abi.CODE_NOT_FOUND
    ALREADY_EXISTS = _abi.CODE_ALREADY_EXISTS
    PERMISSION_DENIED = _abi.CODE_PERMISSION_DENIED
    RESOURCE_EXHAUSTED = _abi.CODE_RESOURCE_EXHAUSTED
    FAILED_PRECONDITION = _abi.CODE_FAILED_PRECONDITION
    ABORTED = _abi.CODE_ABORTED
    OUT_OF_RANGE = _abi.CODE_OUT_OF_RANGE
    UNIMPLEMENTED = _abi.CODE_UNIMPLEMENTED
    INTERNAL = _abi.CODE_INTERNAL
    UNAVAILABLE = _abi.CODE_UNAVAILABLE
    DATA_LOSS = _abi.CODE_DATA_LOSS
    UNAUTHENTICATED = _abi.CODE_UNAUTHENTICATED


class Error(Exception):
    """A failed call or a failed semaphore. `code` is its kind; the text has the attempt and the remedy."""

    code: Code = Code.UNKNOWN
    _classes: ClassVar[Dict[int, Type[Error]]] = {}

    def __init_subclass__(cls) -> None:
        Error._classes[cls.code] = cls

    @staticmethod
    def of(code: int, text: str) -> Error:
        """The exception for a code. A code that this package does not know is UNKNOWN."""
        return Error._classes.get(code, UnknownError)(text)


class CancelledError(Error):
    """The work was cancelled before it was issued, usually because its device was closed."""

    code = Code.CANCELLED


class UnknownError(Error):
    """A failure that fits no other code."""

    code = Code.UNKNOWN


class InvalidArgumentError(Error, ValueError):
    """An argument that is invalid in every state."""

    code = Code.INVALID_ARGUMENT


class DeadlineExceededError(Error, TimeoutError):
    """The timeout of a wait expired. The awaited event may still happen."""

    code = Code.DEADLINE_EXCEEDED


class NotFoundError(Error, LookupError):
    """A function, a device or a file does not exist."""

    code = Code.NOT_FOUND


class AlreadyExistsError(Error):
    """An object that must be new already exists."""

    code = Code.ALREADY_EXISTS


class PermissionDeniedError(Error, PermissionError):
    """The system denies access, for example to /dev/kfd."""

    code = Code.PERMISSION_DENIED


class ResourceExhaustedError(Error, MemoryError):
    """Memory or another limited resource is exhausted."""

    code = Code.RESOURCE_EXHAUSTED


class FailedPreconditionError(Error):
    """The call is valid, but not in this state of the object."""

    code = Code.FAILED_PRECONDITION


class AbortedError(Error):
    """Work failed while it ran, or work that it depends on failed."""

    code = Code.ABORTED


class OutOfRangeError(Error, ValueError):
    """An offset, a length or a count is outside of the object."""

    code = Code.OUT_OF_RANGE


class UnimplementedError(Error, NotImplementedError):
    """The device does not support this."""

    code = Code.UNIMPLEMENTED


class InternalError(Error):
    """A defect of Windlass or of the vendor's library."""

    code = Code.INTERNAL


class UnavailableError(Error):
    """The device or the library is not available now."""

    code = Code.UNAVAILABLE


class DataLossError(Error):
    """The device was lost, or data cannot be recovered."""

    code = Code.DATA_LOSS


class UnauthenticatedError(Error):
    """Credentials are missing."""

    code = Code.UNAUTHENTICATED
