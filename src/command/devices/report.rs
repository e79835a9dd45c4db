// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report of `devices`, in the shape of its JSON.

use serde::{Deserialize, Serialize};

use super::verbose::Description;
use crate::command::child::Stopped;

/// A driver and its devices.
#[derive(Serialize, Deserialize)]
pub(super) struct DriverReport {
    pub(super) scheme: String,
    pub(super) description: String,
    pub(super) devices: Vec<Listed>,
    /// Why the driver has no device.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) problem: Option<String>,
    /// The processors and links, with `--verbose`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) topology: Option<Description>,
    /// How the driver's process ended before it had answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stopped: Option<Stopped>,
}

#[derive(Serialize, Deserialize)]
pub(super) struct Listed {
    pub(super) uri: String,
    pub(super) name: String,
    pub(super) architecture: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) uuid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) library: Option<String>,
    pub(super) simulated: bool,
    pub(super) real_gpu: bool,
    /// The result of `--check`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) check: Option<Check>,
}

/// The result of a kernel on a device.
#[derive(Serialize, Deserialize)]
pub(super) struct Check {
    pub(super) verdict: Verdict,
    /// The kernel and its numbers, what is wrong, or why the device could not be checked.
    pub(super) message: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    /// The kernel ran, and its numbers are right.
    Right,
    /// The kernel failed, or its numbers are wrong.
    Wrong,
    /// No kernel could be run on the device.
    NotChecked,
}

impl DriverReport {
    /// The report of a driver that has not answered.
    pub(super) fn of(scheme: &str, description: String) -> Self {
        let scheme = scheme.to_owned();
        Self { scheme, description, devices: Vec::new(), problem: None, topology: None, stopped: None }
    }

    pub(super) fn text(&self) -> String {
        let mut text = format!("{}://  {}\n", self.scheme, self.description);
        for device in &self.devices {
            let mut parts = vec![device.uri.clone(), device.name.clone(), device.architecture.clone()];
            parts.extend(device.uuid.clone());
            parts.retain(|part| !part.is_empty());
            if device.simulated {
                parts.push("*simulated*".to_owned());
            }
            text.push_str(&format!("  {}\n", parts.join("  ")));
            if let Some(library) = &device.library {
                text.push_str(&format!("    {library}\n"));
            }
            if let Some(check) = &device.check {
                let verdict = match check.verdict {
                    Verdict::Right => "checked",
                    Verdict::Wrong => "WRONG",
                    Verdict::NotChecked => "not checked",
                };
                text.push_str(&format!("    {verdict}: {}\n", check.message.replace('\n', "\n      ")));
            }
        }
        if let Some(description) = &self.topology {
            text.push_str(&description.text());
        }
        if let Some(problem) = &self.problem {
            let none = if self.devices.is_empty() { "none: " } else { "" };
            text.push_str(&format!("  {none}{}\n", problem.replace('\n', "\n    ")));
        }
        text
    }
}
