# SPDX-License-Identifier: MIT OR Apache-2.0
"""Channels: ranks on the GPUs of a device, their collective operations, splits, and ranks that do not come."""

import struct
import time
import unittest

import windlass
from windlass import Channel, Collective, Device, ElementType, Reduction, Semaphore

TWO = "hip-sim://gfx942?devices=2&memory=64M"


def words(*numbers):
    return struct.pack(f"<{len(numbers)}i", *numbers)


class Rank:
    def __init__(self, device, channel_id, index, count, timeout=60):
        affinity = device.physical_affinity(index)
        self.device, self.queue, self.done, self.step = device, device.queue_of(affinity), Semaphore(), 0
        self.channel = device.create_channel(channel_id, index, count, affinity=affinity, timeout=timeout)

    def upload(self, *numbers):
        buffer = self.device.allocate(4 * len(numbers))
        self.queue.upload_blocking(words(*numbers), buffer)
        return buffer

    def submit(self, *operations, channel=None):
        self.step += 1
        before, after = self.done.at(self.step - 1), self.done.at(self.step)
        self.queue.collective(channel or self.channel, operations, waits=before, signals=after)

    def read(self, buffer):
        found = self.queue.download_blocking(buffer, waits=self.done.at(self.step), timeout=60)
        return list(struct.unpack(f"<{len(found) // 4}i", found))


