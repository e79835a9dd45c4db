// SPDX-License-Identifier: MIT OR Apache-2.0
//! A client of HSA for tests: it dispatches kernels by its own packets.
#![allow(dead_code, reason = "each test uses a part")]

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};
use std::sync::Once;
use std::sync::atomic::{AtomicU16, AtomicU32, Ordering};

use hsa_runtime64 as hsa;
use windlass_simulator::hsa::Status;
use windlass_simulator::hsa::abi::*;

pub(crate) const WAIT_FOR_EVER: u64 = u64::MAX;
pub(crate) const BARRIER: u16 = 1 << 8;
/// Acquire and release at system scope.
pub(crate) const FENCES: u16 = 2 << 9 | 2 << 11;

pub(crate) const VECTOR_ADD: &[u8] = include_bytes!("../../../../cts/kernels/bundles/vector_add.gfx942.co");
pub(crate) const ORDER: &[u8] = include_bytes!("../../../../cts/kernels/bundles/order.gfx942.co");
pub(crate) const SPIN: &[u8] = include_bytes!("../../../../cts/kernels/bundles/spin.gfx942.co");

pub(crate) fn ok(status: Status) {
    assert_eq!(status, Status::SUCCESS);
}

/// Starts HSA in this process on a machine, the same for all tests of a file.
pub(crate) fn machine(description: &str) {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: no other thread of a test is past this point.
        unsafe { std::env::set_var("WINDLASS_SIM", description) };
        // SAFETY: it has no arguments.
        ok(unsafe { hsa::hsa_init() });
    });
}

/// The agents, the host's first.
pub(crate) fn agents() -> Vec<Agent> {
    unsafe extern "C" fn note(agent: Agent, agents: *mut c_void) -> Status {
        // SAFETY: the vector that is passed below.
        unsafe { &mut *agents.cast::<Vec<Agent>>() }.push(agent);
        Status::SUCCESS
    }
    let mut agents: Vec<Agent> = Vec::new();
    // SAFETY: the vector outlives the call.
    ok(unsafe { hsa::hsa_iterate_agents(Some(note), (&raw mut agents).cast()) });
    agents
}

pub(crate) fn gpu(index: usize) -> Agent {
    agents()[1 + index]
}

/// The pools of an agent.
pub(crate) fn pools(agent: Agent) -> Vec<MemoryPool> {
    unsafe extern "C" fn note(pool: MemoryPool, pools: *mut c_void) -> Status {
        // SAFETY: the vector that is passed below.
        unsafe { &mut *pools.cast::<Vec<MemoryPool>>() }.push(pool);
        Status::SUCCESS
    }
    let mut pools: Vec<MemoryPool> = Vec::new();
    // SAFETY: the vector outlives the call.
    ok(unsafe { hsa::hsa_amd_agent_iterate_memory_pools(agent, Some(note), (&raw mut pools).cast()) });
    pools
}

/// Host memory that kernels can access, from the kernarg pool.
pub(crate) fn host_memory(size: usize) -> *mut u8 {
    allocate(pools(agents()[0])[1], size)
}

/// Memory of a GPU.
pub(crate) fn device_memory(gpu: Agent, size: usize) -> *mut u8 {
    allocate(pools(gpu)[0], size)
}

pub(crate) fn allocate(pool: MemoryPool, size: usize) -> *mut u8 {
    let mut pointer = null_mut();
    // SAFETY: the pointer is a local.
    ok(unsafe { hsa::hsa_amd_memory_pool_allocate(pool, size, 0, &mut pointer) });
    pointer.cast()
}

pub(crate) fn signal(value: i64) -> Signal {
    let mut signal = Signal::default();
    // SAFETY: the signal is a local.
    ok(unsafe { hsa::hsa_signal_create(value, 0, null(), &mut signal) });
    signal
}

/// Waits until a signal is zero.
pub(crate) fn wait(signal: Signal) {
    // SAFETY: a live signal.
    let value = unsafe { hsa::hsa_signal_wait_scacquire(signal, 2, 1, WAIT_FOR_EVER, 0) };
    assert_eq!(value, 0);
}

pub(crate) fn load(signal: Signal) -> i64 {
    // SAFETY: a live signal.
    unsafe { hsa::hsa_signal_load_scacquire(signal) }
}

