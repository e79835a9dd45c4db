// SPDX-License-Identifier: MIT OR Apache-2.0
//! What of a code object would not run, without a device to load it on.

use super::LoadError;
use crate::exec::Program;
use std::collections::BTreeMap;
use windlass_codeobject::CodeObject;

/// An instruction that the simulator does not execute.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unsupported {
    /// The kernel or function that reaches it, the first one of several.
    pub symbol: String,
    /// Its address in the code object.
    pub address: u64,
    /// What it is, in LLVM's syntax where it can be decoded, and why it is not executed.
    pub reason: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The instructions of a gfx942 code object that the simulator does not execute, in the order of their addresses: those
/// that its kernels and functions reach. Empty if everything runs.
///
/// # Errors
/// As for [`Module::load`](super::Module::load), if the bytes are no code object or one for another processor.
pub fn unsupported(elf: &[u8]) -> Result<Vec<Unsupported>, LoadError> {
    let object =
        CodeObject::parse(elf).map_err(|error| LoadError::Malformed { reason: error.to_string() })?;
    let target = object.target();
    if !matches!(target.processor(), "gfx942" | "gfx9-4-generic") {
        return Err(LoadError::WrongProcessor { processor: target.to_string() });
    }
    let mut found = BTreeMap::new();
    for segment in object.segments().iter().filter(|segment| segment.executable) {
        let start = usize::try_from(segment.offset).unwrap_or(usize::MAX);
        let end = usize::try_from(segment.offset.saturating_add(segment.file_size)).unwrap_or(usize::MAX);
        let code = elf
            .get(start..end)
            .ok_or_else(|| LoadError::Malformed { reason: "a segment lies outside of the file".into() })?;
        let words = code.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect();
        let program = Program::new(segment.address, words);
        let kernels = object.kernels().iter().map(|kernel| (&kernel.name, kernel.entry_address));
        let functions = object.functions().map(|symbol| (&symbol.name, symbol.address));
        for (symbol, entry) in kernels.chain(functions) {
            let Some(position) = program.find(entry) else { continue };
            for problem in &position.region.problems {
                let address = segment.address.wrapping_add(problem.offset);
                found.entry(address).or_insert_with(|| Unsupported {
                    symbol: symbol.clone(),
                    address,
                    reason: problem.text.clone(),
                    bytes: problem.words.iter().flat_map(|word| word.to_le_bytes()).collect(),
                });
            }
        }
    }
    Ok(found.into_values().collect())
}
