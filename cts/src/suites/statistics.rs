// SPDX-License-Identifier: MIT OR Apache-2.0
//! The memory statistics of a device, and the effect of trimming. The memory of queues is in `alloca`.

use windlass_hal::{BufferParams, Device, MemoryType, Statistics};

use crate::{
    check::{ensure, ensure_eq, same_bytes},
    context::{Context, queue_of},
    outcome::{Outcome, Stop},
};

suite! { "statistics";
    #[smoke] host_and_device_apart: "Device memory and host memory are counted apart, by the requested memory type.";
    allocated_less_freed_is_used: "Bytes in use are the allocated bytes minus the freed bytes.";
    sizes_as_asked: "Bytes in use are the requested bytes, not the reserved ones.";
    peak_is_the_greatest: "The peak is the greatest number of bytes that were in use at once.";
    subspans_count_nothing: "Clones, subspans and mappings are no allocations.";
    counts_of_many_threads: "Concurrent allocations of many threads are all counted.";
    devices_apart: "Two devices that are opened apart count apart.";
    trim_gives_back: "A trim frees memory that no buffer uses, and reserves no more than before.";
    trim_spares_what_is_used: "A trim leaves memory in use and its contents unchanged.";
}

const KINDS: [BufferParams; 2] = [BufferParams::device(), BufferParams::host()];

/// The used, peak, allocated and freed bytes of one memory type.
fn counts(statistics: &Statistics, params: &BufferParams) -> [u64; 4] {
    let s = statistics;
    match params.memory_type.contains(MemoryType::HOST_VISIBLE) {
        true => [s.host_bytes_used, s.host_bytes_peak, s.host_bytes_allocated, s.host_bytes_freed],
        false => [s.device_bytes_used, s.device_bytes_peak, s.device_bytes_allocated, s.device_bytes_freed],
    }
}

fn reserved(device: &Device) -> [u64; 2] {
    let statistics = device.statistics();
    [statistics.device_bytes_reserved, statistics.host_bytes_reserved]
}

fn host_and_device_apart(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    for (mine, other) in [(0, 1), (1, 0)] {
        let before = device.statistics();
        let buffer = device.allocate(&KINDS[mine], 1 << 16)?;
        let during = device.statistics();
        let grown = counts(&during, &KINDS[mine])[0] - counts(&before, &KINDS[mine])[0];
        ensure_eq!(grown, 1 << 16, "the growth of {:?}", KINDS[mine].memory_type);
        ensure_eq!(counts(&during, &KINDS[other]), counts(&before, &KINDS[other]), "the other kind");
        drop(buffer);
        ensure_eq!(
            counts(&device.statistics(), &KINDS[mine])[0],
            counts(&before, &KINDS[mine])[0],
            "the bytes left"
        );
    }
    Ok(())
}

fn allocated_less_freed_is_used(ctx: &Context) -> Outcome {
    let (device, mut random) = (ctx.open()?, ctx.random());
    let mut buffers = Vec::new();
    for round in 0..60 {
        let params = &KINDS[random.below(2)];
        buffers.push(device.allocate(params, 1 + random.below(100_000) as u64)?);
        if random.below(3) == 0 {
            buffers.swap_remove(random.below(buffers.len()));
        }
        let statistics = device.statistics();
        for params in &KINDS {
            let [used, peak, allocated, freed] = counts(&statistics, params);
            ensure_eq!(allocated - freed, used, "allocated less freed in round {round}");
            ensure!(used <= peak && peak <= allocated, "{statistics:?} in round {round}");
        }
    }
    drop(buffers);
    for params in &KINDS {
        let [used, _, allocated, freed] = counts(&device.statistics(), params);
        ensure_eq!((used, allocated > 0), (0, true), "the bytes in use, and whether any were allocated");
        ensure_eq!(allocated, freed, "the freed bytes of the allocated ones");
    }
    Ok(())
}

