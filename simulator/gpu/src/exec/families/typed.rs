// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffers with a format: data is converted between the format's numbers and singles, halves or integers. The format is
//! in the instruction (MTBUF) or in the resource (MUBUF's format instructions). The resource then also maps components.

use crate::exec::families::buffer::{LaneAccesses, Reach, accesses, elsewhere};
use crate::exec::families::resource::Resource;
use crate::exec::families::vmem::{lds_targets, with_spans};
use crate::exec::machine::core::{Core, Flow};
use crate::exec::machine::handler::Compilations;
use crate::exec::machine::shape::{Components, Shape};
use crate::exec::machine::step::{Source, Step};
use crate::exec::machine::trouble::{AccessKind, Cause};
use crate::exec::values::format::Format;
use crate::exec::values::row::LANES;
use crate::isa::{Encoding, Inst};
use crate::lane_mask::LaneMask;
use crate::memory::access::Span;

/// The handler of an instruction of this family.
///
/// # Errors
/// The reason why the format in the instruction is not executed.
pub(crate) fn compilations(inst: &Inst) -> Result<Option<Compilations>, &'static str> {
    let shape = Shape::of(inst.op);
    let (Shape::LoadFormat(components) | Shape::StoreFormat(components)) = shape else { return Ok(None) };
    let loads = matches!(shape, Shape::LoadFormat(_));
    if inst.encoding == Encoding::Mtbuf {
        let format = typed(inst)?;
        let halves = components.are_halves();
        if loads { format.loads(halves)? } else { format.stores(halves)? }
    }
    Ok(Some(Compilations::scalar(match (loads, inst.mem.lds) {
        (true, true) => load_to_lds,
        (true, false) => load,
        (false, _) => store,
    })))
}

/// The format in an instruction.
fn typed(inst: &Inst) -> Result<Format, &'static str> {
    let (data, number) = inst.set.buffer_format(inst.mem.format.into()).ok_or("an invalid data format")?;
    Format::from_codes(data, number)
}

/// The source of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Select {
    Zero,
    One,
    Component(u8),
}

/// The format of an access, and the source of each of four components.
fn described(core: &Core<'_>, step: &Step) -> Result<(Format, [Select; 4]), &'static str> {
    if step.inst.encoding == Encoding::Mtbuf {
        let format = typed(&step.inst)?;
        let select = |at: u8| {
            if usize::from(at) < format.components.len() { Select::Component(at) } else { Select::Zero }
        };
        return Ok((format, [0, 1, 2, 3].map(select)));
    }
    let resource = Resource::read(core.wave, step, 2);
    let format = resource.format(step.inst.set)?;
    let mut selects = [Select::Zero; 4];
    for (at, select) in selects.iter_mut().enumerate() {
        *select = match resource.select(at) {
            0 => Select::Zero,
            1 => Select::One,
            code @ 4.. => Select::Component(code as u8 - 4),
            _ => return Err("a reserved component select"),
        };
    }
    Ok((format, selects))
}

/// Stops the wave at a format that is not simulated.
#[cold]
fn refuse(core: &mut Core<'_>, step: &Step, reason: &str) -> Flow {
    let instruction = step.inst.disassemble(step.offset.into());
    core.stop(Cause::Unsupported { instructions: format!("{instruction} ({reason})") })
}

/// The format and the components of a load.
fn loaded(
    core: &Core<'_>,
    step: &Step,
    components: Components,
) -> Result<(Format, [Select; 4]), &'static str> {
    let (format, selects) = described(core, step)?;
    format.loads(components.are_halves())?;
    let missing = |select: &Select| matches!(select, Select::Component(at) if usize::from(*at) >= format.components.len());
    if selects[..usize::from(components.count())].iter().any(missing) {
        return Err("a component that the format does not have");
    }
    Ok((format, selects))
}

/// The bytes of an element.
fn element(span: &Span<'_>, address: u64, format: &Format) -> u128 {
    (0..u64::from(format.bytes))
        .fold(0, |bits, at| bits | u128::from(span.load::<u8>(address.wrapping_add(at))) << (8 * at))
}

/// A component of an element, or its constant.
fn value(format: &Format, select: Select, bits: Option<u128>, half: bool) -> u32 {
    match (select, bits) {
        (Select::One, _) => format.one(half),
        (Select::Component(at), Some(element)) => {
            let (first, bits) = format.components[usize::from(at)];
            let raw = (element >> first) as u32 & (!0 >> (32 - bits));
            format.load(raw, bits, half)
        }
        _ => 0,
    }
}

