// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk through the members of an archive of objects, and of archives in it.

use super::Walk;
use crate::container::archive::{self, Members};
use crate::container::zip::is_zip;
use crate::content::Content;
use crate::error::Error;
use crate::file::kind::FileKind;
use crate::words::magic::{Format, HEAD, may_hold_code};

impl<'a> Walk<'a, '_> {
    /// Reads the members of an archive at `base` of the file. Skips members without GPU code.
    pub(super) fn archive(&mut self, archive: Content<'a>, base: u64) -> Result<FileKind, Error> {
        let found = |walk: &Self| (walk.bundles.len(), walk.references.len(), walk.problems.len());
        let before = found(self);
        for member in Members::new(archive, base) {
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

    /// Reads one member of an archive.
    fn member(&mut self, content: Content<'a>, offset: u64) {
        if let Err(error) = self.try_member(content, offset)
            && !matches!(error, Error::NotFound { .. })
        {
            self.problem(error);
        }
    }

    fn try_member(&mut self, content: Content<'a>, offset: u64) -> Result<(), Error> {
        let head = content.head(HEAD)?;
        match Format::of(&head) {
            Some(Format::ThinArchive) => Err(archive::thin(content)),
            _ if is_zip(content)? => {
                let advice = "take it out with `ar x`, and read it as a file of its own";
                Err(Error::unsupported("a zip file in an archive of objects", offset, advice))
            }
            Some(Format::Archive) => self.nested(content, offset).map(drop),
            _ if may_hold_code(&head) => self.content(content, offset).map(drop),
            _ => Ok(()),
        }
    }

    fn nested(&mut self, content: Content<'a>, offset: u64) -> Result<FileKind, Error> {
        self.check_depth("archives in archives", offset, "take the inner archive out with `ar x`")?;
        self.archive(content, offset)
    }
}
