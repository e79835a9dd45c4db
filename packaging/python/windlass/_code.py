# SPDX-License-Identifier: MIT OR Apache-2.0
"""Device code without a device: files with several code objects, the choice for a GPU, and the kernels of one."""

from __future__ import annotations

import ctypes
import enum
import os
from typing import Any, List, NamedTuple, Optional, Tuple, Union

from . import _abi
from ._buffer import sized
from ._handle import Object, out
from ._library import encoded, lib, number, text
from ._memory import Memory


class CodeTarget(enum.IntEnum):
    """The kind of an entry's target."""

    UNKNOWN = _abi.CODE_TARGET_UNKNOWN
    """An id that is not understood, with the reason as the problem."""
    GPU = _abi.CODE_TARGET_GPU
    HOST = _abi.CODE_TARGET_HOST
    SPIRV = _abi.CODE_TARGET_SPIRV


class CodeFit(enum.IntEnum):
    """The fit of an entry's code to a GPU. A larger number fits better."""

    NONE = _abi.CODE_FIT_NONE
    """The GPU cannot run the entry."""
    FAMILY = _abi.CODE_FIT_FAMILY
    """The code is for another processor of the same ISA-compatible family."""
    GENERIC = _abi.CODE_FIT_GENERIC
    """The code is for a generic target that covers the GPU."""
    EXACT = _abi.CODE_FIT_EXACT
    """The code is for this processor."""


class CodeArgumentKind(enum.IntEnum):
    """The kind of a kernel's argument."""

    OTHER = _abi.CODE_ARGUMENT_OTHER
    VALUE = _abi.CODE_ARGUMENT_VALUE
    BUFFER = _abi.CODE_ARGUMENT_BUFFER
    """An address in global memory."""
    LOCAL = _abi.CODE_ARGUMENT_LOCAL
    """An offset in dynamic local memory (LDS)."""
    HIDDEN = _abi.CODE_ARGUMENT_HIDDEN
    """Filled by the runtime."""


class CodeEntry(NamedTuple):
    """An entry of a bundle."""

    id: str
    """The id in the file: "hipv4-amdgcn-amd-amdhsa--gfx942"."""
    kind: str
    """The first field of the id: "host", "hip", "hipv4", "openmp" or another one."""
    target: Optional[str]
    """The target of code for a GPU: "gfx942:sramecc+:xnack-". None for other entries."""
    target_kind: CodeTarget
    offset: int
    """The offset of the bytes in the unpacked bundle."""
    size: int
    """The number of bytes."""
    problem: Optional[str]
    """The reason why the bytes cannot be read or the id is not understood."""


class CodeBundle(NamedTuple):
    """Code for several targets, side by side. A code object outside of any bundle counts as a bundle of one entry. Sizes and offsets are in
    bytes."""

    member: Optional[str]
    """The name of the file in the file that holds the bundle, such as "a.o"; None for a bundle in the file itself."""
    container: str
    """The container of the code, such as "compressed offload bundle (CCOB v2, zstd)"."""
    offset: int
    """The bundle's offset in the file."""
    stored_size: int
    """The bytes that it takes in the file."""
    unpacked_size: Optional[int]
    """The declared unpacked size; None if the bundle declares none."""
    is_compressed: bool
    """Whether the entries must be unpacked to be read."""
    entries: Tuple[CodeEntry, ...]


class CodeVerdict(NamedTuple):
    """The fit of one entry, and the reason in words."""

    fit: CodeFit
    reason: str


class CodeSelection(NamedTuple):
    """The number of the entry that a GPU gets, None if none fits, and a verdict on each entry."""

    best: Optional[int]
    verdicts: Tuple[CodeVerdict, ...]


class CodeArgument(NamedTuple):
    """An argument of a kernel. Names are None if the compiler did not keep them. Offset and size are in bytes."""

    name: Optional[str]
    type_name: Optional[str]
    kind: CodeArgumentKind
    offset: int
    size: int


