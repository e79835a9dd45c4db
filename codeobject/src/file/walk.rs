// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk through a file that finds its bundles.

#[cfg(feature = "carriers")]
mod archive;
#[cfg(feature = "carriers")]
mod kpack;
#[cfg(feature = "carriers")]
pub(crate) mod nested;
#[cfg(feature = "carriers")]
mod zip;

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use crate::bundle::Bundle;
use crate::bytes::{glimpse, range};
use crate::code::elf_flags::ElfHead;
use crate::code::host::HostLibrary;
use crate::container::ccob::CcobHeader;
use crate::container::host_elf;
use crate::container::iree::{self, IreeExecutable, IreeFormat};
use crate::container::kpack_reference::{self, KpackReference};
use crate::container::offload_binary::Header;
use crate::container::room::Room;
use crate::container::wrapper;
#[cfg(feature = "carriers")]
use crate::container::{archive::thin, zip::is_zip};
use crate::decode::{self, Cache};
use crate::error::Error;
use crate::file::companions::Companions;
use crate::file::kind::FileKind;
use crate::options::Options;
use crate::words::magic::{Format, begins_bundle};

/// The most bundles of one file that are described, and the most problems that are kept.
const MAX_BUNDLES: usize = 65_536;
const MAX_PROBLEMS: usize = 64;
/// References to kpack archives beyond these are not followed: members of a zip file may share their bytes without end.
const MOST_REFERENCES: usize = 256;
/// Compilers align each bundle of a row to this many bytes, counted from the start of the row.
const ALIGNMENT: usize = 4096;
/// The smallest size of a bundle whose end is unknown. A wrapper that points into these bytes is ignored.
const LEAST_SIZE: usize = 32;

