// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builders of small inputs, valid or not, so that the tests need no files.

mod bundle;
mod carriers;
mod elf;
mod metadata;
pub(crate) mod rocr;

use std::path::PathBuf;

pub(crate) use bundle::{Ccob, Row, plain, plain_rows, zlib, zstd_frame, zstd_frame_without_size};
pub(crate) use carriers::{
    KpackImage, amd1, amd1_with, archive, compressed_offload_binary, hip1, hip1_with, host_elf, kpack,
    offload_binary, offload_binary_for, stripped_host_elf, zip, zip_of,
};
pub(crate) use elf::{ElfBuilder, KernelSpec};
pub(crate) use metadata::{Value, encode, map};

/// The directory of real inputs; `None`, with a message, without one.
pub(crate) fn fixtures() -> Option<PathBuf> {
    let found = std::env::var_os("WINDLASS_FIXTURES").map(PathBuf::from);
    if found.is_none() {
        skipped("WINDLASS_FIXTURES is not set: it names the directory of real inputs");
    }
    found
}

/// Prints why a test did not run.
#[expect(clippy::print_stderr, reason = "the test harness has no other way to tell of a skip")]
pub(crate) fn skipped(why: &str) {
    eprintln!("skipped: {why}");
}
