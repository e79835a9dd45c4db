// SPDX-License-Identifier: MIT OR Apache-2.0
//! HSA's C types (`hsa.h`, `hsa_ext_amd.h`, `hsa_ven_amd_loader.h`), as the functions of
//! [`calls`](super::calls) take them.

use std::ffi::c_void;

use super::status::Status;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        #[repr(C)]
        pub struct $name {
            /// Opaque; zero is a null handle.
            pub handle: u64,
        }
    )*};
}

handles! {
    /// `hsa_agent_t`.
    Agent;
    /// `hsa_isa_t`.
    Isa;
    /// `hsa_signal_t`.
    Signal;
    /// `hsa_region_t`.
    Region;
    /// `hsa_amd_memory_pool_t`.
    MemoryPool;
    /// `hsa_cache_t`.
    Cache;
    /// `hsa_code_object_reader_t`.
    CodeObjectReader;
    /// `hsa_executable_t`.
    Executable;
    /// `hsa_executable_symbol_t`.
    ExecutableSymbol;
    /// `hsa_loaded_code_object_t`.
    LoadedCodeObject;
    /// `hsa_amd_vmem_alloc_handle_t`.
    VmemHandle;
    /// `hsa_wavefront_t`.
    Wavefront;
}

/// `hsa_queue_t`, the head of [`AmdQueue`].
#[derive(Debug)]
#[repr(C)]
pub struct HsaQueue {
    /// `hsa_queue_type_t`.
    pub kind: u32,
    /// `hsa_queue_feature_t`, a bit each.
    pub features: u32,
    /// The ring.
    pub base_address: u64,
    /// The signal to write when packets are submitted.
    pub doorbell_signal: Signal,
    /// Packets that the ring holds.
    pub size: u32,
    /// Zero.
    pub reserved1: u32,
    /// Unique in the process.
    pub id: u64,
}

/// `amd_queue_t`: the fields of a queue that kernels and clients read beyond `hsa_queue_t`.
#[derive(Debug)]
#[repr(C, align(64))]
pub struct AmdQueue {
    /// The part that HSA defines.
    pub hsa_queue: HsaQueue,
    /// Capabilities of the packet processor.
    pub caps: u32,
    /// Zeros.
    pub reserved1: [u32; 3],
    /// The index behind the last packet that a client claimed.
    pub write_dispatch_id: u64,
    /// High half of the addresses at which kernels see LDS.
    pub group_segment_aperture_base_hi: u32,
    /// High half of the addresses at which kernels see private memory.
    pub private_segment_aperture_base_hi: u32,
    /// The last compute unit.
    pub max_cu_id: u32,
    /// The last wave of a unit.
    pub max_wave_id: u32,
    /// Of legacy doorbells.
    pub max_legacy_doorbell_dispatch_id_plus_1: u64,
    /// Of legacy doorbells.
    pub legacy_doorbell_lock: u32,
    /// Zeros.
    pub reserved2: [u32; 9],
    /// The index of the first packet that is not done.
    pub read_dispatch_id: u64,
    /// The offset of `read_dispatch_id` in this structure.
    pub read_dispatch_id_field_base_byte_offset: u32,
    /// Scratch setup of the hardware.
    pub compute_tmpring_size: u32,
    /// The V# of the queue's scratch.
    pub scratch_resource_descriptor: [u32; 4],
    /// The address of the queue's scratch.
    pub scratch_backing_memory_location: u64,
    /// Bytes of the queue's scratch.
    pub scratch_backing_memory_byte_size: u64,
    /// Bytes of scratch of a lane.
    pub scratch_wave64_lane_byte_size: u32,
    /// `amd_queue_properties_t`, a bit each.
    pub queue_properties: u32,
    /// Of scratch reclaim.
    pub scratch_max_use_index: u64,
    /// Set when the queue stops.
    pub queue_inactive_signal: Signal,
    /// Of scratch reclaim, and reserved.
    pub reserved4: [u32; 14],
}

/// `hsa_dim3_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Dim3 {
    /// First.
    pub x: u32,
    /// Second.
    pub y: u32,
    /// Third.
    pub z: u32,
}

/// `hsa_pitched_ptr_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PitchedPointer {
    /// The first byte.
    pub base: *mut c_void,
    /// Bytes from row to row.
    pub pitch: usize,
    /// Bytes from slice to slice.
    pub slice: usize,
}

