# SPDX-License-Identifier: MIT OR Apache-2.0
"""Arrays that are exchanged with other libraries: DLPack, the buffer protocol, numpy."""

import ctypes
import gc
import os
import sys
import threading
import unittest
import weakref

import windlass
from windlass import BufferParams, BufferView, Device, ElementType, Semaphore
from windlass import _dlpack

try:
    import numpy as np
except ImportError:
    np = None

GPU = os.environ.get("WINDLASS_TEST_GPU", "hip-sim://gfx942?memory=64M&devices=2")
SECOND_GPU = os.environ.get("WINDLASS_TEST_SECOND_GPU", "hip-sim://gfx942?memory=64M&devices=2&device=1")
CPU = "local://?threads=2"


def name_of(capsule):
    get = ctypes.pythonapi.PyCapsule_GetName
    get.argtypes, get.restype = [ctypes.py_object], ctypes.c_char_p
    return get(capsule)


class Mapping(unittest.TestCase):
    def test_a_view_keeps_the_memory(self):
        for uri in (GPU, CPU):
            device = Device(uri)
            buffer = device.allocate_host(4096)
            view = buffer.map()
            self.assertEqual((view.nbytes, view.format, view.readonly, view.ndim), (4096, "B", False, 1))
            view[:4] = b"abcd"
            self.assertEqual(buffer.read(0, 4), b"abcd")
            buffer.write(b"xy", 1)
            self.assertEqual(bytes(view[:4]), b"axyd")
            self.assertEqual(bytes(buffer.subspan(1, 2).map()), b"xy")
            buffer.close()
            device.close()
            del buffer, device
            gc.collect()
            view[4:8] = b"efgh"
            self.assertEqual(bytes(view[:8]), b"axydefgh")

    def test_memory_without_a_host_pointer(self):
        with Device(GPU) as device:
            with self.assertRaises(windlass.FailedPreconditionError):
                device.allocate(16).map()
            with self.assertRaises(windlass.OutOfRangeError):
                device.allocate_host(16).read(8, 9)
            with self.assertRaises(windlass.OutOfRangeError):
                device.allocate_host(16).read(0, 1 << 60)

    def test_the_buffer_protocol(self):
        with Device(CPU) as device:
            buffer = device.allocate_host(16)
            buffer.write(bytes(range(16)))
            self.assertEqual(bytes(buffer.__buffer__(0)), bytes(range(16)))
            read_only = device.allocate(16, BufferParams.host()._replace(usage=_reads()))
            self.assertTrue(read_only.map().readonly)
            with self.assertRaises(BufferError):
                read_only.__buffer__(1)
            if sys.version_info >= (3, 12):
                self.assertEqual(bytes(memoryview(buffer)), bytes(range(16)))


def _reads():
    usage = windlass.BufferUsage
    return usage.TRANSFER_SOURCE | usage.DISPATCH_STORAGE_READ | usage.MAPPING


class Views(unittest.TestCase):
    def setUp(self):
        self.device = Device(CPU)
        self.addCleanup(self.device.close)

    def test_facts(self):
        view = BufferView(self.device.allocate_host(24), (2, 3), "f32")
        self.assertEqual((view.shape, view.element_type, view.nbytes), ((2, 3), ElementType.FLOAT_32, 24))
        self.assertEqual(view.element_type.short_name, "f32")
        self.assertEqual(repr(view), "<windlass.BufferView 2x3xf32>")
        self.assertEqual(BufferView(self.device.allocate_host(4), (), "i32").shape, ())
        self.assertEqual([kind.size for kind in (ElementType.BOOL_8, ElementType.BFLOAT_16, ElementType.FLOAT_64)], [1, 2, 8])
        self.assertEqual(view.buffer.size, 24)

    def test_what_is_no_view(self):
        buffer = self.device.allocate_host(24)
        for shape, kind, error in (
            ((2, 3), "f64", windlass.InvalidArgumentError),
            ((2, -3), "f32", windlass.OutOfRangeError),
            ((1 << 62, 1 << 62), "f32", windlass.OutOfRangeError),
            ((2, 3), "f33", windlass.InvalidArgumentError),
            ((2, 3), object(), TypeError),
            ((2, "3"), "f32", TypeError),
        ):
            with self.assertRaises(error, msg=(shape, kind)):
                BufferView(buffer, shape, kind)
        with self.assertRaises(TypeError):
            BufferView(None, (1,), "f32")

    def test_as_a_memoryview(self):
        view = BufferView(self.device.allocate_host(24), (2, 3), "f32")
        mapped = view.map()
        mapped[1, 2] = 7.5
        self.assertEqual((mapped.shape, mapped.format), ((2, 3), "f"))
        self.assertEqual(view.buffer.map().cast("f")[5], 7.5)
        scalar = BufferView(self.device.allocate_host(8), (), "f64").map()
        self.assertEqual(scalar.shape, ())
        with self.assertRaises(windlass.UnimplementedError):
            BufferView(self.device.allocate_host(2), (1,), "bf16").map()


