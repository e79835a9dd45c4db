// SPDX-License-Identifier: MIT OR Apache-2.0
//! The entry points of IREE executables.

use std::fs;

use windlass_codeobject::{CodeObject, Error, File, IreeFormat, Options};

use crate::support::{ElfBuilder, KernelSpec, amd1_with, archive, fixtures, hip1_with, zip};

fn elf() -> Vec<u8> {
    ElfBuilder::new(vec![KernelSpec::new("scale")]).build()
}

#[test]
fn entry_points_in_their_order() {
    let exports: [(&str, [u32; 3], u32, &[u64]); 2] =
        [("scale", [64, 2, 1], 3, &[1, 0, 2, 3]), ("", [1, 1, 1], 0, &[])];
    for (bytes, format, isa, module) in [
        (hip1_with(&exports, &[&elf()]), IreeFormat::Hip, "", Some(7)),
        (
            amd1_with("amdgcn-amd-amdhsa--gfx942", &exports, &[&elf()]),
            IreeFormat::Amdgpu,
            "amdgcn-amd-amdhsa--gfx942",
            None,
        ),
    ] {
        let inside = zip(0, false, &[("a.fb", &bytes)]);
        for bytes in [&bytes, &inside] {
            let file = File::parse(bytes, &Options::default()).unwrap();
            let [executable] = file.iree_executables() else { panic!("{file:?}") };
            assert_eq!((executable.format(), executable.isa()), (format, isa.to_owned()));
            assert_eq!(executable.bundles(), 0..1);
            let [scale, nameless] = executable.exports() else { panic!("{executable:?}") };
            assert_eq!((scale.name(), nameless.name()), ("scale".to_owned(), String::new()));
            assert_eq!(scale.module(), module);
            assert_eq!(scale.workgroup_size(), Some([64, 2, 1]));
            assert_eq!((scale.constant_count(), nameless.constant_count()), (3, 0));
            let flags: Vec<(bool, bool)> =
                scale.bindings().map(|binding| (binding.read_only, binding.indirect)).collect();
            assert_eq!(flags, [(true, false), (false, false), (false, true), (true, true)]);
            assert_eq!(nameless.bindings().len(), 0);
        }
    }
}

#[test]
fn an_isa_that_is_not_the_codes_own_is_refused() {
    let agent = "gfx942".parse().unwrap();
    let best = |isa: &str| {
        let bytes = amd1_with(isa, &[], &[&elf()]);
        let file = File::parse(&bytes, &Options::default()).unwrap();
        let selection = file.bundles()[0].select(&agent, &Options::default());
        (selection.best, selection.verdicts[0].reason.clone())
    };
    for isa in ["amdgcn-amd-amdhsa--gfx942", "", "something"] {
        assert_eq!(best(isa).0, Some(0), "{isa}");
    }
    // The GPU's own name on code for another, and the reverse.
    let bytes = amd1_with("amdgcn-amd-amdhsa--gfx1100", &[], &[&elf()]);
    let file = File::parse(&bytes, &Options::default()).unwrap();
    let selection = file.bundles()[0].select(&"gfx1100".parse().unwrap(), &Options::default());
    assert_eq!(selection.best, None);
    assert!(selection.verdicts[0].reason.contains("its ELF is for gfx942"), "{}", selection.verdicts[0]);
    assert_eq!(best("amdgcn-amd-amdhsa--gfx1100").0, None);
}

#[test]
fn lists_that_lie() {
    let good = hip1_with(&[("scale", [64, 1, 1], 3, &[1, 0])], &[&elf()]);
    let mut read = 0;
    for at in (64..64 + 160).step_by(if cfg!(miri) { 20 } else { 4 }) {
        for value in [u32::MAX, 0x7fff_fff0, 65_537, good.len() as u32] {
            let mut bytes = good.clone();
            bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
            if let Ok(file) = File::parse(&bytes, &Options::default()) {
                for export in file.iree_executables().iter().flat_map(|executable| executable.exports()) {
                    read += export.name().len() + export.bindings().len();
                }
            }
        }
    }
    assert!(read > 0);
    if cfg!(miri) {
        // The limit is too high for it.
        return;
    }
    let many = hip1_with(&vec![("", [1, 1, 1], 0, &[][..]); 70_000], &[&elf()]);
    assert!(matches!(File::parse(&many, &Options::default()), Err(Error::Limit { limit: 65_536, .. })));
}

