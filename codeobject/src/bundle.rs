// SPDX-License-Identifier: MIT OR Apache-2.0
//! One bundle of a file: its entries, and the bytes of each.

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use crate::bytes::{range, text};
use crate::code::elf_flags::{ELF_HEAD_SIZE, ElfHead};
use crate::code::host::machine::HostMachine;
use crate::container::ccob::{CcobHeader, Method};
use crate::container::kpack::Binary;
use crate::container::offload_binary::Header;
use crate::container::room::Room;
use crate::container::table::{Source, Table};
use crate::decode::{Cache, Stream};
use crate::entry::{Entry, EntryTarget};
use crate::error::Error;
use crate::image::Image;
use crate::options::Options;

/// What wraps the code of a bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Container {
    /// Nothing: one code object, which counts as a bundle of one entry.
    RawElf,
    /// Nothing: one shared object with kernels for the host, which counts as a bundle of one entry.
    HostLibrary,
    /// A clang offload bundle, uncompressed.
    Bundle,
    /// A compressed clang offload bundle.
    Ccob {
        /// The version of its header: 1, 2 or 3.
        version: u16,
        /// How it is compressed.
        method: Method,
    },
    /// An LLVM offload binary (`clang-offload-packager`).
    OffloadBinary {
        /// The version of its header: 1, 2 or 3.
        version: u32,
        /// How its payload is compressed, which it may be from version 3 on.
        method: Option<Method>,
    },
    /// Sections of a host object, one per entry (`-fgpu-rdc`).
    ObjectBundle,
    /// What a kpack archive holds for one host binary, whose name is the bundle's [`member`](Bundle::member).
    Kpack {
        /// How each entry is compressed, if it is.
        method: Option<Method>,
    },
}

impl fmt::Display for Container {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Container::RawElf => f.write_str("code object"),
            Container::HostLibrary => f.write_str("shared object"),
            Container::Bundle => f.write_str("offload bundle"),
            Container::Ccob { version, method } => {
                write!(f, "compressed offload bundle (CCOB v{version}, {method})")
            }
            Container::OffloadBinary { version, method: None } => write!(f, "LLVM offload binary v{version}"),
            Container::OffloadBinary { version, method: Some(method) } => {
                write!(f, "compressed LLVM offload binary v{version} ({method})")
            }
            Container::ObjectBundle => f.write_str("object bundle"),
            Container::Kpack { method: None } => f.write_str("kpack binary"),
            Container::Kpack { method: Some(method) } => write!(f, "compressed kpack binary ({method})"),
        }
    }
}

/// A bundle: code for several targets, side by side.
///
/// Listing the entries of a compressed bundle decodes its table only. Reading an entry decodes up to the end of that
/// entry. What was decoded of the sixteen bundles that were read last is kept until the [`File`](crate::File) is
/// dropped, so that the next entry continues the stream. Threads may share a bundle and do not wait for each other:
/// two that read the same one at the same time decode it twice.
///
/// Of a damaged stream those entries can be read whose bytes come out of it before the damage, in whatever order they
/// are asked for. The checksum at its end counts for the entry that ends there, since nobody else reads so far.
pub struct Bundle<'a> {
    index: usize,
    member: Option<Arc<str>>,
    damage: Option<Arc<str>>,
    container: Container,
    offset: u64,
    stored_size: u64,
    unpacked_size: Option<u64>,
    hash: Option<u64>,
    entries: Vec<Entry>,
    /// Its bytes in the file, header included; one piece for each entry of a kpack archive.
    stored: Vec<&'a [u8]>,
    digest: OnceLock<[u8; 32]>,
    data: Data<'a>,
}

enum Data<'a> {
    Stored(&'a [u8]),
    Packed(Box<Behind<'a>>),
    /// A stream for each entry; none where its bytes cannot be had.
    Each(Vec<Option<Stream<'a>>>),
}

/// A stream, and what lies in front of it in the bundle that it unpacks to.
struct Behind<'a> {
    header: u64,
    stream: Stream<'a>,
}

impl Behind<'_> {
    fn with_range<R>(&self, start: u64, end: u64, f: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        self.stream.with_range(start.saturating_sub(self.header), end.saturating_sub(self.header), f)
    }

    fn take_range(&self, start: u64, end: u64) -> Result<Image, Error> {
        self.stream.take_range(start.saturating_sub(self.header), end.saturating_sub(self.header))
    }
}

