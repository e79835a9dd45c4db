// SPDX-License-Identifier: MIT OR Apache-2.0
//! Real files, found through `WINDLASS_FIXTURES`, and the project's own kernels.

use std::fs;
use std::path::{Path, PathBuf};

use windlass_codeobject::{
    ArgKind, CodeObject, Container, EntryTarget, Error, File, FileKind, Kernel, Method, Options, TargetId,
};

use crate::support::{fixtures, skipped};

pub(crate) fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(directory) else { return found };
    for entry in entries.flatten() {
        if entry.path().is_dir() {
            found.extend(files(&entry.path()));
        } else {
            found.push(entry.path());
        }
    }
    found.sort();
    found
}

/// Reads everything in a file. Returns the number of code objects.
fn read_all(file: &File<'_>) -> Result<usize, Error> {
    let mut count = 0;
    for bundle in file.bundles() {
        for (index, entry) in bundle.entries().iter().enumerate() {
            let image = bundle.extract(index)?;
            if !matches!(entry.target(), EntryTarget::Gpu(_)) {
                continue;
            }
            let code = CodeObject::parse(&image)?;
            check(&code, entry.target());
            count += 1;
        }
    }
    Ok(count)
}

/// Properties of every compiled code object.
fn check(code: &CodeObject, target: &EntryTarget) {
    assert_eq!(target, &EntryTarget::Gpu(code.target().clone()));
    for kernel in code.kernels() {
        assert!(kernel.entry_address % 4 == 0 && kernel.descriptor_address % 64 == 0, "{kernel:?}");
        assert!(kernel.symbol.ends_with(".kd"));
        assert!(matches!(kernel.wavefront_size, 32 | 64));
        assert_eq!(kernel.descriptor.wavefront_size32(), kernel.wavefront_size == 32);
        let mut end = 0;
        for arg in &kernel.args {
            assert!(arg.offset >= end, "the arguments of {} are in order", kernel.name);
            end = arg.offset + arg.size;
        }
    }
}

fn agent(text: &str) -> TargetId {
    text.parse().unwrap()
}

#[test]
fn fat_binaries_of_bitsandbytes() {
    let Some(root) = fixtures() else { return };
    for (name, version, targets) in [("rocm64", 2, 14), ("rocm71", 3, 15)] {
        let bytes = fs::read(root.join(format!("fatbin/libbitsandbytes_{name}.hip_fatbin"))).unwrap();
        let file = File::parse(&bytes, &Options::default()).unwrap();
        assert_eq!(file.problems(), []);
        assert_eq!(file.bundles().len(), 2);
        for (bundle, kernels) in file.bundles().iter().zip([151, 24]) {
            assert_eq!(bundle.container(), Container::Ccob { version, method: Method::Zstd });
            let gpus: Vec<usize> = (0..bundle.entries().len())
                .filter(|index| matches!(bundle.entries()[*index].target(), EntryTarget::Gpu(_)))
                .collect();
            assert_eq!(gpus.len(), targets);
            for index in gpus {
                let code = CodeObject::parse(&bundle.extract(index).unwrap()).unwrap();
                assert_eq!((code.kernels().len(), code.rejected().len()), (kernels, 0));
                assert!(code.kernels().iter().all(|kernel| kernel.explicit_args().next().is_some()));
            }
            let best = bundle.select(&agent("gfx942:sramecc+:xnack-"), &Options::default()).best.unwrap();
            assert_eq!(bundle.entries()[best].id_text(), "hipv4-amdgcn-amd-amdhsa--gfx942");
        }
        assert_eq!(read_all(&file), Ok(2 * targets));
    }
}

#[test]
fn every_version_and_method_holds_the_same_code() {
    let Some(root) = fixtures() else { return };
    let mut images = Vec::new();
    for name in ["v1.zlib", "v1.zstd", "v2.zlib", "v2.zstd", "v3.zlib", "v3.zstd", "v3.zstd.nosize"] {
        let bytes = fs::read(root.join(format!("fatbin/matmul.{name}.ccob"))).unwrap();
        let file = File::parse(&bytes, &Options::default()).unwrap();
        let bundle = &file.bundles()[0];
        let best = bundle.select(&agent("gfx942:sramecc+:xnack-"), &Options::default()).best.unwrap();
        images.push(bundle.extract(best).unwrap());
    }
    assert!(images.iter().all(|image| *image == images[0]));
    let code = CodeObject::parse(&images[0]).unwrap();
    assert_eq!(code.kernels().len(), 1);
}

