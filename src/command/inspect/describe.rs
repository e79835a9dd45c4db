// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reading a bundle: its entries, and what is in the code of each.

use std::{collections::HashMap, rc::Rc, time::Instant};

use windlass_codeobject::{
    Access, Arg, ArgKind, Bundle, Callee, Calls, CodeObject, Entry, EntryTarget, Error, File, IreeBinding,
    IreeExecutable, IreeExport, Kernel, KernelKind, Options, Symbol,
};

use super::report::{
    ArgumentReport, BindingReport, BundleReport, CodeReport, EntryReport, ExportReport, IreeReport,
    KernelReport, SymbolReport, Told,
};
use super::simulated;
use crate::command::{
    input::count,
    ranges::{Bytes, Ranges},
};

/// How many bytes the lists of what kernels may call can have of any file, beside as many as its code has.
const CALLEES: usize = 1 << 22;
/// What an item of such a list takes beside its letters.
const CALLEE: usize = 64;

/// How many bytes the lists of callees may still have. Each of a thousand kernels may call the same thousand functions,
/// so that the lists of a small file are long.
pub(super) struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(CALLEES)
    }
}

/// What is in a bundle of the file `bytes`.
pub(super) fn bundle(bytes: &[u8], listed: &Bundle<'_>, room: &mut Room) -> BundleReport {
    // Listing a bundle decodes its table, which for a small one is nearly all of it: for the time to be that of the
    // whole, the bundle is read anew.
    let start = Instant::now();
    let fresh = if listed.is_compressed() { read_anew(bytes, listed) } else { None };
    let start = fresh.as_ref().map_or_else(Instant::now, |_| start);
    let bundle = fresh.as_ref().and_then(|file| file.bundles().first()).unwrap_or(listed);
    // What is decoded here is kept for the entries, which are read next.
    let decoded = bundle.is_compressed() && decode(bundle).is_ok();
    let decode_ms = decoded.then(|| start.elapsed().as_secs_f64() * 1e3);
    let unpacked_size = bundle.unpacked_size();
    let ratio = unpacked_size.filter(|_| bundle.is_compressed() && bundle.stored_size() > 0);
    let mut ranges = Ranges::of(bundle);
    let mut entries: Vec<EntryReport> = Vec::with_capacity(bundle.entries().len());
    for (index, each) in bundle.entries().iter().enumerate() {
        let report = entry(bundle, index, each, &mut ranges, &entries, room);
        entries.push(report);
    }
    BundleReport {
        index: listed.index(),
        member: listed.member().map(str::to_owned),
        container: listed.container().to_string(),
        offset: listed.offset(),
        stored_size: listed.stored_size(),
        unpacked_size,
        ratio: ratio.map(|size| size as f64 / listed.stored_size() as f64),
        decode_ms,
        entries,
    }
}

/// What an executable of IREE says beside its code.
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

/// A file of this bundle alone; nothing where its bytes do not stand for themselves.
fn read_anew<'a>(bytes: &'a [u8], listed: &Bundle<'_>) -> Option<File<'a>> {
    let start = usize::try_from(listed.offset()).ok()?;
    let size = usize::try_from(listed.stored_size()).ok()?;
    let file = File::parse(bytes.get(start..start.checked_add(size)?)?, &Options::default()).ok()?;
    let [bundle] = file.bundles() else { return None };
    let same = bundle.container() == listed.container() && bundle.entries() == listed.entries();
    same.then_some(file)
}

/// Decodes all entries.
fn decode(bundle: &Bundle<'_>) -> Result<(), Error> {
    let mut entries: Vec<(usize, &Entry)> = bundle.entries().iter().enumerate().collect();
    entries.retain(|(_, entry)| entry.size() > 0 && entry.problem().is_none());
    entries.sort_by_key(|(_, entry)| entry.offset().saturating_add(entry.size()));
    entries.into_iter().try_for_each(|(index, _)| bundle.with_image(index, |_| ()))
}

fn entry(
    bundle: &Bundle<'_>,
    index: usize,
    entry: &Entry,
    ranges: &mut Ranges,
    before: &[EntryReport],
    room: &mut Room,
) -> EntryReport {
    let mut report = EntryReport {
        index,
        id: entry.id_text(),
        target: None,
        size: entry.size(),
        content: "empty".to_owned(),
        code_object_version: None,
        same_as: None,
        code: Told::default(),
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
        match ranges.take(index, entry) {
            Bytes::New => {
                let read = bundle.with_image(index, |image| contents(image, &mut report, room));
                if let Err(error) = read {
                    report.content = "unreadable".to_owned();
                    report.problems.push(error.to_string());
                }
            }
            Bytes::SameAs(first) => {
                report.same_as = Some(first);
                if let Some(first) = before.get(first) {
                    report.content.clone_from(&first.content);
                    report.code_object_version = first.code_object_version;
                    report.code = Told { elsewhere: true, ..first.code.clone() };
                }
            }
            Bytes::Overlapping => {
                report.content = "not looked into".to_owned();
                let shared = "it shares bytes with other entries, and was not looked into: all of them have more bytes than their bundle";
                report.problems.push(shared.to_owned());
            }
        }
    }
    report
}

