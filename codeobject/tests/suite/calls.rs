// SPDX-License-Identifier: MIT OR Apache-2.0
//! What kernels may call.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use windlass_codeobject::{Callee, Calls, CodeObject, SymbolRole};

use crate::support::{ElfBuilder, fixtures, skipped};

/// Names of callees; those without a symbol by their address.
fn names(code: &CodeObject, callees: &[Callee]) -> Vec<String> {
    let is_function = |role| matches!(role, SymbolRole::Function | SymbolRole::KernelEntry);
    let mut names: Vec<String> = callees
        .iter()
        .map(|callee| match callee {
            Callee::At(address) => {
                let mut symbols = code.symbols().iter();
                let symbol = symbols.find(|symbol| symbol.address == *address && is_function(symbol.role));
                symbol.map_or_else(|| format!("{address:#x}"), |symbol| symbol.name.clone())
            }
            Callee::Undefined(index) => format!("{} of another", code.symbols()[*index].name),
            other => panic!("{other:?}"),
        })
        .collect();
    names.sort();
    names
}

fn read(path: &Path) -> (CodeObject, Calls) {
    let elf = fs::read(path).unwrap();
    let code = CodeObject::parse(&elf).unwrap();
    let calls = code.calls(&elf);
    assert!(calls.is_complete());
    (code, calls)
}

/// What a function calls, and all that it reaches.
fn of(code: &CodeObject, calls: &Calls, name: &str) -> (Vec<String>, Vec<String>) {
    let mut symbols = code.symbols().iter();
    let address = symbols.find(|symbol| symbol.name == name && symbol.size > 0).unwrap().address;
    (names(code, &calls.of(address)), names(code, &calls.reached_from(address)))
}

#[test]
fn functions_of_the_same_code_object() {
    let Some(root) = fixtures() else { return };
    for target in ["gfx900", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx9-generic", "gfx11-generic"] {
        let (code, calls) = read(&root.join(format!("clang/symbols.{target}.co")));
        let (direct, all) = of(&code, &calls, "uses_devfuncs");
        assert_eq!(direct, ["_Z8dev_tmplIfET_S0_", "dev_fib", "dev_scale"], "{target}");
        assert_eq!(all, direct, "{target}");
        assert_eq!(of(&code, &calls, "dev_fib").0, ["dev_fib"], "{target}: it calls itself");
        for name in ["indirect", "no_args", "dev_scale"] {
            assert_eq!(of(&code, &calls, name).1, [""; 0], "{target}: {name}");
        }
    }
    let (code, calls) = read(&root.join("clang/symbols.stripped.co"));
    assert_eq!(of(&code, &calls, "uses_devfuncs").1, ["0x2100", "0x2134", "0x2404"]);
    let bare = root.join("clang/symbols.nosections.co");
    let (code, calls) = read(&bare);
    assert_eq!(of(&code, &calls, "uses_devfuncs").1, ["0x2100", "0x2134", "0x2404"]);
}

#[test]
fn functions_by_tables_and_of_other_code_objects() {
    let Some(root) = fixtures() else { return };
    let (code, calls) = read(&root.join("clang/extuser.gfx942.co"));
    assert_eq!(of(&code, &calls, "k2").0, ["pub_fn of another"]);
    let (code, calls) = read(&root.join("clang/initfini.gfx942.co"));
    assert_eq!(of(&code, &calls, "k").0, ["_ZL6loc_fnf", "hid_fn", "prot_fn", "pub_fn"]);
    let (direct, all) = of(&code, &calls, "amdgcn.device.init");
    assert_eq!(direct, ["_GLOBAL__sub_I_initfini.cpp"], "by the table of constructors");
    assert_eq!(all, ["_GLOBAL__sub_I_initfini.cpp", "_ZN1AD2Ev", "__cxa_atexit of another"]);
}

/// Calls and kernels of `cts/kernels`, as they are in their sources.
#[test]
fn the_projects_own_kernels() {
    let kernels = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles");
    let (code, calls) = read(&kernels.join("functions.gfx942.co"));
    assert_eq!(of(&code, &calls, "use_functions").0, ["fivefold", "fourfold", "threefold", "twofold"]);
    let (code, calls) = read(&kernels.join("link_user.gfx942.co"));
    assert_eq!(of(&code, &calls, "link_apply").0, ["link_bias of another", "link_scale of another"]);
}

