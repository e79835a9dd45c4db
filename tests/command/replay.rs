// SPDX-License-Identifier: MIT OR Apache-2.0
//! `replay`: recordings that the command makes, on other devices.

use std::{fs, path::Path};

use crate::support::{DEVICE, Finished, scratch, windlass};

/// Records one kernel, whose results are checked.
fn record(file: &Path) {
    let device = format!("record://?file={}&over={DEVICE}", file.display());
    let words = ["run", "cts/kernels/bundles/entries.ccob", "--kernel", "negate", "--device", &device];
    let rest = ["--grid", "1", "--block", "64", "--arg", "6xf32=iota", "--arg", "6xf32=9", "--arg", "i32=6"];
    let finished = windlass(words.iter().chain(&rest).chain(&["--expect", "1=6xf32=0,-1,-2,-3,-4,-5"]));
    assert_eq!(finished.code, Some(0), "{}", finished.stderr);
}

fn replay(file: &Path, extra: &[&str]) -> Finished {
    windlass(["replay", &file.display().to_string()].iter().chain(extra))
}

#[test]
fn a_recorded_kernel_replays_on_other_devices() {
    let file = scratch("wlr");
    record(&file);
    for device in ["hip-sim://gfx942", "shuffle://?seed=2&over=hip-sim://gfx942?threads=1"] {
        let finished = replay(&file, &["--device", device]);
        assert_eq!(finished.code, Some(0), "{device}: {}", finished.stderr);
        assert!(finished.stdout.contains("bytes are as recorded"), "{}", finished.stdout);
        assert!(!finished.stdout.contains(" 0 bytes"), "{}", finished.stdout);
    }
    let _ = fs::remove_file(file);
}

#[test]
fn the_stream_is_listed_timed_and_dumped() {
    let (file, folder) = (scratch("wlr"), scratch("dump"));
    record(&file);
    let listed = replay(&file, &["--list"]);
    assert_eq!(listed.code, Some(0), "{}", listed.stderr);
    for part in [
        "recorded by windlass",
        "dispatch negate of e0, 1x1x1 workgroups of 64x1x1",
        "the host sees 24 bytes",
    ] {
        assert!(listed.stdout.contains(part), "{part} is not in {}", listed.stdout);
    }
    let folder_text = folder.display().to_string();
    let timed = replay(&file, &["--device", DEVICE, "--bench", "3", "--dump", &folder_text]);
    assert_eq!(timed.code, Some(0), "{}", timed.stderr);
    assert!(timed.stdout.contains("3 runs, microseconds: min "), "{}", timed.stdout);
    let negated: Vec<u8> = (0..6).flat_map(|value| (-(value as f32)).to_le_bytes()).collect();
    let dumped = fs::read_dir(&folder).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap());
    assert!(dumped.into_iter().any(|bytes| bytes == negated), "the kernel's result is dumped");
    let _ = (fs::remove_file(file), fs::remove_dir_all(folder));
}

/// The kernel finds other numbers: the recording is edited, with a checksum that fits.
#[test]
fn a_difference_is_exit_code_1_and_names_the_byte() {
    let file = scratch("wlr");
    record(&file);
    let mut bytes = fs::read(&file).unwrap();
    let result: Vec<u8> = [-1.0_f32, -2.0, -3.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let at = bytes.windows(12).position(|window| window == result).unwrap();
    bytes[at + 3] ^= 0x80;
    let chunk = chunk_of(&bytes, at);
    let sum = crc32(&bytes[chunk.0..chunk.1]).to_le_bytes();
    bytes[chunk.1..chunk.1 + 4].copy_from_slice(&sum);
    fs::write(&file, &bytes).unwrap();
    let finished = replay(&file, &["--device", DEVICE]);
    assert_eq!(finished.code, Some(1), "{}", finished.stdout);
    let expected = "recorded 3f 00 00 00 c0";
    assert!(
        finished.stderr.contains("byte 7 of buffer") && finished.stderr.contains(expected),
        "{}",
        finished.stderr
    );
    let _ = fs::remove_file(file);
}

/// The beginning of the chunk around a byte, and the place of its checksum.
fn chunk_of(bytes: &[u8], inside: usize) -> (usize, usize) {
    let mut start = 20;
    loop {
        let length = u32::from_le_bytes(bytes[start + 1..start + 5].try_into().unwrap()) as usize;
        if start + 5 + length > inside {
            return (start, start + 5 + length);
        }
        start += 9 + length;
    }
}

fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
        }
    }
    !crc
}

#[test]
fn wrong_files_and_absent_devices_have_exit_codes() {
    let file = scratch("wlr");
    let absent = replay(&file, &["--device", DEVICE]);
    assert_eq!(absent.code, Some(2), "{}", absent.stderr);
    fs::write(&file, b"windlass-record\n\x01\0\0\0").unwrap();
    let empty = replay(&file, &["--device", DEVICE]);
    assert_eq!(empty.code, Some(2), "{}", empty.stderr);
    assert!(empty.stderr.contains("the header is missing"), "{}", empty.stderr);
    record(&file);
    for (device, code) in [("hip-sim://gfx942?devices=0", 3), ("none://", 2), ("null://", 2)] {
        let finished = replay(&file, &["--device", device]);
        assert_eq!(finished.code, Some(code), "{device}: {}{}", finished.stdout, finished.stderr);
    }
    let whole = fs::read(&file).unwrap();
    fs::write(&file, &whole[..whole.len() - 30]).unwrap();
    let cut = replay(&file, &["--device", DEVICE]);
    assert_eq!(cut.code, Some(0), "{}", cut.stderr);
    assert!(cut.stderr.contains("was cut short at byte"), "{}", cut.stderr);
    let _ = fs::remove_file(file);
}
