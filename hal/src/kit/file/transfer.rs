// SPDX-License-Identifier: MIT OR Apache-2.0
//! One read or write in flight. It moves piece by piece, and no thread waits for it.
//!
//! Each completion, of a piece of the file or of a copy by the device, is noted and calls [`Transfer::advance`], which
//! begins the next steps. Pieces are independent of each other, so that the copies of one overlap the file access of
//! another. Only a storage that threads call gets the pieces one at a time and in order.

use std::{
    mem,
    sync::{Arc, Mutex},
};

use smallvec::SmallVec;

use super::{
    direction::Direction,
    follow::follow,
    ring::{self, Descriptor},
};
use crate::{
    driver::{
        self,
        host_call::Ending,
        operation::OperationRef,
        range::Buffer,
        storage::{File, io_error},
    },
    kit::mapping::Mapping,
    order::{
        callback_pool,
        notifications::{Resolution, Target, Timepoint},
        semaphore::Semaphore,
    },
    words::{
        buffer_params::BufferParams,
        error::{Error, Result},
        panics::{caught, contain},
        queue_affinity::QueueAffinity,
        sync::lock_std,
    },
};

/// The size of a piece in bytes.
const PIECE: u64 = 4 << 20;
/// The most pieces in flight, where they move directly between file and buffer.
const DEPTH: usize = 4;
/// The most pieces in flight, where each needs staging memory on the host.
const STAGES: usize = 2;

/// One read or write in flight. See the [module's text](self).
pub(super) struct Transfer {
    direction: Direction,
    count: u64,
    state: Mutex<TransferState>,
}

/// The objects of a transfer, kept until it ends.
struct Parts {
    file: File,
    offset: u64,
    range: Buffer,
    memory: Memory,
    /// For the ring. Without it, threads call the storage.
    descriptor: Option<Descriptor>,
}

/// The memory on the other side of the file.
enum Memory {
    /// The range itself.
    InPlace(Mapping),
    /// Staging memory on the host, and the device that copies between it and the range.
    Staged {
        device: Arc<dyn driver::RawDevice>,
        affinity: QueueAffinity,
        stages: SmallVec<[(Buffer, Mapping); STAGES]>,
    },
}

struct TransferState {
    /// `None` once the transfer has ended.
    parts: Option<(Arc<Parts>, Ending)>,
    /// The free places for pieces. With staging memory, a place is the number of a stage.
    free: SmallVec<[usize; DEPTH]>,
    /// The numbers of pieces that have begun, and that have ended.
    begun: u64,
    ended: u64,
    /// Pieces that are ready to go to or from the file, and pieces that a device is to copy.
    for_file: SmallVec<[Piece; DEPTH]>,
    to_copy: SmallVec<[Piece; DEPTH]>,
    /// The next piece for a storage that is called for one piece at a time.
    turn: u64,
    one_at_a_time: bool,
    failure: Option<Error>,
    /// A thread is in [`Transfer::advance`] and will see all that is noted here.
    advancing: bool,
    /// Spare memory for pieces that a thread moves between a mapping and a storage.
    spare: Vec<Vec<u8>>,
}

#[derive(Clone, Copy)]
struct Piece {
    index: u64,
    place: usize,
}

enum TransferStep {
    File(Arc<Parts>, Piece),
    Copy(Arc<Parts>, Piece),
    End(Arc<Parts>, Ending, Result<()>),
}

impl Transfer {
    /// Begins the transfer. Completes `ending` when nothing of the transfer touches memory any more. Does not block.
    ///
    /// # Safety
    /// As for [`driver::RawDevice::submit`] with the waits reached, for the whole range, until `ending` is completed.
    #[allow(unsafe_code)]
    pub(super) unsafe fn begin(
        device: Arc<dyn driver::RawDevice>,
        affinity: QueueAffinity,
        direction: Direction,
        file: File,
        offset: u64,
        range: Buffer,
        ending: Ending,
    ) {
        if let Some(bytes) = range.host_view() {
            drop(device);
            return Self::run(direction, file, offset, range, Memory::InPlace(bytes), ending);
        }
        // Allocating may take long.
        follow(Box::new(move || {
            let stages = caught(|| stages(device.as_ref(), range.len())).unwrap_or_else(|text| {
                Err(Error::aborted(format!("allocating staging memory panicked: {text}")))
            });
            match stages {
                Ok(stages) => {
                    let memory = Memory::Staged { device, affinity, stages };
                    Self::run(direction, file, offset, range, memory, ending);
                }
                Err(error) => {
                    contain("dropping a transfer", move || drop((device, file, range)));
                    ending.complete(Err(error));
                }
            }
        }));
    }

