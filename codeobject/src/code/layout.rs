// SPDX-License-Identifier: MIT OR Apache-2.0
//! The layout of a code object in memory: segments, symbols, relocations.

/// A range of the file that a loader copies to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Segment {
    /// The address, relative to the load address.
    pub address: u64,
    /// The offset of the bytes in the file.
    pub offset: u64,
    /// The number of bytes from the file. All of them exist.
    pub file_size: u64,
    /// The number of bytes of memory, at least `file_size`. The rest is zero. The value is as the file states it, so a
    /// loader must bound the sum before it allocates.
    pub memory_size: u64,
    /// The alignment in memory.
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

    /// Whether `size` bytes at `address` lie in the segment's memory.
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
    /// The name; bytes that are not UTF-8 are written as `\xNN`.
    pub name: String,
    /// The address, relative to the load address; 0 for an undefined symbol.
    pub address: u64,
    /// The size in bytes.
    pub size: u64,
    /// The role of the symbol.
    pub role: SymbolRole,
    /// The visibility to other code objects.
    pub binding: Binding,
    /// Whether the symbol is in the dynamic symbol table, which stripping keeps.
    pub exported: bool,
}

/// The role of a symbol in a code object.
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
    /// A byte that clang adds to give the translation unit a unique name (`__hip_cuid_*`).
    Marker,
    /// A symbol that another code object must define.
    Undefined,
    /// Anything else: sections, files, absolute values.
    Other,
}

/// The binding of a symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Binding {
    /// Visible within its own code object.
    Local,
    /// Visible to all code objects.
    Global,
    /// Visible to all code objects; a global symbol of the same name replaces it.
    Weak,
}

/// A place in memory whose content depends on an address that only the loader knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Relocation {
    /// The place, relative to the load address.
    pub offset: u64,
    /// The value to write.
    pub kind: RelocationKind,
    /// The symbol, as an index into [`CodeObject::symbols`](crate::CodeObject::symbols).
    pub symbol: Option<usize>,
    /// The symbol's address; 0 without a symbol, or with one that is undefined.
    pub symbol_value: u64,
    /// The addend.
    pub addend: i64,
}

/// The value of a relocation: S is the symbol's address, A the addend, P the place, B the load address.
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
    /// A kind that only a linker resolves, or an unknown one, by its number.
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
