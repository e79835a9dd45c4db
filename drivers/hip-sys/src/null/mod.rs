// SPDX-License-Identifier: MIT OR Apache-2.0
//! A HIP that computes nothing and counts every call.
//!
//! It is for tests of whoever calls HIP, and for measuring what such a caller costs by itself. Kernels never run. Memory is
//! plain host memory, so copies and fills are really done, in the order of the calls. By default all work is complete when
//! its call returns; with [`Options::manual`] it stays in flight until [`Instance::complete`], so that a test holds work in
//! flight without sleeping.
//!
//! ```
//! use windlass_hip_sys::null;
//! use windlass_hip_sys::bindings::hipError_t;
//!
//! let instance = null::Instance::new(null::Options::default());
//! let api = instance.api();
//! let mut address = std::ptr::null_mut();
//! // SAFETY: the pointer is ours, and the memory is freed once.
//! unsafe {
//!     assert_eq!(api.hipMalloc(&mut address, 64), hipError_t::hipSuccess);
//!     assert_eq!(api.hipFree(address), hipError_t::hipSuccess);
//! }
//! assert_eq!(instance.calls(), [("hipMalloc", 1), ("hipFree", 1)]);
//! assert!(instance.live().is_empty());
//! ```
//!
//! What is not there is absent from the table, as in an old library: contexts, pools, graphs, virtual memory and what
//! compiled host code calls. [`Options::without`] takes more away.

mod bytes;
mod calls;
mod entries;
mod memory;
mod work;

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use calls::{Calls, Faults};
pub use calls::{ThreadCalls, UnknownFunction};
use memory::Memory;
use work::Timeline;

use crate::api::{Api, Binding, Found, Origin};
use crate::bindings::hipError_t;

/// What a null HIP is to look like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The number of devices.
    pub devices: u32,
    /// The name of their architecture, with features where wanted, for example `gfx942:sramecc+:xnack-`.
    pub arch: String,
    /// The bytes of memory that each device has; an allocation beyond is `hipErrorOutOfMemory`.
    pub memory_bytes: usize,
    /// Whether work stays in flight until [`Instance::complete`].
    pub manual: bool,
    /// Functions that are to be absent from the table. Unknown names are ignored.
    pub without: Vec<String>,
}

impl Default for Options {
    /// One gfx942 with 16 GiB, whose work is complete at once.
    fn default() -> Self {
        Self {
            devices: 1,
            arch: "gfx942".to_owned(),
            memory_bytes: 16 << 30,
            manual: false,
            without: Vec::new(),
        }
    }
}

/// One null HIP, which shares nothing with any other.
///
/// All methods may be called from any thread.
#[derive(Debug)]
pub struct Instance {
    options: Options,
    calls: Calls,
    faults: Faults,
    memory: Memory,
    timeline: Timeline,
    streams: AtomicUsize,
    events: AtomicUsize,
    modules: AtomicUsize,
}

/// What a caller created and has not destroyed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Allocations of device, host and managed memory, and registrations of host memory.
    pub allocations: usize,
    /// The bytes of all these.
    pub bytes: usize,
    /// Streams.
    pub streams: usize,
    /// Events.
    pub events: usize,
    /// Modules.
    pub modules: usize,
}

impl Live {
    /// Whether nothing is left.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Instance {
    /// A new instance, with all counts zero.
    pub fn new(options: Options) -> Arc<Self> {
        Arc::new(Self {
            memory: Memory::new(options.memory_bytes),
            timeline: Timeline::new(options.manual),
            options,
            calls: Calls::new(),
            faults: Faults::new(),
            streams: AtomicUsize::new(0),
            events: AtomicUsize::new(0),
            modules: AtomicUsize::new(0),
        })
    }

    /// A table that calls into this instance, and keeps it.
    pub fn api(self: &Arc<Self>) -> Api {
        let mut entries = entries::table();
        for name in &self.options.without {
            entries.remove(name);
        }
        let origin = Origin {
            name: "null HIP".to_owned(),
            path: None,
            version: None,
            found: Found::InProcess,
            simulated: true,
            simulated_hip: true,
        };
        let binding =
            Binding { context: Arc::as_ptr(self).cast(), enter: calls::enter, keep_alive: self.clone() };
        // SAFETY: the entries obey HIP's documentation as far as this module's describes, on any thread; `enter` may be
        // called anywhere while the instance lives, which `keep_alive` sees to.
        unsafe { Api::from_entries(entries, origin, Some(binding)) }
    }

    /// Every function that was called, with its number of calls, in the order of the declarations.
    pub fn calls(&self) -> Vec<(&'static str, u64)> {
        self.calls.total()
    }

    /// The number of calls of the function called `name`; zero if there is no such function.
    pub fn count(&self, name: &str) -> u64 {
        self.calls.count(name)
    }

    /// The calls of each thread that made any, in the order of their first calls.
    pub fn calls_by_thread(&self) -> Vec<ThreadCalls> {
        self.calls.by_thread()
    }

    /// Sets all counts to zero. Calls that are being made meanwhile may or may not count.
    pub fn reset_counts(&self) {
        self.calls.reset();
    }

    /// Lets the `kth_call` from now (1 is the next one) of a function fail with `status`, once, and do nothing else.
    ///
    /// Replaces what was asked for that function before.
    ///
    /// # Errors
    ///
    /// If no function that returns a status has that name.
    pub fn fail(&self, function: &str, kth_call: u64, status: hipError_t) -> Result<(), UnknownFunction> {
        self.faults.arm(function, kth_call, status)
    }

    /// Lets every call of a function fail with `status` from now on, until [`fail`](Self::fail) or this is called again;
    /// `hipSuccess` ends it.
    ///
    /// # Errors
    ///
    /// If no function that returns a status has that name.
    pub fn fail_always(&self, function: &str, status: hipError_t) -> Result<(), UnknownFunction> {
        self.faults.arm_always(function, status)
    }

    /// Completes all work that was enqueued so far, runs its host functions on this thread in the order of enqueuing, and
    /// wakes whoever waits for it. Does nothing unless [`Options::manual`].
    pub fn complete(&self) {
        self.timeline.complete();
    }

    /// What is left to destroy.
    pub fn live(&self) -> Live {
        use std::sync::atomic::Ordering::Relaxed;

        let (allocations, bytes) = self.memory.live();
        Live {
            allocations,
            bytes,
            streams: self.streams.load(Relaxed),
            events: self.events.load(Relaxed),
            modules: self.modules.load(Relaxed),
        }
    }
}
