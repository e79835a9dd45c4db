# SPDX-License-Identifier: MIT OR Apache-2.0
"""Channels between devices, and the collective operations of their ranks."""

from __future__ import annotations

import ctypes
import enum
import reprlib
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from . import _abi
from ._buffer import Target, reference, sized
from ._element_type import ElementType
from ._errors import Error
from ._handle import Handle, Object, out
from ._library import lib, nanoseconds, number
from ._memory import Memory

_RANKS = 2**32 - 1


class Reduction(enum.IntEnum):
    """How the elements of all ranks become one. Integers wrap around."""

    SUM = _abi.REDUCTION_SUM
    PRODUCT = _abi.REDUCTION_PRODUCT
    MINIMUM = _abi.REDUCTION_MINIMUM
    MAXIMUM = _abi.REDUCTION_MAXIMUM
    AVERAGE = _abi.REDUCTION_AVERAGE
    """The sum divided by the number of ranks."""


class CollectiveKind(enum.IntEnum):
    """The kind of a collective operation. `Collective` has a function for each."""

    ALL_GATHER = _abi.COLLECTIVE_ALL_GATHER
    ALL_REDUCE = _abi.COLLECTIVE_ALL_REDUCE
    ALL_TO_ALL = _abi.COLLECTIVE_ALL_TO_ALL
    BROADCAST = _abi.COLLECTIVE_BROADCAST
    REDUCE = _abi.COLLECTIVE_REDUCE
    REDUCE_SCATTER = _abi.COLLECTIVE_REDUCE_SCATTER
    SEND = _abi.COLLECTIVE_SEND
    RECV = _abi.COLLECTIVE_RECV
    SEND_RECV = _abi.COLLECTIVE_SEND_RECV


class Collective(NamedTuple):
    """A collective operation, as this rank states it: a part of a group for `Queue.collective`, or for `Recorder.collective`, where a buffer
    may be a `Slot` with a length. The lengths of the buffers say how many elements move. Each rank states the same kind, element type, reduction, root and number of elements. Element types are those of
    `ElementType.of`: "f32", "si32", a dtype of numpy."""

    kind: CollectiveKind
    element_type: ElementType
    source: Optional[Target] = None
    target: Optional[Target] = None
    reduction: Optional[Reduction] = None
    peer: Optional[int] = None
    """The root, or the other rank."""
    sender: Optional[int] = None
    """The rank that a SEND_RECV receives from."""

    @classmethod
    def all_gather(cls, element_type: Any, source: Target, target: Target) -> Collective:
        """Each rank gets the elements of all ranks, by rank. The target has the bytes of the source for each rank; the source may be this
        rank's part of it."""
        return cls(CollectiveKind.ALL_GATHER, ElementType.of(element_type), source, target)

    @classmethod
    def all_reduce(cls, reduction: Reduction, element_type: Any, source: Target, target: Target) -> Collective:
        """Each rank gets the reduction over all ranks. Source and target have the same length, and may be the same."""
        return cls(CollectiveKind.ALL_REDUCE, ElementType.of(element_type), source, target, Reduction(reduction))

    @classmethod
    def all_to_all(cls, element_type: Any, source: Target, target: Target) -> Collective:
        """Each rank sends part n of its source to rank n, and gets part n of its target from there."""
        return cls(CollectiveKind.ALL_TO_ALL, ElementType.of(element_type), source, target)

    @classmethod
    def broadcast(cls, root: int, element_type: Any, source: Optional[Target], target: Target) -> Collective:
        """Each rank gets the elements of `root`. Only the root's source is read; a root without one sends its target."""
        return cls(CollectiveKind.BROADCAST, ElementType.of(element_type), source, target, peer=root)

    @classmethod
    def reduce(
        cls, root: int, reduction: Reduction, element_type: Any, source: Target, target: Optional[Target]
    ) -> Collective:
        """The rank `root` gets the reduction over all ranks. Only the root needs a target."""
        kind = ElementType.of(element_type)
        return cls(CollectiveKind.REDUCE, kind, source, target, Reduction(reduction), peer=root)

    @classmethod
    def reduce_scatter(cls, reduction: Reduction, element_type: Any, source: Target, target: Target) -> Collective:
        """Rank n gets part n of the reduction over all ranks. The source has the bytes of the target for each rank."""
        kind = ElementType.of(element_type)
        return cls(CollectiveKind.REDUCE_SCATTER, kind, source, target, Reduction(reduction))

    @classmethod
    def send(cls, to: int, element_type: Any, source: Target) -> Collective:
        """Sends elements to a rank, which receives as many from this one. Ranks that send to each other put both operations into one
        group."""
        return cls(CollectiveKind.SEND, ElementType.of(element_type), source, peer=to)

    @classmethod
    def recv(cls, sender: int, element_type: Any, target: Target) -> Collective:
        """Receives elements from a rank, which sends as many to this one."""
        return cls(CollectiveKind.RECV, ElementType.of(element_type), target=target, peer=sender)

    @classmethod
    def send_recv(
        cls,
        to: Optional[int],
        sender: Optional[int],
        element_type: Any,
        source: Optional[Target],
        target: Target,
    ) -> Collective:
        """Sends to one rank and receives from another. Without a rank to receive from, the target is filled with zeros. Without a rank to
        send to, the source is not read."""
        kind = ElementType.of(element_type)
        return cls(CollectiveKind.SEND_RECV, kind, source, target, peer=to, sender=sender)


