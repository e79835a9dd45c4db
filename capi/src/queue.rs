// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues: where work is submitted.

use std::{ffi::c_void, mem::MaybeUninit, ptr::NonNull};

use facade::{BindingTable, Buffer, Queue, QueueAffinity, Result};

use crate::{
    boundary::{fallible, infallible},
    buffer::{params_of, range_of, windlass_buffer_params_t, windlass_buffer_ref_t, windlass_buffer_t},
    command_buffer::windlass_command_buffer_t,
    device::windlass_device_t,
    dispatch::{Arguments, config_of, windlass_argument_t, windlass_dispatch_config_t},
    error::windlass_error_t,
    executable::windlass_function_t,
    handle::{self, Shell, object, used},
    memory::{bytes, give, list},
    pattern::pattern_of,
    semaphore::{lists_of, windlass_point_t},
};

/// A queue of a device, or a set of queues of which the device picks one. Every operation takes a wait list and a signal
/// list and returns without waiting for other work. It starts when every wait is reached; when it has completed, every signal
/// is. Nothing else orders it: two operations without an edge between them may run in any order or at once.
///
/// An error that an operation returns means that nothing was accepted, and the signal list is untouched. What goes wrong later
/// fails the signal list. What an operation uses, it keeps alive: the handles may be released right after.
pub struct windlass_queue_t(Shell<Queue>);
object!(windlass_queue_t, Queue, "queue");

/// A queue by number. OUT_OF_RANGE where the device has fewer. The caller owns the handle, which keeps the device open.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_device_queue(
    device: Option<NonNull<windlass_device_t>>,
    index: u32,
    queue: Option<&mut MaybeUninit<Option<NonNull<windlass_queue_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(queue, || used(device)?.device.queue(index)))
}

/// A queue that stands for a set, bit n for queue n: the device picks one for each operation. Bits of queues that it does
/// not have are ignored, 0 means any; OUT_OF_RANGE where none is left. The caller owns the handle.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_device_queue_of(
    device: Option<NonNull<windlass_device_t>>,
    affinity: u64,
    queue: Option<&mut MaybeUninit<Option<NonNull<windlass_queue_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(queue, || used(device)?.device.queue_of(QueueAffinity::from_bits(affinity))))
}

/// Adds a reference and gives the queue back. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_queue_retain(
    queue: Option<NonNull<windlass_queue_t>>,
) -> Option<NonNull<windlass_queue_t>> {
    infallible(None, || handle::retain(queue).map(|()| queue))
}

/// Gives a reference back. NULL is right. Never waits.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_queue_release(queue: Option<NonNull<windlass_queue_t>>) {
    infallible((), || {
        handle::release(queue);
        Ok(())
    });
}

/// A pure edge from waits to signals.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_barrier(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the header asks of the caller what `lists_of` asks.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        used(queue)?.barrier(&lists.waits, &lists.signals)
    })
}

/// Allocates memory in the order of the queue. The handle and its address are there at once and may be recorded and submitted;
/// the contents are the buffer's own, and undefined, once the signals are reached. NULL parameters mean those of
/// windlass_buffer_params_device. The caller owns the handle.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_alloca(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
    params: *const windlass_buffer_params_t,
    size: u64,
    buffer: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(buffer, || {
            // SAFETY: the header asks of the caller what `lists_of` asks.
            let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
            // SAFETY: the header asks of the caller what `params_of` asks.
            let params = unsafe { params_of(params) }?;
            used(queue)?.alloca(&lists.waits, &lists.signals, &params, size)
        })
    })
}

/// Gives the memory of a whole allocation back in the order of the queue, whatever handles remain; their references are
/// released as usual. Work behind the signals may reuse the memory; using the buffer behind them is a mistake.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_dealloca(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
    buffer: Option<NonNull<windlass_buffer_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the header asks of the caller what `lists_of` asks.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        let buffer = used(buffer)?;
        used(queue)?.dealloca(&lists.waits, &lists.signals, &buffer)
    })
}

/// Repeats a pattern of 1, 2 or 4 bytes over `target`, whose address and length must be multiples of the pattern's size.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_fill(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
    target: windlass_buffer_ref_t,
    pattern: *const c_void,
    pattern_size: usize,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the header asks of the caller what `lists_of` asks.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        // SAFETY: the header asks of the caller what `pattern_of` asks.
        let pattern = unsafe { pattern_of(pattern, pattern_size) }?;
        let target = range_of("target", &target)?;
        used(queue)?.fill(&lists.waits, &lists.signals, &target, pattern)
    })
}

/// Writes `size` bytes of the host over `target`, which has as many. The bytes are captured before this returns.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_update(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
    source: *const c_void,
    size: usize,
    target: windlass_buffer_ref_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the header asks of the caller what `lists_of` asks.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        // SAFETY: the header asks of the caller what `bytes` asks.
        let source = unsafe { bytes("source", size, source) }?;
        let target = range_of("target", &target)?;
        used(queue)?.update(&lists.waits, &lists.signals, source, &target)
    })
}

/// Copies `source` over `target` of the same length; they must not overlap.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_copy(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
    source: windlass_buffer_ref_t,
    target: windlass_buffer_ref_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the header asks of the caller what `lists_of` asks.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        let (source, target) = (range_of("source", &source)?, range_of("target", &target)?);
        used(queue)?.copy(&lists.waits, &lists.signals, &source, &target)
    })
}

/// Launches one function, with one argument for each of its parameters. A grid without workgroups is a barrier.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_dispatch(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
    function: Option<NonNull<windlass_function_t>>,
    config: *const windlass_dispatch_config_t,
    argument_count: usize,
    arguments: *const windlass_argument_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the header asks of the caller what `lists_of` asks.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        // SAFETY: the header asks of the caller what `config_of` asks.
        let config = unsafe { config_of(config) }?;
        // SAFETY: the header asks of the caller what `Arguments::of` asks.
        let arguments = unsafe { Arguments::of(argument_count, arguments) }?;
        // SAFETY: they stay as they are until this returns.
        let arguments = unsafe { arguments.packed() }?;
        let function = used(function)?;
        used(queue)?.dispatch(&lists.waits, &lists.signals, &function.function, config, &arguments)
    })
}

/// Runs a command buffer, with a binding for each of its slots. Bindings are ranges of buffers. The same command buffer may
/// be in flight any number of times, on any queues of its device.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_execute(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
    command_buffer: Option<NonNull<windlass_command_buffer_t>>,
    binding_count: usize,
    bindings: *const windlass_buffer_ref_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the header asks of the caller what `lists_of` asks.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        // SAFETY: the header asks of the caller what `list` asks.
        let bindings = unsafe { list("bindings", binding_count, bindings) }?;
        let slot = |(slot, reference)| range_of(&format!("bindings[{slot}]"), reference);
        let table: smallvec::SmallVec<[Buffer; 4]> =
            bindings.iter().enumerate().map(slot).collect::<Result<_>>()?;
        let command_buffer = used(command_buffer)?;
        used(queue)?.execute(
            &lists.waits,
            &lists.signals,
            &command_buffer,
            BindingTable::from(table.as_slice()),
        )
    })
}
