// SPDX-License-Identifier: MIT OR Apache-2.0
//! The members of zip files: IREE modules (`.vmfb`), which store them, and Python wheels, which compress them.

use std::borrow::Cow;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use rawzip::{CompressionMethod, FileReader, ReaderAt, ZipArchive, ZipArchiveEntryWayfinder, ZipLocator};

use crate::budget::Budget;
use crate::bytes::{range, text, u16_at, u32_at};
use crate::content::Content;
use crate::error::Error;
use crate::words::magic::{Format, may_hold_code};
use crate::words::source::Source;

/// The first bytes of a member that tell whether it may hold GPU code.
pub(crate) const HEAD_SIZE: usize = 64;
/// The bytes of the directory that are read at a time: more than a row with its three fields can have.
const DIRECTORY_BUFFER: usize = 1 << 18;
/// The size of a member's local header, without its name and extra fields.
const LOCAL_HEADER: u64 = 30;
/// Memory is preallocated up to this size, or up to a usual ratio of the stored size, by the declared size.
const GROWTH: u64 = 1 << 20;
const USUAL_RATIO: u64 = 16;

/// The size of the record that ends a zip file, without its comment, and the longest comment.
const END_SIZE: u64 = 22;
const LONGEST_COMMENT: usize = 1 << 16;

/// The last bytes of a file that tell whether it ends as a zip file does.
const TAIL: usize = LONGEST_COMMENT + END_SIZE as usize;

/// Whether a whole file is a zip file. Bytes that are no code may precede it.
pub(crate) fn is_zip(content: Content<'_>) -> Result<bool, Error> {
    let head = content.head(HEAD_SIZE)?;
    Ok(Format::of(&head) == Some(Format::Zip) || !may_hold_code(&head) && ends(content)?)
}

/// Whether `bytes` end like a zip file, with any beginning: self-extracting programs and Python applications begin
/// otherwise.
pub(crate) fn ends(content: Content<'_>) -> Result<bool, Error> {
    let before = content.size().saturating_sub(TAIL as u64);
    let tail = content.from(before).load()?;
    Ok(ends_in(&tail, before, |at, magic| {
        content.part(at, 4).is_some_and(|found| found.load().is_ok_and(|found| *found == *magic))
    }))
}

/// The same of a file on disk, which reads its end only.
pub(crate) fn file_ends(file: &mut fs::File) -> io::Result<bool> {
    let size = file.seek(SeekFrom::End(0))?;
    let before = size.saturating_sub(TAIL as u64);
    file.seek(SeekFrom::Start(before))?;
    let mut tail = Vec::new();
    file.by_ref().take(TAIL as u64).read_to_end(&mut tail)?;
    Ok(ends_in(&tail, before, |at, magic| {
        let mut found = [0; 4];
        let read = file.seek(SeekFrom::Start(at)).and_then(|_| file.read_exact(&mut found));
        read.is_ok() && found == magic
    }))
}

/// Whether a record in `tail`, which follows `before` bytes, ends a zip file. `begins` tells whether the directory, or
/// the record that states its place in a long file, begins with its magic where it should.
fn ends_in(tail: &[u8], before: u64, mut begins: impl FnMut(u64, &[u8]) -> bool) -> bool {
    let mut ends = |found: u64| {
        let (Some(size), Some(comment)) = (u32_at(tail, found + 12), u16_at(tail, found + 20)) else {
            return false;
        };
        let mut begins = |distance: u64, magic: &[u8]| {
            let at = (before + found).checked_sub(distance);
            at.is_some_and(|at| begins(at, magic))
        };
        found + END_SIZE + u64::from(comment) <= tail.len() as u64
            && (begins(size.into(), b"PK\x01\x02") || begins(20, b"PK\x06\x07"))
    };
    let mut records = tail.windows(4).enumerate().rev().filter(|(_, four)| *four == b"PK\x05\x06");
    records.any(|(found, _)| ends(found as u64))
}

/// A zip file with its directory.
pub(crate) struct Zip<R> {
    archive: ZipArchive<R>,
    pub(crate) members: Vec<Member>,
    /// The reason why the directory ends early, or the members that it lacks.
    pub(crate) problem: Option<Error>,
}

/// A row of the directory.
#[derive(Clone)]
pub(crate) struct Member {
    /// The name in the directory.
    name: Box<[u8]>,
    /// The stored size that the directory states.
    pub(crate) stored_size: u64,
    /// The unpacked size that the directory states.
    pub(crate) size: u64,
    method: CompressionMethod,
    is_encrypted: bool,
    place: ZipArchiveEntryWayfinder,
}

impl Member {
    pub(crate) fn is_stored(&self) -> bool {
        self.method == CompressionMethod::STORE && !self.is_encrypted
    }

    /// The name in the directory.
    pub(crate) fn raw_name(&self) -> &[u8] {
        &self.name
    }

    /// The name as text; bytes that are not UTF-8 are written as `\xNN`.
    pub(crate) fn name(&self) -> Cow<'_, str> {
        str::from_utf8(&self.name).map_or_else(|_| text(&self.name).into(), Cow::Borrowed)
    }

    fn what(&self) -> String {
        format!("the member `{}` of the zip file", self.name())
    }
}

