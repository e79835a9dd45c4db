// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulator's functions.

use std::sync::OnceLock;

use windlass_hip_sys::EntryPoints;
use windlass_simulator::drop_in::Text;

use crate::{end, simulator};

/// The simulator's functions. The first use sets up the log, and registers the end of HIP anew.
pub(crate) fn table() -> &'static EntryPoints {
    static TABLE: OnceLock<EntryPoints> = OnceLock::new();
    TABLE.get_or_init(|| {
        let entries = simulator::entries(|core| core.hip);
        end::register_anew();
        entries
    })
}

/// Whether the simulator has the function with an exported name, in the version of HIP in use.
pub(crate) fn has(name: &str) -> bool {
    // SAFETY: a text.
    simulator::core().is_some_and(|core| unsafe { (core.has)(Text::new(name)) })
}
