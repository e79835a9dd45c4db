// SPDX-License-Identifier: MIT OR Apache-2.0
//! Queues and their indices.

use std::ffi::c_void;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::hsa::abi::{Agent, ErrorCallback, HsaQueue};
use crate::hsa::call::{Call, hsa, hsa_value};
use crate::hsa::queue::{AqlQueue, QueueType};
use crate::hsa::status::{Outcome, Status};

pub unsafe extern "C" fn hsa_queue_create(
    agent: Agent,
    size: u32,
    kind: u32,
    callback: Option<ErrorCallback>,
    data: *mut c_void,
    _private_segment_size: u32,
    _group_segment_size: u32,
    queue: *mut *mut HsaQueue,
) -> Status {
    hsa!(hsa_queue_create, |call| {
        let kind = QueueType::new(kind)?;
        if queue.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        let Some(gpu) = call.runtime.agent(agent)?.gpu() else { return Err(Status::INVALID_QUEUE_CREATION) };
        let callback = callback.map(|callback| (callback, data));
        call.put(queue, call.runtime.create_queue(gpu, size, kind, callback)?.pointer())
    })
}

pub unsafe extern "C" fn hsa_queue_destroy(queue: *mut HsaQueue) -> Status {
    hsa!(hsa_queue_destroy, |call| {
        let queue = find(call, queue)?;
        call.runtime.destroy_queue(&queue)
    })
}

pub unsafe extern "C" fn hsa_queue_inactivate(queue: *mut HsaQueue) -> Status {
    hsa!(hsa_queue_inactivate, |call| {
        find(call, queue)?.stop();
        Ok(())
    })
}

/// The queue behind a client's pointer.
fn find(call: &Call, queue: *const HsaQueue) -> Outcome<std::sync::Arc<AqlQueue>> {
    if queue.is_null() {
        return Err(Status::INVALID_ARGUMENT);
    }
    call.runtime.queues.get(queue)
}

macro_rules! loads {
    ($index:ident: $($name:ident)*) => {$(
        pub unsafe extern "C" fn $name(queue: *const HsaQueue) -> u64 {
            hsa_value!($name, 0, |call| Ok(find(call, queue)?.$index().load(Ordering::SeqCst)))
        }
    )*};
}

macro_rules! stores {
    ($index:ident: $($name:ident)*) => {$(
        pub unsafe extern "C" fn $name(queue: *const HsaQueue, value: u64) {
            hsa_value!($name, (), |call| {
                find(call, queue)?.$index().store(value, Ordering::SeqCst);
                Ok(())
            })
        }
    )*};
}

macro_rules! adds {
    ($($name:ident)*) => {$(
        pub unsafe extern "C" fn $name(queue: *const HsaQueue, value: u64) -> u64 {
            hsa_value!($name, 0, |call| Ok(find(call, queue)?.write_index().fetch_add(value, Ordering::SeqCst)))
        }
    )*};
}

macro_rules! compare_and_swaps {
    ($($name:ident)*) => {$(
        pub unsafe extern "C" fn $name(queue: *const HsaQueue, expected: u64, value: u64) -> u64 {
            hsa_value!($name, 0, |call| Ok(compare_and_swap(find(call, queue)?.write_index(), expected, value)))
        }
    )*};
}

fn compare_and_swap(word: &AtomicU64, expected: u64, value: u64) -> u64 {
    let swapped = word.compare_exchange(expected, value, Ordering::SeqCst, Ordering::SeqCst);
    swapped.unwrap_or_else(|found| found)
}

loads! { read_index:
    hsa_queue_load_read_index_acquire hsa_queue_load_read_index_scacquire hsa_queue_load_read_index_relaxed
}

loads! { write_index:
    hsa_queue_load_write_index_acquire hsa_queue_load_write_index_scacquire hsa_queue_load_write_index_relaxed
}

stores! { write_index:
    hsa_queue_store_write_index_relaxed hsa_queue_store_write_index_release hsa_queue_store_write_index_screlease
}

adds! {
    hsa_queue_add_write_index_acq_rel hsa_queue_add_write_index_scacq_screl hsa_queue_add_write_index_acquire
    hsa_queue_add_write_index_scacquire hsa_queue_add_write_index_relaxed hsa_queue_add_write_index_release
    hsa_queue_add_write_index_screlease
}

compare_and_swaps! {
    hsa_queue_cas_write_index_acq_rel hsa_queue_cas_write_index_scacq_screl hsa_queue_cas_write_index_acquire
    hsa_queue_cas_write_index_scacquire hsa_queue_cas_write_index_relaxed hsa_queue_cas_write_index_release
    hsa_queue_cas_write_index_screlease
}

pub unsafe extern "C" fn hsa_amd_queue_cu_set_mask(
    queue: *const HsaQueue,
    bits: u32,
    mask: *const u32,
) -> Status {
    hsa!(hsa_amd_queue_cu_set_mask, |call| {
        let queue = find(call, queue)?;
        if !bits.is_multiple_of(32) || (bits > 0 && mask.is_null()) {
            return Err(Status::INVALID_ARGUMENT);
        }
        let mask = call.list(mask, bits / 32)?;
        let units = call.runtime.units_of(queue.gpu);
        let reduced = mask
            .iter()
            .enumerate()
            .any(|(word, bits)| (0..32).any(|bit| bits >> bit & 1 != 0 && word as u32 * 32 + bit >= units));
        *queue.cu_mask.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = mask;
        if reduced { Err(Status::CU_MASK_REDUCED) } else { Ok(()) }
    })
}

pub unsafe extern "C" fn hsa_amd_queue_cu_get_mask(
    queue: *const HsaQueue,
    bits: u32,
    mask: *mut u32,
) -> Status {
    hsa!(hsa_amd_queue_cu_get_mask, |call| {
        let queue = find(call, queue)?;
        if !bits.is_multiple_of(32) || bits == 0 || mask.is_null() {
            return Err(Status::INVALID_ARGUMENT);
        }
        let known = queue.cu_mask.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        let units = call.runtime.units_of(queue.gpu);
        for word in 0..bits / 32 {
            // Without a mask the queue uses all units.
            let all = (0..32).filter(|bit| word * 32 + bit < units).fold(0_u32, |all, bit| all | 1 << bit);
            let bits =
                if known.is_empty() { all } else { known.get(word as usize).copied().unwrap_or(0) & all };
            call.put(mask.wrapping_add(word as usize), bits)?;
        }
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_amd_queue_set_priority(queue: *mut HsaQueue, priority: u32) -> Status {
    hsa!(hsa_amd_queue_set_priority, |call| {
        let queue = find(call, queue)?;
        if priority > 2 {
            return Err(Status::INVALID_ARGUMENT);
        }
        queue.priority.store(priority, Ordering::Relaxed);
        Ok(())
    })
}

pub unsafe extern "C" fn hsa_amd_queue_get_info(
    queue: *mut HsaQueue,
    attribute: u32,
    value: *mut c_void,
) -> Status {
    hsa!(hsa_amd_queue_get_info, |call| {
        let queue = find(call, queue)?;
        match attribute {
            0 => call.put(value.cast(), crate::hsa::agent::Which::Gpu(queue.gpu).handle()),
            1 => call.put(value.cast(), queue.doorbell.handle().handle),
            _ => Err(Status::INVALID_ARGUMENT),
        }
    })
}
