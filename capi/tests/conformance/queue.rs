// SPDX-License-Identifier: MIT OR Apache-2.0
//! The operations of a queue, as calls of the library.

use windlass_hal::{BufferRef, Dispatch, Error, Operation, QueueAffinity, Result, WorkgroupCount};

use crate::{
    api::{self, Handle, api, check},
    arguments,
    bindings::*,
    buffer::range_of,
    channel,
    command_buffer::CommandBuffer,
    executable::Executable,
    external_timepoint::Timepoint,
};

/// The waits and signals of an operation.
pub(crate) struct Lists<'a> {
    pub(crate) waits: &'a [windlass_point_t],
    pub(crate) signals: &'a [windlass_point_t],
}

/// Submits an operation to the library.
pub(crate) fn submit(
    device: &Handle<windlass_device_t>,
    affinity: QueueAffinity,
    lists: &Lists<'_>,
    operation: &Operation,
) -> Result<()> {
    // SAFETY: handles and locals.
    let queue = Handle::from(api::queue, |queue| unsafe {
        api().windlass_device_queue_of(device.get(), affinity.bits(), queue)
    })?;
    let queue = queue.get();
    let (wait_count, waits) = (lists.waits.len(), lists.waits.as_ptr());
    let (signal_count, signals) = (lists.signals.len(), lists.signals.as_ptr());
    // SAFETY: handles of the library, and memory that lives until each call returns.
    unsafe {
        match operation {
            // Memory comes with the buffer, and goes when the signals are settled.
            Operation::Barrier | Operation::Alloca { .. } | Operation::Dealloca { .. } => {
                check(api().windlass_queue_barrier(queue, wait_count, waits, signal_count, signals))
            }
            Operation::Fill { target, pattern } => {
                let (target, bytes) = (range_of(target)?, pattern.bytes());
                check(api().windlass_queue_fill(
                    queue,
                    wait_count,
                    waits,
                    signal_count,
                    signals,
                    target,
                    bytes.as_ptr().cast(),
                    bytes.len(),
                ))
            }
            Operation::Update { source, target } => {
                let target = range_of(target)?;
                check(api().windlass_queue_update(
                    queue,
                    wait_count,
                    waits,
                    signal_count,
                    signals,
                    source.as_ptr().cast(),
                    source.len(),
                    target,
                ))
            }
            Operation::Copy { source, target } => {
                let (source, target) = (range_of(source)?, range_of(target)?);
                check(api().windlass_queue_copy(
                    queue,
                    wait_count,
                    waits,
                    signal_count,
                    signals,
                    source,
                    target,
                ))
            }
            Operation::Dispatch(dispatch) => launch(queue, lists, dispatch),
            Operation::Execute { command_buffer, bindings } => {
                let command_buffer = CommandBuffer::handle(command_buffer.as_ref())
                    .ok_or_else(|| Error::internal("a command buffer of another driver"))?;
                let bindings: Vec<_> = bindings.iter().map(range_of).collect::<Result<_>>()?;
                check(api().windlass_queue_execute(
                    queue,
                    wait_count,
                    waits,
                    signal_count,
                    signals,
                    command_buffer,
                    bindings.len(),
                    bindings.as_ptr(),
                ))
            }
            Operation::ImportTimepoint { timepoint } => {
                let mut waits = lists.waits.to_vec();
                waits.push(Timepoint::point(timepoint.as_ref())?);
                check(api().windlass_queue_barrier(queue, waits.len(), waits.as_ptr(), signal_count, signals))
            }
            Operation::Collective { channel, operations } => {
                let channel = channel::of(channel.as_ref())?;
                let group: Vec<_> = operations
                    .iter()
                    .map(|one| channel::collective_of(one, range_of))
                    .collect::<Result<_>>()?;
                check(api().windlass_queue_collective(
                    queue,
                    wait_count,
                    waits,
                    signal_count,
                    signals,
                    channel,
                    group.len(),
                    group.as_ptr(),
                ))
            }
            other => Err(Error::internal(format!("{} is not for the library", other.name()))),
        }
    }
}

/// # Safety
/// The handles are the library's.
unsafe fn launch(queue: *mut windlass_queue_t, lists: &Lists<'_>, dispatch: &Dispatch) -> Result<()> {
    let (function, _) = Executable::function(dispatch.executable.as_ref(), dispatch.function)
        .ok_or_else(|| Error::internal("a function of another driver"))?;
    let arguments = arguments::packed(&dispatch.arguments, dispatch.resources.iter())?;
    let (size, local) = (dispatch.workgroup_size, dispatch.dynamic_local_memory);
    let (wait_count, waits) = (lists.waits.len(), lists.waits.as_ptr());
    let (signal_count, signals) = (lists.signals.len(), lists.signals.as_ptr());
    // SAFETY: the contract above, and memory that lives until each call returns.
    unsafe {
        match &dispatch.workgroup_count {
            WorkgroupCount::Direct(count) => {
                let config = arguments::direct(*count, size, local, true);
                check(api().windlass_queue_dispatch(
                    queue,
                    wait_count,
                    waits,
                    signal_count,
                    signals,
                    function,
                    &config,
                    arguments.len(),
                    arguments.as_ptr(),
                ))
            }
            WorkgroupCount::Indirect(parameters) => {
                let BufferRef::Direct(count) = parameters.range() else {
                    return Err(Error::internal("a slot without a binding table"));
                };
                let config = arguments::indirect(range_of(count)?, false, size, local, true);
                check(api().windlass_queue_dispatch_indirect(
                    queue,
                    wait_count,
                    waits,
                    signal_count,
                    signals,
                    function,
                    &config,
                    arguments.len(),
                    arguments.as_ptr(),
                ))
            }
            other => Err(arguments::unknown(other.as_ref())),
        }
    }
}
