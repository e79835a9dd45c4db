// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the shared objects in files: a file is a shared object, or a bundle with host entries.

use std::borrow::Cow;

use windlass_codeobject::{
    Bundle, EntryKind, File, Format, HostKernel, HostLibrary, HostMachine, HostParameterKind, Options,
};
use windlass_hal::{Error, FunctionInfo, Parameter, ParameterKind, Result};

/// A shared object for this machine.
pub(crate) struct Part<'a> {
    /// The name for messages.
    pub(crate) name: String,
    pub(crate) bytes: Cow<'a, [u8]>,
    pub(crate) library: HostLibrary,
}

/// The shared objects of the files. `NOT_FOUND` describes the contents of a file without one.
pub(crate) fn select<'a>(files: &[&'a [u8]]) -> Result<Vec<Part<'a>>> {
    let mut parts = Vec::new();
    for (index, bytes) in files.iter().enumerate() {
        let piece = if files.len() > 1 { format!("piece {index}") } else { String::new() };
        let found = of_file(bytes, &piece);
        parts.extend(if piece.is_empty() { found } else { found.map_err(|error| error.context(piece)) }?);
    }
    for part in &parts {
        if let Some(rejected) = part.library.rejected().first() {
            let more = match part.library.rejected().len() - 1 {
                0 => String::new(),
                more => format!(", and {more} more kernels are described wrongly"),
            };
            return Err(Error::invalid_argument(format!(
                "{} describes the kernel `{}` wrongly: {}{more}; compile it with windlass_kernel.h",
                part.name, rejected.name, rejected.reason
            )));
        }
    }
    if parts.iter().all(|part| part.library.kernels().is_empty()) {
        let names: Vec<_> = parts.iter().map(|part| part.name.as_str()).collect();
        return Err(Error::not_found(format!(
            "no kernels in this file: {} has none that `windlass_kernel_NAME` describes; {ADVICE}",
            names.join(", ")
        )));
    }
    Ok(parts)
}

const ADVICE: &str = "compile kernels for the host with include/windlass_kernel.h (cc -shared -fPIC), give images of Rust \
                      libraries (windlass_local::Library::image), or open hip:// or hip-sim://gfx942 for GPU code";

fn of_file<'a>(bytes: &'a [u8], piece: &str) -> Result<Vec<Part<'a>>> {
    let machine = HostMachine::current();
    let itself = HostLibrary::parse(bytes);
    if let Ok(library) = &itself
        && Some(library.machine()) == machine
        && library.has_kernels()
    {
        let name = if piece.is_empty() { "the shared object" } else { piece };
        return Ok(vec![Part {
            name: name.to_owned(),
            bytes: Cow::Borrowed(bytes),
            library: library.clone(),
        }]);
    }
    let file = File::parse(bytes, &Options::default());
    let mut found = Vec::new();
    let mut parts = Vec::new();
    for bundle in file.as_ref().map(File::bundles).unwrap_or_default() {
        parts.extend(of_bundle(bundle, piece, &mut found));
    }
    if parts.iter().any(|part| !part.library.kernels().is_empty()) || !parts.is_empty() && !piece.is_empty() {
        return Ok(parts);
    }
    let own = machine.map_or_else(|| std::env::consts::ARCH.to_owned(), |machine| machine.to_string());
    match (itself, file) {
        (Ok(library), _) if Some(library.machine()) == machine => {
            let name = if piece.is_empty() { "the shared object" } else { piece };
            Ok(vec![Part { name: name.to_owned(), bytes: Cow::Borrowed(bytes), library }])
        }
        (Ok(library), _) => {
            found.insert(0, format!("a shared object for {}", library.machine()));
            Err(nothing(&own, &found))
        }
        (Err(_), Ok(file)) => {
            found.splice(0..0, file.problems().iter().map(ToString::to_string));
            Err(nothing(&own, &found))
        }
        // The file is ELF code for a host, so the error of reading it says more than the list of its contents.
        (Err(error), Err(_)) if matches!(Format::of(bytes), Some(Format::Elf | Format::OtherElf)) => {
            Err(Error::invalid_argument(format!("the shared object cannot be loaded: {error}")))
        }
        (Err(_), Err(error)) => Err(Error::invalid_argument(format!("{error}; {ADVICE}"))),
    }
}

fn nothing(own: &str, found: &[String]) -> Error {
    let found = if found.is_empty() { "it holds no code at all".to_owned() } else { found.join("; ") };
    Error::not_found(format!("no code for {own} in this file: {found}; {ADVICE}"))
}

/// The first shared object of a bundle that describes kernels, or else the first shared object. Appends the fault of
/// each other entry to `refused`.
fn of_bundle<'a>(bundle: &Bundle<'a>, piece: &str, refused: &mut Vec<String>) -> Option<Part<'a>> {
    let mut other = None;
    for (index, entry) in bundle.entries().iter().enumerate() {
        let place = format!("bundle {} entry {}", bundle.index(), entry.id_text());
        if *entry.kind() != EntryKind::Host {
            let empty = if entry.size() == 0 { " (empty)" } else { "" };
            refused.push(format!("{place}{empty}"));
            continue;
        }
        match of_entry(bundle, index) {
            Ok((bytes, library)) => {
                let is_described = library.has_kernels();
                if !is_described {
                    refused.push(format!("{place} (a shared object that describes no kernels)"));
                }
                let name = if piece.is_empty() { place } else { format!("{piece}, {place}") };
                let part = Part { name, bytes, library };
                if is_described {
                    return Some(part);
                }
                other.get_or_insert(part);
            }
            Err(reason) => refused.push(format!("{place} ({reason})")),
        }
    }
    other
}

/// The shared object of a host entry, or the reason why it does not run on this machine.
fn of_entry<'a>(bundle: &Bundle<'a>, index: usize) -> Result<(Cow<'a, [u8]>, HostLibrary), String> {
    let entry = &bundle.entries()[index];
    if entry.size() == 0 {
        return Err("empty".to_owned());
    }
    let own = HostMachine::current();
    // The machine is the second word of `host-x86_64-unknown-linux-gnu-`. The spelling of the rest varies.
    let id = entry.id_text();
    let machine = id.split('-').nth(1).and_then(HostMachine::from_name);
    if let Some(machine) = machine.filter(|machine| Some(*machine) != own) {
        return Err(format!("for {machine}"));
    }
    let bytes = bundle.image(index).map_err(|error| error.to_string())?;
    let library = HostLibrary::parse(&bytes).map_err(|error| error.to_string())?;
    if Some(library.machine()) != own {
        return Err(format!("a shared object for {}", library.machine()));
    }
    Ok((bytes, library))
}

/// The kernel's parameters and needs as the HAL describes them.
pub(crate) fn reflect(kernel: &HostKernel) -> FunctionInfo {
    let mut info = FunctionInfo::default();
    info.name.clone_from(&kernel.name);
    let parameters = kernel.parameters.iter().map(|parameter| {
        let kind = match parameter.kind {
            HostParameterKind::Buffer => ParameterKind::Buffer,
            _ => ParameterKind::Value,
        };
        Parameter::new(kind, parameter.offset, parameter.size).named(parameter.name.clone())
    });
    info.parameters = parameters.collect();
    info.argument_size = kernel.argument_size;
    info.workgroup_size = kernel.workgroup_size;
    info.max_workgroup_threads = kernel.max_workgroup_threads;
    info.static_local_memory = kernel.local_memory_size;
    info
}
