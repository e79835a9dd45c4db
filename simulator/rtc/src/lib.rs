// SPDX-License-Identifier: MIT OR Apache-2.0
//! hipRTC for the simulated GPU: HIP sources become code objects while a program runs.
//!
//! No compiler is in this crate. It looks for one when a program asks: AMD's `libamd_comgr`, else a clang that knows AMD's GPUs,
//! with lld. Without one, compilations fail, and the program's log says what to install.
//!
//! A [`Program`] is compiled by [`Program::compile`], a [`Linker`] joins bitcode. [`abi`] has both as hipRTC's C functions, which
//! the drop-in libraries export; [`for_each_function`] lists them.
//!
//! Sources are not trusted. The compiler reads them from a private folder, which is deleted when the compiler has ended.
//! It starts without a shell, and is stopped after a time.

pub mod abi;
mod child;
mod code;
mod compiler;
mod current;
mod folder;
mod headers;
mod linker;
mod log;
mod names;
mod options;
mod program;
mod target;

pub use code::Code;
pub use linker::{Input, Linker};
pub use program::Program;
