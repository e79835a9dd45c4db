// SPDX-License-Identifier: MIT OR Apache-2.0
//! Joins the HIP driver and the simulator's HIP: `hip-sim://`.

use windlass_hip::{Found, Selector};
use windlass_simulator::{Options, OptionsError, Part, Simulator};

use crate::{Error, Parameters, Result, Uri};

/// The source of `hip-sim://`. Each opened device is a machine of its own and does not affect the others.
pub(crate) struct SimulatedHip;

/// The options of a machine: the URI outranks `WINDLASS_SIM`, which outranks the simulator's defaults.
const KEYS: &[&str] = &[
    "devices",
    "memory",
    "threads",
    "units",
    "seed",
    "hip",
    "without",
    "faults",
    "lds",
    "bounds",
    "uninitialised",
    "lock",
    "hardware_queues",
    "translate",
    "fail",
    "delay",
    "record",
    "replay",
];

impl windlass_hip::Source for SimulatedHip {
    fn description(&self) -> String {
        let parts: Vec<_> = Part::all().iter().map(Part::name).collect();
        format!("simulated AMD GPUs ({}), which run real code objects on the CPU", parts.join(", "))
    }

    fn open(&self, uri: &Uri, parameters: &Parameters<'_>) -> Result<Found> {
        // A number names a device of the default machine, as the driver lists them; other text is a target.
        let by_number = !uri.path().is_empty() && uri.path().bytes().all(|byte| byte.is_ascii_digit());
        let device = match by_number {
            true => Selector::from_path(uri.path())?,
            false => parameters.value("device")?.map_or(Selector::All, Selector::Ordinal),
        };
        let target = if by_number { "" } else { uri.path() };
        let given: Vec<_> =
            KEYS.iter().filter_map(|key| parameters.text(key).map(|value| (*key, value))).collect();
        let options =
            describe(target, &given, &environment()?).parse::<Options>().map_err(|error| wrong(&error))?;
        // A log that cannot be read or written is a wrong option, and memory that the system lacks is not.
        Simulator::check_files(&options).map_err(|error| Error::invalid_argument(error.to_string()))?;
        let simulator =
            Simulator::new(options).map_err(|error| Error::resource_exhausted(error.to_string()))?;
        Ok(Found::new(simulator.api(), device))
    }
}

/// The text of `WINDLASS_SIM`, checked so that an error names the variable.
fn environment() -> Result<String> {
    Options::from_environment().map_err(|error| wrong(&error).context("reading WINDLASS_SIM"))?;
    Ok(std::env::var("WINDLASS_SIM").unwrap_or_default())
}

fn wrong(error: &OptionsError) -> Error {
    Error::invalid_argument(error.to_string())
}

/// Spells a machine for the simulator. If a key is set several times, the last setting counts.
fn describe(target: &str, given: &[(&str, &str)], environment: &str) -> String {
    let (default_target, defaults) = environment.split_once('?').unwrap_or((environment, ""));
    let target = if target.is_empty() { default_target } else { target };
    // A list of targets says how many GPUs there are.
    let counts = target.contains(',');
    let is_given = |key: &str| given.iter().any(|(name, _)| *name == key) || counts && key == "devices";
    let key = |setting: &str| setting.split('=').next().unwrap_or_default().to_owned();
    let kept = defaults.split('&').filter(|setting| !is_given(&key(setting)));
    let settings = kept.map(str::to_owned).chain(given.iter().map(|(name, value)| format!("{name}={value}")));
    format!("{target}?{}", settings.collect::<Vec<_>>().join("&"))
}

#[cfg(test)]
mod tests {
    use windlass_simulator::Faults;

    use super::*;

    #[test]
    fn the_uri_outranks_the_variable() {
        let text = describe("", &[("seed", "9")], "gfx942?devices=2&seed=7");
        let options: Options = text.parse().unwrap();
        assert_eq!((options.devices, options.seed), (2, Some(9)));
        let listed = describe("gfx942,gfx90a,gfx908", &[], "gfx942?devices=2&seed=7");
        let options: Options = listed.parse().unwrap();
        assert_eq!((options.devices, options.seed), (3, Some(7)));
    }

    #[test]
    fn a_fault_costs_the_submission_unless_told_otherwise() {
        let faults = |given: &[(&str, &str)], environment: &str| {
            describe("gfx942", given, environment).parse::<Options>().unwrap().faults
        };
        assert_eq!(faults(&[], ""), Faults::Submission);
        assert_eq!(faults(&[], "gfx942?faults=sticky"), Faults::Sticky);
        assert_eq!(faults(&[("faults", "submission")], "gfx942?faults=sticky"), Faults::Submission);
        assert_eq!(faults(&[("faults", "sticky")], ""), Faults::Sticky);
    }

    #[test]
    fn every_option_of_the_simulator_is_a_key() {
        let message = "?no=1".parse::<Options>().unwrap_err().to_string();
        let known = message.rsplit("options are ").next().unwrap_or_default();
        assert_eq!(known.split(", ").collect::<Vec<_>>(), KEYS);
    }
}
