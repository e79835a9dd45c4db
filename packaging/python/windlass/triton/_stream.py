# SPDX-License-Identifier: MIT OR Apache-2.0
"""Streams and events: a stream is a queue of a device and a timeline semaphore that orders its work."""

from __future__ import annotations

import collections
import queue
import threading
import time
from typing import TYPE_CHECKING, Any, Callable, Sequence

from .. import Code, Error, Point, Semaphore
from ._active import active

if TYPE_CHECKING:
    from ._device import OpenDevice


_NAMES = 8
"""Kernels that an error names at most."""


class KernelError(RuntimeError):
    """Work of a stream failed. The message is the device's report: the kernel, and of a simulated GPU also the
    instruction, the lane and the address. `code` is the kind of the failure."""

    def __init__(self, message: str, code: Code = Code.UNKNOWN):
        super().__init__(message)
        self.code = code


class Stream:
    """Operations in order, asynchronous to the host. Streams of one device have no order between them.

    Any thread may use a stream. After a failure the next launch or `synchronize` raises `KernelError` once, and the
    stream then starts anew. Tensors that work behind the failure writes have undefined contents.
    """

    def __init__(self, device: OpenDevice, number: int):
        self.device, self.number = device, number
        self.queue = device.next_queue()
        # The end of an object that work kept may use the stream.
        self._lock = threading.RLock()
        self._clock: _Clock | None = None
        self._begin()

    def _begin(self) -> None:
        self._timeline = Semaphore()
        self._value = 0
        # Launches in flight: the value behind each, its kernel's name, and objects that it reads.
        self._launches: collections.deque[tuple[int, str, Any]] = collections.deque()

    @property
    def cuda_stream(self) -> int:
        """The number by which launches name this stream, under PyTorch's name; 0 for the device's default stream."""
        return self.number

    def submit(
        self, operation: Callable[..., None], *arguments: Any, after: Sequence[Point] = (), name: str = "", keep: Any = None
    ) -> None:
        """Calls an operation of `self.queue`, behind all earlier work of this stream and the points `after`.

        A launch has the `name` of its kernel, and `keep`, an object that it needs.
        """
        with self._lock:
            self._raise_failure()
            signal = Point(self._timeline, self._value + 1)
            operation(*arguments, waits=[*self._waits(), *after], signals=[signal])
            self._value += 1
            self.device.busy.add(self)
            if name:
                self._launches.append((self._value, name, keep))

    def submit_and_wait(self, operation: Callable[..., Any], *arguments: Any, **named: Any) -> None:
        """Calls a blocking operation of `self.queue`, behind all earlier work of this stream."""
        with self._lock:
            self._raise_failure()
            waits = self._waits()
        try:
            operation(*arguments, waits=waits, **named)
        except Error:
            with self._lock:
                self._raise_failure()
            raise

    def point(self) -> Point:
        """The point that is reached when all work so far has ended."""
        with self._lock:
            return Point(self._timeline, self._value)

    def query(self) -> bool:
        """Whether all work has ended. Raises `KernelError` if some failed."""
        with self._lock:
            return self._raise_failure() >= self._value

    def is_idle(self) -> bool:
        """Whether all work has ended well. A failure is left for `synchronize`."""
        with self._lock:
            try:
                return self._timeline.query() >= self._value
            except Error:
                return False

    def synchronize(self) -> None:
        """Blocks until all work so far has ended. Raises `KernelError` if some failed."""
        point = self.point()
        try:
            point.wait_blocking()
        except Error:
            pass
        with self._lock:
            if point.semaphore is self._timeline:
                self._raise_failure()

    def wait(self, semaphore: Semaphore, value: int) -> None:
        """Later work of this stream waits for a point of a semaphore, on the device where it can."""
        self.submit(self.queue.barrier, after=[Point(semaphore, value)])

    def signal(self, semaphore: Semaphore, value: int) -> None:
        """Signals a point of a semaphore when all work so far has ended."""
        with self._lock:
            self._raise_failure()
            self.queue.barrier(self._waits(), [Point(semaphore, value)])

    def wait_stream(self, other: Stream) -> None:
        """Later work of this stream waits for the work that the other one has so far."""
        self.wait(*other.point())

    def wait_event(self, event: Event) -> None:
        """Later work of this stream waits for an event. An event that was not recorded is no wait."""
        event.wait(self)

    def record_event(self, event: Event | None = None) -> Event:
        """Records an event, by default a new one, behind all work so far."""
        event = event or Event()
        event.record(self)
        return event

    def moment(self, point: Point) -> _Moment:
        """The time at which a point of this stream is reached."""
        with self._lock:
            if self._clock is None:
                self._clock = _Clock()
        return self._clock.moment(point)

    def _waits(self) -> list[Point]:
        return [Point(self._timeline, self._value)] if self._value else []

    def _raise_failure(self) -> int:
        try:
            reached = self._timeline.query()
        except Error as error:
            message, names = str(error), list(dict.fromkeys(name for _, name, _ in self._launches))
            if names and not any(name in message for name in names):
                # The simulated GPU names the kernel, and others do not.
                message += f"\n  launches in flight on this stream: {', '.join(names[:_NAMES])}{', ...' if names[_NAMES:] else ''}"
            self._begin()
            self.device.busy.discard(self)
            raise KernelError(message, error.code) from None
        if reached >= self._value:
            self.device.busy.discard(self)
        launches = self._launches
        while launches and launches[0][0] <= reached:
            launches.popleft()
        return reached

    def __repr__(self) -> str:
        return f"<stream {self.number} of {self.device.uri}>"


