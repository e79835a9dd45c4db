// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files without names that other processes of the machine open by a ticket, for memory and events that processes share.
//!
//! A ticket names the process that has the file and the number of the file there. The other process opens the file through
//! `/proc`, as the same user may. Nothing is left when the last process that has a file ends. The length of a file is sealed,
//! so that no process can take away bytes that another one has mapped.

use std::collections::hash_map::RandomState;
use std::fmt;
use std::fs::File;
use std::hash::{BuildHasher as _, Hasher as _};
use std::os::fd::{AsFd as _, AsRawFd as _, IntoRawFd as _, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{MemfdFlags, SealFlags};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// The kind of object in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// Memory of a device.
    Memory = 1,
    /// The words of an event.
    Event = 2,
    /// A pool, known by its name alone.
    Pool = 3,
}

/// A file that other processes may open.
#[derive(Debug)]
pub struct SharedFile {
    /// The file.
    pub file: Arc<OwnedFd>,
    /// Its bytes.
    pub size: u64,
    token: u64,
}

/// The way to a file of a process, and what a client wants to know of it. It fits into HIP's handles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket {
    /// The process that has the file.
    pub process: u32,
    /// When the process began, as another one may have its number later.
    started: u64,
    descriptor: u32,
    token: u64,
    /// Bytes of the memory.
    pub size: u64,
    /// The byte that the handle stands for.
    pub offset: u64,
    /// The device in that process.
    pub device: u32,
}

/// The first word of a ticket: "WLSH".
const MAGIC: u32 = 0x4853_4c57;
/// The bytes of HIP's handles.
pub const TICKET: usize = 64;

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Content::Memory => "memory",
            Content::Event => "event",
            Content::Pool => "pool",
        })
    }
}

fn name_of(content: Content, token: u64) -> String {
    format!("windlass-{content}-{token:016x}")
}

/// Tells a ticket from damaged bytes.
fn checksum(words: &[u64]) -> u64 {
    // Each step is one to one, so that no change of a single word is missed.
    words.iter().fold(0, |sum: u64, word| (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23))
}

/// The name of the file behind a descriptor of a process.
fn linked(path: &str) -> Option<String> {
    let link = std::fs::read_link(path).ok()?;
    let link = link.to_str()?.strip_prefix("/memfd:")?;
    Some(link.trim_end_matches(" (deleted)").to_owned())
}

/// When a process began, in the kernel's ticks; `None` if there is no such process, or it has ended and is not reaped.
pub fn start_of(process: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The program's name may hold blanks, and ends with the last parenthesis.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    let ended = matches!(fields.next()?, "Z" | "X");
    if ended { None } else { fields.nth(18)?.parse().ok() }
}

