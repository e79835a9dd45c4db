// SPDX-License-Identifier: MIT OR Apache-2.0
//! Indirect dispatches, whose workgroup count is in a buffer.

use std::ptr::NonNull;

use facade::{BufferRef, Error, IndirectDispatchConfig, IndirectParameters, Result};

use crate::{
    boundary::fallible,
    buffer::{ref_of, windlass_buffer_ref_t},
    command_buffer::{record, windlass_recorder_t},
    dispatch::{Arguments, WINDLASS_DISPATCH_RAW_ARGUMENTS, windlass_argument_t},
    error::windlass_error_t,
    executable::windlass_function_t,
    handle::used,
    memory::{Growing, read_struct},
    queue::windlass_queue_t,
    semaphore::{lists_of, windlass_point_t},
};

/// The parameters of a launch whose workgroup count is in a buffer. windlass_indirect_dispatch_config makes one.
///
/// The count is three numbers of 32 bits, x, y and z, in the first twelve bytes of a range at a multiple of 4 bytes. Its
/// buffer needs WINDLASS_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS. A count with a zero in it launches nothing. A count
/// above the device's limits fails the signals of its submission with OUT_OF_RANGE.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_indirect_dispatch_config_t {
    /// sizeof this struct.
    pub struct_size: usize,
    /// The range of the count; a slot only in a command buffer.
    pub workgroup_count: windlass_buffer_ref_t,
    /// Work-items of a workgroup in x, y, z; zeros if the code fixes them.
    pub workgroup_size: [u32; 3],
    /// Bytes of local memory (LDS) in addition to the function's own.
    pub dynamic_local_memory: u32,
    /// A set of WINDLASS_DISPATCH_*.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_indirect_dispatch_config_t {
    const NAME: &'static str = "windlass_indirect_dispatch_config_t";
}

/// The workgroup count is read when the waits of the submission are reached, before any of its commands starts. Without
/// this flag it is read when all commands that the dispatch is ordered behind have completed, so that commands of the
/// same command buffer may write it. Only for indirect dispatches.
pub const WINDLASS_DISPATCH_STATIC_PARAMETERS: u32 = 1 << 1;

/// The launch parameters of the caller.
///
/// # Safety
/// As for [`read_struct`].
unsafe fn config_of(config: *const windlass_indirect_dispatch_config_t) -> Result<IndirectDispatchConfig> {
    // SAFETY: the same contract.
    let given = unsafe { read_struct(config) }?;
    let known = WINDLASS_DISPATCH_RAW_ARGUMENTS | WINDLASS_DISPATCH_STATIC_PARAMETERS;
    if given.flags & !known != 0 || given.reserved != 0 {
        return Err(Error::invalid_argument(format!(
            "an indirect dispatch with the unknown flags {:#x}, or a field `reserved` that is not zero",
            given.flags & !known
        )));
    }
    let range: BufferRef = ref_of("workgroup_count", &given.workgroup_count)?;
    let parameters = match given.flags & WINDLASS_DISPATCH_STATIC_PARAMETERS {
        0 => IndirectParameters::Dynamic(range),
        _ => IndirectParameters::Static(range),
    };
    let mut config = IndirectDispatchConfig::new(parameters).dynamic_local_memory(given.dynamic_local_memory);
    config.workgroup_size = (given.workgroup_size != [0; 3]).then_some(given.workgroup_size);
    config.raw_arguments = given.flags & WINDLASS_DISPATCH_RAW_ARGUMENTS != 0;
    Ok(config)
}

/// Launches one function with a workgroup count from a buffer, read when the waits are reached.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_dispatch_indirect(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
    function: Option<NonNull<windlass_function_t>>,
    config: *const windlass_indirect_dispatch_config_t,
    argument_count: usize,
    arguments: *const windlass_argument_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `lists_of`.
        let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
        // SAFETY: the contract in the header covers that of `config_of`.
        let config = unsafe { config_of(config) }?;
        // SAFETY: the contract in the header covers that of `Arguments::read`.
        let arguments = unsafe { Arguments::read(argument_count, arguments) }?;
        // SAFETY: the bytes do not change before this returns.
        let arguments = unsafe { arguments.packed() }?;
        let function = used(function)?;
        used(queue)?.dispatch_indirect(&lists.waits, &lists.signals, &function.function, config, &arguments)
    })
}

/// Launches `function` with a workgroup count from a buffer or a slot, which earlier commands may write.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_recorder_dispatch_indirect(
    recorder: Option<NonNull<windlass_recorder_t>>,
    function: Option<NonNull<windlass_function_t>>,
    config: *const windlass_indirect_dispatch_config_t,
    argument_count: usize,
    arguments: *const windlass_argument_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `config_of`.
        let config = unsafe { config_of(config) }?;
        // SAFETY: the contract in the header covers that of `Arguments::read`.
        let arguments = unsafe { Arguments::read(argument_count, arguments) }?;
        // SAFETY: the bytes do not change before this returns.
        let arguments = unsafe { arguments.packed() }?;
        let function = used(function)?;
        record(recorder, |recording| {
            recording.recorder.dispatch_indirect(&function.function, config, &arguments)
        })
    })
}
