# SPDX-License-Identifier: MIT OR Apache-2.0
"""Timeline semaphores and their values, which order all work."""

from __future__ import annotations

import ctypes
import enum
import reprlib
import time
from typing import Any, Callable, Generator, Iterable, List, NamedTuple, Optional, Tuple, Union

from . import _abi
from ._errors import DeadlineExceededError, Error
from ._handle import Handle, Object, out
from ._inbox import Message, callback, ticket
from ._library import Lent, lib, nanoseconds, number
from ._observation import Observation, Observer

_SLICE = 100_000_000
"""The longest stretch of a wait in nanoseconds. Python handles signals such as Ctrl-C in between."""


class WaitPolicy(enum.IntEnum):
    """How a thread spends the time of a blocking wait."""

    SPIN_THEN_BLOCK = _abi.WAIT_SPIN_THEN_BLOCK
    SPIN = _abi.WAIT_SPIN
    BLOCK = _abi.WAIT_BLOCK


class Semaphore(Object):
    """A timeline: a number that only grows, and reaches values that work waits for. It belongs to no device."""

    __slots__ = ()
    KIND = "semaphore"

    def __init__(self, initial: int = 0) -> None:
        pointer = out()
        lib().windlass_semaphore_create(number("a value", initial, 2**63 - 1), ctypes.byref(pointer))
        self._adopt(pointer.value or 0)

    @property
    def id(self) -> int:
        """A number for the timeline that no other of the process has or had. Records of profiles name semaphores by it."""
        return int(lib().windlass_semaphore_id(self._h))

    def at(self, value: int) -> Point:
        """A value of this semaphore, for wait lists and signal lists."""
        return Point(self, value)

    def query(self) -> int:
        """The payload now. Raises the failure of a failed semaphore."""
        value = ctypes.c_uint64()
        lib().windlass_semaphore_query(self._h, ctypes.byref(value))
        return value.value

    def signal(self, value: int) -> None:
        """Raises the payload. Does nothing at or below the payload, or on a failed semaphore."""
        lib().windlass_semaphore_signal(self._h, number("a value", value))

    def fail(self, error: Union[Error, str]) -> None:
        """Fails the semaphore, and work that waits for values which it has not reached. A text is ABORTED. The first failure stays."""
        with Lent(error) as pointer:
            lib().windlass_semaphore_fail_with(self._h, pointer)

    def observe(self, observer: Observer) -> Observation:
        """Calls a function for every advance from now on, with the payload and None, and for the failure, with a payload and the error, which
        is the last call. Payloads grow from call to call; advances in quick succession may be told together. A semaphore that has failed is
        told as one that fails now. Advances before this call are not told: `query` behind it.

        The function runs on the package's own thread, which serves all observers, sinks of profiles and waits of asyncio: it must not
        block. An exception goes to `sys.unraisablehook`. Keep the observation: it ends with its last reference."""
        return Observation._of(self._h, observer)

    async def wait(self, value: int) -> None:
        """Waits until the payload reaches a value, and lets the running event loop of asyncio go on meanwhile. Raises the failure of
        the semaphore. A task that is cancelled stops to wait. No thread is blocked, however many tasks wait."""
        handle, value = self._h, number("a value", value)
        try:
            return lib().windlass_semaphore_wait_with(handle, value, 0, WaitPolicy.BLOCK)  # type: ignore[no-any-return]
        except DeadlineExceededError:
            pass
        # Here, because it takes longer to import than the rest of the package, which pytest imports with the plugin.
        import asyncio

        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()

        def settle(error: Optional[Error]) -> None:
            if future.done():
                return
            if error is None:
                future.set_result(None)
            else:
                future.set_exception(error)

        def told(message: Message) -> None:
            try:
                loop.call_soon_threadsafe(settle, message.error)
            except RuntimeError:
                # The loop is closed, and nobody waits any more.
                pass

        mine, pointer = ticket(told), out()
        call = callback(_abi.windlass_timepoint_callback_t, "windlass_ticket_timepoint")
        try:
            lib().windlass_semaphore_add_timepoint(handle, value, call, mine.address, ctypes.byref(pointer))
        except BaseException:
            mine.revoke()
            raise
        with _Timepoint._around(pointer.value) as timepoint:
            try:
                await future
            finally:
                if not future.done() or future.cancelled():
                    lib().windlass_timepoint_cancel(timepoint._h)

    def wait_blocking(
        self, value: int, timeout: Optional[float] = None, policy: WaitPolicy = WaitPolicy.SPIN_THEN_BLOCK
    ) -> None:
        """Blocks this thread until the payload reaches a value. Raises the failure of the semaphore, or DeadlineExceededError
        after `timeout` seconds. Signals such as Ctrl-C interrupt it."""
        handle, value, policy = self._h, number("a value", value), _policy(policy)
        _sliced(timeout, lambda ns: lib().windlass_semaphore_wait_with(handle, value, ns, policy))

    def __repr__(self) -> str:
        if self.closed:
            return "<windlass.Semaphore, closed>"
        try:
            return f"<windlass.Semaphore at {self.query()}>"
        except Error as error:
            return f"<windlass.Semaphore, failed: {error}>"