fn contents(image: &[u8], report: &mut EntryReport, room: &mut Room) {
    const AMDGPU: [u8; 2] = [224, 0];
    report.content = match image {
        [0x7f, b'E', b'L', b'F', ..] if image.get(18..20) == Some(&AMDGPU) => {
            return code(image, report, room);
        }
        [0x7f, b'E', b'L', b'F', ..] => "ELF of the host",
        [b'B', b'C', 0xc0, 0xde, ..] => "LLVM bitcode",
        [3, 2, 0x23, 7, ..] => "SPIR-V",
        _ if std::str::from_utf8(image.get(..64).unwrap_or(image)).is_ok_and(is_text) => "text",
        _ => "unknown",
    }
    .to_owned();
    if report.content == "unknown" && report.target.is_some() {
        report.problems.push("its bytes begin no code object, bitcode or text".to_owned());
    }
}

fn is_text(text: &str) -> bool {
    text.chars().all(|c| !c.is_control() || c.is_whitespace())
}

fn code(image: &[u8], report: &mut EntryReport, room: &mut Room) {
    report.content = "code object".to_owned();
    let code = match CodeObject::parse(image) {
        Ok(code) => code,
        Err(error) => return report.problems.push(error.to_string()),
    };
    report.code_object_version = code.code_object_version();
    if let Some(version) = report.code_object_version {
        report.content = format!("code object v{version}");
    }
    let calls = code.calls(image);
    let names = code.functions().map(|function| (function.address, function.name.as_str())).collect();
    room.0 = room.0.saturating_add(image.len());
    let describe = |each| kernel(each, room.take(|| may_call(&code, &calls, &names, each)));
    let described = CodeReport {
        kernels: code.kernels().iter().map(describe).collect(),
        functions: code.functions().map(symbol).collect(),
        variables: code.variables().map(symbol).collect(),
        undefined: code.undefined().map(|symbol| symbol.name.clone()).collect(),
        not_simulated: simulated::not_executed(image),
    };
    let rejected = code.rejected().iter().map(|kernel| format!("{}: {}", kernel.name, kernel.reason));
    report.problems.extend(rejected);
    report.warnings = warnings(&code, &calls);
    let cut = described.kernels.iter().filter(|kernel| kernel.may_call.is_none()).count();
    if cut > 0 {
        report.warnings.push(format!(
            "what {cut} of its {} may call is not listed: the lists would be longer than the code",
            count(described.kernels.len(), "kernel", "kernels")
        ));
    }
    report.code = Told { code: Rc::new(described), elsewhere: false };
}

impl Room {
    /// A list, where there is room for it; after the first for which there is none, no other is made.
    fn take(&mut self, list: impl FnOnce() -> Vec<String>) -> Option<Vec<String>> {
        if self.0 == 0 {
            return None;
        }
        let list = list();
        let size = list.iter().map(|name| name.len() + CALLEE).sum::<usize>();
        let left = self.0.checked_sub(size);
        self.0 = left.unwrap_or(0);
        left.map(|_| list)
    }
}

fn warnings(code: &CodeObject, calls: &Calls) -> Vec<String> {
    let mut warnings = code.warnings().to_vec();
    if !calls.is_complete() {
        let cut = "its executable segments share bytes, so not all of its code was looked at: what its kernels may call is listed in part only";
        warnings.push(cut.to_owned());
    }
    warnings
}

fn symbol(symbol: &Symbol) -> SymbolReport {
    SymbolReport {
        name: symbol.name.clone(),
        address: symbol.address,
        size: symbol.size,
        exported: symbol.exported,
    }
}

/// The names of what a kernel may call; an address where the symbol is gone.
fn may_call(code: &CodeObject, calls: &Calls, names: &HashMap<u64, &str>, kernel: &Kernel) -> Vec<String> {
    let name = |callee| match callee {
        Callee::At(address) if address == kernel.entry_address => None,
        Callee::At(address) => {
            Some(names.get(&address).map_or_else(|| format!("{address:#x}"), |name| (*name).to_owned()))
        }
        Callee::Undefined(symbol) => code.symbols().get(symbol).map(|symbol| symbol.name.clone()),
        _ => None,
    };
    calls.reached_from(kernel.entry_address).into_iter().filter_map(name).collect()
}

fn kernel(kernel: &Kernel, may_call: Option<Vec<String>>) -> KernelReport {
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
        scratch: kernel.private_segment_size,
        may_call,
        vgprs: kernel.vgpr_count,
        sgprs: kernel.sgpr_count,
        wave_size: kernel.wavefront_size,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_that_were_not_all_followed_are_warned_of() {
        let image = include_bytes!("../../../cts/kernels/bundles/saxpy.gfx942.co");
        let code = CodeObject::parse(image).expect("a code object");
        assert_eq!(warnings(&code, &code.calls(image)), [""; 0]);
        let incomplete = Calls::default();
        assert!(!incomplete.is_complete());
        assert!(warnings(&code, &incomplete)[0].contains("in part only"));
    }

    #[test]
    fn lists_of_callees_end_where_their_room_does() {
        let mut room = Room(1000);
        let list = || vec!["f".repeat(236); 2];
        assert_eq!(room.take(list), Some(list()));
        assert_eq!(room.take(Vec::new), Some(Vec::new()));
        assert_eq!((room.take(list), room.0), (None, 0));
        assert_eq!(room.take(|| unreachable!("no list is made that has no room")), None);
    }
}
