// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues: an `amd_queue_t` with its ring in memory that host and kernels share, and the runtime's data about
//! it.
//!
//! # Why this is sound
//! Structure and ring lie in one allocation of the host arena, which stays mapped as long as the memory that the queue
//! keeps alive. Words that packets, kernels and clients change are accessed only by atomics.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock};
use std::thread::ThreadId;

use crate::engine::OfQueue;
use crate::exec::{Gws, PRIVATE_APERTURE, SHARED_APERTURE};
use crate::memory::{AllocationKind, Memory};

use super::abi::{AmdQueue, ErrorCallback, HsaQueue};
use super::aql;
use super::client_data::ClientData;
use super::processor::Processor;
use super::runtime::Runtime;
use super::signal::{SignalRef, SignalUse, Signals};
use super::status::{Outcome, Status};

/// Packets of the smallest ring. A smaller request gets this size.
pub(crate) const LEAST_PACKETS: u32 = 64;
/// Packets of the largest ring.
pub(crate) const MOST_PACKETS: u32 = 131_072;
/// Bytes in front of the ring.
const HEAD: u64 = 4096;

/// `hsa_queue_type_t`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueueType {
    Multi,
    Single,
    Cooperative,
}

/// A queue.
pub(crate) struct AqlQueue {
    memory: Arc<Memory>,
    /// The address of the structure.
    address: u64,
    pub(crate) size: u32,
    /// The GPU, by its index.
    pub(crate) gpu: usize,
    pub(crate) doorbell: SignalRef,
    inactive: SignalRef,
    callback: Option<(ErrorCallback, ClientData)>,
    /// The thread that runs the error callback, if one does.
    told_by: Mutex<Option<ThreadId>>,
    /// Set when the queue processes no more packets.
    stopped: AtomicBool,
    /// The flags that stop the running dispatches.
    at_work: Mutex<Vec<Arc<AtomicBool>>>,
    /// Signalled when a dispatch has ended.
    ended: Condvar,
    /// Barriers of all waves of a dispatch, for cooperative queues.
    gws: Option<Arc<Gws>>,
    signals: Arc<Signals>,
    /// Compute units that it may use, a bit each.
    pub(crate) cu_mask: Mutex<Vec<u32>>,
    pub(crate) priority: AtomicU32,
    pub(crate) processor: Mutex<Processor>,
}

/// The queues of a runtime, by the address of the structure.
#[derive(Default)]
pub(crate) struct Queues {
    live: RwLock<BTreeMap<u64, Arc<AqlQueue>>>,
    /// By the address of the doorbell.
    doorbells: RwLock<BTreeMap<u64, Arc<AqlQueue>>>,
    /// Addresses of the signals for inactive queues.
    inactive: RwLock<BTreeSet<u64>>,
    next_id: AtomicU64,
}

impl QueueType {
    /// # Errors
    /// `INVALID_ARGUMENT` for a number that is not a type.
    pub(crate) fn new(number: u32) -> Outcome<Self> {
        Ok(match number {
            0 => Self::Multi,
            1 => Self::Single,
            2 => Self::Cooperative,
            _ => return Err(Status::INVALID_ARGUMENT),
        })
    }
}

