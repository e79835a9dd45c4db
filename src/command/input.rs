// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads the input file and finds its code.

use std::{
    fs,
    io::{self, Read},
    path::Path,
};

use crate::DeviceInfo;
use windlass_codeobject::{
    Bundle, CodeObject, Entry, EntryTarget, Error, File, Input, Options, Selection, TargetId, Verdict,
};

use super::{
    escape,
    failure::{Failure, Outcome, note},
};

/// The size limit of input files in bytes, far above any library of kernels.
pub(crate) const LONGEST: u64 = 4 << 30;

/// The bytes of a file.
pub(crate) fn read(path: &Path) -> Outcome<Vec<u8>> {
    read_at_most(path, LONGEST)
        .map_err(|error| Failure::input(format!("cannot read {}: {error}", escape::path(path))))
}

/// The bytes of a file of at most `most` bytes. A device or pipe is read no further than that.
pub(crate) fn read_at_most(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let too_long = || io::Error::other(format!("it has more than {most} bytes"));
    let file = fs::File::open(path)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(length as usize).map_err(io::Error::other)?;
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_long()) } else { Ok(bytes) }
}

/// Reads a file with its companions: kpack archives beside it, unpacked members of a wheel.
pub(crate) fn open(path: &Path) -> Outcome<Input> {
    Input::open(path, &Options::default()).map_err(|error| unreadable(&error))
}

/// Opens a file with its companions, to read each part when it is needed.
pub(crate) fn open_in_place(path: &Path) -> Outcome<Input> {
    Input::open_in_place(path, &Options::default()).map_err(|error| unreadable(&error))
}

/// Fails if the file of [`open_in_place`] changed.
pub(crate) fn check(input: &Input) -> Outcome {
    input.check().map_err(|error| unreadable(&error))
}

fn unreadable(error: &Error) -> Failure {
    Failure::input(escape::line(&error.to_string()))
}

/// The bundles of a file with AMD GPU code.
pub(crate) fn file(input: &Input) -> Outcome<File<'_>> {
    file_until(input, |_| false)
}

/// The bundles of a file with AMD GPU code, up to the first for which `is_last` returns true.
pub(crate) fn file_until<'a>(
    input: &'a Input,
    is_last: impl FnMut(&Bundle<'a>) -> bool,
) -> Outcome<File<'a>> {
    input.file_until(&Options::default(), is_last).map_err(|error| match error {
        // It names the file.
        Error::Read { .. } => unreadable(&error),
        _ => Failure::input(format!("{}: {}", escape::path(input.path()), escape::line(&error.to_string()))),
    })
}

/// The bundle of that number, or all bundles without a number.
pub(crate) fn bundles<'f, 'a>(
    path: &Path,
    file: &'f File<'a>,
    number: Option<usize>,
) -> Outcome<&'f [Bundle<'a>]> {
    let all = file.bundles();
    let Some(number) = number else { return Ok(all) };
    match all.iter().position(|bundle| bundle.index() == number) {
        Some(position) => Ok(&all[position..=position]),
        None => {
            let have = count(all.len(), "bundle", "bundles");
            Err(Failure::input(format!(
                "--bundle {number}: {} has {have}, numbered from 0",
                escape::path(path)
            )))
        }
    }
}

/// A number with its noun.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { many })
}

/// The features of target ids. Source: LLVM's AMDGPUUsage, "Target ID".
const FEATURES: [&str; 2] = ["sramecc", "xnack"];

