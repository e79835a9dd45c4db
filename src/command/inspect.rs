// SPDX-License-Identifier: MIT OR Apache-2.0
//! `windlass inspect`: what is in a file, and which part of it each device would get.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;
use windlass::DeviceInfo;
use windlass_codeobject::{ArgKind, Bundle, CodeObject, Entry, EntryTarget, File, Kernel, Options};

use super::{
    failure::{Failure, Outcome, Stage},
    input, output,
};

/// Options of `inspect`.
#[derive(Args)]
pub(crate) struct Inspect {
    /// A code object, a fat binary (compressed or not), or a host object, library or executable with one
    file: PathBuf,
    /// Say what this device would get; without it, every device of this machine
    #[arg(long, value_name = "URI")]
    device: Option<String>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    file: String,
    kind: String,
    size: usize,
    bundles: Vec<BundleReport>,
    /// Parts of the file that could not be read.
    problems: Vec<String>,
    devices: Vec<DeviceReport>,
}

#[derive(Serialize)]
struct BundleReport {
    index: usize,
    container: String,
    offset: u64,
    stored_size: u64,
    unpacked_size: Option<u64>,
    entries: Vec<EntryReport>,
}

#[derive(Serialize)]
struct EntryReport {
    index: usize,
    id: String,
    target: Option<String>,
    size: u64,
    code_object_version: Option<u32>,
    kernels: Vec<KernelReport>,
    problems: Vec<String>,
}

#[derive(Serialize)]
struct KernelReport {
    name: String,
    arguments: Vec<ArgumentReport>,
    argument_bytes: u32,
    workgroup_size: Option<[u32; 3]>,
    max_workgroup_threads: u32,
    local_memory: u32,
    scratch: u32,
    vgprs: u32,
    sgprs: u32,
    wave_size: u32,
}

#[derive(Serialize)]
struct ArgumentReport {
    name: Option<String>,
    kind: String,
    offset: u32,
    size: u32,
}

#[derive(Serialize)]
struct DeviceReport {
    uri: String,
    architecture: String,
    simulated: bool,
    choices: Vec<Choice>,
}

#[derive(Serialize)]
struct Choice {
    bundle: usize,
    entry: Option<usize>,
    verdicts: Vec<String>,
}

impl Inspect {
    /// Prints the report.
    pub(crate) fn run(self) -> Outcome {
        let devices = self.devices()?;
        let bytes = input::read(&self.file)?;
        let file = input::parse(&self.file, &bytes)?;
        let report = Report {
            file: self.file.display().to_string(),
            kind: file.kind().to_string(),
            size: bytes.len(),
            bundles: file.bundles().iter().map(describe_bundle).collect(),
            problems: file.problems().iter().map(ToString::to_string).collect(),
            devices: devices.iter().filter_map(|device| choose(device, &file)).collect(),
        };
        if self.json { output::write_json(&report) } else { output::write(&report.text()) }
    }

    fn devices(&self) -> Outcome<Vec<DeviceInfo>> {
        match &self.device {
            Some(uri) => {
                let device = windlass::open(uri).map_err(|error| Failure::hal(Stage::Open, &error))?;
                let info = device.info().clone();
                if input::agent(&info).is_none() {
                    return Err(Failure::input(format!(
                        "{uri} is no GPU, so that no entry can be chosen for it"
                    )));
                }
                Ok(vec![info])
            }
            // Devices that cannot be listed are the business of `windlass devices`.
            None => Ok(windlass::registry()
                .drivers()
                .flat_map(|driver| driver.enumerate().unwrap_or_default())
                .collect()),
        }
    }
}

fn describe_bundle(bundle: &Bundle<'_>) -> BundleReport {
    let entries = bundle.entries().iter().enumerate();
    BundleReport {
        index: bundle.index(),
        container: bundle.container().to_string(),
        offset: bundle.offset(),
        stored_size: bundle.stored_size(),
        unpacked_size: bundle.unpacked_size(),
        entries: entries.map(|(index, entry)| describe_entry(bundle, index, entry)).collect(),
    }
}

fn describe_entry(bundle: &Bundle<'_>, index: usize, entry: &Entry) -> EntryReport {
    let mut report = EntryReport {
        index,
        id: entry.id_text(),
        target: None,
        size: entry.size(),
        code_object_version: None,
        kernels: Vec::new(),
        problems: entry.problem().map(str::to_owned).into_iter().collect(),
    };
    match entry.target() {
        EntryTarget::Gpu(target) => report.target = Some(target.to_string()),
        EntryTarget::Unknown(why) => report.problems.push(format!("its id is not understood: {why}")),
        _ => {}
    }
    if report.target.is_none() || entry.size() == 0 || entry.problem().is_some() {
        return report;
    }
    match bundle.with_image(index, CodeObject::parse).and_then(|code| code) {
        Ok(code) => {
            report.code_object_version = code.code_object_version();
            report.kernels = code.kernels().iter().map(describe_kernel).collect();
            report
                .problems
                .extend(code.rejected().iter().map(|kernel| format!("{}: {}", kernel.name, kernel.reason)));
            report.problems.extend(code.warnings().iter().cloned());
        }
        Err(error) => report.problems.push(error.to_string()),
    }
    report
}

