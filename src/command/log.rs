// SPDX-License-Identifier: MIT OR Apache-2.0
//! The log on standard error, configured by `WINDLASS_LOG`.

use std::io;

use tracing_subscriber::EnvFilter;

use super::failure::{Failure, Outcome};

/// Installs a subscriber if the variable is set. Without one, the libraries' events cost next to nothing.
pub(crate) fn start() -> Outcome {
    let Some(filter) = std::env::var_os("WINDLASS_LOG").filter(|filter| !filter.is_empty()) else {
        return Ok(());
    };
    let filter = EnvFilter::try_new(filter.to_string_lossy()).map_err(|error| {
        Failure::input(format!(
            "WINDLASS_LOG={}: {error}; write a level (error, warn, info, debug, trace) or target=level pairs with \
             commas between, such as windlass::hip=trace; targets are windlass::queue, windlass::hip, \
             windlass::codeobject and windlass::sim",
            filter.display()
        ))
    })?;
    // A line that cannot be written is lost: reporting the error would panic.
    let log = tracing_subscriber::fmt().log_internal_errors(false);
    log.with_env_filter(filter).with_writer(io::stderr).init();
    Ok(())
}
