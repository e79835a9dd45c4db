// SPDX-License-Identifier: MIT OR Apache-2.0
//! The instructions of a code object that the simulator does not execute, found without loading it.

use std::collections::HashMap;

use windlass_codeobject::{CodeObject, Segment};

use super::LoadError;
use crate::exec::{NoInstruction, Reached, handlers, reach};
use crate::isa::{DecodeError, Encoding, Inst, Op};
use crate::part::Part;

/// Instructions of one kind that the simulator does not execute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unsupported {
    /// The first of them, in LLVM's syntax if it can be decoded, and the reason.
    pub reason: String,
    /// The kernel or function that reaches the first of them.
    pub symbol: String,
    /// The address of the first of them in the code object.
    pub address: u64,
    /// The bytes of the first of them.
    pub bytes: Vec<u8>,
    /// Their number.
    pub count: usize,
}

/// The instructions that the simulator does not execute, of those that the kernels and functions of a code object
/// reach. The code object decides the simulated part. Each kind of instruction is listed once, in the order of
/// addresses.
///
/// Time and memory are proportional to the code.
///
/// # Errors
/// As [`Module::load`](super::Module::load), if the bytes are no code object, or one for another processor.
pub fn unsupported(elf: &[u8]) -> Result<Vec<Unsupported>, LoadError> {
    let malformed = |reason: &str| LoadError::Malformed { reason: reason.to_owned() };
    let object = CodeObject::parse(elf).map_err(|error| malformed(&error.to_string()))?;
    let target = object.target();
    let Some(part) = Part::that_runs(target.processor()) else {
        let part = Part::names();
        return Err(LoadError::WrongProcessor { processor: target.to_string(), part });
    };
    let mut segments: Vec<&Segment> = object.segments().iter().filter(|segment| segment.executable).collect();
    segments.sort_by_key(|segment| segment.address);
    let mut left = elf.len();
    let mut code = Vec::with_capacity(segments.len());
    for segment in &segments {
        let start = usize::try_from(segment.offset).unwrap_or(usize::MAX);
        let end = usize::try_from(segment.offset.saturating_add(segment.file_size)).unwrap_or(usize::MAX);
        let bytes = elf.get(start..end).ok_or_else(|| malformed("a segment lies outside of the file"))?;
        left = left.checked_sub(bytes.len()).ok_or_else(|| malformed("segments of code share bytes"))?;
        let words: Vec<u32> = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        code.push(CodeSegment { base: segment.address, seen: vec![false; words.len() + 1], words });
    }
    let mut kinds = Kinds::default();
    let set_of = |size| part.set_of_waves(size).unwrap_or(part.instructions());
    let kernels = object
        .kernels()
        .iter()
        .map(|kernel| (kernel.name.as_str(), kernel.entry_address, set_of(kernel.wavefront_size)));
    // Kernels of a code object share its functions, so one wave size is theirs.
    let usual = object.kernels().first().map_or(part.instructions(), |kernel| set_of(kernel.wavefront_size));
    let functions = object.functions().map(|symbol| (symbol.name.as_str(), symbol.address, usual));
    for (symbol, entry, set) in kernels.chain(functions) {
        let after = code.partition_point(|code| code.base <= entry);
        let Some(code) = after.checked_sub(1).and_then(|index| code.get_mut(index)) else { continue };
        let offset = entry - code.base;
        if offset.is_multiple_of(4) && offset / 4 < code.words.len() as u64 {
            let CodeSegment { base, words, seen } = code;
            reach(set, words, offset / 4, &mut Walk { base: *base, words, seen, symbol, kinds: &mut kinds });
        }
    }
    kinds.found.sort_by_key(|found| found.address);
    Ok(kinds.found)
}

/// A segment of code.
struct CodeSegment {
    base: u64,
    words: Vec<u32>,
    /// The words that have been reached. The last one stands for all words past the code.
    seen: Vec<bool>,
}

/// The kind of an instruction that is not executed.
#[derive(PartialEq, Eq, Hash)]
enum UnsupportedKind {
    /// Instructions that are not executed, for one reason.
    Op(Op, &'static str),
    /// Words of this format that are no instruction.
    Undecodable(Option<Encoding>),
    /// Instructions that are cut off.
    Truncated,
    /// Code that runs past its end.
    End,
}

#[derive(Default)]
struct Kinds {
    found: Vec<Unsupported>,
    known: HashMap<UnsupportedKind, usize>,
}

/// A walk over the words that a symbol reaches and no symbol before it did.
struct Walk<'a> {
    base: u64,
    words: &'a [u32],
    seen: &'a mut [bool],
    symbol: &'a str,
    kinds: &'a mut Kinds,
}

impl Walk<'_> {
    fn slot(&self, word: u64) -> usize {
        usize::try_from(word).map_or(self.words.len(), |word| word.min(self.words.len()))
    }
}

impl Reached for Walk<'_> {
    fn has(&self, word: u64) -> bool {
        self.seen[self.slot(word)]
    }

    fn add(&mut self, word: u64, found: Result<Inst, NoInstruction>) {
        let slot = self.slot(word);
        self.seen[slot] = true;
        let mut why = "";
        let kind = match &found {
            Ok(inst) => match handlers(inst) {
                Ok(_) => return,
                Err(reason) => {
                    why = reason;
                    UnsupportedKind::Op(inst.op, reason)
                }
            },
            Err(NoInstruction::Undecodable(DecodeError::Unknown { encoding, .. })) => {
                UnsupportedKind::Undecodable(*encoding)
            }
            Err(NoInstruction::Undecodable(DecodeError::Truncated { .. })) => UnsupportedKind::Truncated,
            Err(NoInstruction::End) => UnsupportedKind::End,
        };
        if let Some(known) = self.kinds.known.get(&kind).and_then(|&index| self.kinds.found.get_mut(index)) {
            known.count += 1;
            return;
        }
        let reason = match &found {
            Ok(inst) => format!("{} ({why})", inst.disassemble(word * 4)),
            Err(error) => error.to_string(),
        };
        let size = found.map_or(1, |inst| usize::from(inst.size) / 4);
        let words = self.words.get(slot..).unwrap_or_default().iter().take(size);
        self.kinds.known.insert(kind, self.kinds.found.len());
        self.kinds.found.push(Unsupported {
            reason,
            symbol: self.symbol.to_owned(),
            address: self.base.wrapping_add(word.wrapping_mul(4)),
            bytes: words.flat_map(|word| word.to_le_bytes()).collect(),
            count: 1,
        });
    }
}
