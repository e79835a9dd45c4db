// SPDX-License-Identifier: MIT OR Apache-2.0
//! Describes a bundle: its entries, and the code of each.

use std::{collections::HashMap, rc::Rc, time::Instant};

use windlass_codeobject::{
    Access, Arg, ArgKind, Bundle, Entry, EntryTarget, Format, IreeBinding, IreeExecutable, IreeExport,
    Kernel, KernelKind, Symbol, TargetId,
};

use super::report::{
    ArgumentReport, BindingReport, BundleReport, CodeReport, EntryReport, ExportReport, IreeReport,
    KernelReport, SymbolReport, Told,
};
use super::{host, simulated};
use crate::command::{
    code,
    ranges::{Bytes, Owner, Ranges},
};

/// Describes the bundles of a file one after the other. Content that entries share is described once.
pub(super) struct Describe {
    ranges: Ranges,
    /// The content of each entry that was read.
    known: HashMap<Owner, Known>,
    /// What a loader finds in each entry that was looked into.
    loaded: HashMap<Owner, Rc<Loaded>>,
    /// The shared content of entries without code, of which there may be tens of thousands.
    nothing: Rc<CodeReport>,
}

/// What a loader finds in an entry.
#[derive(Default)]
pub(super) struct Loaded {
    /// The target that the ELF flags state.
    pub(super) target: Option<TargetId>,
    /// Why a device refuses to load it.
    pub(super) problem: Option<String>,
}

struct Known {
    content: String,
    code_object_version: Option<u32>,
    code: Rc<CodeReport>,
}

impl Describe {
    /// Starts a description of all bundles of a file.
    pub(super) fn new(bundles: &[Bundle<'_>]) -> Self {
        Self {
            ranges: Ranges::new(bundles),
            known: HashMap::new(),
            loaded: HashMap::new(),
            nothing: Rc::default(),
        }
    }

    /// What a loader finds in an entry of a bundle that was described. `None` for entries without code for GPUs.
    pub(super) fn loaded(&self, bundle: &Bundle<'_>, index: usize) -> Option<&Loaded> {
        self.loaded.get(&(bundle.index(), index)).map(Rc::as_ref)
    }

    /// Describes one bundle of the file.
    pub(super) fn bundle(&mut self, bundle: &Bundle<'_>) -> BundleReport {
        let places: Vec<Bytes> =
            (0..bundle.entries().len()).map(|index| self.ranges.take(bundle, index)).collect();
        // The file caches the unpacked bytes, so the entries below are not unpacked again.
        let decode_ms = if bundle.is_compressed() { decode(bundle, &places) } else { None };
        let unpacked_size = bundle.unpacked_size();
        let ratio = unpacked_size.filter(|_| bundle.is_compressed() && bundle.stored_size() > 0);
        let entries = bundle.entries().iter().zip(places).enumerate();
        BundleReport {
            index: bundle.index(),
            member: bundle.member().map(str::to_owned),
            container: bundle.container().to_string(),
            offset: bundle.offset(),
            stored_size: bundle.stored_size(),
            unpacked_size,
            ratio: ratio.map(|size| size as f64 / bundle.stored_size() as f64),
            decode_ms,
            entries: entries.map(|(index, (entry, bytes))| self.entry(bundle, index, entry, bytes)).collect(),
        }
    }
}

/// The metadata of an IREE executable.
pub(super) fn iree(executable: &IreeExecutable<'_>) -> IreeReport {
    let binding =
        |binding: IreeBinding| BindingReport { read_only: binding.read_only, indirect: binding.indirect };
    let export = |export: &IreeExport<'_>| ExportReport {
        name: export.name(),
        workgroup_size: export.workgroup_size(),
        bindings: export.bindings().map(binding).collect(),
        constants: export.constant_count(),
    };
    IreeReport {
        format: executable.format().to_string(),
        first_bundle: executable.bundles().start,
        bundles: executable.bundles().len(),
        exports: executable.exports().iter().map(export).collect(),
    }
}

/// Unpacks all entries that are to be read, and gives the time in milliseconds. `None` if unpacking fails or no entry
/// is to be read.
fn decode(bundle: &Bundle<'_>, places: &[Bytes]) -> Option<f64> {
    let mut entries: Vec<(usize, &Entry)> = bundle.entries().iter().enumerate().collect();
    entries.retain(|(index, entry)| entry.size() > 0 && places.get(*index) == Some(&Bytes::New));
    entries.retain(|(_, entry)| entry.problem().is_none());
    entries.sort_by_key(|(_, entry)| entry.offset().saturating_add(entry.size()));
    if entries.is_empty() {
        return None;
    }
    // Listing the bundle has unpacked its table, which for a small bundle is nearly all of it. Start over to time the
    // whole.
    bundle.forget_unpacked();
    let start = Instant::now();
    entries.into_iter().try_for_each(|(index, _)| bundle.with_image(index, |_| ())).ok()?;
    Some(start.elapsed().as_secs_f64() * 1e3)
}

