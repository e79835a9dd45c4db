// SPDX-License-Identifier: MIT OR Apache-2.0
//! A file with its companions.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::bundle::Bundle;
use crate::container::kpack_reference::{self, KpackReference};
use crate::container::kpack_search::SearchPath;
use crate::container::package::Package;
use crate::container::zip::is_zip;
use crate::error::Error;
use crate::file::File;
use crate::file::bytes::{Bytes, unreadable};
use crate::file::companions::Companions;
use crate::file::unpack::unpack;
use crate::options::Options;
use crate::words::magic::{Format, HEAD};

/// The most bytes that are read of a file and its companions: far more than any library of kernels has, and less than a
/// machine's memory.
const LONGEST: u64 = 4 << 30;
/// The most archives that a file may refer to.
const MOST_ARCHIVES: usize = 256;

/// A file with its companions: the kpack archives to which its host ELF refers, and the unpacked members of a zip file.
///
/// ```no_run
/// use windlass_codeobject::{Input, Options};
///
/// let options = Options::default();
/// let input = Input::open("/opt/rocm/lib/librocblas.so", &options)?;
/// for bundle in input.file(&options)?.bundles() {
///     println!("{:?}: {} entries", bundle.member(), bundle.entries().len());
/// }
/// # Ok::<(), windlass_codeobject::Error>(())
/// ```
///
/// [`open`](Self::open) reads the bytes at once, so a later change of the file has no effect. [`open_in_place`](Self::open_in_place)
/// reads them when they are needed, which takes little memory. An input is `Send` and `Sync`.
#[derive(Debug)]
pub struct Input {
    path: PathBuf,
    bytes: Bytes,
    companions: Companions,
}

impl Input {
    /// Reads a file and its companions, 4 GiB together at most:
    ///
    /// - The kpack archives to which a host ELF refers. Their paths are relative to the real folder of the file (links
    ///   are followed), and lead upwards only by `..` at the beginning. Absolute paths are not followed.
    /// - The compressed members with GPU code of a zip file, and of zip files in it,
    ///   [`max_unpacked`](Options::max_unpacked) bytes together. A [`Wheel`](crate::Wheel) gives them one at a time.
    ///
    /// Companions that cannot be read are among the [`problems`](File::problems) of the [`file`](Self::file).
    ///
    /// # Errors
    ///
    /// [`Error::Read`] if the file itself cannot be read.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Input, Error> {
        Input::with(path.as_ref(), options, Bytes::read)
    }

    /// Opens a file and its companions like [`open`](Self::open), and leaves their bytes where they are: each part is read
    /// when it is needed. Memory holds one entry at a time, whatever the size of the file. Zip files, pipes and devices are
    /// read at once all the same, and so are IREE executables and shared objects with kernels for the host.
    ///
    /// The file must not change while the input lives. If it does, the next [`file`](Self::file) and
    /// [`check`](Self::check) fail, and so does each read of bytes that are gone.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_in_place(path: impl AsRef<Path>, options: &Options) -> Result<Input, Error> {
        Input::with(path.as_ref(), options, Bytes::open)
    }

    fn with(
        path: &Path,
        options: &Options,
        open: impl Fn(&Path, u64) -> Result<Bytes, Error>,
    ) -> Result<Input, Error> {
        let mut bytes = open(path, LONGEST)?;
        let mut companions = Companions::default();
        if is_zip(bytes.content())? {
            if let Bytes::File(_) = bytes {
                bytes = Bytes::read(path, LONGEST)?;
            }
            companions = unpack(bytes.content(), options, options.max_unpacked);
        } else if let Ok(Some(reference)) = kpack_reference::find(bytes.content(), 0) {
            let room = LONGEST.saturating_sub(bytes.content().size());
            read_archives(path, &reference, room, &open, &mut companions);
        }
        Ok(Input { path: path.to_owned(), bytes, companions })
    }

    pub(crate) fn new(path: PathBuf, bytes: Bytes, companions: Companions) -> Input {
        Input { path, bytes, companions }
    }

    /// The path of the file as it was given. For a member of a wheel, the path of the wheel and the member's name.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bytes of the file, if they are in memory: always after [`open`](Self::open), and for the members of a wheel.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.bytes {
            Bytes::Memory(bytes) => Some(bytes),
            Bytes::File(_) => None,
        }
    }

    /// The number of bytes of the file.
    pub fn size(&self) -> u64 {
        self.bytes.content().size()
    }

    /// Checks that no read of the file or of its archives has failed, and that they are as they were when they were opened.
    /// Whatever was read from a file that changed may be wrong. Bytes that were read at once do not change.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] with the path of the file and the change.
    pub fn check(&self) -> Result<(), Error> {
        self.bytes.check()?;
        self.companions.archives.iter().try_for_each(|(_, bytes)| bytes.check())
    }

    /// The reference of a host ELF to the kpack archives that hold its code, if there is one.
    pub fn kpack_reference(&self) -> Option<KpackReference> {
        kpack_reference::find(self.bytes.content(), 0).ok().flatten()
    }

    /// The paths of the kpack archives that were read beside the file.
    pub fn archives(&self) -> impl Iterator<Item = &str> {
        self.companions.archives.iter().map(|(path, _)| path.as_str())
    }

    /// Finds the bundles, in the file and in its companions.
    ///
    /// # Errors
    ///
    /// As [`File::parse`].
    pub fn file(&self, options: &Options) -> Result<File<'_>, Error> {
        self.file_until(options, |_| false)
    }

    /// Finds the bundles up to the first one for which `is_last` returns true.
    ///
    /// # Errors
    ///
    /// As [`File::parse_until`].
    pub fn file_until<'a>(
        &'a self,
        options: &Options,
        mut is_last: impl FnMut(&Bundle<'a>) -> bool,
    ) -> Result<File<'a>, Error> {
        let content = self.bytes.content();
        let file = File::with_companions(content, &self.companions, options, &mut is_last);
        self.check()?;
        let head = content.head(HEAD)?;
        file.map_err(|error| match (&error, Package::of(&head, &self.path)) {
            // The name of a package tells more than its bytes.
            (Error::NotRecognised { .. } | Error::NotFound { .. }, Some(package)) => package.error(0),
            _ => error,
        })
    }
}

