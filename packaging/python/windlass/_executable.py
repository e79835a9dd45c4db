# SPDX-License-Identifier: MIT OR Apache-2.0
"""Loaded device code, its functions, and their arguments as C takes them."""

from __future__ import annotations

import ctypes
import enum
import reprlib
import struct
from typing import Any, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

from . import _abi
from ._buffer import Buffer, BufferLike, BufferRange, Slot, is_view, reference, sized
from ._handle import Handle, Object, handle_of, out
from ._library import encoded, lib, number, text
from ._memory import Memory


class Parameter(NamedTuple):
    """An explicit parameter of a function. `is_buffer`: it takes an address of eight bytes; else bytes of exactly `size`. The name
    is None if the compiler did not keep it."""

    name: Optional[str]
    is_buffer: bool
    offset: int
    size: int


class SymbolKind(enum.IntEnum):
    """The kind of a symbol."""

    OTHER = _abi.SYMBOL_KIND_OTHER
    KERNEL = _abi.SYMBOL_KIND_KERNEL
    """A function that is dispatched."""
    FUNCTION = _abi.SYMBOL_KIND_FUNCTION
    """A function that only device code calls."""
    VARIABLE = _abi.SYMBOL_KIND_VARIABLE


class SymbolBinding(enum.IntEnum):
    """The visibility of a symbol."""

    OTHER = _abi.SYMBOL_BINDING_OTHER
    LOCAL = _abi.SYMBOL_BINDING_LOCAL
    """Visible in its own code object."""
    GLOBAL = _abi.SYMBOL_BINDING_GLOBAL
    """Visible to all code objects."""
    WEAK = _abi.SYMBOL_BINDING_WEAK
    """Visible to all code objects, until a global symbol of the same name is found."""


class Symbol(NamedTuple):
    """A named part of device code: the name in the code, mangled as the compiler does; the device address of a variable's first byte or of a
    function's first instruction, None if it is unknown; and the size in bytes, None if the code does not say."""

    name: str
    kind: SymbolKind
    binding: SymbolBinding
    address: Optional[int]
    size: Optional[int]


class FunctionResources(NamedTuple):
    """What a function takes of a processor. None stands for a number that the code does not state."""

    vector_registers: Optional[int]
    """Vector registers (VGPRs) of a work-item, accumulation registers included where both share one file."""
    scalar_registers: Optional[int]
    """Scalar registers (SGPRs) of a wave."""
    accumulation_registers: Optional[int]
    """Accumulation registers (AGPRs) of a work-item."""
    private_memory_bytes: Optional[int]
    """Private memory (scratch) of a work-item."""
    dynamic_stack: Optional[bool]
    """Whether the size of the stack is not known before the launch."""
    spilled_vector_registers: Optional[int]
    """Vector registers that the compiler stored in memory for lack of registers."""
    spilled_scalar_registers: Optional[int]
    """Scalar registers that the compiler stored elsewhere for lack of registers."""
    wave_size: Optional[int]
    """Work-items of a wave that the code was compiled for."""


class SuggestedWorkgroup(NamedTuple):
    """A workgroup size that fills a processor: the work-items of a workgroup in all dimensions together, and the least number of such
    workgroups that keeps the processor busy."""

    threads: int
    workgroups: int


class _SymbolList(Object):
    __slots__ = ()
    KIND = "symbol list"


class Executable(Object):
    """Loaded device code. It lives as long as it, one of its functions or work that uses it."""

    __slots__ = ()
    KIND = "executable"

    def function(self, name: str) -> Function:
        """A function by name. NotFoundError lists the names."""
        pointer = out()
        lib().windlass_executable_function(self._h, encoded("a name", name), ctypes.byref(pointer))
        return Function._around(pointer.value)

    @property
    def functions(self) -> List[Function]:
        """All functions that can be dispatched, in the order of the code object."""
        found, handle = [], self._h
        for index in range(lib().windlass_executable_function_count(handle)):
            pointer = out()
            lib().windlass_executable_function_at(handle, index, ctypes.byref(pointer))
            found.append(Function._around(pointer.value))
        return found

    @property
    def globals(self) -> dict[str, int]:
        """The global variables that can be looked up, with their sizes in bytes."""
        found, handle = {}, self._h
        for index in range(lib().windlass_executable_global_count(handle)):
            info = sized(_abi.windlass_global_info_t)
            lib().windlass_executable_global_info(handle, index, ctypes.byref(info))
            found[text(info.name)] = info.size
        return found

    def global_buffer(self, name: str, queue_affinity: int = 0) -> Buffer:
        """The memory of a global variable, which keeps the code loaded. On a device of several GPUs, `queue_affinity` has the queues
        of one."""
        pointer, affinity = out(), number("a queue affinity", queue_affinity)
        lib().windlass_executable_global(self._h, encoded("a name", name), affinity, ctypes.byref(pointer))
        return Buffer._around(pointer.value)


    def symbols(self, queue_affinity: int = 0) -> List[Symbol]:
        """The kernels, functions and variables. Names need not be unique. On a device of several GPUs, `queue_affinity` has the queues of
        one. UnimplementedError if the device lacks "symbols"."""
        pointer, affinity, found = out(), number("a queue affinity", queue_affinity), []
        lib().windlass_executable_symbols(self._h, affinity, ctypes.byref(pointer))
        with _SymbolList._around(pointer.value) as list_:
            for index in range(lib().windlass_symbol_list_count(list_._h)):
                one: Any = sized(_abi.windlass_symbol_t)
                lib().windlass_symbol_list_at(list_._h, index, ctypes.byref(one))
                kind = one.kind if one.kind in _KINDS else SymbolKind.OTHER
                binding = one.binding if one.binding in _BINDINGS else SymbolBinding.OTHER
                place = one.address or None, one.size or None
                found.append(Symbol(text(one.name), SymbolKind(kind), SymbolBinding(binding), *place))
        return found

    def is_same(self, other: Executable) -> bool:
        """Whether both are the same loaded code, with the same global variables, as after loading the same bytes again."""
        return bool(lib().windlass_executable_same(self._h, handle_of(Executable, other)))


