// SPDX-License-Identifier: MIT OR Apache-2.0
//! `extract`: the output file and the memory that it needs.

use std::{fs, io::Write, path::Path, process::Command};

use crate::support::{Finished, finish, scratch, windlass};

const VECTOR_ADD: &str = "cts/kernels/bundles/vector_add.ccob";

fn extract(from: &Path, to: &Path) -> Finished {
    let words = ["extract", "--target", "gfx942", "-o"].map(AsRef::as_ref);
    windlass([&words[..], &[to.as_os_str(), from.as_os_str()]].concat())
}

#[test]
#[cfg(unix)]
fn the_file_that_is_read_stays() {
    let folder = scratch("extract");
    fs::create_dir_all(&folder).unwrap();
    let [file, symbolic, hard, copy] = ["a.ccob", "symbolic", "hard", "copy"].map(|name| folder.join(name));
    for path in [&file, &copy] {
        fs::copy(VECTOR_ADD, path).unwrap();
    }
    std::os::unix::fs::symlink("a.ccob", &symbolic).unwrap();
    fs::hard_link(&file, &hard).unwrap();
    for (from, to) in [(&file, &file), (&file, &symbolic), (&symbolic, &file), (&file, &hard)] {
        let refused = extract(from, to);
        assert_eq!(refused.code, Some(2), "{from:?} to {to:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("name another file"), "{}", refused.stderr);
        assert!(fs::read(&file).unwrap() == fs::read(VECTOR_ADD).unwrap());
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 4, "nothing was written");
    assert_eq!(extract(&file, &copy).code, Some(0), "another file with the same bytes is written over");
    assert!(fs::read(&copy).unwrap().starts_with(b"\x7fELF"));
    assert_eq!(extract(&file, Path::new("/dev/null")).code, Some(0));
    fs::remove_dir_all(folder).unwrap();
}

/// A compressed bundle with one entry for gfx942: code, and zeros up to the size.
fn compressed(size: usize) -> Vec<u8> {
    const ID: &[u8] = b"hipv4-amdgcn-amd-amdhsa--gfx942";
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bundle.extend([1, 4096, size as u64, ID.len() as u64].map(u64::to_le_bytes).concat());
    bundle.extend(ID);
    bundle.resize(4096, 0);
    bundle.extend(fs::read("cts/kernels/bundles/saxpy.gfx942.co").unwrap());
    bundle.resize(4096 + size, 0);
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(&bundle).unwrap();
    let payload = encoder.finish().unwrap();
    let sizes = [32 + payload.len() as u64, bundle.len() as u64, 0].map(u64::to_le_bytes).concat();
    [b"CCOB\x03\0\0\0", &sizes[..], &payload].concat()
}

#[test]
#[cfg(target_os = "linux")]
fn an_entry_is_in_memory_once() {
    const SIZE: usize = 192 << 20;
    let [from, to] = ["ccob", "co"].map(scratch);
    fs::write(&from, compressed(SIZE)).unwrap();
    // There is memory for the entry and the program, but not for the entry twice.
    let limit = format!("ulimit -v {} && exec \"$0\" \"$@\"", (SIZE + SIZE / 2) >> 10);
    let mut extract = Command::new("sh");
    extract.args(["-c", &limit, env!("CARGO_BIN_EXE_windlass"), "extract", "--target", "gfx942"]);
    let extracted = finish(extract.arg(&from).arg("-o").arg(&to).current_dir(env!("CARGO_MANIFEST_DIR")));
    assert_eq!(extracted.code, Some(0), "{}", extracted.stderr);
    assert_eq!(fs::metadata(&to).unwrap().len(), SIZE as u64);
    for path in [from, to] {
        fs::remove_file(path).unwrap();
    }
}
