// SPDX-License-Identifier: MIT OR Apache-2.0
//! DLPack: arrays that libraries of one process exchange.
//!
//! The structs are those of DLPack's `dlpack.h`, whose layout is its promise. The header only declares their names, so
//! that it can be included before and after DLPack's own.

use std::{
    ffi::{c_char, c_int, c_void},
    mem::MaybeUninit,
    ptr::{self, NonNull},
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use facade::{
    Buffer, BufferParams, BufferUsage, BufferView, Device, ElementType, Error, Location, Result, Shape,
};

use crate::{
    boundary::{fallible, infallible},
    buffer::windlass_buffer_t,
    buffer_view::windlass_buffer_view_t,
    callback::{UserData, windlass_destroy_t},
    device::windlass_device_t,
    error::windlass_error_t,
    exception::contained,
    handle::used,
    memory::{check_list, give, out},
};

/// The consumer must not write the memory: DLPack's DLPACK_FLAG_BITMASK_READ_ONLY.
pub const WINDLASS_DLPACK_READ_ONLY: u64 = 1 << 0;
/// The memory is a copy: DLPack's DLPACK_FLAG_BITMASK_IS_COPIED.
pub const WINDLASS_DLPACK_IS_COPIED: u64 = 1 << 1;

/// The kind and the number of a device.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct DLDevice {
    device_type: i32,
    device_id: i32,
}

const CPU: i32 = 1;
const ROCM: i32 = 10;
const ROCM_HOST: i32 = 11;

/// The type of an element.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DLDataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

const INT: u8 = 0;
const UINT: u8 = 1;
const FLOAT: u8 = 2;
const BFLOAT: u8 = 4;
const BOOL: u8 = 6;

/// An array.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DLTensor {
    data: *mut c_void,
    device: DLDevice,
    ndim: i32,
    dtype: DLDataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// An array and its end, before version 1.
#[repr(C)]
pub struct DLManagedTensor {
    dl_tensor: DLTensor,
    manager_ctx: *mut c_void,
    deleter: Option<unsafe extern "C-unwind" fn(*mut DLManagedTensor)>,
}

/// A version of DLPack.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DLPackVersion {
    major: u32,
    minor: u32,
}

/// The version whose rules the tensors of this file follow.
const VERSION: DLPackVersion = DLPackVersion { major: 1, minor: 1 };

/// An array and its end.
#[repr(C)]
pub struct DLManagedTensorVersioned {
    version: DLPackVersion,
    manager_ctx: *mut c_void,
    deleter: Option<unsafe extern "C-unwind" fn(*mut DLManagedTensorVersioned)>,
    flags: u64,
    dl_tensor: DLTensor,
}

fn data_type(element: ElementType) -> Result<DLDataType> {
    let code = match element {
        ElementType::Bool8 => BOOL,
        ElementType::Int8 | ElementType::Int16 | ElementType::Int32 | ElementType::Int64 => INT,
        ElementType::Sint8 | ElementType::Sint16 | ElementType::Sint32 | ElementType::Sint64 => INT,
        ElementType::Uint8 | ElementType::Uint16 | ElementType::Uint32 | ElementType::Uint64 => UINT,
        ElementType::Float16 | ElementType::Float32 | ElementType::Float64 => FLOAT,
        ElementType::Bfloat16 => BFLOAT,
        other => return Err(Error::unimplemented(format!("DLPack has no number for {}", other.name()))),
    };
    Ok(DLDataType { code, bits: 8 * element.size() as u8, lanes: 1 })
}

