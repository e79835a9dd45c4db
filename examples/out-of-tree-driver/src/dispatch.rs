// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs a kernel over a grid: one workgroup after the other, and between two barriers one work-item after the other.

use std::sync::{
    Arc,
    atomic::{AtomicU8, Ordering::Relaxed},
};

use windlass_hal::{Error, Result, driver, host_memory::HostMemory};

use crate::{
    allocator::Memory,
    executable::Executable,
    program::{Act, Instruction, Kernel},
    words::Word,
};

/// A dispatch, submitted or recorded. The front has checked its shape.
pub(crate) struct Launch<'a> {
    pub(crate) executable: &'a dyn driver::RawExecutable,
    pub(crate) function: u32,
    pub(crate) workgroup_count: [u32; 3],
    pub(crate) workgroup_size: [u32; 3],
    pub(crate) dynamic_local_memory: u32,
    pub(crate) arguments: &'a [u8],
    pub(crate) memory: &'a Memory,
}

/// The address of local memory, below all allocated memory.
const LOCAL: u64 = 1 << 20;
/// The most numbers on a stack.
const DEEPEST: usize = 256;

/// Runs the kernel. The first error ends the dispatch and names kernel, workgroup, work-item and line.
pub(crate) fn run(launch: &Launch<'_>) -> Result<()> {
    let executable: Option<&Executable> = launch.executable.as_any().downcast_ref();
    let kernel = executable.and_then(|executable| executable.kernel(launch.function));
    let kernel = kernel.ok_or_else(|| Error::internal("the kernel is none of the postfix machine"))?;
    let bytes = u64::from(kernel.info.static_local_memory) + u64::from(launch.dynamic_local_memory);
    let local = HostMemory::new(bytes, 1, 0xcd)?;
    let mut machine = Machine { launch, kernel, local: local.bytes(), seen: Vec::new() };
    let [width, height, depth] = launch.workgroup_count;
    for z in 0..depth {
        for y in 0..height {
            for x in 0..width {
                machine.workgroup([x, y, z])?;
            }
        }
    }
    Ok(())
}

struct Machine<'a> {
    launch: &'a Launch<'a>,
    kernel: &'a Kernel,
    local: &'a [AtomicU8],
    /// Slabs that this dispatch has used, so that not every access searches the address space.
    seen: Vec<(u64, Arc<HostMemory>)>,
}

/// The state of one work-item.
pub(crate) struct Item {
    /// The item's position in the workgroup, the workgroup's position in the grid, the workgroup's size, the grid's
    /// size, and `id`.
    pub(crate) places: [u32; 13],
    at: usize,
    stack: Vec<u64>,
    variables: Vec<u64>,
}

#[derive(PartialEq)]
enum Stop {
    Ended,
    Barrier,
}

