// SPDX-License-Identifier: MIT OR Apache-2.0
//! MIOpen's databases of kernels: SQLite, with a code object in each row of the table `kern_db`, compressed by bzip2.

#[cfg(not(feature = "miopen"))]
use super::store::Store;

const MAGIC: &[u8] = b"SQLite format 3\0";

pub(super) fn is(head: &[u8]) -> bool {
    head.starts_with(MAGIC)
}

/// Reads the code objects of a database. `None` for a database of something else.
#[cfg(not(feature = "miopen"))]
pub(super) fn read(bytes: &[u8]) -> Result<Option<Store>, String> {
    // The text of the schema is in the file as it is.
    let names_table = bytes.windows(7).any(|window| window == b"kern_db");
    let advice = "this build reads no databases of MIOpen; build it with the feature `miopen`";
    if names_table { Err(advice.to_owned()) } else { Ok(None) }
}

#[cfg(feature = "miopen")]
pub(super) use self::sqlite::read;

#[cfg(feature = "miopen")]
mod sqlite {
    use std::io::Read;

    use rusqlite::{Connection, Result, Row, types::ValueRef};

    use super::super::{
        packed::Method,
        store::{LARGEST, Store},
    };

    /// Reads the code objects of a database. `None` for a database of something else.
    pub(in super::super) fn read(bytes: &[u8]) -> std::result::Result<Option<Store>, String> {
        store(bytes).map_err(|error| format!("the database cannot be read: {error}; fetch the file again"))
    }

    fn store(bytes: &[u8]) -> Result<Option<Store>> {
        let connection = open(bytes)?;
        // A view or a virtual table of that name could run any query.
        let table = "SELECT count(*) FROM sqlite_schema WHERE name = 'kern_db' AND type = 'table' \
                     AND sql NOT LIKE '%virtual%'";
        if connection.query_row(table, [], |row| row.get::<_, i64>(0))? == 0 {
            return Ok(None);
        }
        let mut store = Store::new("MIOpen database", bytes.len() as u64);
        let columns = "SELECT kernel_name, kernel_args, kernel_blob, uncompressed_size FROM kern_db";
        let mut statement = connection.prepare(columns)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            add(&mut store, row)?;
        }
        Ok(Some(store))
    }

    /// Opens the bytes as a database in memory, so that nothing is written beside the file.
    fn open(bytes: &[u8]) -> Result<Connection> {
        // The versions of the format for writing and reading, of which 2 demands a log beside the file.
        let (head, rest) = bytes.split_at(bytes.len().min(18));
        let versions = [1; 2].get(..rest.len().min(2)).unwrap_or_default();
        let rest = rest.get(versions.len()..).unwrap_or_default();
        let database = head.chain(versions).chain(rest);
        let mut connection = Connection::open_in_memory()?;
        connection.pragma_update(None, "trusted_schema", false)?;
        connection.deserialize_read_exact(rusqlite::MAIN_DB, database, bytes.len(), true)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        Ok(connection)
    }

    fn add(store: &mut Store, row: &Row<'_>) -> Result<()> {
        let text = |index| match row.get_ref(index) {
            Ok(ValueRef::Text(text)) => String::from_utf8_lossy(text).into_owned(),
            _ => String::new(),
        };
        let name = format!("{} {}", text(0), text(1)).trim().to_owned();
        let ValueRef::Blob(blob) = row.get_ref(2)? else {
            store.problem(&name, "it has no code");
            return Ok(());
        };
        // MIOpen writes 0 for code that is not compressed.
        match u64::try_from(row.get::<_, i64>(3)?) {
            Ok(0) => store.add(&name, blob),
            Ok(size @ ..=LARGEST) => match Method::Bzip2.unpack(blob, |_| true, size) {
                Ok(Some(code)) if code.len() as u64 == size => store.add(&name, &code),
                Ok(_) => {
                    store.problem(&name, &format!("its code has not the {size} bytes that the row says"))
                }
                Err(problem) => store.problem(&name, &problem),
            },
            _ => store.problem(&name, "its code would have more bytes than any code"),
        }
        Ok(())
    }
}
