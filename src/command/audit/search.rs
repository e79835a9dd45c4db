// SPDX-License-Identifier: MIT OR Apache-2.0
//! Finds the files with GPU code in files, folders and wheels.

use std::{
    fs,
    io::{self, Read},
    path::{Path, PathBuf, is_separator},
};

use walkdir::WalkDir;
use windlass_codeobject::{
    Budget, Error, File, FileKind, Format, Input, KpackReference, Options, Package, TargetId, Wheel,
    WheelMember, may_hold_code,
};

use super::{
    aotriton, examine, miopen,
    packed::{HEAD, Method},
    store::{LARGEST, Store},
    unit::{self, Unit},
};
use crate::command::{
    input::{self, count},
    progress::Progress,
};

/// A file with such an ending that is not a zip file is reported as damaged.
const ZIP_ENDINGS: [&str; 6] = ["whl", "zip", "pyz", "pyzw", "egg", "vmfb"];
/// Zip files are examined inside of each other up to this depth.
const DEEPEST: usize = 4;
/// The bytes that any file may unpack to, all members and streams in it together, and how many more for each of its bytes:
/// the wheel of JAX for ROCm 7 unpacks to 34 times its size.
const UNPACKED: u64 = 256 << 20;
const UNPACKED_PER_BYTE: u64 = 64;
/// The endings of members of zip files that are unpacked to see what they are.
const INNER_ENDINGS: [&str; 6] = [".zst", ".gz", ".xz", ".bz2", ".kdb", ".aks2"];

/// The result of a search.
#[derive(Default)]
pub(super) struct Found {
    pub(super) units: Vec<Unit>,
    /// Files that could not be read, and why.
    pub(super) problems: Vec<(String, String)>,
    /// Files of a kind that is not examined, and advice.
    pub(super) notes: Vec<(String, String)>,
    /// Files of the command line that have no GPU code.
    pub(super) without_code: Vec<String>,
    /// The number of examined files.
    pub(super) files: usize,
    /// The number of examined members of wheels.
    pub(super) members: usize,
}

/// A search in progress.
pub(super) struct Search<'s> {
    targets: &'s [TargetId],
    /// With the budget of the file that is being examined.
    options: Options,
    /// The size of that file, and whether the report has its spent budget.
    size: u64,
    is_told: bool,
    /// The length in bytes of the folder that all paths share. A target in its name says nothing about a file.
    folder: usize,
    progress: Progress,
    found: Found,
    /// Libraries whose kpack archives were not found beside them, with the error.
    split: Vec<(String, KpackReference, Error)>,
}

impl<'s> Search<'s> {
    pub(super) fn new(targets: &'s [TargetId], options: &'s Options) -> Self {
        let progress = Progress::new("looking for GPU code", 1);
        let options = options.clone();
        Self {
            targets,
            options,
            size: 0,
            is_told: false,
            folder: 0,
            progress,
            found: Found::default(),
            split: Vec::new(),
        }
    }

    /// Examines all files at and below the paths, in the order of their names.
    pub(super) fn all(mut self, paths: &[PathBuf]) -> Found {
        self.folder = shared_folder(paths);
        for path in paths {
            for entry in WalkDir::new(path).sort_by_file_name() {
                match entry {
                    // A path of the command line is followed if it is a link, and may be a pipe or device.
                    Ok(entry)
                        if entry.file_type().is_file() || entry.depth() == 0 && !entry.path().is_dir() =>
                    {
                        let before = self.told();
                        self.file(entry.path());
                        // Most files of a folder have no GPU code. A file that somebody names should have some.
                        if entry.depth() == 0 && self.told() == before {
                            self.found.without_code.push(path.display().to_string());
                        }
                    }
                    Ok(_) => {}
                    Err(error) => {
                        let path = error.path().unwrap_or(path).display().to_string();
                        let why = error.io_error().map_or_else(|| error.to_string(), ToString::to_string);
                        self.found.problems.push((path, why));
                    }
                }
            }
        }
        self.judge_split();
        self.found
    }

    /// The number of files that the report tells of.
    fn told(&self) -> usize {
        let Found { units, problems, notes, .. } = &self.found;
        units.len() + problems.len() + notes.len() + self.split.len()
    }

