# SPDX-License-Identifier: MIT OR Apache-2.0
"""Memory of a device, and the table that finds the buffer behind an address."""

from __future__ import annotations

import bisect
import threading
import weakref
from typing import TYPE_CHECKING

from .. import Buffer

if TYPE_CHECKING:
    from ._device import OpenDevice


class Storage:
    """One allocation. It goes back to the device with the last tensor and the last launch that use it."""

    def __init__(self, device: OpenDevice, size: int):
        self.device, self.size = device, size
        self._buffer: Buffer | None = device.hal.allocate(max(size, 1))
        self.address = self._buffer.device_address
        device.storages.add(self)

    @property
    def buffer(self) -> Buffer:
        if self._buffer is None:
            raise ValueError("the tensor's memory was freed by Tensor.free(): make a new tensor")
        return self._buffer

    def check(self) -> None:
        """Raises ValueError if the memory was freed."""
        self.buffer

    def free(self) -> None:
        """Gives the memory back when work in flight no longer uses it."""
        if self._buffer is not None:
            self.device.storages.remove(self)
            self._buffer = None

    def __del__(self) -> None:
        if getattr(self, "_buffer", None) is not None:
            self.free()


class Storages:
    """The allocations of a device by their addresses. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._starts: list[int] = []
        self._storages: dict[int, weakref.ref[Storage]] = {}

    def add(self, storage: Storage) -> None:
        with self._lock:
            bisect.insort(self._starts, storage.address)
            self._storages[storage.address] = weakref.ref(storage)

    def remove(self, storage: Storage) -> None:
        with self._lock:
            index = bisect.bisect_left(self._starts, storage.address)
            if index < len(self._starts) and self._starts[index] == storage.address:
                del self._starts[index]
                del self._storages[storage.address]

    def find(self, address: int) -> Storage | None:
        """The allocation that holds the address. One past its end still belongs to it, as empty tensors have that."""
        with self._lock:
            index = bisect.bisect_right(self._starts, address) - 1
            storage = self._storages[self._starts[index]]() if index >= 0 else None
        return storage if storage is not None and address <= storage.address + storage.size else None
