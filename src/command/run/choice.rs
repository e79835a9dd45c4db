// SPDX-License-Identifier: MIT OR Apache-2.0
//! Chooses the device for a file.

use std::path::Path;

use crate::{Code, DEVICE_VARIABLE, Device, REAL_SCHEME};
use windlass_codeobject::{Bundle, EntryKind, Error, File, HostLibrary};

use crate::command::{
    escape,
    failure::{Failure, Outcome, Stage, note},
    input,
};

/// Opens the device that the command line or `WINDLASS_DEVICE` names. Else the host, for a file with code for the host
/// alone; else the first real GPU; else a simulated GPU that the file has code for. A host or simulated GPU that was
/// not named is announced on standard error.
pub(crate) fn open(named: Option<&str>, path: &Path, file: Result<&File<'_>, &Error>) -> Outcome<Device> {
    let open = |uri: &str| crate::open(uri).map_err(|error| Failure::open(uri, &error));
    if let Some(uri) = named {
        return open(uri);
    }
    if let Some(uri) = std::env::var_os(DEVICE_VARIABLE).filter(|uri| !uri.is_empty()) {
        return crate::default_device().map_err(|error| Failure::open(&uri.to_string_lossy(), &error));
    }
    // No device that this function chooses runs anything else.
    let file = file.map_err(|error| {
        Failure::input(format!("{}: {}", escape::path(path), escape::line(&error.to_string())))
    })?;
    if let Some(uri) = host(file) {
        note(&format!("the file has code for the host alone: running on {uri}"));
        return open(uri);
    }
    let listed = crate::registry().driver(REAL_SCHEME).and_then(|driver| driver.enumerate());
    // `hip://` lists a simulated GPU only if the user named its library.
    let devices = listed.unwrap_or_default();
    if let Some(device) = devices.iter().find(|device| !device.simulated).or(devices.first()) {
        return open(&device.uri);
    }
    let device = simulated(path, file)?;
    note(&format!("no real GPU (`windlass devices` says why): running on {}, simulated", device.info().uri));
    Ok(device)
}

/// The URI of the host as a device, if the file has kernels for this machine and no code for any GPU.
fn host(file: &File<'_>) -> Option<&'static str> {
    const URI: &str = "local://";
    if !input::targets(file).is_empty() {
        return None;
    }
    let devices = crate::registry().driver("local").and_then(|driver| driver.enumerate()).ok()?;
    let is_for_host = |bundle: &Bundle<'_>| {
        bundle.entries().iter().enumerate().any(|(index, entry)| {
            *entry.kind() == EntryKind::Host
                && bundle
                    .with_image(index, |image| {
                        HostLibrary::parse(image).is_ok_and(|library| library.has_kernels())
                    })
                    .unwrap_or(false)
        })
    };
    let fits = devices.iter().any(input::runs_host_code) && file.bundles().iter().any(is_for_host);
    fits.then_some(URI)
}

/// A simulated GPU for a target that the file holds.
fn simulated(path: &Path, file: &File<'_>) -> Outcome<Device> {
    let nothing =
        |why: String| Failure::absent(format!("no GPU here, and {why}; name a device by --device URI"));
    let default = crate::open("hip-sim://");
    if let Err(error) = &default
        && error.code() == Code::InvalidArgument
    {
        return Err(Failure::hal(Stage::Open, error));
    }
    // If the file has code for several simulated GPUs, prefer the default one.
    let default = default.ok().filter(|device| serves(device, file));
    if let Some(processor) = default.as_ref().and_then(|device| device.info().architecture.split(':').next())
        && let Ok(device) = crate::open(&format!("hip-sim://{processor}"))
    {
        return Ok(device);
    }
    let mut problem = String::new();
    for target in input::targets(file) {
        let processor = target.split(':').next().unwrap_or_default();
        match crate::open(&format!("hip-sim://{processor}")) {
            Ok(device) if serves(&device, file) => return Ok(device),
            Ok(_) => {}
            Err(error) => problem = format!(" ({})", error.message()),
        }
    }
    // The file does not name the processors that its generic code fits.
    match crate::open("hip-sim://") {
        Ok(device) if serves(&device, file) => Ok(device),
        Ok(device) => Err(nothing(format!(
            "{} has code for {} only, which {}, simulated, cannot run",
            escape::path(path),
            input::targets(file).join(", "),
            device.info().architecture
        ))),
        Err(error) if problem.is_empty() => Err(nothing(error.message().to_owned())),
        Err(_) => Err(nothing(format!("no simulated one fits{problem}"))),
    }
}

fn serves(device: &Device, file: &File<'_>) -> bool {
    let Some(agent) = input::agent(device.info()) else { return false };
    file.bundles().iter().any(|bundle| bundle.select(&agent, &Default::default()).best.is_some())
}
