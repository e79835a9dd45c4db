// SPDX-License-Identifier: MIT OR Apache-2.0
//! Zip files in zip files, behind and in front of others, and with members that are damaged or too large.

use windlass_codeobject::{File, FileKind, Options, Wheel};

use crate::GFX942;
use crate::input::{Folder, behind, elf, members, open, split_elf};
use crate::support::{hip1, host_elf, kpack, plain, zip};

#[test]
fn zip_files_in_zip_files_are_one_file() {
    let folder = Folder::new();
    let module = zip(0, true, &[("module.fb", b"vm"), ("a.fb", &hip1(&[&elf("k")]))]);
    let stored = zip(0, false, &[("b.co", &elf("k"))]);
    let packed = zip(8, false, &[("c.co", &elf("k"))]);
    let script = behind(b"#!/usr/bin/env python3\n", &packed);
    let inner: [(&str, &[u8]); 4] =
        [("m.vmfb", &module), ("s.zip", &stored), ("p.zip", &packed), ("tool", &script)];
    let expected = ["m.vmfb(a.fb)", "s.zip(b.co)", "p.zip(c.co)", "tool(c.co)"];
    for method in [0, 8].into_iter().take(if cfg!(miri) { 1 } else { 2 }) {
        let path = folder.put("a.whl", &zip(method, false, &inner));
        let input = open(&path);
        let file = input.file(&Options::default()).unwrap();
        assert_eq!((file.kind(), file.problems()), (FileKind::Zip, &[][..]));
        assert_eq!(members(&file), expected);
        let twice = folder.put("b.whl", &zip(method, false, &[("a.whl", input.bytes().unwrap())]));
        let input = open(&twice);
        let file = input.file(&Options::default()).unwrap();
        assert_eq!(members(&file), expected.map(|member| format!("a.whl({member})")));
        assert_eq!(file.bundles()[0].extract(0).unwrap(), elf("k"));
        // Member by member the result is the same.
        let wheel = Wheel::open(&path).unwrap();
        for (member, name) in wheel.members().zip(["a.fb", "b.co", "c.co", "c.co"]) {
            let inner = member.wheel(&Options::default()).unwrap().expect("it is a zip file");
            let last = inner.members().last().unwrap();
            assert_eq!(last.name(), name);
            assert_eq!(last.is_iree_executable(), Ok(name == "a.fb"));
            let input = last.open(&Options::default()).unwrap();
            assert_eq!(input.file(&Options::default()).unwrap().bundles().len(), 1);
        }
    }
    // Without the companions, an error names the missing members.
    let told = File::parse(&zip(8, false, &inner), &Options::default()).unwrap_err().to_string();
    assert!(told.contains("`m.vmfb`") && told.contains("Input::open"), "{told}");
    let told = File::parse(&zip(0, false, &inner[2..3]), &Options::default()).unwrap_err().to_string();
    assert!(told.contains("p.zip") && told.contains("`c.co`"), "{told}");
    // A file that is no zip file is detected, too.
    let path = folder.put(
        "c.whl",
        &zip(8, false, &[("a.txt", &[b'a'; if cfg!(miri) { 3000 } else { 300_000 }]), ("b.co", &elf("k"))]),
    );
    let wheel = Wheel::open(&path).unwrap();
    assert!(wheel.members().all(|member| member.wheel(&Options::default()).unwrap().is_none()));
    let mut deep = stored;
    for _ in 0..8 {
        deep = zip(8, false, &[("d.zip", &deep)]);
    }
    let error = open(&folder.put("d.zip", &deep)).file(&Options::default()).unwrap_err();
    assert!(error.to_string().contains("the depth of zip files"), "{error}");
}

#[test]
fn a_module_of_iree_has_no_other_code() {
    let executable = hip1(&[&elf("k")]);
    let kind = |files: &[(&str, &[u8])]| {
        File::parse(&zip(0, true, files), &Options::default()).map(|file| file.kind()).unwrap()
    };
    let module: [(&str, &[u8]); 3] =
        [("module.fb", b"vm"), ("a.fb", &executable), ("cpu.so", &host_elf(&[(".text", b"code")]))];
    assert_eq!(kind(&module), FileKind::IreeModule);
    for other in [elf("k"), zip(0, true, &module)] {
        assert_eq!(kind(&[("a.fb", &executable), ("b", &other)]), FileKind::Zip);
        assert_eq!(kind(&[("b", &other), ("a.fb", &executable)]), FileKind::Zip);
    }
}

