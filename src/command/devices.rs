// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass devices`: the devices of each driver, or the reason why a driver has none.

use clap::Args;
use serde::Serialize;
use windlass::{DeviceInfo, driver::Driver};
use windlass_codeobject::TargetId;

use super::{
    failure::{Failure, Outcome},
    input, output,
};

/// Options of `devices`.
#[derive(Args)]
pub(crate) struct Devices {
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Fail with exit code 3 unless there is a real GPU of this target; simulated GPUs do not count
    #[arg(long, value_name = "TARGET")]
    require: Option<String>,
}

/// A driver and its devices.
#[derive(Serialize)]
struct DriverReport {
    scheme: String,
    description: String,
    devices: Vec<Listed>,
    /// Why the driver has no device.
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

#[derive(Serialize)]
struct Listed {
    uri: String,
    name: String,
    architecture: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    uuid: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    library: Option<String>,
    simulated: bool,
    real_gpu: bool,
}

impl Devices {
    /// Lists the devices and checks `--require`.
    pub(crate) fn run(self) -> Outcome {
        let required =
            self.require.as_deref().map(|text| input::parse_target("--require", text)).transpose()?;
        let sources: Vec<_> = windlass::registry().drivers().map(|driver| look(driver.as_ref())).collect();
        if self.json {
            output::write_json(&sources)?;
        } else {
            output::write(&sources.iter().map(DriverReport::text).collect::<Vec<_>>().join("\n"))?;
        }
        let Some(required) = required else { return Ok(()) };
        let real: Vec<_> =
            sources.iter().flat_map(|source| &source.devices).filter(|device| device.real_gpu).collect();
        if real.iter().any(|device| serves(&device.architecture, &required)) {
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
        Err(Failure::absent(format!(
            "no real GPU of target {required}: {there}; a simulated GPU does not count"
        )))
    }
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
            })
            .collect(),
        problem,
    }
}

impl DriverReport {
    fn text(&self) -> String {
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
        }
        if let Some(problem) = &self.problem {
            text.push_str(&format!("  none: {}\n", problem.replace('\n', "\n    ")));
        }
        text
    }
}
