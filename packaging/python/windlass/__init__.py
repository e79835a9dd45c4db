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
from ._channel import Channel, Collective, CollectiveKind, Reduction
from ._code import (
    CodeArgument,
    CodeArgumentKind,
    CodeBundle,
    CodeEntry,
    CodeFile,
    CodeFit,
    CodeImage,
    CodeKernel,
    CodeRejected,
    CodeSelection,
    CodeTarget,
    CodeVerdict,
    code_format,
    code_size,
)
from ._commands import CommandBuffer, Event, Recorder
from ._device import Device, DeviceInfo, DeviceLimits, Replayed, Statistics, devices, drivers
from ._element_type import ElementType
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
from ._executable import (
    Argument,
    Executable,
    Function,
    FunctionResources,
    Parameter,
    SuggestedWorkgroup,
    Symbol,
    SymbolBinding,
    SymbolKind,
)
from ._facts import DeviceFacts
from ._fence import Fence
from ._file import File
from ._growable import GrowableBuffer
from ._heap import Compatibility, Heap
from ._installation import command, library
from ._machine import Counts, Machine, env, simulated
from ._observation import Observation
from ._pool import UNLIMITED, Pool, PoolKind, PoolStatistics
from ._profile import Profile, ProfileKind, ProfilePoint, ProfileRecord
from ._queue import Queue
from ._library import path as runtime_library
from ._semaphore import Point, Points, Semaphore, WaitPolicy, wait_all_blocking, wait_any_blocking
from ._topology import LinkKind, Topology, TopologyEdge, TopologyNode
from ._view import BufferView, from_dlpack

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
    "Channel",
    "Code",
    "CodeArgument",
    "CodeArgumentKind",
    "CodeBundle",
    "CodeEntry",
    "CodeFile",
    "CodeFit",
    "CodeImage",
    "CodeKernel",
    "CodeRejected",
    "CodeSelection",
    "CodeTarget",
    "CodeVerdict",
    "Collective",
    "CollectiveKind",
    "CommandBuffer",
    "Compatibility",
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
    "Fence",
    "File",
    "Function",
    "FunctionResources",
    "GrowableBuffer",
    "Heap",
    "InternalError",
    "InvalidArgumentError",
    "LinkKind",
    "Machine",
    "MemoryType",
    "NotFoundError",
    "Observation",
    "OutOfRangeError",
    "Parameter",
    "PermissionDeniedError",
    "Point",
    "Points",
    "Pool",
    "PoolKind",
    "PoolStatistics",
    "Profile",
    "ProfileKind",
    "ProfilePoint",
    "ProfileRecord",
    "Queue",
    "Recorder",
    "Reduction",
    "Replayed",
    "ResourceExhaustedError",
    "Semaphore",
    "Slot",
    "Statistics",
    "SuggestedWorkgroup",
    "Symbol",
    "SymbolBinding",
    "SymbolKind",
    "Target",
    "Topology",
    "TopologyEdge",
    "TopologyNode",
    "UNLIMITED",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
    "WaitPolicy",
    "code_format",
    "code_size",
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
