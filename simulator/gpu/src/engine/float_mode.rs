// SPDX-License-Identifier: MIT OR Apache-2.0
//! The float mode of the host's threads. A program may set it for itself (`fesetround`, `-ffast-math`, traps), and new threads
//! inherit it. A GPU knows nothing of it, so kernels compute in the processor's default mode.

/// Puts the thread into the default float mode until it is dropped.
#[derive(Debug)]
#[must_use = "the default mode ends when this is dropped"]
pub struct DefaultFloatMode {
    /// The thread's own mode.
    own: Register,
}

impl DefaultFloatMode {
    /// Enters the default mode: rounding to nearest even, denormals kept, no traps.
    pub fn enter() -> Self {
        let own = read();
        if own != DEFAULT {
            write(DEFAULT);
        }
        Self { own }
    }
}

impl Drop for DefaultFloatMode {
    fn drop(&mut self) {
        // Flags of exceptions that kernels raised are lost, as those of a GPU never reach the host.
        if self.own != DEFAULT {
            write(self.own);
        }
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod register {
    use std::arch::asm;

    /// MXCSR.
    pub(super) type Register = u32;

    /// All exceptions masked.
    pub(super) const DEFAULT: Register = 0x1f80;

    pub(super) fn read() -> Register {
        let mut value: Register = 0;
        // SAFETY: every processor of this architecture has MXCSR, and the instruction writes four bytes.
        unsafe { asm!("stmxcsr [{to}]", to = in(reg) &raw mut value, options(nostack, preserves_flags)) };
        // The low bits are flags of exceptions that have happened.
        value & !0x3f
    }

    pub(super) fn write(value: Register) {
        // SAFETY: the value is the default or was read from the register, so that no reserved bit is set.
        unsafe {
            asm!("ldmxcsr [{from}]", from = in(reg) &raw const value, options(nostack, preserves_flags))
        };
    }
}

#[cfg(all(target_arch = "aarch64", not(miri)))]
mod register {
    use std::arch::asm;

    /// FPCR.
    pub(super) type Register = u64;

    pub(super) const DEFAULT: Register = 0;

    pub(super) fn read() -> Register {
        let value: Register;
        // SAFETY: programs may read this register.
        unsafe { asm!("mrs {value}, fpcr", value = out(reg) value, options(nostack, preserves_flags)) };
        value
    }

    pub(super) fn write(value: Register) {
        // SAFETY: programs may write this register; the value is the default or was read from it.
        unsafe { asm!("msr fpcr, {value}", value = in(reg) value, options(nostack, preserves_flags)) };
    }
}

#[cfg(not(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri))))]
mod register {
    pub(super) type Register = u32;

    pub(super) const DEFAULT: Register = 0;

    pub(super) fn read() -> Register {
        DEFAULT
    }

    pub(super) fn write(_: Register) {}
}

use register::{DEFAULT, Register, read, write};
