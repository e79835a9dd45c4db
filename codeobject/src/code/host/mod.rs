// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shared objects with kernels for the host, described as in `windlass_kernel.h`. Their bytes are read, and nothing is
//! loaded.

mod description;
pub(crate) mod kernel;
pub(crate) mod machine;

use std::collections::{HashMap, HashSet};

use object::LittleEndian;
use object::elf::{
    DF_SYMBOLIC, DT_FLAGS, DT_SYMBOLIC, SHN_ABS, STB_GLOBAL, STB_GNU_UNIQUE, STB_WEAK, STT_FUNC,
    STT_GNU_IFUNC, STT_NOTYPE, STT_OBJECT, STV_DEFAULT, STV_PROTECTED, Sym64,
};
use object::read::elf::Sym;

use crate::bytes::text;
use crate::code::elf::{Elf, ElfSymbol};
use crate::code::elf_flags::{ELF_HEAD_SIZE, ElfHead};
use crate::code::host::kernel::HostKernel;
use crate::code::host::machine::HostMachine;
use crate::code::kernel::RejectedKernel;
use crate::code::layout::{Binding, Symbol, SymbolRole};
use crate::error::Error;
use crate::warnings::Warnings;
use crate::words::magic::Format;

const ENDIAN: LittleEndian = LittleEndian;
/// The beginning of a description's name; the kernel's name follows.
pub(crate) const PREFIX: &[u8] = b"windlass_kernel_";

/// A shared object with kernels for a host.
///
/// [`parse`](Self::parse) reads the descriptions of the kernels and the names of the symbols. It does not check the
/// object for the system's loader: the code can do anything, so the caller must trust the object before loading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostLibrary {
    machine: HostMachine,
    kernels: Vec<HostKernel>,
    rejected: Vec<RejectedKernel>,
    /// The exported and the undefined symbols, each with whether it is a writable variable.
    symbols: Vec<(Symbol, bool)>,
    needed: Vec<String>,
    interposable: HashSet<String>,
}

impl HostLibrary {
    /// Reads an ELF shared object of any 64-bit little-endian machine. An object without kernels is no error, since
    /// others may use its exports.
    ///
    /// # Errors
    ///
    /// If the bytes are no shared object or are cut short, and [`Error::Unsupported`] for variables that the loader
    /// makes one for the whole process, with the compiler option that avoids them.
    pub fn parse(bytes: &[u8]) -> Result<HostLibrary, Error> {
        let head = check_head(bytes)?;
        let elf = Elf::parse(bytes, &mut Warnings::default())?;
        let table = elf.dynamic_symbols()?;
        check_unique(&table)?;
        let mut library = HostLibrary {
            machine: HostMachine::from_elf(head.machine),
            kernels: Vec::new(),
            rejected: Vec::new(),
            symbols: Vec::new(),
            needed: elf.needed()?.into_iter().map(text).collect(),
            interposable: HashSet::new(),
        };
        library.describe(&elf, &table, bytes.len() as u64);
        if !is_symbolic(&elf) {
            let looked_up: HashSet<u32> = elf.relocations()?.iter().map(|entry| entry.symbol).collect();
            // The table begins with symbol 1.
            let symbols = (1..).zip(&table).filter(|(index, _)| looked_up.contains(index));
            let symbols = symbols.map(|(_, symbol)| symbol).filter(|symbol| is_exported(symbol));
            let replaced = symbols.filter(|symbol| symbol.symbol.st_visibility() == STV_DEFAULT);
            library.interposable = replaced.map(|symbol| text(symbol.name)).collect();
        }
        Ok(library)
    }

    /// Whether an ELF has a name that may be a description's, even if [`parse`](Self::parse) refuses the ELF. Few
    /// libraries have one, and reading the names alone is fast.
    pub fn may_have_kernels(bytes: &[u8]) -> bool {
        let elf = Elf::parse(bytes, &mut Warnings::default()).ok();
        let names = elf.and_then(|elf| elf.dynamic_strings()).unwrap_or_default();
        names.windows(PREFIX.len()).any(|name| name == PREFIX)
    }

