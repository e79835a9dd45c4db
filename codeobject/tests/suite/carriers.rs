// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code objects inside other files: host objects, archives, offload binaries, IREE's containers.

use windlass_codeobject::{Container, EntryKind, Error, File, FileKind, Options};

use crate::support::{Ccob, ElfBuilder, KernelSpec, archive, hip1, host_elf, offload_binary, plain, zip};
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

/// The file holds so many bundles, and each gives the code object for gfx942.
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
    for version in [1, 2] {
        for kind in [3, 4] {
            let binary = offload_binary(version, kind, "gfx942", &elf());
            holds(&binary, FileKind::FatBinary, 1);
            holds(&[binary.clone(), binary.clone()].concat(), FileKind::FatBinary, 2);
            holds(&host_elf(&[(".llvm.offloading", &binary)]), FileKind::HostElf, 1);
            let file = File::parse(&binary, &Options::default()).unwrap();
            assert_eq!(file.bundles()[0].container(), Container::OffloadBinary { version });
            assert_eq!(file.bundles()[0].entries()[0].id_text(), "hip-amdgcn-amd-amdhsa--gfx942");
        }
    }
    let openmp = offload_binary(2, 1, "gfx942", &elf());
    let file = File::parse(&openmp, &Options::default()).unwrap();
    assert_eq!(file.bundles()[0].entries()[0].kind(), &EntryKind::OpenMp);
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
    future[4] = 3;
    assert!(error(&future).to_string().contains("version 3"));
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
    assert!(matches!(error(&whole[..whole.len() - 70]), Error::Truncated { .. }));
    let mut bad = whole;
    bad[8 + 48] = b'x';
    assert!(error(&bad).to_string().contains("no number"));
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
    for long in [false, true] {
        let module = zip(0, long, &[("module.fb", b"vm code"), ("a.fb", &executable), ("b.fb", &executable)]);
        holds(&module, FileKind::IreeModule, 2);
        let none = error(&zip(0, long, &[("module.fb", b"vm code")]));
        assert!(none.to_string().contains("without HIP executables"), "{none}");
        assert!(error(&zip(8, long, &[("a.fb", &executable)])).to_string().contains("compressed member"));
        for size in [4, 200, module.len() - 30, module.len() - 5] {
            assert!(error(&module[..size]).to_string().contains("directory of the zip file"));
        }
    }
}

#[test]
fn executables_of_iree_that_lie() {
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
