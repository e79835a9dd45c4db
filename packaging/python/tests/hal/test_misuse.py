# SPDX-License-Identifier: MIT OR Apache-2.0
"""Mistakes and ends: each in a process of its own, which must end as Python does and not by a signal."""

import unittest

from child import Child


class Ends(Child):
    def test_use_after_close(self):
        self.run_child("""
            for uri in (GPU, CPU):
                device = Device(uri)
                queue, buffer, semaphore, recorder = device.queue(), device.allocate(64), Semaphore(), device.record()
                view = BufferView(buffer, 64)
                objects = [queue, buffer, semaphore, recorder, view, device]
                for one in objects:
                    one.close()
                    one.close()
                    assert one.closed and "closed" in repr(one), repr(one)
                open_queue = Device(uri).queue()
                for action in (
                    lambda: buffer.size, lambda: buffer.device_address, lambda: buffer.read(), lambda: buffer.map(),
                    lambda: buffer.write(b"x"), lambda: buffer.subspan(0), lambda: semaphore.query(), lambda: semaphore.signal(1),
                    lambda: semaphore.wait_blocking(1), lambda: open_queue.fill(buffer, b"x"), lambda: queue.barrier(),
                    lambda: open_queue.barrier(signals=semaphore.at(1)), lambda: recorder.barrier(), lambda: recorder.finish(),
                    lambda: device.info, lambda: device.limits, lambda: device.facts(), lambda: device.queue(), lambda: device.allocate(4),
                    lambda: view.shape, lambda: view.__dlpack__(), lambda: queue.host_call(print), lambda: queue.affinity,
                    lambda: asyncio.run(semaphore.wait(1)), lambda: open_queue.copy(buffer, buffer),
                ):
                    error = raises(FailedPreconditionError, action)
                    assert "closed" in str(error), error
        """)

    def test_memory_without_bytes_for_a_device(self):
        self.run_child("""
            try:
                import numpy
            except ImportError:
                sys.exit(0)
            device = Device(CPU)
            queue, buffer = device.queue(), device.allocate(64)
            objects = numpy.array([object()] * 8)
            swapped = numpy.arange(16, dtype=numpy.dtype("<f4").newbyteorder("S"))
            fields = numpy.zeros(4, dtype=[("Of", "i4"), ("g", "f4"), ("h", "u8")])
            for memory in (objects, swapped):
                for action in (
                    lambda: queue.upload_blocking(memory, (buffer, 0, memory.nbytes)), lambda: queue.update(memory, (buffer, 0, memory.nbytes)),
                    lambda: queue.download_blocking((buffer, 0, memory.nbytes), into=memory), lambda: device.import_host(memory),
                    lambda: buffer.write(memory), lambda: queue.fill(buffer, memory[:1]),
                ):
                    raises(TypeError, action)
            raises(TypeError, lambda: ElementType.of(swapped.dtype))
            queue.upload_blocking(fields, buffer)
        """)

    def test_host_calls_that_raise(self):
        self.run_child("""
            device, kept = Device(CPU), []
            class Odd(Exception):
                def __init__(self, text):
                    self.text = text
                    kept.append(self)
                def __str__(self):
                    return self.text + ""
            def fail(error):
                raise error
            for text, said in (("why", "why ("), (None, "Odd"), ("\\udc80", "udc80")):
                done = Semaphore()
                device.queue().host_call(lambda: fail(Odd(text)), signals=done.at(1))
                error = raises(AbortedError, lambda: done.wait_blocking(1, 60))
                assert "the host call raised Odd" in str(error) and said in str(error), error
        """)

    def test_other_packages_keep_their_view_of_python(self):
        self.run_child("""
            import ctypes
            class Mine(ctypes.Structure):
                _fields_ = [("everything", ctypes.c_byte * 256)]
            get, release = ctypes.pythonapi.PyObject_GetBuffer, ctypes.pythonapi.PyBuffer_Release
            for function in (get, release, ctypes.pythonapi.PyCapsule_New, ctypes.pythonapi.PyCapsule_IsValid):
                assert function.argtypes is None, function
            get.argtypes, release.argtypes = [ctypes.py_object, ctypes.POINTER(Mine), ctypes.c_int], [ctypes.POINTER(Mine)]
            device = Device(CPU)
            queue, buffer = device.queue(), device.allocate(4)
            queue.upload_blocking(b"abcd", buffer)
            assert queue.download_blocking(buffer) == b"abcd"
        """)

    def test_a_closed_device_refuses_work_and_fails_what_waits(self):
        self.run_child("""
            for uri in (GPU, CPU):
                device, gate, done = Device(uri), Semaphore(), Semaphore()
                queue, buffer = device.queue(), device.allocate(64)
                queue.fill(buffer, b"x", gate.at(1), done.at(1))
                called = []
                queue.host_call(lambda: called.append(1), gate.at(1), done.at(2))
                device.close()
                raises(CancelledError, lambda: done.wait_blocking(1, 60))
                raises(Error, lambda: queue.fill(buffer, b"x"))
                gate.signal(1)
                assert not called
        """)

    def test_wrong_arguments(self):
        self.run_child("""
            device = Device(CPU)
            queue, buffer, semaphore = device.queue(), device.allocate(64), Semaphore()
            for kinds, action in (
                (TypeError, lambda: Device(3)), (ValueError, lambda: Device("a\\0b")), (Error, lambda: Device("nowhere://")),
                (Error, lambda: Device("")), (Error, lambda: Device("\\udcff")), (OutOfRangeError, lambda: device.queue(64)),
                (OutOfRangeError, lambda: device.queue(-1)), (OutOfRangeError, lambda: device.queue(1 << 40)),
                (TypeError, lambda: device.queue("0")), (TypeError, lambda: device.allocate(8, 3)), (OutOfRangeError, lambda: Semaphore(1 << 63)),
                (TypeError, lambda: device.drain_blocking("x")), (ValueError, lambda: device.drain_blocking(-1)), (TypeError, lambda: device.allocate(1.5)),
                (OutOfRangeError, lambda: device.allocate(-1)), (Error, lambda: device.allocate(1 << 63)),
                (OutOfRangeError, lambda: device.allocate(1 << 64)), (Error, lambda: device.allocate(8, BufferParams(min_alignment=3))),
                (OutOfRangeError, lambda: device.allocate(8, BufferParams(memory_type=-1))),
                (TypeError, lambda: queue.fill(None, b"x")), (TypeError, lambda: queue.fill(buffer, 1)),
                (Error, lambda: queue.fill(buffer, b"")), (Error, lambda: queue.fill(buffer, b"abc")),
                (Error, lambda: queue.fill(buffer.range(60, 8), b"x")), (Error, lambda: queue.fill(buffer.range(1 << 63), b"x")),
                (Error, lambda: queue.update(b"x", buffer)), (TypeError, lambda: queue.update("text", buffer)),
                (Error, lambda: queue.copy(buffer, buffer)), (TypeError, lambda: queue.barrier(semaphore)),
                (TypeError, lambda: queue.barrier([semaphore])), (TypeError, lambda: queue.barrier([(semaphore, "1")])),
                (OutOfRangeError, lambda: queue.barrier([(semaphore, -1)])), (Error, lambda: queue.barrier([(semaphore, 1 << 63)])),
                (TypeError, lambda: queue.barrier([(None, 1)])), (TypeError, lambda: queue.barrier(3)),
                (ValueError, lambda: semaphore.wait_blocking(1, -1)), (ValueError, lambda: semaphore.wait_blocking(1, float("nan"))),
                (ValueError, lambda: semaphore.wait_blocking(1, 0, 77)), (TypeError, lambda: semaphore.signal(None)),
                (Error, lambda: semaphore.signal(1 << 63)), (TypeError, lambda: semaphore.fail(3)),
                (Error, lambda: device.load_executable(b"")), (Error, lambda: device.load_executable(b"no code")),
                (TypeError, lambda: device.load_executable("text")), (Error, lambda: device.load_linked([])),
                (Error, lambda: windlass.devices("nothing")), (Error, lambda: windlass.wait_any_blocking([])),
                (TypeError, Buffer), (TypeError, Queue), (TypeError, windlass.Function), (TypeError, lambda: Recorder(device)),
                (Error, lambda: buffer.subspan(65)), (Error, lambda: buffer.subspan(60, 5)), (Error, lambda: buffer.read(100)),
                (Error, lambda: device.physical_affinity(9)), (Error, lambda: device.import_device_address(0, 16)),
                (TypeError, lambda: __import__("pickle").dumps(buffer)), (TypeError, lambda: queue.dispatch(None, 1)),
                (AttributeError, lambda: setattr(buffer, "anything", 1)),
                (TypeError, lambda: queue.execute(None)), (TypeError, lambda: queue.dealloca(None)),
                # The library could not tell that these are of another type.
                (TypeError, lambda: queue.dealloca(semaphore)), (TypeError, lambda: queue.execute(buffer)),
                (TypeError, lambda: queue.dispatch(buffer, 1)), (TypeError, lambda: queue.dispatch_raw(buffer, 1, b"")),
                (TypeError, lambda: device.record().dispatch_raw(device, 1, b"")), (TypeError, lambda: queue.fill(semaphore, b"x")),
                (TypeError, lambda: queue.fill(BufferRange(semaphore, 0, 4), b"x")), (TypeError, lambda: BufferView(semaphore, 4)),
                (TypeError, lambda: queue.barrier([(buffer, 1)])), (TypeError, lambda: queue.barrier([Point(buffer, 1)])),
                (TypeError, lambda: windlass.from_dlpack(BufferView(buffer, 64), queue)),
                (TypeError, lambda: queue.download(device, bytearray(4))), (TypeError, lambda: queue.download_blocking(device)),
            ):
                raises(kinds, action)
            recorder = device.record(1)
            event = device.record().create_event()
            for kinds, action in (
                (Error, lambda: recorder.fill(Slot(0), b"x")), (Error, lambda: recorder.fill(Slot(7, 0, 4), b"x")),
                (Error, lambda: recorder.wait_events([event])), (TypeError, lambda: recorder.signal_event(3)),
                (Error, lambda: recorder.end_debug_group()), (OutOfRangeError, lambda: recorder.fill(Slot(-1, 0, 4), b"x")),
            ):
                raises(kinds, action)
            assert semaphore.query() == 0
        """)

    def test_an_object_that_was_never_made(self):
        self.run_child("""
            for kind in (Buffer, Queue, Semaphore, Device, BufferView, windlass.Function):
                one = kind.__new__(kind)
                assert one.closed
                raises(FailedPreconditionError, lambda: one._h)
                repr(one)
                one.close()
                del one
        """)

    def test_threads_that_close_what_others_use(self):
        self.run_child("""
            device = Device(CPU)
            queue = device.queue()
            for _ in range(50):
                buffers = [device.allocate_host(256) for _ in range(20)]
                def use():
                    for buffer in buffers:
                        try:
                            queue.fill(buffer, b"x")
                            buffer.read()
                        except FailedPreconditionError:
                            pass
                def close():
                    for buffer in buffers:
                        buffer.close()
                threads = [threading.Thread(target=one) for one in (use, close, use, close)]
                [thread.start() for thread in threads]
                [thread.join() for thread in threads]
        """)

    def test_mappings_outlive_what_other_threads_close(self):
        self.run_child("""
            for uri in (GPU, CPU):
                for _ in range(10):
                    device = Device(uri)
                    buffer = device.allocate_host(4096)
                    view, begun = buffer.map(), threading.Barrier(3)
                    def use():
                        begun.wait()
                        for value in range(200):
                            view[value] = value
                            assert bytes(view[value:value + 1]) == bytes([value])
                    threads = [threading.Thread(target=use) for _ in range(2)]
                    [thread.start() for thread in threads]
                    begun.wait()
                    buffer.close()
                    device.close()
                    [thread.join() for thread in threads]
                    assert bytes(view[:200]) == bytes(range(200))
                    view.release()
        """)

    def test_host_calls_wait_for_each_other_and_close_their_device(self):
        self.run_child("""
            for uri in (GPU, CPU):
                device, gate, done = Device(uri), Semaphore(), [Semaphore() for _ in range(40)]
                queue, buffer = device.queue(), device.allocate(64)
                for one in done[:-1]:
                    queue.host_call(lambda: gate.wait_blocking(1), signals=one.at(1))
                def use():
                    queue.fill(buffer, b"x", signals=gate.at(1))
                    gate.wait_blocking(1)
                queue.host_call(use, signals=done[-1].at(1))
                for one in done:
                    one.wait_blocking(1, 60)
                ended = Semaphore()
                def close():
                    for one in (buffer, queue, device):
                        one.close()
                queue.host_call(close, signals=ended.at(1))
                ended.wait_blocking(1, 60)
                assert device.closed
        """)

    def test_the_end_with_work_in_flight(self):
        self.run_child("""
            device, gate, done = Device(GPU), Semaphore(), Semaphore()
            queue, buffer, target = device.queue(), device.allocate(1 << 20), bytearray(1 << 20)
            lent = device.import_host(bytearray(1 << 20))
            for value in range(1, 200):
                queue.fill(buffer, bytes([value]), signals=done.at(value))
                queue.copy(buffer, lent, waits=done.at(value))
            queue.download(buffer, target, gate.at(1), done.at(1000))
            queue.host_call(lambda: None, gate.at(1), done.at(1001))
            queue.host_call(lambda: time.sleep(0.001), done.at(5))
        """)

    def test_the_end_with_callbacks_of_every_kind_pending(self):
        # The gate opens while the interpreter ends, when Python's own functions must not be called any more.
        self.run_child("""
            class Late:
                def __init__(self, gate, value):
                    self.gate, self.value = gate, value
                def __del__(self, signal=Semaphore.signal):
                    signal(self.gate, self.value)
            device, gate, done = Device(CPU), Semaphore(), Semaphore()
            queue, target = device.queue(), bytearray(4096)
            source = device.allocate(4096)
            lent = device.import_host(bytearray(4096))
            view = windlass.from_dlpack(BufferView(device.allocate(64), 64), device)
            for value in range(1, 20):
                queue.host_call(lambda: None, gate.at(value), done.at(value))
                queue.download(source, target, gate.at(value))
                queue.fill(lent, b"x", gate.at(value))
            loop = asyncio.new_event_loop()
            waits = [loop.create_task(gate.wait(value)) for value in range(1, 20)]
            loop.run_until_complete(asyncio.sleep(0))
            for wait in waits:
                wait._log_destroy_pending = False
            loop.close()
            late = [Late(gate, value) for value in range(1, 20)]
            sys.late = late
        """)

    def test_memory_in_use_is_not_freed_at_the_end(self):
        said = self.run_child("""
            class Owner:
                def __del__(self, write=os.write):
                    write(1, b"freed ")
            device, gate = Device(CPU), Semaphore()
            memory = device.allocate(64)
            for used in (False, True):
                twin = device.import_device_address(memory.device_address, 64, owner=Owner())
                if used:
                    device.queue().fill(twin, b"x", waits=gate.at(1))
                twin.close()
            device.drain_blocking(60)
            while len(windlass._inbox._inbox._handlers) > 1:
                time.sleep(0.001)
        """)
        self.assertEqual(said, "freed ")

    def test_the_end_during_host_calls(self):
        self.run_child("""
            device, gate, done, begun = Device(CPU), Semaphore(), Semaphore(), threading.Event()
            def blocks():
                begun.set()
                gate.wait_blocking(1)
            device.queue().host_call(blocks, signals=done.at(1))
            begun.wait()
        """)

    def test_the_end_during_waits_of_daemon_threads(self):
        self.run_child("""
            semaphore = Semaphore()
            for _ in range(8):
                threading.Thread(target=semaphore.wait_blocking, args=(1,), daemon=True).start()
            def busy():
                device = Device(CPU)
                queue, buffer, timeline = device.queue(), device.allocate(64), Semaphore()
                value = 0
                try:
                    while True:
                        value += 1
                        queue.host_call(lambda: None)
                        queue.fill(buffer, b"x", signals=timeline.at(value))
                        timeline.wait_blocking(value)
                except UnavailableError:
                    # Python aborts where a daemon thread prints while the interpreter ends.
                    pass
            for _ in range(3):
                threading.Thread(target=busy, daemon=True).start()
            time.sleep(0.05)
        """, silent=False)

    def test_handlers_of_atexit_before_and_after_ours(self):
        self.run_child("""
            def late():
                # Runs after the inbox has ended.
                queue.fill(buffer, b"x", signals=done.at(50))
                done.wait_blocking(50, 60)
                raises(UnavailableError, lambda: queue.host_call(print))
                raises(UnavailableError, lambda: asyncio.run(Semaphore().wait(1)))
                print("late is done")
            atexit.register(late)
            device, done = Device(CPU), Semaphore()
            queue, buffer = device.queue(), device.allocate(64)
            queue.host_call(lambda: None, signals=done.at(1))
            def early():
                called = Semaphore()
                queue.host_call(lambda: None, signals=called.at(1))
                try:
                    called.wait_blocking(1, 60)
                except AbortedError as error:
                    # Python 3.12 starts no thread here.
                    assert "the host call was not made" in str(error), error
            atexit.register(early)
        """, "late is done")

    def test_sys_exit_in_a_coroutine_that_waits(self):
        self.run_child("""
            async def leave():
                await asyncio.sleep(0.01)
                sys.exit(5)
            async def main():
                asyncio.ensure_future(leave())
                await Semaphore().wait(1)
            asyncio.run(main())
        """, status=5)

    def test_os_exit(self):
        self.run_child("""
            device, gate = Device(GPU), Semaphore()
            queue, buffer = device.queue(), device.allocate(1 << 20)
            for _ in range(100):
                queue.fill(buffer, b"x")
            queue.host_call(lambda: None, gate.at(1))
            os._exit(0)
        """)

    def test_ctrl_c_interrupts_waits(self):
        self.run_child("""
            import signal
            device, gate = Device(CPU), Semaphore()
            queue, buffer = device.queue(), device.allocate(64)
            for wait in (
                lambda: gate.wait_blocking(1), lambda: gate.at(1).wait_blocking(3600), lambda: windlass.wait_all_blocking(gate.at(1)),
                lambda: windlass.wait_any_blocking([gate.at(1)]), lambda: queue.download_blocking(buffer, gate.at(1)),
                lambda: queue.upload_blocking(bytes(64), buffer, gate.at(1)), lambda: asyncio.run(gate.wait(1)),
            ):
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
                raises(KeyboardInterrupt, wait)
        """)

    def test_a_forked_child_is_refused_and_ends(self):
        self.run_child("""
            import warnings
            warnings.simplefilter("ignore")
            for uri in (GPU, CPU):
                device, done = Device(uri), Semaphore()
                queue, buffer = device.queue(), device.allocate_host(64)
                queue.host_call(lambda: None, signals=done.at(1))
                done.wait_blocking(1, 60)
                view = buffer.map()
                for clean in (True, False):
                    child = os.fork()
                    if child == 0:
                        for action in (
                            lambda: Device(uri), lambda: queue.fill(buffer, b"x"), lambda: done.signal(9), lambda: done.query(),
                            lambda: Semaphore(), lambda: queue.host_call(print), lambda: buffer.size, lambda: buffer.map(),
                            lambda: asyncio.run(done.wait(99)), lambda: windlass.drivers(),
                        ):
                            error = raises(FailedPreconditionError, action)
                            assert "fork" in str(error), error
                        repr(buffer.closed)
                        del action, error
                        device = queue = buffer = done = view = None
                        gc.collect()
                        if clean:
                            sys.exit(0)
                        os._exit(0)
                    assert os.waitpid(child, 0)[1] == 0
                queue.fill(buffer, b"y", signals=done.at(2))
                done.wait_blocking(2, 60)
                assert bytes(view[:2]) == b"yy"
        """)

    def test_callbacks_that_raise_are_reported(self):
        self.run_child("""
            import io
            told = []
            sys.unraisablehook = lambda one: told.append(one.exc_value)
            device = Device(CPU)
            def wrong():
                raise ValueError("once")
            done = Semaphore()
            device.queue().host_call(wrong, signals=done.at(1), non_blocking=True)
            done.wait_blocking(1, 60)
            while not told:
                time.sleep(0.001)
            assert str(told[0]) == "once"
            device.queue().host_call(lambda: None, signals=done.at(2))
            done.wait_blocking(2, 60)
        """)

    def test_callbacks_may_raise_under_pythons_own_hook_and_under_one_that_raises(self):
        self.run_child("""
            import io
            def forwards(one):
                sys.__unraisablehook__(one)     # It takes only what Python itself makes.
            def exits(one):
                sys.exit(one)
            def wrong(payload, error):
                raise ValueError("once")
            before = sys.stderr
            for hook in (sys.__unraisablehook__, forwards, exits):
                sys.unraisablehook, sys.stderr = hook, io.StringIO()
                semaphore, done, heard = Semaphore(), Semaphore(), threading.Event()
                with semaphore.observe(wrong), done.observe(lambda *_: heard.set()):
                    semaphore.signal(1)
                    done.signal(1)
                    assert heard.wait(60), hook
                text, sys.stderr = sys.stderr.getvalue(), before
                assert "ValueError: once" in text and "function wrong" in text, text
        """)

    def test_cycles_are_collected_on_any_thread(self):
        self.run_child("""
            device = Device(CPU)
            before = device.statistics.allocations
            class Node:
                pass
            def make():
                for _ in range(200):
                    node = Node()
                    node.self, node.buffer = node, device.allocate_host(64)
                    node.view, node.queue = node.buffer.map(), device.queue()
                gc.collect()
            threads = [threading.Thread(target=make) for _ in range(4)]
            [thread.start() for thread in threads]
            [thread.join() for thread in threads]
            gc.collect()
            device.drain_blocking(60)
            assert device.statistics.allocations == before, device.statistics
        """)

    def test_objects_that_go_at_the_very_end(self):
        self.run_child("""
            import builtins
            device = Device(GPU)
            builtins.kept = [device, device.queue(), device.allocate_host(64), Semaphore(), BufferView(device.allocate(8), 8)]
            sys.kept = [builtins.kept[2].map(), builtins.kept[4].__dlpack__(), device.record()]
            cycle = [sys.kept]
            cycle.append(cycle)
            class Last:
                def __del__(self, device=device):
                    device.allocate(64)
            threading.last = Last()
        """, silent=False)

    def test_the_library_cannot_be_loaded(self):
        self.run_child("""
            os.environ["WINDLASS_LIBRARY"] = "/nowhere/libwindlass.so"
            error = raises(NotFoundError, Semaphore)
            assert "/nowhere/libwindlass.so" in str(error) and "WINDLASS_LIBRARY" in str(error), error
            os.environ["WINDLASS_LIBRARY"] = __import__("ctypes.util").util.find_library("c")
            raises(UnavailableError, Semaphore)
            os.environ["WINDLASS_LIBRARY"] = sys.executable
            raises((UnavailableError, NotFoundError), Semaphore)
        """)


if __name__ == "__main__":
    unittest.main()
