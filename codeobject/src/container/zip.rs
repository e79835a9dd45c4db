// SPDX-License-Identifier: MIT OR Apache-2.0
//! The members of zip files: of IREE's modules (`.vmfb`), which store them as they are, and of Python's wheels, which
//! compress them.

use std::fs;
use std::io::Read;
use std::ops::Range;

use rawzip::{CompressionMethod, FileReader, ReaderAt, ZipArchive, ZipArchiveEntryWayfinder};

use crate::bytes::{range, text, u16_at, u32_at};
use crate::error::Error;

pub(crate) const ZIP_MAGIC: &[u8] = b"PK\x03\x04";
/// So many bytes of a member tell whether it may hold GPU code.
pub(crate) const HEAD_SIZE: usize = 64;
/// So much of the directory is read at a time: more than a row with its three fields can have.
const DIRECTORY_BUFFER: usize = 1 << 18;
/// What stands in front of a member, without its name and extra fields.
const LOCAL_HEADER: u64 = 30;
/// Up to here, or to a usual ratio of what is stored, memory is reserved on the strength of the stated size.
const GROWTH: u64 = 1 << 20;
const USUAL_RATIO: u64 = 16;

/// What ends a zip file, without its comment; so far from the end it is looked for.
const END_SIZE: u64 = 22;
const LONGEST_COMMENT: usize = 1 << 16;

/// Whether `bytes` end as a zip file does, whatever they begin with: programs that unpack themselves, and packages of
/// Python that run, have something in front.
pub(crate) fn ends(bytes: &[u8]) -> bool {
    let first = bytes.len().saturating_sub(LONGEST_COMMENT + END_SIZE as usize);
    let Some(found) = bytes[first..].windows(4).rposition(|four| four == b"PK\x05\x06") else { return false };
    let end = (first + found) as u64;
    let begins = |at: Option<u64>, magic: &[u8]| {
        at.and_then(|at| range(bytes, at, magic.len() as u64)).is_some_and(|found| found == magic)
    };
    let (Some(size), Some(comment)) = (u32_at(bytes, end + 12), u16_at(bytes, end + 20)) else {
        return false;
    };
    let directory = end.checked_sub(u64::from(size));
    end + END_SIZE + u64::from(comment) <= bytes.len() as u64
        && (begins(directory, b"PK\x01\x02") || begins(end.checked_sub(20), b"PK\x06\x07"))
}

/// A zip file whose directory was read.
pub(crate) struct Zip<R> {
    archive: ZipArchive<R>,
    pub(crate) members: Vec<Member>,
    /// Why the directory ends before its end.
    pub(crate) problem: Option<Error>,
}

/// A row of the directory.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// As the directory states it.
    pub(crate) stored_size: u64,
    /// As the directory states it.
    pub(crate) size: u64,
    method: CompressionMethod,
    is_encrypted: bool,
    place: ZipArchiveEntryWayfinder,
}

impl Member {
    pub(crate) fn is_stored(&self) -> bool {
        self.method == CompressionMethod::STORE && !self.is_encrypted
    }

    fn what(&self) -> String {
        format!("the member `{}` of the zip file", self.name)
    }
}

impl<'a> Zip<&'a [u8]> {
    pub(crate) fn of_bytes(bytes: &'a [u8]) -> Result<Zip<&'a [u8]>, Error> {
        let archive = ZipArchive::from_slice(bytes).map_err(|error| bad_directory(&error))?;
        Zip::read(archive.into_reader_archive())
    }
}

impl Zip<FileReader> {
    pub(crate) fn of_file(file: fs::File) -> Result<Zip<FileReader>, Error> {
        let mut buffer = vec![0; DIRECTORY_BUFFER];
        let archive = ZipArchive::from_file(file, &mut buffer).map_err(|error| bad_directory(&error))?;
        Zip::read(archive)
    }
}

impl<R: ReaderAt> Zip<R> {
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
                    name: text(row.file_path().as_bytes()),
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
        refuse_overlap(places)?;
        Ok(Zip { archive, members, problem })
    }

    /// Where the bytes of a member lie, compressed or not.
    pub(crate) fn place(&self, member: &Member) -> Result<Range<u64>, Error> {
        let entry =
            self.archive.get_entry(member.place).map_err(|error| broken(member, error.to_string()))?;
        let (start, end) = entry.compressed_data_range();
        Ok(start..end)
    }

    /// The first bytes of a member, `most` at most.
    pub(crate) fn head(&self, member: &Member, most: usize) -> Result<Vec<u8>, Error> {
        let mut head = Vec::with_capacity(most);
        let mut reader = self.reader(member)?.take(most as u64);
        reader.read_to_end(&mut head).map_err(|error| broken(member, error.to_string()))?;
        Ok(head)
    }

    /// All bytes of a member, which may have `most`. Its checksum is compared.
    pub(crate) fn unpack(&self, member: &Member, most: u64) -> Result<Vec<u8>, Error> {
        if member.size > most {
            return Err(Error::Limit {
                what: format!("unpacking {}", member.what()),
                offset: 0,
                value: member.size,
                limit: most,
                advice: "raise `Options::max_unpacked` if the file is to be trusted".to_owned(),
            });
        }
        let entry =
            self.archive.get_entry(member.place).map_err(|error| broken(member, error.to_string()))?;
        let reader = entry.verifying_reader(self.reader(member)?);
        let mut bytes = Vec::new();
        let believed = member.size.min(GROWTH.max(member.stored_size.saturating_mul(USUAL_RATIO)));
        let no_room = || Error::Memory { what: "a member of the zip file", bytes: member.size };
        // One byte more than stated, so that a member that has more is found out.
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

/// Members that share bytes make a small file unpack to a huge one; no program writes them.
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

fn broken(member: &Member, problem: String) -> Error {
    Error::malformed(member.what(), 0, problem)
}

fn bad_directory(error: &rawzip::Error) -> Error {
    Error::malformed("the directory of the zip file", 0, error.to_string())
}
