# SPDX-License-Identifier: MIT OR Apache-2.0
"""Work on devices: memory, kernels, command buffers, and their order."""

import ctypes
import os
import struct
import tempfile
import threading
import unittest

import windlass
from windlass import BufferParams, Code, Device, MemoryType, Semaphore, Slot

SIMULATED = os.environ.get("WINDLASS_TEST_GPU", "hip-sim://gfx942?memory=64M")
BUNDLES = os.environ["WINDLASS_BUNDLES"]


def bundle(name):
    with open(os.path.join(BUNDLES, name), "rb") as file:
        return file.read()


def floats(bytes_):
    return list(struct.unpack(f"<{len(bytes_) // 4}f", bytes_))


class Everywhere:
    """On each device."""

    uri = ""

    def setUp(self):
        self.device = Device(self.uri)
        self.queue = self.device.queue()
        self.timeline = Semaphore()

    def tearDown(self):
        self.device.close()

    def test_bytes_go_there_and_back(self):
        x, y = self.device.allocate(4096), self.device.allocate(4096)
        at = self.timeline.at
        self.queue.fill(x, b"\x01\x02\x03\x04", signals=at(1))
        self.queue.update(b"head", x.range(0, 4), waits=at(1), signals=at(2))
        self.queue.copy(x, y, waits=[at(2)], signals=[(self.timeline, 3)])
        found = self.queue.download_blocking(y, waits=at(3))
        self.assertEqual(bytes(found), b"head" + b"\x01\x02\x03\x04" * 1023)
        self.assertEqual(self.timeline.query(), 3)
        self.queue.upload_blocking(memoryview(bytes(range(256))), y.range(1024, 256))
        into = (ctypes.c_uint8 * 8)()
        self.assertIs(self.queue.download_blocking(y.range(1024 + 16, 8), into=into), into)
        self.assertEqual(bytes(into), bytes(range(16, 24)))
        part = y.subspan(1024)
        self.assertEqual((part.size, part.offset), (3072, 1024))
        self.assertEqual(part.device_address, y.device_address + 1024)

    def test_an_operation_waits_for_what_it_is_told(self):
        x, gate = self.device.allocate_host(16), Semaphore()
        x.write(bytes(16))
        self.queue.fill(x, b"\xff", waits=gate.at(1), signals=self.timeline.at(1))
        self.device.poll()
        self.assertEqual(bytes(x.read()), bytes(16))
        with self.assertRaises(windlass.DeadlineExceededError):
            self.timeline.wait_blocking(1, timeout=0)
        gate.signal(1)
        self.timeline.wait_blocking(1)
        self.assertEqual(bytes(x.read(8)), b"\xff" * 8)
        self.device.drain_blocking(60)

    def test_memory_in_the_order_of_the_queue(self):
        at = self.timeline.at
        x = self.queue.alloca(1024, signals=at(1))
        self.queue.fill(x, b"\x07", waits=at(1), signals=at(2))
        self.assertEqual(self.queue.download_blocking(x, waits=at(2)), b"\x07" * 1024)
        self.queue.dealloca(x, waits=at(2), signals=at(3))
        at(3).wait_blocking()
        self.assertEqual(self.device.statistics.device_bytes_used, 0)

    def test_memory_from_a_pool(self):
        at = self.timeline.at
        pool = self.device.create_pool(slab_size=1 << 20, budget=1 << 20, name="small")
        x = self.queue.alloca(1 << 19, signals=at(1), pool=pool)
        self.queue.fill(x, b"\x07", waits=at(1), signals=at(2))
        with self.assertRaises(windlass.ResourceExhaustedError) as raised:
            self.queue.alloca(1 << 20, pool=pool)
        self.assertIn("small", str(raised.exception))
        self.assertIsInstance(raised.exception, MemoryError)
        self.queue.dealloca(x, waits=at(2), signals=at(3))
        at(3).wait_blocking(60)
        counts = pool.statistics
        self.assertEqual((counts.bytes_reserved, counts.bytes_used, counts.released, counts.over_budget), (1 << 20, 0, 1, 1))
        pool.trim()
        self.assertEqual(pool.statistics.bytes_reserved, 0)
        blocks = self.device.create_pool(windlass.PoolKind.FIXED_BLOCK, block_size=4096, blocks=2, memory=BufferParams.host())
        self.queue.alloca(64, signals=at(4), pool=blocks, params=BufferParams.host())
        at(4).wait_blocking(60)
        for wrong in ({}, {"kind": 9, "slab_size": 1 << 20}, {"slab_size": -1}, {"kind": windlass.PoolKind.FIXED_BLOCK}):
            with self.assertRaises(ValueError, msg=wrong):
                self.device.create_pool(**wrong)
        with self.assertRaises(TypeError):
            self.queue.alloca(64, pool=self.device)

    def test_files(self):
        at = self.timeline.at
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "bytes")
            x = self.device.allocate(4096)
            self.queue.fill(x, b"\x08", signals=at(1))
            with windlass.File(path, "w") as file:
                self.queue.write(x, file, 16, at(1), at(2))
            at(2).wait_blocking(60)
            with open(path, "rb") as found:
                self.assertEqual(found.read(), bytes(16) + b"\x08" * 4096)
                self.queue.read(windlass.File(found.fileno()), x.range(0, 32), 0, signals=at(3))
            self.assertEqual(self.queue.download_blocking(x.range(0, 32), at(3)), bytes(16) + b"\x08" * 16)
            late = Semaphore()
            self.queue.read(windlass.File(path), x, 100, signals=late.at(1))
            with self.assertRaises(windlass.OutOfRangeError):
                late.wait_blocking(1, 60)
            for error, wrong in (
                (windlass.NotFoundError, lambda: windlass.File(os.path.join(folder, "nothing"))),
                (ValueError, lambda: windlass.File(path, "rw")), (ValueError, lambda: windlass.File("a\0b")),
                (windlass.InvalidArgumentError, lambda: windlass.File(-1)), (ValueError, lambda: windlass.File(1 << 40)),
                (TypeError, lambda: windlass.File(None)), (TypeError, lambda: self.queue.read(None, x)),
            ):
                with self.assertRaises(error):
                    wrong()

    def test_command_buffers_run_again_with_other_buffers(self):
        with self.device.record(slots=1) as recorder:
            recorder.begin_debug_group("both halves")
            recorder.fill(Slot(0, 0, 64), b"\x01")
            event = recorder.create_event()
            recorder.signal_event(event)
            recorder.wait_events([event])
            recorder.update(b"middle", Slot(0, 8, 6))
            recorder.barrier()
            recorder.copy(Slot(0, 0, 32), Slot(0, 32, 32))
            recorder.end_debug_group()
            commands = recorder.finish()
            with self.assertRaises(windlass.FailedPreconditionError):
                recorder.barrier()
        buffers = [self.device.allocate(64) for _ in range(3)]
        signals = [Semaphore().at(1) for _ in buffers]
        for buffer, signal in zip(buffers, signals):
            self.queue.execute(commands, [buffer], signals=signal)
        windlass.wait_all_blocking(signals, 60)
        half = b"\x01" * 8 + b"middle" + b"\x01" * 18
        for buffer in buffers:
            self.assertEqual(self.queue.download_blocking(buffer), half * 2)
        with self.assertRaises(windlass.InvalidArgumentError):
            self.queue.execute(commands, [None])

    def test_failures_reach_those_who_wait(self):
        gate = Semaphore()
        self.queue.barrier(waits=gate.at(1), signals=self.timeline.at(1))
        gate.fail(windlass.PermissionDeniedError("not on a Sunday"))
        gate.fail("a second reason")
        for wait in (gate.query, lambda: self.timeline.wait_blocking(1), lambda: windlass.wait_any_blocking([gate.at(1)])):
            with self.assertRaises(windlass.PermissionDeniedError) as raised:
                wait()
            self.assertIn("not on a Sunday", str(raised.exception))
            self.assertEqual(raised.exception.code, Code.PERMISSION_DENIED)
            self.assertIsInstance(raised.exception, PermissionError)

    def test_facts(self):
        info, limits = self.device.info, self.device.limits
        self.assertTrue(info.uri and info.name and info.architecture)
        self.assertGreaterEqual(limits.queues, 1)
        self.assertEqual(len(limits.max_workgroup_size), 3)
        self.assertTrue(all(one.simulated for one in windlass.devices("hip-sim")))
        self.assertIn(self.uri.partition("://")[0], windlass.drivers())
        before = self.device.statistics.allocations
        kept = self.device.allocate(4096)
        self.assertEqual(self.device.statistics.allocations, before + 1)
        self.assertEqual(kept.params, BufferParams.device())
        self.assertEqual(self.device.allocate_host(8).params.memory_type & MemoryType.HOST_VISIBLE, MemoryType.HOST_VISIBLE)
        facts = self.device.facts()
        self.assertGreaterEqual(facts.compute_units, 1)
        self.assertGreaterEqual(facts.total_memory_bytes, facts.free_memory_bytes)
        self.assertIn(facts.wave_size, (1, limits.wave_size))
        # A fact that the device does not know is None, not the number that stands for it in C.
        self.assertNotIn(2**32 - 1, facts)
        self.assertNotIn(2**64 - 1, facts)
        for wrong in (limits.physical_devices, 2**32 - 1, 2**32, -1):
            with self.assertRaises(windlass.OutOfRangeError):
                self.device.facts(wrong)
        self.assertEqual(self.queue.affinity, 1)
        self.assertEqual(self.device.queue_of().affinity, 2**limits.queues - 1)


