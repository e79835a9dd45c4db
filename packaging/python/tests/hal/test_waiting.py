# SPDX-License-Identifier: MIT OR Apache-2.0
"""Waiting in event loops, host calls, and memory that is lent to the library."""

import asyncio
import gc
import os
import threading
import unittest
import weakref

import windlass
from windlass import Device, Semaphore

URIS = [os.environ.get("WINDLASS_TEST_GPU", "hip-sim://gfx942?memory=64M"), "local://?threads=2"]


def until(condition):
    """Waits for something that another thread does at some time."""
    for _ in range(10_000):
        if condition():
            return
        threading.Event().wait(0.001)
    raise AssertionError("it does not happen")


class Waits(unittest.IsolatedAsyncioTestCase):
    async def test_a_value_that_is_reached(self):
        await Semaphore(3).wait(3)
        await Semaphore(3).at(2)

    async def test_work_wakes_the_loop(self):
        for uri in URIS:
            with Device(uri) as device:
                queue, timeline, buffer = device.queue(), Semaphore(), device.allocate(1 << 16)
                for value in range(1, 50):
                    queue.fill(buffer, bytes([value]), signals=timeline.at(value))
                    await timeline.at(value)
                self.assertEqual(queue.download_blocking(buffer.range(0, 1)), b"\x31")

    async def test_many_tasks_wait_and_no_thread_does(self):
        semaphore, order = Semaphore(), []

        async def one(value):
            await semaphore.wait(value)
            order.append(value)

        before = threading.active_count()
        tasks = [asyncio.create_task(one(value)) for value in (3, 1, 2) for _ in range(200)]
        await asyncio.sleep(0)
        self.assertLessEqual(threading.active_count(), before + 1)
        for value in (1, 2, 3):
            semaphore.signal(value)
            await asyncio.gather(*tasks[200 * (value % 3) : 200 * (value % 3 + 1)])
        self.assertEqual(order, sorted(order))

    async def test_a_failure_is_raised(self):
        semaphore = Semaphore()
        waits = [asyncio.create_task(semaphore.wait(1)) for _ in range(3)]
        await asyncio.sleep(0)
        semaphore.fail(windlass.DataLossError("the memory is gone"))
        for result in await asyncio.gather(*waits, return_exceptions=True):
            self.assertIsInstance(result, windlass.DataLossError)
            self.assertEqual(str(result), "the memory is gone")
        with self.assertRaises(windlass.DataLossError):
            await semaphore.wait(1)

    async def test_a_task_stops_to_wait(self):
        semaphore = Semaphore()
        for _ in range(20):
            task = asyncio.create_task(semaphore.wait(1))
            await asyncio.sleep(0)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(semaphore.wait(1), 0.01)
        until(lambda: not windlass._inbox._inbox._handlers)
        semaphore.signal(1)
        await semaphore.wait(1)


class Loops(unittest.TestCase):
    def test_a_loop_that_closes_before_the_value_is_reached(self):
        semaphore = Semaphore()

        async def wait():
            await semaphore.wait(1)

        loop = asyncio.new_event_loop()
        task = loop.create_task(wait())
        loop.run_until_complete(asyncio.sleep(0))
        loop.close()
        semaphore.signal(1)
        until(lambda: not windlass._inbox._inbox._handlers)
        task._log_destroy_pending = False
        del task
        gc.collect()
        # The next loop is not disturbed.
        asyncio.run(semaphore.wait(1))

    def test_loops_in_threads(self):
        semaphore, found = Semaphore(), []

        def run():
            async def wait():
                await asyncio.gather(*(semaphore.wait(value) for value in range(1, 20)))

            asyncio.run(wait())
            found.append(True)

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        for value in range(1, 20):
            semaphore.signal(value)
        for thread in threads:
            thread.join()
        self.assertEqual(found, [True] * 4)

    def test_a_wait_without_a_loop(self):
        waiting = Semaphore().wait(1)
        with self.assertRaises(RuntimeError):
            waiting.send(None)


