// SPDX-License-Identifier: MIT OR Apache-2.0
//! A HIP in front of another HIP. It counts calls, makes chosen calls fail, and tracks which objects were created and
//! not destroyed.
//!
//! It is for tests of HIP's callers. Every entry point of the HIP behind is wrapped, so any [`Api`] can be behind it:
//! a library, the software GPU, the null HIP.
//!
//! ```
//! use windlass_hip_sys::bindings::hipError_t;
//! use windlass_hip_sys::{interposer::Interposer, null};
//!
//! let behind = null::Instance::new(null::Options::default());
//! let interposer = Interposer::new(behind.api());
//! let api = interposer.api();
//! interposer.on_call(|call| {
//!     let second = call.name == "hipMalloc" && call.nth == 2;
//!     second.then_some(hipError_t::hipErrorOutOfMemory)
//! });
//! let mut address = std::ptr::null_mut();
//! // SAFETY: the pointer is ours, and the memory is freed once.
//! unsafe {
//!     assert_eq!(api.hipMalloc(&mut address, 64), hipError_t::hipSuccess);
//!     assert_eq!(api.hipMalloc(&mut address, 64), hipError_t::hipErrorOutOfMemory);
//!     assert_eq!(interposer.live(), [("device memory", 1)]);
//!     assert_eq!(api.hipFree(address), hipError_t::hipSuccess);
//! }
//! assert_eq!(behind.count("hipMalloc"), 1, "the second call went no further");
//! assert_eq!(interposer.count("hipMalloc"), 2);
//! assert_eq!(interposer.live(), []);
//! ```

mod balance;
mod entries;

use std::cell::Cell;
use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::ThreadId;

use crate::api::Api;
use crate::binding::Binding;
use crate::bindings::hipError_t;
use crate::table::EntryPoints;

/// A call that is about to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Call {
    /// HIP's name of the function.
    pub name: &'static str,
    /// The number of this call among those of the function, from 1.
    pub nth: u64,
    /// The number of this call among all calls, from 1.
    pub overall: u64,
}

/// Decides about a call: `None` lets it through, a status is returned instead.
type Rule = Arc<dyn Fn(&Call) -> Option<hipError_t> + Send + Sync>;

/// The counts of one function.
#[derive(Default)]
struct Tally {
    made: AtomicU64,
    succeeded: AtomicU64,
}

/// A HIP in front of another. All methods may be called from any thread.
pub struct Interposer {
    behind: Api,
    tallies: Box<[Tally]>,
    overall: AtomicU64,
    rule: RwLock<Option<Rule>>,
    /// The status that a rule gave to a thread's latest failed call, until the thread takes its last error.
    answered: Mutex<HashMap<ThreadId, Answered>>,
    /// The length of `answered`, so that calls do not meet at its lock while none fails.
    threads_answered: AtomicUsize,
    refusals: Mutex<Vec<(Call, hipError_t)>>,
}

#[derive(Clone, Copy)]
struct Answered {
    status: hipError_t,
    /// Whether no call was let through since then.
    latest: bool,
}

thread_local! {
    /// The interposer of this thread's next call.
    static CURRENT: Cell<*const Interposer> = const { Cell::new(std::ptr::null()) };
}

