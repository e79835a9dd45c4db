// SPDX-License-Identifier: MIT OR Apache-2.0
//! kpack archives (`.kpack`): the code of many host binaries, in a file beside them.
//!
//! A table of contents in MessagePack maps the name of a binary to its architectures, and each of these to a number:
//! the index of a row in the list of blobs, or of a zstd frame in one area of the file.

use std::collections::BTreeMap;

use crate::bytes::{range, text, u32_at, u64_at};
use crate::container::table::MAX_ENTRIES;
use crate::error::Error;
use crate::words::method::Method;
use crate::words::msgpack::{Cursor, Token, for_each_pair, skip_value};

const HEADER_SIZE: u64 = 16;
const VERSION: u32 = 1;
const LONGEST_NAME: usize = 4096;

/// The content of an archive.
#[derive(Debug)]
pub(crate) struct Kpack<'a> {
    /// The compression method of each image, if there is one.
    pub(crate) method: Option<Method>,
    pub(crate) binaries: Vec<Binary<'a>>,
}

/// The code of one host binary, or of one translation unit of it (`lib/libfoo.so#3`).
#[derive(Debug)]
pub(crate) struct Binary<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) images: Vec<StoredImage<'a>>,
}

/// The code for one architecture.
#[derive(Debug)]
pub(crate) struct StoredImage<'a> {
    pub(crate) arch: &'a [u8],
    ordinal: Option<u64>,
    /// The unpacked size that the table of contents states.
    pub(crate) size: Option<u64>,
    /// The place of the stored bytes in the archive.
    pub(crate) offset: u64,
    pub(crate) stored_size: u64,
    /// The reason why the bytes cannot be read.
    pub(crate) problem: Option<String>,
}

/// Reads the table of contents of a whole archive, with at most `most_images` images.
pub(crate) fn read(bytes: &[u8], most_images: usize) -> Result<Kpack<'_>, Error> {
    let what = "the kpack archive";
    let size = bytes.len() as u64;
    let toc = u64_at(bytes, 8).ok_or_else(|| Error::truncated(what, 0, HEADER_SIZE, size))?;
    let version = u32_at(bytes, 4).unwrap_or_default();
    if version != VERSION {
        let advice = "v1 is read; unpack it with rocm-kpack";
        return Err(Error::unsupported(format!("kpack archive v{version}"), 0, advice));
    }
    if !(HEADER_SIZE..size).contains(&toc) {
        let problem = format!("its table of contents should be at {toc:#x}, it has {size:#x} bytes");
        return Err(Error::malformed(what, 0, problem));
    }
    let contents = range(bytes, toc, size - toc).unwrap_or_default();
    Contents::find(contents)
        .ok_or_else(|| wrong_contents(toc, "it is no MessagePack map, or ends too early"))?
        .read(bytes, toc, most_images)
}

fn wrong_contents(offset: u64, problem: impl Into<String>) -> Error {
    Error::malformed("the kpack archive's table of contents", offset, problem)
}

/// The values of interest in the table of contents. The first of several equal keys counts.
#[derive(Default)]
struct Contents<'a> {
    binaries: Option<Cursor<'a>>,
    scheme: Option<Cursor<'a>>,
    blobs: Option<Cursor<'a>>,
    frames_offset: Option<Cursor<'a>>,
    frames_size: Option<Cursor<'a>>,
}