fn describe_kernel(kernel: &Kernel) -> KernelReport {
    let arguments = kernel.explicit_args().map(|argument| ArgumentReport {
        name: argument.name.clone(),
        kind: describe_kind(&argument.kind),
        offset: argument.offset,
        size: argument.size,
    });
    KernelReport {
        name: kernel.name.clone(),
        arguments: arguments.collect(),
        argument_bytes: kernel.kernarg_size,
        workgroup_size: kernel.reqd_workgroup_size,
        max_workgroup_threads: kernel.max_flat_workgroup_size,
        local_memory: kernel.group_segment_size,
        scratch: kernel.private_segment_size,
        vgprs: kernel.vgpr_count,
        sgprs: kernel.sgpr_count,
        wave_size: kernel.wavefront_size,
    }
}

fn describe_kind(kind: &ArgKind) -> String {
    match kind {
        ArgKind::ByValue => "value",
        ArgKind::GlobalBuffer => "buffer",
        ArgKind::DynamicSharedPointer => "local memory",
        ArgKind::Sampler => "sampler",
        ArgKind::Image => "image",
        ArgKind::Pipe => "pipe",
        ArgKind::Queue => "queue",
        ArgKind::Other(name) => name,
        _ => "unknown",
    }
    .to_owned()
}

/// What a device would get of each bundle; `None` for a device that is no GPU.
fn choose(device: &DeviceInfo, file: &File<'_>) -> Option<DeviceReport> {
    let agent = input::agent(device)?;
    let choices = file.bundles().iter().map(|bundle| {
        let selection = bundle.select(&agent, &Options::default());
        Choice {
            bundle: bundle.index(),
            entry: selection.best,
            verdicts: selection.verdicts.iter().map(ToString::to_string).collect(),
        }
    });
    Some(DeviceReport {
        uri: device.uri.clone(),
        architecture: device.architecture.clone(),
        simulated: device.simulated,
        choices: choices.collect(),
    })
}

impl Report {
    fn text(&self) -> String {
        let mut text = format!(
            "{}: {}, {} bytes, {}\n",
            self.file,
            self.kind,
            self.size,
            count(self.bundles.len(), "bundle")
        );
        for bundle in &self.bundles {
            bundle.print(&mut text);
        }
        for problem in &self.problems {
            text.push_str(&format!("problem: {problem}\n"));
        }
        for device in &self.devices {
            device.print(&mut text);
        }
        text
    }
}

impl BundleReport {
    fn print(&self, text: &mut String) {
        let unpacked = self.unpacked_size.map(|size| format!(", {size} unpacked")).unwrap_or_default();
        text.push_str(&format!(
            "bundle {} at offset {:#x}: {}, {} bytes stored{unpacked}\n",
            self.index, self.offset, self.container, self.stored_size
        ));
        for entry in &self.entries {
            let version = entry
                .code_object_version
                .map(|version| format!(", code object v{version}"))
                .unwrap_or_default();
            text.push_str(&format!("  entry {}: {}, {} bytes{version}\n", entry.index, entry.id, entry.size));
            for kernel in &entry.kernels {
                kernel.print(text);
            }
            for problem in &entry.problems {
                text.push_str(&format!("    problem: {problem}\n"));
            }
        }
    }
}

impl KernelReport {
    fn print(&self, text: &mut String) {
        let arguments = self.arguments.iter().enumerate().map(|(index, argument)| {
            let name = argument.name.clone().unwrap_or_else(|| format!("#{index}"));
            match argument.kind.as_str() {
                "value" => format!("{name}: {} bytes", argument.size),
                kind => format!("{name}: {kind}"),
            }
        });
        let block = match self.workgroup_size {
            Some([x, y, z]) => format!("{x},{y},{z}"),
            None => format!("up to {}", self.max_workgroup_threads),
        };
        text.push_str(&format!(
            "    {}({})\n      block {block}, LDS {}, scratch {}, {} VGPRs, {} SGPRs, wave {}\n",
            self.name,
            arguments.collect::<Vec<_>>().join(", "),
            self.local_memory,
            self.scratch,
            self.vgprs,
            self.sgprs,
            self.wave_size,
        ));
    }
}

impl DeviceReport {
    fn print(&self, text: &mut String) {
        let simulated = if self.simulated { ", *simulated*" } else { "" };
        text.push_str(&format!("device {} ({}{simulated})\n", self.uri, self.architecture));
        for choice in &self.choices {
            let got = match choice.entry {
                Some(entry) => format!("gets entry {entry}"),
                None => "gets nothing".to_owned(),
            };
            text.push_str(&format!("  of bundle {} it {got}\n", choice.bundle));
            for (entry, verdict) in choice.verdicts.iter().enumerate() {
                text.push_str(&format!("    entry {entry}: {verdict}\n"));
            }
        }
    }
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
