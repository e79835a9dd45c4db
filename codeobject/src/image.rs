// SPDX-License-Identifier: MIT OR Apache-2.0
//! One code object in page-aligned memory of its own, for a loader that takes no length.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::OnceLock;

use crate::code::code_object::CodeObject;
use crate::code::validate;
use crate::error::Error;

/// The alignment of an image. Zeros pad it to a multiple of this.
pub(crate) const PAGE: usize = 4096;

/// The bytes of one entry, aligned to a page. At least one zero follows, up to the end of the last page.
///
/// `hipModuleLoadData` takes no length and trusts the headers, so it must be given one code object and nothing else.
/// An image is `Send` and `Sync`, and does not move while it lives.
pub struct Image {
    memory: Vec<u8>,
    start: usize,
    size: usize,
    /// The parsed code object, and the size in bytes of its description.
    code: OnceLock<(Result<CodeObject, Error>, usize)>,
}

impl Image {
    /// A copy of `bytes`.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`] if memory is exhausted.
    pub fn copy(bytes: &[u8]) -> Result<Image, Error> {
        let size = bytes.len();
        let padded = padded(size);
        let mut memory: Vec<u8> = Vec::new();
        memory
            .try_reserve_exact(padded + PAGE)
            .map_err(|_| Error::Memory { what: "the image of a code object", bytes: size as u64 })?;
        let start = memory.as_ptr().align_offset(PAGE);
        memory.resize(start, 0);
        memory.extend_from_slice(bytes);
        memory.resize(start + padded, 0);
        Ok(Image { memory, start, size, code: OnceLock::new() })
    }

    /// The image of a part of `memory`, in that memory if it has room for the padding. If the part is aligned, it stays
    /// in place unless the bytes before it outnumber its own; otherwise it moves to the first page.
    pub(crate) fn within(mut memory: Vec<u8>, part: Range<usize>) -> Result<Image, Error> {
        let size = part.len();
        let first = memory.as_ptr().align_offset(PAGE);
        // Moving the image costs time; leaving it in place costs the memory before it.
        let stays =
            part.start.wrapping_sub(first).is_multiple_of(PAGE) && part.start <= size.saturating_add(PAGE);
        let start = if stays { part.start } else { first };
        if start > part.start || memory.capacity() < start.saturating_add(padded(size)) {
            return Image::copy(memory.get(part).unwrap_or_default());
        }
        if !stays {
            memory.copy_within(part, start);
        }
        memory.truncate(start + size);
        memory.resize(start + padded(size), 0);
        memory.shrink_to_fit();
        let image = Image { memory, start, size, code: OnceLock::new() };
        // Shrinking the memory may have moved it.
        if image.as_ptr().align_offset(PAGE) == 0 { Ok(image) } else { Image::copy(&image) }
    }

    /// The parsed code object. It is parsed once, for all users of the image.
    ///
    /// # Errors
    ///
    /// As [`CodeObject::parse`].
    pub fn code_object(&self) -> Result<&CodeObject, Error> {
        let parse = || {
            let code = CodeObject::parse(self);
            let size = code.as_ref().map_or(0, CodeObject::memory_size);
            (code, size)
        };
        self.code.get_or_init(parse).0.as_ref().map_err(Clone::clone)
    }

    /// Checks that a loader that trusts every header stays within the image, like [`validate`](crate::validate).
    ///
    /// # Errors
    ///
    /// As [`validate`](crate::validate).
    pub fn validate(&self) -> Result<(), Error> {
        validate::check(self, self.code_object()?)
    }

    /// The memory of the image and of its parsed description, in bytes.
    pub fn memory_size(&self) -> usize {
        self.memory.capacity() + self.code.get().map_or(0, |(_, size)| *size)
    }
}

impl Deref for Image {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.size]
    }
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Image").field("size", &self.size).finish_non_exhaustive()
    }
}

/// The size with the padding.
fn padded(size: usize) -> usize {
    (size / PAGE + 1).saturating_mul(PAGE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: &[usize] =
        if cfg!(miri) { &[0, PAGE + 1] } else { &[0, 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE] };

    fn check(image: &Image, bytes: &[u8]) {
        let size = bytes.len();
        assert_eq!(&image[..], bytes);
        assert_eq!(image.as_ptr().addr() % PAGE, 0);
        let behind = &image.memory[image.start + size..];
        assert!(!behind.is_empty() && behind.iter().all(|byte| *byte == 0), "{size}");
        assert_eq!((size + behind.len()) % PAGE, 0);
    }

    #[test]
    fn an_image_begins_at_a_page_and_zeros_follow_it() {
        for &size in SIZES {
            let bytes = vec![7; size];
            let image = Image::copy(&bytes).unwrap();
            check(&image, &bytes);
            assert!(image.code_object().is_err());
        }
    }

    #[test]
    fn memory_becomes_an_image_wherever_the_part_lies() {
        for (size, room) in SIZES.iter().flat_map(|&size| [(size, 0), (size, 3 * PAGE)]) {
            // Miri takes seconds for a page.
            let most = if cfg!(miri) { 2 } else { 6 };
            for before in [0, PAGE, 1, PAGE - 1, 2 * PAGE + 8, 64 * PAGE].into_iter().take(most) {
                for aligned in [false, true] {
                    let mut memory: Vec<u8> = Vec::with_capacity(before + size + PAGE + room);
                    let base = if aligned { memory.as_ptr().align_offset(PAGE) } else { 0 };
                    memory.resize(base + before, 1);
                    let bytes: Vec<u8> = (0..size).map(|index| index as u8 | 1).collect();
                    memory.extend(&bytes);
                    memory.push(9);
                    let image = Image::within(memory, base + before..base + before + size).unwrap();
                    check(&image, &bytes);
                    assert!(image.memory_size() <= 4 * size + 4 * PAGE, "{before} before {size}");
                }
            }
        }
    }
}
