// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code objects inside other files: host objects, archives, offload binaries, IREE's containers.

use windlass_codeobject::{Container, EntryKind, EntryTarget, Error, File, FileKind, Method, Options};

use crate::support::{
    Ccob, ElfBuilder, KernelSpec, amd1, archive, compressed_offload_binary, hip1, host_elf, kpack,
    offload_binary, offload_binary_for, plain, zip, zlib, zstd_frame,
};
use crate::{GFX942, HOST};

fn elf() -> Vec<u8> {
    ElfBuilder::new(vec![KernelSpec::new("scale")]).build()
}

fn bundle() -> Vec<u8> {
    plain(&[(HOST, b""), (GFX942, &elf())], 4096)
}

fn error(bytes: &[u8]) -> Error {
    File::parse(bytes, &Options::default()).unwrap_err()
}

/// The file has this many bundles, and each gives the code object for gfx942.
fn holds(bytes: &[u8], kind: FileKind, bundles: usize) {
    let file = File::parse(bytes, &Options::default()).unwrap();
    assert_eq!((file.kind(), file.problems()), (kind, &[][..]));
    assert_eq!(file.bundles().len(), bundles);
    for bundle in file.bundles() {
        let best = bundle.select(&"gfx942".parse().unwrap(), &Options::default()).best.unwrap();
        assert_eq!(bundle.extract(best).unwrap(), elf());
        if bundle.container() == Container::RawElf {
            let start = bundle.offset() as usize;
            assert_eq!(&bytes[start..start + 4], b"\x7fELF");
        }
    }
}

#[test]
fn the_fat_binary_of_a_host_object() {
    for contents in [vec![bundle()], vec![bundle(), Ccob::zstd(3, &bundle()).bytes(), bundle()]] {
        let mut section = Vec::new();
        for content in &contents {
            section.resize(section.len().next_multiple_of(4096), 0);
            section.extend(content);
        }
        let bytes = host_elf(&[(".text", b"code"), (".hip_fatbin", &section)]);
        holds(&bytes, FileKind::HostElf, contents.len());
        let file = File::parse(&bytes, &Options::default()).unwrap();
        assert!(file.bundles().iter().all(|bundle| (bundle.offset() - 68) % 4096 == 0));
    }
}

#[test]
fn host_objects_without_gpu_code_say_so() {
    for error in [error(&host_elf(&[(".text", b"code")])), error(&host_elf(&[]))] {
        assert!(error.to_string().contains(".hip_fatbin"), "{error}");
    }
    let kpack = error(&host_elf(&[(".rocm_kpack_ref", b"x")]));
    assert!(kpack.to_string().contains("kpack"), "{kpack}");
    let mut cut = host_elf(&[(".hip_fatbin", &bundle())]);
    let table = u64::from_le_bytes(cut[40..48].try_into().unwrap()) as usize;
    cut[table + 64 + 32..table + 64 + 40].copy_from_slice(&(1_u64 << 40).to_le_bytes());
    assert!(error(&cut).to_string().contains(".hip_fatbin"), "{}", error(&cut));
}

#[test]
fn offload_binaries_in_a_row_and_in_a_section() {
    for version in [1, 2, 3] {
        for kind in [3, 4] {
            let binary = offload_binary(version, kind, "gfx942", &elf());
            holds(&binary, FileKind::FatBinary, 1);
            holds(&[binary.clone(), binary.clone()].concat(), FileKind::FatBinary, 2);
            holds(&host_elf(&[(".llvm.offloading", &binary)]), FileKind::HostElf, 1);
            let file = File::parse(&binary, &Options::default()).unwrap();
            assert_eq!(file.bundles()[0].container(), Container::OffloadBinary { version, method: None });
            assert_eq!(file.bundles()[0].entries()[0].id_text(), "hip-amdgcn-amd-amdhsa--gfx942");
        }
    }
    let openmp = offload_binary(2, 1, "gfx942", &elf());
    let file = File::parse(&openmp, &Options::default()).unwrap();
    assert_eq!(file.bundles()[0].entries()[0].kind(), &EntryKind::OpenMp);
}

