# SPDX-License-Identifier: MIT OR Apache-2.0
"""Queues: work with a wait list and a signal list."""

from __future__ import annotations

import ctypes
import reprlib
import time
import traceback
from typing import Any, Callable, Iterable, Optional, Sequence, TypeVar, overload

from . import _abi
from ._buffer import Buffer, BufferLike, BufferParams, is_view, params_argument, reference
from ._channel import Channel, Collective, group_of
from ._commands import CommandBuffer, Sizes
from ._errors import AbortedError, Error, UnimplementedError
from ._executable import Argument, ArgumentList, Function, dispatch_config, indirect_config
from ._file import File
from ._handle import Object, handle_of, out
from ._inbox import Completion, Message, callback, in_worker, keep, report, reserve_worker, ticket
from ._library import lib, nanoseconds, number
from ._memory import Memory
from ._pool import Pool
from ._semaphore import PointList, Points, Semaphore, _list, wait_all_blocking


Into = TypeVar("Into")


class Queue(Object):
    """A queue of a device, or a set of queues from which the device picks one. It keeps the device open.

    Every operation takes a wait list and a signal list and returns without waiting for other work. It starts when every wait is
    reached; when it has completed, every signal is reached. Nothing else orders it. A refused operation raises and changes nothing; a
    later failure fails its signals. Work in flight keeps its objects, so they may be closed right after the call. Methods whose names
    end in `_blocking` wait."""

    __slots__ = ()
    KIND = "queue"

    @property
    def affinity(self) -> int:
        """The set of queues that this stands for, bit n for queue n."""
        return int(lib().windlass_queue_affinity(self._h))

    def barrier(self, waits: Points = (), signals: Points = ()) -> None:
        """An edge from waits to signals, without work."""
        before, after = PointList(waits), PointList(signals)
        lib().windlass_queue_barrier(self._h, *before.args, *after.args)

    def alloca(
        self,
        size: int,
        waits: Points = (),
        signals: Points = (),
        *,
        params: Optional[BufferParams] = None,
        pool: Optional[Pool] = None,
    ) -> Buffer:
        """Allocates memory in the order of the queue, from the device's own pool or another one. The buffer may be recorded and submitted
        at once, and owns the memory when the signals are reached."""
        before, after, pointer = PointList(waits), PointList(signals), out()
        rest = params_argument(params), number("a size", size), ctypes.byref(pointer)
        if pool is None:
            lib().windlass_queue_alloca(self._h, *before.args, *after.args, *rest)
        else:
            lib().windlass_queue_alloca_from(self._h, *before.args, *after.args, handle_of(Pool, pool), *rest)
        return Buffer._around(pointer.value)

    def dealloca(self, buffer: Buffer, waits: Points = (), signals: Points = ()) -> None:
        """Frees the memory of a whole allocation in the order of the queue. Later calls with the buffer raise FailedPreconditionError."""
        before, after = PointList(waits), PointList(signals)
        lib().windlass_queue_dealloca(self._h, *before.args, *after.args, handle_of(Buffer, buffer))

    def fill(self, target: BufferLike, pattern: Any, waits: Points = (), signals: Points = ()) -> None:
        """Repeats a pattern of 1, 2 or 4 bytes over the target."""
        before, after, (place, _kept) = PointList(waits), PointList(signals), reference(target)
        with Memory(pattern) as memory:
            lib().windlass_queue_fill(
                self._h, *before.args, *after.args, place, memory.address or None, memory.size
            )

    def update(self, source: Any, target: BufferLike, waits: Points = (), signals: Points = ()) -> None:
        """Writes contiguous bytes of the host to the target, which has the same length. The bytes are captured before this returns."""
        before, after, (place, _kept) = PointList(waits), PointList(signals), reference(target)
        with Memory(source) as memory:
            lib().windlass_queue_update(
                self._h, *before.args, *after.args, memory.address or None, memory.size, place
            )

    def copy(self, source: BufferLike, target: BufferLike, waits: Points = (), signals: Points = ()) -> None:
        """Copies the source to the target, which has the same length and must not overlap it."""
        before, after = PointList(waits), PointList(signals)
        (from_, _kept), (to, _too) = reference(source), reference(target)
        lib().windlass_queue_copy(self._h, *before.args, *after.args, from_, to)

    def dispatch(
        self,
        function: Function,
        workgroups: Sizes,
        arguments: Sequence[Argument] = (),
        waits: Points = (),
        signals: Points = (),
        *,
        workgroup_size: Optional[Sizes] = None,
        local_memory: int = 0,
    ) -> None:
        """Launches a function on `workgroups` workgroups in x, y and z, with one argument for each of its parameters: see Argument.
        `workgroup_size` is needed where the code fixes none. `local_memory` is in bytes, in addition to the function's own."""
        before, after, list_ = PointList(waits), PointList(signals), ArgumentList(function, arguments)
        config = dispatch_config(workgroups, workgroup_size, local_memory)
        lib().windlass_queue_dispatch(
            self._h, *before.args, *after.args, handle_of(Function, function), ctypes.byref(config), *list_.args
        )

    def dispatch_raw(
        self,
        function: Function,
        workgroups: Sizes,
        block: Any,
        buffers: Iterable[BufferLike] = (),
        waits: Points = (),
        signals: Points = (),
        *,
        workgroup_size: Optional[Sizes] = None,
        local_memory: int = 0,
    ) -> None:
        """Launches a function with a packed block of arguments: exactly `function.argument_size` bytes in its layout. The work keeps
        `buffers`, which are those whose addresses the block contains."""
        before, after, list_ = PointList(waits), PointList(signals), ArgumentList.raw(block, list(buffers))
        config = dispatch_config(workgroups, workgroup_size, local_memory, _abi.DISPATCH_RAW_ARGUMENTS)
        lib().windlass_queue_dispatch(
            self._h, *before.args, *after.args, handle_of(Function, function), ctypes.byref(config), *list_.args
        )

    def dispatch_indirect(
        self,
        function: Function,
        workgroups: BufferLike,
        arguments: Sequence[Argument] = (),
        waits: Points = (),
        signals: Points = (),
        *,
        workgroup_size: Optional[Sizes] = None,
        local_memory: int = 0,
        static: bool = False,
    ) -> None:
        """Launches a function with as many workgroups as the first twelve bytes of a range say: three numbers of 32 bits. They are read
        when the waits are reached."""
        before, after, list_ = PointList(waits), PointList(signals), ArgumentList(function, arguments)
        config, _kept = indirect_config(workgroups, workgroup_size, local_memory, static)
        lib().windlass_queue_dispatch_indirect(
            self._h, *before.args, *after.args, handle_of(Function, function), ctypes.byref(config), *list_.args
        )

    def execute(
        self,
        command_buffer: CommandBuffer,
        bindings: Sequence[Optional[BufferLike]] = (),
        waits: Points = (),
        signals: Points = (),
    ) -> None:
        """Runs a command buffer, with a binding for each of its slots. A slot that no command uses may have None, or be left out at the
        end."""
        before, after, kept = PointList(waits), PointList(signals), []
        table = (_abi.windlass_buffer_ref_t * len(bindings))()
        for index, binding in enumerate(bindings):
            if binding is None:
                table[index] = _abi.windlass_buffer_ref_t(_abi.REF_BUFFER, 0, None, 0, _abi.WHOLE_BUFFER)
            else:
                table[index], handle = reference(binding)
                kept.append(handle)
        lib().windlass_queue_execute(
            self._h, *before.args, *after.args, handle_of(CommandBuffer, command_buffer), len(table), table if bindings else None
        )

    def collective(
        self, channel: Channel, operations: Sequence[Collective], waits: Points = (), signals: Points = ()
    ) -> None:
        """Carries out a group of collective operations: they start together when the waits are reached, and when all of them have completed
        on this rank, the signals are reached. Each other rank of the channel submits a group that fits; the caller vouches for that: one that
        sends more than another one expects may write over memory of that rank.

        InvalidArgumentError for a rank that the channel does not have, for lengths that do not fit each other or the elements, and for a
        queue that the channel does not have. Where another rank fails or does not come in time, the signals fail with ABORTED, and so do
        those of all later groups of the channel. The device stays usable."""
        before, after, (table, _kept) = PointList(waits), PointList(signals), group_of(operations)
        lib().windlass_queue_collective(
            self._h, *before.args, *after.args, handle_of(Channel, channel), len(table), table if len(table) else None
        )

    def download(self, source: BufferLike, target: Any, waits: Points = (), signals: Points = ()) -> None:
        """Copies the source to writable contiguous memory of the host of the same size, such as a numpy array. The bytes are complete when
        the signals are reached. Until then the memory stays alive, and must not be used."""
        before, after, (place, _kept) = PointList(waits), PointList(signals), reference(source)
        memory, done = Memory(target, writable=True), Semaphore()
        # A point of its own tells that the memory is free, whichever signals there are.
        after = PointList([*_list(signals), done.at(1)])
        mine, call = keep(memory), callback(_abi.windlass_timepoint_callback_t, "windlass_ticket_timepoint")
        try:
            lib().windlass_queue_download(
                self._h, *before.args, *after.args, place, memory.address or None, memory.size
            )
        except BaseException:
            mine.revoke()
            raise
        lib().windlass_semaphore_add_timepoint(done._h, 1, call, mine.address, None)

    def read(
        self, file: File, target: BufferLike, offset: int = 0, waits: Points = (), signals: Points = ()
    ) -> None:
        """Fills the target from a file, beginning at byte `offset` of it. A file that ends before fails the signals with OUT_OF_RANGE."""
        before, after, (place, _kept) = PointList(waits), PointList(signals), reference(target)
        start = number("an offset", offset)
        lib().windlass_queue_read(self._h, *before.args, *after.args, handle_of(File, file), start, place)

    def write(
        self, source: BufferLike, file: File, offset: int = 0, waits: Points = (), signals: Points = ()
    ) -> None:
        """Writes the source to a file, beginning at byte `offset` of it."""
        before, after, (place, _kept) = PointList(waits), PointList(signals), reference(source)
        start = number("an offset", offset)
        lib().windlass_queue_write(self._h, *before.args, *after.args, place, handle_of(File, file), start)

    def host_call(
        self,
        function: Callable[[], object],
        waits: Points = (),
        signals: Points = (),
        *,
        non_blocking: bool = False,
        relaxed: bool = False,
    ) -> None:
        """Calls a function when the waits are reached, on a thread of Python that it may block. Its return reaches the signals; an
        exception fails them, as its own code if it is a windlass.Error, else as ABORTED with its text.

        `non_blocking` reaches the signals when the call begins. `relaxed` says that the function accesses no memory of the device. If a
        wait fails or the device is closed before, the function is not called, and the signals fail. When the interpreter ends, calls that
        have not begun fail with ABORTED, and calls in progress are given up."""
        if not callable(function):
            raise TypeError(f"a host call needs a function, and this is {reprlib.repr(function)}")
        before, after = PointList(waits), PointList(signals)
        flags = (_abi.HOST_CALL_NON_BLOCKING if non_blocking else 0) | (_abi.HOST_CALL_RELAXED if relaxed else 0)

        def told(message: Message) -> None:
            if message.kind == _abi.MESSAGE_HOST_CALL:
                try:
                    in_worker(lambda: _call(function, message.completion))
                except RuntimeError as error:
                    # Python 3.12 starts no thread once the interpreter ends.
                    if message.completion is not None:
                        message.completion.complete(AbortedError(f"the host call was not made: {error}"))

        reserve_worker()
        # The library takes the ticket over, also if it refuses the call.
        lib().windlass_queue_host_call(
            self._h,
            *before.args,
            *after.args,
            flags,
            callback(_abi.windlass_host_call_callback_t, "windlass_ticket_host_call"),
            ticket(told).address,
            callback(_abi.windlass_host_call_destroy_t, "windlass_ticket_host_call_destroy"),
        )

    def import_timepoint(
        self, *, stream: Optional[int] = None, event: Optional[int] = None, waits: Points = (), signals: Points = ()
    ) -> None:
        """Orders work behind another library of the process: the signals are reached when the waits are, and when the work is done that a
        stream of HIP holds now, or that lies before the latest record of an event. Both are handles as numbers; stream 0 is the default
        stream of the queue's GPU. UnimplementedError if the device lacks this.

        The caller vouches that the handle is one of the HIP library that the device uses."""
        if (stream is None) == (event is None):
            raise TypeError("either a stream or an event is needed")
        before, after = PointList(waits), PointList(signals)
        handle = number("a handle", event if stream is None else stream)
        point = getattr(_abi, "windlass_external_timepoint_t", None)
        if point is None:
            raise UnimplementedError("this version is not ordered with the streams of other libraries")
        kind = 2 if stream is None else 1
        lib().windlass_queue_import_timepoint(self._h, *before.args, *after.args, point(kind, 0, handle))

    def export_timepoint(self, waits: Points, stream: int, *, allow_unsubmitted: bool = False) -> None:
        """Orders another library of the process behind points: work that is enqueued in a stream of HIP after this call starts when all points
        are reached. This does not wait. FailedPreconditionError unless each point is reached, or submitted work of this device will reach it.

        With `allow_unsubmitted` the stream also waits for other points, and occupies its hardware queue meanwhile: the caller vouches that it
        does not hold up the work that reaches them. The caller vouches for the handle as for `import_timepoint`."""
        before, handle = PointList(waits), number("a handle", stream)
        if "windlass_queue_export_timepoint" not in _abi.FUNCTIONS:
            raise UnimplementedError("this version is not ordered with the streams of other libraries")
        lib().windlass_queue_export_timepoint(self._h, *before.args, handle, 1 if allow_unsubmitted else 0)

    def upload_blocking(
        self, source: Any, target: BufferLike, waits: Points = (), timeout: Optional[float] = None
    ) -> None:
        """Writes contiguous bytes of the host to the target when the waits are reached, and waits until they are written."""
        place, _kept = reference(target)
        with Memory(source) as memory:
            left = _reached(waits, timeout)
            lib().windlass_queue_upload_blocking(
                self._h, 0, None, memory.address or None, memory.size, place, left
            )

    @overload
    def download_blocking(
        self, source: BufferLike, waits: Points = (), timeout: Optional[float] = None, *, into: None = None
    ) -> bytearray: ...

    @overload
    def download_blocking(
        self, source: BufferLike, waits: Points = (), timeout: Optional[float] = None, *, into: Into
    ) -> Into: ...

    def download_blocking(
        self, source: BufferLike, waits: Points = (), timeout: Optional[float] = None, *, into: Any = None
    ) -> Any:
        """Copies the source to the host when the waits are reached, and returns the bytes. `into` is writable contiguous memory of the
        same size, such as a numpy array, and is then the result. After a failure it is unchanged."""
        place, handle = reference(source)
        if into is None:
            into = bytearray(_length(source))
        with Memory(into, writable=True) as memory:
            left = _reached(waits, timeout)
            lib().windlass_queue_download_blocking(
                self._h, 0, None, place, memory.address or None, memory.size, left
            )
        return into


