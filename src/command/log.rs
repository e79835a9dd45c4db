// SPDX-License-Identifier: MIT OR Apache-2.0
//! The log on standard error, configured by `WINDLASS_LOG`.

use std::io;

use tracing_subscriber::{
    filter::{LevelFilter, Targets},
    fmt,
    prelude::*,
};

use super::{
    child::Calls,
    failure::{Failure, Outcome},
};

/// Installs a subscriber if the variable is set, or if HIP calls are told to the command that started this process. Without
/// one, the libraries' events cost next to nothing.
pub(crate) fn start(tells_calls: bool) -> Outcome {
    let told = || Targets::new().with_target("windlass::hip", LevelFilter::TRACE);
    let Some(filter) = std::env::var_os("WINDLASS_LOG").filter(|filter| !filter.is_empty()) else {
        if tells_calls {
            tracing_subscriber::registry().with(Calls.with_filter(told())).init();
        }
        return Ok(());
    };
    let targets: Targets = filter.to_string_lossy().parse().map_err(|error| {
        Failure::input(format!(
            "WINDLASS_LOG={}: {error}; write a level (error, warn, info, debug, trace) or target=level pairs with \
             commas between, such as windlass::hip=trace; targets are windlass::queue, windlass::device, \
             windlass::hip, windlass::rccl, windlass::local, windlass::shuffle, windlass::record, windlass::codeobject, windlass::exec \
             and windlass::sim",
            filter.display()
        ))
    })?;
    // An event that cannot be written is lost: the layer would report it on standard error, and panic if that is closed.
    let log = fmt::layer().with_thread_ids(true).log_internal_errors(false).with_writer(io::stderr);
    tracing_subscriber::registry()
        .with(log.with_filter(targets))
        .with(tells_calls.then(|| Calls.with_filter(told())))
        .init();
    Ok(())
}
