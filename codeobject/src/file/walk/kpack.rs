// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk through kpack archives, and through those that a host ELF refers to.

use super::Walk;
use crate::bundle::Bundle;
use crate::bytes::text;
use crate::container::kpack;
use crate::container::kpack_reference::KpackReference;
use crate::content::Content;
use crate::error::Error;
use crate::file::kind::FileKind;

impl<'a> Walk<'a, '_> {
    /// Reads a kpack archive at `base` of the file: one bundle for each binary.
    pub(super) fn kpack(&mut self, archive: Content<'a>, base: u64) -> Result<FileKind, Error> {
        let found = self.bundles.len();
        self.binaries(archive, base, |_| true)?;
        if self.bundles.len() == found {
            return Err(Error::NotFound {
                what: "GPU code in the kpack archive".to_owned(),
                present: "its table of contents is empty".to_owned(),
            });
        }
        Ok(FileKind::Kpack)
    }

    /// Reads the code for a host ELF at `base` of the file from the companion archives.
    pub(super) fn referred(&mut self, reference: &KpackReference, base: u64) {
        let companions = self.companions;
        for (path, archive) in &companions.archives {
            if self.is_full(base) {
                break;
            }
            if let Err(error) = self.binaries(archive.content(), 0, |binary| reference.is_to(binary)) {
                self.problem(error.of_member(path));
            }
        }
    }

    fn binaries(
        &mut self,
        archive: Content<'a>,
        base: u64,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<(), Error> {
        let kpack = kpack::read(archive, self.room.entries)?;
        for binary in &kpack.binaries {
            let name = text(binary.name);
            if !wanted(&name) {
                continue;
            }
            if self.is_full(base) {
                break;
            }
            let bundle = Bundle::kpack(archive, base, binary, kpack.method, self.options, &self.cache);
            self.found(bundle);
            self.binaries.insert(name);
        }
        Ok(())
    }
}
