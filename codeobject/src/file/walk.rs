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
use crate::bytes::glimpse;
use crate::code::elf_flags::ElfHead;
use crate::code::host::{HostLibrary, PREFIX};
use crate::container::ccob::CcobHeader;
use crate::container::host_elf;
use crate::container::iree::{self, IreeExecutable, IreeFormat};
use crate::container::kpack_reference::{self, KpackReference};
use crate::container::offload_binary::Header;
use crate::container::room::Room;
use crate::container::wrapper;
#[cfg(feature = "carriers")]
use crate::container::{archive::thin, zip::is_zip};
use crate::content::Content;
use crate::decode::{self, Cache};
use crate::error::Error;
use crate::file::companions::Companions;
use crate::file::kind::FileKind;
use crate::options::Options;
use crate::words::magic::{Format, HEAD, begins_bundle};

/// The most bundles of one file that are described, and the most problems that are kept.
const MAX_BUNDLES: usize = 65_536;
const MAX_PROBLEMS: usize = 64;
/// References to kpack archives beyond these are not followed: members of a zip file may share their bytes without end.
const MOST_REFERENCES: usize = 256;
/// Compilers align each bundle of a row to this many bytes, counted from the start of the row.
const ALIGNMENT: u64 = 4096;
/// The smallest size of a bundle whose end is unknown. A wrapper that points into these bytes is ignored.
const LEAST_SIZE: u64 = 32;
/// No bundle's magic is longer.
const LONGEST_MAGIC: usize = 24;

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
    pub(crate) fn file(&mut self, content: Content<'a>) -> Result<FileKind, Error> {
        self.room = Room::of_file(usize::try_from(content.size()).unwrap_or(usize::MAX));
        #[cfg(feature = "carriers")]
        if is_zip(content)? {
            return self.zip(content, 0);
        }
        self.content(content, 0)
    }

    /// Reads a file, or a member of a zip file, that lies at `base` of the file.
    fn content(&mut self, content: Content<'a>, base: u64) -> Result<FileKind, Error> {
        match Format::of(&content.head(HEAD)?) {
            Some(Format::Elf | Format::OtherElf) => {
                let result = self.elf(content, base);
                #[cfg(feature = "carriers")]
                let result = self.behind(content, base, result);
                result
            }
            Some(Format::IreeHip) => self.iree_executable(IreeFormat::Hip, content, base),
            Some(Format::IreeAmdgpu) => self.iree_executable(IreeFormat::Amdgpu, content, base),
            Some(format) if !format.is_bundle() => self.carrier(format, content, base),
            // Zeros may stand in front of the first bundle.
            Some(_) | None => {
                self.row(content, base);
                Ok(FileKind::FatBinary)
            }
        }
    }

    /// Reads a file of files at `base` of the file. Other formats are refused.
    #[cfg(feature = "carriers")]
    fn carrier(&mut self, format: Format, content: Content<'a>, base: u64) -> Result<FileKind, Error> {
        match format {
            Format::Kpack => self.kpack(content, base),
            Format::Archive => self.archive(content, base),
            Format::ThinArchive => Err(thin(content)),
            _ => Err(format.refused(base)),
        }
    }

    #[cfg(not(feature = "carriers"))]
    fn carrier(&mut self, format: Format, _content: Content<'a>, base: u64) -> Result<FileKind, Error> {
        match format {
            Format::Kpack | Format::Archive | Format::ThinArchive | Format::Zip => {
                Err(format.is_not_built_in(base))
            }
            _ => Err(format.refused(base)),
        }
    }

    /// Reads an ELF at `base` of the file: a code object, or a host object that carries some.
    fn elf(&mut self, content: Content<'a>, base: u64) -> Result<FileKind, Error> {
        let head = ElfHead::read(&content.head(HEAD)?).ok_or_else(|| {
            let problem = "it is not 64-bit little-endian, or its header is cut short";
            Error::malformed("the ELF header", base, problem)
        })?;
        if head.is_amdgpu() {
            let bundle = Bundle::raw(content, base)?;
            self.found(bundle);
            return Ok(FileKind::CodeObject);
        }
        let (reference, is_split) = match kpack_reference::find(content, base) {
            Ok(reference) => (reference.clone(), reference.is_some()),
            Err(error) => {
                self.problem(error);
                (None, true)
            }
        };
        let places = match host_elf::code_places(content, base, &self.room) {
            Err(Error::NotFound { .. }) if is_split => host_elf::CodePlaces::default(),
            // Members are not asked for kernels for the host: archives have too many libraries for that.
            Err(none @ Error::NotFound { .. }) if base == 0 && self.member.is_none() => {
                return self.host_library(content, none);
            }
            places => places?,
        };
        for error in places.problems {
            self.problem(error);
        }
        for row in places.rows {
            let bundles = content.part(row.start, row.end - row.start).unwrap_or(Content::EMPTY);
            let starts = || wrapped_in(content, &row);
            self.row_of(bundles, base.saturating_add(row.start), &starts);
        }
        // A wrapper into the middle of a bundle is ignored.
        let mut end = 0;
        for start in places.wrapped {
            let offset = base.saturating_add(start);
            if self.is_full(offset) {
                break;
            }
            if start >= end {
                let size = self.bundle(content.from(start), offset).unwrap_or(LEAST_SIZE);
                end = start.saturating_add(size);
            }
        }
        if !places.entries.is_empty() && !self.is_full(base) {
            self.found(Bundle::of_sections(content, base, places.entries));
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
    fn host_library(&mut self, content: Content<'a>, none: Error) -> Result<FileKind, Error> {
        if !host_elf::may_name(content, PREFIX)? {
            return Err(none);
        }
        let bytes = content.keep()?;
        if !HostLibrary::may_have_kernels(bytes) {
            return Err(none);
        }
        match HostLibrary::parse(bytes) {
            Ok(library) if library.has_kernels() => {
                self.found(Bundle::of_host_library(Content::Memory(bytes), library.machine()));
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
    fn iree_executable(
        &mut self,
        format: IreeFormat,
        content: Content<'a>,
        base: u64,
    ) -> Result<FileKind, Error> {
        if self.is_full(base) {
            return Ok(FileKind::IreeExecutable);
        }
        let bytes = content.keep()?;
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
                self.row(Content::Memory(image), offset);
                continue;
            }
            match Bundle::raw(Content::Memory(image), offset) {
                Ok(bundle) => self.found(bundle.under_isa(executable.isa_bytes())),
                Err(error) => self.problem(error),
            }
        }
        executable.bundles = first..self.bundles.len();
        self.executables.push(executable);
        Ok(FileKind::IreeExecutable)
    }

    /// Reads bundles in a row with zero bytes between them. `row` lies at `base` of the file.
    fn row(&mut self, row: Content<'a>, base: u64) {
        self.row_of(row, base, &|| Ok(BTreeSet::new()));
    }

    /// Reads bundles in a row. Behind a bundle whose end is unknown, the row continues at the next of `starts`, which
    /// are offsets in `row`; without `starts`, at the next multiple of [`ALIGNMENT`] with a known magic. Bytes inside
    /// a bundle of known size are never taken for another bundle.
    fn row_of(&mut self, row: Content<'a>, base: u64, starts: &Starts<'_>) {
        if let Err(error) = self.try_row(row, base, starts) {
            self.problem(error);
        }
    }

    fn try_row(&mut self, row: Content<'a>, base: u64, starts: &Starts<'_>) -> Result<(), Error> {
        let mut known_starts = None;
        let mut position = 0;
        while let Some(start) = row.first_nonzero(position)? {
            let offset = base.saturating_add(start);
            if self.is_full(offset) {
                break;
            }
            position = match self.bundle(row.from(start), offset) {
                Some(size) if size > 0 => start.saturating_add(size),
                _ => {
                    let starts = match &mut known_starts {
                        Some(known) => known,
                        none => none.insert(starts()?),
                    };
                    match next_start(row, start, starts)? {
                        Some(next) => next,
                        None => break,
                    }
                }
            };
        }
        Ok(())
    }

    /// Reads the bundle at the head of `rest`. Returns its size if known, even if the bundle cannot be read.
    fn bundle(&mut self, rest: Content<'a>, offset: u64) -> Option<u64> {
        let (bundle, size) = match rest.head(HEAD) {
            Ok(head) => self.bundle_after(&head, rest, offset),
            Err(error) => (Err(error), None),
        };
        match bundle {
            Ok(bundle) => self.found(bundle),
            Err(error) => self.problem(error),
        }
        size
    }

    /// The bundle in `rest`, which begins with `head`, and its size.
    fn bundle_after(
        &mut self,
        head: &[u8],
        rest: Content<'a>,
        offset: u64,
    ) -> (Result<Bundle<'a>, Error>, Option<u64>) {
        match Format::of(head) {
            Some(Format::Bundle) => {
                let bundle = Bundle::plain(rest, offset, &mut self.room);
                let size = bundle.as_ref().map(Bundle::stored_size).ok();
                (bundle, size)
            }
            Some(Format::Ccob) => match self.stored(head, rest, offset) {
                Ok((header, stored)) => {
                    let bundle =
                        Bundle::packed(stored, &header, offset, self.options, &mut self.room, &self.cache);
                    (bundle, Some(stored.size()))
                }
                Err(error) => (Err(error), None),
            },
            Some(Format::OffloadBinary) => match offload_binary(head, rest, offset) {
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
            _ => (Err(Error::NotRecognised { offset, found: glimpse(head) }), None),
        }
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

    /// The header and the bytes of the compressed bundle in `rest`, which begins with `head`.
    fn stored(
        &mut self,
        head: &[u8],
        rest: Content<'a>,
        offset: u64,
    ) -> Result<(CcobHeader, Content<'a>), Error> {
        let header = CcobHeader::read(head, offset)?;
        let size = match header.stored_size {
            Some(size) => size,
            None => self.end_of_payload(rest, &header, offset)?,
        };
        let cut = || Error::truncated("the compressed bundle (CCOB)", offset, size, rest.size());
        let stored = rest.part(0, size).ok_or_else(cut)?;
        Ok((header, stored))
    }

    /// The size of a bundle of version 1, whose header does not state it: the payload ends it. A broken payload takes
    /// the rest of the file.
    fn end_of_payload(&mut self, rest: Content<'a>, header: &CcobHeader, offset: u64) -> Result<u64, Error> {
        let payload = rest.from(header.header_size);
        let left = self.room.measurable(offset)?;
        let most = self.options.max_unpacked.min(left).min(self.options.budget.left());
        let mut unpacked = 0;
        let size = decode::stored_size(header.method, payload, most, &mut unpacked);
        self.room.measure(unpacked);
        self.options.budget.take("a bundle only to find its end", unpacked)?;
        if unpacked > left {
            return Err(Room::unmeasured(offset));
        }
        Ok(size.map_or(rest.size(), |size| header.header_size.saturating_add(size)))
    }
}

/// The offsets in a row of the bundles to which wrappers point, looked for when they are needed.
type Starts<'s> = dyn Fn() -> Result<BTreeSet<u64>, Error> + 's;

/// The header and the bytes of the offload binary in `rest`, which begins with `head`.
fn offload_binary<'a>(head: &[u8], rest: Content<'a>, offset: u64) -> Result<(Header, Content<'a>), Error> {
    let header = Header::read(head, offset)?;
    let cut = || Error::truncated("the LLVM offload binary", offset, header.size, rest.size());
    let stored = rest.part(0, header.size).ok_or_else(cut)?;
    Ok((header, stored))
}

/// The offsets in `row` of the bundles to which the wrappers of a host ELF point.
fn wrapped_in(elf: Content<'_>, row: &Range<u64>) -> Result<BTreeSet<u64>, Error> {
    let starts = wrapper::bundles(elf)?.into_iter().filter(|start| row.contains(start));
    Ok(starts.map(|start| start - row.start).collect())
}

/// The offset of the bundle in a row that follows the one at `position`, whose end is unknown.
fn next_start(row: Content<'_>, position: u64, starts: &BTreeSet<u64>) -> Result<Option<u64>, Error> {
    if !starts.is_empty() {
        return Ok(starts.range(position + 1..).next().copied());
    }
    let mut start = (position + 1).next_multiple_of(ALIGNMENT);
    while start < row.size() {
        if begins_bundle(&row.from(start).head(LONGEST_MAGIC)?) {
            return Ok(Some(start));
        }
        start += ALIGNMENT;
    }
    Ok(None)
}
