// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers, and references to ranges of them.

use std::{ffi::c_void, mem::MaybeUninit, ptr::NonNull};

use facade::{Buffer, BufferParams, BufferRef, BufferUsage, Error, MemoryType, QueueAffinity, Result};

use crate::{
    boundary::{fallible, infallible},
    device::windlass_device_t,
    error::windlass_error_t,
    handle::{self, Shell, object, used},
    memory::{Growing, bytes, check_list, give, out, read_struct, write_bytes, write_struct},
};

/// Memory of a device: a whole allocation or a part of it. The allocation lives until the last handle that shares it is
/// released and the last submission that uses it has ended.
pub struct windlass_buffer_t(Shell<Buffer>);
object!(windlass_buffer_t, Buffer, "buffer");

/// The place and visibility of memory: a set of WINDLASS_MEMORY_TYPE_*, with IREE's numeric values.
pub type windlass_memory_type_t = u32;

/// The host can map the memory.
pub const WINDLASS_MEMORY_TYPE_HOST_VISIBLE: windlass_memory_type_t = 1 << 1;
/// Host and device see each other's writes without flushes.
pub const WINDLASS_MEMORY_TYPE_HOST_COHERENT: windlass_memory_type_t = 1 << 2;
/// Host reads are cached.
pub const WINDLASS_MEMORY_TYPE_HOST_CACHED: windlass_memory_type_t = 1 << 3;
/// The memory is near the host, which can map it.
pub const WINDLASS_MEMORY_TYPE_HOST_LOCAL: windlass_memory_type_t = (1 << 6) | (1 << 1);
/// Device queues can use the memory.
pub const WINDLASS_MEMORY_TYPE_DEVICE_VISIBLE: windlass_memory_type_t = 1 << 4;
/// The memory is near the device, whose queues can use it.
pub const WINDLASS_MEMORY_TYPE_DEVICE_LOCAL: windlass_memory_type_t = (1 << 5) | (1 << 4);

/// The permitted uses of a buffer: a set of WINDLASS_BUFFER_USAGE_*, with IREE's numeric values.
pub type windlass_buffer_usage_t = u32;

/// Source of copies.
pub const WINDLASS_BUFFER_USAGE_TRANSFER_SOURCE: windlass_buffer_usage_t = 1 << 0;
/// Target of copies, fills and updates.
pub const WINDLASS_BUFFER_USAGE_TRANSFER_TARGET: windlass_buffer_usage_t = 1 << 1;
/// Source and target.
pub const WINDLASS_BUFFER_USAGE_TRANSFER: windlass_buffer_usage_t = (1 << 0) | (1 << 1);
/// Parameters of indirect dispatches.
pub const WINDLASS_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS: windlass_buffer_usage_t = 1 << 8;
/// Argument of dispatches that read it.
pub const WINDLASS_BUFFER_USAGE_DISPATCH_STORAGE_READ: windlass_buffer_usage_t = 1 << 10;
/// Argument of dispatches that write it.
pub const WINDLASS_BUFFER_USAGE_DISPATCH_STORAGE_WRITE: windlass_buffer_usage_t = 1 << 11;
/// Argument of dispatches.
pub const WINDLASS_BUFFER_USAGE_DISPATCH_STORAGE: windlass_buffer_usage_t = (1 << 10) | (1 << 11);
/// The host may map the buffer.
pub const WINDLASS_BUFFER_USAGE_MAPPING: windlass_buffer_usage_t = 1 << 24;
/// Transfers and dispatches.
pub const WINDLASS_BUFFER_USAGE_DEFAULT: windlass_buffer_usage_t =
    (1 << 0) | (1 << 1) | (1 << 10) | (1 << 11);

/// Parameters of an allocation. windlass_buffer_params_device and windlass_buffer_params_host make the usual ones.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_buffer_params_t {
    /// sizeof this struct.
    pub struct_size: usize,
    /// The place of the memory.
    pub memory_type: windlass_memory_type_t,
    /// The permitted uses.
    pub usage: windlass_buffer_usage_t,
    /// The minimum alignment of the address in bytes, a power of two; 0 for the device's own.
    pub min_alignment: u64,
    /// The queues that use the buffer most, bit n for queue n. On a device of several GPUs the memory is near the
    /// first of these queues. 0 for any.
    pub queue_affinity: u64,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_buffer_params_t {
    const NAME: &'static str = "windlass_buffer_params_t";
}

/// The target of an operation: a range of a buffer, or a range of the buffer that the binding table of a command
/// buffer holds in a slot. windlass_range, windlass_whole and windlass_slot make one. It borrows the buffer for the
/// call.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_buffer_ref_t {
    /// One of WINDLASS_REF_*.
    pub kind: u32,
    /// The slot's number; 0 for a buffer.
    pub slot: u32,
    /// The buffer; NULL for a slot.
    pub buffer: Option<NonNull<windlass_buffer_t>>,
    /// The offset of the range in bytes.
    pub offset: u64,
    /// The length in bytes. WINDLASS_WHOLE_BUFFER extends to the end of the buffer. A slot needs a number, except as an
    /// argument of a dispatch.
    pub length: u64,
}