impl<'a> Contents<'a> {
    fn find(document: &'a [u8]) -> Option<Contents<'a>> {
        let mut found = Contents::default();
        let mut cursor = Cursor::new(document);
        for_each_pair(&mut cursor, |key, value| {
            let place = match key {
                b"toc" => &mut found.binaries,
                b"compression_scheme" => &mut found.scheme,
                b"blobs" => &mut found.blobs,
                b"zstd_offset" => &mut found.frames_offset,
                b"zstd_size" => &mut found.frames_size,
                _ => return skip_value(value),
            };
            if place.is_none() {
                *place = Some(value.clone());
            }
            skip_value(value)
        })?;
        Some(found)
    }

    fn read(self, bytes: &'a [u8], toc: u64, most_images: usize) -> Result<Kpack<'a>, Error> {
        let method = match self.scheme.clone().and_then(|mut value| value.token()) {
            None | Some(Token::Str(b"none")) => None,
            Some(Token::Str(b"zstd-per-kernel")) => Some(Method::Zstd),
            Some(Token::Str(other)) => {
                let advice = "none and zstd-per-kernel are read; unpack it with rocm-kpack";
                return Err(Error::unsupported(
                    format!("the kpack compression {}", text(other)),
                    toc,
                    advice,
                ));
            }
            Some(_) => return Err(wrong_contents(toc, "its compression_scheme is no string")),
        };
        let mut binaries = self.binaries(toc, most_images)?;
        let mut wanted = BTreeMap::new();
        for image in binaries.iter().flat_map(|binary| &binary.images) {
            wanted.extend(image.ordinal.map(|ordinal| (ordinal, None)));
        }
        match method {
            Some(_) => self.find_frames(bytes, toc, &mut wanted)?,
            None => self.find_blobs(toc, &mut wanted)?,
        }
        let mut sizes = BTreeMap::new();
        for image in binaries.iter_mut().flat_map(|binary| &mut binary.images) {
            image.place(bytes, &wanted, method, &mut sizes);
        }
        Ok(Kpack { method, binaries })
    }

    fn binaries(&self, toc: u64, most_images: usize) -> Result<Vec<Binary<'a>>, Error> {
        let mut cursor =
            self.binaries.clone().ok_or_else(|| wrong_contents(toc, "it has no `toc` with binaries"))?;
        let mut binaries = Vec::new();
        let mut count = 0;
        let mut too_many = None;
        let mut is_full = |name: &[u8], images: usize| {
            count += 1;
            let limit = if count > most_images { most_images } else { MAX_ENTRIES };
            let full = count > most_images || images >= MAX_ENTRIES || name.len() > LONGEST_NAME;
            too_many = full.then_some(limit);
            full
        };
        for_each_pair(&mut cursor, |name, value| {
            let mut images = Vec::new();
            if is_full(name, 0) {
                return None;
            }
            for_each_pair(value, |arch, value| {
                if is_full(arch, images.len()) {
                    return None;
                }
                images.push(StoredImage::read(arch, value)?);
                Some(())
            })?;
            binaries.push(Binary { name, images });
            Some(())
        })
        .ok_or_else(|| match too_many {
            Some(limit) => Error::Limit {
                what: "the kpack archive's table of contents (images, or bytes of a name)".to_owned(),
                offset: toc,
                value: limit as u64 + 1,
                limit: limit as u64,
                advice: "no tool writes this many; the input is damaged".to_owned(),
            },
            None => wrong_contents(toc, "its `toc` is no map of maps of maps"),
        })?;
        Ok(binaries)
    }

    /// Fills in the places of the wanted blobs.
    fn find_blobs(self, toc: u64, wanted: &mut Places) -> Result<(), Error> {
        let Some(mut cursor) = self.blobs else { return Ok(()) };
        let wrong = || wrong_contents(toc, "its `blobs` are no array of maps");
        let Some(Token::Array(count)) = cursor.token() else { return Err(wrong()) };
        for index in 0..u64::from(count) {
            let place = read_blob(&mut cursor).ok_or_else(wrong)?;
            if let Some(slot) = wanted.get_mut(&index) {
                *slot = place;
            }
        }
        Ok(())
    }

    /// Fills in the places of the wanted frames. The frames follow their count, and each follows its size.
    fn find_frames(self, bytes: &[u8], toc: u64, wanted: &mut Places) -> Result<(), Error> {
        let number = |cursor: Option<Cursor<'_>>| cursor.and_then(|mut value| int(value.token()));
        let (Some(start), Some(size)) = (number(self.frames_offset), number(self.frames_size)) else {
            return Err(wrong_contents(toc, "it does not say where its zstd frames lie"));
        };
        let area = range(bytes, start, size).filter(|_| start >= HEADER_SIZE).ok_or_else(|| {
            let problem =
                format!("its zstd frames should be {size:#x} bytes at {start:#x}, outside the file");
            wrong_contents(toc, problem)
        })?;
        let count = u32_at(area, 0).ok_or_else(|| Error::truncated("the kpack frames", start, 4, size))?;
        let mut position = 4;
        for index in 0..u64::from(count) {
            if wanted.range(index..).next().is_none() {
                break;
            }
            let frame = u32_at(area, position).map(u64::from);
            let Some(frame) = frame.filter(|frame| range(area, position + 4, *frame).is_some()) else {
                // The frames from here on are missing.
                break;
            };
            if let Some(slot) = wanted.get_mut(&index) {
                *slot = Some((start + position + 4, frame));
            }
            position += 4 + frame;
        }
        Ok(())
    }
}

/// Offset and size of each image's bytes, by the image's number.
type Places = BTreeMap<u64, Option<(u64, u64)>>;

impl<'a> StoredImage<'a> {
    fn read(arch: &'a [u8], value: &mut Cursor<'a>) -> Option<StoredImage<'a>> {
        let mut image =
            StoredImage { arch, ordinal: None, size: None, offset: 0, stored_size: 0, problem: None };
        for_each_pair(value, |key, value| {
            match key {
                b"ordinal" if image.ordinal.is_none() => image.ordinal = int(value.clone().token()),
                b"original_size" if image.size.is_none() => image.size = int(value.clone().token()),
                _ => {}
            }
            skip_value(value)
        })?;
        Some(image)
    }

