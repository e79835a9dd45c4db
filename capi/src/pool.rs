// SPDX-License-Identifier: MIT OR Apache-2.0
//! Pools: separate memory of a device, with a strategy, a size and a limit of its own.

use std::{ffi::c_char, mem::MaybeUninit, ptr::NonNull};

use facade::{Error, Pool, PoolKind, PoolParams, Result};

use crate::{
    boundary::{fallible, infallible},
    buffer::{params_of, windlass_buffer_params_t, windlass_buffer_t},
    device::windlass_device_t,
    error::windlass_error_t,
    handle::{self, Shell, object, used},
    memory::{Growing, give, read_struct, text, write_struct},
    queue::windlass_queue_t,
    semaphore::{lists_of, windlass_point_t},
};

/// A pool of memory. windlass_queue_alloca_from takes memory from it, and windlass_queue_dealloca gives it back. The
/// pool lives as long as a handle or a buffer of it; its memory then goes back to the device. It does not keep the
/// device open.
pub struct windlass_pool_t(Shell<Pool>);
object!(windlass_pool_t, Pool, "pool");

/// How a pool places buffers: one of WINDLASS_POOL_*. Later versions may add kinds.
pub type windlass_pool_kind_t = u32;

/// Buffers of any size side by side in slabs, which are added when needed.
pub const WINDLASS_POOL_TLSF: windlass_pool_kind_t = 1;
/// A fixed number of blocks of one size, in one slab.
pub const WINDLASS_POOL_FIXED_BLOCK: windlass_pool_kind_t = 2;
/// An allocation for each buffer, kept for the next buffer that fits into it.
pub const WINDLASS_POOL_PASSTHROUGH: windlass_pool_kind_t = 3;

/// An alloca may make its queue wait, on the device, for memory that another queue used last. Without this flag such
/// memory is not reused before its last use has retired.
pub const WINDLASS_POOL_DEVICE_WAITS: u32 = 1 << 0;
/// For WINDLASS_POOL_PASSTHROUGH: an allocation serves only requests of exactly its size. Without this flag it may be
/// larger by an eighth.
pub const WINDLASS_POOL_EXACT: u32 = 1 << 1;

/// A number of bytes without a limit.
pub const WINDLASS_UNLIMITED: u64 = u64::MAX;

/// Parameters of a pool. windlass_pool_params_tlsf, windlass_pool_params_fixed_block and
/// windlass_pool_params_passthrough make them, with device memory and without limits.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_pool_params_t {
    /// sizeof this struct.
    pub struct_size: usize,
    /// How the pool places buffers.
    pub kind: windlass_pool_kind_t,
    /// A set of WINDLASS_POOL_DEVICE_WAITS and WINDLASS_POOL_EXACT.
    pub flags: u32,
    /// For WINDLASS_POOL_TLSF: the bytes of a slab. A larger buffer gets a slab of its own size.
    pub slab_size: u64,
    /// For WINDLASS_POOL_FIXED_BLOCK: the minimum size of a block in bytes.
    pub block_size: u64,
    /// For WINDLASS_POOL_FIXED_BLOCK: the number of blocks.
    pub blocks: u32,
    /// Zero.
    pub reserved: u32,
    /// The maximum number of bytes that the pool takes from the device; 0 or WINDLASS_UNLIMITED for no limit.
    pub budget: u64,
    /// The maximum number of bytes that the pool keeps in slabs without a buffer. WINDLASS_UNLIMITED keeps as many as
    /// the pool had in slabs with buffers at its busiest time.
    pub retained: u64,
    /// The name in messages, copied; NULL for none.
    pub name: *const c_char,
    /// The memory of the pool; NULL for that of windlass_buffer_params_device. Buffers of the pool may have less usage
    /// and a greater alignment.
    pub memory: *const windlass_buffer_params_t,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_pool_params_t {
    const NAME: &'static str = "windlass_pool_params_t";
}