/// The `enter` of an interposer's binding.
///
/// # Safety
///
/// `context` points to an [`Interposer`] that outlives this thread's calls up to its next `enter`.
unsafe fn enter(context: *const ()) {
    // A thread whose thread-locals are destroyed makes no more calls.
    let _ = CURRENT.try_with(|current| current.set(context.cast()));
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The number of each function. Tests that wait until all objects are destroyed ask for dozens of functions many times.
static NUMBERS: LazyLock<HashMap<&str, usize>> =
    LazyLock::new(|| EntryPoints::NAMES.iter().copied().zip(0..).collect());

/// Functions that return a thread's latest error. Their result is not a failure of their own.
const ASKS_FOR_ERRORS: &[&str] = &["hipGetLastError", "hipExtGetLastError", "hipPeekAtLastError"];

impl Interposer {
    /// Puts itself in front of `behind`. Every call passes until [`on_call`](Self::on_call).
    pub fn new(behind: Api) -> Arc<Self> {
        Arc::new(Self {
            behind,
            tallies: EntryPoints::NAMES.iter().map(|_| Tally::default()).collect(),
            overall: AtomicU64::new(0),
            rule: RwLock::new(None),
            answered: Mutex::default(),
            threads_answered: AtomicUsize::new(0),
            refusals: Mutex::default(),
        })
    }

    /// A table that calls into this interposer and keeps it alive. It has the functions, the origin and the
    /// peculiarities of the HIP behind.
    pub fn api(self: &Arc<Self>) -> Api {
        let entries = entries::in_front_of(self.behind.entries());
        let binding = Binding { context: Arc::as_ptr(self).cast(), enter, keep_alive: self.clone() };
        // SAFETY: each function passes its arguments to the function of the HIP behind, or returns a status and does
        // nothing, as HIP may; `enter` may be called anywhere while the interposer lives, which `keep_alive` ensures.
        let api = unsafe { Api::from_entries(entries, self.behind.origin().clone(), Some(binding)) };
        let this = self.clone();
        let api = api.with_diagnosis(move || this.diagnose());
        if self.behind.contains_faults() { api.with_contained_faults() } else { api }
    }

    /// From now on, asks `rule` before each call, on the calling thread. If the rule returns `None`, the call is made;
    /// otherwise the status is returned and the HIP behind is not called. A rule that blocks delays the call.
    ///
    /// Functions that return no status, or a thread's latest error, are counted without asking the rule. Replaces the
    /// previous rule.
    pub fn on_call(&self, rule: impl Fn(&Call) -> Option<hipError_t> + Send + Sync + 'static) {
        *self.rule.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(rule));
    }

    /// Makes the `kth` call from now (1 is the next one) of the function called `name` fail with `status`, once.
    /// Replaces the previous rule.
    pub fn fail(&self, name: &str, kth: u64, status: hipError_t) {
        let (name, nth) = (name.to_owned(), self.count(name) + kth);
        self.on_call(move |call| (call.name == name && call.nth == nth).then_some(status));
    }

    /// Makes every call of the function called `name` fail with `status` from now on. Replaces the previous rule.
    pub fn fail_always(&self, name: &str, status: hipError_t) {
        let name = name.to_owned();
        self.on_call(move |call| (call.name == name).then_some(status));
    }

    /// Lets every call pass again.
    pub fn pass(&self) {
        *self.rule.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Every function that was called, with its number of calls, in the order of the declarations.
    pub fn calls(&self) -> Vec<(&'static str, u64)> {
        let made = self.tallies.iter().map(|tally| tally.made.load(Ordering::Relaxed));
        EntryPoints::NAMES.iter().copied().zip(made).filter(|(_, count)| *count > 0).collect()
    }

    /// The number of calls of the function called `name`; zero if there is no such function.
    pub fn count(&self, name: &str) -> u64 {
        self.tally(name).map_or(0, |tally| tally.made.load(Ordering::Relaxed))
    }

    /// The number of calls of all functions.
    pub fn total(&self) -> u64 {
        self.overall.load(Ordering::Relaxed)
    }

    /// The objects that were created and not destroyed, as kinds with numbers. Kinds without such objects are omitted.
    ///
    /// Counted by successful calls, so a call that frees nothing, such as `hipFree` of null, falsifies the result.
    pub fn live(&self) -> Vec<(&'static str, i64)> {
        balance::live(|name| self.tally(name).map_or(0, |tally| tally.succeeded.load(Ordering::Acquire)))
    }

    /// Takes the list of calls that failed in the HIP behind, in their order. `hipErrorNotReady` is no failure.
    pub fn take_refusals(&self) -> Vec<(Call, hipError_t)> {
        std::mem::take(&mut lock(&self.refusals))
    }

    fn tally(&self, name: &str) -> Option<&Tally> {
        self.tallies.get(*NUMBERS.get(name)?)
    }

    /// Counts a call, and asks the rule about it.
    fn begin(&self, index: usize, may_fail: bool) -> (Call, Option<hipError_t>) {
        let name = EntryPoints::NAMES.get(index).copied().unwrap_or_default();
        let nth = self.tallies.get(index).map_or(0, |tally| tally.made.fetch_add(1, Ordering::Relaxed));
        let overall = self.overall.fetch_add(1, Ordering::Relaxed);
        let call = Call { name, nth: nth + 1, overall: overall + 1 };
        if !may_fail || ASKS_FOR_ERRORS.contains(&name) {
            return (call, None);
        }
        // Not asked under the lock: a rule may block, and another may replace it meanwhile.
        let rule = self.rule.read().unwrap_or_else(PoisonError::into_inner).clone();
        let answer = rule.and_then(|rule| rule(&call)).filter(|status| *status != hipError_t::hipSuccess);
        if answer.is_none() && !self.has_answered() {
            return (call, None);
        }
        let mut answered = lock(&self.answered);
        let thread = std::thread::current().id();
        if let Some(status) = answer {
            answered.insert(thread, Answered { status, latest: true });
            self.threads_answered.store(answered.len(), Ordering::Relaxed);
        } else if let Some(before) = answered.get_mut(&thread) {
            before.latest = false;
        }
        (call, answer)
    }

    /// Records the result of the HIP behind.
    fn end(&self, call: Call, index: usize, status: hipError_t) -> hipError_t {
        if ASKS_FOR_ERRORS.contains(&call.name) {
            return self.last_error(call.name, status);
        }
        match status {
            hipError_t::hipSuccess => {
                if let Some(tally) = self.tallies.get(index) {
                    tally.succeeded.fetch_add(1, Ordering::Release);
                }
            }
            hipError_t::hipErrorNotReady => {}
            _ => lock(&self.refusals).push((call, status)),
        }
        status
    }

    /// A thread's last error, of this interposer or of the HIP behind.
    fn last_error(&self, name: &str, behind: hipError_t) -> hipError_t {
        if !self.has_answered() {
            return behind;
        }
        let mut answered = lock(&self.answered);
        let thread = std::thread::current().id();
        let here = match name {
            "hipPeekAtLastError" => answered.get(&thread).copied(),
            _ => answered.remove(&thread),
        };
        self.threads_answered.store(answered.len(), Ordering::Relaxed);
        here.map_or(behind, |here| here.status)
    }

    /// Whether some thread has an error of this interposer. Always true for a thread that has one, which saw its own store.
    fn has_answered(&self) -> bool {
        self.threads_answered.load(Ordering::Relaxed) > 0
    }

    fn diagnose(&self) -> Option<String> {
        let latest = self.has_answered()
            && lock(&self.answered).get(&std::thread::current().id()).is_some_and(|here| here.latest);
        if latest { None } else { self.behind.diagnose() }
    }
}

impl fmt::Debug for Interposer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Interposer").field("behind", &self.behind).finish_non_exhaustive()
    }
}
