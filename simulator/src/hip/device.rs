// SPDX-License-Identifier: MIT OR Apache-2.0
//! One GPU: who it is, how it has failed, and the streams and pools that every device has.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::visible;

use super::code::{Code, Outcome};
use super::failure::{Failure, Unreported};
use crate::part::Part;

/// Work items per compute unit and other facts of every part that more than one call tells.
pub(crate) mod limits {
    use crate::part::Part;

    pub(crate) const WAVE_SIZE: u32 = Part::WAVE;
    pub(crate) const THREADS_PER_BLOCK: u32 = Part::WORKGROUP;
    pub(crate) const REGISTERS_PER_BLOCK: u32 = 64 << 10;
    pub(crate) const THREADS_PER_UNIT: u32 = Part::WAVES_OF_UNIT * Part::WAVE;

    /// Workgroups in each direction, as a version tells; launches take more.
    pub(crate) const fn grid(hip: (u32, u32)) -> [i32; 3] {
        let across = if hip.0 > 5 || hip.0 == 5 && hip.1 >= 7 { 65_536 } else { i32::MAX };
        [i32::MAX, across, across]
    }
}

/// A GPU of the simulated machine.
#[derive(Debug)]
pub(crate) struct Device {
    /// What it is.
    pub(crate) part: &'static Part,
    pub(crate) index: usize,
    /// Its place in the machine, which names it. It differs from the index where clients see a selection.
    slot: usize,
    /// Bytes of its memory.
    pub(crate) capacity: u64,
    /// Bytes of them in use.
    used: AtomicU64,
    /// Whether `failure` holds anything.
    failed: AtomicBool,
    /// What made it unusable first.
    failure: Mutex<Option<Arc<Failure>>>,
    /// What a synchronisation with the device has to tell.
    pub(crate) unreported: Unreported,
    /// Devices whose memory was opened to kernels of this one.
    peers: Mutex<BTreeSet<usize>>,
    /// hipSetDeviceFlags.
    pub(crate) flags: AtomicU32,
    /// `hipLimitStackSize`, which only tells: stacks are as large as kernels need them.
    pub(crate) stack: AtomicUsize,
    /// Holders of the primary context.
    pub(crate) retained: AtomicU32,
}

impl Device {
    pub(crate) fn new(part: &'static Part, index: usize, slot: usize, capacity: u64) -> Self {
        Self {
            part,
            index,
            slot,
            capacity,
            used: AtomicU64::new(0),
            failed: AtomicBool::new(false),
            failure: Mutex::default(),
            unreported: Unreported::default(),
            peers: Mutex::default(),
            // hipDeviceScheduleSpin.
            flags: AtomicU32::new(1),
            stack: AtomicUsize::new(1024),
            retained: AtomicU32::new(0),
        }
    }

    /// `Err` with the error that made the device unusable, as the answer to the call at work on this thread.
    pub(crate) fn check(&self) -> Outcome<()> {
        self.failure().map_or(Ok(()), |failure| failure.answer())
    }

    /// As [`check`](Self::check) after work was waited for; tells a failure that nobody who synchronised with the
    /// device was told of yet.
    pub(crate) fn report(&self) -> Outcome<()> {
        self.check().and_then(|()| self.unreported.report())
    }

    /// What made the device unusable.
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
        self.used.load(Ordering::Relaxed)
    }

    /// Takes memory, if so much is left.
    pub(crate) fn take(&self, size: u64) -> Outcome<()> {
        let more = |used: u64| used.checked_add(size).filter(|used| *used <= self.capacity);
        match self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more) {
            Ok(_) => Ok(()),
            Err(_) => Err(Code::OUT_OF_MEMORY),
        }
    }

    /// Gives memory back.
    pub(crate) fn give_back(&self, size: u64) {
        let less = |used: u64| Some(used.saturating_sub(size));
        let _ = self.used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    pub(crate) fn enable_peer(&self, peer: usize) -> Outcome<()> {
        match self.lock_peers().insert(peer) {
            true => Ok(()),
            false => Err(Code::PEER_ACCESS_ALREADY_ENABLED),
        }
    }

    /// The devices whose memory its kernels may use, a bit each.
    pub(crate) fn reach(&self) -> u64 {
        // There are 64 devices at most.
        self.lock_peers().iter().fold(1 << (self.index & 63), |reach, peer| reach | 1 << (peer & 63))
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