    /// Reports the libraries whose kpack archive was nowhere in the search. A wheel may hold the library and another wheel
    /// its archive; then the code is judged with the archive.
    fn judge_split(&mut self) {
        for (name, reference, error) in std::mem::take(&mut self.split) {
            let mut binaries = self.found.units.iter().flat_map(|unit| &unit.binaries);
            if !binaries.any(|binary| reference.is_to(binary)) {
                self.found.problems.push((name, error.to_string()));
            }
        }
    }

    fn file(&mut self, path: &Path) {
        self.found.files += 1;
        self.progress.say(path.display().to_string());
        let shown = path.display().to_string();
        let before = self.found.units.len();
        self.begin(path.metadata().map_or(0, |metadata| metadata.len()));
        if path.is_file() {
            self.file_by_head(path, shown.clone())
        } else {
            self.stream(path, shown.clone())
        }
        if self.options.budget.is_spent() && !self.is_told {
            let spent = self.spent();
            // The unit at which it was spent has problems of its own.
            match self.found.units.get_mut(before..).and_then(<[_]>::last_mut) {
                Some(unit) => unit.problems.insert(0, spent),
                None => self.found.problems.push((shown, spent)),
            }
        }
    }

    /// Begins a file of so many bytes, with a budget of its own.
    fn begin(&mut self, size: u64) {
        self.options.budget = Budget::new(UNPACKED.saturating_add(size.saturating_mul(UNPACKED_PER_BYTE)));
        self.size = size;
        self.is_told = false;
    }

    /// Reports a problem. Once the budget is spent, it is the reason of all further ones, and is reported once.
    fn problem(&mut self, name: String, problem: impl ToString) {
        if !self.options.budget.is_spent() {
            self.found.problems.push((name, problem.to_string()));
        } else if !std::mem::replace(&mut self.is_told, true) {
            self.found.problems.push((name, self.spent()));
        }
    }

    fn spent(&self) -> String {
        format!(
            "it unpacks to more than {} bytes, the limit for a file of {} bytes, and is not examined further; unpack it and \
             audit the content",
            self.options.budget.total(),
            self.size
        )
    }

    fn file_by_head(&mut self, path: &Path, shown: String) {
        let head = match head(path) {
            Ok(head) => head,
            Err(error) => return self.problem(shown, error),
        };
        if let Some(package) = Package::of(&head, path) {
            self.found.notes.push((shown, left_out(package)));
        } else if let Some(method) = Method::of(&head) {
            match fs::File::open(path) {
                Ok(file) => self.packed(shown, method, file, 1),
                Err(error) => self.problem(shown, error),
            }
        } else if miopen::is(&head) {
            self.store(shown, miopen::read_file(path, &self.options.budget));
        } else if aotriton::is(&head) {
            match input::read_at_most(path, input::LONGEST) {
                Ok(bytes) => self.content(shown, &bytes, 0),
                Err(error) => self.problem(shown, error),
            }
        } else if may_hold_code(&head) || Format::of(&head) == Some(Format::ThinArchive) {
            let input = Input::open_in_place(path, &self.options);
            // Archives beside a library are larger than it is.
            let size = |archive: &str| fs::metadata(archive).map_or(0, |archive| archive.len());
            let archives = input.iter().flat_map(Input::archives).map(size);
            self.begin(archives.fold(self.size, u64::saturating_add));
            self.input(shown, input);
        } else {
            self.other(path, &head, shown);
        }
    }

    /// Examines a pipe. It can be read only once, so it is read whole before its kind is determined.
    fn stream(&mut self, path: &Path, shown: String) {
        // The size is not known yet.
        self.options.budget = Budget::default();
        let input = match Input::open(path, &self.options) {
            Ok(input) => input,
            Err(error) => return self.problem(shown, error),
        };
        self.begin(input.size());
        let bytes = input.bytes().unwrap_or_default();
        let head = bytes.get(..HEAD as usize).unwrap_or(bytes);
        if let Some(package) = Package::of(head, path) {
            self.found.notes.push((shown, left_out(package)));
        } else if Method::of(head).is_some() || is_store(head) {
            self.content(shown, bytes, 0);
        } else if may_hold_code(head) || matches!(Format::of(head), Some(Format::Zip | Format::ThinArchive)) {
            self.input(shown, Ok(input));
        }
    }

