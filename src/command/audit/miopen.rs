// SPDX-License-Identifier: MIT OR Apache-2.0
//! MIOpen's databases of kernels: SQLite, with a code object in each row of the table `kern_db`, compressed by bzip2.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

use windlass_codeobject::Budget;

#[cfg(feature = "miopen")]
use super::sqlite::{store_of_bytes, store_of_file};
use super::store::Store;

const MAGIC: &[u8] = b"SQLite format 3\0";
const TABLE: &[u8] = b"kern_db";
const PIECE: u64 = 1 << 20;
/// The byte of the first page that tells its kind, and a kind. Source: SQLite's "Database File Format", 1.6.
const KIND_OF_PAGE: usize = 100;
const HAS_PAGES_BELOW: u8 = 5;
const LARGEST_PAGE: usize = 1 << 16;

pub(super) fn is(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Whether a database may have MIOpen's table: the text of the schema is in the file as it is. Most databases have none, and
/// may be large.
fn names_table(mut database: impl Read) -> io::Result<bool> {
    let mut piece = Vec::new();
    database.by_ref().take(PIECE).read_to_end(&mut piece)?;
    let is_in = |piece: &[u8]| memchr::memmem::find(piece, TABLE).is_some();
    // The schema begins in the first page. If no pages are below that one, it has the names of all tables.
    if piece.get(KIND_OF_PAGE) != Some(&HAS_PAGES_BELOW) {
        return Ok(is_in(piece.get(..LARGEST_PAGE).unwrap_or(&piece)));
    }
    loop {
        if is_in(&piece) {
            return Ok(true);
        }
        // The name may lie across two pieces.
        piece.drain(..piece.len().saturating_sub(TABLE.len() - 1));
        if database.by_ref().take(PIECE).read_to_end(&mut piece)? == 0 {
            return Ok(false);
        }
    }
}

/// Reads the code objects of a database in memory. `None` for a database of something else.
pub(super) fn read(bytes: &[u8], budget: &Budget) -> Result<Option<Store>, String> {
    match names_table(bytes) {
        Ok(true) => store_of_bytes(bytes, budget),
        _ => Ok(None),
    }
}

/// Reads the code objects of a database in a file, which stays where it is.
pub(super) fn read_file(path: &Path, budget: &Budget) -> Result<Option<Store>, String> {
    let names_table = fs::File::open(path).and_then(names_table).map_err(|error| error.to_string())?;
    if names_table { store_of_file(path, budget) } else { Ok(None) }
}

#[cfg(not(feature = "miopen"))]
const ADVICE: &str = "this build reads no databases of MIOpen; build it with the feature `miopen`";

#[cfg(not(feature = "miopen"))]
fn store_of_bytes(_: &[u8], _: &Budget) -> Result<Option<Store>, String> {
    Err(ADVICE.to_owned())
}

#[cfg(not(feature = "miopen"))]
fn store_of_file(_: &Path, _: &Budget) -> Result<Option<Store>, String> {
    Err(ADVICE.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_found_across_pieces() {
        let piece = PIECE as usize;
        for at in [101, piece - 3, piece - 7, piece - 1, 2 * piece - 9, 3 * piece] {
            let mut bytes = vec![0; at];
            bytes.extend(TABLE);
            bytes[KIND_OF_PAGE] = HAS_PAGES_BELOW;
            assert!(names_table(&bytes[..]).expect("reads"), "{at}");
            assert!(!names_table(&bytes[..bytes.len() - 1]).expect("reads"), "{at}");
            bytes[KIND_OF_PAGE] = 13;
            assert_eq!(names_table(&bytes[..]).expect("reads"), at == 101, "the row is in a later page");
        }
        assert!(!names_table(&b""[..]).expect("reads"));
    }
}
