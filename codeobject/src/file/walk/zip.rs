// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk through the members of a zip file, and of zip files in it.

use super::Walk;
use super::nested::UNZIP;
use crate::bytes::{u16_at, u64_at};
use crate::container::iree::IreeFormat;
use crate::container::zip::{HEAD_SIZE, Member, Zip, ends, is_zip};
use crate::content::Content;
use crate::error::Error;
use crate::file::companions::Companions;
use crate::file::kind::FileKind;
use crate::words::magic::{Format, may_hold_code};

impl<'a> Walk<'a, '_> {
    /// Reads the stored members of a zip file at `base`, and the companions' unpacked ones. Skips members without GPU
    /// code.
    pub(super) fn zip(&mut self, content: Content<'a>, base: u64) -> Result<FileKind, Error> {
        self.check_depth("zip files in zip files", base, UNZIP)?;
        let zip = Zip::of_content(content)?;
        let found = |walk: &Self| (walk.bundles.len(), walk.references.len(), walk.problems.len());
        let before = found(self);
        if let Some(problem) = &zip.problem {
            self.problem(problem.clone());
        }
        // The number of bundles in IREE executables. In a module these are all bundles.
        let mut of_iree = 0;
        let mut packed = None;
        let companions = self.companions;
        for (index, member) in zip.members.iter().enumerate() {
            if self.is_full(base) {
                break;
            }
            let unpacked = companions.members.get(&index);
            self.companions = unpacked.map_or(Companions::NONE, |unpacked| &unpacked.companions);
            if let Some(bytes) = unpacked.and_then(|unpacked| unpacked.bytes.as_ref()) {
                self.inside(&member.name(), |walk| walk.zipped(Content::Memory(bytes), 0));
            } else if member.is_stored() {
                let first = self.bundles.len();
                if self.stored_member(content, base, &zip, member) {
                    of_iree += self.bundles.len() - first;
                }
            } else if !companions.are_unpacked && packed.is_none() {
                let head = zip.head(member, HEAD_SIZE);
                packed = head.is_ok_and(|head| may_be_wanted(&head)).then(|| member.name().into_owned());
            }
        }
        self.companions = companions;
        if !self.path.is_empty() {
            // The file's own are added when the walk finishes.
            companions.problems.iter().for_each(|problem| self.problem(problem.clone()));
        }
        if let Some(name) = packed {
            let advice = "open the file by its path (`Input::open`), which unpacks such members";
            let what = format!("the compressed member `{name}` of a zip file");
            self.problem(Error::unsupported(what, base, advice));
        }
        if found(self) == before && companions.problems.is_empty() {
            return Err(Error::NotFound {
                what: "GPU code in the zip file".to_owned(),
                present:
                    "none of its members has any; compile a module for the rocm target, take the wheel that \
                          was built for ROCm"
                        .to_owned(),
            });
        }
        let is_module = of_iree > 0 && before.0 + of_iree == self.bundles.len();
        Ok(if is_module { FileKind::IreeModule } else { FileKind::Zip })
    }

    /// Reads a stored member, even if its checksum says that it is damaged: IREE never compares checksums. Tells
    /// whether the member is an IREE executable.
    fn stored_member(
        &mut self,
        zipped: Content<'a>,
        base: u64,
        zip: &Zip<Content<'a>>,
        member: &Member,
    ) -> bool {
        let place = match zip.place(member) {
            Ok(place) => place,
            Err(error) => {
                self.problem(error);
                return false;
            }
        };
        let content = zipped.part(place.start, place.end - place.start).unwrap_or(Content::EMPTY);
        let head = match content.head(HEAD_SIZE) {
            Ok(head) if is_read(content, &head) => head,
            _ => return false,
        };
        let outer = self.damage.clone();
        if let Err(error) = zip.check(member) {
            self.damage = Some(error.to_string().into());
            self.problem(error);
        }
        self.inside(&member.name(), |walk| walk.zipped(content, base.saturating_add(place.start)));
        self.damage = outer;
        IreeFormat::from_head(&head).is_some()
    }

    /// Reads a member at `base` of the file.
    fn zipped(&mut self, content: Content<'a>, base: u64) {
        let result = match is_zip(content) {
            Ok(true) => self.zip(content, base),
            Ok(false) => self.content(content, base),
            Err(error) => Err(error),
        };
        match result {
            Ok(_) | Err(Error::NotFound { .. }) => {}
            Err(error) => self.problem(error),
        }
    }

    /// Adds to the result of a program that a zip file with GPU code lies behind it, which is not read.
    pub(super) fn behind(
        &mut self,
        content: Content<'_>,
        base: u64,
        result: Result<FileKind, Error>,
    ) -> Result<FileKind, Error> {
        if !matches!(result, Ok(_) | Err(Error::NotFound { .. }))
            || !carries_code(content).unwrap_or_default()
        {
            return result;
        }
        let advice = "unpack it with `unzip`, and read the files in it";
        let error = Error::unsupported("a zip file behind a program", base, advice);
        if result.is_err() {
            return Err(error);
        }
        self.problem(error);
        result
    }
}

/// Whether a member that begins so may hold code, or be a zip file.
fn may_be_wanted(head: &[u8]) -> bool {
    may_hold_code(head) || Format::of(head) == Some(Format::Zip)
}

/// Whether a member is looked into.
fn is_read(content: Content<'_>, head: &[u8]) -> bool {
    may_hold_code(head) || is_zip(content).unwrap_or_default()
}

/// Whether a file ends as a zip file that holds GPU code, or zip files, which may hold some.
fn carries_code(content: Content<'_>) -> Result<bool, Error> {
    let holds = |zip: Zip<Content<'_>>| {
        let heads = zip.members.iter().filter_map(|member| zip.head(member, HEAD_SIZE).ok());
        heads.into_iter().any(|head| may_be_wanted(&head))
    };
    Ok(!ends_as_elf(content)? && ends(content)? && Zip::of_content(content).is_ok_and(holds))
}

/// Whether the section headers of a 64-bit ELF end the file, as linkers write them, so that nothing lies behind. This
/// spares a read of the end of the file.
fn ends_as_elf(content: Content<'_>) -> Result<bool, Error> {
    let head = content.head(HEAD_SIZE)?;
    let (Some(start), Some(size), Some(count)) = (u64_at(&head, 40), u16_at(&head, 58), u16_at(&head, 60))
    else {
        return Ok(false);
    };
    let end = start.checked_add(u64::from(size) * u64::from(count));
    Ok(start > 0 && end == Some(content.size()))
}
