# SPDX-License-Identifier: MIT OR Apache-2.0
"""Observations: functions that hear every advance of a semaphore."""

from __future__ import annotations

import ctypes
import reprlib
from typing import Callable, Optional

from . import _abi
from ._errors import Error
from ._handle import Handle, Object, out
from ._inbox import Message, callback, destroy, report, ticket
from ._library import lib

Observer = Callable[[int, Optional[Error]], object]
"""A function of the payload and, when the semaphore has failed, of its error."""


class _Hearing:
    __slots__ = ("ended",)

    def __init__(self) -> None:
        self.ended = False


class Observation(Object):
    """A function that hears what a semaphore does: see Semaphore.observe. `close`, the end of a `with` block or the last reference ends
    it. No call begins when `close` has returned; one in progress on the package's thread may go on."""

    __slots__ = ("_hearing",)
    KIND = "observation"

    _hearing: _Hearing

    @classmethod
    def _of(cls, semaphore: Handle, observer: Observer) -> Observation:
        if not callable(observer):
            raise TypeError(f"an observer is a function of a payload and an error, and this is {reprlib.repr(observer)}")
        hearing = _Hearing()

        def told(message: Message) -> None:
            if message.kind != _abi.MESSAGE_OBSERVER or hearing.ended:
                return
            try:
                observer(message.payload, message.error)
            except BaseException:
                report(observer)

        # The library takes the ticket over, also if it refuses the call.
        mine, pointer = ticket(told), out()
        lib().windlass_semaphore_observe(
            semaphore,
            callback(_abi.windlass_observer_callback_t, "windlass_ticket_observer"),
            mine.address,
            destroy(),
            ctypes.byref(pointer),
        )
        self = cls._around(pointer.value)
        self._hearing = hearing
        return self

    def close(self) -> None:
        """Ends the observation."""
        hearing = getattr(self, "_hearing", None)
        if hearing is not None:
            hearing.ended = True
        super().close()
