// SPDX-License-Identifier: MIT OR Apache-2.0
//! Counts of a program's work on the simulated GPU, in a file that outlives the program.
//!
//! The starter of a program makes the file and names it in [`Tally::VARIABLE`]. The drop-in library of each
//! process maps the file and adds to it. The counts survive every end of a process.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::packet::{ScheduleReport, Schedules};

/// The counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Tally {
    /// Processes that loaded the library and called it.
    pub processes: u64,
    /// Kernels that ran, failed ones included.
    pub launches: u64,
    /// Kernels, copies and fills that failed.
    pub faults: u64,
    /// Launches that were refused: the call itself returned an error.
    pub refused: u64,
    /// The schedules of the first 256 processes that ran under a seed: a process runs one schedule.
    pub schedules: Schedules,
    /// Choices in these schedules.
    pub choices: u64,
}

/// The kinds of counts, by their index in the file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    Process = 1,
    Launch = 2,
    Fault = 3,
    Refusal = 4,
    /// Simulators that began to record a schedule.
    Recording = 5,
}

/// Words in front of the schedules: a mark, then one for each [`Count`].
const COUNTS: usize = 6;
/// The most processes with a schedule.
const SLOTS: usize = 256;
/// Words for the schedule of one process: calls, choices, hash.
const SLOT: usize = 3;
const WORDS: usize = COUNTS + SLOTS * SLOT;
const BYTES: usize = 8 * WORDS;
/// The first word, which guards other files against being written.
const MARK: u64 = u64::from_ne_bytes(*b"WLtally2");

/// The mapped file of this process.
static MAPPED: OnceLock<Option<&'static [AtomicU64; WORDS]>> = OnceLock::new();
/// The file for this process's reports of faults, open if there is one.
static REPORTS: OnceLock<Option<File>> = OnceLock::new();
/// This process's number among those that count in the file, from 0 on.
static NUMBER: OnceLock<usize> = OnceLock::new();

impl Tally {
    /// The environment variable that names the file.
    pub const VARIABLE: &'static str = "WINDLASS_TALLY";

    /// Makes the file, or replaces it, with counts of zero.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn create(path: &Path) -> io::Result<()> {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(&MARK.to_ne_bytes());
        std::fs::write(path, bytes)
    }

    /// Reads the counts so far.
    ///
    /// # Errors
    /// The file cannot be read, or [`Tally::create`] did not make it.
    pub fn read(path: &Path) -> io::Result<Self> {
        let bytes = std::fs::read(path)?;
        let words = bytes.as_chunks::<8>().0;
        let word = |count: Count| words.get(count as usize).map_or(0, |word| u64::from_ne_bytes(*word));
        if bytes.len() != BYTES || words.first() != Some(&MARK.to_ne_bytes()) {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it holds no counts of the simulated GPU",
            ));
        }
        let number = |bytes: &[u8; 8]| u64::from_ne_bytes(*bytes);
        let slots = words.get(COUNTS..).unwrap_or_default().as_chunks::<SLOT>().0;
        let slots = slots.iter().map(|slot| slot.each_ref().map(number)).filter(|[calls, ..]| *calls > 0);
        let (mut runs, mut choices, mut hashes) = (0, 0, BTreeSet::new());
        for [_, of_this, hash] in slots {
            runs += 1;
            choices += of_this;
            hashes.insert(hash);
        }
        Ok(Self {
            schedules: Schedules { runs, distinct: hashes.len() as u64 },
            choices,
            processes: word(Count::Process),
            launches: word(Count::Launch),
            faults: word(Count::Fault),
            refused: word(Count::Refusal),
        })
    }

    /// The file beside `path` for reports of faults. Processes add to it if the starter of the program made it. Each
    /// report ends with a zero byte.
    pub fn reports(path: &Path) -> PathBuf {
        let mut name = path.as_os_str().to_owned();
        name.push(".faults");
        name.into()
    }

    /// Counts this process, and from now on the work of every simulator in it, in the file that the
    /// environment names. Without the variable it does nothing. The first call decides.
    ///
    /// # Errors
    /// The file cannot be mapped, or [`Tally::create`] did not make it.
    pub fn attach_from_environment() -> io::Result<()> {
        let Some(path) = std::env::var_os(Self::VARIABLE).filter(|path| !path.is_empty()) else {
            return Ok(());
        };
        let mut outcome = Ok(());
        MAPPED.get_or_init(|| map(Path::new(&path)).map_err(|error| outcome = Err(error)).ok());
        if outcome.is_ok() {
            let earlier = count_and_get(Count::Process).unwrap_or(0);
            let _ = NUMBER.set(usize::try_from(earlier).unwrap_or(usize::MAX));
            let reports = Self::reports(Path::new(&path));
            let _ = REPORTS.set(OpenOptions::new().append(true).open(reports).ok());
        }
        outcome
    }
}

