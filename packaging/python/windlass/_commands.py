# SPDX-License-Identifier: MIT OR Apache-2.0
"""Command buffers: commands that are recorded once and run any number of times."""

from __future__ import annotations

import ctypes
import reprlib
from typing import Any, Iterable, NamedTuple, Optional, Sequence, Union

from . import _abi
from ._buffer import BufferLike, Target, reference
from ._channel import Channel, Collective, group_of
from ._executable import Argument, ArgumentList, Function, dispatch_config, indirect_config
from ._handle import Object, handle_of, out
from ._library import encoded, lib, number
from ._memory import Memory

Sizes = Union[int, Sequence[int]]
"""One to three numbers, for x, y and z."""


class Event(NamedTuple):
    """A barrier in two halves, of one recording."""

    recording: int
    number: int


class CommandBuffer(Object):
    """A finished recording. It may be in flight any number of times, on any queues of its device."""

    __slots__ = ()
    KIND = "command buffer"


class Recorder(Object):
    """Records a command buffer. Each call validates at once, and a failed one records nothing. Commands may run in any order or in
    parallel unless a barrier is between them. `Device.record` makes one."""

    __slots__ = ()
    KIND = "recorder"

    def barrier(self) -> None:
        """All earlier commands complete before any later command starts."""
        lib().windlass_recorder_barrier(self._h)

    def fill(self, target: Target, pattern: Any) -> None:
        """Repeats a pattern of 1, 2 or 4 bytes."""
        place, _kept = reference(target)
        with Memory(pattern) as memory:
            lib().windlass_recorder_fill(self._h, place, memory.address or None, memory.size)

    def update(self, source: Any, target: Target) -> None:
        """Writes contiguous bytes of the host, which are captured now."""
        place, _kept = reference(target)
        with Memory(source) as memory:
            lib().windlass_recorder_update(self._h, memory.address or None, memory.size, place)

    def copy(self, source: Target, target: Target) -> None:
        """Copies bytes. The lengths are equal, and the ranges do not overlap."""
        (from_, _kept), (to, _too) = reference(source), reference(target)
        lib().windlass_recorder_copy(self._h, from_, to)

    def dispatch(
        self,
        function: Function,
        workgroups: Sizes,
        arguments: Sequence[Argument] = (),
        *,
        workgroup_size: Optional[Sizes] = None,
        local_memory: int = 0,
    ) -> None:
        """Launches a function: see Queue.dispatch."""
        list_ = ArgumentList(function, arguments)
        config = dispatch_config(workgroups, workgroup_size, local_memory)
        lib().windlass_recorder_dispatch(self._h, handle_of(Function, function), ctypes.byref(config), *list_.args)

    def dispatch_raw(
        self,
        function: Function,
        workgroups: Sizes,
        block: Any,
        buffers: Iterable[BufferLike] = (),
        *,
        workgroup_size: Optional[Sizes] = None,
        local_memory: int = 0,
    ) -> None:
        """Launches a function with a packed block of arguments: see Queue.dispatch_raw."""
        list_ = ArgumentList.raw(block, list(buffers))
        config = dispatch_config(workgroups, workgroup_size, local_memory, _abi.DISPATCH_RAW_ARGUMENTS)
        lib().windlass_recorder_dispatch(self._h, handle_of(Function, function), ctypes.byref(config), *list_.args)

    def dispatch_indirect(
        self,
        function: Function,
        workgroups: Target,
        arguments: Sequence[Argument] = (),
        *,
        workgroup_size: Optional[Sizes] = None,
        local_memory: int = 0,
        static: bool = False,
    ) -> None:
        """Launches a function with as many workgroups as a buffer says: see Queue.dispatch_indirect."""
        list_ = ArgumentList(function, arguments)
        config, _kept = indirect_config(workgroups, workgroup_size, local_memory, static)
        lib().windlass_recorder_dispatch_indirect(self._h, handle_of(Function, function), ctypes.byref(config), *list_.args)

    def collective(self, channel: Channel, operations: Sequence[Collective]) -> None:
        """Carries out a group of collective operations: see Queue.collective. The groups of a command buffer start in recorded order, also
        without a barrier between them. Each submission of the command buffer submits its groups, on queues that their channels have."""
        table, _kept = group_of(operations)
        lib().windlass_recorder_collective(
            self._h, handle_of(Channel, channel), len(table), table if len(table) else None
        )

    def begin_debug_group(
        self,
        label: str,
        *,
        color: Optional[Sequence[int]] = None,
        file: Optional[str] = None,
        line: int = 0,
    ) -> None:
        """Opens a named group, for tools. Groups may be nested. `color` is red, green, blue and alpha, each from 0 to 255. `file` is the file
        that the commands come from, with a line that is counted from 1."""
        name, place = encoded("a label", label), number("a line", line, 2**32 - 1)
        if color is None and file is None:
            lib().windlass_recorder_begin_debug_group(self._h, name)
            return
        if color is not None and len(color) != 4:
            raise ValueError(f"a colour has four numbers, and this is {reprlib.repr(color)}")
        rgba = None if color is None else (ctypes.c_uint8 * 4)(*(number("a colour", one, 255) for one in color))
        source = None if file is None else encoded("a file", file)
        lib().windlass_recorder_begin_debug_group_at(self._h, name, rgba, source, place)

    def end_debug_group(self) -> None:
        """Closes the innermost group."""
        lib().windlass_recorder_end_debug_group(self._h)

    def create_event(self) -> Event:
        """Makes an event of this recording, which is not signalled."""
        event = _abi.windlass_event_t()
        lib().windlass_recorder_create_event(self._h, ctypes.byref(event))
        return Event(event.recording, event.number)

    def signal_event(self, event: Event) -> None:
        """The first half of a split barrier: later waits for the event wait for all commands before this call."""
        lib().windlass_recorder_signal_event(self._h, _event(event))

    def reset_event(self, event: Event) -> None:
        """Makes the event unsignalled for the commands from here on."""
        lib().windlass_recorder_reset_event(self._h, _event(event))

    def wait_events(self, events: Iterable[Event]) -> None:
        """The second half of split barriers: commands after this call wait for the commands before the events' signals."""
        all_ = [_event(event) for event in events]
        lib().windlass_recorder_wait_events(self._h, len(all_), (_abi.windlass_event_t * len(all_))(*all_))

    def finish(self) -> CommandBuffer:
        """Ends the recording."""
        pointer = out()
        lib().windlass_recorder_finish(self._h, ctypes.byref(pointer))
        return CommandBuffer._around(pointer.value)


def _event(event: Event) -> Any:
    if not isinstance(event, Event):
        raise TypeError(f"an event comes from Recorder.create_event, and this is {reprlib.repr(event)}")
    return _abi.windlass_event_t(number("a recording", event.recording), number("an event", event.number))