    /// The machine that the code is for.
    pub fn machine(&self) -> HostMachine {
        self.machine
    }

    /// The kernels, in the order of their symbols.
    pub fn kernels(&self) -> &[HostKernel] {
        &self.kernels
    }

    /// Descriptions without a usable kernel, each with the reason.
    pub fn rejected(&self) -> &[RejectedKernel] {
        &self.rejected
    }

    /// Whether the object describes kernels, usable or not.
    pub fn has_kernels(&self) -> bool {
        !(self.kernels.is_empty() && self.rejected.is_empty())
    }

    /// The exported variables that can be written, without descriptions of kernels.
    pub fn variables(&self) -> impl Iterator<Item = &Symbol> {
        self.with_role(SymbolRole::Variable, true)
    }

    /// The exported variables in read-only memory.
    pub fn constants(&self) -> impl Iterator<Item = &Symbol> {
        self.with_role(SymbolRole::Variable, false)
    }

    /// The exported functions that are no kernels.
    pub fn functions(&self) -> impl Iterator<Item = &Symbol> {
        self.with_role(SymbolRole::Function, false)
    }

    /// The symbols that the object uses and does not define. A weak one may stay undefined.
    pub fn undefined(&self) -> impl Iterator<Item = &Symbol> {
        self.with_role(SymbolRole::Undefined, false)
    }

    fn with_role(&self, role: SymbolRole, is_written: bool) -> impl Iterator<Item = &Symbol> {
        let fitting = self
            .symbols
            .iter()
            .filter(move |(symbol, written)| (symbol.role, *written) == (role, is_written));
        fitting.map(|(symbol, _)| symbol)
    }

    /// Whether a definition in an object that was loaded earlier replaces the one that this object exports under
    /// `name`, for this object's own code too. `-Wl,-Bsymbolic` prevents that.
    pub fn is_interposable(&self, name: &str) -> bool {
        self.interposable.contains(name)
    }

    /// The libraries that the object asks the system for, such as `libm.so.6`.
    pub fn needed(&self) -> &[String] {
        &self.needed
    }

    /// Reads the descriptions and symbols of an object of `size` bytes.
    fn describe(&mut self, elf: &Elf<'_>, table: &[ElfSymbol<'_>], size: u64) {
        let functions: HashMap<&[u8], &Sym64<LittleEndian>> = table
            .iter()
            .filter(|symbol| is_exported(symbol) && is_function(elf, symbol))
            .map(|symbol| (symbol.name, symbol.symbol))
            .collect();
        let (mut described, mut room) = (HashSet::new(), size);
        for symbol in table.iter().filter(|symbol| is_exported(symbol) && is_data(symbol)) {
            let Some(name) = symbol.name.strip_prefix(PREFIX) else { continue };
            if !described.insert(name) {
                continue;
            }
            let (address, size) = (symbol.symbol.st_value(ENDIAN), symbol.symbol.st_size(ENDIAN));
            let kernel = match functions.get(name) {
                Some(function) => description::read(elf, name, function, (address, size), &mut room),
                None => {
                    Err(format!("it describes a kernel, and the object exports no function `{}`", text(name)))
                }
            };
            match kernel {
                Ok(kernel) => self.kernels.push(kernel),
                Err(reason) => {
                    self.rejected.push(RejectedKernel { name: text(name), reason, args: Vec::new() });
                }
            }
        }
        let mut seen = HashSet::new();
        for symbol in table {
            let role = if symbol.symbol.is_undefined(ENDIAN) {
                SymbolRole::Undefined
            } else if !is_exported(symbol) {
                continue;
            } else if is_function(elf, symbol) {
                SymbolRole::Function
            } else if is_data(symbol) {
                SymbolRole::Variable
            } else {
                continue;
            };
            let is_kernel = described.contains(symbol.name) && role == SymbolRole::Function;
            let is_description = role == SymbolRole::Variable && symbol.name.starts_with(PREFIX);
            if symbol.name.is_empty() || is_kernel || is_description || !seen.insert(symbol.name) {
                continue;
            }
            let (address, size) = (symbol.symbol.st_value(ENDIAN), symbol.symbol.st_size(ENDIAN));
            let is_written = role == SymbolRole::Variable && elf.stays_writable(address, size);
            let symbol = Symbol {
                name: text(symbol.name),
                address,
                size,
                role,
                binding: if symbol.symbol.st_bind() == STB_WEAK { Binding::Weak } else { Binding::Global },
                exported: true,
            };
            self.symbols.push((symbol, is_written));
        }
    }
}

