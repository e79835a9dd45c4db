// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads MIOpen's databases by SQLite. The file is hostile: nothing of its SQL runs, and all that it takes is limited.

use std::{
    fmt::Write,
    io::{self, Read},
    path::Path,
};

use rusqlite::{
    Connection, OpenFlags, OptionalExtension, Row, config::DbConfig, limits::Limit, types::ValueRef,
};
use windlass_codeobject::Budget;

use super::{
    packed::Method,
    store::{LARGEST, Store},
};

/// SQLite asks after so many steps of its program whether to go on.
const STEPS: i32 = 10_000;
/// The steps for each byte of a database: more than reading its smallest rows takes. A damaged one may lead in circles.
const STEPS_PER_BYTE: u64 = 8;

/// Reads the code objects of a database in memory. `None` for a database of something else.
pub(super) fn store_of_bytes(bytes: &[u8], budget: &Budget) -> Result<Option<Store>, String> {
    let size = bytes.len() as u64;
    if i32::try_from(size).is_err() {
        return Err("databases of 2 GiB in zip files and streams are not examined; unpack it".to_owned());
    }
    connect(bytes).map_err(unreadable).and_then(|connection| store(&connection, size, budget))
}

/// Reads the code objects of a database where it lies, page by page.
pub(super) fn store_of_file(path: &Path, budget: &Budget) -> Result<Option<Store>, String> {
    let size = path.metadata().map_err(|error| error.to_string())?.len();
    connect_file(path).map_err(unreadable).and_then(|connection| store(&connection, size, budget))
}

fn unreadable(error: impl std::fmt::Display) -> String {
    format!("the database cannot be read: {error}; fetch the file again")
}

fn store(connection: &Connection, size: u64, budget: &Budget) -> Result<Option<Store>, String> {
    restrict(connection, size).map_err(unreadable)?;
    if !has_table(connection)? {
        return Ok(None);
    }
    let mut store = Store::new("MIOpen database", size, budget);
    let mut read = || -> rusqlite::Result<()> {
        let columns = "SELECT kernel_name, kernel_args, kernel_blob, uncompressed_size FROM main.kern_db";
        let mut statement = connection.prepare(columns)?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()?.filter(|_| !budget.is_spent()) {
            add(&mut store, row, budget)?;
        }
        Ok(())
    };
    read().map_err(unreadable)?;
    Ok(Some(store))
}

/// Opens the bytes as a database in memory, so that nothing is written beside the file.
fn connect(bytes: &[u8]) -> rusqlite::Result<Connection> {
    // The versions of the format for writing and reading, of which 2 demands a log beside the file.
    let (head, rest) = bytes.split_at(bytes.len().min(18));
    let versions = [1; 2].get(..rest.len().min(2)).unwrap_or_default();
    let rest = rest.get(versions.len()..).unwrap_or_default();
    let database = head.chain(versions).chain(rest);
    let mut connection = Connection::open_in_memory()?;
    connection.deserialize_read_exact(rusqlite::MAIN_DB, database, bytes.len(), true)?;
    Ok(connection)
}

/// Opens a file as it is. SQLite neither locks an immutable file nor looks for logs beside it.
fn connect_file(path: &Path) -> io::Result<Connection> {
    let mut uri = "file:".to_owned();
    for byte in std::path::absolute(path)?.as_os_str().as_encoded_bytes() {
        let _ = match byte {
            b'/' | b'.' | b'-' | b'_' => write!(uri, "{}", char::from(*byte)),
            letter if letter.is_ascii_alphanumeric() => write!(uri, "{}", char::from(*letter)),
            other => write!(uri, "%{other:02x}"),
        };
    }
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Connection::open_with_flags(uri + "?immutable=1", flags).map_err(io::Error::other)
}

/// Limits everything that a database of `size` bytes may do.
fn restrict(connection: &Connection, size: u64) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    // No value of a row is longer than the file.
    let longest = size.clamp(1 << 20, LARGEST) as i32;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, longest)?;
    let mut left = size.saturating_mul(STEPS_PER_BYTE).saturating_add(10_000_000);
    let is_over = move || {
        left = left.saturating_sub(STEPS as u64);
        left == 0
    };
    connection.progress_handler(STEPS, Some(is_over));
    connection.pragma_update(None, "cell_size_check", true)
}

/// Whether there is a table `kern_db`. A view, a virtual table or a generated column of that name would run SQL of the
/// file.
fn has_table(connection: &Connection) -> Result<bool, String> {
    // The type in the schema is as little to be trusted as the rest. SQLite goes by the text.
    let sql = "SELECT sql FROM main.sqlite_schema WHERE name = 'kern_db' COLLATE NOCASE AND type <> 'index'";
    let sql = connection.query_row(sql, [], |row| row.get::<_, Option<String>>(0)).optional();
    let Some(sql) = sql.map_err(unreadable)? else { return Ok(false) };
    let mut words = sql.as_deref().unwrap_or_default().split_ascii_whitespace().map(str::to_ascii_lowercase);
    match [words.next(), words.next()].each_ref().map(Option::as_deref) {
        [Some("create"), Some("table")] => {}
        [_, Some("view")] => return Err("its `kern_db` is a view, not a table".to_owned()),
        [_, Some("virtual")] => return Err("its `kern_db` is a virtual table, not a table".to_owned()),
        _ => return Err("its `kern_db` is no table".to_owned()),
    }
    let column = "SELECT name FROM pragma_table_xinfo('kern_db', 'main') WHERE hidden <> 0";
    let column = connection.query_row(column, [], |row| row.get::<_, String>(0)).optional();
    match column.map_err(unreadable)? {
        None => Ok(true),
        Some(column) => Err(format!(
            "its table `kern_db` has the generated or hidden column `{column}`, which MIOpen's have not"
        )),
    }
}

fn add(store: &mut Store, row: &Row<'_>, budget: &Budget) -> rusqlite::Result<()> {
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
        Ok(size @ ..=LARGEST) => match Method::Bzip2.unpack(blob, |_| true, size, budget) {
            Ok(Some(code)) if code.len() as u64 == size => store.add(&name, &code),
            Ok(_) => {
                store.problem(&name, &format!("its code has not the {size} bytes that the row says"));
            }
            Err(problem) => store.problem(&name, &problem),
        },
        _ => store.problem(&name, "its code would have more bytes than any code"),
    }
    Ok(())
}
