// SPDX-License-Identifier: MIT OR Apache-2.0
//! The facts without which numbers cannot be compared: the build, the machine, its load, the device and its library.

use std::{fs, thread};

use crate::build_info;
use serde::{Deserialize, Serialize};

use super::target::Target;

/// The build and the machine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Machine {
    pub(super) windlass: String,
    pub(super) commit: Option<String>,
    pub(super) rustc: String,
    pub(super) profile: String,
    pub(super) target: String,
    pub(super) system: Option<String>,
    pub(super) cpu: Option<String>,
    /// CPUs that the process may use.
    pub(super) cpus: usize,
    pub(super) governor: Option<String>,
    /// The load of the last minute when the run begins.
    pub(super) load: Option<f64>,
    /// The version of the kernel driver of AMD GPUs, if it is loaded.
    pub(super) kernel_driver: Option<String>,
}

/// A device and its library.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct DeviceFacts {
    pub(super) uri: String,
    pub(super) name: String,
    pub(super) architecture: String,
    pub(super) library: Option<String>,
    pub(super) library_path: Option<String>,
    pub(super) hip_version: Option<String>,
    pub(super) simulated: bool,
    /// Remarks without which the numbers would be misread.
    pub(super) marks: Vec<String>,
}

impl Machine {
    pub(super) fn now() -> Self {
        Self {
            windlass: env!("CARGO_PKG_VERSION").to_owned(),
            commit: build_info::COMMIT.map(str::to_owned),
            rustc: build_info::RUSTC.to_owned(),
            profile: build_info::PROFILE.to_owned(),
            target: build_info::TARGET.to_owned(),
            system: line("/proc/sys/kernel/osrelease").map(|release| format!("Linux {release}")),
            cpu: cpu(),
            cpus: thread::available_parallelism().map_or(1, usize::from),
            governor: line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
            load: load(),
            kernel_driver: kernel_driver(),
        }
    }

    /// The facts in one line each, for people.
    pub(super) fn lines(&self) -> Vec<String> {
        let commit = self.commit.as_deref().and_then(|commit| commit.get(..12)).unwrap_or("no commit");
        let or =
            |fact: &Option<String>, otherwise: &str| fact.clone().unwrap_or_else(|| otherwise.to_owned());
        let load = self.load.map_or_else(|| "unknown".to_owned(), |load| format!("{load:.2}"));
        vec![
            format!(
                "windlass {} ({commit}), {}, {}, {}",
                self.windlass, self.rustc, self.target, self.profile
            ),
            format!(
                "{} CPUs, {}, governor {}, load {load}, {}, kernel driver of GPUs {}",
                self.cpus,
                or(&self.cpu, "unknown CPU"),
                or(&self.governor, "unknown"),
                or(&self.system, "unknown system"),
                or(&self.kernel_driver, "absent"),
            ),
        ]
    }
}

impl DeviceFacts {
    pub(super) fn of(target: &Target) -> Self {
        let info = target.device.info();
        #[cfg(feature = "hip")]
        let origin = target.hip.as_ref().map(super::floor::Hip::origin);
        #[cfg(feature = "hip")]
        let (library_path, hip_version) = (
            origin.and_then(|origin| origin.path.as_ref()).map(|path| path.display().to_string()),
            origin.and_then(|origin| origin.version).map(|version| version.to_string()),
        );
        #[cfg(not(feature = "hip"))]
        let (library_path, hip_version) = (None, None);
        Self {
            uri: target.uri.clone(),
            name: info.name.clone(),
            architecture: info.architecture.clone(),
            library: info.library.clone(),
            library_path,
            hip_version,
            simulated: info.simulated,
            marks: target.marks().into_iter().map(str::to_owned).collect(),
        }
    }

    /// The facts in one line, for people.
    pub(super) fn line(&self) -> String {
        let mut parts = vec![self.uri.clone()];
        parts.extend([&self.name, &self.architecture].into_iter().filter(|part| !part.is_empty()).cloned());
        parts.extend(self.library.clone());
        if self.simulated {
            parts.push("*simulated*".to_owned());
        }
        parts.extend(self.marks.iter().map(|mark| format!("*{mark}*")));
        parts.join("  ")
    }
}

/// The first line of a file of the system.
fn line(path: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().next()?.trim();
    (!line.is_empty()).then(|| line.to_owned())
}

fn cpu() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let model = text.lines().find(|line| line.starts_with("model name"))?;
    Some(model.split_once(':')?.1.trim().to_owned())
}

pub(super) fn load() -> Option<f64> {
    line("/proc/loadavg")?.split(' ').next()?.parse().ok()
}

/// The driver's own version where it has one; a driver of the kernel's tree has the kernel's.
fn kernel_driver() -> Option<String> {
    fs::metadata("/sys/module/amdgpu").ok()?;
    Some(
        line("/sys/module/amdgpu/version")
            .map_or_else(|| "amdgpu of the kernel".to_owned(), |v| format!("amdgpu {v}")),
    )
}