/// `hsa_amd_pointer_info_t`.
#[derive(Debug)]
#[repr(C)]
pub struct PointerInfo {
    /// Bytes of this structure that the caller has.
    pub size: u32,
    /// `hsa_amd_pointer_type_t`.
    pub kind: u32,
    /// The first address as agents see it.
    pub agent_base_address: u64,
    /// The first address as the host sees it.
    pub host_base_address: u64,
    /// Bytes.
    pub size_in_bytes: usize,
    /// The value of `hsa_amd_pointer_info_set_userdata`.
    pub user_data: u64,
    /// The agent whose memory it is.
    pub agent_owner: Agent,
    /// `hsa_amd_memory_pool_global_flag_t`, a bit each.
    pub global_flags: u32,
}

/// `hsa_amd_profiling_dispatch_time_t` and `hsa_amd_profiling_async_copy_time_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ProfilingTime {
    /// Ticks at the start.
    pub start: u64,
    /// Ticks at the end.
    pub end: u64,
}

/// `hsa_amd_memory_pool_link_info_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LinkInfo {
    /// Nanoseconds.
    pub min_latency: u32,
    /// Nanoseconds.
    pub max_latency: u32,
    /// MB/s.
    pub min_bandwidth: u32,
    /// MB/s.
    pub max_bandwidth: u32,
    /// Whether atomics of 32 bits work.
    pub atomic_support_32bit: bool,
    /// Whether atomics of 64 bits work.
    pub atomic_support_64bit: bool,
    /// Whether both ends see each other's writes.
    pub coherent_support: bool,
    /// `hsa_amd_link_info_type_t`.
    pub link_type: u32,
    /// The distance in `numactl`'s terms.
    pub numa_distance: u32,
}

/// `hsa_amd_event_t` of a memory fault.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Event {
    /// `hsa_amd_event_type_t`; 0 is a memory fault.
    pub kind: u32,
    /// The agent.
    pub agent: Agent,
    /// The address.
    pub virtual_address: u64,
    /// `hsa_amd_memory_fault_reason_t`, a bit each.
    pub reasons: u32,
}

/// `hsa_amd_ipc_memory_t`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct IpcHandle {
    /// Opaque.
    pub handle: [u32; 8],
}

/// `hsa_amd_memory_access_desc_t`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct AccessDescriptor {
    /// `hsa_access_permission_t`.
    pub permissions: u32,
    /// The agent.
    pub agent: Agent,
}

/// Called for each agent.
pub type OnAgent = unsafe extern "C" fn(agent: Agent, data: *mut c_void) -> Status;
/// Called for each instruction set.
pub type OnIsa = unsafe extern "C" fn(isa: Isa, data: *mut c_void) -> Status;
/// Called for each cache.
pub type OnCache = unsafe extern "C" fn(cache: Cache, data: *mut c_void) -> Status;
/// Called for each kind of wavefront.
pub type OnWavefront = unsafe extern "C" fn(wavefront: Wavefront, data: *mut c_void) -> Status;
/// Called for each memory pool.
pub type OnPool = unsafe extern "C" fn(pool: MemoryPool, data: *mut c_void) -> Status;
/// Called for each region.
pub type OnRegion = unsafe extern "C" fn(region: Region, data: *mut c_void) -> Status;
/// Allocates memory for a list.
pub type Allocator = unsafe extern "C" fn(size: usize) -> *mut c_void;
/// Called when a queue has an error.
pub type ErrorCallback = unsafe extern "C" fn(status: Status, source: *mut HsaQueue, data: *mut c_void);
/// `hsa_amd_deallocation_callback_t`.
pub type DeallocationCallback = unsafe extern "C" fn(pointer: *mut c_void, data: *mut c_void);
/// `hsa_amd_signal_handler`.
pub type SignalHandler = unsafe extern "C" fn(value: i64, data: *mut c_void) -> bool;
/// The callback of `hsa_amd_async_function`.
pub type AsyncFunction = unsafe extern "C" fn(data: *mut c_void);
/// `hsa_amd_system_event_callback_t`.
pub type EventHandler = unsafe extern "C" fn(event: *const Event, data: *mut c_void) -> Status;
/// The callback of `hsa_executable_iterate_symbols`.
pub type OnSymbol = unsafe extern "C" fn(Executable, ExecutableSymbol, *mut c_void) -> Status;
/// The callback of `hsa_executable_iterate_agent_symbols`.
pub type OnAgentSymbol = unsafe extern "C" fn(Executable, Agent, ExecutableSymbol, *mut c_void) -> Status;
