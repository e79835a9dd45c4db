// SPDX-License-Identifier: MIT OR Apache-2.0
//! The suite's kernels: compressed bundles, embedded in the crate so that out-of-tree drivers have them too.
//!
//! `cts/kernels/README.md` specifies each kernel with its arguments and its workgroup size. The bundles hold code for
//! GPUs and, from the same sources, for CPUs.

use std::borrow::Cow;

use windlass_hal::{Code, Device, Executable};

use crate::outcome::{Outcome, Stop};

/// A bundle of one module for every processor in [`PROCESSORS`] and every host in [`HOST_FORMATS`].
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) name: &'static str,
    pub(crate) bytes: &'static [u8],
}

macro_rules! modules {
    ($($name:ident = $file:literal;)*) => {$(
        pub(crate) const $name: Module = Module {
            name: $file,
            bytes: include_bytes!(concat!("../kernels/bundles/", $file)),
        };
    )*};
}

modules! {
    ARGUMENTS = "arguments.ccob";
    BINDINGS = "bindings.ccob";
    ENTRIES = "entries.ccob";
    FAULTS = "faults.ccob";
    FUNCTIONS = "functions.ccob";
    FIXED_BLOCK = "fixed_block.ccob";
    GLOBALS = "globals.ccob";
    LINK_CYCLE = "link_cycle.ccob";
    LINK_FUNCTION = "link_function.ccob";
    LINK_PROVIDER = "link_provider.ccob";
    LINK_USER = "link_user.ccob";
    ORDER = "order.ccob";
    POSITIONS = "positions.ccob";
    REDUCE = "reduce.ccob";
    SAXPY = "saxpy.ccob";
    SPIN = "spin.ccob";
    MATMUL = "matmul.ccob";
    HISTOGRAM = "histogram.ccob";
    VECTOR_ADD = "vector_add.ccob";
    VECTOR_ADD_GENERIC = "vector_add.generic.ccob";
    VECTOR_ADD_UNCOMPRESSED = "vector_add.hipfb";
    VECTOR_ADD_V1 = "vector_add.v1-zstd.ccob";
    VECTOR_ADD_V2_ZLIB = "vector_add.v2-zlib.ccob";
    VECTOR_ADD_V3 = "vector_add.v3-zstd.ccob";
}

/// A code object for one processor only. Every other processor must refuse it.
pub(crate) const VECTOR_ADD_GFX942: Module =
    Module { name: "vector_add.gfx942.co", bytes: include_bytes!("../kernels/bundles/vector_add.gfx942.co") };

/// The bundle of a module that `cts/kernels/README.md` specifies, for programs that dispatch the suite's kernels by
/// themselves, such as benchmarks: `vector_add`, `vector_add.generic` for generic targets, `bindings` for kernels that
/// differ in the number of their arguments only, `saxpy`, and those that test HIP itself: `entries`, `faults`, `globals`,
/// `order`, `positions` and `spin`. `None` for other modules.
pub fn bundle(module: &str) -> Option<&'static [u8]> {
    [BINDINGS, ENTRIES, FAULTS, GLOBALS, ORDER, POSITIONS, SAXPY, SPIN, VECTOR_ADD, VECTOR_ADD_GENERIC]
        .iter()
        .find(|known| known.name.strip_suffix(".ccob") == Some(module))
        .map(|known| known.bytes)
}

/// The processors for which every bundle has code.
pub(crate) const PROCESSORS: [&str; 8] =
    ["gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1201"];

/// The generic targets for which every bundle has code too: the starts of the processors' names that each covers, and the
/// number of letters behind them.
const GENERIC: [(&str, &[&str], usize); 5] = [
    ("gfx9-4-generic", &["gfx94", "gfx95"], 1),
    ("gfx10-1-generic", &["gfx101"], 1),
    ("gfx10-3-generic", &["gfx103"], 1),
    ("gfx11-generic", &["gfx11"], 2),
    ("gfx12-generic", &["gfx120"], 1),
];

/// The generic target in every bundle that covers a processor.
pub(crate) fn generic_for(processor: &str) -> Option<&'static str> {
    let has =
        |start: &&str, more: usize| processor.strip_prefix(start).is_some_and(|rest| rest.len() == more);
    let covers = |&&(_, starts, more): &&(&str, &[&str], usize)| starts.iter().any(|start| has(start, more));
    GENERIC.iter().find(covers).map(|(target, ..)| *target)
}

/// The processor of an architecture such as `gfx942:sramecc+:xnack-`.
pub(crate) fn processor(architecture: &str) -> &str {
    architecture.split(':').next().unwrap_or(architecture)
}

/// The format of the suite's own kernels for GPUs in [`DeviceInfo::executable_formats`]. A device that reads code objects
/// only up to version 4 names `hsaco-v4`; the suite's kernels for gfx900, gfx906, gfx908 and gfx90a have that version.
///
/// [`DeviceInfo::executable_formats`]: windlass_hal::DeviceInfo::executable_formats
pub const FORMAT: &str = "hsaco";

