// SPDX-License-Identifier: MIT OR Apache-2.0
//! Order with the streams of other libraries. The suite has no other library, and takes the device's default stream for
//! one: what is exported to it must come back by an import from it.

use windlass_hal::{
    Buffer, Code, DispatchConfig, Error, ExportFlags, ExternalStream, Point, Queue, Result, Semaphore,
};

use super::dispatch::bytes_of;
use crate::{
    check::{ensure, ensure_eq, refused, same_bytes},
    context::Context,
    kernels,
    outcome::Outcome,
};

suite! { "external_timepoint";
    #[smoke] passes_through_a_stream [ExternalTimepoints, Dispatch]: "Work behind an import waits for work before an export to the same stream.";
    passes_through_many_times [ExternalTimepoints, Dispatch]: "Exports and imports of one stream keep the order of a chain of work.";
    import_keeps_its_waits [ExternalTimepoints, Dispatch]: "The signals of an import wait for its wait list.";
    import_fails_with_its_waits [ExternalTimepoints, Dispatch]: "An import whose wait fails fails its signals with the same error.";
    reached_points_are_exported [ExternalTimepoints, Dispatch]: "An export of points that are reached, or of none, does not hold the stream.";
    unsubmitted_points_refused [ExternalTimepoints, Dispatch]: "An export of a point that nothing will reach yet is FAILED_PRECONDITION, and does not hold the stream.";
    failed_points_refused [ExternalTimepoints, Dispatch]: "An export of a failed point returns its error, and does not hold the stream.";
}

const STREAM: ExternalStream = ExternalStream::DEFAULT;

fn import(queue: &Queue, waits: &[Point], signals: &[Point]) -> Result<()> {
    // SAFETY: the default stream lives as long as the device's library.
    unsafe { queue.import_timepoint(waits, signals, STREAM) }
}

fn export(queue: &Queue, waits: &[Point]) -> Result<()> {
    // SAFETY: as above.
    unsafe { queue.export_timepoint(waits, STREAM, ExportFlags::NONE) }
}

/// The stream is not held: an import from it is reached.
fn is_free(ctx: &Context) -> Outcome {
    let done = Semaphore::new(0);
    import(&ctx.queue(0)?, &[], &[done.at(1)])?;
    ctx.wait(&done.at(1))
}

/// A kernel that runs until the host sets a flag, and then writes a value.
struct Held {
    flag: Buffer,
    out: Buffer,
    ended: Semaphore,
}

impl Held {
    const VALUE: u32 = 77;

    fn start(ctx: &Context, queue: u32) -> Outcome<Self> {
        let function = ctx.function(&kernels::SPIN, "spin_until_host")?;
        let (flag, out, ended) = (ctx.host_buffer(4)?, ctx.filled(4, 0)?, Semaphore::new(0));
        flag.map()?.write(0, &[0; 4])?;
        let grid = DispatchConfig::new([1, 1, 1]).workgroup_size([1, 1, 1]);
        let arguments = [flag.arg(), Self::VALUE.into(), out.arg()];
        ctx.queue(queue)?.dispatch(&[], &[ended.at(1)], &function, grid, &arguments)?;
        Ok(Self { flag, out, ended })
    }

    fn end(&self) -> Outcome {
        Ok(self.flag.map()?.write(0, &Self::VALUE.to_le_bytes())?)
    }
}

