// SPDX-License-Identifier: MIT OR Apache-2.0
//! Indirect dispatches that must be refused because of their count's range.

use windlass_hal::{Buffer, BufferRef, Code, Recorder, Semaphore};

use super::count::{allocate, count, dynamic, fixed, increment, read, twice};
use crate::{
    check::{ensure, ensure_eq, names, refused, same_items},
    context::Context,
    outcome::Outcome,
    suites::{command_buffer::execute, dispatch::words},
};

/// Bad ranges for a count: the fault, the code of its refusal, and the range.
fn bad(ctx: &Context) -> Outcome<Vec<(&'static str, Code, Buffer)>> {
    let good = allocate(ctx.device(), 64)?;
    Ok(vec![
        ("eleven bytes", Code::OutOfRange, good.subspan(0, 11)?),
        ("no bytes", Code::OutOfRange, good.subspan(0, 0)?),
        ("an odd address", Code::InvalidArgument, good.subspan(2, 12)?),
        ("a buffer without the usage", Code::InvalidArgument, ctx.device().allocate_device(12)?),
        ("a buffer of another device", Code::InvalidArgument, allocate(&ctx.open()?, 12)?),
    ])
}

pub(super) fn recording_is_checked(ctx: &Context) -> Outcome {
    let (function, counter) = (increment(ctx)?, words(ctx, &[0])?);
    let mut recorder: Recorder = ctx.device().record_with_slots(1)?;
    let arguments = [counter.arg()];
    for (what, code, buffer) in bad(ctx)? {
        for config in [fixed(&buffer), dynamic(&buffer)] {
            refused(recorder.dispatch_indirect(&function, config, &arguments), code, what)?;
        }
    }
    for (what, code, slot) in [
        ("slot 1 of one", Code::OutOfRange, BufferRef::slot(1, 0, 12)),
        ("eleven bytes of a slot", Code::OutOfRange, BufferRef::slot(0, 0, 11)),
        ("an odd offset", Code::InvalidArgument, BufferRef::slot(0, 2, 12)),
        ("an offset that overflows", Code::OutOfRange, BufferRef::slot(0, u64::MAX - 3, 12)),
    ] {
        refused(recorder.dispatch_indirect(&function, dynamic(slot), &arguments), code, what)?;
    }
    let good = allocate(ctx.device(), 12)?;
    let misfit = recorder.dispatch_indirect(&function, fixed(&good), &[]);
    refused(misfit, Code::InvalidArgument, "a dispatch without its argument")?;
    let most = ctx.device().limits().max_workgroup_threads;
    if most > 0 {
        let config = fixed(&good).workgroup_size([most, 2, 1]);
        let wide = recorder.dispatch_indirect(&function, config, &arguments);
        refused(wide, Code::OutOfRange, "a workgroup of too many work-items")?;
    }
    let most = ctx.device().limits().max_local_memory;
    if most > 0 {
        let config = fixed(&good).dynamic_local_memory(most + 1);
        let wide = recorder.dispatch_indirect(&function, config, &arguments);
        refused(wide, Code::OutOfRange, "more local memory than there is")?;
    }
    let commands = recorder.finish()?;
    ensure_eq!(commands.list().commands().len(), 0, "commands of a recording that was refused all through");
    ensure!(!commands.list().slots()[0].used, "a refused command demands something of its slot");
    execute(ctx, &commands, [])
}

pub(super) fn table_is_checked(ctx: &Context) -> Outcome {
    let function = increment(ctx)?;
    let (commands, counter, done) = (twice(ctx, &function)?, words(ctx, &[0])?, Semaphore::new(0));
    for (what, code, buffer) in bad(ctx)? {
        let submitted = ctx.queue(0)?.execute(&[], &[done.at(1)], &commands, [buffer, counter.clone()]);
        names(&refused(submitted, code, what)?, "slot 0")?;
    }
    ensure_eq!(done.query()?, 0, "the semaphore of refused submissions");
    execute(ctx, &commands, [count(ctx, [2, 1, 1])?, counter.clone()])?;
    same_items(&read(ctx, &counter)?, &[4], "the counter")
}

pub(super) fn queue_is_checked(ctx: &Context) -> Outcome {
    let (function, counter) = (increment(ctx)?, words(ctx, &[0])?);
    let (queue, done, arguments) = (ctx.queue(0)?, Semaphore::new(0), [counter.arg()]);
    for (what, code, buffer) in bad(ctx)? {
        let submitted = queue.dispatch_indirect(&[], &[done.at(1)], &function, fixed(&buffer), &arguments);
        refused(submitted, code, what)?;
    }
    let slot = fixed(BufferRef::slot(0, 0, 12));
    let submitted = queue.dispatch_indirect(&[], &[done.at(1)], &function, slot, &arguments);
    refused(submitted, Code::InvalidArgument, "a slot without a table")?;
    ensure_eq!(done.query()?, 0, "the semaphore of refused submissions");
    Ok(())
}
