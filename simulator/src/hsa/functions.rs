// SPDX-License-Identifier: MIT OR Apache-2.0
//! The list of HSA's functions that the simulator has, for the library that exports them.

/// Calls a macro with the declaration of every function of [`calls`](crate::hsa::calls).
#[macro_export]
macro_rules! for_each_hsa_function {
    ($callback:ident) => {
        $callback! {
            fn hsa_init() -> Status;
            fn hsa_shut_down() -> Status;
            fn hsa_status_string(status: Status, text: *mut *const c_char) -> Status;
            fn hsa_system_get_info(attribute: u32, value: *mut c_void) -> Status;
            fn hsa_extension_get_name(extension: u16, name: *mut *const c_char) -> Status;
            fn hsa_system_extension_supported(extension: u16, major: u16, minor: u16, result: *mut bool) -> Status;
            fn hsa_system_major_extension_supported(
                extension: u16,
                major: u16,
                minor: *mut u16,
                result: *mut bool
            ) -> Status;
            fn hsa_system_get_extension_table(extension: u16, major: u16, minor: u16, table: *mut c_void) -> Status;
            fn hsa_system_get_major_extension_table(
                extension: u16,
                major: u16,
                length: usize,
                table: *mut c_void
            ) -> Status;
            fn hsa_amd_enable_logging(flags: *mut u8, file: *mut c_void) -> Status;
            fn hsa_iterate_agents(
                callback: Option<OnAgent>,
                data: *mut c_void
            ) -> Status;
            fn hsa_agent_get_info(agent: Agent, attribute: u32, value: *mut c_void) -> Status;
            fn hsa_agent_get_exception_policies(agent: Agent, profile: u32, mask: *mut u16) -> Status;
            fn hsa_agent_extension_supported(
                extension: u16,
                agent: Agent,
                major: u16,
                minor: u16,
                result: *mut bool
            ) -> Status;
            fn hsa_agent_major_extension_supported(
                extension: u16,
                agent: Agent,
                major: u16,
                minor: *mut u16,
                result: *mut bool
            ) -> Status;
            fn hsa_agent_iterate_isas(
                agent: Agent,
                callback: Option<OnIsa>,
                data: *mut c_void
            ) -> Status;
            fn hsa_agent_iterate_caches(
                agent: Agent,
                callback: Option<OnCache>,
                data: *mut c_void
            ) -> Status;
            fn hsa_cache_get_info(cache: Cache, attribute: u32, value: *mut c_void) -> Status;
            fn hsa_isa_from_name(name: *const c_char, found: *mut Isa) -> Status;
            fn hsa_isa_get_info(isa: Isa, attribute: u32, index: u32, value: *mut c_void) -> Status;
            fn hsa_isa_get_info_alt(isa: Isa, attribute: u32, value: *mut c_void) -> Status;
            fn hsa_isa_compatible(code: Isa, agent: Isa, result: *mut bool) -> Status;
            fn hsa_isa_iterate_wavefronts(
                of: Isa,
                callback: Option<OnWavefront>,
                data: *mut c_void
            ) -> Status;
            fn hsa_wavefront_get_info(wavefront: Wavefront, attribute: u32, value: *mut c_void) -> Status;
            fn hsa_amd_agent_iterate_memory_pools(
                agent: Agent,
                callback: Option<OnPool>,
                data: *mut c_void
            ) -> Status;
            fn hsa_agent_iterate_regions(
                agent: Agent,
                callback: Option<OnRegion>,
                data: *mut c_void
            ) -> Status;
            fn hsa_amd_memory_pool_get_info(pool: MemoryPool, attribute: u32, value: *mut c_void) -> Status;
            fn hsa_region_get_info(region: Region, attribute: u32, value: *mut c_void) -> Status;
            fn hsa_amd_agent_memory_pool_get_info(
                agent: Agent,
                pool: MemoryPool,
                attribute: u32,
                value: *mut c_void
            ) -> Status;
            fn hsa_amd_memory_pool_allocate(
                pool: MemoryPool,
                size: usize,
                flags: u32,
                pointer: *mut *mut c_void
            ) -> Status;
            fn hsa_memory_allocate(region: Region, size: usize, pointer: *mut *mut c_void) -> Status;
            fn hsa_amd_memory_pool_free(pointer: *mut c_void) -> Status;
            fn hsa_memory_free(pointer: *mut c_void) -> Status;
            fn hsa_amd_agents_allow_access(
                count: u32,
                agents: *const Agent,
                flags: *const u32,
                pointer: *const c_void
            ) -> Status;
            fn hsa_amd_memory_lock(
                host: *mut c_void,
                size: usize,
                agents: *mut Agent,
                count: c_int,
                pointer: *mut *mut c_void
            ) -> Status;
            fn hsa_amd_memory_lock_to_pool(
                host: *mut c_void,
                size: usize,
                agents: *mut Agent,
                count: c_int,
                pool: MemoryPool,
                flags: u32,
                pointer: *mut *mut c_void
            ) -> Status;
            fn hsa_amd_memory_unlock(host: *mut c_void) -> Status;
            fn hsa_memory_register(pointer: *mut c_void, size: usize) -> Status;
            fn hsa_memory_deregister(pointer: *mut c_void, size: usize) -> Status;
            fn hsa_memory_assign_agent(pointer: *mut c_void, agent: Agent, access: u32) -> Status;
            fn hsa_amd_coherency_get_type(agent: Agent, kind: *mut u32) -> Status;
            fn hsa_amd_coherency_set_type(agent: Agent, kind: u32) -> Status;
            fn hsa_amd_memory_pool_can_migrate(from: MemoryPool, to: MemoryPool, result: *mut bool) -> Status;
            fn hsa_amd_memory_migrate(pointer: *const c_void, pool: MemoryPool, flags: u32) -> Status;
            fn hsa_amd_pointer_info(
                pointer: *const c_void,
                info: *mut PointerInfo,
                alloc: Option<Allocator>,
                count: *mut u32,
                accessible: *mut *mut Agent
            ) -> Status;
            fn hsa_amd_pointer_info_set_userdata(pointer: *const c_void, data: *mut c_void) -> Status;
            fn hsa_memory_copy(to: *mut c_void, from: *const c_void, size: usize) -> Status;
            fn hsa_amd_memory_async_copy(
                to: *mut c_void,
                to_agent: Agent,
                from: *const c_void,
                from_agent: Agent,
                size: usize,
                count: u32,
                dependencies: *const Signal,
                completion: Signal
            ) -> Status;
            fn hsa_amd_memory_async_copy_on_engine(
                to: *mut c_void,
                to_agent: Agent,
                from: *const c_void,
                from_agent: Agent,
                size: usize,
                count: u32,
                dependencies: *const Signal,
                completion: Signal,
                engine: u32,
                force: bool
            ) -> Status;
            fn hsa_amd_memory_copy_engine_status(to: Agent, from: Agent, mask: *mut u32) -> Status;
            fn hsa_amd_memory_async_copy_rect(
                to: *const PitchedPointer,
                to_offset: *const Dim3,
                from: *const PitchedPointer,
                from_offset: *const Dim3,
                range: *const Dim3,
                agent: Agent,
                direction: u32,
                count: u32,
                dependencies: *const Signal,
                completion: Signal
            ) -> Status;
            fn hsa_amd_memory_fill(pointer: *mut c_void, value: u32, count: usize) -> Status;
            fn hsa_signal_create(value: i64, count: u32, consumers: *const Agent, signal: *mut Signal) -> Status;
            fn hsa_amd_signal_create(
                value: i64,
                count: u32,
                consumers: *const Agent,
                attributes: u64,
                signal: *mut Signal
            ) -> Status;
            fn hsa_signal_destroy(signal: Signal) -> Status;
            fn hsa_amd_signal_value_pointer(signal: Signal, pointer: *mut *mut i64) -> Status;
            fn hsa_amd_signal_async_handler(
                signal: Signal,
                condition: u32,
                value: i64,
                handler: Option<SignalHandler>,
                data: *mut c_void
            ) -> Status;
            fn hsa_amd_async_function(function: Option<AsyncFunction>, data: *mut c_void) -> Status;
            fn hsa_amd_register_system_event_handler(handler: Option<EventHandler>, data: *mut c_void) -> Status;
            fn hsa_signal_load_relaxed(signal: Signal) -> i64;
            fn hsa_signal_load_scacquire(signal: Signal) -> i64;
            fn hsa_signal_load_acquire(signal: Signal) -> i64;
            fn hsa_signal_store_relaxed(signal: Signal, value: i64) -> ();
            fn hsa_signal_store_screlease(signal: Signal, value: i64) -> ();
            fn hsa_signal_store_release(signal: Signal, value: i64) -> ();
            fn hsa_signal_silent_store_relaxed(signal: Signal, value: i64) -> ();
            fn hsa_signal_silent_store_screlease(signal: Signal, value: i64) -> ();
            fn hsa_signal_add_scacq_screl(signal: Signal, value: i64) -> ();
            fn hsa_signal_add_acq_rel(signal: Signal, value: i64) -> ();
            fn hsa_signal_add_scacquire(signal: Signal, value: i64) -> ();
            fn hsa_signal_add_acquire(signal: Signal, value: i64) -> ();
            fn hsa_signal_add_relaxed(signal: Signal, value: i64) -> ();
            fn hsa_signal_add_screlease(signal: Signal, value: i64) -> ();
            fn hsa_signal_add_release(signal: Signal, value: i64) -> ();
            fn hsa_signal_subtract_scacq_screl(signal: Signal, value: i64) -> ();
            fn hsa_signal_subtract_acq_rel(signal: Signal, value: i64) -> ();
            fn hsa_signal_subtract_scacquire(signal: Signal, value: i64) -> ();
            fn hsa_signal_subtract_acquire(signal: Signal, value: i64) -> ();
            fn hsa_signal_subtract_relaxed(signal: Signal, value: i64) -> ();
            fn hsa_signal_subtract_screlease(signal: Signal, value: i64) -> ();
            fn hsa_signal_subtract_release(signal: Signal, value: i64) -> ();
            fn hsa_signal_and_scacq_screl(signal: Signal, value: i64) -> ();
            fn hsa_signal_and_acq_rel(signal: Signal, value: i64) -> ();
            fn hsa_signal_and_scacquire(signal: Signal, value: i64) -> ();
            fn hsa_signal_and_acquire(signal: Signal, value: i64) -> ();
            fn hsa_signal_and_relaxed(signal: Signal, value: i64) -> ();
            fn hsa_signal_and_screlease(signal: Signal, value: i64) -> ();
            fn hsa_signal_and_release(signal: Signal, value: i64) -> ();
            fn hsa_signal_or_scacq_screl(signal: Signal, value: i64) -> ();
            fn hsa_signal_or_acq_rel(signal: Signal, value: i64) -> ();
            fn hsa_signal_or_scacquire(signal: Signal, value: i64) -> ();
            fn hsa_signal_or_acquire(signal: Signal, value: i64) -> ();
            fn hsa_signal_or_relaxed(signal: Signal, value: i64) -> ();
            fn hsa_signal_or_screlease(signal: Signal, value: i64) -> ();
            fn hsa_signal_or_release(signal: Signal, value: i64) -> ();
            fn hsa_signal_xor_scacq_screl(signal: Signal, value: i64) -> ();
            fn hsa_signal_xor_acq_rel(signal: Signal, value: i64) -> ();
            fn hsa_signal_xor_scacquire(signal: Signal, value: i64) -> ();
            fn hsa_signal_xor_acquire(signal: Signal, value: i64) -> ();
            fn hsa_signal_xor_relaxed(signal: Signal, value: i64) -> ();
            fn hsa_signal_xor_screlease(signal: Signal, value: i64) -> ();
            fn hsa_signal_xor_release(signal: Signal, value: i64) -> ();
            fn hsa_signal_exchange_scacq_screl(signal: Signal, value: i64) -> i64;
            fn hsa_signal_exchange_acq_rel(signal: Signal, value: i64) -> i64;
            fn hsa_signal_exchange_scacquire(signal: Signal, value: i64) -> i64;
            fn hsa_signal_exchange_acquire(signal: Signal, value: i64) -> i64;
            fn hsa_signal_exchange_relaxed(signal: Signal, value: i64) -> i64;
            fn hsa_signal_exchange_screlease(signal: Signal, value: i64) -> i64;
            fn hsa_signal_exchange_release(signal: Signal, value: i64) -> i64;
            fn hsa_signal_cas_scacq_screl(signal: Signal, expected: i64, value: i64) -> i64;
            fn hsa_signal_cas_acq_rel(signal: Signal, expected: i64, value: i64) -> i64;
            fn hsa_signal_cas_scacquire(signal: Signal, expected: i64, value: i64) -> i64;
            fn hsa_signal_cas_acquire(signal: Signal, expected: i64, value: i64) -> i64;
            fn hsa_signal_cas_relaxed(signal: Signal, expected: i64, value: i64) -> i64;
            fn hsa_signal_cas_screlease(signal: Signal, expected: i64, value: i64) -> i64;
            fn hsa_signal_cas_release(signal: Signal, expected: i64, value: i64) -> i64;
            fn hsa_amd_signal_wait_any(
                count: u32,
                signals: *mut Signal,
                conditions: *mut u32,
                values: *mut i64,
                timeout: u64,
                state: u32,
                satisfying: *mut i64
            ) -> u32;
            fn hsa_amd_signal_wait_all(
                count: u32,
                signals: *mut Signal,
                conditions: *mut u32,
                values: *mut i64,
                timeout: u64,
                state: u32,
                satisfying: *mut i64
            ) -> u32;
            fn hsa_signal_wait_scacquire(signal: Signal, condition: u32, value: i64, timeout: u64, state: u32) -> i64;
            fn hsa_signal_wait_relaxed(signal: Signal, condition: u32, value: i64, timeout: u64, state: u32) -> i64;
            fn hsa_signal_wait_acquire(signal: Signal, condition: u32, value: i64, timeout: u64, state: u32) -> i64;
            fn hsa_queue_create(
                agent: Agent,
                size: u32,
                kind: u32,
                callback: Option<ErrorCallback>,
                data: *mut c_void,
                private_segment_size: u32,
                group_segment_size: u32,
                queue: *mut *mut HsaQueue
            ) -> Status;
            fn hsa_queue_destroy(queue: *mut HsaQueue) -> Status;
            fn hsa_queue_inactivate(queue: *mut HsaQueue) -> Status;
            fn hsa_amd_queue_cu_set_mask(queue: *const HsaQueue, bits: u32, mask: *const u32) -> Status;
            fn hsa_amd_queue_cu_get_mask(queue: *const HsaQueue, bits: u32, mask: *mut u32) -> Status;
            fn hsa_amd_queue_set_priority(queue: *mut HsaQueue, priority: u32) -> Status;
            fn hsa_amd_queue_get_info(queue: *mut HsaQueue, attribute: u32, value: *mut c_void) -> Status;
            fn hsa_queue_load_read_index_acquire(queue: *const HsaQueue) -> u64;
            fn hsa_queue_load_read_index_scacquire(queue: *const HsaQueue) -> u64;
            fn hsa_queue_load_read_index_relaxed(queue: *const HsaQueue) -> u64;
            fn hsa_queue_load_write_index_acquire(queue: *const HsaQueue) -> u64;
            fn hsa_queue_load_write_index_scacquire(queue: *const HsaQueue) -> u64;
            fn hsa_queue_load_write_index_relaxed(queue: *const HsaQueue) -> u64;
            fn hsa_queue_store_write_index_relaxed(queue: *const HsaQueue, value: u64) -> ();
            fn hsa_queue_store_write_index_release(queue: *const HsaQueue, value: u64) -> ();
            fn hsa_queue_store_write_index_screlease(queue: *const HsaQueue, value: u64) -> ();
            fn hsa_queue_cas_write_index_acq_rel(queue: *const HsaQueue, expected: u64, value: u64) -> u64;
            fn hsa_queue_cas_write_index_scacq_screl(queue: *const HsaQueue, expected: u64, value: u64) -> u64;
            fn hsa_queue_cas_write_index_acquire(queue: *const HsaQueue, expected: u64, value: u64) -> u64;
            fn hsa_queue_cas_write_index_scacquire(queue: *const HsaQueue, expected: u64, value: u64) -> u64;
            fn hsa_queue_cas_write_index_relaxed(queue: *const HsaQueue, expected: u64, value: u64) -> u64;
            fn hsa_queue_cas_write_index_release(queue: *const HsaQueue, expected: u64, value: u64) -> u64;
            fn hsa_queue_cas_write_index_screlease(queue: *const HsaQueue, expected: u64, value: u64) -> u64;
            fn hsa_queue_add_write_index_acq_rel(queue: *const HsaQueue, value: u64) -> u64;
            fn hsa_queue_add_write_index_scacq_screl(queue: *const HsaQueue, value: u64) -> u64;
            fn hsa_queue_add_write_index_acquire(queue: *const HsaQueue, value: u64) -> u64;
            fn hsa_queue_add_write_index_scacquire(queue: *const HsaQueue, value: u64) -> u64;
            fn hsa_queue_add_write_index_relaxed(queue: *const HsaQueue, value: u64) -> u64;
            fn hsa_queue_add_write_index_release(queue: *const HsaQueue, value: u64) -> u64;
            fn hsa_queue_add_write_index_screlease(queue: *const HsaQueue, value: u64) -> u64;
            fn hsa_amd_profiling_set_profiler_enabled(queue: *mut HsaQueue, enable: i32) -> Status;
            fn hsa_amd_profiling_async_copy_enable(enable: bool) -> Status;
            fn hsa_amd_profiling_get_dispatch_time(agent: Agent, signal: Signal, time: *mut ProfilingTime) -> Status;
            fn hsa_amd_profiling_get_async_copy_time(signal: Signal, time: *mut ProfilingTime) -> Status;
            fn hsa_amd_profiling_convert_tick_to_system_domain(agent: Agent, tick: u64, system: *mut u64) -> Status;
            fn hsa_code_object_reader_create_from_memory(
                code: *const c_void,
                size: usize,
                reader: *mut CodeObjectReader
            ) -> Status;
            fn hsa_code_object_reader_create_from_file(file: c_int, reader: *mut CodeObjectReader) -> Status;
            fn hsa_code_object_reader_destroy(reader: CodeObjectReader) -> Status;
            fn hsa_executable_create(
                profile: u32,
                state: u32,
                options: *const c_char,
                executable: *mut Executable
            ) -> Status;
            fn hsa_executable_create_alt(
                profile: u32,
                rounding: u32,
                options: *const c_char,
                executable: *mut Executable
            ) -> Status;
            fn hsa_executable_destroy(executable: Executable) -> Status;
            fn hsa_executable_load_agent_code_object(
                executable: Executable,
                agent: Agent,
                reader: CodeObjectReader,
                options: *const c_char,
                loaded: *mut LoadedCodeObject
            ) -> Status;
            fn hsa_executable_freeze(executable: Executable, options: *const c_char) -> Status;
            fn hsa_executable_get_info(executable: Executable, attribute: u32, value: *mut c_void) -> Status;
            fn hsa_executable_validate(executable: Executable, result: *mut u32) -> Status;
            fn hsa_executable_validate_alt(
                executable: Executable,
                options: *const c_char,
                result: *mut u32
            ) -> Status;
            fn hsa_executable_global_variable_define(
                executable: Executable,
                name: *const c_char,
                address: *mut c_void
            ) -> Status;
            fn hsa_executable_agent_global_variable_define(
                executable: Executable,
                agent: Agent,
                name: *const c_char,
                address: *mut c_void
            ) -> Status;
            fn hsa_executable_readonly_variable_define(
                executable: Executable,
                agent: Agent,
                name: *const c_char,
                address: *mut c_void
            ) -> Status;
            fn hsa_executable_get_symbol(
                executable: Executable,
                module: *const c_char,
                name: *const c_char,
                agent: Agent,
                convention: i32,
                symbol: *mut ExecutableSymbol
            ) -> Status;
            fn hsa_executable_get_symbol_by_name(
                executable: Executable,
                name: *const c_char,
                agent: *const Agent,
                symbol: *mut ExecutableSymbol
            ) -> Status;
            fn hsa_executable_symbol_get_info(symbol: ExecutableSymbol, attribute: u32, value: *mut c_void) -> Status;
            fn hsa_executable_iterate_symbols(
                executable: Executable,
                callback: Option<OnSymbol>,
                data: *mut c_void
            ) -> Status;
            fn hsa_executable_iterate_agent_symbols(
                executable: Executable,
                agent: Agent,
                callback: Option<OnAgentSymbol>,
                data: *mut c_void
            ) -> Status;
            fn hsa_executable_iterate_program_symbols(
                executable: Executable,
                callback: Option<OnSymbol>,
                data: *mut c_void
            ) -> Status;
            fn hsa_amd_register_deallocation_callback(
                pointer: *mut c_void,
                callback: Option<DeallocationCallback>,
                data: *mut c_void
            ) -> Status;
            fn hsa_amd_deregister_deallocation_callback(
                pointer: *mut c_void,
                callback: Option<DeallocationCallback>
            ) -> Status;
            fn hsa_amd_ipc_memory_create(pointer: *mut c_void, size: usize, handle: *mut IpcHandle) -> Status;
            fn hsa_amd_ipc_memory_attach(
                handle: *const IpcHandle,
                size: usize,
                count: u32,
                agents: *const Agent,
                mapped: *mut *mut c_void
            ) -> Status;
            fn hsa_amd_ipc_memory_detach(mapped: *mut c_void) -> Status;
            fn hsa_amd_ipc_signal_create(signal: Signal, handle: *mut IpcHandle) -> Status;
            fn hsa_amd_ipc_signal_attach(handle: *const IpcHandle, signal: *mut Signal) -> Status;
            fn hsa_ext_image_get_capability(
                agent: Agent,
                geometry: u32,
                format: *const c_void,
                mask: *mut u32
            ) -> Status;
            fn hsa_ext_image_get_capability_with_layout(
                agent: Agent,
                geometry: u32,
                format: *const c_void,
                layout: u32,
                mask: *mut u32
            ) -> Status;
            fn hsa_amd_image_get_info_max_dim(agent: Agent, attribute: u32, value: *mut c_void) -> Status;
            fn hsa_amd_agent_set_async_scratch_limit(agent: Agent, limit: usize) -> Status;
            fn hsa_isa_get_exception_policies(isa: Isa, profile: u32, mask: *mut u16) -> Status;
            fn hsa_isa_get_round_method(isa: Isa, float: u32, flush: u32, method: *mut u32) -> Status;
            fn hsa_amd_vmem_address_reserve(address: *mut *mut c_void, size: usize, wish: u64, flags: u64) -> Status;
            fn hsa_amd_vmem_address_reserve_align(
                address: *mut *mut c_void,
                size: usize,
                wish: u64,
                alignment: u64,
                flags: u64
            ) -> Status;
            fn hsa_amd_vmem_address_free(address: *mut c_void, size: usize) -> Status;
            fn hsa_amd_vmem_handle_create(
                pool: MemoryPool,
                size: usize,
                kind: u32,
                flags: u64,
                handle: *mut VmemHandle
            ) -> Status;
            fn hsa_amd_vmem_handle_release(handle: VmemHandle) -> Status;
            fn hsa_amd_vmem_map(
                address: *mut c_void,
                size: usize,
                offset: usize,
                handle: VmemHandle,
                flags: u64
            ) -> Status;
            fn hsa_amd_vmem_unmap(address: *mut c_void, size: usize) -> Status;
            fn hsa_amd_vmem_set_access(
                address: *mut c_void,
                size: usize,
                descriptors: *const AccessDescriptor,
                count: usize
            ) -> Status;
            fn hsa_amd_vmem_get_access(address: *mut c_void, permissions: *mut u32, agent: Agent) -> Status;
            fn hsa_amd_vmem_retain_alloc_handle(handle: *mut VmemHandle, address: *mut c_void) -> Status;
            fn hsa_amd_vmem_get_alloc_properties_from_handle(
                handle: VmemHandle,
                pool: *mut MemoryPool,
                kind: *mut u32
            ) -> Status;
        }
    };
}

macro_rules! names {
    ($(fn $name:ident($($parameter:ident: $ty:ty),* $(,)?) -> $result:ty;)*) => {
        /// The names of all functions that the simulator has.
        pub const FUNCTIONS: &[&str] = &[$(stringify!($name)),*];
        /// The result type of each of them.
        const RESULTS: &[&str] = &[$(stringify!($result)),*];
    };
}

for_each_hsa_function!(names);

/// Functions that only return constants.
const INFALLIBLE: [&str; 2] = ["hsa_status_string", "hsa_amd_enable_logging"];

/// Whether a function can fail with a status.
pub(crate) fn can_fail(function: &str) -> bool {
    let mut all = FUNCTIONS.iter().zip(RESULTS);
    let found = all.any(|(name, result)| *name == function && *result == "Status");
    found && !INFALLIBLE.contains(&function)
}
