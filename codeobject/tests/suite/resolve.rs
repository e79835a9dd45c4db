// SPDX-License-Identifier: MIT OR Apache-2.0
//! Undefined symbols, and the code object once they are resolved.

use std::fs;
use std::path::Path;

use windlass_codeobject::{CodeObject, Error};

use crate::support::{ElfBuilder, KernelSpec, fixtures};

/// `wanted` and `also` are undefined, `own` is defined; one weak symbol has no definition.
fn builder() -> ElfBuilder {
    let mut builder = ElfBuilder::new(vec![KernelSpec::new("k")]);
    builder.symbols = vec![
        (b"wanted".to_vec(), 0, 0, 0x10, 0),
        (b"also".to_vec(), 0, 0, 0x10, 0),
        (b"own".to_vec(), 0x2010, 4, 0x11, 3),
        (b"maybe".to_vec(), 0, 0, 0x20, 0),
        (b"unused".to_vec(), 0, 0, 0x10, 0),
    ];
    builder.spare = 0x40;
    builder
}

/// Offset, kind, symbol and addend of relocations.
type Rows = Vec<(u64, u32, u32, i64)>;

fn word(elf: &[u8], place: u64) -> u64 {
    u64::from_le_bytes(elf[place as usize..place as usize + 8].try_into().unwrap())
}

#[test]
fn addresses_are_written_and_their_relocations_are_gone() {
    let mut builder = builder();
    let at = builder.spare_address();
    builder.relocations = vec![
        (at, 3, 1, 8),
        (at + 0x10, 13, 0, 0x1000),
        (at + 0x18, 1, 2, 0),
        (at + 0x1c, 2, 2, 0),
        (at + 0x20, 3, 3, 0),
        (at + 0x28, 3, 4, 0),
    ];
    let mut elf = builder.build();
    let code = CodeObject::parse(&elf).unwrap();
    let waiting: Vec<(u64, &str)> = code
        .unresolved()
        .map(|(relocation, symbol)| (relocation.offset - at, symbol.name.as_str()))
        .collect();
    assert_eq!(waiting, [(0, "wanted"), (0x18, "also"), (0x1c, "also"), (0x28, "maybe")]);
    code.resolve(&mut elf, |symbol| match symbol.name.as_str() {
        "wanted" => Some(0x7000_0000_1000),
        "also" => Some(0x7fff_1234_5678),
        "maybe" => Some(0),
        other => panic!("{other} is not waited for"),
    })
    .unwrap();
    assert_eq!(word(&elf, at), 0x7000_0000_1008);
    assert_eq!(word(&elf, at + 0x18), 0x7fff_1234_5678, "two halves");
    assert_eq!(word(&elf, at + 0x28), 0);
    let code = CodeObject::parse(&elf).unwrap();
    let left: Vec<u64> = code.relocations().iter().map(|relocation| relocation.offset - at).collect();
    assert_eq!((left, code.unresolved().count()), (vec![0x10, 0x20], 0));
    assert_eq!(code.undefined().count(), 4, "the symbols stay, for whoever lists them");
}

#[test]
fn what_cannot_be_resolved_is_an_error_and_changes_nothing() {
    let at = builder().spare_address();
    let program = |elf: &[u8]| word(elf, 32);
    let cases: [(Rows, &str); 5] = [
        (vec![(at, 3, 1, 0), (at + 8, 3, 2, 0)], "undefined symbol also"),
        (vec![(at, 4, 1, 0)], "-fPIC"),
        (vec![(at, 99, 1, 0)], "-fPIC"),
        (vec![(0x9000, 3, 1, 0)], "no segment has bytes"),
        (vec![(24, 3, 1, 0)], "headers and tables"),
    ];
    for (relocations, words) in cases {
        let mut builder = builder();
        builder.relocations = relocations;
        // The offset of the program headers, in the ELF header that a segment covers.
        if let Some(first) = builder.relocations.first_mut().filter(|first| first.0 == 24) {
            first.0 = 32;
        }
        let mut elf = builder.build();
        let before = elf.clone();
        assert_ne!(program(&elf), 0x1000);
        let code = CodeObject::parse(&elf).unwrap();
        let error = code.resolve(&mut elf, |symbol| (symbol.name == "wanted").then_some(0x1000)).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains(words) || matches!(error, Error::Malformed { .. }) && words.starts_with("headers"),
            "{text}"
        );
        assert_eq!(elf, before);
    }
}

#[test]
fn objects_of_the_compiler_are_resolved_with_and_without_section_headers() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles/link_user.gfx942.co");
    let whole = fs::read(path).unwrap();
    let mut bare = whole.clone();
    // e_shoff, e_shentsize to e_shstrndx.
    bare[40..48].fill(0);
    bare[58..64].fill(0);
    for mut elf in [whole, bare] {
        let code = CodeObject::parse(&elf).unwrap();
        let names: Vec<&str> = code.unresolved().map(|(_, symbol)| symbol.name.as_str()).collect();
        assert_eq!(names, ["link_scale", "link_bias"]);
        let places: Vec<u64> = code.relocations().iter().map(|relocation| relocation.offset).collect();
        let offset = |place: u64| {
            let segment = code.segments().iter().find(|segment| segment.holds(place, 8)).unwrap();
            place - segment.address + segment.offset
        };
        code.resolve(&mut elf, |symbol| Some(if symbol.name == "link_bias" { 0x10 } else { 0x20 })).unwrap();
        assert_eq!(places.iter().map(|place| word(&elf, offset(*place))).collect::<Vec<_>>(), [0x20, 0x10]);
        assert_eq!(CodeObject::parse(&elf).unwrap().relocations(), []);
    }
}

#[test]
fn readers_of_section_headers_see_no_relocation_either() {
    let Some(root) = fixtures() else { return };
    let mut elf = fs::read(root.join("clang/extuser.gfx942.co")).unwrap();
    let code = CodeObject::parse(&elf).unwrap();
    code.resolve(&mut elf, |_| Some(0x1234)).unwrap();
    let path = std::env::temp_dir().join(format!("windlass-resolved-{}.co", std::process::id()));
    fs::write(&path, &elf).unwrap();
    let listing = std::process::Command::new("llvm-readelf-19").args(["-r", "-d", "-W"]).arg(&path).output();
    fs::remove_file(&path).unwrap();
    match listing {
        Ok(output) => {
            let listing = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && listing.contains("RELASZ"), "{listing}");
            assert!(!listing.contains("R_AMDGPU_ABS64"), "{listing}");
        }
        Err(error) => crate::support::skipped(&format!("llvm-readelf-19 cannot be run: {error}")),
    }
}
