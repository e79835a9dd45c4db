// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shared objects with kernels for the host: their content, and which of them this machine gets.

use std::rc::Rc;

use windlass_codeobject::{
    Binding, Bundle, Entry, EntryKind, EntryTarget, HostKernel, HostLibrary, HostMachine, HostParameter,
    HostParameterKind,
};

use super::{
    describe::symbol,
    report::{ArgumentReport, Choice, CodeReport, EntryReport, KernelReport, Told},
};

/// Describes a host ELF with kernels. `None` for one without.
pub(super) fn describe(image: &[u8], report: &mut EntryReport) {
    report.content = "ELF of the host".to_owned();
    let library = match HostLibrary::parse(image) {
        Ok(library) if library.has_kernels() => library,
        Err(error) if HostLibrary::may_have_kernels(image) => {
            return report.problems.push(format!("its kernels for the host cannot be read: {error}"));
        }
        _ => return,
    };
    report.content = format!("shared object for {}", library.machine());
    let rejected = library.rejected().iter().map(|kernel| format!("{}: {}", kernel.name, kernel.reason));
    report.problems.extend(rejected);
    let wanted = library.undefined().filter(|symbol| symbol.binding != Binding::Weak);
    let code = CodeReport {
        kernels: library.kernels().iter().map(kernel).collect(),
        functions: library.functions().map(symbol).collect(),
        variables: library.variables().chain(library.constants()).map(symbol).collect(),
        undefined: wanted.map(|symbol| symbol.name.clone()).collect(),
        not_simulated: None,
    };
    report.code = Told { code: Rc::new(code), elsewhere: false };
}

fn kernel(kernel: &HostKernel) -> KernelReport {
    KernelReport {
        name: kernel.name.clone(),
        kind: "normal",
        arguments: kernel.parameters.iter().map(argument).collect(),
        argument_bytes: kernel.argument_size,
        workgroup_size: kernel.workgroup_size,
        max_workgroup_threads: kernel.max_workgroup_threads,
        local_memory: kernel.local_memory_size,
        scratch: None,
        vgprs: None,
        sgprs: None,
        wave_size: None,
    }
}

fn argument(parameter: &HostParameter) -> ArgumentReport {
    let kind = match parameter.kind {
        HostParameterKind::Buffer => "buffer",
        _ => "value",
    };
    ArgumentReport {
        name: parameter.name.clone(),
        kind: kind.to_owned(),
        offset: parameter.offset,
        size: parameter.size,
        access: None,
    }
}

/// Whether any entry holds kernels for a host of any machine.
pub(super) fn is_in(bundles: &[Bundle<'_>]) -> bool {
    bundles.iter().any(|bundle| libraries(bundle).any(|(_, library)| library.is_ok()))
}

/// The entry of a bundle that this machine gets, and the reasons against the others.
pub(super) fn choose(bundle: &Bundle<'_>) -> Choice {
    let other = |entry: &Entry| match entry.target() {
        EntryTarget::Gpu(target) => format!("refused: it is for {target}"),
        _ => "refused: it is no code for a host".to_owned(),
    };
    let mut verdicts: Vec<String> = bundle.entries().iter().map(other).collect();
    let mut chosen = None;
    for (index, library) in libraries(bundle) {
        verdicts[index] = match library {
            Err(reason) => format!("refused: {reason}"),
            Ok(machine) if Some(machine) != HostMachine::current() => format!("refused: it is for {machine}"),
            Ok(machine) if chosen.is_none() => {
                chosen = Some(index);
                format!("exact {machine}")
            }
            Ok(_) => "fits, but another fits as well and comes first".to_owned(),
        };
    }
    Choice { bundle: bundle.index(), mode: None, entry: chosen, verdicts }
}

/// The entries for hosts, each with its machine, or a reason why it cannot be used.
fn libraries<'b>(bundle: &'b Bundle<'_>) -> impl Iterator<Item = (usize, Result<HostMachine, String>)> + 'b {
    let hosts = bundle.entries().iter().enumerate().filter(|(_, entry)| *entry.kind() == EntryKind::Host);
    hosts.map(|(index, entry)| {
        let library = match entry.size() {
            0 => Err("it is empty".to_owned()),
            _ => bundle
                .with_image(index, HostLibrary::parse)
                .and_then(|library| library)
                .map_err(|e| e.to_string()),
        };
        let library = library.and_then(|library| match library.has_kernels() {
            true => Ok(library.machine()),
            false => Err("it describes no kernels".to_owned()),
        });
        (index, library)
    })
}
