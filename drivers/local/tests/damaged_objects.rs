// SPDX-License-Identifier: MIT OR Apache-2.0
//! Shared objects with one damaged byte: each is refused, or is one that the system's loader takes or refuses. It never ends
//! the process. What passes the reading is loaded in a process of its own, whose end would tell.
#![cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
#![allow(clippy::print_stdout, reason = "a child tells how far it came")]

mod common;

use std::process::Command;

use windlass_codeobject::HostLibrary;

use common::device;

/// It needs what the other defines, which makes every kind of table.
const DAMAGED: &[u8] = include_bytes!("native/user.x86_64.so");
const WHOLE: &[u8] = include_bytes!("native/cycle.x86_64.so");
/// Tells the child process which bytes to damage, as `FROM,TO`.
const RANGE: &str = "WINDLASS_TEST_DAMAGED_BYTES";
/// So many bytes for each child.
const PART: usize = 512;

/// The objects that differ from the whole one in the byte at `offset`, but for those with a symbol or a relocation that makes the
/// loader call a function, which then may do what it likes.
fn damaged(offset: usize) -> impl Iterator<Item = Vec<u8>> {
    let byte = DAMAGED[offset];
    let values = [0, 2, 0xff, byte ^ 1, byte ^ 0x80, byte.wrapping_add(8)];
    let values: Vec<u8> =
        values.into_iter().filter(move |value| *value != byte && !CALLS.contains(value)).collect();
    values.into_iter().map(move |value| {
        let mut bytes = DAMAGED.to_vec();
        bytes[offset] = value;
        bytes
    })
}

/// `STT_GNU_IFUNC` under each binding, `R_X86_64_IRELATIVE`.
const CALLS: [u8; 4] = [0x0a, 0x1a, 0x2a, 37];

#[test]
fn what_is_read_as_whole_can_be_handed_to_the_loader() {
    if let Ok(range) = std::env::var(RANGE) {
        let (from, to) = range.split_once(',').unwrap();
        let device = device();
        for offset in from.parse().unwrap()..to.parse().unwrap() {
            for bytes in damaged(offset).filter(|bytes| HostLibrary::parse(bytes).is_ok()) {
                // The last line tells which one it was.
                println!("offset {offset:#x} is {:#x}", bytes[offset]);
                // SAFETY: nothing of it is run: it has no constructors.
                let _ = unsafe { device.load_linked(&[&bytes, WHOLE]) };
            }
        }
        return;
    }
    let program = std::env::current_exe().unwrap();
    for from in (0..DAMAGED.len()).step_by(PART) {
        let to = DAMAGED.len().min(from + PART);
        let mut child = Command::new(&program);
        child.args(["--exact", "what_is_read_as_whole_can_be_handed_to_the_loader", "--nocapture"]);
        let finished = child.env(RANGE, format!("{from},{to}")).output().unwrap();
        let output = String::from_utf8_lossy(&finished.stdout);
        let last = output.lines().rfind(|line| line.starts_with("offset"));
        let said = String::from_utf8_lossy(&finished.stderr);
        assert!(finished.status.success(), "{}: {last:?}\n{said}", finished.status);
    }
}
