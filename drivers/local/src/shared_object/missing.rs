// SPDX-License-Identifier: MIT OR Apache-2.0
//! Lists the undefined symbols of shared objects that could not be loaded. The loader itself names only the first.

use std::{collections::HashSet, ffi::c_void};

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};
use windlass_codeobject::{Binding, HostLibrary};
use windlass_hal::Error;

use crate::shared_object::host_code::Part;

/// The most symbols that an error names.
const NAMED: usize = 16;

/// `NOT_FOUND` with every undefined symbol. `None` if every symbol is defined.
pub(super) fn error(parts: &[Part<'_>]) -> Option<Error> {
    let defined: HashSet<&str> = parts.iter().flat_map(|part| exports(&part.library)).collect();
    let mut missing = Vec::new();
    for part in parts {
        let wanted = part.library.undefined().filter(|symbol| symbol.binding != Binding::Weak);
        let wanted: Vec<_> =
            wanted.map(|symbol| symbol.name.as_str()).filter(|name| !defined.contains(name)).collect();
        if wanted.is_empty() {
            continue;
        }
        let mut known = vec![Library::this()];
        known.extend(part.library.needed().iter().filter_map(|name| {
            // SAFETY: loading the part loads this library in the same way.
            unsafe { Library::open(Some(name), RTLD_LAZY | RTLD_LOCAL) }.ok()
        }));
        let is_known = |name: &str| {
            // SAFETY: nothing is done with the address.
            known.iter().any(|library| unsafe { library.get::<*mut c_void>(name) }.is_ok())
        };
        let missing_here = wanted.into_iter().filter(|name| !is_known(name));
        missing.extend(missing_here.map(|name| format!("{} needs `{name}`", part.name)));
    }
    if missing.is_empty() {
        return None;
    }
    let more = missing.len().saturating_sub(NAMED);
    missing.truncate(NAMED);
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    Some(Error::not_found(format!(
        "symbols that no code defines: {}{more}; load the code that defines them together with this one \
         (Device::load_linked), or link it in when this one is built",
        missing.join(", ")
    )))
}

fn exports(library: &HostLibrary) -> impl Iterator<Item = &str> {
    let kernels = library.kernels().iter().map(|kernel| kernel.name.as_str());
    let symbols = library.functions().chain(library.variables()).chain(library.constants());
    kernels.chain(symbols.map(|symbol| symbol.name.as_str()))
}
