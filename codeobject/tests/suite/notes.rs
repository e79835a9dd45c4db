// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code objects of several linked objects, each with a note of its own.

use windlass_codeobject::{CodeObject, Error};

use crate::support::{ElfBuilder, KernelSpec, Value, encode, map};

/// A code object with a note for each kernel.
fn linked(names: &[&str]) -> ElfBuilder {
    let mut builder = ElfBuilder::new(names.iter().map(|name| KernelSpec::new(name)).collect());
    let notes: Vec<Vec<u8>> =
        builder.kernels.iter().map(|kernel| builder.metadata_of(std::slice::from_ref(kernel))).collect();
    builder.note = Some(notes[0].clone());
    builder.further_notes = notes[1..].to_vec();
    builder
}

fn names(code: &CodeObject) -> Vec<&str> {
    code.kernels().iter().map(|kernel| kernel.name.as_str()).collect()
}

#[test]
fn the_kernels_of_all_notes_are_known() {
    let mut builder = linked(&["first", "second", "third"]);
    for header_per_note in [false, true] {
        builder.header_per_note = header_per_note;
        let code = CodeObject::parse(&builder.build()).unwrap();
        assert_eq!(names(&code), ["first", "second", "third"]);
        assert_eq!((code.rejected().len(), code.warnings()), (0, &[][..]), "no note counts twice");
        assert_eq!(code.metadata_version(), Some((1, 2)));
    }
}

#[test]
fn of_two_notes_with_one_kernel_the_first_counts() {
    let mut builder = linked(&["k", "other"]);
    let again = KernelSpec::with("k", vec![(".vgpr_count", 99.into())]);
    builder.further_notes.push(builder.metadata_of(&[again]));
    let code = CodeObject::parse(&builder.build()).unwrap();
    assert_eq!(names(&code), ["k", "other"]);
    assert_eq!(code.kernel("k").unwrap().vgpr_count, 8);
    assert!(code.rejected()[0].reason.contains("another kernel of that name"), "{:?}", code.rejected());
}

#[test]
fn notes_that_disagree_are_named() {
    let note = |minor: i64, target: &str| {
        encode(&map(vec![
            ("amdhsa.version", vec![Value::Int(1), Value::Int(minor)].into()),
            ("amdhsa.target", target.into()),
            ("amdhsa.kernels", vec![].into()),
        ]))
    };
    let mut builder = linked(&["k"]);
    builder.further_notes = vec![note(1, "amdgcn-amd-amdhsa--gfx942")];
    let error = CodeObject::parse(&builder.build()).unwrap_err().to_string();
    assert!(error.contains("version 1.1 in AMDGPU note 2 of 2, behind version 1.2"), "{error}");
    assert!(error.contains("-mcode-object-version"), "{error}");

    builder.further_notes = vec![note(2, "amdgcn-amd-amdhsa--gfx90a")];
    let code = CodeObject::parse(&builder.build()).unwrap();
    assert_eq!(code.target().to_string(), "gfx942");
    assert!(code.warnings()[0].contains("AMDGPU note 2 of 2 says"), "{:?}", code.warnings());
}

#[test]
fn a_note_that_breaks_off_is_named() {
    let mut builder = linked(&["a", "b", "c"]);
    builder.further_notes[1].truncate(40);
    let error = CodeObject::parse(&builder.build()).unwrap_err().to_string();
    assert!(error.contains("AMDGPU note 3 of 3") && error.contains("breaks off"), "{error}");
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes: 65 537 notes, one more than the limit")]
fn more_notes_than_any_linker_writes_are_limited() {
    let mut builder = ElfBuilder::new(vec![]);
    builder.further_notes = vec![encode(&map(vec![])); 65_535];
    assert_eq!(CodeObject::parse(&builder.build()).unwrap().kernels(), []);
    builder.further_notes.push(encode(&map(vec![])));
    let error = CodeObject::parse(&builder.build()).unwrap_err();
    assert!(matches!(error, Error::Limit { value: 65_537, .. }), "{error}");
}

#[test]
fn notes_that_share_bytes_cost_no_more_than_the_file() {
    // Each note lies within the content of the one before, and reaches to the end of the area.
    let mut content = Vec::new();
    for _ in 0..1000 {
        let mut note = [7_u32, content.len() as u32, 32].map(u32::to_le_bytes).concat();
        note.extend(b"AMDGPU\0\0");
        note.extend(&content);
        content = note;
    }
    let mut builder = ElfBuilder::new(vec![]);
    builder.note = Some(content);
    builder.nested_headers = 1000;
    let error = CodeObject::parse(&builder.build()).unwrap_err();
    assert!(matches!(error, Error::Limit { .. }), "{error}");
    assert!(error.to_string().contains("all kernel metadata"), "{error}");
}