/// Kernels of a code object, loaded for one GPU.
pub(crate) struct Code(Executable, Agent);

impl Code {
    pub(crate) fn load(gpu: Agent, elf: &[u8]) -> Self {
        let (mut reader, mut executable) = (CodeObjectReader::default(), Executable::default());
        // SAFETY: the size is that of the bytes; all else are locals and live handles.
        unsafe {
            ok(hsa::hsa_code_object_reader_create_from_memory(elf.as_ptr().cast(), elf.len(), &mut reader));
            ok(hsa::hsa_executable_create_alt(1, 0, null(), &mut executable));
            ok(hsa::hsa_executable_load_agent_code_object(executable, gpu, reader, null(), null_mut()));
            ok(hsa::hsa_executable_freeze(executable, null()));
            ok(hsa::hsa_code_object_reader_destroy(reader));
        }
        Self(executable, gpu)
    }

    pub(crate) fn executable(&self) -> Executable {
        self.0
    }

    /// The kernel object for packets.
    pub(crate) fn kernel(&self, name: &str) -> u64 {
        let name = CString::new(format!("{name}.kd")).unwrap();
        let (mut symbol, mut object) = (ExecutableSymbol::default(), 0_u64);
        // SAFETY: locals, live handles, and a string that ends in zero.
        unsafe {
            ok(hsa::hsa_executable_get_symbol_by_name(self.0, name.as_ptr(), &self.1, &mut symbol));
            ok(hsa::hsa_executable_symbol_get_info(symbol, 22, (&raw mut object).cast()));
        }
        object
    }
}

/// The fields of a dispatch packet.
#[derive(Clone, Copy)]
pub(crate) struct Dispatch {
    pub(crate) kernel: u64,
    pub(crate) workgroup: u16,
    pub(crate) grid: u32,
    pub(crate) arguments: *const u8,
    pub(crate) header: u16,
    pub(crate) completion: Signal,
}