/// The formats of the suite's own kernels for CPUs: shared objects with the ABI of `windlass_kernel.h`, in the same
/// bundles. A device that names one of these formats must take bundles too.
pub const HOST_FORMATS: [&str; 2] = ["elf-x86_64", "elf-aarch64"];

/// Whether a device takes the host code of the suite's bundles.
fn is_host(device: &Device) -> bool {
    device.info().executable_formats.iter().any(|format| HOST_FORMATS.contains(&format.as_str()))
}

/// Whether a device takes code for GPUs, or does not state its formats.
pub(crate) fn is_gpu(device: &Device) -> bool {
    let formats = &device.info().executable_formats;
    formats.is_empty()
        || formats.iter().any(|format| format == FORMAT || code_object_version(format).is_some())
}

/// The newest version of code objects that a format such as `hsaco-v4` stands for.
fn code_object_version(format: &str) -> Option<u32> {
    format.strip_prefix(FORMAT)?.strip_prefix("-v")?.parse().ok()
}

/// The version of the code objects that the bundles hold for a processor, if they do. It is old enough for every HIP that
/// knows the processor, or the generic target.
fn version_for(processor: &str) -> Option<u32> {
    if !PROCESSORS.contains(&processor) {
        return generic_for(processor).map(|_| 6);
    }
    Some(if processor.starts_with("gfx90") { 4 } else { 5 })
}

/// Skips the case if the device states that it cannot read code objects as new as the suite's.
fn check_version(device: &Device) -> Outcome {
    let info = device.info();
    let own = processor(&info.architecture);
    let Some(version) = version_for(own) else { return Ok(()) };
    let takes = |format: &String| code_object_version(format).is_none_or(|newest| version <= newest);
    if info.executable_formats.is_empty() || info.executable_formats.iter().any(takes) {
        return Ok(());
    }
    Err(Stop::skip(format!(
        "the suite's kernels for {own} are code objects v{version}, and the device takes {} ({}): a newer HIP reads \
         them, and -mcode-object-version makes older ones",
        info.executable_formats.join(" or "),
        info.library.as_deref().unwrap_or("which library it is on is not told"),
    )))
}

/// The suite's kernels in another format, from the driver that runs this format.
///
/// The suite requests a module by its file name without extensions, such as `vector_add`. The executable must have
/// the functions, parameters, workgroup sizes and results that `cts/kernels/README.md` specifies. The suite uses
/// these kernels on a device whose [`executable_formats`](windlass_hal::DeviceInfo::executable_formats) name the
/// format, but neither [`FORMAT`] nor one of [`HOST_FORMATS`].
#[derive(Clone, Copy, Debug)]
pub struct Kernels {
    format: &'static str,
    find: fn(&str) -> Option<Vec<u8>>,
}

impl Kernels {
    /// Kernels of one format, with the function that finds the bytes of a module.
    pub const fn new(format: &'static str, find: fn(&str) -> Option<Vec<u8>>) -> Self {
        Self { format, find }
    }
}

/// The bytes of a module in a format that the device takes. Skips the case if there are none.
pub(crate) fn bytes(supplied: &[Kernels], device: &Device, module: &Module) -> Outcome<Cow<'static, [u8]>> {
    if is_gpu(device) || is_host(device) {
        check_version(device)?;
        return Ok(Cow::Borrowed(module.bytes));
    }
    let formats = &device.info().executable_formats;
    let name = module.name.split('.').next().unwrap_or(module.name);
    let mut fitting = supplied.iter().filter(|kernels| formats.iter().any(|format| format == kernels.format));
    match fitting.find_map(|kernels| (kernels.find)(name)) {
        Some(bytes) => Ok(Cow::Owned(bytes)),
        None => Err(Stop::skip(format!(
            "the suite has no `{name}` for devices that take {}",
            formats.join(" or ")
        ))),
    }
}

/// Loads a module. Skips the case if it holds no code for the device.
pub(crate) fn load(supplied: &[Kernels], device: &Device, module: &Module) -> Outcome<Executable> {
    let architecture = device.info().architecture.as_str();
    let bytes = bytes(supplied, device, module)?;
    // SAFETY: the suite's kernels stay within the buffers that they get, as cts/kernels/README.md specifies.
    match unsafe { device.load_executable(&bytes) } {
        Ok(executable) => Ok(executable),
        Err(error)
            if matches!(bytes, Cow::Borrowed(_))
                && error.code() == Code::NotFound
                && !is_host(device)
                && !PROCESSORS.contains(&processor(architecture)) =>
        {
            // Older HIPs do not know generic targets, whatever version they read.
            let generic = GENERIC.map(|(target, ..)| target);
            Err(Stop::skip(format!(
                "the suite's kernels are built for {}, and for HIPs that know them {}; none of these serves {architecture} here",
                PROCESSORS.join(", "),
                generic.join(" and ")
            )))
        }
        Err(error) => Err(Stop::from(error.context(format!("loading the suite's {}", module.name)))),
    }
}
