# SPDX-License-Identifier: MIT OR Apache-2.0
"""Observers, profiles, fences, growable buffers and code files at their ends: closed, forked, and when the interpreter ends."""

import unittest

from child import Child

CODE = 'windlass._installation.Path(os.environ["WINDLASS_BUNDLES"], "vector_add.ccob").read_bytes()'


class Ends(Child):
    def test_use_after_close(self):
        self.run_child(f"""
            device, semaphore = Device(GPU), Semaphore()
            fence, observation, memory = Fence(semaphore.at(1)), semaphore.observe(print), device.reserve_growable(4096)
            file = CodeFile.parse({CODE})
            image, executable, topology = file.extract(0, 7), device.load_executable({CODE}), device.topology()
            function, queue = executable.function("vector_add"), device.queue()
            objects = [fence, observation, memory, file, image, topology, executable, function, semaphore, device]
            for one in objects:
                one.close()
                one.close()
                assert one.closed and "closed" in repr(one), repr(one)
            for action in (
                fence.query, fence.signal, fence.wait_blocking, lambda: fence.points, lambda: len(fence), lambda: fence.fail("x"),
                lambda: Fence.join(fence), lambda: fence.insert(()), lambda: asyncio.run(fence.wait()), lambda: queue.barrier(fence),
                lambda: memory.size, lambda: memory.capacity, lambda: memory.granularity, lambda: memory.device_address,
                lambda: memory.grow_to(1), lambda: memory.shrink_to(0), lambda: memory.buffer(), lambda: len(memory),
                lambda: file.kind, lambda: file.problems, lambda: file.bundles, lambda: file.extract(), lambda: file.select("gfx942"),
                lambda: image.size, lambda: image.data, lambda: image.target, lambda: image.kernels, lambda: image.rejected, image.validate,
                lambda: bytes(image), lambda: topology.nodes, lambda: topology.edge(0, 1), lambda: executable.symbols(),
                lambda: function.occupancy(64), function.suggested_workgroup, lambda: function.resources,
                lambda: semaphore.observe(print), lambda: semaphore.id, lambda: device.heaps, lambda: device.compatibility(4), device.topology,
                lambda: Topology.between([device]), lambda: device.reserve_growable(4), lambda: device.profile(print),
                lambda: device.profile_trace("/tmp/none"), lambda: device.replay_blocking("/tmp/none"), lambda: executable.is_same(executable),
            ):
                error = raises(FailedPreconditionError, action)
                assert "closed" in str(error), error
        """)

    def test_an_object_that_was_never_made(self):
        self.run_child("""
            for kind in (Fence, windlass.Observation, windlass.GrowableBuffer, CodeFile, CodeImage, Topology):
                one = kind.__new__(kind)
                assert one.closed
                repr(one)
                one.close()
                del one
            for kind in (windlass.Observation, windlass.GrowableBuffer, CodeImage, Topology, windlass.Profile):
                raises(TypeError, kind)
            profile = windlass.Profile.__new__(windlass.Profile)
            profile.end()
            raises(FailedPreconditionError, profile.flush)
            del profile
            for kind in (Fence, CodeFile):
                one = kind.__new__(kind)
                raises((TypeError, ValueError), lambda: one.__init__(3))
                del one
        """)

    def test_the_end_with_observers_and_profiles_at_work(self):
        self.run_child("""
            class Late:
                def __init__(self, gate, value):
                    self.gate, self.value = gate, value
                def __del__(self, signal=Semaphore.signal):
                    signal(self.gate, self.value)
            for uri in (GPU, CPU):
                device, gate, done = Device(uri), Semaphore(), Semaphore()
                queue, buffer = device.queue(), device.allocate(4096)
                records, heard = [], []
                profile = device.profile(records.append, commands=True)
                observations = [one.observe(lambda *told: heard.append(told)) for one in (gate, done) for _ in range(5)]
                for value in range(1, 60):
                    queue.fill(buffer, b"x", waits=gate.at(value), signals=done.at(value))
                for value in range(1, 30):
                    gate.signal(value)
                sys.late = getattr(sys, "late", []) + [Late(gate, value) for value in range(30, 60)] + [profile, *observations]
        """)

    def test_the_end_with_a_trace_open(self):
        self.run_child("""
            import tempfile
            with tempfile.TemporaryDirectory() as folder:
                device, done = Device(CPU), Semaphore()
                sys.kept = device.profile_trace(os.path.join(folder, "trace.json"))
                device.queue().barrier(signals=done.at(1))
                done.wait_blocking(1, 60)
        """)

    def test_profiles_end_in_handlers_of_atexit(self):
        self.run_child("""
            def late():
                # Runs after the inbox has ended.
                profile.flush()
                profile.end()
                raises(UnavailableError, lambda: device.profile(print))
                raises(UnavailableError, lambda: done.observe(print))
                with device.profile_trace(os.devnull):
                    pass
                print("late is done")
            atexit.register(late)
            device, done = Device(CPU), Semaphore()
            profile = device.profile(lambda record: None)
            device.queue().barrier(signals=done.at(1))
        """, "late is done")

    def test_a_slow_sink_does_not_hold_up_the_end(self):
        self.run_child("""
            device, done = Device(CPU), Semaphore()
            profile = device.profile(lambda record: time.sleep(0.01), memory=False)
            for value in range(1, 5000):
                device.queue().barrier(signals=done.at(value))
            done.wait_blocking(4999, 60)
            start = time.monotonic()
            atexit.register(lambda: print("took", time.monotonic() - start < 30))
        """, "took True")

    def test_callbacks_that_block_are_given_up_at_the_end(self):
        for blocks in ("threading.Event().wait()", "Semaphore().wait_blocking(1)", "time.sleep(1000)", "profile.flush()"):
            self.run_child(f"""
                device, done, begun = Device(CPU), Semaphore(), threading.Event()
                def hear(*_):
                    begun.set()
                    while True:
                        {blocks}
                profile, observation = device.profile(lambda record: None), done.observe(hear)
                device.queue().barrier(signals=done.at(1))
                done.wait_blocking(1, 60)
                assert begun.wait(60)
            """)

    def test_os_exit_and_sys_exit_in_callbacks(self):
        self.run_child("""
            semaphore = Semaphore()
            heard = threading.Event()
            def leave(payload, error):
                heard.set()
                sys.exit(3)
            told = []
            sys.unraisablehook = lambda one: told.append(one.exc_type)
            observation = semaphore.observe(leave)
            semaphore.signal(1)
            heard.wait(60)
            until(lambda: told == [SystemExit])
            again = Semaphore().observe(lambda *_: os._exit(5))
            final = Semaphore()
            last = final.observe(lambda *_: os._exit(5))
            final.signal(1)
            time.sleep(60)
        """, status=5)

    def test_a_forked_child_is_refused_and_ends(self):
        self.run_child(f"""
            import warnings
            warnings.simplefilter("ignore")
            device, semaphore, records, heard = Device(GPU), Semaphore(), [], []
            profile, observation = device.profile(records.append), semaphore.observe(lambda *told: heard.append(told))
            fence, memory, file = Fence(semaphore.at(1)), device.reserve_growable(1 << 20), CodeFile.parse({CODE})
            image = file.extract(0, 7)
            data, queue = image.data, device.queue()
            for clean in (True, False):
                child = os.fork()
                if child == 0:
                    for action in (
                        Fence, fence.query, lambda: fence.points, lambda: semaphore.observe(print), lambda: memory.size, lambda: file.kind,
                        lambda: image.data, lambda: device.heaps, device.topology, lambda: CodeFile("x"), profile.flush,
                        lambda: device.profile(print), lambda: asyncio.run(fence.wait()), lambda: windlass.code_format(b"x"),
                    ):
                        error = raises(FailedPreconditionError, action)
                        assert "fork" in str(error), error
                    assert bytes(data[:4]) == b"\\x7fELF"
                    raises(FailedPreconditionError, profile.end)
                    observation.close()
                    fence = memory = file = image = data = profile = observation = action = error = None
                    gc.collect()
                    if clean:
                        sys.exit(0)
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            queue.barrier(signals=semaphore.at(7))
            until(lambda: heard[-1:] == [(7, None)])
            profile.end()
            assert "queue_barrier" in [record.name for record in records], records
        """)

    def test_threads_that_close_what_others_use(self):
        self.run_child(f"""
            device, code = Device(CPU), {CODE}
            for _ in range(30):
                semaphores = [Semaphore() for _ in range(8)]
                fence, memory, file = Fence(one.at(1) for one in semaphores), device.reserve_growable(1 << 20), CodeFile.parse(code)
                image = file.extract(0, 7)
                observations = [one.observe(lambda *_: None) for one in semaphores]
                def use():
                    for action in (
                        lambda: fence.points, fence.query, fence.signal, lambda: memory.grow_to(1 << 19), lambda: memory.buffer(),
                        lambda: file.bundles, lambda: file.select("gfx942"), lambda: image.kernels, lambda: bytes(image),
                    ):
                        try:
                            action()
                        except FailedPreconditionError:
                            pass
                def close():
                    for one in (fence, memory, file, image, *observations):
                        one.close()
                threads = [threading.Thread(target=one) for one in (use, use, close, use, close)]
                [thread.start() for thread in threads]
                [thread.join() for thread in threads]
        """)

    def test_profiles_begin_and_end_on_many_threads(self):
        self.run_child("""
            device, stop = Device(CPU), threading.Event()
            queue = device.queue()
            def work():
                while not stop.is_set():
                    done = Semaphore()
                    queue.host_call(lambda: None, signals=done.at(1))
                    done.wait_blocking(1, 60)
            ends = []
            def profiles():
                for _ in range(50):
                    try:
                        with device.profile(lambda record: None) as profile:
                            profile.flush()
                        ends.append(True)
                    except FailedPreconditionError:
                        pass
            others = [threading.Thread(target=work) for _ in range(2)]
            mine = [threading.Thread(target=profiles) for _ in range(4)]
            [thread.start() for thread in others + mine]
            [thread.join() for thread in mine]
            stop.set()
            [thread.join() for thread in others]
            assert ends
            device.profile(print).end()
        """)

    def test_cycles_are_collected(self):
        self.run_child("""
            device, semaphore = Device(CPU), Semaphore()
            gone = []
            class Node:
                def hear(self, payload, error):
                    pass
                def sink(self, record):
                    pass
            for _ in range(20):
                node = Node()
                node.self, node.observation = node, semaphore.observe(lambda payload, error: None)
                node.profile, node.fence = device.profile(lambda record: None), Fence(semaphore.at(9))
                gone.append(weakref.ref(node))
                del node
                gc.collect()
            assert not any(one() for one in gone)
            until(lambda: not windlass._inbox._inbox._handlers)
        """)

    def test_ctrl_c_interrupts_waits(self):
        self.run_child("""
            import signal
            gate, device = Semaphore(), Device(CPU)
            fence = Fence([gate.at(1), Semaphore().at(1)])
            blocked = threading.Event()
            profile = device.profile(lambda record: blocked.wait(), memory=False)
            done = Semaphore()
            device.queue().barrier(signals=done.at(1))
            done.wait_blocking(1, 60)
            for wait in (fence.wait_blocking, lambda: asyncio.run(fence.wait()), profile.flush):
                threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
                raises(KeyboardInterrupt, wait)
            blocked.set()
            profile.end()
        """)


if __name__ == "__main__":
    unittest.main()
