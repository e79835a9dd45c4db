// SPDX-License-Identifier: MIT OR Apache-2.0
//! Symbols and their bytes.

use std::fs;

use windlass_codeobject::{CodeObject, Symbol, SymbolRole};

use crate::support::{ElfBuilder, KernelSpec, fixtures};

fn symbol<'c>(code: &'c CodeObject, name: &str) -> &'c Symbol {
    code.symbols().iter().find(|symbol| symbol.name == name).unwrap_or_else(|| panic!("no {name}"))
}

#[test]
fn the_bytes_of_a_symbol() {
    let mut builder = ElfBuilder::new(vec![KernelSpec::new("k")]);
    builder.symbols = vec![
        (b"helper".to_vec(), 0x1010, 8, 0x12, 2),
        (b"zeros".to_vec(), 0x20f0, 0x40, 0x11, 3),
        (b"astray".to_vec(), u64::MAX - 3, 8, 0x11, 3),
        (b"missing".to_vec(), 0, 0, 0x10, 0),
        (b"__hip_cuid_0123456789abcdef".to_vec(), 0x2000, 1, 0x11, 3),
    ];
    let elf = builder.build();
    let code = CodeObject::parse(&elf).unwrap();
    assert_eq!(code.bytes_of(&elf, symbol(&code, "helper")), Some(&elf[0x1010..0x1018]));
    assert_eq!(code.bytes_of(&elf, symbol(&code, "k.kd")).map(<[u8]>::len), Some(64));
    for name in ["zeros", "astray", "missing"] {
        assert_eq!(code.bytes_of(&elf, symbol(&code, name)), None, "{name}");
    }
    assert_eq!(code.bytes_of(&elf[..0x1014], symbol(&code, "helper")), None, "an ELF that is cut short");
    assert_eq!(symbol(&code, "__hip_cuid_0123456789abcdef").role, SymbolRole::Marker);
    assert!(code.variables().all(|variable| !variable.name.starts_with("__hip_cuid_")));
}

#[test]
fn kernels_of_constructors_stand_apart() {
    let Some(root) = fixtures() else { return };
    let elf = fs::read(root.join("clang/initfini.gfx942.co")).unwrap();
    let code = CodeObject::parse(&elf).unwrap();
    let names = |kernels: Vec<&windlass_codeobject::Kernel>| -> Vec<String> {
        kernels.into_iter().map(|kernel| kernel.name.clone()).collect()
    };
    assert_eq!(names(code.init_kernels().collect()), ["amdgcn.device.init"]);
    assert_eq!(code.fini_kernels().count(), 0);
    let functions: Vec<&str> = code.functions().map(|symbol| symbol.name.as_str()).collect();
    for name in ["pub_fn", "prot_fn", "hid_fn", "_ZL6loc_fnf"] {
        assert!(functions.contains(&name), "{functions:?}");
        let body = code.bytes_of(&elf, symbol(&code, name)).unwrap();
        // s_setpc_b64 s[30:31]: it returns.
        assert_eq!(body[body.len() - 4..], [0x1e, 0x1d, 0x80, 0xbe], "{name}");
    }
}