/// Tables that hold the addresses of each other, and overlap, take bounded time and memory.
#[test]
fn tables_of_tables_end() {
    assert!(follows_tables(1), "each address is looked at once");
    assert!(!follows_tables(200), "what no compiler makes is given up, and said to be");
}

/// Whether every address was followed in so many tables.
fn follows_tables(tables: u64) -> bool {
    const COUNT: u64 = 20_000;
    let mut builder = ElfBuilder::new(Vec::new());
    builder.with_note = false;
    builder.spare = 8 * COUNT as usize;
    let symbols =
        |data| (0..tables).map(move |index| (b"t".to_vec(), data + 64 * index, 8 * COUNT, 0x11, 3)).collect();
    builder.symbols = symbols(0);
    builder.relocations = vec![(0, 0, 0, 0); COUNT as usize];
    // So many relocations move the data: where to, the first attempt shows.
    let first = CodeObject::parse(&builder.build()).unwrap();
    let data = first.segments().iter().find(|segment| segment.writable).unwrap().address + 16 * 7;
    builder.symbols = symbols(data);
    let place = |index: u64| data + 8 * (index % COUNT);
    builder.relocations = (0..COUNT).map(|index| (place(index), 13, 0, place(7 * index) as i64)).collect();
    let mut elf = builder.build();
    let code = CodeObject::parse(&elf).unwrap();
    let text = code.segments().iter().find(|segment| segment.executable).unwrap();
    // s_getpc_b64 s[2:3]; s_add_u32 s2, s2, distance; s_addc_u32 s3, s3, 0
    let distance = (data - text.address - 4) as u32;
    for (index, word) in [0xbe82_1c00, 0x8002_ff02, distance, 0x8203_ff03, 0].into_iter().enumerate() {
        let at = text.offset as usize + 4 * index;
        elf[at..at + 4].copy_from_slice(&u32::to_le_bytes(word));
    }
    let calls = CodeObject::parse(&elf).unwrap().calls(&elf);
    assert_eq!(calls.reached_from(text.address), []);
    calls.is_complete()
}

/// A table of functions and calls on every generation, compiled where there is a compiler.
#[test]
fn a_table_on_every_generation() {
    let directory = std::env::temp_dir().join(format!("windlass-calls-{}", std::process::id()));
    fs::create_dir_all(&directory).unwrap();
    let (source, output) = (directory.join("calls.c"), directory.join("calls.co"));
    let text = "extern __attribute__((visibility(\"default\"))) float elsewhere(float);
typedef float (*fp)(float);
__attribute__((noinline)) static float leaf(float x) { return x * 3; }
__attribute__((noinline, visibility(\"default\"))) float node(float x) { return leaf(x) + 1; }
static float first(float x) { return node(x); }
static float second(float x) { return x * 2; }
static const fp table[2] = {first, second};
__attribute__((amdgpu_kernel, visibility(\"protected\"))) void k(__attribute__((address_space(1))) float *p, int i) {
  p[0] = elsewhere(p[1]) + table[i & 1](p[2]);
}\n";
    fs::write(&source, text).unwrap();
    for target in ["gfx900", "gfx1030", "gfx1100", "gfx1200"] {
        let compiled = Command::new("clang-19")
            .args(["--target=amdgcn-amd-amdhsa", "-O2", "-nogpulib", "-Wl,-z,undefs", "-o"])
            .args([&output, &source])
            .arg(format!("-mcpu={target}"))
            .output();
        match compiled {
            Ok(done) if done.status.success() => {
                let (code, calls) = read(&output);
                let (direct, all) = of(&code, &calls, "k");
                assert_eq!(direct, ["elsewhere of another", "first", "second"], "{target}");
                let all: BTreeSet<String> = all.into_iter().collect();
                let expected = ["elsewhere of another", "first", "leaf", "node", "second"];
                assert_eq!(all, expected.map(str::to_owned).into(), "{target}");
            }
            _ => {
                skipped("clang-19 cannot be run, or makes no code for amdgpu");
                break;
            }
        }
    }
    fs::remove_dir_all(&directory).unwrap();
}
