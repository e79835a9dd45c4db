// SPDX-License-Identifier: MIT OR Apache-2.0
//! How much may still be listed of one file: compression makes tables that are far larger than the file.

use crate::entry::Entry;
use crate::error::Error;

/// A file may have so many entries, and one more for as many of its bytes as an entry of an honest file takes.
const ENTRIES: usize = 65_536;
const BYTES_PER_ENTRY: usize = 64;
/// Real ids have less than a hundred bytes, fewer than the code that they name. All ids of a file may have so many
/// bytes, and half as many more as the file has.
const ID_BYTES: u64 = 512 << 10;
/// Entry points of executables of IREE may share their names and lists of bindings, though no compiler lets them. All of
/// a file may have so many bytes of them, and half as many more as the file has.
const EXPORT_BYTES: u64 = 2 << 20;
/// What reading tables may cost in bytes, those of damaged bundles too: so many, and a multiple of the file's size.
const WORK: u64 = 256 << 20;
const WORK_PER_BYTE: u64 = 16;
/// What may be inflated only to find where bundles end that do not say so: so many bytes, and a multiple of the file's
/// size that is above what code packs to.
const MEASURED: u64 = 1 << 30;
const MEASURED_PER_BYTE: u64 = 64;

/// What is left for the entries of a file. Bundles that can be read take entries and ids out of it, all bundles take
/// work.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    pub(crate) entries: usize,
    id_bytes: u64,
    export_bytes: u64,
    work: u64,
    measured: u64,
}

impl Room {
    /// The room of a file of so many bytes.
    pub(crate) fn of_file(size: usize) -> Room {
        Room {
            entries: ENTRIES.saturating_add(size / BYTES_PER_ENTRY),
            id_bytes: ID_BYTES.saturating_add(size as u64 / 2),
            export_bytes: EXPORT_BYTES.saturating_add(size as u64 / 2),
            work: WORK.saturating_add((size as u64).saturating_mul(WORK_PER_BYTE)),
            measured: MEASURED.saturating_add((size as u64).saturating_mul(MEASURED_PER_BYTE)),
        }
    }

    /// Pays for `bytes` of a table that lies at `offset` and is about to be read.
    pub(crate) fn work(&mut self, bytes: u64, offset: u64) -> Result<(), Error> {
        self.work = self.work.checked_sub(bytes).ok_or_else(|| Error::Limit {
            what: "reading the tables of all bundles, damaged ones too,".to_owned(),
            offset,
            value: WORK.saturating_add(1),
            limit: WORK,
            advice: "no tool writes such tables, the input is damaged".to_owned(),
        })?;
        Ok(())
    }

    /// Pays for `bytes` that lie at `offset` and are about to be looked through for bundles.
    pub(crate) fn look_through(&mut self, bytes: u64, offset: u64) -> Result<(), Error> {
        self.work(bytes, offset).map_err(|_| Error::Limit {
            what: "looking through the images of all modules, this and those before it,".to_owned(),
            offset,
            value: WORK.saturating_add(1),
            limit: WORK,
            advice: "modules share their images as no compiler writes them, the input is damaged".to_owned(),
        })
    }

    /// How much may still be inflated to find the end of the bundle at `offset`.
    pub(crate) fn measurable(&self, offset: u64) -> Result<u64, Error> {
        if self.measured > 0 { Ok(self.measured) } else { Err(Room::unmeasured(offset)) }
    }

    /// What is said of the bundle at `offset`, whose end is not to be found with what is left.
    pub(crate) fn unmeasured(offset: u64) -> Error {
        Error::Limit {
            what: "unpacking bundles of version 1 only to find where they end, this and those before it,"
                .to_owned(),
            offset,
            value: MEASURED.saturating_add(1),
            limit: MEASURED,
            advice: "no tool writes so many that unpack to so much; compress anew with a newer clang"
                .to_owned(),
        }
    }

    /// Takes out what was inflated to find an end.
    pub(crate) fn measure(&mut self, unpacked: u64) {
        self.measured = self.measured.saturating_sub(unpacked);
    }

    /// Takes out what the names and bindings of entry points have that lie at `offset`.
    pub(crate) fn exports(&mut self, bytes: u64, offset: u64) -> Result<(), Error> {
        self.export_bytes = self.export_bytes.checked_sub(bytes).ok_or_else(|| Error::Limit {
            what: "the names and bindings of all entry points (bytes)".to_owned(),
            offset,
            value: self.export_bytes.saturating_add(1),
            limit: self.export_bytes,
            advice: "no compiler writes so many, the input is damaged".to_owned(),
        })?;
        Ok(())
    }

    /// What the ids of one bundle, which lies at `offset`, may take.
    pub(crate) fn ids(&self, offset: u64) -> Ids {
        Ids { left: self.id_bytes, limit: self.id_bytes, offset }
    }

    /// Takes out what a bundle with these entries has.
    pub(crate) fn take(&mut self, entries: &[Entry]) {
        self.entries = self.entries.saturating_sub(entries.len());
        let bytes = entries.iter().map(|entry| entry.id().len() as u64).sum();
        self.id_bytes = self.id_bytes.saturating_sub(bytes);
    }
}

/// What is left for the ids of one bundle.
pub(crate) struct Ids {
    left: u64,
    limit: u64,
    offset: u64,
}

impl Ids {
    /// Succeeds where there is room for one more of `size` bytes.
    pub(crate) fn take(&mut self, size: u64) -> Result<(), Error> {
        self.left = self.left.checked_sub(size).ok_or_else(|| Error::Limit {
            what: "the ids of the entries of the bundle (bytes)".to_owned(),
            offset: self.offset,
            value: self.limit.saturating_add(1),
            limit: self.limit,
            advice: "no tool writes so long ones for so little code, the input is damaged".to_owned(),
        })?;
        Ok(())
    }
}
