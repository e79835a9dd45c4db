# SPDX-License-Identifier: MIT OR Apache-2.0
"""A program that mypy checks: the types that a caller sees."""

from __future__ import annotations

import asyncio
from typing import List, Optional, Tuple

import windlass


async def saxpy(device: windlass.Device, code: bytes, x: bytes) -> bytearray:
    function: windlass.Function = device.load_executable(code).function("saxpy")
    queue, timeline = device.queue(), windlass.Semaphore()
    first: windlass.Buffer = device.allocate(len(x))
    second = device.allocate(len(x), windlass.BufferParams.device())
    queue.update(x, first, signals=timeline.at(1))
    queue.fill(second, bytes(4), timeline.at(1), [timeline.at(2), (timeline, 3)])
    arguments: List[windlass.Argument] = [2.0, first, second.range(0), len(x) // 4]
    queue.dispatch(function, (4, 1, 1), arguments, timeline.at(3), timeline.at(4), workgroup_size=256)
    await timeline.at(4)
    await timeline.wait(4)
    parameters: List[windlass.Parameter] = function.parameters
    assert parameters
    result: bytearray = queue.download_blocking(second)
    return result


def facts(device: windlass.Device) -> Tuple[str, Optional[str], int]:
    view = windlass.BufferView(device.allocate_host(24), (2, 3), windlass.ElementType.FLOAT_32, ready=())
    shape: Tuple[int, ...] = view.shape
    memory: memoryview = view.buffer.map()
    back: windlass.BufferView = windlass.from_dlpack(view, device)
    kind: Tuple[int, int] = back.__dlpack_device__()
    try:
        windlass.wait_all_blocking([windlass.Semaphore().at(1)], timeout=0)
    except windlass.DeadlineExceededError as error:
        code: windlass.Code = error.code
        assert code and shape and kind
    units: Optional[int] = device.facts().compute_units
    assert units is None or units > 0
    edge: windlass.TopologyEdge = windlass.Topology.between([device, device]).edge(0, 1)
    heaps: List[windlass.Heap] = device.heaps
    assert edge.link is windlass.LinkKind.SAME and heaps and device.compatibility(64) & windlass.Compatibility.ALLOCATABLE
    return device.info.uri, device.info.uuid, device.limits.queues + len(memory)


def reduce(device: windlass.Device, parts: List[windlass.Buffer]) -> List[int]:
    name: bytes = device.channel_id()
    ranks: List[int] = []
    for rank, part in enumerate(parts):
        affinity = device.physical_affinity(rank)
        channel: windlass.Channel = device.create_channel(name, rank, len(parts), affinity=affinity, timeout=None)
        operation = windlass.Collective.all_reduce(windlass.Reduction.SUM, "f32", part, part.range(0))
        done = windlass.Semaphore()
        device.queue_of(affinity).collective(channel, [operation], signals=done.at(1))
        with device.record() as recorder:
            recorder.collective(channel, [operation])
        half: windlass.Channel = channel.split(rank, 0, 1)
        channel.sit_out()
        ranks.append(channel.rank + half.count)
    return ranks


async def follow(device: windlass.Device, code: windlass.CodeFile) -> int:
    records: List[windlass.ProfileRecord] = []
    semaphore, memory = windlass.Semaphore(), device.reserve_growable(1 << 20)

    def heard(payload: int, error: Optional[windlass.Error]) -> None:
        print(payload, error)

    with device.profile(records.append) as profile, semaphore.observe(heard):
        fence = windlass.Fence([semaphore.at(1), (windlass.Semaphore(), 0)])
        device.queue().barrier(signals=semaphore.at(1))
        device.queue().barrier(waits=fence)
        await fence
        profile.flush()
    best: Optional[int] = code.select(device.info.architecture).best
    image: windlass.CodeImage = code.extract(0, best or 0)
    function = device.load_executable(image.data).functions[0]
    registers: Optional[int] = function.resources.vector_registers
    symbols: List[windlass.Symbol] = function.executable().symbols()
    part: windlass.Buffer = memory.buffer(0, 0)
    return function.occupancy(64) + (registers or 0) + len(symbols) + part.size + len(image.kernels) + (records[0].retired or 0)


def main() -> None:
    with windlass.Device("hip-sim://gfx942") as device:
        asyncio.run(saxpy(device, b"", b""))
        facts(device)
        reduce(device, [device.allocate(8)])