class Capsules(unittest.TestCase):
    """Without any other library."""

    def setUp(self):
        self.device, self.gpu = Device(CPU), Device(GPU)
        self.addCleanup(self.device.close)
        self.addCleanup(self.gpu.close)

    def test_devices(self):
        kinds = [BufferView(one, one.size).__dlpack_device__() for one in (
            self.device.allocate(8), self.gpu.allocate(8), self.gpu.allocate_host(8),
            Device(SECOND_GPU).allocate(8),
        )]
        self.assertEqual(kinds, [(1, 0), (10, 0), (11, 0), (10, 1)])

    def test_versions(self):
        view = BufferView(self.device.allocate(8), 8)
        for version, name in ((None, b"dltensor"), ((0, 8), b"dltensor"), ((1, 0), b"dltensor_versioned"), ((2, 3), b"dltensor_versioned")):
            self.assertEqual(name_of(view.__dlpack__(max_version=version)), name)

    def test_a_capsule_that_nobody_takes_gives_the_memory_back(self):
        for version in (None, (1, 1)):
            before = self.device.statistics.allocations
            view = BufferView(self.device.allocate(8), 8)
            capsule = view.__dlpack__(max_version=version)
            del view
            gc.collect()
            self.assertEqual(self.device.statistics.allocations, before + 1)
            del capsule
            self.assertEqual(self.device.statistics.allocations, before)

    def test_a_pending_exception_survives_the_end_of_a_capsule(self):
        view = BufferView(self.device.allocate(8), 8)
        new = ctypes.pythonapi.PyErr_SetString
        new.argtypes, new.restype = [ctypes.py_object, ctypes.c_char_p], None

        class Holder:
            def __init__(self):
                self.capsule = view.__dlpack__()

        def fails():
            holder = [Holder().capsule]
            return [].pop(*holder)

        with self.assertRaises(TypeError):
            fails()

    def test_there_and_back(self):
        for device, make in ((self.device, self.device.allocate), (self.gpu, self.gpu.allocate), (self.gpu, self.gpu.allocate_host)):
            for version in (None, (1, 1)):
                queue, timeline = device.queue(), Semaphore()
                first = BufferView(make(48), (3, 4), "f32")
                capsule = first.__dlpack__(max_version=version)
                second = windlass.from_dlpack(capsule, device)
                self.assertEqual((second.shape, second.element_type), ((3, 4), ElementType.FLOAT_32))
                self.assertTrue(name_of(capsule).startswith(b"used_dltensor"))
                queue.fill(first.buffer, b"\x05", signals=timeline.at(1))
                self.assertEqual(queue.download_blocking(second.buffer, waits=timeline.at(1)), b"\x05" * 48)
                with self.assertRaises(BufferError):
                    windlass.from_dlpack(capsule, device)
                self.assertEqual(windlass.from_dlpack(first, device).shape, (3, 4))

    def test_each_element_type(self):
        for kind in ElementType:
            view = BufferView(self.device.allocate(4 * kind.size), 4, kind)
            back = windlass.from_dlpack(view, self.device).element_type
            signed = {"INT": "SINT"}.get(kind.name.partition("_")[0], kind.name.partition("_")[0])
            self.assertEqual(back.name, f"{signed}_{kind.name.partition('_')[2]}")

    def test_memory_of_the_wrong_device(self):
        view = BufferView(self.gpu.allocate(8), 8)
        with self.assertRaises(windlass.InvalidArgumentError):
            windlass.from_dlpack(view, self.device)
        second = Device(SECOND_GPU)
        with self.assertRaises(windlass.InvalidArgumentError):
            windlass.from_dlpack(view, second)

    def test_streams(self):
        view = BufferView(self.gpu.allocate(8), 8)
        for stream in (None, 0, -1, 3, 1 << 40):
            view.__dlpack__(stream=stream)
        for stream in (1, 2, -2, "0"):
            with self.assertRaises(BufferError):
                view.__dlpack__(stream=stream)
        on_cpu = BufferView(self.device.allocate(8), 8)
        on_cpu.__dlpack__(stream=-1)
        with self.assertRaises(BufferError):
            on_cpu.__dlpack__(stream=0)

    def test_a_consumer_gets_the_array_behind_its_points(self):
        gate, taken = Semaphore(), []
        view = BufferView(self.gpu.allocate(8), 8, ready=gate.at(1))
        thread = threading.Thread(target=lambda: taken.append((view.__dlpack__(stream=5), gate.query())))
        thread.start()
        thread.join(0.02)
        gate.signal(1)
        thread.join()
        self.assertEqual(taken[0][1], 1)

    def test_a_failed_point_is_raised(self):
        semaphore = Semaphore()
        view = BufferView(self.gpu.allocate(8), 8, ready=semaphore.at(1))
        view.__dlpack__(stream=-1)
        semaphore.fail(windlass.AbortedError("the kernel faulted"))
        for use in (view.__dlpack__, BufferView(self.gpu.allocate_host(8), 8, ready=[semaphore.at(1)]).map):
            with self.assertRaises(windlass.AbortedError):
                use()

    def test_requests_that_cannot_be_met(self):
        view = BufferView(self.gpu.allocate(8), 8)
        for wishes in ({"copy": True}, {"dl_device": (1, 0)}):
            with self.assertRaises(BufferError):
                view.__dlpack__(**wishes)
        view.__dlpack__(copy=False, dl_device=(10, 0))
        read_only = BufferView(self.device.allocate(8, BufferParams.host()._replace(usage=_reads())), 8)
        read_only.__dlpack__(max_version=(1, 0))
        with self.assertRaises(BufferError):
            read_only.__dlpack__()
        for source in (3, None, object()):
            with self.assertRaises(BufferError):
                windlass.from_dlpack(source, self.device)


