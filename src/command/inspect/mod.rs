// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass inspect`: the content of a file, and which part of it each device would get.

mod describe;
mod group;
mod host;
mod report;
mod shared;
mod simulated;
mod text;

use std::path::PathBuf;

use crate::DeviceInfo;
use clap::Args;
use windlass_codeobject::{Bundle, File, Options, Selection, TargetId};

use super::{
    asked::{self, Asked},
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
    /// be repeated, and needs no device; a target without features stands for every mode of them, and `compat` means --compat
    #[arg(long, value_name = "TARGET,...", value_delimiter = ',')]
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
        let (targets, compat) = asked::targets("--target", &self.target)?;
        if self.file.is_dir() {
            return Err(Failure::input(format!(
                "cannot read {}: it is a folder; `windlass audit` examines the files of folders",
                escape::path(&self.file)
            )));
        }
        let devices = self.devices()?;
        let input = input::open_in_place(&self.file)?;
        let file = input::file(&input)?;
        let mut options = Options::default();
        options.compatible_families = self.compat || compat;
        let mut describe = Describe::new(file.bundles());
        let mut targets: Vec<_> = targets
            .into_iter()
            .map(|target| (TargetReport { target: target.to_string(), choices: Vec::new() }, target))
            .collect();
        let mut devices: Vec<_> = devices.iter().filter_map(|device| asking(device, &file)).collect();
        let mut bundles = Vec::new();
        // Each bundle is described and chosen from before the next one, while its bytes are unpacked.
        for bundle in file.bundles() {
            bundles.push(describe.bundle(bundle));
            let chooser = Chooser { options: &options, describe: &describe };
            for (report, target) in &mut targets {
                report.choices.extend(chooser.of_target(bundle, target));
            }
            for (report, agent) in &mut devices {
                report.choices.push(match agent {
                    Some(agent) => chooser.choice(bundle, None, &bundle.select(agent, &options)),
                    None => host::choose(bundle),
                });
            }
        }
        let report = Report {
            file: self.file.display().to_string(),
            kind: file.kind().to_string(),
            size: input.size(),
            bundles,
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
            targets: targets.into_iter().map(|(report, _)| report).collect(),
            devices: devices.into_iter().map(|(report, _)| report).collect(),
        };
        input::check(&input)?;
        if self.json {
            output::write_json(&report)?;
        } else {
            let detail = text::Detail { all: self.all, reasons: self.all || self.device.is_some() };
            output::write(&report.text(detail))?;
        }
        report.judge()
    }

    fn devices(&self) -> Outcome<Vec<DeviceInfo>> {
        match &self.device {
            Some(uri) => {
                let device = crate::open(uri).map_err(|error| Failure::open(uri, &error))?;
                let info = device.info().clone();
                if input::agent(&info).is_none() && !input::runs_host_code(&info) {
                    return Err(Failure::input(format!("{uri} is no GPU, so no entry can be chosen for it")));
                }
                Ok(vec![info])
            }
            None if !self.target.is_empty() => Ok(Vec::new()),
            // `windlass devices` reports devices that cannot be listed.
            None => Ok(crate::registry()
                .drivers()
                .flat_map(|driver| driver.enumerate().unwrap_or_default())
                .collect()),
        }
    }
}

/// The report on a device without its choices, and the device's target, which the host lacks. `None` for a device that is
/// no GPU, and for the host if the file has no kernels for hosts.
fn asking(device: &DeviceInfo, file: &File<'_>) -> Option<(DeviceReport, Option<TargetId>)> {
    let agent = input::agent(device);
    if agent.is_none() && !(input::runs_host_code(device) && host::is_in(file.bundles())) {
        return None;
    }
    let report = DeviceReport {
        uri: device.uri.clone(),
        architecture: device.architecture.clone(),
        simulated: device.simulated,
        choices: Vec::new(),
    };
    Some((report, agent))
}

/// Chooses entries of a bundle that was described.
struct Chooser<'c> {
    options: &'c Options,
    describe: &'c Describe,
}

impl Chooser<'_> {
    /// The entries that a target would get: one for all modes of the features that the target leaves open, or one for
    /// each mode if they differ.
    fn of_target(&self, bundle: &Bundle<'_>, target: &TargetId) -> Vec<Choice> {
        let elf_target = |index| self.describe.loaded(bundle, index).and_then(|loaded| loaded.target.clone());
        let asked = Asked::new(bundle, target, self.options, elf_target);
        let of_bundle: Vec<_> = asked
            .choices
            .iter()
            .map(|(mode, (_, selection))| self.choice(bundle, Some(mode), selection))
            .collect();
        let is_one = of_bundle.windows(2).all(|pair| pair[0].entry == pair[1].entry);
        let shown = if is_one { 1 } else { of_bundle.len() };
        let without_mode = |mut choice: Choice| {
            choice.mode = choice.mode.filter(|_| !is_one);
            choice
        };
        of_bundle.into_iter().take(shown).map(without_mode).collect()
    }

    /// A device gets no entry that it refuses to load.
    fn choice(&self, bundle: &Bundle<'_>, mode: Option<&String>, selection: &Selection) -> Choice {
        // The library's error names an option of the library; name the command's instead.
        let words = |text: String| text.replace("`compatible_families`", "--compat");
        let mut verdicts: Vec<_> =
            selection.verdicts.iter().map(|verdict| words(verdict.to_string())).collect();
        let loaded = |entry| self.describe.loaded(bundle, entry).and_then(|loaded| loaded.problem.as_ref());
        let problem = selection.best.and_then(|entry| Some((entry, loaded(entry)?)));
        if let Some((entry, problem)) = problem
            && let Some(verdict) = verdicts.get_mut(entry)
        {
            *verdict = format!("refused: it cannot be loaded: {problem}");
        }
        Choice {
            bundle: bundle.index(),
            mode: mode.cloned(),
            entry: selection.best.filter(|_| problem.is_none()),
            verdicts,
        }
    }
}