class Event:
    """A point in a stream, under the names of PyTorch's events.

    With `enable_timing`, a thread notes the host's clock when the point is reached: a time includes the wake-up of
    that thread.
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False):
        if interprocess:
            raise NotImplementedError("windlass.triton.Event(interprocess=True): events are of one process")
        self._timed = enable_timing
        self._point: Point | None = None
        self._moment: _Moment | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Records the event behind all work that the stream has, by default the current one."""
        stream = stream or _current_stream()
        self._point = stream.point()
        if self._timed:
            self._moment = stream.moment(self._point)

    def query(self) -> bool:
        """Whether the work has ended. True if the event was not recorded."""
        return self._point is None or _told(self._point.semaphore.query) >= self._point.value

    def synchronize(self) -> None:
        """Blocks until the work has ended. Raises `KernelError` if it failed."""
        if self._point is not None:
            _told(self._point.wait_blocking)

    def wait(self, stream: Stream | None = None) -> None:
        """Later work of the stream, by default the current one, waits for this event."""
        stream = stream or _current_stream()
        if self._point is not None:
            stream.wait(*self._point)

    def elapsed_time(self, end: Event) -> float:
        """Milliseconds from this event to the other one, by the host's clock. Blocks until both are reached."""
        first, last = self._moment, end._moment
        if first is None or last is None:
            raise RuntimeError("elapsed_time needs two recorded events that were made with enable_timing=True")
        self.synchronize()
        end.synchronize()
        return (last.nanoseconds() - first.nanoseconds()) / 1e6


class _Moment:
    """The time at which a point is reached."""

    def __init__(self, point: Point):
        self._point = point
        self._known = threading.Event()

    def note(self) -> None:
        try:
            self._point.wait_blocking()
        except Error:
            # `synchronize` tells the failure.
            pass
        self._time = time.perf_counter_ns()
        self._known.set()

    def nanoseconds(self) -> int:
        self._known.wait()
        return self._time


class _Clock:
    """A thread that waits for the moments of one stream, whose points are reached in order."""

    def __init__(self) -> None:
        self._moments: queue.SimpleQueue[_Moment | None] = queue.SimpleQueue()
        threading.Thread(target=_run, args=(self._moments,), name="windlass.triton events", daemon=True).start()

    def moment(self, point: Point) -> _Moment:
        moment = _Moment(point)
        self._moments.put(moment)
        return moment

    def __del__(self) -> None:
        self._moments.put(None)


def _run(moments: queue.SimpleQueue[_Moment | None]) -> None:
    while (moment := moments.get()) is not None:
        moment.note()
        del moment


def _told(call: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return call(*arguments)
    except Error as error:
        raise KernelError(str(error), error.code) from None


def _current_stream() -> Stream:
    return active().current_stream()
