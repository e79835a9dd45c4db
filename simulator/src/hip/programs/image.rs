// SPDX-License-Identifier: MIT OR Apache-2.0
//! How long an image in memory is. HIP's loading functions get a bare pointer; the headers behind it tell. Where they
//! tell of memory that is not there, the image is refused.

use std::ffi::c_void;
use std::mem::MaybeUninit;

use windlass_codeobject::Format;

use super::foreign;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;

/// No image is larger: a header that says so is damaged.
const MOST: u64 = 16 << 30;
/// Containers hold at most so many entries.
const MOST_ENTRIES: u64 = 1 << 16;

/// Copies an image out of the client's memory.
///
/// # Errors
/// `INVALID_VALUE` for null; `INVALID_IMAGE` where the first bytes are no known container, their sizes make no sense, or
/// they tell of memory that cannot be read (which Linux alone can say); `OUT_OF_MEMORY` where there is no room for the copy.
///
/// # Safety
/// `image` is null or readable for the length that its own headers tell.
pub(crate) unsafe fn copy(image: *const c_void) -> Outcome<Vec<u8>> {
    if image.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let peek = Peek(image.cast());
    // SAFETY: the caller vouches for what the headers tell.
    let length = unsafe { peek.length() }.filter(|length| (1..=MOST).contains(length));
    let length = length.and_then(|length| usize::try_from(length).ok()).ok_or_else(|| {
        explain(format!(
            "no module is loaded from {image:p}: no code object and no bundle begins there, its headers contradict \
             themselves, or they go on where no memory can be read"
        ));
        Code::INVALID_IMAGE
    })?;
    let cut_short = || {
        explain(format!(
            "no module is loaded from {image:p}: its headers tell of {length} bytes, which cannot all be read there"
        ));
        Code::INVALID_IMAGE
    };
    // The last byte first: a damaged size must not cost memory for what is not there.
    // SAFETY: as above.
    if unsafe { peek.array::<1>(length as u64 - 1) }.is_none() {
        return Err(cut_short());
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length).map_err(|_| Code::OUT_OF_MEMORY)?;
    // SAFETY: as above.
    let whole = unsafe { foreign::read(peek.0, &mut bytes.spare_capacity_mut()[..length]) };
    if !whole {
        return Err(cut_short());
    }
    // SAFETY: so many bytes were reserved and read.
    unsafe { bytes.set_len(length) };
    Ok(bytes)
}

/// An image, read piece by piece, each only as the pieces before allow.
struct Peek(*const u8);

impl Peek {
    /// # Safety
    /// See [`copy`].
    unsafe fn length(&self) -> Option<u64> {
        // SAFETY: every container is longer than the shortest magics, and has the longer one if it begins like it.
        unsafe {
            match Format::at_address(self.array(0)?)? {
                Format::Elf | Format::OtherElf => self.elf_length(),
                Format::Ccob => self.ccob_length(),
                Format::Bundle => self.bundle_length(),
                _ => None,
            }
        }
    }

    /// # Safety
    /// The piece is readable.
    unsafe fn array<const N: usize>(&self, at: u64) -> Option<[u8; N]> {
        let from = self.0.wrapping_add(usize::try_from(at).ok()?);
        let mut piece = [MaybeUninit::uninit(); N];
        // SAFETY: the caller vouches for the piece. It is whole where `read` says so.
        unsafe { foreign::read(from, &mut piece).then(|| piece.map(|byte| byte.assume_init())) }
    }

    /// # Safety
    /// The piece is readable.
    unsafe fn number<const N: usize>(&self, at: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        // SAFETY: the caller vouches for the piece.
        bytes.get_mut(..N)?.copy_from_slice(&unsafe { self.array::<N>(at) }?);
        Some(u64::from_le_bytes(bytes))
    }

