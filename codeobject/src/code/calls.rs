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

/// What is known of an address takes many times what the code that makes it does. No honest code makes so many.
const MAX_PLACES: usize = 1 << 20;

/// More work than any file makes.
const NO_LIMIT: u64 = u64::MAX;

/// What the functions of a code object may call. Addresses count from where the code object is loaded.
///
/// It takes memory in proportion to the code and its relocations, and each question time in proportion to what is
/// reached, tables counted once.
#[derive(Debug, Clone, Default)]
pub struct Calls {
    /// For each function the addresses that it makes, by where it begins.
    made: BTreeMap<u64, Vec<u64>>,
    map: Map,
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
    /// What the function that begins at `address` may call, itself included where it does, in order. Kernels go by their
    /// [`entry_address`](crate::Kernel::entry_address).
    pub fn of(&self, address: u64) -> Vec<Callee> {
        let mut search = Search::new(&self.map);
        search.follow(self.made_by(address), &mut { NO_LIMIT });
        search.into_found()
    }

    /// What the function that begins at `address` may call, and what that may call, and so on, in order.
    pub fn reached_from(&self, address: u64) -> Vec<Callee> {
        self.reached_within(address, &mut { NO_LIMIT }).unwrap_or_default()
    }

    /// The same for as long as there is `work`, of which each address that is followed takes one; `None` where there is
    /// too little. Who asks for all functions of a file asks so: each may lead to all of a table that holds nothing but
    /// addresses of data, so that even empty lists take time in proportion to the square of the file's size.
    pub fn reached_within(&self, address: u64, work: &mut u64) -> Option<Vec<Callee>> {
        let mut search = Search::new(&self.map);
        search.follow(self.made_by(address), work)?;
        while let Some(callee) = search.functions.pop() {
            search.follow(self.made_by(callee), work)?;
        }
        Some(search.into_found())
    }

    /// Whether all of the code was looked at. Only a file whose executable segments share bytes can have more code than
    /// bytes; of such code no more is looked at than the file has bytes. Nor is any behind the millionth address that is made.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    fn made_by(&self, function: u64) -> &[u64] {
        self.made.get(&function).map(Vec::as_slice).unwrap_or_default()
    }
}

impl CodeObject {
    /// Finds what the functions of the code object may call. `elf` is what this was read from. It takes one pass over the
    /// code.
    pub fn calls(&self, elf: &[u8]) -> Calls {
        let map = Map::new(self);
        let mut left = elf.len() as u64;
        let mut complete = true;
        let mut places = Vec::new();
        for segment in self.segments().iter().filter(|segment| segment.executable) {
            let size = segment.file_size.min(left);
            complete &= size == segment.file_size;
            left -= size;
            let Some(code) = range(elf, segment.offset, size) else { continue };
            let found = distances(code).map(|(offset, distance)| {
                let place = segment.address.wrapping_add(offset);
                (place, place.wrapping_add(distance))
            });
            places.extend(found.take(MAX_PLACES - places.len()));
            complete &= places.len() < MAX_PLACES;
        }
        // Functions without a symbol end where the next begins.
        let mut starts = functions(self);
        let mut search = Search::new(&map);
        for (_, address) in &places {
            search.follow(&[*address], &mut { NO_LIMIT });
        }
        for function in search.functions {
            starts.entry(function).or_insert(u64::MAX);
        }
        let mut made: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
        for (place, address) in places {
            let caller = starts.range(..=place).next_back().filter(|(_, end)| place < **end);
            if let Some((caller, _)) = caller {
                made.entry(*caller).or_default().push(address);
            }
        }
        for addresses in made.values_mut() {
            addresses.sort_unstable();
            addresses.dedup();
        }
        Calls { made, map, complete }
    }
}

/// Where things are in a code object.
#[derive(Debug, Clone, Default)]
struct Map {
    code: Intervals,
    /// Functions with symbols, from where to where.
    functions: BTreeMap<u64, u64>,
    /// Variables and tables. Those that overlap are one.
    tables: Intervals,
    /// By where a table begins, what is stored in it.
    contents: HashMap<u64, Vec<Content>>,
    /// What is stored elsewhere, by its place.
    others: HashMap<u64, Content>,
}

/// What a loader writes to a place in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Content {
    Address(u64),
    /// The address of a symbol of another code object.
    Undefined(usize),
}

/// The functions of a code object that have symbols, from where to where.
fn functions(code: &CodeObject) -> BTreeMap<u64, u64> {
    let is_function = |role| matches!(role, SymbolRole::Function | SymbolRole::KernelEntry);
    let functions = code.symbols().iter().filter(|symbol| is_function(symbol.role));
    functions
        .map(|symbol| match symbol.size {
            0 => (symbol.address, u64::MAX),
            size => (symbol.address, symbol.address.saturating_add(size)),
        })
        .collect()
}

