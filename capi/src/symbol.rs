// SPDX-License-Identifier: MIT OR Apache-2.0
//! The symbols of executables: kernels, functions and variables with their device addresses.

use std::{
    ffi::{CString, c_char},
    mem::MaybeUninit,
    ptr::NonNull,
};

use facade::{Error, QueueAffinity, SymbolBinding, SymbolInfo, SymbolKind};

use crate::{
    boundary::{fallible, infallible},
    error::windlass_error_t,
    executable::windlass_executable_t,
    handle::{self, Shell, object, used},
    memory::{Growing, c_string, give, write_struct},
};

/// The symbols of an executable.
pub struct windlass_symbol_list_t(Shell<Vec<Symbol>>);
object!(windlass_symbol_list_t, Vec<Symbol>, "symbol list");

/// A symbol with a C string.
pub(crate) struct Symbol {
    name: CString,
    info: SymbolInfo,
}

/// The kind of a symbol: one of WINDLASS_SYMBOL_KIND_*. Later versions may add kinds.
pub type windlass_symbol_kind_t = u32;

/// A kind that this version of the interface has no number for.
pub const WINDLASS_SYMBOL_KIND_OTHER: windlass_symbol_kind_t = 0;
/// A function that is dispatched.
pub const WINDLASS_SYMBOL_KIND_KERNEL: windlass_symbol_kind_t = 1;
/// A function that only device code calls.
pub const WINDLASS_SYMBOL_KIND_FUNCTION: windlass_symbol_kind_t = 2;
/// A variable.
pub const WINDLASS_SYMBOL_KIND_VARIABLE: windlass_symbol_kind_t = 3;

/// The visibility of a symbol: one of WINDLASS_SYMBOL_BINDING_*. Later versions may add bindings.
pub type windlass_symbol_binding_t = u32;

/// A binding that this version of the interface has no number for.
pub const WINDLASS_SYMBOL_BINDING_OTHER: windlass_symbol_binding_t = 0;
/// Visible in its own code object.
pub const WINDLASS_SYMBOL_BINDING_LOCAL: windlass_symbol_binding_t = 1;
/// Visible to all code objects.
pub const WINDLASS_SYMBOL_BINDING_GLOBAL: windlass_symbol_binding_t = 2;
/// Visible to all code objects, until a global symbol of the same name is found.
pub const WINDLASS_SYMBOL_BINDING_WEAK: windlass_symbol_binding_t = 3;

/// A named part of device code. The name belongs to the list's handle.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_symbol_t {
    /// sizeof this struct, set by the caller: windlass_symbol_init does so.
    pub struct_size: usize,
    /// The name in the code, mangled as the compiler does.
    pub name: *const c_char,
    /// The kind.
    pub kind: windlass_symbol_kind_t,
    /// The visibility.
    pub binding: windlass_symbol_binding_t,
    /// The device address of a variable's first byte or of a function's first instruction; 0 if it is unknown. Profilers
    /// and debuggers may use the address of a function; a program must not call it.
    pub address: u64,
    /// The size in bytes; 0 if the code does not say.
    pub size: u64,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_symbol_t {
    const NAME: &'static str = "windlass_symbol_t";
}

/// Lists the kernels, functions and variables of an executable. Names need not be unique. Each GPU of a device has a
/// copy of its own: `affinity` is 0, or on a device of several GPUs the queues of one. UNIMPLEMENTED if the device
/// lacks WINDLASS_FEATURE_SYMBOLS. The caller owns the list.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_executable_symbols(
    executable: Option<NonNull<windlass_executable_t>>,
    affinity: u64,
    list: Option<&mut MaybeUninit<Option<NonNull<windlass_symbol_list_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(list, || {
            let symbols = used(executable)?.symbols_on(QueueAffinity::from_bits(affinity))?;
            Ok(symbols.into_iter().map(|info| Symbol { name: c_string(&info.name), info }).collect())
        })
    })
}

/// The number of symbols in a list; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_symbol_list_count(list: Option<NonNull<windlass_symbol_list_t>>) -> usize {
    infallible(0, || Ok(used(list)?.len()))
}

/// A symbol of a list by number, from 0. OUT_OF_RANGE if the list is shorter. The name is valid until the list's last
/// reference is released.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_symbol_list_at(
    list: Option<NonNull<windlass_symbol_list_t>>,
    index: usize,
    symbol: *mut windlass_symbol_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let list = used(list)?;
        let Some(Symbol { name, info }) = list.get(index) else {
            return Err(Error::out_of_range(format!("symbol {index} of a list of {}", list.len())));
        };
        let value = windlass_symbol_t {
            struct_size: size_of::<windlass_symbol_t>(),
            name: name.as_ptr(),
            kind: match info.kind {
                SymbolKind::Kernel => WINDLASS_SYMBOL_KIND_KERNEL,
                SymbolKind::Function => WINDLASS_SYMBOL_KIND_FUNCTION,
                SymbolKind::Variable => WINDLASS_SYMBOL_KIND_VARIABLE,
                _ => WINDLASS_SYMBOL_KIND_OTHER,
            },
            binding: match info.binding {
                SymbolBinding::Local => WINDLASS_SYMBOL_BINDING_LOCAL,
                SymbolBinding::Global => WINDLASS_SYMBOL_BINDING_GLOBAL,
                SymbolBinding::Weak => WINDLASS_SYMBOL_BINDING_WEAK,
                _ => WINDLASS_SYMBOL_BINDING_OTHER,
            },
            address: info.address.unwrap_or_default(),
            size: info.size,
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(symbol, &value) }
    })
}

/// Adds a reference and returns the list. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_symbol_list_retain(
    list: Option<NonNull<windlass_symbol_list_t>>,
) -> Option<NonNull<windlass_symbol_list_t>> {
    infallible(None, || handle::retain(list).map(|()| list))
}

/// Releases a reference. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_symbol_list_release(list: Option<NonNull<windlass_symbol_list_t>>) {
    infallible((), || {
        handle::release(list);
        Ok(())
    });
}
