// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the kernel, and checks its arguments.

use std::path::Path;

use crate::{Code, Device, Executable, Function, FunctionInfo, ParameterKind, Result};
use windlass_codeobject::File;

use super::spec::Spec;
use crate::command::{
    escape,
    failure::{Failure, Outcome, Stage},
    input::{self, Fitting, names},
};

/// Loads the code of the file that fits the device and holds the kernel. Without a name, the file must hold exactly
/// one kernel.
pub(crate) fn load(
    device: &Device,
    path: &Path,
    bytes: &[u8],
    file: Option<&File<'_>>,
    name: Option<&str>,
) -> Outcome<Function> {
    let (Some(agent), Some(file)) = (input::agent(device.info()), file) else {
        // Other formats than ROCm's go to the driver unparsed.
        return load_image(device, bytes, name);
    };
    let fitting = input::fitting(path, file, &agent)?;
    let held = |fitting: &Fitting| {
        fitting.code.kernels().iter().map(|kernel| kernel.name.clone()).collect::<Vec<_>>()
    };
    let all: Vec<_> = fitting.iter().flat_map(held).collect();
    let name = match (name, all.as_slice()) {
        (Some(name), _) => name,
        (None, [only]) => only,
        (None, _) => return Err(which(&all)),
    };
    let Some(holder) = fitting.iter().find(|fitting| fitting.code.kernel(name).is_ok()) else {
        let rejected =
            fitting.iter().flat_map(|fitting| fitting.code.rejected()).find(|kernel| kernel.name == name);
        return Err(Failure::input(match rejected {
            Some(kernel) => {
                format!(
                    "kernel `{name}` of {} cannot be used: {}",
                    escape::path(path),
                    escape::line(&kernel.reason)
                )
            }
            None => format!(
                "no kernel `{name}` in {} for {agent}; it has {}",
                escape::path(path),
                names(all.iter().map(String::as_str))
            ),
        }));
    };
    let executable = match load_executable(device, &holder.image) {
        // The image is for the first GPU. Another one of the device may need other code of the file.
        Err(error)
            if error.code() == Code::NotFound
                && device.limits().physical_devices > 1
                && !bytes.is_empty() =>
        {
            load_executable(device, bytes)
        }
        loaded => loaded,
    };
    let function = executable.and_then(|executable| executable.function(name));
    function
        .map_err(|error| Failure::hal(Stage::Submit, &error))
        .map_err(|failure| failure.during(format!("{}, bundle {}", escape::path(path), holder.bundle)))
}

fn load_image(device: &Device, image: &[u8], name: Option<&str>) -> Outcome<Function> {
    let wrong = |error| Failure::hal(Stage::Submit, &error);
    let executable = load_executable(device, image).map_err(wrong)?;
    let functions: Vec<_> = executable.functions().collect();
    match (name, functions.as_slice()) {
        (Some(name), _) => executable.function(name).map_err(wrong),
        (None, [only]) => Ok(only.clone()),
        (None, _) => {
            Err(which(&functions.iter().map(|function| function.name().to_owned()).collect::<Vec<_>>()))
        }
    }
}

fn load_executable(device: &Device, image: &[u8]) -> Result<Executable> {
    // SAFETY: the user of this command vouches for the kernel, as for any program that they run.
    unsafe { device.load_executable(image) }
}

fn which(kernels: &[String]) -> Failure {
    Failure::input(format!(
        "name the kernel by --kernel; the file has {}",
        names(kernels.iter().map(String::as_str))
    ))
}

/// Checks the number of arguments, and that each fits its parameter.
pub(crate) fn check(info: &FunctionInfo, arguments: &[Spec]) -> Outcome {
    let signature = info.signature();
    if arguments.len() != info.parameters.len() {
        return Err(Failure::input(format!(
            "`{}` takes {}, and the command line has {} by --arg: {signature}",
            info.name,
            input::count(info.parameters.len(), "argument", "arguments"),
            arguments.len(),
        )));
    }
    for (index, (parameter, argument)) in info.parameters.iter().zip(arguments).enumerate() {
        let problem = match (parameter.kind, argument) {
            (ParameterKind::Buffer, Spec::Buffer(_) | Spec::Null) => continue,
            (ParameterKind::Buffer, Spec::Value(_)) => {
                "it takes a buffer or null, not a value; give a shape, such as 1xi32=5".to_owned()
            }
            (ParameterKind::Value, Spec::Value(bytes)) if bytes.len() == parameter.size as usize => continue,
            (ParameterKind::Value, Spec::Value(bytes)) => format!(
                "it takes a value of {} bytes, not of {}; {}",
                parameter.size,
                bytes.len(),
                spellings(parameter.size)
            ),
            (ParameterKind::Value, _) => format!(
                "it takes a value of {} bytes, not a pointer; {}",
                parameter.size,
                spellings(parameter.size)
            ),
            _ => "it takes something that this command cannot give".to_owned(),
        };
        return Err(Failure::input(format!("argument {index}: {problem}: {signature}")));
    }
    Ok(())
}

/// The spellings of a value of a size, for messages.
fn spellings(size: u32) -> String {
    match size {
        1 => "write i8=5 or ui8=5".to_owned(),
        2 => "write i16=5, f16=0.5 or bf16=0.5".to_owned(),
        4 => "write i32=5 or f32=0.5".to_owned(),
        8 => "write i64=5 or f64=0.5".to_owned(),
        size => format!("write bytes= and {} hexadecimal digits", u64::from(size) * 2),
    }
}