class Channel(Object):
    """One rank's side of a channel: several ranks, each a GPU of some device in some process, that carry out collective operations
    together. `Device.create_channel` makes one, `Queue.collective` takes it.

    All ranks submit the groups and the splits of a channel in the same order. Groups start in the order in which their waits are
    reached. Groups of different channels that share a GPU are in one order on all ranks too. The rank leaves the channel when the object
    is closed and no work uses it. It does not keep the device open."""

    __slots__ = ()
    KIND = "channel"

    @property
    def rank(self) -> int:
        """The rank of this side."""
        return int(lib().windlass_channel_rank(self._h))

    @property
    def count(self) -> int:
        """The number of ranks."""
        return int(lib().windlass_channel_count(self._h))

    def split(self, color: int, rank: int, count: int) -> Channel:
        """Splits the channel: the ranks that pass the same color, a number below 2**31, become a channel of their own. All ranks take part,
        each with a color, or by `sit_out`. `rank` and `count` are those within the new channel. Does not wait for the other ranks.
        UnavailableError if the library for it is too old."""
        pointer = out()
        numbers = number("a color", color, _RANKS), number("a rank", rank, _RANKS), number("a number of ranks", count, _RANKS)
        lib().windlass_channel_split(self._h, *numbers, ctypes.byref(pointer))
        return Channel._around(pointer.value)

    def sit_out(self) -> None:
        """Takes part in a split of the other ranks, without a place in any of the new channels."""
        lib().windlass_channel_sit_out(self._h)

    def __repr__(self) -> str:
        if self.closed:
            return "<windlass.Channel, closed>"
        return f"<windlass.Channel, rank {self.rank} of {self.count}>"


def new_id(device: Handle) -> bytes:
    """A new name for a channel."""
    made = _abi.windlass_channel_id_t()
    lib().windlass_device_channel_id(device, ctypes.byref(made))
    return bytes(made.bytes)


def channel_params(id: Any, rank: int, count: int, affinity: int, timeout: Optional[float]) -> Any:
    """Parameters for C."""
    params: Any = sized(_abi.windlass_channel_params_t)
    length = ctypes.sizeof(_abi.windlass_channel_id_t)
    with Memory(id) as given:
        if given.size != length:
            words = f"the id of a channel has {length} bytes, and this one has {given.size}: it comes from Device.channel_id of one rank"
            raise Error.of(_abi.CODE_INVALID_ARGUMENT, words)
        ctypes.memmove(ctypes.byref(params.id), given.address, length)
    params.rank, params.count = number("a rank", rank, _RANKS), number("a number of ranks", count, _RANKS)
    params.affinity, params.timeout_ns = number("an affinity", affinity), nanoseconds(timeout)
    if params.timeout_ns == 0:
        # To C it is the default.
        raise Error.of(_abi.CODE_INVALID_ARGUMENT, "a channel with a timeout of 0: no rank could join in time")
    return params


def group_of(operations: Sequence[Collective]) -> Tuple[Any, List[Optional[Handle]]]:
    """Operations for C, and the handles that they borrow."""
    table: Any = (_abi.windlass_collective_t * len(operations))()
    kept: List[Optional[Handle]] = []
    for one, operation in zip(table, operations):
        if not isinstance(operation, Collective):
            raise TypeError(f"a group consists of windlass.Collective, and this is {reprlib.repr(operation)}")
        one.kind, one.element_type = CollectiveKind(operation.kind), ElementType(operation.element_type)
        one.reduction = 0 if operation.reduction is None else Reduction(operation.reduction)
        is_both = one.kind == CollectiveKind.SEND_RECV
        one.peer = _rank(operation.peer, is_both)
        setattr(one, "from", _rank(operation.sender, is_both))
        for name in ("source", "target"):
            place = getattr(operation, name)
            if place is not None:
                range_, handle = reference(place)
                setattr(one, name, range_)
                kept.append(handle)
    return table, kept


def _rank(rank: Optional[int], may_be_none: bool) -> int:
    if rank is None:
        return _abi.NO_RANK if may_be_none else 0
    # The greatest number stands for no rank.
    return number("a rank", rank, _RANKS - 1)
