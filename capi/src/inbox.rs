// SPDX-License-Identifier: MIT OR Apache-2.0
//! Inboxes: callbacks as messages, for programs that cannot be called on threads of the library.
//!
//! An interpreter's functions need its lock, and must not be called once the interpreter has begun to end. So its
//! package gives the library the functions of this file instead of its own.

use std::{
    collections::VecDeque,
    ffi::{c_int, c_void},
    fs,
    io::Write,
    mem::{MaybeUninit, offset_of},
    ptr::NonNull,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

use facade::{Completion, Error};

use crate::{
    boundary::{fallible, infallible},
    error::windlass_error_t,
    file::duplicate,
    handle::{self, Shell, object, used},
    host_call::{take, windlass_completion_t, windlass_host_call_t},
    memory::{Growing, give, read_struct, write_struct},
    profiling::{KeptRecord, windlass_kept_record_t, windlass_profile_record_t},
};

/// A list of messages from callbacks. Releasing the last reference discards them, and those that follow.
pub struct windlass_inbox_t(Shell<Arc<Inbox>>);
object!(windlass_inbox_t, Arc<Inbox>, "inbox");

/// The user data of one callback whose calls become messages of an inbox.
pub struct windlass_ticket_t(Shell<Ticket>);
object!(windlass_ticket_t, Ticket, "ticket");

/// The event that a message tells: one of WINDLASS_MESSAGE_*. Later versions may add kinds.
pub type windlass_message_kind_t = u32;

/// windlass_ticket_timepoint was called.
pub const WINDLASS_MESSAGE_TIMEPOINT: windlass_message_kind_t = 1;
/// windlass_ticket_observer was called.
pub const WINDLASS_MESSAGE_OBSERVER: windlass_message_kind_t = 2;
/// windlass_ticket_destroy was called. It is the ticket's last message.
pub const WINDLASS_MESSAGE_DESTROY: windlass_message_kind_t = 3;
/// windlass_ticket_host_call was called.
pub const WINDLASS_MESSAGE_HOST_CALL: windlass_message_kind_t = 4;
/// windlass_ticket_host_call_destroy was called. It is the ticket's last message.
pub const WINDLASS_MESSAGE_HOST_CALL_DESTROY: windlass_message_kind_t = 5;
/// windlass_ticket_profile was called.
pub const WINDLASS_MESSAGE_PROFILE: windlass_message_kind_t = 6;

/// One call of a callback. Its handles belong to the program, which releases them.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_message_t {
    /// sizeof this struct, set by the caller: windlass_message_init does so.
    pub struct_size: usize,
    /// The number of the ticket.
    pub number: u64,
    /// The payload that an observer heard; 0 for the other kinds.
    pub payload: u64,
    /// The error that the callback was called with, or NULL.
    pub error: Option<NonNull<windlass_error_t>>,
    /// The signal list of a host call, for windlass_completion_complete. NULL for the other kinds, and for a
    /// non-blocking host call.
    pub completion: Option<NonNull<windlass_completion_t>>,
    /// The event.
    pub kind: windlass_message_kind_t,
    /// Zero.
    pub reserved: u32,
    /// The record of a profile, for windlass_kept_record_get. NULL for the other kinds.
    pub record: Option<NonNull<windlass_kept_record_t>>,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_message_t {
    const LEAST: usize = offset_of!(Self, record);
    const NAME: &'static str = "windlass_message_t";
}

/// The records of profiles that wait in an inbox, before more are lost.
const MOST_RECORDS: usize = 1 << 16;

pub(crate) struct Inbox {
    messages: Mutex<Messages>,
    /// Rung when the inbox is no longer empty.
    bell: Option<fs::File>,
}

#[derive(Default)]
struct Messages {
    list: VecDeque<Message>,
    /// The records of profiles among them.
    records: usize,
}

#[derive(Default)]
struct Message {
    number: u64,
    kind: windlass_message_kind_t,
    payload: u64,
    error: Option<Error>,
    completion: Option<Completion>,
    record: Option<KeptRecord>,
}

pub(crate) struct Ticket {
    inbox: Weak<Inbox>,
    number: u64,
    /// The records since the last message that found no room.
    lost: AtomicU64,
}

impl Inbox {
    fn messages(&self) -> MutexGuard<'_, Messages> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<Message> {
        let mut messages = self.messages();
        let taken = messages.list.pop_front()?;
        messages.records -= usize::from(taken.record.is_some());
        Some(taken)
    }
}

