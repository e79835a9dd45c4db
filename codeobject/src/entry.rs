// SPDX-License-Identifier: MIT OR Apache-2.0
//! One entry of a bundle: an id, and a range of the unpacked bytes.

use std::fmt;
use std::ops::Range;

use crate::bytes::text;
use crate::choice::target::TargetId;

/// A target longer than this is not taken apart: features cost far more memory than the bytes that name them.
const LONGEST_TARGET: usize = 128;
/// So many bytes of a kind that nobody knows, and of why a target is not understood, are kept.
const SHOWN_KIND: usize = 64;
const SHOWN_REASON: usize = 256;

/// What an entry was compiled for, by the first field of its id.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryKind {
    /// `host`: the CPU's part; empty in the bundles that HIP embeds.
    Host,
    /// `hip`.
    Hip,
    /// `hipv4`, equal to `hip` to every loader.
    HipV4,
    /// `openmp`.
    OpenMp,
    /// Anything else, by its name, of which 64 bytes are kept.
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

/// What an entry's code runs on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EntryTarget {
    /// A GPU.
    Gpu(TargetId),
    /// The host.
    Host,
    /// No GPU yet: SPIR-V, which the ROCm runtime compiles when it loads it.
    SpirV,
    /// The id is not understood, and why.
    Unknown(String),
}

/// An entry as the table of its bundle states it. Nothing is unpacked to list it.
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

    /// The entry that a code object without a bundle around it amounts to.
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

    /// An entry that states nothing but its architecture, as kpack archives do.
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

    /// The id as the file has it, without a trailing NUL. For a raw code object its target id, in a kpack archive the
    /// architecture.
    pub fn id(&self) -> &[u8] {
        &self.id
    }

    /// The id as text; bytes that are not UTF-8 are written as `\xNN`.
    pub fn id_text(&self) -> String {
        text(&self.id)
    }

    /// What it was compiled as.
    pub fn kind(&self) -> &EntryKind {
        &self.kind
    }

    /// What it runs on.
    pub fn target(&self) -> &EntryTarget {
        &self.target
    }

    /// Where its bytes begin, counted from the start of the unpacked bundle (of the host object for an
    /// [`ObjectBundle`](crate::Container::ObjectBundle), of the archive for an uncompressed
    /// [`Kpack`](crate::Container::Kpack); compressed ones have a stream each, and begin at 0).
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// How many bytes it has.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Why its bytes cannot be had, where the table gives a range that is not in the bundle.
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

/// What a target is described with stays small beside the id that names it.
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

/// At most `most` bytes of `text`.
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
