// SPDX-License-Identifier: MIT OR Apache-2.0
//! Which functions the code of a kernel may call, as far as addresses in it tell.
//!
//! Compilers for AMD GPUs make an address of what lies in the same code object from the program counter: `s_getpc_b64`,
//! then an addition of a distance in two halves. The result is a function, or a place in memory that holds the address of
//! one: a slot of the global offset table, a table of functions. Relocations tell what a loader will write there. Nothing
//! else of the code is decoded, so this is a list of hints: a function whose address is taken need not be called, and one
//! whose address comes from elsewhere, as an argument does, is not seen.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::bytes::range;
use crate::code::code_object::CodeObject;
use crate::code::layout::{Relocation, RelocationKind, SymbolRole};

/// How many dwords behind `s_getpc_b64` its additions are looked for. Schedulers put little between them.
const WINDOW: usize = 12;
/// The most addresses that are followed, and calls that are kept.
const MOST: usize = 1 << 20;

/// What the functions of a code object may call. Addresses count from where the code object is loaded.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    /// For each function that may call another, by where it begins.
    callees: BTreeMap<u64, Vec<Callee>>,
    complete: bool,
}

/// A function that may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Callee {
    /// The function of this code object that begins there. Its symbol may be gone, as in stripped files.
    At(u64),
    /// Something of another code object, function or variable: an index into [`CodeObject::symbols`].
    Undefined(usize),
}

impl Calls {
    /// What the function that begins at `address` may call, itself included where it does. Kernels go by their
    /// [`entry_address`](crate::Kernel::entry_address).
    pub fn of(&self, address: u64) -> &[Callee] {
        self.callees.get(&address).map(Vec::as_slice).unwrap_or_default()
    }

    /// What the function that begins at `address` may call, and what that may call, and so on, in order.
    pub fn reached_from(&self, address: u64) -> Vec<Callee> {
        let mut found = BTreeSet::new();
        let mut open = vec![address];
        while let Some(caller) = open.pop() {
            for callee in self.of(caller) {
                if let (true, Callee::At(address)) = (found.insert(*callee), callee) {
                    open.push(*address);
                }
            }
        }
        found.into_iter().collect()
    }

    /// Whether every address was followed. Only files that no compiler makes have too many.
    pub fn is_complete(&self) -> bool {
        self.complete
    }
}

impl CodeObject {
    /// Finds what the functions of the code object may call. `elf` is what this was read from. It takes one pass over the
    /// code.
    pub fn calls(&self, elf: &[u8]) -> Calls {
        let map = Map::new(self);
        let mut left = MOST;
        let mut places = Vec::new();
        let mut known: HashMap<u64, Vec<Callee>> = HashMap::new();
        let mut starts: BTreeMap<u64, u64> = map.functions.clone();
        for segment in self.segments().iter().filter(|segment| segment.executable) {
            let Some(code) = range(elf, segment.offset, segment.file_size) else { continue };
            for (offset, distance) in distances(code) {
                let place = segment.address.wrapping_add(offset);
                let target = place.wrapping_add(distance);
                let callees = known.entry(target).or_insert_with(|| map.follow(target, &mut left));
                left = left.saturating_sub(callees.len() + 1);
                for callee in callees.iter() {
                    if let Callee::At(address) = callee {
                        // One without a symbol ends where the next begins.
                        starts.entry(*address).or_insert(u64::MAX);
                    }
                }
                places.push((place, target));
                if left == 0 {
                    break;
                }
            }
        }
        let mut callees: BTreeMap<u64, Vec<Callee>> = BTreeMap::new();
        for (place, target) in places {
            let caller = starts.range(..=place).next_back().filter(|(_, end)| place < **end);
            let found = known.get(&target).map(Vec::as_slice).unwrap_or_default();
            if let (Some((caller, _)), [_, ..]) = (caller, found) {
                callees.entry(*caller).or_default().extend(found);
            }
        }
        for callees in callees.values_mut() {
            callees.sort_unstable();
            callees.dedup();
        }
        Calls { callees, complete: left > 0 }
    }
}

/// Where things are in a code object.
struct Map<'c> {
    code: &'c CodeObject,
    /// Functions with symbols, from where to where.
    functions: BTreeMap<u64, u64>,
    /// Variables and tables, from where to where.
    tables: BTreeMap<u64, u64>,
    relocations: BTreeMap<u64, &'c Relocation>,
}