_KINDS, _BINDINGS = frozenset(SymbolKind), frozenset(SymbolBinding)


class Function(Object):
    """A function of an executable, which it keeps loaded."""

    __slots__ = ("_facts", "_parameters")
    KIND = "function"

    def _info(self) -> Any:
        facts = getattr(self, "_facts", None)
        if facts is None:
            facts = sized(_abi.windlass_function_info_t)
            lib().windlass_function_info(self._h, ctypes.byref(facts))
            self._facts = facts
        else:
            # The strings belong to the handle.
            self._h
        return facts

    @property
    def name(self) -> str:
        """The name for lookups."""
        return text(self._info().name)

    @property
    def signature(self) -> str:
        """Name and parameters in one line."""
        return text(self._info().signature)

    @property
    def argument_size(self) -> int:
        """The size of the block of explicit arguments in bytes."""
        return int(self._info().argument_size)

    @property
    def workgroup_size(self) -> Optional[Tuple[int, int, int]]:
        """The workgroup size that the code was built for. None if the code fixes none."""
        x, y, z = self._info().workgroup_size
        return (x, y, z) if x else None

    @property
    def max_workgroup_threads(self) -> int:
        """The maximum number of work-items of a workgroup; 0 if only the device's limit counts."""
        return int(self._info().max_workgroup_threads)

    @property
    def static_local_memory(self) -> int:
        """Bytes of local memory (LDS) of every workgroup."""
        return int(self._info().static_local_memory)

    @property
    def resources(self) -> FunctionResources:
        """Registers and memory of the function."""
        info = self._info()
        found = [getattr(info, name) for name in FunctionResources._fields]
        known: List[Any] = [None if one == _abi.UNKNOWN else one for one in found]
        resources = FunctionResources(*known)
        stack = resources.dynamic_stack
        return resources if stack is None else resources._replace(dynamic_stack=bool(stack))

    def occupancy(self, threads: int, *, local_memory: int = 0, queue_affinity: int = 0) -> int:
        """How many workgroups of `threads` work-items in all a compute unit runs at once; 0 if not even one fits. `local_memory` is in bytes,
        in addition to the function's own. On a device of several GPUs the answer is for the first that has a queue of `queue_affinity`,
        0 for any. OutOfRangeError for no work-items, and for more than can be launched. UnimplementedError if the device lacks
        "occupancy"."""
        found = ctypes.c_uint32()
        affinity = number("a queue affinity", queue_affinity)
        size, local = number("a workgroup size", threads, 2**32 - 1), number("a size of local memory", local_memory, 2**32 - 1)
        lib().windlass_function_occupancy(self._h, affinity, size, local, ctypes.byref(found))
        return found.value

    def suggested_workgroup(self, *, local_memory: int = 0, queue_affinity: int = 0) -> SuggestedWorkgroup:
        """A workgroup size that fills a processor with this function. The parameters and errors are those of `occupancy`."""
        threads, workgroups = ctypes.c_uint32(), ctypes.c_uint32()
        affinity, local = number("a queue affinity", queue_affinity), number("a size of local memory", local_memory, 2**32 - 1)
        lib().windlass_function_suggested_workgroup(
            self._h, affinity, local, ctypes.byref(threads), ctypes.byref(workgroups)
        )
        return SuggestedWorkgroup(threads.value, workgroups.value)

    @property
    def parameters(self) -> List[Parameter]:
        """The explicit parameters. The runtime fills hidden ones."""
        return list(self._parameter_list())

    def _parameter_list(self) -> List[Parameter]:
        found: Optional[List[Parameter]] = getattr(self, "_parameters", None)
        if found is None:
            found, handle = [], self._h
            for index in range(self._info().parameter_count):
                one = sized(_abi.windlass_parameter_t)
                lib().windlass_function_parameter(handle, index, ctypes.byref(one))
                name = text(one.name) if one.name is not None else None
                found.append(Parameter(name, one.kind == _abi.PARAMETER_BUFFER, one.offset, one.size))
            self._parameters = found
        return found

    def executable(self) -> Executable:
        """The executable of the function."""
        pointer = out()
        lib().windlass_function_executable(self._h, ctypes.byref(pointer))
        return Executable._around(pointer.value)

    def __repr__(self) -> str:
        return f"<windlass.Function {'closed' if self.closed else self.signature}>"


