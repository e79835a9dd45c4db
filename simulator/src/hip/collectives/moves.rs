// SPDX-License-Identifier: MIT OR Apache-2.0
//! Does the operation of a round: checks the memory of all ranks, then reads and writes it.

use super::element::{Reduction, reduce};
use super::entry::Entry;
use super::operation::{Factor, Kind};
use crate::hip::hardware::machine::Machine;
use crate::memory::{Closed, MemoryError};
use windlass_simulated_gpu::engine::DefaultFloatMode;

/// The bytes of each rank that are reduced at a time; a multiple of every element.
const PIECE: u64 = 1 << 20;

/// Why an operation cannot be done.
#[derive(Debug)]
pub(super) enum Wrong {
    /// The rank in the slot cannot use its memory.
    Memory { slot: usize, words: String },
    /// The ranks ask for different operations.
    Mismatch(String),
}

/// An operation with the addresses of all ranks.
struct Running<'a> {
    machine: &'a Machine,
    entries: &'a [Entry],
    /// The addresses that the ranks send from and receive into, as devices see them.
    sent: Vec<u64>,
    received: Vec<u64>,
    /// The bytes of a block.
    block: u64,
}

/// Does the operation of the ranks, which are in the order of their slots.
pub(super) fn run(machine: &Machine, entries: &[Entry]) -> Result<(), Wrong> {
    let Some(first) = entries.first() else { return Ok(()) };
    if let Some(other) = entries.iter().find(|entry| entry.operation != first.operation) {
        return Err(Wrong::Mismatch(format!(
            "ranks of one communicator call for different operations: rank {} for {} by {}, rank {} for {} by {}; all ranks \
             make the same calls in the same order",
            first.rank, first.operation, first.call, other.rank, other.operation, other.call
        )));
    }
    let seen = |address| machine.ledger.device_address(address);
    let running = Running {
        machine,
        entries,
        sent: entries.iter().map(|entry| seen(entry.sent)).collect(),
        received: entries.iter().map(|entry| seen(entry.received)).collect(),
        block: first.operation.block(),
    };
    running.check()?;
    match first.operation.kind {
        Kind::AllReduce(reduction) => {
            let to: Vec<u64> = running.received.clone();
            running.reduce(reduction, &running.sent, &to)
        }
        Kind::Reduce(reduction, root) => {
            let to: Vec<u64> = running.received.get(root).copied().into_iter().collect();
            running.reduce(reduction, &running.sent, &to)
        }
        Kind::ReduceScatter(reduction) => running.received.iter().zip(0..).try_for_each(|(to, part)| {
            let from: Vec<u64> = running.sent.iter().map(|from| running.part(*from, part)).collect();
            running.reduce(reduction, &from, &[*to])
        }),
        Kind::Broadcast(root) => {
            let from = running.sent.get(root).copied().unwrap_or(0);
            running.received.iter().enumerate().try_for_each(|(slot, to)| running.copy(slot, *to, from))
        }
        Kind::AllGather => running.received.iter().enumerate().try_for_each(|(slot, to)| {
            let mut parts = running.sent.iter().zip(0..);
            parts.try_for_each(|(from, part)| running.copy(slot, running.part(*to, part), *from))
        }),
        Kind::Gather(root) => {
            let to = running.received.get(root).copied().unwrap_or(0);
            let mut parts = running.sent.iter().enumerate();
            parts.try_for_each(|(slot, from)| running.copy(slot, running.part(to, slot as u64), *from))
        }
        Kind::Scatter(root) => {
            let from = running.sent.get(root).copied().unwrap_or(0);
            let mut parts = running.received.iter().enumerate();
            parts.try_for_each(|(slot, to)| running.copy(slot, *to, running.part(from, slot as u64)))
        }
        Kind::AllToAll => running.exchange(),
        Kind::Send => match (running.received.get(1), running.sent.first()) {
            (Some(to), Some(from)) => running.copy(1, *to, *from),
            _ => Ok(()),
        },
    }
}

