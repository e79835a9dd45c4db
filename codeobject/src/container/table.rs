// SPDX-License-Identifier: MIT OR Apache-2.0
//! The table at the head of an uncompressed bundle, from a file or from a decoder.

use crate::bytes::{glimpse, u64_at};
use crate::container::room::Room;
use crate::entry::Entry;
use crate::error::Error;
use crate::words::magic::Format;
use crate::words::source::Source;

const HEADER_SIZE: u64 = 32;
const ENTRY_SIZE: u64 = 24;
/// The most entries that a bundle of any kind may have.
pub(crate) const MAX_ENTRIES: usize = 4096;
pub(crate) const MAX_ID_SIZE: u64 = 1024;

/// The entries of a bundle, and the end that they state.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) entries: Vec<Entry>,
    /// The end of the last entry that lies in the bundle, or of the table.
    pub(crate) end: u64,
}

impl Table {
    /// Reads the table of a bundle of `size` bytes. Messages name `place`, the bundle's offset in its file.
    pub(crate) fn read(source: &dyn Source, size: u64, place: u64, room: &mut Room) -> Result<Table, Error> {
        let mut header = [0; HEADER_SIZE as usize];
        if size < HEADER_SIZE {
            return Err(Error::truncated("the header of the offload bundle", place, HEADER_SIZE, size));
        }
        source.read(0, &mut header)?;
        if Format::of(&header) != Some(Format::Bundle) {
            return Err(no_bundle(&header, place));
        }
        let count = u64_at(&header, 24).unwrap_or_default();
        let most_entries = room.entries.min(MAX_ENTRIES) as u64;
        if count > most_entries {
            return Err(limit("the table of the offload bundle (entries)", place, count, most_entries));
        }
        let mut rows = Vec::new();
        let mut position = HEADER_SIZE;
        let mut ids = room.ids(place);
        for index in 0..count {
            let row = read_row(source, position, size, place, index)?;
            room.work(row.end - position, place)?;
            ids.take(row.id.len() as u64)?;
            position = row.end;
            rows.push(row);
        }
        let mut table = Table { entries: Vec::with_capacity(rows.len()), end: position };
        for row in rows {
            let problem = row.problem(position, size);
            if problem.is_none() {
                table.end = table.end.max(row.offset.saturating_add(row.size));
            }
            table.entries.push(Entry::new(row.id, row.offset, row.size, problem));
        }
        Ok(table)
    }
}

struct Row {
    offset: u64,
    size: u64,
    id: Vec<u8>,
    end: u64,
}

impl Row {
    /// The reason why the range cannot be read, by the ends of the table and the bundle.
    fn problem(&self, table_end: u64, bundle_size: u64) -> Option<String> {
        let Some(end) = self.offset.checked_add(self.size) else {
            return Some(format!("its offset {:#x} and size {:#x} overflow", self.offset, self.size));
        };
        if self.size == 0 {
            return None;
        }
        if self.offset < table_end {
            return Some(format!(
                "it begins at {:#x}, inside the bundle's table that ends at {table_end:#x}",
                self.offset
            ));
        }
        (end > bundle_size)
            .then(|| format!("it ends at {end:#x}, past the end of the bundle at {bundle_size:#x}"))
    }
}

fn read_row(source: &dyn Source, position: u64, size: u64, place: u64, index: u64) -> Result<Row, Error> {
    let what = || format!("entry {index} in the table of the offload bundle");
    let cut = |end: Option<u64>| {
        let needed = end.unwrap_or(u64::MAX) - position;
        Error::truncated(what(), place.saturating_add(position), needed, size.saturating_sub(position))
    };
    let id_start = position + ENTRY_SIZE;
    if id_start > size {
        return Err(cut(Some(id_start)));
    }
    let mut fixed = [0; ENTRY_SIZE as usize];
    source.read(position, &mut fixed)?;
    let field = |offset| u64_at(&fixed, offset).unwrap_or_default();
    let id_size = field(16);
    if id_size > MAX_ID_SIZE {
        return Err(limit(
            &format!("the id of entry {index} of the offload bundle"),
            place,
            id_size,
            MAX_ID_SIZE,
        ));
    }
    let end = id_start + id_size;
    if end > size {
        return Err(cut(Some(end)));
    }
    let mut id = vec![0; id_size as usize];
    source.read(id_start, &mut id)?;
    Ok(Row { offset: field(0), size: field(8), id, end })
}

fn no_bundle(header: &[u8], place: u64) -> Error {
    let problem = if Format::of(header) == Some(Format::Ccob) {
        "it holds another compressed bundle; bundles are never nested".to_owned()
    } else {
        format!(
            "it begins with {} where an offload bundle begins with `__CLANG_OFFLOAD_BUNDLE__`",
            glimpse(header)
        )
    };
    Error::malformed("the unpacked bundle", place, problem)
}

fn limit(what: &str, offset: u64, value: u64, limit: u64) -> Error {
    let advice = "no tool writes this many; the input is damaged".to_owned();
    Error::Limit { what: what.to_owned(), offset, value, limit, advice }
}
