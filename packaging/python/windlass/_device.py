# SPDX-License-Identifier: MIT OR Apache-2.0
"""Devices: finding them, their facts, memory, code and queues."""

from __future__ import annotations

import ctypes
import os
import reprlib
import time
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _abi
from ._buffer import Buffer, BufferParams, params_argument, sized
from ._channel import Channel, channel_params, new_id
from ._commands import Recorder
from ._errors import DeadlineExceededError
from ._executable import Executable
from ._facts import DeviceFacts, facts_of
from ._growable import GrowableBuffer
from ._handle import Object, out
from ._heap import Compatibility, Heap, compatibility_of, heaps_of
from ._inbox import destroy, keep
from ._library import encoded, lib, nanoseconds, number, text
from ._memory import Memory
from ._pool import UNLIMITED, Pool, PoolKind, pool_params
from ._profile import Profile, Sink, options_of, profile, profile_trace
from ._queue import Queue
from ._topology import Topology


class DeviceInfo(NamedTuple):
    """The description of a device."""

    uri: str
    """The URI that opens this device."""
    name: str
    """The maker's name."""
    architecture: str
    """The target that code must be built for: "gfx942:sramecc+:xnack-"."""
    uuid: Optional[str]
    """A permanent identity."""
    library: Optional[str]
    """The library behind the device, and its version."""
    simulated: bool
    """Whether the device is simulated in any way. Print this wherever you print a device."""
    executable_formats: Tuple[str, ...]
    """The names of the formats of code that it loads."""
    lacks: Dict[str, str]
    """The features that it lacks, with the reasons."""
    uuid_bytes: bytes
    """The 16 bytes of the identity, as HIP gives them."""
    reports_faults: bool
    """Whether a faulting kernel only fails the work that waits for it."""


class DeviceLimits(NamedTuple):
    """The limits of a device. Zero means that it sets no limit. Sizes are in bytes."""

    queues: int
    max_workgroup_size: Tuple[int, int, int]
    max_workgroup_threads: int
    max_workgroup_count: Tuple[int, int, int]
    max_local_memory: int
    wave_size: int
    total_memory: int
    allocation_alignment: int
    physical_devices: int


class Statistics(NamedTuple):
    """The memory use of a device, in bytes."""

    device_bytes_used: int
    device_bytes_reserved: int
    device_bytes_peak: int
    device_bytes_allocated: int
    device_bytes_freed: int
    host_bytes_used: int
    host_bytes_reserved: int
    host_bytes_peak: int
    host_bytes_allocated: int
    host_bytes_freed: int
    allocations: int
    pools: int


class Replayed(NamedTuple):
    """The result of a replay: the operations that ran, the bytes that were compared with the recording, the results that differ, and the
    nanoseconds from the first submission to the end of the last operation."""

    operations: int
    compared: int
    differing: int
    nanoseconds: int