fn element_type(dtype: DLDataType) -> Result<ElementType> {
    let DLDataType { code, bits, lanes } = dtype;
    if lanes != 1 {
        return Err(Error::unimplemented(format!(
            "elements of {lanes} lanes: give the lanes a dimension of their own"
        )));
    }
    Ok(match (code, bits) {
        (BOOL, 8) => ElementType::Bool8,
        (INT, 8) => ElementType::Sint8,
        (INT, 16) => ElementType::Sint16,
        (INT, 32) => ElementType::Sint32,
        (INT, 64) => ElementType::Sint64,
        (UINT, 8) => ElementType::Uint8,
        (UINT, 16) => ElementType::Uint16,
        (UINT, 32) => ElementType::Uint32,
        (UINT, 64) => ElementType::Uint64,
        (FLOAT, 16) => ElementType::Float16,
        (FLOAT, 32) => ElementType::Float32,
        (FLOAT, 64) => ElementType::Float64,
        (BFLOAT, 16) => ElementType::Bfloat16,
        _ => {
            return Err(Error::unimplemented(format!(
                "elements with DLPack's type code {code} and {bits} bits: share their bytes as integers"
            )));
        }
    })
}

fn dlpack_device(buffer: &Buffer) -> Result<DLDevice> {
    let (device_type, device_id) = match buffer.location() {
        Some(Location::Host) => (CPU, 0),
        Some(Location::Rocm(ordinal)) => (ROCM, ordinal),
        Some(Location::RocmHost) => (ROCM_HOST, 0),
        _ => {
            return Err(Error::unimplemented(
                "the buffer's driver does not say where other libraries find its memory",
            ));
        }
    };
    Ok(DLDevice { device_type, device_id })
}

/// The address of a buffer for its consumer.
fn data(buffer: &Buffer) -> Result<*mut c_void> {
    if buffer.is_empty() {
        return Ok(ptr::null_mut());
    }
    Ok(match buffer.location() {
        Some(Location::RocmHost) => buffer.map()?.as_ptr().cast(),
        _ => ptr::with_exposed_provenance_mut(buffer.device_address() as usize),
    })
}

fn is_read_only(buffer: &Buffer) -> bool {
    let writes = BufferUsage::TRANSFER_TARGET | BufferUsage::DISPATCH_STORAGE_WRITE;
    buffer.params().usage.0 & writes.0 == 0
}

/// A tensor that the library made, with all that it points to.
#[repr(C)]
struct Made<T> {
    /// First, so that a pointer to the tensor is one to this.
    tensor: T,
    shape: Box<[i64]>,
    strides: Box<[i64]>,
    _memory: Buffer,
}

impl<T> Made<T> {
    /// The tensor of a view, for the consumer to delete. `around` completes it.
    fn give(view: &BufferView, around: impl FnOnce(DLTensor) -> T) -> Result<*mut T> {
        let dimensions = view.shape().dimensions();
        let signed = |number: u64| {
            let wrong = |_| Error::out_of_range(format!("DLPack has no dimension of {number}"));
            i64::try_from(number).map_err(wrong)
        };
        let mut shape = dimensions.iter().copied().map(signed).collect::<Result<Box<[i64]>>>()?;
        let mut strides = vec![1i64; shape.len()].into_boxed_slice();
        for index in (1..shape.len()).rev() {
            strides[index - 1] = strides[index].wrapping_mul(shape[index].max(1));
        }
        let tensor = DLTensor {
            data: data(view.buffer())?,
            device: dlpack_device(view.buffer())?,
            ndim: i32::try_from(shape.len()).map_err(|_| Error::out_of_range("DLPack has no such rank"))?,
            dtype: data_type(view.element_type())?,
            shape: shape.as_mut_ptr(),
            strides: strides.as_mut_ptr(),
            byte_offset: 0,
        };
        let made = Self { tensor: around(tensor), shape, strides, _memory: view.buffer().clone() };
        Ok(Box::into_raw(Box::new(made)).cast::<T>())
    }

    /// The deleter of such a tensor.
    unsafe extern "C-unwind" fn delete(tensor: *mut T) {
        infallible((), || {
            if !tensor.is_null() {
                // SAFETY: DLPack's contract is one call for a tensor, which `give` has made.
                drop(unsafe { Box::from_raw(tensor.cast::<Self>()) });
            }
            Ok(())
        });
    }
}