class HostCalls(unittest.TestCase):
    def setUp(self):
        self.device = Device("local://?threads=2")
        self.queue = self.device.queue()
        self.timeline = Semaphore()
        self.addCleanup(self.device.close)

    def test_the_call_lies_between_waits_and_signals(self):
        gate, calls = Semaphore(), []
        self.queue.host_call(lambda: calls.append(threading.current_thread().name), gate.at(1), self.timeline.at(1))
        self.assertEqual(calls, [])
        gate.signal(1)
        self.timeline.wait_blocking(1, 60)
        self.assertEqual(calls, ["windlass host call"])

    def test_calls_may_wait_for_each_other(self):
        first, both = Semaphore(), Semaphore()
        for _ in range(30):
            self.queue.host_call(lambda: first.wait_blocking(1, 60), signals=self.timeline.at(1))
        self.queue.host_call(lambda: first.signal(1), signals=both.at(1))
        both.wait_blocking(1, 60)
        self.timeline.wait_blocking(1, 60)

    def test_an_exception_fails_the_signals(self):
        def wrong():
            raise ValueError("seven is no even number")

        def own():
            raise windlass.PermissionDeniedError("not on a Sunday")

        def exits():
            raise SystemExit(3)

        for function, error, said in (
            (wrong, windlass.AbortedError, "ValueError: seven is no even number"),
            (own, windlass.PermissionDeniedError, "not on a Sunday"),
            (exits, windlass.AbortedError, "SystemExit: 3"),
        ):
            done = Semaphore()
            self.queue.host_call(function, signals=done.at(1))
            with self.assertRaises(error) as raised:
                done.wait_blocking(1, 60)
            self.assertIn(said, str(raised.exception))

    def test_a_call_that_never_comes(self):
        gate = Semaphore()

        class Function:
            def __call__(self):
                raise AssertionError("it was called")

        function = Function()
        gone = weakref.ref(function)
        self.queue.host_call(function, gate.at(1), self.timeline.at(1))
        gate.fail("on purpose")
        with self.assertRaises(windlass.AbortedError):
            self.timeline.wait_blocking(1, 60)
        del function
        until(lambda: gone() is None)
        with self.assertRaises(TypeError):
            self.queue.host_call(None)

    def test_a_call_that_the_signals_do_not_wait_for(self):
        gate, called = threading.Event(), threading.Event()
        self.queue.host_call(lambda: (gate.wait(60), called.set()), signals=self.timeline.at(1), non_blocking=True)
        self.timeline.wait_blocking(1, 60)
        self.assertFalse(called.is_set())
        gate.set()
        self.assertTrue(called.wait(60))


class LentMemory(unittest.TestCase):
    def test_memory_stays_until_its_last_use(self):
        for uri in URIS:
            with Device(uri) as device:
                if "import_host" in device.info.lacks:
                    continue
                queue, gate, timeline = device.queue(), Semaphore(), Semaphore()
                bytes_ = bytearray(b"\x01" * 4096)
                buffer = device.import_host(bytes_)
                with self.assertRaises(BufferError):
                    bytes_.append(0)
                queue.fill(buffer, b"\x02", gate.at(1), timeline.at(1))
                buffer.close()
                with self.assertRaises(BufferError):
                    bytes_.append(0)
                gate.signal(1)
                timeline.wait_blocking(1, 60)
                self.assertEqual(bytes_, b"\x02" * 4096)
                device.drain_blocking(60)
                until(lambda: resizes(bytes_))

    def test_a_refused_import_gives_the_memory_back(self):
        with Device("local://?threads=1") as device:
            bytes_ = bytearray()
            with self.assertRaises(windlass.Error):
                device.import_host(bytes_)
            until(lambda: resizes(bytes_))
            with self.assertRaises(BufferError):
                device.import_host(b"read only")
            with self.assertRaises(TypeError):
                device.import_host(3)

    def test_owners_of_device_memory(self):
        class Owner:
            pass

        for uri in URIS:
            with Device(uri) as device:
                memory, owner = device.allocate(4096), Owner()
                gone = weakref.ref(owner)
                twin = device.import_device_address(memory.device_address, 4096, owner=owner)
                del owner
                gc.collect()
                self.assertIsNotNone(gone())
                twin.close()
                until(lambda: gone() is None)
                if uri.startswith("hip"):
                    with self.assertRaises(windlass.InvalidArgumentError):
                        device.import_device_address(0x1000, 4096)

    def test_a_download_keeps_its_target(self):
        for uri in URIS:
            with Device(uri) as device:
                queue, gate, timeline = device.queue(), Semaphore(), Semaphore()
                source, target = device.allocate(4096), bytearray(4096)
                queue.fill(source, b"\x07", signals=timeline.at(1))
                queue.download(source, target, [timeline.at(1), gate.at(1)], timeline.at(2))
                with self.assertRaises(BufferError):
                    target.append(0)
                gate.signal(1)
                timeline.wait_blocking(2, 60)
                self.assertEqual(target, b"\x07" * 4096)
                until(lambda: resizes(target))
                with self.assertRaises(windlass.Error):
                    queue.download(source, bytearray(5))


def resizes(bytes_):
    try:
        bytes_.append(0)
    except BufferError:
        return False
    return True


if __name__ == "__main__":
    unittest.main()
