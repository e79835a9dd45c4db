// SPDX-License-Identifier: MIT OR Apache-2.0
//! Scalar memory: accesses of the whole wave.

use crate::exec::families::resource::Resource;
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::Compilations;
use crate::exec::machine::shape::Shape;
use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::trouble::{AccessKind, Cause};
use crate::exec::operands::source::{scalar32, scalar64};
use crate::exec::operands::space::Space;
use crate::isa::{Inst, Op, Operand};
use crate::memory::MemoryUse;

/// The handler of an instruction of this family.
pub(crate) fn compilations(inst: &Inst) -> Option<Compilations> {
    let handler: fn(&mut Core<'_>, &Step) -> Flow = match inst.op {
        Op::s_load_dword => load::<1>,
        Op::s_load_dwordx2 => load::<2>,
        Op::s_load_dwordx3 => load::<3>,
        Op::s_load_dwordx4 => load::<4>,
        Op::s_load_u8 => |core, step| part(core, step, 1, |word| word & 0xff),
        Op::s_load_i8 => |core, step| part(core, step, 1, |word| word as i8 as u32),
        Op::s_load_u16 => |core, step| part(core, step, 2, |word| word & 0xffff),
        Op::s_load_i16 => |core, step| part(core, step, 2, |word| word as i16 as u32),
        Op::s_buffer_load_u8 => |core, step| buffer_part(core, step, 1, |word| word & 0xff),
        Op::s_buffer_load_i8 => |core, step| buffer_part(core, step, 1, |word| word as i8 as u32),
        Op::s_buffer_load_u16 => |core, step| buffer_part(core, step, 2, |word| word & 0xffff),
        Op::s_buffer_load_i16 => |core, step| buffer_part(core, step, 2, |word| word as i16 as u32),
        Op::s_load_dwordx8 => load::<8>,
        Op::s_load_dwordx16 => load::<16>,
        Op::s_buffer_load_dword => buffer_load::<1>,
        Op::s_buffer_load_dwordx2 => buffer_load::<2>,
        Op::s_buffer_load_dwordx3 => buffer_load::<3>,
        Op::s_buffer_load_dwordx4 => buffer_load::<4>,
        Op::s_buffer_load_dwordx8 => buffer_load::<8>,
        Op::s_buffer_load_dwordx16 => buffer_load::<16>,
        Op::s_store_dword => store::<1>,
        Op::s_store_dwordx2 => store::<2>,
        Op::s_store_dwordx4 => store::<4>,
        Op::s_buffer_store_dword => buffer_store::<1>,
        Op::s_buffer_store_dwordx2 => buffer_store::<2>,
        Op::s_buffer_store_dwordx4 => buffer_store::<4>,
        // Probes, discards and prefetches affect translations and caches, which do not exist here.
        Op::s_atc_probe
        | Op::s_atc_probe_buffer
        | Op::s_dcache_discard
        | Op::s_dcache_discard_x2
        | Op::s_prefetch_inst
        | Op::s_prefetch_inst_pc_rel
        | Op::s_prefetch_data
        | Op::s_prefetch_data_pc_rel
        | Op::s_buffer_prefetch_data => |_, _| Flow::Next,
        Op::s_get_waveid_in_workgroup => |core, step| {
            let number = core.wave.number;
            core.wave.set_scalar(step.inst.dst, number);
            Flow::Next
        },
        _ => return atomic_versions(inst),
    };
    Some(Compilations::scalar(handler))
}

fn atomic_versions(inst: &Inst) -> Option<Compilations> {
    let Shape::Atomic { .. } = Shape::of(inst.op) else { return None };
    // The base is the resource of a buffer, or an address.
    let through_buffer = inst.src_type[0].dwords == 4;
    Some(Compilations::scalar(if through_buffer { buffer_atomic } else { plain_atomic }))
}

/// Immediate and register offset together.
#[inline(always)]
fn offset(core: &Core<'_>, step: &Step) -> u64 {
    let register = match step.src[2] {
        Source::None => 0,
        source => scalar32(core.wave, source),
    };
    i64::from(step.inst.mem.offset).wrapping_add(i64::from(register)) as u64
}