/// The DLPack device of a buffer's memory: DLPack's numbers of the kind (1 for the CPU, 10 for ROCm, 11 for host memory
/// of ROCm) and of the device, for a GPU HIP's. UNIMPLEMENTED if the driver does not say.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_buffer_dlpack_device(
    buffer: Option<NonNull<windlass_buffer_t>>,
    device_type: Option<&mut MaybeUninit<i32>>,
    device_id: Option<&mut MaybeUninit<i32>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let (device_type, device_id) = (out("device_type", device_type)?, out("device_id", device_id)?);
        let device = dlpack_device(&*used(buffer)?)?;
        device_type.write(device.device_type);
        device_id.write(device.device_id);
        Ok(())
    })
}

/// Makes a DLPack tensor of a view, without a copy. `flags` is a set of WINDLASS_DLPACK_*. Memory without a usage that
/// writes is read-only in any case. The caller owns the tensor, and calls its deleter, on any thread, or gives it to a
/// consumer that does. Until then the memory stays allocated, even when the device is closed. The exception is a
/// windlass_queue_dealloca of the buffer. Semaphores must order the consumer's accesses with the work of Windlass.
///
/// UNIMPLEMENTED for an element type that DLPack lacks, or if the driver does not say where its memory is.
/// FAILED_PRECONDITION for host memory of a GPU that was not allocated for mapping.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_buffer_view_to_dlpack(
    view: Option<NonNull<windlass_buffer_view_t>>,
    flags: u64,
    tensor: Option<&mut MaybeUninit<*mut DLManagedTensorVersioned>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let tensor = out("tensor", tensor)?;
        tensor.write(ptr::null_mut());
        let unknown = flags & !(WINDLASS_DLPACK_READ_ONLY | WINDLASS_DLPACK_IS_COPIED);
        if unknown != 0 {
            return Err(Error::invalid_argument(format!(
                "a DLPack tensor with the unknown flags {unknown:#x}"
            )));
        }
        let view = used(view)?;
        let read_only = if is_read_only(view.buffer()) { WINDLASS_DLPACK_READ_ONLY } else { 0 };
        tensor.write(Made::give(&view, |dl_tensor| DLManagedTensorVersioned {
            version: VERSION,
            manager_ctx: ptr::null_mut(),
            deleter: Some(Made::<DLManagedTensorVersioned>::delete),
            flags: flags | read_only,
            dl_tensor,
        })?);
        Ok(())
    })
}

/// windlass_buffer_view_to_dlpack for consumers that know only DLPack before version 1. FAILED_PRECONDITION for memory
/// that is read-only, because such a tensor cannot say so.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_buffer_view_to_dlpack_unversioned(
    view: Option<NonNull<windlass_buffer_view_t>>,
    tensor: Option<&mut MaybeUninit<*mut DLManagedTensor>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let tensor = out("tensor", tensor)?;
        tensor.write(ptr::null_mut());
        let view = used(view)?;
        if is_read_only(view.buffer()) {
            return Err(Error::failed_precondition(
                "the memory is read-only, which only versioned DLPack tensors can say",
            ));
        }
        tensor.write(Made::give(&view, |dl_tensor| DLManagedTensor {
            dl_tensor,
            manager_ctx: ptr::null_mut(),
            deleter: Some(Made::<DLManagedTensor>::delete),
        })?);
        Ok(())
    })
}

/// The end of a tensor that another library made.
struct Loan {
    /// Called instead of the tensor's deleter.
    release: windlass_destroy_t,
    user_data: UserData,
    deleter: Deleter,
}

enum Deleter {
    Unversioned(*mut DLManagedTensor),
    Versioned(*mut DLManagedTensorVersioned),
}

// SAFETY: a consumer may delete a tensor on any thread, by DLPack's contract, and nothing else uses the pointer.
unsafe impl Send for Loan {}
// SAFETY: nothing uses it through a shared reference.
unsafe impl Sync for Loan {}

