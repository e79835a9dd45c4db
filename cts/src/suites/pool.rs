// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools that a program makes.

use windlass_hal::{Buffer, BufferParams, BufferUsage, Code, Pool, PoolParams, Semaphore};

use crate::{
    check::{ensure, ensure_eq, names, refused, same_bytes},
    context::{Context, queue_of},
    outcome::Outcome,
};

suite! { "pool";
    tlsf [Alloca] = |ctx| transfers(ctx, PoolParams::tlsf(1 << 20)), "Buffers of a TLSF pool keep the bytes written to them.";
    fixed_block [Alloca] = |ctx| transfers(ctx, PoolParams::fixed_block(70_000, 8)), "Buffers of a fixed-block pool keep the bytes written to them.";
    passthrough [Alloca] = |ctx| transfers(ctx, PoolParams::passthrough()), "Buffers of a passthrough pool keep the bytes written to them.";
    neighbours_do_not_overlap [Alloca]: "Buffers of one pool that live at the same time on several queues share no byte.";
    blocks_run_out_and_come_back [Alloca]: "An alloca without a free block is RESOURCE_EXHAUSTED; a completed dealloca frees a block.";
    unfinished_dealloca_frees_nothing [Alloca]: "A block whose dealloca still waits is not reused.";
    budget [Alloca]: "An alloca beyond the pool's budget is RESOURCE_EXHAUSTED, names the pool, and signals nothing.";
    outlives_its_handle [Alloca]: "Buffers keep their pool's memory after its last handle is dropped.";
    trim [Alloca]: "A trimmed pool without buffers keeps no memory of the device.";
    counts [Alloca]: "The statistics of a pool follow its buffers.";
    other_device_refused [Alloca]: "A pool of another device is INVALID_ARGUMENT.";
    other_memory_refused [Alloca]: "A buffer that needs more usage than the pool's memory has is INVALID_ARGUMENT.";
}

const DEVICE: BufferParams = BufferParams::device();

/// Allocates memory of the pool, and waits for the alloca.
fn taken(ctx: &Context, pool: &Pool, size: u64) -> Outcome<Buffer> {
    let done = Semaphore::new(0);
    let buffer = ctx.queue(0)?.alloca_from(pool, &[], &[done.at(1)], &DEVICE, size)?;
    ctx.wait(&done.at(1))?;
    Ok(buffer)
}

/// Deallocates memory, and waits for the dealloca.
fn given_back(ctx: &Context, buffer: &Buffer) -> Outcome {
    let done = Semaphore::new(0);
    ctx.queue(0)?.dealloca(&[], &[done.at(1)], buffer)?;
    ctx.wait(&done.at(1))
}

fn transfers(ctx: &Context, params: PoolParams) -> Outcome {
    let pool = ctx.device().create_pool(params)?;
    let kept = ctx.filled(65_536, 0)?;
    let order = Semaphore::new(0);
    let mut value = 0;
    for (round, size) in [1_u64, 4, 255, 4096, 65_536, 1000, 4096].into_iter().cycle().take(40).enumerate() {
        let (owner, user) = (ctx.queue(round as u32)?, ctx.queue(round as u32 + 1)?);
        let at = |step| order.at(value + step);
        let buffer = owner.alloca_from(&pool, &[at(0)], &[at(1)], &DEVICE, size)?;
        ensure_eq!(buffer.len(), size, "the length of a buffer");
        user.fill(&[at(1)], &[at(2)], &buffer, round as u8)?;
        owner.copy(&[at(2)], &[at(3)], &buffer, &kept.subspan(0, size)?)?;
        user.dealloca(&[at(3)], &[at(4)], &buffer)?;
        value += 4;
        let bytes = ctx.download_after(&order.at(value), &kept)?;
        same_bytes(
            &bytes[..size as usize],
            &vec![round as u8; size as usize],
            &format!("the buffer of round {round}"),
        )?;
    }
    Ok(())
}

fn neighbours_do_not_overlap(ctx: &Context) -> Outcome {
    let pool = ctx.device().create_pool(PoolParams::tlsf(1 << 16))?;
    let mut random = ctx.random();
    let mut live: Vec<(Buffer, u8, Semaphore)> = Vec::new();
    for round in 0..200_u32 {
        if live.len() > 12 || (!live.is_empty() && random.below(3) == 0) {
            let (buffer, byte, filled) = live.swap_remove(random.below(live.len()));
            let queue = ctx.queue(round)?;
            let bytes = queue.download(&[filled.at(2)], &buffer)?.wait(ctx.deadline())?;
            same_bytes(&bytes, &vec![byte; bytes.len()], &format!("a buffer in round {round}"))?;
            queue.dealloca(&[filled.at(2)], &[], &buffer)?;
        } else {
            let (size, filled) = (1 + random.below(9000) as u64, Semaphore::new(0));
            let buffer = ctx.queue(round)?.alloca_from(&pool, &[], &[filled.at(1)], &DEVICE, size)?;
            ctx.queue(round + 1)?.fill(&[filled.at(1)], &[filled.at(2)], &buffer, round as u8)?;
            live.push((buffer, round as u8, filled));
        }
    }
    Ok(())
}

