// SPDX-License-Identifier: MIT OR Apache-2.0
//! Opcodes of vector instructions, by the names of Intel's manual.

/// The opcode of an instruction in the VEX encoding: its prefix, its map and its byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Vex(pub(super) u8, pub(super) u8, pub(super) u8);

const NONE: u8 = 0;
const P66: u8 = 1;
const PF3: u8 = 2;
const M0F: u8 = 1;
const M0F38: u8 = 2;
const M0F3A: u8 = 3;

pub(super) const ADDPS: Vex = Vex(NONE, M0F, 0x58);
pub(super) const SUBPS: Vex = Vex(NONE, M0F, 0x5c);
pub(super) const MULPS: Vex = Vex(NONE, M0F, 0x59);
pub(super) const FMADD231PS: Vex = Vex(P66, M0F38, 0xb8);
pub(super) const PADDD: Vex = Vex(P66, M0F, 0xfe);
pub(super) const PSUBD: Vex = Vex(P66, M0F, 0xfa);
pub(super) const PMULLD: Vex = Vex(P66, M0F38, 0x40);
pub(super) const PMULUDQ: Vex = Vex(P66, M0F, 0xf4);
pub(super) const PAND: Vex = Vex(P66, M0F, 0xdb);
pub(super) const POR: Vex = Vex(P66, M0F, 0xeb);
pub(super) const PXOR: Vex = Vex(P66, M0F, 0xef);
pub(super) const PMINSD: Vex = Vex(P66, M0F38, 0x39);
pub(super) const PMINUD: Vex = Vex(P66, M0F38, 0x3b);
pub(super) const PMAXSD: Vex = Vex(P66, M0F38, 0x3d);
pub(super) const PMAXUD: Vex = Vex(P66, M0F38, 0x3f);
pub(super) const PCMPEQD: Vex = Vex(P66, M0F, 0x76);
pub(super) const PCMPGTD: Vex = Vex(P66, M0F, 0x66);
pub(super) const CMPPS: Vex = Vex(NONE, M0F, 0xc2);
pub(super) const LOAD: Vex = Vex(PF3, M0F, 0x6f);
pub(super) const STORE: Vex = Vex(PF3, M0F, 0x7f);
pub(super) const BROADCASTD: Vex = Vex(P66, M0F38, 0x58);
pub(super) const BROADCASTB: Vex = Vex(P66, M0F38, 0x78);
pub(super) const MOVE: Vex = Vex(P66, M0F, 0x6e);
pub(super) const MOVMSKPS: Vex = Vex(NONE, M0F, 0x50);
pub(super) const PMOVZXBD: Vex = Vex(P66, M0F38, 0x31);
pub(super) const SHIFT: Vex = Vex(P66, M0F, 0x72);
pub(super) const PTEST: Vex = Vex(P66, M0F38, 0x17);
pub(super) const PBLENDVB: Vex = Vex(P66, M0F3A, 0x4c);
pub(super) const PSHUFD: Vex = Vex(P66, M0F, 0x70);
pub(super) const PBLENDD: Vex = Vex(P66, M0F3A, 0x02);