/// Explicit arguments, then the hidden ones about the grid, in memory that kernels can access.
pub(crate) fn arguments(explicit: &[u8], workgroup: u16, grid: u32) -> *const u8 {
    let mut bytes = explicit.to_vec();
    bytes.resize(explicit.len().next_multiple_of(8), 0);
    for count in [grid / u32::from(workgroup), 1, 1] {
        bytes.extend(count.to_le_bytes());
    }
    for size in [workgroup, 1, 1, (grid % u32::from(workgroup)) as u16, 0, 0] {
        bytes.extend(size.to_le_bytes());
    }
    bytes.resize(explicit.len().next_multiple_of(8) + 256, 0);
    let placed = host_memory(bytes.len());
    // SAFETY: fresh memory of this size.
    unsafe { placed.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    placed
}

/// The bytes of all parts, in order.
pub(crate) fn packed(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

/// A queue and its ring.
pub(crate) struct Queue(pub(crate) *mut HsaQueue);

impl Queue {
    pub(crate) fn new(gpu: Agent, size: u32) -> Self {
        let mut queue = null_mut();
        // SAFETY: the pointer is a local.
        ok(unsafe { hsa::hsa_queue_create(gpu, size, 0, None, null_mut(), u32::MAX, u32::MAX, &mut queue) });
        Self(queue)
    }

    /// Claims a slot, fills it except for the header, writes the header, and rings the doorbell.
    pub(crate) fn push(&self, header: u16, setup: u16, body: [u8; 60]) -> u64 {
        let index = self.claim();
        self.write(index, header, setup, body);
        self.ring(index);
        index
    }

    pub(crate) fn claim(&self) -> u64 {
        // SAFETY: a live queue.
        unsafe { hsa::hsa_queue_add_write_index_screlease(self.0, 1) }
    }

    pub(crate) fn write(&self, index: u64, header: u16, setup: u16, body: [u8; 60]) {
        // SAFETY: a live queue, whose ring has a slot for the claimed index; the header is written last, as
        // HSA requires.
        unsafe {
            let queue = &*self.0;
            let packet = (queue.base_address + (index & u64::from(queue.size - 1)) * 64) as *mut u8;
            packet.add(4).copy_from_nonoverlapping(body.as_ptr(), body.len());
            packet.add(2).cast::<u16>().write(setup);
            AtomicU16::from_ptr(packet.cast()).store(header, Ordering::Release);
        }
    }

    pub(crate) fn ring(&self, index: u64) {
        // SAFETY: a live queue.
        unsafe { hsa::hsa_signal_store_screlease((*self.0).doorbell_signal, index as i64) };
    }

    pub(crate) fn dispatch(&self, dispatch: Dispatch) {
        self.push(dispatch.header | 2, 1, dispatch.body());
    }

    /// A barrier packet that waits for all of the signals (`kind` 3) or for one of them (5).
    pub(crate) fn barrier(&self, kind: u16, flags: u16, signals: &[Signal], completion: Signal) {
        let mut body = [0; 60];
        for (index, signal) in signals.iter().enumerate() {
            body[4 + 8 * index..12 + 8 * index].copy_from_slice(&signal.handle.to_le_bytes());
        }
        body[52..60].copy_from_slice(&completion.handle.to_le_bytes());
        self.push(kind | flags, 0, body);
    }

    pub(crate) fn read_index(&self) -> u64 {
        // SAFETY: a live queue.
        unsafe { hsa::hsa_queue_load_read_index_scacquire(self.0) }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        // SAFETY: a live queue that is not used any more.
        ok(unsafe { hsa::hsa_queue_destroy(self.0) });
    }
}

impl Dispatch {
    /// The packet without header and setup.
    pub(crate) fn body(&self) -> [u8; 60] {
        let mut body = [0; 60];
        let mut put = |at: usize, bytes: &[u8]| body[at - 4..at - 4 + bytes.len()].copy_from_slice(bytes);
        put(4, &self.workgroup.to_le_bytes());
        put(6, &1_u16.to_le_bytes());
        put(8, &1_u16.to_le_bytes());
        put(12, &self.grid.to_le_bytes());
        put(16, &1_u32.to_le_bytes());
        put(20, &1_u32.to_le_bytes());
        put(32, &self.kernel.to_le_bytes());
        put(40, &(self.arguments as u64).to_le_bytes());
        put(56, &self.completion.handle.to_le_bytes());
        body
    }
}

/// Bytes of device memory.
pub(crate) fn download(from: *const u8, size: usize) -> Vec<u8> {
    let mut bytes = vec![0; size];
    // SAFETY: the size is that of the buffer.
    ok(unsafe { hsa::hsa_memory_copy(bytes.as_mut_ptr().cast(), from.cast(), size) });
    bytes
}

pub(crate) fn upload(to: *mut u8, bytes: &[u8]) {
    // SAFETY: the size is that of the bytes.
    ok(unsafe { hsa::hsa_memory_copy(to.cast(), bytes.as_ptr().cast(), bytes.len()) });
}

pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// The first status that a queue's callback received.
#[derive(Default)]
pub(crate) struct Noted(AtomicU32);

impl Noted {
    pub(crate) fn new() -> &'static Self {
        Box::leak(Box::default())
    }

    /// The callback.
    pub(crate) unsafe extern "C" fn note(status: Status, source: *mut HsaQueue, noted: *mut c_void) {
        assert!(!source.is_null());
        // SAFETY: a note of `new`, which stays.
        unsafe { &*noted.cast::<Self>() }.0.store(status.0, Ordering::Release);
    }

    pub(crate) fn data(&'static self) -> *mut c_void {
        (&raw const *self).cast_mut().cast()
    }

    pub(crate) fn status(&self) -> Option<Status> {
        Some(self.0.load(Ordering::Acquire)).filter(|status| *status != 0).map(Status)
    }

    /// Waits until the callback was called.
    pub(crate) fn wait(&self) -> Status {
        loop {
            if let Some(status) = self.status() {
                return status;
            }
            std::thread::yield_now();
        }
    }
}

/// A queue whose callback notes the status of its error, and that note.
pub(crate) fn watched_queue() -> (Queue, &'static Noted) {
    let noted = Noted::new();
    let mut queue = null_mut();
    // SAFETY: the pointer is a local, and the note stays.
    ok(unsafe { hsa::hsa_queue_create(gpu(0), 64, 1, Some(Noted::note), noted.data(), 0, 0, &mut queue) });
    (Queue(queue), noted)
}