    fn run(direction: Direction, file: File, offset: u64, range: Buffer, memory: Memory, ending: Ending) {
        let descriptor = Descriptor::for_range(&file, offset, range.len());
        let one_at_a_time = descriptor.is_none();
        let places = match &memory {
            Memory::InPlace(_) if one_at_a_time => 1,
            Memory::InPlace(_) => DEPTH,
            Memory::Staged { stages, .. } => stages.len(),
        };
        let count = range.len().div_ceil(PIECE);
        let parts = Parts { file, offset, range, memory, descriptor };
        let state = TransferState {
            parts: Some((Arc::new(parts), ending)),
            free: (0..places).rev().collect(),
            begun: 0,
            ended: 0,
            for_file: SmallVec::new(),
            to_copy: SmallVec::new(),
            turn: 0,
            one_at_a_time,
            failure: None,
            advancing: false,
            spare: Vec::new(),
        };
        Arc::new(Self { direction, count, state: Mutex::new(state) }).advance();
    }

    /// Begins all steps that can begin now. One thread at a time does this in a loop, because a step may complete at
    /// once.
    fn advance(self: &Arc<Self>) {
        let mut state = lock_std(&self.state);
        if mem::replace(&mut state.advancing, true) {
            return;
        }
        while let Some(step) = state.next(self.direction, self.count) {
            drop(state);
            match step {
                TransferStep::File(parts, piece) => self.move_bytes(&parts, piece),
                TransferStep::Copy(parts, piece) => self.copy(parts, piece),
                TransferStep::End(parts, ending, result) => {
                    contain("dropping a transfer", move || drop(parts));
                    ending.complete(result);
                }
            }
            state = lock_std(&self.state);
        }
        state.advancing = false;
    }

    /// Moves the bytes of a piece between memory and the file.
    fn move_bytes(self: &Arc<Self>, parts: &Arc<Parts>, piece: Piece) {
        if let Some(descriptor) = &parts.descriptor {
            let (bytes, start) = parts.bytes(piece);
            let (at, length) = parts.extent(piece);
            let transfer = self.clone();
            let request = ring::RingRequest::new(
                descriptor.clone(),
                self.direction,
                parts.offset + at,
                (bytes.clone(), start, length),
                Box::new(move |outcome| match outcome {
                    ring::Outcome::Moved => transfer.moved(piece, Ok(())),
                    ring::Outcome::Stopped(moved) => transfer.call_storage(piece, moved),
                }),
            );
            return ring::submit(request);
        }
        self.call_storage(piece, 0);
    }

    /// Calls the storage on a thread for the rest of a piece.
    fn call_storage(self: &Arc<Self>, piece: Piece, moved: u64) {
        let transfer = self.clone();
        callback_pool::spawn(Box::new(move || {
            let (parts, spare) = {
                let mut state = lock_std(&transfer.state);
                (state.parts.as_ref().map(|(parts, _)| parts.clone()), state.spare.pop().unwrap_or_default())
            };
            // The parts exist as long as a piece is in flight.
            let Some(parts) = parts else { return };
            let mut bytes = spare;
            let result = caught(|| parts.call_storage(transfer.direction, piece, moved, &mut bytes))
                .unwrap_or_else(|text| {
                    Err(Error::aborted(format!("the storage of a file panicked: {text}")))
                });
            contain("dropping a transfer", move || drop(parts));
            lock_std(&transfer.state).spare.push(bytes);
            transfer.moved(piece, result);
        }));
    }

    /// Notes that the bytes of a piece have gone to or come from the file.
    fn moved(self: &Arc<Self>, piece: Piece, result: Result<()>) {
        let mut state = lock_std(&self.state);
        state.turn += 1;
        let staged = state.parts.as_ref().is_some_and(|(parts, _)| parts.is_staged());
        match result {
            Ok(()) if staged && self.direction == Direction::Read => state.to_copy.push(piece),
            result => state.end(piece, result),
        }
        drop(state);
        self.advance();
    }

    /// Lets the device copy a piece between its stage and the range.
    fn copy(self: &Arc<Self>, parts: Arc<Parts>, piece: Piece) {
        let copied = Semaphore::new(0);
        let submitted = caught(|| parts.submit_copy(self.direction, piece, &copied));
        contain("dropping a transfer", move || drop(parts));
        let submitted = submitted
            .unwrap_or_else(|text| Err(Error::internal(format!("the driver panicked over a copy: {text}"))));
        if let Err(error) = submitted {
            return self.copied(piece, Err(error));
        }
        let target =
            Target::Timepoint { sink: Arc::new(Copied(self.clone(), piece)), token: 0, accepts: None };
        match copied.register(1, target) {
            Err(Resolution::Failed(error)) => self.copied(piece, Err(error)),
            Err(_) => self.copied(piece, Ok(())),
            Ok(_) => {}
        }
    }

    fn copied(self: &Arc<Self>, piece: Piece, result: Result<()>) {
        let mut state = lock_std(&self.state);
        match result {
            Ok(()) if self.direction == Direction::Write => state.for_file.push(piece),
            result => state.end(piece, result),
        }
        drop(state);
        self.advance();
    }
}

/// Receives the completion of the device's copy of a piece.
struct Copied(Arc<Transfer>, Piece);

impl Timepoint for Copied {
    fn resolved(&self, _token: u32, resolution: Resolution) {
        let result = match resolution {
            Resolution::Failed(error) => Err(error),
            Resolution::Reached | Resolution::Edge(_) => Ok(()),
        };
        self.0.copied(self.1, result);
    }
}

