// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass devices`: the devices of each driver, or the reason why a driver has none.

mod check;
mod child;
mod report;

use std::time::Duration;

use clap::Args;
use windlass::{DeviceInfo, driver::Driver};
use windlass_codeobject::TargetId;

use super::{
    failure::{Failure, Outcome},
    input, output,
};
use child::Answers;
pub(crate) use child::Calls;
use report::{DriverReport, Listed, Stopped, Verdict};

/// The time for a driver to list its devices.
const LIMIT: Duration = Duration::from_secs(10);

/// Why there is no real GPU. `None` if there is one, and also if its driver hangs or dies: such a GPU is broken, not absent.
pub(crate) fn no_real_gpu() -> Option<String> {
    let driver = match windlass::registry().driver(windlass::REAL_SCHEME) {
        Ok(driver) => driver,
        Err(error) => return Some(error.message().to_owned()),
    };
    let report = Answers::start(driver.as_ref(), false).read(LIMIT);
    if report.stopped.is_some() || !report.devices.is_empty() {
        return None;
    }
    report.problem
}

/// Options of `devices`.
#[derive(Args)]
pub(crate) struct Devices {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Fail with exit code 3 unless there is a real GPU of this target; simulated GPUs do not count
    #[arg(long, value_name = "TARGET")]
    require: Option<String>,
    /// Run a kernel on each device and check its numbers. Exit code 1 if they are wrong, or if a real GPU could not be
    /// checked
    #[arg(long)]
    check: bool,
    /// Seconds for each driver to list its devices, and for each check. A HIP call that takes longer is named, and the
    /// exit code is 5
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = seconds)]
    timeout: Duration,
    /// The driver that this process asks, for the command that started it
    #[arg(long, hide = true)]
    driver: Option<String>,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.001..=86400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "seconds are 0.001 to 86400".to_owned())
}

impl Devices {
    /// Whether this process tells another one of its HIP calls.
    pub(crate) fn tells_calls(&self) -> bool {
        self.driver.is_some()
    }

    /// Lists the devices, and checks `--check` and `--require`.
    pub(crate) fn run(self) -> Outcome {
        if let Some(scheme) = &self.driver {
            let driver =
                windlass::registry().driver(scheme).map_err(|error| Failure::input(error.to_string()))?;
            child::answer(driver.as_ref(), self.check);
            return Ok(());
        }
        let required =
            self.require.as_deref().map(|text| input::parse_target("--require", text)).transpose()?;
        let asked: Vec<_> = windlass::registry()
            .drivers()
            .map(|driver| Answers::start(driver.as_ref(), self.check))
            .collect();
        let sources: Vec<_> = asked.into_iter().map(|answers| answers.read(self.timeout)).collect();
        if self.json {
            output::write_json(&sources)?;
        } else {
            output::write(&sources.iter().map(DriverReport::text).collect::<Vec<_>>().join("\n"))?;
        }
        judge(&sources)?;
        if self.check {
            check::judge_sources(&sources)?;
        }
        required.map_or(Ok(()), |required| require(&sources, &required))
    }
}

/// An error if a driver did not answer, or if a check failed.
fn judge(sources: &[DriverReport]) -> Outcome {
    let stopped = |how: Stopped| {
        let schemes = sources.iter().filter(move |source| source.stopped == Some(how));
        let told = schemes
            .map(|source| format!("{}://: {}", source.scheme, source.problem.as_deref().unwrap_or_default()));
        told.collect::<Vec<_>>().join("\n")
    };
    let (hung, died) = (stopped(Stopped::Hung), stopped(Stopped::Died));
    if !hung.is_empty() {
        return Err(Failure::hung(hung));
    }
    if !died.is_empty() {
        return Err(Failure::failed(died));
    }
    let is_wrong = |device: &&Listed| {
        device.check.as_ref().is_some_and(|check| match check.verdict {
            Verdict::Right => false,
            Verdict::Wrong => true,
            Verdict::NotChecked => device.real_gpu,
        })
    };
    let wrong: Vec<_> = sources.iter().flat_map(|source| &source.devices).filter(is_wrong).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let uris: Vec<_> = wrong.iter().map(|device| device.uri.as_str()).collect();
    Err(Failure::failed(format!(
        "--check: {} did not run the kernel with the right numbers",
        uris.join(", ")
    )))
}

/// An error unless there is a real GPU of a target.
fn require(sources: &[DriverReport], required: &TargetId) -> Outcome {
    let real: Vec<_> =
        sources.iter().flat_map(|source| &source.devices).filter(|device| device.real_gpu).collect();
    if real.iter().any(|device| serves(&device.architecture, required)) {
        return Ok(());
    }
    let there = match real.len() {
        0 => "this machine has none at all".to_owned(),
        _ => {
            let there: Vec<_> =
                real.iter().map(|device| format!("{} ({})", device.uri, device.architecture)).collect();
            format!("there is {}", there.join(", "))
        }
    };
    Err(Failure::absent(format!("no real GPU of target {required}: {there}; a simulated GPU does not count")))
}

/// Whether a device matches a target: the same processor, and each feature of the target in the stated mode.
fn serves(architecture: &str, required: &TargetId) -> bool {
    architecture.parse::<TargetId>().is_ok_and(|device| {
        device.processor() == required.processor()
            && required.features().all(|(name, on)| device.feature(name) == Some(on))
    })
}

fn look(driver: &dyn Driver) -> DriverReport {
    let (devices, problem) = match driver.enumerate() {
        Ok(devices) if devices.is_empty() => (devices, Some("it has no device".to_owned())),
        Ok(devices) => (devices, None),
        Err(error) => (Vec::new(), Some(error.message().to_owned())),
    };
    let real = |device: &DeviceInfo| driver.scheme() == windlass::REAL_SCHEME && !device.simulated;
    DriverReport {
        scheme: driver.scheme().to_owned(),
        description: driver.description(),
        devices: devices
            .iter()
            .map(|device| Listed {
                uri: device.uri.clone(),
                name: device.name.clone(),
                architecture: device.architecture.clone(),
                uuid: device.uuid.clone(),
                library: device.library.clone(),
                simulated: device.simulated,
                real_gpu: real(device),
                check: None,
            })
            .collect(),
        problem,
        stopped: None,
    }
}
