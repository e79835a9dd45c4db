// SPDX-License-Identifier: MIT OR Apache-2.0
//! A shared object without code that needs other shared objects. The loader puts all objects that it loads for this
//! one into one scope of names, in the order in which they are needed, and hides the scope from other code of the
//! process.

use std::{os::unix::ffi::OsStrExt, path::Path};

use windlass_hal::{Error, Result};

const HEADER_SIZE: u64 = 64;
const PROGRAM_HEADER_SIZE: u64 = 56;
const SYMBOL_SIZE: u64 = 24;
/// The largest page size of all machines that Linux runs on.
const PAGE: u64 = 1 << 16;

/// The object's bytes. An address in it is an offset in the file.
pub(super) fn image(needed: &[&Path]) -> Result<Vec<u8>> {
    const READ: u32 = 4;
    const WRITE: u32 = 2;
    let machine: u16 = match std::env::consts::ARCH {
        "x86_64" => 62,
        "aarch64" => 183,
        "riscv64" => 243,
        other => return Err(Error::unimplemented(format!("linking shared objects on {other}"))),
    };
    let symbols = HEADER_SIZE + 3 * PROGRAM_HEADER_SIZE;
    let hash = symbols + SYMBOL_SIZE;
    let dynamic = hash + 16;
    let dynamic_size = 16 * (needed.len() as u64 + 6);
    let strings = dynamic + dynamic_size;
    let mut names = vec![0];
    let mut entries = Vec::new();
    for path in needed {
        entries.push([1, names.len() as u64]);
        names.extend(path.as_os_str().as_bytes());
        names.push(0);
    }
    // DT_HASH, DT_STRTAB, DT_SYMTAB, DT_STRSZ, DT_SYMENT, and the end.
    entries.extend([
        [4, hash],
        [5, strings],
        [6, symbols],
        [10, names.len() as u64],
        [11, SYMBOL_SIZE],
        [0, 0],
    ]);
    let size = strings + names.len() as u64;

    let mut bytes = Vec::with_capacity(size as usize);
    // 64 bits, little-endian, version 1, for System V.
    bytes.extend(*b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
    bytes.extend(3_u16.to_le_bytes());
    bytes.extend(machine.to_le_bytes());
    bytes.extend(1_u32.to_le_bytes());
    for place in [0, HEADER_SIZE, 0] {
        bytes.extend(place.to_le_bytes());
    }
    bytes.extend(0_u32.to_le_bytes());
    for size in [HEADER_SIZE as u16, PROGRAM_HEADER_SIZE as u16, 3, 64, 0, 0] {
        bytes.extend(size.to_le_bytes());
    }
    // Loaders may write to the dynamic section. The stack holds no code.
    for (kind, flags, place, size, alignment) in [
        (1_u32, READ | WRITE, 0, size, PAGE),
        (2, READ | WRITE, dynamic, dynamic_size, 8),
        (0x6474_e551, READ | WRITE, 0, 0, 16),
    ] {
        bytes.extend(kind.to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        for number in [place, place, place, size, size, alignment] {
            bytes.extend(number.to_le_bytes());
        }
    }
    bytes.extend([0; SYMBOL_SIZE as usize]);
    // A hash table of one bucket and one symbol, both empty.
    for word in [1_u32, 1, 0, 0] {
        bytes.extend(word.to_le_bytes());
    }
    for number in entries.into_iter().flatten() {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(names);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use windlass_codeobject::HostLibrary;

    use super::*;

    #[test]
    fn it_is_a_shared_object_that_needs_the_others() {
        let image = image(&[Path::new("/a"), Path::new("/b/c")]).unwrap();
        assert_eq!(HostLibrary::parse(&image).unwrap().needed(), ["/a", "/b/c"]);
    }
}