impl Source for Behind<'_> {
    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Error> {
        self.stream.read(offset.saturating_sub(self.header), out)
    }
}

impl<'a> Bundle<'a> {
    /// The bundle that a code object without one amounts to. `elf` lies at `offset` of its file.
    pub(crate) fn raw(elf: &'a [u8], offset: u64) -> Result<Bundle<'a>, Error> {
        let head = ElfHead::read(elf)
            .ok_or_else(|| Error::truncated("the ELF header", offset, ELF_HEAD_SIZE, elf.len() as u64))?;
        let size = elf.len() as u64;
        let entry = Entry::raw(head.target(), size);
        Ok(Bundle::stored(Container::RawElf, elf, offset, size, vec![entry]))
    }

    /// The bundle that a shared object with kernels for the host amounts to.
    pub(crate) fn of_host_library(elf: &'a [u8], machine: HostMachine) -> Bundle<'a> {
        let size = elf.len() as u64;
        let id = format!("host-{machine}-unknown-linux-gnu-");
        let entry = Entry::new(id.into_bytes(), 0, size, None);
        Bundle::stored(Container::HostLibrary, elf, 0, size, vec![entry])
    }

    /// A code object that somebody says is for that ISA, as in `amdgcn-amd-amdhsa--gfx1100`. What its ELF says is
    /// compared with that where an entry is chosen.
    pub(crate) fn under_isa(mut self, isa: &[u8]) -> Bundle<'a> {
        if let [entry] = &mut self.entries[..] {
            let named = Entry::new([b"hip-", isa].concat(), entry.offset(), entry.size(), None);
            if matches!(named.target(), EntryTarget::Gpu(_)) {
                *entry = named;
            }
        }
        self
    }

    /// The uncompressed bundle at the head of `rest`, which lies at `offset` of its file.
    pub(crate) fn plain(rest: &'a [u8], offset: u64, room: &mut Room) -> Result<Bundle<'a>, Error> {
        let table = Table::read(&Slice(rest), rest.len() as u64, offset, room)?;
        Ok(Bundle::stored(Container::Bundle, rest, offset, table.end, table.entries))
    }

    /// A compressed bundle whose bytes, header included, are `stored`.
    pub(crate) fn packed(
        stored: &'a [u8],
        header: &CcobHeader,
        offset: u64,
        options: &Options,
        room: &mut Room,
        cache: &Arc<Cache>,
    ) -> Result<Bundle<'a>, Error> {
        let size = stored.len() as u64;
        let payload =
            range(stored, header.header_size, size.saturating_sub(header.header_size)).ok_or_else(|| {
                Error::truncated("the compressed bundle (CCOB)", offset, header.header_size, size)
            })?;
        let place = offset.saturating_add(header.header_size);
        let unpacked = header.unpacked_size;
        let stream =
            Stream::new(payload, place, header.method, unpacked, options.max_unpacked, Arc::clone(cache));
        let table = Table::read(&stream, unpacked, place, room).inspect_err(|_| stream.forget())?;
        Ok(Bundle {
            index: 0,
            member: None,
            damage: None,
            container: Container::Ccob { version: header.version, method: header.method },
            offset,
            stored_size: size,
            unpacked_size: Some(unpacked),
            hash: Some(header.hash),
            entries: table.entries,
            stored: vec![stored],
            digest: OnceLock::new(),
            data: Data::Packed(Box::new(Behind { header: 0, stream })),
        })
    }

    /// The offload binary whose bytes, header included, are `stored`.
    pub(crate) fn offload_binary(
        stored: &'a [u8],
        header: &Header,
        offset: u64,
        options: &Options,
        room: &mut Room,
        cache: &Arc<Cache>,
    ) -> Result<Bundle<'a>, Error> {
        let version = header.version;
        let Some(unpacked) = header.unpacked_size else {
            let entries = header.entries(&Slice(stored), header.size, offset, room)?;
            let container = Container::OffloadBinary { version, method: None };
            return Ok(Bundle::stored(container, stored, offset, header.size, entries));
        };
        let payload = range(stored, header.header_size, header.size.saturating_sub(header.header_size))
            .unwrap_or_default();
        let place = offset.saturating_add(header.header_size);
        let method = Header::method(payload, offset)?;
        let declared = unpacked.saturating_sub(header.header_size);
        let stream = Stream::new(payload, place, method, declared, options.max_unpacked, Arc::clone(cache));
        let data = Behind { header: header.header_size, stream };
        let entries = header.entries(&data, unpacked, offset, room).inspect_err(|_| data.stream.forget())?;
        Ok(Bundle {
            index: 0,
            member: None,
            damage: None,
            container: Container::OffloadBinary { version, method: Some(method) },
            offset,
            stored_size: header.size,
            unpacked_size: Some(unpacked),
            hash: None,
            entries,
            stored: vec![stored],
            digest: OnceLock::new(),
            data: Data::Packed(Box::new(data)),
        })
    }