/// Puts the components of one lane into registers; zeros without an element.
fn deliver(
    core: &mut Core<'_>,
    step: &Step,
    lane: usize,
    (format, selects): &(Format, [Select; 4]),
    components: Components,
    element: Option<u128>,
) {
    let half = components.are_halves();
    for at in 0..components.count() {
        let value = value(format, selects[usize::from(at)], element, half);
        let (register, place) = components.place(at);
        let word = &mut core.wave.row_mut(step.dst + register)[lane];
        let keeps = step.inst.set.keeps_halves;
        *word = match place {
            None => value,
            Some(0) if keeps => *word & 0xffff_0000 | value,
            Some(0) => value,
            Some(_) if components == Components::HighHalf && !keeps => value << 16,
            Some(_) => *word & 0xffff | value << 16,
        };
    }
}

fn load(core: &mut Core<'_>, step: &Step) -> Flow {
    let Shape::LoadFormat(components) = step.shape else { return Flow::Next };
    let described = match loaded(core, step, components) {
        Ok(described) => described,
        Err(reason) => return refuse(core, step, reason),
    };
    let size = described.0.bytes.into();
    let found = accesses(core, step, size);
    if found.reach != Reach::Memory {
        return elsewhere(core, step, &found);
    }
    let LaneAccesses { addresses, whole, partial, .. } = found;
    let flow = with_spans(core, step, &addresses, whole, size, AccessKind::Read, |core, span, mask| {
        for lane in mask.lanes() {
            let element = element(&span, addresses[lane], &described.0);
            deliver(core, step, lane, &described, components, Some(element));
        }
    });
    if flow == Flow::Next {
        // An element lies in the buffer as a whole or not at all.
        for (lane, _) in partial {
            deliver(core, step, lane, &described, components, None);
        }
    }
    flow
}

fn load_to_lds(core: &mut Core<'_>, step: &Step) -> Flow {
    let described = match loaded(core, step, Components::Whole(1)) {
        Ok(described) => described,
        Err(reason) => return refuse(core, step, reason),
    };
    let size = described.0.bytes.into();
    let found = accesses(core, step, size);
    if found.reach != Reach::Memory {
        return elsewhere(core, step, &found);
    }
    let LaneAccesses { addresses, whole, partial, .. } = found;
    let lanes = partial.iter().fold(whole, |mask, (lane, _)| mask | LaneMask::of_lane(*lane));
    let places = match lds_targets(core, step, lanes) {
        Ok(places) => places,
        Err(stop) => return stop,
    };
    let (format, selects) = described;
    let flow = with_spans(core, step, &addresses, whole, size, AccessKind::Read, |core, span, mask| {
        for lane in mask.lanes() {
            let element = element(&span, addresses[lane], &format);
            let value = value(&format, selects[0], Some(element), false);
            core.lds.store(places[lane], value.to_le_bytes());
        }
    });
    if flow == Flow::Next {
        for (lane, _) in partial {
            let value = value(&format, selects[0], None, false);
            core.lds.store(places[lane], value.to_le_bytes());
        }
    }
    flow
}

/// For each component in memory, the component in the registers that is stored there.
fn stored(core: &Core<'_>, step: &Step, components: Components) -> Result<(Format, [u8; 4]), &'static str> {
    let (format, selects) = described(core, step)?;
    format.stores(components.are_halves())?;
    let mut sources = [0; 4];
    for (at, source) in (0..).zip(sources.iter_mut()).take(format.components.len()) {
        let from = selects.iter().position(|select| *select == Select::Component(at));
        let from = from.ok_or("a store that selects no value for a component")? as u8;
        // The first component replaces components that the instruction does not have.
        *source = if from < components.count() { from } else { 0 };
    }
    Ok((format, sources))
}

fn store(core: &mut Core<'_>, step: &Step) -> Flow {
    let (Shape::StoreFormat(components), Source::Vector(data)) = (step.shape, step.src[1]) else {
        return Flow::Next;
    };
    let (format, sources) = match stored(core, step, components) {
        Ok(stored) => stored,
        Err(reason) => return refuse(core, step, reason),
    };
    let size = u64::from(format.bytes);
    let found = accesses(core, step, size);
    if found.reach != Reach::Memory {
        return elsewhere(core, step, &found);
    }
    let LaneAccesses { addresses, whole, .. } = found;
    // All elements are converted before the first is stored, so that a refused store leaves memory unchanged.
    let mut elements = [0u128; LANES];
    for lane in whole.lanes() {
        for ((first, bits), source) in format.components.iter().zip(sources) {
            let (register, place) = components.place(source);
            let word = core.wave.row(data + register)[lane];
            let value = if place == Some(1) { word >> 16 } else { word };
            match format.store(value, *bits, place.is_some()) {
                Some(value) => elements[lane] |= u128::from(value) << first,
                None => return refuse(core, step, "a single that no half is equal to"),
            }
        }
    }
    with_spans(core, step, &addresses, whole, size, AccessKind::Write, |_, span, mask| {
        for lane in mask.lanes() {
            for (at, byte) in (0..size).zip(elements[lane].to_le_bytes()) {
                span.store(addresses[lane].wrapping_add(at), byte);
            }
        }
    })
}
