// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals: `amd_signal_t` in memory that the host and kernels access at the same address, which is the
//! handle.
//!
//! # Why this is sound
//! Signals lie in blocks of the host arena that are freed only with the [`Signals`], which keeps its memory alive. A
//! [`SignalRef`] is made only of an address within such a block, borrows nothing, and keeps the table alive. All access
//! is by atomics, since kernels, packets and clients change the words at any time.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use crate::memory::{AllocationKind, Memory, MemoryError};
use crate::packet;

use super::abi::Signal;
use super::status::{Outcome, Status};
use super::ticket::Ticket;

/// Bytes of an `amd_signal_t`.
const SIZE: u64 = 64;
/// The offset of a word that the structure reserves for the runtime.
const GENERATION: u64 = 56;
/// Bytes of a block of signals.
const BLOCK: u64 = 64 << 10;

/// The use of a signal, as in `amd_signal_kind_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i64)]
pub(crate) enum SignalUse {
    /// The slot is free.
    Free = 0,
    User = 1,
    /// Stores to it submit packets to a queue.
    Doorbell = -1,
}

/// The signals of one runtime.
pub(crate) struct Signals {
    memory: Arc<Memory>,
    /// First addresses of blocks.
    blocks: RwLock<BTreeSet<u64>>,
    free: Mutex<VecDeque<u64>>,
    /// Signals that may be shared, by address.
    shared: Mutex<SharableSignals>,
}

/// Signals that may be shared.
#[derive(Default)]
struct SharableSignals {
    /// The number of such signals so far.
    count: u64,
    live: BTreeMap<u64, SharedSignal>,
}

struct SharedSignal {
    number: u64,
    /// Its number among all signals at its address.
    generation: u64,
    /// The number of calls that destroy it.
    owners: u32,
}

/// A signal that was live when it was looked up.
#[derive(Clone)]
pub(crate) struct SignalRef {
    address: u64,
    /// Its number among all signals at its address.
    generation: u64,
    _table: Arc<Signals>,
}

impl Signals {
    pub(crate) fn new(memory: Arc<Memory>) -> Arc<Self> {
        Arc::new(Self { memory, blocks: RwLock::default(), free: Mutex::default(), shared: Mutex::default() })
    }

    /// A signal with a value.
    ///
    /// # Errors
    /// `OUT_OF_RESOURCES` if no memory is left for it.
    pub(crate) fn create(self: &Arc<Self>, value: i64, usage: SignalUse) -> Outcome<SignalRef> {
        let free = self.lock_free().pop_front();
        let address = match free {
            Some(address) => address,
            None => self.grow().map_err(|_| Status::OUT_OF_RESOURCES)?,
        };
        let mut signal = SignalRef { address, generation: 0, _table: self.clone() };
        for offset in (8..GENERATION).step_by(8) {
            signal.word(offset).store(0, Ordering::Relaxed);
        }
        signal.generation = signal.word(GENERATION).fetch_add(1, Ordering::Relaxed) + 1;
        signal.value().store(value, Ordering::Relaxed);
        signal.word(0).store(usage as i64 as u64, Ordering::Release);
        Ok(signal)
    }

    /// The signal behind a handle, doorbells included.
    ///
    /// # Errors
    /// `INVALID_SIGNAL` for a handle that is not, or no longer, a signal's.
    pub(crate) fn get(self: &Arc<Self>, signal: Signal) -> Outcome<SignalRef> {
        let address = signal.handle;
        if !address.is_multiple_of(SIZE) || !self.holds(address) {
            return Err(Status::INVALID_SIGNAL);
        }
        let mut signal = SignalRef { address, generation: 0, _table: self.clone() };
        // The kind is written last: a reader that sees a live kind sees its generation.
        if signal.word(0).load(Ordering::Acquire) == SignalUse::Free as i64 as u64 {
            return Err(Status::INVALID_SIGNAL);
        }
        signal.generation = signal.word(GENERATION).load(Ordering::Relaxed);
        Ok(signal)
    }

    /// As [`get`](Self::get), for a packet's signal, which may be null.
    pub(crate) fn find(self: &Arc<Self>, signal: Signal) -> Outcome<Option<SignalRef>> {
        if signal.handle == 0 { Ok(None) } else { self.get(signal).map(Some) }
    }

    /// Marks a signal as one that may be shared.
    pub(crate) fn make_sharable(&self, signal: &SignalRef) {
        let mut shared = self.lock_shared();
        shared.count += 1;
        let number = shared.count;
        shared.live.insert(signal.address, SharedSignal { number, generation: signal.generation, owners: 1 });
    }

    /// The contents of a signal's handle, if it may be shared.
    pub(crate) fn share(&self, signal: &SignalRef) -> Option<Ticket> {
        let shared = self.lock_shared();
        let number = shared.live.get(&signal.address)?.number;
        Some(Ticket { address: signal.address, number })
    }

    /// The signal of a handle. It needs one more call that destroys it.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` if it is gone.
    pub(crate) fn attach(&self, ticket: Ticket) -> Outcome<Signal> {
        let mut shared = self.lock_shared();
        let signal = shared.live.get_mut(&ticket.address).filter(|signal| signal.number == ticket.number);
        let signal = signal.ok_or(Status::INVALID_ARGUMENT)?;
        signal.owners = signal.owners.checked_add(1).ok_or(Status::OUT_OF_RESOURCES)?;
        Ok(Signal { handle: ticket.address })
    }

