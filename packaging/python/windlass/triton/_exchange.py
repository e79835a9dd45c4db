# SPDX-License-Identifier: MIT OR Apache-2.0
"""Exchange of tensors with other libraries by DLPack, without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import BufferView, ElementType, Point, from_dlpack
from ._dtype import DTYPES
from ._storage import Storage
from ._stream import Stream

if TYPE_CHECKING:
    from ._device import OpenDevice
    from ._tensor import Tensor

_KINDS = {
    "bool": ElementType.BOOL_8,
    "int8": ElementType.SINT_8,
    "int16": ElementType.SINT_16,
    "int32": ElementType.SINT_32,
    "int64": ElementType.SINT_64,
    "uint8": ElementType.UINT_8,
    "uint16": ElementType.UINT_16,
    "uint32": ElementType.UINT_32,
    "uint64": ElementType.UINT_64,
    "float16": ElementType.FLOAT_16,
    "bfloat16": ElementType.BFLOAT_16,
    "float32": ElementType.FLOAT_32,
    "float64": ElementType.FLOAT_64,
}


def view_of(tensor: Tensor, stream: Stream) -> BufferView:
    """A view that has its contents when the work that the stream has so far has ended."""
    kind = _KINDS.get(tensor.dtype.name)
    if kind is None:
        raise BufferError(f'Windlass gives no {tensor.dtype} to other libraries: use view("uint8")')
    view = BufferView(tensor.storage.buffer.subspan(tensor._offset, tensor.nbytes), tensor.shape, kind, ready=stream.point())
    view.queue = stream.queue
    return view


def taken(source: Any, device: OpenDevice, stream: Stream) -> Tensor:
    """A tensor over another library's memory. Later work of the stream runs behind what the library promised."""
    from ._tensor import Tensor

    view = from_dlpack(source, device.hal, queue=stream.queue)
    kind = view.element_type
    name = next((name for name, one in _KINDS.items() if one == kind), None)
    if name is None:
        raise BufferError(f"Triton has no elements of {kind.short_name}")
    ready: list[Any] = [view.ready] if isinstance(view.ready, Point) else list(view.ready)
    if ready:
        stream.submit(stream.queue.barrier, after=ready)
    return Tensor(Storage(device, view.buffer), view.shape, DTYPES[name])
