// SPDX-License-Identifier: MIT OR Apache-2.0
//! The members of a wheel, one at a time.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::ops::Bound;
use std::path::{Component, Path, PathBuf};

use rawzip::FileReader;

use crate::container::archive::THIN_MAGIC;
use crate::container::kpack_reference;
use crate::container::kpack_search::SearchPath;
use crate::container::zip::{HEAD_SIZE, Member, ZIP_MAGIC, Zip};
use crate::error::Error;
use crate::file::companions::Companions;
use crate::file::input::{Input, not_followed, unpack, unreadable};
use crate::file::walk::may_hold_code;
use crate::options::Options;

/// So many members are looked at for one search path.
const MOST_ARCHIVES: usize = 256;

/// A wheel of Python, or any zip file, of which only the directory is in memory.
///
/// [`Input::open`] unpacks all members with GPU code at once; here they come one after the other, so that a wheel of
/// many gigabytes costs what its largest member does.
///
/// ```no_run
/// use windlass_codeobject::{Options, Wheel};
///
/// let options = Options::default();
/// let wheel = Wheel::open("torch-2.12.0+rocm7.2-cp312-cp312-linux_x86_64.whl")?;
/// for member in wheel.members() {
///     if !member.may_hold_code()? {
///         continue;
///     }
///     let input = member.open(&options)?;
///     if let Ok(file) = input.file(&options) {
///         println!("{}: {} bundles", member.name(), file.bundles().len());
///     }
/// }
/// # Ok::<(), windlass_codeobject::Error>(())
/// ```
pub struct Wheel {
    path: PathBuf,
    zip: Zip<FileReader>,
    /// Places in the directory.
    by_name: BTreeMap<String, usize>,
}

/// A member of a [`Wheel`].
#[derive(Clone, Copy)]
pub struct WheelMember<'w> {
    wheel: &'w Wheel,
    member: &'w Member,
}

impl Wheel {
    /// Reads the directory of a zip file.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] where the file cannot be opened, [`Error::Malformed`] where it is no zip file.
    pub fn open(path: impl AsRef<Path>) -> Result<Wheel, Error> {
        let path = path.as_ref();
        let file = fs::File::open(path).map_err(|error| unreadable(path, &error))?;
        let zip = Zip::of_file(file)?;
        // Of members of one name the first counts.
        let names = zip.members.iter().enumerate().rev().map(|(index, member)| (member.name.clone(), index));
        Ok(Wheel { path: path.to_owned(), by_name: names.collect(), zip })
    }

    /// The members whose names begin so, in the order of their names.
    fn beginning(&self, with: &str) -> impl Iterator<Item = &Member> {
        let from = self.by_name.range::<str, _>((Bound::Included(with), Bound::Unbounded));
        let found = from.take_while(move |(name, _)| name.starts_with(with)).take(MOST_ARCHIVES);
        found.filter_map(|(_, index)| self.zip.members.get(*index))
    }

    /// The files in it, in the order of its directory.
    pub fn members(&self) -> impl Iterator<Item = WheelMember<'_>> {
        self.zip.members.iter().map(|member| WheelMember { wheel: self, member })
    }

    /// Why the directory could be read in part only.
    pub fn problem(&self) -> Option<&Error> {
        self.zip.problem.as_ref()
    }
}

impl fmt::Debug for Wheel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wheel")
            .field("path", &self.path)
            .field("members", &self.zip.members.len())
            .finish_non_exhaustive()
    }
}

impl<'w> WheelMember<'w> {
    /// Its name, with `/` between folders. Bytes that are not UTF-8 are written as `\xNN`.
    pub fn name(&self) -> &'w str {
        &self.member.name
    }

    /// How many bytes it takes in the wheel, by the directory.
    pub fn stored_size(&self) -> u64 {
        self.member.stored_size
    }

    /// How many bytes it has unpacked, by the directory.
    pub fn size(&self) -> u64 {
        self.member.size
    }

    /// Whether it begins like a file that may hold GPU code: an ELF, an archive, a bundle, another zip file. Only its first
    /// bytes are unpacked.
    ///
    /// # Errors
    ///
    /// Where not even those can be.
    pub fn may_hold_code(&self) -> Result<bool, Error> {
        let head = self.wheel.zip.head(self.member, HEAD_SIZE)?;
        Ok(may_hold_code(&head) || head.starts_with(ZIP_MAGIC) || head.starts_with(THIN_MAGIC))
    }

    /// Unpacks it, [`max_unpacked`](Options::max_unpacked) bytes at most, and with it the kpack archives in the wheel
    /// that it refers to, or, of a zip file in it, the members with GPU code.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] where it has more bytes, [`Error::Malformed`] where it is damaged, [`Error::Unsupported`] for a
    /// method of compression that is not read (deflate is).
    pub fn open(&self, options: &Options) -> Result<Input, Error> {
        let bytes = self.wheel.zip.unpack(self.member, options.max_unpacked)?;
        let mut companions = Companions::default();
        if bytes.starts_with(ZIP_MAGIC) {
            unpack(&bytes, options, &mut companions);
        } else if let Ok(Some(reference)) = kpack_reference::find(&bytes, 0) {
            for search in &reference.search_paths {
                self.unpack_archives(search, options, &mut companions);
            }
        }
        Ok(Input::new(self.path(), bytes, companions))
    }

    /// The wheel's path and the name. Whatever the name is, the path does not leave the wheel's.
    fn path(&self) -> PathBuf {
        let parts = Path::new(&self.member.name).components();
        let inside = parts.filter(|part| matches!(part, Component::Normal(_)));
        self.wheel.path.join(inside.collect::<PathBuf>())
    }

    fn unpack_archives(&self, search: &str, options: &Options, companions: &mut Companions) {
        let path = match SearchPath::parse(search) {
            Ok(path) => path,
            Err(why) => return companions.problem(not_followed(search, why)),
        };
        let Some(folder) = path.folder_in_zip(&self.member.name) else { return };
        let mut room = options.max_unpacked;
        for member in self.wheel.beginning(&path.beginning_in_zip(&folder)) {
            let name = member.name.rsplit_once('/').map_or(member.name.as_str(), |(_, name)| name);
            let is_in_folder =
                member.name.len() == name.len() + folder.len() + usize::from(!folder.is_empty());
            let is_known = companions.archives.iter().any(|(known, _)| *known == member.name);
            if !is_in_folder || !path.matches(name) || is_known {
                continue;
            }
            match self.wheel.zip.unpack(member, room) {
                Ok(bytes) => {
                    room = room.saturating_sub(bytes.len() as u64);
                    companions.archives.push((member.name.clone(), bytes));
                }
                Err(error) => companions.problem(error),
            }
        }
    }
}

impl fmt::Debug for WheelMember<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WheelMember")
            .field("name", &self.name())
            .field("size", &self.size())
            .finish_non_exhaustive()
    }
}