class Device(Object):
    """An opened device: `Device("hip://")` is the first real GPU, `Device("hip-sim://gfx942")` a simulated one. Without a URI it is that of
    the variable WINDLASS_DEVICE, else the first real GPU. `parameters` are those of a URI that has none: their values need no escapes.

    When the last reference to it and to its queues goes, operations that were not issued fail with CANCELLED."""

    __slots__ = ()
    KIND = "device"

    def __init__(self, uri: Optional[str] = None, parameters: Optional[Mapping[str, str]] = None) -> None:
        pointer = out()
        if parameters is not None:
            if not hasattr(parameters, "items"):
                raise TypeError(f"parameters are a mapping of keys to values, and this is {reprlib.repr(parameters)}")
            pairs = [(encoded("a key", key), encoded("a value", value)) for key, value in parameters.items()]
            keys, values = ((ctypes.c_char_p * len(pairs))(*(pair[side] for pair in pairs)) for side in (0, 1))
            name = encoded("a URI", uri)
            lib().windlass_device_open_with_parameters(name, len(pairs), keys, values, ctypes.byref(pointer))
        elif uri is None:
            lib().windlass_device_open_default(ctypes.byref(pointer))
        else:
            lib().windlass_device_open(encoded("a URI", uri), ctypes.byref(pointer))
        self._adopt(pointer.value or 0)

    def close(self) -> None:
        """Closes the device for all that share it: operations that were not issued fail with CANCELLED, and new work is refused. Does
        not wait."""
        if not self.closed:
            lib().windlass_device_close(self._h)
        super().close()

    @property
    def info(self) -> DeviceInfo:
        """The description of the device."""
        info = sized(_abi.windlass_device_info_t)
        lib().windlass_device_info(self._h, ctypes.byref(info))
        return _info(info)

    @property
    def limits(self) -> DeviceLimits:
        """The limits of the device."""
        limits = sized(_abi.windlass_device_limits_t)
        lib().windlass_device_limits(self._h, ctypes.byref(limits))
        return DeviceLimits(*_fields(DeviceLimits, limits))

    @property
    def statistics(self) -> Statistics:
        """The memory use now."""
        statistics = sized(_abi.windlass_statistics_t)
        lib().windlass_device_statistics(self._h, ctypes.byref(statistics))
        return Statistics(*_fields(Statistics, statistics))

    def facts(self, physical_device: int = 0) -> DeviceFacts:
        """The facts of one of the physical devices, as `physical_affinity` counts them. OutOfRangeError if there are fewer."""
        facts = sized(_abi.windlass_device_facts_t)
        index = number("a physical device", physical_device, 2**32 - 1)
        lib().windlass_device_facts(self._h, index, ctypes.byref(facts))
        return facts_of(facts)

    @property
    def heaps(self) -> List[Heap]:
        """The kinds of memory that the device allocates. The best for dispatches comes first."""
        return heaps_of(self._h)

    def compatibility(self, size: int, params: Optional[BufferParams] = None) -> Compatibility:
        """The possible uses of a buffer of `size` bytes; nothing if the device cannot have it. Allocates nothing, and does not tell whether
        there is memory now."""
        return compatibility_of(self._h, size, params)

    def topology(self) -> Topology:
        """The processors of the device, and the links between them. `Topology.between` is for several devices."""
        return Topology._of([self._h])

    def physical_affinity(self, index: int) -> int:
        """The queues of one of the physical devices, bit n for queue n, as `queue_of` takes them."""
        affinity = ctypes.c_uint64()
        index = number("a physical device", index, 2**32 - 1)
        lib().windlass_device_physical_affinity(self._h, index, ctypes.byref(affinity))
        return affinity.value

    def queue(self, index: int = 0) -> Queue:
        """A queue by number."""
        pointer = out()
        lib().windlass_device_queue(self._h, number("a queue", index, 2**32 - 1), ctypes.byref(pointer))
        return Queue._around(pointer.value)

    def queue_of(self, affinity: int = 0) -> Queue:
        """A set of queues, bit n for queue n and 0 for all: the device picks one for each operation."""
        pointer = out()
        lib().windlass_device_queue_of(self._h, number("an affinity", affinity), ctypes.byref(pointer))
        return Queue._around(pointer.value)

    def allocate(self, size: int, params: Optional[BufferParams] = None) -> Buffer:
        """Allocates memory that is usable at once, with undefined contents; device memory without `params`. ResourceExhaustedError if
        memory is exhausted."""
        pointer = out()
        lib().windlass_buffer_allocate(
            self._h, params_argument(params), number("a size", size), ctypes.byref(pointer)
        )
        return Buffer._around(pointer.value)

    def allocate_host(self, size: int) -> Buffer:
        """Allocates host memory that the device can use and the host can map."""
        return self.allocate(size, BufferParams.host())

    def reserve_growable(self, capacity: int, params: Optional[BufferParams] = None) -> GrowableBuffer:
        """Reserves `capacity` bytes of device addresses, rounded up to whole pages, for memory that grows in place. They have no memory yet.
        InvalidArgumentError for a capacity of 0 and for memory that the host sees, ResourceExhaustedError if there are no addresses for
        it, UnimplementedError if the device lacks "virtual_memory"."""
        pointer = out()
        argument, most = params_argument(params), number("a capacity", capacity)
        lib().windlass_growable_reserve(self._h, argument, most, ctypes.byref(pointer))
        return GrowableBuffer._around(pointer.value)

    def create_pool(
        self,
        kind: PoolKind = PoolKind.TLSF,
        *,
        slab_size: int = 0,
        block_size: int = 0,
        blocks: int = 0,
        budget: int = UNLIMITED,
        retained: int = UNLIMITED,
        device_waits: bool = True,
        exact: bool = False,
        memory: Optional[BufferParams] = None,
        name: Optional[str] = None,
    ) -> Pool:
        """Makes a pool for `queue.alloca(size, pool=pool)`. TLSF needs `slab_size`, FIXED_BLOCK `block_size` and `blocks`; sizes are in bytes.
        `budget` limits the memory that it takes, `retained` the memory that it keeps without a buffer. `device_waits` lets an alloca wait, on
        the device, for memory that another queue used last. `exact` is for PASSTHROUGH: allocations are of exactly the requested size."""
        pointer = out()
        params = pool_params(kind, slab_size, block_size, blocks, budget, retained, device_waits, exact, memory, name)
        lib().windlass_pool_create(self._h, ctypes.byref(params), ctypes.byref(pointer))
        return Pool._around(pointer.value)

    def import_device_address(
        self, address: int, size: int, *, owner: Any = None, params: Optional[BufferParams] = None
    ) -> Buffer:
        """Makes a buffer of memory of another library that uses the same device in this process. Work of the other library on it must be
        complete, or semaphores must order it. `owner` stays alive until the last work with the buffer has ended."""
        pointer, place = out(), (number("an address", address), number("a size", size))
        params_ = params_argument(params)
        # The library takes the ticket over, also if it refuses the memory.
        lib().windlass_buffer_import_device_address(
            self._h, params_, *place, keep(owner).address, destroy(), ctypes.byref(pointer)
        )
        return Buffer._around(pointer.value)

    def import_host(self, memory: Any, *, params: Optional[BufferParams] = None) -> Buffer:
        """Makes a buffer of contiguous memory of this process without a copy: of a numpy array, a bytearray, an mmap. It stays as it is
        until the last work with the buffer has ended. Semaphores must order all other accesses to it.

        UnimplementedError if the device lacks "import_host", AlreadyExistsError if a part is imported already."""
        params_ = params_argument(params)
        lent = Memory(memory, writable=True)
        pointer = out()
        lib().windlass_buffer_import_host(
            self._h, params_, lent.address or None, lent.size, keep(lent).address, destroy(), ctypes.byref(pointer)
        )
        return Buffer._around(pointer.value)

    def load_executable(self, code: Any) -> Executable:
        """Loads device code, a code object or a bundle, as bytes. The best entry for the device is chosen; NotFoundError gives the reasons
        if none fits.

        The caller vouches for the code: with any arguments that the program gives it, it stays within live buffers of this device."""
        pointer = out()
        with Memory(code) as memory:
            lib().windlass_executable_load(
                self._h, memory.address or None, memory.size, ctypes.byref(pointer)
            )
        return Executable._around(pointer.value)

    def load_linked(self, codes: Sequence[Any]) -> Executable:
        """Loads pieces of device code as one executable: a symbol that one piece leaves undefined may be defined by another."""
        pointer, memories = out(), [Memory(code) for code in codes]
        addresses = (ctypes.c_void_p * len(memories))(*(memory.address for memory in memories))
        sizes = (ctypes.c_size_t * len(memories))(*(memory.size for memory in memories))
        lib().windlass_executable_load_linked(
            self._h, len(memories), addresses, sizes, ctypes.byref(pointer)
        )
        return Executable._around(pointer.value)

    def record(self, slots: int = 0) -> Recorder:
        """Starts a command buffer with this many slots in its binding table."""
        pointer = out()
        lib().windlass_recorder_create(self._h, number("a number of slots", slots, 2**32 - 1), ctypes.byref(pointer))
        return Recorder._around(pointer.value)

    def channel_id(self) -> bytes:
        """A new name for a channel, 128 bytes. One rank asks for it and sends it to the others by any means; all pass it to `create_channel`.
        UnimplementedError if the device lacks "collectives", UnavailableError if the library for it is not installed."""
        return new_id(self._h)

    def create_channel(
        self, id: Any, rank: int, count: int, *, affinity: int = 0, timeout: Optional[float] = 600
    ) -> Channel:
        """Makes the device a rank of a channel of `count` ranks. Ranks of one device have the queues of different GPUs as their `affinity`:
        see `physical_affinity`. `timeout` is in seconds, None for ever: the longest time that the other ranks may take to join, and that each
        group may then run. Does not wait for the other ranks: they join in the background, and groups that are submitted meanwhile wait for
        that. InvalidArgumentError unless the rank is below the count."""
        pointer, params = out(), channel_params(id, rank, count, affinity, timeout)
        lib().windlass_channel_create(self._h, ctypes.byref(params), ctypes.byref(pointer))
        return Channel._around(pointer.value)

    def profile(
        self, sink: Sink, *, device_times: bool = True, memory: bool = True, commands: bool = False
    ) -> Profile:
        """Begins a profile: the sink, a function of a `ProfileRecord`, gets a record of each operation that is submitted from now on, of host
        calls, of changes of memory, and with `commands` of each command and debug group of command buffers, which costs time. Records arrive
        some time after the work, or in `flush` and `end` of the profile.

        The sink runs on the package's own thread, one record at a time, and should not block: it also serves waits of asyncio, and records
        are lost while 65536 wait. An exception goes to `sys.unraisablehook`. FailedPreconditionError while the device has a profile. May
        wait up to a second for an idle GPU, to compare the clocks of host and device."""
        return profile(self._h, sink, options_of(device_times, memory, commands))

    def profile_trace(
        self,
        path: Union[str, bytes, "os.PathLike[str]"],
        *,
        device_times: bool = True,
        memory: bool = True,
        commands: bool = False,
    ) -> Profile:
        """Begins a profile that is written to a file, as JSON for https://ui.perfetto.dev. The file is complete when the profile has ended.
        InvalidArgumentError if the file cannot be made. For the rest it is like `profile`."""
        return profile_trace(self._h, path, options_of(device_times, memory, commands))

    def replay_blocking(self, path: Union[str, bytes, "os.PathLike[str]"]) -> Replayed:
        """Replays a recording, which a device of "record://?file=FILE&over=URI" made, compares the results, and waits for the end. AbortedError
        names the first results that differ. DataLossError for a file that is no whole recording. The code in the recording runs, for which
        the caller vouches as in `load_executable`. Ctrl-C counts after the end."""
        replayed = sized(_abi.windlass_replayed_t)
        lib().windlass_replay(self._h, encoded("a path", os.fsdecode(path)), ctypes.byref(replayed))
        return Replayed(*_fields(Replayed, replayed))

    def poll(self) -> None:
        """Retires finished work. Never waits. Waits and submissions also do so."""
        lib().windlass_device_poll(self._h)

    def drain_blocking(self, timeout: Optional[float] = None) -> None:
        """Waits until all issued operations have retired, or raises DeadlineExceededError after `timeout` seconds. Operations whose waits
        are not reached are not issued. A host call counts as retired once it has begun: wait for its signals."""
        nanoseconds(timeout)  # Refuses what is no timeout.
        end = None if timeout is None else time.monotonic() + timeout
        while True:
            left = 0.1 if end is None else min(max(end - time.monotonic(), 0), 0.1)
            try:
                return lib().windlass_device_drain(self._h, nanoseconds(left))  # type: ignore[no-any-return]
            except DeadlineExceededError:
                if end is not None and time.monotonic() >= end:
                    raise

    def trim(self) -> None:
        """Returns unused memory to the system."""
        lib().windlass_device_trim(self._h)

    def __repr__(self) -> str:
        if self.closed:
            return "<windlass.Device, closed>"
        info = self.info
        return f"<windlass.Device {info.uri}: {info.name}{', simulated' if info.simulated else ''}>"


