# SPDX-License-Identifier: MIT OR Apache-2.0
"""AMD GPUs, real and simulated. Importing this package loads nothing and changes nothing.

The hardware abstraction layer, over libwindlass.so:

    device = windlass.Device("hip-sim://gfx942")
    queue, timeline = device.queue(), windlass.Semaphore()
    x = device.allocate(4096)
    queue.fill(x, bytes(4), signals=timeline.at(1))
    queue.download_blocking(x, waits=timeline.at(1))

A software AMD GPU behind HIP's API, for other programs:

    with windlass.simulated():          # this process and its children find the simulated HIP
        ...
    subprocess.run(program, env={**os.environ, **windlass.env()})       # the child alone finds it
"""

from ._buffer import Buffer, BufferLike, BufferParams, BufferRange, BufferUsage, MemoryType, Slot, Target
from ._commands import CommandBuffer, Event, Recorder
from ._device import Device, DeviceInfo, DeviceLimits, Statistics, devices, drivers
from ._errors import (
    AbortedError,
    AlreadyExistsError,
    CancelledError,
    Code,
    DataLossError,
    DeadlineExceededError,
    Error,
    FailedPreconditionError,
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
    UnknownError,
)
from ._executable import Argument, Executable, Function, Parameter
from ._facts import DeviceFacts
from ._file import File
from ._installation import command, library
from ._machine import Counts, Machine, env, simulated
from ._pool import UNLIMITED, Pool, PoolKind, PoolStatistics
from ._queue import Queue
from ._library import path as runtime_library
from ._semaphore import Point, Points, Semaphore, WaitPolicy, wait_all_blocking, wait_any_blocking
from ._view import BufferView, ElementType, from_dlpack

__all__ = [
    "AbortedError",
    "AlreadyExistsError",
    "Argument",
    "Buffer",
    "BufferLike",
    "BufferParams",
    "BufferRange",
    "BufferUsage",
    "BufferView",
    "CancelledError",
    "Code",
    "CommandBuffer",
    "Counts",
    "DataLossError",
    "DeadlineExceededError",
    "Device",
    "DeviceFacts",
    "DeviceInfo",
    "DeviceLimits",
    "ElementType",
    "Error",
    "Event",
    "Executable",
    "FailedPreconditionError",
    "File",
    "Function",
    "InternalError",
    "InvalidArgumentError",
    "Machine",
    "MemoryType",
    "NotFoundError",
    "OutOfRangeError",
    "Parameter",
    "PermissionDeniedError",
    "Point",
    "Points",
    "Pool",
    "PoolKind",
    "PoolStatistics",
    "Queue",
    "Recorder",
    "ResourceExhaustedError",
    "Semaphore",
    "Slot",
    "Statistics",
    "Target",
    "UNLIMITED",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
    "WaitPolicy",
    "command",
    "devices",
    "drivers",
    "env",
    "from_dlpack",
    "library",
    "runtime_library",
    "simulated",
    "wait_all_blocking",
    "wait_any_blocking",
]