class Producer:
    """Makes any tensor, and counts the calls of its deleter. Like a real one it lives until that call."""

    alive = []

    def __init__(self, **changes):
        self.deleted = 0
        self.alive.append(self)
        self.memory = (ctypes.c_float * 16)(*range(16))
        self.shape, self.strides = (ctypes.c_int64 * 2)(2, 3), (ctypes.c_int64 * 2)(3, 1)
        self.deleter = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(self.delete)
        self.tensor = _dlpack._Versioned((1, 1), None, ctypes.cast(self.deleter, ctypes.c_void_p), 0)
        one = self.tensor.tensor
        one.data, one.ndim = ctypes.addressof(self.memory), 2
        one.device.device_type = 1
        one.dtype.code, one.dtype.bits, one.dtype.lanes = 2, 32, 1
        one.shape, one.strides = ctypes.addressof(self.shape), ctypes.addressof(self.strides)
        for name, value in changes.items():
            *path, last = name.split("__")
            place = self.tensor if path[:1] == ["head"] else one
            for part in path[1:] if path[:1] == ["head"] else path:
                place = getattr(place, part)
            setattr(place, last, value)

    def delete(self, tensor):
        assert tensor == ctypes.addressof(self.tensor)
        self.deleted += 1

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        return _dlpack._new(ctypes.addressof(self.tensor), _dlpack._NAMES[b"dltensor_versioned"], None)