impl Runtime {
    /// Makes a queue.
    ///
    /// # Errors
    /// `INVALID_ARGUMENT` for a size that is not a power of two or exceeds the largest ring, `OUT_OF_RESOURCES` if no
    /// memory is left for it.
    pub(crate) fn create_queue(
        &self,
        gpu: usize,
        size: u32,
        kind: QueueType,
        callback: Option<(ErrorCallback, *mut c_void)>,
    ) -> Outcome<Arc<AqlQueue>> {
        if !size.is_power_of_two() || size > MOST_PACKETS {
            return Err(Status::INVALID_ARGUMENT);
        }
        let size = size.max(LEAST_PACKETS);
        let bytes = HEAD + u64::from(size) * aql::SIZE;
        let address = self.memory.allocate(bytes, HEAD, AllocationKind::HostPinned, "a queue");
        let address = address.map_err(|_| Status::OUT_OF_RESOURCES)?;
        let signals = self.signals.create(-1, SignalUse::Doorbell).and_then(|doorbell| {
            let inactive = self.signals.create(0, SignalUse::User);
            Ok((inactive.inspect_err(|_| self.signals.destroy(&doorbell))?, doorbell))
        });
        let (inactive, doorbell) = signals.inspect_err(|_| drop(self.memory.free(address)))?;
        let id = self.queues.next_id.fetch_add(1, Ordering::Relaxed);
        let head = AmdQueue {
            hsa_queue: HsaQueue {
                kind: kind as u32,
                features: 1,
                base_address: address + HEAD,
                doorbell_signal: doorbell.handle(),
                size,
                reserved1: 0,
                id,
            },
            caps: 0,
            reserved1: [0; 3],
            write_dispatch_id: 0,
            group_segment_aperture_base_hi: (SHARED_APERTURE >> 32) as u32,
            private_segment_aperture_base_hi: (PRIVATE_APERTURE >> 32) as u32,
            max_cu_id: self.units_of(gpu).saturating_sub(1),
            max_wave_id: 31,
            max_legacy_doorbell_dispatch_id_plus_1: 0,
            legacy_doorbell_lock: 0,
            reserved2: [0; 9],
            read_dispatch_id: 0,
            read_dispatch_id_field_base_byte_offset: READ_INDEX as u32,
            compute_tmpring_size: 0,
            scratch_resource_descriptor: [0; 4],
            scratch_backing_memory_location: 0,
            scratch_backing_memory_byte_size: 0,
            scratch_wave64_lane_byte_size: 0,
            // Pointers have 64 bits.
            queue_properties: 2,
            scratch_max_use_index: 0,
            queue_inactive_signal: inactive.handle(),
            reserved4: [0; 14],
        };
        // SAFETY: a fresh allocation, large enough and aligned, that no other code knows yet.
        unsafe { (address as *mut AmdQueue).write(head) };
        let queue = Arc::new(AqlQueue {
            memory: self.memory.clone(),
            address,
            size,
            gpu,
            doorbell,
            inactive,
            callback: callback.map(|(callback, data)| (callback, ClientData(data))),
            told_by: Mutex::default(),
            stopped: AtomicBool::new(false),
            at_work: Mutex::default(),
            ended: Condvar::new(),
            gws: (kind == QueueType::Cooperative).then(Arc::default),
            signals: self.signals.clone(),
            cu_mask: Mutex::default(),
            priority: AtomicU32::new(1),
            processor: Mutex::default(),
        });
        for index in 0..size.into() {
            queue.header(index).store(aql::INVALID, Ordering::Relaxed);
        }
        self.queues.insert(&queue);
        Ok(queue)
    }

    /// Ends a queue. Packets that have not begun are dropped, and running kernels are stopped. When this
    /// returns, none of the queue's packets uses memory any more, and its callback runs on no other thread.
    ///
    /// # Errors
    /// The scheduler's.
    pub(crate) fn destroy_queue(&self, queue: &Arc<AqlQueue>) -> Outcome<()> {
        queue.stop();
        self.queues.remove(queue);
        let here = std::thread::current().id();
        self.scheduler.wait_until(&|| queue.lock_told_by().is_none_or(|by| by == here), None)?;
        let mut at_work = queue.lock_at_work();
        while !at_work.is_empty() {
            at_work = queue.ended.wait(at_work).unwrap_or_else(PoisonError::into_inner);
        }
        Ok(())
    }
}

const WRITE_INDEX: u64 = std::mem::offset_of!(AmdQueue, write_dispatch_id) as u64;
const READ_INDEX: u64 = std::mem::offset_of!(AmdQueue, read_dispatch_id) as u64;
const PROPERTIES: u64 = std::mem::offset_of!(AmdQueue, queue_properties) as u64;
/// The bit of the properties for timed packets.
const PROFILING: u32 = 1 << 3;

impl AqlQueue {
    /// The client's pointer to the queue.
    pub(crate) fn pointer(&self) -> *mut HsaQueue {
        self.address as *mut HsaQueue
    }

    /// Address of the structure.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn write_index(&self) -> &AtomicU64 {
        self.word(WRITE_INDEX)
    }

    pub(crate) fn read_index(&self) -> &AtomicU64 {
        self.word(READ_INDEX)
    }

    /// Sets or clears the profiling bit. Packets are always timed; the bit is for the client's own tools.
    pub(crate) fn set_profiling(&self, on: bool) {
        // SAFETY: as in `word`; the field is aligned.
        let properties = unsafe { AtomicU32::from_ptr((self.address + PROPERTIES) as *mut u32) };
        match on {
            true => properties.fetch_or(PROFILING, Ordering::Relaxed),
            false => properties.fetch_and(!PROFILING, Ordering::Relaxed),
        };
    }

    /// Address of the packet of an index.
    pub(crate) fn packet(&self, index: u64) -> u64 {
        self.address + HEAD + (index & u64::from(self.size - 1)) * aql::SIZE
    }

    /// The header of the packet of an index.
    pub(crate) fn header(&self, index: u64) -> &AtomicU16 {
        // SAFETY: within the ring, which stays mapped as long as the memory that `self` keeps; aligned to 64.
        unsafe { AtomicU16::from_ptr(self.packet(index) as *mut u16) }
    }

    /// Whether the queue processes no more packets.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Ends the processing of packets, and stops running kernels. Returns whether this was the first stop.
    pub(crate) fn stop(&self) -> bool {
        self.inactive.value().store(1, Ordering::Release);
        let first = !self.stopped.swap(true, Ordering::AcqRel);
        for stop in self.lock_at_work().iter() {
            stop.store(true, Ordering::Relaxed);
        }
        first
    }

    /// The queue's part of each dispatch.
    pub(crate) fn dispatches(&self) -> OfQueue {
        OfQueue { gws: self.gws.clone(), ..OfQueue::default() }
    }

    /// Lets a dispatch begin, unless the queue has stopped.
    pub(crate) fn begin_work(&self) -> Option<AtWork<'_>> {
        let stop = Arc::<AtomicBool>::default();
        let mut at_work = self.lock_at_work();
        // Under the lock: a thread that stops the queue sees this dispatch, or this sees the stop.
        if self.is_stopped() {
            return None;
        }
        at_work.push(stop.clone());
        Some(AtWork { queue: self, stop })
    }

    fn lock_at_work(&self) -> MutexGuard<'_, Vec<Arc<AtomicBool>>> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock_told_by(&self) -> MutexGuard<'_, Option<ThreadId>> {
        self.told_by.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn word(&self, offset: u64) -> &AtomicU64 {
        // SAFETY: the offsets are those of aligned words of the structure, which stays mapped as long as the
        // memory that `self` keeps. They change only by atomics once the queue is made.
        unsafe { AtomicU64::from_ptr((self.address + offset) as *mut u64) }
    }
}

