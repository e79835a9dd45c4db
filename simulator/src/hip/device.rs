// SPDX-License-Identifier: MIT OR Apache-2.0
//! One GPU: who it is, how it has failed, and the streams and pools that every device has.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::code::{Code, Outcome};

/// Work items per compute unit and other facts of the simulated part that more than one call tells.
pub(crate) mod limits {
    pub(crate) const WAVE_SIZE: u32 = 64;
    pub(crate) const THREADS_PER_BLOCK: u32 = 1024;
    pub(crate) const LDS_PER_BLOCK: u32 = 64 << 10;
    pub(crate) const REGISTERS_PER_BLOCK: u32 = 64 << 10;
    pub(crate) const THREADS_PER_UNIT: u32 = 2048;
    pub(crate) const GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
}

/// A GPU of the simulated machine.
#[derive(Debug)]
pub(crate) struct Device {
    pub(crate) index: usize,
    /// Its place in the machine, which names it. It differs from the index where clients see a selection.
    slot: usize,
    /// Bytes of its memory.
    pub(crate) capacity: u64,
    /// Bytes of them in use.
    used: AtomicU64,
    /// The first error that made it unusable, or zero.
    failure: AtomicU32,
    /// Devices whose memory was opened to kernels of this one.
    peers: Mutex<BTreeSet<usize>>,
    /// hipSetDeviceFlags.
    pub(crate) flags: AtomicU32,
    /// Holders of the primary context.
    pub(crate) retained: AtomicU32,
}

impl Device {
    pub(crate) fn new(index: usize, slot: usize, capacity: u64) -> Self {
        Self {
            index,
            slot,
            capacity,
            used: AtomicU64::new(0),
            failure: AtomicU32::new(0),
            peers: Mutex::default(),
            flags: AtomicU32::new(0),
            retained: AtomicU32::new(0),
        }
    }

    /// `Err` with the error that made the device unusable.
    pub(crate) fn check(&self) -> Outcome<()> {
        match self.failure.load(Ordering::Acquire) {
            0 => Ok(()),
            code => Err(Code(code)),
        }
    }

    /// Makes the device unusable until it is reset. The first error stays. Whether this was the first.
    pub(crate) fn fail(&self, code: Code) -> bool {
        self.failure.compare_exchange(0, code.0, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Makes the device usable again.
    pub(crate) fn recover(&self) {
        self.failure.store(0, Ordering::Release);
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

    pub(crate) fn disable_peer(&self, peer: usize) -> Outcome<()> {
        match self.lock_peers().remove(&peer) {
            true => Ok(()),
            false => Err(Code::PEER_ACCESS_NOT_ENABLED),
        }
    }

    pub(crate) fn name(&self) -> String {
        "Simulated MI300X (gfx942)".to_owned()
    }

    /// Sixteen characters, as HIP on AMD has them; no two devices of a simulator share them.
    pub(crate) fn uuid(&self) -> [u8; 16] {
        let mut uuid = [b'0'; 16];
        let text = format!("51ed{:012x}", self.slot + 1);
        for (to, from) in uuid.iter_mut().zip(text.bytes()) {
            *to = from;
        }
        uuid
    }

    /// Domain, bus, device and function; there is no such slot.
    pub(crate) fn pci_bus_id(&self) -> String {
        format!("0000:{:02x}:00.0", self.pci_bus())
    }

    pub(crate) fn pci_bus(&self) -> usize {
        self.slot + 1
    }

    fn lock_peers(&self) -> std::sync::MutexGuard<'_, BTreeSet<usize>> {
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
