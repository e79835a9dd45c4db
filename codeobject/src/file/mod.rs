// SPDX-License-Identifier: MIT OR Apache-2.0
//! A whole file: its kind, and the bundles in it.

#[expect(unsafe_code, reason = "code at an address is read on the word of the caller")]
pub(crate) mod address;
#[cfg(feature = "carriers")]
pub(crate) mod bytes;
pub(crate) mod companions;
#[cfg(feature = "carriers")]
pub(crate) mod input;
pub(crate) mod kind;
#[cfg(feature = "carriers")]
pub(crate) mod unpack;
pub(crate) mod walk;
#[cfg(feature = "carriers")]
pub(crate) mod wheel;

use crate::bundle::Bundle;
use crate::bytes::glimpse;
use crate::container::iree::IreeExecutable;
use crate::container::kpack_reference::KpackReference;
use crate::content::Content;
use crate::error::Error;
use crate::file::companions::Companions;
use crate::file::kind::FileKind;
use crate::file::walk::Walk;
use crate::options::Options;
use crate::words::magic::HEAD;

/// A file with AMD GPU code, read as far as listing its entries takes.
///
/// It borrows the bytes that it reads. It is `Send` and `Sync`.
#[derive(Debug)]
pub struct File<'a> {
    kind: FileKind,
    bundles: Vec<Bundle<'a>>,
    iree_executables: Vec<IreeExecutable<'a>>,
    kpack_references: Vec<KpackReference>,
    problems: Vec<Error>,
}

impl<'a> File<'a> {
    /// Finds the bundles in a file of any [`FileKind`]. Decodes only the tables of compressed bundles.
    ///
    /// Bytes outside of the file are not read: neither the kpack archives beside a host ELF, nor the compressed members
    /// of a zip file. [`Input`][crate::Input] reads both.
    #[cfg_attr(not(feature = "carriers"), doc = "", doc = "[crate::Input]: crate#features", doc = "")]
    ///
    /// A file with some readable bundles is no error; [`problems`](Self::problems) names the others.
    ///
    /// # Errors
    ///
    /// If nothing can be read: the format of the file, or the first of its problems.
    pub fn parse(bytes: &'a [u8], options: &Options) -> Result<File<'a>, Error> {
        File::with_companions(Content::Memory(bytes), Companions::NONE, options, &mut |_| false)
    }

    /// Finds the bundles up to the first one for which `is_last` returns true. The bytes behind it are not read,
    /// so no further tables are decoded; later bundles and their problems are not in the result.
    ///
    /// ```no_run
    /// use windlass_codeobject::{File, Options, TargetId};
    ///
    /// let bytes = std::fs::read("libkernels.so")?;
    /// let (options, agent): (_, TargetId) = (Options::default(), "gfx942:sramecc+:xnack-".parse()?);
    /// let mut best = None;
    /// let file = File::parse_until(&bytes, &options, |bundle| {
    ///     best = bundle.select(&agent, &options).best;
    ///     best.is_some()
    /// })?;
    /// if let (Some(entry), Some(bundle)) = (best, file.bundles().last()) {
    ///     println!("{} bytes", bundle.take_image(entry)?.len());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// As [`parse`](Self::parse).
    pub fn parse_until(
        bytes: &'a [u8],
        options: &Options,
        mut is_last: impl FnMut(&Bundle<'a>) -> bool,
    ) -> Result<File<'a>, Error> {
        File::with_companions(Content::Memory(bytes), Companions::NONE, options, &mut is_last)
    }

    pub(crate) fn with_companions(
        content: Content<'a>,
        companions: &'a Companions,
        options: &Options,
        is_last: &mut dyn FnMut(&Bundle<'a>) -> bool,
    ) -> Result<File<'a>, Error> {
        let mut walk = Walk::new(options, companions, is_last);
        let kind = walk.file(content)?;
        walk.finish();
        if walk.bundles.is_empty() {
            let found = glimpse(&content.head(HEAD)?);
            let nothing = || Error::NotRecognised { offset: 0, found };
            return Err(walk.problems.into_iter().next().unwrap_or_else(nothing));
        }
        for problem in &walk.problems {
            tracing::debug!(target: "windlass::codeobject", %problem, "a part of the file was passed over");
        }
        let kpack_references = walk.references.into_iter().map(|(reference, _)| reference).collect();
        Ok(File {
            kind,
            bundles: walk.bundles,
            iree_executables: walk.executables,
            kpack_references,
            problems: walk.problems,
        })
    }

    /// The kind of the file.
    pub fn kind(&self) -> FileKind {
        self.kind
    }

    /// The readable bundles, in the order of the file; at least one.
    pub fn bundles(&self) -> &[Bundle<'a>] {
        &self.bundles
    }

    /// The entry points of the IREE executables in the file.
    pub fn iree_executables(&self) -> &[IreeExecutable<'a>] {
        &self.iree_executables
    }

    /// The references of its host ELFs to the kpack archives that hold their code.
    pub fn kpack_references(&self) -> &[KpackReference] {
        &self.kpack_references
    }

    /// The parts of the file that could not be read.
    pub fn problems(&self) -> &[Error] {
        &self.problems
    }
}
