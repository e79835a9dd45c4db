// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass devices`: the devices of each driver, or the reason why a driver has none.

mod check;
mod child;
mod report;
mod verbose;

use std::time::{Duration, Instant};

use crate::{DeviceInfo, driver::Driver};
use clap::Args;
use windlass_codeobject::TargetId;

use super::{
    child::Stopped,
    failure::{Failure, Outcome},
    input, output,
};
use child::{Answers, Limits, Questions};
use report::{DriverReport, Listed, Verdict};

/// The time for a driver to list its devices.
const LIMIT: Duration = Duration::from_secs(10);

/// Why there is no real GPU. `None` if there is one, and also if its driver hangs or dies: such a GPU is broken, not absent.
pub(crate) fn no_real_gpu() -> Option<String> {
    let driver = match crate::registry().driver(crate::REAL_SCHEME) {
        Ok(driver) => driver,
        Err(error) => return Some(error.message().to_owned()),
    };
    let report =
        Answers::start(driver.as_ref(), Questions::default()).read(Limits { answer: LIMIT, end: None });
    if report.stopped.is_some() || !report.devices.is_empty() {
        return None;
    }
    report.problem
}

/// The device of a run that names none: the first real GPU, else the simulated one, and then why there is no real one. A
/// HIP library that the user named is never replaced.
pub(crate) fn default_device() -> (String, Option<String>) {
    let real = (format!("{}://", crate::REAL_SCHEME), None);
    let simulated = "hip-sim";
    if names_library() || crate::registry().driver(simulated).is_err() {
        return real;
    }
    let Some(problem) = no_real_gpu() else { return real };
    (format!("{simulated}://"), Some(problem.lines().next().unwrap_or_default().to_owned()))
}

/// Whether the environment names a HIP library.
pub(crate) fn names_library() -> bool {
    std::env::var_os("WINDLASS_HIP_LIBRARY").is_some_and(|library| !library.is_empty())
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
    /// Also open each device, and print its processors, their facts and the links between them
    #[arg(long)]
    verbose: bool,
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
    /// The device that this process opens, for the command that started it
    #[arg(long, hide = true)]
    uri: Option<String>,
}

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.001..=86400.0).contains(seconds));
    seconds.map(Duration::from_secs_f64).ok_or_else(|| "seconds are 0.001 to 86400".to_owned())
}

impl Devices {
    /// Whether this process tells another one of its HIP calls.
    pub(crate) fn tells_calls(&self) -> bool {
        self.driver.is_some() || self.uri.is_some()
    }

    fn questions(&self) -> Questions {
        Questions { verbose: self.verbose, checks: self.check }
    }

    /// Lists the devices, and checks `--check` and `--require`.
    pub(crate) fn run(self) -> Outcome {
        if let Some(scheme) = &self.driver {
            let driver =
                crate::registry().driver(scheme).map_err(|error| Failure::input(error.to_string()))?;
            child::answer(driver.as_ref(), self.questions());
            return Ok(());
        }
        if let Some(uri) = &self.uri {
            child::answer_one(uri, self.questions());
            return Ok(());
        }
        let required =
            self.require.as_deref().map(|text| input::parse_target("--require", text)).transpose()?;
        let sources = ask_all(self.questions(), Limits { answer: self.timeout, end: None });
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

/// The answers of all drivers, which are asked at the same time.
fn ask_all(questions: Questions, limits: Limits) -> Vec<DriverReport> {
    let drivers = crate::registry().drivers();
    let asked: Vec<_> = drivers.map(|driver| Answers::start(driver.as_ref(), questions)).collect();
    asked.into_iter().map(|answers| answers.read(limits)).collect()
}

/// The devices of all drivers and the one that is named, each with its check, for `windlass report`. All of it ends after
/// the limit.
pub(crate) fn survey(named: Option<&str>, limit: Duration) -> (serde_json::Value, Outcome) {
    let limits = Limits { answer: LIMIT.min(limit), end: Instant::now().checked_add(limit) };
    let questions = Questions { checks: true, ..Questions::default() };
    let one = named.map(|uri| (uri, Answers::start_one(uri, questions).read(limits)));
    let mut sources = ask_all(questions, limits);
    let mut verdict = Ok(());
    if let Some((uri, report)) = one {
        if report.stopped.is_none() && report.devices.is_empty() {
            let problem = report.problem.as_deref().unwrap_or("no device");
            verdict = Err(Failure::absent(format!("{uri}: {problem}")));
        }
        sources.insert(0, report);
    }
    let verdict = judge(&sources).and(verdict);
    (serde_json::to_value(&sources).unwrap_or_default(), verdict)
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
    DriverReport {
        devices: devices.iter().map(|device| listed(driver.scheme(), device)).collect(),
        problem,
        ..DriverReport::of(driver.scheme(), driver.description())
    }
}

/// The device of a URI, or why it cannot be opened.
fn opened(uri: &str) -> DriverReport {
    let scheme = uri.split_once("://").map_or(uri, |(scheme, _)| scheme);
    let (devices, problem) = match crate::open(uri) {
        Ok(device) => {
            // The check opens the same URI, with its keys.
            let device = Listed { uri: uri.to_owned(), ..listed(scheme, device.info()) };
            (vec![device], None)
        }
        Err(error) => (Vec::new(), Some(error.message().to_owned())),
    };
    DriverReport { devices, problem, ..DriverReport::of(scheme, format!("the device {uri}")) }
}

fn listed(scheme: &str, device: &DeviceInfo) -> Listed {
    Listed {
        uri: device.uri.clone(),
        name: device.name.clone(),
        architecture: device.architecture.clone(),
        uuid: device.uuid.clone(),
        library: device.library.clone(),
        simulated: device.simulated,
        real_gpu: scheme == crate::REAL_SCHEME && !device.simulated,
        check: None,
    }
}
