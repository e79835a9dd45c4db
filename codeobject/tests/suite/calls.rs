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

/// Something that code or data refers to.
#[derive(Clone, Copy)]
enum To {
    Function(usize),
    Slot(usize),
}

/// Makes a code object of functions, each of which takes addresses, of slots in memory that hold addresses, and of tables:
/// a first slot and how many there are. Gives what the functions call, and where they begin.
fn calls_of(functions: &[Vec<To>], slots: &[To], tables: &[(usize, usize)]) -> (Calls, Vec<u64>) {
    const TAKE: u64 = 20;
    let mut starts = vec![0];
    for function in functions {
        starts.push(starts[starts.len() - 1] + TAKE * function.len() as u64 + 4);
    }
    let code = |data: i64| -> Vec<u8> {
        let mut words: Vec<u32> = Vec::new();
        for function in functions {
            for to in function {
                let to = match to {
                    To::Function(index) => starts[*index] as i64,
                    To::Slot(index) => data + 8 * *index as i64,
                };
                let distance = to - (4 * words.len() as i64 + 4);
                // s_getpc_b64 s[2:3]; s_add_u32 s2, s2, distance; s_addc_u32 s3, s3, -1 or 0; s_nop
                let high = if distance < 0 { 0x8203_c103 } else { 0x8203_8003 };
                words.extend([0xbe82_1c00, 0x8002_ff02, distance as u32, high, 0xbf80_0000]);
            }
            words.push(0xbf81_0000);
        }
        words.into_iter().flat_map(u32::to_le_bytes).collect()
    };
    let mut builder = ElfBuilder::new(Vec::new());
    builder.with_note = false;
    builder.spare = 8 * slots.len();
    let (mut text, mut data) = (0, 0);
    // Symbols and relocations move the rest: where to, the first attempt shows.
    for _ in 0..2 {
        builder.text = Some(code(data as i64 - text as i64));
        let function =
            |index| (b"f".to_vec(), text + starts[index], starts[index + 1] - starts[index], 0x12, 2);
        let table = |(first, count): &(usize, usize)| {
            (b"t".to_vec(), data + 8 * *first as u64, 8 * *count as u64, 0x11, 3)
        };
        builder.symbols = (0..functions.len()).map(function).chain(tables.iter().map(table)).collect();
        let place = |index: usize| data + 8 * index as u64;
        let address = |to: &To| match to {
            To::Function(index) => text + starts[*index],
            To::Slot(index) => place(*index),
        };
        let relocation = |(index, to)| (place(index), 13, 0, address(to) as i64);
        builder.relocations = slots.iter().enumerate().map(relocation).collect();
        let code = CodeObject::parse(&builder.build()).unwrap();
        text = code.segments().iter().find(|segment| segment.executable).unwrap().address;
        data = code.segments().iter().find(|segment| segment.writable).unwrap().address + 16 * 7;
    }
    let elf = builder.build();
    let calls = CodeObject::parse(&elf).unwrap().calls(&elf);
    assert!(calls.is_complete());
    (calls, starts.into_iter().map(|start| text + start).collect())
}

fn at(starts: &[u64], functions: impl IntoIterator<Item = usize>) -> Vec<Callee> {
    functions.into_iter().map(|index| Callee::At(starts[index])).collect()
}

const MANY: usize = if cfg!(miri) { 8 } else { 2000 };

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn a_large_table_of_few_functions() {
    for many in [10, 5000, 100_000] {
        let slots: Vec<To> = (0..many.min(50 * MANY)).map(|index| To::Function(1 + index % 4)).collect();
        let functions =
            [vec![To::Slot(0)], vec![], vec![], vec![], vec![], vec![To::Slot(9)], vec![To::Slot(3)]];
        let (calls, starts) = calls_of(&functions, &slots, &[(0, slots.len())]);
        for caller in [0, 5, 6] {
            assert_eq!(calls.of(starts[caller]), at(&starts, 1..=4), "a table of {many}, by any slot");
        }
        assert_eq!(calls.of(starts[1]), []);
        let (calls, starts) = calls_of(&functions, &slots, &[]);
        assert_eq!(calls.of(starts[0]), at(&starts, [1]), "slots that no symbol joins");
        assert_eq!(calls.of(starts[6]), at(&starts, [4]));
    }
}

