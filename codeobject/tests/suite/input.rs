// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files with their companions: kpack archives beside host ELFs, and the members of wheels.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use windlass_codeobject::{Container, Error, File, FileKind, Input, Options, Wheel};

use crate::support::{
    Ccob, ElfBuilder, KernelSpec, Value, archive, encode, fixtures, hip1, host_elf, kpack, map, plain, zip,
    zip_of,
};
use crate::{GFX942, HOST};

pub(crate) fn elf(kernel: &str) -> Vec<u8> {
    ElfBuilder::new(vec![KernelSpec::new(kernel)]).build()
}

/// A folder of one test, deleted on drop.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Folder {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("input-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    pub(crate) fn put(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A host ELF whose code is in kpack archives, with the wrappers of these translation units.
pub(crate) fn split_elf(name: &str, search: &[&str], units: &[u64]) -> Vec<u8> {
    let paths = search.iter().map(|path| Value::from(*path)).collect();
    let marker =
        encode(&map(vec![("kpack_search_paths", Value::Array(paths)), ("kernel_name", name.into())]));
    let mut wrappers = Vec::new();
    for unit in units {
        wrappers.extend([0x4b50_4948_u32, 1].map(u32::to_le_bytes).concat());
        wrappers.extend([0x1000, *unit].map(u64::to_le_bytes).concat());
    }
    host_elf(&[(".hip_fatbin", &[0; 64]), (".rocm_kpack_ref", &marker), (".hipFatBinSegment", &wrappers)])
}

pub(crate) fn open(path: &Path) -> Input {
    Input::open(path, &Options::default()).unwrap()
}

pub(crate) fn members(file: &File<'_>) -> Vec<String> {
    file.bundles().iter().map(|bundle| bundle.member().unwrap_or_default().to_owned()).collect()
}

#[test]
fn bytes_alone_name_the_archives_that_are_missing() {
    let marker = split_elf("lib/liba.so", &["../.kpack/a_@GFXARCH@.kpack"], &[0]);
    let error = File::parse(&marker, &Options::default()).unwrap_err();
    assert!(matches!(error, Error::Unsupported { .. }));
    for words in ["`lib/liba.so`", "`../.kpack/a_@GFXARCH@.kpack`", "Input::open"] {
        assert!(error.to_string().contains(words), "{error}");
    }
    // The existing archives are still read.
    let both = archive(&[("a.o/", &marker), ("b.co/", &elf("k"))]);
    let file = File::parse(&both, &Options::default()).unwrap();
    assert_eq!(members(&file), ["b.co"]);
    assert!(file.problems()[0].to_string().contains("Input::open"), "{:?}", file.problems());
    let [reference] = file.kpack_references() else { panic!() };
    assert_eq!((reference.name.as_str(), &reference.units[..]), ("lib/liba.so", &[0][..]));
    assert_eq!(reference.search_paths, ["../.kpack/a_@GFXARCH@.kpack"]);
}

#[test]
fn objects_for_other_hosts_do_no_harm() {
    let elf32 = b"\x7fELF\x01\x01\x01\0\0\0\0\0";
    let file = archive(&[("host32.o/", elf32), ("k.co/", &elf("k"))]);
    let file = File::parse(&file, &Options::default()).unwrap();
    assert_eq!((members(&file), file.problems()), (vec!["k.co".to_owned()], &[][..]));
    let error = File::parse(&archive(&[("host32.o/", elf32)]), &Options::default()).unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
}

#[test]
fn markers_that_make_no_sense() {
    for marker in [
        Value::Nil,
        map(vec![("kernel_name", "a".into())]),
        map(vec![("kpack_search_paths", Value::Array(vec!["a.kpack".into()]))]),
        map(vec![("kernel_name", Value::Int(1)), ("kpack_search_paths", Value::Array(vec!["a".into()]))]),
        map(vec![("kernel_name", "a".into()), ("kpack_search_paths", Value::Array(vec![Value::Nil]))]),
    ] {
        let bytes = host_elf(&[(".rocm_kpack_ref", &encode(&marker))]);
        let error = File::parse(&bytes, &Options::default()).unwrap_err();
        assert!(error.to_string().contains(".rocm_kpack_ref"), "{error}");
    }
}

