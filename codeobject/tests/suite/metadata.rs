// SPDX-License-Identifier: MIT OR Apache-2.0
//! Metadata of producers that deviate from the specification.

use windlass_codeobject::{Access, AddressSpace, ArgKind, CodeObject, KernelKind};

use crate::support::{ElfBuilder, KernelSpec, Value, encode, map};

fn parse(kernels: Vec<KernelSpec>) -> CodeObject {
    CodeObject::parse(&ElfBuilder::new(kernels).build()).unwrap()
}

fn arg(keys: Vec<(&str, Value)>) -> Value {
    let mut pairs =
        vec![(".offset", 0.into()), (".size", 8.into()), (".value_kind", Value::from("global_buffer"))];
    pairs.retain(|(key, _)| !keys.iter().any(|(given, _)| given == key));
    pairs.extend(keys);
    map(pairs)
}

fn with_arg(keys: Vec<(&str, Value)>) -> CodeObject {
    parse(vec![KernelSpec::with("k", vec![(".args", vec![arg(keys)].into())])])
}

#[test]
fn optional_keys_are_read() {
    let keys = vec![
        (".reqd_workgroup_size", vec![Value::Int(8), Value::Int(4), Value::Int(2)].into()),
        (".kind", "init".into()),
        (".agpr_count", 32.into()),
        (".uses_dynamic_stack", true.into()),
        (".uniform_work_group_size", 1.into()),
        (".workgroup_processor_mode", 0.into()),
        (".sgpr_spill_count", 3.into()),
        (".vgpr_spill_count", 4.into()),
    ];
    let code = parse(vec![KernelSpec::with("k", keys)]);
    let kernel = code.kernel("k").unwrap();
    assert_eq!(kernel.reqd_workgroup_size, Some([8, 4, 2]));
    assert_eq!((kernel.kind, kernel.agpr_count), (KernelKind::Init, Some(32)));
    assert!(kernel.uses_dynamic_stack && kernel.uniform_workgroup_size && !kernel.workgroup_processor_mode);
    assert_eq!((kernel.sgpr_spill_count, kernel.vgpr_spill_count), (3, 4));

    let code = with_arg(vec![
        (".name", "x".into()),
        (".type_name", "float*".into()),
        (".address_space", "global".into()),
        (".access", "read_write".into()),
        (".actual_access", "read_only".into()),
        (".is_const", true.into()),
        (".is_restrict", 1.into()),
        (".pointee_align", 16.into()),
    ]);
    let arg = &code.kernels()[0].args[0];
    assert_eq!((arg.name.as_deref(), arg.type_name.as_deref()), (Some("x"), Some("float*")));
    assert_eq!(arg.address_space, Some(AddressSpace::Global));
    assert_eq!((arg.access, arg.actual_access), (Some(Access::ReadWrite), Some(Access::ReadOnly)));
    assert!(arg.is_const && arg.is_restrict && !arg.is_volatile);
    assert_eq!(arg.pointee_align, Some(16));
}

#[test]
fn keys_of_the_future_pass() {
    let nested = map(vec![("deep", vec![map(vec![("deeper", Value::Nil)]), Value::Float(1.5)].into())]);
    let mut kernel = KernelSpec::with("k", vec![(".gfx9999_thing", nested.clone())]);
    if let Value::Map(pairs) = &mut kernel.metadata {
        pairs.push((Value::Int(7), nested.clone()));
        pairs.push((nested.clone(), Value::Bool(true)));
    }
    let code = parse(vec![kernel]);
    assert_eq!(code.kernels().len(), 1);
    let code = with_arg(vec![(".new", nested), (".value_kind", "tensor_map".into())]);
    assert_eq!(code.kernels()[0].args[0].kind, ArgKind::Other("tensor_map".to_owned()));
}

#[test]
fn scalars_of_the_wrong_type_are_taken_for_what_they_can_mean() {
    let code =
        with_arg(vec![(".name", false.into()), (".offset", Value::from("16")), (".size", true.into())]);
    let arg = &code.kernels()[0].args[0];
    assert_eq!((arg.name.as_deref(), arg.offset, arg.size), (Some("false"), 16, 1));
    assert!(code.warnings()[0].contains(".name"), "{:?}", code.warnings());
    let keys = vec![
        (".group_segment_fixed_size", Value::from("lots")),
        (".vgpr_count", Value::Int(-1)),
        (".wavefront_size", Value::Nil),
        (".max_flat_workgroup_size", vec![Value::Int(3)].into()),
        (".uses_dynamic_stack", Value::Float(0.5)),
    ];
    let code = parse(vec![KernelSpec::with("k", keys)]);
    let kernel = code.kernel("k").unwrap();
    assert_eq!(kernel.group_segment_size, 64, "the descriptor knows");
    assert_eq!((kernel.vgpr_count, kernel.wavefront_size, kernel.max_flat_workgroup_size), (0, 64, 1024));
    assert!(!code.warnings().is_empty());
}