    /// Examines a file whose first bytes are of no known format. It may still be a zip file with a prefix.
    fn other(&mut self, path: &Path, head: &[u8], shown: String) {
        let is_zip = match Wheel::is_at(path) {
            Ok(is_zip) => is_zip,
            Err(error) => return self.problem(shown, error),
        };
        if is_zip || !head.is_empty() && is_named_zip(path) {
            match Wheel::open(path) {
                Ok(wheel) => {
                    let options = self.options.clone();
                    let whole = || Input::open(path, &options);
                    self.zip(&mut vec![shown], &wheel, &options, &whole);
                }
                Err(error) => self.problem(shown, error),
            }
        }
    }

    /// Examines a zip file member by member, except an IREE module, whose members belong together. `path` is the names of
    /// the enclosing zip files and of this one; `whole` reads the file as one input.
    fn zip(
        &mut self,
        path: &mut Vec<String>,
        wheel: &Wheel,
        options: &Options,
        whole: &dyn Fn() -> Result<Input, Error>,
    ) {
        if wheel.members().any(|member| member.is_iree_executable().unwrap_or_default()) {
            let input = whole();
            let file = input.as_ref().ok().and_then(|input| input.file(options).ok());
            if file.is_some_and(|file| file.kind() == FileKind::IreeModule) {
                return self.input(nested(path), input);
            }
        }
        let mut unreadable = None;
        let mut more = 0;
        for member in wheel.members() {
            self.found.members += 1;
            path.push(member.name().into_owned());
            let name = nested(path);
            self.progress.say(name.clone());
            match self.member(path, &member, options) {
                Ok(()) => {}
                Err(error) if options.budget.is_spent() => self.problem(name, error),
                Err(error) => {
                    more += usize::from(unreadable.is_some());
                    unreadable.get_or_insert(error);
                }
            }
            path.pop();
            if options.budget.is_spent() {
                break;
            }
        }
        // Usually one reason holds for all, such as an unknown compression method or a password.
        if let Some(error) = unreadable {
            let more = match more {
                0 => String::new(),
                more => format!("; and {} more", count(more, "member", "members")),
            };
            self.found.problems.push((nested(path), format!("{error}{more}")));
        }
        if let Some(problem) = wheel.problem() {
            self.found.problems.push((nested(path), problem.to_string()));
        }
    }

    /// Examines a member of a zip file, the last of `path`. Fails if its bytes cannot be had.
    fn member(
        &mut self,
        path: &mut Vec<String>,
        member: &WheelMember<'_>,
        options: &Options,
    ) -> Result<(), Error> {
        let name = nested(path);
        match member.wheel(options)? {
            Some(_) if path.len() > DEEPEST => {
                self.problem(
                    name,
                    "zip files this deep in zip files are not examined; unpack the outer ones",
                );
            }
            Some(inner) => {
                let mut left = options.clone();
                left.max_unpacked = left.max_unpacked.saturating_sub(member.size());
                self.zip(path, &inner, &left, &|| member.open(options));
            }
            None if member.may_hold_code()? => self.input(name, member.open(options)),
            None => {
                // By name alone: unpacking each member would cost too much.
                let ending = member.name().to_ascii_lowercase();
                if let Some(package) = Package::by_name(&ending) {
                    self.found.notes.push((name, left_out(package)));
                } else if INNER_ENDINGS.iter().any(|inner| ending.ends_with(inner)) {
                    let input = member.open(options)?;
                    self.content(name, input.bytes().unwrap_or_default(), 0);
                }
            }
        }
        Ok(())
    }

    /// Examines a compressed stream. `depth` counts the streams around its content.
    fn packed(&mut self, name: String, method: Method, stream: impl Read, depth: usize) {
        if depth > DEEPEST {
            return self
                .problem(name, "streams this deep in streams are not examined; unpack the outer ones");
        }
        let most = self.options.max_unpacked.min(LARGEST);
        match method.unpack(stream, may_be_judged, most, &self.options.budget) {
            Ok(Some(content)) => self.content(name, &content, depth),
            Ok(None) => {}
            Err(problem) => self.problem(name, problem),
        }
    }

