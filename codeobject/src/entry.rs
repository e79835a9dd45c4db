// SPDX-License-Identifier: MIT OR Apache-2.0
//! One entry of a bundle: an id, and a range of the unpacked bytes.

use std::fmt;
use std::ops::Range;

use crate::bytes::text;
use crate::words::target::TargetId;

/// A longer target is not parsed: its features would take far more memory than the bytes that name them.
const LONGEST_TARGET: usize = 128;
/// An unknown kind, and the reason against a target, are cut to this many bytes.
const SHOWN_KIND: usize = 64;
const SHOWN_REASON: usize = 256;

/// The kind of an entry, by the first field of its id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryKind {
    /// `host`: the CPU's part; empty in the bundles that HIP embeds.
    Host,
    /// `hip`.
    Hip,
    /// `hipv4`, the same as `hip` to every loader.
    HipV4,
    /// `openmp`.
    OpenMp,
    /// Any other kind, cut to 64 bytes.
    Other(String),
}

impl fmt::Display for EntryKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EntryKind::Host => "host",
            EntryKind::Hip => "hip",
            EntryKind::HipV4 => "hipv4",
            EntryKind::OpenMp => "openmp",
            EntryKind::Other(name) => name,
        })
    }
}

/// The target of an entry's code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryTarget {
    /// A GPU.
    Gpu(TargetId),
    /// The host.
    Host,
    /// SPIR-V, which the ROCm runtime compiles for a GPU when it loads it.
    SpirV,
    /// An id that is not understood, with the reason.
    Unknown(String),
}

/// An entry in the table of its bundle. Listing it unpacks nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    id: Vec<u8>,
    kind: EntryKind,
    target: EntryTarget,
    offset: u64,
    size: u64,
    problem: Option<String>,
}

impl Entry {
    pub(crate) fn new(mut id: Vec<u8>, offset: u64, size: u64, problem: Option<String>) -> Entry {
        if id.ends_with(b"\0") {
            id.pop();
        }
        let (kind, target) = match std::str::from_utf8(&id) {
            Ok(id) => parse_id(id),
            Err(_) => {
                let kind = id.split(|byte| *byte == b'-').next().unwrap_or_default();
                (
                    EntryKind::Other(text(kind.get(..SHOWN_KIND).unwrap_or(kind))),
                    EntryTarget::Unknown("its id is not UTF-8 text".to_owned()),
                )
            }
        };
        Entry { id, kind, target, offset, size, problem }
    }

    /// The entry of a code object outside of any bundle.
    pub(crate) fn raw(target: TargetId, size: u64) -> Entry {
        Entry {
            id: target.to_string().into_bytes(),
            kind: EntryKind::HipV4,
            target: EntryTarget::Gpu(target),
            offset: 0,
            size,
            problem: None,
        }
    }

    /// An entry that states only its architecture, as in kpack archives.
    #[cfg(feature = "carriers")]
    pub(crate) fn of_architecture(arch: &[u8], offset: u64, size: u64, problem: Option<String>) -> Entry {
        let target = match std::str::from_utf8(arch) {
            Err(_) => EntryTarget::Unknown("its architecture is not UTF-8 text".to_owned()),
            Ok(arch) if arch.starts_with("gfx") => parse_target(arch, TargetId::parse_id),
            Ok(arch) => EntryTarget::Unknown(shortened(
                format!("its architecture `{arch}` is no processor"),
                SHOWN_REASON,
            )),
        };
        Entry { id: arch.to_vec(), kind: EntryKind::HipV4, target, offset, size, problem }
    }

    /// The id in the file, without a trailing NUL. A raw code object has its target id, an entry of a kpack archive its
    /// architecture.
    pub fn id(&self) -> &[u8] {
        &self.id
    }

    /// The id as text; bytes that are not UTF-8 are written as `\xNN`.
    pub fn id_text(&self) -> String {
        text(&self.id)
    }

    /// The kind of the entry.
    pub fn kind(&self) -> &EntryKind {
        &self.kind
    }

