// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device code without a device: the format of bytes, their size, and the limits of reading.

use std::{
    ffi::{CString, c_char, c_void},
    mem::MaybeUninit,
    ptr::{self, NonNull},
    sync::OnceLock,
};

use facade::{Code, Error, Result};
use windlass_codeobject as codeobject;
use windlass_codeobject::{Format, Options};

use crate::{
    boundary::{fallible, infallible},
    error::windlass_error_t,
    memory::{Growing, bytes, c_string, out, read_struct},
};

/// The format of a file by its first bytes: one of WINDLASS_CODE_FORMAT_*. Later versions may add formats.
pub type windlass_code_format_t = u32;

/// No known format.
pub const WINDLASS_CODE_FORMAT_UNKNOWN: windlass_code_format_t = 0;
/// A 64-bit little-endian ELF, for a GPU or for a host.
pub const WINDLASS_CODE_FORMAT_ELF: windlass_code_format_t = 1;
/// An ELF of 32 bits, or a big-endian one.
pub const WINDLASS_CODE_FORMAT_OTHER_ELF: windlass_code_format_t = 2;
/// An uncompressed clang offload bundle.
pub const WINDLASS_CODE_FORMAT_BUNDLE: windlass_code_format_t = 3;
/// A compressed clang offload bundle.
pub const WINDLASS_CODE_FORMAT_CCOB: windlass_code_format_t = 4;
/// An LLVM offload binary.
pub const WINDLASS_CODE_FORMAT_OFFLOAD_BINARY: windlass_code_format_t = 5;
/// An IREE executable for the HIP driver ("HIP1").
pub const WINDLASS_CODE_FORMAT_IREE_HIP: windlass_code_format_t = 6;
/// An IREE executable for the AMDGPU driver ("AMD1").
pub const WINDLASS_CODE_FORMAT_IREE_AMDGPU: windlass_code_format_t = 7;
/// A kpack archive.
pub const WINDLASS_CODE_FORMAT_KPACK: windlass_code_format_t = 8;
/// A Debian package.
pub const WINDLASS_CODE_FORMAT_DEBIAN: windlass_code_format_t = 9;
/// An archive of objects.
pub const WINDLASS_CODE_FORMAT_ARCHIVE: windlass_code_format_t = 10;
/// An archive of objects that holds names and no contents.
pub const WINDLASS_CODE_FORMAT_THIN_ARCHIVE: windlass_code_format_t = 11;
/// A zip file, such as a Python wheel.
pub const WINDLASS_CODE_FORMAT_ZIP: windlass_code_format_t = 12;
/// The wrapper by which a host program registers a bundle (__hip_fatbin_wrapper).
pub const WINDLASS_CODE_FORMAT_HOST_WRAPPER: windlass_code_format_t = 13;
/// The wrapper of a host program whose code is in a kpack archive.
pub const WINDLASS_CODE_FORMAT_KPACK_REFERENCE: windlass_code_format_t = 14;
/// SPIR-V.
pub const WINDLASS_CODE_FORMAT_SPIRV: windlass_code_format_t = 15;
/// LLVM bitcode.
pub const WINDLASS_CODE_FORMAT_BITCODE: windlass_code_format_t = 16;
/// An RPM package.
pub const WINDLASS_CODE_FORMAT_RPM: windlass_code_format_t = 17;
/// A 7z archive.
pub const WINDLASS_CODE_FORMAT_SEVEN_ZIP: windlass_code_format_t = 18;
/// An uncompressed tar file.
pub const WINDLASS_CODE_FORMAT_TAR: windlass_code_format_t = 19;
/// A text bundle of clang.
pub const WINDLASS_CODE_FORMAT_TEXT_BUNDLE: windlass_code_format_t = 20;

/// The formats, by their number minus one.
const FORMATS: [Format; 20] = [
    Format::Elf,
    Format::OtherElf,
    Format::Bundle,
    Format::Ccob,
    Format::OffloadBinary,
    Format::IreeHip,
    Format::IreeAmdgpu,
    Format::Kpack,
    Format::Debian,
    Format::Archive,
    Format::ThinArchive,
    Format::Zip,
    Format::HostWrapper,
    Format::KpackReference,
    Format::SpirV,
    Format::Bitcode,
    Format::Rpm,
    Format::SevenZip,
    Format::Tar,
    Format::TextBundle,
];

/// A GPU may get code for another processor of its ISA-compatible family, as some Linux distributions allow. An
/// unpatched ROCm refuses such code.
pub const WINDLASS_CODE_COMPATIBLE_FAMILIES: u32 = 1 << 0;

/// Limits and choices for reading code. windlass_code_options_init makes the defaults; NULL stands for them too.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_code_options_t {
    /// sizeof this struct.
    pub struct_size: usize,
    /// The maximum unpacked size in bytes: of one bundle, of one entry of a kpack archive, or of all members of a zip
    /// file. 0 for 1 GiB.
    pub max_unpacked: u64,
    /// The maximum size in bytes of code at an address without a length. 0 for 4 GiB.
    pub max_stored: u64,
    /// A set of WINDLASS_CODE_COMPATIBLE_FAMILIES.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_code_options_t {
    const NAME: &'static str = "windlass_code_options_t";
}

