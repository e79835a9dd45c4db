// SPDX-License-Identifier: MIT OR Apache-2.0
//! Metadata of code object version 2: YAML, read for what the schema says.

use windlass_codeobject::{Access, AddressSpace, Arg, ArgKind, CodeObject, Error, HiddenKind};

use crate::support::{ElfBuilder, KernelSpec, fixtures};

const HEAD: &str = "---\nVersion: [ 1, 0 ]\nKernels:\n";

fn try_parse(names: &[&str], yaml: &[u8]) -> Result<CodeObject, Error> {
    let mut builder = ElfBuilder::new(names.iter().map(|name| KernelSpec::new(name)).collect());
    builder.yaml = Some(yaml.to_vec());
    CodeObject::parse(&builder.build())
}

fn parse(names: &[&str], kernels: &str) -> CodeObject {
    try_parse(names, format!("{HEAD}{kernels}...\n").as_bytes()).unwrap()
}

/// Name, offset and size of each argument.
fn places(args: &[Arg]) -> Vec<(Option<&str>, u32, u32)> {
    args.iter().map(|arg| (arg.name.as_deref(), arg.offset, arg.size)).collect()
}

#[test]
fn a_kernel_with_a_descriptor_of_today_can_be_launched() {
    let code = parse(
        &["k"],
        "  - Name: k
    SymbolName: 'k@kd'
    Language: OpenCL C
    LanguageVersion: [ 2, 0 ]
    Attrs:
      ReqdWorkGroupSize: [ 8, 4, 2 ]
      VecTypeHint: float4
    Args:
      - { Name: x, TypeName: 'float*', Size: 8, Align: 8, ValueKind: GlobalBuffer, ValueType: F32,
          AddrSpaceQual: Global, AccQual: ReadWrite, ActualAccQual: ReadOnly, IsConst: true, IsRestrict: false }
      - { Name: n, Size: 2, Align: 2, ValueKind: ByValue }
      - { Name: m, Size: 4, Align: 4, ValueKind: DynamicSharedPointer, PointeeAlign: 16, AddrSpaceQual: Local }
      - { Size: 8, Align: 8, ValueKind: HiddenGlobalOffsetX }
      - { Size: 8, Align: 8, ValueKind: HiddenMultiGridSyncArg }
    CodeProps:
      KernargSegmentSize: 40
      KernargSegmentAlign: 32
      GroupSegmentFixedSize: 128
      PrivateSegmentFixedSize: 12
      WavefrontSize: 64
      NumSGPRs: 11
      NumVGPRs: 7
      NumSpilledSGPRs: 1
      NumSpilledVGPRs: 2
      MaxFlatWorkGroupSize: 512
      IsDynamicCallStack: true
",
    );
    let kernel = code.kernel("k").unwrap();
    assert_eq!(code.metadata_version(), Some((1, 0)));
    assert_eq!(
        places(&kernel.args),
        [(Some("x"), 0, 8), (Some("n"), 8, 2), (Some("m"), 12, 4), (None, 16, 8), (None, 24, 8)]
    );
    let kinds: Vec<&ArgKind> = kernel.args.iter().map(|arg| &arg.kind).collect();
    assert_eq!(
        kinds,
        [
            &ArgKind::GlobalBuffer,
            &ArgKind::ByValue,
            &ArgKind::DynamicSharedPointer,
            &ArgKind::Hidden(HiddenKind::GlobalOffsetX),
            &ArgKind::Hidden(HiddenKind::MultigridSyncArg)
        ]
    );
    let x = &kernel.args[0];
    assert_eq!((x.address_space, x.access), (Some(AddressSpace::Global), Some(Access::ReadWrite)));
    assert_eq!((x.actual_access, x.type_name.as_deref()), (Some(Access::ReadOnly), Some("float*")));
    assert!(x.is_const && !x.is_restrict);
    assert_eq!(kernel.args[2].pointee_align, Some(16));
    assert_eq!(kernel.reqd_workgroup_size, Some([8, 4, 2]));
    assert_eq!((kernel.kernarg_size, kernel.kernarg_align), (40, 32));
    assert_eq!((kernel.group_segment_size, kernel.private_segment_size), (128, 12));
    assert_eq!((kernel.sgpr_count, kernel.vgpr_count), (11, 7));
    assert_eq!((kernel.sgpr_spill_count, kernel.vgpr_spill_count), (1, 2));
    assert_eq!(kernel.max_flat_workgroup_size, 512);
    assert!(kernel.uses_dynamic_stack);
}

#[test]
fn scalars_stay_what_is_written() {
    for name in ["N", "y", "no", "true", "1", "0x10", "1.5", "NaN", "null", "'~'", "\"on\"", "!str off"] {
        let plain = name.trim_matches(['\'', '"']).trim_start_matches("!str ");
        let code = parse(
            &[plain],
            &format!(
                "  - Name: {name}
    Args: [{{ Name: {name}, TypeName: {name}, Size: 4, Align: 4, ValueKind: ByValue }}]
"
            ),
        );
        let kernel = code.kernel(plain).unwrap();
        assert_eq!(kernel.args[0].name.as_deref(), Some(plain));
        assert_eq!(kernel.args[0].type_name.as_deref(), Some(plain));
    }
}

