// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads AMD GPU code objects: bundles, CCOB, ELF, kernel metadata.
#![forbid(unsafe_code)]

mod archive;
mod arg;
mod bundle;
mod bytes;
mod ccob;
mod code_object;
mod decode;
mod descriptor;
mod elf;
mod elf_flags;
mod entry;
mod error;
mod file;
mod foreign;
mod host_elf;
mod iree;
mod kernel;
mod layout;
mod metadata;
mod msgpack;
mod offload_binary;
mod options;
mod processor;
mod select;
mod table;
mod target;
mod walk;
mod warnings;
mod zip;

pub use arg::{Access, AddressSpace, Arg, ArgKind, HiddenKind};
pub use bundle::{Bundle, Container};
pub use ccob::Method;
pub use code_object::CodeObject;
pub use descriptor::KernelDescriptor;
pub use entry::{Entry, EntryKind, EntryTarget};
pub use error::Error;
pub use file::{File, FileKind};
pub use kernel::{Kernel, KernelKind, RejectedKernel};
pub use layout::{Binding, Relocation, RelocationKind, Segment, Symbol, SymbolRole};
pub use options::Options;
pub use select::{Fit, Selection, Verdict};
pub use target::TargetId;
