// SPDX-License-Identifier: MIT OR Apache-2.0
//! The work that a process of its own does for a report.

use clap::Args;
use serde_json::Value;

use super::system;
#[cfg(feature = "hip")]
use super::{assumptions, library};
use crate::command::{
    child::{Line, say},
    failure::{Failure, Outcome},
};

/// The options of such a process.
#[derive(Args)]
pub(super) struct Step {
    /// The work that this process does, for the command that started it
    #[arg(long, hide = true)]
    step: Option<String>,
    /// The object of the work
    #[arg(long, hide = true, default_value = "")]
    of: String,
}

impl Step {
    /// Whether this process works for a report.
    pub(super) fn is_asked(&self) -> bool {
        self.step.is_some()
    }

    /// Does the work over a device, if this process is there for it.
    #[cfg_attr(not(feature = "hip"), expect(unused_variables))]
    pub(super) fn run(&self, uri: &str) -> Option<Outcome> {
        let step = self.step.as_deref()?;
        ends_with_parent();
        let answer = |value: Value| say(&Line::Answer(value));
        match step {
            "system" => system::answer(answer),
            #[cfg(feature = "hip")]
            "library" => answer(library::examine(&self.of)),
            #[cfg(feature = "hip")]
            "assumption" => return Some(assumptions::answer(&self.of, uri).map(answer)),
            _ => return Some(Err(Failure::input(format!("--step {step}: there is no such step")))),
        }
        Some(Ok(()))
    }
}

/// A report that is ended leaves no process behind in a HIP call that hangs.
fn ends_with_parent() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}
