// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files larger than the memory that a command may take, and files that become smaller while it reads them.

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    os::{
        fd::OwnedFd,
        unix::{
            fs::{FileExt, OpenOptionsExt},
            net::UnixStream,
        },
    },
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use crate::{
    audit::made::packed_bundle,
    support::{command, scratch},
};

/// The size of each entry, which the file has mostly as a hole.
const ENTRY: u64 = 2 << 20;
const ENTRIES: u64 = 150;
/// The most resident memory: an entry and 64 MiB.
const MOST: u64 = ENTRY + (64 << 20);

/// A host ELF of 300 MiB with a row of bundles, one for each entry. Behind the section's start lies no bundle, which is a
/// problem that the log tells.
fn host_elf() -> PathBuf {
    const SECTION: u64 = 8192;
    let path = scratch("so");
    let file = fs::File::create(&path).unwrap();
    let put = |at: u64, bytes: &[u8]| file.write_all_at(bytes, at).unwrap();
    let code = fs::read("cts/kernels/bundles/vector_add.gfx942.co").unwrap();
    let id = b"hipv4-amdgcn-amd-amdhsa--gfx942";
    put(SECTION, b"no bundle");
    let mut end = SECTION + 4096;
    for _ in 0..ENTRIES {
        let mut table = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
        table.extend([1, 4096, ENTRY, id.len() as u64].map(u64::to_le_bytes).concat());
        table.extend(id);
        put(end, &table);
        put(end + 4096, &code);
        end += 4096 + ENTRY;
    }
    let names = b"\0.hip_fatbin\0.shstrtab\0";
    put(4096, names);
    let mut head = b"\x7fELF\x02\x01\x01".to_vec();
    head.resize(16, 0);
    head.extend([3, 0, 62, 0, 1, 0, 0, 0]);
    head.extend([0, 0, end].map(u64::to_le_bytes).concat());
    head.extend([0; 4]);
    head.extend([64, 56, 0, 64, 3, 2].map(u16::to_le_bytes).concat());
    put(0, &head);
    let header = |name: u32, kind: u32, offset: u64, size: u64| {
        let fields = [0, 0, offset, size, 0, 1, 0].map(u64::to_le_bytes).concat();
        [&[name, kind].map(u32::to_le_bytes).concat(), &fields[..]].concat()
    };
    put(end + 64, &header(1, 1, SECTION, end - SECTION));
    put(end + 128, &header(13, 3, 4096, names.len() as u64));
    assert!(end > 300 << 20);
    path
}

/// A row of compressed bundles, each with an entry of 8 MiB.
fn packed(entry: u64) -> PathBuf {
    let path = scratch("hipfb");
    fs::write(&path, packed_bundle(entry).repeat(60)).unwrap();
    path
}

/// The most memory that was resident in a process so far.
fn most_resident(child: &Child) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a process that runs");
    let kilobytes = line.trim().strip_suffix(" kB").expect("kilobytes");
    kilobytes.parse::<u64>().unwrap() << 10
}

/// The most memory of a command that writes more than a pipe holds, when it has begun to write.
fn most_resident_until_it_writes(command: &mut Command) -> u64 {
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    output.read_exact(&mut [0]).expect("output");
    let most = most_resident(&child);
    let mut rest = Vec::new();
    output.read_to_end(&mut rest).unwrap();
    assert!(rest.len() > 80_000, "a pipe holds {} bytes, so the command may have been over", rest.len());
    child.wait().unwrap();
    most
}

/// The most memory of `audit` when it is done with a file and goes on to a pipe.
fn most_resident_of_audit(path: &Path, pipe: &Path) -> u64 {
    let mut audit = command();
    audit.args(["audit", "--targets", "gfx942"]).args([path, pipe]).stdout(Stdio::null());
    let mut child = audit.spawn().unwrap();
    let writer = loop {
        const NONBLOCK: i32 = libc::O_NONBLOCK;
        match fs::OpenOptions::new().write(true).custom_flags(NONBLOCK).open(pipe) {
            Ok(writer) => break writer,
            Err(_) => assert!(child.try_wait().unwrap().is_none(), "it ended before it read the pipe"),
        }
        thread::sleep(Duration::from_millis(5));
    };
    let most = most_resident(&child);
    drop(writer);
    child.wait().unwrap();
    most
}

