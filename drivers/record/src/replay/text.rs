// SPDX-License-Identifier: MIT OR Apache-2.0
//! Events as lines for people.

use std::fmt;

use crate::format::event::{
    Argument, Arguments, At, Change, Command, Count, Event, Launch, Origin, Place, Range, Submission, Work,
};

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "s{}={}", self.semaphore, self.value)
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b{}[{}+{}]", self.buffer, self.offset, self.length)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Direct { range } => range.fmt(f),
            Self::Slot { slot, offset, length } => write!(f, "slot {slot}[{offset}+{length}]"),
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allocated {} => f.write_str("allocated"),
            Self::Reserved {} => f.write_str("reserved for an alloca"),
            Self::HostImport {} => f.write_str("imported host memory"),
            Self::DeviceImport {} => f.write_str("imported device memory"),
            Self::Alias { of, offset } => write!(f, "the memory of b{of} from byte {offset}"),
            Self::Global { executable, name, .. } => write!(f, "the variable {name} of e{executable}"),
            Self::Foreign {} => f.write_str("made outside of the recording"),
        }
    }
}

impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "dispatch {} of e{}, ", self.function, self.executable)?;
        match &self.count {
            Count::Direct { count: [x, y, z] } => write!(f, "{x}x{y}x{z} workgroups")?,
            Count::Static { place } => write!(f, "workgroups from {place}")?,
            Count::Dynamic { place } => write!(f, "workgroups from {place} when it is written")?,
        }
        let [x, y, z] = self.size;
        write!(f, " of {x}x{y}x{z}")?;
        if self.local_memory > 0 {
            write!(f, ", {} bytes of local memory", self.local_memory)?;
        }
        match &self.arguments {
            Arguments::Each { arguments } => {
                f.write_str(" (")?;
                for (index, argument) in arguments.iter().enumerate() {
                    f.write_str(if index == 0 { "" } else { ", " })?;
                    match argument {
                        Argument::Buffer { buffer, offset: 0 } => write!(f, "b{buffer}")?,
                        Argument::Buffer { buffer, offset } => write!(f, "b{buffer}+{offset}")?,
                        Argument::Slot { slot, offset: 0 } => write!(f, "slot {slot}")?,
                        Argument::Slot { slot, offset } => write!(f, "slot {slot}+{offset}")?,
                        Argument::Null {} => f.write_str("null")?,
                        Argument::Value { bytes } => match bytes {
                            crate::format::coding::Bytes::Here(bytes) if bytes.len() <= 8 => {
                                f.write_str("0x")?;
                                bytes.iter().rev().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                            }
                            bytes => write!(f, "{} bytes", bytes.len())?,
                        },
                    }
                }
                f.write_str(")")
            }
            Arguments::Block { bytes, addresses, unknown } => {
                write!(f, " (a block of {} bytes", bytes.len())?;
                for address in addresses {
                    write!(f, ", b{}+{} at {}", address.buffer, address.offset, address.at)?;
                }
                for at in unknown {
                    write!(f, ", an unknown address at {at}")?;
                }
                f.write_str(")")
            }
        }
    }
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Barrier {} => f.write_str("barrier"),
            Self::Fill { target, pattern, size } => {
                write!(f, "fill {target} with {pattern:#x}, {size} bytes")
            }
            Self::Update { source, target } => write!(f, "update {target} with {} bytes", source.len()),
            Self::Copy { source, target } => write!(f, "copy {source} to {target}"),
            Self::Dispatch { launch } => launch.fmt(f),
            Self::SignalEvent { event } => write!(f, "signal event {event}"),
            Self::ResetEvent { event } => write!(f, "reset event {event}"),
            Self::WaitEvents { events } => write!(f, "wait for events {events:?}"),
            Self::BeginGroup { label, .. } => write!(f, "begin group {label}"),
            Self::EndGroup {} => f.write_str("end group"),
        }
    }
}