#[test]
fn selection_among_real_targets() {
    let Some(root) = fixtures() else { return };
    let bytes = fs::read(root.join("fatbin/reduce.generic_mix.v6.hipfb")).unwrap();
    let file = File::parse(&bytes, &Options::default()).unwrap();
    let chosen = |name: &str| {
        let bundle = &file.bundles()[0];
        bundle.select(&agent(name), &Options::default()).best.map(|best| bundle.entries()[best].id_text())
    };
    for (name, processor) in [
        ("gfx942:sramecc+:xnack-", Some("gfx942")),
        ("gfx900:xnack-", Some("gfx900")),
        ("gfx906:sramecc+:xnack-", Some("gfx9-generic")),
        ("gfx1036", Some("gfx10-3-generic")),
        ("gfx1151", Some("gfx11-generic")),
        ("gfx90a:sramecc+:xnack-", None),
        ("gfx1201", None),
    ] {
        assert_eq!(chosen(name), processor.map(|p| format!("hipv4-amdgcn-amd-amdhsa--{p}")), "{name}");
    }
}

#[test]
fn every_real_file_is_read_or_named() {
    let Some(root) = fixtures() else { return };
    // The images of the kpack archives are text; `kpack.rs` reads them.
    for directory in ["fatbin", "hostelf", "clang", "iree", "triton"] {
        for path in files(&root.join(directory)) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.ends_with(".json") || name.ends_with(".mlir") {
                continue;
            }
            let bytes = fs::read(&path).unwrap();
            let result = File::parse(&bytes, &Options::default()).and_then(|file| read_all(&file));
            match refused(&name) {
                None => assert!(matches!(result, Ok(1..)), "{name}: {result:?}"),
                Some(words) => {
                    let error = result.unwrap_err();
                    assert!(matches!(error, Error::Unsupported { .. }), "{name}: {error}");
                    assert!(error.to_string().contains(words), "{name}: {error}");
                }
            }
        }
    }
}

/// Words of the error for a file.
fn refused(name: &str) -> Option<&'static str> {
    Some(match name {
        "vadd.rdc.o" => "LLVM bitcode",
        "text.bundle.ll" => "text bundle",
        "v2note_yn.o" => "code object v2",
        _ => return None,
    })
}

#[test]
fn host_objects_with_several_translation_units() {
    let Some(root) = fixtures() else { return };
    for (name, count) in [
        ("hostelf/libfat_ccob.so", 4),
        ("hostelf/libfat_mixed.so", 4),
        ("fatbin/roofline-ubuntu22_04-rocm7", 2),
    ] {
        let bytes = fs::read(root.join(name)).unwrap();
        let file = File::parse(&bytes, &Options::default()).unwrap();
        assert_eq!(
            (file.kind(), file.bundles().len(), file.problems()),
            (FileKind::HostElf, count, &[][..]),
            "{name}"
        );
    }
}

#[test]
fn symbols_survive_stripping() {
    let Some(root) = fixtures() else { return };
    let names = |file: &str| {
        let code = CodeObject::parse(&fs::read(root.join("clang").join(file)).unwrap()).unwrap();
        let kernels: Vec<String> = code.kernels().iter().map(|kernel| kernel.name.clone()).collect();
        let variables: Vec<String> = code.variables().map(|symbol| symbol.name.clone()).collect();
        (kernels, variables, code.functions().count())
    };
    let (kernels, variables, functions) = names("symbols.gfx942.co");
    assert_eq!((kernels.len(), functions), (4, 3));
    for stripped in ["symbols.stripped.co", "symbols.nosections.co"] {
        assert_eq!(names(stripped), (kernels.clone(), variables.clone(), 0), "{stripped}");
    }
    let code = CodeObject::parse(&fs::read(root.join("clang/extuser.gfx942.co")).unwrap()).unwrap();
    assert_eq!(code.undefined().map(|symbol| symbol.name.as_str()).collect::<Vec<_>>(), ["pub_fn"]);
    let symbol = code.relocations()[0].symbol.unwrap();
    assert_eq!(code.symbols()[symbol].name, "pub_fn");
}

