// SPDX-License-Identifier: MIT OR Apache-2.0
//! Operations of queues, as drivers and wrappers of the program receive them.

use std::{
    ffi::c_void,
    mem::MaybeUninit,
    ptr::NonNull,
    sync::{Mutex, PoisonError},
};

use facade::{Error, Operation, Result};

use crate::{
    boundary::{fallible, infallible},
    buffer::windlass_buffer_t,
    error::windlass_error_t,
    exception::guarded,
    handle::{self, Shell, object, used},
    memory::{give, write_struct},
    operation_info::windlass_operation_info_t,
    semaphore::windlass_semaphore_t,
    view::View,
};

/// An operation that a driver runs, or that a wrapper passes on. Each is completed or forwarded once, during the call
/// that has it or later, on any thread. To keep it beyond the call, retain it. If the last reference goes before, the
/// operation fails with ABORTED.
pub struct windlass_operation_t(Shell<Received>);
object!(windlass_operation_t, Received, "operation");

/// An operation of the caller's, until it is completed or forwarded.
pub(crate) struct Received(Mutex<Option<Live>>);

/// The operation's description and objects, and its end.
pub(crate) struct Live {
    pub(crate) view: View,
    /// The objects that the view leads to, beside those that it holds itself.
    pub(crate) operation: Option<Operation>,
    pub(crate) end: Box<dyn End>,
}

/// The end of an operation. The objects that the driver or wrapper could use are gone when these are called.
pub(crate) trait End: Send {
    /// The operation has ended.
    fn complete(self: Box<Self>, result: Result<()>);
    /// The wrapper passes the operation on.
    fn forward(self: Box<Self>, operation: Operation) -> Result<()>;
    /// Whether this is of a wrapper.
    fn forwards(&self) -> bool;
}

impl Received {
    fn live(&self) -> std::sync::MutexGuard<'_, Option<Live>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn look<T>(&self, at: impl FnOnce(&Live) -> Result<T>) -> Result<T> {
        self.live().as_ref().ok_or_else(over).and_then(at)
    }
}

impl Drop for Received {
    fn drop(&mut self) {
        let live = self.0.get_mut().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Live { view, operation, end }) = live {
            drop((view, operation));
            end.complete(Err(Error::aborted(
                "the driver or wrapper released the operation, and has neither completed nor forwarded it",
            )));
        }
    }
}

fn over() -> Error {
    Error::failed_precondition("the operation was completed or forwarded before")
}

impl windlass_operation_t {
    pub(crate) fn create(live: Live) -> NonNull<Self> {
        handle::create(Received(Mutex::new(Some(live))))
    }

    /// Ends an operation, unless it has ended. Whether it had not.
    pub(crate) fn end(operation: NonNull<Self>, result: Result<()>) -> bool {
        let taken = used(Some(operation)).ok().and_then(|received| received.live().take());
        let ended = taken.is_some();
        if let Some(Live { view, operation, end }) = taken {
            drop((view, operation));
            end.complete(result);
        }
        ended
    }
}

/// Describes the operation. FAILED_PRECONDITION if it was completed or forwarded.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_operation_info(
    operation: Option<NonNull<windlass_operation_t>>,
    info: *mut windlass_operation_info_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        used(operation)?.look(|live| {
            // SAFETY: the contract in the header covers that of `write_struct`.
            unsafe { write_struct(info, &live.view.for_c()) }
        })
    })
}

/// A wait by number, from 0: the semaphore, which the caller owns, and the value, whose place may be NULL. OUT_OF_RANGE if
/// there are fewer.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_operation_wait(
    operation: Option<NonNull<windlass_operation_t>>,
    index: usize,
    semaphore: Option<&mut MaybeUninit<Option<NonNull<windlass_semaphore_t>>>>,
    value: Option<&mut MaybeUninit<u64>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(semaphore, || {
            used(operation)?.look(|live| {
                let point = live.view.waits.get(index).ok_or_else(|| {
                    Error::out_of_range(format!(
                        "wait {index} of an operation that has {}",
                        live.view.waits.len()
                    ))
                })?;
                value.into_iter().for_each(|value| _ = value.write(point.value));
                Ok(point.semaphore.clone())
            })
        })
    })
}

/// A signal by number, as windlass_operation_wait.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_operation_signal(
    operation: Option<NonNull<windlass_operation_t>>,
    index: usize,
    semaphore: Option<&mut MaybeUninit<Option<NonNull<windlass_semaphore_t>>>>,
    value: Option<&mut MaybeUninit<u64>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(semaphore, || {
            used(operation)?.look(|live| {
                let point = live.view.signals.get(index).ok_or_else(|| {
                    let count = live.view.signals.len();
                    Error::out_of_range(format!("signal {index} of an operation that has {count}"))
                })?;
                value.into_iter().for_each(|value| _ = value.write(point.value));
                Ok(point.semaphore.clone())
            })
        })
    })
}