class Point(NamedTuple):
    """A value of a semaphore."""

    semaphore: Semaphore
    value: int

    def __await__(self) -> Generator[Any, None, None]:
        """`await point` waits until the value is reached: see Semaphore.wait."""
        return self.semaphore.wait(self.value).__await__()

    def wait_blocking(self, timeout: Optional[float] = None) -> None:
        """Blocks this thread until the value is reached: see Semaphore.wait_blocking."""
        self.semaphore.wait_blocking(self.value, timeout)


class _Timepoint(Object):
    __slots__ = ()
    KIND = "timepoint"


Points = Union[Point, Tuple[Semaphore, int], Iterable[Union[Point, Tuple[Semaphore, int]]]]
"""A wait list or a signal list: one point or several. A point may be a pair of a semaphore and a value."""


class PointList:
    """Points as C takes them. It keeps the semaphores."""

    __slots__ = ("args", "_kept")

    def __init__(self, points: Points) -> None:
        kept: List[Handle] = []
        pairs: List[Tuple[int, int]] = []
        for point in _list(points):
            try:
                semaphore, value = point
            except (TypeError, ValueError):
                semaphore, value = None, 0
            if not isinstance(semaphore, Semaphore):
                raise TypeError(f"a point is semaphore.at(value) or a pair of both, and this one is {reprlib.repr(point)}")
            kept.append(semaphore._h)
            pairs.append((kept[-1].address, number("a value", value)))
        self._kept = kept
        array: Any = _abi.windlass_point_t * len(pairs)
        self.args: Tuple[int, Any] = (len(pairs), array(*pairs) if pairs else None)


def _list(points: Any) -> Iterable[Any]:
    if isinstance(points, tuple) and len(points) == 2 and isinstance(points[0], Semaphore):
        return [points]
    if isinstance(points, Semaphore):
        raise TypeError("a list of points has values: semaphore.at(value)")
    try:
        found: Iterable[Any] = iter(points)
    except TypeError:
        raise TypeError(f"a list of points is semaphore.at(value), several of them, or a fence, and this is {reprlib.repr(points)}") from None
    return found


def _policy(policy: int) -> Any:
    return WaitPolicy(policy)


def _sliced(timeout: Optional[float], wait: Callable[[int], Any]) -> None:
    """A blocking wait in stretches."""
    left = nanoseconds(timeout)
    end = time.monotonic_ns() + left
    while left > _SLICE:
        try:
            wait(_SLICE)
            return
        except DeadlineExceededError:
            if left != _abi.TIMEOUT_INFINITE:
                left = max(end - time.monotonic_ns(), 0)
    wait(left)


def wait_all_blocking(
    points: Points, timeout: Optional[float] = None, policy: WaitPolicy = WaitPolicy.SPIN_THEN_BLOCK
) -> None:
    """Blocks until every point is reached, or one fails, or `timeout` seconds are over (DeadlineExceededError)."""
    list_, policy = PointList(points), _policy(policy)
    _sliced(timeout, lambda ns: lib().windlass_wait_all_with(*list_.args, ns, policy))


def wait_any_blocking(
    points: Points, timeout: Optional[float] = None, policy: WaitPolicy = WaitPolicy.SPIN_THEN_BLOCK
) -> int:
    """Blocks until one point is reached, and returns its index. A failure ends the wait unless another point is reached."""
    list_, policy, index = PointList(points), _policy(policy), ctypes.c_size_t()
    _sliced(timeout, lambda ns: lib().windlass_wait_any_with(*list_.args, ns, policy, ctypes.byref(index)))
    return index.value