    /// Fills in the place of the image's bytes, or the reason why they cannot be read. `sizes` holds the sizes that
    /// other images state for their numbers.
    fn place(
        &mut self,
        bytes: &[u8],
        places: &Places,
        method: Option<Method>,
        sizes: &mut BTreeMap<u64, u64>,
    ) {
        let Some(ordinal) = self.ordinal else {
            self.problem = Some("the table of contents gives it no number".to_owned());
            return;
        };
        let Some((offset, stored_size)) = places.get(&ordinal).copied().flatten() else {
            self.problem = Some(format!("its number {ordinal} is not in the archive"));
            return;
        };
        if range(bytes, offset, stored_size).is_none() || offset < HEADER_SIZE {
            self.problem = Some(format!("its {stored_size:#x} bytes at {offset:#x} are not in the archive"));
            return;
        }
        (self.offset, self.stored_size) = (offset, stored_size);
        let size = match method {
            Some(_) => self.size,
            None => Some(stored_size),
        };
        let Some(size) = size else {
            self.problem = Some("the table of contents does not give its size".to_owned());
            return;
        };
        self.size = Some(size);
        // Frames are decoded by size, and the decoded bytes are kept by frame.
        if *sizes.entry(ordinal).or_insert(size) != size {
            self.problem = Some(format!("another image gives number {ordinal} another size than {size}"));
        }
    }
}

fn read_blob(cursor: &mut Cursor<'_>) -> Option<Option<(u64, u64)>> {
    let (mut offset, mut size) = (None, None);
    for_each_pair(cursor, |key, value| {
        match key {
            b"offset" if offset.is_none() => offset = int(value.clone().token()),
            b"size" if size.is_none() => size = int(value.clone().token()),
            _ => {}
        }
        skip_value(value)
    })?;
    Some(offset.zip(size))
}

fn int(token: Option<Token<'_>>) -> Option<u64> {
    match token {
        Some(Token::Int(value)) => u64::try_from(value).ok(),
        _ => None,
    }
}