#[test]
fn archives_beside_a_library_are_opened() {
    let folder = Folder::new();
    let (first, second, third) = (elf("first"), elf("second"), elf("third"));
    let search = ["../.kpack/math_@GFXARCH@.kpack", "../.kpack/more.kpack"];
    let library = folder.put("rocm/lib/liba.so.1", &split_elf("lib/liba.so", &search, &[0, 1]));
    let images = [("lib/liba.so#0", "gfx942", &first[..]), ("lib/libb.so#0", "gfx942", &third)];
    folder.put("rocm/.kpack/math_gfx942.kpack", &kpack(true, &images, |_| {}));
    let images = [("lib/liba.so#0", "gfx90a", &second[..]), ("lib/liba.so#7", "gfx90a", &third)];
    folder.put("rocm/.kpack/math_gfx90a.kpack", &kpack(false, &images, |_| {}));
    folder.put("rocm/.kpack/more.kpack", &kpack(true, &[("lib/liba.so#1", "gfx942", &third[..])], |_| {}));
    folder.put("rocm/.kpack/math_gfx1100.kpack.part", b"KPAK");
    let check = |path: &Path| {
        let input = open(path);
        assert_eq!(input.path(), path);
        assert_eq!(input.archives().count(), 3);
        let file = input.file(&Options::default()).unwrap();
        assert_eq!((file.kind(), file.problems()), (FileKind::HostElf, &[][..]));
        assert_eq!(members(&file), ["lib/liba.so#0", "lib/liba.so#0", "lib/liba.so#1"]);
        let images: Vec<_> = file.bundles().iter().map(|bundle| bundle.extract(0).unwrap()).collect();
        assert!(images == [second.clone(), first.clone(), third.clone()], "archives go by their names");
    };
    check(&library);
    // Search paths are relative to the real folder of the file.
    #[cfg(unix)]
    {
        let link = folder.0.join("link.so");
        std::os::unix::fs::symlink(&library, &link).unwrap();
        check(&link);
    }
}

#[test]
fn archives_that_are_not_there_or_not_followed() {
    let folder = Folder::new();
    let error = |search: &[&str]| {
        let path = folder.put("lib/a.so", &split_elf("lib/a.so", search, &[]));
        open(&path).file(&Options::default()).unwrap_err().to_string()
    };
    let missing = error(&["../.kpack/a_@GFXARCH@.kpack"]);
    for words in ["`lib/a.so`", "lib/../.kpack/a_@GFXARCH@.kpack", "install the package"] {
        assert!(missing.contains(words), "{missing}");
    }
    let outside = folder.put("x.kpack", &kpack(false, &[("lib/a.so#0", "gfx942", b"secret")], |_| {}));
    assert!(error(&[outside.to_str().unwrap()]).contains("not relative to the file's folder"));
    folder.put("lib/sub/y", b"");
    assert!(error(&["sub/../../x.kpack"]).contains("after its beginning"));
    folder.put("lib/no.kpack", b"text");
    assert!(error(&["no.kpack"]).contains("it is no kpack archive"));
    folder.put("lib/bad.kpack", b"KPAK\x01\0\0\0");
    assert!(error(&["bad.kpack"]).contains("bad.kpack"));
    folder.put("lib/other.kpack", &kpack(false, &[("lib/b.so#0", "gfx942", b"k")], |_| {}));
    assert!(error(&["other.kpack"]).contains("the code of `lib/a.so`"), "{}", error(&["other.kpack"]));
    assert!(open(&outside).file(&Options::default()).is_ok());
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = Folder::new();
    for path in [folder.0.join("none.so"), folder.0.clone()] {
        let error = Input::open(&path, &Options::default()).unwrap_err();
        assert!(matches!(&error, Error::Read { path: named, .. } if *named == path), "{error}");
        assert!(error.to_string().contains(path.to_str().unwrap()));
    }
}

fn wheel() -> Vec<u8> {
    let bundle = plain(&[(HOST, b""), (GFX942, &elf("in_library"))], 4096);
    let library = host_elf(&[(".hip_fatbin", &bundle)]);
    let plain_library = host_elf(&[(".text", b"code")]);
    let objects = archive(&[("a.o/", &library)]);
    let text = b"import this\n".repeat(if cfg!(miri) { 50 } else { 5000 });
    let files: [(&str, &[u8]); 6] = [
        ("pkg/__init__.py", &text),
        ("pkg/lib/libgpu.so", &library),
        ("pkg/lib/libhost.so", &plain_library),
        ("pkg/lib/libobjects.a", &objects),
        ("pkg/kernels/k.hsaco", &elf("raw")),
        ("pkg/empty", b""),
    ];
    zip(8, false, &files)
}

