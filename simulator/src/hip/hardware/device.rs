// SPDX-License-Identifier: MIT OR Apache-2.0
//! One GPU: its identity, its failure, its use of memory, and its settings.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::hip::objects::budget::Budget;
use crate::hip::objects::graph_reserve::GraphReserve;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::failure::{Failure, Unreported};
use crate::memory::Grants;
use crate::options::Options;
use crate::visible;
use windlass_simulated_gpu::Part;

/// Facts of every part that more than one call reports, such as work-items per compute unit.
pub(crate) mod limits {
    use windlass_simulated_gpu::Part;

    pub(crate) const THREADS_PER_BLOCK: u32 = Part::WORKGROUP;
    pub(crate) const REGISTERS_PER_BLOCK: u32 = 64 << 10;

    /// Workgroups in each direction, as a version reports; launches accept more.
    pub(crate) const fn grid(hip: (u32, u32)) -> [i32; 3] {
        let across = if hip.0 > 5 || hip.0 == 5 && hip.1 >= 7 { 65_536 } else { i32::MAX };
        [i32::MAX, across, across]
    }
}

/// `hipLimitStackSize` of AMD's runtime in bytes, before a client sets another.
const DEFAULT_STACK: usize = 1024;
/// No stack that a client can set.
const UNSET: usize = usize::MAX;

/// A GPU of the simulated machine.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) part: &'static Part,
    /// Compute units that it reports.
    pub(crate) units: u32,
    pub(crate) index: usize,
    /// Its place in the machine, which gives its identity. The index differs if clients see a selection of devices.
    slot: usize,
    /// Bytes of its memory.
    pub(crate) capacity: u64,
    /// Its bytes in use, which the kernels' heap takes too.
    pub(crate) budget: Arc<Budget>,
    /// The part of them that graphs take.
    pub(crate) graph_reserve: Arc<GraphReserve>,
    /// Whether `failure` holds anything.
    failed: AtomicBool,
    /// The first failure that made it unusable.
    failure: Mutex<Option<Arc<Failure>>>,
    /// The failures that a synchronisation with the device answers.
    pub(crate) unreported: Unreported,
    /// Devices whose memory kernels of this one may use.
    peers: Mutex<BTreeSet<usize>>,
    /// hipSetDeviceFlags.
    pub(crate) flags: AtomicU32,
    /// `hipLimitStackSize`; [`UNSET`] until a client sets it.
    stack: AtomicUsize,
    /// `hipLimitMallocHeapSize`.
    pub(crate) heap: AtomicUsize,
    /// Whether a client has allocated memory on it, or queued work for it.
    is_active: AtomicBool,
}

impl Device {
    pub(crate) fn new(options: &Options, index: usize, slot: usize) -> Self {
        Self {
            part: options.part_of(slot),
            units: options.units_of(slot),
            index,
            slot,
            capacity: options.memory,
            budget: Arc::new(Budget::new(options.memory)),
            graph_reserve: Arc::default(),
            failed: AtomicBool::new(false),
            failure: Mutex::default(),
            unreported: Unreported::default(),
            peers: Mutex::default(),
            // hipDeviceScheduleSpin.
            flags: AtomicU32::new(1),
            stack: AtomicUsize::new(UNSET),
            heap: AtomicUsize::new(8 << 20),
            is_active: AtomicBool::new(false),
        }
    }

    /// Notes that a client uses it. As in AMD's runtime that does not end with a reset.
    pub(crate) fn set_active(&self) {
        self.is_active.store(true, Ordering::Relaxed);
    }

    /// Whether a client has used it.
    pub(crate) fn is_active(&self) -> bool {
        self.is_active.load(Ordering::Relaxed)
    }

    /// The stack of a work-item in bytes that clients see.
    pub(crate) fn stack_limit(&self) -> usize {
        match self.stack.load(Ordering::Relaxed) {
            UNSET => DEFAULT_STACK,
            stack => stack,
        }
    }

    /// Sets the stack of work-items of kernels whose stack has no fixed size.
    pub(crate) fn set_stack_limit(&self, bytes: usize) {
        self.stack.store(bytes, Ordering::Relaxed);
    }

    /// The stack that a client has set.
    pub(crate) fn chosen_stack(&self) -> Option<u32> {
        // Accepted stacks are far smaller than 2^32 bytes.
        u32::try_from(self.stack.load(Ordering::Relaxed)).ok()
    }

    /// `Err` with the failure that made the device unusable, as the answer to this thread's current call.
    pub(crate) fn check(&self) -> Outcome<()> {
        self.failure().map_or(Ok(()), |failure| failure.answer())
    }

    /// As [`check`](Self::check), for a synchronisation with the device. It also answers a failure that no call has
    /// answered yet.
    pub(crate) fn report(&self) -> Outcome<()> {
        self.check().and_then(|()| self.unreported.report())
    }

    /// The failure that made the device unusable.
    pub(crate) fn failure(&self) -> Option<Arc<Failure>> {
        if !self.failed.load(Ordering::Acquire) {
            return None;
        }
        self.first_failure().clone()
    }

    /// Makes the device unusable until it is reset. The first failure stays. Whether this was the first.
    pub(crate) fn fail(&self, failure: &Arc<Failure>) -> bool {
        let mut first = self.first_failure();
        let is_first = first.is_none();
        first.get_or_insert_with(|| failure.clone());
        self.failed.store(true, Ordering::Release);
        is_first
    }

    /// Makes the device usable again.
    pub(crate) fn recover(&self) {
        let mut first = self.first_failure();
        *first = None;
        self.failed.store(false, Ordering::Release);
        self.unreported.take();
    }

    fn first_failure(&self) -> MutexGuard<'_, Option<Arc<Failure>>> {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn used(&self) -> u64 {
        self.budget.used()
    }

    /// Takes `size` bytes of the budget, if they are left.
    pub(crate) fn take(&self, size: u64) -> Outcome<()> {
        self.budget.take(size)
    }

    /// Returns `size` bytes to the budget.
    pub(crate) fn give_back(&self, size: u64) {
        self.budget.give_back(size);
    }

    pub(crate) fn enable_peer(&self, peer: usize) -> Outcome<()> {
        match self.lock_peers().insert(peer) {
            true => Ok(()),
            false => Err(Code::PEER_ACCESS_ALREADY_ENABLED),
        }
    }

    /// The memory that its kernels may use.
    pub(crate) fn reach(&self) -> Grants {
        // There are 64 devices at most.
        let own = 1 << (self.index & 63);
        let peers = self.lock_peers().iter().fold(own, |reach, peer| reach | 1 << (peer & 63));
        Grants { own, peers }
    }

    pub(crate) fn disable_peer(&self, peer: usize) -> Outcome<()> {
        match self.lock_peers().remove(&peer) {
            true => Ok(()),
            false => Err(Code::PEER_ACCESS_NOT_ENABLED),
        }
    }

    pub(crate) fn name(&self) -> String {
        self.part.title()
    }

    /// See [`visible::uuid`].
    pub(crate) fn uuid(&self) -> [u8; 16] {
        visible::uuid(self.slot)
    }

    /// Domain, bus, device and function; there is no such slot.
    pub(crate) fn pci_bus_id(&self) -> String {
        format!("0000:{:02x}:00.0", self.pci_bus())
    }

    pub(crate) fn pci_bus(&self) -> usize {
        visible::bus(self.slot)
    }

    fn lock_peers(&self) -> std::sync::MutexGuard<'_, BTreeSet<usize>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
