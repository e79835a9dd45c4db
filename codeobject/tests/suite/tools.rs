// SPDX-License-Identifier: MIT OR Apache-2.0
//! LLVM's tools see the same, where they are installed.

use std::fs;
use std::process::Command;

use windlass_codeobject::{CodeObject, EntryTarget, File, Options};

use crate::support::{fixtures, skipped};

/// What a tool writes, or `None` after saying why it could not be asked.
fn ask(tool: &str, args: &[&str]) -> Option<String> {
    match Command::new(tool).args(args).output() {
        Ok(output) if output.status.success() => Some(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => {
            skipped(&format!("{tool} fails: {}", String::from_utf8_lossy(&output.stderr)));
            None
        }
        Err(error) => {
            skipped(&format!("{tool} cannot be run: {error}"));
            None
        }
    }
}

#[test]
fn readelf_lists_the_same_symbols_and_relocations() {
    let Some(root) = fixtures() else { return };
    for name in ["symbols.gfx942.co", "initfini.gfx942.co", "extuser.gfx942.co", "matmul.gfx1100.co"] {
        let path = root.join("clang").join(name);
        let code = CodeObject::parse(&fs::read(&path).unwrap()).unwrap();
        let path = path.to_string_lossy();
        let Some(listing) = ask("llvm-readelf-19", &["--dyn-syms", "-W", &path]) else { return };
        let mut expected: Vec<(u64, String)> = Vec::new();
        for line in listing.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [number, value, _size, _kind, _bind, _visibility, _section, name] = words[..] else {
                continue;
            };
            let number = number.trim_end_matches(':').parse::<u32>();
            if let (Ok(1..), Ok(value)) = (number, u64::from_str_radix(value, 16)) {
                expected.push((value, name.to_owned()));
            }
        }
        let found: Vec<(u64, String)> = code
            .symbols()
            .iter()
            .filter(|symbol| symbol.exported)
            .map(|symbol| (symbol.address, symbol.name.clone()))
            .collect();
        assert!(!found.is_empty());
        assert_eq!(found, expected, "{name}");
        let Some(listing) = ask("llvm-readelf-19", &["-r", "-W", &path]) else { return };
        let count = listing.lines().filter(|line| line.contains("R_AMDGPU_")).count();
        assert_eq!(code.relocations().len(), count, "{name}");
    }
}

#[test]
fn the_bundler_unpacks_the_same_bytes() {
    let Some(root) = fixtures() else { return };
    let directory = std::env::temp_dir().join(format!("windlass-codeobject-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    for name in ["matmul.v2.zstd.ccob", "matmul.v2.zlib.ccob", "symbols.hipfb"] {
        let path = root.join("fatbin").join(name);
        let bytes = fs::read(&path).unwrap();
        let file = File::parse(&bytes, &Options::default()).unwrap();
        for (index, entry) in file.bundles()[0].entries().iter().enumerate() {
            if !matches!(entry.target(), EntryTarget::Gpu(_)) {
                continue;
            }
            let output = directory.join("image");
            let unbundled = ask(
                "clang-offload-bundler-19",
                &[
                    "--unbundle",
                    "--type=o",
                    &format!("--input={}", path.display()),
                    &format!("--output={}", output.display()),
                    &format!("--targets={}", entry.id_text()),
                ],
            );
            if unbundled.is_some() {
                assert_eq!(
                    file.bundles()[0].extract(index).unwrap(),
                    fs::read(&output).unwrap(),
                    "{name} {index}"
                );
            }
        }
    }
    fs::remove_dir_all(&directory).unwrap();
}