#[test]
fn what_triton_and_iree_state() {
    let Some(root) = fixtures() else { return };
    let code = CodeObject::parse(&fs::read(root.join("triton/softmax.gfx942.hsaco")).unwrap()).unwrap();
    assert_eq!((code.kernels()[0].group_segment_size, code.kernels()[0].reqd_workgroup_size), (0, None));
    let path = root.join("iree/gfx942/module_mm_linked_rocm_hsaco_fb.hsaco");
    let code = CodeObject::parse(&fs::read(path).unwrap()).unwrap();
    assert!(code.kernels().iter().all(|kernel| kernel.reqd_workgroup_size.is_some()));
    let is_plain = |kind: &ArgKind| matches!(kind, ArgKind::GlobalBuffer | ArgKind::ByValue);
    let explicit = |kernel: &Kernel| kernel.explicit_args().all(|arg| is_plain(&arg.kind));
    assert!(code.kernels().iter().all(explicit));
}

#[test]
fn containers_of_iree_hold_what_its_compiler_dumps() {
    let Some(root) = fixtures() else { return };
    for (container, dump) in [
        ("gfx942/mm.0.hip1", "gfx942/module_mm_linked_rocm_hsaco_fb.hsaco"),
        ("gfx942/mm.vmfb", "gfx942/module_mm_linked_rocm_hsaco_fb.hsaco"),
        ("gfx942/add_feat.0.hip1", "gfx942/module_add_dispatch_0_rocm_hsaco_fb.hsaco"),
        ("gfx942/add_feat.vmfb", "gfx942/module_add_dispatch_0_rocm_hsaco_fb.hsaco"),
        ("gfx1100/mm.0.hip1", "gfx1100/module_mm_linked_rocm_hsaco_fb.hsaco"),
        ("gfx1100/mm.vmfb", "gfx1100/module_mm_linked_rocm_hsaco_fb.hsaco"),
    ] {
        let bytes = fs::read(root.join("iree").join(container)).unwrap();
        let dump = fs::read(root.join("iree").join(dump)).unwrap();
        let file = File::parse(&bytes, &Options::default()).unwrap();
        // The bytes of this one were changed, and its checksums were not.
        let damaged = container == "gfx942/add_feat.vmfb";
        assert_eq!((file.bundles().len(), file.problems().len()), (1, usize::from(damaged)), "{container}");
        assert_eq!(file.bundles()[0].damage().is_some(), damaged, "{container}");
        assert_eq!(file.bundles()[0].extract(0).unwrap(), dump, "{container}");
    }
}

#[test]
fn hostile_files_give_a_result_or_a_named_error() {
    let Some(root) = fixtures() else { return };
    let hostile = files(&root.join("hostile"));
    assert!(!hostile.is_empty());
    for path in hostile {
        let bytes = fs::read(&path).unwrap();
        match File::parse(&bytes, &Options::default()) {
            Err(error) => assert!(error.to_string().len() > 20, "{}: {error}", path.display()),
            Ok(file) => {
                for bundle in file.bundles() {
                    for index in 0..bundle.entries().len() {
                        let _ = bundle.extract(index).map(|image| CodeObject::parse(&image));
                    }
                    let verdicts = bundle.select(&agent("gfx942"), &Options::default()).verdicts;
                    assert!(verdicts.iter().all(|verdict| !verdict.reason.is_empty()));
                }
            }
        }
    }
}

#[test]
fn the_projects_own_kernels() {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels");
    let mut read = 0;
    for path in files(&kernels) {
        if cfg!(miri)
            && !path.ends_with("vector_add.gfx942.co")
            && !path.ends_with("vector_add.features.ccob")
        {
            continue;
        }
        let bytes = fs::read(&path).unwrap();
        let is_code = [&b"CCOB"[..], b"__CLANG_OFFLOAD_BUNDLE__", b"\x7fELF"]
            .iter()
            .any(|magic| bytes.starts_with(magic));
        if is_code {
            let file = File::parse(&bytes, &Options::default()).unwrap();
            assert_eq!(file.problems(), [], "{}", path.display());
            let count = read_all(&file).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert!(count > 0, "{}", path.display());
            read += 1;
        }
    }
    if read == 0 {
        skipped("cts/kernels has no compiled kernels in this checkout");
    }
}