/// Counts of one pool, all from one moment.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_pool_statistics_t {
    /// sizeof this struct, set by the caller: windlass_pool_statistics_init does so.
    pub struct_size: usize,
    /// Bytes taken from the device.
    pub bytes_reserved: u64,
    /// The maximum of bytes_reserved; WINDLASS_UNLIMITED for no limit.
    pub budget: u64,
    /// Bytes in use by buffers, as requested.
    pub bytes_used: u64,
    /// The maximum of bytes_used so far.
    pub bytes_peak: u64,
    /// Bytes in use by buffers, with the losses by rounding.
    pub bytes_held: u64,
    /// Bytes in slabs without a buffer. A trim returns them when no work uses them.
    pub bytes_idle: u64,
    /// The number of slabs.
    pub slabs: u64,
    /// Buffers in use.
    pub buffers: u64,
    /// Requests that got memory whose last use had retired, or came earlier in the order of the queue.
    pub acquired: u64,
    /// Requests that got memory of a new slab.
    pub acquired_fresh: u64,
    /// Requests that got memory with a device wait for its last use.
    pub acquired_with_wait: u64,
    /// Requests that were refused because all blocks were in use or in flight.
    pub exhausted: u64,
    /// Requests that were refused because of the budget.
    pub over_budget: u64,
    /// Buffers that were released.
    pub released: u64,
    /// Slabs that were returned to the device.
    pub slabs_given_back: u64,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_pool_statistics_t {
    const NAME: &'static str = "windlass_pool_statistics_t";
}

/// The parameters of the caller.
///
/// # Safety
/// As for [`read_struct`] and [`text`].
unsafe fn pool_params_of(params: *const windlass_pool_params_t) -> Result<PoolParams> {
    // SAFETY: the same contract.
    let given = unsafe { read_struct(params) }?;
    let unknown = given.flags & !(WINDLASS_POOL_DEVICE_WAITS | WINDLASS_POOL_EXACT);
    if unknown != 0 || given.reserved != 0 {
        return Err(Error::invalid_argument(format!(
            "a pool with the unknown flags {unknown:#x}, or a field `reserved` that is not zero"
        )));
    }
    let kind = match given.kind {
        WINDLASS_POOL_TLSF => PoolKind::Tlsf { slab_size: given.slab_size },
        WINDLASS_POOL_FIXED_BLOCK => {
            PoolKind::FixedBlock { block_size: given.block_size, blocks: given.blocks }
        }
        WINDLASS_POOL_PASSTHROUGH => PoolKind::Passthrough { exact: given.flags & WINDLASS_POOL_EXACT != 0 },
        other => {
            return Err(Error::invalid_argument(format!(
                "a pool of the unknown kind {other}; windlass_pool_params_tlsf and its like make the parameters"
            )));
        }
    };
    let mut params = PoolParams::new(kind);
    if !given.name.is_null() {
        // SAFETY: the same contract.
        params.name = unsafe { text("name", given.name) }?.to_owned();
    }
    // SAFETY: the same contract.
    params.memory = unsafe { params_of(given.memory) }?;
    params.budget = if given.budget == 0 { WINDLASS_UNLIMITED } else { given.budget };
    params.retained = given.retained;
    params.device_waits = given.flags & WINDLASS_POOL_DEVICE_WAITS != 0;
    Ok(params)
}

/// Makes a pool. It takes memory from the device when a buffer first needs it. INVALID_ARGUMENT for impossible
/// parameters. The caller owns the pool.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_pool_create(
    device: Option<NonNull<windlass_device_t>>,
    params: *const windlass_pool_params_t,
    pool: Option<&mut MaybeUninit<Option<NonNull<windlass_pool_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(pool, || {
            // SAFETY: the contract in the header covers that of `pool_params_of`.
            let params = unsafe { pool_params_of(params) }?;
            used(device)?.device.create_pool(params)
        })
    })
}

/// Adds a reference and returns the pool. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_pool_retain(
    pool: Option<NonNull<windlass_pool_t>>,
) -> Option<NonNull<windlass_pool_t>> {
    infallible(None, || handle::retain(pool).map(|()| pool))
}

