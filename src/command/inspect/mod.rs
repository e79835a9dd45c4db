// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass inspect`: the content of a file, and which part of it each device would get.

mod describe;
mod group;
mod host;
mod report;
mod simulated;
mod text;

use std::path::PathBuf;

use clap::Args;
use windlass::DeviceInfo;
use windlass_codeobject::{File, Options, TargetId};

use super::{
    escape,
    failure::{Failure, Outcome},
    input, output,
};
use describe::Describe;
use report::{Choice, DeviceReport, KpackReport, Report, TargetReport};

/// Options of `inspect`.
#[derive(Args)]
pub(crate) struct Inspect {
    /// A code object, a fat binary (compressed or not), a host object, library or executable with one, an archive of
    /// objects, a kpack archive, a module of IREE, or a wheel with any of these
    file: PathBuf,
    /// Show which entries this device would get, and why not the others; by default for every device of this machine
    #[arg(long, value_name = "URI")]
    device: Option<String>,
    /// Show which entries a GPU of this target would get, such as gfx942:sramecc+:xnack-, and why not the others; can
    /// be repeated, and needs no device
    #[arg(long, value_name = "TARGET")]
    target: Vec<String>,
    /// Let devices also choose code of another processor of the same ISA-compatible family if there is no better
    #[arg(long)]
    compat: bool,
    /// Show every kernel and symbol of every entry, and every reason
    #[arg(long)]
    all: bool,
    /// Print JSON, which holds everything
    #[arg(long)]
    json: bool,
}

impl Inspect {
    /// Prints the report.
    pub(crate) fn run(self) -> Outcome {
        let targets: Vec<TargetId> =
            self.target.iter().map(|text| input::parse_target("--target", text)).collect::<Outcome<_>>()?;
        if self.file.is_dir() {
            return Err(Failure::input(format!(
                "cannot read {}: it is a folder; `windlass audit` examines the files of folders",
                escape::path(&self.file)
            )));
        }
        let devices = self.devices()?;
        let input = input::open(&self.file)?;
        let file = input::file(&input)?;
        let mut options = Options::default();
        options.compatible_families = self.compat;
        let mut describe = Describe::new(file.bundles());
        let report = Report {
            file: self.file.display().to_string(),
            kind: file.kind().to_string(),
            size: input.bytes().len(),
            bundles: file.bundles().iter().map(|bundle| describe.bundle(bundle)).collect(),
            iree_executables: file.iree_executables().iter().map(describe::iree).collect(),
            kpack_references: file
                .kpack_references()
                .iter()
                .map(|reference| KpackReport {
                    name: reference.name.clone(),
                    search_paths: reference.search_paths.clone(),
                })
                .collect(),
            problems: file.problems().iter().map(ToString::to_string).collect(),
            targets: targets
                .iter()
                .map(|target| TargetReport {
                    target: target.to_string(),
                    choices: choose(target, &file, &options),
                })
                .collect(),
            devices: devices.iter().filter_map(|device| describe_device(device, &file, &options)).collect(),
        };
        if self.json {
            return output::write_json(&report);
        }
        let detail = text::Detail { all: self.all, reasons: self.all || self.device.is_some() };
        output::write(&report.text(detail))
    }

    fn devices(&self) -> Outcome<Vec<DeviceInfo>> {
        match &self.device {
            Some(uri) => {
                let device = windlass::open(uri).map_err(|error| Failure::open(uri, &error))?;
                let info = device.info().clone();
                if input::agent(&info).is_none() && !input::runs_host_code(&info) {
                    return Err(Failure::input(format!("{uri} is no GPU, so no entry can be chosen for it")));
                }
                Ok(vec![info])
            }
            None if !self.target.is_empty() => Ok(Vec::new()),
            // `windlass devices` reports devices that cannot be listed.
            None => Ok(windlass::registry()
                .drivers()
                .flat_map(|driver| driver.enumerate().unwrap_or_default())
                .collect()),
        }
    }
}

/// The entries that a device would get. `None` for a device that is no GPU, and for the host if the file has no
/// kernels for hosts.
fn describe_device(device: &DeviceInfo, file: &File<'_>, options: &Options) -> Option<DeviceReport> {
    let choices = match input::agent(device) {
        Some(agent) => choose(&agent, file, options),
        None if input::runs_host_code(device) && host::is_in(file.bundles()) => {
            file.bundles().iter().map(host::choose).collect()
        }
        None => return None,
    };
    Some(DeviceReport {
        uri: device.uri.clone(),
        architecture: device.architecture.clone(),
        simulated: device.simulated,
        choices,
    })
}

fn choose(agent: &TargetId, file: &File<'_>, options: &Options) -> Vec<Choice> {
    let choice = |bundle: &windlass_codeobject::Bundle<'_>| {
        let selection = bundle.select(agent, options);
        Choice {
            bundle: bundle.index(),
            entry: selection.best,
            // The library's error names an option of the library; name the command's instead.
            verdicts: selection
                .verdicts
                .iter()
                .map(|verdict| verdict.to_string().replace("`Options::compatible_families`", "--compat"))
                .collect(),
        }
    };
    file.bundles().iter().map(choice).collect()
}
