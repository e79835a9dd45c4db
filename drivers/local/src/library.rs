// SPDX-License-Identifier: MIT OR Apache-2.0
//! Libraries: named kernels and globals, which an image of a few bytes refers to.

use std::{fmt, sync::Arc};

use windlass_hal::{Error, FunctionInfo, Result};

use crate::{entry::Entry, kernel::Kernel};

/// The first bytes of an [`image`](Library::image).
pub(crate) const MAGIC: [u8; 16] = *b"WINDLASS-LIBRARY";

/// Kernels and global variables that are loaded together. Clones are handles of the same library.
///
/// A device loads the library by its [`image`](Self::image) if the [`LocalDriver`](crate::LocalDriver::with_library)
/// that opened the device has it.
#[derive(Clone)]
pub struct Library(Arc<Contents>);

struct Contents {
    name: String,
    functions: Vec<FunctionInfo>,
    entries: Vec<Entry>,
    globals: Vec<(String, Vec<u8>)>,
}

impl Library {
    /// Starts a library of this name.
    pub fn builder(name: impl Into<String>) -> LibraryBuilder {
        LibraryBuilder { name: name.into(), kernels: Vec::new(), globals: Vec::new() }
    }

    /// The name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// The bytes that `load_executable` takes for this library. See [`image`].
    pub fn image(&self) -> Vec<u8> {
        image(self.name())
    }

    pub(crate) fn functions(&self) -> &[FunctionInfo] {
        &self.0.functions
    }

    pub(crate) fn entries(&self) -> &[Entry] {
        &self.0.entries
    }

    /// The names of the globals with their initial bytes.
    pub(crate) fn globals(&self) -> &[(String, Vec<u8>)] {
        &self.0.globals
    }
}

/// The bytes that `load_executable` takes for the library `name`: `WINDLASS-LIBRARY`, the length of the name as a
/// little-endian `u32`, and the name in UTF-8. They hold no code. The driver finds its library by the name.
pub fn image(name: &str) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend((name.len() as u32).to_le_bytes());
    bytes.extend(name.as_bytes());
    bytes
}

/// The name of the library in an image. `None` if the bytes are no image.
pub(crate) fn name_in(image: &[u8]) -> Option<Result<&str>> {
    let rest = image.strip_prefix(&MAGIC)?;
    let name = rest.split_first_chunk().and_then(|(length, name)| {
        (u32::from_le_bytes(*length) as usize == name.len()).then(|| std::str::from_utf8(name).ok())?
    });
    Some(name.ok_or_else(|| {
        Error::invalid_argument(format!(
            "an image of a library is 20 bytes and the name, whose length the last four of them state; these {} bytes \
             are truncated or damaged",
            image.len()
        ))
    }))
}

impl fmt::Debug for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Library({}, {} kernels)", self.0.name, self.0.functions.len())
    }
}

/// A library under construction.
#[derive(Clone, Debug)]
pub struct LibraryBuilder {
    name: String,
    kernels: Vec<Kernel>,
    globals: Vec<(String, Vec<u8>)>,
}

impl LibraryBuilder {
    /// Adds a kernel.
    #[must_use]
    pub fn kernel(mut self, kernel: Kernel) -> Self {
        self.kernels.push(kernel);
        self
    }

    /// Adds a global variable with its initial bytes in a freshly loaded executable.
    #[must_use]
    pub fn global(mut self, name: impl Into<String>, contents: &[u8]) -> Self {
        self.globals.push((name.into(), contents.to_vec()));
        self
    }

    /// Builds the library. `INVALID_ARGUMENT` for an empty name, a name that is used twice, and an invalid
    /// declaration of a kernel.
    pub fn build(self) -> Result<Library> {
        let Self { name, kernels, globals } = self;
        if name.is_empty() {
            return Err(Error::invalid_argument("a library needs a name"));
        }
        let context = |error: Error| error.context(format!("building the library `{name}`"));
        let names = kernels.iter().map(|kernel| &kernel.info.name);
        twice(names, "kernel").map_err(context)?;
        twice(globals.iter().map(|(name, _)| name), "global").map_err(context)?;
        kernels.iter().try_for_each(Kernel::check).map_err(context)?;
        let (functions, entries) =
            kernels.into_iter().map(|kernel| (kernel.info, Entry::Rust(kernel.code))).unzip();
        Ok(Library(Arc::new(Contents { name, functions, entries, globals })))
    }
}

fn twice<'a>(names: impl Iterator<Item = &'a String>, what: &str) -> Result<()> {
    let mut names: Vec<_> = names.collect();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Error::invalid_argument(format!("two {what}s have the name `{}`", pair[0]))),
    }
}
