// SPDX-License-Identifier: MIT OR Apache-2.0
//! What every HIP function does around its body: finds its simulator, keeps panics in, notes errors, traces.
//!
//! All access to the memory of the client's goes through [`Call`] too, with the one argument that it can have: whoever
//! calls a HIP function vouches for the pointers that it passes.

use std::cell::RefCell;
use std::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use windlass_hip_sys::bindings::hipError_t;

use crate::packet::{Role, Turn};

use super::answers;
use super::capture::Capture;
use super::code::{Code, Outcome};
use super::current::{self, ThreadState};
use super::device::Device;
use super::no_gpu;
use super::owner::Standing;
use super::runtime::Runtime;
use super::stream::Stream;
use crate::trace::tell;

/// A HIP function at work.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    /// Which call of the simulator's it is, counted from 1.
    pub(crate) number: u64,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) thread: Rc<ThreadState>,
}

/// What becomes of work on a stream.
pub(crate) enum Target {
    Run(Arc<Stream>),
    /// It becomes a node of the graph that the stream is captured into.
    Record(Arc<Capture>, Arc<Stream>),
}

thread_local! {
    /// Why the latest call of this thread was refused, where a code alone would leave the client guessing.
    static EXPLANATION: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Says why the call at work on this thread is refused.
pub(crate) fn explain(explanation: String) {
    tell(|| tracing::error!(target: "windlass::sim", "{explanation}"));
    let _ = EXPLANATION.try_with(|latest| *latest.borrow_mut() = Some(explanation));
}

/// As [`explain`], for a reason that was told already when it arose.
pub(crate) fn remind(explanation: &str) {
    let _ = EXPLANATION.try_with(|latest| *latest.borrow_mut() = Some(explanation.to_owned()));
}

/// What was said about the latest call of this thread.
pub(crate) fn explanation() -> Option<String> {
    EXPLANATION.try_with(|latest| latest.borrow().clone()).ok().flatten()
}

/// Runs the body of the HIP function `name`.
///
/// # Safety
/// This is called from that function alone, whose caller vouches for every pointer that `body` gives to the methods
/// of [`Call`]: null, or valid for the type and length that HIP documents, and not in use elsewhere.
pub(crate) unsafe fn enter(name: &'static str, body: impl FnOnce(&Call) -> Outcome<()>) -> hipError_t {
    let entered = catch_unwind(AssertUnwindSafe(|| {
        let _ = EXPLANATION.try_with(|latest| latest.borrow_mut().take());
        let (runtime, thread) = current::current()?;
        let standing = runtime.owner.standing(name);
        let number = runtime.calls.fetch_add(1, Ordering::Relaxed) + 1;
        let call = Call { name, number, runtime, thread };
        let answer = match standing {
            Standing::Refused => Some(Standing::REFUSAL),
            Standing::Own | Standing::Apart => no_gpu::answer(&call.runtime, name),
        };
        if let Some(code) = answer {
            call.note(code, code);
            return Err(code);
        }
        // A defect in the body is an error of this call, whose state of the thread still counts.
        let scheduled = standing == Standing::Own;
        let turn = scheduled.then(|| call.runtime.scheduler.turn(&call.thread.number, name)).flatten();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            // With a seed no clock counts: a late call is one that comes when all else is done.
            let late = |time| turn.as_ref().map_or_else(|| std::thread::sleep(time), Turn::let_all_run);
            match call.runtime.injections.strike(name, late) {
                Some((code, why)) => {
                    remind(&why);
                    (Err(Code(code)), Err(Code(code)))
                }
                None => {
                    let found = body(&call);
                    (found, found.map_err(|code| answers::of(call.runtime.options.hip, name, code)))
                }
            }
        }));
        let (found, outcome) = ended.unwrap_or_else(|_| {
            explain(format!("{name} ran into a defect of the simulator"));
            (Err(Code::UNKNOWN), Err(Code::UNKNOWN))
        });
        let code = |outcome: Outcome<()>| outcome.err().unwrap_or(Code::SUCCESS);
        call.note(code(found), code(outcome));
        drop(turn);
        outcome
    }));
    let code = match entered {
        Ok(outcome) => outcome.err().unwrap_or(Code::SUCCESS),
        Err(_) => Code::UNKNOWN,
    };
    tell(|| tracing::trace!(target: "windlass::sim", call = name, status = ?code));
    hipError_t(code.0)
}