/// Releases a reference. NULL is allowed. Buffers of the pool stay.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_pool_release(pool: Option<NonNull<windlass_pool_t>>) {
    infallible((), || {
        handle::release(pool);
        Ok(())
    });
}

/// The present counts of the pool.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_pool_statistics(
    pool: Option<NonNull<windlass_pool_t>>,
    statistics: *mut windlass_pool_statistics_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let of = used(pool)?.statistics();
        let value = windlass_pool_statistics_t {
            struct_size: size_of::<windlass_pool_statistics_t>(),
            bytes_reserved: of.bytes_reserved,
            budget: of.budget,
            bytes_used: of.bytes_used,
            bytes_peak: of.bytes_peak,
            bytes_held: of.bytes_held,
            bytes_idle: of.bytes_idle,
            slabs: of.slabs,
            buffers: of.buffers,
            acquired: of.acquired,
            acquired_fresh: of.acquired_fresh,
            acquired_with_wait: of.acquired_with_wait,
            exhausted: of.exhausted,
            over_budget: of.over_budget,
            released: of.released,
            slabs_given_back: of.slabs_given_back,
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(statistics, &value) }
    })
}

/// Returns slabs to the device that hold no buffer and that no work uses. Never waits. windlass_device_trim does this
/// for all pools.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_pool_trim(
    pool: Option<NonNull<windlass_pool_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        used(pool)?.trim();
        Ok(())
    })
}

/// windlass_queue_alloca with memory of a pool of the same device. NULL parameters mean those of the pool's memory.
/// RESOURCE_EXHAUSTED if the pool has no room now: no call waits for that. The caller owns the handle.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_queue_alloca_from(
    queue: Option<NonNull<windlass_queue_t>>,
    wait_count: usize,
    waits: *const windlass_point_t,
    signal_count: usize,
    signals: *const windlass_point_t,
    pool: Option<NonNull<windlass_pool_t>>,
    params: *const windlass_buffer_params_t,
    size: u64,
    buffer: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(buffer, || {
            // SAFETY: the contract in the header covers that of `lists_of`.
            let lists = unsafe { lists_of(wait_count, waits, signal_count, signals) }?;
            let pool = used(pool)?;
            let params = match params.is_null() {
                true => pool.params().memory,
                // SAFETY: the contract in the header covers that of `params_of`.
                false => unsafe { params_of(params) }?,
            };
            used(queue)?.alloca_from(&pool, &lists.waits, &lists.signals, &params, size)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_parameter_reaches_the_hal() {
        let mut given = windlass_pool_params_t {
            struct_size: size_of::<windlass_pool_params_t>(),
            kind: WINDLASS_POOL_PASSTHROUGH,
            flags: WINDLASS_POOL_EXACT,
            slab_size: 1,
            block_size: 2,
            blocks: 3,
            reserved: 0,
            budget: 4,
            retained: 5,
            name: c"scratch".as_ptr(),
            memory: std::ptr::null(),
        };
        let read = |given: &windlass_pool_params_t| {
            // SAFETY: the struct has the size that it states, and its pointers are literals or NULL.
            unsafe { pool_params_of(given) }.unwrap()
        };
        let expected = PoolParams::passthrough().with_name("scratch").with_budget(4).with_retained(5);
        assert_eq!(read(&given), expected.clone().with_device_waits(false));
        given.flags = WINDLASS_POOL_DEVICE_WAITS;
        assert_eq!(read(&given).kind, PoolKind::Passthrough { exact: false });
        assert!(read(&given).device_waits);
        given.kind = WINDLASS_POOL_FIXED_BLOCK;
        assert_eq!(read(&given).kind, PoolKind::FixedBlock { block_size: 2, blocks: 3 });
        given.kind = WINDLASS_POOL_TLSF;
        assert_eq!(read(&given).kind, PoolKind::Tlsf { slab_size: 1 });
    }
}
