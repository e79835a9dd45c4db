// SPDX-License-Identifier: MIT OR Apache-2.0
//! What `inspect` finds out, as JSON has it. Sizes are bytes.

use std::rc::Rc;

use serde::{Serialize, Serializer};

#[derive(Serialize)]
pub(super) struct Report {
    pub(super) file: String,
    pub(super) kind: String,
    pub(super) size: usize,
    pub(super) bundles: Vec<BundleReport>,
    /// What executables of IREE say beside their code.
    pub(super) iree_executables: Vec<IreeReport>,
    /// Code that lies in kpack archives beside the file.
    pub(super) kpack_references: Vec<KpackReport>,
    /// Parts of the file that could not be read.
    pub(super) problems: Vec<String>,
    /// What the targets of the command line would get.
    pub(super) targets: Vec<TargetReport>,
    pub(super) devices: Vec<DeviceReport>,
}

#[derive(Serialize)]
pub(super) struct BundleReport {
    pub(super) index: usize,
    /// The name of what it belongs to: of an archive's file, of a kpack archive's binary.
    pub(super) member: Option<String>,
    pub(super) container: String,
    pub(super) offset: u64,
    pub(super) stored_size: u64,
    pub(super) unpacked_size: Option<u64>,
    /// Unpacked by stored bytes; of compressed bundles.
    pub(super) ratio: Option<f64>,
    /// How long reading it took, its table and all entries decoded; of compressed bundles, unless their bytes are those of
    /// others before them.
    pub(super) decode_ms: Option<f64>,
    pub(super) entries: Vec<EntryReport>,
}

#[derive(Serialize)]
pub(super) struct EntryReport {
    pub(super) index: usize,
    pub(super) id: String,
    pub(super) target: Option<String>,
    pub(super) size: u64,
    /// What its bytes are: `code object v5`, `LLVM bitcode`, `empty`.
    pub(super) content: String,
    pub(super) code_object_version: Option<u32>,
    /// The entry before it that has the very same bytes, where one does: what is in them is told there alone.
    pub(super) same_as: Option<usize>,
    /// The bundle that this entry is in, where it is not the same bundle.
    pub(super) same_as_bundle: Option<usize>,
    /// Shared by the entries that have the same bytes.
    #[serde(flatten, serialize_with = "told_here", skip_serializing_if = "Told::is_elsewhere")]
    pub(super) code: Told,
    pub(super) problems: Vec<String>,
    pub(super) warnings: Vec<String>,
}

/// What is in an entry, and whether this is the place to tell it.
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

/// What is in a code object.
#[derive(Default, Serialize)]
pub(super) struct CodeReport {
    pub(super) kernels: Vec<KernelReport>,
    pub(super) functions: Vec<SymbolReport>,
    pub(super) variables: Vec<SymbolReport>,
    /// What another code object has to define.
    pub(super) undefined: Vec<String>,
    /// What the simulated GPU does not execute of it; nothing where it is for a processor that is not simulated.
    pub(super) not_simulated: Option<Vec<NotSimulated>>,
}

/// Instructions of one kind.
#[derive(Clone, Serialize, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NotSimulated {
    /// The first of them, and why it is not executed.
    pub(super) instruction: String,
    /// The first kernel or function that reaches it.
    pub(super) symbol: String,
    /// Counted from where the code is loaded.
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
    /// Counted from where the code is loaded.
    pub(super) address: u64,
    pub(super) size: u64,
    /// Whether others can find it by name once the code is loaded.
    pub(super) exported: bool,
}

#[derive(Serialize)]
pub(super) struct IreeReport {
    /// `HIP1` or `AMD1`.
    pub(super) format: String,
    /// The number of the first bundle that holds its code, and how many do.
    pub(super) first_bundle: usize,
    pub(super) bundles: usize,
    /// Its entry points, as IREE counts them.
    pub(super) exports: Vec<ExportReport>,
}

#[derive(Serialize)]
pub(super) struct ExportReport {
    pub(super) name: String,
    pub(super) workgroup_size: Option<[u32; 3]>,
    /// How it uses each of its bindings.
    pub(super) bindings: Vec<BindingReport>,
    /// So many values of 32 bits follow the bindings.
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
    /// From the folder of the file on.
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
    pub(super) entry: Option<usize>,
    /// One for each entry, in their order.
    pub(super) verdicts: Vec<String>,
}