#[test]
fn memory_holds_one_entry_of_a_large_file() {
    let path = host_elf();
    let mut inspect = command();
    inspect.args(["inspect", "--json", "--target", "gfx942"]).arg(&path);
    let mut extract = command();
    extract.args(["extract", "--target", "gfx942", "-o", "/dev/stdout"]).arg(&path);
    for mut command in [inspect, extract] {
        let most = most_resident_until_it_writes(&mut command);
        assert!(most <= MOST, "{command:?} took {most} bytes");
    }
    // It goes on to the pipe when it is done with the file.
    let pipe = scratch("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let most = most_resident_of_audit(&path, &pipe);
    assert!(most <= MOST, "audit took {most} bytes");
    fs::remove_file(path).unwrap();
    fs::remove_file(pipe).unwrap();
}

#[test]
fn memory_holds_one_bundle_of_many_compressed_ones() {
    let entry = 8 << 20;
    let path = packed(entry);
    let mut inspect = command();
    inspect.args(["inspect", "--json", "--target", "gfx942"]).arg(&path);
    let most = most_resident_until_it_writes(&mut inspect);
    assert!(most <= entry + (64 << 20), "inspect took {most} bytes");
    fs::remove_file(path).unwrap();
}

#[test]
fn a_database_of_something_else_is_not_kept_in_memory() {
    let path = scratch("db");
    let mut head = b"SQLite format 3\0".to_vec();
    head.resize(4096, 0);
    fs::write(&path, head).unwrap();
    fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(400 << 20).unwrap();
    let pipe = scratch("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let most = most_resident_of_audit(&path, &pipe);
    assert!(most <= 64 << 20, "audit took {most} bytes");
    fs::remove_file(path).unwrap();
    fs::remove_file(pipe).unwrap();
}

/// A socket whose reader takes nothing until it is asked, so that a command which writes to it stops.
fn full_socket() -> (UnixStream, OwnedFd, usize) {
    let (reader, mut writer) = UnixStream::pair().unwrap();
    writer.set_nonblocking(true).unwrap();
    let mut filled = 0;
    // Smaller pieces fit where larger ones do not.
    for size in [4096, 64, 1] {
        loop {
            match writer.write(&vec![b'.'; size]) {
                Ok(written) => filled += written,
                Err(error) => break assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
    }
    writer.set_nonblocking(false).unwrap();
    (reader, writer.into(), filled)
}

/// Waits until a process sleeps for longer than the moments of its start, and checks that it has the file open.
fn wait_until_it_sleeps_over(child: &mut Child, path: &Path) {
    let process = PathBuf::from(format!("/proc/{}", child.id()));
    let mut times = 0;
    while times < 40 {
        assert!(child.try_wait().unwrap().is_none(), "it ended before its log was read");
        let sleeps = fs::read_to_string(process.join("status")).unwrap().contains("State:\tS");
        times = if sleeps { times + 1 } else { 0 };
        thread::sleep(Duration::from_millis(5));
    }
    let path = path.canonicalize().unwrap();
    let mut links = fs::read_dir(process.join("fd")).unwrap().flatten();
    let has_open = links.any(|link| fs::read_link(link.path()).is_ok_and(|open| open == path));
    if !has_open {
        child.kill().unwrap();
    }
    assert!(has_open, "it has closed the file");
}

/// The log tells the section's problem between opening the file and reading its entries, and the command waits there
/// until its log is read.
#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_error() {
    for (arguments, code) in [
        (&["inspect", "--target", "gfx942"][..], 2),
        (&["extract", "--target", "gfx942", "-o", "/dev/null"], 2),
        (&["audit", "--targets", "gfx942"], 1),
    ] {
        let path = host_elf();
        let size = fs::metadata(&path).unwrap().len();
        let (mut log, end, filled) = full_socket();
        let mut command = command();
        command.args(arguments).arg(&path).env("WINDLASS_LOG", "windlass::codeobject=debug");
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::from(end)).spawn().unwrap();
        drop(command);
        wait_until_it_sleeps_over(&mut child, &path);
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(4096).unwrap();
        let mut stderr = Vec::new();
        log.read_to_end(&mut stderr).unwrap();
        let mut told = String::from_utf8(stderr.split_off(filled)).unwrap();
        child.stdout.take().unwrap().read_to_string(&mut told).unwrap();
        let status = child.wait().unwrap();
        let shrank = format!("{}: it shrank from {size} to 4096 bytes while it was read", path.display());
        assert_eq!(status.code(), Some(code), "{arguments:?}: {told}");
        assert!(told.contains(&shrank), "{arguments:?}: {told}");
        fs::remove_file(path).unwrap();
    }
}
