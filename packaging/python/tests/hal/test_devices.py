# SPDX-License-Identifier: MIT OR Apache-2.0
"""Heaps, topology, growable buffers, symbols and resources of code, recordings."""

import gc
import os
import struct
import tempfile
import unittest

import windlass
from windlass import (
    BufferParams, BufferUsage, Compatibility, Device, LinkKind, MemoryType, Semaphore, SymbolBinding, SymbolKind, Topology,
)

SIMULATED = "hip-sim://gfx942?memory=64M"
BUNDLES = os.environ["WINDLASS_BUNDLES"]


def bundle(name):
    with open(os.path.join(BUNDLES, name), "rb") as file:
        return file.read()


class Memory(unittest.TestCase):
    def test_heaps(self):
        with Device(SIMULATED) as device:
            first, second = device.heaps
            self.assertEqual((first.memory_type, first.max_size), (MemoryType.DEVICE_LOCAL, 64 << 20))
            self.assertTrue(first.usage & BufferUsage.DISPATCH_STORAGE and not first.usage & BufferUsage.MAPPING)
            self.assertTrue(second.memory_type & MemoryType.HOST_LOCAL == MemoryType.HOST_LOCAL and second.usage & BufferUsage.MAPPING)
            self.assertIsNone(second.max_size)
            self.assertEqual(device.allocate(64).device_address % first.min_alignment, 0)

    def test_compatibility(self):
        with Device(SIMULATED) as device:
            everything = device.compatibility(4096)
            self.assertTrue(everything & Compatibility.ALLOCATABLE and everything & Compatibility.QUEUE_DISPATCH)
            self.assertTrue(device.compatibility(4096, BufferParams.host()) & Compatibility.IMPORTABLE)
            self.assertFalse(device.compatibility(2**63))
            self.assertFalse(device.compatibility(65 << 20) & Compatibility.ALLOCATABLE)
            for size in (-1, 2**64):
                with self.assertRaises(windlass.OutOfRangeError):
                    device.compatibility(size)
        with Device("null://") as null:
            self.assertFalse(null.compatibility(64) & Compatibility.QUEUE_DISPATCH)


class Growing(unittest.TestCase):
    def test_contents_and_addresses_stay(self):
        for uri in (SIMULATED, "local://?threads=2"):
            with self.subTest(uri), Device(uri) as device:
                queue, timeline = device.queue(), Semaphore()
                memory = device.reserve_growable(10 << 20)
                page, address = memory.granularity, memory.device_address
                self.assertEqual((memory.size, memory.capacity % page, bool(memory)), (0, 0, True))
                self.assertGreaterEqual(memory.capacity, 10 << 20)
                memory.grow_to(1)
                self.assertEqual((memory.size, len(memory)), (page, page))
                queue.fill(memory.buffer(), b"\x07", signals=timeline.at(1))
                memory.grow_to(2 * page)
                whole = memory.buffer()
                self.assertEqual((whole.size, whole.device_address, memory.device_address), (2 * page, address, address))
                queue.fill(memory.buffer(page, 64), b"\x08", waits=timeline.at(1), signals=timeline.at(2))
                found = queue.download_blocking(whole, waits=timeline.at(2))
                self.assertEqual((bytes(found[:page]), bytes(found[page : page + 64])), (b"\x07" * page, b"\x08" * 64))

    def test_a_buffer_keeps_what_is_given_back(self):
        with Device(SIMULATED) as device:
            queue, memory = device.queue(), device.reserve_growable(16 << 20)
            page = memory.granularity
            memory.grow_to(page)
            memory.grow_to(2 * page)
            part, done = memory.buffer(page), Semaphore()
            memory.shrink_to(page)
            self.assertEqual(memory.size, page)
            memory.close()
            gc.collect()
            queue.fill(part, b"\x09", signals=done.at(1))
            self.assertEqual(bytes(queue.download_blocking(part.range(0, 8), waits=done.at(1))), b"\x09" * 8)

    def test_what_cannot_be(self):
        with Device(SIMULATED) as device:
            memory = device.reserve_growable(4 << 20)
            memory.grow_to(2 << 20)
            for kinds, action in (
                (windlass.InvalidArgumentError, lambda: device.reserve_growable(0)),
                (windlass.InvalidArgumentError, lambda: device.reserve_growable(4096, BufferParams.host())),
                (windlass.ResourceExhaustedError, lambda: device.reserve_growable(2**63)),
                (windlass.Error, lambda: device.reserve_growable(2**64 - 1)),
                (windlass.OutOfRangeError, lambda: device.reserve_growable(-1)), (TypeError, lambda: device.reserve_growable("4096")),
                (windlass.OutOfRangeError, lambda: memory.grow_to(memory.capacity + 1)), (windlass.OutOfRangeError, lambda: memory.grow_to(-1)),
                (windlass.OutOfRangeError, lambda: memory.grow_to(2**64)), (windlass.OutOfRangeError, lambda: memory.shrink_to(-1)),
                (windlass.OutOfRangeError, lambda: memory.buffer(2 << 20, 1)), (windlass.OutOfRangeError, lambda: memory.buffer(-1)),
                (windlass.OutOfRangeError, lambda: memory.buffer(2**63, 2**63)), (windlass.OutOfRangeError, lambda: memory.buffer(8, 2**64 - 8)),
            ):
                with self.assertRaises(kinds):
                    action()
            self.assertEqual(memory.size, 2 << 20)
            big = device.reserve_growable(256 << 20)
            with self.assertRaises(windlass.ResourceExhaustedError):
                big.grow_to(128 << 20)
            self.assertEqual(big.size, 0)


