// SPDX-License-Identifier: MIT OR Apache-2.0
//! Images of code in the client's memory. HIP's loading functions get a bare pointer; the headers state the size. An image
//! is refused if its headers lead to memory that cannot be read.

use std::ffi::c_void;

use windlass_codeobject::{Error, Format, Options, size_at};

use super::foreign;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;

/// The most bytes of an image. A header that states more is damaged.
const MOST: u64 = 16 << 30;

/// Copies an image out of the client's memory.
///
/// # Errors
/// `INVALID_VALUE` for null. `INVALID_IMAGE` if no code begins there, its sizes make no sense, or they lead to memory that
/// cannot be read (which only Linux can tell). `OUT_OF_MEMORY` if there is no memory for the copy.
///
/// # Safety
/// `image` is null or readable for the length that its own headers state.
pub(crate) unsafe fn copy(image: *const c_void) -> Outcome<Vec<u8>> {
    if image.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let refuse = |problem: String| {
        explain(format!("no module is loaded from {image:p}: {problem}"));
        Code::INVALID_IMAGE
    };
    let read = |offset: u64, to: &mut [u8]| {
        let from = usize::try_from(offset).map(|offset| image.cast::<u8>().wrapping_add(offset));
        // SAFETY: the caller vouches for the bytes that headers announce, and `size_at` reads no others.
        from.is_ok_and(|from| unsafe { foreign::read(from, to) })
    };
    if !is_loaded(&read) {
        return Err(refuse("no code object and no bundle that HIP loads begins there".to_owned()));
    }
    let mut options = Options::default();
    options.max_stored = MOST;
    let size = size_at(&read, &options).map_err(|error| {
        refuse(match error {
            Error::Limit { value, .. } => format!("its headers state {value} bytes, so it is damaged"),
            error => error.to_string(),
        })
    })?;
    let cut_short = || refuse(format!("its headers state {size} bytes, which cannot all be read there"));
    // The last byte first: a damaged size must not cost memory.
    if !read(size.saturating_sub(1), &mut [0]) {
        return Err(cut_short());
    }
    let length = usize::try_from(size).map_err(|_| cut_short())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| Code::OUT_OF_MEMORY)?;
    bytes.resize(length, 0);
    if read(0, &mut bytes) { Ok(bytes) } else { Err(cut_short()) }
}

/// Whether HIP loads images of this format from memory. It loads no compressed bundle of version 1, whose header states no
/// size.
fn is_loaded(read: &dyn Fn(u64, &mut [u8]) -> bool) -> bool {
    let (mut magic, mut version) = ([0; 4], [0; 2]);
    if !read(0, &mut magic) {
        return false;
    }
    match Format::at_address(magic) {
        Some(Format::Elf | Format::OtherElf | Format::Bundle) => true,
        Some(Format::Ccob) => read(4, &mut version) && u16::from_le_bytes(version) != 1,
        _ => false,
    }
}

#[cfg(all(test, target_os = "linux", not(miri)))]
mod tests {
    use super::super::foreign::tests::Guarded;
    use super::*;

    #[test]
    fn what_headers_tell_of_must_be_there() {
        let copied = |image: &[u8]| {
            let guarded = Guarded::new(image);
            // SAFETY: on Linux memory that cannot be read does no harm.
            unsafe { copy(guarded.start().cast()) }
        };
        const CODE: &[u8] = include_bytes!("../../../../cts/kernels/bundles/vector_add.gfx942.co");
        let whole = CODE[..windlass_codeobject::declared_size(CODE).unwrap() as usize].to_vec();
        assert_eq!(copied(&whole).unwrap(), whole);
        for cut in [0, 1, 3, 5, 63, 64, 65, whole.len() / 2, whole.len() - 1] {
            assert_eq!(copied(&whole[..cut]).unwrap_err(), Code::INVALID_IMAGE, "{cut} bytes");
        }
        // The size in the file of the first segment.
        let size = u64::from_le_bytes(whole[32..40].try_into().unwrap()) as usize + 32;
        for claim in [1_u64 << 20, 8 << 30, u64::MAX] {
            let mut long = whole.clone();
            long[size..size + 8].copy_from_slice(&claim.to_le_bytes());
            assert_eq!(copied(&long).unwrap_err(), Code::INVALID_IMAGE, "a segment of {claim} bytes");
        }
        let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
        for number in [1_u64, 4096, 100, 5] {
            bundle.extend(number.to_le_bytes());
        }
        assert_eq!(copied(&bundle).unwrap_err(), Code::INVALID_IMAGE);
        let compressed = [&b"CCOB"[..], &[2, 0, 1, 0], &4096_u32.to_le_bytes(), &[0; 12]].concat();
        assert_eq!(copied(&compressed).unwrap_err(), Code::INVALID_IMAGE);
        // SAFETY: as above.
        assert_eq!(unsafe { copy(std::ptr::without_provenance(16)) }.unwrap_err(), Code::INVALID_IMAGE);
    }

    #[test]
    fn images_that_hip_does_not_load_are_refused() {
        for image in
            [&b"no container at all"[..], b"\x7fELF\x01\x01\0\0", b"CCOB\x01\0\0\0", b"\x10\xff\x10\xad"]
        {
            let guarded = Guarded::new(image);
            // SAFETY: on Linux memory that cannot be read does no harm.
            assert_eq!(unsafe { copy(guarded.start().cast()) }.unwrap_err(), Code::INVALID_IMAGE);
        }
    }
}