    /// Examines bytes that were unpacked, or a store.
    fn content(&mut self, name: String, bytes: &[u8], depth: usize) {
        let head = bytes.get(..HEAD as usize).unwrap_or(bytes);
        if let Some(method) = Method::of(head) {
            self.packed(name, method, bytes, depth + 1);
        } else if aotriton::is(head) {
            self.store(name, aotriton::read(bytes, &self.options.budget).map(Some));
        } else if miopen::is(head) {
            self.store(name, miopen::read(bytes, &self.options.budget));
        } else if let Some(package) = Package::of(head, "") {
            self.found.notes.push((name, left_out(package)));
        } else if matches!(Format::of(head), Some(Format::Zip)) {
            self.problem(name, "zip files in compressed streams are not examined; unpack the stream");
        } else if may_hold_code(head) {
            match File::parse(bytes, &self.options) {
                Ok(file) if file.kind() == FileKind::HostLibrary => {}
                Ok(file) => self.add(examine::file(&name, &file, self.targets, &self.options)),
                Err(Error::NotFound { .. }) => {}
                Err(error) => self.problem(name, error),
            }
        }
    }

    fn add(&mut self, unit: Option<Unit>) {
        let Some(mut unit) = unit else { return };
        unit.pattern = unit.processor.as_ref().and_then(|name| unit::pattern(&unit.path, self.folder, name));
        self.found.units.push(unit);
    }

    fn store(&mut self, name: String, store: Result<Option<Store>, String>) {
        let judged = store.and_then(|store| match store {
            Some(store) => store.judge(&name, self.targets, &self.options),
            None => Ok(None),
        });
        match judged {
            Ok(unit) => self.add(unit),
            Err(problem) => self.problem(name, problem),
        }
    }

    fn input(&mut self, name: String, input: Result<Input, Error>) {
        let file = input.as_ref().map_err(Clone::clone).and_then(|input| input.file(&self.options));
        match file {
            Ok(file) if file.kind() == FileKind::HostLibrary => {}
            Ok(file) => {
                let unit = examine::file(&name, &file, self.targets, &self.options);
                match input.as_ref().map(Input::check) {
                    Ok(Err(changed)) => self.found.problems.push((name, changed.to_string())),
                    _ => self.add(unit),
                }
            }
            // Most files of a system have no GPU code.
            Err(Error::NotFound { .. }) => {}
            Err(error) => match input.ok().and_then(|input| input.kpack_reference()) {
                Some(reference) => self.split.push((name, reference, error)),
                None => self.problem(name, error),
            },
        }
    }
}

/// The length in bytes of the folder that holds all of the paths: for one path, that folder, or the folder of that file.
fn shared_folder(paths: &[PathBuf]) -> usize {
    let mut texts = paths.iter().map(|path| {
        let text = path.display().to_string();
        if path.is_dir() && !text.ends_with(is_separator) { text + "/" } else { text }
    });
    let Some(first) = texts.next() else { return 0 };
    let shared = texts.fold(first, |mut shared, text| {
        let mut letters = shared.char_indices().zip(text.chars());
        let end = letters.find(|((_, one), other)| one != other).map_or(text.len(), |((at, _), _)| at);
        shared.truncate(end);
        shared
    });
    shared.rfind(is_separator).map_or(0, |at| at + 1)
}

/// Whether a file is a store of code objects.
fn is_store(head: &[u8]) -> bool {
    aotriton::is(head) || miopen::is(head)
}

/// Whether the content of a stream may be judged, or must be told.
fn may_be_judged(head: &[u8]) -> bool {
    may_hold_code(head)
        || is_store(head)
        || Method::of(head).is_some()
        || Package::of(head, "").is_some()
        || Format::of(head) == Some(Format::Zip)
}

/// The name of a member of nested zip files: `outer.whl(inner.whl(a.so))`.
fn nested(path: &[String]) -> String {
    format!("{}{}", path.join("("), ")".repeat(path.len().saturating_sub(1)))
}

fn is_named_zip(path: &Path) -> bool {
    path.extension().is_some_and(|extension| ZIP_ENDINGS.iter().any(|ending| extension == *ending))
}

/// The note on a file that is not examined.
fn left_out(package: Package) -> String {
    format!("{} is not examined; {}", package.what, package.advice)
}

fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    fs::File::open(path)?.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}
