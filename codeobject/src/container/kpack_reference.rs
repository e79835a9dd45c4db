// SPDX-License-Identifier: MIT OR Apache-2.0
//! The reference of a host ELF to the kpack archives that hold its code.

use std::collections::BTreeSet;

use object::LittleEndian;
use object::elf::FileHeader64;
use object::read::elf::FileHeader;

use crate::bytes::{text, u64_at};
use crate::container::host_elf::section_data;
use crate::container::table::MAX_ENTRIES;
use crate::content::Content;
use crate::content::elf_bytes::ElfBytes;
use crate::content::pieces::Pieces;
use crate::error::Error;
use crate::words::magic::Format;
use crate::words::msgpack::{Cursor, Token, for_each_pair, skip_value};

const SECTION: &[u8] = b".rocm_kpack_ref";
const WRAPPERS: &[u8] = b".hipFatBinSegment";
const WRAPPER_SIZE: usize = 24;
/// The most bytes of the reference that are read: its name and paths, with room to spare.
const LONGEST_REFERENCE: usize = 1 << 20;
const MOST_PATHS: usize = 64;
const LONGEST_TEXT: usize = 4096;

/// The reference of a host ELF to the kpack archives beside it. AMD's builds of 2026 leave it in the place of the code.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KpackReference {
    /// The name of the ELF in the archives' tables of contents, where a `#` and the number of a translation unit may
    /// follow it.
    pub name: String,
    /// The paths of the archives, relative to the folder of the ELF. `@GFXARCH@` stands for an architecture.
    pub search_paths: Vec<String>,
    /// The numbers of the ELF's translation units, if it states them.
    pub units: Vec<u64>,
}

impl KpackReference {
    /// Whether a name in an archive is that of the ELF, with or without the number of one of its translation units.
    pub fn is_to(&self, binary: &str) -> bool {
        let Some(rest) = binary.strip_prefix(self.name.as_str()) else { return false };
        match rest.strip_prefix('#') {
            None => rest.is_empty(),
            Some(unit) => unit.parse().is_ok_and(|unit| self.units.is_empty() || self.units.contains(&unit)),
        }
    }

    pub(crate) fn unresolved(&self, offset: u64) -> Error {
        let paths: Vec<_> = self.search_paths.iter().map(|path| format!("`{path}`")).collect();
        let what = format!("the code of `{}`, which lies in kpack archives beside it,", self.name);
        let open = match cfg!(feature = "carriers") {
            true => "open the file by its path (`Input::open`)",
            false => {
                "enable the feature `carriers` of windlass or windlass-codeobject, open the file by its path"
            }
        };
        let advice = format!("{open} with {} where the file expects it", paths.join(" or "));
        Error::unsupported(what, offset, advice)
    }
}

/// The reference in an ELF at `base` of its file.
pub(crate) fn find(content: Content<'_>, base: u64) -> Result<Option<KpackReference>, Error> {
    let pieces = Pieces::default();
    let bytes = ElfBytes { content, pieces: &pieces };
    let Ok(header) = FileHeader64::<LittleEndian>::parse(bytes) else { return Ok(None) };
    let Some(section) = section_data(bytes, header, SECTION)? else { return Ok(None) };
    let mut reference = parse(&section.head(LONGEST_REFERENCE)?).ok_or_else(|| {
        let problem = "it is no MessagePack map with kernel_name and kpack_search_paths";
        Error::malformed("the section .rocm_kpack_ref of the host ELF", base, problem)
    })?;
    let wrappers = section_data(bytes, header, WRAPPERS)?.unwrap_or(Content::EMPTY);
    let wrappers = wrappers.head(WRAPPER_SIZE * MAX_ENTRIES * 2)?;
    let units: BTreeSet<u64> = wrappers
        .chunks_exact(WRAPPER_SIZE)
        .filter(|wrapper| Format::of(wrapper) == Some(Format::KpackReference))
        .filter_map(|wrapper| u64_at(wrapper, 16))
        .take(MAX_ENTRIES)
        .collect();
    reference.units = units.into_iter().collect();
    Ok(Some(reference))
}

fn parse(content: &[u8]) -> Option<KpackReference> {
    let (mut name, mut search_paths) = (None, Vec::new());
    for_each_pair(&mut Cursor::new(content), |key, value| {
        match (key, value.clone().token()?) {
            (b"kernel_name", Token::Str(bytes)) if name.is_none() && bytes.len() <= LONGEST_TEXT => {
                name = Some(text(bytes));
            }
            (b"kpack_search_paths", Token::Array(count)) if search_paths.is_empty() => {
                let mut items = value.clone();
                items.token()?;
                for _ in 0..count {
                    match items.token()? {
                        Token::Str(path) if search_paths.len() < MOST_PATHS && path.len() <= LONGEST_TEXT => {
                            search_paths.push(text(path));
                        }
                        other => items.skip(other)?,
                    }
                }
            }
            _ => {}
        }
        skip_value(value)
    })?;
    let name = name.filter(|_| !search_paths.is_empty())?;
    Some(KpackReference { name, search_paths, units: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reference(units: &[u64]) -> KpackReference {
        KpackReference { name: "lib/a.so".to_owned(), search_paths: Vec::new(), units: units.to_vec() }
    }

    #[test]
    fn names_with_and_without_the_number_of_the_unit() {
        assert!(reference(&[]).is_to("lib/a.so"));
        assert!(reference(&[]).is_to("lib/a.so#17"));
        assert!(reference(&[0, 1]).is_to("lib/a.so#1"));
        assert!(!reference(&[0, 1]).is_to("lib/a.so#2"));
        for other in ["lib/a.so.1", "lib/a.so#", "lib/a.so#x", "lib/b.so", "a.so", "lib/a.s"] {
            assert!(!reference(&[]).is_to(other), "{other}");
        }
    }
}
