// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sequential model: the contents of memory after one step after the other.

use super::{BufferKind, ClientStep, CollectiveKind, List, Operation, Program, Range, Work, bytes_of};

/// A byte that the model knows, or an undefined one.
pub(super) type Byte = Option<u8>;

/// The effect of an operation on memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// It had its whole effect.
    Whole,
    None,
    /// It failed and may have begun, so the bytes that it writes are undefined.
    Undefined,
}

/// The prediction of the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Prediction {
    /// The bytes that each [`ClientStep::Read`] finds, by its step.
    pub(super) reads: Vec<(usize, Vec<Byte>)>,
    /// The bytes of each buffer and file in the end.
    pub(super) memory: Vec<Vec<Byte>>,
}

/// The bytes of a buffer before the first step.
pub(super) fn initial(buffer: usize, size: u32) -> Vec<u8> {
    bytes_of(200_u8.wrapping_add(buffer as u8), size)
}

impl Program {
    /// Runs the steps in `sequence`, with the given effect of each operation. `permute` may reorder the commands of a
    /// list between two barriers.
    pub(super) fn predict(
        &self,
        sequence: &[usize],
        effect: impl Fn(u32) -> Effect,
        mut permute: impl FnMut(&mut Vec<Work<Range>>),
    ) -> Prediction {
        let contents = |(index, spec): (usize, &super::BufferSpec)| match spec.kind {
            BufferKind::Transient => vec![None; spec.size as usize],
            _ => initial(index, spec.size).into_iter().map(Some).collect(),
        };
        let mut memory = Memory(self.buffers.iter().enumerate().map(contents).collect());
        let mut reads = Vec::new();
        for &index in sequence {
            match &self.steps[index] {
                ClientStep::Submit(submission) => match effect(submission.number) {
                    Effect::Whole => memory.operate(&self.lists, &submission.operation, &mut permute),
                    Effect::None => {}
                    Effect::Undefined => {
                        let accesses = self.accesses_of(&submission.operation);
                        let written = accesses.iter().filter(|access| access.writes());
                        written.for_each(|access| memory.bytes(access.range).fill(None));
                    }
                },
                ClientStep::Read(range) => reads.push((index, memory.bytes(*range).to_vec())),
                ClientStep::Write { target, seed } => memory.write(*target, bytes_of(*seed, target.length)),
                _ => {}
            }
        }
        reads.sort_by_key(|(index, _)| *index);
        Prediction { reads, memory: memory.0 }
    }
}

struct Memory(Vec<Vec<Byte>>);

impl Memory {
    fn bytes(&mut self, range: Range) -> &mut [Byte] {
        &mut self.0[range.buffer as usize][range.offset as usize..(range.offset + range.length) as usize]
    }

    fn write(&mut self, target: Range, bytes: Vec<u8>) {
        self.bytes(target).iter_mut().zip(bytes).for_each(|(to, from)| *to = Some(from));
    }

    fn copy(&mut self, source: Range, target: Range) {
        let bytes = self.bytes(source).to_vec();
        self.bytes(target).copy_from_slice(&bytes);
    }

    fn operate(
        &mut self,
        lists: &[List],
        operation: &Operation,
        permute: &mut impl FnMut(&mut Vec<Work<Range>>),
    ) {
        match operation {
            Operation::Barrier => {}
            // The contents of memory before its alloca and after its dealloca are undefined.
            Operation::Alloca(buffer) | Operation::Dealloca(buffer) => self.0[*buffer as usize].fill(None),
            Operation::Work(work) => self.work(work),
            Operation::Read { file, target } => self.copy(*file, *target),
            Operation::Write { source, file } => self.copy(*source, *file),
            Operation::HostCall { write, .. } => {
                if let Some((target, seed)) = write {
                    self.write(*target, bytes_of(*seed, target.length));
                }
            }
            Operation::Execute { list, table } => {
                let list = &lists[*list as usize];
                for mut run in list.runs(table) {
                    // All orders that events allow have the effect of the recorded one.
                    if !list.has_events() {
                        permute(&mut run);
                    }
                    run.iter().for_each(|work| self.work(work));
                }
            }
            Operation::Collective { kind, parts, .. } => {
                let mut sources: Vec<_> =
                    parts.iter().map(|(source, _)| self.bytes(*source).to_vec()).collect();
                match kind {
                    CollectiveKind::Sum => {
                        let sum = sources.iter().skip(1).fold(sources[0].clone(), |sum, source| {
                            let both = sum.iter().zip(source);
                            both.map(|(one, other)| Some((*one)?.wrapping_add((*other)?))).collect()
                        });
                        sources.fill(sum);
                    }
                    CollectiveKind::Ring => sources.rotate_right(1),
                }
                for ((_, target), bytes) in parts.iter().zip(sources) {
                    self.bytes(*target).copy_from_slice(&bytes);
                }
            }
        }
    }

    fn work(&mut self, work: &Work<Range>) {
        match work {
            Work::Fill { target, value, size } => {
                let pattern = &value.to_le_bytes()[..*size as usize];
                let bytes = pattern.iter().copied().cycle().take(target.length as usize).collect();
                self.write(*target, bytes);
            }
            Work::Update { target, seed } => self.write(*target, bytes_of(*seed, target.length)),
            Work::Copy { source, target } => self.copy(*source, *target),
            Work::MultiplyAdd { target, factor, addend } => {
                self.words(*target, |word| word.wrapping_mul(*factor).wrapping_add(*addend));
            }
            Work::Increment { target, times } => self.words(*target, |word| word.wrapping_add(*times)),
        }
    }

    /// Changes each word. A word with an undefined byte becomes undefined as a whole.
    fn words(&mut self, target: Range, change: impl Fn(u32) -> u32) {
        for word in self.bytes(target).chunks_exact_mut(4) {
            let known: Option<Vec<u8>> = word.iter().copied().collect();
            let bytes = known.map(|bytes| {
                change(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])).to_le_bytes().map(Some)
            });
            word.copy_from_slice(&bytes.unwrap_or([None; 4]));
        }
    }
}
