# SPDX-License-Identifier: MIT OR Apache-2.0
"""Device memory: of Windlass if the program has imported `windlass.triton`, otherwise of HIP."""

import ctypes
import os
import sys

import numpy as np

_TO_DEVICE, _TO_HOST = 1, 2


class OfWindlass:
    def __init__(self, size):
        import windlass.triton

        self._bytes = windlass.triton.empty(size, "uint8")
        self.address, self.size = self._bytes.data_ptr(), size

    def write(self, array):
        self._bytes.copy_(np.frombuffer(array.tobytes(), np.uint8))

    def read(self):
        return self._bytes.numpy()

    def clear(self):
        self._bytes.zero_()


class OfHip:
    def __init__(self, size):
        self.address, self.size = None, size
        address = ctypes.c_void_p()
        hip("hipMalloc", ctypes.byref(address), ctypes.c_size_t(max(size, 1)))
        self.address = address.value

    def write(self, array):
        array = np.ascontiguousarray(array)
        hip("hipMemcpy", self._pointer(), array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes), _TO_DEVICE)

    def read(self):
        array = np.empty(self.size, np.uint8)
        hip("hipDeviceSynchronize")
        hip("hipMemcpy", array.ctypes.data_as(ctypes.c_void_p), self._pointer(), ctypes.c_size_t(array.nbytes), _TO_HOST)
        return array

    def clear(self):
        hip("hipMemset", self._pointer(), 0, ctypes.c_size_t(self.size))

    def _pointer(self):
        return ctypes.c_void_p(self.address)

    def __del__(self):
        if self.address:
            _library().hipFree(self._pointer())


def allocate(size):
    return (OfWindlass if over_windlass() else OfHip)(size)


def over_windlass():
    return "windlass.triton" in sys.modules


def hip(name, *arguments):
    status = getattr(_library(), name)(*arguments)
    if status:
        _library().hipGetErrorName.restype = ctypes.c_char_p
        raise RuntimeError(f"{name}: {_library().hipGetErrorName(status).decode()}")


_loaded = []


def _library():
    if not _loaded:
        _loaded.append(ctypes.CDLL(os.environ.get("TRITON_LIBHIP_PATH", "libamdhip64.so")))
    return _loaded[0]
