// SPDX-License-Identifier: MIT OR Apache-2.0
//! Symbols of loaded code. HIP gives only the addresses of variables; all other addresses are computed from one of these.

use windlass_codeobject::{Binding, CodeObject, Symbol, SymbolRole};
use windlass_hal::{SymbolBinding, SymbolInfo, SymbolKind};

/// A symbol that `hipModuleGetGlobal` finds. Its address tells where the code object is loaded.
pub(crate) fn landmark(code: &CodeObject) -> Option<&Symbol> {
    let mut symbols = code.symbols().iter();
    symbols.find(|symbol| {
        symbol.exported && matches!(symbol.role, SymbolRole::Variable | SymbolRole::Marker) && symbol.size > 0
    })
}

/// The HAL's description of a symbol, with its address if the load address `base` of its code object is known. `None` for
/// anything but a kernel, a function or a variable.
pub(crate) fn reflect(symbol: &Symbol, base: Option<u64>) -> Option<SymbolInfo> {
    let kind = match symbol.role {
        SymbolRole::KernelEntry => SymbolKind::Kernel,
        SymbolRole::Function => SymbolKind::Function,
        SymbolRole::Variable => SymbolKind::Variable,
        _ => return None,
    };
    let binding = match symbol.binding {
        Binding::Global => SymbolBinding::Global,
        Binding::Weak => SymbolBinding::Weak,
        _ => SymbolBinding::Local,
    };
    let address = base.map(|base| base.wrapping_add(symbol.address));
    Some(SymbolInfo::new(&symbol.name, kind).bound(binding).placed(address, symbol.size))
}
