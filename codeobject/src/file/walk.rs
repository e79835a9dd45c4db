// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk through a file that finds every bundle in it.

mod kpack;
mod zip;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::bundle::Bundle;
use crate::bytes::{glimpse, range};
use crate::code::elf_flags::ElfHead;
use crate::code::host::HostLibrary;
use crate::container::archive::{self, Members};
use crate::container::ccob::CcobHeader;
use crate::container::host_elf;
use crate::container::iree::{self, IreeExecutable, IreeFormat};
use crate::container::kpack_reference::{self, KpackReference};
use crate::container::magic::{Format, begins_bundle, may_hold_code};
use crate::container::offload_binary::Header;
use crate::container::room::Room;
use crate::container::wrapper;
use crate::container::zip::is_zip;
use crate::decode::{self, Cache};
use crate::error::Error;
use crate::file::companions::Companions;
use crate::file::kind::FileKind;
use crate::options::Options;

/// The most bundles of one file that are described, and the most problems that are kept.
const MAX_BUNDLES: usize = 65_536;
const MAX_PROBLEMS: usize = 64;
/// Compilers begin each bundle of a row at a multiple of this, counted from the beginning of the row.
const ALIGNMENT: usize = 4096;
/// What a bundle takes at least whose end cannot be told: wrappers that lead into it lead nowhere.
const LEAST_SIZE: usize = 32;
/// How many letters of a member's name are shown.
const LONGEST_MEMBER: usize = 512;
/// How deep archives in archives are read, and zip files in zip files.
pub(crate) const MAX_DEPTH: usize = 4;

/// What a walk has found so far.
pub(crate) struct Walk<'a, 'o> {
    options: &'o Options,
    /// Tells of each bundle that is found whether it is the last that is wanted.
    is_last: &'o mut dyn FnMut(&Bundle<'a>) -> bool,
    /// Whether it was found.
    is_done: bool,
    companions: &'a Companions,
    cache: Arc<Cache>,
    room: Room,
    /// What is being read, where it is a file in another.
    member: Option<Arc<str>>,
    /// What is wrong with that as a whole.
    damage: Option<Arc<str>>,
    /// The names of which that is made, from the outermost on.
    path: Vec<String>,
    /// Names of binaries that kpack archives hold code for.
    binaries: BTreeSet<String>,
    pub(crate) bundles: Vec<Bundle<'a>>,
    pub(crate) executables: Vec<IreeExecutable<'a>>,
    /// References to kpack archives, and where in the file the ELF with each begins.
    pub(crate) references: Vec<(KpackReference, u64)>,
    pub(crate) problems: Vec<Error>,
    /// How many more there are.
    more_problems: u64,
    /// Whether there are more bundles than are described.
    is_cut: bool,
}

