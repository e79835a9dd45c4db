// SPDX-License-Identifier: MIT OR Apache-2.0
//! The drop-in libraries' common part: they load the simulator from a library of its own, which sets up the log and the
//! counts at a process's first call.

mod load;
mod table;

use std::io::IsTerminal;

use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    fmt,
    prelude::*,
};

pub use load::{core, note_folder};
pub use table::{Core, Find, FindExported, Text, VERSION};

use crate::tally::Tally;

/// Sets up the library's own log, and counts launches where `windlass exec` asks for that. Only the first
/// call sets up the log.
pub fn set_up() {
    let wanted = std::env::var("WINDLASS_LOG").unwrap_or_else(|_| "error".to_owned());
    let targets = wanted.parse::<Targets>();
    let refused = targets.as_ref().err().map(ToString::to_string);
    let log = fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        // The layer would report a failed write on standard error, and panic if that is closed.
        .log_internal_errors(false)
        .without_time();
    let targets = targets.unwrap_or_else(|_| Targets::new().with_default(LevelFilter::ERROR));
    let _ = tracing_subscriber::registry().with(log).with(targets).try_init();
    if let Some(reason) = refused {
        tracing::error!("WINDLASS_LOG={wanted}: {reason}; spell it like windlass::sim=debug");
    }
    if let Err(error) = Tally::attach_from_environment() {
        tracing::error!("{}: {error}; launches are not counted", Tally::VARIABLE);
    }
}