/// The bytes of a zip file that is read member by member.
pub(crate) enum ZipBytes {
    File(FileReader),
    Bytes(Vec<u8>),
}

impl ReaderAt for ZipBytes {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            ZipBytes::File(file) => file.read_at(buffer, offset),
            ZipBytes::Bytes(bytes) => bytes.read_at(buffer, offset),
        }
    }
}

impl Zip<ZipBytes> {
    pub(crate) fn of_file(mut file: fs::File) -> Result<Zip<ZipBytes>, Error> {
        let size = file.seek(SeekFrom::End(0)).map_err(|error| bad_directory(&error.into()))?;
        Zip::locate(ZipBytes::File(file.into()), size)
    }

    pub(crate) fn of_vec(bytes: Vec<u8>) -> Result<Zip<ZipBytes>, Error> {
        let size = bytes.len() as u64;
        Zip::locate(ZipBytes::Bytes(bytes), size)
    }
}

impl ReaderAt for Content<'_> {
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let rest = self.size().saturating_sub(offset);
        let size = buffer.len().min(usize::try_from(rest).unwrap_or(usize::MAX));
        self.read(offset, &mut buffer[..size]).map_err(io::Error::other)?;
        Ok(size)
    }
}

impl<'a> Zip<Content<'a>> {
    pub(crate) fn of_content(content: Content<'a>) -> Result<Zip<Content<'a>>, Error> {
        Zip::locate(content, content.size())
    }
}

impl<R: ReaderAt> Zip<R> {
    fn locate(bytes: R, size: u64) -> Result<Zip<R>, Error> {
        let mut buffer = vec![0; DIRECTORY_BUFFER];
        let archive = ZipLocator::new().locate_in_reader(bytes, &mut buffer, size);
        Zip::read(archive.map_err(|(_, error)| bad_directory(&error))?)
    }

    fn read(archive: ZipArchive<R>) -> Result<Zip<R>, Error> {
        let mut buffer = vec![0; DIRECTORY_BUFFER];
        let (mut members, mut problem) = (Vec::new(), None);
        let mut places = Vec::new();
        let mut rows = archive.entries(&mut buffer);
        loop {
            let row = rows.next_entry();
            if let Ok(Some(row)) = &row {
                let start = row.local_header_offset();
                let name = row.file_path().as_bytes().len() as u64;
                places.push(
                    start
                        ..start
                            .saturating_add(LOCAL_HEADER + name)
                            .saturating_add(row.compressed_size_hint()),
                );
            }
            match row {
                Ok(None) => break,
                Ok(Some(row)) if row.is_dir() => {}
                Ok(Some(row)) => members.push(Member {
                    name: row.file_path().as_bytes().into(),
                    stored_size: row.compressed_size_hint(),
                    size: row.uncompressed_size_hint(),
                    method: row.compression_method(),
                    is_encrypted: row.flags().is_encrypted(),
                    place: row.wayfinder(),
                }),
                Err(error) if members.is_empty() => return Err(bad_directory(&error)),
                Err(error) => {
                    problem = Some(bad_directory(&error));
                    break;
                }
            }
        }
        let mut magic = [0; 4];
        let begins = archive
            .get_ref()
            .read_exact_at(&mut magic, 0)
            .is_ok_and(|()| Format::of(&magic) == Some(Format::Zip));
        if begins && problem.is_none() && places.iter().all(|place| place.start > 0) {
            let hidden = "it begins with a member that is not in its directory, as two zip files in a row do";
            problem = Some(Error::malformed("the zip file", 0, hidden));
        }
        refuse_overlap(places)?;
        Ok(Zip { archive, members, problem })
    }

    /// The place of a member's stored bytes.
    pub(crate) fn place(&self, member: &Member) -> Result<Range<u64>, Error> {
        let entry =
            self.archive.get_entry(member.place).map_err(|error| broken(member, error.to_string()))?;
        let (start, end) = entry.compressed_data_range();
        Ok(start..end)
    }

    /// The first `most` bytes of a member.
    pub(crate) fn head(&self, member: &Member, most: usize) -> Result<Vec<u8>, Error> {
        let mut head = Vec::with_capacity(most);
        let mut reader = self.reader(member)?.take(most as u64);
        reader.read_to_end(&mut head).map_err(|error| broken(member, error.to_string()))?;
        Ok(head)
    }