def drivers() -> List[str]:
    """The schemes of the drivers in the library: "hip", "hip-sim", ..."""
    found: List[str] = []
    while True:
        scheme = lib().windlass_driver_scheme(len(found))
        if scheme is None:
            return found
        found.append(text(scheme))


def devices(scheme: str) -> List[DeviceInfo]:
    """The devices of a driver. An error names the missing library or access right if the driver cannot look for them."""
    pointer = out()
    lib().windlass_driver_devices(encoded("a scheme", scheme), ctypes.byref(pointer))
    found = []
    with _DeviceList._around(pointer.value) as list_:
        for index in range(lib().windlass_device_list_count(list_._h)):
            info = sized(_abi.windlass_device_info_t)
            lib().windlass_device_list_info(list_._h, index, ctypes.byref(info))
            found.append(_info(info))
    return found


class _DeviceList(Object):
    __slots__ = ()
    KIND = "device list"


def _info(info: Any) -> DeviceInfo:
    formats = tuple(text(info.executable_formats[index]) for index in range(info.executable_format_count))
    lacks = {}
    for index in range(info.lack_count):
        lack = info.lacks[index]
        name = lib().windlass_feature_name(lack.feature)
        lacks[text(name) if name else f"feature {lack.feature}"] = text(lack.reason)
    return DeviceInfo(
        text(info.uri),
        text(info.name),
        text(info.architecture),
        text(info.uuid) if info.uuid is not None else None,
        text(info.library) if info.library is not None else None,
        bool(info.simulated),
        formats,
        lacks,
        bytes(info.uuid_bytes),
        bool(info.reports_faults),
    )


def _fields(kind: Any, struct: Any) -> Iterator[Any]:
    """The fields of a struct of C that a named tuple has."""
    values = (getattr(struct, name) for name in kind._fields)
    return (tuple(value) if isinstance(value, ctypes.Array) else value for value in values)