#[inline(always)]
fn address(core: &Core<'_>, step: &Step) -> u64 {
    // The low two bits of base and offset are ignored.
    (scalar64(core.wave, step.src[0]) & !3).wrapping_add(offset(core, step) & !3)
}

fn load<const N: usize>(core: &mut Core<'_>, step: &Step) -> Flow {
    let address = address(core, step);
    let size = N as u64 * 4;
    let Some(span) = core.span(step, address, size, AccessKind::Read) else {
        return core.refuse(None, address, size, AccessKind::Read);
    };
    if core.memory.tracks_writes() {
        core.note_access(step, None, address, size, AccessKind::Read);
    }
    write(core, step, span.load_dwords::<N>(address))
}

/// As [`load`] for the usual case: the base is a register pair, the offset is constant, and all lies in one allocation. `false`
/// if nothing was done.
#[inline(always)]
pub(crate) fn load_scalars<const N: usize>(core: &mut Core<'_>, step: &Step) -> bool {
    let (Source::Scalar(_), Source::None | Source::Constant(_), Operand::Sgpr(first)) =
        (step.src[0], step.src[2], step.inst.dst)
    else {
        return false;
    };
    let (address, memory) = (address(core, step), core.memory);
    if memory.tracks_writes() {
        return false;
    }
    let words = memory
        .span_through(core.windows, address, N as u64 * 4, MemoryUse::Read)
        .and_then(|span| span.whole_dwords::<N>(address));
    let registers = core.wave.s.get_mut(usize::from(first)..usize::from(first) + N);
    let (Some(words), Some(registers)) = (words, registers) else { return false };
    registers.copy_from_slice(&words);
    true
}

fn buffer_load<const N: usize>(core: &mut Core<'_>, step: &Step) -> Flow {
    let resource = Resource::read(core.wave, step, 0);
    let offset = offset(core, step) & !3;
    let mut words = [0; N];
    for (index, word) in words.iter_mut().enumerate() {
        let offset = offset.wrapping_add(index as u64 * 4);
        if offset.checked_add(4).is_none_or(|end| end > resource.bytes()) {
            continue;
        }
        let address = resource.base().wrapping_add(offset);
        let Some(span) = core.span(step, address, 4, AccessKind::Read) else {
            return core.refuse(None, address, 4, AccessKind::Read);
        };
        if core.memory.tracks_writes() {
            core.note_access(step, None, address, 4, AccessKind::Read);
        }
        *word = span.load(address);
    }
    write(core, step, words)
}

/// A load of a byte or of two, extended by a function.
fn part(core: &mut Core<'_>, step: &Step, size: u64, extended: fn(u32) -> u32) -> Flow {
    let address = scalar64(core.wave, step.src[0]).wrapping_add(offset(core, step));
    load_part(core, step, Some(address), size, extended)
}

/// The same from a buffer; zero outside of it.
fn buffer_part(core: &mut Core<'_>, step: &Step, size: u64, extended: fn(u32) -> u32) -> Flow {
    let resource = Resource::read(core.wave, step, 0);
    let offset = offset(core, step);
    let inside = offset.checked_add(size).is_some_and(|end| end <= resource.bytes());
    load_part(core, step, inside.then(|| resource.base().wrapping_add(offset)), size, extended)
}

fn load_part(
    core: &mut Core<'_>,
    step: &Step,
    address: Option<u64>,
    size: u64,
    extended: fn(u32) -> u32,
) -> Flow {
    let Some(address) = address else { return write(core, step, [0]) };
    let Some(span) = core.span(step, address, size, AccessKind::Read) else {
        return core.refuse(None, address, size, AccessKind::Read);
    };
    if core.memory.tracks_writes() {
        core.note_access(step, None, address, size, AccessKind::Read);
    }
    let word = if size == 1 { span.load8(0, address).into() } else { span.load16(0, address).into() };
    write(core, step, [extended(word)])
}

