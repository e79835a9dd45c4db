// SPDX-License-Identifier: MIT OR Apache-2.0
//! The events of a recording. Objects have numbers; each kind of object counts from 0.

use super::coding::{Bytes, choice, structure};

/// The point of a semaphore.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct At {
    /// The number of the semaphore.
    pub(crate) semaphore: u32,
    /// The value.
    pub(crate) value: u64,
}
structure!(At { semaphore, value });

/// A range of a buffer, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// The number of the buffer.
    pub(crate) buffer: u32,
    /// The offset in the allocation.
    pub(crate) offset: u64,
    /// The length.
    pub(crate) length: u64,
}
structure!(Range { buffer, offset, length });

/// A range that a command names: known when it was recorded, or a part of a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// A range of a buffer.
    Direct {
        /// The range.
        range: Range,
    },
    /// A part of the range that the binding table holds in a slot, in bytes.
    Slot {
        /// The number of the slot.
        slot: u32,
        /// The offset of the part.
        offset: u64,
        /// The length of the part.
        length: u64,
    },
}
choice!(Place, "a range" { 0 => Direct { range }, 1 => Slot { slot, offset, length } });

/// Where a buffer comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Memory that was usable at once.
    Allocated {},
    /// Memory of an alloca, from the device or from a pool.
    Reserved {},
    /// Host memory of the program.
    HostImport {},
    /// Device memory of another library.
    DeviceImport {},
    /// Device memory that another buffer of the recording has.
    Alias {
        /// The other buffer.
        of: u32,
        /// The offset in it, in bytes.
        offset: u64,
    },
    /// A global variable.
    Global {
        /// The executable.
        executable: u32,
        /// The name of the variable.
        name: String,
        /// The queues whose kernels see it, as a bitmap.
        affinity: u64,
    },
    /// Memory that the recorder did not see made.
    Foreign {},
}
choice!(Origin, "an origin" {
    0 => Allocated {}, 1 => Reserved {}, 2 => HostImport {}, 3 => DeviceImport {}, 4 => Alias { of, offset },
    5 => Global { executable, name, affinity }, 6 => Foreign {},
});

/// The parameters of an allocation, as [`windlass_hal::BufferParams`] has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Params {
    /// The bits of the memory type.
    pub(crate) memory_type: u32,
    /// The bits of the usage.
    pub(crate) usage: u32,
    /// The least alignment in bytes.
    pub(crate) min_alignment: u64,
    /// The bitmap of queues.
    pub(crate) affinity: u64,
}
structure!(Params { memory_type, usage, min_alignment, affinity });

/// A change of bytes in mapped memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// Zeros.
    Zero {
        /// The offset in the allocation, in bytes.
        offset: u64,
        /// The number of zeros.
        length: u64,
    },
    /// Any bytes.
    Bytes {
        /// The offset in the allocation, in bytes.
        offset: u64,
        /// The bytes.
        bytes: Bytes,
    },
}
choice!(Change, "a change" { 0 => Zero { offset, length }, 1 => Bytes { offset, bytes } });

impl Change {
    /// The changed bytes: offset and length.
    pub(crate) fn range(&self) -> (u64, u64) {
        match self {
            Self::Zero { offset, length } => (*offset, *length),
            Self::Bytes { offset, bytes } => (*offset, bytes.len()),
        }
    }
}

/// The bytes that an operation left in mapped memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Readback {
    /// The buffer.
    pub(crate) buffer: u32,
    /// The ranges that the operation could write: offset and length, in bytes.
    pub(crate) ranges: Vec<[u64; 2]>,
    /// Their bytes, where these differ from before.
    pub(crate) changes: Vec<Change>,
}
structure!(Readback { buffer, ranges, changes });

/// Bytes that an operation moved between a file and the device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    /// The offset in the file, in bytes.
    pub(crate) offset: u64,
    /// The bytes.
    pub(crate) bytes: Bytes,
}
structure!(Piece { offset, bytes });

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failed {
    /// The number of the [`windlass_hal::Code`].
    pub(crate) code: u32,
    /// The message.
    pub(crate) message: String,
}
structure!(Failed { code, message });