/// The buffer that the operation writes. NOT_FOUND for a kind that has no `target`. The caller owns the handle.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_operation_target(
    operation: Option<NonNull<windlass_operation_t>>,
    buffer: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(buffer, || used(operation)?.look(|live| live.view.range("target", &live.view.target))))
}

/// The buffer that the operation reads. NOT_FOUND for a kind that has no `source`. The caller owns the handle.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_operation_source(
    operation: Option<NonNull<windlass_operation_t>>,
    buffer: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(buffer, || used(operation)?.look(|live| live.view.range("source", &live.view.source))))
}

/// One of the operation's `buffers` by number, from 0. OUT_OF_RANGE if there are fewer. The caller owns the handle.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_operation_buffer(
    operation: Option<NonNull<windlass_operation_t>>,
    index: usize,
    buffer: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(buffer, || {
            used(operation)?.look(|live| {
                live.view.buffers.get(index).cloned().ok_or_else(|| {
                    let count = live.view.buffers.len();
                    Error::out_of_range(format!("buffer {index} of an operation that has {count}"))
                })
            })
        })
    })
}

/// Called for a command. The description lasts as long as the call. An error, which passes to the library, ends the
/// walk, as does an exception.
pub type windlass_command_visitor_t = Option<
    unsafe extern "C-unwind" fn(
        user_data: *mut c_void,
        command: *const windlass_operation_info_t,
    ) -> Option<NonNull<windlass_error_t>>,
>;

/// Calls a function for each command of a command buffer in recorded order, on this thread, with the bindings of the
/// submission in the place of slots. For other kinds it calls nothing. Returns the function's error.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_operation_commands(
    operation: Option<NonNull<windlass_operation_t>>,
    visitor: windlass_command_visitor_t,
    user_data: *mut c_void,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let visit = visitor.ok_or_else(|| Error::invalid_argument("the visitor of commands is NULL"))?;
        let (list, bindings) =
            used(operation)?.look(|live| Ok((live.view.list.clone(), live.view.buffers.clone())))?;
        let Some(list) = list else { return Ok(()) };
        let predecessors = list.list().predecessors();
        for (index, (command, behind)) in list.list().commands().zip(predecessors).enumerate() {
            let view = View::of_command(&command, &bindings, list.list())?.behind(behind);
            // SAFETY: the caller gave the function for these calls.
            let returned = guarded("the visitor of commands", || unsafe { visit(user_data, &view.for_c()) });
            returned
                .and_then(windlass_error_t::take)
                .map_err(|error| error.context(format!("at command {index} of a command buffer")))?;
        }
        Ok(())
    })
}

/// Passes the operation on to the wrapped device, unchanged. For wrappers only: FAILED_PRECONDITION for a driver, and
/// for an operation that was completed or forwarded. An error of the wrapped device means that it did not accept the
/// operation. If the wrapper's `submit` has not returned yet, it must return that error; later, the operation fails with
/// it.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_operation_forward(
    operation: Option<NonNull<windlass_operation_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let received = used(operation)?;
        let mut live = received.live();
        if !live.as_ref().ok_or_else(over)?.end.forwards() {
            return Err(Error::failed_precondition(
                "a driver cannot forward an operation: it runs the operation and calls windlass_operation_complete",
            ));
        }
        let Some(Live { view, operation, end }) = live.take() else { return Err(over()) };
        drop(live);
        drop(view);
        end.forward(operation.ok_or_else(|| Error::internal("a wrapper's operation is lost"))?)
    })
}

/// Ends the operation: NULL reaches its signals, an error, which the caller keeps, fails them. For a driver the
/// operation can no longer touch memory. A wrapper uses this in place of windlass_operation_forward: the work is left
/// out, also if its waits are not reached. May call the driver's functions, for work that becomes ready; so hold no
/// lock that these take. FAILED_PRECONDITION if the operation was completed or forwarded.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_operation_complete(
    operation: Option<NonNull<windlass_operation_t>>,
    error: Option<NonNull<windlass_error_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let result = match error {
            None => Ok(()),
            some => Err(windlass_error_t::get(some)?),
        };
        used(operation)?;
        match operation {
            Some(operation) if windlass_operation_t::end(operation, result) => Ok(()),
            _ => Err(over()),
        }
    })
}

/// Does a fill, an update or a copy of a driver whose memory has host pointers. It does not complete the operation.
/// UNIMPLEMENTED for other kinds and for memory without a host pointer.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_operation_transfer_on_host(
    operation: Option<NonNull<windlass_operation_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| used(operation)?.look(|live| live.view.transfer_on_host()))
}

/// Adds a reference and returns the operation. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_operation_retain(
    operation: Option<NonNull<windlass_operation_t>>,
) -> Option<NonNull<windlass_operation_t>> {
    infallible(None, || handle::retain(operation).map(|()| operation))
}

/// Releases a reference. NULL is allowed. The last one fails an operation that was neither completed nor forwarded.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_operation_release(operation: Option<NonNull<windlass_operation_t>>) {
    infallible((), || {
        handle::release(operation);
        Ok(())
    });
}