#[inline(always)]
fn write<const N: usize>(core: &mut Core<'_>, step: &Step, words: [u32; N]) -> Flow {
    if let Operand::Sgpr(first) = step.inst.dst {
        if let Some(registers) = core.wave.s.get_mut(usize::from(first)..usize::from(first) + N) {
            registers.copy_from_slice(&words);
            return Flow::Next;
        }
        for (number, word) in (usize::from(first)..).zip(words) {
            core.wave.s[number & 127] = word;
        }
    }
    Flow::Next
}

fn store<const N: usize>(core: &mut Core<'_>, step: &Step) -> Flow {
    let address = address(core, step);
    let size = N as u64 * 4;
    let Some(span) = core.span(step, address, size, AccessKind::Write) else {
        return core.refuse(None, address, size, AccessKind::Write);
    };
    if core.memory.tracks_writes() {
        core.note_access(step, None, address, size, AccessKind::Write);
    }
    for index in 0..N {
        span.store(address + index as u64 * 4, word(core, step, index));
    }
    Flow::Next
}

/// A register of the data of a store or an atomic.
fn word(core: &Core<'_>, step: &Step, index: usize) -> u32 {
    match step.src[1] {
        Source::Scalar(first) => core.wave.s[(usize::from(first) + index) & 127],
        _ => 0,
    }
}

/// The address of `size` bytes at an offset in a buffer, if it has them.
fn in_buffer(core: &Core<'_>, step: &Step, offset: u64, size: u64) -> Option<u64> {
    let resource = Resource::read(core.wave, step, 0);
    let inside = offset.checked_add(size).is_some_and(|end| end <= resource.bytes());
    inside.then(|| resource.base().wrapping_add(offset))
}

fn buffer_store<const N: usize>(core: &mut Core<'_>, step: &Step) -> Flow {
    let offset = offset(core, step) & !3;
    for index in 0..N {
        let Some(address) = in_buffer(core, step, offset.wrapping_add(index as u64 * 4), 4) else { continue };
        let Some(span) = core.span(step, address, 4, AccessKind::Write) else {
            return core.refuse(None, address, 4, AccessKind::Write);
        };
        if core.memory.tracks_writes() {
            core.note_access(step, None, address, 4, AccessKind::Write);
        }
        span.store(address, word(core, step, index));
    }
    Flow::Next
}

fn plain_atomic(core: &mut Core<'_>, step: &Step) -> Flow {
    let address = address(core, step);
    atomic(core, step, Some(address))
}

fn buffer_atomic(core: &mut Core<'_>, step: &Step) -> Flow {
    let Shape::Atomic { wide, .. } = step.shape else { return Flow::Next };
    let offset = offset(core, step) & !3;
    let address = in_buffer(core, step, offset, if wide { 8 } else { 4 });
    atomic(core, step, address)
}

/// A read-modify-write. Outside of its buffer it changes nothing and gives zero.
fn atomic(core: &mut Core<'_>, step: &Step, address: Option<u64>) -> Flow {
    let Shape::Atomic { rmw, wide } = step.shape else { return Flow::Next };
    let pair = |core: &Core<'_>, first| {
        u64::from(word(core, step, first)) | u64::from(word(core, step, first + 1)) << 32
    };
    let old = match address {
        None => 0,
        Some(address) => {
            let size = if wide { 8 } else { 4 };
            if !address.is_multiple_of(size) {
                return core.stop_access(Cause::MisalignedAtomic, None, address, size, AccessKind::Atomic);
            }
            let Some(span) = core.span(step, address, size, AccessKind::Atomic) else {
                return core.refuse(None, address, size, AccessKind::Atomic);
            };
            if core.memory.tracks_writes() {
                core.note_access(step, None, address, size, AccessKind::Atomic);
            }
            if wide {
                let (a, b) = (pair(core, 0), pair(core, 2));
                span.update64(address, |old| rmw.apply64(old, a, b))
            } else {
                let (a, b) = (word(core, step, 0), word(core, step, 1));
                span.update32(address, |old| rmw.apply32(old, a, b)).into()
            }
        }
    };
    if wide { write(core, step, [old as u32, (old >> 32) as u32]) } else { write(core, step, [old as u32]) }
}