/// A range of a buffer.
pub const WINDLASS_REF_BUFFER: u32 = 1;
/// A range of the buffer in a slot of the binding table.
pub const WINDLASS_REF_SLOT: u32 = 2;

/// The length of a range that extends to the end of the buffer.
pub const WINDLASS_WHOLE_BUFFER: u64 = u64::MAX;

/// The parameters of an allocation; device memory if there are none.
///
/// # Safety
/// As for [`read_struct`].
pub(crate) unsafe fn params_of(params: *const windlass_buffer_params_t) -> Result<BufferParams> {
    if params.is_null() {
        return Ok(BufferParams::device());
    }
    // SAFETY: the same contract.
    let given = unsafe { read_struct(params) }?;
    let mut params = BufferParams::device();
    params.memory_type = MemoryType(given.memory_type);
    params.usage = BufferUsage(given.usage);
    params.min_alignment = given.min_alignment;
    params.queue_affinity = QueueAffinity::from_bits(given.queue_affinity);
    Ok(params)
}

/// The range of a buffer. A slot is an error.
pub(crate) fn range_of(name: &str, reference: &windlass_buffer_ref_t) -> Result<Buffer> {
    let wrong = |what: String| Error::invalid_argument(format!("`{name}` {what}"));
    match reference.kind {
        WINDLASS_REF_BUFFER => {
            let buffer =
                used(reference.buffer).map_err(|error| error.context(format!("looking at `{name}`")))?;
            let length = match reference.length {
                WINDLASS_WHOLE_BUFFER => buffer.len().saturating_sub(reference.offset),
                length => length,
            };
            buffer.subspan(reference.offset, length)
        }
        WINDLASS_REF_SLOT => Err(wrong(format!(
            "is slot {}: only the commands of a command buffer have slots",
            reference.slot
        ))),
        other => Err(wrong(format!("is of the unknown kind {other}; windlass_range and its like make one"))),
    }
}

/// The range of a reference in a command buffer.
pub(crate) fn ref_of(name: &str, reference: &windlass_buffer_ref_t) -> Result<BufferRef> {
    if reference.kind != WINDLASS_REF_SLOT {
        return range_of(name, reference).map(BufferRef::Direct);
    }
    if reference.buffer.is_some() || reference.length == WINDLASS_WHOLE_BUFFER {
        return Err(Error::invalid_argument(format!(
            "`{name}` is slot {} and needs a length and no buffer: its buffer is known only at submission",
            reference.slot
        )));
    }
    Ok(BufferRef::slot(reference.slot, reference.offset, reference.length))
}

/// The range of an argument in a command buffer. A slot without a length demands none of the buffer that is bound: the
/// HAL only compares the length with it, as the code may use all of it in any case.
pub(crate) fn argument_ref_of(name: &str, reference: &windlass_buffer_ref_t) -> Result<BufferRef> {
    let mut reference = *reference;
    if reference.kind == WINDLASS_REF_SLOT && reference.length == WINDLASS_WHOLE_BUFFER {
        reference.length = 0;
    }
    ref_of(name, &reference)
}

/// Allocates memory that is usable at once, with undefined contents. NULL parameters mean those of
/// windlass_buffer_params_device. RESOURCE_EXHAUSTED if memory is exhausted. windlass_queue_alloca is cheaper for
/// memory that lives for a few operations. The caller owns the buffer.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_buffer_allocate(
    device: Option<NonNull<windlass_device_t>>,
    params: *const windlass_buffer_params_t,
    size: u64,
    buffer: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(buffer, || {
            // SAFETY: the contract in the header covers that of `params_of`.
            let params = unsafe { params_of(params) }?;
            used(device)?.device.allocate(&params, size)
        })
    })
}

/// A part of a buffer as a buffer of its own, which shares the allocation. OUT_OF_RANGE if the part exceeds the
/// buffer. The caller owns the handle.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_buffer_subspan(
    buffer: Option<NonNull<windlass_buffer_t>>,
    offset: u64,
    length: u64,
    part: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(part, || used(buffer)?.subspan(offset, length)))
}

/// Adds a reference and returns the buffer. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_buffer_retain(
    buffer: Option<NonNull<windlass_buffer_t>>,
) -> Option<NonNull<windlass_buffer_t>> {
    infallible(None, || handle::retain(buffer).map(|()| buffer))
}

/// Releases a reference. NULL is allowed. Work in flight that uses the buffer continues.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_buffer_release(buffer: Option<NonNull<windlass_buffer_t>>) {
    infallible((), || {
        handle::release(buffer);
        Ok(())
    });
}

/// The number of bytes; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_buffer_size(buffer: Option<NonNull<windlass_buffer_t>>) -> u64 {
    infallible(0, || Ok(used(buffer)?.len()))
}

/// The address for device code; 0 for NULL. The host must not dereference it.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_buffer_device_address(buffer: Option<NonNull<windlass_buffer_t>>) -> u64 {
    infallible(0, || Ok(used(buffer)?.device_address()))
}

