// SPDX-License-Identifier: MIT OR Apache-2.0
//! One code object in memory of its own, as a loader without a length wants it.

use std::fmt;
use std::ops::Deref;
use std::sync::OnceLock;

use crate::code_object::CodeObject;
use crate::error::Error;

/// What an image is aligned to, and padded to with zeros.
const PAGE: usize = 4096;

/// The bytes of one entry: they begin at a page, and zeros follow them to the end of the last page, one at least.
///
/// `hipModuleLoadData` takes no length and believes the headers that it is given, so it is to be shown one code object
/// and nothing else. An image is `Send` and `Sync`; it does not move while it lives.
pub struct Image {
    memory: Vec<u8>,
    start: usize,
    size: usize,
    code: OnceLock<Result<CodeObject, Error>>,
}

impl Image {
    /// A copy of `bytes`.
    ///
    /// # Errors
    ///
    /// [`Error::Memory`] where there is not enough of it.
    pub fn copy(bytes: &[u8]) -> Result<Image, Error> {
        let size = bytes.len();
        let padded = (size / PAGE + 1) * PAGE;
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

    /// What is in it. Parsed once, for all who share the image.
    ///
    /// # Errors
    ///
    /// As [`CodeObject::parse`].
    pub fn code_object(&self) -> Result<&CodeObject, Error> {
        self.code.get_or_init(|| CodeObject::parse(self)).as_ref().map_err(Clone::clone)
    }

    /// The memory that it takes, in bytes.
    pub fn memory_size(&self) -> usize {
        self.memory.capacity()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_begins_at_a_page_and_zeros_follow_it() {
        for size in [0, 1, PAGE - 1, PAGE, PAGE + 1, 3 * PAGE] {
            let bytes = vec![7; size];
            let image = Image::copy(&bytes).unwrap();
            assert_eq!(&image[..], bytes);
            assert_eq!(image.as_ptr().addr() % PAGE, 0);
            let behind = &image.memory[image.start + size..];
            assert!(!behind.is_empty() && behind.iter().all(|byte| *byte == 0), "{size}");
            assert_eq!((size + behind.len()) % PAGE, 0);
            assert!(image.code_object().is_err());
        }
    }
}