impl Ticket {
    fn post(&self, message: Message) {
        // Without an inbox a completion is dropped, which fails its signals.
        let Some(inbox) = self.inbox.upgrade() else { return };
        let mut message = Message { number: self.number, ..message };
        let mut messages = inbox.messages();
        if let Some(record) = message.record.as_mut() {
            if messages.records == MOST_RECORDS {
                self.lost.fetch_add(1 + record.lost(), Ordering::Relaxed);
                return;
            }
            record.lose(self.lost.swap(0, Ordering::Relaxed));
            messages.records += 1;
        }
        let silent = messages.list.is_empty();
        messages.list.push_back(message);
        drop(messages);
        if let (true, Some(mut bell)) = (silent, inbox.bell.as_ref()) {
            // A full descriptor is readable already, and one without a reader has nobody to tell.
            let _ = bell.write(&1u64.to_ne_bytes());
        }
    }
}

/// The error of a callback, which the library keeps.
fn heard(error: Option<NonNull<windlass_error_t>>) -> Option<Error> {
    error.map(|error| windlass_error_t::get(Some(error)).unwrap_or_else(|mistake| mistake))
}

/// Posts a message, if the user data is a ticket.
fn post(user_data: *mut c_void, message: Message) {
    infallible((), || {
        used(NonNull::new(user_data.cast::<windlass_ticket_t>()))?.post(message);
        Ok(())
    });
}

/// Makes an inbox. Whenever a message comes into the empty inbox, eight bytes are written to `descriptor`, the number 1:
/// to an eventfd, or to a pipe or a socket whose other end is open. It must not block. It is duplicated: the caller
/// keeps its own. It is -1 for a program that looks by itself. INVALID_ARGUMENT if nothing is open under the number,
/// UNIMPLEMENTED on systems without descriptors. The caller owns the inbox.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_inbox_create(
    descriptor: c_int,
    inbox: Option<&mut MaybeUninit<Option<NonNull<windlass_inbox_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(inbox, || {
            let bell = if descriptor == -1 { None } else { Some(duplicate(descriptor)?) };
            Ok(Arc::new(Inbox { messages: Mutex::default(), bell }))
        })
    })
}

/// Takes the oldest message of an inbox. False if there is none, and for NULL. After the descriptor was readable, read
/// from it, then take all messages.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_inbox_take(
    inbox: Option<NonNull<windlass_inbox_t>>,
    message: *mut windlass_message_t,
) -> bool {
    infallible(false, || {
        let empty = windlass_message_t {
            struct_size: size_of::<windlass_message_t>(),
            number: 0,
            payload: 0,
            error: None,
            completion: None,
            kind: 0,
            reserved: 0,
            record: None,
        };
        let inbox = used(inbox)?;
        // A place that cannot take a message is found before there is one.
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(message, &empty) }?;
        let Some(taken) = inbox.take() else { return Ok(false) };
        let value = windlass_message_t {
            number: taken.number,
            payload: taken.payload,
            error: taken.error.map(windlass_error_t::create),
            completion: taken.completion.map(|completion| handle::create(Mutex::new(Some(completion)))),
            kind: taken.kind,
            record: taken.record.map(handle::create),
            ..empty
        };
        // SAFETY: as above.
        unsafe { write_struct(message, &value) }?;
        Ok(true)
    })
}

/// Adds a reference and returns the inbox. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_inbox_retain(
    inbox: Option<NonNull<windlass_inbox_t>>,
) -> Option<NonNull<windlass_inbox_t>> {
    infallible(None, || handle::retain(inbox).map(|()| inbox))
}

/// Releases a reference. NULL is allowed. A host call whose message nobody took fails with ABORTED.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_inbox_release(inbox: Option<NonNull<windlass_inbox_t>>) {
    infallible((), || {
        handle::release(inbox);
        Ok(())
    });
}

/// Makes the user data of one callback, with a number for its messages: pass it to a function that takes a callback,
/// together with the windlass_ticket_* function of the callback's type. It does not keep the inbox. The caller owns
/// the ticket. windlass_ticket_timepoint, windlass_ticket_destroy and windlass_ticket_host_call_destroy release it.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_inbox_ticket(
    inbox: Option<NonNull<windlass_inbox_t>>,
    number: u64,
    ticket: Option<&mut MaybeUninit<Option<NonNull<windlass_ticket_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(ticket, || {
            let inbox = Arc::downgrade(&*used(inbox)?);
            Ok(Ticket { inbox, number, lost: AtomicU64::new(0) })
        })
    })
}

/// Adds a reference and returns the ticket. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_ticket_retain(
    ticket: Option<NonNull<windlass_ticket_t>>,
) -> Option<NonNull<windlass_ticket_t>> {
    infallible(None, || handle::retain(ticket).map(|()| ticket))
}

/// Releases a reference. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_ticket_release(ticket: Option<NonNull<windlass_ticket_t>>) {
    infallible((), || {
        handle::release(ticket);
        Ok(())
    });
}

