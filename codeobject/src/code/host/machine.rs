// SPDX-License-Identifier: MIT OR Apache-2.0
//! The machines that host code is for.

use std::fmt;

/// A machine that host code is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HostMachine {
    /// x86-64.
    X86_64,
    /// AArch64.
    Aarch64,
    /// 64-bit RISC-V.
    Riscv64,
    /// Another machine, by its ELF number.
    Other(u16),
}

impl HostMachine {
    /// The machine that this program runs on; `None` for one without a name here, and for a big-endian one.
    pub fn current() -> Option<HostMachine> {
        HostMachine::from_name(std::env::consts::ARCH).filter(|_| cfg!(target_endian = "little"))
    }

    /// The machine of the first field of a triple, such as `x86_64` or `arm64`; `None` for one without a name here.
    pub fn from_name(name: &str) -> Option<HostMachine> {
        Some(match name {
            "x86_64" | "amd64" | "x86_64h" => HostMachine::X86_64,
            "aarch64" | "arm64" => HostMachine::Aarch64,
            "riscv64" | "riscv64gc" => HostMachine::Riscv64,
            _ => return None,
        })
    }

    pub(crate) fn from_elf(machine: u16) -> HostMachine {
        match machine {
            62 => HostMachine::X86_64,
            183 => HostMachine::Aarch64,
            243 => HostMachine::Riscv64,
            other => HostMachine::Other(other),
        }
    }
}

impl fmt::Display for HostMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HostMachine::X86_64 => f.write_str("x86_64"),
            HostMachine::Aarch64 => f.write_str("aarch64"),
            HostMachine::Riscv64 => f.write_str("riscv64"),
            HostMachine::Other(number) => write!(f, "ELF machine {number}"),
        }
    }
}
