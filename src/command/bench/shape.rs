// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shape of the load of most rows: N dispatches of one small workgroup.

use crate::DispatchConfig;

/// Work-items of a workgroup, and numbers in a buffer.
pub(super) const ITEMS: u32 = 64;
/// Bytes of a buffer.
pub(super) const BYTES: u64 = ITEMS as u64 * 4;
/// One workgroup.
pub(super) const GRID: DispatchConfig = DispatchConfig::new([1, 1, 1]).workgroup_size([ITEMS, 1, 1]);

/// The shape of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub(super) bindings: u32,
    pub(super) constants: u32,
    pub(super) n: u32,
    /// Whether the buffers come from a binding table at submission.
    pub(super) by_table: bool,
}

impl Shape {
    /// Direct buffers, no constants.
    pub(super) const fn direct(bindings: u32, n: u32) -> Self {
        Self { bindings, constants: 0, n, by_table: false }
    }

    /// The same through a binding table.
    pub(super) const fn table(bindings: u32, n: u32) -> Self {
        Self { by_table: true, ..Self::direct(bindings, n) }
    }

    /// With constants among the arguments. The kernel for these has two buffers and sixteen constants.
    pub(super) const fn constants(n: u32) -> Self {
        Self { constants: 16, ..Self::direct(2, n) }
    }

    /// The parameters in a row's name.
    pub(super) fn text(self) -> String {
        let constants = match self.constants {
            0 => String::new(),
            constants => format!(" constants={constants}"),
        };
        let form = if self.by_table { "table" } else { "direct" };
        format!("bindings={}{constants} n={} form={form}", self.bindings, self.n)
    }

    /// The kernel.
    pub(super) fn kernel(self) -> String {
        match self.constants {
            0 => format!("bindings_{}", self.bindings),
            constants => format!("constants_{constants}"),
        }
    }

    /// The numbers that the kernel writes.
    pub(super) fn expected(self, index: u32) -> u32 {
        let inputs = (0..self.bindings.saturating_sub(1)).map(|input| content(input, index));
        (0..self.constants).chain(inputs).fold(index, u32::wrapping_add)
    }
}

/// The numbers of an input.
pub(super) fn content(input: u32, index: u32) -> u32 {
    (input + 1).wrapping_mul(index + 3)
}