impl TransferState {
    /// The next step, if there is one.
    fn next(&mut self, direction: Direction, count: u64) -> Option<TransferStep> {
        let parts = self.parts.as_ref()?.0.clone();
        if self.failure.is_some() {
            // After a failure, pieces that wait for a step are given up.
            let given_up = self.for_file.drain(..).chain(self.to_copy.drain(..)).count();
            self.ended += given_up as u64;
        } else {
            while self.begun < count
                && let Some(place) = self.free.pop()
            {
                let copied_first = direction == Direction::Write && parts.is_staged();
                let queue = if copied_first { &mut self.to_copy } else { &mut self.for_file };
                queue.push(Piece { index: self.begun, place });
                self.begun += 1;
            }
        }
        if !self.to_copy.is_empty() {
            return Some(TransferStep::Copy(parts, self.to_copy.remove(0)));
        }
        let turn = self.one_at_a_time.then_some(self.turn);
        if let Some(at) = self.for_file.iter().position(|piece| turn.is_none_or(|turn| piece.index == turn)) {
            return Some(TransferStep::File(parts, self.for_file.remove(at)));
        }
        if self.ended < self.begun {
            return None;
        }
        drop(parts);
        let (parts, ending) = self.parts.take()?;
        Some(TransferStep::End(parts, ending, self.failure.take().map_or(Ok(()), Err)))
    }

    /// Frees the place of a piece.
    fn end(&mut self, piece: Piece, result: Result<()>) {
        self.free.push(piece.place);
        self.ended += 1;
        if let Err(error) = result {
            self.failure.get_or_insert(error);
        }
    }
}

impl Parts {
    fn is_staged(&self) -> bool {
        matches!(self.memory, Memory::Staged { .. })
    }

    /// The offset of a piece in the range, and its length, in bytes.
    fn extent(&self, piece: Piece) -> (u64, u64) {
        let at = piece.index * PIECE;
        (at, PIECE.min(self.range.len() - at))
    }

    /// The memory of a piece, and where the piece begins in it, in bytes.
    fn bytes(&self, piece: Piece) -> (&Mapping, u64) {
        match &self.memory {
            Memory::InPlace(bytes) => (bytes, self.extent(piece).0),
            Memory::Staged { stages, .. } => (&stages[piece.place].1, 0),
        }
    }

    /// Moves the rest of a piece by calls of the storage, through `room`. The storage takes references, and no
    /// reference to memory that a queue may touch may exist.
    fn call_storage(&self, direction: Direction, piece: Piece, moved: u64, room: &mut Vec<u8>) -> Result<()> {
        let (memory, start) = self.bytes(piece);
        let (at, length) = self.extent(piece);
        let (start, offset, size) =
            (start + moved, (at + moved).saturating_add(self.offset), (length - moved) as usize);
        room.try_reserve_exact(size.saturating_sub(room.len())).map_err(|_| {
            Error::resource_exhausted(format!("no {size} bytes of host memory to move a file through"))
        })?;
        room.resize(size, 0);
        let (what, moved) = match direction {
            Direction::Read => ("reading", self.file.storage().read_at(offset, room)),
            Direction::Write => {
                memory.read(start, room)?;
                ("writing", self.file.storage().write_at(offset, room))
            }
        };
        moved.map_err(|error| io_error(self.file.storage(), what, self.offset, self.range.len(), &error))?;
        match direction {
            Direction::Read => memory.write(start, room),
            Direction::Write => Ok(()),
        }
    }

    /// Enqueues the device's copy of a piece. It brings `copied` to 1.
    #[allow(unsafe_code)]
    fn submit_copy(&self, direction: Direction, piece: Piece, copied: &Semaphore) -> Result<()> {
        let Memory::Staged { device, affinity, stages } = &self.memory else {
            return Err(Error::internal("a copy of bytes that are in place"));
        };
        let (at, length) = self.extent(piece);
        let range = self.range.subspan(at, length)?;
        let stage = stages[piece.place].0.subspan(0, length)?;
        let (source, target) = match direction {
            Direction::Read => (stage, range),
            Direction::Write => (range, stage),
        };
        let signals = [copied.at(1)];
        // SAFETY: this copies between ranges of equal length. The caller that began the transfer vouches for the whole
        // range until it ends, and the stage belongs to the transfer.
        unsafe {
            device.submit(*affinity, &[], &signals, OperationRef::Copy { source: &source, target: &target })
        }
    }
}

fn stages(device: &dyn driver::RawDevice, length: u64) -> Result<SmallVec<[(Buffer, Mapping); STAGES]>> {
    let params = BufferParams::host();
    let stage = |_| {
        let buffer = Buffer::from_driver(device.allocate(&params, length.min(PIECE))?, params);
        let bytes = buffer.map()?;
        Ok((buffer, bytes))
    };
    (0..length.div_ceil(PIECE).min(STAGES as u64)).map(stage).collect()
}
