// SPDX-License-Identifier: MIT OR Apache-2.0
//! Failures: the work that they reach, the work that they spare, and the device afterwards.

use windlass_hal::{Code, Device, DispatchConfig, Error, Feature, HostCallFlags, Semaphore};

use crate::{
    check::{ensure_eq, names, same_bytes},
    context::{Context, queue_of},
    kernels,
    outcome::{Outcome, Stop},
};

suite! { "failure";
    #[smoke] of_a_failed_wait: "Work that waits for a semaphore which has failed fails its signals with that error.";
    of_pending_work: "When a semaphore fails, pending work that waits for it fails its signals.";
    one_of_many_waits: "One failed wait fails work, whether its other waits are reached or never will be.";
    #[smoke] every_signal_fails: "A failure reaches each semaphore of the signal list.";
    through_a_pending_chain: "A failure passes through a chain of a thousand pending submissions.";
    through_every_operation: "Each kind of operation passes the failure of its wait to its signals.";
    across_queues_and_host: "A failure crosses queues and host calls.";
    dependant_does_not_run: "Work whose wait failed touches no memory.";
    reached_waits_are_spared: "Work runs if the value that it waits for was reached before the failure.";
    independent_work_is_spared: "Work without an edge to a failure completes.";
    first_of_two_wins: "If two waits fail one after the other, the signals get the first failure.";
    #[smoke] device_stays_usable: "After a hundred failures the device works as before.";
    does_not_travel_backwards: "Failed work leaves the semaphores that it waited for unchanged.";
    leaves_no_waiters: "Work that failed leaves no waiter in the semaphores it still waited for.";
    bad_access_is_reported [Dispatch]:
        "On a simulated device a kernel's access out of bounds fails the signals and names the kernel.";
    trap_is_reported [Dispatch]: "On a device other than a real GPU a trap fails the signals and names the kernel.";
    after_a_bad_access [Dispatch]:
        "After a bad access, or a trap on a device that is no GPU, the device works on or answers DATA_LOSS, nothing hangs, and a freshly opened device works.";
}

fn on_purpose() -> Error {
    Error::data_loss("failed on purpose")
}

fn check(ctx: &Context, semaphore: &Semaphore, value: u64) -> Outcome {
    let error = ctx.wait_for_failure(&semaphore.at(value))?;
    ensure_eq!(error.code(), Code::DataLoss, "the failure's code");
    names(&error, "failed on purpose")
}

fn of_a_failed_wait(ctx: &Context) -> Outcome {
    let (broken, done) = (Semaphore::new(0), Semaphore::new(0));
    broken.fail(on_purpose());
    ctx.queue(0)?.barrier(&[broken.at(1)], &[done.at(1)])?;
    check(ctx, &done, 1)
}

fn of_pending_work(ctx: &Context) -> Outcome {
    let (broken, done) = (Semaphore::new(0), Semaphore::new(0));
    ctx.queue(0)?.barrier(&[broken.at(1)], &[done.at(1)])?;
    ensure_eq!(done.query()?, 0, "the payload before the failure");
    broken.fail(on_purpose());
    check(ctx, &done, 1)
}

fn one_of_many_waits(ctx: &Context) -> Outcome {
    let (reached, never) = (Semaphore::new(1), Semaphore::new(0));
    for place in 0..3 {
        let (broken, done) = (Semaphore::new(0), Semaphore::new(0));
        let mut waits = vec![reached.at(1), never.at(1)];
        waits.insert(place, broken.at(1));
        ctx.queue(0)?.barrier(&waits, &[done.at(1)])?;
        broken.fail(on_purpose());
        check(ctx, &done, 1)?;
    }
    Ok(())
}

