// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library's own log: `tracing` is linked into it.

use std::io::IsTerminal as _;
use std::sync::Once;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt;
use tracing_subscriber::prelude::*;

/// Sets up the log at the first call, by the variable of the simulated HIP, which complains if it is misspelled.
pub(crate) fn set_up() {
    static FIRST: Once = Once::new();
    FIRST.call_once(|| {
        let wanted = std::env::var("WINDLASS_LOG").ok().and_then(|wanted| wanted.parse::<Targets>().ok());
        let targets = wanted.unwrap_or_else(|| Targets::new().with_default(LevelFilter::ERROR));
        let log = fmt::layer()
            .with_writer(std::io::stderr)
            .with_ansi(std::io::stderr().is_terminal())
            // The layer would report a failed write on standard error, and panic if that is closed.
            .log_internal_errors(false)
            .without_time();
        let _ = tracing_subscriber::registry().with(log).with(targets).try_init();
    });
}