impl Map {
    fn new(code: &CodeObject) -> Map {
        let executable = code.segments().iter().filter(|segment| segment.executable);
        let mut map = Map {
            code: Intervals::new(executable.map(|s| (s.address, s.address.saturating_add(s.file_size)))),
            functions: functions(code),
            tables: tables(code),
            ..Map::default()
        };
        for relocation in code.relocations() {
            let Some(content) = content(code, relocation) else { continue };
            match map.tables.around(relocation.offset) {
                Some((start, _)) => map.contents.entry(start).or_default().push(content),
                None => drop(map.others.insert(relocation.offset, content)),
            }
        }
        for contents in map.contents.values_mut() {
            contents.sort_unstable();
            contents.dedup();
        }
        map
    }

    /// Whether the address is one of code, and where it is that of a function, not of a label in it.
    fn is_function(&self, address: u64) -> Option<bool> {
        self.code.around(address).filter(|(_, end)| end - address >= 4)?;
        let before = self.functions.range(..=address).next_back();
        let label = before.is_some_and(|(start, end)| *start != address && address < *end);
        Some(!label && address.is_multiple_of(4))
    }
}

fn tables(code: &CodeObject) -> Intervals {
    let variables = code.symbols().iter().filter(|symbol| symbol.role == SymbolRole::Variable);
    let variables = variables.map(|symbol| (symbol.address, symbol.address.saturating_add(symbol.size)));
    let named = |name: &str| code.symbols().iter().find(|symbol| symbol.name == name);
    // What the linker gathers of constructors and destructors has no symbol of its own.
    let gathered = [("__init_array_start", "__init_array_end"), ("__fini_array_start", "__fini_array_end")];
    let gathered =
        gathered.into_iter().filter_map(|(start, end)| Some((named(start)?.address, named(end)?.address)));
    Intervals::new(variables.chain(gathered))
}

fn content(code: &CodeObject, relocation: &Relocation) -> Option<Content> {
    let is_undefined =
        |index: usize| code.symbols().get(index).is_some_and(|symbol| symbol.role == SymbolRole::Undefined);
    match (relocation.kind, relocation.symbol) {
        (RelocationKind::Relative64, _) => Some(Content::Address(relocation.addend as u64)),
        (RelocationKind::Abs64, Some(index)) if is_undefined(index) => Some(Content::Undefined(index)),
        (RelocationKind::Abs64, _) => {
            Some(Content::Address(relocation.symbol_value.wrapping_add_signed(relocation.addend)))
        }
        _ => None,
    }
}

/// Follows addresses to functions; nothing is looked at twice.
struct Search<'m> {
    map: &'m Map,
    /// Addresses, and the beginnings of tables.
    seen: HashSet<u64>,
    found: BTreeSet<Callee>,
    /// Those found, for who wants to follow them further.
    functions: Vec<u64>,
}

impl Search<'_> {
    fn new(map: &Map) -> Search<'_> {
        Search { map, seen: HashSet::new(), found: BTreeSet::new(), functions: Vec::new() }
    }

    /// Each leads to a function itself, or to what is stored there. `None` where there is too little work left.
    fn follow(&mut self, addresses: &[u64], work: &mut u64) -> Option<()> {
        let map = self.map;
        let mut take = |number: usize| {
            let left = work.checked_sub(number as u64);
            *work = left.unwrap_or(0);
            left
        };
        take(addresses.len())?;
        let mut open = addresses.to_vec();
        while let Some(address) = open.pop() {
            if let Some(is_function) = map.is_function(address) {
                if is_function && self.found.insert(Callee::At(address)) {
                    self.functions.push(address);
                }
                continue;
            }
            let table = map.tables.around(address).map(|(start, _)| start);
            if !self.seen.insert(table.unwrap_or(address)) {
                continue;
            }
            let contents = match table {
                Some(start) => map.contents.get(&start).map(Vec::as_slice).unwrap_or_default(),
                None => map.others.get(&address).map(std::slice::from_ref).unwrap_or_default(),
            };
            take(contents.len())?;
            for content in contents {
                match *content {
                    Content::Address(address) => open.push(address),
                    Content::Undefined(symbol) => drop(self.found.insert(Callee::Undefined(symbol))),
                }
            }
        }
        Some(())
    }

    fn into_found(self) -> Vec<Callee> {
        self.found.into_iter().collect()
    }
}

/// Ranges of addresses; those that overlap are one.
#[derive(Debug, Clone, Default)]
struct Intervals(Vec<(u64, u64)>);

impl Intervals {
    fn new(ranges: impl Iterator<Item = (u64, u64)>) -> Intervals {
        let mut ranges: Vec<(u64, u64)> = ranges.filter(|(start, end)| start < end).collect();
        ranges.sort_unstable();
        ranges.dedup_by(|next, kept| {
            let overlap = next.0 < kept.1;
            if overlap {
                kept.1 = kept.1.max(next.1);
            }
            overlap
        });
        Intervals(ranges)
    }

    /// The one that an address lies in, from where to where.
    fn around(&self, address: u64) -> Option<(u64, u64)> {
        let behind = self.0.partition_point(|(start, _)| *start <= address);
        self.0.get(behind.checked_sub(1)?).copied().filter(|(_, end)| address < *end)
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