/// Many ask for the same, or for parts of it: the answers are whole, and take the time of one pass each.
#[test]
fn many_functions_share_a_large_table() {
    let mut functions = vec![vec![To::Slot(0)]; MANY];
    functions.extend((0..MANY).map(|index| vec![To::Slot(index)]));
    functions.extend(vec![vec![]; MANY]);
    let slots: Vec<To> = (0..MANY).map(|index| To::Function(2 * MANY + index)).collect();
    let (calls, starts) = calls_of(&functions, &slots, &[(0, MANY)]);
    for caller in (0..2 * MANY).step_by(MANY / 8) {
        assert_eq!(calls.of(starts[caller]), at(&starts, 2 * MANY..3 * MANY), "{caller}");
    }
}

#[test]
#[cfg_attr(miri, ignore = "takes minutes")]
fn a_long_chain_of_functions() {
    let count = 50 * MANY;
    let functions: Vec<Vec<To>> =
        (1..=count).map(|next| if next < count { vec![To::Function(next)] } else { vec![] }).collect();
    let (calls, starts) = calls_of(&functions, &[], &[]);
    assert_eq!(calls.of(starts[7]), at(&starts, [8]));
    assert_eq!(calls.reached_from(starts[0]), at(&starts, 1..count));
    assert_eq!(calls.reached_from(starts[count - 2]), at(&starts, [count - 1]));
}

/// Tables that hold the addresses of each other, and overlap, are followed once.
#[test]
fn tables_of_tables_end() {
    let count = 10 * MANY;
    let slots: Vec<To> = (0..count)
        .map(|index| if index == count / 2 { To::Function(1) } else { To::Slot(7 * index % count) })
        .collect();
    let functions = [vec![To::Slot(0)], vec![]];
    let disjoint = (0..count / 10).map(|index| (10 * index, 10)).collect();
    let overlapping = (0..200.min(count)).map(|index| (index, count - index)).collect();
    for tables in [vec![(0, count)], disjoint, overlapping] {
        let (calls, starts) = calls_of(&functions, &slots, &tables);
        let found = calls.of(starts[0]);
        assert!(found.len() <= 1 && calls.reached_from(starts[0]) == found, "{found:?}");
        if tables.len() != count / 10 {
            assert_eq!(found, at(&starts, [1]));
        }
    }
}

/// Empty lists too are a long way to go.
#[test]
fn questions_end_where_the_work_does() {
    let slots: Vec<To> = (0..MANY).map(To::Slot).collect();
    let functions = [vec![To::Slot(0)], vec![To::Slot(1)], vec![To::Function(3)], vec![]];
    let (calls, starts) = calls_of(&functions, &slots, &[(0, MANY)]);
    let mut work = MANY as u64 + 1;
    assert_eq!(calls.reached_within(starts[0], &mut work), Some(Vec::new()));
    assert_eq!(work, 0, "the table's slots, and the way to it");
    for caller in [0, 1, 2] {
        assert_eq!(calls.reached_within(starts[caller], &mut work), None);
    }
    assert_eq!(calls.reached_within(starts[3], &mut work), Some(Vec::new()), "nothing to follow");
    for (left, found) in [(MANY as u64, None), (MANY as u64 + 2, Some(Vec::new()))] {
        work = left;
        assert_eq!(calls.reached_within(starts[1], &mut work), found);
        assert_eq!(work, found.map_or(0, |_| 1));
    }
    assert_eq!(calls.reached_within(starts[2], &mut 1), Some(at(&starts, [3])));
    assert_eq!(calls.reached_from(starts[0]), []);
}

/// Segments of the same bytes could make the code as long as they are many.
#[test]
fn code_that_segments_share_is_bounded() {
    let mut elf = ElfBuilder::new(Vec::new()).build();
    let program = u64::from_le_bytes(elf[32..40].try_into().unwrap()) as usize;
    let headers = elf.split_off(program);
    let text = &headers[56..112];
    let count = elf.len() / 256 + 16;
    let header = |index: usize| {
        let mut header = text.to_vec();
        header[16..24].copy_from_slice(&(0x1_0000_u64 + 0x1000 * index as u64).to_le_bytes());
        header
    };
    elf.extend(&headers[..56]);
    elf.extend(&headers[112..]);
    elf.extend((0..count).flat_map(header));
    elf[56..58].copy_from_slice(&((headers.len() / 56 - 1 + count) as u16).to_le_bytes());
    let calls = CodeObject::parse(&elf).unwrap().calls(&elf);
    assert!(!calls.is_complete());
}

/// A table of functions and calls on every generation, compiled where there is a compiler.
#[test]
#[cfg_attr(miri, ignore = "starts a compiler")]
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
