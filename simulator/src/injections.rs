// SPDX-License-Identifier: MIT OR Apache-2.0
//! The failures and delays that the options ask for, applied to each call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::options::{Effect, Injection};
use crate::packet::mix;

/// The injections of one simulator, and how many calls each has seen.
pub(crate) struct Injections {
    list: Vec<(Injection, AtomicU64)>,
    seed: u64,
}

impl Injections {
    pub(crate) fn new(list: &[Injection], seed: Option<u64>) -> Self {
        let list = list.iter().map(|one| (one.clone(), AtomicU64::new(0))).collect();
        Self { list, seed: seed.unwrap_or_default() }
    }

    /// Counts a call of a function and, if it is to be late, calls `late`. If the call is to fail, returns its status and
    /// the reason.
    pub(crate) fn strike(&self, function: &'static str, late: &dyn Fn(Duration)) -> Option<(u32, String)> {
        let mut failed = None;
        for (index, (injection, calls)) in self.list.iter().enumerate() {
            if !injection.concerns(function) {
                continue;
            }
            let number = calls.fetch_add(1, Ordering::Relaxed) + 1;
            // Not a generator's next number: the effect on a call must not depend on the interleaving of threads.
            let draw = mix(self.seed ^ mix(index as u64) ^ mix(number.rotate_left(32))) as u32;
            match injection.effect(number, draw) {
                Some(Effect::Delay(time)) => {
                    tracing::debug!(target: "windlass::sim", call = function, number, "delayed: delay={injection}");
                    late(time);
                }
                Some(Effect::Fail(status)) if failed.is_none() => {
                    tracing::info!(target: "windlass::sim", call = function, number, "failed: fail={injection}");
                    failed = Some((
                        status,
                        format!(
                            "{function} failed because the option fail={injection} says so (call {number} that it counts)"
                        ),
                    ));
                }
                _ => {}
            }
        }
        failed
    }
}