/// A workgroup count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// Workgroups in x, y, z.
    Direct {
        /// The numbers.
        count: [u32; 3],
    },
    /// Read when the waits of the submission are reached.
    Static {
        /// The range of the count.
        place: Place,
    },
    /// Read when the commands before have completed.
    Dynamic {
        /// The range of the count.
        place: Place,
    },
}
choice!(Count, "a workgroup count" { 0 => Direct { count }, 1 => Static { place }, 2 => Dynamic { place } });

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Argument {
    /// An address in a buffer.
    Buffer {
        /// The buffer.
        buffer: u32,
        /// The offset in the allocation, in bytes.
        offset: u64,
    },
    /// An address in the range of a slot.
    Slot {
        /// The slot.
        slot: u32,
        /// The offset in the bound range, in bytes.
        offset: u64,
    },
    /// A null address.
    Null {},
    /// A value.
    Value {
        /// Its bytes.
        bytes: Bytes,
    },
}
choice!(Argument, "an argument" {
    0 => Buffer { buffer, offset }, 1 => Slot { slot, offset }, 2 => Null {}, 3 => Value { bytes },
});

/// An address in a packed argument block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    /// The offset in the block, in bytes.
    pub(crate) at: u32,
    /// The buffer that it leads to.
    pub(crate) buffer: u32,
    /// The offset in the allocation, in bytes.
    pub(crate) offset: u64,
}
structure!(Address { at, buffer, offset });

/// The arguments of a launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Arguments {
    /// One for each parameter.
    Each {
        /// The arguments.
        arguments: Vec<Argument>,
    },
    /// A block that the program packed, with the addresses that were found in it.
    Block {
        /// The block.
        bytes: Bytes,
        /// The addresses to replace.
        addresses: Vec<Address>,
        /// The places of buffer arguments whose address belongs to no recorded buffer.
        unknown: Vec<u32>,
    },
}
choice!(Arguments, "arguments" { 0 => Each { arguments }, 1 => Block { bytes, addresses, unknown } });

/// A kernel launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Launch {
    /// The executable.
    pub(crate) executable: u32,
    /// The number of the function in it.
    pub(crate) number: u32,
    /// The name of the function.
    pub(crate) function: String,
    /// The workgroup count.
    pub(crate) count: Count,
    /// The work-items of a workgroup.
    pub(crate) size: [u32; 3],
    /// Dynamic local memory in bytes.
    pub(crate) local_memory: u32,
    /// The arguments.
    pub(crate) arguments: Arguments,
    /// The buffers that the launch keeps alive.
    pub(crate) keeps: Vec<u32>,
}
structure!(Launch { executable, number, function, count, size, local_memory, arguments, keeps });

/// A command of a command buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    /// A barrier.
    Barrier {},
    /// A fill.
    Fill {
        /// The target.
        target: Place,
        /// The pattern as a number.
        pattern: u32,
        /// The bytes of the pattern: one, two or four.
        size: u8,
    },
    /// An update.
    Update {
        /// The bytes.
        source: Bytes,
        /// The target.
        target: Place,
    },
    /// A copy.
    Copy {
        /// The source.
        source: Place,
        /// The target.
        target: Place,
    },
    /// A launch.
    Dispatch {
        /// The launch.
        launch: Launch,
    },
    /// The first half of a split barrier.
    SignalEvent {
        /// The event.
        event: u32,
    },
    /// Makes an event unsignalled.
    ResetEvent {
        /// The event.
        event: u32,
    },
    /// The second half of a split barrier.
    WaitEvents {
        /// The events.
        events: Vec<u32>,
    },
    /// Opens a group.
    BeginGroup {
        /// Its name.
        label: String,
        /// Red, green, blue, alpha.
        color: Option<[u8; 4]>,
        /// The file of the source location; empty if there is none.
        file: String,
        /// The line of the source location.
        line: u32,
    },
    /// Closes a group.
    EndGroup {},
}
choice!(Command, "a command" {
    0 => Barrier {}, 1 => Fill { target, pattern, size }, 2 => Update { source, target }, 3 => Copy { source, target },
    4 => Dispatch { launch }, 5 => SignalEvent { event }, 6 => ResetEvent { event }, 7 => WaitEvents { events },
    8 => BeginGroup { label, color, file, line }, 9 => EndGroup {},
});