impl Describe {
    fn entry(&mut self, bundle: &Bundle<'_>, index: usize, entry: &Entry, bytes: Bytes) -> EntryReport {
        let mut report = EntryReport {
            index,
            id: entry.id_text(),
            target: None,
            size: entry.size(),
            content: "empty".to_owned(),
            code_object_version: None,
            same_as: None,
            same_as_bundle: None,
            code: Told { code: Rc::clone(&self.nothing), elsewhere: false },
            problems: Vec::new(),
            warnings: Vec::new(),
        };
        match entry.target() {
            EntryTarget::Gpu(target) => report.target = Some(target.to_string()),
            EntryTarget::Unknown(why) => report.problems.push(format!("its id is not understood: {why}")),
            _ => {}
        }
        if let Some(problem) = entry.problem() {
            report.content = "unreadable".to_owned();
            report.problems.push(problem.to_owned());
        } else if entry.size() > 0 {
            match bytes {
                Bytes::New => self.read(bundle, index, &mut report),
                Bytes::SameAs(first) => {
                    if let Some(loaded) = self.loaded.get(&first).map(Rc::clone) {
                        self.loaded.insert((bundle.index(), index), loaded);
                    }
                    report.same_as = Some(first.1);
                    report.same_as_bundle = (first.0 != bundle.index()).then_some(first.0);
                    if let Some(known) = self.known.get(&first) {
                        report.content.clone_from(&known.content);
                        report.code_object_version = known.code_object_version;
                        report.code = Told { elsewhere: true, code: Rc::clone(&known.code) };
                    }
                }
                Bytes::Overlapping => {
                    report.content = "not looked into".to_owned();
                    let shared = "it shares bytes with other entries, and was not read: together they have more bytes than the file";
                    report.problems.push(shared.to_owned());
                    let loaded = Loaded { target: None, problem: Some(shared.to_owned()) };
                    self.loaded.insert((bundle.index(), index), Rc::new(loaded));
                }
            }
        }
        report
    }

    fn read(&mut self, bundle: &Bundle<'_>, index: usize, report: &mut EntryReport) {
        let loaded = match bundle.with_image(index, |image| contents(image, report)) {
            Ok(loaded) => loaded,
            Err(error) => {
                report.content = "unreadable".to_owned();
                report.problems.push(error.to_string());
                Some(Loaded { target: None, problem: Some(error.to_string()) })
            }
        };
        if let Some(loaded) = loaded {
            self.loaded.insert((bundle.index(), index), Rc::new(loaded));
        }
        let known = Known {
            content: report.content.clone(),
            code_object_version: report.code_object_version,
            code: Rc::clone(&report.code.code),
        };
        self.known.insert((bundle.index(), index), known);
    }
}

/// Describes the bytes of an entry. `None` if a loader of code for GPUs finds nothing in them.
fn contents(image: &[u8], report: &mut EntryReport) -> Option<Loaded> {
    const AMDGPU: [u8; 2] = [224, 0];
    report.content = match Format::of(image) {
        Some(Format::Elf | Format::OtherElf) if image.get(18..20) == Some(&AMDGPU) => {
            return Some(code(image, report));
        }
        Some(Format::Elf | Format::OtherElf) => {
            host::describe(image, report);
            return None;
        }
        Some(Format::Bitcode) => "LLVM bitcode",
        Some(Format::SpirV) => "SPIR-V",
        _ if std::str::from_utf8(image.get(..64).unwrap_or(image)).is_ok_and(is_text) => "text",
        _ => "unknown",
    }
    .to_owned();
    if report.content == "unknown" && report.target.is_some() {
        report.problems.push("its bytes begin no code object, bitcode or text".to_owned());
    }
    None
}

fn is_text(text: &str) -> bool {
    text.chars().all(|c| !c.is_control() || c.is_whitespace())
}

fn code(image: &[u8], report: &mut EntryReport) -> Loaded {
    report.content = "code object".to_owned();
    let code::Read { code, problem } = code::read(image);
    report.problems.extend(problem.clone());
    let Some(code) = code else { return Loaded { target: None, problem } };
    report.code_object_version = code.code_object_version();
    if let Some(version) = report.code_object_version {
        report.content = format!("code object v{version}");
    }
    let described = CodeReport {
        kernels: code.kernels().iter().map(kernel).collect(),
        functions: code.functions().map(symbol).collect(),
        variables: code.variables().map(symbol).collect(),
        undefined: code.undefined().map(|symbol| symbol.name.clone()).collect(),
        not_simulated: simulated::not_executed(image),
    };
    let rejected = code.rejected().iter().map(|kernel| format!("{}: {}", kernel.name, kernel.reason));
    report.problems.extend(rejected);
    report.warnings = code.warnings().to_vec();
    report.code = Told { code: Rc::new(described), elsewhere: false };
    let problem = problem.or_else(|| code::not_launchable(&code));
    Loaded { target: Some(code.target().clone()), problem }
}

pub(super) fn symbol(symbol: &Symbol) -> SymbolReport {
    SymbolReport {
        name: symbol.name.clone(),
        address: symbol.address,
        size: symbol.size,
        exported: symbol.exported,
    }
}

fn kernel(kernel: &Kernel) -> KernelReport {
    KernelReport {
        name: kernel.name.clone(),
        kind: match kernel.kind {
            KernelKind::Init => "init",
            KernelKind::Fini => "fini",
            _ => "normal",
        },
        arguments: kernel.explicit_args().map(argument).collect(),
        argument_bytes: kernel.kernarg_size,
        workgroup_size: kernel.reqd_workgroup_size,
        max_workgroup_threads: kernel.max_flat_workgroup_size,
        local_memory: kernel.group_segment_size,
        scratch: Some(kernel.private_segment_size),
        vgprs: Some(kernel.vgpr_count),
        sgprs: Some(kernel.sgpr_count),
        wave_size: Some(kernel.wavefront_size),
    }
}

fn argument(argument: &Arg) -> ArgumentReport {
    let access = match argument.actual_access.or(argument.access) {
        Some(Access::ReadOnly) => Some("read"),
        Some(Access::WriteOnly) => Some("write"),
        Some(Access::ReadWrite) => Some("read and write"),
        _ => argument.is_const.then_some("read"),
    };
    ArgumentReport {
        name: argument.name.clone(),
        kind: kind(&argument.kind),
        offset: argument.offset,
        size: argument.size,
        access,
    }
}

fn kind(kind: &ArgKind) -> String {
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