impl fmt::Display for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Barrier {} => f.write_str("barrier"),
            Self::Alloca { buffer } => write!(f, "alloca b{buffer}"),
            Self::Dealloca { buffer } => write!(f, "dealloca b{buffer}"),
            Self::Fill { target, pattern, size } => {
                write!(f, "fill {target} with {pattern:#x}, {size} bytes")
            }
            Self::Update { source, target } => write!(f, "update {target} with {} bytes", source.len()),
            Self::Copy { source, target } => write!(f, "copy {source} to {target}"),
            Self::Read { offset, target } => write!(f, "read a file from byte {offset} to {target}"),
            Self::Write { source, offset } => write!(f, "write {source} to a file at byte {offset}"),
            Self::HostCall {} => f.write_str("host call"),
            Self::Dispatch { launch } => launch.fmt(f),
            Self::Execute { list, bindings } => {
                write!(f, "execute c{list}")?;
                for (slot, range) in bindings.iter().enumerate() {
                    write!(f, "{} {slot}: {range}", if slot == 0 { " with" } else { "," })?;
                }
                Ok(())
            }
        }
    }
}

fn points(f: &mut fmt::Formatter<'_>, what: &str, points: &[At]) -> fmt::Result {
    if points.is_empty() {
        return Ok(());
    }
    write!(f, ", {what}")?;
    points.iter().try_for_each(|at| write!(f, " {at}"))
}

fn changed(changes: &[Change]) -> u64 {
    changes.iter().map(|change| change.range().1).sum()
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Buffer { buffer, origin, size, .. } => write!(f, "b{buffer}: {size} bytes, {origin}"),
            Self::BufferGone { buffer } => write!(f, "b{buffer} is gone"),
            Self::Executable { executable, parts } => {
                let bytes: u64 = parts.iter().map(|part| part.len()).sum();
                write!(f, "e{executable}: {bytes} bytes of code in {} pieces", parts.len())
            }
            Self::List { list, slots, commands } => {
                write!(f, "c{list}: {} commands, {slots} slots", commands.len())?;
                commands.iter().try_for_each(|command| write!(f, "\n    {command}"))
            }
            Self::Submit { submission: Submission { operation, affinity, waits, signals, work } } => {
                write!(f, "#{operation} {work}")?;
                if *affinity != u64::MAX {
                    write!(f, ", queues {affinity:#x}")?;
                }
                points(f, "waits for", waits)?;
                points(f, "signals", signals)
            }
            Self::Refused { operation } => write!(f, "#{operation} was refused"),
            Self::Began { operation } => write!(f, "#{operation} begins"),
            Self::Ended { ended } => {
                write!(f, "#{} ", ended.operation)?;
                match &ended.failure {
                    None => f.write_str("ends")?,
                    Some(failure) => write!(f, "fails: {}", failure.message)?,
                }
                for readback in &ended.readbacks {
                    let bytes: u64 = readback.ranges.iter().map(|[_, length]| length).sum();
                    let changed = changed(&readback.changes);
                    write!(f, ", the host sees {bytes} bytes of b{}, {changed} changed", readback.buffer)?;
                }
                let bytes: u64 = ended.pieces.iter().map(|piece| piece.bytes.len()).sum();
                if bytes > 0 { write!(f, ", {bytes} bytes of a file") } else { Ok(()) }
            }
            Self::HostWrite { buffer, changes } => {
                write!(f, "the host writes {} bytes of b{buffer}", changed(changes))
            }
            Self::HostSignal { at } => write!(f, "the host signals {at}"),
            Self::HostFail { semaphore, failure } => {
                write!(f, "the host fails s{semaphore}: {}", failure.message)
            }
            Self::Contents { buffer, bytes } => {
                write!(f, "b{buffer} has {} bytes of another library", bytes.len())
            }
            Self::Closed {} => f.write_str("the device is closed"),
        }
    }
}
