# SPDX-License-Identifier: MIT OR Apache-2.0
"""The driver that Triton's runtime asks for targets, streams, code and launches."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import Any, Callable, Iterator, Sequence

import triton
from triton import knobs
from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from .. import Executable
from . import _exchange, _tensor
from ._device import Kernel, OpenDevice
from ._interface import DeviceInterface
from ._launcher import Launcher
from ._stream import Stream
from ._tensor import Tensor

# AMD's last-level cache, which benchmarks empty between runs.
_CACHE = 256 << 20


class Driver(DriverBase):  # type: ignore[misc]
    """Runs Triton's kernels on devices of Windlass.

        triton.runtime.driver.set_active(windlass.triton.Driver("hip-sim://gfx942"))

    A device is a URI or a `windlass.Device`; of one with several GPUs the first GPU is used. Threads have a current device and a current stream of each device of
    their own, as PyTorch's have.
    """

    launcher_cls = Launcher

    def __init__(self, *devices: Any):
        super().__init__()
        if not devices:
            raise ValueError('a driver needs a device: windlass.triton.Driver("hip://") for the first GPU, or "hip-sim://gfx942"')
        self.devices = [OpenDevice(device, index) for index, device in enumerate(devices)]
        self.utils = _Utils(self)
        self._thread = threading.local()
        self._interface = DeviceInterface(self)

    # Of Triton's interface.

    @classmethod
    def is_active(cls) -> bool:
        """Never by itself: `set_active` chooses this driver."""
        return False

    def get_current_target(self) -> GPUTarget:
        device = self.device()
        return GPUTarget("hip", knobs.runtime.override_arch or device.processor, device.wave_size)

    def get_current_device(self) -> int:
        return getattr(self._thread, "device", 0)

    def set_current_device(self, index: int) -> None:
        self._thread.device = self.device(index).index

    def get_current_stream(self, index: int | None = None) -> int:
        return self.current_stream(index).number

    def get_device_capability(self, index: int | None = None) -> tuple[int, int]:
        return self.device(index).capability

    def get_device_interface(self) -> DeviceInterface:
        return self._interface

    def get_active_torch_device(self) -> Any:
        """PyTorch's name of the current device if the program has imported a PyTorch, else the device itself."""
        torch = sys.modules.get("torch")
        return torch.device("cuda", self.get_current_device()) if torch is not None else self.device()

    def map_python_to_cpp_type(self, kind: str) -> str:
        if kind[0] == "*":
            return "hipDeviceptr_t"
        if kind[0] in "iu":
            return f"{'u' if kind[0] == 'u' else ''}int{max(int(kind[1:]), 8)}_t"
        return "double"

    def get_benchmarker(self) -> Callable[..., Sequence[float]]:
        """Triton's own. On a simulated GPU one run of each, as its times say nothing about hardware."""
        return self._one_run if self.device().simulated else triton.testing.do_bench

    def get_empty_cache_for_benchmark(self) -> Tensor:
        # A simulated GPU has no cache.
        return self.device().empty(1 if self.device().simulated else _CACHE, "int8")

    def clear_cache(self, cache: Tensor) -> None:
        cache.zero_()

    def allocate_default_profile_scratch(self, size: int, alignment: int, stream: Any) -> Tensor:
        return self.device().empty(size, "int8").zero_(self.device().stream(stream))

    def assemble_tensormap_to_arg(self, tensormaps_info: Any, args: Any) -> Any:
        return args

    # Of Windlass.

    def device(self, index: int | None = None) -> OpenDevice:
        """A device by number, by default the current one of this thread."""
        index = self.get_current_device() if index is None else index
        if not 0 <= index < len(self.devices):
            raise ValueError(f"there is no device {index}: the driver has {len(self.devices)}")
        return self.devices[index]

    def current_stream(self, index: int | None = None) -> Stream:
        """This thread's current stream of a device."""
        return self.device(index).current_stream

    def set_stream(self, stream: Stream) -> None:
        """Makes a stream the current one of its device for this thread."""
        if stream.device not in self.devices:
            raise ValueError(f"{stream} is of another driver")
        stream.device.current_stream = stream

    def stream(self) -> Stream:
        """A new stream of the current device."""
        return self.device().new_stream()

    @contextlib.contextmanager
    def on(self, stream: Stream) -> Iterator[Stream]:
        """Within `with`, the stream is the current one of its device for this thread."""
        with self._interface.stream(stream):
            yield stream

    def synchronize(self) -> None:
        """Blocks until all streams of the current device are idle. Raises `KernelError` if work failed."""
        self.device().synchronize()

    def to_device(self, array: Any, dtype: Any = None, stream: Stream | None = None) -> Tensor:
        """A tensor with a copy of a numpy array, or of anything that numpy makes an array of.

        `dtype` names a type that numpy lacks, such as "bfloat16", for an array of unsigned integers of its size.
        """
        return _tensor.of_numpy(self.device(), array, dtype, stream)

    def from_dlpack(self, source: Any, stream: Stream | None = None) -> Tensor:
        """A tensor over the memory of another library's array, without a copy.

        The memory must be one that the device can use: its own, or the host's if the device can import it. The owner keeps
        it until the last work with it has ended. Writes of kernels are there when their stream has been synchronised.
        """
        device = self.device()
        return _exchange.taken(source, device, device.stream_or_current(stream))

    def empty(self, shape: Sequence[int] | int, dtype: Any = "float32") -> Tensor:
        """A tensor with undefined contents."""
        return self.device().empty(shape, dtype)

    def zeros(self, shape: Sequence[int] | int, dtype: Any = "float32") -> Tensor:
        """A tensor of zeros."""
        return self.empty(shape, dtype).zero_()

    def _one_run(self, call: Callable[[], Any], quantiles: Sequence[float] | None = None, **_: Any) -> Any:
        self.synchronize()
        start = time.perf_counter()
        call()
        self.synchronize()
        spent = 1e3 * (time.perf_counter() - start)
        return [spent] * len(quantiles) if quantiles else spent


class _Utils:
    """Triton's `driver.active.utils`."""

    def __init__(self, driver: Driver):
        self._driver = driver

    def get_device_properties(self, index: int | None = None) -> dict[str, Any]:
        return self._driver.device(index).properties()

    def load_binary(self, name: str, code: bytes, shared: int, index: int) -> tuple[Executable, Kernel, int, int, int]:
        return self._driver.device(index).load(name, code)

    def unload_module(self, module: Executable) -> None:
        """Nothing: the code goes with the last reference to it, and with the last launch in flight."""
