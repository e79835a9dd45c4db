# SPDX-License-Identifier: MIT OR Apache-2.0
"""Pools: memory of their own, with a strategy, a budget and counts."""

from __future__ import annotations

import ctypes
import enum
from typing import Any, NamedTuple, Optional

from . import _abi
from ._buffer import BufferParams, sized
from ._handle import Object
from ._library import encoded, lib, number

UNLIMITED = _abi.UNLIMITED
"""A number of bytes without a limit."""


class PoolKind(enum.IntEnum):
    """How a pool places buffers."""

    TLSF = _abi.POOL_TLSF
    """Buffers of any size side by side in slabs."""
    FIXED_BLOCK = _abi.POOL_FIXED_BLOCK
    """A fixed number of blocks of one size."""
    PASSTHROUGH = _abi.POOL_PASSTHROUGH
    """An allocation for each buffer, kept for the next one that fits into it."""


class PoolStatistics(NamedTuple):
    """Counts of one pool, all from one moment. Sizes are in bytes."""

    bytes_reserved: int
    budget: int
    bytes_used: int
    bytes_peak: int
    bytes_held: int
    bytes_idle: int
    slabs: int
    buffers: int
    acquired: int
    acquired_fresh: int
    acquired_with_wait: int
    exhausted: int
    over_budget: int
    released: int
    slabs_given_back: int


class Pool(Object):
    """A pool of memory, from which `queue.alloca(size, pool=pool)` takes. `Device.create_pool` makes one."""

    __slots__ = ()
    KIND = "pool"

    @property
    def statistics(self) -> PoolStatistics:
        """The counts now."""
        statistics = sized(_abi.windlass_pool_statistics_t)
        lib().windlass_pool_statistics(self._h, ctypes.byref(statistics))
        return PoolStatistics(*(getattr(statistics, name) for name in PoolStatistics._fields))

    def trim(self) -> None:
        """Returns slabs to the device that hold no buffer and that no work uses. Never waits."""
        lib().windlass_pool_trim(self._h)


def pool_params(
    kind: PoolKind,
    slab_size: int,
    block_size: int,
    blocks: int,
    budget: int,
    retained: int,
    device_waits: bool,
    exact: bool,
    memory: Optional[BufferParams],
    name: Optional[str],
) -> Any:
    """Parameters for C, and what they borrow."""
    params = sized(_abi.windlass_pool_params_t)
    params.kind = PoolKind(kind)
    params.flags = (_abi.POOL_DEVICE_WAITS if device_waits else 0) | (_abi.POOL_EXACT if exact else 0)
    params.slab_size = number("a size of slabs", slab_size)
    params.block_size = number("a size of blocks", block_size)
    params.blocks = number("a number of blocks", blocks, 2**32 - 1)
    params.budget = number("a budget", budget)
    params.retained = number("a number of bytes", retained)
    params.name = None if name is None else encoded("a name", name)
    if memory is not None:
        # The struct keeps the one that it points to.
        params.memory = ctypes.pointer(memory._c())
    return params
