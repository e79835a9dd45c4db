// SPDX-License-Identifier: MIT OR Apache-2.0
//! Drivers that the program implements: a table of functions behind a URI scheme.

mod device;
mod executable;
mod issue;
mod link;
mod memory;
mod replay;
pub mod table;
mod work;

use std::{ffi::c_void, ptr::NonNull, sync::Arc};

use facade::{Error, Result};

use crate::{
    boundary::fallible,
    callback::UserData,
    error::windlass_error_t,
    memory::{read_struct, text},
    registry,
};

use link::Functions;
use table::windlass_driver_t;

/// The names of the functions that a table must have and lacks.
fn check(table: &windlass_driver_t) -> Result<()> {
    let needs = [
        ("open", table.open.is_none(), "every driver needs it"),
        ("allocate", table.allocate.is_none(), "every driver needs it"),
        ("free", table.free.is_none(), "every driver needs it"),
        ("unload", table.load.is_some() && table.unload.is_none(), "`load` needs it"),
        ("submit", table.load.is_some() && table.submit.is_none(), "`load` needs it"),
        ("submit", table.execute.is_some() && table.submit.is_none(), "`execute` needs it"),
        ("load", table.load_linked.is_some() && table.load.is_none(), "`load_linked` needs it"),
        ("load", table.global.is_some() && table.load.is_none(), "`global` needs it"),
        ("load", table.symbols.is_some() && table.load.is_none(), "`symbols` needs it"),
    ];
    let missing = needs.iter().filter(|(_, missing, _)| *missing);
    let missing: Vec<_> = missing.map(|(name, _, why)| format!("`{name}` ({why})")).collect();
    match missing.is_empty() {
        true => Ok(()),
        false => Err(Error::invalid_argument(format!(
            "the windlass_driver_t has NULL in the place of {}",
            missing.join(", ")
        ))),
    }
}

/// Registers a driver for this process: windlass_device_open opens its URIs from now on, and windlass_driver_scheme lists
/// it. The table is copied. `user_data` goes to `devices` and `open`, and must be valid, as the functions must, until
/// the process ends. INVALID_ARGUMENT names the functions that are missing, ALREADY_EXISTS says that the scheme is taken.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_driver_register(
    driver: *const windlass_driver_t,
    user_data: *mut c_void,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `read_struct`.
        let table = unsafe { read_struct(driver) }?;
        check(&table)?;
        // SAFETY: the contract in the header covers that of `text`, for this and the next.
        let scheme = unsafe { text("scheme", table.scheme) }?.to_owned();
        let description = match table.description.is_null() {
            true => "a driver of the program".to_owned(),
            // SAFETY: as above.
            false => unsafe { text("description", table.description) }?.to_owned(),
        };
        registry::register(Arc::new(Functions { scheme, description, table, user_data: UserData(user_data) }))
    })
}
