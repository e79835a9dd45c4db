// SPDX-License-Identifier: MIT OR Apache-2.0
//! Command buffers and their recording.

use std::{
    ffi::{c_char, c_void},
    mem::MaybeUninit,
    ptr::NonNull,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use facade::{CommandBuffer, DebugGroup, Error, Event, Recorder, Result};

use crate::{
    boundary::{fallible, infallible},
    buffer::{ref_of, windlass_buffer_ref_t},
    device::windlass_device_t,
    dispatch::{Arguments, config_of, windlass_argument_t, windlass_dispatch_config_t},
    error::windlass_error_t,
    executable::windlass_function_t,
    handle::{self, Shell, object, used},
    memory::{bytes, give, list, text},
    pattern::pattern_of,
};

/// A finished recording, immutable. It may be in flight any number of times, on any queues of its device.
pub struct windlass_command_buffer_t(Shell<CommandBuffer>);
object!(windlass_command_buffer_t, CommandBuffer, "command buffer");

/// Records a command buffer. Every call validates at once; a failed call records nothing. Commands may run in any
/// order or in parallel unless a barrier is between them. Threads may share a recorder; their calls are serialised.
pub struct windlass_recorder_t(Shell<Mutex<Option<Recording>>>);
object!(windlass_recorder_t, Mutex<Option<Recording>>, "recorder");

/// A recorder and its events.
pub(crate) struct Recording {
    pub(crate) recorder: Recorder,
    /// No other recording of the process has this number.
    pub(crate) number: u64,
    pub(crate) events: Vec<Event>,
}

impl Recording {
    fn new(recorder: Recorder) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self { recorder, number: NEXT.fetch_add(1, Ordering::Relaxed), events: Vec::new() }
    }
}

/// Records with a recorder that is not finished.
pub(crate) fn record<T>(
    recorder: Option<NonNull<windlass_recorder_t>>,
    command: impl FnOnce(&mut Recording) -> Result<T>,
) -> Result<T> {
    let recorder = used(recorder)?;
    let mut recorder = recorder.lock().unwrap_or_else(PoisonError::into_inner);
    command(recorder.as_mut().ok_or_else(finished)?)
}

#[cold]
fn finished() -> Error {
    Error::failed_precondition("the recording was finished before")
}

/// Starts a command buffer with this many slots in its binding table. The caller owns the recorder.
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
            Ok(Mutex::new(Some(Recording::new(recorder))))
        })
    })
}

/// Adds a reference and returns the recorder. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_recorder_retain(
    recorder: Option<NonNull<windlass_recorder_t>>,
) -> Option<NonNull<windlass_recorder_t>> {
    infallible(None, || handle::retain(recorder).map(|()| recorder))
}

/// Releases a reference. NULL is allowed. Releasing the last one discards an unfinished recording.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_recorder_release(recorder: Option<NonNull<windlass_recorder_t>>) {
    infallible((), || {
        handle::release(recorder);
        Ok(())
    });
}

/// All earlier commands complete before any later command starts.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_recorder_barrier(
    recorder: Option<NonNull<windlass_recorder_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        record(recorder, |recording| {
            recording.recorder.barrier();
            Ok(())
        })
    })
}

/// Repeats a pattern of 1, 2 or 4 bytes over `target`, whose address and length must be multiples of the pattern's
/// size.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_recorder_fill(
    recorder: Option<NonNull<windlass_recorder_t>>,
    target: windlass_buffer_ref_t,
    pattern: *const c_void,
    pattern_size: usize,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `pattern_of`.
        let pattern = unsafe { pattern_of(pattern, pattern_size) }?;
        let target = ref_of("target", &target)?;
        record(recorder, |recording| recording.recorder.fill(target, pattern))
    })
}

/// Writes `size` bytes of the host to `target`, which has the same length. The bytes are captured now.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_recorder_update(
    recorder: Option<NonNull<windlass_recorder_t>>,
    source: *const c_void,
    size: usize,
    target: windlass_buffer_ref_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `bytes`.
        let source = unsafe { bytes("source", size, source) }?;
        let target = ref_of("target", &target)?;
        record(recorder, |recording| recording.recorder.update(source, target))
    })
}

/// Copies `source` to `target`, which has the same length and must not overlap it.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_recorder_copy(
    recorder: Option<NonNull<windlass_recorder_t>>,
    source: windlass_buffer_ref_t,
    target: windlass_buffer_ref_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let (source, target) = (ref_of("source", &source)?, ref_of("target", &target)?);
        record(recorder, |recording| recording.recorder.copy(source, target))
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
        // SAFETY: the contract in the header covers that of `config_of`.
        let config = unsafe { config_of(config) }?;
        // SAFETY: the contract in the header covers that of `Arguments::read`.
        let arguments = unsafe { Arguments::read(argument_count, arguments) }?;
        // SAFETY: the bytes do not change before this returns.
        let arguments = unsafe { arguments.packed() }?;
        let function = used(function)?;
        record(recorder, |recording| recording.recorder.dispatch(&function.function, config, &arguments))
    })
}

/// Opens a named group, for tools. Groups may be nested.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_recorder_begin_debug_group(
    recorder: Option<NonNull<windlass_recorder_t>>,
    label: *const c_char,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `text`.
        let label = unsafe { text("label", label) }?;
        record(recorder, |recording| {
            recording.recorder.begin_debug_group(label);
            Ok(())
        })
    })
}

/// windlass_recorder_begin_debug_group with a colour and a source location. `rgba` is NULL or four bytes: red, green,
/// blue, alpha. `file` is NULL or the file that the commands come from, with a line that is counted from 1.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_recorder_begin_debug_group_at(
    recorder: Option<NonNull<windlass_recorder_t>>,
    label: *const c_char,
    rgba: *const u8,
    file: *const c_char,
    line: u32,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `text`.
        let mut group = DebugGroup::new(unsafe { text("label", label) }?);
        if !rgba.is_null() {
            // SAFETY: the contract in the header covers that of `list`.
            let rgba = unsafe { list("rgba", 4, rgba) }?;
            group = group.color([rgba[0], rgba[1], rgba[2], rgba[3]]);
        }
        if !file.is_null() {
            // SAFETY: the contract in the header covers that of `text`.
            group = group.location(unsafe { text("file", file) }?, line);
        }
        record(recorder, |recording| {
            recording.recorder.begin_debug_group(group);
            Ok(())
        })
    })
}

/// Closes the innermost group. FAILED_PRECONDITION if none is open.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_recorder_end_debug_group(
    recorder: Option<NonNull<windlass_recorder_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| record(recorder, |recording| recording.recorder.end_debug_group()))
}

/// Ends the recording, successfully or not; the recorder must still be released. FAILED_PRECONDITION if it is already
/// finished or a debug group is open. The caller owns the command buffer.
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
            taken.ok_or_else(finished)?.recorder.finish()
        })
    })
}

/// Adds a reference and returns the command buffer. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_command_buffer_retain(
    command_buffer: Option<NonNull<windlass_command_buffer_t>>,
) -> Option<NonNull<windlass_command_buffer_t>> {
    infallible(None, || handle::retain(command_buffer).map(|()| command_buffer))
}

/// Releases a reference. NULL is allowed. Submissions of the command buffer continue.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_command_buffer_release(
    command_buffer: Option<NonNull<windlass_command_buffer_t>>,
) {
    infallible((), || {
        handle::release(command_buffer);
        Ok(())
    });
}