/// Refuses the call of a function that the simulator lacks.
pub(crate) fn refuse(name: &'static str) {
    // SAFETY: the body touches nothing of the client's.
    let _ = unsafe {
        enter(name, |_| {
            explain(format!("{name} is not supported by the simulated GPU"));
            Err(Code::NOT_SUPPORTED)
        })
    };
}

/// Lets a closure be written outside the unsafe block that runs it.
pub(crate) fn body<F: FnOnce(&Call) -> Outcome<()>>(body: F) -> F {
    body
}

impl Call {
    /// The call, by name and number, and who made it: for reports on what came of it.
    pub(crate) fn describe(&self) -> Arc<str> {
        let thread = std::thread::current();
        let thread = thread.name().map_or_else(|| format!("{:?}", thread.id()), |name| format!("{name:?}"));
        format!("{}, call {}, thread {thread}", self.name, self.number).into()
    }

    /// Whether the simulated HIP is of that major version or a later one.
    pub(crate) fn is_since(&self, major: u32) -> bool {
        self.runtime.options.hip.0 >= major
    }

    /// The calling thread's device, which must not have failed.
    pub(crate) fn device(&self) -> Outcome<&Device> {
        let device = self.any_device()?;
        device.check()?;
        Ok(device)
    }

    /// The calling thread's device, even if it has failed.
    pub(crate) fn any_device(&self) -> Outcome<&Device> {
        self.runtime.machine.device(self.thread.device.get())
    }

    /// A device by the number that clients use.
    pub(crate) fn device_at(&self, ordinal: i32) -> Outcome<&Device> {
        let index = usize::try_from(ordinal).map_err(|_| Code::INVALID_DEVICE)?;
        self.runtime.machine.device(index)
    }

    /// A stream by its handle. Null and `hipStreamLegacy` are the null stream of the thread's device,
    /// `hipStreamPerThread` is the thread's own.
    ///
    /// # Errors
    /// `CONTEXT_IS_DESTROYED` for a handle that is no stream, as AMD's runtime answers.
    pub(crate) fn stream<T>(&self, handle: *mut T) -> Outcome<Arc<Stream>> {
        let device = self.thread.device.get();
        match handle as u64 {
            0 => self.runtime.null_stream(device),
            // HIP 5 has no hipStreamLegacy.
            1 if self.is_since(6) => self.runtime.null_stream(device),
            2 => Ok(self.thread.stream(&self.runtime, device)),
            handle => self.runtime.streams.get(handle).ok_or(Code::CONTEXT_IS_DESTROYED),
        }
    }

    /// A stream whose device has not failed, for work that a graph cannot hold.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_UNSUPPORTED` where the stream is captured, and as [`target`](Self::target).
    pub(crate) fn working_stream<T>(&self, handle: *mut T) -> Outcome<Arc<Stream>> {
        match self.target(handle)? {
            Target::Run(stream) => Ok(stream),
            Target::Record(capture, _) => capture.refuse(self.name),
        }
    }

    /// Where work goes that a graph can hold.
    ///
    /// # Errors
    /// `STREAM_CAPTURE_IMPLICIT` for the null stream while a blocking stream of its device is captured.
    pub(crate) fn target<T>(&self, handle: *mut T) -> Outcome<Target> {
        let stream = self.stream(handle)?;
        self.runtime.machine.device(stream.device)?.check()?;
        if self.runtime.captures.any() {
            if let Some(capture) = stream.capture() {
                return Ok(Target::Record(capture, stream));
            }
            if stream.role == Role::Null {
                self.check_null_stream(stream.device)?;
            }
        }
        Ok(Target::Run(stream))
    }

