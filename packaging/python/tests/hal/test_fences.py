# SPDX-License-Identifier: MIT OR Apache-2.0
"""Fences and observers of semaphores."""

import asyncio
import gc
import sys
import threading
import unittest
import weakref

import windlass
from windlass import Device, Fence, Semaphore


class Fences(unittest.TestCase):
    def test_a_fence_keeps_the_greatest_value_of_each_semaphore(self):
        a, b = Semaphore(), Semaphore()
        fence = Fence([a.at(2), b.at(1), a.at(5), (a, 3)])
        self.assertEqual(len(fence), 2)
        self.assertEqual({point.semaphore.id: point.value for point in fence}, {a.id: 5, b.id: 1})
        self.assertFalse(fence.query())
        a.signal(5)
        self.assertFalse(fence.query())
        b.signal(1)
        self.assertTrue(fence.query())
        self.assertTrue(Fence().query() and not len(Fence()) and bool(Fence()))

    def test_a_join_has_all_points(self):
        semaphores = [Semaphore() for _ in range(40)]
        fences = [Fence(semaphore.at(3)) for semaphore in semaphores]
        joined = Fence.join(*fences, Fence(semaphores[0].at(9)))
        del fences
        gc.collect()
        found = {point.semaphore.id: point.value for point in joined.points}
        self.assertEqual(found, {semaphore.id: 9 if semaphore is semaphores[0] else 3 for semaphore in semaphores})
        joined.signal()
        self.assertEqual([semaphore.query() for semaphore in semaphores], [9] + [3] * 39)
        self.assertEqual(Fence.join().points, [])

    def test_the_fence_keeps_its_semaphores(self):
        fence = Fence(Semaphore(4).at(5))
        gc.collect()
        (point,) = fence.points
        fence.close()
        self.assertEqual(point.semaphore.query(), 4)

    def test_a_fence_is_a_wait_list_and_a_signal_list(self):
        with Device("hip-sim://gfx942?memory=64M") as device:
            queue, gates, ends = device.queue(), [Semaphore(), Semaphore()], [Semaphore(), Semaphore()]
            buffer = device.allocate(64)
            before, after = Fence(gate.at(1) for gate in gates), Fence([ends[0].at(7), ends[1].at(8)])
            queue.fill(buffer, b"x", waits=before, signals=after)
            gates[0].signal(1)
            with self.assertRaises(windlass.DeadlineExceededError):
                after.wait_blocking(timeout=0)
            before.signal()
            after.wait_blocking(60)
            self.assertEqual([end.query() for end in ends], [7, 8])
            self.assertEqual(bytes(queue.download_blocking(buffer)), b"x" * 64)

    def test_a_failure(self):
        a, b = Semaphore(), Semaphore(1)
        fence = Fence([a.at(1), b.at(2)])
        fence.fail(windlass.DataLossError("the memory is gone"))
        for action in (fence.query, fence.wait_blocking, a.query, b.query):
            with self.assertRaises(windlass.DataLossError) as raised:
                action()
            self.assertEqual(str(raised.exception), "the memory is gone")
        text = Semaphore()
        Fence(text.at(1)).fail("with a zero\0 byte")
        with self.assertRaises(windlass.AbortedError):
            text.query()

    def test_wrong_arguments(self):
        for wrong, kinds in (
            (3, TypeError), ([3], TypeError), (Semaphore(), TypeError), ([(Semaphore(), -1)], windlass.OutOfRangeError),
            ([(Semaphore(), 2**64)], windlass.OutOfRangeError), (None, TypeError), ([(Semaphore(),)], TypeError),
        ):
            with self.assertRaises(kinds):
                Fence(wrong)
        with self.assertRaisesRegex(TypeError, "list of points"):
            Fence(3)
        for action in (lambda: Fence.join(3), lambda: Fence().fail(3), lambda: Fence().fail(None)):
            with self.assertRaises(TypeError):
                action()
        with self.assertRaises(ValueError):
            Fence().wait_blocking(-1)
        # No semaphore can reach it.
        beyond = Fence(Semaphore().at(2**63))
        for action in (beyond.query, beyond.signal, beyond.wait_blocking, lambda: asyncio.run(beyond.wait())):
            with self.assertRaises(windlass.OutOfRangeError):
                action()

    def test_threads_share_a_fence(self):
        fence, semaphores = Fence(), [Semaphore() for _ in range(64)]

        def insert(part):
            for semaphore in semaphores[part::4]:
                fence.insert(semaphore.at(1))
                len(fence.points)

        threads = [threading.Thread(target=insert, args=(part,)) for part in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(fence), 64)


class Awaits(unittest.IsolatedAsyncioTestCase):
    async def test_a_task_waits_for_all_points(self):
        semaphores = [Semaphore() for _ in range(3)]
        fence = Fence(semaphore.at(2) for semaphore in semaphores)
        task = asyncio.ensure_future(fence.wait())
        for semaphore in semaphores:
            await asyncio.sleep(0)
            self.assertFalse(task.done())
            semaphore.signal(2)
        await task
        await fence
        await Fence()

    async def test_the_first_failure_is_raised_at_once(self):
        never, fails = Semaphore(), Semaphore()
        task = asyncio.ensure_future(Fence([never.at(1), fails.at(1)]).wait())
        await asyncio.sleep(0)
        fails.fail(windlass.UnavailableError("later"))
        with self.assertRaises(windlass.UnavailableError):
            await asyncio.wait_for(task, 60)
        with self.assertRaises(windlass.UnavailableError):
            await Fence([never.at(1), fails.at(1)])

    async def test_a_cancelled_task_stops_to_wait(self):
        task = asyncio.ensure_future(Fence([Semaphore().at(1), Semaphore().at(1)]).wait())
        await asyncio.sleep(0)
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        others = asyncio.all_tasks() - {asyncio.current_task()}
        self.assertEqual(others, set())