impl Loan {
    fn end(self) {
        match (self.release, self.deleter) {
            // SAFETY: the caller gave the function for this call, once, on any thread.
            (Some(release), _) => contained("the function that releases a DLPack tensor", || unsafe {
                release(self.user_data.0);
            }),
            (None, Deleter::Unversioned(tensor)) => {
                // SAFETY: the producer's tensor belongs to the library, which deletes it once.
                if let Some(delete) = unsafe { (*tensor).deleter } {
                    // SAFETY: as above.
                    contained("the deleter of a DLPack tensor", || unsafe { delete(tensor) });
                }
            }
            (None, Deleter::Versioned(tensor)) => {
                // SAFETY: as above.
                if let Some(delete) = unsafe { (*tensor).deleter } {
                    // SAFETY: as above.
                    contained("the deleter of a DLPack tensor", || unsafe { delete(tensor) });
                }
            }
        }
    }
}

/// The dimensions of a tensor. INVALID_ARGUMENT unless it is a dense row-major array.
///
/// # Safety
/// Shape and strides are NULL or point to as many numbers as the rank says.
unsafe fn shape_of(tensor: &DLTensor) -> Result<Shape> {
    let rank = usize::try_from(tensor.ndim)
        .map_err(|_| Error::invalid_argument(format!("a DLPack tensor of rank {}", tensor.ndim)))?;
    check_list("shape", rank, tensor.shape)?;
    let list = |pointer: *const i64| match rank {
        0 => &[][..],
        // SAFETY: not NULL, and this function's own contract.
        _ => unsafe { std::slice::from_raw_parts(pointer, rank) },
    };
    let shape = list(tensor.shape);
    let dimensions =
        shape.iter().map(|number| u64::try_from(*number)).collect::<std::result::Result<Vec<_>, _>>();
    let dimensions = dimensions
        .map_err(|_| Error::invalid_argument(format!("a DLPack tensor with the dimensions {shape:?}")))?;
    if !tensor.strides.is_null() && !dimensions.contains(&0) {
        check_list("strides", rank, tensor.strides)?;
        let strides = list(tensor.strides);
        let mut dense = 1i64;
        for (dimension, stride) in shape.iter().zip(strides).rev() {
            if *dimension != 1 && *stride != dense {
                return Err(Error::invalid_argument(format!(
                    "a DLPack tensor with the dimensions {shape:?} and the strides {strides:?} is not dense and \
                     row-major: make a contiguous copy"
                )));
            }
            dense = dense.saturating_mul(*dimension);
        }
    }
    Ok(Shape::new(dimensions))
}

