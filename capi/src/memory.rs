// SPDX-License-Identifier: MIT OR Apache-2.0
//! Memory of the C program: strings, lists, out parameters and structs that may grow. Pointers are checked as far as
//! possible; for the rest the caller vouches.

use std::{
    ffi::{CStr, CString, c_char, c_void},
    mem::MaybeUninit,
    ptr::{self, NonNull},
};

use facade::{Error, Result};

use crate::handle::{self, Object};

/// A string of the caller.
///
/// # Safety
/// `pointer` is NULL or points to bytes that end with a NUL and do not change during `'a`.
pub(crate) unsafe fn text<'a>(name: &str, pointer: *const c_char) -> Result<&'a str> {
    if pointer.is_null() {
        return Err(Error::invalid_argument(format!("`{name}` is NULL")));
    }
    // SAFETY: not NULL; the rest is this function's own contract.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|error| Error::invalid_argument(format!("`{name}` is not UTF-8: {error}")))
}

/// A list of the caller. NULL is allowed for an empty list.
///
/// # Safety
/// `pointer` is NULL or points to `count` initialised elements that do not change during `'a`.
pub(crate) unsafe fn list<'a, T>(name: &str, count: usize, pointer: *const T) -> Result<&'a [T]> {
    check_list(name, count, pointer)?;
    if count == 0 {
        return Ok(&[]);
    }
    // SAFETY: not NULL, aligned, no larger than an object can be; the rest is this function's own contract.
    Ok(unsafe { std::slice::from_raw_parts(pointer, count) })
}

/// Bytes of the caller. NULL is allowed for no bytes.
///
/// # Safety
/// As for [`list`].
pub(crate) unsafe fn bytes<'a>(name: &str, size: usize, pointer: *const c_void) -> Result<&'a [u8]> {
    // SAFETY: the same contract.
    unsafe { list(name, size, pointer.cast::<u8>()) }
}

/// Copies bytes to the caller.
///
/// # Safety
/// `pointer` is NULL or points to `bytes.len()` writable bytes.
pub(crate) unsafe fn write_bytes(name: &str, bytes: &[u8], pointer: *mut c_void) -> Result<()> {
    check_list(name, bytes.len(), pointer.cast::<u8>())?;
    // SAFETY: not NULL unless there is nothing to copy; the rest is this function's own contract.
    unsafe { ptr::copy(bytes.as_ptr(), pointer.cast::<u8>(), bytes.len()) };
    Ok(())
}

/// Whether a pointer can point to `count` elements: it is aligned, and the size is possible.
pub(crate) fn check_list<T>(name: &str, count: usize, pointer: *const T) -> Result<()> {
    let what = match count.checked_mul(size_of::<T>()) {
        _ if count == 0 => return Ok(()),
        _ if pointer.is_null() => "is NULL",
        _ if !pointer.is_aligned() => "is not aligned for its elements",
        None => "cannot be so long",
        Some(size) if size > isize::MAX as usize => "cannot be so long",
        Some(_) => return Ok(()),
    };
    Err(Error::invalid_argument(format!("`{name}`, a list of {count}, {what}")))
}

/// A required out parameter.
pub(crate) fn out<'a, T>(
    name: &str,
    place: Option<&'a mut MaybeUninit<T>>,
) -> Result<&'a mut MaybeUninit<T>> {
    place.ok_or_else(|| Error::invalid_argument(format!("`{name}`, where the result goes, is NULL")))
}

/// An out parameter for a handle, NULL until there is one.
pub(crate) type Slot<'a, O> = Option<&'a mut MaybeUninit<Option<NonNull<O>>>>;

/// Makes an object and stores its handle in an out parameter, or NULL if `make` fails. Without an out parameter,
/// nothing is made.
pub(crate) fn give<O: Object>(slot: Slot<'_, O>, make: impl FnOnce() -> Result<O::Value>) -> Result<()> {
    let slot = slot.ok_or_else(|| {
        Error::invalid_argument(format!("the pointer that the {}'s handle goes to is NULL", O::NAME))
    })?;
    slot.write(None);
    let value = make()?;
    slot.write(Some(handle::create(value)));
    Ok(())
}

/// A struct that begins with its own size, so that later versions can add fields.
///
/// # Safety
/// The type is `repr(C)`, its first field is the `usize` with its size in bytes, and all zeros are a valid value.
pub(crate) unsafe trait Growing: Copy {
    /// The size of the first version in bytes. A type that gets a field keeps the old number.
    const LEAST: usize = size_of::<Self>();
    /// The name of the type in messages.
    const NAME: &'static str;
}

/// Reads a struct of an older or newer version: fields that the caller does not know count as zero, and fields that
/// the library does not know must be zero.
///
/// # Safety
/// `pointer` is NULL or points to a struct of as many bytes as its first field states.
pub(crate) unsafe fn read_struct<T: Growing>(pointer: *const T) -> Result<T> {
    // SAFETY: the same contract.
    let size = unsafe { struct_size(pointer) }?;
    let mut value = MaybeUninit::<T>::zeroed();
    let known = size.min(size_of::<T>());
    // SAFETY: the caller's struct has `size` bytes, the value as many as T.
    unsafe { ptr::copy_nonoverlapping(pointer.cast::<u8>(), value.as_mut_ptr().cast::<u8>(), known) };
    // SAFETY: within the caller's struct.
    let beyond = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>().add(known), size - known) };
    if beyond.iter().any(|byte| *byte != 0) {
        return Err(Error::unimplemented(format!(
            "{} sets fields that this library, {}, does not know",
            T::NAME,
            env!("CARGO_PKG_VERSION")
        )));
    }
    // SAFETY: the bytes that were not copied are zero, which is valid for every field.
    Ok(unsafe { value.assume_init() })
}