fn release(user_data: *mut c_void) {
    windlass_ticket_release(NonNull::new(user_data.cast()));
}

/// A windlass_timepoint_callback_t with a ticket as its user data, which it releases.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_ticket_timepoint(
    user_data: *mut c_void,
    error: Option<NonNull<windlass_error_t>>,
) {
    post(user_data, Message { kind: WINDLASS_MESSAGE_TIMEPOINT, error: heard(error), ..Message::default() });
    release(user_data);
}

/// A windlass_observer_callback_t with a ticket as its user data. windlass_ticket_destroy goes with it.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_ticket_observer(
    user_data: *mut c_void,
    payload: u64,
    error: Option<NonNull<windlass_error_t>>,
) {
    let error = heard(error);
    post(user_data, Message { kind: WINDLASS_MESSAGE_OBSERVER, payload, error, ..Message::default() });
}

/// A windlass_destroy_t with a ticket as its user data, which it releases.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_ticket_destroy(user_data: *mut c_void) {
    post(user_data, Message { kind: WINDLASS_MESSAGE_DESTROY, ..Message::default() });
    release(user_data);
}

/// A windlass_host_call_callback_t with a ticket as its user data. The signals are reached or failed by the completion
/// in the message. windlass_ticket_host_call_destroy goes with it.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_ticket_host_call(
    user_data: *mut c_void,
    call: Option<NonNull<windlass_host_call_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let ticket = used(NonNull::new(user_data.cast::<windlass_ticket_t>()))?;
        let completion = take(&*used(call)?);
        ticket.post(Message { kind: WINDLASS_MESSAGE_HOST_CALL, completion, ..Message::default() });
        Ok(())
    })
}

/// A windlass_host_call_destroy_t with a ticket as its user data, which it releases.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_ticket_host_call_destroy(
    user_data: *mut c_void,
    error: Option<NonNull<windlass_error_t>>,
) {
    let error = heard(error);
    post(user_data, Message { kind: WINDLASS_MESSAGE_HOST_CALL_DESTROY, error, ..Message::default() });
    release(user_data);
}

/// A windlass_profile_callback_t with a ticket as its user data. windlass_ticket_destroy goes with it. The message has a
/// copy of the record. While 65536 records wait in the inbox, further ones are lost; the next one has their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_ticket_profile(
    user_data: *mut c_void,
    record: *const windlass_profile_record_t,
) {
    infallible((), || {
        let ticket = used(NonNull::new(user_data.cast::<windlass_ticket_t>()))?;
        // SAFETY: the contract in the header covers that of `read_struct`.
        let record = unsafe { read_struct(record) }?;
        // SAFETY: the library calls this with a record whose pointers last as long as the call.
        let record = Some(unsafe { KeptRecord::new(&record) }?);
        ticket.post(Message { kind: WINDLASS_MESSAGE_PROFILE, record, ..Message::default() });
        Ok(())
    });
}

#[cfg(test)]
mod tests {
    use std::ptr;

    use super::*;

    fn message(inbox: Option<NonNull<windlass_inbox_t>>) -> Option<windlass_message_t> {
        let mut place = MaybeUninit::<windlass_message_t>::zeroed();
        // SAFETY: all zeros are a valid value.
        let place = unsafe { place.assume_init_mut() };
        place.struct_size = size_of::<windlass_message_t>();
        // SAFETY: the struct states its size.
        unsafe { windlass_inbox_take(inbox, place) }.then_some(*place)
    }

    #[test]
    fn tickets_outlive_their_inbox_and_bad_user_data_is_ignored() {
        let inbox = Arc::new(Inbox { messages: Mutex::default(), bell: None });
        let inbox = Some(handle::create::<windlass_inbox_t>(inbox));
        let ticket = handle::create::<windlass_ticket_t>(Ticket {
            inbox: Arc::downgrade(&*used(inbox).unwrap()),
            number: 7,
            lost: AtomicU64::new(0),
        });
        let user_data = ticket.as_ptr().cast::<c_void>();
        windlass_ticket_observer(user_data, 3, None);
        let heard = message(inbox).unwrap();
        assert_eq!((heard.number, heard.kind, heard.payload), (7, WINDLASS_MESSAGE_OBSERVER, 3));
        assert!(message(inbox).is_none());
        // SAFETY: NULL is allowed.
        assert!(!unsafe { windlass_inbox_take(inbox, ptr::null_mut()) });
        windlass_inbox_release(inbox);
        windlass_ticket_observer(user_data, 4, None);
        windlass_ticket_destroy(user_data);
        windlass_ticket_destroy(user_data);
        windlass_ticket_destroy(ptr::null_mut());
        assert!(windlass_ticket_host_call(ptr::null_mut(), None).is_some());
    }
}