class CodeKernel(NamedTuple):
    """A kernel of a code object, by its descriptor and its metadata. Sizes are in bytes. A kernel for the host has zeros for the alignment,
    private memory, wave and registers."""

    name: str
    """The name for `Executable.function`."""
    arguments: Tuple[CodeArgument, ...]
    """The arguments. Hidden ones follow those that the caller gives."""
    explicit_argument_count: int
    """The number of arguments that the caller gives."""
    argument_block_size: int
    """The size of the argument block, with hidden arguments."""
    argument_block_alignment: int
    workgroup_size: Optional[Tuple[int, int, int]]
    """The only permitted workgroup size; None if there is none."""
    max_workgroup_threads: int
    """The maximum number of work-items of a workgroup."""
    static_local_memory: int
    """Local memory (LDS) of a workgroup."""
    private_memory: int
    """Private memory (scratch) of a work-item."""
    wave_size: int
    """Work-items of a wave, 32 or 64."""
    vector_registers: int
    """Vector registers of a work-item."""
    scalar_registers: int
    """Scalar registers of a wave."""
    spilled_registers: int
    """Vector and scalar registers that were spilled to memory."""
    has_dynamic_stack: bool
    """The stack size is unknown before the launch."""
    has_uniform_workgroups: bool
    """The grid must consist of whole workgroups."""
    is_init: bool
    """It runs once after the code object is loaded, and is not dispatched."""
    is_fini: bool
    """It runs once before the code object is unloaded, and is not dispatched."""


class CodeRejected(NamedTuple):
    """A kernel that cannot be launched, and the reason."""

    name: str
    reason: str


class CodeFile(Object):
    """A file with AMD GPU code, read as far as its entries are listed: a code object, a bundle, a host program, an archive, a wheel. It
    needs no device. Damage in one part does not affect the others. Threads may share it.

    `CodeFile(path)` opens a file and its companions; the file must not change while this lives. `CodeFile.parse(bytes)` reads bytes in
    memory. NotFoundError and UnavailableError for a file that cannot be read, InvalidArgumentError for one without readable code.
    `max_unpacked` is the maximum unpacked size in bytes of one bundle; above it `extract` raises ResourceExhaustedError. Zero is 1 GiB."""

    __slots__ = ()
    KIND = "code file"

    def __init__(self, path: Union[str, bytes, "os.PathLike[str]"], *, max_unpacked: int = 0) -> None:
        pointer, options = out(), _options(max_unpacked)
        lib().windlass_code_file_open(
            encoded("a path", os.fsdecode(path)), ctypes.byref(options), ctypes.byref(pointer)
        )
        self._adopt(pointer.value or 0)

    @classmethod
    def parse(cls, code: Any, *, max_unpacked: int = 0) -> CodeFile:
        """Reads a file whose bytes are in memory, and no other files. The bytes are copied."""
        pointer, options = out(), _options(max_unpacked)
        with Memory(code) as memory:
            lib().windlass_code_file_parse(
                memory.address or None, memory.size, ctypes.byref(options), ctypes.byref(pointer)
            )
        return cls._around(pointer.value)

    @property
    def kind(self) -> str:
        """The kind of the file in words, such as "host ELF with GPU code"."""
        return text(lib().windlass_code_file_kind(self._h))

    @property
    def problems(self) -> List[str]:
        """The reasons why parts of the file could not be read."""
        handle = self._h
        count = lib().windlass_code_file_problem_count(handle)
        return [text(lib().windlass_code_file_problem(handle, index)) for index in range(count)]

    @property
    def bundles(self) -> List[CodeBundle]:
        """The readable bundles, in the order of the file, with their entries. Nothing is unpacked."""
        found, handle = [], self._h
        for index in range(lib().windlass_code_file_bundle_count(handle)):
            one: Any = sized(_abi.windlass_code_bundle_t)
            lib().windlass_code_file_bundle(handle, index, ctypes.byref(one))
            entries = []
            for number_ in range(one.entry_count):
                entry: Any = sized(_abi.windlass_code_entry_t)
                lib().windlass_code_file_entry(handle, index, number_, ctypes.byref(entry))
                entries.append(_entry(entry))
            place = one.offset, one.stored_size, one.unpacked_size or None, bool(one.is_compressed)
            found.append(CodeBundle(_optional(one.member), text(one.container), *place, tuple(entries)))
        return found

    def select(self, target: str, bundle: int = 0, *, compatible_families: bool = False) -> CodeSelection:
        """Finds the entry of a bundle that fits a GPU best: one for its own processor, else one for a generic target. `target` states the
        mode of each feature that the GPU has, as `Device.info.architecture` does: "gfx942:sramecc+:xnack-". With `compatible_families` a GPU
        may also get code for another processor of its ISA-compatible family, which an unpatched ROCm refuses."""
        options = _options(0)
        options.flags = _abi.CODE_COMPATIBLE_FAMILIES if compatible_families else 0
        pointer, index = out(), number("a bundle", bundle)
        lib().windlass_code_file_select(
            self._h, index, encoded("a target", target), ctypes.byref(options), ctypes.byref(pointer)
        )
        with _Selection._around(pointer.value) as selection:
            handle, best, verdicts = selection._h, ctypes.c_size_t(), []
            fits = lib().windlass_code_selection_best(handle, ctypes.byref(best))
            for entry in range(lib().windlass_code_selection_count(handle)):
                verdict: Any = sized(_abi.windlass_code_verdict_t)
                lib().windlass_code_selection_verdict(handle, entry, ctypes.byref(verdict))
                verdicts.append(CodeVerdict(CodeFit(verdict.fit), text(verdict.reason)))
        return CodeSelection(best.value if fits else None, tuple(verdicts))

    def extract(self, bundle: int = 0, entry: int = 0) -> CodeImage:
        """The bytes of an entry, unpacked. OutOfRangeError for an entry or a bundle that does not exist, InvalidArgumentError for an entry
        with a problem or a damaged stream."""
        pointer, which = out(), (number("a bundle", bundle), number("an entry", entry))
        lib().windlass_code_file_extract(self._h, *which, ctypes.byref(pointer))
        return CodeImage._around(pointer.value)