/// A running dispatch of a queue.
pub(crate) struct AtWork<'a> {
    queue: &'a AqlQueue,
    /// Set to stop it.
    stop: Arc<AtomicBool>,
}

impl AtWork<'_> {
    /// The queue's part of the dispatch.
    pub(crate) fn of_queue(&self) -> OfQueue {
        OfQueue { stop: self.stop.clone(), ..self.queue.dispatches() }
    }
}

impl Drop for AtWork<'_> {
    fn drop(&mut self) {
        self.queue.lock_at_work().retain(|stop| !Arc::ptr_eq(stop, &self.stop));
        self.queue.ended.notify_all();
    }
}

impl Drop for AqlQueue {
    fn drop(&mut self) {
        for signal in [&self.doorbell, &self.inactive] {
            self.signals.destroy(signal);
        }
        if let Err(error) = self.memory.free(self.address) {
            tracing::error!(target: "windlass::sim", %error, "the memory of a queue was not freed");
        }
    }
}

impl Queues {
    fn insert(&self, queue: &Arc<AqlQueue>) {
        write(&self.live).insert(queue.address, queue.clone());
        write(&self.doorbells).insert(queue.doorbell.handle().handle, queue.clone());
        write(&self.inactive).insert(queue.inactive.handle().handle);
    }

    fn remove(&self, queue: &Arc<AqlQueue>) {
        write(&self.live).remove(&queue.address);
        write(&self.doorbells).remove(&queue.doorbell.handle().handle);
        write(&self.inactive).remove(&queue.inactive.handle().handle);
    }

    /// All live queues.
    pub(crate) fn all(&self) -> Vec<Arc<AqlQueue>> {
        self.live.read().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }

    /// Calls the client's callback about a stopped queue, unless the client has destroyed it.
    pub(crate) fn report_stop(&self, queue: &Arc<AqlQueue>, status: Status) {
        let Some((callback, ClientData(data))) = queue.callback else { return };
        // Set before the check: a client that destroys the queue is noticed here, or waits for the callback.
        *queue.lock_told_by() = Some(std::thread::current().id());
        if self.is_live(queue) {
            // SAFETY: the client gave function and data for calls until the queue is destroyed, which waits
            // for this call.
            unsafe { callback(status, queue.pointer(), data) };
        }
        *queue.lock_told_by() = None;
    }

    /// Whether a queue was not destroyed.
    fn is_live(&self, queue: &Arc<AqlQueue>) -> bool {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.get(&queue.address).is_some_and(|known| Arc::ptr_eq(known, queue))
    }

    /// Whether a signal belongs to a queue.
    pub(crate) fn own(&self, signal: &SignalRef) -> bool {
        let inactive = self.inactive.read().unwrap_or_else(PoisonError::into_inner);
        signal.is_doorbell() || inactive.contains(&signal.handle().handle)
    }

    /// The queue behind a client's pointer.
    ///
    /// # Errors
    /// `INVALID_QUEUE`.
    pub(crate) fn get(&self, queue: *const HsaQueue) -> Outcome<Arc<AqlQueue>> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.get(&(queue as u64)).cloned().ok_or(Status::INVALID_QUEUE)
    }

    /// The queue of a doorbell.
    pub(crate) fn of_doorbell(&self, doorbell: &SignalRef) -> Option<Arc<AqlQueue>> {
        let doorbells = self.doorbells.read().unwrap_or_else(PoisonError::into_inner);
        doorbells.get(&doorbell.handle().handle).cloned()
    }
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}