#[test]
fn wheels_are_unpacked_where_they_hold_gpu_code() {
    let folder = Folder::new();
    let path = folder.put("pkg-1.0-py3-none-linux_x86_64.whl", &wheel());
    let input = open(&path);
    let file = input.file(&Options::default()).unwrap();
    assert_eq!((file.kind(), file.problems()), (FileKind::Zip, &[][..]));
    let expected = ["pkg/lib/libgpu.so", "pkg/lib/libobjects.a(a.o)", "pkg/kernels/k.hsaco"];
    assert_eq!(members(&file), expected);
    let agent = "gfx942".parse().unwrap();
    for (bundle, kernel) in file.bundles().iter().zip(["in_library", "in_library", "raw"]) {
        let best = bundle.select(&agent, &Options::default()).best.unwrap();
        assert_eq!(bundle.extract(best).unwrap(), elf(kernel));
    }
    let stored = zip(0, true, &[("a.so", &host_elf(&[(".hip_fatbin", &plain(&[(GFX942, &elf("k"))], 8))]))]);
    let file = File::parse(&stored, &Options::default()).unwrap();
    assert_eq!((file.kind(), members(&file)), (FileKind::Zip, vec!["a.so".to_owned()]));
}

/// The same zip file behind `front`, with offsets that count from the beginning of `front`, as Python's `zipapp`
/// writes them.
pub(crate) fn behind(front: &[u8], zip: &[u8]) -> Vec<u8> {
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let mut out = zip.to_vec();
    let mut shift = |at: usize| {
        let place = word(&out, at) + front.len() as u32;
        out[at..at + 4].copy_from_slice(&place.to_le_bytes());
    };
    let directory = word(zip, zip.len() - 6) as usize;
    shift(zip.len() - 6);
    for at in directory..zip.len() {
        if zip[at..].starts_with(b"PK\x01\x02") {
            shift(at + 42);
        }
    }
    [front, &out].concat()
}

#[test]
fn a_zip_file_behind_something_else_is_found_by_its_end() {
    let folder = Folder::new();
    let expected = ["pkg/lib/libgpu.so", "pkg/lib/libobjects.a(a.o)", "pkg/kernels/k.hsaco"];
    let short = zip(0, false, &[("k.co", &elf("k"))]);
    let fronts = [&b"#!/usr/bin/env python3\n"[..], b"MZ\x90\0 a program that unpacks it", b"\0\0\0\0"];
    for front in fronts.into_iter().take(if cfg!(miri) { 1 } else { 3 }) {
        for bytes in [[front, &wheel()].concat(), behind(front, &wheel())] {
            let mut commented = bytes.clone();
            let size = commented.len();
            commented[size - 2..].copy_from_slice(&7_u16.to_le_bytes());
            commented.extend(b"comment");
            for bytes in [bytes, commented] {
                let input = open(&folder.put("program", &bytes));
                let file = input.file(&Options::default()).unwrap();
                assert_eq!((file.kind(), file.problems()), (FileKind::Zip, &[][..]));
                assert_eq!(members(&file), expected);
                assert_eq!(Wheel::open(input.path()).unwrap().members().count(), 6);
            }
        }
        assert_eq!(members(&File::parse(&behind(front, &short), &Options::default()).unwrap()), ["k.co"]);
    }
    let error = |bytes: &[u8]| File::parse(bytes, &Options::default()).unwrap_err().to_string();
    let none = error(&[b"#!/bin/sh\n", &zip(0, false, &[("a.py", b"import this")])[..]].concat());
    assert!(none.contains("GPU code in the zip file"), "{none}");
    let program = host_elf(&[(".text", b"code")]);
    let carried = error(&[&program[..], &short].concat());
    assert!(carried.contains("zip file behind") && carried.contains("unzip"), "{carried}");
    let plain = error(&[&program[..], &zip(0, false, &[("a.py", b"import this")])].concat());
    assert!(!plain.contains("zip file"), "{plain}");
    for cut in [1, 5, 22, 23, 40] {
        let bytes = [b"#!/bin/sh\n", &wheel()[..]].concat();
        let cut = error(&bytes[..bytes.len() - cut]);
        assert!(!cut.contains("zip file"), "{cut}");
    }
}

