# SPDX-License-Identifier: MIT OR Apache-2.0
"""Profiles: records for a function of Python, and traces in files."""

import gc
import json
import os
import pathlib
import sys
import tempfile
import threading
import time
import unittest
import weakref

import windlass
from windlass import Device, ProfileKind, Semaphore

URIS = [os.environ.get("WINDLASS_TEST_GPU", "hip-sim://gfx942?memory=64M"), "local://?threads=2"]
BUNDLES = os.environ["WINDLASS_BUNDLES"]


class Profiles(unittest.TestCase):
    def test_each_kind_of_work_has_its_record(self):
        with open(os.path.join(BUNDLES, "vector_add.ccob"), "rb") as file:
            code = file.read()
        for uri in URIS:
            with self.subTest(uri), Device(uri) as device:
                queue, timeline, bad, records = device.queue(), Semaphore(), Semaphore(), []
                function = device.load_executable(code).function("vector_add")
                start = time.monotonic_ns()
                with device.profile(records.append, commands=True) as profile:
                    x, y, z = (device.allocate(4096) for _ in range(3))
                    queue.fill(x, b"\x01", signals=timeline.at(1))
                    queue.update(bytes(4096), y, waits=timeline.at(1), signals=timeline.at(2))
                    queue.dispatch(
                        function, 4, [x, y, z, 1024], waits=timeline.at(2), signals=timeline.at(3), workgroup_size=256
                    )
                    recorder = device.record()
                    recorder.begin_debug_group("layer", color=(1, 2, 3, 4), file="model.py", line=7)
                    recorder.fill(z, b"\x02")
                    recorder.end_debug_group()
                    queue.execute(recorder.finish(), waits=timeline.at(3), signals=timeline.at(4))

                    def fail():
                        raise windlass.DataLossError("on purpose")

                    queue.host_call(fail, waits=timeline.at(4), signals=bad.at(1))
                    with self.assertRaises(windlass.DataLossError):
                        bad.wait_blocking(1, 60)
                    device.drain_blocking(60)
                    profile.flush()
                    flushed = list(records)
                    gate = Semaphore()
                    queue.barrier(waits=gate.at(1))
                self.assertTrue(profile.ended)
                gate.signal(1)
                by_name = {record.name: record for record in flushed}
                fill = by_name["queue_fill"]
                self.assertEqual((fill.kind, fill.bytes, fill.error), (ProfileKind.OPERATION, 4096, None))
                self.assertEqual((fill.waits, fill.signals), ((), ((timeline.id, 1),)))
                self.assertLessEqual(start, fill.submitted)
                self.assertLessEqual(fill.submitted, fill.issued)
                self.assertLessEqual(fill.issued, fill.retired)
                self.assertLessEqual(fill.retired, time.monotonic_ns())
                self.assertLessEqual(fill.device_begun, fill.device_ended)
                self.assertEqual(by_name["queue_update"].waits, ((timeline.id, 1),))
                dispatch = by_name["queue_dispatch"]
                self.assertEqual((dispatch.function, dispatch.workgroup_count, dispatch.workgroup_size), ("vector_add", (4, 1, 1), (256, 1, 1)))
                # The ends of the group are commands too.
                self.assertEqual(by_name["queue_execute"].command_count, 3)
                group, command = by_name["group"], by_name["fill"]
                self.assertEqual((group.kind, group.function, group.group, group.color), (ProfileKind.COMMAND, "layer", None, (1, 2, 3, 4)))
                self.assertEqual((command.group, command.submission, command.color), (group.command, by_name["queue_execute"].submission, None))
                call = by_name["host_call"]
                self.assertEqual(call.kind, ProfileKind.HOST_CALL)
                self.assertTrue(call.thread > 0 and call.issued <= call.retired)
                failed = by_name["queue_host_call"].error
                self.assertIsInstance(failed, windlass.DataLossError)
                self.assertIn("on purpose", str(failed))
                memory = by_name["allocate"]
                self.assertEqual(memory.kind, ProfileKind.MEMORY)
                self.assertTrue(memory.bytes >= 4096 and memory.memory_type)
                self.assertEqual(len({record.submission for record in flushed if record.kind == ProfileKind.OPERATION}), 5)
                # The barrier was in flight at the end.
                (last,) = [one for one in records[len(flushed) :] if one.name == "queue_barrier"]
                self.assertIsNone(last.retired)
                self.assertFalse(any(record.lost for record in records))

    def test_options_leave_records_out(self):
        with Device(URIS[0]) as device:
            queue, records = device.queue(), []
            with device.profile(records.append, memory=False, device_times=False):
                buffer, done = device.allocate(64), Semaphore()
                recorder = device.record()
                recorder.fill(buffer, b"x")
                queue.execute(recorder.finish(), signals=done.at(1))
                done.wait_blocking(1, 60)
            (record,) = records
            self.assertEqual((record.name, record.device_begun, record.device_ended), ("queue_execute", None, None))

    def test_one_profile_at_a_time(self):
        with Device(URIS[1]) as device:
            with device.profile(print) as profile:
                with self.assertRaises(windlass.FailedPreconditionError):
                    device.profile(print)
            profile.end()
            with self.assertRaises(windlass.FailedPreconditionError):
                profile.flush()
            # An ended one does not end the next.
            with device.profile(print) as second:
                profile.end()
                del profile
                gc.collect()
                second.flush()

    def test_the_last_reference_ends_it_and_lets_the_sink_go(self):
        class Sink:
            def __call__(self, record):
                pass

        with Device(URIS[1]) as device:
            for _ in range(3):
                sink = Sink()
                gone, profile = weakref.ref(sink), device.profile(sink)
                del sink, profile
                gc.collect()
                for _ in range(10_000):
                    if gone() is None:
                        break
                    time.sleep(0.001)
                self.assertIsNone(gone())

    def test_several_threads_end_it_once(self):
        with Device(URIS[1]) as device:
            for _ in range(100):
                profile, failures, start = device.profile(lambda record: None), [], threading.Barrier(4)

                def end():
                    start.wait()
                    try:
                        profile.end()
                    except BaseException as error:
                        failures.append(error)

                threads = [threading.Thread(target=end) for _ in range(4)]
                for thread in threads:
                    thread.start()
                for thread in threads:
                    thread.join()
                self.assertEqual((failures, profile.ended), ([], True))

    def test_a_closed_device(self):
        device, records = Device(URIS[1]), []
        queue, gate, done = device.queue(), Semaphore(), Semaphore()
        profile = device.profile(records.append)
        queue.barrier(waits=gate.at(1), signals=done.at(1))
        device.close()
        with self.assertRaises(windlass.FailedPreconditionError):
            device.profile(records.append)
        profile.end()
        with self.assertRaises(windlass.CancelledError):
            done.wait_blocking(1, 60)

    def test_a_sink_that_raises_gets_the_next_record(self):
        told, records, before = [], [], sys.unraisablehook
        sys.unraisablehook = lambda one: told.append((one.exc_value, one.object))
        try:
            with Device(URIS[1]) as device:
                queue, timeline = device.queue(), Semaphore()

                def wrong(record):
                    records.append(record.name)
                    raise ValueError("once more")

                with device.profile(wrong, memory=False):
                    for value in (1, 2, 3):
                        queue.barrier(signals=timeline.at(value))
                    timeline.wait_blocking(3, 60)
        finally:
            sys.unraisablehook = before
        self.assertEqual(records, ["queue_barrier"] * 3)
        self.assertEqual([(str(error), function) for error, function in told], [("once more", wrong)] * 3)

    def test_a_sink_may_flush_and_end(self):
        with Device(URIS[1]) as device:
            queue, timeline, heard = device.queue(), Semaphore(), threading.Event()
            profiles = []

            def sink(record):
                profiles[0].flush()
                profiles[0].end()
                heard.set()

            profiles.append(device.profile(sink, memory=False))
            queue.barrier(signals=timeline.at(1))
            timeline.wait_blocking(1, 60)
            try:
                profiles[0].flush()
            except windlass.FailedPreconditionError:
                pass
            self.assertTrue(heard.wait(60))

    def test_a_slow_sink_loses_records_and_is_told(self):
        with Device("null://") as device:
            queue, records, gate = device.queue(), [], threading.Event()

            def slow(record):
                gate.wait(60)
                records.append(record)

            with device.profile(slow, memory=False) as profile:
                for _ in range(70_000):
                    queue.barrier()
                done = Semaphore()
                queue.barrier(signals=done.at(1))
                done.wait_blocking(1, 60)
                gate.set()
                profile.flush()
                queue.barrier()
            self.assertLess(len(records), 70_000)
            self.assertEqual(len(records) + sum(record.lost for record in records), 70_002)

    def test_wrong_arguments(self):
        with Device(URIS[1]) as device, tempfile.TemporaryDirectory() as folder:
            for kinds, action in (
                (TypeError, lambda: device.profile(None)), (TypeError, lambda: device.profile_trace(3)),
                (windlass.NotFoundError, lambda: device.profile_trace(os.path.join(folder, "none", "trace.json"))),
                (ValueError, lambda: device.profile_trace("a\0b")), (TypeError, windlass.Profile),
            ):
                with self.assertRaises(kinds):
                    action()
            # None of them has left a profile.
            with device.profile(print):
                pass


class Traces(unittest.TestCase):
    def test_a_trace_is_complete_when_the_profile_has_ended(self):
        for uri in URIS:
            with self.subTest(uri), Device(uri) as device, tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder, "träce.json")
                queue, done = device.queue(), Semaphore()
                with device.profile_trace(path, commands=True):
                    # A refused profile leaves files as they are.
                    mine = pathlib.Path(folder, "mine")
                    mine.write_text("mine")
                    for place in (mine, path):
                        self.assertRaises(windlass.FailedPreconditionError, device.profile_trace, place)
                    self.assertEqual((mine.read_text(), sorted(os.listdir(folder))), ("mine", ["mine", path.name]))
                    buffer = device.allocate(4096)
                    queue.fill(buffer, b"x", signals=done.at(1))
                    queue.host_call(lambda: None, waits=done.at(1), signals=done.at(2))
                    done.wait_blocking(2, 60)
                    device.drain_blocking(60)
                trace = json.loads(path.read_text())
                events = trace["traceEvents"] if isinstance(trace, dict) else trace
                names = {event.get("name") for event in events}
                self.assertTrue(any("fill" in str(name) for name in names), names)


if __name__ == "__main__":
    unittest.main()