/// Refuses unique symbols: a loader takes the one of the object that was loaded first, whatever its size.
fn check_unique(table: &[ElfSymbol<'_>]) -> Result<(), Error> {
    let mut symbols = table.iter().map(|symbol| (symbol.name, symbol.symbol));
    let unique =
        symbols.find(|(_, symbol)| symbol.st_bind() == STB_GNU_UNIQUE && !symbol.is_undefined(ENDIAN));
    match unique {
        Some((name, symbol)) => Err(Error::unsupported(
            format!("the symbol `{}`, which is one for the whole process (STB_GNU_UNIQUE)", text(name)),
            symbol.st_value(ENDIAN),
            "compile it with -fno-gnu-unique; keep static libraries' own to themselves with -Wl,--exclude-libs,ALL",
        )),
        None => Ok(()),
    }
}

/// Whether the object prefers its own definitions to all others (`-Wl,-Bsymbolic`).
fn is_symbolic(elf: &Elf<'_>) -> bool {
    let mut entries = elf.dynamic_entries();
    entries.any(|(tag, value)| tag == DT_SYMBOLIC || tag == DT_FLAGS && value & DF_SYMBOLIC.0 != 0)
}

/// Whether a loader finds the symbol by its name.
fn is_exported(symbol: &ElfSymbol<'_>) -> bool {
    let raw = symbol.symbol;
    let is_bound = matches!(raw.st_bind(), STB_GLOBAL | STB_WEAK);
    let is_visible = matches!(raw.st_visibility(), STV_DEFAULT | STV_PROTECTED);
    is_bound && is_visible && !raw.is_undefined(ENDIAN) && raw.st_shndx(ENDIAN) != SHN_ABS
}

fn is_function(elf: &Elf<'_>, symbol: &ElfSymbol<'_>) -> bool {
    matches!(symbol.symbol.st_type(), STT_FUNC | STT_GNU_IFUNC)
        || symbol.symbol.st_type() == STT_NOTYPE && elf.is_code(symbol.symbol.st_value(ENDIAN))
}

fn is_data(symbol: &ElfSymbol<'_>) -> bool {
    symbol.symbol.st_type() == STT_OBJECT
}

fn check_head(bytes: &[u8]) -> Result<ElfHead, Error> {
    const WHAT: &str = "the ELF header";
    const ET_DYN: u16 = 3;
    if !Format::of(bytes).is_some_and(Format::is_elf) {
        return Err(Error::malformed(WHAT, 0, "it does not begin as one"));
    }
    if (bytes.len() as u64) < ELF_HEAD_SIZE {
        return Err(Error::truncated(WHAT, 0, ELF_HEAD_SIZE, bytes.len() as u64));
    }
    let head = ElfHead::read(bytes).ok_or_else(|| {
        Error::unsupported(
            "an ELF of 32 bits or of big-endian numbers",
            0,
            "build it for the host, as a shared object",
        )
    })?;
    match head.elf_type {
        ET_DYN => {}
        1 => {
            let advice = "link it: cc -shared -o kernels.so kernels.o";
            return Err(Error::unsupported("an object of the compiler", 0, advice));
        }
        _ => return Err(Error::unsupported("an ELF that is no shared object", 0, "link it with -shared")),
    }
    // System V's and GNU's number, which the loader of Linux takes.
    if !matches!(bytes.get(7), Some(0 | 3)) {
        return Err(Error::unsupported("an ELF for another operating system", 7, "build it for Linux"));
    }
    Ok(head)
}