impl Running<'_> {
    /// The address of a block.
    fn part(&self, address: u64, part: u64) -> u64 {
        address.wrapping_add(self.block.wrapping_mul(part))
    }

    /// Checks that each rank's memory is there and open to its device. Nothing was written yet.
    fn check(&self) -> Result<(), Wrong> {
        for (slot, entry) in self.entries.iter().enumerate() {
            let Some(sides) = entry.operation.sides(slot, self.entries.len()) else { continue };
            let own = |addresses: &[u64]| addresses.get(slot).copied().unwrap_or(0);
            for (address, bytes, side) in
                [(own(&self.sent), sides.sent, "sends"), (own(&self.received), sides.received, "receives")]
            {
                if bytes == 0 {
                    continue;
                }
                let wrong = |words: String| Wrong::Memory { slot, words };
                self.machine
                    .memory
                    .span(address, bytes)
                    .map_err(|error| wrong(format!("the memory that it {side}: {error}")))?;
                let device = entry.member.device;
                let reach = self.machine.devices.get(device).map(|device| device.reach());
                if let Some(closed) = reach.and_then(|reach| self.machine.memory.closed(address, reach)) {
                    let why = match closed {
                        Closed::Device(other) => {
                            format!("device {other} has it, and peer access is not enabled")
                        }
                        Closed::Mapping => "hipMemSetAccess gave the device no access".to_owned(),
                    };
                    return Err(wrong(format!(
                        "the memory that it {side}, {bytes} bytes at {address:#x}, is not open to its device {device}: {why}"
                    )));
                }
            }
        }
        Ok(())
    }

    fn copy(&self, slot: usize, to: u64, from: u64) -> Result<(), Wrong> {
        if to == from || self.block == 0 {
            return Ok(());
        }
        self.machine.memory.copy(to, from, self.block).map_err(|error| memory(slot, &error))
    }

    /// Reduces a block of each rank, and writes the result to each address.
    fn reduce(&self, reduction: Reduction, from: &[u64], to: &[u64]) -> Result<(), Wrong> {
        let _mode = DefaultFloatMode::enter();
        let Some(first) = self.entries.first() else { return Ok(()) };
        let factors = self.factors()?;
        let mut at = 0;
        while at < self.block {
            let length = PIECE.min(self.block - at);
            let mut ranks = Vec::with_capacity(from.len());
            for (slot, address) in from.iter().enumerate() {
                ranks.push(self.read(slot, address.wrapping_add(at), length)?);
            }
            let reduced = reduce(first.operation.element, reduction, &ranks, &factors);
            for (slot, address) in to.iter().enumerate() {
                let written = self.machine.memory.write(address.wrapping_add(at), &reduced);
                written.map_err(|error| memory(slot, &error))?;
            }
            at += length;
        }
        Ok(())
    }

    /// Swaps blocks between each pair of ranks. Memory that is sent and received in place keeps no block from its way.
    fn exchange(&self) -> Result<(), Wrong> {
        let ranks = self.entries.len();
        let at = |addresses: &[u64], rank: usize, part: usize| {
            self.part(addresses.get(rank).copied().unwrap_or(0), part as u64)
        };
        for one in 0..ranks {
            for other in one..ranks {
                let mut done = 0;
                while done < self.block {
                    let length = PIECE.min(self.block - done);
                    let there = self.read(one, at(&self.sent, one, other).wrapping_add(done), length)?;
                    let back = self.read(other, at(&self.sent, other, one).wrapping_add(done), length)?;
                    for (rank, part, bytes) in [(other, one, &there), (one, other, &back)] {
                        let to = at(&self.received, rank, part).wrapping_add(done);
                        self.machine.memory.write(to, bytes).map_err(|error| memory(rank, &error))?;
                    }
                    done += length;
                }
            }
        }
        Ok(())
    }

    fn read(&self, slot: usize, address: u64, length: u64) -> Result<Vec<u8>, Wrong> {
        // At most a piece.
        let mut bytes = vec![0; length as usize];
        self.machine.memory.read(address, &mut bytes).map_err(|error| memory(slot, &error))?;
        Ok(bytes)
    }

    /// The factors of a scaled sum; those in memory are read now.
    fn factors(&self) -> Result<Vec<[u8; 8]>, Wrong> {
        let factor = |(slot, entry): (usize, &Entry)| match entry.factor {
            None => Ok([0; 8]),
            Some(Factor::Given(bytes)) => Ok(bytes),
            Some(Factor::At(address)) => {
                let address = self.machine.ledger.device_address(address);
                let size = entry.operation.element.size().unwrap_or(0);
                let read = self.read(slot, address, size as u64)?;
                let mut bytes = [0; 8];
                bytes.iter_mut().zip(read).for_each(|(to, byte)| *to = byte);
                Ok(bytes)
            }
        };
        self.entries.iter().enumerate().map(factor).collect()
    }
}

fn memory(slot: usize, error: &MemoryError) -> Wrong {
    Wrong::Memory { slot, words: error.to_string() }
}