#[test]
fn members_of_a_wheel_come_one_at_a_time() {
    let folder = Folder::new();
    let path = folder.put("pkg.whl", &wheel());
    let wheel = Wheel::open(&path).unwrap();
    assert_eq!(wheel.problem(), None);
    let may_hold: Vec<_> = wheel
        .members()
        .filter(|member| member.may_hold_code().unwrap())
        .map(|member| member.name().into_owned())
        .collect();
    let expected = ["pkg/lib/libgpu.so", "pkg/lib/libhost.so", "pkg/lib/libobjects.a", "pkg/kernels/k.hsaco"];
    assert_eq!(may_hold, expected);
    for member in wheel.members() {
        let input = member.open(&Options::default()).unwrap();
        assert_eq!(input.size(), member.size());
        assert!(input.path().ends_with(&*member.name()));
        assert_eq!(
            input.file(&Options::default()).is_ok(),
            !member.name().contains("host") && member.size() > 0 && !member.name().ends_with(".py")
        );
    }
    assert!(matches!(Wheel::open(folder.put("x", b"text")), Err(Error::Malformed { .. })));
    assert!(matches!(Wheel::open(folder.0.join("none")), Err(Error::Read { .. })));
}

#[test]
fn no_name_of_a_member_leads_out_of_the_wheel() {
    let folder = Folder::new();
    let names = ["/etc/passwd", "../../etc/passwd", "a/../../etc/passwd", "./b.co"];
    let files = names.map(|name| (name, &b"x"[..]));
    let path = folder.put("pkg.whl", &zip(0, false, &files));
    for member in Wheel::open(&path).unwrap().members() {
        let input = member.open(&Options::default()).unwrap();
        let inside = input.path().strip_prefix(&path).unwrap();
        let is_plain = |part| matches!(part, std::path::Component::Normal(_));
        assert!(inside.components().all(is_plain), "{}", inside.display());
    }
}

#[test]
fn a_zip_file_in_a_wheel_brings_its_members() {
    let folder = Folder::new();
    let path = folder.put("outer.whl", &zip(8, false, &[("inner.whl", &wheel())]));
    let outer = Wheel::open(&path).unwrap();
    let member = outer.members().next().unwrap();
    assert!(member.may_hold_code().unwrap());
    let input = member.open(&Options::default()).unwrap();
    let file = input.file(&Options::default()).unwrap();
    let expected = ["pkg/lib/libgpu.so", "pkg/lib/libobjects.a(a.o)", "pkg/kernels/k.hsaco"];
    assert_eq!((members(&file), file.problems()), (expected.map(str::to_owned).to_vec(), &[][..]));
}

#[test]
fn archives_in_a_wheel_belong_to_its_libraries() {
    let folder = Folder::new();
    let library = split_elf("lib/liba.so", &["../.kpack/a_@GFXARCH@.kpack"], &[0]);
    let image = elf("k");
    let archive = kpack(true, &[("lib/liba.so#0", "gfx942", &image[..])], |_| {});
    let files: [(&str, &[u8]); 2] =
        [("sdk/lib/liba.so.5", &library), ("sdk/.kpack/a_gfx942.kpack", &archive)];
    let path = folder.put("sdk.whl", &zip(8, false, &files));
    let wheel = Wheel::open(&path).unwrap();
    let input = wheel.members().next().unwrap().open(&Options::default()).unwrap();
    let file = input.file(&Options::default()).unwrap();
    assert_eq!(file.problems(), []);
    assert_eq!(
        file.bundles()[0].container(),
        Container::Kpack { method: Some(windlass_codeobject::Method::Zstd) }
    );
    assert_eq!(file.bundles()[0].extract(0).unwrap(), image);
    // Read as a whole, the file also lists the archive, so the reference is resolved.
    let input = open(&path);
    let file = input.file(&Options::default()).unwrap();
    assert_eq!(
        (members(&file), file.problems()),
        (vec!["sdk/.kpack/a_gfx942.kpack(lib/liba.so#0)".to_owned()], &[][..])
    );
    let alone = folder.put("alone.whl", &zip(8, false, &files[..1]));
    let error = open(&alone).file(&Options::default()).unwrap_err();
    assert!(error.to_string().contains("a_@GFXARCH@.kpack"), "{error}");
}