impl<'a, 'o> Walk<'a, 'o> {
    pub(crate) fn new(
        options: &'o Options,
        companions: &'a Companions,
        is_last: &'o mut dyn FnMut(&Bundle<'a>) -> bool,
    ) -> Walk<'a, 'o> {
        Walk {
            options,
            is_last,
            is_done: false,
            companions,
            cache: Arc::default(),
            room: Room::of_file(0),
            member: None,
            damage: None,
            path: Vec::new(),
            binaries: BTreeSet::new(),
            bundles: Vec::new(),
            executables: Vec::new(),
            references: Vec::new(),
            problems: Vec::new(),
            more_problems: 0,
            is_cut: false,
        }
    }

    /// Reads a whole file. An error is one that leaves nothing to read.
    pub(crate) fn file(&mut self, bytes: &'a [u8]) -> Result<FileKind, Error> {
        self.room = Room::of_file(bytes.len());
        if is_zip(bytes) {
            return self.zip(bytes, 0);
        }
        self.content(bytes, 0)
    }

    /// Reads a file, or a member of a zip file, that lies at `base` of the file.
    fn content(&mut self, bytes: &'a [u8], base: u64) -> Result<FileKind, Error> {
        match Format::of(bytes) {
            Some(Format::Elf | Format::OtherElf) => {
                let result = self.elf(bytes, base);
                self.behind(bytes, base, result)
            }
            Some(Format::IreeHip) => self.iree_executable(IreeFormat::Hip, bytes, base),
            Some(Format::IreeAmdgpu) => self.iree_executable(IreeFormat::Amdgpu, bytes, base),
            Some(Format::Kpack) => self.kpack(bytes, base),
            Some(Format::Archive) => self.archive(bytes, base),
            Some(Format::ThinArchive) => Err(archive::thin(bytes)),
            Some(format) if !format.is_bundle() => Err(format.refused(base)),
            // Zeros may stand in front of the first bundle.
            Some(_) | None => {
                self.row(bytes, base);
                Ok(FileKind::FatBinary)
            }
        }
    }

    /// Reads an ELF that lies at `base` of the file: a code object, or a host object that carries some.
    fn elf(&mut self, bytes: &'a [u8], base: u64) -> Result<FileKind, Error> {
        let head = ElfHead::read(bytes).ok_or_else(|| {
            let problem = "it is not 64-bit little-endian, or its header is cut short";
            Error::malformed("the ELF header", base, problem)
        })?;
        if head.is_amdgpu() {
            let bundle = Bundle::raw(bytes, base)?;
            self.found(bundle);
            return Ok(FileKind::CodeObject);
        }
        let (reference, is_split) = match kpack_reference::find(bytes, base) {
            Ok(reference) => (reference.clone(), reference.is_some()),
            Err(error) => {
                self.problem(error);
                (None, true)
            }
        };
        let carriers = match host_elf::carriers(bytes, base, &self.room) {
            Err(Error::NotFound { .. }) if is_split => host_elf::Carriers::default(),
            // Of the file itself it is asked whether it has kernels for the host; members have too many libraries for that.
            Err(none @ Error::NotFound { .. }) if base == 0 && self.member.is_none() => {
                return self.host_library(bytes, none);
            }
            carriers => carriers?,
        };
        for error in carriers.problems {
            self.problem(error);
        }
        for row in carriers.rows {
            let content = range(bytes, row.start, row.end - row.start).unwrap_or_default();
            let starts = || wrapped_in(bytes, &row);
            self.row_of(content, base.saturating_add(row.start), &starts);
        }
        // A wrapper into the middle of a bundle points to nothing of its own.
        let mut end = 0;
        for start in carriers.wrapped {
            let offset = base.saturating_add(start);
            if self.is_full(offset) {
                break;
            }
            if start >= end {
                let rest =
                    range(bytes, start, (bytes.len() as u64).saturating_sub(start)).unwrap_or_default();
                let size = self.bundle(rest, offset).unwrap_or(LEAST_SIZE);
                end = start.saturating_add(size as u64);
            }
        }
        if !carriers.entries.is_empty() && !self.is_full(base) {
            self.found(Bundle::of_sections(bytes, base, carriers.entries));
        }
        if let Some(reference) = reference {
            self.refers(reference, base);
        }
        Ok(FileKind::HostElf)
    }

    /// Takes a shared object that describes kernels for the host. Any other has no code, which `none` says.
    fn host_library(&mut self, bytes: &'a [u8], none: Error) -> Result<FileKind, Error> {
        if !HostLibrary::may_have_kernels(bytes) {
            return Err(none);
        }
        match HostLibrary::parse(bytes) {
            Ok(library) if library.has_kernels() => {
                self.found(Bundle::of_host_library(bytes, library.machine()));
                Ok(FileKind::HostLibrary)
            }
            Ok(_) => Err(none),
            Err(error) => Err(Error::NotFound {
                what: "GPU code in the host ELF".to_owned(),
                present: format!("it describes kernels for the host, which cannot be had: {error}"),
            }),
        }
    }

    /// Reads what an executable of IREE holds: code objects, or bundles.
    fn iree_executable(&mut self, format: IreeFormat, bytes: &'a [u8], base: u64) -> Result<FileKind, Error> {
        if self.is_full(base) {
            return Ok(FileKind::IreeExecutable);
        }
        let (mut executable, images) = iree::read(format, bytes, base, &mut self.room)?;
        let first = self.bundles.len();
        for (image, offset) in images {
            if self.is_full(offset) {
                break;
            }
            if !Format::of(image).is_some_and(Format::is_elf) {
                // Modules may share an image, which is looked through for each of them.
                if let Err(error) = self.room.look_through(image.len() as u64, offset) {
                    self.problem(error);
                    break;
                }
                self.row(image, offset);
                continue;
            }
            match Bundle::raw(image, offset) {
                Ok(bundle) => self.found(bundle.under_isa(executable.isa_bytes())),
                Err(error) => self.problem(error),
            }
        }
        executable.bundles = first..self.bundles.len();
        self.executables.push(executable);
        Ok(FileKind::IreeExecutable)
    }

    /// Reads the members of an archive that lies at `base` of the file; those without GPU code are passed over.
    fn archive(&mut self, bytes: &'a [u8], base: u64) -> Result<FileKind, Error> {
        let found = |walk: &Self| (walk.bundles.len(), walk.references.len(), walk.problems.len());
        let before = found(self);
        for member in Members::of(bytes, base) {
            let member = match member {
                Ok(member) => member,
                Err(error) if found(self) == before => return Err(error),
                Err(error) => {
                    self.problem(error);
                    break;
                }
            };
            let offset = member.offset;
            if self.is_full(offset) {
                break;
            }
            self.inside(&member.name, |walk| walk.member(member.content, offset));
        }
        if found(self) == before {
            return Err(Error::NotFound {
                what: "GPU code in the archive".to_owned(),
                present: "its members are host objects without; give the one that was compiled for HIP"
                    .to_owned(),
            });
        }
        Ok(FileKind::Archive)
    }

    /// Reads one file of an archive.
    fn member(&mut self, content: &'a [u8], offset: u64) {
        // Objects for 32-bit hosts are none that GPU code lies in.
        let result = match Format::of(content) {
            Some(Format::ThinArchive) => Err(archive::thin(content)),
            _ if is_zip(content) => {
                let advice = "take it out with `ar x`, and read it as a file of its own";
                Err(Error::unsupported("a zip file in an archive of objects", offset, advice))
            }
            Some(Format::Archive) => self.nested(content, offset),
            _ if may_hold_code(content) => self.content(content, offset),
            _ => return,
        };
        match result {
            Ok(_) | Err(Error::NotFound { .. }) => {}
            Err(error) => self.problem(error),
        }
    }

    fn nested(&mut self, content: &'a [u8], offset: u64) -> Result<FileKind, Error> {
        self.check_depth("archives in archives", offset, "take the inner archive out with `ar x`")?;
        self.archive(content, offset)
    }

    fn check_depth(&self, what: &str, offset: u64, advice: &str) -> Result<(), Error> {
        match self.path.len() {
            0..=MAX_DEPTH => Ok(()),
            depth => Err(too_deep(what, offset, depth, advice)),
        }
    }

    /// Reads what is in a member under its name.
    fn inside(&mut self, name: &str, read: impl FnOnce(&mut Self)) {
        let outer = self.member.take();
        self.path.push(name.to_owned());
        self.member = Some(member_name(&self.path).into());
        read(self);
        self.path.pop();
        self.member = outer;
    }

    /// Reads bundles in a row with zero bytes between them. `bytes` lies at `base` of the file.
    fn row(&mut self, bytes: &'a [u8], base: u64) {
        self.row_of(bytes, base, &BTreeSet::new);
    }

    /// Reads bundles in a row. Behind one whose end cannot be told the row goes on at the next of `starts`, which are
    /// offsets in `bytes`, or where there are none, at the next multiple of [`ALIGNMENT`] with a magic that is known.
    /// What lies inside a bundle of known size is never taken for another.
    fn row_of(&mut self, bytes: &'a [u8], base: u64, starts: &dyn Fn() -> BTreeSet<u64>) {
        let mut known_starts = None;
        let mut position = 0;
        while let Some(rest) = bytes.get(position..) {
            let Some(padding) = rest.iter().position(|byte| *byte != 0) else { break };
            position += padding;
            let offset = base.saturating_add(position as u64);
            let Some(rest) = rest.get(padding..) else { break };
            if self.is_full(offset) {
                break;
            }
            position = match self.bundle(rest, offset) {
                Some(size) if size > 0 => position.saturating_add(size),
                _ => match next_start(bytes, position, known_starts.get_or_insert_with(starts)) {
                    Some(next) => next,
                    None => break,
                },
            };
        }
    }

    /// Reads the bundle at the head of `rest`; gives its size where that is known, whether it can be read or not.
    fn bundle(&mut self, rest: &'a [u8], offset: u64) -> Option<usize> {
        let (bundle, size) = match Format::of(rest) {
            Some(Format::Bundle) => {
                let bundle = Bundle::plain(rest, offset, &mut self.room);
                let size = bundle.as_ref().map(Bundle::stored_size).ok();
                (bundle, size)
            }
            Some(Format::Ccob) => match self.stored(rest, offset) {
                Ok((header, stored)) => {
                    let bundle =
                        Bundle::packed(stored, &header, offset, self.options, &mut self.room, &self.cache);
                    (bundle, Some(stored.len() as u64))
                }
                Err(error) => (Err(error), None),
            },
            Some(Format::OffloadBinary) => match self.offload_binary(rest, offset) {
                Ok((header, stored)) => {
                    let bundle = Bundle::offload_binary(
                        stored,
                        &header,
                        offset,
                        self.options,
                        &mut self.room,
                        &self.cache,
                    );
                    (bundle, Some(header.size))
                }
                Err(error) => (Err(error), None),
            },
            _ => (Err(Error::NotRecognised { offset, found: glimpse(rest) }), None),
        };
        match bundle {
            Ok(bundle) => self.found(bundle),
            Err(error) => self.problem(error),
        }
        size.and_then(|size| usize::try_from(size).ok())
    }

    /// Whether the rest is left alone: the last that is wanted was found, or too many were.
    fn is_full(&mut self, offset: u64) -> bool {
        if self.is_done {
            return true;
        }
        let is_full = self.bundles.len() >= MAX_BUNDLES;
        if is_full && !self.is_cut {
            self.is_cut = true;
            // It counts more than any damaged part, and is kept however many there are.
            self.problems.push(Error::Limit {
                what: "the number of bundles up to here".to_owned(),
                offset,
                value: MAX_BUNDLES as u64 + 1,
                limit: MAX_BUNDLES as u64,
                advice: "what follows is not read; split the file".to_owned(),
            });
        }
        is_full
    }

    fn found(&mut self, bundle: Bundle<'a>) {
        self.room.take(bundle.entries());
        let bundle = bundle.found(self.bundles.len(), self.member.clone(), self.damage.clone());
        self.is_done = self.is_done || (self.is_last)(&bundle);
        self.bundles.push(bundle);
    }

    /// Notes what is wrong with a part of the file; others may still be good.
    fn problem(&mut self, error: Error) {
        if self.problems.len() >= MAX_PROBLEMS {
            self.more_problems += 1;
            return;
        }
        self.problems.push(match &self.member {
            Some(member) => Error::Member { member: member.to_string(), error: Box::new(error) },
            None => error,
        });
    }

    /// The header and the bytes of the offload binary at the head of `rest`.
    fn offload_binary(&self, rest: &'a [u8], offset: u64) -> Result<(Header, &'a [u8]), Error> {
        let header = Header::read(rest, offset)?;
        let cut = || Error::truncated("the LLVM offload binary", offset, header.size, rest.len() as u64);
        let stored = range(rest, 0, header.size).ok_or_else(cut)?;
        Ok((header, stored))
    }

    /// The header and the bytes of the compressed bundle at the head of `rest`.
    fn stored(&mut self, rest: &'a [u8], offset: u64) -> Result<(CcobHeader, &'a [u8]), Error> {
        let header = CcobHeader::read(rest, offset)?;
        let size = match header.stored_size {
            Some(size) => size,
            None => self.end_of_payload(rest, &header, offset)?,
        };
        let cut = || Error::truncated("the compressed bundle (CCOB)", offset, size, rest.len() as u64);
        let stored = range(rest, 0, size).ok_or_else(cut)?;
        Ok((header, stored))
    }

    /// Version 1 does not say where it ends: the payload does. A payload that is broken takes the rest of the file.
    fn end_of_payload(&mut self, rest: &[u8], header: &CcobHeader, offset: u64) -> Result<u64, Error> {
        let all = rest.len() as u64;
        let payload =
            range(rest, header.header_size, all.saturating_sub(header.header_size)).unwrap_or_default();
        let left = self.room.measurable(offset)?;
        let most = self.options.max_unpacked.min(left);
        let mut unpacked = 0;
        let size = decode::stored_size(header.method, payload, most, &mut unpacked);
        self.room.measure(unpacked);
        if unpacked > left {
            return Err(Room::unmeasured(offset));
        }
        Ok(size.map_or(all, |size| header.header_size.saturating_add(size)))
    }
}