#[test]
fn many_blanks_between_values_are_read_over() {
    let blanks = " \n".repeat(20_000);
    let code = parse(&[], &format!("  - Name: k\n{blanks}    SymbolName: 'k@kd'\n"));
    let [kernel] = code.rejected() else { panic!("{:?}", code.rejected()) };
    assert_eq!(kernel.name, "k", "its note is read; there is no descriptor");
}

#[test]
fn the_note_that_other_readers_misread() {
    let Some(root) = fixtures() else { return };
    let bytes = std::fs::read(root.join("clang/v2note_yn.o")).unwrap();
    let code = CodeObject::parse(&bytes).unwrap();
    assert_eq!(code.kernels(), [], "an object of the assembler is not linked");
    let kernel = &code.rejected()[0];
    assert_eq!(kernel.name, "k");
    assert_eq!(places(&kernel.args), [(Some("N"), 0, 4), (Some("D"), 4, 4)]);
    assert_eq!(kernel.args[0].type_name.as_deref(), Some("y"));
}

#[test]
fn a_kernel_with_the_old_descriptor_is_listed_and_not_launched() {
    let kernels =
        "  - { Name: old, SymbolName: 'old@kd', Args: [{ Name: N, Size: 8, ValueKind: GlobalBuffer }] }
  - { SymbolName: 'new@kd' }
";
    let code = parse(&["new"], kernels);
    assert!(code.kernel("new").is_ok(), "its name is in its symbol's");
    let old = &code.rejected()[0];
    assert_eq!((old.name.as_str(), places(&old.args)), ("old", vec![(Some("N"), 0, 8)]));
    let error = code.kernel("old").unwrap_err().to_string();
    assert!(error.contains("version 2") && error.contains("-mcode-object-version=5"), "{error}");
}

#[test]
fn one_bad_kernel_costs_no_other() {
    for (bad, words) in [
        ("just text", "no map"),
        ("[ 1, 2 ]", "no map"),
        ("{ Name: bad, Args: 3 }", "no list"),
        ("{ Name: bad, Args: [ x ] }", "argument 0 is no map"),
        ("{ Name: bad, Args: [ { Size: 4 } ] }", "argument 0 has no Size or no ValueKind"),
        ("{ Name: bad, Args: [ { Size: -4, ValueKind: ByValue } ] }", "argument 0 has no Size"),
        (
            "{ Name: bad, Args: [ { Size: 4294967295, ValueKind: ByValue }, { Size: 1, ValueKind: ByValue } ] }",
            "argument 1 ends past 4 GiB",
        ),
        ("{ Name: bad, Args: [ { Size: 999, ValueKind: ByValue } ] }", "argument 0 ends at 999"),
        ("{ Name: bad, Attrs: { ReqdWorkGroupSize: [ 8, 8 ] } }", "ReqdWorkGroupSize"),
        ("{ Name: bad, Attrs: { ReqdWorkGroupSize: 8 } }", "ReqdWorkGroupSize"),
        ("{ Args: [] }", "neither"),
    ] {
        let code = parse(&["bad", "good"], &format!("  - {bad}\n  - {{ Name: good }}\n"));
        assert!(code.kernel("good").is_ok(), "{bad}");
        assert!(code.rejected()[0].reason.contains(words), "{bad}: {:?}", code.rejected());
    }
}

#[test]
fn what_the_schema_does_not_know_passes() {
    let code = parse(
        &["k"],
        "  - Name: k
    Future: { deep: [ { deeper: [ 1, { x: y } ] } ], ? [ a, b ] : c }
    ? [ a, b ]
    : value
    CodeProps: { NumVGPRs: lots, NumSGPRs: [ 1 ], WavefrontSize: , IsDynamicCallStack: maybe }
    Args:
      - { Name: [ x ], Size: 4, ValueKind: TensorMap, New: { a: b } }
Printf: [ '1:1:4:%d' ]
",
    );
    let kernel = code.kernel("k").unwrap();
    assert_eq!(kernel.args[0].kind, ArgKind::Other("tensor_map".to_owned()));
    assert_eq!((kernel.args[0].name.as_deref(), kernel.vgpr_count, kernel.wavefront_size), (None, 0, 64));
    assert!(code.warnings().iter().any(|warning| warning.contains("NumVGPRs")), "{:?}", code.warnings());
}

#[test]
fn documents_that_cannot_be_read_are_errors() {
    let deep = format!("Future: {}", "[ ".repeat(200));
    let deep_blocks = format!("Future:\n {}x", "- ".repeat(5000));
    for (yaml, words) in [
        (&b""[..], "no map"),
        (b"Kernels: [ { Name: k", "YAML"),
        (b"- a list", "no map"),
        (b"Kernels: [ &a { Name: k }, *a ]", "anchor"),
        (b"Kernels: [ *a ]", "YAML"),
        (deep.as_bytes(), "levels deep"),
        (deep_blocks.as_bytes(), "levels deep"),
        (&[b'x'; (4 << 20) + 1], "above the limit"),
    ] {
        let error = try_parse(&[], yaml).unwrap_err().to_string();
        assert!(error.contains("version 2") && error.contains(words), "{error}");
    }
    let code = try_parse(&["k"], b"Kernels: [ { Name: \"k\", Odd: \xff } ]\0\0\0").unwrap();
    assert_eq!(code.kernels().len(), 1, "bytes that are not UTF-8, and the padding of a note");
    let code = try_parse(&[], b"Kernels: [ { Name: bad\xc3 } ]").unwrap();
    assert_eq!(code.rejected()[0].name, "bad\\xc3");
}
