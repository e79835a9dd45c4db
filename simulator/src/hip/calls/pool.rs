// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory that is freed in stream order, and its pools.

use std::ffi::{c_int, c_void};
use std::sync::Arc;

use windlass_hip_sys::bindings::{
    hipError_t, hipMemAccessDesc, hipMemAccessFlags, hipMemAllocationType, hipMemLocation,
    hipMemLocationType, hipMemPool_t, hipMemPoolAttr, hipMemPoolProps, hipStream_t,
};

use crate::hip::boundary::call::Call;
use crate::hip::boundary::target::Target;
use crate::hip::graphs::capture::Capture;
use crate::hip::graphs::operation::Operation;
use crate::hip::hardware::allocation::{self, Request};
use crate::hip::hardware::graph_memory::GraphMemory;
use crate::hip::hardware::ledger::{Holding, Origin};
use crate::hip::objects::pool::Pool;
use crate::hip::objects::stream::Stream;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::work::item::Work;
use crate::memory::sharing::{Content, SharedFile, WORDS};

/// `hipMemHandleTypePosixFileDescriptor`.
pub(super) const FILE_DESCRIPTOR: u32 = 1;

pub(super) fn find(call: &Call, pool: hipMemPool_t) -> Outcome<Arc<Pool>> {
    call.runtime.pools.get(pool as u64).ok_or(Code::INVALID_VALUE)
}

fn take(
    call: &Call,
    pointer: *mut *mut c_void,
    size: usize,
    pool: Arc<Pool>,
    target: &Target,
) -> Outcome<()> {
    // HIP 5 refuses size 0.
    if pointer.is_null() || size == 0 && !call.is_since(6) {
        return Err(Code::INVALID_VALUE);
    }
    let device = pool.device;
    call.runtime.machine.device(device)?.check()?;
    let machine = &call.runtime.machine;
    // The address is known at once, and new memory has no contents to be ordered. If there is no memory, the client gets a
    // null pointer.
    let address = match target {
        Target::Record(..) if size == 0 => Ok(0),
        Target::Record(capture, stream) => {
            capture.check()?;
            GraphMemory::new(machine, device, size as u64, call.describe()).and_then(|memory| {
                let base = memory.base;
                capture.add(stream, Operation::Allocate(memory, None)).map(|()| base)
            })
        }
        Target::Run(stream) => {
            let request = Request {
                size: size as u64,
                origin: Origin::Pool,
                managed: false,
                flags: 0,
                pool: Some((pool, stream.id)),
                call: call.describe(),
            };
            allocation::allocate(machine, device, request)
        }
    };
    call.put(pointer, *address.as_ref().unwrap_or(&0) as *mut c_void)?;
    address.map(|_| ())
}

/// Records a free, of memory that a capture allocated.
fn record_free(call: &Call, base: u64, capture: &Capture, stream: &Stream) -> Outcome<()> {
    capture.check()?;
    let holding = call.runtime.machine.ledger.find(base);
    let pool = holding.filter(|holding| holding.base == base).and_then(|holding| holding.pool);
    match pool.filter(|pool| pool.is_private()) {
        Some(pool) => {
            pool.claim();
            capture.add(stream, Operation::Free { pool, base, by: call.describe() })
        }
        None => {
            explain(format!(
                "a graph frees memory that a capture allocated alone, and {base:#x} is no such memory"
            ));
            Err(Code::INVALID_VALUE)
        }
    }
}

