// SPDX-License-Identifier: MIT OR Apache-2.0
//! One code object: its ELF, metadata, kernels and symbols. `host` reads shared objects with kernels for the host.

pub(crate) mod arg;
pub(crate) mod code_object;
pub(crate) mod descriptor;
pub(crate) mod elf;
pub(crate) mod elf_flags;
pub(crate) mod extent;
pub(crate) mod host;
pub(crate) mod kernel;
pub(crate) mod layout;
pub(crate) mod metadata;
pub(crate) mod notes;
pub(crate) mod resolve;
pub(crate) mod symbols;
pub(crate) mod validate;
