// SPDX-License-Identifier: MIT OR Apache-2.0
//! One bundle of a file: its entries, and the bytes of each entry.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use sha2::{Digest, Sha256};

use crate::code::elf_flags::{ELF_HEAD_SIZE, ElfHead};
use crate::code::host::machine::HostMachine;
use crate::container::ccob::{CcobHeader, md5_head};
#[cfg(feature = "carriers")]
use crate::container::kpack::Binary;
use crate::container::offload_binary::Header;
use crate::container::room::Room;
use crate::container::table::Table;
use crate::content::Content;
use crate::decode::{Cache, Stream};
use crate::entry::{Entry, EntryTarget};
use crate::error::Error;
use crate::image::Image;
use crate::options::Options;
use crate::words::method::Method;
use crate::words::source::Source;

/// The bytes of a payload that tell its compression method.
const METHOD_HEAD: usize = 8;

/// The container of a bundle's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Container {
    /// None: one code object, which counts as a bundle of one entry.
    RawElf,
    /// None: one shared object with kernels for the host, which counts as a bundle of one entry.
    HostLibrary,
    /// A clang offload bundle, uncompressed.
    Bundle,
    /// A compressed clang offload bundle.
    Ccob {
        /// The version of its header: 1, 2 or 3.
        version: u16,
        /// The compression method.
        method: Method,
    },
    /// An LLVM offload binary (`clang-offload-packager`).
    OffloadBinary {
        /// The version of its header: 1, 2 or 3.
        version: u32,
        /// The compression method of its payload, which version 3 may compress.
        method: Option<Method>,
    },
    /// Sections of a host object, one per entry (`-fgpu-rdc`).
    ObjectBundle,
    /// The code that a kpack archive holds for one host binary, whose name is the bundle's [`member`](Bundle::member).
    Kpack {
        /// The compression method of each entry, if there is one.
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
/// Listing the entries of a compressed bundle decodes its table only. Reading an entry decodes the stream up to the entry's
/// end. The [`File`](crate::File) keeps the decoded bytes of the sixteen bundles that were read last, so that the next entry
/// continues the stream. Threads may share a bundle and do not wait for each other: two threads that read the same bundle
/// at the same time decode it twice.
///
/// A damaged stream gives those entries that end before the damage, in any order. The checksum at the end of the stream
/// counts only for the entry that ends there.
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
    /// The bundle's bytes in the file, header included. A kpack binary has one piece for each entry.
    stored: Vec<Content<'a>>,
    digest: OnceLock<[u8; 32]>,
    data: Data<'a>,
}