/// Changes the number of two or four bytes at an offset of each row of the directory.
fn change_rows(mut bytes: Vec<u8>, at: usize, value: &[u8]) -> Vec<u8> {
    let rows: Vec<usize> =
        (0..bytes.len() - 4).filter(|at| bytes[*at..].starts_with(b"PK\x01\x02")).collect();
    assert!(!rows.is_empty());
    for row in rows {
        bytes[row + at..row + at + value.len()].copy_from_slice(value);
    }
    bytes
}

#[test]
fn members_that_lie() {
    let folder = Folder::new();
    let good = zip(8, false, &[("k.hsaco", &elf("k"))]);
    let size = elf("k").len() as u32;
    let mut options = Options::default();
    options.max_unpacked = 1 << 20;
    for (bytes, words) in [
        (change_rows(good.clone(), 24, &(size - 1).to_le_bytes()), "k.hsaco"),
        (change_rows(good.clone(), 24, &(size + 1).to_le_bytes()), "k.hsaco"),
        (change_rows(good.clone(), 24, &(1_u32 << 30).to_le_bytes()), "above the limit"),
        (change_rows(good.clone(), 16, &[1, 2, 3, 4]), "k.hsaco"),
    ] {
        let path = folder.put("bad.whl", &bytes);
        let error = Input::open(&path, &options).unwrap().file(&options).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        let wheel = Wheel::open(&path).unwrap();
        let error = wheel.members().next().unwrap().open(&options).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    for (at, value, words) in [(8, [1, 0], "encryption of the member"), (10, [99, 0], "the compression")] {
        let path = folder.put("odd.whl", &change_rows(good.clone(), at, &value));
        let wheel = Wheel::open(&path).unwrap();
        let error = wheel.members().next().unwrap().open(&options).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains(words), "{error}");
        let error = open(&path).file(&options).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
    }
    let bomb = vec![0; if cfg!(miri) { 110_000 } else { 600_000 }];
    let mut members = vec![("k.hsaco".to_owned(), elf("k"))];
    members.extend((0..3).map(|n| (format!("bomb{n}"), [b"\x7fELF\x02\x01\x01\0", &bomb[..]].concat())));
    let files: Vec<(&str, &[u8])> = members.iter().map(|(name, bytes)| (name.as_str(), &bytes[..])).collect();
    let path = folder.put("bombs.whl", &zip(8, false, &files));
    options.max_unpacked = 100_000;
    let input = Input::open(&path, &options).unwrap();
    let file = input.file(&options).unwrap();
    assert_eq!(file.bundles().len(), 1);
    assert_eq!(file.problems().len(), 3);
    assert!(file.problems().iter().all(|problem| matches!(problem, Error::Limit { .. })));
}

#[test]
fn damaged_directories_give_what_lies_before_the_damage() {
    let folder = Folder::new();
    let image = elf("k");
    let mut bytes = zip(8, false, &[("a.hsaco", &image), ("b.hsaco", &image), ("c.hsaco", &image)]);
    let last = (0..bytes.len() - 4).rev().find(|at| bytes[*at..].starts_with(b"PK\x01\x02")).unwrap();
    bytes[last] = b'x';
    let path = folder.put("bad.whl", &bytes);
    let input = open(&path);
    let file = input.file(&Options::default()).unwrap();
    assert_eq!(
        (members(&file), file.problems().len()),
        (vec!["a.hsaco".to_owned(), "b.hsaco".to_owned()], 1)
    );
    let wheel = Wheel::open(&path).unwrap();
    assert!(wheel.problem().is_some() && wheel.members().count() == 2);
}

