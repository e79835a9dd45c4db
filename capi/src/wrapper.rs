// SPDX-License-Identifier: MIT OR Apache-2.0
//! Wrappers that the program implements: a function that receives the operations of another device.

use std::{
    ffi::{c_char, c_void},
    mem::MaybeUninit,
    ptr::NonNull,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use facade::{
    Device, DeviceInfo, Error, Feature, Lack, Operation, OperationRef, Point, Points, QueueAffinity, Result,
    Uri,
    driver::{self, RawDevice},
    pending,
};

use crate::{
    boundary::fallible,
    callback::UserData,
    device::{Opened, windlass_device_t},
    error::windlass_error_t,
    exception::{contained, guarded},
    handle::{self, create, used},
    memory::{Growing, give, read_struct, text},
    operation::{End, Live, windlass_operation_t},
    registry::{self, registry},
    uri::{Parts, windlass_uri_t},
    view::View,
};

/// The functions of a wrapper. windlass_wrapper_init makes a table without any; `submit` is required. All other calls of
/// the device go to the wrapped device, and buffers, executables and command buffers serve both.
///
/// Threads. `submit` may be called on any thread, several at once, also from inside windlass_operation_forward and
/// windlass_operation_complete. It must not wait for other work.
///
/// Errors pass to the library: return windlass_error_create(...), or the error of windlass_operation_forward. An exception
/// of `submit` or `open` counts as an ABORTED error.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_wrapper_t {
    /// sizeof this struct, set by the caller: windlass_wrapper_init does so.
    pub struct_size: usize,
    /// Receives an operation as a program submits it, its waits not reached. It calls windlass_operation_forward or
    /// windlass_operation_complete: before this returns, or later on any thread, for which it retains the operation. An
    /// error means that the operation was not accepted: it goes to the program, and no signal follows.
    pub submit: Option<
        unsafe extern "C-unwind" fn(
            wrapper: *mut c_void,
            operation: Option<NonNull<windlass_operation_t>>,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Makes the wrapper's own object for a device that a URI opens, as windlass_wrapper_register says. The keys of the
    /// URI are the wrapper's, except for "over". NULL uses the user data of the registration for all devices.
    pub open: Option<
        unsafe extern "C-unwind" fn(
            user_data: *mut c_void,
            uri: Option<NonNull<windlass_uri_t>>,
            wrapper: *mut *mut c_void,
        ) -> Option<NonNull<windlass_error_t>>,
    >,
    /// Called once for each wrapped device, with the wrapper's own object, when no operation can come any more. May be
    /// NULL. It must not block.
    pub close: Option<unsafe extern "C-unwind" fn(wrapper: *mut c_void)>,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_wrapper_t {
    const NAME: &'static str = "windlass_wrapper_t";
}

/// The table of the caller, with a `submit`.
///
/// # Safety
/// As for [`read_struct`].
unsafe fn table_of(wrapper: *const windlass_wrapper_t) -> Result<windlass_wrapper_t> {
    // SAFETY: the same contract.
    let table = unsafe { read_struct(wrapper) }?;
    match table.submit {
        Some(_) => Ok(table),
        None => Err(Error::invalid_argument(
            "the windlass_wrapper_t has NULL in the place of `submit`, which every wrapper needs",
        )),
    }
}

/// The wrapper's object for one device. Dropping it closes it.
struct Guard {
    table: windlass_wrapper_t,
    wrapper: UserData,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(close) = self.table.close {
            // SAFETY: the caller gave the function for this call, on any thread.
            contained("`close` of a wrapper", || unsafe { close(self.wrapper.0) });
        }
    }
}

/// A device over another one.
struct Wrapped {
    inner: Arc<dyn RawDevice>,
    info: DeviceInfo,
    guard: Guard,
    /// Whether the program has a handle of the wrapped device, which then stays open.
    is_shared: bool,
    closed: AtomicBool,
}

impl Wrapped {
    fn new(inner: Arc<dyn RawDevice>, mut info: DeviceInfo, guard: Guard, is_shared: bool) -> Self {
        // Work that the wrapper holds back is in no stream, and another library could wait for it forever.
        if !info.lacks.iter().any(|lack| lack.feature == Feature::ExternalTimepoints) {
            let reason = "a wrapper decides when work reaches the device";
            info.lacks.push(Lack::new(Feature::ExternalTimepoints, reason));
        }
        Self { inner, info, guard, is_shared, closed: AtomicBool::new(false) }
    }
}

// SAFETY: work reaches the inner device through `submit` only, which passes operations on unchanged, or not at all.
unsafe impl driver::Wrapper for Wrapped {
    fn inner(&self) -> &dyn RawDevice {
        self.inner.as_ref()
    }

    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        if !self.is_shared {
            self.inner.close();
        }
    }

    unsafe fn submit(
        &self,
        affinity: QueueAffinity,
        waits: &[Point],
        signals: &[Point],
        operation: OperationRef<'_>,
    ) -> Result<()> {
        if self.closed.load(Ordering::Acquire) {
            return Err(Error::cancelled(format!("{} was closed", self.info.uri)));
        }
        let operation = operation.into_owned();
        let passage = Arc::new(Passage {
            inner: self.inner.clone(),
            affinity,
            waits: waits.into(),
            signals: signals.into(),
            answer: Mutex::new(Answer::Open),
        });
        let view = View::of_operation(&operation, affinity).ordered(waits, signals);
        let end = Box::new(Passing(passage.clone()));
        let given = windlass_operation_t::create(Live { view, operation: Some(operation), end });
        let submit = self.guard.table.submit;
        let submit = submit.ok_or_else(|| Error::internal("a wrapper without `submit`"))?;
        // SAFETY: the caller gave the function for these calls, on any thread.
        let returned =
            guarded("`submit` of a wrapper", || unsafe { submit(self.guard.wrapper.0, Some(given)) });
        let result = passage.answered(given, returned.and_then(windlass_error_t::take));
        handle::release(Some(given));
        result
    }
}

