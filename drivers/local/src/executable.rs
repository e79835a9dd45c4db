// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executables: loaded libraries.

use std::{any::Any, env::consts::ARCH};

use windlass_codeobject::{File, Options};
use windlass_hal::{Error, FunctionInfo, Result, driver, edge::Domain};

use crate::{
    library::{self, Library},
    memory::Memory,
};

/// The alignment of globals in bytes.
const GLOBAL_ALIGNMENT: u64 = 64;

/// A library, and globals of this executable's own.
pub(crate) struct Executable {
    domain: Domain,
    library: Library,
    globals: Vec<(String, Memory)>,
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
        let globals = library.globals().iter();
        let globals = globals
            .map(|(name, contents)| Ok((name.clone(), Memory::of(contents, GLOBAL_ALIGNMENT)?)))
            .collect::<Result<_>>()?;
        Ok(Self { domain, library: library.clone(), globals })
    }

    pub(crate) fn library(&self) -> &Library {
        &self.library
    }

    pub(crate) fn globals(&self) -> &[(String, Memory)] {
        &self.globals
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

    fn global(&self, name: &str) -> Result<(u64, u64)> {
        match self.globals.iter().find(|(known, _)| known == name) {
            Some((_, memory)) => Ok((memory.address(), memory.bytes().len() as u64)),
            None => {
                Err(Error::not_found(format!("no global `{name}` in the library `{}`", self.library.name())))
            }
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
