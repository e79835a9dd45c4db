# SPDX-License-Identifier: MIT OR Apache-2.0
"""Element types: their names are those by which Triton knows them."""

from __future__ import annotations

from typing import Any


class DType:
    """An element type. `str` gives its name, such as "float32"; equal names are equal types."""

    __slots__ = ("name", "itemsize")

    def __init__(self, name: str, itemsize: int):
        self.name, self.itemsize = name, itemsize

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"windlass.triton.{self.name}"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DType) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def numpy(self) -> Any:
        """numpy's type: its own, that of ml_dtypes if it is installed, else unsigned integers of the same size."""
        import numpy

        try:
            return numpy.dtype(self.name)
        except TypeError:
            pass
        try:
            import ml_dtypes

            return numpy.dtype(getattr(ml_dtypes, self.name))
        except (ImportError, AttributeError):
            return numpy.dtype(f"uint{8 * self.itemsize}")


_SIZES = {
    "bool": 1, "int8": 1, "int16": 2, "int32": 4, "int64": 8, "uint8": 1, "uint16": 2, "uint32": 4, "uint64": 8,
    "float16": 2, "bfloat16": 2, "float32": 4, "float64": 8,
    "float8_e4m3fn": 1, "float8_e4m3fnuz": 1, "float8_e5m2": 1, "float8_e5m2fnuz": 1,
}  # fmt: skip
DTYPES = {name: DType(name, size) for name, size in _SIZES.items()}


def dtype_of(value: Any) -> DType:
    """The type of a name, of numpy's type, or of any object whose text ends in the name, such as `torch.float16`."""
    if isinstance(value, DType):
        return value
    name = getattr(value, "__name__", None) or str(value)
    found = DTYPES.get(name.rsplit(".", 1)[-1])
    if found is None:
        raise TypeError(f"{value!r} is no element type of Triton: use one of {', '.join(DTYPES)}")
    return found