/// The work of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// Nothing.
    Barrier {},
    /// Gives a buffer its memory.
    Alloca {
        /// The buffer.
        buffer: u32,
    },
    /// Takes a buffer its memory.
    Dealloca {
        /// The buffer.
        buffer: u32,
    },
    /// A fill.
    Fill {
        /// The target.
        target: Range,
        /// The pattern as a number.
        pattern: u32,
        /// The bytes of the pattern: one, two or four.
        size: u8,
    },
    /// An update.
    Update {
        /// The bytes.
        source: Bytes,
        /// The target.
        target: Range,
    },
    /// A copy.
    Copy {
        /// The source.
        source: Range,
        /// The target.
        target: Range,
    },
    /// Reads a file, whose bytes are in the end of the operation.
    Read {
        /// The offset in the file, in bytes.
        offset: u64,
        /// The target.
        target: Range,
    },
    /// Writes a file, whose bytes are in the end of the operation.
    Write {
        /// The source.
        source: Range,
        /// The offset in the file, in bytes.
        offset: u64,
    },
    /// A host call. Its effects are other events.
    HostCall {},
    /// A launch.
    Dispatch {
        /// The launch.
        launch: Launch,
    },
    /// A command buffer.
    Execute {
        /// The command buffer.
        list: u32,
        /// The binding table.
        bindings: Vec<Range>,
    },
}
choice!(Work, "an operation" {
    0 => Barrier {}, 1 => Alloca { buffer }, 2 => Dealloca { buffer }, 3 => Fill { target, pattern, size },
    4 => Update { source, target }, 5 => Copy { source, target }, 6 => Read { offset, target },
    7 => Write { source, offset }, 8 => HostCall {}, 9 => Dispatch { launch }, 10 => Execute { list, bindings },
});

/// A submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Submission {
    /// The number of the operation.
    pub(crate) operation: u32,
    /// The set of queues, as a bitmap.
    pub(crate) affinity: u64,
    /// The wait list.
    pub(crate) waits: Vec<At>,
    /// The signal list.
    pub(crate) signals: Vec<At>,
    /// The work.
    pub(crate) work: Work,
}
structure!(Submission { operation, affinity, waits, signals, work });

/// The end of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// The number of the operation.
    pub(crate) operation: u32,
    /// The failure, if it failed.
    pub(crate) failure: Option<Failed>,
    /// The bytes that it left in mapped memory.
    pub(crate) readbacks: Vec<Readback>,
    /// The bytes that it read from a file or wrote to one.
    pub(crate) pieces: Vec<Piece>,
}
structure!(Ended { operation, failure, readbacks, pieces });

/// One event. The order of the file is an order in which they happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A buffer appeared.
    Buffer {
        /// Its number.
        buffer: u32,
        /// Where it comes from.
        origin: Origin,
        /// The parameters.
        params: Params,
        /// The size in bytes.
        size: u64,
    },
    /// The last handle of a buffer is gone.
    BufferGone {
        /// The buffer.
        buffer: u32,
    },
    /// Code was loaded.
    Executable {
        /// Its number.
        executable: u32,
        /// The pieces; one unless they were linked.
        parts: Vec<Bytes>,
    },
    /// A command buffer was recorded.
    List {
        /// Its number.
        list: u32,
        /// The capacity of its binding table.
        slots: u32,
        /// The commands.
        commands: Vec<Command>,
    },
    /// An operation was submitted.
    Submit {
        /// The submission.
        submission: Submission,
    },
    /// The device refused an operation.
    Refused {
        /// The operation.
        operation: u32,
    },
    /// The waits of a host call were reached.
    Began {
        /// The operation.
        operation: u32,
    },
    /// An operation ended. Its signals follow this event.
    Ended {
        /// The end.
        ended: Ended,
    },
    /// The program wrote mapped memory.
    HostWrite {
        /// The buffer.
        buffer: u32,
        /// The changed bytes.
        changes: Vec<Change>,
    },
    /// A semaphore reached a value that no operation of this device gave it.
    HostSignal {
        /// The point.
        at: At,
    },
    /// A semaphore failed, and no operation of this device failed it.
    HostFail {
        /// The semaphore.
        semaphore: u32,
        /// The failure.
        failure: Failed,
    },
    /// The contents of imported device memory before its first use.
    Contents {
        /// The buffer.
        buffer: u32,
        /// All of its bytes.
        bytes: Bytes,
    },
    /// The device was closed.
    Closed {},
}
choice!(Event, "an event" {
    0 => Buffer { buffer, origin, params, size }, 1 => BufferGone { buffer }, 2 => Executable { executable, parts },
    3 => List { list, slots, commands }, 4 => Submit { submission }, 5 => Refused { operation }, 6 => Began { operation },
    7 => Ended { ended }, 8 => HostWrite { buffer, changes }, 9 => HostSignal { at }, 10 => HostFail { semaphore, failure },
    11 => Contents { buffer, bytes }, 12 => Closed {},
});

/// The first chunk of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The program that made it, with its version.
    pub(crate) made_by: String,
    /// The URI of the recorded device.
    pub(crate) uri: String,
    /// Its name.
    pub(crate) name: String,
    /// The target that its code was built for.
    pub(crate) architecture: String,
}
structure!(Header { made_by, uri, name, architecture });
