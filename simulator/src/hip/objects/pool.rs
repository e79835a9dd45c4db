// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory pools of hipMallocAsync. Memory that is freed stays with its pool: the next allocation of the same size takes it, on
//! the same stream even before the stream has reached the free. A synchronisation gives back what exceeds the threshold.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::graph_reserve::GraphReserve;
use crate::hip::objects::budget::Budget;
use crate::hip::words::code::Outcome;

use crate::memory::sharing::SharedFile;

/// `hipMemAccessFlagsProtReadWrite`.
const READ_WRITE: u32 = 3;

/// A memory pool.
#[derive(Debug)]
pub(crate) struct Pool {
    pub(crate) device: usize,
    pub(crate) is_default: bool,
    /// For the pool of one node of a graph, which gets the same addresses at each launch.
    share: Option<GraphShare>,
    /// The most bytes that it takes; 0 for no limit.
    max_size: u64,
    /// The file by which other processes know it, if its client wanted that.
    pub(crate) shared: Option<SharedFile>,
    reuse: [AtomicU64; 3],
    /// The access that clients asked for, as `hipMemAccessFlags`, by device.
    access: Mutex<BTreeMap<usize, u32>>,
    state: Mutex<State>,
}

/// The part of a node in the memory that a device keeps for graphs.
#[derive(Debug)]
pub(crate) struct GraphShare {
    reserve: Arc<GraphReserve>,
    budget: Arc<Budget>,
    /// Whether a launch gave the memory, and nobody has freed it since.
    is_given: AtomicBool,
    /// Whether a node frees it.
    is_claimed: AtomicBool,
}

impl GraphShare {
    /// No memory yet.
    pub(crate) fn new(reserve: Arc<GraphReserve>, budget: Arc<Budget>) -> Self {
        Self { reserve, budget, is_given: AtomicBool::new(false), is_claimed: AtomicBool::new(false) }
    }
}

#[derive(Debug, Default)]
struct State {
    used: u64,
    most_used: u64,
    /// Bytes of idle memory.
    idle: u64,
    most_reserved: u64,
    release_threshold: u64,
    /// Whether it keeps no memory any more.
    is_closed: bool,
    free: Vec<Free>,
    tickets: u64,
}

/// Memory that was freed.
#[derive(Debug)]
struct Free {
    base: u64,
    size: u64,
    /// The stream of the free.
    stream: u64,
    /// The number of the free.
    ticket: u64,
    /// Whether the stream has reached the free.
    is_idle: bool,
}

/// The state of freed memory when its stream reaches the free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// A later allocation has it.
    Taken,
    /// The pool keeps it.
    Kept,
    /// The pool keeps no memory: it is to be given back.
    Left,
}

impl Pool {
    /// A pool. The one that every device has cannot be destroyed by clients.
    pub(crate) fn new(device: usize, is_default: bool, max_size: u64) -> Self {
        let reuse = [(); 3].map(|()| AtomicU64::new(1));
        // A pool's own device reads and writes.
        let access = Mutex::new(BTreeMap::from([(device, READ_WRITE)]));
        Self {
            device,
            is_default,
            share: None,
            max_size,
            shared: None,
            reuse,
            access,
            state: Mutex::default(),
        }
    }

    /// The same pool, known to other processes by a file.
    pub(crate) fn shared_by(self, file: Option<SharedFile>) -> Self {
        Self { shared: file, ..self }
    }

    /// A pool for one node of a graph.
    pub(crate) fn private(device: usize, share: GraphShare) -> Self {
        Self { share: Some(share), ..Self::new(device, false, 0) }
    }

    /// Notes the access that a device is to have.
    pub(crate) fn set_access(&self, device: usize, flags: u32) {
        self.access.lock().unwrap_or_else(PoisonError::into_inner).insert(device, flags);
    }

    /// The access that a client asked for, none at first.
    pub(crate) fn access(&self, device: usize) -> u32 {
        let access = self.access.lock().unwrap_or_else(PoisonError::into_inner);
        access.get(&device).copied().unwrap_or_default()
    }

    /// Whether it serves a node of a graph.
    pub(crate) fn is_private(&self) -> bool {
        self.share.is_some()
    }

    /// Whether a launch of a graph gave its memory, and nobody has freed it since.
    pub(crate) fn is_given(&self) -> bool {
        self.share.as_ref().is_some_and(|share| share.is_given.load(Ordering::Relaxed))
    }

