// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instructions that the simulated GPU would not execute.

use super::report::NotSimulated;

/// Checks a code object. `None` for a processor that is not simulated, or if this build has no simulator.
#[cfg(feature = "sim")]
pub(super) fn not_executed(image: &[u8]) -> Option<Vec<NotSimulated>> {
    let found = windlass_simulator::engine::unsupported(image).ok()?;
    let tell = |found: windlass_simulator::engine::Unsupported| NotSimulated {
        instruction: found.reason,
        symbol: found.symbol,
        address: found.address,
        count: found.count,
    };
    Some(found.into_iter().map(tell).collect())
}

#[cfg(not(feature = "sim"))]
pub(super) fn not_executed(_: &[u8]) -> Option<Vec<NotSimulated>> {
    None
}