class Ranks(unittest.TestCase):
    def setUp(self):
        self.device = Device(TWO)
        self.addCleanup(self.device.close)
        name = self.device.channel_id()
        self.ranks = [Rank(self.device, name, index, 2) for index in range(2)]

    def group(self, operations_of, expected):
        """Each rank submits a group; the targets are as expected."""
        targets = []
        for index, rank in enumerate(self.ranks):
            operations, target = operations_of(index, rank)
            rank.submit(*operations)
            targets.append(target)
        self.assertEqual([rank.read(target) for rank, target in zip(self.ranks, targets)], expected)

    def each(self, operation_of, sizes, expected):
        """As `group`, for one operation from numbers of its rank to another buffer."""

        def operations(index, rank):
            source = rank.upload(*(10 * (index + 1) + number for number in range(sizes[0])))
            target = rank.upload(*[-1] * sizes[1])
            return [operation_of(index, source, target)], target

        self.group(operations, expected)

    def test_a_channel_tells_its_rank(self):
        for index, rank in enumerate(self.ranks):
            self.assertEqual((rank.channel.rank, rank.channel.count), (index, 2))
        self.assertEqual(repr(self.ranks[1].channel), "<windlass.Channel, rank 1 of 2>")
        one, other = self.device.channel_id(), self.device.channel_id()
        self.assertEqual((len(one), len(other)), (128, 128))
        self.assertNotEqual(one, other)

    def test_reductions(self):
        for reduction, expected in (
            (Reduction.SUM, [30, 32]), (Reduction.PRODUCT, [200, 231]), (Reduction.MINIMUM, [10, 11]),
            (Reduction.MAXIMUM, [20, 21]), (Reduction.AVERAGE, [15, 16]),
        ):
            self.each(lambda _, x, y: Collective.all_reduce(reduction, "si32", x, y), (2, 2), [expected] * 2)
        self.each(lambda _, x, y: Collective.reduce(1, Reduction.SUM, "si32", x, y), (2, 2), [[-1, -1], [30, 32]])
        self.each(lambda _, x, y: Collective.reduce_scatter(Reduction.SUM, "si32", x, y), (2, 1), [[30], [32]])
        # Only the root needs a target.
        root = self.ranks[0].upload(0)
        self.ranks[0].submit(Collective.reduce(0, Reduction.SUM, ElementType.SINT_32, self.ranks[0].upload(4), root))
        self.ranks[1].submit(Collective.reduce(0, Reduction.SUM, ElementType.SINT_32, self.ranks[1].upload(5), None))
        self.assertEqual(self.ranks[0].read(root), [9])

    def test_moves(self):
        self.each(lambda _, x, y: Collective.all_gather("i32", x, y), (1, 2), [[10, 20]] * 2)
        self.each(lambda _, x, y: Collective.all_to_all("i32", x, y), (2, 2), [[10, 20], [11, 21]])
        self.each(lambda _, x, y: Collective.broadcast(1, "i32", x, y), (2, 2), [[20, 21]] * 2)
        # A root that has no source sends its target.
        def in_place(index, rank):
            data = rank.upload(index + 7)
            return [Collective.broadcast(0, "i32", None, data)], data

        self.group(in_place, [[7]] * 2)

    def test_sends(self):
        def around(index, rank):
            source, target = rank.upload(index + 1), rank.upload(-1)
            return [Collective.send(1 - index, "i32", source), Collective.recv(1 - index, "i32", target)], target

        self.group(around, [[2], [1]])
        self.each(lambda index, x, y: Collective.send_recv(1 - index, 1 - index, "i32", x, y), (1, 1), [[20], [10]])
        # Along a line: the first receives from nobody, and the last sends to nobody.
        self.each(
            lambda index, x, y: Collective.send_recv(None if index else 1, 0 if index else None, "i32", x if index == 0 else None, y),
            (1, 1), [[0], [10]],
        )

    def test_ranges_and_views(self):
        def operations(index, rank):
            buffer = rank.upload(index + 1, 5, 6)
            view = windlass.BufferView(buffer.subspan(8), 1, "si32")
            return [Collective.all_reduce(Reduction.SUM, "si32", buffer.range(0, 4), view)], buffer

        self.group(operations, [[1, 5, 3], [2, 5, 3]])

    def test_splits(self):
        halves = [rank.channel.split(0, 1 - index, 2) for index, rank in enumerate(self.ranks)]
        self.assertEqual([(half.rank, half.count) for half in halves], [(1, 2), (0, 2)])
        targets = [rank.upload(0, 0) for rank in self.ranks]
        for index, rank in enumerate(self.ranks):
            rank.submit(Collective.all_gather("i32", rank.upload(index), targets[index]), channel=halves[index])
        self.assertEqual([rank.read(target) for rank, target in zip(self.ranks, targets)], [[1, 0]] * 2)
        alone = self.ranks[0].channel.split(7, 0, 1)
        self.ranks[1].channel.sit_out()
        self.assertEqual((alone.rank, alone.count), (0, 1))
        data = self.ranks[0].upload(6)
        self.ranks[0].submit(Collective.all_reduce(Reduction.SUM, "si32", data, data), channel=alone)
        self.assertEqual(self.ranks[0].read(data), [6])

    def test_groups_in_command_buffers(self):
        recorded = []
        for rank in self.ranks:
            with rank.device.record(slots=2) as recorder:
                recorder.update(words(rank.channel.rank + 1, 10), windlass.Slot(0, 0, 8))
                recorder.barrier()
                add = Collective.all_reduce(Reduction.SUM, "si32", windlass.Slot(0, 0, 8), windlass.Slot(1, 0, 8))
                recorder.collective(rank.channel, [add])
                recorder.barrier()
                recorder.copy(windlass.Slot(1, 0, 4), windlass.Slot(0, 4, 4))
                recorded.append(recorder.finish())
        for _ in range(2):
            tables = [(rank.upload(0, 0), rank.upload(0, 0)) for rank in self.ranks]
            for rank, commands, table in zip(self.ranks, recorded, tables):
                rank.step += 1
                rank.queue.execute(commands, table, waits=rank.done.at(rank.step - 1), signals=rank.done.at(rank.step))
            self.assertEqual([rank.read(table[1]) for rank, table in zip(self.ranks, tables)], [[3, 20]] * 2)
            self.assertEqual([rank.read(table[0]) for rank, table in zip(self.ranks, tables)], [[1, 3], [2, 3]])

    def test_work_keeps_the_channel(self):
        gate, targets = Semaphore(), []
        for rank in self.ranks:
            data = rank.upload(1)
            operation = Collective.all_reduce(Reduction.SUM, "si32", data, data)
            rank.queue.collective(rank.channel, [operation], waits=gate.at(1), signals=rank.done.at(1))
            rank.step = 1
            rank.channel.close()
            targets.append(data)
        gate.signal(1)
        self.assertEqual([rank.read(target) for rank, target in zip(self.ranks, targets)], [[2], [2]])

    def test_wrong_calls(self):
        (first, second), name = self.ranks, self.device.channel_id()
        data, queue, channel = first.upload(1, 2), first.queue, first.channel
        good = Collective.all_reduce(Reduction.SUM, "si32", data, data)

        def record(commands):
            with self.device.record(slots=1) as recorder:
                commands(recorder)

        invalid, closed = windlass.InvalidArgumentError, windlass.FailedPreconditionError
        gone = self.device.create_channel(self.device.channel_id(), 0, 1)
        gone.close()
        for kinds, action in (
            (invalid, lambda: self.device.create_channel(name, 2, 2)), (invalid, lambda: self.device.create_channel(name[:-1], 0, 2)),
            (invalid, lambda: self.device.create_channel(name, 0, 2, timeout=0)), (ValueError, lambda: self.device.create_channel(name, 0, 2, timeout=-1)),
            (windlass.OutOfRangeError, lambda: self.device.create_channel(name, -1, 2)), (TypeError, lambda: self.device.create_channel("name", 0, 2)),
            (invalid, lambda: channel.split(0, 0, 3)), (invalid, lambda: channel.split(2**31, 0, 1)), (windlass.OutOfRangeError, lambda: channel.split(-1, 0, 1)),
            (invalid, lambda: queue.collective(channel, [Collective.broadcast(2, "i32", None, data)])),
            (invalid, lambda: queue.collective(channel, [Collective.all_gather("i32", data, first.upload(1, 2, 3))])),
            (invalid, lambda: queue.collective(channel, [Collective.all_reduce(Reduction.SUM, "i32", data, data)])),
            (invalid, lambda: queue.collective(channel, [Collective.send(0, "i32", data)])),
            (invalid, lambda: queue.collective(second.channel, [good])),
            (windlass.OutOfRangeError, lambda: queue.collective(channel, [Collective.send(2**32 - 1, "i32", data)])),
            (invalid, lambda: record(lambda recorder: recorder.collective(channel, [Collective.send(1, "i32", windlass.Slot(0))]))),
            (windlass.OutOfRangeError, lambda: record(lambda recorder: recorder.collective(channel, [Collective.send(1, "i32", windlass.Slot(1, 0, 8))]))),
            (TypeError, lambda: record(lambda recorder: recorder.collective(channel, [data]))), (TypeError, lambda: record(lambda recorder: recorder.collective(queue, [good]))),
            (invalid, lambda: queue.collective(channel, [Collective.send(1, "i32", windlass.Slot(0, 0, 8))])),
            (TypeError, lambda: queue.collective(channel, [data])), (TypeError, lambda: queue.collective(queue, [good])),
            (TypeError, lambda: queue.collective(channel, [Collective.send(1, "i32", "text")])),
            (ValueError, lambda: Collective.all_reduce(9, "i32", data, data)), (TypeError, Channel),
            (closed, lambda: queue.collective(gone, [good])), (closed, lambda: gone.rank), (closed, lambda: gone.split(0, 0, 1)),
        ):
            with self.assertRaises(kinds):
                action()
        self.assertEqual(first.read(data), [1, 2])


class Absent(unittest.TestCase):
    def test_a_rank_that_does_not_come_fails_the_groups_in_time(self):
        with Device(TWO) as device:
            begun = time.monotonic()
            rank = Rank(device, device.channel_id(), 0, 2, timeout=0.1)
            data = rank.upload(3)
            rank.submit(Collective.all_reduce(Reduction.SUM, "si32", data, data))
            with self.assertRaises(windlass.AbortedError) as raised:
                rank.done.wait_blocking(1, 60)
            self.assertGreaterEqual(time.monotonic() - begun, 0.1)
            self.assertIn("queue_collective", str(raised.exception))
            rank.step = 0
            self.assertEqual(rank.read(data), [3])

    def test_a_device_without_collectives_says_so(self):
        with Device("null://") as device:
            self.assertIn("collectives", device.info.lacks)
            for action in (device.channel_id, lambda: device.create_channel(bytes(128), 0, 1)):
                with self.assertRaises(windlass.UnimplementedError):
                    action()


if __name__ == "__main__":
    unittest.main()
