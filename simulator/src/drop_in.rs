// SPDX-License-Identifier: MIT OR Apache-2.0
//! The first call of a process into a drop-in library: the log is set up.

use std::io::IsTerminal;

use tracing_subscriber::EnvFilter;

use crate::tally::Tally;

/// Sets up the log, which is the library's own: it is linked into it. Then counts launches where `windlass exec` asks for
/// that. A second call does nothing but the latter.
pub fn set_up() {
    let wanted = std::env::var("WINDLASS_LOG").unwrap_or_else(|_| "error".to_owned());
    let filter = EnvFilter::try_new(&wanted);
    let refused = filter.as_ref().err().map(ToString::to_string);
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter.unwrap_or_else(|_| EnvFilter::new("error")))
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        // It would be told where nothing can be written, and panic.
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