/// Makes all entry points share the first. `field` is the root's field with their list.
fn share(bytes: &mut [u8], field: usize) {
    let read =
        |bytes: &[u8], at: usize| at + u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let list = read(bytes, read(bytes, 64) + field);
    let count = read(bytes, list) - list;
    let first = read(bytes, list + 4);
    for at in (list + 4..list + 4 + 4 * count).step_by(4) {
        bytes[at..at + 4].copy_from_slice(&((first - at) as u32).to_le_bytes());
    }
}

#[test]
fn entry_points_that_share_their_names_or_bindings_are_bounded() {
    let size = if cfg!(miri) { 800 } else { 100_000 };
    let (long, flags) = ("n".repeat(size), vec![1_u64; size / 8]);
    let cases: [(&str, &[u64]); 2] = [(&long, &[]), ("n", &flags)];
    for (name, flags) in cases {
        // The first is complete; the others are short until they share it.
        let exports = |count: usize| {
            let mut exports = vec![(name, [1, 1, 1], 0, flags)];
            exports.resize(count, ("", [1, 1, 1], 0, &[][..]));
            exports
        };
        for &count in if cfg!(miri) { &[20][..] } else { &[20, 4000] } {
            let hip = (hip1_with(&exports(count), &[&elf()]), 4);
            let amd = (amd1_with("", &exports(count), &[&elf()]), 8);
            for (mut bytes, field) in [hip, amd] {
                share(&mut bytes, field);
                let parsed = File::parse(&bytes, &Options::default());
                if count == 20 {
                    let exports = parsed.unwrap().iree_executables()[0].exports().to_vec();
                    assert!(exports.len() == 20 && exports.iter().all(|export| *export == exports[0]));
                    assert_eq!(
                        (exports[7].name(), exports[7].bindings().len()),
                        (name.to_owned(), flags.len())
                    );
                } else {
                    let error = parsed.unwrap_err();
                    assert!(matches!(error, Error::Limit { .. }), "{error}");
                    assert!(error.to_string().contains("names and bindings of all entry points"), "{error}");
                }
            }
        }
    }
}

/// Many modules may share one megabyte of zeros.
#[test]
#[cfg_attr(miri, ignore = "looks through hundreds of megabytes")]
fn images_that_modules_share_are_looked_through_for_some() {
    let (nothing, elf) = (vec![0; 1 << 20], elf());
    for (modules, is_cut) in [(100, false), (2000, true)] {
        let mut images = vec![&nothing[..]];
        images.resize(modules, &[]);
        let mut bytes = hip1_with(&[], &images);
        share(&mut bytes, 8);
        let both = archive(&[("a.fb/", &bytes), ("b.co/", &elf)]);
        let file = File::parse(&both, &Options::default()).unwrap();
        assert_eq!(file.bundles().len(), 1);
        let problems: Vec<String> = file.problems().iter().map(ToString::to_string).collect();
        assert_eq!(problems.len(), usize::from(is_cut), "{problems:?}");
        assert!(
            problems.iter().all(|problem| problem.contains("shares images between modules")),
            "{problems:?}"
        );
    }
}

#[test]
fn what_its_compiler_writes_agrees_with_the_kernels() {
    let Some(root) = fixtures() else { return };
    let mut compared = 0;
    for path in crate::fixtures::files(&root.join("iree")) {
        let bytes = fs::read(&path).unwrap();
        let Ok(file) = File::parse(&bytes, &Options::default()) else { continue };
        for executable in file.iree_executables() {
            assert_eq!(executable.format(), IreeFormat::Hip);
            let [bundle] = &file.bundles()[executable.bundles()] else { panic!("{executable:?}") };
            let code = CodeObject::parse(&bundle.extract(0).unwrap()).unwrap();
            assert_eq!(executable.exports().len(), code.kernels().len());
            for export in executable.exports() {
                assert_eq!(export.module(), Some(0));
                let kernel = code.kernel(&export.name()).unwrap();
                assert_eq!(export.workgroup_size(), kernel.reqd_workgroup_size);
                let arguments = export.bindings().len() + export.constant_count() as usize;
                assert_eq!(kernel.explicit_args().count(), arguments, "{}", kernel.name);
                compared += 1;
            }
        }
    }
    assert!(compared >= 6, "{compared}");
}