/// Opens the archives that the ELF at `path` refers to.
fn read_archives(
    path: &Path,
    reference: &KpackReference,
    mut room: u64,
    open: &impl Fn(&Path, u64) -> Result<Bytes, Error>,
    companions: &mut Companions,
) {
    let Ok(path) = path.canonicalize() else { return };
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut tried = Vec::new();
    for search in &reference.search_paths {
        let search_path = match SearchPath::parse(search) {
            Ok(search_path) => search_path,
            Err(why) => {
                companions.problem(not_followed(search, why));
                continue;
            }
        };
        let folder = folder.join(search_path.folder);
        tried.push(folder.join(search.rsplit('/').next().unwrap_or_default()));
        for archive in files(&folder, &search_path) {
            if companions.archives.len() >= MOST_ARCHIVES {
                return;
            }
            let shown = archive.display().to_string();
            if companions.archives.iter().any(|(known, _)| *known == shown) {
                continue;
            }
            match read_archive(&archive, room, open) {
                Ok(bytes) => {
                    room = room.saturating_sub(bytes.content().size());
                    companions.archives.push((shown, bytes));
                }
                Err(error) => companions.problem(error),
            }
        }
    }
    if companions.archives.is_empty() && companions.problems.is_empty() {
        companions.problem(not_there(reference, &tried));
    }
}

pub(crate) fn not_followed(search: &str, why: &str) -> Error {
    Error::malformed(format!("the search path `{search}` for kpack archives"), 0, why)
}

fn not_there(reference: &KpackReference, tried: &[PathBuf]) -> Error {
    let more: Vec<_> = tried.iter().skip(1).map(|path| format!(", nor {}", path.display())).collect();
    Error::Read {
        path: tried.first().cloned().unwrap_or_default(),
        problem: format!(
            "no such file{}, where the code of `{}` should be; install the package with the device code",
            more.concat(),
            reference.name
        ),
    }
}

/// The files that a search path matches, in the order of their names.
fn files(folder: &Path, search: &SearchPath<'_>) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = match search.name() {
        Some(name) => vec![folder.join(name)],
        None => fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .filter(|entry| entry.file_name().to_str().is_some_and(|name| search.matches(name)))
            .map(|entry| entry.path())
            .collect(),
    };
    files.retain(|path| path.is_file());
    files.sort();
    files
}

/// Opens a file only if it begins as a kpack archive: its name comes from an untrusted file.
fn read_archive(
    path: &Path,
    most: u64,
    open: &impl Fn(&Path, u64) -> Result<Bytes, Error>,
) -> Result<Bytes, Error> {
    let mut magic = [0; 4];
    fs::File::open(path)
        .and_then(|mut file| file.read_exact(&mut magic))
        .map_err(|error| unreadable(path, &error))?;
    if Format::of(&magic) != Some(Format::Kpack) {
        return Err(unreadable(path, &io::Error::other("it is no kpack archive")));
    }
    open(path, most)
}
