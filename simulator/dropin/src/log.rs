// SPDX-License-Identifier: MIT OR Apache-2.0
//! The library's own log: `tracing` is linked into it.

use std::sync::Once;

/// Sets up the log at the first call.
pub(crate) fn set_up() {
    static FIRST: Once = Once::new();
    FIRST.call_once(windlass_simulator::drop_in::set_up);
}
