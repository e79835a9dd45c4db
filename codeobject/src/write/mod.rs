// SPDX-License-Identifier: MIT OR Apache-2.0
//! Writing clang offload bundles, plain and compressed.

mod agree;
mod compress;
mod error;
mod options;

use crate::bytes::text;
use crate::code::host::HostLibrary;
use crate::container::table::MAX_ENTRIES;
use crate::entry::{Entry, EntryKind, EntryTarget};
use crate::words::magic::Format;
use crate::words::target::TargetId;

pub use error::WriteError;
pub use options::{Compression, WriteOptions};

const LARGEST_ALIGN: u64 = 1 << 30;

/// Collects entries, and writes them as one bundle in their order.
///
/// The output equals that of clang-offload-bundler for the same inputs, and HIP's loader reads it. Entries are checked
/// as they are added: a bundle in which a GPU would find no code, the wrong code or two answers is refused with a
/// [`WriteError`] that says why. The same entries and options always give the same bytes.
///
/// ```no_run
/// use windlass_codeobject::{BundleWriter, Compression, WriteOptions};
///
/// let (mi300, rdna3) = (std::fs::read("k.gfx942.co")?, std::fs::read("k.gfx1100.co")?);
/// let mut writer = BundleWriter::new();
/// // The target is read from the code object; `add` takes an id instead.
/// writer.add_code_object(&mi300)?;
/// writer.add("hipv4-amdgcn-amd-amdhsa--gfx1100", &rdna3)?;
/// let mut options = WriteOptions::default();
/// options.compression = Compression::ZSTD;
/// std::fs::write("k.hipfb", writer.write(&options)?)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct BundleWriter<'a> {
    entries: Vec<New<'a>>,
}

#[derive(Debug, Clone)]
struct New<'a> {
    id: String,
    kind: EntryKind,
    target: EntryTarget,
    bytes: &'a [u8],
}

