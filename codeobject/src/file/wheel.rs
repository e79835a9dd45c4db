// SPDX-License-Identifier: MIT OR Apache-2.0
//! The members of a wheel, read one at a time.

use std::borrow::Cow;
use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};

use crate::budget::Budget;
use crate::container::iree::IreeFormat;
use crate::container::kpack_reference;
use crate::container::kpack_search::SearchPath;
use crate::container::zip::{HEAD_SIZE, Member, Zip, ZipBytes, file_ends, is_zip};
use crate::content::Content;
use crate::error::Error;
use crate::file::bytes::{Bytes, unreadable};
use crate::file::companions::Companions;
use crate::file::input::{Input, not_followed};
use crate::file::unpack::unpack;
use crate::options::Options;
use crate::words::magic::{Format, may_hold_code};

/// The most members that are tried for one search path.
const MOST_ARCHIVES: usize = 256;

/// A Python wheel, or any zip file, of which only the directory is in memory. Other bytes may precede it, such as the
/// script of a Python application.
///
/// [`Input::open`] unpacks all members with GPU code at once. A `Wheel` unpacks one member at a time, so a wheel of
/// many gigabytes takes the memory of its largest member.
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
    zip: Zip<ZipBytes>,
    /// Indices in the directory, ordered by name.
    by_name: Vec<usize>,
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
    /// [`Error::Read`] if the file cannot be opened, [`Error::Malformed`] if it is no zip file.
    pub fn open(path: impl AsRef<Path>) -> Result<Wheel, Error> {
        let path = path.as_ref();
        let file = fs::File::open(path).map_err(|error| unreadable(path, &error))?;
        Ok(Wheel::new(path.to_owned(), Zip::of_file(file)?))
    }

    fn new(path: PathBuf, zip: Zip<ZipBytes>) -> Wheel {
        let name = |index: &usize| zip.members.get(*index).map_or(&[][..], Member::raw_name);
        let mut by_name: Vec<usize> = (0..zip.members.len()).collect();
        by_name.sort_by(|one, other| name(one).cmp(name(other)));
        // The first of several members with one name counts.
        by_name.dedup_by(|later, first| name(later) == name(first));
        Wheel { path, zip, by_name }
    }

    /// Whether the file begins or ends like a zip file. False for a file that begins as code; true for a zip file with a
    /// damaged directory. Reads only the two ends.
    ///
    /// # Errors
    ///
    /// [`Error::Read`] if the file cannot be read.
    pub fn is_at(path: impl AsRef<Path>) -> Result<bool, Error> {
        let path = path.as_ref();
        let read = || -> io::Result<bool> {
            let mut file = fs::File::open(path)?;
            let mut head = Vec::new();
            file.by_ref().take(HEAD_SIZE as u64).read_to_end(&mut head)?;
            Ok(Format::of(&head) == Some(Format::Zip) || !may_hold_code(&head) && file_ends(&mut file)?)
        };
        read().map_err(|error| unreadable(path, &error))
    }

    /// The members whose names begin with `with`, in the order of their names.
    fn beginning(&self, with: &str) -> impl Iterator<Item = &Member> {
        let member = |index: &usize| self.zip.members.get(*index);
        let is_before = |index: &usize| member(index).is_some_and(|found| found.raw_name() < with.as_bytes());
        let from = self.by_name.partition_point(is_before);
        let names = self.by_name.get(from..).unwrap_or_default().iter().filter_map(member);
        names.take_while(move |found| found.raw_name().starts_with(with.as_bytes())).take(MOST_ARCHIVES)
    }

    /// The members, in the order of the directory.
    pub fn members(&self) -> impl Iterator<Item = WheelMember<'_>> {
        self.zip.members.iter().map(|member| WheelMember { wheel: self, member })
    }

    /// The reason why the directory was read in part only, or the members that it lacks.
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
    /// The member's name, with `/` between folders. Bytes that are not UTF-8 are written as `\xNN`.
    pub fn name(&self) -> Cow<'w, str> {
        self.member.name()
    }

    /// The number of bytes that the member takes in the wheel, by the directory.
    pub fn stored_size(&self) -> u64 {
        self.member.stored_size
    }

    /// The number of bytes that the member has unpacked, by the directory.
    pub fn size(&self) -> u64 {
        self.member.size
    }

    /// Whether the member begins like a file that may hold GPU code: an ELF, an archive, a bundle, another zip file.
    /// Unpacks the first bytes only; [`wheel`](Self::wheel) also finds zip files behind other bytes.
    ///
    /// # Errors
    ///
    /// If the first bytes cannot be unpacked.
    pub fn may_hold_code(&self) -> Result<bool, Error> {
        let head = self.wheel.zip.head(self.member, HEAD_SIZE)?;
        let is_read = |format| matches!(format, Format::Zip | Format::ThinArchive);
        Ok(may_hold_code(&head) || Format::of(&head).is_some_and(is_read))
    }

    /// Whether the member is an IREE executable, as in an IREE module.
    ///
    /// # Errors
    ///
    /// If the first bytes cannot be unpacked.
    pub fn is_iree_executable(&self) -> Result<bool, Error> {
        Ok(IreeFormat::from_head(&self.wheel.zip.head(self.member, HEAD_SIZE)?).is_some())
    }

    /// The zip file that the member is, to be read member by member; `None` if it is none. Other bytes may precede the
    /// zip file unless they begin code. Unpacks the member, [`max_unpacked`](Options::max_unpacked) bytes at most; a
    /// member that is no zip file is read to its end, and takes no memory.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open), and [`Error::Malformed`] if the directory is damaged.
    pub fn wheel(&self, options: &Options) -> Result<Option<Wheel>, Error> {
        let Wheel { zip, .. } = self.wheel;
        let head = zip.head(self.member, HEAD_SIZE)?;
        let may_be = Format::of(&head) == Some(Format::Zip)
            || !may_hold_code(&head) && zip.may_be_zip(self.member, options.max_unpacked, &options.budget)?;
        if !may_be {
            return Ok(None);
        }
        let bytes = zip.unpack(self.member, options.max_unpacked, &options.budget)?;
        let inner = is_zip(Content::Memory(&bytes))?.then(|| Zip::of_vec(bytes)).transpose();
        let inner = inner.map_err(|error| error.of_member(&self.name()))?;
        Ok(inner.map(|inner| Wheel::new(self.path(), inner)))
    }

    /// Unpacks the member with its companions: the kpack archives in the wheel to which it refers, or the members with
    /// GPU code of a zip file. All together have [`max_unpacked`](Options::max_unpacked) bytes at most.
    ///
    /// # Errors
    ///
    /// [`Error::Limit`] if the member has more bytes, [`Error::Malformed`] if it is damaged, [`Error::Unsupported`] for
    /// any compression but deflate.
    pub fn open(&self, options: &Options) -> Result<Input, Error> {
        let bytes = self.wheel.zip.unpack(self.member, options.max_unpacked, &options.budget)?;
        let mut room = options.max_unpacked.saturating_sub(bytes.len() as u64);
        let mut companions = Companions::default();
        let content = Content::Memory(&bytes);
        if is_zip(content)? {
            companions = unpack(content, options, room);
        } else if let Ok(Some(reference)) = kpack_reference::find(content, 0) {
            for search in &reference.search_paths {
                self.unpack_archives(search, &mut room, &options.budget, &mut companions);
            }
        }
        Ok(Input::new(self.path(), Bytes::Memory(bytes), companions))
    }

    /// The path of the wheel and the member's name. No name leads out of the wheel's path.
    fn path(&self) -> PathBuf {
        let name = self.member.name();
        let parts = Path::new(&*name).components();
        let inside = parts.filter(|part| matches!(part, Component::Normal(_)));
        self.wheel.path.join(inside.collect::<PathBuf>())
    }

    fn unpack_archives(&self, search: &str, room: &mut u64, budget: &Budget, companions: &mut Companions) {
        let path = match SearchPath::parse(search) {
            Ok(path) => path,
            Err(why) => return companions.problem(not_followed(search, why)),
        };
        let Some(folder) = path.folder_in_zip(&self.member.name()) else { return };
        for member in self.wheel.beginning(&path.beginning_in_zip(&folder)) {
            let full = member.name();
            let name = full.rsplit_once('/').map_or(&*full, |(_, name)| name);
            let is_in_folder = full.len() == name.len() + folder.len() + usize::from(!folder.is_empty());
            let is_known = companions.archives.iter().any(|(known, _)| *known == full);
            if !is_in_folder || !path.matches(name) || is_known {
                continue;
            }
            match self.unpack_archive(member, *room, budget) {
                Ok(bytes) => {
                    *room = room.saturating_sub(bytes.len() as u64);
                    companions.archives.push((full.into_owned(), Bytes::Memory(bytes)));
                }
                Err(error) => companions.problem(error),
            }
        }
    }

    /// Unpacks a member only if it begins as a kpack archive.
    fn unpack_archive(&self, member: &Member, room: u64, budget: &Budget) -> Result<Vec<u8>, Error> {
        let zip = &self.wheel.zip;
        if Format::of(&zip.head(member, HEAD_SIZE)?) != Some(Format::Kpack) {
            let path = WheelMember { wheel: self.wheel, member }.path();
            return Err(unreadable(&path, &io::Error::other("it is no kpack archive")));
        }
        zip.unpack(member, room, budget)
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
