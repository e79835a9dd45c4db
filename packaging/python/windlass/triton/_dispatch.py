# SPDX-License-Identifier: MIT OR Apache-2.0
"""The call that launches a kernel. It does as little as possible in Python, as programs launch often."""

from __future__ import annotations

import ctypes
import operator
from typing import Any, NamedTuple, Sequence

from .. import Buffer, Function, Point, Queue, _abi
from .._handle import Handle
from .._library import lib

_Point, _Argument, _Config = _abi.windlass_point_t, _abi.windlass_argument_t, _abi.windlass_dispatch_config_t
_CONFIG_SIZE = ctypes.sizeof(_Config)
_MOST = 2**32 - 1


class Kept(NamedTuple):
    """A buffer that a launch keeps: its handle, and the argument for C that names it."""

    handle: Handle
    argument: Any


def kept(buffer: Buffer) -> Kept:
    argument = _Argument()
    argument.kind = _abi.ARGUMENT_RANGE
    argument.range = _abi.windlass_buffer_ref_t(_abi.REF_BUFFER, 0, buffer._h.address, 0, _abi.WHOLE_BUFFER)
    return Kept(buffer._h, argument)


def dispatch(
    queue: Queue,
    function: Function,
    grid: Sequence[int],
    block: Sequence[int],
    local_memory: int,
    packed: Any,
    buffers: Sequence[Kept],
    *,
    waits: Sequence[Point],
    signals: Sequence[Point],
) -> None:
    """`Queue.dispatch_raw`, with the block of arguments in an array of ctypes."""
    config = _Config(_CONFIG_SIZE, tuple(map(_size, grid)), block, local_memory, _abi.DISPATCH_RAW_ARGUMENTS)
    count = len(buffers) + 1
    arguments = (_Argument * count)()
    first = arguments[0]
    first.kind, first.bytes, first.size = _abi.ARGUMENT_BYTES, ctypes.addressof(packed), len(packed)
    for index, (_, argument) in enumerate(buffers, 1):
        arguments[index] = argument
    lib().windlass_queue_dispatch(
        queue._h, len(waits), _points(waits), len(signals), _points(signals), function._h, config, count, arguments
    )


def _size(value: Any) -> int:
    size = operator.index(value)
    # C would cut off the upper bits.
    if size > _MOST:
        raise ValueError(f"a grid of {size} programs in one dimension, at most {_MOST} are possible")
    return size


def _points(points: Sequence[Point]) -> Any:
    list_: Any = _Point * len(points)
    return list_(*[(semaphore._h.address, value) for semaphore, value in points])