    /// Counts the memory of a node of a graph as given.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    pub(crate) fn give(&self, size: u64) -> Outcome<()> {
        let Some(share) = &self.share else { return Ok(()) };
        if !share.is_given.swap(true, Ordering::Relaxed) {
            let taken = share.reserve.take(size, &share.budget);
            return taken.inspect_err(|_| share.is_given.store(false, Ordering::Relaxed));
        }
        Ok(())
    }

    /// Counts the memory of a node of a graph as freed, if it was given.
    pub(crate) fn note_free(&self, size: u64) {
        let share = self.share.as_ref().filter(|share| share.is_given.swap(false, Ordering::Relaxed));
        if let Some(share) = share {
            share.reserve.free(size);
        }
    }

    /// Notes that a node of a graph frees its memory. False if one does already.
    pub(crate) fn claim(&self) -> bool {
        self.share.as_ref().is_some_and(|share| !share.is_claimed.swap(true, Ordering::Relaxed))
    }

    /// Undoes [`claim`](Self::claim).
    pub(crate) fn release_claim(&self) {
        if let Some(share) = &self.share {
            share.is_claimed.store(false, Ordering::Relaxed);
        }
    }

    /// The most bytes that it takes; 0 for no limit.
    pub(crate) fn max_size(&self) -> u64 {
        self.max_size
    }

    /// Counts new memory. False if the pool may not take as much.
    pub(crate) fn grow(&self, size: u64) -> bool {
        let mut state = self.lock();
        let Some(reserved) = state.used.checked_add(state.idle).and_then(|own| own.checked_add(size)) else {
            return false;
        };
        if self.max_size != 0 && reserved > self.max_size {
            return false;
        }
        state.used += size;
        true
    }

    /// Notes that there was memory for what [`grow`](Self::grow) counted.
    pub(crate) fn grown(&self) {
        self.lock().use_more(0);
    }

    /// Takes back what [`grow`](Self::grow) counted, or counts memory that is given back while in use.
    pub(crate) fn shrink(&self, size: u64) {
        let mut state = self.lock();
        state.used = state.used.saturating_sub(size);
    }

    /// Takes freed memory of this size. `then` gets the address, and whether the stream has reached the free, before
    /// anybody else can take or release it.
    pub(crate) fn take<T>(&self, size: u64, stream: u64, then: impl FnOnce(u64, bool) -> T) -> Option<T> {
        let mut state = self.lock();
        // Another stream may have it once the free is reached, if the client lets the pool look at that. Launches of a graph
        // are in order.
        let anywhere = self.reuse[1].load(Ordering::Relaxed) != 0;
        let fits = |free: &Free| {
            free.size == size && (free.stream == stream || self.is_private() || free.is_idle && anywhere)
        };
        let place = state.free.iter().position(fits)?;
        let Free { base, is_idle, .. } = state.free.remove(place);
        if is_idle {
            state.idle = state.idle.saturating_sub(size);
            state.use_more(size);
        }
        Some(then(base, is_idle))
    }

    /// Notes that a stream will free memory. Returns the number of the free.
    pub(crate) fn park(&self, base: u64, size: u64, stream: u64) -> u64 {
        self.note_free(size);
        let mut state = self.lock();
        state.tickets += 1;
        let ticket = state.tickets;
        state.free.push(Free { base, size, stream, ticket, is_idle: false });
        ticket
    }

    /// Undoes [`park`](Self::park). Whether nobody has taken the memory since.
    pub(crate) fn unpark(&self, ticket: u64) -> bool {
        let mut state = self.lock();
        let before = state.free.len();
        state.free.retain(|free| free.ticket != ticket);
        state.free.len() < before
    }

    /// The stream has reached a free. `then` gets the answer before anybody else can take the memory.
    pub(crate) fn reach<T>(&self, ticket: u64, then: impl FnOnce(Reached) -> T) -> T {
        let mut state = self.lock();
        let Some(place) = state.free.iter().position(|free| free.ticket == ticket) else {
            return then(Reached::Taken);
        };
        if state.is_closed {
            state.free.remove(place);
            return then(Reached::Left);
        }
        let size = state.free.get_mut(place).map_or(0, |free| {
            free.is_idle = true;
            free.size
        });
        state.used = state.used.saturating_sub(size);
        state.idle = state.idle.saturating_add(size);
        then(Reached::Kept)
    }

    /// Removes idle memory, the smallest first, until at most `keep` bytes of it are left. `give_back` gets address and size
    /// of each piece.
    pub(crate) fn release(&self, keep: u64, mut give_back: impl FnMut(u64, u64)) {
        let mut state = self.lock();
        state.free.sort_by_key(|free| free.size);
        let mut place = 0;
        while state.idle > keep
            && let Some(Free { base, size, is_idle, .. }) = state.free.get(place)
        {
            let (base, size, is_idle) = (*base, *size, *is_idle);
            if is_idle {
                state.free.remove(place);
                state.idle = state.idle.saturating_sub(size);
                give_back(base, size);
            } else {
                place += 1;
            }
        }
    }

    /// Forgets memory that streams have not freed: its device is reset, which frees it. Their frees find it gone.
    pub(crate) fn forget_parked(&self) {
        self.lock().free.retain(|free| free.is_idle);
    }

    /// Bytes of idle memory that stay when a client synchronises.
    pub(crate) fn release_threshold(&self) -> u64 {
        self.lock().release_threshold
    }

    /// Has the pool keep no memory from now on.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
    }

    /// Whether the pool keeps no memory.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// The value behind an attribute's number and its width in bytes. `None` for a number that HIP does not have.
    pub(crate) fn attribute(&self, number: u32) -> Option<(u64, usize)> {
        let state = self.lock();
        let value = match number {
            1..=3 => return Some((self.reuse.get(number as usize - 1)?.load(Ordering::Relaxed), 4)),
            4 => state.release_threshold,
            5 => state.used.saturating_add(state.idle),
            6 => state.most_reserved,
            7 => state.used,
            8 => state.most_used,
            _ => return None,
        };
        Some((value, 8))
    }

    /// Sets an attribute. High-water marks can only be set to zero, current sizes not at all.
    pub(crate) fn set_attribute(&self, number: u32, value: u64) -> Option<()> {
        let mut state = self.lock();
        match (number, value) {
            (1..=3, _) => {
                self.reuse.get(number as usize - 1)?.store(u64::from(value != 0), Ordering::Relaxed)
            }
            (4, _) => state.release_threshold = value,
            // Until the next allocation, even if memory is in use.
            (6, 0) => state.most_reserved = 0,
            (8, 0) => state.most_used = 0,
            _ => return None,
        }
        Some(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn use_more(&mut self, size: u64) {
        self.used = self.used.saturating_add(size);
        self.most_used = self.most_used.max(self.used);
        self.most_reserved = self.most_reserved.max(self.used.saturating_add(self.idle));
    }
}