#[test]
fn compressed_offload_binaries() {
    let binary = offload_binary(3, 4, "gfx942", &elf());
    for (method, compress) in [(Method::Zlib, zlib as fn(&[u8]) -> Vec<u8>), (Method::Zstd, zstd_frame)] {
        let packed = compressed_offload_binary(&binary, compress);
        holds(&packed, FileKind::FatBinary, 1);
        holds(&[packed.clone(), binary.clone(), packed.clone()].concat(), FileKind::FatBinary, 3);
        holds(&host_elf(&[(".llvm.offloading", &packed)]), FileKind::HostElf, 1);
        let file = File::parse(&packed, &Options::default()).unwrap();
        let bundle = &file.bundles()[0];
        assert_eq!(bundle.container(), Container::OffloadBinary { version: 3, method: Some(method) });
        assert_eq!(bundle.unpacked_size(), Some(binary.len() as u64));
        assert_eq!(bundle.stored_size(), packed.len() as u64);
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn compressed_offload_binaries_that_lie() {
    let good = compressed_offload_binary(&offload_binary(3, 4, "gfx942", &elf()), zstd_frame);
    let with = |at: usize, value: u64| {
        let mut bytes = good.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    assert!(error(&with(32, 39)).to_string().contains("unpacks to 39"));
    assert!(error(&with(32, 0)).to_string().contains("entry 0"), "taken as stored, its table is nonsense");
    assert!(matches!(error(&with(40, 0)), Error::Malformed { .. }));
    assert!(matches!(error(&with(48, 0)), Error::Decode { .. }), "{}", error(&with(48, 0)));
    assert!(matches!(error(&with(16, 8)), Error::Malformed { .. }), "entries in the header");
    assert!(matches!(error(&with(24, 4097)), Error::Limit { .. }));
    for size in 0..good.len() {
        assert!(File::parse(&good[..size], &Options::default()).is_err(), "{size}");
    }
    let huge = with(32, u64::MAX);
    let file = File::parse(&huge, &Options::default()).unwrap();
    assert_eq!(file.bundles()[0].extract(0).unwrap(), elf(), "what lies within the limit can be had");
    // A string with a far offset does not cause everything in front of it to be unpacked.
    let mut far = offload_binary(3, 4, "gfx942", &[0; 32 << 20]);
    let strings = 40 + 40;
    far[strings..strings + 8].copy_from_slice(&(30_u64 << 20).to_le_bytes());
    let far = error(&compressed_offload_binary(&far, zstd_frame)).to_string();
    assert!(far.contains("strings lie outside"), "{far}");
}

#[test]
fn images_of_offload_binaries_that_are_no_code_objects() {
    let spirv = [&b"\x03\x02\x23\x07"[..], &[0; 60]].concat();
    for (image_kind, kind, triple, arch, image, id, words) in [
        (
            2,
            4,
            "amdgcn-amd-amdhsa",
            "gfx942",
            &b"BC\xc0\xde...."[..],
            "hip-amdgcn-amd-amdhsa--gfx942",
            "bitcode",
        ),
        (1, 4, "amdgcn-amd-amdhsa", "gfx942", &spirv, "hip-amdgcn-amd-amdhsa--gfx942", "SPIR-V"),
        (6, 4, "spirv64-amd-amdhsa", "amdgcnspirv", &spirv, "hip-spirv64-amd-amdhsa--amdgcnspirv", "SPIR-V"),
        (
            5,
            2,
            "nvptx64-nvidia-cuda",
            "sm_90",
            b".version 8.0",
            "cuda-nvptx64-nvidia-cuda--sm_90",
            "not understood",
        ),
        (1, 4, "amdgcn-amd-amdhsa", "gfx942", b"text", "hip-amdgcn-amd-amdhsa--gfx942", "no 64-bit"),
        (1, 4, "amdgcn-amd-amdhsa", "gfx942", b"", "hip-amdgcn-amd-amdhsa--gfx942", "empty"),
        (1, 8, "spirv64-unknown-unknown", "", &spirv, "sycl-spirv64-unknown-unknown--", "SPIR-V"),
    ] {
        for version in [1, 2, 3] {
            let bytes = offload_binary_for(version, image_kind, kind, triple, arch, image);
            let file = File::parse(&bytes, &Options::default()).unwrap();
            let bundle = &file.bundles()[0];
            assert_eq!(bundle.entries()[0].id_text(), id);
            assert_eq!(bundle.extract(0).unwrap(), image);
            let selection = bundle.select(&"gfx942".parse().unwrap(), &Options::default());
            assert_eq!(selection.best, None);
            assert!(selection.verdicts[0].to_string().contains(words), "{}", selection.verdicts[0]);
        }
    }
}

#[test]
fn spirv_entries_are_listed_and_explained() {
    let spirv = [&b"\x03\x02\x23\x07"[..], &[0; 61]].concat();
    for id in [
        "hip-spirv64-amd-amdhsa--amdgcnspirv",
        "hipv4-spirv64-amd-amdhsa--amdgcnspirv",
        "hipv4-spirv64-amd-amdhsa-unknown-amdgcnspirv",
    ] {
        // One entry right behind the table, as IREE writes it, without alignment.
        let bundle = plain(&[(id, &spirv)], 1);
        for bytes in [bundle.clone(), hip1(&[&bundle]), Ccob::zstd(3, &bundle).bytes()] {
            let file = File::parse(&bytes, &Options::default()).unwrap();
            let bundle = &file.bundles()[0];
            assert_eq!(bundle.entries()[0].target(), &EntryTarget::SpirV);
            assert_eq!(bundle.extract(0).unwrap(), spirv);
            let verdict = &bundle.select(&"gfx942".parse().unwrap(), &Options::default()).verdicts[0];
            assert!(verdict.to_string().contains("SPIR-V"), "{verdict}");
        }
    }
}

#[test]
fn sections_of_all_sorts_in_one_object() {
    let binary = offload_binary(1, 4, "gfx942", &elf());
    let bundle = bundle();
    let bytes =
        host_elf(&[(".hip_fatbin", &bundle), (".llvm.offloading", &binary), (".hip_fatbin", &bundle)]);
    holds(&bytes, FileKind::HostElf, 3);
    // A section is also known by its type; two headers for the same bytes are one section.
    let mut typed = host_elf(&[(".text", &binary), (".llvm.offloading", &binary)]);
    let table = u64::from_le_bytes(typed[40..48].try_into().unwrap()) as usize;
    typed[table + 64 + 4..table + 64 + 8].copy_from_slice(&0x6fff_4c0b_u32.to_le_bytes());
    holds(&typed, FileKind::HostElf, 2);
    let (from, to) = (table + 64 + 24, table + 128 + 24);
    typed.copy_within(from..from + 16, to);
    holds(&typed, FileKind::HostElf, 1);
}

#[test]
fn offload_binaries_that_lie() {
    let good = offload_binary(2, 4, "gfx942", &elf());
    let with = |at: usize, value: u64| {
        let mut bytes = good.clone();
        bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    assert!(matches!(error(&with(8, 0)), Error::Malformed { .. }));
    assert!(matches!(error(&with(8, u64::MAX)), Error::Truncated { .. }));
    assert!(matches!(error(&with(16, u64::MAX - 3)), Error::Malformed { .. }));
    assert!(matches!(error(&with(24, u64::MAX)), Error::Limit { .. }));
    assert!(matches!(error(&with(24, 4096)), Error::Malformed { .. }));
    assert!(matches!(error(&with(32 + 8, u64::MAX)), Error::Malformed { .. }));
    for (at, value) in [(32 + 24, u64::MAX), (32 + 32, u64::MAX), (32 + 24, good.len() as u64)] {
        let bytes = with(at, value);
        let file = File::parse(&bytes, &Options::default()).unwrap();
        assert!(file.bundles()[0].entries()[0].problem().is_some());
        assert!(file.bundles()[0].extract(0).is_err());
    }
    let mut future = good.clone();
    future[4] = 4;
    assert!(error(&future).to_string().contains("LLVM offload binary v4"));
}

#[test]
fn archives_of_host_objects_code_objects_and_bundles() {
    let object = host_elf(&[(".hip_fatbin", &bundle())]);
    let plain_host = host_elf(&[(".text", b"code")]);
    let (elf, bundle) = (elf(), bundle());
    let members: [(&str, &[u8]); 6] = [
        ("/", b"symbols"),
        ("a.o/", &object),
        ("b.o/", &plain_host),
        ("c.co/", &elf),
        ("d/", &bundle),
        ("e.txt/", b"x"),
    ];
    holds(&archive(&members), FileKind::Archive, 3);
    let none = error(&archive(&[("b.o/", &plain_host)]));
    assert!(matches!(none, Error::NotFound { .. }), "{none}");
    let whole = archive(&members);
    let cut = &whole[..whole.len() - 70];
    let file = File::parse(cut, &Options::default()).unwrap();
    assert_eq!(file.bundles().len(), 2);
    assert!(matches!(file.problems(), [Error::Truncated { .. }]), "{:?}", file.problems());
    assert!(matches!(error(&whole[..100]), Error::Truncated { .. }));
    let mut bad = whole;
    bad[8 + 48] = b'x';
    assert!(error(&bad).to_string().contains("no number"));
    bad[8 + 59] = b'x';
    assert!(error(&bad).to_string().contains("does not end as headers do"));
}

fn names(bytes: &[u8]) -> Vec<String> {
    let file = File::parse(bytes, &Options::default()).unwrap();
    assert_eq!((file.kind(), file.problems()), (FileKind::Archive, &[][..]));
    file.bundles().iter().map(|bundle| bundle.member().unwrap().to_owned()).collect()
}

#[test]
fn members_give_their_names() {
    let elf = elf();
    let bundle = bundle();
    let long = b"a_name_of_more_than_sixteen_bytes.o/\nanother name, longer still.o/\n";
    let gnu = archive(&[("/", b"table"), ("//", long), ("/0", &elf), ("/37", &bundle), ("short.o/", &elf)]);
    let expected = ["a_name_of_more_than_sixteen_bytes.o", "another name, longer still.o", "short.o"];
    assert_eq!(names(&gnu), expected);
    holds(&gnu, FileKind::Archive, 3);

    let with_name = |name: &[u8], content: &[u8]| [name, content].concat();
    let bsd = archive(&[
        ("#1/20", &with_name(b"__.SYMDEF SORTED\0\0\0\0", b"table")),
        ("#1/36", &with_name(b"a_name_of_more_than_sixteen_bytes.o\0", &elf)),
        ("short.o", &bundle),
    ]);
    assert_eq!(names(&bsd), ["a_name_of_more_than_sixteen_bytes.o", "short.o"]);
    holds(&bsd, FileKind::Archive, 2);
    assert_eq!(File::parse(&elf, &Options::default()).unwrap().bundles()[0].member(), None);
    let path = "d/".repeat(1000) + "a.o";
    let long = archive(&[("//", format!("{path}/\n").as_bytes()), ("/0", &elf)]);
    assert_eq!(names(&long), [format!("{}…", &path[..256])], "a longer name is shown by its beginning");
}

#[test]
fn names_that_are_not_there() {
    let elf = elf();
    for members in [
        [("//", &b"no end"[..]), ("/0", &elf)],
        [("//", b"short.o/\n"), ("/9", &elf)],
        [("//", b"short.o/\n"), ("/99999999999999", &elf)],
        [("//", b"short.o/\n"), ("#1/4097", &elf)],
        [("//", b"short.o/\n"), ("#1/4000", b"short")],
        [("//", b"short.o/\n"), ("#1/x", &elf)],
    ] {
        let error = error(&archive(&members));
        assert!(error.to_string().contains("name is not in the archive"), "{error}");
    }
}

#[test]
fn archives_in_archives() {
    let elf = elf();
    let inner = archive(&[("a.o/", &elf), ("b.o/", &host_elf(&[(".hip_fatbin", &bundle())]))]);
    let outer = archive(&[("inner.a/", &inner), ("empty.a/", &archive(&[])), ("c.o/", &elf)]);
    assert_eq!(names(&outer), ["inner.a(a.o)", "inner.a(b.o)", "c.o"]);
    holds(&outer, FileKind::Archive, 3);

    let mut deep = archive(&[("a.o/", &elf)]);
    for _ in 0..4 {
        deep = archive(&[("x.a/", &deep)]);
    }
    assert_eq!(names(&deep), ["x.a(x.a(x.a(x.a(a.o))))"]);
    let error = error(&archive(&[("x.a/", &deep)]));
    assert!(error.to_string().contains("the depth of archives"), "{error}");
}

#[test]
fn archives_hold_whatever_files_hold() {
    let (elf, bundle) = (elf(), bundle());
    let library = kpack(true, &[("liba.so#0", "gfx942", &elf[..])], |_| {});
    let zipped = zip(0, false, &[("a.co", &elf)]);
    let members: [(&str, &[u8]); 6] = [
        ("a.fb/", &hip1(&[&elf])),
        ("b.fb/", &amd1(&[&elf])),
        ("c.kpack/", &library),
        ("d.hipfb/", &bundle),
        ("e.zip/", &zipped),
        ("f.fb/", &hip1(&[&elf])[..40]),
    ];
    let bytes = archive(&members);
    let file = File::parse(&bytes, &Options::default()).unwrap();
    let names: Vec<_> = file.bundles().iter().map(|bundle| bundle.member().unwrap()).collect();
    assert_eq!(names, ["a.fb", "b.fb", "c.kpack(liba.so#0)", "d.hipfb"]);
    assert_eq!(file.iree_executables().len(), 2);
    for bundle in file.bundles() {
        let last = bundle.entries().len() - 1;
        assert!(bundle.extract(last).unwrap() == elf, "{}", bundle.member().unwrap());
    }
    let problems: Vec<String> = file.problems().iter().map(ToString::to_string).collect();
    assert!(problems[0].contains("`e.zip`") && problems[0].contains("ar x"), "{problems:?}");
    assert!(problems[1].contains("`f.fb`"), "{problems:?}");
    assert_eq!(problems.len(), 2);
    let alone = error(&archive(&members[4..5]));
    assert!(alone.to_string().contains("ar x"), "{alone}");
}

#[test]
fn tables_of_other_linkers_are_passed_over() {
    let (elf, long) = (elf(), b"a_name_of_more_than_sixteen_bytes.o/\n");
    let tables: [(&str, &[u8]); 5] = [
        ("/", b"symbols"),
        ("/", b"again"),
        ("//", long),
        ("/<ECSYMBOLS>/", &elf),
        ("/<XFGHASHMAP>/", b"map"),
    ];
    let bytes = archive(&[&tables[..], &[("/0", &elf), ("b.o/", &elf)]].concat());
    assert_eq!(names(&bytes), ["a_name_of_more_than_sixteen_bytes.o", "b.o"]);
}

#[test]
fn what_is_wrong_with_a_member_names_it() {
    let elf = elf();
    let mut damaged = Ccob::zstd(2, &bundle());
    damaged.payload[4..].fill(0xff);
    let bytes = archive(&[("a.o/", &elf), ("b.hipfb/", &damaged.bytes()), ("c.o/", &elf[..40])]);
    let file = File::parse(&bytes, &Options::default()).unwrap();
    assert_eq!(file.bundles().len(), 1);
    let problems: Vec<String> = file.problems().iter().map(ToString::to_string).collect();
    assert!(problems[0].contains("`b.hipfb`") && problems[0].contains("zstd"), "{problems:?}");
    assert!(problems[1].contains("`c.o`") && problems[1].contains("ELF header"), "{problems:?}");
    assert_eq!(problems.len(), 2);
}

#[test]
fn thin_archives_say_where_their_members_are() {
    let mut bytes = b"!<thin>\n".to_vec();
    for (name, size) in [("/", 4), ("//", 22), ("/0", 8000)] {
        bytes.extend(format!("{name:<16}{:<12}{:<6}{:<6}{:<8}{size:<10}`\n", 0, 0, 0, 644).bytes());
        bytes.extend(match name {
            "/" => &b"\0\0\0\0"[..],
            "//" => b"objects/a_long_one.o/\n",
            _ => b"",
        });
    }
    let thin = error(&bytes).to_string();
    assert!(thin.contains("`objects/a_long_one.o`") && thin.contains("ar rcs"), "{thin}");
    for size in 8..bytes.len() {
        assert!(matches!(error(&bytes[..size]), Error::Unsupported { .. }));
    }
    let outer = archive(&[("a.a/", &bytes), ("b/", &bundle())]);
    let file = File::parse(&outer, &Options::default()).unwrap();
    let [problem] = file.problems() else { panic!("{:?}", file.problems()) };
    assert!(problem.to_string().contains("`a.a`") && problem.to_string().contains("ar rcs"), "{problem}");
    assert_eq!(file.bundles().len(), 1);
}

#[test]
fn a_damaged_section_costs_no_other() {
    let binary = offload_binary(1, 4, "gfx942", &elf());
    let entry = "__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx942";
    let elf = elf();
    for damaged in 1..=3 {
        let mut bytes = host_elf(&[(".hip_fatbin", &bundle()), (".llvm.offloading", &binary), (entry, &elf)]);
        let table = u64::from_le_bytes(bytes[40..48].try_into().unwrap()) as usize;
        let size = table + 64 * damaged + 32;
        bytes[size..size + 8].copy_from_slice(&(1_u64 << 40).to_le_bytes());
        let file = File::parse(&bytes, &Options::default()).unwrap();
        assert_eq!(file.bundles().len(), 2);
        assert!(matches!(file.problems(), [Error::Truncated { .. }]), "{:?}", file.problems());
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn sections_without_end_are_limited() {
    let name = format!("__CLANG_OFFLOAD_BUNDLE__{}", "x".repeat(200));
    let bytes = host_elf(&vec![(name.as_str(), &b"x"[..]); 5000]);
    let file = File::parse(&bytes, &Options::default()).unwrap();
    assert_eq!(file.bundles()[0].entries().len(), 4096);
    assert!(matches!(file.problems(), [Error::Limit { .. }]), "{:?}", file.problems());
}

#[test]
fn objects_with_a_section_per_entry() {
    let elf = elf();
    let bitcode = b"BC\xc0\xde....".to_vec();
    let bytes = host_elf(&[
        ("__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx1100", &bitcode),
        ("__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx942", &elf),
        ("__CLANG_OFFLOAD_BUNDLE__host-x86_64-pc-linux-gnu-", b"\0"),
    ]);
    holds(&bytes, FileKind::HostElf, 1);
    let file = File::parse(&bytes, &Options::default()).unwrap();
    assert_eq!(file.bundles()[0].container(), Container::ObjectBundle);
    let selection = file.bundles()[0].select(&"gfx1100".parse().unwrap(), &Options::default());
    assert!(selection.verdicts[0].to_string().contains("bitcode"), "{}", selection.verdicts[0]);
}

#[test]
fn executables_and_modules_of_iree() {
    let elf = elf();
    let bundle = bundle();
    let executable = hip1(&[&elf]);
    holds(&executable, FileKind::IreeExecutable, 1);
    holds(&hip1(&[&elf, &bundle, &elf]), FileKind::IreeExecutable, 3);
    holds(&amd1(&[&elf, &bundle]), FileKind::IreeExecutable, 2);
    holds(&zip(0, true, &[("a.fb", &amd1(&[&elf])), ("b.fb", &executable)]), FileKind::IreeModule, 2);
    for long in [false, true] {
        let module = zip(0, long, &[("module.fb", b"vm code"), ("a.fb", &executable), ("b.fb", &executable)]);
        holds(&module, FileKind::IreeModule, 2);
        let none = error(&zip(0, long, &[("module.fb", b"vm code")]));
        assert!(none.to_string().contains("GPU code in the zip file"), "{none}");
        let packed = error(&zip(8, long, &[("a.fb", &executable)])).to_string();
        assert!(packed.contains("compressed member `a.fb`") && packed.contains("Input::open"), "{packed}");
        for size in [4, 200, module.len() - 30, module.len() - 5] {
            assert!(error(&module[..size]).to_string().contains("directory of the zip file"));
        }
    }
}

#[test]
fn executables_of_iree_that_lie() {
    let mut other = amd1(&[&elf()]);
    other[68..72].copy_from_slice(b"HIP1");
    assert!(error(&other).to_string().contains("of another kind"));
    let good = hip1(&[&elf()]);
    for at in (64..64 + 64).step_by(4) {
        for value in [u32::MAX, 1 << 31, 0x7fff_fff0] {
            let mut bytes = good.clone();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            let _ = File::parse(&bytes, &Options::default());
        }
    }
    let mut far = good.clone();
    far[64..68].copy_from_slice(&u32::MAX.to_le_bytes());
    assert!(error(&far).to_string().contains("points outside itself"));
    assert!(matches!(error(&good[..1000]), Error::Truncated { .. }));
    let mut version = good.clone();
    version[4] = 9;
    assert!(error(&version).to_string().contains("version 9"));
}

/// Shows each header of a section of an object, with its number.
fn sections(object: &mut [u8], mut change: impl FnMut(usize, &mut [u8])) {
    let table = u64::from_le_bytes(object[40..48].try_into().unwrap()) as usize;
    let count = usize::from(u16::from_le_bytes(object[60..62].try_into().unwrap()));
    for index in 0..count {
        change(index, &mut object[table + 64 * index..table + 64 * (index + 1)]);
    }
}

#[test]
fn sections_that_overlap_hide_nothing() {
    let (elf, one) = (elf(), bundle());
    let row = [&one[..], &vec![0; one.len().next_multiple_of(4096) - one.len()], &one, &one].concat();
    let whole = host_elf(&[(".hip_fatbin", &row), (".hip_fatbin", &elf)]);
    assert_eq!(
        File::parse(&host_elf(&[(".hip_fatbin", &row)]), &Options::default()).unwrap().bundles().len(),
        3
    );
    let mut place = None;
    sections(&mut whole.clone(), |index, header| {
        if index == 1 {
            place = Some(u64::from_le_bytes(header[24..32].try_into().unwrap()));
        }
    });
    let start = place.unwrap();
    // The second overlaps the beginning of the first, or begins inside of it, in any order.
    for (first, second) in [
        ((0, one.len()), (0, row.len())),
        ((0, row.len()), (0, one.len())),
        ((0, one.len() + 100), (50, row.len() - 50)),
    ] {
        let mut host = whole.clone();
        sections(&mut host, |index, header| {
            let Some((offset, size)) = [None, Some(first), Some(second)].get(index).copied().flatten() else {
                return;
            };
            header[24..32].copy_from_slice(&(start + offset).to_le_bytes());
            header[32..40].copy_from_slice(&(size as u64).to_le_bytes());
        });
        let file = File::parse(&host, &Options::default()).unwrap();
        assert_eq!((file.bundles().len(), file.problems()), (3, &[][..]), "{first:?} {second:?}");
    }
}

#[test]
fn files_with_debug_information_alone_hold_no_code() {
    let mut host = host_elf(&[(".hip_fatbin", &bundle()), (".rocm_kpack_ref", b"\x81")]);
    sections(&mut host, |index, header| {
        if [1, 2].contains(&index) {
            header[4..8].copy_from_slice(&8_u32.to_le_bytes());
        }
    });
    let error = File::parse(&host, &Options::default()).unwrap_err();
    assert!(matches!(error, Error::NotFound { .. }), "{error}");
    assert!(error.to_string().contains("debug information"), "{error}");
}

/// Each member may have the longest name, also in nested archives.
#[test]
fn long_names_of_members_are_cut() {
    let (elf, long) = (elf(), [&[0xff; 1000][..], b"/\n"].concat());
    let mut bytes = archive(&[("//", &long), ("/0", &elf), ("/900", &elf), ("c.o/", &elf)]);
    let found = names(&bytes);
    assert_eq!(found[0].chars().count(), 512);
    assert!(found[0].starts_with("\\xff\\xff") && found[0].ends_with('…'), "{found:?}");
    assert_eq!(found[1..], ["\\xff".repeat(100), "c.o".to_owned()]);
    for _ in 0..4 {
        bytes = archive(&[("//", &long), ("/0", &bytes)]);
    }
    for (index, name) in names(&bytes).iter().enumerate() {
        assert!(name.chars().count() <= 512 + 2 * 4, "{name}");
        let cut = if index == 2 { 4 } else { 5 };
        assert_eq!((name.matches('…').count(), name.matches('(').count()), (cut, 4), "{name}");
        assert!(name.ends_with(if index == 2 { "(c.o))))" } else { "…))))" }), "{name}");
    }
}
