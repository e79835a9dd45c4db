// SPDX-License-Identifier: MIT OR Apache-2.0
//! What a loader needs to place a code object in memory: segments, symbols, relocations.

/// A range of the file that goes to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Segment {
    /// Where it goes, counted from where the code object is loaded.
    pub address: u64,
    /// Where its bytes begin in the file.
    pub offset: u64,
    /// How many bytes come from the file; all of them are there.
    pub file_size: u64,
    /// How many bytes of memory it takes, at least `file_size`; the rest is zero. Nothing but the file says how
    /// large this is: a loader bounds the sum before it allocates.
    pub memory_size: u64,
    /// Its alignment in memory.
    pub alignment: u64,
    /// Whether it is read.
    pub readable: bool,
    /// Whether it is written.
    pub writable: bool,
    /// Whether it holds code.
    pub executable: bool,
}

impl Segment {
    /// Whether `size` bytes at `address` lie in the part that comes from the file.
    pub fn holds(&self, address: u64, size: u64) -> bool {
        address
            .checked_sub(self.address)
            .and_then(|start| start.checked_add(size))
            .is_some_and(|end| end <= self.file_size)
    }

    /// Whether `size` bytes at `address` lie in its memory.
    pub(crate) fn spans(&self, address: u64, size: u64) -> bool {
        address
            .checked_sub(self.address)
            .and_then(|start| start.checked_add(size))
            .is_some_and(|end| end <= self.memory_size)
    }
}

/// A symbol of a code object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Symbol {
    /// Its name; bytes that are not UTF-8 are written as `\xNN`.
    pub name: String,
    /// Its address, counted from where the code object is loaded; 0 where it is undefined.
    pub address: u64,
    /// Its size in bytes.
    pub size: u64,
    /// What it stands for.
    pub role: SymbolRole,
    /// Who sees it.
    pub binding: Binding,
    /// Whether it is in the dynamic symbol table, which stripping leaves alone.
    pub exported: bool,
}

/// What a symbol of a code object stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SymbolRole {
    /// The descriptor of a kernel.
    KernelDescriptor,
    /// The first instruction of a kernel.
    KernelEntry,
    /// A function that is no kernel.
    Function,
    /// A variable.
    Variable,
    /// A byte that clang adds so that the translation unit has a name of its own (`__hip_cuid_*`).
    Marker,
    /// Something that another code object has to define.
    Undefined,
    /// Anything else: sections, files, absolute values.
    Other,
}

/// Who sees a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Binding {
    /// Its own code object.
    Local,
    /// Everyone.
    Global,
    /// Everyone, until a global one of that name turns up.
    Weak,
}

/// A place in memory that depends on an address which only the loader knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Relocation {
    /// The place, counted from where the code object is loaded.
    pub offset: u64,
    /// What to write there.
    pub kind: RelocationKind,
    /// The symbol that it refers to: an index into [`CodeObject::symbols`](crate::CodeObject::symbols).
    pub symbol: Option<usize>,
    /// The symbol's address; 0 without a symbol, or with one that is undefined.
    pub symbol_value: u64,
    /// What is added to the address.
    pub addend: i64,
}

/// What a relocation writes: S is the symbol's address, A the addend, P the place, B the load address.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RelocationKind {
    /// Nothing.
    None,
    /// The low 32 bits of S + A.
    Abs32Lo,
    /// The high 32 bits of S + A.
    Abs32Hi,
    /// All 64 bits of S + A.
    Abs64,
    /// S + A - P in 32 bits.
    Rel32,
    /// S + A - P in 64 bits.
    Rel64,
    /// S + A in 32 bits.
    Abs32,
    /// The low 32 bits of S + A - P.
    Rel32Lo,
    /// The high 32 bits of S + A - P.
    Rel32Hi,
    /// B + A in 64 bits.
    Relative64,
    /// A number that only a linker resolves, or that is not known.
    Other(u32),
}

impl RelocationKind {
    pub(crate) fn from_elf(kind: u32) -> RelocationKind {
        match kind {
            0 => RelocationKind::None,
            1 => RelocationKind::Abs32Lo,
            2 => RelocationKind::Abs32Hi,
            3 => RelocationKind::Abs64,
            4 => RelocationKind::Rel32,
            5 => RelocationKind::Rel64,
            6 => RelocationKind::Abs32,
            10 => RelocationKind::Rel32Lo,
            11 => RelocationKind::Rel32Hi,
            13 => RelocationKind::Relative64,
            other => RelocationKind::Other(other),
        }
    }
}
