# SPDX-License-Identifier: MIT OR Apache-2.0
"""Profiles: records of the work of a device."""

from __future__ import annotations

import ctypes
import enum
import os
import reprlib
from typing import Any, Callable, List, NamedTuple, Optional, Tuple, Union

from . import _abi
from ._buffer import MemoryType, sized
from ._errors import Error, FailedPreconditionError
from ._handle import Handle
from ._inbox import Message, callback, destroy, report, settle, ticket
from ._library import borrowed, encoded, lib, text


class ProfileKind(enum.IntEnum):
    """The kind of a record."""

    OTHER = _abi.PROFILE_OTHER
    """A kind that this version does not know."""
    OPERATION = _abi.PROFILE_OPERATION
    """An operation of a queue: once, when it has retired, or at the end of the profile if it is in flight then."""
    COMMAND = _abi.PROFILE_COMMAND
    """A command of a command buffer, or a debug group in it. These records come before that of their operation."""
    HOST_CALL = _abi.PROFILE_HOST_CALL
    """A host call that ran. Its operation has a record of its own."""
    MEMORY = _abi.PROFILE_MEMORY
    """A change of memory."""


class ProfilePoint(NamedTuple):
    """A value of a semaphore, which is named by its `Semaphore.id`."""

    semaphore: int
    value: int


class ProfileRecord(NamedTuple):
    """A record of a profile. None stands for a number or a time that it does not have. Times are nanoseconds of `time.monotonic_ns()`, and
    those of the device are converted to it."""

    kind: ProfileKind
    name: str
    """An operation ("queue_fill"), the kind of a command ("fill", "group"), "host_call", or a change of memory ("allocate", "free",
    "reserve", "unreserve", "import", "release")."""
    function: Optional[str]
    """The function of a dispatch, or the label of a debug group."""
    submission: int
    """The number of the submission of an operation, a command or a host call, in the order of submission."""
    queue: Optional[int]
    """The queue that ran an operation."""
    gpu: Optional[int]
    """The GPU within the device that ran an operation."""
    affinity: int
    """The queues that an operation might run on, bit n for queue n."""
    command: Optional[int]
    """The number of a command in its list."""
    group: Optional[int]
    """The number of the innermost debug group around a command."""
    memory_type: MemoryType
    """The place of memory that changed."""
    workgroup_count: Tuple[int, int, int]
    """Workgroups in x, y, z of a dispatch; zeros where the device reads the number."""
    workgroup_size: Tuple[int, int, int]
    """Work-items of a workgroup in x, y, z of a dispatch."""
    bytes: int
    """The bytes of a transfer, an alloca, a dealloca or a change of memory."""
    command_count: int
    """The number of commands of an executed command buffer."""
    thread: int
    """The number of the library's thread of a host call."""
    submitted: Optional[int]
    """When an operation was submitted, or when memory changed."""
    issued: Optional[int]
    """When the driver took an operation over, or when a host call began."""
    retired: Optional[int]
    """When the signals of an operation were settled, or when a host call returned. None for work in flight at the end."""
    device_begun: Optional[int]
    """When an operation or a command began on the device."""
    device_ended: Optional[int]
    """When it ended there."""
    lost: int
    """The records that were lost before this one, because the sink was slower than the work."""
    waits: Tuple[ProfilePoint, ...]
    """The wait list of an operation."""
    signals: Tuple[ProfilePoint, ...]
    """The signal list of an operation."""
    error: Optional[Error]
    """The failure of an operation or of a host call."""
    color: Optional[Tuple[int, int, int, int]]
    """The colour of a debug group: red, green, blue, alpha, from 0 to 255."""


Sink = Callable[[ProfileRecord], object]


