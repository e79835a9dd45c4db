# SPDX-License-Identifier: MIT OR Apache-2.0
"""Queues: work with a wait list and a signal list."""

from __future__ import annotations

import ctypes
import time
from typing import Any, Iterable, Optional, Sequence, Union

from . import _abi
from ._buffer import Buffer, BufferLike, BufferParams, params_argument, reference
from ._commands import CommandBuffer, Sizes
from ._executable import Argument, ArgumentList, Function, dispatch_config, indirect_config
from ._handle import Object, out
from ._library import lib, nanoseconds, number
from ._memory import Memory
from ._semaphore import PointList, Points, wait_all_blocking


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
        self, size: int, waits: Points = (), signals: Points = (), *, params: Optional[BufferParams] = None
    ) -> Buffer:
        """Allocates memory in the order of the queue. The buffer may be recorded and submitted at once, and owns the memory when the
        signals are reached."""
        before, after, pointer = PointList(waits), PointList(signals), out()
        size, params_ = number("a size", size), params_argument(params)
        lib().windlass_queue_alloca(self._h, *before.args, *after.args, params_, size, ctypes.byref(pointer))
        return Buffer._around(pointer.value)

    def dealloca(self, buffer: Buffer, waits: Points = (), signals: Points = ()) -> None:
        """Frees the memory of a whole allocation in the order of the queue. Work behind the signals must not use the buffer."""
        before, after = PointList(waits), PointList(signals)
        lib().windlass_queue_dealloca(self._h, *before.args, *after.args, buffer._h)

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
            self._h, *before.args, *after.args, function._h, ctypes.byref(config), *list_.args
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
            self._h, *before.args, *after.args, function._h, ctypes.byref(config), *list_.args
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
            self._h, *before.args, *after.args, function._h, ctypes.byref(config), *list_.args
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
            self._h, *before.args, *after.args, command_buffer._h, len(table), table if bindings else None
        )

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


def _reached(waits: Points, timeout: Optional[float]) -> int:
    """Waits so that signals such as Ctrl-C interrupt it. Returns the nanoseconds that are left."""
    end = None if timeout is None else time.monotonic() + timeout
    wait_all_blocking(waits, timeout)
    return nanoseconds(None if end is None else max(end - time.monotonic(), 0))


def _length(source: Union[BufferLike, Any]) -> int:
    """The number of bytes of a range, checked before Python makes room for them."""
    if isinstance(source, Buffer):
        return source.size
    buffer, offset, length = source
    with buffer.subspan(offset, length) as part:
        return part.size