pub(in crate::hip) unsafe extern "C" fn hipMallocAsync(
    pointer: *mut *mut c_void,
    size: usize,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMallocAsync, |call| {
        let target = call.target(stream)?;
        let (Target::Run(stream) | Target::Record(_, stream)) = &target;
        let pool = call.runtime.current_pool(stream.device)?;
        let pool = call.runtime.pools.get(pool).ok_or(Code::INVALID_VALUE)?;
        take(call, pointer, size, pool, &target)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMallocFromPoolAsync(
    pointer: *mut *mut c_void,
    size: usize,
    pool: hipMemPool_t,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipMallocFromPoolAsync, |call| {
        let target = call.target(stream)?;
        take(call, pointer, size, find(call, pool)?, &target)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipFreeAsync(
    pointer: *mut c_void,
    stream: hipStream_t,
) -> hipError_t {
    hip!(hipFreeAsync, |call| {
        let (base, ledger) = (pointer as u64, &call.runtime.machine.ledger);
        let stream = match call.target(stream)? {
            Target::Run(stream) => stream,
            Target::Record(capture, stream) => return record_free(call, base, &capture, &stream),
        };
        let own = |holding: &Holding| match holding.origin {
            Origin::Device | Origin::Pool => true,
            Origin::Imported => holding.pool.is_some(),
            _ => false,
        };
        if !ledger.send_off(base, own) {
            return Err(Code::INVALID_VALUE);
        }
        let holding = ledger.find(base).ok_or(Code::INVALID_VALUE)?;
        // No pool keeps memory of another process.
        let kept = holding.pool.filter(|_| holding.origin != Origin::Imported);
        let Some(pool) = kept else {
            let queued = call.runtime.enqueue(&stream, Work::Free(base, call.describe()), &[]);
            return queued.map(|_| ()).inspect_err(|_| ledger.keep(base));
        };
        let ticket = pool.park(base, holding.size, stream.id);
        let queued =
            call.runtime.enqueue(&stream, Work::Return(pool.clone(), base, ticket, call.describe()), &[]);
        queued.map(|_| ()).inspect_err(|_| {
            if pool.unpark(ticket) {
                ledger.keep(base);
            }
        })
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemPoolCreate(
    pool: *mut hipMemPool_t,
    props: *const hipMemPoolProps,
) -> hipError_t {
    hip!(hipMemPoolCreate, |call| {
        let props = call.get(props)?;
        let pinned = props.allocType == hipMemAllocationType::hipMemAllocationTypePinned;
        let on_device = props.location.type_ == hipMemLocationType::hipMemLocationTypeDevice;
        if pool.is_null() || !pinned || !on_device {
            return Err(Code::INVALID_VALUE);
        }
        let device = call.device_at(props.location.id)?;
        device.check()?;
        // HIP 5 has no limit.
        let max_size = if call.is_since(6) { props.maxSize as u64 } else { 0 };
        let shared = (props.handleTypes.0 == FILE_DESCRIPTOR)
            .then(|| SharedFile::new(Content::Pool, WORDS))
            .transpose()
            .map_err(|reason| {
                explain(format!("hipMemPoolCreate: {reason}"));
                Code::INVALID_VALUE
            })?;
        let made = Arc::new(Pool::new(device.index, false, max_size).shared_by(shared));
        let handle = call.runtime.pools.insert(made).ok_or(Code::OUT_OF_MEMORY)?;
        call.put(pool, handle.get() as hipMemPool_t)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemPoolDestroy(pool: hipMemPool_t) -> hipError_t {
    hip!(hipMemPoolDestroy, |call| {
        if find(call, pool)?.is_default {
            return Err(Code::INVALID_VALUE);
        }
        // Its allocations outlive it.
        let gone = call.runtime.pools.remove(pool as u64).ok_or(Code::INVALID_VALUE)?;
        gone.close();
        allocation::release_idle(&call.runtime.machine, &gone, 0);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemPoolGetAttribute(
    pool: hipMemPool_t,
    attribute: hipMemPoolAttr,
    value: *mut c_void,
) -> hipError_t {
    hip!(hipMemPoolGetAttribute, |call| {
        let (number, width) = find(call, pool)?.attribute(attribute.0).ok_or(Code::INVALID_VALUE)?;
        match width {
            4 => call.put(value.cast::<u32>(), number as u32),
            _ => call.put(value.cast::<u64>(), number),
        }
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemPoolSetAttribute(
    pool: hipMemPool_t,
    attribute: hipMemPoolAttr,
    value: *mut c_void,
) -> hipError_t {
    hip!(hipMemPoolSetAttribute, |call| {
        let pool = find(call, pool)?;
        let (_, width) = pool.attribute(attribute.0).ok_or(Code::INVALID_VALUE)?;
        let number = match width {
            4 => u64::from(call.get(value.cast::<u32>())?),
            _ => call.get(value.cast::<u64>())?,
        };
        pool.set_attribute(attribute.0, number).ok_or(Code::INVALID_VALUE)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemPoolSetAccess(
    pool: hipMemPool_t,
    descriptions: *const hipMemAccessDesc,
    count: usize,
) -> hipError_t {
    hip!(hipMemPoolSetAccess, |call| {
        let pool = find(call, pool)?;
        if descriptions.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        if count > call.runtime.machine.devices.len() {
            return Err(Code::INVALID_DEVICE);
        }
        // One wrong description is the end of all.
        let mut wishes = Vec::new();
        for index in 0..count {
            let hipMemAccessDesc { location, flags } = call.get(descriptions.wrapping_add(index))?;
            if location.type_ != hipMemLocationType::hipMemLocationTypeDevice {
                return Err(Code::INVALID_VALUE);
            }
            let device = call.device_at(location.id)?.index;
            match flags.0 {
                // AMD's HIP takes no access away.
                0 => return Err(Code::INVALID_DEVICE),
                1..=3 if device == pool.device => {}
                1..=3 => wishes.push((device, flags.0)),
                _ => return Err(Code::INVALID_VALUE),
            }
        }
        for (device, flags) in wishes {
            pool.set_access(device, flags);
        }
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemPoolGetAccess(
    flags: *mut hipMemAccessFlags,
    pool: hipMemPool_t,
    location: *mut hipMemLocation,
) -> hipError_t {
    hip!(hipMemPoolGetAccess, |call| {
        let (pool, location) = (find(call, pool)?, call.get(location)?);
        if location.type_ != hipMemLocationType::hipMemLocationTypeDevice {
            return Err(Code::INVALID_VALUE);
        }
        // The wish alone: every device may use the memory of pools.
        let device = call.device_at(location.id)?.index;
        call.put(flags, hipMemAccessFlags(pool.access(device)))
    })
}

pub(in crate::hip) unsafe extern "C" fn hipMemPoolTrimTo(pool: hipMemPool_t, keep: usize) -> hipError_t {
    hip!(hipMemPoolTrimTo, |call| {
        allocation::release_idle(&call.runtime.machine, &*find(call, pool)?, keep as u64);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceGetDefaultMemPool(
    pool: *mut hipMemPool_t,
    device: c_int,
) -> hipError_t {
    hip!(hipDeviceGetDefaultMemPool, |call| {
        let device = call.device_at(device)?.index;
        call.put(pool, call.runtime.default_pool(device)? as hipMemPool_t)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceGetMemPool(
    pool: *mut hipMemPool_t,
    device: c_int,
) -> hipError_t {
    hip!(hipDeviceGetMemPool, |call| {
        let device = call.device_at(device)?.index;
        call.put(pool, call.runtime.current_pool(device)? as hipMemPool_t)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipDeviceSetMemPool(device: c_int, pool: hipMemPool_t) -> hipError_t {
    hip!(hipDeviceSetMemPool, |call| {
        let device = call.device_at(device).map_err(|_| Code::INVALID_VALUE)?.index;
        if find(call, pool)?.device != device {
            return Err(Code::INVALID_DEVICE);
        }
        call.runtime.set_current_pool(device, pool as u64)
    })
}
