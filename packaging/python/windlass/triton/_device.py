# SPDX-License-Identifier: MIT OR Apache-2.0
"""One device under the driver: its memory, its streams, its code and the facts that Triton asks for."""

from __future__ import annotations

import itertools
import math
import threading
import weakref
from typing import Any, Sequence

from .. import Device, Executable, Function, Queue
from ._code import kernel_facts
from ._dtype import dtype_of
from ._storage import Storage, Storages
from ._stream import Stream
from ._tensor import Tensor


class OpenDevice:
    """A device of the driver. Its first stream, number 0, is the default one."""

    def __init__(self, device: Any, index: int):
        self.hal = device if isinstance(device, Device) else Device(device)
        self.type, self.index = "cuda", index
        info, self.limits = self.hal.info, self.hal.limits
        self.uri, self.name, self.architecture, self.simulated = info.uri, info.name, info.architecture, info.simulated
        self.processor = self.architecture.split(":")[0]
        self.wave_size = self.limits.wave_size or 64
        self.storages = Storages()
        self._lock, self._thread = threading.Lock(), threading.local()
        # Of a device of several GPUs the first one, as that has the memory.
        affinity = self.hal.physical_affinity(0)
        self._queues = itertools.cycle([queue for queue in range(self.limits.queues) if affinity >> queue & 1])
        self._streams: weakref.WeakValueDictionary[int, Stream] = weakref.WeakValueDictionary()
        self._numbers = itertools.count()
        # Streams with work, lest a failure in a stream that the program has dropped be lost.
        self.busy: set[Stream] = set()
        self.default_stream = self.new_stream()

    # Streams.

    def next_queue(self) -> Queue:
        return self.hal.queue(next(self._queues))

    def new_stream(self) -> Stream:
        for stream in list(self.busy):
            if stream.is_idle():
                self.busy.discard(stream)
        with self._lock:
            stream = Stream(self, next(self._numbers))
            self._streams[stream.number] = stream
        return stream

    def stream(self, number: Any) -> Stream:
        """A stream by its number; a stream stands for itself, and `None` for the default one."""
        found = number if isinstance(number, Stream) else self._streams.get(number or 0)
        if found is None or found.device is not self:
            raise ValueError(f"{self.uri} has no stream {number}: streams come from Driver.stream() or its device interface")
        return found

    @property
    def current_stream(self) -> Stream:
        """This thread's current stream."""
        return getattr(self._thread, "stream", self.default_stream)

    @current_stream.setter
    def current_stream(self, stream: Stream) -> None:
        self._thread.stream = stream

    def stream_or_current(self, stream: Stream | None) -> Stream:
        return self.current_stream if stream is None else self.stream(stream)

    def synchronize(self) -> None:
        """Blocks until all streams are idle. Raises the first failure; the others stay for the next call."""
        for stream in sorted(self._streams.values(), key=lambda stream: stream.number):
            stream.synchronize()

    # Tensors.

    def empty(self, shape: Sequence[int] | int, dtype: Any) -> Tensor:
        shape = (shape,) if isinstance(shape, int) else tuple(shape)
        dtype = dtype_of(dtype)
        return Tensor(Storage(self, self.hal.allocate(max(math.prod(shape) * dtype.itemsize, 1))), shape, dtype)

    # Code.

    def load(self, name: str, code: bytes) -> tuple[Executable, Kernel, int, int, int]:
        """Code object, kernel, vector registers, spilled registers, and the maximum of work-items of a workgroup."""
        executable = self.hal.load_executable(code)
        kernel = Kernel(self, executable.function(name), code)
        registers, spilled, threads = kernel_facts(code, name)
        limits = [limit for limit in (threads, self.limits.max_workgroup_threads) if limit]
        return executable, kernel, registers, spilled, min(limits, default=1024)

    def properties(self) -> dict[str, Any]:
        facts, limits = self.hal.facts(), self.limits
        return {
            "max_shared_mem": limits.max_local_memory,
            "max_num_regs": facts.registers_per_workgroup or 65536,
            "multiprocessor_count": facts.compute_units or 1,
            "sm_clock_rate": facts.core_clock_khz or 1_000_000,
            "mem_clock_rate": facts.memory_clock_khz or 1_000_000,
            "mem_bus_width": facts.memory_bus_bits or 1024,
            "arch": self.architecture,
            "warpSize": self.wave_size,
            "max_threads_per_sm": facts.max_threads_per_compute_unit or 32 * self.wave_size,
            "cooperativeLaunch": 0,
        }

    @property
    def capability(self) -> tuple[int, int]:
        # As HIP numbers processors: gfx942 is 9.4, gfx90a 9.0, gfx1100 11.0. The last digits are the minor number and the stepping.
        digits = self.processor[len("gfx") :]
        if len(digits) < 3 or not digits[:-2].isdigit():
            return (9, 0)
        return (int(digits[:-2]), int(digits[-2], 16))

    def __str__(self) -> str:
        return self.uri

    def __repr__(self) -> str:
        return f"<device {self.index}: {self.uri}>"


class Kernel:
    """A loaded kernel, as `CompiledKernel.function` holds it."""

    def __init__(self, device: OpenDevice, function: Function, code: bytes):
        self.device, self.function, self.name, self._code = device, function, function.name, code
        # How a launcher packs arguments for this kernel, noted by the launcher.
        self.packing: Any = None
        self._others: weakref.WeakKeyDictionary[OpenDevice, Kernel] = weakref.WeakKeyDictionary()

    def on(self, device: OpenDevice) -> Kernel:
        """This kernel on a device. Triton keeps compiled kernels by the number of the device, also when the driver changes."""
        if device is self.device:
            return self
        if device.processor != self.device.processor:
            raise RuntimeError(
                f"{self.name} was compiled for {self.device.processor}, and device {device.index} is now {device.uri}: "
                "give all devices to one driver, windlass.triton.Driver(first, second)"
            )
        found = self._others.get(device)
        if found is None:
            function = device.hal.load_executable(self._code).function(self.name)
            found = self._others[device] = Kernel(device, function, self._code)
        return found

    def __repr__(self) -> str:
        return f"<kernel {self.name} on {self.device.uri}>"