fn sizes_as_asked(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    for params in &KINDS {
        let before = counts(&device.statistics(), params)[0];
        let (mut buffers, mut sum) = (Vec::new(), 0);
        for size in [0, 1, 100, 257, 70_000] {
            buffers.push(device.allocate(params, size)?);
            sum += size;
            ensure_eq!(counts(&device.statistics(), params)[0] - before, sum, "bytes in use");
        }
        let [device_bytes, host_bytes] = reserved(&device);
        ensure!(device_bytes + host_bytes >= sum, "{device_bytes} and {host_bytes} are reserved for {sum}");
    }
    Ok(())
}

fn peak_is_the_greatest(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    for params in &KINDS {
        let [used, peak, ..] = counts(&device.statistics(), params);
        let most = device.allocate(params, (peak - used) + (1 << 16))?;
        let high = used + most.len();
        ensure_eq!(counts(&device.statistics(), params)[1], high, "the peak while it lasts");
        drop(most);
        let less = device.allocate(params, 1 << 10)?;
        ensure_eq!(counts(&device.statistics(), params)[1], high, "the peak when less is in use");
        let more = device.allocate(params, high)?;
        let all = used + less.len() + more.len();
        ensure_eq!(counts(&device.statistics(), params)[1], all, "the peak when more is in use");
    }
    Ok(())
}

fn subspans_count_nothing(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let buffer = device.allocate(&BufferParams::host(), 1000)?;
    let before = device.statistics();
    let handles = (buffer.clone(), buffer.subspan(10, 20)?, buffer.map()?);
    ensure_eq!(device.statistics(), before, "the statistics with more handles");
    drop(buffer);
    ensure_eq!(device.statistics(), before, "the statistics with fewer");
    drop(handles);
    ensure_eq!(device.statistics().allocations, before.allocations - 1, "allocations in use");
    Ok(())
}

fn counts_of_many_threads(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let before = device.statistics();
    let each = || (1..=100).try_for_each(|size| device.allocate_device(size).map(drop));
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(each)).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(allocated) => Ok(allocated?),
            Err(_) => Err(Stop::fail("a thread panicked")),
        })
    })?;
    let after = device.statistics();
    let sum = 8 * (1..=100).sum::<u64>();
    ensure_eq!(
        after.device_bytes_allocated - before.device_bytes_allocated,
        sum,
        "bytes that were allocated"
    );
    ensure_eq!(after.device_bytes_freed - before.device_bytes_freed, sum, "bytes that were freed");
    ensure_eq!(
        (after.device_bytes_used, after.allocations),
        (before.device_bytes_used, before.allocations),
        "the bytes in use"
    );
    Ok(())
}

fn devices_apart(ctx: &Context) -> Outcome {
    let (one, other) = (ctx.open()?, ctx.open()?);
    let before = other.statistics();
    let _buffer = one.allocate_device(1 << 16)?;
    ensure_eq!(other.statistics(), before, "the statistics of the other device");
    Ok(())
}

fn trim_gives_back(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let before = reserved(&device);
    for params in &KINDS {
        let buffers = [device.allocate(params, 100)?, device.allocate(params, 5 << 20)?];
        drop(buffers);
    }
    device.trim();
    ctx.until("the unused memory is freed", || {
        let now = reserved(&device);
        now[0] <= before[0] && now[1] <= before[1]
    })?;
    ensure_eq!(device.allocate_device(100)?.len(), 100, "an allocation afterwards");
    Ok(())
}

fn trim_spares_what_is_used(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let (buffer, idle) = (device.allocate(&BufferParams::host(), 4096)?, device.allocate_device(4096)?);
    buffer.map()?.write(0, &[7; 4096])?;
    drop(idle);
    let before = device.statistics();
    device.trim();
    let after = device.statistics();
    for params in &KINDS {
        ensure_eq!(counts(&after, params), counts(&before, params), "the counts");
    }
    ensure_eq!(after.allocations, before.allocations, "allocations in use");
    same_bytes(&buffer.map()?.to_vec(), &[7; 4096], "the contents")?;
    let download = queue_of(&device, 0)?.download(&[], &buffer)?;
    same_bytes(&download.wait(ctx.deadline())?, &[7; 4096], "the contents as a queue reads them")
}
