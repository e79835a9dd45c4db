# SPDX-License-Identifier: MIT OR Apache-2.0
"""A driver for Triton's runtime over Windlass: kernels on simulated and real AMD GPUs, arrays of numpy.

    driver = windlass.triton.Driver("hip-sim://gfx942")        # "hip://" is the first real GPU
    triton.runtime.driver.set_active(driver)

    x = windlass.triton.to_device(numpy_array)
    out = windlass.triton.empty(x.shape, "float32")
    kernel[grid](x, out, ...)                                  # asynchronous
    out.numpy()                                                # waits, and copies

Streams are asynchronous and in order. A kernel that faults raises `KernelError` at the next launch or
`synchronize` of its stream.
"""

from __future__ import annotations

from typing import Any, Sequence

try:
    import triton as _triton
except ImportError as _error:
    raise ImportError("windlass.triton needs Triton: pip install triton") from _error

from ._active import active
from ._driver import Driver
from ._dtype import DTYPES, DType
from ._stream import Event, KernelError, Stream
from ._tensor import Tensor

__all__ = ["DTYPES", "DType", "Driver", "Event", "KernelError", "Stream", "Tensor", "active", "empty", "from_dlpack", "to_device", "zeros"]


def to_device(array: Any, dtype: Any = None, stream: Stream | None = None) -> Tensor:
    """`Driver.to_device` of the active driver."""
    return active().to_device(array, dtype, stream)


def from_dlpack(source: Any, stream: Stream | None = None) -> Tensor:
    """`Driver.from_dlpack` of the active driver."""
    return active().from_dlpack(source, stream)


def empty(shape: Sequence[int] | int, dtype: Any = "float32") -> Tensor:
    """`Driver.empty` of the active driver."""
    return active().empty(shape, dtype)


def zeros(shape: Sequence[int] | int, dtype: Any = "float32") -> Tensor:
    """`Driver.zeros` of the active driver."""
    return active().zeros(shape, dtype)