    /// Refuses a call on the null stream where a capture forbids it.
    pub(crate) fn check_null_stream(&self, device: usize) -> Outcome<()> {
        if answers::refuses_any_capture(self.runtime.options.hip, self.name) {
            self.runtime.captures.check_none()?;
        }
        if answers::refuses_null_stream(self.runtime.options.hip, self.name) {
            self.runtime.captures.check_null_stream(device)?;
        }
        Ok(())
    }

    /// Refuses the call where a capture forbids what a graph cannot hold.
    pub(crate) fn outside_captures(&self) -> Outcome<()> {
        self.runtime.captures.check_unsafe(self.thread.capture_mode.get())
    }

    /// Gives a value to the client.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a null pointer.
    pub(crate) fn put<T>(&self, pointer: *mut T, value: T) -> Outcome<()> {
        if pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, so valid: see `enter`.
        unsafe { pointer.write_unaligned(value) };
        Ok(())
    }

    /// Gives a value to a client that wants it.
    pub(crate) fn put_if<T>(&self, pointer: *mut T, value: T) {
        if !pointer.is_null() {
            let _ = self.put(pointer, value);
        }
    }

    /// Takes a value from the client.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a null pointer.
    pub(crate) fn get<T: Copy>(&self, pointer: *const T) -> Outcome<T> {
        if pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, so valid: see `enter`.
        Ok(unsafe { pointer.read_unaligned() })
    }

    /// Takes so many bytes from the client.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a null pointer with a size, `OUT_OF_MEMORY` where there is no room for them.
    pub(crate) fn get_bytes<T>(&self, pointer: *const T, size: usize) -> Outcome<Vec<u8>> {
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| Code::OUT_OF_MEMORY)?;
        if size > 0 {
            if pointer.is_null() {
                return Err(Code::INVALID_VALUE);
            }
            // SAFETY: not null, so valid for as many bytes as HIP documents: see `enter`.
            bytes.extend_from_slice(unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), size) });
        }
        Ok(bytes)
    }

    /// Takes a string from the client. Bytes that are no UTF-8 are replaced.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a null pointer.
    pub(crate) fn get_string(&self, pointer: *const c_char) -> Outcome<String> {
        if pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        // SAFETY: not null, so a string that ends: see `enter`.
        Ok(unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
    }

    /// Gives text to the client, cut to `capacity` bytes with the closing zero.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a null pointer or no capacity.
    pub(crate) fn put_string(&self, pointer: *mut c_char, capacity: i32, text: &str) -> Outcome<()> {
        let capacity = usize::try_from(capacity).ok().filter(|capacity| *capacity > 0);
        let Some(capacity) = capacity.filter(|_| !pointer.is_null()) else {
            return Err(Code::INVALID_VALUE);
        };
        let length = text.len().min(capacity - 1);
        // SAFETY: not null, so valid for `capacity` bytes: see `enter`.
        unsafe {
            std::ptr::copy_nonoverlapping(text.as_ptr(), pointer.cast::<u8>(), length);
            pointer.add(length).write(0);
        }
        Ok(())
    }

    /// Notes what the call returns, for hipGetLastError and its kin, which themselves leave no trace there.
    fn note(&self, found: Code, code: Code) {
        if matches!(self.name, "hipGetLastError" | "hipPeekAtLastError" | "hipExtGetLastError") {
            return;
        }
        self.thread.last_status.set(code);
        if !answers::is_noted(self.runtime.options.hip, self.name, found) {
            return;
        }
        // Before HIP 7 a success covered an earlier error up. "Not ready" is an answer, not an error.
        let covers_up = code == Code::SUCCESS && self.runtime.options.hip.0 < 7;
        if covers_up || (code != Code::SUCCESS && code != Code::NOT_READY) {
            self.thread.last_error.set(code);
        }
    }
}
