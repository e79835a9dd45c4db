# SPDX-License-Identifier: MIT OR Apache-2.0
"""The part of the module `torch` that Triton's AMD driver uses, over HIP alone.

Triton finds devices, streams and tensors through PyTorch. This replaces PyTorch for running kernels: tensors
are device memory with a shape and a type, and are made of numpy arrays and copied back to them.
"""

import ctypes
import os

import numpy as np

_hip = ctypes.CDLL(os.environ.get("TRITON_LIBHIP_PATH", "libamdhip64.so"))
_TO_DEVICE, _TO_HOST = 1, 2


def _call(name, *arguments):
    status = getattr(_hip, name)(*arguments)
    if status:
        _hip.hipGetErrorName.restype = ctypes.c_char_p
        raise RuntimeError(f"{name}: {_hip.hipGetErrorName(status).decode()}")


class dtype:
    """An element type; `str` gives `torch.float32` and the like, by which Triton knows it."""

    def __init__(self, name, size):
        self.name, self.itemsize = name, size

    def __str__(self):
        return "torch." + self.name

    __repr__ = __str__


float64, float32, float16, bfloat16 = dtype("float64", 8), dtype("float32", 4), dtype("float16", 2), dtype("bfloat16", 2)
float8_e4m3fnuz, float8_e5m2fnuz = dtype("float8_e4m3fnuz", 1), dtype("float8_e5m2fnuz", 1)
int64, int32, int16, int8, uint8 = dtype("int64", 8), dtype("int32", 4), dtype("int16", 2), dtype("int8", 1), dtype("uint8", 1)
int = int32
_BY_NUMPY = {np.dtype(item.name): item for item in (float64, float32, float16, int64, int32, int16, int8, uint8)}


class Tensor:
    """Memory of the device. A type that numpy lacks is kept as integers of its size."""

    def __init__(self, array, kind=None):
        array = np.ascontiguousarray(array)
        self.dtype, self.shape, self._raw = kind or _BY_NUMPY[array.dtype], array.shape, array.dtype
        self._address = ctypes.c_void_p()
        _call("hipMalloc", ctypes.byref(self._address), ctypes.c_size_t(max(array.nbytes, 1)))
        _call("hipMemcpy", self._address, array.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(array.nbytes), _TO_DEVICE)

    def data_ptr(self):
        return self._address.value

    def numpy(self):
        """The contents, once all kernels have ended."""
        array = np.empty(self.shape, self._raw)
        _call("hipDeviceSynchronize")
        _call("hipMemcpy", array.ctypes.data_as(ctypes.c_void_p), self._address, ctypes.c_size_t(array.nbytes), _TO_HOST)
        return array

    def __del__(self):
        if self._address:
            _hip.hipFree(self._address)


def zeros(size, dtype, device=None):
    raw = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}[dtype.itemsize]
    return Tensor(np.zeros(size, raw), dtype)


empty = zeros


class device:
    def __init__(self, kind, index=0):
        self.type, self.index = kind, index


class version:
    hip = "7.0"
    cuda = None


class cuda:
    @staticmethod
    def is_available():
        count = ctypes.c_int()
        return _hip.hipGetDeviceCount(ctypes.byref(count)) == 0 and count.value > 0

    @staticmethod
    def current_device():
        index = ctypes.c_int()
        _call("hipGetDevice", ctypes.byref(index))
        return index.value

    @staticmethod
    def set_device(index):
        _call("hipSetDevice", index)

    @staticmethod
    def get_device_capability(index=0):
        return (9, 4)

    class current_stream:
        cuda_stream = 0

        def __init__(self, index=None):
            pass