/// The memory of a tensor as a buffer. `release` runs when the library no longer needs it, and never after an error.
///
/// # Safety
/// The tensor is valid by DLPack's contract until `release` runs.
unsafe fn view_of(device: &Device, tensor: &DLTensor, read_only: bool, loan: Loan) -> Result<BufferView> {
    // SAFETY: a part of this function's own contract.
    let shape = unsafe { shape_of(tensor) }?;
    let element = element_type(tensor.dtype)?;
    let size = shape.byte_length(element)?;
    let DLDevice { device_type, device_id } = tensor.device;
    let host = match device_type {
        CPU | ROCM_HOST => true,
        ROCM => false,
        other => {
            return Err(Error::invalid_argument(format!(
                "memory of DLPack's device type {other}: a device takes that of the CPU (1), of ROCm (10) and pinned by \
                 ROCm (11)"
            )));
        }
    };
    let mut params = if host { BufferParams::host() } else { BufferParams::device() };
    if read_only {
        let writes = BufferUsage::TRANSFER_TARGET | BufferUsage::DISPATCH_STORAGE_WRITE;
        params.usage = BufferUsage(params.usage.0 & !writes.0);
    }
    if size == 0 {
        let buffer = device.allocate(&params, 0)?;
        let view = BufferView::new(buffer, shape, element)?;
        loan.end();
        return Ok(view);
    }
    let address = (tensor.data.expose_provenance() as u64).checked_add(tensor.byte_offset);
    let address = address.filter(|_| !tensor.data.is_null());
    let address = address.ok_or_else(|| Error::invalid_argument("a DLPack tensor without memory"))?;

    // The imports release the memory of a refused import too, which stays the caller's here.
    let accepted = Arc::new(AtomicBool::new(false));
    let ending = |loan: Arc<Mutex<Option<Loan>>>| {
        let accepted = accepted.clone();
        move || {
            if accepted.load(Ordering::Acquire)
                && let Some(loan) = loan.lock().unwrap_or_else(PoisonError::into_inner).take()
            {
                loan.end();
            }
        }
    };
    let loan = Arc::new(Mutex::new(Some(loan)));
    // SAFETY: valid until `release` runs, by this function's own contract.
    let by_address = |params: &BufferParams| unsafe {
        device.import_device_address(params, address, size, ending(loan.clone()))
    };
    let buffer = if host {
        let pointer = ptr::with_exposed_provenance_mut::<u8>(address as usize);
        let pointer =
            NonNull::new(pointer).ok_or_else(|| Error::invalid_argument("a DLPack tensor at NULL"))?;
        // SAFETY: as above.
        let imported = unsafe { device.import_host_pointer(&params, pointer, size, ending(loan.clone())) };
        match imported {
            // ROCm knows memory that it has pinned, and a registration of it would end the first one.
            Err(error) if device_type == ROCM_HOST && error.code() == facade::Code::AlreadyExists => {
                params.memory_type = BufferParams::device().memory_type;
                params.usage = BufferUsage(params.usage.0 & !BufferUsage::MAPPING.0);
                by_address(&params)?
            }
            other => other?,
        }
    } else {
        by_address(&params)?
    };
    match buffer.location() {
        Some(Location::Rocm(ordinal)) if !host && ordinal != device_id => {
            return Err(Error::invalid_argument(format!(
                "a DLPack tensor says that its memory is GPU {device_id}'s, and HIP says that it is GPU {ordinal}'s"
            )));
        }
        Some(Location::Host) if !host => {
            return Err(Error::invalid_argument(format!(
                "a DLPack tensor in memory of GPU {device_id}, which this device cannot use"
            )));
        }
        _ => {}
    }
    let view = BufferView::new(buffer, shape, element)?;
    accepted.store(true, Ordering::Release);
    Ok(view)
}

/// Makes a view of another library's DLPack tensor, without a copy. The tensor is a dense row-major array in memory that
/// the device can use: of the process, or of one of its GPUs. Of read-only memory the view's buffer has a usage that
/// only reads. Work of the other library on the memory must be complete, or semaphores must order it. The caller owns
/// the view.
///
/// After success the tensor belongs to the library. When the last handle of the buffer is released and its last use has
/// retired, a thread of Windlass calls `release` with the user data, or the tensor's deleter if `release` is NULL.
/// After an error the tensor is still the caller's, and neither was called.
///
/// INVALID_ARGUMENT for strides, memory of other devices and damaged tensors, UNIMPLEMENTED for element types that
/// Windlass lacks and for a newer major version of DLPack; further errors are those of windlass_buffer_import_host and
/// windlass_buffer_import_device_address.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_buffer_view_from_dlpack(
    device: Option<NonNull<windlass_device_t>>,
    tensor: *mut DLManagedTensorVersioned,
    user_data: *mut c_void,
    release: windlass_destroy_t,
    view: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_view_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(view, || {
            let device = used(device)?;
            check_list("tensor", 1, tensor)?;
            // SAFETY: not NULL; the rest is the contract of DLPack, which the caller vouches for.
            let version = unsafe { (*tensor).version };
            if version.major != VERSION.major {
                let (major, minor) = (version.major, version.minor);
                return Err(Error::unimplemented(format!(
                    "a tensor of DLPack {major}.{minor}: this library knows version 1"
                )));
            }
            // SAFETY: as above.
            let (flags, dl_tensor) = unsafe { ((*tensor).flags, (*tensor).dl_tensor) };
            let loan = Loan { release, user_data: UserData(user_data), deleter: Deleter::Versioned(tensor) };
            // SAFETY: the contract in the header covers that of `view_of`.
            unsafe { view_of(&device.device, &dl_tensor, flags & WINDLASS_DLPACK_READ_ONLY != 0, loan) }
        })
    })
}