/// An operation on its way through a wrapper.
struct Passage {
    inner: Arc<dyn RawDevice>,
    affinity: QueueAffinity,
    waits: Points,
    signals: Points,
    answer: Mutex<Answer>,
}

/// Whether the program knows that the operation is accepted.
enum Answer {
    /// The wrapper's `submit` has not returned, and has not decided.
    Open,
    /// The operation was completed, or the wrapped device has accepted it, before `submit` returned.
    Taken,
    /// The wrapped device has refused it before `submit` returned.
    Refused(Error),
    /// `submit` has returned success.
    Accepted,
    /// `submit` has returned an error.
    Rejected,
}

impl Passage {
    fn answer(&self) -> MutexGuard<'_, Answer> {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The result for the program when the wrapper's function has returned.
    fn answered(&self, given: NonNull<windlass_operation_t>, returned: Result<()>) -> Result<()> {
        let mut answer = self.answer();
        let refusal = match (&*answer, returned) {
            (Answer::Refused(error), Ok(())) => error.clone(),
            (_, Ok(())) => {
                *answer = Answer::Accepted;
                return Ok(());
            }
            (Answer::Taken, Err(error)) => {
                tracing::error!(
                    target: "windlass::capi", %error,
                    "a wrapper refused an operation that it had forwarded or completed; the operation goes on"
                );
                *answer = Answer::Accepted;
                return Ok(());
            }
            (_, Err(error)) => error,
        };
        *answer = Answer::Rejected;
        drop(answer);
        // The wrapper may have kept a reference, with which it can do nothing any more.
        windlass_operation_t::end(given, Err(refusal.clone()));
        Err(refusal)
    }
}

/// The end of an operation of a wrapper.
struct Passing(Arc<Passage>);

impl End for Passing {
    fn complete(self: Box<Self>, result: Result<()>) {
        let mut answer = self.0.answer();
        match *answer {
            Answer::Open => *answer = Answer::Taken,
            Answer::Rejected => return,
            _ => {}
        }
        drop(answer);
        match result {
            Ok(()) => pending::reach(&self.0.signals),
            Err(error) => pending::fail(&self.0.signals, &error),
        }
    }

    fn forward(self: Box<Self>, operation: Operation) -> Result<()> {
        let Passage { inner, affinity, waits, signals, .. } = &*self.0;
        // SAFETY: the front's operation, unchanged, with the lists that it had.
        let result =
            operation.lend(|operation| unsafe { inner.submit(*affinity, waits, signals, operation) });
        let mut answer = self.0.answer();
        match (&*answer, &result) {
            (Answer::Open, Ok(())) => *answer = Answer::Taken,
            (Answer::Open, Err(error)) => *answer = Answer::Refused(error.clone()),
            (Answer::Accepted, Err(error)) => {
                drop(answer);
                pending::fail(signals, error);
            }
            _ => {}
        }
        result
    }

