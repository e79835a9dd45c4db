// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report of `inspect`, in the shape of its JSON. Sizes are in bytes.

use std::rc::Rc;

use serde::{Serialize, Serializer};

use crate::command::{
    failure::{Failure, Outcome},
    input::count,
};

#[derive(Serialize)]
pub(super) struct Report {
    pub(super) file: String,
    pub(super) kind: String,
    pub(super) size: usize,
    pub(super) bundles: Vec<BundleReport>,
    /// The metadata of IREE executables.
    pub(super) iree_executables: Vec<IreeReport>,
    /// Where a library refers to kpack archives beside it.
    pub(super) kpack_references: Vec<KpackReport>,
    /// The parts of the file that could not be read.
    pub(super) problems: Vec<String>,
    /// The entries that the targets of the command line would get.
    pub(super) targets: Vec<TargetReport>,
    pub(super) devices: Vec<DeviceReport>,
}

impl Report {
    /// An error if a part of the file could not be read or loaded.
    pub(super) fn judge(&self) -> Outcome {
        let entries = self.bundles.iter().flat_map(|bundle| &bundle.entries);
        let problems = self.problems.len() + entries.filter(|entry| !entry.problems.is_empty()).count();
        match problems {
            0 => Ok(()),
            number => Err(Failure::failed(format!(
                "{} of the file cannot be read or loaded; the report says why",
                count(number, "part", "parts")
            ))),
        }
    }
}

#[derive(Serialize)]
pub(super) struct BundleReport {
    pub(super) index: usize,
    /// The file in an archive, or the host binary in a kpack archive, that the bundle belongs to.
    pub(super) member: Option<String>,
    pub(super) container: String,
    pub(super) offset: u64,
    pub(super) stored_size: u64,
    pub(super) unpacked_size: Option<u64>,
    /// Unpacked size divided by stored size, for compressed bundles.
    pub(super) ratio: Option<f64>,
    /// Milliseconds to unpack the table and all entries of a compressed bundle. `None` if the bytes are those of an
    /// earlier bundle.
    pub(super) decode_ms: Option<f64>,
    pub(super) entries: Vec<EntryReport>,
}

#[derive(Serialize)]
pub(super) struct EntryReport {
    pub(super) index: usize,
    pub(super) id: String,
    pub(super) target: Option<String>,
    pub(super) size: u64,
    /// The kind of the bytes: `code object v5`, `LLVM bitcode`, `empty`.
    pub(super) content: String,
    pub(super) code_object_version: Option<u32>,
    /// The earlier entry with the same bytes, which alone has the description of their content.
    pub(super) same_as: Option<usize>,
    /// The bundle of that entry, if it is another one.
    pub(super) same_as_bundle: Option<usize>,
    /// Shared by the entries that have the same bytes.
    #[serde(flatten, serialize_with = "told_here", skip_serializing_if = "Told::is_elsewhere")]
    pub(super) code: Told,
    pub(super) problems: Vec<String>,
    pub(super) warnings: Vec<String>,
}

/// The content of an entry, and whether another entry shows it.
#[derive(Clone)]
pub(super) struct Told {
    pub(super) code: Rc<CodeReport>,
    pub(super) elsewhere: bool,
}

impl Told {
    fn is_elsewhere(&self) -> bool {
        self.elsewhere
    }
}

impl std::ops::Deref for Told {
    type Target = CodeReport;

    fn deref(&self) -> &CodeReport {
        &self.code
    }
}

fn told_here<S: Serializer>(told: &Told, serializer: S) -> Result<S::Ok, S::Error> {
    told.code.serialize(serializer)
}

/// The content of a code object.
#[derive(Default, Serialize)]
pub(super) struct CodeReport {
    pub(super) kernels: Vec<KernelReport>,
    pub(super) functions: Vec<SymbolReport>,
    pub(super) variables: Vec<SymbolReport>,
    /// The symbols that another code object must define.
    pub(super) undefined: Vec<String>,
    /// The instructions that the simulated GPU does not execute; `None` for a processor that is not simulated.
    pub(super) not_simulated: Option<Vec<NotSimulated>>,
}

/// Instructions of one kind.
#[derive(Clone, Serialize, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NotSimulated {
    /// The first such instruction, and why it is not executed.
    pub(super) instruction: String,
    /// The first kernel or function that reaches the instruction.
    pub(super) symbol: String,
    /// The address, relative to the load address.
    pub(super) address: u64,
    pub(super) count: usize,
}

#[derive(Serialize)]
pub(super) struct KernelReport {
    pub(super) name: String,
    /// `normal`; `init` and `fini` run when the code is loaded and unloaded.
    pub(super) kind: &'static str,
    pub(super) arguments: Vec<ArgumentReport>,
    pub(super) argument_bytes: u32,
    pub(super) workgroup_size: Option<[u32; 3]>,
    pub(super) max_workgroup_threads: u32,
    pub(super) local_memory: u32,
    pub(super) scratch: Option<u32>,
    pub(super) vgprs: Option<u32>,
    pub(super) sgprs: Option<u32>,
    pub(super) wave_size: Option<u32>,
}

#[derive(Serialize, PartialEq)]
pub(super) struct ArgumentReport {
    pub(super) name: Option<String>,
    pub(super) kind: String,
    pub(super) offset: u32,
    pub(super) size: u32,
    /// `read`, `write` or `read and write`, where the compiler says how the kernel uses a buffer.
    pub(super) access: Option<&'static str>,
}

#[derive(Serialize)]
pub(super) struct SymbolReport {
    pub(super) name: String,
    /// The address, relative to the load address.
    pub(super) address: u64,
    pub(super) size: u64,
    /// Whether other code objects can find the symbol by name.
    pub(super) exported: bool,
}

#[derive(Serialize)]
pub(super) struct IreeReport {
    /// `HIP1` or `AMD1`.
    pub(super) format: String,
    /// The number of the first bundle with the executable's code, and the number of bundles.
    pub(super) first_bundle: usize,
    pub(super) bundles: usize,
    /// The entry points, in IREE's order.
    pub(super) exports: Vec<ExportReport>,
}

#[derive(Serialize)]
pub(super) struct ExportReport {
    pub(super) name: String,
    pub(super) workgroup_size: Option<[u32; 3]>,
    /// The use of each binding.
    pub(super) bindings: Vec<BindingReport>,
    /// The number of 32-bit constants behind the bindings.
    pub(super) constants: u32,
}

#[derive(Serialize)]
pub(super) struct BindingReport {
    pub(super) read_only: bool,
    pub(super) indirect: bool,
}

#[derive(Serialize)]
pub(super) struct KpackReport {
    pub(super) name: String,
    /// The path, relative to the folder of the file.
    pub(super) search_paths: Vec<String>,
}

#[derive(Serialize)]
pub(super) struct TargetReport {
    pub(super) target: String,
    pub(super) choices: Vec<Choice>,
}

#[derive(Serialize)]
pub(super) struct DeviceReport {
    pub(super) uri: String,
    pub(super) architecture: String,
    pub(super) simulated: bool,
    pub(super) choices: Vec<Choice>,
}

#[derive(Serialize)]
pub(super) struct Choice {
    pub(super) bundle: usize,
    /// The mode that the choice is for, such as `xnack+`, if the target leaves features open and the entry depends on them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) mode: Option<String>,
    pub(super) entry: Option<usize>,
    /// The reasons, in the order of the entries.
    pub(super) verdicts: Vec<String>,
}
