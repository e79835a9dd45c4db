// SPDX-License-Identifier: MIT OR Apache-2.0
//! The contents of a code object.

use windlass_codeobject::{
    ArgKind, Binding, CodeObject, Error, HiddenKind, KernelKind, RelocationKind, SymbolRole,
};

use crate::support::{ElfBuilder, KernelSpec, Value};

fn parse(builder: &ElfBuilder) -> CodeObject {
    CodeObject::parse(&builder.build()).unwrap()
}

#[test]
fn a_kernel_with_everything_that_descriptor_and_metadata_say() {
    let code = parse(&ElfBuilder::new(vec![KernelSpec::new("scale")]));
    assert_eq!(code.target().to_string(), "gfx942");
    assert_eq!(code.code_object_version(), Some(5));
    assert_eq!(code.abi_version(), 3);
    assert_eq!(code.metadata_version(), Some((1, 2)));
    assert_eq!(code.generic_version(), None);
    assert_eq!(code.warnings(), [""; 0]);
    let kernel = code.kernel("scale").unwrap();
    assert_eq!((kernel.name.as_str(), kernel.symbol.as_str()), ("scale", "scale.kd"));
    assert_eq!(kernel.entry_address, 0x1000);
    assert_eq!(kernel.descriptor_address % 64, 0);
    assert_eq!((kernel.kernarg_size, kernel.kernarg_align), (272, 8));
    assert_eq!((kernel.group_segment_size, kernel.private_segment_size), (64, 16));
    assert_eq!((kernel.wavefront_size, kernel.max_flat_workgroup_size), (64, 256));
    assert_eq!((kernel.sgpr_count, kernel.vgpr_count, kernel.agpr_count), (14, 8, None));
    assert_eq!((kernel.kind, kernel.reqd_workgroup_size), (KernelKind::Normal, None));
    let kinds: Vec<&ArgKind> = kernel.args.iter().map(|arg| &arg.kind).collect();
    let hidden = ArgKind::Hidden(HiddenKind::BlockCountX);
    assert_eq!(kinds, [&ArgKind::GlobalBuffer, &ArgKind::ByValue, &hidden]);
    assert_eq!(kernel.explicit_args().count(), 2);
    let descriptor = &kernel.descriptor;
    assert_eq!(descriptor.group_segment_fixed_size, 64);
    assert_eq!(descriptor.private_segment_fixed_size, 16);
    assert_eq!(descriptor.kernarg_size, 272);
    assert_eq!(descriptor.compute_pgm_rsrc3, 0x0101);
    assert_eq!(descriptor.compute_pgm_rsrc1, 0x0202);
    assert_eq!(descriptor.user_sgpr_count(), 2);
    assert_eq!(descriptor.workgroup_id(), [true, false, true]);
    assert_eq!(descriptor.workitem_id_dimensions(), 2);
    assert!(descriptor.kernarg_segment_ptr() && !descriptor.dispatch_ptr() && !descriptor.wavefront_size32());
    assert_eq!((descriptor.kernarg_preload_length(), descriptor.kernarg_preload_offset()), (3, 5));
}

#[test]
fn segments_for_a_loader() {
    let code = parse(&ElfBuilder::new(vec![KernelSpec::new("k")]));
    let flags: Vec<_> = code
        .segments()
        .iter()
        .map(|s| (s.readable, s.writable, s.executable, s.address == s.offset))
        .collect();
    assert_eq!(flags, [(true, false, false, true), (true, false, true, true), (true, true, false, true)]);
    assert_eq!(code.segments()[2].memory_size - code.segments()[2].file_size, 0x100);
    assert!(code.segments()[1].holds(0x1000, 16));
    assert!(!code.segments()[1].holds(0x1000, u64::MAX));
}

#[test]
fn symbols_with_and_without_a_hash_table() {
    for with_hash in [true, false] {
        let mut builder = ElfBuilder::new(vec![KernelSpec::new("k")]);
        builder.with_hash = with_hash;
        builder.symbols = vec![
            (b"counter".to_vec(), 0x2010, 4, 0x11, 3),
            (b"helper".to_vec(), 0x1010, 32, 0x12, 2),
            (b"missing".to_vec(), 0, 0, 0x10, 0),
            (b"odd\xff".to_vec(), 0x2020, 4, 0x21, 3),
            (b"limit".to_vec(), 5, 0, 0x10, 0xfff1),
        ];
        builder.relocations =
            vec![(0x2018, 3, 3, 8), (0x2020, 13, 0, 0x1000), (0x2028, 3, 1, -4), (0x2030, 99, 1, 0)];
        let code = parse(&builder);
        let names = |symbols: Vec<&windlass_codeobject::Symbol>| -> Vec<String> {
            symbols.into_iter().map(|symbol| symbol.name.clone()).collect()
        };
        assert_eq!(names(code.variables().collect()), ["counter", "odd\\xff"]);
        assert_eq!(names(code.functions().collect()), ["helper"]);
        assert_eq!(names(code.undefined().collect()), ["missing"]);
        let role = |name| code.symbols().iter().find(|symbol| symbol.name == name).unwrap().role;
        assert_eq!(role("k.kd"), SymbolRole::KernelDescriptor);
        assert_eq!(role("k"), SymbolRole::KernelEntry);
        assert_eq!(role("limit"), SymbolRole::Other);
        assert_eq!(code.symbols()[3].binding, Binding::Weak);
        let relocations = code.relocations();
        let kinds: Vec<RelocationKind> = relocations.iter().map(|relocation| relocation.kind).collect();
        assert_eq!(
            kinds,
            [
                RelocationKind::Abs64,
                RelocationKind::Relative64,
                RelocationKind::Abs64,
                RelocationKind::Other(99)
            ]
        );
        assert_eq!(code.symbols()[relocations[0].symbol.unwrap()].name, "missing");
        assert_eq!((relocations[1].symbol, relocations[1].addend), (None, 0x1000));
        assert_eq!((relocations[2].symbol_value, relocations[2].addend), (0x2010, -4));
    }
}

