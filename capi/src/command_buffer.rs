// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers and their recording.

use std::{
    ffi::{c_char, c_void},
    mem::MaybeUninit,
    ptr::NonNull,
    sync::{Mutex, PoisonError},
};

use facade::{CommandBuffer, Error, Recorder, Result};

use crate::{
    boundary::{fallible, infallible},
    buffer::{ref_of, windlass_buffer_ref_t},
    device::windlass_device_t,
    dispatch::{Arguments, config_of, windlass_argument_t, windlass_dispatch_config_t},
    error::windlass_error_t,
    executable::windlass_function_t,
    handle::{self, Shell, object, used},
    memory::{bytes, give, text},
    pattern::pattern_of,
};

/// A finished recording, immutable. May be in flight any number of times at once, on any queues of its device.
pub struct windlass_command_buffer_t(Shell<CommandBuffer>);
object!(windlass_command_buffer_t, CommandBuffer, "command buffer");

/// Records a command buffer. Every call validates at once; a call that fails records nothing. Commands may run in any order or
/// at once unless a barrier stands between them. Threads that share a recorder take turns.
pub struct windlass_recorder_t(Shell<Mutex<Option<Recorder>>>);
object!(windlass_recorder_t, Mutex<Option<Recorder>>, "recorder");

/// Records through a recorder that was not finished yet.
fn record<T>(
    recorder: Option<NonNull<windlass_recorder_t>>,
    command: impl FnOnce(&mut Recorder) -> Result<T>,
) -> Result<T> {
    let recorder = used(recorder)?;
    let mut recorder = recorder.lock().unwrap_or_else(PoisonError::into_inner);
    command(recorder.as_mut().ok_or_else(finished)?)
}

#[cold]
fn finished() -> Error {
    Error::failed_precondition("the recording was finished before")
}

/// Starts a command buffer whose binding table has this many slots. The caller owns the recorder.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_recorder_create(
    device: Option<NonNull<windlass_device_t>>,
    slot_count: u32,
    recorder: Option<&mut MaybeUninit<Option<NonNull<windlass_recorder_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(recorder, || {
            let recorder = used(device)?.device.record_with_slots(slot_count)?;
            Ok(Mutex::new(Some(recorder)))
        })
    })
}

/// Adds a reference and gives the recorder back. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_recorder_retain(
    recorder: Option<NonNull<windlass_recorder_t>>,
) -> Option<NonNull<windlass_recorder_t>> {
    infallible(None, || handle::retain(recorder).map(|()| recorder))
}

/// Gives a reference back. NULL is right. The last one gives a recording up that was not finished.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_recorder_release(recorder: Option<NonNull<windlass_recorder_t>>) {
    infallible((), || {
        handle::release(recorder);
        Ok(())
    });
}

/// Everything recorded before completes before anything recorded after starts.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_recorder_barrier(
    recorder: Option<NonNull<windlass_recorder_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        record(recorder, |recorder| {
            recorder.barrier();
            Ok(())
        })
    })
}

/// Repeats a pattern of 1, 2 or 4 bytes over `target`, whose address and length must be multiples of the pattern's size.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_recorder_fill(
    recorder: Option<NonNull<windlass_recorder_t>>,
    target: windlass_buffer_ref_t,
    pattern: *const c_void,
    pattern_size: usize,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the header asks of the caller what `pattern_of` asks.
        let pattern = unsafe { pattern_of(pattern, pattern_size) }?;
        let target = ref_of("target", &target)?;
        record(recorder, |recorder| recorder.fill(target, pattern))
    })
}

/// Writes `size` bytes of the host, which are captured now, over `target`, which has as many.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_recorder_update(
    recorder: Option<NonNull<windlass_recorder_t>>,
    source: *const c_void,
    size: usize,
    target: windlass_buffer_ref_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the header asks of the caller what `bytes` asks.
        let source = unsafe { bytes("source", size, source) }?;
        let target = ref_of("target", &target)?;
        record(recorder, |recorder| recorder.update(source, target))
    })
}

/// Copies `source` over `target` of the same length; they must not overlap.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_recorder_copy(
    recorder: Option<NonNull<windlass_recorder_t>>,
    source: windlass_buffer_ref_t,
    target: windlass_buffer_ref_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let (source, target) = (ref_of("source", &source)?, ref_of("target", &target)?);
        record(recorder, |recorder| recorder.copy(source, target))
    })
}

/// Launches `function` with one argument for each of its parameters. A grid without workgroups does nothing.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_recorder_dispatch(
    recorder: Option<NonNull<windlass_recorder_t>>,
    function: Option<NonNull<windlass_function_t>>,
    config: *const windlass_dispatch_config_t,
    argument_count: usize,
    arguments: *const windlass_argument_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the header asks of the caller what `config_of` asks.
        let config = unsafe { config_of(config) }?;
        // SAFETY: the header asks of the caller what `Arguments::of` asks.
        let arguments = unsafe { Arguments::of(argument_count, arguments) }?;
        // SAFETY: they stay as they are until this returns.
        let arguments = unsafe { arguments.packed() }?;
        let function = used(function)?;
        record(recorder, |recorder| recorder.dispatch(&function.function, config, &arguments))
    })
}

/// Opens a named group, for tools. Groups nest.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_recorder_begin_debug_group(
    recorder: Option<NonNull<windlass_recorder_t>>,
    label: *const c_char,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the header asks of the caller what `text` asks.
        let label = unsafe { text("label", label) }?;
        record(recorder, |recorder| {
            recorder.begin_debug_group(label);
            Ok(())
        })
    })
}

/// Closes the innermost group. FAILED_PRECONDITION where none is open.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_recorder_end_debug_group(
    recorder: Option<NonNull<windlass_recorder_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| record(recorder, Recorder::end_debug_group))
}

/// Ends the recording, successful or not; the recorder is still to be released. FAILED_PRECONDITION where it was finished before or a
/// debug group is open. The caller owns the command buffer.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_recorder_finish(
    recorder: Option<NonNull<windlass_recorder_t>>,
    command_buffer: Option<&mut MaybeUninit<Option<NonNull<windlass_command_buffer_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(command_buffer, || {
            let recorder = used(recorder)?;
            let taken = recorder.lock().unwrap_or_else(PoisonError::into_inner).take();
            taken.ok_or_else(finished)?.finish()
        })
    })
}

/// Adds a reference and gives the command buffer back. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_command_buffer_retain(
    command_buffer: Option<NonNull<windlass_command_buffer_t>>,
) -> Option<NonNull<windlass_command_buffer_t>> {
    infallible(None, || handle::retain(command_buffer).map(|()| command_buffer))
}

/// Gives a reference back. NULL is right. Submissions of it go on.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_command_buffer_release(
    command_buffer: Option<NonNull<windlass_command_buffer_t>>,
) {
    infallible((), || {
        handle::release(command_buffer);
        Ok(())
    });
}