fn every_signal_fails(ctx: &Context) -> Outcome {
    let (broken, buffer) = (Semaphore::new(0), ctx.filled(64, 1)?);
    let signals: Vec<_> = (0..8).map(|_| Semaphore::new(0)).collect();
    let points: Vec<_> = (1..).zip(&signals).map(|(value, semaphore)| semaphore.at(value)).collect();
    ctx.queue(0)?.fill(&[broken.at(1)], &points, &buffer, 2_u8)?;
    broken.fail(on_purpose());
    (1..).zip(&signals).try_for_each(|(value, semaphore)| check(ctx, semaphore, value))
}

fn through_a_pending_chain(ctx: &Context) -> Outcome {
    let links: Vec<_> = (0..=1000).map(|_| Semaphore::new(0)).collect();
    for (index, pair) in (0..).zip(links.windows(2)) {
        ctx.queue(index)?.barrier(&[pair[0].at(1)], &[pair[1].at(1)])?;
    }
    links[0].fail(on_purpose());
    links.iter().try_for_each(|link| check(ctx, link, 1))
}

fn through_every_operation(ctx: &Context) -> Outcome {
    let (a, b) = (ctx.filled(64, 1)?, ctx.filled(64, 2)?);
    let links: Vec<_> = (0..6).map(|_| Semaphore::new(0)).collect();
    let edge = |index: usize| ([links[index].at(1)], [links[index + 1].at(1)]);
    let queue = ctx.queue(0)?;
    let (waits, signals) = edge(0);
    queue.barrier(&waits, &signals)?;
    let (waits, signals) = edge(1);
    queue.fill(&waits, &signals, &a, 3_u8)?;
    let (waits, signals) = edge(2);
    queue.update(&waits, &signals, &[4; 64], &a)?;
    let (waits, signals) = edge(3);
    queue.copy(&waits, &signals, &b, &a)?;
    let download = queue.download(&[links[4].at(1)], &a)?;
    let (waits, signals) = edge(4);
    queue.barrier(&waits, &signals)?;
    links[0].fail(on_purpose());
    links.iter().try_for_each(|link| check(ctx, link, 1))?;
    match pollster::block_on(download) {
        Err(error) => ensure_eq!(error.code(), Code::DataLoss, "the download's failure"),
        Ok(_) => return Err(Stop::fail("a download that waits for a failure gave bytes")),
    }
    same_bytes(&ctx.download(&a)?, &[1; 64], "the buffer that no work may touch")
}

fn across_queues_and_host(ctx: &Context) -> Outcome {
    ctx.require(Feature::HostCalls)?;
    let buffer = ctx.filled(64, 1)?;
    let [a, b, c, d] = [(); 4].map(|()| Semaphore::new(0));
    let flags = HostCallFlags::NONE;
    ctx.queue(3)?.barrier(&[c.at(1)], &[d.at(1)])?;
    ctx.queue(2)?.host_call(&[b.at(1)], &[c.at(1)], flags, |_| Ok(()))?;
    ctx.queue(1)?.fill(&[a.at(1)], &[b.at(1)], &buffer, 2_u8)?;
    ctx.queue(0)?.host_call(&[], &[a.at(1)], flags, |_| Err(on_purpose()))?;
    [a, b, c, d].iter().try_for_each(|semaphore| check(ctx, semaphore, 1))?;
    same_bytes(&ctx.download(&buffer)?, &[1; 64], "the buffer after the failed call")
}

fn dependant_does_not_run(ctx: &Context) -> Outcome {
    let (broken, done, buffer) = (Semaphore::new(0), Semaphore::new(0), ctx.filled(64, 1)?);
    let queue = ctx.queue(0)?;
    queue.fill(&[broken.at(1)], &[done.at(1)], &buffer, 2_u8)?;
    broken.fail(on_purpose());
    queue.fill(&[broken.at(1)], &[done.at(2)], &buffer, 3_u8)?;
    check(ctx, &done, 2)?;
    ctx.device().drain(ctx.deadline())?;
    same_bytes(&ctx.download(&buffer)?, &[1; 64], "the buffer")
}