/// The offset of the buffer in its allocation, in bytes; 0 for a whole allocation and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_buffer_offset(buffer: Option<NonNull<windlass_buffer_t>>) -> u64 {
    infallible(0, || Ok(used(buffer)?.offset()))
}

/// The parameters of the buffer's allocation, as they were given. A queue_affinity of 0 stands for any queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_buffer_params(
    buffer: Option<NonNull<windlass_buffer_t>>,
    params: *mut windlass_buffer_params_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let of = used(buffer)?.params();
        let value = windlass_buffer_params_t {
            struct_size: size_of::<windlass_buffer_params_t>(),
            memory_type: of.memory_type.0,
            usage: of.usage.0,
            min_alignment: of.min_alignment,
            queue_affinity: if of.queue_affinity == QueueAffinity::ANY {
                0
            } else {
                of.queue_affinity.bits()
            },
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(params, &value) }
    })
}

/// Copies bytes of a mappable buffer to the host, at once. Only semaphores order the copy with work on queues.
/// FAILED_PRECONDITION if the buffer was not allocated for mapping, UNAVAILABLE if the device's memory cannot be
/// mapped (use windlass_queue_download), OUT_OF_RANGE if the buffer is shorter.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_buffer_read(
    buffer: Option<NonNull<windlass_buffer_t>>,
    offset: u64,
    target: *mut c_void,
    size: usize,
) -> Option<NonNull<windlass_error_t>> {
    /// The bytes go through this thread's stack, because a Rust reference to the caller's memory would need
    /// initialised bytes.
    const PIECE: usize = 4096;
    fallible(|| {
        let mapping = used(buffer)?.subspan(offset, size as u64)?.map()?;
        check_list("target", size, target.cast::<u8>())?;
        let mut piece = [0; PIECE];
        for start in (0..size).step_by(PIECE) {
            let piece = &mut piece[..PIECE.min(size - start)];
            mapping.read(start as u64, piece)?;
            // SAFETY: the header demands `size` writable bytes at `target`, and these lie within.
            unsafe { write_bytes("target", piece, target.byte_add(start)) }?;
        }
        Ok(())
    })
}

/// Copies bytes of the host into a mappable buffer, at once. Fails like windlass_buffer_read.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_buffer_write(
    buffer: Option<NonNull<windlass_buffer_t>>,
    offset: u64,
    source: *const c_void,
    size: usize,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `bytes`.
        let source = unsafe { bytes("source", size, source) }?;
        used(buffer)?.map()?.write(offset, source)
    })
}

/// The host's pointer to a mappable buffer, valid as long as the handle. The device may write the bytes at any time
/// that semaphores do not exclude. Fails like windlass_buffer_read.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_buffer_host_pointer(
    buffer: Option<NonNull<windlass_buffer_t>>,
    pointer: Option<&mut MaybeUninit<*mut c_void>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let pointer = out("pointer", pointer)?;
        pointer.write(used(buffer)?.map()?.as_ptr().cast());
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_the_hals() {
        for (ours, theirs) in [
            (WINDLASS_MEMORY_TYPE_HOST_VISIBLE, MemoryType::HOST_VISIBLE),
            (WINDLASS_MEMORY_TYPE_HOST_COHERENT, MemoryType::HOST_COHERENT),
            (WINDLASS_MEMORY_TYPE_HOST_CACHED, MemoryType::HOST_CACHED),
            (WINDLASS_MEMORY_TYPE_HOST_LOCAL, MemoryType::HOST_LOCAL),
            (WINDLASS_MEMORY_TYPE_DEVICE_VISIBLE, MemoryType::DEVICE_VISIBLE),
            (WINDLASS_MEMORY_TYPE_DEVICE_LOCAL, MemoryType::DEVICE_LOCAL),
        ] {
            assert_eq!(MemoryType(ours), theirs);
        }
        for (ours, theirs) in [
            (WINDLASS_BUFFER_USAGE_TRANSFER_SOURCE, BufferUsage::TRANSFER_SOURCE),
            (WINDLASS_BUFFER_USAGE_TRANSFER_TARGET, BufferUsage::TRANSFER_TARGET),
            (WINDLASS_BUFFER_USAGE_TRANSFER, BufferUsage::TRANSFER),
            (WINDLASS_BUFFER_USAGE_DISPATCH_INDIRECT_PARAMETERS, BufferUsage::DISPATCH_INDIRECT_PARAMETERS),
            (WINDLASS_BUFFER_USAGE_DISPATCH_STORAGE_READ, BufferUsage::DISPATCH_STORAGE_READ),
            (WINDLASS_BUFFER_USAGE_DISPATCH_STORAGE_WRITE, BufferUsage::DISPATCH_STORAGE_WRITE),
            (WINDLASS_BUFFER_USAGE_DISPATCH_STORAGE, BufferUsage::DISPATCH_STORAGE),
            (WINDLASS_BUFFER_USAGE_MAPPING, BufferUsage::MAPPING),
            (WINDLASS_BUFFER_USAGE_DEFAULT, BufferUsage::DEFAULT),
        ] {
            assert_eq!(BufferUsage(ours), theirs);
        }
    }
}
