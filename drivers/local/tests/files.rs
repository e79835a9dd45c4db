// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of the system, moved by the kernel's ring if there is one, and by calls on threads.

use std::{
    fs, io,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use windlass_hal::{
    BufferParams, Code, Deadline, Device, Registry, Semaphore,
    file::{File, Storage},
};
use windlass_local::LocalDriver;

const PIECE: u64 = 4 << 20;

fn device() -> Device {
    let mut registry = Registry::new();
    registry.register(Arc::new(LocalDriver::new()));
    registry.open("local://").expect("the local device opens")
}

/// An unnamed temporary file with these bytes.
fn scratch(bytes: &[u8]) -> fs::File {
    let path = path();
    fs::write(&path, bytes).expect("room for a file");
    let file = fs::File::options().read(true).write(true).open(&path).expect("opens");
    fs::remove_file(path).expect("goes");
    file
}

fn path() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("windlass-files-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    std::env::temp_dir().join(name)
}

/// A file without a descriptor, so that threads call its methods.
struct Called(fs::File);

impl Storage for Called {
    fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<()> {
        Storage::read_at(&self.0, offset, bytes)
    }

    fn write_at(&self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        Storage::write_at(&self.0, offset, bytes)
    }
}

/// The same file in each way in which it can be moved.
fn ways(file: &fs::File) -> [(&'static str, File); 2] {
    let again = || file.try_clone().expect("a handle");
    [("by the system", File::from(again())), ("by calls", File::new(Called(again())))]
}

fn content(length: u64) -> Vec<u8> {
    (0..length).map(|at| (at * 31 / 7 + at / 251) as u8).collect()
}

#[test]
fn every_byte_arrives_at_any_offset_and_length() {
    let device = device();
    let queue = device.queue(0).expect("a queue");
    for length in [1, 7, 4096, 65537, PIECE - 1, PIECE, PIECE + 1, 9 * PIECE + 4097] {
        let bytes = content(length + 13);
        let host = device.allocate(&BufferParams::host(), length + 32).expect("memory");
        for (way, file) in ways(&scratch(&bytes)) {
            let done = Semaphore::new(0);
            host.map().expect("maps").write(0, &vec![0xEE; length as usize + 32]).expect("in bounds");
            let range = host.subspan(3, length).expect("in bounds");
            queue.read(&[], &[done.at(1)], &file, 13, &range).expect("submits");
            done.wait_blocking(1, Deadline::NEVER).expect("reads");
            let found = host.map().expect("maps").to_vec();
            assert!(found[3..3 + length as usize] == bytes[13..], "{length} bytes {way}");
            assert_eq!(found[..3], [0xEE; 3], "before {length} bytes {way}");
            assert_eq!(found[3 + length as usize..], [0xEE; 29], "behind {length} bytes {way}");
        }
        for way in 0..2 {
            let file = scratch(&[0x11; 9]);
            let (way, through) = ways(&file).into_iter().nth(way).expect("two ways");
            let done = Semaphore::new(0);
            let range = host.subspan(3, length).expect("in bounds");
            queue.write(&[], &[done.at(1)], &range, &through, 5).expect("submits");
            done.wait_blocking(1, Deadline::NEVER).expect("writes");
            let mut found = vec![0; length as usize + 5];
            Storage::read_at(&file, 0, &mut found).expect("as long as it was written");
            assert!(found[5..] == bytes[13..], "{length} bytes {way}");
            assert_eq!(found[..5], [0x11; 5], "before {length} bytes {way}");
        }
    }
}

#[test]
fn errors_are_the_same_in_every_way() {
    let device = device();
    let queue = device.queue(0).expect("a queue");
    let buffer = device.allocate_device(2 * PIECE + 9).expect("memory");
    let check = |file: fs::File, writes: bool, offset: u64, code: Code, word: &str| {
        let messages = ways(&file).map(|(way, file)| {
            let done = Semaphore::new(0);
            let submitted = match writes {
                false => queue.read(&[], &[done.at(1)], &file, offset, &buffer),
                true => queue.write(&[], &[done.at(1)], &buffer, &file, offset),
            };
            submitted.expect("submits");
            let error = done.wait_blocking(1, Deadline::NEVER).expect_err("fails");
            assert_eq!(error.code(), code, "{way}: {error}");
            assert!(error.message().contains(word), "{word} {way}: {error}");
            let whole = format!("{} bytes at {offset}", 2 * PIECE + 9);
            assert!(error.message().contains(&whole), "{whole} {way}: {error}");
            error.code()
        });
        assert_eq!(messages[0], messages[1]);
    };
    let short = content(2 * PIECE);
    check(scratch(&short), false, 0, Code::OutOfRange, "it ends before");
    check(scratch(&short), false, u64::MAX - 3, Code::OutOfRange, "reading");
    check(scratch(&short), false, 1 << 63, Code::OutOfRange, "reading");
    check(scratch(&short), true, i64::MAX as u64 - 9, Code::OutOfRange, "writing");
    let path = path();
    fs::write(&path, &short).expect("room for a file");
    check(fs::File::open(&path).expect("opens"), true, 0, Code::PermissionDenied, "open it for writing");
    let blind = fs::File::options().write(true).open(&path).expect("opens");
    check(blind, false, 0, Code::PermissionDenied, "open it for reading");
    fs::remove_file(path).expect("goes");
    #[cfg(unix)]
    {
        let folder = fs::File::open(std::env::temp_dir()).expect("opens");
        check(folder, false, 0, Code::InvalidArgument, "reading");
        let (pipe, _kept) = io::pipe().expect("a pipe");
        let pipe = fs::File::from(std::os::fd::OwnedFd::from(pipe));
        check(pipe, false, 0, Code::InvalidArgument, "os error");
    }
    #[cfg(target_os = "linux")]
    {
        let full = fs::File::options().write(true).open("/dev/full").expect("opens");
        check(full, true, 0, Code::ResourceExhausted, "os error");
    }
}