#[test]
fn a_kernel_that_is_not_there_is_told_with_those_that_are() {
    let code = parse(&ElfBuilder::new(vec![KernelSpec::new("scale"), KernelSpec::new("add")]));
    let error = code.kernel("mul").unwrap_err().to_string();
    assert!(error.contains("`mul`") && error.contains("scale, add"), "{error}");
}

#[test]
fn one_bad_kernel_costs_no_other() {
    let mut no_descriptor = KernelSpec::new("lost");
    no_descriptor.described = false;
    let mut astray = KernelSpec::new("astray");
    astray.entry = 0x5000;
    let mut into_data = KernelSpec::new("data");
    into_data.entry = -0x800;
    let no_names = KernelSpec::with("x", vec![(".name", Value::Nil), (".symbol", Value::Nil)]);
    let kernels =
        vec![no_descriptor, KernelSpec::new("good"), astray, into_data, KernelSpec::new("good"), no_names];
    let code = parse(&ElfBuilder::new(kernels));
    assert_eq!(code.kernels().len(), 1);
    let reasons: Vec<(&str, &str)> =
        code.rejected().iter().map(|kernel| (kernel.name.as_str(), kernel.reason.as_str())).collect();
    assert_eq!(
        reasons,
        [
            ("lost", "its descriptor's symbol is not in the symbol table"),
            ("astray", "its first instruction lies in no executable segment"),
            ("data", "its first instruction lies in no executable segment"),
            ("good", "another kernel of that name comes before it"),
            ("kernel 5", "it has neither .name nor .symbol"),
        ]
    );
    let error = code.kernel("astray").unwrap_err().to_string();
    assert!(error.contains("no executable segment"), "{error}");
}

#[test]
fn objects_of_the_compiler_are_not_linked() {
    let mut builder = ElfBuilder::new(vec![KernelSpec::new("k")]);
    builder.elf_type = 1;
    let code = parse(&builder);
    assert_eq!(code.kernels(), []);
    assert!(code.rejected()[0].reason.contains("ld.lld"), "{:?}", code.rejected());
}

#[test]
fn other_files_are_named() {
    let bundle = crate::support::plain(&[(crate::HOST, b"")], 1);
    assert!(CodeObject::parse(&bundle).unwrap_err().to_string().contains("File::parse"));
    assert!(matches!(CodeObject::parse(b"garbage"), Err(Error::NotRecognised { .. })));
    assert!(matches!(CodeObject::parse(b""), Err(Error::NotRecognised { .. })));
    let mut host = ElfBuilder::new(vec![]);
    host.machine = 62;
    assert!(CodeObject::parse(&host.build()).unwrap_err().to_string().contains("machine 62"));
}

#[test]
fn damage_to_what_a_loader_needs_is_an_error() {
    let good = ElfBuilder::new(vec![KernelSpec::new("k")]).build();
    let program = u64::from_le_bytes(good[32..40].try_into().unwrap()) as usize;
    let damaged = |at: usize, value: u64| {
        let mut elf = good.clone();
        elf[program + at..program + at + 8].copy_from_slice(&value.to_le_bytes());
        CodeObject::parse(&elf).unwrap_err().to_string()
    };
    let second = 56;
    for (at, value, words) in [
        (second + 8, u64::MAX, "segment 1"),
        (second + 32, 1 << 40, "segment 1"),
        (second + 40, 1, "less memory than file"),
        (second + 16, u64::MAX - 8, "overflow"),
    ] {
        assert!(damaged(at, value).contains(words), "{}", damaged(at, value));
    }
    let mut builder = ElfBuilder::new(vec![KernelSpec::new("k")]);
    builder.relocations = vec![(0x2018, 3, 77, 0)];
    assert!(CodeObject::parse(&builder.build()).unwrap_err().to_string().contains("symbol 77"));
}

#[test]
fn targets_that_only_the_metadata_can_name() {
    let code = parse(&ElfBuilder::for_flags(0x2fe, 3, "gfx9999:xnack-"));
    assert_eq!(code.target().to_string(), "gfx9999:xnack-");
    let code = parse(&ElfBuilder::for_flags(0x54c, 3, "gfx90a"));
    assert_eq!(code.target().to_string(), "gfx942", "the flags are what loaders look at");
    assert!(code.warnings()[0].contains("gfx90a"), "{:?}", code.warnings());
    let code = parse(&ElfBuilder::for_flags(0x5f | 3 << 24, 4, "gfx9-4-generic"));
    assert_eq!((code.generic_version(), code.code_object_version()), (Some(3), Some(6)));
}
