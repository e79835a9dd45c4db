# SPDX-License-Identifier: MIT OR Apache-2.0
"""The driver's devices and streams under the names of `torch.cuda`, as Triton's benchmarks and programs ask for them."""

from __future__ import annotations

import contextlib
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Iterator

from ._stream import Event as Event
from ._stream import Stream as _Stream

if TYPE_CHECKING:
    from ._device import OpenDevice
    from ._driver import Driver


class DeviceInterface:
    """Stands where Triton expects the module `torch.cuda`."""

    Event = Event

    def __init__(self, driver: Driver):
        self._driver = driver

    def is_available(self) -> bool:
        return True

    def device_count(self) -> int:
        return len(self._driver.devices)

    def current_device(self) -> int:
        return self._driver.get_current_device()

    def set_device(self, device: Any) -> None:
        self._driver.set_current_device(self._index(device))

    @contextlib.contextmanager
    def device(self, device: Any) -> Iterator[None]:
        before = self.current_device()
        self.set_device(device)
        try:
            yield
        finally:
            self.set_device(before)

    def get_device_name(self, device: Any = None) -> str:
        return self._device(device).name

    def get_device_properties(self, device: Any = None) -> SimpleNamespace:
        """The facts of a device under PyTorch's names."""
        found, limits = self._device(device), self._device(device).limits
        return SimpleNamespace(
            name=found.name,
            gcnArchName=found.architecture,
            major=found.capability[0],
            minor=found.capability[1],
            total_memory=limits.total_memory,
            multi_processor_count=found.properties()["multiprocessor_count"],
            warp_size=found.wave_size,
            shared_memory_per_block=limits.max_local_memory,
        )

    def get_device_capability(self, device: Any = None) -> tuple[int, int]:
        return self._device(device).capability

    def synchronize(self, device: Any = None) -> None:
        """Blocks until all streams of a device, by default the current one, are idle. Raises `KernelError`."""
        self._device(device).synchronize()

    def Stream(self, device: Any = None, priority: int = 0) -> _Stream:
        """A new stream. All have the same priority."""
        return self._device(device).new_stream()

    def ExternalStream(self, stream: Any, device: Any = None) -> _Stream:
        return self._device(device).stream(stream)

    def default_stream(self, device: Any = None) -> _Stream:
        return self._device(device).default_stream

    def current_stream(self, device: Any = None) -> _Stream:
        return self._driver.current_stream(self._index(device))

    def set_stream(self, stream: _Stream) -> None:
        self._driver.set_stream(stream)

    @contextlib.contextmanager
    def stream(self, stream: _Stream | None) -> Iterator[_Stream | None]:
        """Makes a stream the current one of its device for this thread."""
        if stream is None:
            yield None
            return
        before = self._driver.current_stream(stream.device.index)
        self._driver.set_stream(stream)
        try:
            yield stream
        finally:
            self._driver.set_stream(before)

    def _index(self, device: Any) -> int:
        if device is None:
            return self.current_device()
        if isinstance(device, str):
            device = device.rpartition(":")[2] if ":" in device else self.current_device()
        index = getattr(device, "index", device)
        return self.current_device() if index is None else int(index)

    def _device(self, device: Any) -> OpenDevice:
        return self._driver.device(self._index(device))
