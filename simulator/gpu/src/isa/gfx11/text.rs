// SPDX-License-Identifier: MIT OR Apache-2.0
//! The text of constants with fields.

use std::fmt::{self, Display, Formatter};

use super::super::inst::Inst;
use super::super::set::Family;

/// A counter of `s_waitcnt_depctr` with its place and its largest value, which waits for nothing. Not every set has the first.
const DEPENDENCY_COUNTERS: [(&str, u32, i32); 7] = [
    ("hold_cnt", 7, 1),
    ("sa_sdst", 0, 1),
    ("va_vdst", 12, 15),
    ("va_sdst", 9, 7),
    ("va_ssrc", 8, 1),
    ("va_vcc", 1, 1),
    ("vm_vsrc", 2, 7),
];

/// Operand of `s_waitcnt`: the counters as `vmcnt`, `expcnt` and `lgkmcnt`, with their largest values.
pub(in super::super) fn counters(imm: i32) -> [(&'static str, i32, i32); 3] {
    [("vmcnt", imm >> 10 & 63, 63), ("expcnt", imm & 7, 7), ("lgkmcnt", imm >> 4 & 63, 63)]
}

/// Operand of `s_waitcnt_depctr`.
pub(in super::super) struct DependencyCounters<'a>(pub(in super::super) &'a Inst);

impl Display for DependencyCounters<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let imm = self.0.imm & 0xffff;
        let without_first = usize::from(!self.0.set.style.has_hold_count);
        let counters = &DEPENDENCY_COUNTERS[without_first..];
        let used = counters.iter().fold(0, |used, &(_, at, limit)| used | limit << at);
        if imm & !used != 0 {
            return write!(f, "{imm:#x}");
        }
        let values = || counters.iter().map(|&(name, at, limit)| (name, imm >> at & limit, limit));
        let waits_for_none = values().all(|(_, value, limit)| value == limit);
        let mut separator = "";
        for (name, value, limit) in values() {
            if value != limit || waits_for_none {
                write!(f, "{separator}depctr_{name}({value})")?;
                separator = " ";
            }
        }
        Ok(())
    }
}

/// Operand of `s_delay_alu`: two dependencies, and the number of instructions between their readers.
pub(in super::super) struct Delay(pub(in super::super) i32);

impl Display for Delay {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const DEPENDENCIES: [&str; 12] = [
            "NO_DEP",
            "VALU_DEP_1",
            "VALU_DEP_2",
            "VALU_DEP_3",
            "VALU_DEP_4",
            "TRANS32_DEP_1",
            "TRANS32_DEP_2",
            "TRANS32_DEP_3",
            "FMA_ACCUM_CYCLE_1",
            "SALU_CYCLE_1",
            "SALU_CYCLE_2",
            "SALU_CYCLE_3",
        ];
        const DISTANCES: [&str; 6] = ["SAME", "NEXT", "SKIP_1", "SKIP_2", "SKIP_3", "SKIP_4"];
        let fields = [
            ("instid0", self.0 & 15, DEPENDENCIES.as_slice()),
            ("instskip", self.0 >> 4 & 7, &DISTANCES),
            ("instid1", self.0 >> 7 & 15, &DEPENDENCIES),
        ];
        let mut separator = "";
        for (name, value, names) in fields.into_iter().filter(|&(_, value, _)| value != 0) {
            // LLVM has only a comment for values without a meaning.
            let meaning = names.get(value as usize).copied().unwrap_or("/* invalid */");
            write!(f, "{separator}{name}({meaning})")?;
            separator = " | ";
        }
        f.write_str(if separator.is_empty() { "0" } else { "" })
    }
}

/// Operand of `s_sendmsg` and `s_sendmsg_rtn`.
pub(in super::super) struct Message<'a>(pub(in super::super) &'a Inst);

impl Display for Message<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let value = self.0.imm & 0xffff;
        let (id, is_newer) = (value & 0xff, self.0.set.family == Family::Gfx12);
        let name = match id {
            1 => "MSG_INTERRUPT",
            2 => "MSG_HS_TESSFACTOR",
            3 => "MSG_DEALLOC_VGPRS",
            5 if !is_newer => "MSG_STALL_WAVE_GEN",
            6 if !is_newer => "MSG_HALT_WAVES",
            9 => "MSG_GS_ALLOC_REQ",
            128 => "MSG_RTN_GET_DOORBELL",
            129 => "MSG_RTN_GET_DDID",
            130 => "MSG_RTN_GET_TMA",
            131 => "MSG_RTN_GET_REALTIME",
            132 => "MSG_RTN_SAVE_WAVE",
            133 => "MSG_RTN_GET_TBA",
            134 => "MSG_RTN_GET_TBA_TO_PC",
            135 if is_newer => "MSG_RTN_GET_SE_AID_ID",
            _ if id == value => return write!(f, "sendmsg({id}, 0, 0)"),
            _ => return write!(f, "{value}"),
        };
        write!(f, "sendmsg({name})")
    }
}

/// Operand of `s_version`.
pub(in super::super) struct Version(pub(in super::super) i32);

impl Display for Version {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        const FLAGS: [(i32, &str); 3] = [(0x2000, "W64"), (0x4000, "W32"), (0x8000, "MDP")];
        let value = self.0 & 0xffff;
        if value & 0x1f00 != 0 {
            return write!(f, "{value:#x}");
        }
        let flags = FLAGS.iter().filter(|(bit, _)| value & bit != 0);
        // Each operator but the last is inside parentheses.
        for _ in 1..flags.clone().count() {
            f.write_str("(")?;
        }
        match value & 0xff {
            0 => f.write_str("UC_VERSION_GFX7")?,
            4 => f.write_str("UC_VERSION_GFX10")?,
            6 => f.write_str("UC_VERSION_GFX11")?,
            9 => f.write_str("UC_VERSION_GFX12")?,
            code => write!(f, "{code}")?,
        }
        for (at, (_, name)) in flags.enumerate() {
            f.write_str(if at == 0 { "" } else { ")" })?;
            write!(f, "|UC_VERSION_{name}_BIT")?;
        }
        Ok(())
    }
}

/// The format of a typed buffer. The default, 8 bits UNORM, is not shown.
pub(in super::super) struct BufferFormat<'a>(pub(in super::super) &'a Inst);

impl Display for BufferFormat<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let number = self.0.mem.format;
        match (number, self.0.set.buffer_format_name(number.into())) {
            (0, _) => f.write_str(" format:[BUF_FMT_INVALID]"),
            (1, _) => Ok(()),
            (_, Some([components, kind])) => write!(f, " format:[BUF_FMT_{components}_{kind}]"),
            (_, None) => write!(f, " format:{number}"),
        }
    }
}