impl<'c> Map<'c> {
    fn new(code: &'c CodeObject) -> Map<'c> {
        let mut map = Map {
            code,
            functions: BTreeMap::new(),
            tables: BTreeMap::new(),
            relocations: code
                .relocations()
                .iter()
                .map(|relocation| (relocation.offset, relocation))
                .collect(),
        };
        let named = |name: &str| code.symbols().iter().find(|symbol| symbol.name == name);
        for symbol in code.symbols() {
            let (start, end) = (symbol.address, symbol.address.saturating_add(symbol.size));
            match symbol.role {
                SymbolRole::Function | SymbolRole::KernelEntry => {
                    map.functions.insert(start, if symbol.size > 0 { end } else { u64::MAX });
                }
                SymbolRole::Variable => drop(map.tables.insert(start, end)),
                _ => {}
            }
        }
        // What the linker gathers of constructors and destructors has no symbol of its own.
        for (start, end) in
            [("__init_array_start", "__init_array_end"), ("__fini_array_start", "__fini_array_end")]
        {
            if let (Some(start), Some(end)) = (named(start), named(end)) {
                map.tables.entry(start.address).or_insert(end.address);
            }
        }
        map
    }

    /// The functions that an address leads to: one itself, or what is stored there.
    fn follow(&self, address: u64, left: &mut usize) -> Vec<Callee> {
        let mut found = Vec::new();
        let (mut seen, mut opened) = (HashSet::new(), HashSet::new());
        let mut open = vec![address];
        while let Some(address) = open.pop() {
            if *left == 0 {
                break;
            }
            *left -= 1;
            if !seen.insert(address) {
                continue;
            }
            if self.code.segments().iter().any(|segment| segment.executable && segment.holds(address, 4)) {
                let before = self.functions.range(..=address).next_back();
                // In the middle of a function is a label of it.
                let label = before.is_some_and(|(start, end)| *start != address && address < *end);
                if !label && address.is_multiple_of(4) {
                    found.push(Callee::At(address));
                }
                continue;
            }
            if let Some(relocation) = self.relocations.get(&address) {
                match (relocation.kind, relocation.symbol) {
                    (RelocationKind::Relative64, _) => open.push(relocation.addend as u64),
                    (RelocationKind::Abs64, Some(index)) if self.is_undefined(index) => {
                        found.push(Callee::Undefined(index));
                    }
                    (RelocationKind::Abs64, _) => {
                        open.push(relocation.symbol_value.wrapping_add_signed(relocation.addend));
                    }
                    _ => {}
                }
            }
            let table = self.tables.range(..=address).next_back().filter(|(_, end)| address < **end);
            if let Some((start, end)) = table.filter(|(start, _)| opened.insert(**start)) {
                let before = open.len();
                open.extend(self.relocations.range(*start..*end).map(|(place, _)| *place).take(*left));
                *left = left.saturating_sub(open.len() - before);
            }
        }
        found
    }

    fn is_undefined(&self, symbol: usize) -> bool {
        self.code.symbols().get(symbol).is_some_and(|symbol| symbol.role == SymbolRole::Undefined)
    }
}

/// The distances that code adds to the program counter: where the program counter was taken, as an offset, and how far
/// from there the address is.
///
/// `s_getpc_b64` gives the address behind itself. The low half is added by `s_add_u32`, the high half by `s_addc_u32` (both
/// have other names on gfx12 and the same encoding), or both at once by `s_add_nc_u64`.
fn distances(code: &[u8]) -> impl Iterator<Item = (u64, u64)> {
    let words = code.as_chunks::<4>().0;
    (1..words.len()).filter_map(move |next| {
        let register = program_counter(u32::from_le_bytes(words[next - 1]))?;
        let window = words.get(next..)?;
        let window = &window[..window.len().min(WINDOW)];
        let word = |at: usize| window.get(at).map(|word| u32::from_le_bytes(*word));
        let mut low = None;
        for at in 0..window.len() {
            let instruction = word(at)?;
            if let Some(wide) = added(instruction, ADD_NC_U64, register) {
                let distance = match wide {
                    LITERAL => u64::from(word(at + 1)?),
                    LITERAL64 => u64::from(word(at + 1)?) | u64::from(word(at + 2)?) << 32,
                    _ => continue,
                };
                return Some((next as u64 * 4, distance));
            }
            match low {
                None => {
                    if added(instruction, ADD_U32, register) == Some(LITERAL) {
                        low = Some(word(at + 1)?);
                    }
                }
                Some(low) => {
                    let high = match added(instruction, ADDC_U32, register + 1) {
                        Some(LITERAL) => word(at + 1)?,
                        Some(ZERO) => 0,
                        Some(MINUS_ONE) => u32::MAX,
                        _ => continue,
                    };
                    return Some((next as u64 * 4, u64::from(high) << 32 | u64::from(low)));
                }
            }
        }
        None
    })
}

// Operations of SOP2 and operands of the scalar unit, by number.
const ADD_U32: u32 = 0;
const ADDC_U32: u32 = 4;
const ADD_NC_U64: u32 = 0x53;
const ZERO: u32 = 0x80;
const MINUS_ONE: u32 = 0xc1;
const LITERAL64: u32 = 0xfe;
const LITERAL: u32 = 0xff;

/// The first of the two registers that `s_getpc_b64` writes, on gfx9, gfx10 and from gfx11 on.
fn program_counter(word: u32) -> Option<u32> {
    let is_getpc = word >> 23 == 0x17d && word & 0xff == 0 && matches!(word >> 8 & 0xff, 0x1c | 0x1f | 0x47);
    is_getpc.then_some(word >> 16 & 0x7f)
}

/// What an instruction of SOP2 adds to a register, if it does.
fn added(word: u32, operation: u32, register: u32) -> Option<u32> {
    let fits = word >> 30 == 2 && word >> 23 & 0x7f == operation;
    match (word & 0xff, word >> 8 & 0xff) {
        (first, second) if fits && first == register => Some(second),
        (first, second) if fits && second == register => Some(first),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(words: &[u32]) -> Vec<(u64, u64)> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        distances(&bytes).collect()
    }

    #[test]
    fn distances_of_every_generation() {
        // s_getpc_b64 s[2:3] of gfx9, gfx10, gfx11; s_add_u32 s2, s2, 0x1530; s_addc_u32 s3, s3, 0
        for getpc in [0xbe82_1c00, 0xbe82_1f00, 0xbe82_4700] {
            let code = [getpc, 0x8002_ff02, 0x1530, 0x8203_ff03, 0];
            assert_eq!(found(&code), [(4, 0x1530)]);
            assert_eq!(found(&[&[0xbf80_0000], &code[..]].concat()), [(8, 0x1530)]);
        }
        // s_getpc_b64 s[0:1]; s_sext_i32_i16 s1, s1; s_add_co_u32 s0, s0, -0xcc; s_add_co_ci_u32 s1, s1, -1
        let back = [0xbe80_4700, 0xbe81_0f01, 0x8000_ff00, 0xffff_ff34, 0x8201_c101];
        assert_eq!(found(&back), [(4, 0xcc_u64.wrapping_neg())]);
        // s_getpc_b64 s[0:1]; s_add_nc_u64 s[0:1], s[0:1], 0x1234, and with a literal of 64 bits
        assert_eq!(found(&[0xbe80_4700, 0xa980_ff00, 0x1234]), [(4, 0x1234)]);
        assert_eq!(found(&[0xbe80_4700, 0xa980_fe00, 0x1234, 0x1]), [(4, 0x1_0000_1234)]);
    }

    #[test]
    fn what_is_no_address_is_passed_over() {
        // Another register, no second half, a register in the place of the literal, too far away, cut off.
        for code in [
            &[0xbe82_1c00, 0x8004_ff04, 0x1530, 0x8203_ff03, 0][..],
            &[0xbe82_1c00, 0x8002_ff02, 0x1530, 0xbf80_0000],
            &[0xbe82_1c00, 0x8002_0502, 0x8203_ff03, 0],
            &[&[0xbe82_1c00], &[0xbf80_0000; 12][..], &[0x8002_ff02, 0x1530, 0x8203_ff03, 0]].concat(),
            &[0xbe82_1c00, 0x8002_ff02],
            &[0xbe82_1c00],
            &[],
        ] {
            assert_eq!(found(code), [], "{code:x?}");
        }
    }
}
