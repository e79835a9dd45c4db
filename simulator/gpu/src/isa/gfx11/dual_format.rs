// SPDX-License-Identifier: MIT OR Apache-2.0
//! VOPD: two vector instructions in one.

use super::super::fields::{Fields, Invalid, field, vgpr};
use super::super::format::row;
use super::super::inst::{Encoding, Inst};
use super::super::opcode::Op;
use super::super::operand::{Operand, OperandType};
use super::super::tables::{CARRY_IN, MADAK, MADMK};

/// The first half has `dst`, `src[0]` and `src[1]`, the second `sdst`, `src[2]` and `src[3]`; a literal that both may
/// use is in `imm`.
pub(in super::super) fn vopd(f: &mut Fields<'_>) -> Result<(), Invalid> {
    let first = f.row;
    let second = row(f.inst.set.tables.vopd, field(f.first, 17, 5)).ok_or(Invalid)?;
    f.inst.second = Some(second.op);
    // The literal of `v_fmamk` and `v_fmaak` is always present, so it is read before a source names it.
    if first.has(MADMK | MADAK) || second.has(MADMK | MADAK) {
        f.literal()?;
    }
    f.inst.src_type = [first.src[0], first.src[1], second.src[0], second.src[1]];
    f.inst.dst_type = first.dst;
    let dst = field(f.second, 24, 8);
    f.inst.dst = vgpr(dst, 1)?;
    // One destination is even and the other one odd, so the last bit of the second is the opposite of the first's.
    f.inst.sdst = vgpr(field(f.second, 17, 7) << 1 | (!dst & 1), 1)?;
    for (at, word, row) in [(0, f.first, first), (2, f.second, second)] {
        f.inst.src[at] = f.source(field(word, 0, 9), row.src[0])?;
        if row.op != Op::v_mov_b32 {
            f.inst.src[at + 1] = vgpr(field(word, 9, 8), 1)?;
        }
    }
    f.inst.imm = f.literal_if_read().unwrap_or(0) as i32;
    Ok(())
}

impl Inst {
    /// The two instructions of VOPD, as VOP1 or VOP2; `None` for other formats. Both read their sources before one of
    /// them writes its destination.
    pub fn halves(&self) -> Option<[Inst; 2]> {
        let second = self.second?;
        let [a, b, c, d] = self.src;
        Some([self.half(self.op, self.dst, [a, b])?, self.half(second, self.sdst, [c, d])?])
    }

    fn half(&self, op: Op, dst: Operand, sources: [Operand; 2]) -> Option<Inst> {
        let row = self.set.tables.vopd.iter().flatten().find(|row| row.op == op)?;
        let [first, other] = sources;
        let literal = Operand::Literal(self.imm as u32);
        let third = if row.has(CARRY_IN) { Operand::VCC } else { Operand::None };
        let src = match row {
            row if row.has(MADMK) => [first, literal, other],
            row if row.has(MADAK) => [first, other, literal],
            _ => [first, other, third],
        };
        let mut src_type = [row.src[0], row.src[1], row.src[2], OperandType::default()];
        if row.has(CARRY_IN) {
            src_type[2] = self.set.mask();
        }
        Some(Inst {
            op,
            second: None,
            encoding: if other.is_none() { Encoding::Vop1 } else { Encoding::Vop2 },
            dst,
            sdst: Operand::None,
            src: [src[0], src[1], src[2], Operand::None],
            dst_type: row.dst,
            src_type,
            imm: 0,
            ..*self
        })
    }
}