Argument = Union[BufferLike, Slot, int, float, bool, bytes, None, Any]
"""An argument of a dispatch. A buffer, a range or a slot stands for its address, None for a null address. A number is packed in the
parameter's size: a `float` as a floating-point number, an `int` as an integer, whatever the source's type. Values of ctypes and of
numpy, and bytes, are passed as they are, with exactly the parameter's size."""


class ArgumentList:
    """Arguments as C takes them. It keeps their buffers and bytes."""

    __slots__ = ("args", "_kept")

    def __init__(self, function: Function, arguments: Sequence[Argument]) -> None:
        handle_of(Function, function)
        parameters = function._parameter_list()
        self._kept: List[Any] = []
        list_ = (_abi.windlass_argument_t * len(arguments))()
        for index, value in enumerate(arguments):
            self._set(list_[index], index, value, parameters[index] if index < len(parameters) else None)
        self.args = (len(arguments), list_)

    @classmethod
    def raw(cls, block: Any, buffers: Sequence[BufferLike]) -> ArgumentList:
        """A packed block, and the buffers whose addresses it contains."""
        self = cls.__new__(cls)
        self._kept = []
        list_ = (_abi.windlass_argument_t * (1 + len(buffers)))()
        self._bytes(list_[0], block)
        for argument, buffer in zip(list(list_)[1:], buffers):
            self._range(argument, buffer)
        self.args = (len(list_), list_)
        return self

    def _set(self, argument: Any, index: int, value: Any, parameter: Optional[Parameter]) -> None:
        size = parameter.size if parameter else 8
        if value is None:
            argument.kind = _abi.ARGUMENT_NULL
        elif isinstance(value, (Buffer, BufferRange, Slot)) or is_view(value):
            self._range(argument, value)
        elif isinstance(value, float):
            self._bytes(argument, _packed(_FLOATS.get(size), value, index, size))
        elif isinstance(value, int):
            self._bytes(argument, _integer(int(value), index, size))
        else:
            self._bytes(argument, value)

    def _range(self, argument: Any, value: Any) -> None:
        argument.kind = _abi.ARGUMENT_RANGE
        argument.range, handle = reference(value)
        self._kept.append(handle)

    def _bytes(self, argument: Any, value: Any) -> None:
        memory = Memory(value)
        self._kept.append(memory)
        argument.kind = _abi.ARGUMENT_BYTES
        argument.bytes, argument.size = memory.address, memory.size


_FLOATS = {2: "<e", 4: "<f", 8: "<d"}


def _packed(form: Optional[str], value: float, index: int, size: int) -> bytes:
    if form is None:
        raise TypeError(f"argument {index} has {size} bytes, and no floating-point number of Python has that size: pass bytes")
    try:
        return struct.pack(form, value)
    except OverflowError:
        raise ValueError(f"argument {index} has {size} bytes, too few for {reprlib.repr(value)}") from None


def _integer(value: int, index: int, size: int) -> bytes:
    try:
        return value.to_bytes(size, "little", signed=value < 0)
    except OverflowError:
        raise ValueError(f"argument {index} has {size} bytes, too few for {reprlib.repr(value)}") from None


def three(what: str, value: Union[int, Sequence[int]]) -> Iterator[int]:
    """Sizes in x, y and z. Those that are left out are 1."""
    if isinstance(value, (float, str, bytes, dict)):
        raise TypeError(f"{what} is one, two or three whole numbers, and this is {reprlib.repr(value)}")
    sizes = [value] if hasattr(value, "__index__") else list(value)
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"{what} is one, two or three numbers, and this is {reprlib.repr(value)}")
    return (number(what, size, 2**32 - 1) for size in [*sizes, 1, 1][:3])


def dispatch_config(
    workgroups: Union[int, Sequence[int]],
    workgroup_size: Union[int, Sequence[int], None],
    local_memory: int,
    flags: int = 0,
) -> Any:
    """The parameters of a launch for C."""
    config = sized(_abi.windlass_dispatch_config_t)
    config.workgroup_count = tuple(three("a number of workgroups", workgroups))
    if workgroup_size is not None:
        config.workgroup_size = tuple(three("a workgroup size", workgroup_size))
    config.dynamic_local_memory = number("a size of local memory", local_memory, 2**32 - 1)
    config.flags = flags
    return config


def indirect_config(count: Any, workgroup_size: Any, local_memory: int, static: bool) -> Tuple[Any, Optional[Handle]]:
    """The parameters of a launch whose number of workgroups is in a buffer, for C, and the handle that they borrow."""
    config = sized(_abi.windlass_indirect_dispatch_config_t)
    config.workgroup_count, handle = reference(count)
    if workgroup_size is not None:
        config.workgroup_size = tuple(three("a workgroup size", workgroup_size))
    config.dynamic_local_memory = number("a size of local memory", local_memory, 2**32 - 1)
    config.flags = _abi.DISPATCH_STATIC_PARAMETERS if static else 0
    return config, handle
