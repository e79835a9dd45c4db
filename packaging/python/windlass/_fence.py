# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fences: sets of points that are waited for together."""

from __future__ import annotations

import ctypes
from typing import Any, Generator, Iterator, List, Optional, Union

from . import _abi
from ._errors import Error
from ._handle import Object, handle_of, out
from ._library import Lent, lib
from ._semaphore import Point, PointList, Points, Semaphore, WaitPolicy, wait_all_blocking


class Fence(Object):
    """A set of points, which holds each semaphore once, with its greatest value. An empty one is passed from the start. A fence stands
    for its points in wait lists and signal lists: `queue.barrier(fence)`. Threads may share it."""

    __slots__ = ()
    KIND = "fence"

    def __init__(self, points: Points = ()) -> None:
        pointer = out()
        lib().windlass_fence_create(ctypes.byref(pointer))
        self._adopt(pointer.value or 0)
        self.insert(points)

    @classmethod
    def join(cls, *fences: Fence) -> Fence:
        """A fence with the points that these fences have now."""
        joined = cls()
        for fence in fences:
            handle_of(Fence, fence)
            joined.insert(fence)
        return joined

    def insert(self, points: Points) -> None:
        """Adds points. Of two points on one semaphore the greater value stays. A value that no semaphore can reach is an OutOfRangeError of the
        calls that use the fence."""
        list_ = PointList(points)
        lib().windlass_fence_insert(self._h, *list_.args)

    @property
    def points(self) -> List[Point]:
        """The points now."""
        handle, count, room = self._h, ctypes.c_size_t(), 8
        while True:
            array = (_abi.windlass_point_t * room)()
            lib().windlass_fence_points(handle, room, array, ctypes.byref(count))
            if count.value <= room:
                break
            room = count.value
        # The fence, which this thread holds, keeps the semaphores meanwhile.
        borrowed = list(array)[: count.value]
        retain = lib().windlass_semaphore_retain
        return [Semaphore._around(retain(point.semaphore)).at(point.value) for point in borrowed]

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __len__(self) -> int:
        count = ctypes.c_size_t()
        lib().windlass_fence_points(self._h, 0, None, ctypes.byref(count))
        return count.value

    def __bool__(self) -> bool:
        return True

    def query(self) -> bool:
        """Whether all points are reached. Raises the failure of a failed semaphore. Never waits."""
        passed = ctypes.c_bool()
        lib().windlass_fence_query(self._h, ctypes.byref(passed))
        return passed.value

    def signal(self) -> None:
        """Raises each semaphore to its value."""
        lib().windlass_fence_signal(self._h)

    def fail(self, error: Union[Error, str]) -> None:
        """Fails all semaphores. A text is ABORTED. The first failure of a semaphore stays."""
        with Lent(error) as pointer:
            lib().windlass_fence_fail(self._h, pointer)

    def wait_blocking(
        self, timeout: Optional[float] = None, policy: WaitPolicy = WaitPolicy.SPIN_THEN_BLOCK
    ) -> None:
        """Blocks this thread until all points that the fence has now are reached. Raises the failure of any, or DeadlineExceededError after
        `timeout` seconds. Signals such as Ctrl-C interrupt it."""
        wait_all_blocking(self.points, timeout, policy)

    async def wait(self) -> None:
        """Waits until all points that the fence has now are reached, and lets the running event loop of asyncio go on meanwhile. The first
        failure of a semaphore is raised at once. No thread is blocked."""
        points = self.points
        if not points or self.query():
            return
        import asyncio

        waits = [asyncio.ensure_future(point.semaphore.wait(point.value)) for point in points]
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_EXCEPTION)
            for one in done:
                one.result()
        finally:
            for one in waits:
                one.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    def __await__(self) -> Generator[Any, None, None]:
        """`await fence` waits until all points are reached: see `wait`."""
        return self.wait().__await__()
