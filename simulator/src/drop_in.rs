// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sets up the log and the counts at a process's first call into a drop-in library.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::tally::Tally;

/// Sets up the library's own log, and counts launches where `windlass exec` asks for that. Only the first
/// call sets up the log.
pub fn set_up() {
    let wanted = std::env::var("WINDLASS_LOG").unwrap_or_else(|_| "error".to_owned());
    let filter = EnvFilter::try_new(&wanted);
    let refused = filter.as_ref().err().map(ToString::to_string);
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter.unwrap_or_else(|_| EnvFilter::new("error")))
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        // The subscriber would report such an error to a standard error that cannot be written, and panic.
        .log_internal_errors(false)
        .without_time();
    let _ = log.try_init();
    if let Some(reason) = refused {
        tracing::error!("WINDLASS_LOG={wanted}: {reason}; spell it like windlass::sim=debug");
    }
    if let Err(error) = Tally::attach_from_environment() {
        tracing::error!("{}: {error}; launches are not counted", Tally::VARIABLE);
    }
}
