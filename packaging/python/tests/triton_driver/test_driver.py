# SPDX-License-Identifier: MIT OR Apache-2.0
"""`windlass.triton`: what its driver promises, and what it refuses. Needs triton and numpy.

python3 test_driver.py          # WINDLASS_DEVICE names the device
"""

import asyncio
import gc
import os
import subprocess
import sys
import tempfile
import threading
import unittest

_cache = tempfile.TemporaryDirectory()
os.environ.setdefault("TRITON_CACHE_DIR", _cache.name)

import numpy as np
import kernels
import triton
from triton.runtime.errors import OutOfResources
from triton.tools.tensor_descriptor import TensorDescriptor

import windlass
import windlass.triton

HERE = os.path.dirname(os.path.abspath(__file__))
URI = os.environ.get("WINDLASS_DEVICE", "hip-sim://gfx942")
driver = windlass.triton.Driver(URI)
triton.runtime.driver.set_active(driver)
rng = np.random.default_rng(3)
# A fault loses a device of `hip://`, as on hardware.
RECOVERS = URI.startswith("hip-sim:")


def refusal(error, action, *words):
    try:
        action()
    except error as raised:
        for word in words:
            assert word in str(raised), f"`{word}` is not in: {raised}"
        return str(raised)
    raise AssertionError("nothing was raised")


def counter():
    return counter_of(driver)


def counter_of(driver):
    return driver.to_device(np.zeros(64, np.int32))


def increase(tensor, by=1):
    kernels.increase[(1,)](tensor, by, BLOCK=64)


def fault_and_synchronize_the_device():
    kernels.store_far_away[(1,)](counter(), 1 << 20)
    driver.synchronize()


class Elsewhere:
    """A tensor of another library, in the host's memory."""

    dtype = "int32"

    def __init__(self, array):
        self.array = array

    def data_ptr(self):
        return self.array.ctypes.data