pub(crate) const UNZIP: &str = "take the inner zip file out with `unzip`";

pub(crate) fn too_deep(what: &str, offset: u64, depth: usize, advice: &str) -> Error {
    Error::Limit {
        what: format!("the depth of {what}"),
        offset,
        value: depth as u64,
        limit: MAX_DEPTH as u64,
        advice: advice.to_owned(),
    }
}

/// The name of a member of which the names lead there, each the same share of what is shown of them all. There may be as
/// many members as bundles, all of them with the longest name, and in as many archives as are read.
fn member_name(path: &[String]) -> String {
    let share = LONGEST_MEMBER / path.len().max(1);
    let mut name = String::new();
    for (depth, part) in path.iter().enumerate() {
        name.extend((depth > 0).then_some('('));
        match part.char_indices().nth(share) {
            None => name.push_str(part),
            Some(_) => {
                name.extend(part.chars().take(share.saturating_sub(1)));
                name.push('…');
            }
        }
    }
    name.push_str(&")".repeat(path.len().saturating_sub(1)));
    name
}

/// Where the wrappers of a host ELF say that bundles begin in `row`, counted from its beginning.
fn wrapped_in(elf: &[u8], row: &Range<u64>) -> BTreeSet<u64> {
    let starts = wrapper::bundles(elf).into_iter().filter(|start| row.contains(start));
    starts.map(|start| start - row.start).collect()
}

/// Where the next bundle of a row begins behind the one at `position`, whose end cannot be told.
fn next_start(row: &[u8], position: usize, starts: &BTreeSet<u64>) -> Option<usize> {
    if !starts.is_empty() {
        let next = starts.range(position as u64 + 1..).next()?;
        return usize::try_from(*next).ok();
    }
    let first = (position + 1).next_multiple_of(ALIGNMENT);
    (first..row.len()).step_by(ALIGNMENT).find(|start| begins_bundle(&row[*start..]))
}
