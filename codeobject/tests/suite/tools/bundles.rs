// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bundles and their containers: the same entries, with the same bytes.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use windlass_codeobject::{Bundle, Container, Entry, EntryTarget, File, FileKind, Method, Options};

use crate::support;

use super::{Check, Scratch, ask, files, installed, option};

const BUNDLER: &str = "clang-offload-bundler-19";
const OBJCOPY: &str = "llvm-objcopy-19";
const PACKAGER: &str = "clang-offload-packager-19";
const OBJDUMP: &str = "llvm-objdump-19";
const AR: &str = "llvm-ar-19";
/// The bundler does not unbundle entries for processors that it does not know.
const UNKNOWN_PROCESSORS: [&str; 2] = ["gfx950", "gfx1153"];

pub(super) fn open(bytes: &[u8]) -> File<'_> {
    let file = File::parse(bytes, &Options::default()).unwrap();
    assert_eq!(file.problems(), []);
    file
}

/// The bytes of a bundle as its file has them.
fn stored<'a>(file: &'a [u8], bundle: &Bundle<'_>) -> &'a [u8] {
    let start = bundle.offset() as usize;
    &file[start..start + bundle.stored_size() as usize]
}

/// A compressed bundle of version 3 under a header of version 2, the newest that LLVM 19 knows. The payload is the same.
fn as_version_2(stored: &[u8], bundle: &Bundle<'_>) -> Vec<u8> {
    let Container::Ccob { version: 3, method } = bundle.container() else { return stored.to_vec() };
    let payload = &stored[32..];
    let mut out = b"CCOB\x02\0".to_vec();
    out.extend(u16::from(method == Method::Zstd).to_le_bytes());
    out.extend((payload.len() as u32 + 24).to_le_bytes());
    out.extend((bundle.unpacked_size().unwrap() as u32).to_le_bytes());
    out.extend(bundle.hash().unwrap().to_le_bytes());
    out.extend(payload);
    out
}

/// Compares a bundle with the bundler's result for `input`, read as files of that type.
fn compare(bundle: &Bundle<'_>, input: &Path, kind: &str, scratch: &Scratch) {
    let listing = ask(BUNDLER, &["--list".to_owned(), option("type", kind), option("input", input)]);
    let expected: BTreeSet<String> = listing.lines().map(str::to_owned).collect();
    let found: BTreeSet<String> = bundle.entries().iter().map(Entry::id_text).collect();
    assert_eq!(found, expected, "{}", input.display());
    assert_eq!(bundle.entries().len(), expected.len());

    let known = |entry: &Entry| match entry.target() {
        EntryTarget::Gpu(target) => !UNKNOWN_PROCESSORS.contains(&target.processor()),
        _ => false,
    };
    let mut arguments = vec!["--unbundle".to_owned(), option("type", kind), option("input", input)];
    let mut outputs = Vec::new();
    for (index, entry) in bundle.entries().iter().enumerate().filter(|(_, entry)| known(entry)) {
        outputs.push((index, scratch.path(&format!("entry-{index}"))));
        arguments.push(option("targets", entry.id_text()));
        arguments.push(option("output", &outputs[outputs.len() - 1].1));
    }
    assert!(!outputs.is_empty());
    // The targets are one argument.
    let targets: Vec<String> =
        bundle.entries().iter().filter(|entry| known(entry)).map(Entry::id_text).collect();
    arguments.retain(|argument| !argument.starts_with("--targets="));
    arguments.push(format!("--targets={}", targets.join(",")));
    ask(BUNDLER, &arguments);
    for (index, output) in outputs {
        let same = bundle.extract(index).unwrap() == fs::read(&output).unwrap();
        assert!(same, "{}: entry {index}", input.display());
    }
}

/// Compares each bundle of a file with the bundler's result for its bytes alone.
pub(super) fn compare_all(bytes: &[u8], scratch: &Scratch) {
    for bundle in open(bytes).bundles() {
        let alone = as_version_2(stored(bytes, bundle), bundle);
        let input = scratch.write("bundle", &alone);
        compare(bundle, &input, "o", scratch);
    }
}

#[test]
fn the_bundler_lists_and_unpacks_the_same() {
    if !installed(BUNDLER) {
        return;
    }
    let scratch = Scratch::new();
    for path in files(Check::Bundles) {
        compare_all(&fs::read(&path).unwrap(), &scratch);
    }
}

#[test]
fn objcopy_finds_the_same_section_in_host_programs() {
    if !installed(OBJCOPY) || !installed(BUNDLER) {
        return;
    }
    let scratch = Scratch::new();
    for path in files(Check::HostElf) {
        let bytes = fs::read(&path).unwrap();
        let file = open(&bytes);
        assert_eq!(file.kind(), FileKind::HostElf);
        let section = scratch.path("section");
        let dump = format!("--dump-section=.hip_fatbin={}", section.display());
        ask(OBJCOPY, &[dump, path.display().to_string(), scratch.path("copy").display().to_string()]);
        let section = fs::read(&section).unwrap();
        // The section alone has the same bundles at the same distances, and otherwise only padding.
        let (first, last) = (&file.bundles()[0], &file.bundles()[file.bundles().len() - 1]);
        let end = last.offset() + last.stored_size();
        let covered = &bytes[first.offset() as usize..end as usize];
        let (same, rest) = section.split_at(covered.len());
        assert!(same == covered, "{}", path.display());
        assert!(rest.iter().all(|byte| *byte == 0), "{}", path.display());
        assert_eq!(open(&section).bundles().len(), file.bundles().len());
        compare_all(&bytes, &scratch);
    }
}

