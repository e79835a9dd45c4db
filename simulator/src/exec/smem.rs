// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scalar memory: loads that the whole wave shares.

use super::buffer::Resource;
use super::core::Core;
use super::lanes::{scalar32, scalar64};
use super::step::{Flow, Source, Step, Versions};
use crate::engine::AccessKind;
use crate::isa::{Op, Operand};
use crate::memory::Use;

/// The handler of an instruction of this family.
pub(crate) fn versions(op: Op) -> Option<Versions> {
    let handler: fn(&mut Core<'_>, &Step) -> Flow = match op {
        Op::s_load_dword => load::<1>,
        Op::s_load_dwordx2 => load::<2>,
        Op::s_load_dwordx4 => load::<4>,
        Op::s_load_dwordx8 => load::<8>,
        Op::s_load_dwordx16 => load::<16>,
        Op::s_buffer_load_dword => buffer_load::<1>,
        Op::s_buffer_load_dwordx2 => buffer_load::<2>,
        Op::s_buffer_load_dwordx4 => buffer_load::<4>,
        Op::s_buffer_load_dwordx8 => buffer_load::<8>,
        Op::s_buffer_load_dwordx16 => buffer_load::<16>,
        Op::s_store_dword => store::<1>,
        Op::s_store_dwordx2 => store::<2>,
        Op::s_store_dwordx4 => store::<4>,
        _ => return None,
    };
    Some(Versions::scalar(handler))
}

/// Immediate and register offset together.
fn offset(core: &Core<'_>, step: &Step) -> u64 {
    let register = match step.src[2] {
        Source::None => 0,
        source => scalar32(core.wave, source),
    };
    i64::from(step.inst.mem.offset).wrapping_add(i64::from(register)) as u64
}

fn address(core: &Core<'_>, step: &Step) -> u64 {
    // The low two bits of base and offset are ignored.
    (scalar64(core.wave, step.src[0]) & !3).wrapping_add(offset(core, step) & !3)
}

fn load<const N: usize>(core: &mut Core<'_>, step: &Step) -> Flow {
    let address = address(core, step);
    let size = N as u64 * 4;
    let Some(span) = core.memory.span_through(core.windows, address, size, Use::Read) else {
        return core.refuse(None, address, size, AccessKind::Read);
    };
    if core.memory.tracks_writes() {
        core.note_access(step, None, address, size, AccessKind::Read);
    }
    let mut words = [0; N];
    for (index, word) in words.iter_mut().enumerate() {
        *word = span.load(address + index as u64 * 4);
    }
    write(core, step, words)
}

fn buffer_load<const N: usize>(core: &mut Core<'_>, step: &Step) -> Flow {
    let resource = Resource::read(core.wave, step.src[0]);
    let offset = offset(core, step) & !3;
    let mut words = [0; N];
    for (index, word) in words.iter_mut().enumerate() {
        let offset = offset.wrapping_add(index as u64 * 4);
        if offset.checked_add(4).is_none_or(|end| end > resource.bytes()) {
            continue;
        }
        let address = resource.base().wrapping_add(offset);
        let Some(span) = core.memory.span_through(core.windows, address, 4, Use::Read) else {
            return core.refuse(None, address, 4, AccessKind::Read);
        };
        if core.memory.tracks_writes() {
            core.note_access(step, None, address, 4, AccessKind::Read);
        }
        *word = span.load(address);
    }
    write(core, step, words)
}

fn write<const N: usize>(core: &mut Core<'_>, step: &Step, words: [u32; N]) -> Flow {
    if let Operand::Sgpr(first) = step.inst.dst {
        for (number, word) in (usize::from(first)..).zip(words) {
            core.wave.s[number & 127] = word;
        }
    }
    Flow::Next
}

fn store<const N: usize>(core: &mut Core<'_>, step: &Step) -> Flow {
    let address = address(core, step);
    let size = N as u64 * 4;
    let Some(span) = core.memory.span_through(core.windows, address, size, Use::Write) else {
        return core.refuse(None, address, size, AccessKind::Write);
    };
    if core.memory.tracks_writes() {
        core.note_access(step, None, address, size, AccessKind::Write);
    }
    if let Source::Scalar(first) = step.src[1] {
        for index in 0..N {
            span.store(address + index as u64 * 4, core.wave.s[(usize::from(first) + index) & 127]);
        }
    }
    Flow::Next
}
