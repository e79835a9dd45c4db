// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fills the corpora from real files: `WINDLASS_FIXTURES=DIR cargo run --example seed -- CORPUS_DIR`.

use std::collections::hash_map::DefaultHasher;
use std::error::Error;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use windlass_codeobject::{File, Options};

/// Longer inputs are slow, and short ones cover the same formats.
const LONGEST: usize = 64 << 10;

fn main() -> Result<(), Box<dyn Error>> {
    let fixtures = std::env::var_os("WINDLASS_FIXTURES").ok_or("WINDLASS_FIXTURES is not set")?;
    let corpora = PathBuf::from(std::env::args_os().nth(1).ok_or("usage: seed CORPUS_DIR")?);
    for (which, _) in windlass_fuzz::HOST_OBJECTS.iter().enumerate() {
        keep(&corpora, "host", &[which as u8])?;
    }
    let mut waiting = vec![PathBuf::from(fixtures)];
    while let Some(path) = waiting.pop() {
        if path.is_dir() {
            for entry in fs::read_dir(&path)? {
                waiting.push(entry?.path());
            }
        } else {
            seed(&corpora, &fs::read(&path)?)?;
        }
    }
    Ok(())
}

fn seed(corpora: &Path, bytes: &[u8]) -> std::io::Result<()> {
    keep(corpora, "containers", bytes)?;
    if bytes.starts_with(b"CCOB") && bytes.len() > 32 {
        let (version, is_zstd) = (bytes[4], bytes[6] != 0);
        let (size_at, payload) = [(8, 20), (12, 24), (16, 32)][usize::from(version.clamp(1, 3)) - 1];
        let form = version.wrapping_sub(1) % 3 | if is_zstd { 0x40 } else { 0 };
        let mut input = vec![form, bytes[size_at], bytes[size_at + 1], bytes[size_at + 2]];
        input.extend(&bytes[payload..]);
        keep(corpora, "decode", &input)?;
    }
    if bytes.starts_with(b"__CLANG_OFFLOAD_BUNDLE__") {
        for form in [0x80, 0xc1, 0xc2] {
            let size = (bytes.len() as u32).to_le_bytes();
            keep(corpora, "decode", &[&[form, size[0], size[1], size[2]], bytes].concat())?;
        }
    }
    let Ok(file) = File::parse(bytes, &Options::default()) else { return Ok(()) };
    for bundle in file.bundles() {
        for (index, entry) in bundle.entries().iter().enumerate() {
            keep(corpora, "targets", entry.id())?;
            let Ok(elf) = bundle.extract(index) else { continue };
            keep(corpora, "elf", &elf)?;
            if let Some(note) = note(&elf, b"\x20\0\0\0AMDGPU\0\0") {
                keep(corpora, "metadata", note)?;
            }
        }
    }
    Ok(())
}

/// The content of the note with this type and owner.
fn note<'e>(elf: &'e [u8], owner: &[u8]) -> Option<&'e [u8]> {
    let at = elf.windows(owner.len()).position(|window| window == owner)?;
    let size = elf.get(at.checked_sub(4)?..at)?.try_into().ok()?;
    elf.get(at + owner.len()..)?.get(..u32::from_le_bytes(size) as usize)
}

fn keep(corpora: &Path, target: &str, input: &[u8]) -> std::io::Result<()> {
    if input.len() > LONGEST {
        return Ok(());
    }
    let mut hash = DefaultHasher::new();
    input.hash(&mut hash);
    let folder = corpora.join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(format!("{:016x}", hash.finish())), input)
}