/// The state of a walk: its findings so far.
pub(crate) struct Walk<'a, 'o> {
    options: &'o Options,
    /// Tells whether a bundle is the last one that the caller wants.
    is_last: &'o mut dyn FnMut(&Bundle<'a>) -> bool,
    /// Whether the last wanted bundle was found.
    is_done: bool,
    companions: &'a Companions,
    cache: Arc<Cache>,
    room: Room,
    /// The name of the file in the file that is being read.
    member: Option<Arc<str>>,
    /// The damage of that file as a whole.
    damage: Option<Arc<str>>,
    /// The names of the files in files that are being read, the outermost first.
    #[cfg(feature = "carriers")]
    path: Vec<String>,
    /// The names of binaries for which kpack archives hold code.
    binaries: BTreeSet<String>,
    pub(crate) bundles: Vec<Bundle<'a>>,
    pub(crate) executables: Vec<IreeExecutable<'a>>,
    /// References to kpack archives, each with the offset of its ELF in the file.
    pub(crate) references: Vec<(KpackReference, u64)>,
    pub(crate) problems: Vec<Error>,
    /// The number of problems that were not kept.
    more_problems: u64,
    /// Whether the file has more bundles than are described.
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
            #[cfg(feature = "carriers")]
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

    /// Reads a whole file. An error means that nothing in it can be read.
    pub(crate) fn file(&mut self, bytes: &'a [u8]) -> Result<FileKind, Error> {
        self.room = Room::of_file(bytes.len());
        #[cfg(feature = "carriers")]
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
                #[cfg(feature = "carriers")]
                let result = self.behind(bytes, base, result);
                result
            }
            Some(Format::IreeHip) => self.iree_executable(IreeFormat::Hip, bytes, base),
            Some(Format::IreeAmdgpu) => self.iree_executable(IreeFormat::Amdgpu, bytes, base),
            Some(format) if !format.is_bundle() => self.carrier(format, bytes, base),
            // Zeros may stand in front of the first bundle.
            Some(_) | None => {
                self.row(bytes, base);
                Ok(FileKind::FatBinary)
            }
        }
    }

    /// Reads a file of files at `base` of the file. Other formats are refused.
    #[cfg(feature = "carriers")]
    fn carrier(&mut self, format: Format, bytes: &'a [u8], base: u64) -> Result<FileKind, Error> {
        match format {
            Format::Kpack => self.kpack(bytes, base),
            Format::Archive => self.archive(bytes, base),
            Format::ThinArchive => Err(thin(bytes)),
            _ => Err(format.refused(base)),
        }
    }

    #[cfg(not(feature = "carriers"))]
    fn carrier(&mut self, format: Format, _bytes: &[u8], base: u64) -> Result<FileKind, Error> {
        match format {
            Format::Kpack | Format::Archive | Format::ThinArchive | Format::Zip => {
                Err(format.is_not_built_in(base))
            }
            _ => Err(format.refused(base)),
        }
    }

    /// Reads an ELF at `base` of the file: a code object, or a host object that carries some.
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
        let places = match host_elf::code_places(bytes, base, &self.room) {
            Err(Error::NotFound { .. }) if is_split => host_elf::CodePlaces::default(),
            // Members are not asked for kernels for the host: archives have too many libraries for that.
            Err(none @ Error::NotFound { .. }) if base == 0 && self.member.is_none() => {
                return self.host_library(bytes, none);
            }
            places => places?,
        };
        for error in places.problems {
            self.problem(error);
        }
        for row in places.rows {
            let content = range(bytes, row.start, row.end - row.start).unwrap_or_default();
            let starts = || wrapped_in(bytes, &row);
            self.row_of(content, base.saturating_add(row.start), &starts);
        }
        // A wrapper into the middle of a bundle is ignored.
        let mut end = 0;
        for start in places.wrapped {
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
        if !places.entries.is_empty() && !self.is_full(base) {
            self.found(Bundle::of_sections(bytes, base, places.entries));
        }
        if let Some(reference) = reference {
            self.refers(reference, base);
        }
        Ok(FileKind::HostElf)
    }

    /// Notes that a host ELF at `base` of the file refers to kpack archives, and reads those that are at hand.
    fn refers(&mut self, reference: KpackReference, base: u64) {
        if self.references.len() < MOST_REFERENCES {
            #[cfg(feature = "carriers")]
            self.referred(&reference, base);
            self.references.push((reference, base));
        }
    }

    /// Adds the problems of companions, the number of problems that were not kept, and the references that lead
    /// nowhere.
    pub(crate) fn finish(&mut self) {
        let is_resolved = |(reference, _): &&(KpackReference, u64)| {
            self.binaries.iter().any(|binary| reference.is_to(binary))
        };
        let unresolved: Vec<_> = self.references.iter().filter(|reference| !is_resolved(reference)).collect();
        let mut problems = self.companions.problems.clone();
        if problems.is_empty() && !self.is_done {
            problems.extend(unresolved.into_iter().map(|(reference, base)| reference.unresolved(*base)));
        }
        self.problems.extend(problems);
        if self.more_problems > 0 {
            self.problems.push(Error::More { count: self.more_problems });
        }
    }

    /// Reads a shared object that describes kernels for the host. For any other host object the error is `none`.
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
                present: format!(
                    "it describes kernels for the host, and their description cannot be read: {error}"
                ),
            }),
        }
    }

    /// Reads the code objects or bundles of an IREE executable.
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
                // Modules may share an image, which is searched for each of them.
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

    /// Reads bundles in a row with zero bytes between them. `bytes` lies at `base` of the file.
    fn row(&mut self, bytes: &'a [u8], base: u64) {
        self.row_of(bytes, base, &BTreeSet::new);
    }

    /// Reads bundles in a row. Behind a bundle whose end is unknown, the row continues at the next of `starts`, which
    /// are offsets in `bytes`; without `starts`, at the next multiple of [`ALIGNMENT`] with a known magic. Bytes inside
    /// a bundle of known size are never taken for another bundle.
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

    /// Reads the bundle at the head of `rest`. Returns its size if known, even if the bundle cannot be read.
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

    /// Whether to stop: the last wanted bundle was found, or too many were.
    fn is_full(&mut self, offset: u64) -> bool {
        if self.is_done {
            return true;
        }
        let is_full = self.bundles.len() >= MAX_BUNDLES;
        if is_full && !self.is_cut {
            self.is_cut = true;
            // This problem is kept however many others there are.
            self.problems.push(Error::Limit {
                what: "the number of bundles up to here".to_owned(),
                offset,
                value: MAX_BUNDLES as u64 + 1,
                limit: MAX_BUNDLES as u64,
                advice: "later bundles are not read; split the file".to_owned(),
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

    /// Notes a problem of a part of the file.
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

    /// The size of a bundle of version 1, whose header does not state it: the payload ends it. A broken payload takes
    /// the rest of the file.
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

/// The offsets in `row` of the bundles to which the wrappers of a host ELF point.
fn wrapped_in(elf: &[u8], row: &Range<u64>) -> BTreeSet<u64> {
    let starts = wrapper::bundles(elf).into_iter().filter(|start| row.contains(start));
    starts.map(|start| start - row.start).collect()
}

/// The offset of the bundle in a row that follows the one at `position`, whose end is unknown.
fn next_start(row: &[u8], position: usize, starts: &BTreeSet<u64>) -> Option<usize> {
    if !starts.is_empty() {
        let next = starts.range(position as u64 + 1..).next()?;
        return usize::try_from(*next).ok();
    }
    let first = (position + 1).next_multiple_of(ALIGNMENT);
    (first..row.len()).step_by(ALIGNMENT).find(|start| begins_bundle(&row[*start..]))
}
