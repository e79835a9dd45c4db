// SPDX-License-Identifier: MIT OR Apache-2.0
//! The frame of every HIP function: it finds the simulator, catches panics, notes errors and traces the call.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use windlass_hip_sys::bindings::hipError_t;

use super::no_gpu;
use crate::hip::hardware::device::Device;
use crate::hip::instance::owner::Standing;
use crate::hip::instance::process;
use crate::hip::instance::runtime::Runtime;
use crate::hip::instance::thread::ThreadState;
use crate::hip::words::answers;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::{self, explain, remind};
use crate::packet::Turn;
use crate::tally::{self, Count};
use crate::trace::tell;

/// A HIP function that is running.
pub(crate) struct Call {
    pub(crate) name: &'static str,
    /// The number of the call in its simulator, from 1.
    pub(crate) number: u64,
    pub(crate) runtime: Arc<Runtime>,
    pub(crate) thread: Rc<ThreadState>,
}

/// Runs the body of the HIP function `name`.
///
/// # Safety
/// Only that function calls this. Its caller vouches for every pointer that `body` passes to the methods of [`Call`]: null,
/// or valid for the type and length that HIP documents, and not in use elsewhere.
pub(crate) unsafe fn enter(name: &'static str, body: impl FnOnce(&Call) -> Outcome<()>) -> hipError_t {
    let mut body = Some(body);
    run(name, &mut |call| body.take().map_or(Err(Code::UNKNOWN), |body| body(call)))
}

/// The frame without the type of its body, so that it is compiled once and not for each function of HIP.
fn run(name: &'static str, body: &mut dyn FnMut(&Call) -> Outcome<()>) -> hipError_t {
    let entered = catch_unwind(AssertUnwindSafe(|| {
        explanation::clear();
        let (runtime, thread) = process::current()?;
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
        // A panic of the body is an error of this call. The thread's state stays valid.
        let scheduled = standing == Standing::Own;
        let turn = scheduled.then(|| call.runtime.scheduler.turn(&call.thread.number, name)).flatten();
        let ended = catch_unwind(AssertUnwindSafe(|| {
            // With a seed no clock counts: a late call waits until all queued work has run.
            let late = |time| turn.as_ref().map_or_else(|| std::thread::sleep(time), Turn::let_all_run);
            match call.runtime.injections.strike(name, &late) {
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
        if outcome.is_err() && call.is_launch() {
            tally::count(Count::Refusal);
        }
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

/// Refuses the call of a function that `who` lacks.
pub(crate) fn refuse(name: &'static str, who: &str) {
    // SAFETY: the body uses no memory of the client's.
    let _ = unsafe {
        enter(name, |_| {
            explain(format!("{name} is not supported by {who}"));
            Err(Code::NOT_SUPPORTED)
        })
    };
}

/// Lets a body be written outside the unsafe block that runs it.
pub(crate) fn body<F: FnOnce(&Call) -> Outcome<()>>(body: F) -> F {
    body
}

impl Call {
    /// The name and number of the call and its thread, for reports.
    pub(crate) fn describe(&self) -> Arc<str> {
        let thread = std::thread::current();
        let thread = thread.name().map_or_else(|| format!("{:?}", thread.id()), |name| format!("{name:?}"));
        format!("{}, call {}, thread {thread}", self.name, self.number).into()
    }

    /// Whether the function launches kernels, at once or in the capture of its stream. Its errors count as refused launches.
    pub(crate) fn is_launch(&self) -> bool {
        let parts = ["LaunchKernel", "LaunchCooperativeKernel", "LaunchMultiKernel", "LaunchByPtr"];
        parts.iter().any(|part| self.name.contains(part))
    }

    /// Whether the simulated HIP has that major version or a later one.
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

    /// Notes the answer of the call for hipGetLastError and its kin, whose own answers are not noted.
    fn note(&self, found: Code, code: Code) {
        if matches!(self.name, "hipGetLastError" | "hipPeekAtLastError" | "hipExtGetLastError") {
            return;
        }
        self.thread.last_status.set(code);
        if !answers::is_noted(self.runtime.options.hip, self.name, found) {
            return;
        }
        // Before HIP 7 every answer was noted: a success cleared an earlier error, and "not ready" was one.
        let is_error = !matches!(code, Code::SUCCESS | Code::NOT_READY);
        if is_error || self.runtime.options.hip.0 < 7 {
            self.thread.last_error.set(code);
        }
    }
}
