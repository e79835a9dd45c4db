// SPDX-License-Identifier: MIT OR Apache-2.0
//! Formats and rows of opcodes.

use super::inst::Encoding;
use super::set::{Table, Tables};
use super::tables::{NO_E64, Row};

/// A format with a row of it; `None` if no format starts like the instruction.
pub(super) type Classified = Option<(Encoding, Option<&'static Row>)>;

/// The row of an opcode.
pub(super) fn row(table: Table, code: u32) -> Option<&'static Row> {
    table.get(code as usize).copied().flatten()
}

/// VOP3 has the instructions of every other vector format too, each format at a base of its own, VOP1 at `vop1`.
pub(super) fn vop3_row(tables: &Tables, code: u32, vop1: u32) -> Option<&'static Row> {
    let promoted = match code {
        0x000..0x100 => row(tables.vopc, code),
        0x100..0x140 => row(tables.vop2, code - 0x100),
        _ if (vop1..vop1 + 0x80).contains(&code) => row(tables.vop1, code - vop1),
        _ => return row(tables.vop3, code),
    };
    promoted.filter(|row| !row.has(NO_E64))
}
