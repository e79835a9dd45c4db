// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executables: loaded libraries.

use std::{any::Any, env::consts::ARCH, sync::Arc};

use windlass_codeobject::{File, Options};
use windlass_hal::{
    Error, FunctionInfo, GlobalInfo, QueueAffinity, Result, SymbolInfo, SymbolKind, driver,
    edge::Domain,
    host_memory::{HostBuffer, HostMemory},
};

use crate::{
    entry::Entry,
    library::{self, Library},
};

/// The alignment of globals in bytes.
const GLOBAL_ALIGNMENT: u64 = 64;

/// A library, and globals of this executable's own.
pub(crate) struct Executable {
    domain: Domain,
    library: Library,
    variables: Vec<(String, Arc<HostMemory>)>,
    globals: Vec<GlobalInfo>,
}

impl Executable {
    /// Loads the library that an image names.
    pub(crate) fn load(domain: Domain, libraries: &[Library], code: &[u8]) -> Result<Self> {
        let name = library::name_in(code).unwrap_or_else(|| Err(refusal(code)))?;
        let library = libraries.iter().find(|library| library.name() == name).ok_or_else(|| {
            let known: Vec<_> = libraries.iter().map(Library::name).collect();
            Error::not_found(format!(
                "no library `{name}` of Rust kernels; the driver has {}; register it with LocalDriver::with_library",
                if known.is_empty() { "none".to_owned() } else { known.join(", ") }
            ))
        })?;
        let declared = library.globals().iter();
        let variables = declared
            .clone()
            .map(|(name, contents)| Ok((name.clone(), Arc::new(HostMemory::of(contents, GLOBAL_ALIGNMENT)?))))
            .collect::<Result<_>>()?;
        let globals = declared.map(|(name, contents)| GlobalInfo::new(name, contents.len() as u64)).collect();
        Ok(Self { domain, library: library.clone(), variables, globals })
    }

    /// What runs a function, by its number in [`functions`](driver::Executable::functions).
    pub(crate) fn entry(&self, function: u32) -> Option<&Entry> {
        self.library.entries().get(function as usize)
    }

    /// The global variables, by name.
    pub(crate) fn variables(&self) -> &[(String, Arc<HostMemory>)] {
        &self.variables
    }
}

/// Why bytes that are no image of a library cannot be loaded: code for something else is `NOT_FOUND`, anything else
/// `INVALID_ARGUMENT`.
fn refusal(code: &[u8]) -> Error {
    let file = match File::parse(code, &Options::default()) {
        Ok(file) => file,
        Err(error) => {
            return Error::invalid_argument(format!(
                "{error}; a local device loads images of Rust libraries (windlass_local::Library::image)"
            ));
        }
    };
    let mut found: Vec<_> = file.problems().iter().map(ToString::to_string).collect();
    for bundle in file.bundles() {
        found.extend(bundle.entries().iter().map(|entry| {
            let empty = if entry.size() == 0 { " (empty)" } else { "" };
            format!("bundle {} entry {}{empty}", bundle.index(), entry.id_text())
        }));
    }
    Error::not_found(format!(
        "no code for {ARCH} in this file: {}; a local device loads images of Rust libraries \
         (windlass_local::Library::image) and no code objects; open hip:// or hip-sim://gfx942 for those",
        if found.is_empty() { "it holds no code at all".to_owned() } else { found.join("; ") }
    ))
}

impl driver::Executable for Executable {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn functions(&self) -> &[FunctionInfo] {
        self.library.functions()
    }

    fn globals(&self) -> &[GlobalInfo] {
        &self.globals
    }

    fn global(self: Arc<Self>, index: u32, _affinity: QueueAffinity) -> Result<Arc<dyn driver::Buffer>> {
        let (_, memory) = self
            .variables
            .get(index as usize)
            .ok_or_else(|| Error::internal(format!("no global variable {index}")))?;
        Ok(Arc::new(HostBuffer::new(self.domain, memory.clone()).keeping(self)))
    }

    /// Kernels, whose place in this process no device address tells, and globals.
    fn symbols(&self, _affinity: QueueAffinity) -> Result<Vec<SymbolInfo>> {
        let kernels = self.library.functions().iter();
        let kernels = kernels.map(|function| SymbolInfo::new(&function.name, SymbolKind::Kernel));
        let variables = self.variables.iter().zip(&self.globals).map(|((name, memory), global)| {
            let address = Some(memory.address());
            SymbolInfo::new(name, SymbolKind::Variable).placed(address, global.size)
        });
        Ok(kernels.chain(variables).collect())
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