impl<'a> BundleWriter<'a> {
    /// A writer without entries.
    pub fn new() -> BundleWriter<'a> {
        BundleWriter::default()
    }

    /// Adds a code object (an ELF for amdgpu), and returns the id that its own flags make.
    ///
    /// # Errors
    ///
    /// [`WriteError::NoTarget`] if the bytes are no code object; else as [`add`](Self::add).
    pub fn add_code_object(&mut self, elf: &'a [u8]) -> Result<&str, WriteError> {
        let target = agree::target_of(elf).map_err(|problem| WriteError::NoTarget { problem })?;
        self.push(&entry_id(&EntryKind::HipV4, &target), elf, true)
    }

    /// Adds a code object for a target that its own flags must agree with. `kind` is the first field of the id: `hipv4`
    /// for HIP.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add).
    pub fn add_target(
        &mut self,
        kind: &EntryKind,
        target: &TargetId,
        elf: &'a [u8],
    ) -> Result<&str, WriteError> {
        self.push(&entry_id(kind, target), elf, true)
    }

    /// Adds a code object under an id such as `hipv4-amdgcn-amd-amdhsa--gfx942:xnack-`, which its own flags must agree
    /// with. Or adds a host's part under an id such as `host-x86_64-unknown-linux-gnu-`; for Linux it must be an ELF
    /// for that machine.
    ///
    /// # Errors
    ///
    /// [`WriteError::BadId`]; [`WriteError::NotForTarget`] for bytes that are no code for that target;
    /// [`WriteError::Duplicate`] and [`WriteError::MixedFeatures`] if the entry contradicts an earlier one;
    /// [`WriteError::TooManyEntries`].
    pub fn add(&mut self, id: &str, elf: &'a [u8]) -> Result<&str, WriteError> {
        self.push(id, elf, true)
    }

    /// Adds any bytes under an id: LLVM bitcode, SPIR-V, an object, a host's part. Checks the id only.
    ///
    /// # Errors
    ///
    /// As [`add`](Self::add), but for [`WriteError::NotForTarget`].
    pub fn add_unchecked(&mut self, id: &str, bytes: &'a [u8]) -> Result<&str, WriteError> {
        self.push(id, bytes, false)
    }

    /// The id and the size of each entry, in their order.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = (&str, u64)> {
        self.entries.iter().map(|entry| (entry.id.as_str(), entry.bytes.len() as u64))
    }

    /// The bundle.
    ///
    /// # Errors
    ///
    /// [`WriteError::Empty`]; [`WriteError::BadOption`]; [`WriteError::BadId`] and [`WriteError::TooManyEntries`] for
    /// the host entry; [`WriteError::TooLarge`]; [`WriteError::NoEncoder`]; [`WriteError::Compress`];
    /// [`WriteError::Memory`].
    pub fn write(&self, options: &WriteOptions) -> Result<Vec<u8>, WriteError> {
        let content = self.plain(options)?;
        match options.compression {
            Compression::None => Ok(content),
            compression => compress::wrap(&content, options.ccob_version, compression),
        }
    }

    fn push(&mut self, id: &str, bytes: &'a [u8], checked: bool) -> Result<&str, WriteError> {
        let entry = read_id(id)?;
        if self.entries.len() >= MAX_ENTRIES - 1 {
            // One entry is kept for the host's part.
            return Err(WriteError::TooManyEntries { limit: MAX_ENTRIES - 1 });
        }
        let (kind, target) = (entry.kind().clone(), entry.target().clone());
        if checked {
            let problem = match &target {
                EntryTarget::Gpu(target) => agree::check(target, bytes).err(),
                _ if kind == EntryKind::Host => agree::check_host(id, bytes).err(),
                _ => Some("no GPU runs it as it is; write it unchecked".to_owned()),
            };
            if let Some(problem) = problem {
                return Err(WriteError::NotForTarget { id: id.to_owned(), problem });
            }
        }
        let new = New { id: id.to_owned(), kind, target, bytes };
        for other in &self.entries {
            new.check_beside(other)?;
        }
        self.entries.push(new);
        Ok(self.entries.last().map_or("", |entry| entry.id.as_str()))
    }

    fn plain(&self, options: &WriteOptions) -> Result<Vec<u8>, WriteError> {
        let holds_kernels =
            |entry: &New<'_>| HostLibrary::parse(entry.bytes).is_ok_and(|host| host.has_kernels());
        let is_code = |entry: &New<'_>| entry.kind != EntryKind::Host || holds_kernels(entry);
        if !self.entries.iter().any(is_code) {
            return Err(WriteError::Empty);
        }
        if !options.align.is_power_of_two() || options.align > LARGEST_ALIGN {
            let advice = "it is a power of two up to 1 GiB: 4096 as HIP's tool chain, 1 as the bundler alone";
            let value = options.align.to_string();
            return Err(WriteError::BadOption { what: "an alignment", value, advice });
        }
        let has_host = self.entries.iter().any(|entry| entry.kind == EntryKind::Host);
        let host = options.host.as_deref().filter(|_| !has_host);
        let mut rows = Vec::with_capacity(self.entries.len() + 1);
        if let Some(id) = host {
            if *read_id(id)?.kind() != EntryKind::Host {
                let problem = "the id of the host begins with host-".to_owned();
                return Err(WriteError::BadId { id: id.to_owned(), problem });
            }
            rows.push((id, &[][..]));
        }
        rows.extend(self.entries.iter().map(|entry| (entry.id.as_str(), entry.bytes)));
        lay_out(&rows, options.align)
    }
}

