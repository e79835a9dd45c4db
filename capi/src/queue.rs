// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues, which take work.

use std::{ffi::c_void, mem::MaybeUninit, ptr::NonNull};

use facade::{Queue, QueueAffinity};

use crate::{
    binding_table::table_of,
    boundary::{fallible, infallible},
    buffer::{params_of, range_of, windlass_buffer_params_t, windlass_buffer_ref_t, windlass_buffer_t},
    command_buffer::windlass_command_buffer_t,
    device::windlass_device_t,
    dispatch::{Arguments, config_of, windlass_argument_t, windlass_dispatch_config_t},
    error::windlass_error_t,
    executable::windlass_function_t,
    handle::{self, Shell, object, used},
    memory::{bytes, give},
    pattern::pattern_of,
    semaphore::{lists_of, windlass_point_t},
};

/// A queue of a device, or a set of queues from which the device picks one. Every operation takes a wait list and a
/// signal list and returns without waiting for other work. The operation starts when every wait is reached; when it
/// has completed, every signal is reached. Nothing else orders it: two operations without an edge between them may run
/// in any order or in parallel.
///
/// If an operation returns an error, it was not accepted, and the signal list is untouched. A later failure fails the
/// signal list. An operation keeps its objects alive: the handles may be released right after the call.
pub struct windlass_queue_t(Shell<Queue>);
object!(windlass_queue_t, Queue, "queue");

/// A queue by number. OUT_OF_RANGE if the device has fewer. The caller owns the handle, which keeps the device open.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_device_queue(
    device: Option<NonNull<windlass_device_t>>,
    index: u32,
    queue: Option<&mut MaybeUninit<Option<NonNull<windlass_queue_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(queue, || used(device)?.device.queue(index)))
}

/// A queue that stands for a set, bit n for queue n: the device picks one for each operation. Bits without a queue are
/// ignored, and 0 means any queue; OUT_OF_RANGE if no queue is left. The caller owns the handle.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_device_queue_of(
    device: Option<NonNull<windlass_device_t>>,
    affinity: u64,
    queue: Option<&mut MaybeUninit<Option<NonNull<windlass_queue_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(queue, || used(device)?.device.queue_of(QueueAffinity::from_bits(affinity))))
}

/// The set of queues that this stands for, bit n for queue n; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_queue_affinity(queue: Option<NonNull<windlass_queue_t>>) -> u64 {
    infallible(0, || Ok(used(queue)?.affinity().bits()))
}

/// Adds a reference and returns the queue. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_queue_retain(
    queue: Option<NonNull<windlass_queue_t>>,
) -> Option<NonNull<windlass_queue_t>> {
    infallible(None, || handle::retain(queue).map(|()| queue))
}

/// Releases a reference. NULL is allowed. Never waits.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_queue_release(queue: Option<NonNull<windlass_queue_t>>) {
    infallible((), || {
        handle::release(queue);
        Ok(())
    });
}

/// An edge from waits to signals, without work.
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
        // SAFETY: the contract in the header covers that of `lists_of`.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        used(queue)?.barrier(&lists.waits, &lists.signals)
    })
}

/// Allocates memory in the order of the queue. The handle and its address may be recorded and submitted at once; the
/// buffer owns the memory, with undefined contents, when the signals are reached. NULL parameters mean those of
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
            // SAFETY: the contract in the header covers that of `lists_of`.
            let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
            // SAFETY: the contract in the header covers that of `params_of`.
            let params = unsafe { params_of(params) }?;
            used(queue)?.alloca(&lists.waits, &lists.signals, &params, size)
        })
    })
}

/// Frees the memory of a whole allocation in the order of the queue, also if handles remain; they are released as
/// usual. Work behind the signals may reuse the memory. Once they are reached, calls that take, record or map the
/// buffer are FAILED_PRECONDITION. Work that was submitted or recorded before must not use it.
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
        // SAFETY: the contract in the header covers that of `lists_of`.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        let buffer = used(buffer)?;
        used(queue)?.dealloca(&lists.waits, &lists.signals, &buffer)
    })
}

/// Repeats a pattern of 1, 2 or 4 bytes over `target`, whose address and length must be multiples of the pattern's
/// size.
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
        // SAFETY: the contract in the header covers that of `lists_of`.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        // SAFETY: the contract in the header covers that of `pattern_of`.
        let pattern = unsafe { pattern_of(pattern, pattern_size) }?;
        let target = range_of("target", &target)?;
        used(queue)?.fill(&lists.waits, &lists.signals, &target, pattern)
    })
}

/// Writes `size` bytes of the host to `target`, which has the same length. The bytes are captured before this returns.
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
        // SAFETY: the contract in the header covers that of `lists_of`.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        // SAFETY: the contract in the header covers that of `bytes`.
        let source = unsafe { bytes("source", size, source) }?;
        let target = range_of("target", &target)?;
        used(queue)?.update(&lists.waits, &lists.signals, source, &target)
    })
}

/// Copies `source` to `target`, which has the same length and must not overlap it.
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
        // SAFETY: the contract in the header covers that of `lists_of`.
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
        // SAFETY: the contract in the header covers that of `lists_of`.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        // SAFETY: the contract in the header covers that of `config_of`.
        let config = unsafe { config_of(config) }?;
        // SAFETY: the contract in the header covers that of `Arguments::read`.
        let arguments = unsafe { Arguments::read(argument_count, arguments) }?;
        // SAFETY: the bytes do not change before this returns.
        let arguments = unsafe { arguments.packed() }?;
        let function = used(function)?;
        used(queue)?.dispatch(&lists.waits, &lists.signals, &function.function, config, &arguments)
    })
}

/// Runs a command buffer, with a binding for each of its slots. Bindings are ranges of buffers. The binding of a slot
/// that no command uses may be left out at the end of the list, or be windlass_whole(NULL). A command buffer may be in
/// flight any number of times, on any queues of its device.
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
        // SAFETY: the contract in the header covers that of `lists_of`.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        let command_buffer = used(command_buffer)?;
        // SAFETY: the contract in the header covers that of `table_of`.
        let table = unsafe { table_of(&command_buffer, binding_count, bindings) }?;
        used(queue)?.execute(&lists.waits, &lists.signals, &command_buffer, table)
    })
}
