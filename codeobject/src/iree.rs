// SPDX-License-Identifier: MIT OR Apache-2.0
//! IREE's executables for AMD GPUs, for HIP (`HIP1`) and for its own AMDGPU driver (`AMD1`): a prefix, and a
//! flatbuffer with images in it.

use crate::bytes::{range, u16_at, u32_at, u64_at};
use crate::error::Error;

const PREFIX_SIZE: u64 = 64;
const MAX_IMAGES: u32 = 4096;
const MODULE_IMAGE: u64 = 0;

/// A kind of executable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// `HIP1`.
    Hip,
    /// `AMD1`.
    Amdgpu,
}

impl Format {
    /// What begins here, by its prefix.
    pub(crate) fn of(bytes: &[u8]) -> Option<Format> {
        [Format::Hip, Format::Amdgpu].into_iter().find(|format| bytes.starts_with(format.magic()))
    }

    fn magic(self) -> &'static [u8] {
        match self {
            Format::Hip => b"HIP1",
            Format::Amdgpu => b"AMD1",
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Format::Hip => "the IREE HIP executable (HIP1)",
            Format::Amdgpu => "the IREE AMDGPU executable (AMD1)",
        }
    }

    /// The position of the modules among the fields of the flatbuffer's root.
    fn modules(self) -> u64 {
        match self {
            Format::Hip => 1,
            Format::Amdgpu => 2,
        }
    }
}

/// How many bytes the executable at the head of `bytes` has, which lies at `base` of its file.
pub(crate) fn stored_size(format: Format, bytes: &[u8], base: u64) -> Result<u64, Error> {
    let what = format.name();
    let cut = |needed| Error::truncated(what, base, needed, bytes.len() as u64);
    let version = u32_at(bytes, 4).ok_or_else(|| cut(PREFIX_SIZE))?;
    if version != 0 {
        let advice = "version 0 is read; give the .hsaco that iree-compile dumps";
        return Err(Error::unsupported(format!("version {version} of {what}"), base, advice));
    }
    let size = u64_at(bytes, 8).ok_or_else(|| cut(PREFIX_SIZE))?;
    PREFIX_SIZE
        .checked_add(size)
        .ok_or_else(|| Error::malformed(what, base, format!("its size {size:#x} overflows")))
}

/// The images in an executable that lies at `base` of its file, with their offsets there.
pub(crate) fn images(format: Format, bytes: &[u8], base: u64) -> Result<Vec<(&[u8], u64)>, Error> {
    let what = format.name();
    let size = stored_size(format, bytes, base)?;
    let buffer = range(bytes, PREFIX_SIZE, size - PREFIX_SIZE)
        .ok_or_else(|| Error::truncated(what, base, size, bytes.len() as u64))?;
    let malformed = |problem| Error::malformed(what, base, problem);
    if !buffer.get(4..).is_some_and(|rest| rest.starts_with(format.magic())) {
        return Err(malformed("its flatbuffer is of another kind"));
    }
    read_images(format, buffer, base.saturating_add(PREFIX_SIZE))
        .ok_or_else(|| malformed("its flatbuffer points outside itself"))
}

fn read_images(format: Format, buffer: &[u8], base: u64) -> Option<Vec<(&[u8], u64)>> {
    let mut images = Vec::new();
    let root = follow(buffer, 0)?;
    let Some(modules) = field(buffer, root, format.modules())? else { return Some(images) };
    let modules = follow(buffer, modules)?;
    let count = u32_at(buffer, modules)?;
    if count > MAX_IMAGES {
        return None;
    }
    for index in 0..u64::from(count) {
        let module = follow(buffer, modules.checked_add(4 + 4 * index)?)?;
        let Some(image) = field(buffer, module, MODULE_IMAGE)? else { continue };
        let image = follow(buffer, image)?;
        let size = u32_at(buffer, image)?;
        let start = image.checked_add(4)?;
        images.push((range(buffer, start, size.into())?, base.checked_add(start)?));
    }
    Some(images)
}

/// Where the offset at `position` leads.
fn follow(buffer: &[u8], position: u64) -> Option<u64> {
    position.checked_add(u32_at(buffer, position)?.into())
}

/// Where a field of a table lies; `Some(None)` where the table leaves it out.
fn field(buffer: &[u8], table: u64, index: u64) -> Option<Option<u64>> {
    let back = u32_at(buffer, table)?.cast_signed();
    let directory = table.checked_add_signed(i64::from(back).checked_neg()?)?;
    let size = u64::from(u16_at(buffer, directory)?);
    let slot = 4 + 2 * index;
    if slot + 2 > size {
        return Some(None);
    }
    match u16_at(buffer, directory.checked_add(slot)?)? {
        0 => Some(None),
        offset => Some(Some(table.checked_add(offset.into())?)),
    }
}