/// The options of the caller.
///
/// # Safety
/// As for [`read_struct`]; NULL is allowed.
pub(crate) unsafe fn options_of(options: *const windlass_code_options_t) -> Result<Options> {
    let mut read = Options::default();
    if options.is_null() {
        return Ok(read);
    }
    // SAFETY: the same contract.
    let given = unsafe { read_struct(options) }?;
    let unknown = given.flags & !WINDLASS_CODE_COMPATIBLE_FAMILIES;
    if unknown != 0 || given.reserved != 0 {
        return Err(Error::invalid_argument(format!(
            "options with the unknown flags {unknown:#x}, or a field `reserved` that is not zero"
        )));
    }
    if given.max_unpacked > 0 {
        read.max_unpacked = given.max_unpacked;
    }
    if given.max_stored > 0 {
        read.max_stored = given.max_stored;
    }
    read.compatible_families = given.flags & WINDLASS_CODE_COMPATIBLE_FAMILIES != 0;
    Ok(read)
}

/// An error of reading code.
pub(crate) fn error_of(error: &codeobject::Error) -> Error {
    use codeobject::Error as Read;
    let code = match error {
        Read::NotFound { .. } => Code::NotFound,
        Read::Unsupported { .. } | Read::NoDecoder { .. } => Code::Unimplemented,
        Read::Limit { .. } | Read::Memory { .. } => Code::ResourceExhausted,
        Read::Read { path, .. } if !path.exists() => Code::NotFound,
        Read::Read { .. } => Code::Unavailable,
        Read::Member { error, .. } => error_of(error).code(),
        _ => Code::InvalidArgument,
    };
    Error::new(code, error.to_string())
}

/// The format of bytes, usually of a file: 262 bytes tell all formats, 64 all that hold code. UNKNOWN for others and
/// for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_code_format(head: *const c_void, size: usize) -> windlass_code_format_t {
    infallible(WINDLASS_CODE_FORMAT_UNKNOWN, || {
        // SAFETY: the contract in the header covers that of `bytes`.
        let format = Format::of(unsafe { bytes("head", size, head) }?);
        let index = FORMATS.iter().position(|known| Some(*known) == format);
        Ok(index.map_or(WINDLASS_CODE_FORMAT_UNKNOWN, |index| index as u32 + 1))
    })
}

/// The name of a format, such as "an offload bundle"; NULL for an unknown number. The string is valid forever.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_format_name(format: windlass_code_format_t) -> *const c_char {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    infallible(ptr::null(), || {
        let names = NAMES.get_or_init(|| FORMATS.iter().map(|known| c_string(&known.to_string())).collect());
        let index = (format as usize).checked_sub(1);
        Ok(index.and_then(|index| names.get(index)).map_or(ptr::null(), |name| name.as_ptr()))
    })
}

/// The number of bytes of the code that begins at `code`, as its headers say: for code objects, bundles, LLVM offload
/// binaries and IREE executables. No byte beyond `available` is read: INVALID_ARGUMENT if the headers lead there. The
/// result may be larger than `available`. UNIMPLEMENTED for formats that do not state their size.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_code_size(
    code: *const c_void,
    available: usize,
    options: *const windlass_code_options_t,
    size: Option<&mut MaybeUninit<u64>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let size = out("size", size)?;
        // SAFETY: the contract in the header covers that of `options_of`.
        let options = unsafe { options_of(options) }?;
        // SAFETY: the contract in the header covers that of `bytes`.
        let code = unsafe { bytes("code", available, code) }?;
        let read = |offset: u64, target: &mut [u8]| {
            let start = usize::try_from(offset).ok();
            let end = start.and_then(|start| start.checked_add(target.len()));
            match start.zip(end).and_then(|(start, end)| code.get(start..end)) {
                Some(source) => target.copy_from_slice(source),
                None => return false,
            }
            true
        };
        size.write(codeobject::size_at(&read, &options).map_err(|error| error_of(&error))?);
        Ok(())
    })
}

/// The code that begins at `start`, whose size nobody states, as HIP's own functions take it: its first byte and its
/// size by its headers. For a HIPF wrapper, the code that the wrapper points to. Nothing is copied.
///
/// The headers are trusted: undefined if they announce memory that does not exist. windlass_code_size reads code that
/// may be damaged.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_code_at(
    start: *const c_void,
    options: *const windlass_code_options_t,
    code: Option<&mut MaybeUninit<*const c_void>>,
    size: Option<&mut MaybeUninit<usize>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let (code, size) = (out("code", code)?, out("size", size)?);
        // SAFETY: the contract in the header covers that of `options_of`.
        let options = unsafe { options_of(options) }?;
        if start.is_null() {
            return Err(Error::invalid_argument("`start` is NULL"));
        }
        // SAFETY: the contract in the header covers that of `bytes_at`.
        let found =
            unsafe { codeobject::bytes_at(start.cast(), &options) }.map_err(|error| error_of(&error))?;
        code.write(found.as_ptr().cast());
        size.write(found.len());
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    fn formats_have_the_numbers_of_their_constants() {
        for (number, name) in [
            (WINDLASS_CODE_FORMAT_ELF, c"an ELF"),
            (WINDLASS_CODE_FORMAT_CCOB, c"a compressed offload bundle"),
            (WINDLASS_CODE_FORMAT_ZIP, c"a zip file"),
            (WINDLASS_CODE_FORMAT_TEXT_BUNDLE, c"a text bundle"),
        ] {
            // SAFETY: the name of a known format lives forever.
            assert_eq!(unsafe { CStr::from_ptr(windlass_code_format_name(number)) }, name);
        }
        for (index, format) in FORMATS.iter().enumerate() {
            assert_eq!(*format as usize, index, "{format}");
        }
    }
}