class Driver(unittest.TestCase):
    def test_sums_are_those_of_numpy(self):
        for length in (1, 1000, 98432):
            x, y = rng.standard_normal((2, length), np.float32)
            out = windlass.triton.empty(length)
            kernels.add[(triton.cdiv(length, 256),)](driver.to_device(x), driver.to_device(y), out, length, BLOCK=256)
            assert (out.numpy() == x + y).all()

    def test_launches_are_asynchronous_and_streams_overlap(self):
        gate, held, free = windlass.Semaphore(), driver.stream(), driver.stream()
        first, second = counter(), counter()
        held.wait(gate, 1)
        with driver.on(held):
            increase(first)
        with driver.on(free):
            increase(second)
        free.synchronize()
        assert second.numpy(free).tolist() == [1] * 64
        assert not held.query() and free.query()
        gate.signal(1)
        assert first.numpy(held).tolist() == [1] * 64 and held.query()

    def test_a_stream_is_in_order(self):
        stream, tensor = driver.stream(), counter()
        with driver.on(stream):
            for by in range(1, 50):
                increase(tensor, by)
        assert tensor.numpy(stream).tolist() == [sum(range(1, 50))] * 64

    def test_events_order_streams(self):
        gate, before, after, tensor = windlass.Semaphore(), driver.stream(), driver.stream(), counter()
        before.wait(gate, 1)
        with driver.on(before):
            increase(tensor, 5)
        event = before.record_event()
        after.wait_event(event)
        with driver.on(after):
            kernels.add[(1,)](tensor, tensor, tensor, 64, BLOCK=64)
        assert not event.query() and not after.query()
        gate.signal(1)
        event.synchronize()
        assert tensor.numpy(after).tolist() == [10] * 64
        third = driver.stream()
        third.wait_stream(after)
        done = windlass.Semaphore()
        third.signal(done, 7)
        done.wait_blocking(7)

    def test_events_measure(self):
        start, end = (windlass.triton.Event(enable_timing=True) for _ in range(2))
        start.record()
        increase(counter())
        end.record()
        assert start.elapsed_time(end) > 0
        refusal(RuntimeError, lambda: windlass.triton.Event().elapsed_time(end), "enable_timing=True")
        tensor = counter()
        times = triton.testing.do_bench(lambda: increase(tensor), warmup=1, rep=5, quantiles=[0.5, 0.2, 0.8])
        assert len(times) == 3 and min(times) > 0 and tensor.numpy()[0] > 6

    def test_work_in_flight_keeps_its_tensors(self):
        gate, stream = windlass.Semaphore(), driver.stream()
        out = windlass.triton.empty(64, "float32")
        with driver.on(stream):
            stream.wait(gate, 1)
            x = driver.to_device(np.full(64, 1.5, np.float32))
            kernels.add[(1,)](x, x, out, 64, BLOCK=64)
            x.free()
            # The memory would be taken again.
            others = [driver.to_device(np.zeros(64, np.float32)) for _ in range(20)]
        gc.collect()
        gate.signal(1)
        assert out.numpy(stream).tolist() == [3] * 64 and others

    @unittest.skipUnless(RECOVERS, "a fault loses this device")
    def test_a_fault_is_told_with_kernel_and_lane(self):
        tensor, stream, later, gate = counter(), driver.stream(), counter(), windlass.Semaphore()
        stream.wait(gate, 1)
        with driver.on(stream):
            kernels.store_far_away[(1,)](tensor, 1 << 20)
            increase(later)
        gate.signal(1)
        refusal(windlass.triton.KernelError, stream.synchronize, "store_far_away", "instruction", "lane", "0x")
        # It is told once, and the stream starts anew.
        with driver.on(stream):
            increase(later.zero_())
        assert later.numpy(stream).tolist() == [1] * 64

    @unittest.skipUnless(RECOVERS, "a fault loses this device")
    def test_a_fault_is_told_by_the_next_launch(self):
        tensor, stream = counter(), driver.stream()
        with driver.on(stream):
            kernels.store_far_away[(1,)](tensor, 1 << 20)
            refusal(windlass.triton.KernelError, stream.record_event().synchronize, "store_far_away")
            refusal(windlass.triton.KernelError, lambda: increase(tensor), "store_far_away")
            increase(tensor)
        refusal(windlass.triton.KernelError, fault_and_synchronize_the_device, "store_far_away")
        driver.synchronize()

    @unittest.skipUnless(RECOVERS, "a fault loses this device")
    def test_work_of_a_dropped_stream_is_waited_for(self):
        gate, tensors = windlass.Semaphore(), [counter() for _ in range(2)]
        for tensor in tensors:
            stream = driver.stream()
            stream.wait(gate, 1)
            with driver.on(stream):
                increase(tensor, 4)
                if tensor is tensors[1]:
                    kernels.store_far_away[(1,)](tensor, 1 << 20)
            del stream
        gc.collect()
        gate.signal(1)
        refusal(windlass.triton.KernelError, driver.synchronize, "store_far_away")
        assert [tensor.numpy().tolist() for tensor in tensors] == [[4] * 64] * 2
        driver.synchronize()
        for _ in range(20):
            with driver.on(driver.stream()):
                increase(tensors[0])
            driver.synchronize()
        driver.stream()
        assert not driver.device().busy

    def test_a_failure_names_the_launches_in_flight(self):
        gate, stream, tensor = windlass.Semaphore(), driver.stream(), counter()
        stream.wait(gate, 1)
        with driver.on(stream):
            increase(tensor)
            kernels.add[(1,)](tensor, tensor, tensor, 64, BLOCK=64)
        gate.fail("the gate broke")
        refusal(windlass.triton.KernelError, stream.synchronize, "the gate broke", "in flight", "increase, add")
        assert stream.query() and tensor.numpy().tolist() == [0] * 64

    @unittest.skipIf(RECOVERS, "this device recovers from faults")
    def test_a_fault_that_loses_the_device_is_told(self):
        use = (
            "import test_driver as t; x = t.counter()\n"
            "t.kernels.store_far_away[(1,)](x, 1 << 20)\n"
            "print(t.refusal(t.windlass.triton.KernelError, t.driver.synchronize))\n"
            "print(t.refusal(t.windlass.Error, lambda: t.increase(x)))\n"
        )
        ran = subprocess.run([sys.executable, "-c", use], cwd=HERE, stdout=subprocess.PIPE, timeout=300)
        assert ran.returncode == 0 and b"store_far_away" in ran.stdout and b"lost" in ran.stdout, ran

    def test_all_kinds_of_scalars(self):
        given = (-100, -30000, -(2**31), -(2**40), 200, 2**63 + 2048, 1.5, 3.140625, 2.5, 1 / 3, True, None, 7)
        out = driver.zeros(13, "float64")
        kernels.scalars[(1,)](out, *given)
        expected = [0.0 if value is None else float(value) for value in given]
        assert out.numpy()[:11].tolist() == expected[:11], out.numpy()
        assert out.numpy()[11] == 7 and out.numpy()[12] == 0
        # Rounded to the nearest number of the type, and to infinity.
        kernels.scalars[(1,)](out, *given[:6], 1e6, 1 + 2**-8 + 2**-9, 1e39, 1e300, False, driver.to_device(np.array([9.0])), 2)
        assert out.numpy()[6:13].tolist() == [np.inf, 1 + 2**-7, np.inf, 1e300, 0, 2, 9], out.numpy()
        for place, wrong, kind in ((0, 128, "i8"), (4, -1, "u8"), (2, 2**31, "i32")):
            values = list(given)
            values[place] = wrong
            refusal(OverflowError, lambda: kernels.scalars[(1,)](out, *values), "scalars", kind, str(wrong))

    def test_tuples_and_descriptors(self):
        x, y = rng.standard_normal((2, 64), np.float32)
        out = windlass.triton.empty(64)
        kernels.of_tuples[(1,)](out, (driver.to_device(x), 3), (2.5, (driver.to_device(y),)), BLOCK=64)
        assert np.allclose(out.numpy(), x * 3 + y * 2.5, rtol=1e-6)
        x = rng.standard_normal((32, 48), np.float32)
        source, target = driver.to_device(x), windlass.triton.empty((16, 16))
        described = TensorDescriptor(source, [32, 48], [48, 1], [16, 16]), TensorDescriptor(target, [16, 16], [16, 1], [16, 16])
        kernels.through_descriptors[(1,)](*described, rows=8, columns=32)
        assert (target.numpy() == x[8:24, 32:48] * 2).all()

    def test_matrix_products(self):
        a, b = rng.standard_normal((2, 32, 32), np.float32).astype(np.float16)
        out = windlass.triton.empty((32, 32))
        kernels.product[(1,)](driver.to_device(a), driver.to_device(b), out, SIZE=32)
        assert np.allclose(out.numpy(), a.astype(np.float32) @ b.astype(np.float32), atol=1e-4)

    def test_the_autotuner_works(self):
        x = rng.standard_normal((7, 1000), np.float32)
        out = driver.zeros(7)
        kernels.tuned_row_sums[(7,)](driver.to_device(x), out, 1000)
        assert np.allclose(out.numpy(), x.sum(1), atol=1e-3), "results of trials were not reset"
        assert set(kernels.tuned_row_sums.configs_timings) == set(kernels.tuned_row_sums.configs)
        tensor = counter()
        kernels.restored_increase[(1,)](tensor, 4)
        assert tensor.numpy().tolist() == [4] * 64

    def test_hooks_see_launches(self):
        seen, hooks = [], triton.knobs.runtime
        enter, leave = (lambda data: seen.append(("enter", data.get()["name"]))), (lambda data: seen.append(("exit", data.get()["name"])))
        hooks.launch_enter_hook.add(enter)
        hooks.launch_exit_hook.add(leave)
        try:
            increase(counter())
        finally:
            hooks.launch_enter_hook.remove(enter)
            hooks.launch_exit_hook.remove(leave)
        assert seen == [("enter", "increase"), ("exit", "increase")], seen

    def test_tensors_hold_what_numpy_gave(self):
        for kind in ("float64", "float32", "float16", "int64", "int32", "int16", "int8", "uint8", "bool"):
            array = (rng.standard_normal((3, 5)) * 50).astype(kind)
            tensor = driver.to_device(array.T)
            assert (tensor.numpy() == array.T).all() and tensor.shape == (5, 3) and str(tensor.dtype) == kind
            assert (np.asarray(tensor.clone()) == array.T).all()
        brain = driver.to_device(np.arange(4, dtype=np.uint16), "bfloat16")
        assert str(brain.dtype) == "bfloat16" and brain.view("int16").numpy().tolist() == [0, 1, 2, 3]
        assert driver.zeros((2, 3, 4)).reshape(6, -1).shape == (6, 4) and driver.empty((2, 3, 4)).stride() == (12, 4, 1)
        empty = driver.to_device(np.zeros((0, 4), np.float32))
        assert empty.numpy().shape == (0, 4) and empty.zero_().clone().numel() == 0
        tensor = counter()
        tensor.copy_(np.full(64, 9, np.int32))
        assert tensor.copy_(driver.to_device(np.full(64, 3, np.int32))).numpy().tolist() == [3] * 64

    def test_tensors_are_exchanged_without_a_copy(self):
        tensor = counter()
        same = windlass.triton.from_dlpack(tensor)
        assert same.data_ptr() == tensor.data_ptr() and same.shape == (64,) and str(same.dtype) == "int32"
        increase(same)
        del same
        gc.collect()
        increase(tensor)
        assert tensor.numpy().tolist() == [2] * 64
        # Behind work of another stream.
        gate, first, second = windlass.Semaphore(), driver.stream(), driver.stream()
        first.wait(gate, 1)
        length = 1 << 22
        ones, sums = driver.to_device(np.ones(length, np.float32)), driver.empty(length)
        with driver.on(first):
            kernels.add[(length // 256,)](ones, ones, sums, length, BLOCK=256)
            gate.signal(1)
            mine = driver.from_dlpack(sums, second)
        assert (mine.numpy(second) == 2).all()
        for kind in ("float16", "bfloat16", "int8", "uint64", "bool"):
            given = driver.zeros((3, 4), kind)
            assert str(driver.from_dlpack(given).dtype) == kind and driver.from_dlpack(given).shape == (3, 4)
        refusal(BufferError, lambda: driver.from_dlpack(driver.zeros(4, "float8_e5m2")), "float8_e5m2", "uint8")
        refusal(BufferError, lambda: driver.from_dlpack(7))

    def test_memory_of_numpy_is_used_in_place(self):
        array = np.zeros(64, np.int32)
        tensor = driver.from_dlpack(array)
        increase(tensor, 3)
        driver.synchronize()
        assert array.tolist() == [3] * 64
        address = array.ctypes.data
        del tensor
        gc.collect()
        assert array.ctypes.data == address and array.tolist() == [3] * 64

    def test_a_task_awaits_a_stream(self):
        async def idle(stream):
            await stream.point()

        async def both():
            streams, tensors = [driver.stream(), driver.stream()], [counter(), counter()]
            for stream, tensor in zip(streams, tensors):
                with driver.on(stream):
                    increase(tensor, 5)
            await asyncio.gather(*map(idle, streams))
            return [tensor.numpy(stream).tolist() for tensor, stream in zip(tensors, streams)]

        assert asyncio.run(both()) == [[5] * 64] * 2

    def test_wrong_arguments_are_refused(self):
        tensor = counter()
        refusal(TypeError, lambda: increase(np.zeros(64, np.int32)))
        refusal(ValueError, lambda: increase(Elsewhere(np.zeros(64, np.int32))), "increase", "`x`", "to_device")
        freed = counter()
        freed.free()
        refusal(ValueError, lambda: increase(freed), "freed")
        refusal(ValueError, freed.numpy, "freed")
        refusal(ValueError, freed.data_ptr, "freed")
        refusal(TypeError, lambda: driver.to_device(np.zeros(3, complex)), "complex128", "float32")
        refusal(TypeError, lambda: driver.to_device(np.zeros(3, np.float32), "bfloat16"), "float32")
        refusal(ValueError, lambda: tensor.copy_(np.zeros(3, np.int32)), "(3,)", "(64,)")
        refusal(TypeError, lambda: tensor.copy_(np.zeros(64, np.float32)), "float32", "int32")
        refusal(TypeError, lambda: tensor.copy_(driver.zeros(64)), "float32", "int32")
        refusal(ValueError, lambda: tensor.reshape(5, 7), "(64,)")
        refusal(TypeError, lambda: tensor.view("int8"), "int8")
        refusal(ValueError, lambda: driver.set_current_device(3), "3")
        refusal(ValueError, windlass.triton.Driver, "hip-sim://")
        refusal(windlass.Error, lambda: windlass.triton.Driver("hip-sim://gfx1"), "gfx1", "gfx942")
        kernels.increase[(0,)](tensor, 1, BLOCK=64)
        refusal(ValueError, lambda: kernels.increase[(-1,)](tensor, 1, BLOCK=64), "-1")
        assert tensor.numpy().tolist() == [0] * 64
        refusal(ValueError, lambda: kernels.increase[((1 << 32) + 1,)](tensor, 1, BLOCK=64), "4294967297")
        refusal(windlass.Error, lambda: kernels.increase[(1, 1 << 20)](tensor, 0, BLOCK=64), "1048576", "65536")
        refusal(windlass.ResourceExhaustedError, lambda: driver.empty(1 << 50))
        increase(tensor)
        assert tensor.numpy().tolist() == [1] * 64

    def test_wrong_kernels_are_refused(self):
        tensor = counter()
        compiled = kernels.increase[(1,)](tensor, 1, BLOCK=64)
        code = compiled.asm["hsaco"]
        refusal(windlass.NotFoundError, lambda: driver.utils.load_binary("absent", code, 0, 0), "absent", "increase")
        refusal(windlass.Error, lambda: driver.utils.load_binary("increase", code[:100], 0, 0))
        refusal(windlass.Error, lambda: driver.utils.load_binary("increase", b"", 0, 0))
        registers, spilled, threads = driver.utils.load_binary("increase", code, 0, 0)[2:]
        assert 0 < registers <= 512 and spilled == 0 and threads == 256, (registers, spilled, threads)
        refusal(OutOfResources, lambda: kernels.increase[(1,)](tensor, 1, BLOCK=64, num_warps=32), "threads")
        big = windlass.triton.empty((128, 128), "float64")
        refusal(OutOfResources, lambda: kernels.product[(1,)](big, big, big, SIZE=128), "shared memory")
        refusal(NotImplementedError, lambda: kernels.increase[(1,)](tensor, 1, BLOCK=64, launch_cooperative_grid=True), "cooperative")

    def test_several_devices(self):
        both = windlass.triton.Driver("hip-sim://gfx942", "hip-sim://gfx90a")
        triton.runtime.driver.set_active(both)
        try:
            interface, tensors = both.get_device_interface(), []
            for index, arch in enumerate(("gfx942", "gfx90a")):
                both.set_current_device(index)
                assert both.get_current_target().arch == arch
                tensors.append(both.to_device(np.arange(64, dtype=np.int32)))
                triton.JITFunction(kernels.increase.fn)[(1,)](tensors[index], index + 1, BLOCK=64)
            for index, tensor in enumerate(tensors):
                assert (tensor.numpy() == np.arange(64) + index + 1).all()
            assert interface.device_count() == 2 and interface.current_device() == 1
            with interface.device(0):
                refusal(ValueError, lambda: triton.JITFunction(kernels.increase.fn)[(1,)](tensors[1], 1, BLOCK=64), "gfx90a")
            refusal(ValueError, lambda: tensors[0].numpy(both.stream()), "no stream")
            refusal(ValueError, lambda: tensors[0].copy_(tensors[1]), "gfx90a")
        finally:
            triton.runtime.driver.set_active(driver)

    def test_of_several_gpus_in_a_device_the_first_is_used(self):
        joined = windlass.triton.Driver("hip-sim://gfx942?devices=2")
        triton.runtime.driver.set_active(joined)
        try:
            hal, first = joined.device().hal, triton.JITFunction(kernels.increase.fn)
            assert hal.limits.physical_devices == 2
            for _ in range(8):
                stream, tensor = joined.stream(), counter_of(joined)
                assert stream.queue.affinity & hal.physical_affinity(0) and not stream.queue.affinity & hal.physical_affinity(1)
                with joined.on(stream):
                    first[(1,)](tensor, 3, BLOCK=64)
                assert tensor.numpy(stream).tolist() == [3] * 64
        finally:
            triton.runtime.driver.set_active(driver)

    def test_a_kernel_goes_with_the_driver(self):
        first, tensor = driver.device(), counter()
        increase(tensor)
        other = windlass.triton.Driver(windlass.Device(URI))
        triton.runtime.driver.set_active(other)
        try:
            mine = other.to_device(np.zeros(64, np.int32))
            increase(mine)
            assert mine.numpy().tolist() == [1] * 64 and mine.device is not first
            refusal(ValueError, lambda: increase(tensor), "increase", "`x`")
            unlike = {"gfx942": "gfx90a"}.get(first.processor, "gfx942")
            triton.runtime.driver.set_active(windlass.triton.Driver(f"hip-sim://{unlike}"))
            refusal(RuntimeError, lambda: increase(counter_of(triton.runtime.driver.active)), first.processor, unlike)
        finally:
            triton.runtime.driver.set_active(driver)
        assert tensor.numpy().tolist() == [1] * 64

    def test_threads_have_streams_of_their_own(self):
        errors, together = [], threading.Barrier(4, timeout=60)

        def work(number):
            try:
                stream, tensor = driver.stream(), counter()
                with driver.on(stream):
                    together.wait()
                    for _ in range(20):
                        increase(tensor, number)
                    assert driver.get_current_stream(0) == stream.number
                assert tensor.numpy(stream).tolist() == [20 * number] * 64
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors, errors
        assert driver.get_current_stream(0) == 0

    def test_memory_comes_back(self):
        # Tensors of earlier tests go first.
        gc.collect()
        driver.synchronize()
        before = driver.device().hal.statistics.device_bytes_used
        tensors = [windlass.triton.empty(1 << 16) for _ in range(8)]
        assert driver.device().hal.statistics.device_bytes_used >= before + 8 * (4 << 16)
        del tensors
        gc.collect()
        driver.synchronize()
        assert driver.device().hal.statistics.device_bytes_used == before

    def test_a_process_may_end_with_work_in_flight(self):
        end = (
            "import test_driver as t; s = t.driver.stream(); s.wait(t.windlass.Semaphore(), 1); x = t.counter()\n"
            "with t.driver.on(s): t.increase(x)\n"
            "t.windlass.triton.Event(enable_timing=True).record(s)\n"
            "with t.driver.on(t.driver.stream()): t.kernels.store_far_away[(1,)](x, 1 << 20)\n"
        )
        ran = subprocess.run([sys.executable, "-c", end], cwd=HERE, stderr=subprocess.PIPE, timeout=300)
        assert ran.returncode == 0 and b"Traceback" not in ran.stderr and b"ignored" not in ran.stderr, ran


if __name__ == "__main__":
    unittest.main()