/// Runs all functions of the crate on a file and on the members of a zip file.
fn read_everything(path: &Path) {
    let mut options = Options::default();
    options.max_unpacked = 1 << 20;
    let read = |input: Result<Input, Error>| {
        let Ok(input) = input else { return };
        let Ok(file) = input.file(&options) else { return };
        for bundle in file.bundles() {
            for index in 0..bundle.entries().len() {
                let _ = bundle.extract(index);
            }
        }
    };
    read(Input::open(path, &options));
    let Ok(wheel) = Wheel::open(path) else { return };
    for member in wheel.members() {
        let _ = member.may_hold_code();
        read(member.open(&options));
    }
}

#[test]
fn changed_bytes_of_wheels_and_split_libraries() {
    let folder = Folder::new();
    let library = split_elf("lib/liba.so", &["../.kpack/a_@GFXARCH@.kpack", "a.kpack"], &[0]);
    let archive = kpack(true, &[("lib/liba.so#0", "gfx942", &elf("k")[..])], |_| {});
    let files: [(&str, &[u8]); 3] =
        [("s/lib/liba.so", &library), ("s/.kpack/a_gfx942.kpack", &archive), ("k.co", &elf("k"))];
    folder.put("whole/a.kpack", &archive);
    let seeds = [zip(8, false, &files), zip(8, true, &files), zip(0, true, &files), library.clone()];
    let strategy = (
        any::<prop::sample::Index>(),
        prop::collection::vec((any::<prop::sample::Index>(), any::<bool>(), any::<u8>()), 1..10),
    );
    let cases = if cfg!(miri) { 4 } else { 400 };
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let run = TestRunner::new(config).run(&strategy, |(seed, changes)| {
        let mut bytes = seed.get(&seeds).clone();
        for (at, in_tables, value) in changes {
            // The tables of zip files and ELFs are at their ends.
            let tables = if in_tables { bytes.len().min(400) } else { bytes.len() };
            let at = bytes.len() - 1 - at.index(tables);
            bytes[at] = value;
        }
        read_everything(&folder.put("whole/changed", &bytes));
        Ok(())
    });
    run.unwrap();
}

#[test]
fn modules_of_iree_by_path() {
    let folder = Folder::new();
    let module = zip(0, true, &[("module.fb", b"vm"), ("a.fb", &hip1(&[&elf("k")]))]);
    let input = open(&folder.put("a.vmfb", &module));
    let file = input.file(&Options::default()).unwrap();
    assert_eq!((file.kind(), file.bundles().len()), (FileKind::IreeModule, 1));
    let Some(root) = fixtures() else { return };
    for entry in fs::read_dir(root.join("iree/gfx942")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "vmfb") {
            let input = open(&path);
            assert_eq!(input.file(&Options::default()).unwrap().kind(), FileKind::IreeModule);
        }
    }
}

/// Two members whose compressed bundles lie at the same offset, one counted in the member and one in the wheel.
#[test]
fn members_at_equal_offsets_are_not_confused() {
    let code = |kernel: &str| Ccob::zlib(2, &plain(&[(GFX942, &elf(kernel))], 4096)).bytes();
    let size = if cfg!(miri) { 10_000 } else { 20_000_u32 };
    let noise: Vec<u8> = (0..size).map(|at| (at.wrapping_mul(0x9e37_79b1) >> 13) as u8).collect();
    let front = plain(&[(GFX942, &elf("front"))], 16);
    let (first, second) = (code("first"), code("second"));
    let wheel = |gap: usize| {
        let mut packed = front.clone();
        packed.resize(gap.max(front.len()), 0);
        packed.extend(&first);
        zip_of(false, &[("a.hipfb", 8, &packed), ("noise", 0, &noise), ("b.hipfb", 0, &second)])
    };
    let place = |wheel: &[u8]| {
        wheel.windows(second.len()).rposition(|bytes| bytes == second).expect("it is stored as it is")
    };
    let mut gap = 0;
    let bytes = loop {
        let bytes = wheel(gap);
        if place(&bytes) == gap {
            break bytes;
        }
        gap = place(&bytes);
    };
    let folder = Folder::new();
    let input = open(&folder.put("a.whl", &bytes));
    let file = input.file(&Options::default()).unwrap();
    assert_eq!((file.bundles().len(), file.problems()), (3, &[][..]));
    for order in [[1, 2], [2, 1]] {
        for index in order {
            let kernel = ["front", "first", "second"][index];
            assert_eq!(file.bundles()[index].extract(0).unwrap(), elf(kernel), "{order:?}");
        }
    }
}