impl Machine<'_> {
    fn workgroup(&mut self, group: [u32; 3]) -> Result<()> {
        let (size, count) = (self.launch.workgroup_size, self.launch.workgroup_count);
        let mut items = Vec::new();
        for z in 0..size[2] {
            for y in 0..size[1] {
                for x in 0..size[0] {
                    let mut places = [0; 13];
                    let known = [[x, y, z], group, size, count];
                    places[..12].iter_mut().zip(known.as_flattened()).for_each(|(to, from)| *to = *from);
                    places[12] = group[0].wrapping_mul(size[0]).wrapping_add(x);
                    let variables = vec![0; self.kernel.variables];
                    items.push(Item { places, at: 0, stack: Vec::new(), variables });
                }
            }
        }
        loop {
            let mut waiting = false;
            for item in &mut items {
                waiting |= self.item(item).map_err(|error| {
                    let step = self.kernel.code.get(item.at.saturating_sub(1));
                    let [x, y, z, ..] = item.places;
                    error.context(format!(
                        "running `{}`, workgroup {group:?}, work-item {:?}, {}",
                        self.kernel.info.name,
                        [x, y, z],
                        step.map_or_else(String::new, describe),
                    ))
                })? == Stop::Barrier;
            }
            if !waiting {
                return Ok(());
            }
        }
    }

    /// Runs a work-item up to its next barrier or to its end.
    fn item(&mut self, item: &mut Item) -> Result<Stop> {
        loop {
            let step =
                self.kernel.code.get(item.at).ok_or_else(|| Error::internal("the code has no such step"))?;
            item.at += 1;
            match step.act {
                Act::Push(value) => item.push(value)?,
                Act::Argument { offset, size, signed } => {
                    let value = self.argument(offset as u64, size)?;
                    let unused = 64 - 8 * size as u32;
                    let extended = (((value << unused) as i64) >> unused) as u64;
                    item.push(if signed { extended } else { value })?;
                }
                Act::Get(variable) => item.push(item.variables[variable])?,
                Act::Set(variable) => item.variables[variable] = item.pop()?,
                Act::Jump(to) => item.at = to,
                Act::JumpIfZero(to) => {
                    if item.pop()? == 0 {
                        item.at = to;
                    }
                }
                Act::Word(_, Word::Barrier) => return Ok(Stop::Barrier),
                Act::Word(_, Word::Require) => {
                    if item.pop()? == 0 {
                        item.at = self.kernel.code.len() - 1;
                    }
                }
                Act::Word(_, word) => self.word(word, item)?,
                Act::End => {
                    item.at -= 1;
                    return Ok(Stop::Ended);
                }
            }
        }
    }

    fn word(&mut self, word: Word, item: &mut Item) -> Result<()> {
        match word {
            Word::Unary(compute) => {
                let a = item.pop()?;
                item.push(compute(a))
            }
            Word::Binary(compute) => {
                let (b, a) = (item.pop()?, item.pop()?);
                item.push(compute(a, b))
            }
            Word::Ternary(compute) => {
                let (c, b, a) = (item.pop()?, item.pop()?, item.pop()?);
                item.push(compute(a, b, c))
            }
            Word::Place(place) => item.push(u64::from(item.places[place])),
            Word::Load(size) => {
                let address = item.pop()?;
                let value = self.at(address, size, number)?;
                item.push(value)
            }
            Word::Store(size) => {
                let (address, value) = (item.pop()?, item.pop()?);
                self.at(address, size, |bytes| put(bytes, value))
            }
            Word::Read(size) => {
                let offset = item.pop()?;
                item.push(self.argument(offset, size)?)
            }
            // Plain accesses are atomic here, because the machine runs one work-item at a time.
            Word::Update(compute) => {
                let (address, value) = (item.pop()?, item.pop()?);
                let old = self.at(address, 4, |bytes| {
                    let old = number(bytes);
                    put(bytes, compute(old, value));
                    old
                })?;
                item.push(old)
            }
            Word::Duplicate => {
                let a = item.pop()?;
                item.push(a)?;
                item.push(a)
            }
            Word::Drop => item.pop().map(drop),
            Word::Local => item.push(LOCAL),
            Word::Trap => Err(Error::aborted("the kernel trapped")),
            Word::Require | Word::Barrier => Err(Error::internal("no word of its own")),
        }
    }

    /// Calls `act` with the bytes at an address of local or device memory.
    fn at<T>(&mut self, address: u64, size: usize, act: impl FnOnce(&[AtomicU8]) -> T) -> Result<T> {
        if let Some(bytes) = address.checked_sub(LOCAL).and_then(|at| range(self.local, at, size)) {
            return Ok(act(bytes));
        }
        let own = |(start, memory): &(u64, Arc<HostMemory>)| {
            address.checked_sub(*start).is_some_and(|at| at < memory.bytes().len() as u64)
        };
        let known = match self.seen.iter().position(own) {
            Some(known) => known,
            None => {
                self.seen.extend(self.launch.memory.find(address));
                self.seen.len().saturating_sub(1)
            }
        };
        let found = self.seen.get(known).filter(|slab| own(slab));
        let bytes = found.and_then(|(start, memory)| range(memory.bytes(), address - start, size));
        bytes.map(act).ok_or_else(|| {
            Error::out_of_range(format!(
                "{size} bytes at {address:#x}: nothing that is allocated, and no local memory"
            ))
        })
    }

    fn argument(&self, offset: u64, size: usize) -> Result<u64> {
        let block = self.launch.arguments;
        let bytes = usize::try_from(offset).ok().and_then(|at| block.get(at..)?.get(..size));
        let bytes = bytes.ok_or_else(|| {
            Error::out_of_range(format!("{size} bytes at {offset} of an argument block of {}", block.len()))
        })?;
        Ok(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }
}

impl Item {
    fn push(&mut self, value: u64) -> Result<()> {
        if self.stack.len() == DEEPEST {
            return Err(Error::aborted(format!("a stack of more than {DEEPEST} numbers")));
        }
        self.stack.push(value);
        Ok(())
    }

    fn pop(&mut self) -> Result<u64> {
        self.stack.pop().ok_or_else(|| Error::aborted("the stack is empty"))
    }
}

fn range(bytes: &[AtomicU8], at: u64, size: usize) -> Option<&[AtomicU8]> {
    bytes.get(usize::try_from(at).ok()?..)?.get(..size)
}

/// A little-endian number.
fn number(bytes: &[AtomicU8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(byte.load(Relaxed)))
}

fn put(bytes: &[AtomicU8], value: u64) {
    for (to, from) in bytes.iter().zip(value.to_le_bytes()) {
        to.store(from, Relaxed);
    }
}

fn describe(step: &Instruction) -> String {
    match step.act {
        Act::Word(name, _) => format!("line {}, `{name}`", step.line),
        _ => format!("line {}", step.line),
    }
}