    /// Ends a signal, unless others share it or it has ended. Its slot is reused.
    pub(crate) fn destroy(&self, signal: &SignalRef) {
        {
            let mut shared = self.lock_shared();
            let known = shared.live.get_mut(&signal.address);
            if let Some(known) = known.filter(|known| known.generation == signal.generation) {
                known.owners -= 1;
                if known.owners > 0 {
                    return;
                }
                shared.live.remove(&signal.address);
            }
        }
        // Two threads that destroy it at once must not free the slot twice, nor end another signal that is
        // there by then.
        let mut free = self.lock_free();
        if signal.is_live() {
            signal.word(0).store(SignalUse::Free as i64 as u64, Ordering::Release);
            free.push_back(signal.address);
        }
    }

    fn holds(&self, address: u64) -> bool {
        let blocks = self.blocks.read().unwrap_or_else(PoisonError::into_inner);
        blocks.range(..=address).next_back().is_some_and(|block| address - block < BLOCK)
    }

    /// Adds a block, and returns one of its slots.
    fn grow(&self) -> Result<u64, MemoryError> {
        let block = self.memory.allocate(BLOCK, 4096, AllocationKind::HostPinned, "signals")?;
        self.blocks.write().unwrap_or_else(PoisonError::into_inner).insert(block);
        self.lock_free().extend((block + SIZE..block + BLOCK).step_by(SIZE as usize));
        Ok(block)
    }

    fn lock_shared(&self) -> MutexGuard<'_, SharableSignals> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_free(&self) -> MutexGuard<'_, VecDeque<u64>> {
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl SignalRef {
    pub(crate) fn handle(&self) -> Signal {
        Signal { handle: self.address }
    }

    pub(crate) fn value(&self) -> &AtomicI64 {
        // SAFETY: as in `word`.
        unsafe { AtomicI64::from_ptr((self.address + 8) as *mut i64) }
    }

    /// Address of the value.
    pub(crate) fn value_address(&self) -> u64 {
        self.address + 8
    }

    pub(crate) fn load(&self) -> i64 {
        self.value().load(Ordering::Acquire)
    }

    /// Whether it was not destroyed.
    pub(crate) fn is_live(&self) -> bool {
        self.word(0).load(Ordering::Acquire) != SignalUse::Free as i64 as u64
            && self.word(GENERATION).load(Ordering::Relaxed) == self.generation
    }

    pub(crate) fn is_doorbell(&self) -> bool {
        self.word(0).load(Ordering::Relaxed) == SignalUse::Doorbell as i64 as u64
    }

    /// Completes a signal: sets the times and decrements the value. A signal that was destroyed meanwhile
    /// stays as it is; its slot may hold another.
    pub(crate) fn complete_timed(&self, start: u64, end: u64) {
        if self.set_times(start, end) {
            self.value().fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// Completes a signal with a failure: sets the times and a negative value, as ROCr does.
    pub(crate) fn fail_timed(&self, start: u64, end: u64) {
        if self.set_times(start, end) {
            self.value().store(-1, Ordering::Release);
        }
    }

    fn set_times(&self, start: u64, end: u64) -> bool {
        if !self.is_live() {
            tracing::error!(
                target: "windlass::sim",
                "the completion signal {:#x} was destroyed before its packet or copy had ended",
                self.address
            );
            return false;
        }
        self.word(32).store(start, Ordering::Relaxed);
        self.word(40).store(end, Ordering::Relaxed);
        true
    }

    /// The times at which the packet of the signal began and ended.
    pub(crate) fn times(&self) -> (u64, u64) {
        (self.word(32).load(Ordering::Relaxed), self.word(40).load(Ordering::Relaxed))
    }

    /// A word of the structure.
    fn word(&self, offset: u64) -> &AtomicU64 {
        // SAFETY: the address lies in a block of signals, which stays mapped as long as the table that `self`
        // keeps, and is a multiple of 64; `offset` is a multiple of 8 below 64. Words change only by atomics.
        unsafe { AtomicU64::from_ptr((self.address + offset) as *mut u64) }
    }
}

/// `hsa_signal_condition_t` with its operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Comparison {
    how: u32,
    with: i64,
    mask: i64,
}

impl Comparison {
    /// Equal to a value.
    pub(crate) const fn equals(with: i64) -> Self {
        Self { how: 0, with, mask: -1 }
    }

    /// # Errors
    /// `INVALID_ARGUMENT` for a number that is not a condition.
    pub(crate) fn new(how: u32, with: i64) -> Outcome<Self> {
        if how > 3 { Err(Status::INVALID_ARGUMENT) } else { Ok(Self { how, with, mask: -1 }) }
    }

    /// Compares only the bits of a mask.
    pub(crate) fn masked(self, mask: i64) -> Self {
        Self { mask, ..self }
    }

    pub(crate) fn holds(self, value: i64) -> bool {
        let value = value & self.mask;
        match self.how {
            0 => value == self.with,
            1 => value != self.with,
            2 => value < self.with,
            _ => value >= self.with,
        }
    }
}

/// A signal that a packet waits for.
pub(crate) struct Awaited {
    pub(crate) signal: SignalRef,
    pub(crate) until: Comparison,
}

impl packet::Condition for Awaited {
    fn holds(&self) -> bool {
        // The value of a destroyed signal never changes.
        self.until.holds(self.signal.load()) || !self.signal.is_live()
    }
}