#[test]
fn host_programs_without_section_headers_hold_the_same() {
    if !installed(OBJCOPY) || support::fixtures().is_none() {
        return;
    }
    let scratch = Scratch::new();
    let mut compared = 0;
    for path in files(Check::HostElf) {
        // Objects are not linked, so they have no segments.
        if path.extension().is_some_and(|extension| extension == "o") {
            continue;
        }
        let stripped = scratch.path("stripped");
        ask(OBJCOPY, &["--strip-sections".into(), path.clone().into_os_string(), stripped.clone().into()]);
        let (whole, stripped) = (fs::read(&path).unwrap(), fs::read(&stripped).unwrap());
        let (whole_file, stripped_file) = (open(&whole), open(&stripped));
        let bundles = |bytes, file: &File<'_>| -> Vec<Vec<u8>> {
            file.bundles().iter().map(|bundle| stored(bytes, bundle).to_vec()).collect()
        };
        assert!(bundles(&stripped, &stripped_file) == bundles(&whole, &whole_file), "{}", path.display());
        compared += 1;
    }
    assert!(compared >= 3);
}

#[test]
fn the_bundler_reads_the_same_sections_of_objects() {
    if !installed(BUNDLER) {
        return;
    }
    let scratch = Scratch::new();
    for path in files(Check::ObjectBundle) {
        let bytes = fs::read(&path).unwrap();
        let file = open(&bytes);
        assert_eq!(file.bundles()[0].container(), Container::ObjectBundle);
        compare(&file.bundles()[0], &path, "o", &scratch);
    }
}

/// Compares the offload binaries of a file with the tools' result for `input`.
pub(super) fn compare_offload_binaries(file: &File<'_>, input: &Path, scratch: &Scratch) {
    let listing = ask(OBJDUMP, &["--offloading".to_owned(), input.display().to_string()]);
    let field = |name: &str| -> Vec<String> {
        let value = |line: &str| line.strip_prefix(name).map(|value| value.trim().to_owned());
        listing.lines().filter_map(value).collect()
    };
    let expected: Vec<String> = field("producer ")
        .iter()
        .zip(field("triple "))
        .zip(field("arch "))
        .map(|((producer, triple), arch)| format!("{producer}-{triple}--{arch}"))
        .collect();
    let entries: Vec<String> =
        file.bundles().iter().flat_map(|bundle| bundle.entries()).map(Entry::id_text).collect();
    assert!(!entries.is_empty());
    assert_eq!(entries, expected, "{}", input.display());
    for bundle in file.bundles() {
        for (index, entry) in bundle.entries().iter().enumerate() {
            let EntryTarget::Gpu(target) = entry.target() else { continue };
            let output = scratch.path("image");
            let image = format!("--image=file={},triple=amdgcn-amd-amdhsa,arch={target}", output.display());
            ask(PACKAGER, &[input.display().to_string(), image]);
            assert!(bundle.extract(index).unwrap() == fs::read(&output).unwrap(), "{}", entry.id_text());
        }
    }
}

#[test]
fn the_packager_takes_out_the_same_images() {
    if !installed(PACKAGER) || !installed(OBJDUMP) {
        return;
    }
    let scratch = Scratch::new();
    for path in files(Check::OffloadBinary) {
        compare_offload_binaries(&open(&fs::read(&path).unwrap()), &path, &scratch);
    }
}

#[test]
fn ar_lists_the_same_members() {
    if !installed(AR) || !installed(BUNDLER) {
        return;
    }
    let scratch = Scratch::new();
    for path in files(Check::Archive) {
        compare_archive(&path, &scratch);
    }
}

/// Compares the bundles of an archive with those of its members, as `llvm-ar` gives them.
pub(super) fn compare_archive(path: &Path, scratch: &Scratch) {
    let bytes = fs::read(path).unwrap();
    let archive = open(&bytes);
    assert_eq!(archive.kind(), FileKind::Archive);
    let mut expected = Vec::new();
    for name in ask(AR, &["t".as_ref(), path.as_os_str()]).lines() {
        ask(AR, &["x".into(), option("output", &scratch.0).into(), path.as_os_str().to_owned(), name.into()]);
        let member = fs::read(scratch.path(name)).unwrap();
        let Ok(file) = File::parse(&member, &Options::default()) else { continue };
        for bundle in file.bundles() {
            expected.push((Some(name.to_owned()), stored(&member, bundle).to_vec()));
        }
        if file.bundles()[0].container() != Container::ObjectBundle {
            compare_all(&member, scratch);
        }
    }
    let found: Vec<(Option<String>, Vec<u8>)> = archive
        .bundles()
        .iter()
        .map(|bundle| (bundle.member().map(str::to_owned), stored(&bytes, bundle).to_vec()))
        .collect();
    assert!(!expected.is_empty());
    assert!(found == expected, "{}", path.display());
}