    /// The target of the entry's code.
    pub fn target(&self) -> &EntryTarget {
        &self.target
    }

    /// The offset of the entry's bytes in the unpacked bundle. It counts from the host object in an
    /// [`ObjectBundle`](crate::Container::ObjectBundle), from the archive in an uncompressed
    /// [`Kpack`](crate::Container::Kpack), and is 0 in a compressed one, whose entries have a stream each.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The size of the entry, in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The reason why the bytes cannot be read, if the table gives a range outside of the bundle.
    pub fn problem(&self) -> Option<&str> {
        self.problem.as_deref()
    }

    pub(crate) fn range(&self) -> Range<u64> {
        self.offset..self.offset.saturating_add(self.size)
    }
}

fn parse_id(id: &str) -> (EntryKind, EntryTarget) {
    let (kind, triple) = id.split_once('-').unwrap_or((id, ""));
    let kind = match kind {
        "host" => EntryKind::Host,
        "hip" => EntryKind::Hip,
        "hipv4" => EntryKind::HipV4,
        "openmp" => EntryKind::OpenMp,
        other => EntryKind::Other(shortened(other.to_owned(), SHOWN_KIND)),
    };
    let target = if kind == EntryKind::Host {
        EntryTarget::Host
    } else if triple.starts_with("spirv") {
        EntryTarget::SpirV
    } else {
        parse_target(triple, TargetId::parse_triple)
    };
    (kind, target)
}

/// Parses a target unless it is too long.
fn parse_target(text: &str, parse: impl FnOnce(&str) -> Result<TargetId, String>) -> EntryTarget {
    if text.len() > LONGEST_TARGET {
        return EntryTarget::Unknown(format!(
            "its target has {} bytes, none of AMD's has {LONGEST_TARGET}",
            text.len()
        ));
    }
    match parse(text) {
        Ok(target) => EntryTarget::Gpu(target),
        Err(why) => EntryTarget::Unknown(shortened(why, SHOWN_REASON)),
    }
}

/// The first bytes of `text`, `most` at most.
fn shortened(mut text: String, most: usize) -> String {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end));
    text.truncate(end.unwrap_or_default());
    text.shrink_to_fit();
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(id: &[u8]) -> EntryTarget {
        Entry::new(id.to_vec(), 0, 0, None).target
    }

    fn gpu(id: &str) -> EntryTarget {
        EntryTarget::Gpu(id.parse().unwrap())
    }

    #[test]
    fn ids_seen_in_the_field() {
        assert_eq!(target(b"host-x86_64-unknown-linux-gnu-"), EntryTarget::Host);
        assert_eq!(target(b"hipv4-amdgcn-amd-amdhsa--gfx942:xnack-"), gpu("gfx942:xnack-"));
        assert_eq!(target(b"hip-amdgcn-amd-amdhsa-gfx906\0"), gpu("gfx906"));
        assert_eq!(target(b"hip-amdgpu9.0a-amd-amdhsa--gfx90a"), gpu("gfx90a"));
        assert_eq!(target(b"hip-amdgcn-amd-amdhsa-unknown-gfx9-4-generic"), gpu("gfx9-4-generic"));
        assert_eq!(target(b"hip-spirv64-amd-amdhsa--amdgcnspirv"), EntryTarget::SpirV);
        assert_eq!(target(b"openmp-amdgcn-amd-amdhsa--gfx90a"), gpu("gfx90a"));
    }

    #[test]
    fn ids_that_nobody_understands_say_why() {
        for id in [
            &b"hip-amdgcn-amd-amdhsa--gfx942\xff"[..],
            b"hip-amdgcn-amd-amdhsa--gfx9\x0042",
            b"hip-amdgcn-amd-amdhsa--gfx942:xnack+:xnack+",
            b"hip-nvptx64-nvidia-cuda--sm_90",
            b"",
        ] {
            assert!(matches!(target(id), EntryTarget::Unknown(_)), "{id:?}");
        }
    }
}
