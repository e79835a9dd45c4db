# SPDX-License-Identifier: MIT OR Apache-2.0
"""Launches of compiled kernels: packs arguments by Triton's signature and the code object's layout."""

from __future__ import annotations

import ctypes
import struct
from typing import Any, Callable, Iterator, Sequence

from triton.backends.driver import decompose_descriptor, expand_signature
from triton.runtime import _allocation

from ._active import active
from ._device import Kernel
from ._dispatch import Kept, dispatch
from ._storage import Storage
from ._tensor import Tensor

_NO_SCRATCH = (None, None)
_INTEGERS = {
    "i1": (1, "B"), "u1": (1, "B"), "i8": (1, "b"), "u8": (1, "B"), "i16": (2, "h"), "u16": (2, "H"),
    "i32": (4, "i"), "u32": (4, "I"), "i64": (8, "q"), "u64": (8, "Q"),
}  # fmt: skip


def _as_brain(value: float) -> int:
    """The bits of a bfloat16, rounded to nearest even."""
    bits: int = struct.unpack("<I", struct.pack("<f", _as_single(value)))[0]
    if value != value:
        return 0x7FC0
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16


def _as_single(value: float) -> float:
    # struct refuses what rounds to infinity.
    return ctypes.c_float(value).value


def _as_half(value: float) -> float:
    try:
        struct.pack("<e", value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return value


_FLOATS: dict[str, tuple[int, str, Callable[[float], Any]]] = {
    "fp16": (2, "e", _as_half),
    "bf16": (2, "H", _as_brain),
    "fp32": (4, "f", _as_single),
    "f32": (4, "f", _as_single),
    "fp64": (8, "d", float),
}


class Launcher:
    """Runs one compiled kernel. Triton makes it with a kernel's source and metadata, and calls it for each launch."""

    def __init__(self, src: Any, metadata: Any):
        self._metadata = metadata
        self._name = metadata.name
        if getattr(metadata, "num_ctas", 1) > 1:
            raise NotImplementedError(f"{self._name}: clusters of workgroups (num_ctas={metadata.num_ctas}) are not supported")
        if getattr(metadata, "launch_cooperative_grid", False):
            raise NotImplementedError(f"{self._name}: cooperative grids are not supported: launch with launch_cooperative_grid=False")
        if getattr(metadata, "tensordesc_meta", None):
            raise NotImplementedError(f"{self._name}: tensor descriptors in hardware are not supported")
        self._block = (metadata.num_warps * metadata.warp_size, 1, 1)
        self._shared = metadata.shared
        self._needs_scratch = any(getattr(metadata, f"{kind}_scratch_size", 0) for kind in ("global", "profile"))

        names = list(getattr(getattr(src, "fn", None), "arg_names", ()))
        signature = list(src.signature.values())
        self._descriptors = _has_descriptor(signature)
        expanded = expand_signature(signature, None, "tensordesc") if self._descriptors else signature
        # One entry of each for every argument of the kernel: type, path to its value, name for errors.
        self._types, self._paths, self._names = [], [], []
        for kind, path in _leaves(expanded):
            self._types.append(kind)
            self._paths.append(path)
            named = not self._descriptors and path[0] < len(names)
            self._names.append("`{}`".format(names[path[0]]) if named else f"{path[0]}")
        self._flat = all(len(path) == 1 for path in self._paths)
        self._indices = [path[0] for path in self._paths]

    def __call__(
        self,
        grid_x: int,
        grid_y: int,
        grid_z: int,
        stream: Any,
        kernel: Kernel,
        kernel_metadata: Any,
        launch_metadata: Any,
        enter_hook: Callable[[Any], Any] | None,
        exit_hook: Callable[[Any], Any] | None,
        *arguments: Any,
    ) -> None:
        if enter_hook is not None:
            enter_hook(launch_metadata)
        groups = grid_x * grid_y * grid_z
        if groups > 0:
            kernel = kernel.on(active().device())
            self._launch(kernel, kernel.device.stream(stream), (grid_x, grid_y, grid_z), groups, arguments)
        elif min(grid_x, grid_y, grid_z) < 0:
            raise ValueError(f"{self._name}: a grid of {grid_x} x {grid_y} x {grid_z} programs")
        if exit_hook is not None:
            exit_hook(launch_metadata)

    def _launch(self, kernel: Kernel, stream: Any, grid: tuple[int, int, int], groups: int, arguments: Sequence[Any]) -> None:
        layout, scratches = kernel.packing or self._lay_out(kernel)
        if self._descriptors:
            arguments = _without_descriptors(arguments)
        if self._flat:
            given = [arguments[index] for index in self._indices]
        else:
            given = [_at(arguments, path) for path in self._paths]
        values: list[Any] = []
        buffers: list[Kept] = []
        kept: list[Any] = []
        for kind, value, name in zip(self._types, given, self._names):
            if kind[0] == "*":
                values.append(self._address(kernel, value, name, buffers, kept))
            elif kind in _FLOATS:
                values.append(_FLOATS[kind][2](value))
            else:
                values.append(value)
        for scratch in self._scratch(kernel, stream, groups)[:scratches] if self._needs_scratch else _NO_SCRATCH[:scratches]:
            values.append(self._address(kernel, scratch, "scratch memory", buffers, kept))
        packed = ctypes.create_string_buffer(layout.size)
        try:
            layout.pack_into(packed, 0, *values)
        except struct.error:
            raise self._wrong_value(given) from None
        function, shape = kernel.function, (grid, self._block, self._shared)
        stream.submit(dispatch, stream.queue, function, *shape, packed, buffers, name=self._name, keep=kept or None)

    def _lay_out(self, kernel: Kernel) -> tuple[struct.Struct, int]:
        """How this kernel's code wants its arguments, and how many of scratch memory it has behind them."""
        parameters = kernel.function.parameters
        scratches = len(parameters) - len(self._types)
        if not 0 <= scratches <= 2:
            raise RuntimeError(f"{self._name} has {len(parameters)} parameters in the code, and {len(self._types)} in Triton's signature")
        form, end = "<", 0
        for parameter, kind in zip(parameters, self._types + ["*i8"] * scratches):
            offset, size = parameter.offset, parameter.size
            wanted, code = (8, "Q") if kind[0] == "*" else _FLOATS[kind][:2] if kind in _FLOATS else _INTEGERS.get(kind, (0, ""))
            if kind in ("i1", "u1"):
                # The code may hold a truth value in a wider number.
                wanted, code = size, {1: "B", 2: "H", 4: "I", 8: "Q"}.get(size, "")
            if wanted != size or offset < end:
                raise RuntimeError(f"{self._name}: a parameter of {size} bytes at {offset} in the code is {kind} in Triton's signature")
            form += f"{offset - end}x{code}"
            end = offset + size
        layout = struct.Struct(f"{form}{kernel.function.argument_size - end}x")
        kernel.packing = layout, scratches
        return layout, scratches

    def _address(self, kernel: Kernel, value: Any, name: str, buffers: list[Kept], kept: list[Any]) -> int:
        storage: Storage | None
        if isinstance(value, Tensor):
            storage, address = value.storage, value.data_ptr()
        elif value is None:
            return 0
        else:
            address = value if isinstance(value, int) else value.data_ptr()
            if address == 0:
                return 0
            storage = kernel.device.storages.find(address)
            if not isinstance(value, int):
                kept.append(value)
        if storage is None:
            if isinstance(value, int) or _is_rocm(value):
                # The caller vouches for the address.
                return address
            raise ValueError(
                f"{self._name}: argument {name} points to {address:#x}, which is no memory of {kernel.device.uri}: "
                "copy the array there with windlass.triton.to_device()"
            )
        if storage.device is not kernel.device:
            raise ValueError(f"{self._name}: argument {name} is on {storage.device.uri}, the kernel on {kernel.device.uri}")
        buffers.append(storage.kept)
        return address

    def _scratch(self, kernel: Kernel, stream: Any, groups: int) -> list[Any]:
        """Global and profile scratch of the whole grid, from the program's allocator if it has set one."""
        metadata = self._metadata
        found: list[Any] = []
        for kind in ("global", "profile"):
            size = getattr(metadata, f"{kind}_scratch_size", 0) or 0
            if not size:
                found.append(None)
                continue
            allocator = (_allocation._allocator if kind == "global" else _allocation._profile_allocator).get()
            if isinstance(allocator, _allocation.NullAllocator):
                # Fresh memory of a device has at least the alignment of a page.
                tensor = kernel.device.empty(size * groups, "int8")
                found.append(tensor.zero_(stream) if kind == "profile" else tensor)
            else:
                found.append(allocator(size * groups, getattr(metadata, f"{kind}_scratch_align"), stream.number))
        return found

    def _wrong_value(self, given: Sequence[Any]) -> Exception:
        """The error for the first value that does not fit its type."""
        for kind, value, name in zip(self._types, given, self._names):
            if kind in _INTEGERS:
                try:
                    struct.pack(f"<{_INTEGERS[kind][1]}", value)
                except struct.error as error:
                    wrong = OverflowError if isinstance(value, int) else TypeError
                    return wrong(f"{self._name}: argument {name} is {value!r}, and its type is {kind}: {error}")
        return RuntimeError(f"{self._name}: the arguments cannot be packed")


def _leaves(signature: Sequence[Any], path: tuple[int, ...] = ()) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The types of the arguments that the kernel has, with their places in nested tuples."""
    for index, kind in enumerate(signature):
        if isinstance(kind, (tuple, list)):
            yield from _leaves(kind, (*path, index))
        elif kind != "constexpr":
            yield kind, (*path, index)


def _at(values: Any, path: tuple[int, ...]) -> Any:
    for index in path:
        values = values[index]
    return values


def _has_descriptor(signature: Any) -> bool:
    if isinstance(signature, (tuple, list)):
        return any(map(_has_descriptor, signature))
    return isinstance(signature, str) and signature.startswith("tensordesc")


def _without_descriptors(values: Sequence[Any]) -> tuple[Any, ...]:
    """Replaces each tensor descriptor by its base, shape and strides, as the compiled kernel takes them."""
    found: list[Any] = []
    for value in values:
        if isinstance(value, tuple):
            found.append(_without_descriptors(value))
        elif hasattr(value, "block_shape") and hasattr(value, "base"):
            found.extend(decompose_descriptor(value))
        else:
            found.append(value)
    return tuple(found)


def _is_rocm(value: Any) -> bool:
    """Whether the object says by DLPack's protocol that its memory is a ROCm device's."""
    tell = getattr(value, "__dlpack_device__", None)
    return tell is not None and tell()[0] == 10