/// A target from the command line: a target id, an ISA name, or the id of an entry as `inspect` lists it. An unknown
/// processor may be newer than this program or a typing error, so it is accepted with a warning.
pub(crate) fn parse_target(option: &str, text: &str) -> Outcome<TargetId> {
    let kinds = ["hip-", "hipv4-", "openmp-"];
    let triple = kinds.iter().find_map(|kind| text.strip_prefix(kind)).filter(|rest| rest.starts_with("amd"));
    match triple.unwrap_or(text).parse::<TargetId>() {
        Ok(target) if target.processor().starts_with("gfx") => {
            if !target.is_known() {
                let processor = target.processor();
                note(&format!("warning: {option}: {processor} is an unknown processor; check its spelling"));
            }
            if let Some((feature, _)) = target.features().find(|(name, _)| !FEATURES.contains(name)) {
                return Err(Failure::input(format!(
                    "{option}: `{text}`: no target has a feature {feature}; there are {}",
                    FEATURES.join(" and ")
                )));
            }
            Ok(target)
        }
        Ok(_) => Err(Failure::input(format!(
            "{option}: `{text}` names no target: it is no processor; write it like gfx942 or gfx942:sramecc+:xnack-"
        ))),
        Err(error) => Err(Failure::input(format!("{option}: {error}"))),
    }
}

/// The target of a device; `None` if the device is no GPU.
pub(crate) fn agent(device: &DeviceInfo) -> Option<TargetId> {
    device.architecture.parse().ok().filter(|target: &TargetId| target.processor().starts_with("gfx"))
}

/// Whether a device loads shared objects with kernels for this machine.
pub(crate) fn runs_host_code(device: &DeviceInfo) -> bool {
    let format = windlass_codeobject::HostMachine::current().map(|machine| format!("elf-{machine}"));
    format.is_some_and(|format| device.executable_formats.contains(&format))
}

/// The distinct targets of a file's GPU entries, in the order of the file.
pub(crate) fn targets(file: &File<'_>) -> Vec<String> {
    let mut targets = Vec::new();
    for entry in file.bundles().iter().flat_map(|bundle| bundle.entries()) {
        if let EntryTarget::Gpu(target) = entry.target() {
            let target = target.to_string();
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
    }
    targets
}

/// A code object that fits a GPU.
pub(crate) struct Fitting {
    /// The number of the code object's bundle in the file.
    pub(crate) bundle: usize,
    /// The bytes of the code object.
    pub(crate) image: Vec<u8>,
    /// The parsed code object.
    pub(crate) code: CodeObject,
}

/// The code objects of a file that fit a GPU, at most one of each bundle. If none fits, the error gives the reason for
/// each entry.
pub(crate) fn fitting(path: &Path, file: &File<'_>, agent: &TargetId) -> Outcome<Vec<Fitting>> {
    let mut found = Vec::new();
    let mut refused = String::new();
    for bundle in file.bundles() {
        let selection = bundle.select(agent, &Options::default());
        let Some(entry) = selection.best else {
            refused.push_str(&refusals(bundle, &selection));
            continue;
        };
        let wrong = |error: Error| {
            Failure::input(format!(
                "{}, bundle {}, entry {entry}: {}",
                escape::path(path),
                bundle.index(),
                escape::line(&error.to_string())
            ))
        };
        let image = bundle.extract(entry).map_err(wrong)?;
        let code = CodeObject::parse(&image).map_err(wrong)?;
        found.push(Fitting { bundle: bundle.index(), image, code });
    }
    if found.is_empty() {
        let targets = targets(file);
        return Err(Failure::input(format!(
            "{} holds no code for {agent}; it has {}{refused}",
            escape::path(path),
            if targets.is_empty() { "none for any GPU".to_owned() } else { targets.join(", ") },
        )));
    }
    Ok(found)
}

/// A line for each entry of a bundle, with the reason why the entry does not fit.
pub(crate) fn refusals(bundle: &Bundle<'_>, selection: &Selection) -> String {
    let entries = bundle.entries().iter().zip(&selection.verdicts);
    let line = |(entry, verdict): (&Entry, &Verdict)| {
        format!(
            "\n  bundle {}, {}: {}",
            bundle.index(),
            escape::line(&entry.id_text()),
            escape::line(&verdict.reason)
        )
    };
    entries.map(line).collect()
}

/// A list of names, cut after the first dozen.
pub(crate) fn names<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 12;
    let all: Vec<_> = names.into_iter().map(|name| format!("`{}`", escape::line(name))).collect();
    match all.len() {
        0 => "none".to_owned(),
        count if count > SHOWN => format!("{} and {} more", all[..SHOWN].join(", "), count - SHOWN),
        _ => all.join(", "),
    }
}