    /// The sections of a host object that lies at `offset` of its file.
    pub(crate) fn of_sections(object: &'a [u8], offset: u64, entries: Vec<Entry>) -> Bundle<'a> {
        Bundle::stored(Container::ObjectBundle, object, offset, object.len() as u64, entries)
    }

    fn stored(
        container: Container,
        bytes: &'a [u8],
        offset: u64,
        size: u64,
        entries: Vec<Entry>,
    ) -> Bundle<'a> {
        Bundle {
            index: 0,
            member: None,
            damage: None,
            container,
            offset,
            stored_size: size,
            unpacked_size: Some(size),
            hash: None,
            entries,
            stored: vec![range(bytes, 0, size).unwrap_or(bytes)],
            digest: OnceLock::new(),
            data: Data::Stored(bytes),
        }
    }

    /// What a kpack archive, whose bytes are `archive` and lie at `base` of the file, holds for one binary.
    pub(crate) fn kpack(
        archive: &'a [u8],
        base: u64,
        binary: &Binary<'a>,
        method: Option<Method>,
        options: &Options,
        cache: &Arc<Cache>,
    ) -> Bundle<'a> {
        let images = &binary.images;
        let readable = images.iter().filter(|image| image.problem.is_none());
        let mut bundle = Bundle::stored(
            Container::Kpack { method },
            archive,
            base.saturating_add(readable.clone().map(|image| image.offset).min().unwrap_or_default()),
            readable.clone().map(|image| image.stored_size).fold(0, u64::saturating_add),
            Vec::with_capacity(images.len()),
        );
        bundle.unpacked_size = Some(readable.filter_map(|image| image.size).fold(0, u64::saturating_add));
        bundle.member = Some(text(binary.name).into());
        bundle.stored.clear();
        let mut streams = Vec::new();
        for image in images {
            let size = image.size.unwrap_or_default();
            let start = if method.is_some() { 0 } else { image.offset };
            bundle.entries.push(Entry::of_architecture(image.arch, start, size, image.problem.clone()));
            let payload = range(archive, image.offset, image.stored_size);
            bundle.stored.push(payload.unwrap_or_default());
            streams.push(method.zip(payload).filter(|_| image.problem.is_none()).map(|(method, payload)| {
                Stream::new(
                    payload,
                    base.saturating_add(image.offset),
                    method,
                    size,
                    options.max_unpacked,
                    Arc::clone(cache),
                )
            }));
        }
        if method.is_some() {
            bundle.data = Data::Each(streams);
        }
        bundle
    }

    pub(crate) fn found(
        mut self,
        index: usize,
        outer: Option<Arc<str>>,
        damage: Option<Arc<str>>,
    ) -> Bundle<'a> {
        (self.index, self.damage) = (index, damage);
        self.member = match (outer, self.member.take()) {
            (Some(outer), Some(own)) => Some(format!("{outer}({own})").into()),
            (outer, own) => own.or(outer),
        };
        self
    }

    /// What is wrong with the file that it came in as a whole, where its checksum tells: a member of a zip file that is
    /// stored as it is. It is among the [`problems`](crate::File::problems) as well. Nothing tells which bytes are
    /// damaged, so the entries can be read.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// Its number in the file, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The name of what it belongs to, where the file is a collection with names: of the file in an archive, as in
    /// `a.o`, or in `b.a(a.o)` where archives hold archives; of the host binary in a kpack archive. Bytes that are not
    /// UTF-8 are written as `\xNN`. Of the names of files 512 letters are shown, and `…` where one has more.
    /// `None` for what lies in the file itself.
    pub fn member(&self) -> Option<&str> {
        self.member.as_deref()
    }

    /// What wraps its code.
    pub fn container(&self) -> Container {
        self.container
    }

    /// Where it begins in the file; in the unpacked member for a compressed one of a zip file, in the archive for what
    /// a host ELF has in a kpack archive beside it.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// How many bytes of the file it takes.
    pub fn stored_size(&self) -> u64 {
        self.stored_size
    }

    /// How many bytes it has unpacked, as it declares itself; `None` where nothing says so.
    pub fn unpacked_size(&self) -> Option<u64> {
        self.unpacked_size
    }

    /// What the header of a compressed bundle states as the first eight bytes of the MD5 of its unpacked bytes. It
    /// is not checked: every loader ignores it, and it costs more than unpacking. Good for a cache's key, together
    /// with the sizes, where the file is trusted.
    pub fn hash(&self) -> Option<u64> {
        self.hash
    }

    /// Whether its entries must be unpacked to be read.
    pub fn is_compressed(&self) -> bool {
        !matches!(self.data, Data::Stored(_))
    }

    /// The SHA-256 of its bytes in the file, [`stored_size`](Self::stored_size) of them; a key that no file can forge.
    /// Of a binary in a kpack archive, whose bytes lie apart from their table, that of each entry's id, sizes, problem and
    /// bytes.
    /// Computed once.
    pub fn digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| match self.container {
            Container::Kpack { method } => {
                let mut hash = Sha256::new();
                for (entry, bytes) in self.entries.iter().zip(&self.stored) {
                    let is_compressed = u64::from(method.is_some());
                    // What is wrong with an entry may lie outside of its bytes, in the table of another one.
                    let problem = entry.problem().unwrap_or_default();
                    let sizes =
                        [entry.id().len() as u64, entry.size(), bytes.len() as u64, problem.len() as u64];
                    for number in [is_compressed].into_iter().chain(sizes) {
                        hash.update(number.to_le_bytes());
                    }
                    hash.update(entry.id());
                    hash.update(problem);
                    hash.update(bytes);
                }
                hash.finalize().into()
            }
            _ => Sha256::digest(self.stored.first().copied().unwrap_or_default()).into(),
        })
    }

    /// The entries, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The bytes that an entry comes from, as they lie in memory: its own where it is not compressed, else all of the
    /// compressed bytes that it is a part of, with their header where they have one. Entries of any two bundles of a file
    /// whose bytes lie at the same place have them in common. `None` where the entry cannot be read.
    pub fn stored_bytes(&self, entry: usize) -> Option<&'a [u8]> {
        let range = self.entry(entry).ok()?.range();
        match &self.data {
            Data::Stored(bytes) => stored_range(bytes, range.start, range.end).ok(),
            Data::Packed(_) => self.stored.first().copied(),
            Data::Each(_) => self.stored.get(entry).copied(),
        }
    }

    /// Drops what is kept of its unpacked bytes: who reads it next decodes it from the beginning, its table included, as
    /// for the first time. For those that measure how long that takes.
    pub fn forget_unpacked(&self) {
        match &self.data {
            Data::Stored(_) => {}
            Data::Packed(stream) => stream.stream.forget(),
            Data::Each(streams) => streams.iter().flatten().for_each(Stream::forget),
        }
    }

    /// The bytes of an entry, in memory of their own.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`] for an index that is not there, [`Error::Malformed`] for an entry with a
    /// [`problem`](Entry::problem), [`Error::Decode`] or [`Error::Limit`] where they cannot be unpacked.
    pub fn extract(&self, entry: usize) -> Result<Vec<u8>, Error> {
        self.image(entry).map(Cow::into_owned)
    }

    /// The bytes of an entry, borrowed from the file where it is not compressed.
    ///
    /// # Errors
    ///
    /// As [`extract`](Self::extract).
    pub fn image(&self, entry: usize) -> Result<Cow<'a, [u8]>, Error> {
        let range = self.entry(entry)?.range();
        match &self.data {
            Data::Stored(bytes) => stored_range(bytes, range.start, range.end).map(Cow::Borrowed),
            Data::Packed(_) | Data::Each(_) => {
                self.with_range(entry, range.start, range.end, copy)?.map(Cow::Owned)
            }
        }
    }

    /// The bytes of an entry as a loader wants them: in memory of their own that begins at a page, zeros behind.
    ///
    /// The memory that a compressed bundle was decoded into becomes the image, mostly without a copy, and what was
    /// decoded of that bundle is not kept. It is the fastest way to one entry; who wants several of one bundle takes
    /// [`with_image`](Self::with_image).
    ///
    /// # Errors
    ///
    /// As [`extract`](Self::extract).
    pub fn take_image(&self, entry: usize) -> Result<Image, Error> {
        let range = self.entry(entry)?.range();
        match &self.data {
            Data::Stored(bytes) => Image::copy(stored_range(bytes, range.start, range.end)?),
            Data::Packed(stream) => stream.take_range(range.start, range.end),
            Data::Each(streams) => self.of_entry(streams, entry)?.take_range(range.start, range.end),
        }
    }

    /// Calls `f` with the bytes of an entry, without copying them.
    ///
    /// # Errors
    ///
    /// As [`extract`](Self::extract).
    pub fn with_image<R>(&self, entry: usize, f: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        let range = self.entry(entry)?.range();
        self.with_range(entry, range.start, range.end, f)
    }

    /// The first bytes of an entry, as many as an ELF header has, or fewer where the entry is smaller.
    pub(crate) fn head(&self, entry: usize) -> Result<Vec<u8>, Error> {
        let range = self.entry(entry)?.range();
        let end = range.end.min(range.start.saturating_add(ELF_HEAD_SIZE));
        self.with_range(entry, range.start, end, <[u8]>::to_vec)
    }

    fn with_range<R>(
        &self,
        entry: usize,
        start: u64,
        end: u64,
        f: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, Error> {
        match &self.data {
            Data::Stored(bytes) => Ok(f(stored_range(bytes, start, end)?)),
            Data::Packed(stream) => stream.with_range(start, end, f),
            Data::Each(streams) => self.of_entry(streams, entry)?.with_range(start, end, f),
        }
    }

    fn of_entry<'s>(&self, streams: &'s [Option<Stream<'a>>], entry: usize) -> Result<&'s Stream<'a>, Error> {
        let stream = streams.get(entry).and_then(Option::as_ref);
        stream.ok_or_else(|| Error::malformed("an entry of the bundle", self.offset, "it has no bytes"))
    }

    fn entry(&self, index: usize) -> Result<&Entry, Error> {
        let entry = self.entries.get(index).ok_or_else(|| Error::NotFound {
            what: format!("entry {index} in bundle {}", self.index),
            present: format!("it has {} entries, counted from 0", self.entries.len()),
        })?;
        match entry.problem() {
            None => Ok(entry),
            Some(problem) => {
                let what = format!("entry {index} ({}) of bundle {}", entry.id_text(), self.index);
                Err(Error::malformed(what, self.offset, problem))
            }
        }
    }
}

impl fmt::Debug for Bundle<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bundle")
            .field("index", &self.index)
            .field("member", &self.member)
            .field("container", &self.container)
            .field("offset", &self.offset)
            .field("stored_size", &self.stored_size)
            .field("unpacked_size", &self.unpacked_size)
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}

fn stored_range(bytes: &[u8], start: u64, end: u64) -> Result<&[u8], Error> {
    let size = end.saturating_sub(start);
    range(bytes, start, size)
        .ok_or_else(|| Error::truncated("an entry of the bundle", start, size, bytes.len() as u64))
}

fn copy(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len())
        .map_err(|_| Error::Memory { what: "an entry of the bundle", bytes: bytes.len() as u64 })?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}

struct Slice<'a>(&'a [u8]);

impl Source for Slice<'_> {
    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Error> {
        let end = offset.saturating_add(out.len() as u64);
        out.copy_from_slice(stored_range(self.0, offset, end)?);
        Ok(())
    }
}