    /// Whether a member may be a zip file, with any beginning. The member is unpacked to its end and dropped. False
    /// for a member of more than `most` bytes. Unpacked bytes come from the budget.
    pub(crate) fn may_be_zip(&self, member: &Member, most: u64, budget: &Budget) -> Result<bool, Error> {
        if member.size < END_SIZE {
            return Ok(false);
        }
        let unreadable = |error: io::Error| broken(member, error.to_string());
        let (mut tail, mut before) = (Vec::with_capacity(2 * TAIL), 0);
        if member.is_stored() {
            let place = self.place(member)?;
            let start = place.end.saturating_sub(TAIL as u64).max(place.start);
            before = start - place.start;
            tail.resize(usize::try_from(place.end - start).unwrap_or(TAIL), 0);
            self.archive.get_ref().read_exact_at(&mut tail, start).map_err(unreadable)?;
        } else {
            if member.size > most {
                return Err(too_large(member, most));
            }
            budget.take(&member.what(), member.size)?;
            let mut reader = self.reader(member)?.take(member.size);
            while reader.by_ref().take(TAIL as u64).read_to_end(&mut tail).map_err(unreadable)? > 0 {
                let more = tail.len().saturating_sub(TAIL);
                before += more as u64;
                tail.drain(..more);
            }
        }
        // The bytes before the tail are not checked; unpacking the member does that.
        let in_tail = |at: u64, magic: &[u8]| {
            at.checked_sub(before).is_none_or(|at| range(&tail, at, 4) == Some(magic))
        };
        Ok(ends_in(&tail, before, in_tail))
    }

    /// Compares the checksum of a stored member.
    pub(crate) fn check(&self, member: &Member) -> Result<(), Error> {
        let entry =
            self.archive.get_entry(member.place).map_err(|error| broken(member, error.to_string()))?;
        let mut reader = entry.verifying_reader(entry.reader());
        io::copy(&mut reader, &mut io::sink()).map_err(|error| broken(member, error.to_string()))?;
        Ok(())
    }

    /// All bytes of a member, `most` at most, with the checksum compared. They come from the budget.
    pub(crate) fn unpack(&self, member: &Member, most: u64, budget: &Budget) -> Result<Vec<u8>, Error> {
        if member.size > most {
            return Err(too_large(member, most));
        }
        budget.take(&member.what(), member.size)?;
        let entry =
            self.archive.get_entry(member.place).map_err(|error| broken(member, error.to_string()))?;
        let reader = entry.verifying_reader(self.reader(member)?);
        let mut bytes = Vec::new();
        let believed = member.size.min(GROWTH.max(member.stored_size.saturating_mul(USUAL_RATIO)));
        let no_room = || Error::Memory { what: "a member of the zip file", bytes: member.size };
        // One byte more than declared, so that a longer member is detected.
        let mut reader = reader.take(member.size.saturating_add(1));
        let mut room = believed;
        while room > 0 {
            let step = usize::try_from(room).map_err(|_| no_room())?;
            bytes.try_reserve_exact(step).map_err(|_| no_room())?;
            let read = reader.by_ref().take(room).read_to_end(&mut bytes);
            if (read.map_err(|error| broken(member, error.to_string()))? as u64) < room {
                break;
            }
            room = (bytes.len() as u64).min(member.size.saturating_sub(bytes.len() as u64));
        }
        let mut more = [0];
        let read = reader.read(&mut more).map_err(|error| broken(member, error.to_string()))?;
        bytes.extend_from_slice(&more[..read]);
        if bytes.len() as u64 != member.size {
            let problem = format!("it has {} bytes or more, where {} are stated", bytes.len(), member.size);
            return Err(broken(member, problem));
        }
        Ok(bytes)
    }

    fn reader<'z>(&'z self, member: &Member) -> Result<Box<dyn Read + 'z>, Error> {
        let advice = "unpack it with the program that made it";
        if member.is_encrypted {
            return Err(Error::unsupported(format!("encryption of {}", member.what()), 0, advice));
        }
        let entry =
            self.archive.get_entry(member.place).map_err(|error| broken(member, error.to_string()))?;
        match member.method {
            CompressionMethod::STORE => Ok(Box::new(entry.reader())),
            CompressionMethod::DEFLATE => Ok(Box::new(flate2::read::DeflateDecoder::new(entry.reader()))),
            other => {
                let what = format!("the compression {other} of {}", member.what());
                Err(Error::unsupported(what, 0, advice))
            }
        }
    }
}

/// Refuses members that share bytes, which let a small file unpack to a huge one. No program writes them.
fn refuse_overlap(mut places: Vec<Range<u64>>) -> Result<(), Error> {
    places.sort_by_key(|place| place.start);
    match places.windows(2).find(|pair| pair[0].end > pair[1].start) {
        None => Ok(()),
        Some(pair) => {
            let (end, start) = (pair[0].end, pair[1].start);
            let problem =
                format!("a member ends at {end:#x}, behind the beginning of the next at {start:#x}");
            Err(Error::malformed("the directory of the zip file", start, problem))
        }
    }
}

fn too_large(member: &Member, most: u64) -> Error {
    Error::Limit {
        what: format!("unpacking {}", member.what()),
        offset: 0,
        value: member.size,
        limit: most,
        advice: "raise `Options::max_unpacked` if the file is to be trusted".to_owned(),
    }
}

fn broken(member: &Member, problem: String) -> Error {
    Error::malformed(member.what(), 0, problem)
}

fn bad_directory(error: &rawzip::Error) -> Error {
    Error::malformed("the directory of the zip file", 0, error.to_string())
}