impl SharedFile {
    /// A file of `size` bytes, all zero.
    ///
    /// # Errors
    /// The system's reason.
    pub fn new(content: Content, size: u64) -> Result<Self, String> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let mut hasher = RandomState::new().build_hasher();
        hasher.write_u64(COUNT.fetch_add(1, Ordering::Relaxed));
        let token = hasher.finish();
        let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
        let failed = |error| format!("no file of {size} bytes to share: {error}");
        let file = rustix::fs::memfd_create(name_of(content, token), flags).map_err(failed)?;
        rustix::fs::ftruncate(&file, size).map_err(failed)?;
        let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
        rustix::fs::fcntl_add_seals(&file, seals).map_err(failed)?;
        Ok(Self { file: Arc::new(file), size, token })
    }

    /// The file of another process.
    ///
    /// # Errors
    /// The mistake in the ticket.
    pub fn open(content: Content, ticket: &Ticket) -> Result<Self, String> {
        let Ticket { process, descriptor, token, .. } = *ticket;
        if start_of(process) != Some(ticket.started) {
            return Err(format!("process {process}, which has the {content}, has ended"));
        }
        let (path, name) = (format!("/proc/{process}/fd/{descriptor}"), name_of(content, token));
        let gone = || format!("process {process} does not have the {content} any more");
        if linked(&path) != Some(name.clone()) {
            return Err(gone());
        }
        let opened = File::options().read(true).write(true).open(&path);
        let opened = opened.map_err(|error| format!("the {content} of process {process}: {error}"))?;
        // The process may have closed the file meanwhile, and have another one by that number.
        if linked(&format!("/proc/self/fd/{}", opened.as_raw_fd())) != Some(name) {
            return Err(gone());
        }
        Self::checked(opened.into(), token)
    }

    /// The file behind a descriptor that a client got from another process. The client keeps its descriptor.
    ///
    /// # Errors
    /// The mistake in the descriptor.
    pub fn from_descriptor(content: Content, descriptor: i32) -> Result<Self, String> {
        let wrong = || format!("descriptor {descriptor} is no {content} that a simulated GPU exported");
        let link = linked(&format!("/proc/self/fd/{descriptor}")).ok_or_else(wrong)?;
        let token = link.rsplit_once('-').and_then(|(_, token)| u64::from_str_radix(token, 16).ok());
        let token = token.filter(|token| name_of(content, *token) == link).ok_or_else(wrong)?;
        let path = format!("/proc/self/fd/{descriptor}");
        let opened = File::options().read(true).write(true).open(path).map_err(|_| wrong())?;
        Self::checked(opened.into(), token)
    }

    /// A file whose length nobody can change.
    fn checked(file: OwnedFd, token: u64) -> Result<Self, String> {
        let seals = rustix::fs::fcntl_get_seals(&file).map_err(|error| error.to_string())?;
        if !seals.contains(SealFlags::SHRINK) {
            return Err("the file may shrink, so it is not mapped".to_owned());
        }
        let size = rustix::fs::fstat(&file).map_err(|error| error.to_string())?.st_size;
        Ok(Self { file: Arc::new(file), size: u64::try_from(size).unwrap_or(0), token })
    }

    /// A descriptor for the client, who closes it.
    ///
    /// # Errors
    /// The system's reason.
    pub fn descriptor(&self) -> Result<i32, String> {
        let own = rustix::io::fcntl_dupfd_cloexec(self.file.as_fd(), 3).map_err(|error| error.to_string())?;
        Ok(own.into_raw_fd())
    }

    /// The way of other processes to the file.
    pub fn ticket(&self, size: u64, offset: u64, device: usize) -> Ticket {
        let process = std::process::id();
        Ticket {
            process,
            started: start_of(process).unwrap_or(0),
            descriptor: self.file.as_raw_fd().unsigned_abs(),
            token: self.token,
            size,
            offset,
            device: u32::try_from(device).unwrap_or(u32::MAX),
        }
    }

    /// Writes bytes at a place of the file.
    ///
    /// # Errors
    /// The system's reason.
    pub fn write(&self, mut at: u64, mut bytes: &[u8]) -> Result<(), String> {
        while !bytes.is_empty() {
            let written = rustix::io::pwrite(&self.file, bytes, at).map_err(|error| error.to_string())?;
            at += written as u64;
            bytes = bytes.get(written..).unwrap_or_default();
        }
        Ok(())
    }
}

impl Ticket {
    /// The bytes of a handle.
    pub fn to_bytes(self) -> [u8; TICKET] {
        let mut bytes = [0; TICKET];
        let words = [
            u64::from(MAGIC) << 32 | u64::from(self.process),
            self.started,
            u64::from(self.descriptor) << 32 | u64::from(self.device),
            self.token,
            self.size,
            self.offset,
        ];
        let all = words.into_iter().chain([checksum(&words)]);
        for (to, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(all) {
            *to = word.to_le_bytes();
        }
        bytes
    }

    /// `None` for bytes that are no ticket.
    pub fn from_bytes(bytes: &[u8; TICKET]) -> Option<Self> {
        let words: Vec<u64> = bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
        let [first, started, third, token, size, offset, sum, 0] = words.as_slice() else { return None };
        let (magic, process) = ((first >> 32) as u32, *first as u32);
        (magic == MAGIC && *sum == checksum(&words[..6])).then_some(Self {
            process,
            started: *started,
            descriptor: (third >> 32) as u32,
            token: *token,
            size: *size,
            offset: *offset,
            device: *third as u32,
        })
    }
}

/// The first words of a shared file, which all of its processes read and write.
pub struct SharedWords {
    base: NonNull<AtomicU64>,
    /// The file of the words.
    pub file: SharedFile,
}

/// Bytes of a file of words.
pub const WORDS: u64 = 4096;

// SAFETY: the words are atomics in a mapping that lives as long as the object.
unsafe impl Send for SharedWords {}
// SAFETY: as above.
unsafe impl Sync for SharedWords {}

impl SharedWords {
    /// Maps the words of a file.
    ///
    /// # Errors
    /// The system's reason, and a file that is too short.
    pub fn new(file: SharedFile) -> Result<Self, String> {
        if file.size < WORDS {
            return Err(format!("a file of {} bytes is no event", file.size));
        }
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a fresh mapping at an address of the system's choice touches nothing that exists.
        let mapped = unsafe {
            mmap(std::ptr::null_mut(), WORDS as usize, protection, MapFlags::SHARED, &file.file, 0)
        };
        let mapped = mapped.map_err(|error| format!("mapping an event: {error}"))?;
        let base = NonNull::new(mapped.cast()).ok_or("an event at address 0")?;
        Ok(Self { base, file })
    }