class Foreign(unittest.TestCase):
    def setUp(self):
        self.device = Device(CPU)
        self.addCleanup(self.device.close)

    def take(self, **changes):
        producer = Producer(**changes)
        return producer, windlass.from_dlpack(producer, self.device)

    def test_the_deleter_is_called_once_after_the_last_use(self):
        from test_waiting import until

        producer, view = self.take()
        gate, queue = Semaphore(), self.device.queue()
        queue.fill(view.buffer.range(0, 4), b"\0", waits=gate.at(1), signals=gate.at(2))
        view.close()
        self.device.poll()
        self.assertEqual(producer.deleted, 0)
        gate.signal(1)
        gate.wait_blocking(2, 60)
        self.device.drain_blocking(60)
        until(lambda: producer.deleted == 1)

    def test_byte_offsets_missing_strides_and_sizes_of_one(self):
        _, view = self.take(byte_offset=4, strides=None)
        self.assertEqual(view.map().tolist(), [[1, 2, 3], [4, 5, 6]])
        producer = Producer()
        producer.shape[0], producer.strides[0] = 1, 999
        self.assertEqual(windlass.from_dlpack(producer, self.device).map().tolist(), [[0, 1, 2]])
        producer = Producer()
        producer.shape[0], producer.strides[1] = 0, 999
        self.assertEqual(windlass.from_dlpack(producer, self.device).shape, (0, 3))
        self.assertEqual(self.take(ndim=0, shape=None)[1].shape, ())

    def test_read_only_memory_stays_so(self):
        _, view = self.take(head__flags=1)
        self.assertTrue(view.map().readonly)
        with self.assertRaises(windlass.Error):
            self.device.queue().fill(view.buffer, b"\0")
        with self.assertRaises(BufferError):
            view.__dlpack__()

    def test_what_is_refused_stays_the_producers(self):
        for changes, error in (
            ({"dtype__lanes": 4}, windlass.UnimplementedError),
            ({"dtype__code": 5, "dtype__bits": 64}, windlass.UnimplementedError),
            ({"dtype__bits": 4}, windlass.UnimplementedError),
            ({"device__device_type": 2}, windlass.InvalidArgumentError),
            ({"device__device_type": 10}, windlass.InvalidArgumentError),
            ({"data": None}, windlass.InvalidArgumentError),
            ({"ndim": -1}, windlass.InvalidArgumentError),
            ({"shape": None}, windlass.InvalidArgumentError),
            ({"byte_offset": 2**64 - 1}, windlass.Error),
            ({"head__version": (ctypes.c_uint32 * 2)(2, 0)}, windlass.UnimplementedError),
        ):
            producer = Producer(**changes)
            with self.assertRaises(error, msg=changes):
                windlass.from_dlpack(producer, self.device)
            gc.collect()
            self.device.drain_blocking(60)
            self.assertEqual(producer.deleted, 0, changes)
        producer = Producer()
        for strides in ((1, 2), (6, 1), (3, 2), (3, -1), (0, 0)):
            producer.strides[:] = strides
            with self.assertRaises(windlass.InvalidArgumentError):
                windlass.from_dlpack(producer, self.device)
        producer.shape[1] = -3
        with self.assertRaises(windlass.InvalidArgumentError):
            windlass.from_dlpack(producer, self.device)


HIP = os.environ.get("WINDLASS_TEST_HIP")