class _Selection(Object):
    __slots__ = ()
    KIND = "code selection"


class CodeImage(Object):
    """The bytes of one entry. It does not keep its file. Threads may share it."""

    __slots__ = ()
    KIND = "code image"

    @property
    def size(self) -> int:
        """The number of bytes."""
        return int(lib().windlass_code_image_size(self._h))

    def __len__(self) -> int:
        return self.size

    def __bool__(self) -> bool:
        return True

    @property
    def data(self) -> memoryview:
        """The bytes, for `Device.load_executable` and others, without a copy. The view keeps them."""
        handle = self._h
        size = lib().windlass_code_image_size(handle)
        if size == 0:
            return memoryview(b"")
        array: Any = (ctypes.c_ubyte * size).from_address(lib().windlass_code_image_data(handle))
        # The memoryview keeps the array, and the array the handle.
        array._image = handle
        return memoryview(array).cast("B").toreadonly()

    def __bytes__(self) -> bytes:
        return bytes(self.data)

    def _described(self) -> Tuple[str, int, int, int]:
        target, version = ctypes.c_char_p(), ctypes.c_uint32()
        kernels, rejected = ctypes.c_size_t(), ctypes.c_size_t()
        handle = self._h
        lib().windlass_code_image_describe(handle, *map(ctypes.byref, (target, kernels, rejected, version)))
        return text(target.value), kernels.value, rejected.value, version.value

    @property
    def target(self) -> str:
        """The target by the code object's own flags, or the host's machine such as "x86_64". InvalidArgumentError for bytes that are neither
        a code object for a GPU nor a shared object with kernels for the host."""
        return self._described()[0]

    @property
    def version(self) -> Optional[int]:
        """The code object version; None if it is unknown."""
        return self._described()[3] or None

    @property
    def kernels(self) -> List[CodeKernel]:
        """The kernels that can be launched, in the order of the code object."""
        found, handle = [], self._h
        for index in range(self._described()[1]):
            kernel: Any = sized(_abi.windlass_code_kernel_t)
            lib().windlass_code_image_kernel(handle, index, ctypes.byref(kernel))
            arguments = []
            for number_ in range(kernel.argument_count):
                one: Any = sized(_abi.windlass_code_argument_t)
                lib().windlass_code_image_argument(handle, index, number_, ctypes.byref(one))
                arguments.append(_argument(one))
            found.append(_kernel(kernel, tuple(arguments)))
        return found

    @property
    def rejected(self) -> List[CodeRejected]:
        """The kernels in the metadata that cannot be launched."""
        found, handle = [], self._h
        for index in range(self._described()[2]):
            one: Any = sized(_abi.windlass_code_rejected_t)
            lib().windlass_code_image_rejected(handle, index, ctypes.byref(one))
            found.append(CodeRejected(text(one.name), text(one.reason)))
        return found

    def validate(self) -> None:
        """Checks that a loader that trusts every header stays within the image, as ROCm's loaders do. InvalidArgumentError has the first
        number that leads outside."""
        lib().windlass_code_image_validate(self._h)


