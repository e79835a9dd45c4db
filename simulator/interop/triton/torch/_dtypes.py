# SPDX-License-Identifier: MIT OR Apache-2.0
"""Element types, and their conversion to the types of numpy in which they are computed."""

import numpy as np


class dtype:
    """An element type; `str` gives `torch.float32` and the like, by which Triton knows it."""

    __module__ = "torch"

    def __init__(self, name, size, raw, is_floating_point=False):
        self.name, self.itemsize, self.raw, self.is_floating_point = name, size, np.dtype(raw), is_floating_point

    def __str__(self):
        return "torch." + self.name

    __repr__ = __str__


float64, float32 = dtype("float64", 8, np.float64, True), dtype("float32", 4, np.float32, True)
float16, bfloat16 = dtype("float16", 2, np.float16, True), dtype("bfloat16", 2, np.uint16, True)
float8_e5m2 = dtype("float8_e5m2", 1, np.uint8, True)
float8_e4m3fn = dtype("float8_e4m3fn", 1, np.uint8, True)
float8_e4m3fnuz, float8_e5m2fnuz = dtype("float8_e4m3fnuz", 1, np.uint8, True), dtype("float8_e5m2fnuz", 1, np.uint8, True)
int64, int32, int16, int8 = (dtype(f"int{8 * size}", size, f"int{8 * size}") for size in (8, 4, 2, 1))
uint8, bool_ = dtype("uint8", 1, np.uint8), dtype("bool", 1, np.bool_)
_BY_NUMPY = {one.raw: one for one in (float64, float32, float16, int64, int32, int16, int8, uint8, bool_)}


def of_numpy(array):
    return _BY_NUMPY[array.dtype]


def compute(raw, kind):
    """Bytes of the device as numbers of numpy."""
    if kind is bfloat16:
        return (raw.astype(np.uint32) << 16).view(np.float32)
    if kind is float8_e5m2:
        return (raw.astype(np.uint16) << 8).view(np.float16).astype(np.float32)
    return raw


def store(values, kind):
    """Numbers of numpy as bytes for the device, rounded to nearest even."""
    values = np.asarray(values)
    if kind is bfloat16:
        if values.dtype == np.uint16:
            return values
        bits = values.astype(np.float32).view(np.uint32)
        return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)
    if kind is float8_e5m2:
        if values.dtype == np.uint8:
            return values
        with np.errstate(over="ignore"):
            bits = values.astype(np.float16).view(np.uint16)
        return ((bits.astype(np.uint32) + 0x7F + (bits >> 8 & 1)) >> 8).astype(np.uint8)
    with np.errstate(over="ignore", invalid="ignore"):
        return values.astype(kind.raw, copy=False)


def joined(*kinds):
    """The type of a result of operands of these types."""
    return max(kinds, key=lambda kind: (kind.is_floating_point, kind.itemsize))
