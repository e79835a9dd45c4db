// SPDX-License-Identifier: MIT OR Apache-2.0
//! The health check: a copy and a dispatch with known results, after a case has failed.

use std::time::Duration;

use windlass_hal::Feature;

use crate::{
    case::Case,
    check::same_bytes,
    context::Context,
    kernels,
    outcome::{Outcome, Stop},
    suites,
};

/// It belongs to no suite. Lists and filters do not know it.
pub(crate) const HEALTH: Case =
    Case::new("runner.health_check", "The device copies and computes correctly.", &[], works);

/// A device that is slower does not work.
const LIMIT: Duration = Duration::from_secs(30);

/// The time after which a case counts as hung, of which the options state that of all cases but the health check.
pub(crate) fn limit(case: &Case, timeout: Duration) -> Duration {
    if case.name == HEALTH.name { timeout.min(LIMIT) } else { timeout }
}

fn works(ctx: &Context) -> Outcome {
    let bytes: Vec<u8> = (0..=255).cycle().take(4096).collect();
    let buffer = ctx.upload(&bytes)?;
    same_bytes(&ctx.download(&buffer)?, &bytes, "bytes that were copied to the device and back")?;
    // A lack is a reason to dispatch nothing.
    if ctx.require(Feature::Dispatch).is_err() {
        return Ok(());
    }
    match ctx.function(&kernels::VECTOR_ADD, "vector_add") {
        Ok(function) => suites::vector_add_with(ctx, &function, 1000),
        // No kernel of the suite is for this device.
        Err(Stop::Skip(_)) => Ok(()),
        Err(stop) => Err(stop),
    }
}
