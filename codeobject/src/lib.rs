// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads AMD GPU code objects: bundles, CCOB, ELF, kernel metadata.
#![forbid(unsafe_code)]

mod bundle;
mod bytes;
mod ccob;
mod decode;
mod elf_flags;
mod entry;
mod error;
mod file;
mod foreign;
mod options;
mod processor;
mod select;
mod table;
mod target;

pub use bundle::{Bundle, Container};
pub use ccob::Method;
pub use entry::{Entry, EntryKind, EntryTarget};
pub use error::Error;
pub use file::{File, FileKind};
pub use options::Options;
pub use select::{Fit, Selection, Verdict};
pub use target::TargetId;
