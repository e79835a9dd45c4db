# SPDX-License-Identifier: MIT OR Apache-2.0
"""HIP by ctypes alone: loads the kernel vector_add and adds two vectors of 1024 numbers."""

import ctypes
import os

LENGTH = 1024
FILE = os.environ["VECTOR_ADD"]


def checked(status):
    assert status == 0, f"HIP's status {status}"


def vector_add(elements=LENGTH, wait=True, block=256):
    """Adds `elements` numbers, of which 1024 exist. Returns the sums if it waits for them."""
    hip = ctypes.CDLL("libamdhip64.so")
    module, kernel, sums = ctypes.c_void_p(), ctypes.c_void_p(), (ctypes.c_float * LENGTH)()
    with open(FILE, "rb") as file:
        checked(hip.hipModuleLoadData(ctypes.byref(module), file.read()))
    checked(hip.hipModuleGetFunction(ctypes.byref(kernel), module, b"vector_add"))
    pointers = []
    for value in (1.5, 2.0, 0.0):
        pointers.append(ctypes.c_void_p())
        numbers = (ctypes.c_float * LENGTH)(*[value] * LENGTH)
        checked(hip.hipMalloc(ctypes.byref(pointers[-1]), ctypes.c_size_t(4 * LENGTH)))
        checked(hip.hipMemcpy(pointers[-1], numbers, ctypes.c_size_t(4 * LENGTH), 1))
    arguments = [*pointers, ctypes.c_int(elements)]
    addresses = (ctypes.c_void_p * 4)(*[ctypes.cast(ctypes.byref(one), ctypes.c_void_p) for one in arguments])
    groups = -(-elements // block)
    checked(hip.hipModuleLaunchKernel(kernel, groups, 1, 1, block, 1, 1, 0, None, addresses, None))
    if wait:
        checked(hip.hipMemcpy(sums, pointers[2], ctypes.c_size_t(4 * LENGTH), 2))
        return list(sums)


if __name__ == "__main__":
    assert vector_add() == [3.5] * LENGTH