@unittest.skipIf(HIP is None, "WINDLASS_TEST_HIP names no HIP library")
class WithHip(unittest.TestCase):
    """With another library that uses the same HIP in this process."""

    def setUp(self):
        self.hip = ctypes.CDLL(HIP)
        self.device = Device(f"hip://?library={HIP}")
        self.addCleanup(self.device.close)
        self.is_ordered = "windlass_queue_import_timepoint" in windlass._abi.FUNCTIONS

    def checked(self, status):
        self.assertEqual(status, 0)

    def test_their_array_comes_behind_the_default_stream(self):
        test, streams = self, []

        class Theirs(Producer):
            def __init__(self):
                memory = ctypes.c_void_p()
                test.checked(test.hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(1 << 20)))
                super().__init__(data=memory.value, device__device_type=10, dtype__code=1, dtype__bits=8)
                self.shape[:], self.strides[:] = (1024, 1024), (1024, 1)

            def __dlpack_device__(self):
                return 10, 0

            def __dlpack__(self, *, stream, **more):
                streams.append(stream)
                memory = ctypes.c_void_p(self.tensor.tensor.data)
                for value in range(100, -1, -1):
                    test.checked(test.hip.hipMemsetAsync(memory, 7 + value, ctypes.c_size_t(1 << 20), None))
                return super().__dlpack__(**more)

        from test_waiting import until

        queue = self.device.queue()
        for given in (None, queue):
            streams.clear()
            theirs = Theirs()
            view = windlass.from_dlpack(theirs, self.device, queue=given)
            if given is not None and self.is_ordered:
                self.assertNotEqual(view.ready, ())
            found = queue.download_blocking(view.buffer, waits=view.ready)
            self.assertEqual((streams, set(found)), ([0], {7}))
            self.assertEqual(view.__dlpack_device__(), (10, 0))
            view.close()
            until(lambda: theirs.deleted == 1)
            self.checked(self.hip.hipFree(ctypes.c_void_p(theirs.tensor.tensor.data)))

    def test_our_array_in_a_stream_of_theirs(self):
        stream = ctypes.c_void_p()
        self.checked(self.hip.hipStreamCreate(ctypes.byref(stream)))
        for ordered in (False, True):
            self.check_our_array(stream, ordered)
        self.checked(self.hip.hipStreamDestroy(stream))

    def check_our_array(self, stream, ordered):
        queue, timeline = self.device.queue(), Semaphore()
        view = BufferView(self.device.allocate(1 << 20), 1 << 20, ready=timeline.at(16))
        view.queue = queue if ordered else None
        for index in range(16):
            queue.fill(view.buffer, bytes([20 - index]), waits=timeline.at(index), signals=timeline.at(index + 1))
        capsule = view.__dlpack__(stream=stream.value, max_version=(1, 0))
        tensor = _dlpack._Versioned.from_address(_dlpack._pointer(capsule, b"dltensor_versioned")).tensor
        found = (ctypes.c_uint8 * (1 << 20))()
        self.checked(self.hip.hipMemcpyAsync(found, ctypes.c_void_p(tensor.data), ctypes.c_size_t(1 << 20), 2, stream))
        self.checked(self.hip.hipStreamSynchronize(stream))
        self.assertEqual(set(found), {5})

    def test_queues_and_streams(self):
        queue, timeline, event = self.device.queue(), Semaphore(), ctypes.c_void_p()
        self.checked(self.hip.hipEventCreate(ctypes.byref(event)))
        self.checked(self.hip.hipEventRecord(event, None))
        if not self.is_ordered:
            for call in (lambda: queue.import_timepoint(stream=0), lambda: queue.export_timepoint((), 0)):
                with self.assertRaises(windlass.UnimplementedError):
                    call()
            self.skipTest("this version is not ordered with streams")
        queue.import_timepoint(stream=0, signals=timeline.at(1))
        queue.import_timepoint(event=event.value, waits=timeline.at(1), signals=timeline.at(2))
        timeline.wait_blocking(2, 60)
        queue.export_timepoint(timeline.at(2), 0)
        with self.assertRaises(windlass.FailedPreconditionError):
            queue.export_timepoint(timeline.at(3), 0)
        for wrong in ({}, {"stream": 0, "event": 1}, {"stream": "0"}):
            with self.assertRaises(TypeError):
                queue.import_timepoint(**wrong)
        self.checked(self.hip.hipEventDestroy(event))


