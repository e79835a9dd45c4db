// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools between their buffers and a source of slabs that counts, runs out and makes mistakes.

use std::{
    any::Any,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
};

use windlass_hal::{
    Accounts, BufferParams, Code, Error, PoolKind, QueueAffinity, Result, driver,
    edge::Domain,
    pool::{Acquire, Frontier, Placed, PoolParams, Reach, SlabRequest, SlabSource, Slabs},
};

const GRANULE: u64 = 256;

/// A device with this many bytes, on which nothing has retired.
struct Memory {
    left: Arc<AtomicU64>,
    /// Added to the address of each slab, and subtracted from its size.
    wrong: (u64, u64),
    requests: Mutex<Vec<u64>>,
    accounts: Accounts,
}

impl Memory {
    fn of(bytes: u64, wrong: (u64, u64)) -> Arc<dyn SlabSource> {
        Self::noted(bytes, wrong)
    }

    fn noted(bytes: u64, wrong: (u64, u64)) -> Arc<Self> {
        let left = Arc::new(AtomicU64::new(bytes));
        Arc::new(Self { left, wrong, requests: Mutex::default(), accounts: Accounts::default() })
    }
}

impl SlabSource for Memory {
    fn allocate_slab(&self, request: &SlabRequest) -> Result<Arc<dyn driver::RawBuffer>> {
        assert_eq!(request.params.min_alignment, 0, "alignment is the pool's business");
        self.requests.lock().unwrap().push(request.size);
        let taken = self.left.fetch_update(SeqCst, SeqCst, |left| left.checked_sub(request.size));
        let left = taken.map_err(|left| Error::resource_exhausted(format!("{left} bytes are left")))?;
        let (late, short) = self.wrong;
        Ok(Arc::new(Raw {
            address: 0x10_0000 - left.next_multiple_of(GRANULE) + late,
            size: request.size - short,
            taken: request.size,
            left: self.left.clone(),
        }))
    }
    fn has_retired(&self, _: u32, _: u64) -> bool {
        false
    }
    fn poll(&self) {}
    fn usable(&self) -> Result<()> {
        Ok(())
    }
    fn accounts(&self) -> &Accounts {
        &self.accounts
    }
}

struct Raw {
    address: u64,
    size: u64,
    taken: u64,
    left: Arc<AtomicU64>,
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.left.fetch_add(self.taken, SeqCst);
    }
}