    fn forwards(&self) -> bool {
        true
    }
}

/// Makes a device whose operations go through a wrapper to `device`. The wrapper sees only the work of the new device;
/// both share memory and code. Closing or releasing the new one leaves `device` open, and work that was passed on goes on.
/// The table is copied; its `open` is not called. `wrapper` is the wrapper's own
/// object, for `submit` and `close`; if this function returns an error, `close` is not called. The caller owns the
/// device.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_device_wrap(
    device: Option<NonNull<windlass_device_t>>,
    table: *const windlass_wrapper_t,
    wrapper: *mut c_void,
    wrapped: Option<&mut MaybeUninit<Option<NonNull<windlass_device_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(wrapped, || {
            // SAFETY: the contract in the header covers that of `table_of`.
            let table = unsafe { table_of(table) }?;
            let inner = used(device)?.device.raw();
            let info = inner.info().clone();
            let guard = Guard { table, wrapper: UserData(wrapper) };
            Ok(Opened::new(Device::from_driver(Arc::new(Wrapped::new(inner, info, guard, true)))))
        })
    })
}

/// The driver of a wrapper's scheme.
struct Scheme {
    scheme: String,
    description: String,
    table: windlass_wrapper_t,
    user_data: UserData,
}

impl driver::Driver for Scheme {
    fn scheme(&self) -> &str {
        &self.scheme
    }

    fn description(&self) -> String {
        self.description.clone()
    }

    /// There is one for each device to wrap.
    fn enumerate(&self) -> Result<Vec<DeviceInfo>> {
        Ok(Vec::new())
    }

    fn open(&self, uri: &Uri) -> Result<Arc<dyn RawDevice>> {
        if !uri.path().is_empty() {
            return Err(Error::not_found(format!(
                "{uri}: a wrapped device is named by the one that it wraps; open {}://?over=URI",
                self.scheme
            )));
        }
        let (_, over) = uri.parameters().iter().find(|(key, _)| key == "over").ok_or_else(|| {
            Error::invalid_argument(format!("{uri} does not say what to wrap; add over=URI as the last key"))
        })?;
        let parts = create::<windlass_uri_t>(Parts::new(uri));
        let opened = self.wrap(uri, over, parts);
        handle::release(Some(parts));
        opened
    }
}

impl Scheme {
    fn wrap(&self, uri: &Uri, over: &str, parts: NonNull<windlass_uri_t>) -> Result<Arc<dyn RawDevice>> {
        used(Some(parts))?.asked_for("over");
        let over: Uri = over.parse()?;
        let inner = registry().driver(over.scheme())?.open(&over);
        let inner = inner.map_err(|error| error.context(format!("opening {over} to wrap it")))?;
        let mut info = inner.info().clone();
        info.uri = uri.to_string();
        let mut wrapper = self.user_data.0;
        if let Some(open) = self.table.open {
            wrapper = std::ptr::null_mut();
            // SAFETY: the caller gave the function for these calls, on any thread.
            guarded("`open` of a wrapper", || unsafe { open(self.user_data.0, Some(parts), &mut wrapper) })
                .and_then(windlass_error_t::take)?;
        }
        let guard = Guard { table: self.table, wrapper: UserData(wrapper) };
        used(Some(parts))?.finish()?;
        Ok(Arc::new(Wrapped::new(inner, info, guard, false)))
    }
}

/// Registers a wrapper for this process under a scheme: windlass_device_open of "SCHEME://?KEYS&over=URI" opens the
/// device of URI and wraps it. `description` is a few words, or NULL. The table is copied. `user_data` must be valid, as
/// the functions must, until the process ends. ALREADY_EXISTS says that the scheme is taken.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_wrapper_register(
    scheme: *const c_char,
    description: *const c_char,
    table: *const windlass_wrapper_t,
    user_data: *mut c_void,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `text`, for this and the next.
        let scheme = unsafe { text("scheme", scheme) }?.to_owned();
        let description = match description.is_null() {
            true => format!("a wrapper of the program: {scheme}://?over=URI"),
            // SAFETY: as above.
            false => unsafe { text("description", description) }?.to_owned(),
        };
        // SAFETY: the contract in the header covers that of `table_of`.
        let table = unsafe { table_of(table) }?;
        registry::register(Arc::new(Scheme { scheme, description, table, user_data: UserData(user_data) }))
    })
}