impl Drop for Held {
    /// A case that fails must not leave a kernel that never ends.
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// From two queues: the stream may share a hardware queue with one of them, which hides that the import came too early.
fn passes_through_a_stream(ctx: &Context) -> Outcome {
    (0..2).try_for_each(|queue| passes_from(ctx, queue))
}

fn passes_from(ctx: &Context, from: u32) -> Outcome {
    /// The looks that give work the time to come too early. Most are pauses, because other threads have to do that work.
    const LOOKS: u32 = 300;
    let (queue, passed, target) = (ctx.queue(from + 1)?, Semaphore::new(0), ctx.filled(4, 0)?);
    let held = Held::start(ctx, from)?;
    export(&queue, &[held.ended.at(1)])?;
    import(&queue, &[], &[passed.at(1)])?;
    ctx.queue(from + 2)?.copy(&[passed.at(1)], &[passed.at(2)], &held.out, &target)?;
    let (mut early, mut looks) = (false, 0);
    ctx.until("the looks are over", || {
        early = passed.query().is_ok_and(|payload| payload > 0)
            && held.ended.query().is_ok_and(|payload| payload == 0);
        looks += 1;
        early || looks == LOOKS
    })?;
    held.end()?;
    ctx.wait(&passed.at(2))?;
    ensure!(!early, "the import was reached while the exported work was running");
    same_bytes(&ctx.download(&target)?, &Held::VALUE.to_le_bytes(), "the copy of the kernel's result")
}

fn passes_through_many_times(ctx: &Context) -> Outcome {
    const ROUNDS: u32 = 8;
    let function = ctx.function(&kernels::ORDER, "multiply_add")?;
    let values: Vec<u32> = (0..4096).collect();
    let (buffer, done) = (ctx.upload(&bytes_of(&values, u32::to_le_bytes))?, Semaphore::new(0));
    let grid = DispatchConfig::new([16, 1, 1]).workgroup_size([256, 1, 1]);
    let mut expected = values;
    for round in 0..ROUNDS {
        let (begin, end) = (u64::from(round) * 2, u64::from(round) * 2 + 1);
        let arguments = [buffer.arg(), 4096_i32.into(), 3_u32.into(), round.into()];
        ctx.queue(round)?.dispatch(&[done.at(begin)], &[done.at(end)], &function, grid, &arguments)?;
        export(&ctx.queue(0)?, &[done.at(end)])?;
        // The default stream is that of the queue's GPU.
        import(&ctx.queue(0)?, &[], &[done.at(end + 1)])?;
        expected.iter_mut().for_each(|value| *value = value.wrapping_mul(3).wrapping_add(round));
    }
    let bytes = ctx.download_after(&done.at(u64::from(ROUNDS) * 2), &buffer)?;
    same_bytes(&bytes, &bytes_of(&expected, u32::to_le_bytes), "the numbers")
}

fn import_keeps_its_waits(ctx: &Context) -> Outcome {
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    import(&ctx.queue(0)?, &[gate.at(1), gate.at(2)], &[done.at(1)])?;
    is_free(ctx)?;
    gate.signal(1)?;
    is_free(ctx)?;
    ensure_eq!(done.query()?, 0, "the payload before the last wait is reached");
    gate.signal(2)?;
    ctx.wait(&done.at(1))
}

fn import_fails_with_its_waits(ctx: &Context) -> Outcome {
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    import(&ctx.queue(0)?, &[gate.at(1)], &[done.at(1)])?;
    gate.fail(Error::aborted("on purpose"));
    let error = ctx.wait_for_failure(&done.at(1))?;
    ensure_eq!(error.code(), Code::Aborted, "the code of {error}");
    Ok(())
}

fn reached_points_are_exported(ctx: &Context) -> Outcome {
    let done = Semaphore::new(3);
    export(&ctx.queue(0)?, &[done.at(1), done.at(3)])?;
    export(&ctx.queue(0)?, &[])?;
    is_free(ctx)
}

fn unsubmitted_points_refused(ctx: &Context) -> Outcome {
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    refused(
        export(&ctx.queue(0)?, &[gate.at(1)]),
        Code::FailedPrecondition,
        "an export of a point without work",
    )?;
    ctx.queue(0)?.barrier(&[gate.at(1)], &[done.at(1)])?;
    refused(export(&ctx.queue(0)?, &[done.at(1)]), Code::FailedPrecondition, "an export of a pending point")?;
    is_free(ctx)?;
    gate.signal(1)?;
    ctx.wait(&done.at(1))
}

fn failed_points_refused(ctx: &Context) -> Outcome {
    let done = Semaphore::new(0);
    done.fail(Error::aborted("on purpose"));
    refused(export(&ctx.queue(0)?, &[done.at(1)]), Code::Aborted, "an export of a failed point")?;
    is_free(ctx)
}
