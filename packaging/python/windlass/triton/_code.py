# SPDX-License-Identifier: MIT OR Apache-2.0
"""Facts of a kernel that its code object tells."""

from __future__ import annotations

import ctypes
from typing import NamedTuple

from .. import _abi
from .._buffer import sized
from .._handle import Object, out
from .._library import lib, text


class KernelFacts(NamedTuple):
    """Vector registers of a work-item, registers that were spilled to memory, work-items of a workgroup at most."""

    registers: int
    spilled: int
    threads: int


class _File(Object):
    __slots__ = ()
    KIND = "code file"


class _Image(Object):
    __slots__ = ()
    KIND = "code image"


def kernel_facts(code: bytes, name: str) -> KernelFacts:
    """The facts of a kernel in a code object; zeros if it has no such kernel."""
    pointer = out()
    lib().windlass_code_file_parse(code, len(code), None, ctypes.byref(pointer))
    with _File._around(pointer.value) as file:
        lib().windlass_code_file_extract(file._h, 0, 0, ctypes.byref(pointer))
    with _Image._around(pointer.value) as image:
        count = ctypes.c_size_t()
        lib().windlass_code_image_describe(image._h, None, ctypes.byref(count), None, None)
        for index in range(count.value):
            kernel = sized(_abi.windlass_code_kernel_t)
            lib().windlass_code_image_kernel(image._h, index, ctypes.byref(kernel))
            if text(kernel.name) == name:
                return KernelFacts(kernel.vector_registers, kernel.spilled_registers, kernel.max_workgroup_threads)
    return KernelFacts(0, 0, 0)