@unittest.skipIf(np is None, "numpy is not installed")
class WithNumpy(unittest.TestCase):
    def setUp(self):
        self.device, self.gpu = Device(CPU), Device(GPU)
        self.addCleanup(self.device.close)
        self.addCleanup(self.gpu.close)

    def test_numpy_takes_a_view_without_a_copy(self):
        for device, make in ((self.device, self.device.allocate), (self.gpu, self.gpu.allocate_host)):
            queue, timeline = device.queue(), Semaphore()
            view = BufferView(make(24), (2, 3), "f32")
            queue.update(np.arange(6, dtype=np.float32), view.buffer, signals=timeline.at(1))
            view.ready = timeline.at(1)
            array = np.from_dlpack(view)
            self.assertEqual((array.dtype, array.shape), (np.dtype("f4"), (2, 3)))
            np.testing.assert_array_equal(array, [[0, 1, 2], [3, 4, 5]])
            queue.fill(view.buffer, np.float32(9), signals=timeline.at(2))
            timeline.wait_blocking(2, 60)
            np.testing.assert_array_equal(array, np.full((2, 3), 9))
            view.close()
            del view
            gc.collect()
            np.testing.assert_array_equal(array, np.full((2, 3), 9))

    def test_numpy_refuses_device_memory(self):
        view = BufferView(self.gpu.allocate(24), (2, 3), "f32")
        before = self.gpu.statistics.allocations
        for _ in range(3):
            with self.assertRaises((BufferError, RuntimeError)) as raised:
                np.from_dlpack(view)
            self.assertNotIsInstance(raised.exception, SystemError)
        self.assertEqual(self.gpu.statistics.allocations, before)

    def test_a_view_of_an_array(self):
        array = np.arange(12, dtype=np.int16).reshape(3, 4)
        view = windlass.from_dlpack(array, self.device)
        self.assertEqual((view.shape, view.element_type), ((3, 4), ElementType.SINT_16))
        queue, timeline = self.device.queue(), Semaphore()
        queue.fill(view.buffer, b"\x01\x00", signals=timeline.at(1))
        timeline.wait_blocking(1, 60)
        np.testing.assert_array_equal(array, np.ones((3, 4)))
        gone = weakref.ref(array)
        del array
        gc.collect()
        self.assertIsNotNone(gone())
        np.testing.assert_array_equal(np.asarray(view), np.ones((3, 4)))
        with self.assertRaises(windlass.InvalidArgumentError):
            windlass.from_dlpack(np.zeros((3, 4)).T, self.device)

    def test_arrays_in_memory_that_the_gpu_can_use(self):
        array = np.zeros(4096, dtype=np.uint8)
        view = windlass.from_dlpack(array, self.gpu)
        queue, timeline = self.gpu.queue(), Semaphore()
        queue.fill(view.buffer, b"\x03", signals=timeline.at(1))
        timeline.wait_blocking(1, 60)
        self.assertEqual(int(array.sum()), 3 * 4096)
        with self.assertRaises(windlass.AlreadyExistsError):
            windlass.from_dlpack(array, self.gpu)

    def test_as_an_array(self):
        buffer = self.device.allocate_host(24)
        view = BufferView(buffer, (2, 3), np.dtype("f4"))
        array = np.asarray(view)
        array[:] = 2
        self.assertEqual(buffer.map().cast("f").tolist(), [2.0] * 6)
        self.assertEqual(np.asarray(view, dtype="f8").sum(), 12)
        self.assertEqual(np.asarray(BufferView(self.device.allocate_host(0), (0, 3), "f32")).shape, (0, 3))
        self.assertFalse(np.shares_memory(np.array(view, copy=True), array))

    def test_downloads_into_arrays(self):
        array, queue, timeline = np.zeros((2, 3), np.float32), self.gpu.queue(), Semaphore()
        buffer = self.gpu.allocate(24)
        queue.fill(buffer, np.float32(1.5), signals=timeline.at(1))
        queue.download_blocking(buffer, waits=timeline.at(1), into=array)
        np.testing.assert_array_equal(array, np.full((2, 3), 1.5))
        with self.assertRaises((BufferError, ValueError)):
            queue.update(np.zeros((6, 2), np.float32)[:, 0], buffer)


if __name__ == "__main__":
    unittest.main()
