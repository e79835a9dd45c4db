// SPDX-License-Identifier: MIT OR Apache-2.0
//! The symbols of loaded code: kernels, functions and variables with their device addresses.

/// A named part of device code: a kernel, a function or a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SymbolInfo {
    /// The name in the code, mangled as the compiler does.
    pub name: String,
    /// The kind.
    pub kind: SymbolKind,
    /// The visibility.
    pub binding: SymbolBinding,
    /// The device address of the first byte of a variable, or of the first instruction of a function or kernel. `None`
    /// where the driver does not know it. Profilers and debuggers may use the address of a function; a program must not
    /// call it.
    pub address: Option<u64>,
    /// The size in bytes; 0 where the code does not say.
    pub size: u64,
}

impl SymbolInfo {
    /// A global symbol of unknown address and size.
    pub fn new(name: impl Into<String>, kind: SymbolKind) -> Self {
        Self { name: name.into(), kind, binding: SymbolBinding::Global, address: None, size: 0 }
    }

    /// Sets the visibility.
    #[must_use]
    pub fn bound(mut self, binding: SymbolBinding) -> Self {
        self.binding = binding;
        self
    }

    /// Sets the address, where it is known, and the size in bytes.
    #[must_use]
    pub fn placed(mut self, address: Option<u64>, size: u64) -> Self {
        (self.address, self.size) = (address, size);
        self
    }
}

/// The kind of a symbol.
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

/// The visibility of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SymbolBinding {
    /// Visible in its own code object.
    Local,
    /// Visible to all code objects.
    Global,
    /// Visible to all code objects, until a global symbol of the same name is found.
    Weak,
}