class OnTheSimulatedGpu(Everywhere, unittest.TestCase):
    uri = SIMULATED

    def saxpy(self):
        return self.device.load_executable(bundle("saxpy.ccob")).function("saxpy")

    def operands(self):
        x, y, at = self.device.allocate(4000), self.device.allocate(4000), self.timeline.at
        self.queue.update(struct.pack("<1000f", *range(1000)), x, signals=at(1))
        self.queue.fill(y, struct.pack("<f", 1), waits=at(1), signals=at(2))
        return x, y

    def check(self, y, *waits):
        found = floats(self.queue.download_blocking(y, waits=waits))
        self.assertEqual(found, [2.0 * index + 1 for index in range(1000)])

    def test_typed_arguments(self):
        saxpy, (x, y), at = self.saxpy(), self.operands(), self.timeline.at
        self.assertEqual(saxpy.name, "saxpy")
        self.assertEqual([one.is_buffer for one in saxpy.parameters], [False, True, True, False])
        self.assertIn("saxpy(", repr(saxpy))
        self.queue.dispatch(saxpy, 4, [2.0, x, y.range(0), 1000], at(2), at(3), workgroup_size=256)
        self.check(y, at(3))

    def test_views_stand_for_their_buffers(self):
        saxpy, (x, y), at = self.saxpy(), self.operands(), self.timeline.at
        first, second = windlass.BufferView(x, 1000, "f32"), windlass.BufferView(y, (10, 100), "f32")
        self.queue.dispatch(saxpy, 4, [2.0, first, second, 1000], at(2), at(3), workgroup_size=256)
        self.check(second, at(3))
        self.queue.copy(first, second, at(3), at(4))
        self.assertEqual(floats(self.queue.download_blocking(second, at(4)))[999], 999)

    def test_values_of_ctypes_and_bytes(self):
        saxpy, (x, y), at = self.saxpy(), self.operands(), self.timeline.at
        arguments = [ctypes.c_float(2), x, y, struct.pack("<i", 1000)]
        self.queue.dispatch(saxpy, (4, 1), arguments, at(2), at(3), workgroup_size=(256, 1, 1))
        self.check(y, at(3))

    def test_a_packed_block(self):
        saxpy, (x, y), at = self.saxpy(), self.operands(), self.timeline.at
        block = struct.pack("<f4xQQi", 2.0, x.device_address, y.device_address, 1000).ljust(saxpy.argument_size, b"\0")
        self.queue.dispatch_raw(saxpy, 4, block[: saxpy.argument_size], [x, y], at(2), at(3), workgroup_size=256)
        x.close()
        self.check(y, at(3))

    def test_recorded_dispatches(self):
        saxpy, (x, y), at = self.saxpy(), self.operands(), self.timeline.at
        recorder = self.device.record(slots=2)
        recorder.dispatch(saxpy, 4, [2.0, Slot(0), Slot(1), 1000], workgroup_size=256)
        self.queue.execute(recorder.finish(), [x, y], at(2), at(3))
        self.check(y, at(3))

    def test_the_number_of_workgroups_from_a_buffer(self):
        saxpy, (x, y), at = self.saxpy(), self.operands(), self.timeline.at
        usage = windlass.BufferUsage.DEFAULT | windlass.BufferUsage.DISPATCH_INDIRECT_PARAMETERS
        count = self.device.allocate(12, BufferParams(usage=usage))
        self.queue.update(struct.pack("<3I", 4, 1, 1), count, at(2), at(3))
        self.queue.dispatch_indirect(saxpy, count, [2.0, x, y, 1000], at(3), at(4), workgroup_size=256)
        self.check(y, at(4))

    def test_arguments_that_do_not_fit(self):
        saxpy, (x, y) = self.saxpy(), self.operands()
        for arguments, error in (
            ([2.0, x, y], windlass.InvalidArgumentError),
            ([2.0, x, y, 1000, 1], windlass.InvalidArgumentError),
            ([2.0, x, y, 1 << 40], ValueError),
            ([1e300, x, y, 1], ValueError),
            ([2.0, x, y, b"12345"], windlass.InvalidArgumentError),
            ([2.0, x, y, x], windlass.InvalidArgumentError),
            ([2.0, 3, y, 1], windlass.InvalidArgumentError),
            ([2.0, "x", y, 1], TypeError),
            ([2.0, x, Slot(0), 1], windlass.InvalidArgumentError),
        ):
            with self.assertRaises(error, msg=arguments):
                self.queue.dispatch(saxpy, 4, arguments, workgroup_size=256)
        with self.assertRaises(windlass.InvalidArgumentError):
            self.queue.dispatch_raw(saxpy, 4, b"short", [x, y], workgroup_size=256)
        with self.assertRaises(windlass.NotFoundError) as raised:
            saxpy.executable().function("sacks")
        self.assertIn("saxpy", str(raised.exception))

    def test_memory_at_a_device_address(self):
        x = self.device.allocate(4096)

        class Owner:
            pass

        owner = Owner()
        twin = self.device.import_device_address(x.device_address, 4096, owner=owner)
        self.queue.fill(twin, b"\x05", signals=self.timeline.at(1))
        self.assertEqual(self.queue.download_blocking(x, waits=self.timeline.at(1)), b"\x05" * 4096)


class OnTheProcessor(Everywhere, unittest.TestCase):
    uri = "local://?threads=2"


class FromManyThreads(unittest.TestCase):
    def test_threads_share_objects(self):
        device = Device(SIMULATED)
        queue, done, errors = device.queue_of(), Semaphore(), []

        def use(index):
            try:
                for _ in range(20):
                    buffer, timeline = device.allocate(256), Semaphore()
                    queue.fill(buffer, bytes([index]), signals=timeline.at(1))
                    assert queue.download_blocking(buffer, waits=timeline.at(1)) == bytes([index]) * 256
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=use, args=(index,)) for index in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])
        done.signal(1)


if __name__ == "__main__":
    unittest.main()
