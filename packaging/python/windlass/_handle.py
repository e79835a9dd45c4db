# SPDX-License-Identifier: MIT OR Apache-2.0
"""Handles of the library's objects, which are released when Python no longer refers to them."""

from __future__ import annotations

import ctypes
import reprlib
from typing import Any, ClassVar, Optional, Type, TypeVar

from ._errors import FailedPreconditionError
from ._library import after_fork, lib

Self = TypeVar("Self", bound="Object")


class Handle:
    """One reference of the library's. A call that uses it refers to it, so no other thread can release it meanwhile."""

    __slots__ = ("_as_parameter_", "address", "_release", "__weakref__")

    alive: ClassVar[bool] = True
    """False in a forked child, where a release could wait for a lock that no thread will open."""

    def __init__(self, address: int, release: Any) -> None:
        self.address = address
        self._as_parameter_ = ctypes.c_void_p(address)
        self._release = release

    def __del__(self) -> None:
        if self.alive:
            self._release(self.address)


@after_fork
def _forget() -> None:
    Handle.alive = False


class Object:
    """An object of the library. `close`, or the end of a `with` block, gives it up at once; else it goes with the last
    reference to it. Work in flight keeps it in either case. Threads may share it."""

    __slots__ = ("_handle", "__weakref__")

    KIND: ClassVar[str] = "object"
    """The name in messages, and in the names of the C functions, with underscores."""

    def __init__(self) -> None:
        raise TypeError(f"a {self.KIND} cannot be made directly")

    @classmethod
    def _around(cls: Type[Self], pointer: Optional[int]) -> Self:
        """Takes over a reference."""
        assert pointer, f"the library gave no {cls.KIND}"
        self = cls.__new__(cls)
        self._adopt(pointer)
        return self

    def _adopt(self, pointer: int) -> None:
        release = getattr(lib(), f"windlass_{self.KIND.replace(' ', '_')}_release")
        self._handle: Optional[Handle] = Handle(pointer, release)

    @property
    def _h(self) -> Handle:
        """The handle for a call."""
        handle: Optional[Handle] = getattr(self, "_handle", None)
        if handle is None:
            raise FailedPreconditionError(f"the {self.KIND} is closed")
        return handle

    @property
    def closed(self) -> bool:
        """Whether this object was closed."""
        return getattr(self, "_handle", None) is None

    def close(self) -> None:
        """Gives the object up. Further use raises FailedPreconditionError. Never waits."""
        self._handle = None

    def __repr__(self) -> str:
        return f"<windlass.{type(self).__name__}{', closed' if self.closed else ''}>"

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> str:
        raise TypeError(f"a {self.KIND} belongs to its process and cannot be pickled")

    def __copy__(self: Self) -> Self:
        return self

    def __deepcopy__(self: Self, _: object) -> Self:
        return self


def handle_of(kind: Type[Object], thing: Any) -> Handle:
    """The handle of an object that a caller gave. The library cannot tell that a handle is of another type."""
    if not isinstance(thing, kind):
        raise TypeError(f"a {kind.KIND} is needed, and this is {reprlib.repr(thing)}")
    return thing._h


def out() -> ctypes.c_void_p:
    """A place for a handle."""
    return ctypes.c_void_p()
