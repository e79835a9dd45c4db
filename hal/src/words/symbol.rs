// SPDX-License-Identifier: MIT OR Apache-2.0
//! Symbols of loaded code: what it names, and where that lies on a device.

/// Something that device code names: a kernel, a function or a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SymbolInfo {
    /// Its name in the code, mangled as the compiler mangles.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// Who sees it.
    pub binding: SymbolBinding,
    /// Where it lies: a variable's first byte, a function's or kernel's first instruction. `None` where the driver cannot
    /// tell. A function's address says where its code is, for profilers and debuggers; how to call it nobody promises.
    pub address: Option<u64>,
    /// Bytes; 0 where the code does not say.
    pub size: u64,
}

impl SymbolInfo {
    /// A symbol that everyone sees, of unknown place and size.
    pub fn new(name: impl Into<String>, kind: SymbolKind) -> Self {
        Self { name: name.into(), kind, binding: SymbolBinding::Global, address: None, size: 0 }
    }

    /// The same, bound otherwise.
    #[must_use]
    pub fn bound(mut self, binding: SymbolBinding) -> Self {
        self.binding = binding;
        self
    }

    /// The same with its place, where that is known, and its size in bytes.
    #[must_use]
    pub fn placed(mut self, address: Option<u64>, size: u64) -> Self {
        (self.address, self.size) = (address, size);
        self
    }
}

/// What a symbol stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SymbolKind {
    /// A function that is dispatched.
    Kernel,
    /// A function that only device code calls.
    Function,
    /// A variable.
    Variable,
}

/// Who sees a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SymbolBinding {
    /// Its own code object.
    Local,
    /// Everyone.
    Global,
    /// Everyone, until a global one of that name turns up.
    Weak,
}
