// SPDX-License-Identifier: MIT OR Apache-2.0
//! The first call of a process into a drop-in library: the log is set up.

use std::io::IsTerminal;

use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    fmt,
    prelude::*,
};

use crate::tally::Tally;

/// Sets up the log, which is the library's own: it is linked into it. Then counts launches where `windlass exec` asks for
/// that. A second call does nothing but the latter.
pub fn set_up() {
    let wanted = std::env::var("WINDLASS_LOG").unwrap_or_else(|_| "error".to_owned());
    let targets = wanted.parse::<Targets>();
    let refused = targets.as_ref().err().map(ToString::to_string);
    let log = fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        // The layer would report an event that cannot be written on standard error, and panic where that is closed.
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