class Links(unittest.TestCase):
    def test_two_gpus_of_one_device(self):
        with Device("hip-sim://gfx942?devices=2&memory=64M") as device:
            topology = device.topology()
            first, second = topology.nodes
            self.assertEqual([(one.device, one.physical_device, one.is_host) for one in (first, second)], [(0, 0, False), (0, 1, False)])
            self.assertRegex(first.pci_address, "^[0-9a-f]{4}:[0-9a-f]{2}:00.0$")
            self.assertNotEqual(first.pci_address, second.pci_address)
            self.assertEqual(first.runtime, second.runtime)
            edge = topology.edge(0, 1)
            self.assertEqual((edge.link, edge.hops, edge.peer_access), (LinkKind.XGMI, 1, True))
            self.assertTrue(0 < edge.copy_cost <= 15)
            topology.close()
            with self.assertRaises(windlass.FailedPreconditionError):
                topology.nodes

    def test_devices_of_several_machines(self):
        with Device(SIMULATED) as gpu, Device("local://") as cpu:
            topology = Topology.between([gpu, cpu])
            nodes = topology.nodes
            self.assertEqual([(one.device, one.is_host) for one in nodes], [(0, False), (1, True)])
            self.assertIsNone(nodes[1].pci_address)
            self.assertNotEqual(topology.edge(0, 1).link, LinkKind.XGMI)
            for kinds, action in (
                (windlass.OutOfRangeError, lambda: topology.edge(0, 2)), (windlass.OutOfRangeError, lambda: topology.edge(1, 1)),
                (windlass.OutOfRangeError, lambda: topology.edge(-1, 0)), (windlass.OutOfRangeError, lambda: topology.edge(0, 2**32)),
                (windlass.InvalidArgumentError, lambda: Topology.between([])), (TypeError, lambda: Topology.between([gpu, 3])),
                (TypeError, lambda: Topology.between(gpu)), (TypeError, Topology),
            ):
                with self.assertRaises(kinds):
                    action()
            gpu.close()
            with self.assertRaises(windlass.FailedPreconditionError):
                Topology.between([gpu])