class Observers(unittest.TestCase):
    def setUp(self):
        self.heard, self.changed = [], threading.Condition()

    def hear(self, payload, error):
        with self.changed:
            self.heard.append((payload, error))
            self.changed.notify()

    def until(self, condition):
        with self.changed:
            self.assertTrue(self.changed.wait_for(condition, 60), self.heard)

    def test_advances_are_heard_in_order(self):
        semaphore = Semaphore(10)
        with semaphore.observe(self.hear) as observation:
            for value in range(11, 61):
                semaphore.signal(value)
            self.until(lambda: self.heard and self.heard[-1][0] == 60)
        payloads = [payload for payload, _ in self.heard]
        self.assertEqual(payloads, sorted(set(payloads)))
        self.assertTrue(observation.closed and all(error is None for _, error in self.heard))
        semaphore.signal(70)
        again = semaphore.observe(lambda *heard: self.hear(*heard))
        semaphore.signal(80)
        self.until(lambda: self.heard[-1][0] == 80)
        self.assertNotIn((70, None), self.heard)
        again.close()
        again.close()

    def test_work_of_a_device_is_heard(self):
        with Device("hip-sim://gfx942?memory=64M") as device:
            queue, timeline, buffer = device.queue(), Semaphore(), device.allocate(64)
            observation = timeline.observe(self.hear)
            for value in range(1, 11):
                queue.fill(buffer, b"x", waits=timeline.at(value - 1), signals=timeline.at(value))
            timeline.wait_blocking(10, 60)
            self.until(lambda: self.heard and self.heard[-1] == (10, None))
            observation.close()

    def test_a_failure_is_the_last_call(self):
        semaphore = Semaphore()
        observation = semaphore.observe(self.hear)
        semaphore.signal(3)
        semaphore.fail(windlass.DataLossError("gone"))
        semaphore.signal(4)
        self.until(lambda: self.heard and self.heard[-1][1] is not None)
        self.assertIsInstance(self.heard[-1][1], windlass.DataLossError)
        self.assertEqual(str(self.heard[-1][1]), "gone")
        late = semaphore.observe(self.hear)
        self.until(lambda: [error is None for _, error in self.heard][-2:] == [False, False])
        observation.close(), late.close()

    def test_the_end_of_an_observation_lets_its_function_go(self):
        class Hearer:
            def __call__(self, payload, error):
                pass

        semaphore = Semaphore()
        for end in ("close", "collector"):
            hearer = Hearer()
            gone, observation = weakref.ref(hearer), semaphore.observe(hearer)
            semaphore.signal(semaphore.query() + 1)
            if end == "close":
                observation.close()
            del observation, hearer
            for _ in range(10_000):
                if gone() is None:
                    break
                threading.Event().wait(0.001)
            self.assertIsNone(gone(), end)

    def test_no_call_begins_behind_close(self):
        gate, blocked, first, second = threading.Event(), threading.Event(), Semaphore(), Semaphore()

        def block(payload, error):
            blocked.set()
            gate.wait(60)

        with first.observe(block), second.observe(self.hear) as observation, second.observe(self.hear):
            first.signal(1)
            self.assertTrue(blocked.wait(60))
            # Both wait for the thread that the first observer holds.
            second.signal(1)
            observation.close()
            gate.set()
            self.until(lambda: self.heard)
            done = Semaphore()
            with done.observe(lambda *_: self.hear("last", None)):
                done.signal(1)
                self.until(lambda: ("last", None) in self.heard)
        self.assertEqual(self.heard, [(1, None), ("last", None)])

    def test_an_observer_that_raises_hears_on(self):
        told, before = [], sys.unraisablehook
        sys.unraisablehook = lambda one: told.append((one.exc_value, one.object))
        try:
            semaphore = Semaphore()

            def wrong(payload, error):
                self.hear(payload, error)
                raise ValueError(payload)

            with semaphore.observe(wrong):
                for value in (1, 2):
                    semaphore.signal(value)
                    self.until(lambda: self.heard[-1:] == [(value, None)])
            done = Semaphore()
            with done.observe(self.hear):
                done.signal(9)
                self.until(lambda: (9, None) in self.heard)
        finally:
            sys.unraisablehook = before
        self.assertEqual([(str(error), function) for error, function in told], [("1", wrong), ("2", wrong)])

    def test_an_observer_may_call_the_library(self):
        first, second = Semaphore(), Semaphore()
        holder = []

        def follow(payload, error):
            second.signal(payload)
            if payload == 2:
                holder[0].close()

        holder.append(first.observe(follow))
        first.signal(1)
        second.wait_blocking(1, 60)
        first.signal(2)
        second.wait_blocking(2, 60)
        self.assertTrue(holder[0].closed or second.query() == 2)

    def test_no_function(self):
        for wrong in (None, 3, "text"):
            with self.assertRaises(TypeError):
                Semaphore().observe(wrong)


if __name__ == "__main__":
    unittest.main()