    /// A word; the first for a number of none.
    pub fn word(&self, index: usize) -> &AtomicU64 {
        let index = if index < WORDS as usize / size_of::<u64>() { index } else { 0 };
        // SAFETY: the mapping has this word, is aligned to pages, and lives as long as `self`; its length is sealed. Every
        // process uses the words as atomics only.
        unsafe { self.base.add(index).as_ref() }
    }
}

impl std::fmt::Debug for SharedWords {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedWords").field("file", &self.file).finish_non_exhaustive()
    }
}

impl Drop for SharedWords {
    fn drop(&mut self) {
        // SAFETY: the mapping is the object's own, and no reference to a word outlives the object.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), WORDS as usize) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::FromRawFd as _;

    #[test]
    fn a_ticket_opens_the_file_that_it_was_made_for_and_no_other() {
        let file = SharedFile::new(Content::Memory, 8192).unwrap();
        file.write(4096, &[7]).unwrap();
        let ticket = Ticket::from_bytes(&file.ticket(5000, 16, 3).to_bytes()).unwrap();
        assert_eq!((ticket.size, ticket.offset, ticket.device), (5000, 16, 3));
        let again = SharedFile::open(Content::Memory, &ticket).unwrap();
        assert_eq!(again.size, 8192);
        let mut byte = [0];
        rustix::io::pread(&again.file, &mut byte, 4096).unwrap();
        assert_eq!(byte, [7]);
        assert!(rustix::fs::ftruncate(&again.file, 0).is_err(), "its length is sealed");
        for (what, other) in [
            ("another content", SharedFile::open(Content::Event, &ticket)),
            ("another file", SharedFile::open(Content::Memory, &Ticket { token: 5, ..ticket })),
            ("another descriptor", SharedFile::open(Content::Memory, &Ticket { descriptor: 1, ..ticket })),
            ("another process", SharedFile::open(Content::Memory, &Ticket { process: 1, ..ticket })),
            ("a process before", SharedFile::open(Content::Memory, &Ticket { started: 1, ..ticket })),
        ] {
            assert!(other.is_err(), "{what}");
        }
        drop((file, again));
        assert!(SharedFile::open(Content::Memory, &ticket).is_err(), "it is closed");
        assert_eq!(Ticket::from_bytes(&[0; TICKET]), None);
        for byte in 0..TICKET {
            let mut damaged = ticket.to_bytes();
            damaged[byte] ^= 0x40;
            assert_eq!(Ticket::from_bytes(&damaged), None, "byte {byte}");
        }
    }

    #[test]
    fn descriptors_of_other_files_are_refused() {
        let file = SharedFile::new(Content::Pool, 4096).unwrap();
        let descriptor = file.descriptor().unwrap();
        assert!(SharedFile::from_descriptor(Content::Pool, descriptor).is_ok());
        assert!(SharedFile::from_descriptor(Content::Memory, descriptor).is_err());
        // SAFETY: the descriptor is the test's own.
        drop(unsafe { OwnedFd::from_raw_fd(descriptor) });
        let other = std::fs::File::open("/proc/self/stat").unwrap();
        assert!(SharedFile::from_descriptor(Content::Pool, other.as_raw_fd()).is_err());
        assert!(SharedFile::from_descriptor(Content::Pool, -1).is_err());
    }

    #[test]
    fn an_ended_process_has_no_start() {
        assert!(start_of(std::process::id()).is_some());
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let number = child.id();
        child.wait().unwrap();
        assert_eq!(start_of(number), None);
    }
}
