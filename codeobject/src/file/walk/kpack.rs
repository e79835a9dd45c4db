// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk through kpack archives, and through those that a host ELF refers to.

use super::Walk;
use crate::bundle::Bundle;
use crate::bytes::text;
use crate::container::kpack;
use crate::container::kpack_reference::KpackReference;
use crate::error::Error;
use crate::file::kind::FileKind;

/// References beyond these are not followed: members of a zip file may share their bytes without end.
const MOST_REFERENCES: usize = 256;

impl<'a> Walk<'a, '_> {
    /// Reads a kpack archive that lies at `base` of the file: a bundle for each binary that has code in it.
    pub(super) fn kpack(&mut self, bytes: &'a [u8], base: u64) -> Result<FileKind, Error> {
        let found = self.bundles.len();
        self.binaries(bytes, base, |_| true)?;
        if self.bundles.len() == found {
            return Err(Error::NotFound {
                what: "GPU code in the kpack archive".to_owned(),
                present: "its table of contents is empty".to_owned(),
            });
        }
        Ok(FileKind::Kpack)
    }

    /// Reads what the archives at hand hold for a host ELF that lies at `base` of the file.
    pub(super) fn refers(&mut self, reference: KpackReference, base: u64) {
        if self.references.len() >= MOST_REFERENCES {
            return;
        }
        let companions = self.companions;
        for (path, archive) in &companions.archives {
            if self.is_full(base) {
                break;
            }
            if let Err(error) = self.binaries(archive, 0, |binary| reference.is_to(binary)) {
                self.problem(error.of_member(path));
            }
        }
        self.references.push((reference, base));
    }

    /// Says what could not be had, how much more is wrong than is listed, and which references lead nowhere.
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

    fn binaries(&mut self, bytes: &'a [u8], base: u64, wanted: impl Fn(&str) -> bool) -> Result<(), Error> {
        let kpack = kpack::read(bytes, self.room.entries)?;
        for binary in &kpack.binaries {
            let name = text(binary.name);
            if !wanted(&name) {
                continue;
            }
            if self.is_full(base) {
                break;
            }
            let bundle = Bundle::kpack(bytes, base, binary, kpack.method, self.options, &self.cache);
            self.found(bundle);
            self.binaries.insert(name);
        }
        Ok(())
    }
}