/// windlass_buffer_view_from_dlpack for a tensor of DLPack before version 1.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_buffer_view_from_dlpack_unversioned(
    device: Option<NonNull<windlass_device_t>>,
    tensor: *mut DLManagedTensor,
    user_data: *mut c_void,
    release: windlass_destroy_t,
    view: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_view_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(view, || {
            let device = used(device)?;
            check_list("tensor", 1, tensor)?;
            // SAFETY: not NULL; the rest is the contract of DLPack, which the caller vouches for.
            let dl_tensor = unsafe { (*tensor).dl_tensor };
            let loan =
                Loan { release, user_data: UserData(user_data), deleter: Deleter::Unversioned(tensor) };
            // SAFETY: the contract in the header covers that of `view_of`.
            unsafe { view_of(&device.device, &dl_tensor, false, loan) }
        })
    })
}

/// Python's PyCapsule_IsValid.
pub type windlass_capsule_is_valid_t =
    Option<unsafe extern "C" fn(capsule: *mut c_void, name: *const c_char) -> c_int>;

/// Python's PyCapsule_GetPointer.
pub type windlass_capsule_get_pointer_t =
    Option<unsafe extern "C" fn(capsule: *mut c_void, name: *const c_char) -> *mut c_void>;

struct Capsules {
    is_valid: unsafe extern "C" fn(*mut c_void, *const c_char) -> c_int,
    get_pointer: unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void,
}

static CAPSULES: OnceLock<Capsules> = OnceLock::new();

/// Tells the library Python's functions, for windlass_dlpack_capsule_destroy. Only the first call counts.
/// INVALID_ARGUMENT for NULL.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_dlpack_capsule_functions(
    is_valid: windlass_capsule_is_valid_t,
    get_pointer: windlass_capsule_get_pointer_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let (Some(is_valid), Some(get_pointer)) = (is_valid, get_pointer) else {
            return Err(Error::invalid_argument("a function of Python's is NULL"));
        };
        CAPSULES.get_or_init(|| Capsules { is_valid, get_pointer });
        Ok(())
    })
}

/// A PyCapsule_Destructor for a Python package without an extension module: calls the deleter of the tensor in a capsule
/// that no consumer took, named "dltensor" or "dltensor_versioned". It uses no Python but the functions of
/// windlass_dlpack_capsule_functions, and leaves a pending exception as it is. Without these functions it does nothing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_dlpack_capsule_destroy(capsule: *mut c_void) {
    infallible((), || {
        let Some(python) = CAPSULES.get() else { return Ok(()) };
        // SAFETY: Python calls this with a capsule of the caller's, and the functions are Python's.
        let pointer = |name: *const c_char| unsafe {
            ((python.is_valid)(capsule, name) != 0).then(|| (python.get_pointer)(capsule, name))
        };
        if let Some(tensor) = pointer(c"dltensor_versioned".as_ptr()) {
            let tensor = tensor.cast::<DLManagedTensorVersioned>();
            // SAFETY: a capsule of this name holds such a tensor, which nobody else has taken.
            if let Some(delete) = unsafe { tensor.as_ref() }.and_then(|tensor| tensor.deleter) {
                // SAFETY: as above.
                contained("the deleter of a DLPack tensor", || unsafe { delete(tensor) });
            }
        } else if let Some(tensor) = pointer(c"dltensor".as_ptr()) {
            let tensor = tensor.cast::<DLManagedTensor>();
            // SAFETY: as above.
            if let Some(delete) = unsafe { tensor.as_ref() }.and_then(|tensor| tensor.deleter) {
                // SAFETY: as above.
                contained("the deleter of a DLPack tensor", || unsafe { delete(tensor) });
            }
        }
        Ok(())
    });
}