#[test]
fn names_are_bytes_and_never_words_of_yaml() {
    for name in ["N", "y", "no", "true", "1", "0x10", "NaN", "null", "~"] {
        let code = parse(vec![KernelSpec::new(name)]);
        assert_eq!(code.kernel(name).unwrap().symbol, format!("{name}.kd"));
    }
    let mut kernel = KernelSpec::with("k", vec![(".name", Value::Bool(false))]);
    kernel.name = b"N".to_vec();
    if let Value::Map(pairs) = &mut kernel.metadata {
        pairs.push((".symbol".into(), "N.kd".into()));
    }
    let code = parse(vec![kernel]);
    assert!(code.kernel("N").is_ok(), "a name that became a truth value is in the symbol");

    let raw = b"k\xc3\x28".to_vec();
    let mut kernel = KernelSpec::with("k", vec![(".name", Value::Bin(raw.clone())), (".symbol", Value::Nil)]);
    kernel.name = raw;
    let code = parse(vec![kernel]);
    assert!(code.kernel("k\\xc3(").is_ok(), "{:?}", code.rejected());
}

#[test]
fn arguments_that_cannot_be_packed_reject_their_kernel() {
    for (keys, words) in [
        (vec![(".offset", Value::Nil)], "argument 0 has no .offset"),
        (vec![(".size", Value::Int(-8))], "argument 0 has no .offset or no .size"),
        (vec![(".value_kind", Value::Nil)], "argument 0 has no .value_kind"),
        (vec![(".offset", Value::Int(268))], "argument 0 ends at 276, past its 272 bytes"),
        (vec![(".offset", Value::Int(0xffff_ffff))], "argument 0 ends at"),
    ] {
        let bad = KernelSpec::with("bad", vec![(".args", vec![arg(keys)].into())]);
        let code = parse(vec![bad, KernelSpec::new("good")]);
        assert!(code.kernel("good").is_ok());
        assert!(code.rejected()[0].reason.contains(words), "{:?}", code.rejected());
    }
    for keys in [
        vec![(".args", Value::Int(3))],
        vec![(".args", vec![Value::Int(3)].into())],
        vec![(".reqd_workgroup_size", vec![Value::Int(3)].into())],
        vec![(".reqd_workgroup_size", Value::from("8,8,1"))],
        vec![(".wavefront_size", Value::Int(17))],
    ] {
        let code = parse(vec![KernelSpec::with("bad", keys), KernelSpec::new("good")]);
        assert_eq!((code.kernels().len(), code.rejected().len()), (1, 1));
    }
}

#[test]
fn keys_without_a_value_and_keys_given_twice() {
    let keys = vec![
        (".reqd_workgroup_size", Value::Nil),
        (".args", vec![arg(vec![])].into()),
        (".kernarg_segment_size", Value::Nil),
        (".kind", Value::Nil),
    ];
    let mut kernel = KernelSpec::with("k", keys);
    if let Value::Map(pairs) = &mut kernel.metadata {
        pairs.push((".args".into(), vec![arg(vec![(".offset", 16.into())])].into()));
    }
    let code = parse(vec![kernel]);
    let kernel = code.kernel("k").unwrap();
    assert_eq!((kernel.reqd_workgroup_size, kernel.kind), (None, KernelKind::Normal));
    assert_eq!(kernel.kernarg_size, 272, "the descriptor knows");
    let offsets: Vec<u32> = kernel.args.iter().map(|arg| arg.offset).collect();
    assert_eq!(offsets, [16], "the last one counts");
}

#[test]
fn names_of_every_wrong_type_cost_no_other_kernel() {
    for wrong in [
        Value::Bool(true),
        Value::Int(7),
        Value::Float(0.5),
        Value::Nil,
        vec![Value::Nil].into(),
        map(vec![]),
    ] {
        let by_symbol = KernelSpec::with("lost", vec![(".name", wrong.clone())]);
        let by_name = KernelSpec::with("found", vec![(".symbol", wrong.clone())]);
        let neither = KernelSpec::with("gone", vec![(".name", wrong.clone()), (".symbol", wrong)]);
        let code = parse(vec![neither, by_symbol, by_name, KernelSpec::new("good")]);
        let names: Vec<&str> = code.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(names, ["lost", "found", "good"]);
        assert_eq!(code.rejected()[0].name, "kernel 0");
    }
}

#[test]
fn metadata_that_breaks_off_is_an_error() {
    let whole = ElfBuilder::new(vec![KernelSpec::new("k")]).metadata();
    for size in [0, 1, whole.len() / 2, whole.len() - 1] {
        let mut builder = ElfBuilder::new(vec![KernelSpec::new("k")]);
        builder.note = Some(whole[..size].to_vec());
        let error = CodeObject::parse(&builder.build()).unwrap_err().to_string();
        assert!(error.contains("kernel metadata") && error.contains("breaks off"), "{error}");
    }
}

#[test]
fn odd_roots_and_missing_notes() {
    let mut builder = ElfBuilder::new(vec![KernelSpec::new("k")]);
    builder.with_note = false;
    let code = CodeObject::parse(&builder.build()).unwrap();
    assert_eq!(code.kernels(), []);
    assert!(code.warnings()[0].contains("no kernel metadata"), "{:?}", code.warnings());

    builder.with_note = true;
    builder.note =
        Some(encode(&map(vec![("amdhsa.kernels", Value::Int(3)), ("amdhsa.version", Value::Nil)])));
    let code = CodeObject::parse(&builder.build()).unwrap();
    assert_eq!((code.kernels().len(), code.metadata_version()), (0, None));
}

#[test]
fn code_object_version_2_is_refused_with_what_to_do() {
    let mut builder = ElfBuilder::new(vec![KernelSpec::new("k")]);
    builder.version_2 = true;
    let error = CodeObject::parse(&builder.build()).unwrap_err().to_string();
    assert!(error.starts_with("code object v2 "), "{error}");
    assert!(error.contains("recompile with -mcode-object-version=5"), "{error}");
}
