// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loads shared objects as an executable, and finds their kernels and variables by name.

use std::{collections::HashSet, ffi::c_void, ptr::NonNull};

use windlass_codeobject::{Binding, Symbol};
use windlass_hal::{
    Error, Result, SymbolBinding, SymbolInfo, SymbolKind, edge::Domain, host_memory::HostMemory,
};

use super::Executable;
use crate::{
    entry::{Entry, NativeKernel},
    shared_object::{
        SharedObjects,
        host_code::{Part, reflect, select},
    },
};

/// The names that the parts so far define.
#[derive(Default)]
struct Known<'p> {
    kernels: HashSet<&'p str>,
    globals: HashSet<&'p str>,
    /// All names, of functions and constants too.
    symbols: HashSet<&'p str>,
}

impl Executable {
    /// Loads the shared objects of the files, with one scope of names.
    ///
    /// # Safety
    /// As for [`windlass_hal::driver::RawDevice::load_linked`].
    pub(super) unsafe fn of_host_code(domain: Domain, files: &[&[u8]], native: bool) -> Result<Self> {
        let parts = select(files)?;
        if !native {
            return Err(Error::unimplemented(
                "this device loads no shared objects (LocalDriver::without_native), but libraries of Rust kernels",
            ));
        }
        // SAFETY: the caller's promise, passed on. `select` returns only shared objects that this machine can load.
        let code = unsafe { SharedObjects::load(&parts) }?;
        let mut executable = Self::empty(domain);
        let mut known = Known::default();
        for index in 0..parts.len() {
            executable.add_part(&code, index, &parts, &mut known)?;
        }
        tracing::debug!(
            target: "windlass::local",
            parts = parts.len(),
            kernels = executable.functions.len(),
            "loaded shared objects"
        );
        executable._code = Some(code);
        Ok(executable)
    }

    /// Adds a part's kernels and variables. If several parts define a name, the first part's definition counts.
    fn add_part<'p>(
        &mut self,
        code: &SharedObjects,
        index: usize,
        parts: &'p [Part<'_>],
        known: &mut Known<'p>,
    ) -> Result<()> {
        let part = &parts[index];
        let mut base = None;
        let mut at = |name: &str, offset: Option<u64>| {
            let lost = || Error::internal(format!("the loader does not find `{name}` of {}", part.name));
            let address = code.address(index, name).ok_or_else(lost)?;
            if let Some(offset) = offset {
                check_place(&mut base, address.as_ptr().addr() as u64, offset).map_err(|problem| {
                    Error::failed_precondition(format!("`{name}` of {} {problem}", part.name))
                })?;
            }
            Ok::<_, Error>(address)
        };
        for kernel in part.library.kernels() {
            if !known.kernels.insert(&kernel.name) {
                continue;
            }
            known.symbols.insert(&kernel.name);
            let address = at(&kernel.name, Some(kernel.address).filter(|_| !kernel.is_indirect))?;
            // SAFETY: the description of the function of that name gives it this type, as the loading caller vouches.
            let function = unsafe { std::mem::transmute::<*mut c_void, NativeKernel>(address.as_ptr()) };
            self.entries.push(Entry::Native(function));
            self.functions.push(reflect(kernel));
            let symbol = SymbolInfo::new(&kernel.name, SymbolKind::Kernel);
            self.symbols.push(symbol.placed(Some(address.as_ptr().addr() as u64), kernel.size));
        }
        for variable in part.library.variables() {
            if !known.globals.insert(&variable.name) {
                continue;
            }
            known.symbols.insert(&variable.name);
            let start = at(&variable.name, Some(variable.address))?;
            if code.address_in_process(&variable.name).is_some_and(|other| other != start) {
                check_own(&variable.name, part, parts)?;
            }
            let (start, size) = (start.cast(), variable.size as usize);
            // SAFETY: the memory is a writable variable of the loaded object. Each buffer keeps the executable, and
            // the executable keeps the object. Only kernels and this driver's atomics touch the memory.
            self.add_variable(&variable.name, unsafe { HostMemory::foreign(start, size) });
        }
        for (symbols, kind) in [
            (part.library.functions().collect::<Vec<_>>(), SymbolKind::Function),
            (part.library.constants().collect(), SymbolKind::Variable),
        ] {
            for symbol in symbols {
                if known.symbols.insert(&symbol.name) {
                    self.symbols.push(symbol_info(symbol, kind, code.address(index, &symbol.name)));
                }
            }
        }
        Ok(())
    }
}

/// Fails if the parts' code would use the process's variable `name` instead of the part's own.
fn check_own(name: &str, part: &Part<'_>, parts: &[Part<'_>]) -> Result<()> {
    let is_wanted = parts.iter().any(|part| part.library.undefined().any(|symbol| symbol.name == name));
    let mend = match (is_wanted, part.library.is_interposable(name)) {
        (true, _) => "name it otherwise",
        (false, true) => "make it static, name it otherwise, or link with -Wl,-Bsymbolic",
        (false, false) => return Ok(()),
    };
    Err(Error::failed_precondition(format!(
        "this process has a `{name}` too, which the code would use instead of the variable of {}; {mend}",
        part.name
    )))
}

/// Checks that an address belongs to the object that states `offset`. All symbols of an object have the same base
/// address, which its first symbol gives. A symbol of another object with the same name has another size or base.
fn check_place(base: &mut Option<u64>, address: u64, offset: u64) -> Result<(), &'static str> {
    let own = address.wrapping_sub(offset);
    match *base.get_or_insert(own) == own && own.is_multiple_of(4096) {
        true => Ok(()),
        false => Err("is not where the object states: the loader takes another one of that name"),
    }
}

fn symbol_info(symbol: &Symbol, kind: SymbolKind, address: Option<NonNull<c_void>>) -> SymbolInfo {
    let binding = match symbol.binding {
        Binding::Weak => SymbolBinding::Weak,
        _ => SymbolBinding::Global,
    };
    let address = address.map(|address| address.as_ptr().addr() as u64);
    SymbolInfo::new(&symbol.name, kind).bound(binding).placed(address, symbol.size)
}

#[cfg(test)]
mod tests {
    use super::check_place;

    #[test]
    fn symbols_lie_in_the_object_that_states_them() {
        let mut base = None;
        check_place(&mut base, 0x7000_1040, 0x1040).unwrap();
        check_place(&mut base, 0x7000_2000, 0x2000).unwrap();
        check_place(&mut base, 0x7100_2008, 0x2008).unwrap_err();
        check_place(&mut None, 0x7000_1040, 0x1048).unwrap_err();
    }
}
