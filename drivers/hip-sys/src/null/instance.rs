// SPDX-License-Identifier: MIT OR Apache-2.0
//! One null HIP: its machine, its objects and its counts.

use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use super::calls::{Calls, ThreadCalls};
use super::memory::Memory;
use super::pace::KernelTime;
use super::work::Timeline;

/// The simulated machine of a null HIP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The number of devices.
    pub devices: u32,
    /// The architecture of the devices, optionally with features, for example `gfx942:sramecc+:xnack-`.
    pub arch: String,
    /// The memory of each device in bytes. A larger total is `hipErrorOutOfMemory`.
    pub memory_bytes: usize,
    /// Whether work stays in flight until [`Instance::complete`].
    pub manual: bool,
    /// How long a kernel takes. The kernels of a stream run one after the other, and streams run beside each other. A
    /// host function of a stream runs in its own call then, which waits for the kernels before it. Has no effect with
    /// `manual`.
    pub kernel: KernelTime,
    /// Functions to omit from the table. Unknown names are ignored.
    pub without: Vec<String>,
}

impl Default for Options {
    /// One gfx942 with 16 GiB, whose work completes at once.
    fn default() -> Self {
        Self {
            devices: 1,
            arch: "gfx942".to_owned(),
            memory_bytes: 16 << 30,
            manual: false,
            kernel: KernelTime::NONE,
            without: Vec::new(),
        }
    }
}

/// One null HIP, independent of all others.
///
/// All methods may be called from any thread.
#[derive(Debug)]
pub struct Instance {
    pub(super) options: Options,
    pub(super) calls: Calls,
    pub(super) memory: Memory,
    pub(super) timeline: Timeline,
    pub(super) streams: AtomicUsize,
    pub(super) events: AtomicUsize,
    pub(super) modules: AtomicUsize,
}

/// The objects that a caller created and has not destroyed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// Allocations of device, host and managed memory, and registrations of host memory.
    pub allocations: usize,
    /// The bytes of all these allocations.
    pub bytes: usize,
    /// Streams.
    pub streams: usize,
    /// Events.
    pub events: usize,
    /// Modules.
    pub modules: usize,
}

impl Live {
    /// Whether no object is left.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Instance {
    /// A new instance, with all counts zero.
    pub fn new(options: Options) -> Arc<Self> {
        Arc::new(Self {
            memory: Memory::new(options.memory_bytes),
            timeline: Timeline::new(options.manual, options.kernel),
            options,
            calls: Calls::new(),
            streams: AtomicUsize::new(0),
            events: AtomicUsize::new(0),
            modules: AtomicUsize::new(0),
        })
    }

    /// The functions that were called, with the number of calls, in the order of the declarations.
    pub fn calls(&self) -> Vec<(&'static str, u64)> {
        self.calls.total()
    }

    /// The number of calls of the function called `name`; zero if there is no such function.
    pub fn count(&self, name: &str) -> u64 {
        self.calls.count(name)
    }

    /// The calls of each thread, in the order of the threads' first calls.
    pub fn calls_by_thread(&self) -> Vec<ThreadCalls> {
        self.calls.by_thread()
    }

    /// Sets all counts to zero. Calls in progress may or may not count.
    pub fn reset_counts(&self) {
        self.calls.reset();
    }

    /// Completes all enqueued work, runs its host functions on this thread in the order of enqueuing, and wakes the
    /// threads that wait for it. Does nothing without [`Options::manual`].
    pub fn complete(&self) {
        self.timeline.complete();
    }

    /// The objects that were not destroyed.
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
