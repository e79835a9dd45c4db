# SPDX-License-Identifier: MIT OR Apache-2.0
"""Streams of other libraries that exchange arrays on a GPU by DLPack."""

from __future__ import annotations

import ctypes
import os
import reprlib
from typing import Any

from ._errors import Error, FailedPreconditionError, UnimplementedError
from ._semaphore import Points, Semaphore, wait_all_blocking

CPU, ROCM, ROCM_HOST = 1, 10, 11
"""DLPack's numbers of kinds of devices."""

NONE = -1
"""The consumer orders its accesses itself."""
DEFAULT = 0
"""The default stream of HIP."""


def check(device_type: int, stream: Any) -> None:
    """Whether the consumer's stream is one, by DLPack's rules for the kind of device."""
    if device_type == CPU:
        if stream is not None and stream != NONE:
            raise BufferError(f"memory of the CPU has no streams, and the consumer names {reprlib.repr(stream)}")
        return
    if stream is None:
        return
    if not hasattr(stream, "__index__"):
        raise BufferError(f"a stream is None or a number, and this is {reprlib.repr(stream)}")
    if stream.__index__() in (1, 2) or stream.__index__() < NONE:
        raise BufferError(
            f"{reprlib.repr(stream)} is no stream of ROCm: None and 0 are the default stream, -1 is for no synchronization, and other numbers "
            "are handles"
        )


def let_wait(points: Points, queue: Any, device_type: int, stream: Any) -> None:
    """Lets work that is enqueued in a stream after this call start behind points: on the device if a queue of it is known, else by
    waiting for them."""
    if queue is not None and device_type != CPU:
        try:
            return queue.export_timepoint(points, stream or DEFAULT)  # type: ignore[no-any-return]
        except (UnimplementedError, FailedPreconditionError):
            # The device cannot, or the work that reaches the points is not submitted yet.
            pass
    wait_all_blocking(points)


def wait_for(queue: Any, stream: int) -> Points:
    """The points behind which all work is that a stream holds now."""
    if queue is not None:
        done = Semaphore()
        try:
            queue.import_timepoint(stream=stream, signals=done.at(1))
            return done.at(1)
        except UnimplementedError:
            pass
    for library in _loaded():
        status = library.hipStreamSynchronize(ctypes.c_void_p(stream))
        if status != 0:
            raise Error.of(Error.code, f"hipStreamSynchronize({stream:#x}) gave the status {status}")
    return ()


def _loaded() -> list[Any]:
    """The HIP libraries that this process has loaded. A stream of the default number exists in each."""
    with open("/proc/self/maps", "rb") as maps:
        paths = {line.rstrip(b"\n").split(None, 5)[-1] for line in maps if b"libamdhip64.so" in line}
    return [ctypes.CDLL(os.fsdecode(path)) for path in sorted(paths)]
