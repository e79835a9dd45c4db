# SPDX-License-Identifier: MIT OR Apache-2.0
"""Devices, streams and events: those of `windlass.triton` if the program has imported it, otherwise of HIP."""

import ctypes

from . import _memory
from ._memory import hip


def __getattr__(name):
    if not name.startswith("_") and _memory.over_windlass():
        return getattr(_windlass(), name)
    raise AttributeError(name)


def _windlass():
    import windlass.triton

    return windlass.triton.active().get_device_interface()


def _over_hip(function):
    """The function over HIP; over Windlass, the one of the same name."""

    def chosen(*arguments, **named):
        if _memory.over_windlass():
            return getattr(_windlass(), function.__name__)(*arguments, **named)
        return function(*arguments, **named)

    return chosen


@_over_hip
def is_available():
    count = ctypes.c_int()
    hip("hipGetDeviceCount", ctypes.byref(count))
    return count.value > 0


@_over_hip
def current_device():
    index = ctypes.c_int()
    hip("hipGetDevice", ctypes.byref(index))
    return index.value


@_over_hip
def set_device(index):
    hip("hipSetDevice", index)


@_over_hip
def synchronize(device=None):
    hip("hipDeviceSynchronize")


@_over_hip
def get_device_capability(index=0):
    return (9, 4)


class _NullStream:
    cuda_stream = 0


@_over_hip
def current_stream(index=None):
    return _NullStream


class _HipEvent:
    """HIP's event, on the null stream."""

    def __init__(self, enable_timing=False):
        self._event = ctypes.c_void_p()
        hip("hipEventCreate", ctypes.byref(self._event))

    def record(self):
        hip("hipEventRecord", self._event, None)

    def elapsed_time(self, end):
        spent = ctypes.c_float()
        hip("hipEventSynchronize", end._event)
        hip("hipEventElapsedTime", ctypes.byref(spent), self._event, end._event)
        return spent.value

    def __del__(self):
        hip("hipEventDestroy", self._event)


@_over_hip
def Event(enable_timing=False):
    return _HipEvent(enable_timing)
