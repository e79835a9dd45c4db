// SPDX-License-Identifier: MIT OR Apache-2.0
//! Limits for listing one file: compressed tables may be far larger than the file.

use crate::entry::Entry;
use crate::error::Error;

/// The number of entries of a file, plus one for each `BYTES_PER_ENTRY` bytes of the file. Entries of honest files
/// take more.
const ENTRIES: usize = 65_536;
const BYTES_PER_ENTRY: usize = 64;
/// The total size of all ids in bytes, plus half the size of the file. Real ids have less than a hundred bytes, fewer
/// than the code that they name.
const ID_BYTES: u64 = 512 << 10;
/// The total size of names and binding lists of IREE entry points in bytes, plus half the size of the file. Entry
/// points may share them, though no compiler does so.
const EXPORT_BYTES: u64 = 2 << 20;
/// The total size of tables that are read, those of damaged bundles included, in bytes; plus a multiple of the file's
/// size.
const WORK: u64 = 256 << 20;
const WORK_PER_BYTE: u64 = 16;
/// The number of bytes that are unpacked only to find the ends of bundles, plus a multiple of the file's size that is
/// above the compression ratio of code.
const MEASURED: u64 = 1 << 30;
const MEASURED_PER_BYTE: u64 = 64;

/// The remaining limits of a file. Readable bundles use up entries and ids; all bundles use up work.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    pub(crate) entries: usize,
    id_bytes: u64,
    export_bytes: u64,
    work: u64,
    measured: u64,
}

impl Room {
    /// The limits for a file of `size` bytes.
    pub(crate) fn of_file(size: usize) -> Room {
        Room {
            entries: ENTRIES.saturating_add(size / BYTES_PER_ENTRY),
            id_bytes: ID_BYTES.saturating_add(size as u64 / 2),
            export_bytes: EXPORT_BYTES.saturating_add(size as u64 / 2),
            work: WORK.saturating_add((size as u64).saturating_mul(WORK_PER_BYTE)),
            measured: MEASURED.saturating_add((size as u64).saturating_mul(MEASURED_PER_BYTE)),
        }
    }

    /// Accounts for reading `bytes` of a table at `offset`.
    pub(crate) fn work(&mut self, bytes: u64, offset: u64) -> Result<(), Error> {
        self.work = self.work.checked_sub(bytes).ok_or_else(|| Error::Limit {
            what: "reading the tables of all bundles, damaged ones too,".to_owned(),
            offset,
            value: WORK.saturating_add(1),
            limit: WORK,
            advice: "no tool writes such tables; the input is damaged".to_owned(),
        })?;
        Ok(())
    }

    /// Accounts for searching `bytes` at `offset` for bundles.
    pub(crate) fn look_through(&mut self, bytes: u64, offset: u64) -> Result<(), Error> {
        self.work(bytes, offset).map_err(|_| Error::Limit {
            what: "looking through the images of all modules, this and those before it,".to_owned(),
            offset,
            value: WORK.saturating_add(1),
            limit: WORK,
            advice: "no compiler shares images between modules like this; the input is damaged".to_owned(),
        })
    }

    /// The number of bytes that may still be unpacked to find the end of the bundle at `offset`.
    pub(crate) fn measurable(&self, offset: u64) -> Result<u64, Error> {
        if self.measured > 0 { Ok(self.measured) } else { Err(Room::unmeasured(offset)) }
    }

    /// The error for a bundle at `offset` whose end cannot be found within the limit.
    pub(crate) fn unmeasured(offset: u64) -> Error {
        Error::Limit {
            what: "unpacking bundles of version 1 only to find where they end, this and those before it,"
                .to_owned(),
            offset,
            value: MEASURED.saturating_add(1),
            limit: MEASURED,
            advice: "no tool writes this many that unpack to this much; compress again with a newer clang"
                .to_owned(),
        }
    }

    /// Accounts for bytes that were unpacked to find an end.
    pub(crate) fn measure(&mut self, unpacked: u64) {
        self.measured = self.measured.saturating_sub(unpacked);
    }

    /// Accounts for the names and bindings of the entry points at `offset`.
    pub(crate) fn exports(&mut self, bytes: u64, offset: u64) -> Result<(), Error> {
        self.export_bytes = self.export_bytes.checked_sub(bytes).ok_or_else(|| Error::Limit {
            what: "the names and bindings of all entry points (bytes)".to_owned(),
            offset,
            value: self.export_bytes.saturating_add(1),
            limit: self.export_bytes,
            advice: "no compiler writes this many; the input is damaged".to_owned(),
        })?;
        Ok(())
    }

    /// The limit for the ids of one bundle at `offset`.
    pub(crate) fn ids(&self, offset: u64) -> Ids {
        Ids { left: self.id_bytes, limit: self.id_bytes, offset }
    }

    /// Accounts for the entries of a readable bundle.
    pub(crate) fn take(&mut self, entries: &[Entry]) {
        self.entries = self.entries.saturating_sub(entries.len());
        let bytes = entries.iter().map(|entry| entry.id().len() as u64).sum();
        self.id_bytes = self.id_bytes.saturating_sub(bytes);
    }
}

/// The remaining limit for the ids of one bundle.
pub(crate) struct Ids {
    left: u64,
    limit: u64,
    offset: u64,
}

impl Ids {
    /// Accounts for an id of `size` bytes.
    pub(crate) fn take(&mut self, size: u64) -> Result<(), Error> {
        self.left = self.left.checked_sub(size).ok_or_else(|| Error::Limit {
            what: "the ids of the entries of the bundle (bytes)".to_owned(),
            offset: self.offset,
            value: self.limit.saturating_add(1),
            limit: self.limit,
            advice: "no tool writes ids this long for this little code; the input is damaged".to_owned(),
        })?;
        Ok(())
    }
}