enum Data<'a> {
    Stored(Content<'a>),
    Packed(Box<Behind<'a>>),
    /// A stream for each entry of a kpack binary; `None` for an entry with a problem.
    #[cfg_attr(not(feature = "carriers"), expect(dead_code))]
    Each(Vec<Option<Stream<'a>>>),
}

/// A stream behind an uncompressed header. Ranges count from the header's start.
struct Behind<'a> {
    /// Size of the header in bytes; 0 where the stream begins with the bundle's table.
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
    /// The bundle of one code object that lies in none. `elf` lies at `offset` of its file.
    pub(crate) fn raw(elf: Content<'a>, offset: u64) -> Result<Bundle<'a>, Error> {
        let size = elf.size();
        let head = ElfHead::read(&elf.head(ELF_HEAD_SIZE as usize)?)
            .ok_or_else(|| Error::truncated("the ELF header", offset, ELF_HEAD_SIZE, size))?;
        let entry = Entry::raw(head.target(), size);
        Ok(Bundle::stored(Container::RawElf, elf, offset, size, vec![entry]))
    }

    /// The bundle of one shared object with kernels for the host.
    pub(crate) fn of_host_library(elf: Content<'a>, machine: HostMachine) -> Bundle<'a> {
        let size = elf.size();
        let id = format!("host-{machine}-unknown-linux-gnu-");
        let entry = Entry::new(id.into_bytes(), 0, size, None);
        Bundle::stored(Container::HostLibrary, elf, 0, size, vec![entry])
    }

    /// The bundle with the ISA that an IREE executable states, such as `amdgcn-amd-amdhsa--gfx1100`, as the id of its entry.
    /// The choice of an entry compares the id with the ELF's flags.
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
    pub(crate) fn plain(rest: Content<'a>, offset: u64, room: &mut Room) -> Result<Bundle<'a>, Error> {
        let table = Table::read(&rest, rest.size(), offset, room)?;
        Ok(Bundle::stored(Container::Bundle, rest, offset, table.end, table.entries))
    }

    /// The compressed bundle whose bytes, header included, are `stored`.
    pub(crate) fn packed(
        stored: Content<'a>,
        header: &CcobHeader,
        offset: u64,
        options: &Options,
        room: &mut Room,
        cache: &Arc<Cache>,
    ) -> Result<Bundle<'a>, Error> {
        let size = stored.size();
        let cut = || Error::truncated("the compressed bundle (CCOB)", offset, header.header_size, size);
        let payload = size.checked_sub(header.header_size);
        let payload = payload.and_then(|size| stored.part(header.header_size, size)).ok_or_else(cut)?;
        let place = offset.saturating_add(header.header_size);
        let unpacked = header.unpacked_size;
        let stream = Stream::new(payload, place, header.method, unpacked, options, Arc::clone(cache));
        let table = Table::read(&stream, unpacked, place, room).inspect_err(|_| stream.forget())?;
        let container = Container::Ccob { version: header.version, method: header.method };
        let mut bundle = Bundle::stored(container, stored, offset, size, table.entries);
        bundle.unpacked_size = Some(unpacked);
        bundle.hash = Some(header.hash);
        bundle.data = Data::Packed(Box::new(Behind { header: 0, stream }));
        Ok(bundle)
    }

    /// The offload binary whose bytes, header included, are `stored`.
    pub(crate) fn offload_binary(
        stored: Content<'a>,
        header: &Header,
        offset: u64,
        options: &Options,
        room: &mut Room,
        cache: &Arc<Cache>,
    ) -> Result<Bundle<'a>, Error> {
        let version = header.version;
        let Some(unpacked) = header.unpacked_size else {
            let entries = header.entries(&stored, header.size, offset, room)?;
            let container = Container::OffloadBinary { version, method: None };
            return Ok(Bundle::stored(container, stored, offset, header.size, entries));
        };
        let payload = stored.from(header.header_size);
        let place = offset.saturating_add(header.header_size);
        let method = Header::method(&payload.head(METHOD_HEAD)?, offset)?;
        let declared = unpacked.saturating_sub(header.header_size);
        let stream = Stream::new(payload, place, method, declared, options, Arc::clone(cache));
        let data = Behind { header: header.header_size, stream };
        let entries = header.entries(&data, unpacked, offset, room).inspect_err(|_| data.stream.forget())?;
        let container = Container::OffloadBinary { version, method: Some(method) };
        let mut bundle = Bundle::stored(container, stored, offset, header.size, entries);
        bundle.unpacked_size = Some(unpacked);
        bundle.data = Data::Packed(Box::new(data));
        Ok(bundle)
    }

    /// The bundle whose entries are sections of a host object at `offset` of its file.
    pub(crate) fn of_sections(object: Content<'a>, offset: u64, entries: Vec<Entry>) -> Bundle<'a> {
        Bundle::stored(Container::ObjectBundle, object, offset, object.size(), entries)
    }

    /// A bundle of `size` bytes that begins at the start of `bytes`, with uncompressed entries.
    fn stored(
        container: Container,
        content: Content<'a>,
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
            stored: vec![content.part(0, size).unwrap_or(content)],
            digest: OnceLock::new(),
            data: Data::Stored(content),
        }
    }

    /// The code for one host binary in the kpack archive `archive`, which lies at `base` of the file.
    #[cfg(feature = "carriers")]
    pub(crate) fn kpack(
        archive: Content<'a>,
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
        bundle.member = Some(crate::bytes::text(binary.name).into());
        bundle.stored.clear();
        let mut streams = Vec::new();
        for image in images {
            let size = image.size.unwrap_or_default();
            let start = if method.is_some() { 0 } else { image.offset };
            bundle.entries.push(Entry::of_architecture(image.arch, start, size, image.problem.clone()));
            let payload = archive.part(image.offset, image.stored_size);
            bundle.stored.push(payload.unwrap_or(Content::EMPTY));
            streams.push(method.zip(payload).filter(|_| image.problem.is_none()).map(|(method, payload)| {
                Stream::new(
                    payload,
                    base.saturating_add(image.offset),
                    method,
                    size,
                    options,
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

    /// The damage of the zip member in which the bundle is stored uncompressed, if the member's checksum is wrong.
    /// It is among the [`problems`](crate::File::problems) as well. The checksum does not tell which bytes are damaged,
    /// so the entries can be read.
    pub fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// The bundle's number in the file, from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// The name of the file in the file that holds the bundle: the file in an archive, such as `a.o`, or `b.a(a.o)` for
    /// an archive in an archive; the host binary in a kpack archive. Bytes that are not UTF-8 are written as `\xNN`. At
    /// most 512 letters are shown, then `…`. `None` for a bundle in the file itself.
    pub fn member(&self) -> Option<&str> {
        self.member.as_deref()
    }

    /// The container of the bundle's code.
    pub fn container(&self) -> Container {
        self.container
    }

    /// The bundle's offset in the file. In a compressed member of a zip file it counts from the unpacked member, and in
    /// a kpack archive beside a host ELF from the archive.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The number of bytes that the bundle takes in the file.
    pub fn stored_size(&self) -> u64 {
        self.stored_size
    }

    /// The declared unpacked size in bytes; `None` if the bundle declares none.
    pub fn unpacked_size(&self) -> Option<u64> {
        self.unpacked_size
    }

    /// The first eight bytes of the MD5 of the unpacked bytes, as the header of a compressed bundle states them. Reading
    /// does not check them: every loader ignores them, and a check costs more than unpacking. With the sizes they make
    /// a key for a cache where the file is trusted. [`check_hash`](Self::check_hash) compares them.
    pub fn hash(&self) -> Option<u64> {
        self.hash
    }

    /// Unpacks a compressed bundle to its end, and compares the [`hash`](Self::hash) that its header states. Does nothing
    /// for other bundles, which state none. An error if the stream is damaged anywhere, if it has another size than the
    /// header states, or another hash.
    pub fn check_hash(&self) -> Result<(), Error> {
        let (Some(stated), Some(size), Data::Packed(data)) = (self.hash, self.unpacked_size, &self.data)
        else {
            return Ok(());
        };
        let found = data.with_range(0, size, md5_head)?;
        if found == stated {
            return Ok(());
        }
        let problem = format!("its header states the hash {stated:016x}, and its content has {found:016x}");
        Err(Error::malformed("the compressed bundle (CCOB)", self.offset, problem))
    }

    /// Whether the entries must be unpacked to be read.
    pub fn is_compressed(&self) -> bool {
        !matches!(self.data, Data::Stored(_))
    }

    /// The SHA-256 of the bundle's [`stored_size`](Self::stored_size) bytes in the file: a key that no file can forge.
    /// The bytes of a kpack binary lie apart from their table, so its digest covers each entry's id, sizes, problem and
    /// bytes. Computed once. Bytes that can no longer be read give a digest that no other bundle has.
    pub fn digest(&self) -> [u8; 32] {
        *self.digest.get_or_init(|| self.hash_stored().unwrap_or_else(|_| unique()))
    }

    fn hash_stored(&self) -> Result<[u8; 32], Error> {
        let mut hash = Sha256::new();
        let Container::Kpack { method } = self.container else {
            update(&mut hash, self.stored.first().copied().unwrap_or(Content::EMPTY))?;
            return Ok(hash.finalize().into());
        };
        for (entry, bytes) in self.entries.iter().zip(&self.stored) {
            let is_compressed = u64::from(method.is_some());
            // The problem of an entry may lie in the table of another one, outside of its own bytes.
            let problem = entry.problem().unwrap_or_default();
            let sizes = [entry.id().len() as u64, entry.size(), bytes.size(), problem.len() as u64];
            for number in [is_compressed].into_iter().chain(sizes) {
                hash.update(number.to_le_bytes());
            }
            hash.update(entry.id());
            hash.update(problem);
            update(&mut hash, *bytes)?;
        }
        Ok(hash.finalize().into())
    }

    /// The entries, in the order of the file.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The bytes that an entry comes from, as they lie in memory. An uncompressed entry gives its own bytes, any other
    /// entry all of the compressed stream that it is a part of, with its header. Entries whose bytes lie at the same
    /// place share them, also across the bundles of a file. `None` for an entry that cannot be read, and for a file that is
    /// not in memory ([`stored_place`](Self::stored_place) serves both).
    pub fn stored_bytes(&self, entry: usize) -> Option<&'a [u8]> {
        match self.source(entry)? {
            Content::Memory(bytes) => Some(bytes),
            Content::File { .. } => None,
        }
    }

    /// The place of the bytes that an entry comes from, as [`stored_bytes`](Self::stored_bytes) defines them. Equal places
    /// hold the same bytes, also across the bundles of a file. The numbers mean nothing else. `None` for an entry that
    /// cannot be read.
    pub fn stored_place(&self, entry: usize) -> Option<Range<u64>> {
        self.source(entry).map(Content::place)
    }

    fn source(&self, entry: usize) -> Option<Content<'a>> {
        let range = self.entry(entry).ok()?.range();
        match &self.data {
            Data::Stored(content) => stored_range(*content, range).ok(),
            Data::Packed(_) => self.stored.first().copied(),
            Data::Each(_) => self.stored.get(entry).copied(),
        }
    }

    /// Drops the unpacked bytes that the file keeps, so that the next read decodes the bundle from the beginning,
    /// table included. Use it to measure decoding.
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
    /// [`Error::NotFound`] for an index that does not exist, [`Error::Malformed`] for an entry with a
    /// [`problem`](Entry::problem), [`Error::Decode`] or [`Error::Limit`] if the bytes cannot be unpacked.
    pub fn extract(&self, entry: usize) -> Result<Vec<u8>, Error> {
        self.image(entry).map(Cow::into_owned)
    }

    /// The bytes of an entry, borrowed from the file if it is in memory and the entry is not compressed.
    ///
    /// # Errors
    ///
    /// As [`extract`](Self::extract).
    pub fn image(&self, entry: usize) -> Result<Cow<'a, [u8]>, Error> {
        let range = self.entry(entry)?.range();
        match &self.data {
            Data::Stored(content) => stored_range(*content, range)?.load(),
            Data::Packed(_) | Data::Each(_) => {
                self.with_range(entry, range.start, range.end, copy)?.map(Cow::Owned)
            }
        }
    }

    /// The bytes of an entry in page-aligned memory of their own, with zeros behind, as a loader wants them.
    ///
    /// The memory that a compressed bundle is decoded into becomes the image, mostly without a copy, and the file keeps
    /// nothing of it. This is the fastest way to one entry; for several entries of one bundle use
    /// [`with_image`](Self::with_image).
    ///
    /// # Errors
    ///
    /// As [`extract`](Self::extract).
    pub fn take_image(&self, entry: usize) -> Result<Image, Error> {
        let range = self.entry(entry)?.range();
        match &self.data {
            Data::Stored(content) => stored_range(*content, range)?.with(Image::copy)?,
            Data::Packed(stream) => stream.take_range(range.start, range.end),
            Data::Each(streams) => self.of_entry(streams, entry)?.take_range(range.start, range.end),
        }
    }

    /// Calls `f` with the bytes of an entry, without a copy. Those of a file that is not in memory are read into memory
    /// which serves the next entry too.
    ///
    /// # Errors
    ///
    /// As [`extract`](Self::extract).
    pub fn with_image<R>(&self, entry: usize, f: impl FnOnce(&[u8]) -> R) -> Result<R, Error> {
        let range = self.entry(entry)?.range();
        self.with_range(entry, range.start, range.end, f)
    }

    /// The first bytes of an entry: the size of an ELF header, or fewer if the entry is smaller.
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
            Data::Stored(content) => stored_range(*content, start..end)?.with(f),
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

fn stored_range(content: Content<'_>, range: Range<u64>) -> Result<Content<'_>, Error> {
    let size = range.end.saturating_sub(range.start);
    let cut = || Error::truncated("an entry of the bundle", range.start, size, content.size());
    content.part(range.start, size).ok_or_else(cut)
}

fn update(hash: &mut Sha256, content: Content<'_>) -> Result<(), Error> {
    let add = |_, bytes: &[u8]| {
        hash.update(bytes);
        None::<()>
    };
    content.search(0, 0, add).map(drop)
}

/// A digest that no bytes have.
fn unique() -> [u8; 32] {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    Sha256::digest(format!("unreadable bundle {}", NEXT.fetch_add(1, Ordering::Relaxed))).into()
}

fn copy(bytes: &[u8]) -> Result<Vec<u8>, Error> {
    let mut copy = Vec::new();
    copy.try_reserve_exact(bytes.len())
        .map_err(|_| Error::Memory { what: "an entry of the bundle", bytes: bytes.len() as u64 })?;
    copy.extend_from_slice(bytes);
    Ok(copy)
}