fn blocks_run_out_and_come_back(ctx: &Context) -> Outcome {
    let params = PoolParams::fixed_block(1024, 4).with_name("four blocks");
    let pool = ctx.device().create_pool(params)?;
    let mut buffers = (0..4).map(|_| taken(ctx, &pool, 1024)).collect::<Outcome<Vec<_>>>()?;
    let signal = Semaphore::new(0);
    let error = refused(
        ctx.queue(0)?.alloca_from(&pool, &[], &[signal.at(1)], &DEVICE, 1024),
        Code::ResourceExhausted,
        "a fifth block of four",
    )?;
    names(&error, "four blocks")?;
    ensure_eq!(signal.query()?, 0, "the signal of the alloca that was refused");
    if let Some(first) = buffers.pop() {
        given_back(ctx, &first)?;
    }
    taken(ctx, &pool, 512).map(drop)
}

fn unfinished_dealloca_frees_nothing(ctx: &Context) -> Outcome {
    let pool = ctx.device().create_pool(PoolParams::fixed_block(256, 1))?;
    let (gate, gone) = (Semaphore::new(0), Semaphore::new(0));
    let buffer = taken(ctx, &pool, 256)?;
    ctx.queue(0)?.dealloca(&[gate.at(1)], &[gone.at(1)], &buffer)?;
    drop(buffer);
    refused(
        ctx.queue(1)?.alloca_from(&pool, &[], &[], &DEVICE, 256),
        Code::ResourceExhausted,
        "the one block while its dealloca waits",
    )?;
    gate.signal(1)?;
    ctx.wait(&gone.at(1))?;
    taken(ctx, &pool, 256).map(drop)
}

fn budget(ctx: &Context) -> Outcome {
    let params = PoolParams::passthrough().with_name("thrifty").with_budget(1 << 16);
    let pool = ctx.device().create_pool(params)?;
    let small = taken(ctx, &pool, 1 << 12)?;
    let signal = Semaphore::new(0);
    let error = refused(
        ctx.queue(0)?.alloca_from(&pool, &[], &[signal.at(1)], &DEVICE, 1 << 17),
        Code::ResourceExhausted,
        "twice the budget",
    )?;
    names(&error, "thrifty")?;
    ensure_eq!(signal.query()?, 0, "the signal of the alloca that was refused");
    ensure_eq!(pool.statistics().over_budget, 1, "the allocas beyond the budget");
    given_back(ctx, &small)
}

fn outlives_its_handle(ctx: &Context) -> Outcome {
    let pool = ctx.device().create_pool(PoolParams::tlsf(1 << 16))?;
    let buffer = taken(ctx, &pool, 4096)?;
    drop(pool);
    let done = Semaphore::new(0);
    ctx.queue(0)?.fill(&[], &[done.at(1)], &buffer, 0x3d_u8)?;
    same_bytes(&ctx.download_after(&done.at(1), &buffer)?, &[0x3d; 4096], "a buffer of a dropped pool")?;
    given_back(ctx, &buffer)
}

fn trim(ctx: &Context) -> Outcome {
    let pool = ctx.device().create_pool(PoolParams::tlsf(1 << 16))?;
    let buffers = (0..3).map(|_| taken(ctx, &pool, 40_000)).collect::<Outcome<Vec<_>>>()?;
    let held = pool.statistics();
    ensure!(held.bytes_reserved >= 120_000, "{} bytes are reserved for 120000", held.bytes_reserved);
    buffers.iter().try_for_each(|buffer| given_back(ctx, buffer))?;
    drop(buffers);
    ctx.until("a trimmed pool reserves nothing", || {
        pool.trim();
        pool.statistics().bytes_reserved == 0
    })?;
    taken(ctx, &pool, 40_000).map(drop)
}

fn counts(ctx: &Context) -> Outcome {
    let pool = ctx.device().create_pool(PoolParams::tlsf(1 << 16))?;
    let buffers = (0..5).map(|_| taken(ctx, &pool, 1000)).collect::<Outcome<Vec<_>>>()?;
    let full = pool.statistics();
    let asked = full.acquired + full.acquired_fresh + full.acquired_with_wait;
    ensure_eq!((full.buffers, asked), (5, 5), "the buffers, and the number of requests");
    ensure!(full.bytes_used >= 5000, "{} bytes are in use by 5000", full.bytes_used);
    buffers.iter().try_for_each(|buffer| given_back(ctx, buffer))?;
    let empty = pool.statistics();
    ensure_eq!(
        (empty.buffers, empty.released, empty.bytes_used),
        (0, 5, 0),
        "the counts after the deallocas"
    );
    ensure!(empty.bytes_peak >= 5000, "the peak is {} bytes", empty.bytes_peak);
    Ok(())
}

fn other_device_refused(ctx: &Context) -> Outcome {
    let other = ctx.open()?;
    let pool = other.create_pool(PoolParams::passthrough())?;
    refused(
        ctx.queue(0)?.alloca_from(&pool, &[], &[], &DEVICE, 64),
        Code::InvalidArgument,
        "a pool of another device",
    )?;
    let done = Semaphore::new(0);
    queue_of(&other, 0)?.alloca_from(&pool, &[], &[done.at(1)], &DEVICE, 64)?;
    ctx.wait(&done.at(1))
}

fn other_memory_refused(ctx: &Context) -> Outcome {
    let memory = DEVICE.with_usage(BufferUsage::TRANSFER_TARGET);
    let pool = ctx.device().create_pool(PoolParams::passthrough().with_memory(memory))?;
    refused(
        ctx.queue(0)?.alloca_from(&pool, &[], &[], &DEVICE, 64),
        Code::InvalidArgument,
        "memory for every use from a pool for one",
    )
    .map(drop)
}
