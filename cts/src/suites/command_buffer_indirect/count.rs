// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts in memory, and the dispatches that read them.

use windlass_hal::{
    Argument, Buffer, BufferParams, BufferRef, BufferUsage, Device, Error, Function, IndirectDispatchConfig,
    IndirectParameters, Semaphore,
};

use crate::{
    context::Context,
    kernels,
    outcome::Outcome,
    suites::dispatch::{bytes_of, to_words},
};

/// Allocates memory for counts.
pub(super) fn allocate(device: &Device, size: u64) -> Result<Buffer, Error> {
    let usage = BufferUsage::DEFAULT | BufferUsage::DISPATCH_INDIRECT_PARAMETERS;
    device.allocate(&BufferParams::device().with_usage(usage), size)
}

/// A buffer with a count.
pub(in crate::suites) fn count(ctx: &Context, workgroups: [u32; 3]) -> Outcome<Buffer> {
    let buffer = allocate(ctx.device(), 12)?;
    let done = Semaphore::new(0);
    let bytes = bytes_of(&workgroups, u32::to_le_bytes);
    ctx.queue(0)?.update(&[], &[done.at(1)], &bytes, &buffer)?;
    ctx.wait(&done.at(1))?;
    Ok(buffer)
}

/// A configuration of workgroups of one work-item.
pub(super) fn fixed(parameters: impl Into<BufferRef>) -> IndirectDispatchConfig {
    IndirectDispatchConfig::new(IndirectParameters::Static(parameters.into())).workgroup_size([1; 3])
}

pub(in crate::suites) fn dynamic(parameters: impl Into<BufferRef>) -> IndirectDispatchConfig {
    IndirectDispatchConfig::new(IndirectParameters::Dynamic(parameters.into())).workgroup_size([1; 3])
}

/// The kernel that adds the number of its work-items to a counter.
pub(in crate::suites) fn increment(ctx: &Context) -> Outcome<Function> {
    ctx.function(&kernels::ORDER, "increment")
}

pub(super) fn read(ctx: &Context, buffer: &Buffer) -> Outcome<Vec<u32>> {
    Ok(to_words(&ctx.download(buffer)?))
}

/// Memory for counts that the host can map.
pub(super) fn mapped(ctx: &Context) -> Outcome<Buffer> {
    let usage = BufferUsage::DEFAULT | BufferUsage::MAPPING | BufferUsage::DISPATCH_INDIRECT_PARAMETERS;
    Ok(ctx.device().allocate(&BufferParams::host().with_usage(usage), 12)?)
}

/// A list that dispatches twice, each time with the count in slot 0, on the counter in slot 1.
pub(super) fn twice(ctx: &Context, function: &Function) -> Outcome<windlass_hal::CommandBuffer> {
    let mut recorder = ctx.device().record_with_slots(2)?;
    let counter = [Argument::Slot { slot: 1, offset: 0, length: 4 }];
    recorder.dispatch_indirect(function, fixed(BufferRef::slot(0, 0, 12)), &counter)?;
    recorder.barrier();
    recorder.dispatch_indirect(function, dynamic(BufferRef::slot(0, 0, 12)), &counter)?;
    Ok(recorder.finish()?)
}