/// Adds one.
pub(crate) fn count(what: Count) {
    count_and_get(what);
}

/// Counts a fault, and adds its report to the file of reports.
pub(crate) fn fault(report: impl Display) {
    count(Count::Fault);
    if let Some(Some(mut file)) = REPORTS.get().map(Option::as_ref) {
        // One write, so that reports of several processes do not mix. The count stands
        // even if this write fails.
        let _ = file.write_all(format!("{report}\0").as_bytes());
    }
}

/// Adds one. Returns the count before, of all processes together; `None` without a file.
pub(crate) fn count_and_get(what: Count) -> Option<u64> {
    let words = (*MAPPED.get()?)?;
    Some(words.get(what as usize)?.fetch_add(1, Ordering::Relaxed))
}

/// Writes the progress of the schedule of this process.
pub(crate) fn schedule(report: impl FnOnce() -> ScheduleReport) {
    let (Some(Some(words)), Some(number)) = (MAPPED.get(), NUMBER.get()) else { return };
    let slots = words.get(COUNTS..).unwrap_or_default().as_chunks::<SLOT>().0;
    let Some(slot) = slots.get(*number) else { return };
    let report = report();
    for (word, value) in slot.iter().zip([report.calls, report.choices, report.hash]) {
        word.store(value, Ordering::Relaxed);
    }
}

/// Maps the file for the rest of the process.
#[cfg(target_os = "linux")]
fn map(path: &Path) -> io::Result<&'static [AtomicU64; WORDS]> {
    use rustix::mm::{MapFlags, ProtFlags, mmap};
    Tally::read(path)?;
    let file = OpenOptions::new().read(true).write(true).open(path)?;
    let access = ProtFlags::READ | ProtFlags::WRITE;
    // SAFETY: a fresh mapping at an address that the system picks.
    let start = unsafe { mmap(std::ptr::null_mut(), BYTES, access, MapFlags::SHARED, &file, 0) }?;
    // SAFETY: the mapping is page-aligned, as long as the words, and never unmapped. Other processes change
    // the words only through atomics too. The file belongs to these processes alone, and none of them
    // shortens it.
    Ok(unsafe { &*start.cast::<[AtomicU64; WORDS]>() })
}

#[cfg(not(target_os = "linux"))]
fn map(path: &Path) -> io::Result<&'static [AtomicU64; WORDS]> {
    OpenOptions::new().read(true).open(path)?;
    Err(io::Error::new(io::ErrorKind::Unsupported, "counting needs Linux"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_its_own_files_are_read() {
        let path = std::env::temp_dir().join(format!("windlass-tally-test-{}", std::process::id()));
        Tally::create(&path).unwrap();
        assert_eq!(Tally::read(&path).unwrap(), Tally::default());
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[8 * Count::Fault as usize] = 3;
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(Tally::read(&path).unwrap(), Tally { faults: 3, ..Tally::default() });
        // Two schedules with the same events, and one with others.
        let mut scheduled = bytes.clone();
        for (process, schedule) in [(0, [5, 7, 99]), (2, [5, 7, 99]), (SLOTS - 1, [1, 2, 3])] {
            for (word, value) in schedule.into_iter().enumerate() {
                scheduled[8 * (COUNTS + SLOT * process + word)] = value;
            }
        }
        std::fs::write(&path, &scheduled).unwrap();
        let tally = Tally::read(&path).unwrap();
        assert_eq!((tally.schedules.runs, tally.schedules.distinct, tally.choices), (3, 2, 16));
        for other in [&bytes[..8], &[0; BYTES], b""] {
            std::fs::write(&path, other).unwrap();
            assert_eq!(Tally::read(&path).unwrap_err().kind(), io::ErrorKind::InvalidData);
        }
        std::fs::remove_file(&path).unwrap();
    }
}