    /// The end of whatever lies last: headers, segments or sections.
    ///
    /// # Safety
    /// The image begins as a whole ELF file.
    unsafe fn elf_length(&self) -> Option<u64> {
        // SAFETY: the header is 64 bytes, and the tables that it names belong to the file.
        unsafe {
            let class_and_order = self.number::<2>(4)?;
            if class_and_order != 0x0102 {
                return None;
            }
            let (programs, sections) = (self.number::<8>(32)?, self.number::<8>(40)?);
            let (program_size, program_count) = (self.number::<2>(54)?, self.number::<2>(56)?);
            let (section_size, section_count) = (self.number::<2>(58)?, self.number::<2>(60)?);
            let mut end = 64;
            if program_count > 0 {
                end = end.max(table_end(programs, program_size, program_count, 56)?);
                for index in 0..program_count {
                    let header = programs + index * program_size;
                    end = end.max(range_end(self.number::<8>(header + 8)?, self.number::<8>(header + 32)?)?);
                }
            }
            if section_count > 0 {
                end = end.max(table_end(sections, section_size, section_count, 64)?);
                for index in 0..section_count {
                    let header = sections + index * section_size;
                    // A section without bits in the file (SHT_NOBITS) has no end there.
                    if self.number::<4>(header + 4)? != 8 {
                        end = end
                            .max(range_end(self.number::<8>(header + 24)?, self.number::<8>(header + 32)?)?);
                    }
                }
            }
            Some(end)
        }
    }

    /// The end of the last entry.
    ///
    /// # Safety
    /// The image begins as a whole bundle.
    unsafe fn bundle_length(&self) -> Option<u64> {
        // SAFETY: the header is followed by as many rows as it says, each with an id as long as it says.
        unsafe {
            if Format::of(&self.array::<24>(0)?) != Some(Format::Bundle) {
                return None;
            }
            let count = self.number::<8>(24).filter(|count| *count <= MOST_ENTRIES)?;
            let mut row: u64 = 32;
            let mut end = row;
            for _ in 0..count {
                end = end.max(range_end(self.number::<8>(row)?, self.number::<8>(row + 8)?)?);
                let id = self.number::<8>(row + 16).filter(|length| *length <= 4096)?;
                row += 24 + id;
                end = end.max(row);
            }
            Some(end)
        }
    }

    /// What the header says.
    ///
    /// # Safety
    /// The image begins as a whole compressed bundle.
    unsafe fn ccob_length(&self) -> Option<u64> {
        // SAFETY: each version's header is at least as long as what is read of it.
        unsafe {
            match self.number::<2>(4)? {
                2 => self.number::<4>(8),
                3 => self.number::<8>(8),
                // Version 1 does not tell. Nobody can load it from a bare pointer.
                _ => None,
            }
        }
    }
}

fn range_end(offset: u64, size: u64) -> Option<u64> {
    offset.checked_add(size).filter(|end| *end <= MOST)
}

fn table_end(offset: u64, size: u64, count: u64, least: u64) -> Option<u64> {
    // Sizes and counts have 16 bits each.
    if size < least { None } else { range_end(offset, size * count) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length_of(bytes: &[u8]) -> Option<u64> {
        // SAFETY: the tests' images hold what they tell, or end where a check fails.
        unsafe { Peek(bytes.as_ptr()).length() }
    }

    #[test]
    fn a_bundle_ends_with_its_last_entry() {
        let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
        for number in [2_u64, 4096, 100, 5] {
            bundle.extend(number.to_le_bytes());
        }
        bundle.extend(b"host-");
        for number in [8192_u64, 50, 5] {
            bundle.extend(number.to_le_bytes());
        }
        bundle.extend(b"hipv4");
        assert_eq!(length_of(&bundle), Some(8242));
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn what_headers_tell_of_must_be_there() {
        use super::foreign::tests::Guarded;

        let copied = |image: &[u8]| {
            let guarded = Guarded::new(image);
            // SAFETY: on Linux memory that cannot be read does no harm.
            unsafe { copy(guarded.start().cast()) }
        };
        const CODE: &[u8] = include_bytes!("../../../../cts/kernels/bundles/vector_add.gfx942.co");
        let whole = CODE[..length_of(CODE).unwrap() as usize].to_vec();
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
    fn sizes_that_make_no_sense_are_refused() {
        let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
        for number in [1_u64, u64::MAX - 1, 100, 0] {
            bundle.extend(number.to_le_bytes());
        }
        assert_eq!(length_of(&bundle), None);
        let mut crowded = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
        crowded.extend(u64::MAX.to_le_bytes());
        assert_eq!(length_of(&crowded), None);
        assert_eq!(length_of(b"no container at all"), None);
        assert_eq!(length_of(b"\x7fELF\x01\x01\0\0"), None);
    }
}