impl New<'_> {
    /// Checks that no GPU would fit both of two entries.
    fn check_beside(&self, other: &New<'_>) -> Result<(), WriteError> {
        let duplicate = || Err(WriteError::Duplicate { first: other.id.clone(), second: self.id.clone() });
        if self.id == other.id {
            return duplicate();
        }
        let (EntryTarget::Gpu(new), EntryTarget::Gpu(old)) = (&self.target, &other.target) else {
            return Ok(());
        };
        if runtime(&self.kind) != runtime(&other.kind) || new.processor() != old.processor() {
            return Ok(());
        }
        if new == old {
            return duplicate();
        }
        let only_in = |one: &TargetId, two: &TargetId| {
            one.features().find(|(name, _)| two.feature(name).is_none()).map(|(name, _)| name.to_owned())
        };
        match only_in(new, old).or_else(|| only_in(old, new)) {
            Some(feature) => {
                Err(WriteError::MixedFeatures { first: other.id.clone(), second: self.id.clone(), feature })
            }
            None => Ok(()),
        }
    }
}

/// The loader that takes an entry: `hip` and `hipv4` are the same to every loader.
fn runtime(kind: &EntryKind) -> &EntryKind {
    if *kind == EntryKind::Hip { &EntryKind::HipV4 } else { kind }
}

fn entry_id(kind: &EntryKind, target: &TargetId) -> String {
    format!("{kind}-amdgcn-amd-amdhsa--{target}")
}

fn read_id(id: &str) -> Result<Entry, WriteError> {
    const LONGEST: usize = 4096;
    let bad = |problem: String| WriteError::BadId { id: text(id.as_bytes()), problem };
    if let Some(odd) = id.chars().find(|c| !c.is_ascii_graphic()) {
        return Err(bad(format!("{odd:?} belongs in no id")));
    }
    if id.len() > LONGEST {
        return Err(bad(format!("it has {} bytes, at most {LONGEST} are read", id.len())));
    }
    let entry = Entry::new(id.as_bytes().to_vec(), 0, 0, None);
    match (entry.kind(), entry.target()) {
        (EntryKind::Other(kind), _) if kind != "hcc" => {
            Err(bad(format!("`{kind}` is none of host, hip, hipv4, openmp and hcc")))
        }
        (_, EntryTarget::Unknown(why)) => Err(bad(why.clone())),
        (EntryKind::Host, _) if id.split('-').count() < 4 => {
            Err(bad("its triple has fewer than three fields".to_owned()))
        }
        _ => Ok(entry),
    }
}

/// Header, table and images, each image at a multiple of `align`. An empty entry has the offset of the next one, and
/// nothing follows the last image.
fn lay_out(rows: &[(&str, &[u8])], align: u64) -> Result<Vec<u8>, WriteError> {
    let too_large = || WriteError::Memory { bytes: u64::MAX };
    let head = Format::Bundle.magic().len() + 8 + rows.iter().map(|(id, _)| 24 + id.len()).sum::<usize>();
    let mut offsets = Vec::with_capacity(rows.len());
    let mut end = head as u64;
    for (_, bytes) in rows {
        let offset = end.checked_next_multiple_of(align).ok_or_else(too_large)?;
        offsets.push(offset);
        end = offset.checked_add(bytes.len() as u64).ok_or_else(too_large)?;
    }
    let no_room = || WriteError::Memory { bytes: end };
    let size = usize::try_from(end).map_err(|_| no_room())?;
    let mut out = Vec::new();
    out.try_reserve_exact(size).map_err(|_| no_room())?;
    out.extend(Format::Bundle.magic());
    out.extend((rows.len() as u64).to_le_bytes());
    for ((id, bytes), offset) in rows.iter().zip(&offsets) {
        out.extend(offset.to_le_bytes());
        out.extend((bytes.len() as u64).to_le_bytes());
        out.extend((id.len() as u64).to_le_bytes());
        out.extend(id.as_bytes());
    }
    for ((_, bytes), offset) in rows.iter().zip(&offsets) {
        out.resize(usize::try_from(*offset).map_err(|_| no_room())?, 0);
        out.extend(*bytes);
    }
    Ok(out)
}