// SAFETY: the numbers never change, and there is no pointer to access.
#[allow(unsafe_code)]
unsafe impl driver::RawBuffer for Raw {
    fn domain(&self) -> Domain {
        Domain::unique()
    }
    fn size(&self) -> u64 {
        self.size
    }
    fn device_address(&self) -> u64 {
        self.address
    }
    fn host_pointer(&self) -> Option<driver::HostPointer> {
        None
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn slabs(params: PoolParams) -> Arc<Slabs> {
    Arc::new(Slabs::new(params, GRANULE).expect("parameters that memory can have"))
}

fn taken(slabs: &Arc<Slabs>, source: &Arc<dyn SlabSource>, size: u64) -> Arc<Placed> {
    slabs.acquire(source, size, 0, Reach::Now).and_then(Acquire::memory).expect("memory")
}

#[test]
fn what_lies_idle_goes_back_before_memory_runs_out() {
    let (slabs, source) = (slabs(PoolParams::tlsf(4096)), Memory::of(4096, (0, 0)));
    drop(taken(&slabs, &source, 1000));
    let counts = slabs.statistics();
    assert_eq!((counts.slabs, counts.bytes_idle, counts.bytes_used), (1, 4096, 0));
    // More than the device has, even with the idle slab.
    let large = slabs.acquire(&source, 5000, 0, Reach::Now).expect_err("more than there is");
    assert_eq!(large.code(), Code::ResourceExhausted);
    assert_eq!(slabs.statistics().slabs, 0, "it was given back for another try");
    let other = self::slabs(PoolParams::passthrough());
    drop(taken(&other, &source, 3072));
    assert_eq!(other.statistics().bytes_idle, 3072);
    assert_eq!(taken(&other, &source, 2048).slab().size(), 2048);
    assert_eq!((other.statistics().slabs, other.statistics().slabs_given_back), (1, 1));
}

#[test]
fn the_least_is_asked_for_where_the_best_is_not_to_be_had() {
    let (slabs, memory) = (slabs(PoolParams::tlsf(1 << 16)), Memory::noted(8192, (0, 0)));
    let source: Arc<dyn SlabSource> = memory.clone();
    assert_eq!(taken(&slabs, &source, 2048).slab().size(), 2048);
    let ordered = Reach::Ordered(QueueAffinity::queue(0));
    let kept = slabs.acquire(&source, 4096, 0, ordered).and_then(Acquire::memory).expect("memory");
    assert_eq!(kept.slab().size(), 4096);
    let requests = memory.requests.lock().unwrap().clone();
    assert_eq!(requests, [1 << 16, 2048, 1 << 16, 4096]);
}

#[test]
fn a_slab_that_is_not_what_was_asked_for_is_a_mistake_of_the_driver() {
    for wrong in [(1, 0), (0, 1), (GRANULE / 2, 0)] {
        let (slabs, source) = (slabs(PoolParams::passthrough()), Memory::of(1 << 16, wrong));
        let error = slabs.acquire(&source, 1024, 0, Reach::Now).expect_err("wrong");
        assert_eq!(error.code(), Code::Internal, "{wrong:?}");
    }
}

#[test]
fn memory_in_flight_is_given_to_who_can_wait_for_it() {
    let aligned = BufferParams::device().with_min_alignment(1024);
    let (slabs, source) =
        (slabs(PoolParams::fixed_block(512, 1).with_memory(aligned)), Memory::of(1 << 16, (0, 0)));
    let ordered = |queue| Reach::Ordered(QueueAffinity::queue(queue));
    let acquire = |reach| slabs.acquire(&source, 512, 0, reach).expect("no error of the device");
    let Acquire::OkFresh(first) = acquire(ordered(0)) else { panic!("a slab was added") };
    assert!(driver::RawBuffer::device_address(&*first).is_multiple_of(1024));
    first.release(Frontier::at(1, 7));
    drop(first);
    assert!(matches!(acquire(Reach::Now), Acquire::Exhausted(_)), "in flight");
    let Acquire::Ok(own) = acquire(ordered(1)) else { panic!("behind its own queue's last use") };
    own.release(Frontier::at(1, 8));
    drop(own);
    let Acquire::NeedsWait(other) = acquire(ordered(2)) else { panic!("behind the use of another") };
    assert_eq!(*other.birth(), Frontier::at(1, 8));
    let counts = slabs.statistics();
    assert_eq!(
        (counts.acquired_fresh, counts.acquired, counts.acquired_with_wait, counts.exhausted),
        (1, 1, 1, 1)
    );
    assert_eq!((counts.buffers, counts.released, counts.bytes_used, counts.bytes_peak), (1, 2, 512, 512));
    assert_eq!((counts.bytes_held, counts.bytes_free()), (1024, counts.bytes_reserved - 1024));
    assert!(matches!(acquire(ordered(2)), Acquire::Exhausted(_)));
    let small = slabs.acquire(&source, 513, 0, ordered(2)).expect_err("no block is as large");
    assert_eq!(small.code(), Code::InvalidArgument);
}

#[test]
fn what_is_retained_is_kept_and_what_is_beyond_goes_back() {
    let (slabs, source) = (slabs(PoolParams::passthrough().with_retained(2048)), Memory::of(1 << 16, (0, 0)));
    let buffers = [1024, 1024, 4096].map(|size| taken(&slabs, &source, size));
    assert_eq!(slabs.statistics().bytes_reserved, 6144);
    drop(buffers);
    let counts = slabs.statistics();
    assert_eq!((counts.bytes_idle, counts.bytes_reserved), (2048, 2048));
    assert!(slabs.trim(source.as_ref()) && !slabs.trim(source.as_ref()), "once there was something");
    assert_eq!(slabs.statistics().bytes_reserved, 0);
}

/// Sizes that never come back, as of tensors that grow: one buffer lives at a time.
#[test]
fn memory_of_sizes_that_never_come_back_does_not_pile_up() {
    for params in [PoolParams::passthrough(), PoolParams::new(PoolKind::Passthrough { exact: false })] {
        let (slabs, source) = (slabs(params), Memory::of(1 << 20, (0, 0)));
        for step in 0..1000 {
            drop(taken(&slabs, &source, 4096 + step * 256));
        }
        let counts = slabs.statistics();
        assert!(counts.bytes_reserved <= 2 * counts.bytes_peak, "{counts:?}");
    }
    // The slab of the only buffer stays for the next one.
    let (slabs, source) = (self::slabs(PoolParams::tlsf(1 << 16)), Memory::of(1 << 20, (0, 0)));
    for _ in 0..10 {
        drop(taken(&slabs, &source, 512));
    }
    assert_eq!(slabs.statistics().acquired_fresh, 1);
}

#[test]
fn alignments_are_powers_of_two() {
    let source = Memory::of(1 << 16, (0, 0));
    for granule in [3, 48] {
        let refused = Slabs::new(PoolParams::passthrough(), granule).map(drop).expect_err("no power of two");
        assert_eq!(refused.code(), Code::InvalidArgument);
    }
    let slabs = slabs(PoolParams::passthrough());
    assert_eq!(
        slabs.acquire(&source, 64, 3, Reach::Now).expect_err("no power").code(),
        Code::InvalidArgument
    );
    let far = slabs.acquire(&source, 64, 4096, Reach::Now).and_then(Acquire::memory).expect("memory");
    assert!(driver::RawBuffer::device_address(&*far).is_multiple_of(4096));
}