def _call(function: Callable[[], object], completion: Optional[Completion]) -> None:
    try:
        function()
        error = None
    except Error as raised:
        error = raised
    except BaseException as raised:
        error = AbortedError(f"the host call raised {_described(raised)}")
        if completion is None:
            report(function)
    if completion is not None:
        try:
            completion.complete(error)
        finally:
            completion.close()


def _described(raised: BaseException) -> str:
    """The type of an exception, its text and the line that raised it. Never raises."""
    kind = type(raised).__name__
    try:
        place = traceback.extract_tb(raised.__traceback__)[-1]
        text = f"{kind}: {raised} ({place.filename}:{place.lineno})"
        return text.encode("utf-8", "backslashreplace").decode()
    except BaseException:
        return kind


def _reached(waits: Points, timeout: Optional[float]) -> int:
    """Waits so that signals such as Ctrl-C interrupt it. Returns the nanoseconds that are left."""
    nanoseconds(timeout)  # Refuses what is no timeout.
    end = None if timeout is None else time.monotonic() + timeout
    wait_all_blocking(waits, timeout)
    return nanoseconds(None if end is None else max(end - time.monotonic(), 0))


def _length(source: Any) -> int:
    """The number of bytes of a range, checked before Python makes room for them."""
    if is_view(source):
        source = source.buffer
    if isinstance(source, Buffer):
        return source.size
    buffer, offset, length = source
    with buffer.subspan(offset, length) as part:
        size: int = part.size
    return size