/// Fills a struct of the caller's size. Its size stays; fields that the library does not know become zero.
///
/// # Safety
/// `pointer` is NULL or points to a writable struct of as many bytes as its first field states.
pub(crate) unsafe fn write_struct<T: Growing>(pointer: *mut T, value: &T) -> Result<()> {
    // SAFETY: the same contract.
    let size = unsafe { struct_size(pointer) }?;
    let known = size.min(size_of::<T>());
    let head = size_of::<usize>();
    let (from, to) = (ptr::from_ref(value).cast::<u8>(), pointer.cast::<u8>());
    // SAFETY: both have `known` bytes, of which the first `head` are the size.
    unsafe { ptr::copy_nonoverlapping(from.add(head), to.add(head), known - head) };
    // SAFETY: within the caller's struct.
    unsafe { ptr::write_bytes(to.add(known), 0, size - known) };
    Ok(())
}

/// # Safety
/// `pointer` is NULL or points to a `usize`.
unsafe fn struct_size<T: Growing>(pointer: *const T) -> Result<usize> {
    /// A larger size is garbage: no struct of this interface will ever have it.
    const MOST: usize = 4096;
    if pointer.is_null() || !pointer.is_aligned() {
        return Err(Error::invalid_argument(format!("the {} is NULL or not aligned", T::NAME)));
    }
    // SAFETY: not NULL and aligned; the rest is this function's own contract.
    let size = unsafe { pointer.cast::<usize>().read() };
    if (T::LEAST..=MOST).contains(&size) {
        return Ok(size);
    }
    Err(Error::invalid_argument(format!(
        "the struct_size of a {} is {size}; set it to sizeof, as the functions of the header that make one do",
        T::NAME
    )))
}

/// A string for C. A NUL inside is written as `\0`.
pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "\\0")).unwrap_or_default()
}

/// Strings for C, and the list of pointers to them.
pub(crate) struct Texts {
    /// Owns the bytes that the pointers lead to.
    _texts: Vec<CString>,
    pointers: Vec<*const c_char>,
}

// SAFETY: the pointers lead to the bytes that this owns, and nothing writes them.
unsafe impl Send for Texts {}
// SAFETY: as above.
unsafe impl Sync for Texts {}

impl Texts {
    pub(crate) fn new(texts: impl Iterator<Item = CString>) -> Self {
        let texts: Vec<CString> = texts.collect();
        let pointers = texts.iter().map(|text| text.as_ptr()).collect();
        Self { _texts: texts, pointers }
    }

    pub(crate) fn pointers(&self) -> &[*const c_char] {
        &self.pointers
    }
}

/// The pointer to a list for C; NULL for an empty one.
pub(crate) fn list_pointer<T>(list: &[T]) -> *const T {
    if list.is_empty() { ptr::null() } else { list.as_ptr() }
}

/// The pointer to an optional string; NULL for none.
pub(crate) fn optional(text: Option<&CString>) -> *const c_char {
    text.map_or(ptr::null(), |text| text.as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        buffer, code, code_file, code_image, code_selection, device, dispatch, driver, executable, global,
        heap, inbox, operation_info, pool, symbol, wrapper,
    };

    /// The sizes of the first versions. A struct that gets a field keeps the number here as its [`Growing::LEAST`].
    #[test]
    #[cfg(target_pointer_width = "64")]
    fn the_first_versions_of_structs_have_their_sizes() {
        assert_eq!(device::windlass_device_info_t::LEAST, 56);
        assert_eq!(device::windlass_device_limits_t::LEAST, 72);
        assert_eq!(device::windlass_statistics_t::LEAST, 104);
        assert_eq!(executable::windlass_function_info_t::LEAST, 56);
        assert_eq!(executable::windlass_parameter_t::LEAST, 32);
        assert_eq!(buffer::windlass_buffer_params_t::LEAST, 32);
        assert_eq!(dispatch::windlass_dispatch_config_t::LEAST, 40);
        assert_eq!(pool::windlass_pool_params_t::LEAST, 72);
        assert_eq!(pool::windlass_pool_statistics_t::LEAST, 128);
        assert_eq!(heap::windlass_heap_t::LEAST, 32);
        assert_eq!(global::windlass_global_info_t::LEAST, 24);
        assert_eq!(symbol::windlass_symbol_t::LEAST, 40);
        assert_eq!(inbox::windlass_message_t::LEAST, 48);
        assert_eq!(code::windlass_code_options_t::LEAST, 32);
        assert_eq!(code_file::windlass_code_bundle_t::LEAST, 64);
        assert_eq!(code_file::windlass_code_entry_t::LEAST, 64);
        assert_eq!(code_image::windlass_code_kernel_t::LEAST, 80);
        assert_eq!(code_image::windlass_code_argument_t::LEAST, 40);
        assert_eq!(code_image::windlass_code_rejected_t::LEAST, 24);
        assert_eq!(code_selection::windlass_code_verdict_t::LEAST, 24);
        assert_eq!(operation_info::windlass_operation_info_t::LEAST, 288);
        assert_eq!(driver::table::windlass_driver_t::LEAST, 144);
        assert_eq!(wrapper::windlass_wrapper_t::LEAST, 32);
    }

    #[test]
    fn a_string_for_c_shows_a_nul() {
        assert_eq!(c_string("a\0b").as_c_str(), c"a\\0b");
        assert_eq!(c_string("").as_c_str(), c"");
    }
}