fn reached_waits_are_spared(ctx: &Context) -> Outcome {
    let (source, done, buffer) = (Semaphore::new(0), Semaphore::new(0), ctx.filled(64, 1)?);
    ctx.queue(0)?.barrier(&[], &[source.at(5)])?;
    ctx.wait(&source.at(5))?;
    source.fail(on_purpose());
    ctx.queue(0)?.fill(&[source.at(5)], &[done.at(1)], &buffer, 2_u8)?;
    same_bytes(&ctx.download_after(&done.at(1), &buffer)?, &[2; 64], "the buffer")
}

fn independent_work_is_spared(ctx: &Context) -> Outcome {
    let (broken, dead, live, gate) =
        (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    let buffer = ctx.filled(64, 1)?;
    let queue = ctx.queue(0)?;
    queue.fill(&[broken.at(1)], &[dead.at(1)], &buffer.subspan(0, 32)?, 9_u8)?;
    queue.fill(&[gate.at(1)], &[live.at(1)], &buffer.subspan(32, 32)?, 2_u8)?;
    broken.fail(on_purpose());
    check(ctx, &dead, 1)?;
    gate.signal(1)?;
    let mut expected = [1; 64];
    expected[32..].fill(2);
    same_bytes(&ctx.download_after(&live.at(1), &buffer)?, &expected, "the buffer")
}

fn first_of_two_wins(ctx: &Context) -> Outcome {
    let (first, second, done) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    ctx.queue(0)?.barrier(&[second.at(1), first.at(1)], &[done.at(1)])?;
    first.fail(on_purpose());
    check(ctx, &done, 1)?;
    second.fail(Error::internal("too late"));
    check(ctx, &done, 1)
}

fn device_stays_usable(ctx: &Context) -> Outcome {
    let buffer = ctx.filled(64, 0)?;
    for round in 1..=100_u8 {
        let (broken, dead, live) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
        let queue = ctx.queue(round.into())?;
        queue.fill(&[broken.at(1)], &[dead.at(1)], &buffer, 0xff_u8)?;
        broken.fail(on_purpose());
        queue.fill(&[], &[live.at(1)], &buffer, round)?;
        check(ctx, &dead, 1)?;
        same_bytes(&ctx.download_after(&live.at(1), &buffer)?, &[round; 64], "the buffer")?;
    }
    Ok(())
}

fn does_not_travel_backwards(ctx: &Context) -> Outcome {
    let (broken, before, beside, done) =
        (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    ctx.queue(0)?.barrier(&[], &[before.at(1)])?;
    ctx.queue(0)?.barrier(&[before.at(1), beside.at(1), broken.at(1)], &[done.at(1)])?;
    broken.fail(on_purpose());
    check(ctx, &done, 1)?;
    beside.signal(1)?;
    ctx.queue(0)?.barrier(&[before.at(1), beside.at(1)], &[before.at(2)])?;
    ctx.wait(&before.at(2))?;
    ensure_eq!(
        (before.query()?, beside.query()?),
        (2, 1),
        "the payloads of the semaphores that the work waited for"
    );
    Ok(())
}

fn leaves_no_waiters(ctx: &Context) -> Outcome {
    let (broken, quiet, done) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    for value in 1..=50 {
        ctx.queue(0)?.barrier(&[broken.at(value), quiet.at(value)], &[done.at(value)])?;
    }
    broken.fail(on_purpose());
    check(ctx, &done, 50)?;
    ctx.until("no waiter is left", || quiet.waiter_count() + broken.waiter_count() == 0)
}

/// Skips the case on real hardware, GPU or CPU, and over AMD's HIP on a simulated GPU, where a bad access ends the
/// process.
fn reports_faults(ctx: &Context) -> Outcome {
    if ctx.device().info().reports_faults {
        return Ok(());
    }
    Err(Stop::skip(
        "a fault on purpose would take the process down; this case runs on devices that report faults, such as hip-sim://",
    ))
}

/// Skips the case on a real GPU, where a trap ends the process. Elsewhere a trap is an ordinary error.
fn no_real_gpu(ctx: &Context) -> Outcome {
    if kernels::is_gpu(ctx.device()) { reports_faults(ctx) } else { Ok(()) }
}

fn fault(ctx: &Context, device: &Device) -> Outcome<Error> {
    let function = ctx.load_on(device, &kernels::FAULTS)?.function("write_at")?;
    let (buffer, done) = (device.allocate_device(64)?, Semaphore::new(0));
    let config = DispatchConfig::new([1; 3]).workgroup_size([1; 3]);
    let queue = queue_of(device, 0)?;
    queue.dispatch(
        &[],
        &[done.at(1)],
        &function,
        config,
        &[buffer.arg(), (1_i64 << 40).into(), 7_u32.into()],
    )?;
    ctx.wait_for_failure(&done.at(1))
}

fn bad_access_is_reported(ctx: &Context) -> Outcome {
    reports_faults(ctx)?;
    names(&fault(ctx, &ctx.open()?)?, "write_at")
}

fn trap_is_reported(ctx: &Context) -> Outcome {
    no_real_gpu(ctx)?;
    names(&trap(ctx, &ctx.open()?)?, "trap_if")
}

fn trap(ctx: &Context, device: &Device) -> Outcome<Error> {
    let function = ctx.load_on(device, &kernels::FAULTS)?.function("trap_if")?;
    let (buffer, done) = (device.allocate_device(64)?, Semaphore::new(0));
    let config = DispatchConfig::new([1; 3]).workgroup_size([1; 3]);
    let queue = queue_of(device, 0)?;
    queue.dispatch(&[], &[done.at(1)], &function, config, &[buffer.arg(), 1_u32.into()])?;
    ctx.wait_for_failure(&done.at(1))
}

fn after_a_bad_access(ctx: &Context) -> Outcome {
    no_real_gpu(ctx)?;
    for _ in 0..3 {
        let device = ctx.open()?;
        let (gate, before, after) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
        let queue = queue_of(&device, 1)?;
        queue.barrier(&[gate.at(1)], &[before.at(1)])?;
        // Without a GPU nothing would stop a bad access, so the kernel traps instead.
        drop(if kernels::is_gpu(&device) { fault(ctx, &device) } else { trap(ctx, &device) }?);
        gate.signal(1)?;
        match device.drain(ctx.deadline()) {
            Ok(()) => {
                before.wait_blocking(1, ctx.deadline())?;
                queue.barrier(&[], &[after.at(1)])?;
                after.wait_blocking(1, ctx.deadline())?;
                absolute(ctx, &device)?;
            }
            Err(lost) => {
                ensure_eq!(lost.code(), Code::DataLoss, "the error of a lost device");
                let before = ctx.wait_for_failure(&before.at(1))?;
                ensure_eq!(before.code(), Code::DataLoss, "the error of work that waited");
                if queue.barrier(&[], &[after.at(1)]).is_ok() {
                    drop(ctx.wait_for_failure(&after.at(1))?);
                }
            }
        }
        absolute(ctx, &ctx.open()?)?;
    }
    Ok(())
}

/// Loads and runs a kernel on a device.
fn absolute(ctx: &Context, device: &Device) -> Outcome {
    let function = ctx.load_on(device, &kernels::ENTRIES)?.function("absolute")?;
    let (queue, done) = (queue_of(device, 0)?, Semaphore::new(0));
    let buffer = device.allocate_device(256)?;
    queue.fill(&[], &[done.at(1)], &buffer, -2.5_f32)?;
    let config = DispatchConfig::new([1; 3]).workgroup_size([64, 1, 1]);
    let arguments = [buffer.arg(), buffer.arg(), 64_i32.into()];
    queue.dispatch(&[done.at(1)], &[done.at(2)], &function, config, &arguments)?;
    let bytes = queue.download(&[done.at(2)], &buffer)?.wait(ctx.deadline())?;
    same_bytes(&bytes, &2.5_f32.to_le_bytes().repeat(64), "the buffer")
}