#[test]
fn a_stored_member_that_is_damaged_is_named() {
    let image = elf("k");
    let good = zip(0, false, &[("a.co", &image), ("b.co", &image)]);
    let damaged = |mut bytes: Vec<u8>| {
        let at = bytes.windows(4).position(|window| window == b"\x7fELF").unwrap();
        bytes[at + image.len() - 1] ^= 1;
        bytes
    };
    let bad = damaged(good.clone());
    for (bytes, wrong) in [
        (bad.clone(), 1),
        (zip(0, false, &[("in.zip", &bad)]), 1),
        // The checksum of the inner file covers everything in it.
        (damaged(zip(0, false, &[("in.zip", &good)])), 2),
    ] {
        let file = File::parse(&bytes, &Options::default()).unwrap();
        assert_eq!(file.bundles().len(), 2);
        let problems: Vec<String> = file.problems().iter().map(ToString::to_string).collect();
        let [damaged, whole] = [0, 1].map(|index| file.bundles()[index].damage());
        assert!(problems.iter().any(|problem| problem.contains("`a.co`")), "{problems:?}");
        assert!(problems.iter().any(|problem| problem.ends_with(damaged.unwrap())), "{problems:?}");
        assert_eq!((problems.len(), whole.is_some()), (wrong, wrong == 2));
    }
    assert_eq!(File::parse(&good, &Options::default()).unwrap().problems(), []);
}

#[test]
fn a_zip_file_in_front_of_another_is_named() {
    let [first, second] = ["a.co", "b.co"].map(|name| zip(0, false, &[(name, &elf("k"))]));
    for bytes in [behind(&first, &second), [&first[..], &second].concat()] {
        // Readers differ in which one they read; the error says that there are two.
        let file = File::parse(&bytes, &Options::default()).unwrap();
        assert_eq!(file.bundles().len(), 1);
        let [problem] = file.problems() else { panic!("{:?}", file.problems()) };
        let problem = problem.to_string();
        assert!(problem.contains("two zip files") || problem.contains("directory"), "{problem}");
    }
    assert_eq!(File::parse(&first, &Options::default()).unwrap().problems(), []);
}

#[test]
fn a_zip_file_behind_a_program_with_code_is_named() {
    let library = host_elf(&[(".hip_fatbin", &plain(&[(GFX942, &elf("k"))], 8))]);
    for inner in [
        zip(0, false, &[("k.co", &elf("k"))]),
        zip(8, false, &[("k.zip", &zip(0, false, &[("a.py", b"import this")]))]),
    ] {
        for program in [&library, &elf("k")] {
            let bytes = [&program[..], &inner].concat();
            for bytes in [bytes.clone(), zip(0, false, &[("program", &bytes)])] {
                let file = File::parse(&bytes, &Options::default()).unwrap();
                assert_eq!(file.bundles().len(), 1);
                let [problem] = file.problems() else { panic!("{:?}", file.problems()) };
                assert!(problem.to_string().contains("zip file behind"), "{problem}");
            }
        }
    }
}

#[test]
fn what_a_member_brings_is_bounded_in_sum() {
    let folder = Folder::new();
    let paths: Vec<String> = (0..4).map(|number| format!("../.kpack/{number}_@GFXARCH@.kpack")).collect();
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    let library = split_elf("lib/liba.so", &paths, &[0]);
    let archive = kpack(false, &[("lib/liba.so#0", "gfx942", &elf("k")[..])], |_| {});
    let names: Vec<String> = (0..4).map(|number| format!("sdk/.kpack/{number}_gfx942.kpack")).collect();
    let files: Vec<(&str, &[u8])> = [("sdk/lib/liba.so.5", &library[..])]
        .into_iter()
        .chain(names.iter().map(|name| (name.as_str(), &archive[..])))
        .collect();
    let wheel = Wheel::open(folder.put("sdk.whl", &zip(8, false, &files))).unwrap();
    let member = wheel.members().next().unwrap();
    let (library, archive) = (library.len() as u64, archive.len() as u64);
    let rooms = [(library + 2 * archive, 2), (library + 4 * archive, 4), (library, 0)];
    for (room, archives) in rooms.into_iter().take(if cfg!(miri) { 1 } else { 3 }) {
        let mut options = Options::default();
        options.max_unpacked = room;
        let input = member.open(&options).unwrap();
        assert_eq!(input.archives().count(), archives, "{room}");
    }
    // So is a zip file with its members.
    const MUCH: usize = if cfg!(miri) { 1 << 10 } else { 1 << 20 };
    let large = [elf("k"), vec![0; MUCH]].concat();
    let inner = zip(8, false, &[("a.co", &large), ("b.co", &large)]);
    let wheel = Wheel::open(folder.put("outer.whl", &zip(8, false, &[("inner.whl", &inner)]))).unwrap();
    for (room, members) in [(inner.len() + 2 * large.len(), 2), (inner.len() + 2 * large.len() - 1, 1)] {
        let mut options = Options::default();
        options.max_unpacked = room as u64;
        let input = wheel.members().next().unwrap().open(&options).unwrap();
        let file = input.file(&options).unwrap();
        assert_eq!((file.bundles().len(), file.problems().len()), (members, 2 - members));
    }
    // A member that is no archive by its content is not unpacked, whatever its size.
    let files: [(&str, &[u8]); 2] =
        [("sdk/lib/liba.so.5", &split_elf("lib/liba.so", &paths, &[0])), (&names[0], &vec![0; MUCH])];
    let wheel = Wheel::open(folder.put("sdk.whl", &zip(8, false, &files))).unwrap();
    let input = wheel.members().next().unwrap().open(&Options::default()).unwrap();
    assert_eq!(input.archives().count(), 0);
    let error = input.file(&Options::default()).unwrap_err();
    assert!(error.to_string().contains("no kpack archive"), "{error}");
}