class Profile:
    """A profile of a device, from `Device.profile` or `Device.profile_trace` on. `end`, the end of a `with` block or the last reference
    ends it. Until then it keeps the device open. Threads may share it."""

    __slots__ = ("_device", "__weakref__")

    _device: List[Handle]
    """The device, or nothing behind the end. Of several threads that end the profile, one takes it."""

    def __init__(self) -> None:
        raise TypeError("a profile is made by Device.profile or Device.profile_trace")

    @classmethod
    def _around(cls, device: Handle) -> Profile:
        self = cls.__new__(cls)
        self._device = [device]
        return self

    @property
    def ended(self) -> bool:
        """Whether `end` was called."""
        return not getattr(self, "_device", None)

    def flush(self) -> None:
        """Retires finished work, and waits until the sink has had all records that are complete. Within the sink it does not wait.
        FailedPreconditionError if the profile has ended."""
        device = list(getattr(self, "_device", ()))
        if not device:
            raise FailedPreconditionError("the profile has ended")
        lib().windlass_device_profiling_flush(device[0])
        settle()

    def end(self) -> None:
        """Ends the profile, and waits until the sink has had all records, or until the trace is written. Work in flight gets a record
        without the time of its retirement. Within the sink it does not wait. Does nothing at the second call."""
        if self._end():
            settle()

    def _end(self) -> bool:
        try:
            device = self._device.pop()
        except (AttributeError, IndexError):
            return False
        lib().windlass_device_profiling_end(device)
        return True

    def __enter__(self) -> Profile:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def __del__(self, error: Any = Error) -> None:
        # A collector may run this on the thread that hands records out, so it does not wait for them.
        try:
            self._end()
        except error:
            # In a forked child, and on a lost device.
            pass

    def __repr__(self) -> str:
        return f"<windlass.Profile{', ended' if self.ended else ''}>"


def profile(device: Handle, sink: Sink, options: Any) -> Profile:
    """Begins a profile of a device whose records go to a function."""
    if not callable(sink):
        raise TypeError(f"a sink is a function of a record, and this is {reprlib.repr(sink)}")

    def told(message: Message) -> None:
        if message.record is None:
            return
        with message.record as record:
            described = _record(lib().windlass_kept_record_get(record._h).contents)
        try:
            sink(described)
        except BaseException:
            report(sink)

    # The library takes the ticket over, also if it refuses the call.
    mine = ticket(told)
    lib().windlass_device_profiling_begin(
        device,
        ctypes.byref(options),
        callback(_abi.windlass_profile_callback_t, "windlass_ticket_profile"),
        mine.address,
        destroy(),
    )
    return Profile._around(device)


def profile_trace(device: Handle, path: Union[str, bytes, "os.PathLike[str]"], options: Any) -> Profile:
    """Begins a profile of a device that is written to a file."""
    lib().windlass_device_profiling_begin_trace(device, ctypes.byref(options), encoded("a path", os.fsdecode(path)))
    return Profile._around(device)


def options_of(device_times: bool, memory: bool, commands: bool) -> Any:
    """The extent of a profile for C."""
    options = sized(_abi.windlass_profile_options_t)
    options.without_device_times, options.without_memory = not device_times, not memory
    options.with_commands = bool(commands)
    return options


def _record(raw: Any) -> ProfileRecord:
    try:
        kind = ProfileKind(raw.kind)
    except ValueError:
        kind = ProfileKind.OTHER
    color = tuple(raw.color)
    return ProfileRecord(
        kind,
        text(raw.name),
        None if raw.function is None else text(raw.function),
        raw.submission,
        _number(raw.queue),
        _number(raw.gpu),
        raw.affinity,
        _number(raw.command),
        _number(raw.group),
        MemoryType(raw.memory_type),
        tuple(raw.workgroup_count),
        tuple(raw.workgroup_size),
        raw.bytes,
        raw.command_count,
        raw.thread,
        raw.submitted or None,
        raw.issued or None,
        raw.retired or None,
        raw.device_begun or None,
        raw.device_ended or None,
        raw.lost,
        tuple(ProfilePoint(one.semaphore, one.value) for one in raw.waits[: raw.wait_count]),
        tuple(ProfilePoint(one.semaphore, one.value) for one in raw.signals[: raw.signal_count]),
        borrowed(raw.error) if raw.error else None,
        color if any(color) else None,
    )


def _number(value: int) -> Optional[int]:
    return None if value == _abi.PROFILE_NONE else value
