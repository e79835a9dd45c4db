// SPDX-License-Identifier: MIT OR Apache-2.0
//! The kinds of whole files.

use std::fmt;

/// The kind of a whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// One code object: an ELF for amdgpu (`.co`, `.hsaco`).
    CodeObject,
    /// One or more offload bundles in a row (`.hipfb`, `.hip_fatbin`).
    FatBinary,
    /// A host object, library or executable that carries GPU code, mostly in a section `.hip_fatbin`.
    HostElf,
    /// A shared object with kernels for the host ([`HostLibrary`](crate::HostLibrary)), and with no GPU code.
    HostLibrary,
    /// An archive of objects.
    Archive,
    /// An IREE executable, for HIP (`HIP1`) or for its AMDGPU driver (`AMD1`).
    IreeExecutable,
    /// An IREE module (`.vmfb`) with executables for AMD GPUs, and with no other GPU code.
    IreeModule,
    /// A zip file, such as a Python wheel, whose members hold GPU code.
    Zip,
    /// A kpack archive (`.kpack`): the code of host binaries that refer to it.
    Kpack,
}

impl fmt::Display for FileKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            FileKind::CodeObject => "code object",
            FileKind::FatBinary => "fat binary",
            FileKind::HostElf => "host ELF with GPU code",
            FileKind::HostLibrary => "shared object with kernels for the host",
            FileKind::Archive => "archive of objects with GPU code",
            FileKind::IreeExecutable => "IREE executable (HIP1 or AMD1)",
            FileKind::IreeModule => "IREE module (vmfb)",
            FileKind::Zip => "zip file with GPU code",
            FileKind::Kpack => "kpack archive",
        })
    }
}