def code_format(head: Any) -> Optional[str]:
    """The format of bytes, usually of the first 262 of a file, in words such as "an offload bundle"; None if it is unknown."""
    with Memory(head) as memory:
        kind = lib().windlass_code_format(memory.address or None, memory.size)
    return None if kind == _abi.CODE_FORMAT_UNKNOWN else text(lib().windlass_code_format_name(kind))


def code_size(code: Any) -> int:
    """The number of bytes of the code that begins these bytes, as its headers say. It may be larger than what is there.
    InvalidArgumentError if the headers lead outside, UnimplementedError for formats that do not state their size."""
    size = ctypes.c_uint64()
    with Memory(code) as memory:
        lib().windlass_code_size(memory.address or None, memory.size, None, ctypes.byref(size))
    return size.value


def _options(max_unpacked: int) -> Any:
    options = sized(_abi.windlass_code_options_t)
    options.max_unpacked = number("a size", max_unpacked)
    return options


def _optional(value: Optional[bytes]) -> Optional[str]:
    return None if value is None else text(value)


def _entry(raw: Any) -> CodeEntry:
    try:
        kind = CodeTarget(raw.target_kind)
    except ValueError:
        kind = CodeTarget.UNKNOWN
    place = raw.offset, raw.size, _optional(raw.problem)
    return CodeEntry(text(raw.id), text(raw.kind), _optional(raw.target), kind, *place)


def _argument(raw: Any) -> CodeArgument:
    try:
        kind = CodeArgumentKind(raw.kind)
    except ValueError:
        kind = CodeArgumentKind.OTHER
    return CodeArgument(_optional(raw.name), _optional(raw.type_name), kind, raw.offset, raw.size)


def _kernel(raw: Any, arguments: Tuple[CodeArgument, ...]) -> CodeKernel:
    x, y, z = raw.workgroup_size
    return CodeKernel(
        text(raw.name),
        arguments,
        raw.explicit_argument_count,
        raw.argument_block_size,
        raw.argument_block_alignment,
        (x, y, z) if x else None,
        raw.max_workgroup_threads,
        raw.static_local_memory,
        raw.private_memory,
        raw.wave_size,
        raw.vector_registers,
        raw.scalar_registers,
        raw.spilled_registers,
        bool(raw.flags & _abi.CODE_KERNEL_DYNAMIC_STACK),
        bool(raw.flags & _abi.CODE_KERNEL_UNIFORM_WORKGROUPS),
        bool(raw.flags & _abi.CODE_KERNEL_INIT),
        bool(raw.flags & _abi.CODE_KERNEL_FINI),
    )
