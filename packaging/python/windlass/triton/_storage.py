# SPDX-License-Identifier: MIT OR Apache-2.0
"""Memory of a device, and the table that finds the buffer behind an address."""

from __future__ import annotations

import bisect
import threading
import weakref
from typing import TYPE_CHECKING

from .. import Buffer
from ._dispatch import Kept, kept

if TYPE_CHECKING:
    from ._device import OpenDevice


class Storage:
    """One allocation. It goes back to its owner with the last tensor and the last launch that use it."""

    def __init__(self, device: OpenDevice, buffer: Buffer):
        self.device = device
        self._buffer: Buffer | None = buffer
        self._kept: Kept | None = kept(buffer)
        self.address, self.size = buffer.device_address, buffer.size
        device.storages.add(self)

    @property
    def buffer(self) -> Buffer:
        """The memory. ValueError if it was freed."""
        if self._buffer is None:
            raise _freed()
        return self._buffer

    @property
    def kept(self) -> Kept:
        """The memory for launches. ValueError if it was freed."""
        if self._kept is None:
            raise _freed()
        return self._kept

    def free(self) -> None:
        """Gives the memory back when work in flight no longer uses it."""
        if self._buffer is not None:
            self.device.storages.remove(self)
            self._buffer = self._kept = None

    def __del__(self) -> None:
        if getattr(self, "_buffer", None) is not None:
            self.free()


def _freed() -> ValueError:
    return ValueError("the tensor's memory was freed by Tensor.free(): make a new tensor")


class Storages:
    """The allocations of a device by their addresses. Any thread may use it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._starts: list[int] = []
        self._storages: dict[int, weakref.ref[Storage]] = {}

    def add(self, storage: Storage) -> None:
        with self._lock:
            # Of two imports of the same memory the first is found.
            if storage.address not in self._storages:
                bisect.insort(self._starts, storage.address)
                self._storages[storage.address] = weakref.ref(storage)

    def remove(self, storage: Storage) -> None:
        with self._lock:
            known = self._storages.get(storage.address)
            # A weak reference is empty once its object is being deleted.
            if known is not None and known() in (storage, None):
                del self._starts[bisect.bisect_left(self._starts, storage.address)]
                del self._storages[storage.address]

    def find(self, address: int) -> Storage | None:
        """The allocation that holds the address. One past its end still belongs to it, as empty tensors have that."""
        with self._lock:
            index = bisect.bisect_right(self._starts, address) - 1
            storage = self._storages[self._starts[index]]() if index >= 0 else None
        return storage if storage is not None and address <= storage.address + storage.size else None
