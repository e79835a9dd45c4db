// SPDX-License-Identifier: MIT OR Apache-2.0
//! clang-offload-bundler, if installed, reads the crate's output and writes the same bytes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use windlass_codeobject::{BundleWriter, Compression, File, Method, Options, WriteOptions};

use crate::HOST;
use crate::support::{fixtures, skipped};

/// The newest format that it reads has header version 2.
const BUNDLER: &str = "clang-offload-bundler-19";

/// Runs the bundler; `false`, with a message, if it is not installed.
fn bundler(arguments: &[String]) -> bool {
    match Command::new(BUNDLER).args(arguments).output() {
        Ok(output) => {
            assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
            true
        }
        Err(error) => {
            skipped(&format!("{BUNDLER} cannot be run: {error}"));
            false
        }
    }
}

/// A directory of one test, deleted on drop.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("windlass-codeobject-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn option(name: &str, path: &Path) -> String {
    format!("--{name}={}", path.display())
}

/// The kernels of `symbols.hip` for four targets, each with its id.
fn inputs() -> Option<Vec<(String, PathBuf, Vec<u8>)>> {
    let root = fixtures()?;
    let input = |target: &str| {
        let path = root.join(format!("clang/symbols.{target}.co"));
        let bytes = fs::read(&path).unwrap();
        (format!("hipv4-amdgcn-amd-amdhsa--{target}"), path, bytes)
    };
    Some(["gfx1030", "gfx1100", "gfx90a", "gfx942"].map(input).into_iter().collect())
}

#[test]
fn the_bundler_takes_apart_what_is_written_here() {
    let Some(inputs) = inputs() else { return };
    let scratch = Scratch::new("apart");
    let mut writer = BundleWriter::new();
    for (_, _, bytes) in &inputs {
        writer.add_code_object(bytes).unwrap();
    }
    let zstd = cfg!(feature = "zstd-c").then_some(Compression::ZSTD);
    for compression in [Compression::None, Compression::ZLIB].into_iter().chain(zstd) {
        for (version, align) in [(1, 4096), (2, 4096), (2, 1)] {
            let mut options = WriteOptions::default();
            (options.compression, options.ccob_version, options.align) = (compression, version, align);
            let (bundle, image) = (scratch.path("bundle"), scratch.path("image"));
            fs::write(&bundle, writer.write(&options).unwrap()).unwrap();
            for (id, _, bytes) in &inputs {
                let arguments = [
                    "--unbundle".to_owned(),
                    "--type=o".to_owned(),
                    option("input", &bundle),
                    option("output", &image),
                    format!("--targets={id}"),
                ];
                if !bundler(&arguments) {
                    return;
                }
                let same = fs::read(&image).unwrap() == *bytes;
                assert!(same, "{id} of {compression:?}, version {version}, alignment {align}");
            }
        }
    }
}

#[test]
fn what_the_bundler_writes_is_read_and_written_again() {
    let Some(inputs) = inputs() else { return };
    let scratch = Scratch::new("again");
    let ids: Vec<&str> = [HOST].into_iter().chain(inputs.iter().map(|(id, _, _)| id.as_str())).collect();
    // It appends the last dash itself, and repeats one that the id already has.
    let mut asked = ids.clone();
    asked[0] = HOST.trim_end_matches('-');
    let empty = scratch.path("empty");
    fs::write(&empty, b"").unwrap();
    for align in [1, 4096] {
        for compressed in [false, true] {
            let bundle = scratch.path("bundle");
            let mut arguments = vec![
                "--type=o".to_owned(),
                format!("--bundle-align={align}"),
                format!("--targets={}", asked.join(",")),
                option("input", &empty),
            ];
            arguments.extend(inputs.iter().map(|(_, path, _)| option("input", path)));
            arguments.push(option("output", &bundle));
            if compressed {
                arguments.push("--compress".to_owned());
            }
            if !bundler(&arguments) {
                return;
            }
            let theirs = fs::read(&bundle).unwrap();
            let file = File::parse(&theirs, &Options::default()).unwrap();
            let read = &file.bundles()[0];
            let found: Vec<String> = read.entries().iter().map(|entry| entry.id_text()).collect();
            assert_eq!(found, ids);
            let images: Vec<Vec<u8>> = (0..ids.len()).map(|index| read.extract(index).unwrap()).collect();
            let mut writer = BundleWriter::new();
            for (id, image) in found.iter().zip(&images).skip(1) {
                writer.add(id, image).unwrap();
            }
            let mut options = WriteOptions::default();
            options.align = align;
            let plain = writer.write(&options).unwrap();
            if !compressed {
                assert!(plain == theirs, "alignment {align}: not the bytes that the bundler writes");
                continue;
            }
            // Compressors of other versions may write other bytes; the header's statements about the content are the
            // same.
            let container = read.container();
            let method = match container {
                windlass_codeobject::Container::Ccob { method: Method::Zlib, .. } => Compression::ZLIB,
                _ => Compression::ZSTD,
            };
            if method == Compression::ZSTD && !cfg!(feature = "zstd-c") {
                continue;
            }
            options.compression = method;
            let ours = writer.write(&options).unwrap();
            let ours = File::parse(&ours, &Options::default()).unwrap();
            let ours = &ours.bundles()[0];
            assert_eq!(ours.container(), container);
            assert_eq!((ours.hash(), ours.unpacked_size()), (read.hash(), read.unpacked_size()));
        }
    }
}
