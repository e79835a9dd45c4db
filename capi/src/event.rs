// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events: barriers in two halves, within one command buffer.

use std::{mem::MaybeUninit, ptr::NonNull};

use facade::{Error, Event, Result};
use smallvec::SmallVec;

use crate::{
    boundary::fallible,
    command_buffer::{Recording, record, windlass_recorder_t},
    error::windlass_error_t,
    memory::{list, out},
};

/// An event of one recording. It is a plain value and needs no release. All events are unsignalled when a replay of
/// the command buffer begins.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_event_t {
    /// The recording; for the library alone.
    pub recording: u64,
    /// The event's number in it; for the library alone.
    pub number: u64,
}

impl Recording {
    fn event(&self, event: &windlass_event_t) -> Result<Event> {
        let known = usize::try_from(event.number).ok().and_then(|number| self.events.get(number));
        match known {
            Some(known) if event.recording == self.number => Ok(*known),
            _ => Err(Error::invalid_argument(
                "the event belongs to another recording; windlass_recorder_create_event makes one for this recorder",
            )),
        }
    }
}

/// Makes an event of this recording. It is not signalled.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_recorder_create_event(
    recorder: Option<NonNull<windlass_recorder_t>>,
    event: Option<&mut MaybeUninit<windlass_event_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let event = out("event", event)?;
        record(recorder, |recording| {
            let made = recording.recorder.event();
            event.write(windlass_event_t {
                recording: recording.number,
                number: recording.events.len() as u64,
            });
            recording.events.push(made);
            Ok(())
        })
    })
}

/// The first half of a split barrier: a later windlass_recorder_wait_events for the event waits for all commands before
/// this call. FAILED_PRECONDITION if the event is signalled already and was not reset.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_recorder_signal_event(
    recorder: Option<NonNull<windlass_recorder_t>>,
    event: windlass_event_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| record(recorder, |recording| recording.recorder.signal_event(recording.event(&event)?)))
}

/// Makes the event unsignalled for the commands from here on. Earlier waits still mean the signal before them.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_recorder_reset_event(
    recorder: Option<NonNull<windlass_recorder_t>>,
    event: windlass_event_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| record(recorder, |recording| recording.recorder.reset_event(recording.event(&event)?)))
}

/// The second half of a split barrier: for each event, all commands before its last signal complete before any command
/// after this call starts. Commands between signal and wait are free. FAILED_PRECONDITION if an event is not signalled
/// at this point. An empty list records nothing.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_recorder_wait_events(
    recorder: Option<NonNull<windlass_recorder_t>>,
    count: usize,
    events: *const windlass_event_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `list`.
        let events = unsafe { list("events", count, events) }?;
        record(recorder, |recording| {
            let events: SmallVec<[Event; 4]> =
                events.iter().map(|event| recording.event(event)).collect::<Result<_>>()?;
            recording.recorder.wait_events(&events)
        })
    })
}