class Code(unittest.TestCase):
    def test_symbols(self):
        with Device(SIMULATED) as device:
            executable = device.load_executable(bundle("globals.ccob"))
            symbols = {symbol.name: symbol for symbol in executable.symbols()}
            self.assertEqual((symbols["use_globals"].kind, symbols["table"].kind), (SymbolKind.KERNEL, SymbolKind.VARIABLE))
            table = executable.global_buffer("table")
            self.assertEqual((symbols["table"].address, symbols["table"].size), (table.device_address, executable.globals["table"]))
            functions = {symbol.name: symbol for symbol in device.load_executable(bundle("functions.ccob")).symbols()}
            self.assertEqual((functions["twofold"].kind, functions["fivefold"].binding), (SymbolKind.FUNCTION, SymbolBinding.LOCAL))
            self.assertIsNone(functions["twofold"].address)

    def test_each_gpu_has_its_own_variables(self):
        with Device("hip-sim://gfx942?devices=2&memory=64M") as device:
            executable = device.load_executable(bundle("globals.ccob"))
            addresses = []
            for gpu in range(2):
                symbols = executable.symbols(device.physical_affinity(gpu))
                addresses.append({symbol.name: symbol.address for symbol in symbols}["table"])
            self.assertNotEqual(*addresses)
            with self.assertRaises(windlass.FailedPreconditionError):
                executable.symbols()
            with self.assertRaises(windlass.OutOfRangeError):
                executable.symbols(-1)

    def test_the_same_code(self):
        with Device(SIMULATED) as device:
            first, second = (device.load_executable(bundle("globals.ccob")) for _ in range(2))
            self.assertTrue(first.is_same(second) and first.is_same(first.function("use_globals").executable()))
            self.assertFalse(first.is_same(device.load_executable(bundle("vector_add.ccob"))))
            with self.assertRaises(TypeError):
                first.is_same(None)

    def test_resources(self):
        with Device(SIMULATED) as device:
            matmul = device.load_executable(bundle("matmul.ccob")).function("matmul")
            self.assertEqual((matmul.resources.wave_size, matmul.resources.private_memory_bytes, matmul.resources.dynamic_stack), (64, 0, False))
            self.assertTrue(0 < matmul.resources.vector_registers <= 512 and 0 < matmul.resources.scalar_registers)
            self.assertGreater(matmul.static_local_memory, 0)
            recurse = device.load_executable(bundle("scratch.ccob")).function("recurse")
            self.assertTrue(recurse.resources.private_memory_bytes > 0 and recurse.resources.dynamic_stack)
        with Device("local://") as cpu:
            self.assertEqual(set(cpu.load_executable(bundle("matmul.ccob")).function("matmul").resources), {None})

    def test_occupancy(self):
        with Device(SIMULATED) as device:
            function, facts = device.load_executable(bundle("vector_add.ccob")).function("vector_add"), device.facts()
            small, large = function.occupancy(64), function.occupancy(1024)
            self.assertTrue(small > large > 0)
            self.assertLessEqual(large * 1024, facts.max_threads_per_compute_unit)
            self.assertEqual(function.occupancy(64, local_memory=facts.local_memory_per_compute_unit_bytes // 2 - 1024), 2)
            suggested = function.suggested_workgroup()
            self.assertTrue(0 < suggested.threads <= 1024 and suggested.workgroups >= facts.compute_units)
            for kinds, action in (
                (windlass.OutOfRangeError, lambda: function.occupancy(0)), (windlass.OutOfRangeError, lambda: function.occupancy(-1)),
                (windlass.OutOfRangeError, lambda: function.occupancy(2**32)), (windlass.OutOfRangeError, lambda: function.occupancy(10**6)),
                (TypeError, lambda: function.occupancy(2.5)), (windlass.OutOfRangeError, lambda: function.occupancy(64, queue_affinity=2**64)),
                (windlass.OutOfRangeError, lambda: function.occupancy(64, local_memory=-1)),
                (windlass.OutOfRangeError, lambda: function.suggested_workgroup(local_memory=2**32)),
            ):
                with self.assertRaises(kinds):
                    action()


class Opening(unittest.TestCase):
    def test_parameters_apart_from_the_uri(self):
        with Device("hip-sim://gfx942", parameters={"devices": "2", "memory": "64M"}) as device:
            self.assertEqual(device.limits.physical_devices, 2)
            self.assertEqual(device.heaps[0].max_size, 64 << 20)
        for kinds, action in (
            (windlass.InvalidArgumentError, lambda: Device("hip-sim://gfx942", {"nothing": "1"})),
            (TypeError, lambda: Device("hip-sim://gfx942", {"devices": 2})), (TypeError, lambda: Device(None, {"devices": "2"})), (TypeError, lambda: Device("local://", 3)),
            (ValueError, lambda: Device("hip-sim://gfx942", {"devices": "2\0"})),
        ):
            with self.assertRaises(kinds):
                action()

    def test_a_recording_is_replayed(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "work.wlr")
            with Device("record://", {"file": path, "over": SIMULATED}) as device:
                queue, done, buffer = device.queue(), Semaphore(), device.allocate(64)
                queue.fill(buffer, struct.pack("<f", 1.5), signals=done.at(1))
                queue.download_blocking(buffer, waits=done.at(1))
                device.drain_blocking(60)
            del queue, buffer, device
            gc.collect()
            with Device("local://") as other:
                replayed = other.replay_blocking(path)
                self.assertTrue(replayed.operations >= 1 and replayed.compared >= 64 and replayed.nanoseconds > 0)
                self.assertEqual(replayed.differing, 0)
                with open(path, "r+b") as file:
                    file.truncate(os.path.getsize(path) - 5)
                with self.assertRaisesRegex(windlass.DataLossError, "cut short at byte"):
                    other.replay_blocking(path)
                with open(path, "r+b") as file:
                    file.truncate(100)
                for kinds, wrong in ((windlass.DataLossError, path), (windlass.Error, os.path.join(folder, "none")), (TypeError, 3)):
                    with self.assertRaises(kinds):
                        other.replay_blocking(wrong)


if __name__ == "__main__":
    unittest.main()
