// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls of ending threads, made on helper threads.
//!
//! AMD's library keeps objects for each thread. The system destroys them when the thread ends, before the destructors
//! of Rust's thread-locals run. A call by such a destructor, for example of a device in a thread-local, finds them
//! destroyed, and crashes if it has to wait for a lock (HIP 6.4.43484, 5 of 110 runs on a loaded machine). So the call
//! is made on a helper thread. Each ending thread has its own helper, because HIP keeps the current device per thread.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// How long a helper waits for the next call.
const KEEP: Duration = Duration::from_secs(10);

/// The helpers, by the numbers of their threads.
static HELPERS: Mutex<Vec<(usize, Arc<Helper>)>> = Mutex::new(Vec::new());

#[derive(Default)]
struct Helper {
    state: Mutex<HelperState>,
    changed: Condvar,
}

#[derive(Default)]
enum HelperState {
    /// No thread has asked.
    #[default]
    Waits,
    Asked(Call),
    /// The requesting thread has not seen it yet.
    Done,
    /// It left.
    Gone,
}

/// A call on the stack of the requesting thread.
struct Call(*mut (dyn FnMut() + 'static));

// SAFETY: the requesting thread waits until the helper is done, and does not use the call meanwhile.
unsafe impl Send for Call {}

/// Makes a call for the thread with this number on its helper, or on the calling thread if no helper can be started.
#[cold]
#[inline(never)]
pub(crate) fn call<R>(thread: usize, mut call: impl FnMut() -> R) -> R {
    let mut answer = None;
    on_helper(thread, &mut || answer = Some(call()));
    answer.unwrap_or_else(call)
}

fn on_helper(thread: usize, call: &mut dyn FnMut()) {
    while let Some(helper) = helper(thread) {
        let mut state = lock(&helper.state);
        if matches!(*state, HelperState::Gone) {
            continue;
        }
        // SAFETY: only the lifetime changes. The helper has made the call for the last time before `Done`.
        let call =
            unsafe { std::mem::transmute::<*mut (dyn FnMut() + '_), *mut (dyn FnMut() + 'static)>(call) };
        *state = HelperState::Asked(Call(call));
        helper.changed.notify_all();
        while !matches!(*state, HelperState::Done) {
            state = helper.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        *state = HelperState::Waits;
        return;
    }
}

/// The helper of a thread; `None` if none can be started.
fn helper(thread: usize) -> Option<Arc<Helper>> {
    let mut helpers = lock(&HELPERS);
    if let Some((_, known)) = helpers.iter().find(|(helped, _)| *helped == thread) {
        return Some(known.clone());
    }
    let helper = Arc::new(Helper::default());
    let own = helper.clone();
    thread::Builder::new().name("windlass-ending".to_owned()).spawn(move || own.help()).ok()?;
    helpers.push((thread, helper.clone()));
    Some(helper)
}

impl Helper {
    /// The loop of its thread.
    fn help(self: Arc<Self>) {
        let mut state = lock(&self.state);
        loop {
            match std::mem::take(&mut *state) {
                HelperState::Asked(Call(call)) => {
                    drop(state);
                    // SAFETY: the call lies on the stack of a thread that waits for `Done` and does not use the call
                    // meanwhile.
                    unsafe { (*call)() };
                    state = lock(&self.state);
                    *state = HelperState::Done;
                    self.changed.notify_all();
                }
                other => *state = other,
            }
            let is_asked = |state: &mut HelperState| !matches!(state, HelperState::Asked(_));
            let (next, waited) = self
                .changed
                .wait_timeout_while(state, KEEP, is_asked)
                .unwrap_or_else(PoisonError::into_inner);
            state = next;
            if waited.timed_out() && matches!(*state, HelperState::Waits) {
                break;
            }
        }
        *state = HelperState::Gone;
        drop(state);
        lock(&HELPERS).retain(|(_, helper)| !Arc::ptr_eq(helper, &self));
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
