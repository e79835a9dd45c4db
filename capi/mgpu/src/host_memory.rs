// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of the host that the device uses in place, and the memory references that describe it.
#![allow(unsafe_code)]

use std::{
    ffi::c_void,
    ptr::{self, NonNull},
    slice,
    sync::Arc,
};

use facade::{BufferParams, Error, Result};

use crate::{
    boundary::call,
    device::device,
    memory::{self, Memory, Origin},
    order::synchronize_all,
    returned::{PATIENCE, Returned},
};

/// Lets the device use memory of the host in place, until it is unregistered.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mgpuMemHostRegister(pointer: *mut c_void, size: u64) {
    call(
        (),
        || format!("mgpuMemHostRegister({pointer:p}, {size} bytes)"),
        || {
            // SAFETY: the same contract.
            unsafe { register(pointer.cast(), size) }
        },
    );
}

/// Ends the use of memory of the host. Blocks until no work uses it.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuMemHostUnregister(pointer: *mut c_void) {
    call((), || format!("mgpuMemHostUnregister({pointer:p})"), || unregister(pointer.addr() as u64));
}

/// # Safety
/// The memory is valid until it is unregistered, and no Rust reference to it exists.
unsafe fn register(pointer: *mut u8, size: u64) -> Result<()> {
    let start = NonNull::new(pointer).ok_or_else(|| Error::invalid_argument("the pointer is null"))?;
    let address = pointer.addr() as u64;
    memory::check_unknown(address, size)?;
    let returned = Arc::new(Returned::default());
    let release = {
        let returned = returned.clone();
        move || returned.set()
    };
    // SAFETY: the same contract; `unregister` waits for the release.
    let buffer = unsafe { device()?.import_host_pointer(&BufferParams::host(), start, size, release) }?;
    pointer.expose_provenance();
    memory::add(address, Memory { buffer, origin: Origin::Registered(returned) })
}

fn unregister(address: u64) -> Result<()> {
    let is_registered = |origin: &Origin| matches!(origin, Origin::Registered(_));
    let memory = memory::remove(address, is_registered, "registered memory")?;
    // Kernels may use memory by pointers in memory, which no launch shows.
    synchronize_all()?;
    let Memory { buffer, origin: Origin::Registered(returned) } = memory else {
        return Err(Error::internal("memory changed its origin"));
    };
    drop(buffer);
    if returned.wait() {
        return Ok(());
    }
    Err(Error::unavailable(format!(
        "the device still holds the memory {PATIENCE:?} after its work was done; do not free it"
    )))
}

/// The descriptor of a memory reference of any rank, as MLIR lays it out. `rank` sizes follow, and then `rank` strides.
#[repr(C)]
pub struct Descriptor {
    allocated: *mut u8,
    aligned: *mut u8,
    offset: i64,
}

/// The start and the bytes of a dense memory reference. `INVALID_ARGUMENT` for one that is not dense.
///
/// # Safety
/// `descriptor` is null or points to a descriptor of this rank.
unsafe fn range(rank: i64, descriptor: *const Descriptor, element: i64) -> Result<(*mut u8, u64)> {
    let bad = |what: String| Err(Error::invalid_argument(what));
    let Some(head) = NonNull::new(descriptor.cast_mut()) else {
        return bad("the descriptor is null".to_owned());
    };
    let (Ok(rank), Ok(element)) = (usize::try_from(rank), u64::try_from(element)) else {
        return bad(format!("a rank of {rank} or elements of {element} bytes make no sense"));
    };
    // SAFETY: the descriptor has this rank, so `2 * rank` numbers follow its head.
    let (head, numbers) =
        unsafe { (head.as_ref(), slice::from_raw_parts(head.as_ptr().add(1).cast::<i64>(), 2 * rank)) };
    let (sizes, strides) = numbers.split_at(rank);
    let mut elements: i64 = 1;
    for (size, stride) in sizes.iter().zip(strides).rev() {
        // The stride of a dimension of one element is never used.
        if *size > 1 && *stride != elements {
            return bad(format!(
                "only dense memory references can be registered; this one has sizes {sizes:?} and strides {strides:?}"
            ));
        }
        elements = match elements.checked_mul(*size).filter(|elements| *elements >= 0) {
            Some(elements) => elements,
            None => return bad(format!("sizes of {sizes:?} make no sense")),
        };
    }
    let offset = head.offset.wrapping_mul(element as i64) as isize;
    match element.checked_mul(elements as u64) {
        Some(bytes) => Ok((head.aligned.wrapping_byte_offset(offset), bytes)),
        None => bad(format!("{elements} elements of {element} bytes are more than an address space has")),
    }
}

/// [`mgpuMemHostRegister`] of the bytes of a dense memory reference. Nothing for one without elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mgpuMemHostRegisterMemRef(rank: i64, descriptor: *const Descriptor, element: i64) {
    let attempt =
        || format!("mgpuMemHostRegisterMemRef(rank {rank}, {descriptor:p}, elements of {element} bytes)");
    call((), attempt, || {
        // SAFETY: the caller's memory reference lives until it is unregistered.
        match unsafe { range(rank, descriptor, element) }? {
            (_, 0) => Ok(()),
            // SAFETY: as above.
            (start, size) => unsafe { register(start, size) },
        }
    });
}

/// [`mgpuMemHostUnregister`] of the bytes of a memory reference. Nothing for one without elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mgpuMemHostUnregisterMemRef(rank: i64, descriptor: *const Descriptor, element: i64) {
    let attempt =
        || format!("mgpuMemHostUnregisterMemRef(rank {rank}, {descriptor:p}, elements of {element} bytes)");
    call((), attempt, || {
        // SAFETY: the caller's memory reference is valid.
        match unsafe { range(rank, descriptor, element) }? {
            (_, 0) => Ok(()),
            (start, _) => unregister(start.addr() as u64),
        }
    });
}

/// A memory reference of one dimension.
#[repr(C)]
pub struct MemRef1d {
    allocated: *mut c_void,
    aligned: *mut c_void,
    offset: i64,
    size: i64,
    stride: i64,
}

fn device_memref(name: &str, aligned: *mut c_void, offset: i64, size: i64, stride: i64) -> MemRef1d {
    let make = |pointer| MemRef1d { allocated: pointer, aligned: pointer, offset, size, stride };
    call(
        make(ptr::null_mut()),
        || format!("{name}({aligned:p}, offset {offset}, size {size})"),
        || {
            let address = aligned.addr() as u64;
            let buffer = memory::find(address, 1)?.ok_or_else(|| {
                Error::not_found(format!("{aligned:p} is not registered; call mgpuMemHostRegister first"))
            })?;
            Ok(make(ptr::with_exposed_provenance_mut(buffer.device_address() as usize)))
        },
    )
}

/// The registered memory at `aligned` as the device addresses it.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuMemGetDeviceMemRef1dFloat(
    _allocated: *mut c_void,
    aligned: *mut c_void,
    offset: i64,
    size: i64,
    stride: i64,
) -> MemRef1d {
    device_memref("mgpuMemGetDeviceMemRef1dFloat", aligned, offset, size, stride)
}

/// The registered memory at `aligned` as the device addresses it.
#[unsafe(no_mangle)]
pub extern "C" fn mgpuMemGetDeviceMemRef1dInt32(
    _allocated: *mut c_void,
    aligned: *mut c_void,
    offset: i64,
    size: i64,
    stride: i64,
) -> MemRef1d {
    device_memref("mgpuMemGetDeviceMemRef1dInt32", aligned, offset, size, stride)
}
