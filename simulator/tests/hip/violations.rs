// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every kind of memory error that a kernel can have is reported with its kernel, instruction, line,
//! workgroup, wave, lane and address, and the device works after it.

use std::ffi::{CStr, c_void};
use std::path::Path;
use std::ptr::null_mut;

use crate::common::{Block, Machine};
use windlass_hip_sys::bindings::*;

/// The faulting work-item, of two workgroups of 96: the second wave of the second workgroup has 32 lanes.
const ITEM: u32 = 96 + 64 + 5;
const WHERE: &str = "workgroup (1, 0, 0), wave 1, lane 5, work-item (69, 0, 0)";

fn file(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

struct Scene {
    machine: Machine,
    module: hipModule_t,
    /// 64 bytes, allocated under this name.
    words: *mut c_void,
}

impl Scene {
    fn new(options: &str) -> Self {
        let machine = Machine::new(options);
        let module = machine.load(&file("violations.ccob"));
        let words = machine.upload(&[0_u32; 16]);
        Self { machine, module, words }
    }

    /// Launches a kernel of two workgroups of 96 and waits for it. Returns its status.
    fn run(&self, kernel: &CStr, arguments: Block) -> hipError_t {
        let function = self.machine.function(self.module, kernel);
        let launched = self.machine.launch(function, 2, 96, null_mut(), &arguments.done());
        assert_eq!(launched, hipError_t::hipSuccess);
        hip!(self.machine, hipStreamSynchronize(null_mut()))
    }

    fn report(&self) -> String {
        self.machine.api.diagnose().expect("the latest call has something to say")
    }
}

/// One error, and the contents of its report.
struct Violation<'a> {
    kernel: &'a CStr,
    arguments: Box<dyn Fn(&Scene) -> Block + 'a>,
    /// The text of the violating line.
    line: &'a str,
    says: Vec<String>,
}

fn item_and<T: Copy>(scene: &Scene, value: T, put: impl Fn(Block, T) -> Block) -> Block {
    put(Block::default().pointer(scene.words).u32(ITEM), value)
}

fn long(block: Block, value: i64) -> Block {
    block.bytes(&value.to_le_bytes())
}

/// The number of the source line that contains a text.
fn line_of(text: &str) -> usize {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/src/violations.hip");
    let source = std::fs::read_to_string(path).unwrap();
    let mut found = source.lines().enumerate().filter(|(_, line)| line.contains(text));
    let (number, _) = found.next().unwrap_or_else(|| panic!("no line has {text}"));
    assert!(found.next().is_none(), "{text} is in several lines");
    number + 1
}

/// Runs it under both rules for faults: the report is right, and other work continues.
fn check(violation: &Violation<'_>) {
    for options in ["", "?faults=sticky", "?seed=3"] {
        let scene = Scene::new(options);
        let status = scene.run(violation.kernel, (violation.arguments)(&scene));
        assert_eq!(status, hipError_t::hipErrorIllegalAddress, "{:?}", violation.kernel);
        let report = scene.report();
        let line = format!("violations.hip:{}", line_of(violation.line));
        let kernel = violation.kernel.to_str().unwrap();
        for part in [kernel, &line, "launched by: hipModuleLaunchKernel, call "] {
            assert!(report.contains(part), "{part}:\n{report}");
        }
        for part in &violation.says {
            assert!(report.contains(part), "{part}:\n{report}");
        }
        assert_eq!(scene.machine.simulator.last_fault().as_deref(), Some(&*report));
        works_again(scene, options == "?faults=sticky");
    }
}

fn works_again(scene: Scene, is_lost: bool) {
    let scene = if is_lost {
        let mut memory = null_mut();
        fails!(hipErrorIllegalAddress, scene.machine, hipMalloc(&mut memory, 64));
        ok!(scene.machine, hipDeviceReset());
        let module = scene.machine.load(&file("violations.ccob"));
        let words = scene.machine.upload(&[0_u32; 16]);
        Scene { module, words, ..scene }
    } else {
        ok!(scene.machine, hipDeviceSynchronize());
        scene
    };
    assert_eq!(scene.run(c"stray_store", item_and(&scene, 3, long)), hipError_t::hipSuccess);
    ok!(scene.machine, hipDeviceSynchronize());
    assert_eq!(scene.machine.download::<u32>(scene.words, 4)[3], 7);
}

fn strings(parts: &[&str]) -> Vec<String> {
    parts.iter().map(|part| (*part).to_owned()).collect()
}

/// A violation of a kernel that takes `words`, the work-item and a value of 64 bits.
fn of_words(kernel: &'static CStr, value: i64, line: &'static str, says: &[&str]) -> Violation<'static> {
    Violation {
        kernel,
        arguments: Box::new(move |scene| item_and(scene, value, long)),
        line,
        says: strings(says),
    }
}

/// The same with a value of 32 bits.
fn of_index(kernel: &'static CStr, value: u32, line: &'static str, says: &[&str]) -> Violation<'static> {
    let arguments = Box::new(move |scene: &Scene| item_and(scene, value, Block::u32));
    Violation { kernel, arguments, line, says: strings(says) }
}

#[test]
fn out_of_bounds() {
    let own = "64-byte allocation at 0x";
    let line = "words[index] = value;";
    let inlined = format!("inlined in:  src/violations.hip:{}", line_of("put(words, index, 7);"));
    for (index, place) in [(16, "directly past the end of the"), (100, "336 bytes past the end of the")] {
        let mut violation =
            of_words(c"stray_store", index, line, &[WHERE, "write of 4 bytes at 0x", place, own]);
        violation.says.extend([inlined.clone(), "global_store_dword".to_owned()]);
        check(&violation);
    }
    let says = [WHERE, "write of 4 bytes", "12 bytes before the", own, "(hipMalloc, call "];
    check(&of_words(c"stray_store", -3, line, &says));
    let says = [WHERE, "read of 4 bytes", "4 bytes past the end of the", own, "flat_load_dword"];
    check(&of_words(c"stray_load", 17, "words[0] = *(const volatile u32 *)&words[index];", &says));
    let says = [WHERE, "atomic of 4 bytes", "directly past the end", own, "global_atomic_add"];
    check(&of_words(c"stray_atomic", 64, "__hip_atomic_fetch_add((u32 *)(bytes", &says));
    // A part of it lies inside.
    let says = [WHERE, "atomic of 4 bytes", "misaligned", "62 bytes into the 64-byte allocation"];
    check(&of_words(c"stray_atomic", 62, "__hip_atomic_fetch_add((u32 *)(bytes", &says));
}

/// A machine with the kernels of `narrow.hip`, and a launch of one of them on zeroed memory of some size.
struct Narrow {
    machine: Machine,
    module: hipModule_t,
}

impl Narrow {
    fn new(options: &str) -> Self {
        let machine = Machine::new(options);
        let module = machine.load(include_bytes!("../narrow/narrow.gfx942.co"));
        Self { machine, module }
    }

    fn run(&self, kernel: &CStr, memory: *mut c_void, at: u32, lds: u32) -> hipError_t {
        let function = self.machine.function(self.module, kernel);
        let (mut memory, mut at) = (memory, at);
        let mut arguments: [*mut c_void; 2] = [(&raw mut memory).cast(), (&raw mut at).cast()];
        let each = arguments.as_mut_ptr();
        ok!(
            self.machine,
            hipModuleLaunchKernel(function, 1, 1, 1, 64, 1, 1, lds, null_mut(), each, null_mut())
        );
        hip!(self.machine, hipStreamSynchronize(null_mut()))
    }
}

#[test]
fn atomics_of_bytes_and_halves_reach_the_end_of_their_array() {
    for options in ["", "?uninitialised=report", "?seed=1"] {
        let narrow = Narrow::new(options);
        let machine = &narrow.machine;
        // The bytes of the array, the element, and the element's bytes at the end.
        let cases: [(&CStr, usize, u32, &[u8]); 7] = [
            (c"add_u8", 5, 4, &[64]),
            (c"add_u8", 7, 6, &[64]),
            (c"add_u8", 1, 0, &[64]),
            (c"add_u16", 6, 2, &[64, 0]),
            // 64 as a half.
            (c"add_f16", 6, 2, &[0, 0x54]),
            (c"swap_u16", 6, 2, &[7, 0]),
            (c"add_lds_u16", 6, 3, &[64, 0]),
        ];
        for (kernel, size, at, expected) in cases {
            let memory = machine.upload(&vec![0_u8; size]);
            let status = narrow.run(kernel, memory, at, size as u32);
            assert_eq!(status, hipError_t::hipSuccess, "{kernel:?}: {:?}", machine.simulator.last_fault());
            let bytes = machine.download::<u8>(memory, size);
            assert!(bytes.ends_with(expected), "{kernel:?}: {bytes:?}");
            assert!(bytes[..size - expected.len()].iter().all(|byte| *byte == 0), "{kernel:?}: {bytes:?}");
        }
        // Pinned, managed and registered memory ends there too; registered memory begins anywhere.
        let (mut pinned, mut managed) = (null_mut(), null_mut());
        ok!(machine, hipHostMalloc(&mut pinned, 5, 0));
        ok!(machine, hipMallocManaged(&mut managed, 5, 1));
        ok!(machine, hipMemset(managed, 0, 5));
        let mut host = [0_u32; 4];
        let registered: *mut c_void = host.as_mut_ptr().wrapping_byte_add(3).cast();
        ok!(machine, hipHostRegister(registered, 7, 0));
        for (memory, last) in [(pinned, 4), (managed, 4), (registered, 6), (registered, 0)] {
            assert_eq!(narrow.run(c"add_u8", memory, last, 0), hipError_t::hipSuccess, "element {last}");
        }
        ok!(machine, hipHostUnregister(registered));
        assert_eq!(host.map(u32::to_le_bytes).concat()[2..11], [0, 64, 0, 0, 0, 0, 0, 64, 0]);
        assert!(machine.simulator.take_findings().is_empty());
        // One element further is in the next dword, or outside of all memory.
        for (kernel, size, at) in [(c"add_u8", 8, 8), (c"add_u16", 8, 4), (c"swap_u16", 4, 2)] {
            let memory = machine.upload(&vec![0_u8; size]);
            let status = narrow.run(kernel, memory, at, 0);
            assert_eq!(status, hipError_t::hipErrorIllegalAddress, "{kernel:?}");
        }
        assert_eq!(narrow.run(c"add_lds_u16", pinned, 3, 4), hipError_t::hipErrorIllegalAddress);
    }
}

#[test]
fn dwords_that_nothing_narrower_became_end_with_their_memory() {
    let narrow = Narrow::new("");
    let memory = narrow.machine.upload(&[0_u8; 6]);
    for (kernel, lds, says) in [
        (c"load_dword", 0, "read of 4 bytes at 0x"),
        (c"store_dword", 0, "write of 4 bytes at 0x"),
        (c"load_lds_dword", 6, "4 bytes into the 6 bytes of LDS"),
    ] {
        assert_eq!(narrow.run(kernel, memory, 1, lds), hipError_t::hipErrorIllegalAddress, "{kernel:?}");
        let report = narrow.machine.api.diagnose().unwrap();
        assert!(report.contains(says) && report.contains("4 bytes into the 6"), "{report}");
    }
}

#[test]
fn scalar_loads_out_of_bounds() {
    // They act for a whole wave, so the report names no lane.
    check(&Violation {
        kernel: c"stray_scalar_load",
        arguments: Box::new(|scene| long(Block::default().pointer(scene.words), 20).pointer(scene.words)),
        line: "out[0] = words[index]; }",
        says: strings(&[
            "s_load_dword",
            "read of 4 bytes",
            "16 bytes past the end of the 64-byte allocation",
        ]),
    });
}

#[test]
fn use_after_free() {
    for free in [
        |machine: &Machine, memory| ok!(machine, hipFree(memory)),
        |machine: &Machine, memory| {
            ok!(machine, hipFreeAsync(memory, null_mut()));
            ok!(machine, hipStreamSynchronize(null_mut()));
        },
    ] {
        check(&Violation {
            kernel: c"stray_load",
            arguments: Box::new(move |scene| {
                let freed = scene.machine.upload(&[1_u32; 100]);
                free(&scene.machine, freed);
                // A later allocation does not take its place.
                let _ = scene.machine.upload(&[2_u32; 100]);
                long(Block::default().pointer(freed).u32(ITEM), 9)
            }),
            line: "words[0] = *(const volatile u32 *)&words[index];",
            says: strings(&[
                WHERE,
                "36 bytes into the 400-byte allocation",
                "which was freed by hipFree",
                "(use after free)",
                "(hipMalloc, call ",
                "thread \"violations::use_after_free\"",
            ]),
        });
    }
}

#[test]
fn misaligned_atomics() {
    let line = "__hip_atomic_fetch_add((u32 *)(bytes";
    check(&of_words(c"stray_atomic", 6, line, &[WHERE, "misaligned", "6 bytes into the 64-byte allocation"]));
    let line = "__hip_atomic_fetch_add(word";
    check(&of_index(
        c"stray_lds_atomic",
        10,
        line,
        &[WHERE, "misaligned", "10 bytes into the 256 bytes of LDS"],
    ));
}

#[test]
fn writes_to_what_is_read_only() {
    let words_and_item = |scene: &Scene| Block::default().pointer(scene.words).u32(ITEM);
    check(&Violation {
        kernel: c"write_code",
        arguments: Box::new(words_and_item),
        line: "*hidden((const void *)&victim) = 0;",
        says: strings(&[
            WHERE,
            "may only read",
            "write of 4 bytes",
            "code object at 0x",
            "(hipModuleLoadData, call ",
        ]),
    });
    check(&Violation {
        kernel: c"write_constant",
        arguments: Box::new(words_and_item),
        line: "hidden(constants)[2] = 6;",
        says: strings(&[
            WHERE,
            "may only read",
            "write of 4 bytes",
            "code object at 0x",
            "(hipModuleLoadData, call ",
        ]),
    });
}

#[test]
fn lds_overruns() {
    let past = "directly past the end of the 256 bytes of LDS";
    let line = "tile[index] = 7;";
    check(&of_index(c"stray_lds_store", 64, line, &[WHERE, "write of 4 bytes", past, "ds_write_b32"]));
    let before = "8 bytes before the 256 bytes of LDS";
    check(&of_index(c"stray_lds_store", 0u32.wrapping_sub(2), line, &[WHERE, before]));
    let line = "out[0] = tile[index];";
    check(&of_index(c"stray_lds_load", 64, line, &[WHERE, "read of 4 bytes", past, "ds_read_b32"]));
    let line = "__hip_atomic_fetch_add(word";
    let past = "44 bytes past the end of the 256 bytes of LDS";
    check(&of_index(c"stray_lds_atomic", 300, line, &[WHERE, "atomic of 4 bytes", past, "ds_add"]));
}

#[test]
fn lds_has_no_end_on_hardware() {
    let scene = Scene::new("?lds=hardware");
    for (kernel, index) in [(c"stray_lds_store", 9999), (c"stray_lds_load", 9999)] {
        assert_eq!(scene.run(kernel, item_and(&scene, index, Block::u32)), hipError_t::hipSuccess);
    }
    assert_eq!(scene.machine.download::<u32>(scene.words, 1), [0], "reads give zero");
    let status = scene.run(c"stray_lds_atomic", item_and(&scene, 10, Block::u32));
    assert_eq!(status, hipError_t::hipErrorIllegalAddress, "a misaligned atomic is a fault on hardware too");
}

#[test]
fn scratch_overruns() {
    let says = [
        WHERE,
        "write of 4 bytes",
        "bytes past the end of the",
        "bytes of scratch of the lane",
        "scratch_store",
    ];
    check(&of_index(c"stray_scratch_store", 5000, "own[index] = 7;", &says));
    let says = [
        WHERE,
        "read of 4 bytes",
        "bytes past the end of the",
        "bytes of scratch of the lane",
        "scratch_load",
    ];
    check(&of_index(c"stray_scratch_load", 5000, "out[0] = own[index];", &says));
    // All lanes of the wave save registers.
    let wave = "workgroup (1, 0, 0), wave 1, lane ";
    let says = [wave, "write of 4 bytes", "past the end of the", "bytes of scratch of the lane", "descend"];
    check(&of_index(c"deep_recursion", 3000, "static DEVICE NOINLINE u32 descend(u32 depth) {", &says));
}

#[test]
fn null_and_host_pointers() {
    let line = "words[index] = value;";
    let null = |_: &Scene| long(Block::default().pointer(null_mut()).u32(ITEM), 2);
    let says = strings(&[WHERE, "write of 4 bytes at 0x8, which is a null pointer"]);
    check(&Violation { kernel: c"stray_store", arguments: Box::new(null), line, says });

    let mut host = vec![0_u32; 1024];
    let pointer: *mut c_void = host.as_mut_ptr().cast();
    let stray = |_: &Scene| long(Block::default().pointer(pointer).u32(ITEM), 2);
    let says = strings(&[WHERE, "write of 4 bytes", "host memory", "hipHostRegister"]);
    check(&Violation { kernel: c"stray_store", arguments: Box::new(stray), line, says });
    assert_eq!(host[2], 0);
}

#[test]
fn jumps_to_what_is_no_code() {
    let line = "((Function *)address)();";
    let says = ["jumped to 0x0", "a null pointer", "s_swappc_b64", "workgroup (1, 0, 0), wave 1"];
    check(&of_words(c"stray_call", 0, line, &says));
    let data = |scene: &Scene| long(Block::default().pointer(scene.words).u32(ITEM), scene.words as i64 + 16);
    let says =
        strings(&["jumped to 0x", "16 bytes into the 64-byte allocation", "workgroup (1, 0, 0), wave 1"]);
    check(&Violation { kernel: c"stray_call", arguments: Box::new(data), line, says });
}

#[test]
fn reads_of_what_nobody_wrote_are_told_of_where_asked_for() {
    for (options, findings) in [("?uninitialised=report", 1), ("?uninitialised=report&seed=5", 1), ("", 0)] {
        let scene = Scene::new(options);
        let fresh = scene.machine.malloc(400);
        let at = |index| long(Block::default().pointer(fresh).u32(ITEM), index);
        ok!(scene.machine, hipMemset(fresh, 1, 36));
        assert_eq!(scene.run(c"stray_load", at(8)), hipError_t::hipSuccess);
        assert!(scene.machine.simulator.take_findings().is_empty(), "what a fill wrote");
        assert_eq!(scene.run(c"stray_load", at(9)), hipError_t::hipSuccess, "the kernel goes on");
        let found = scene.machine.simulator.take_findings();
        assert_eq!(found.len(), findings, "{found:?}");
        assert_eq!(scene.machine.simulator.last_fault(), None);
        let line = format!("violations.hip:{}", line_of("words[0] = *(const volatile u32 *)&words[index];"));
        let parts = ["stray_load", "never written", WHERE, "36 bytes into the 400-byte allocation", &line];
        for (report, part) in found.iter().flat_map(|report| parts.map(|part| (report, part))) {
            assert!(report.contains(part), "{part}:\n{report}");
        }
        // Kernels, copies and atomics write too.
        assert_eq!(scene.run(c"stray_store", at(20)), hipError_t::hipSuccess);
        assert_eq!(scene.run(c"stray_load", at(20)), hipError_t::hipSuccess);
        ok!(scene.machine, hipMemcpyDtoD(fresh.wrapping_byte_add(120), scene.words, 64));
        assert_eq!(scene.run(c"stray_load", at(45)), hipError_t::hipSuccess);
        assert!(scene.machine.simulator.take_findings().is_empty());
        // A copy of bytes that were never written does not count as a write.
        ok!(scene.machine, hipMemcpyDtoD(fresh.wrapping_byte_add(120), fresh.wrapping_byte_add(200), 8));
        assert_eq!(scene.run(c"stray_load", at(31)), hipError_t::hipSuccess);
        assert_eq!(scene.machine.simulator.take_findings().len(), findings);
    }
}

#[test]
fn only_kernels_may_not_write_constants() {
    let machine = Machine::new("");
    let module = machine.load(&file("globals.ccob"));
    let (mut table, mut size) = (null_mut(), 0);
    ok!(machine, hipModuleGetGlobal(&mut table, &mut size, module, c"table".as_ptr()));
    ok!(machine, hipMemcpyHtoD(table, [9.0_f32; 16].as_ptr().cast_mut().cast(), size));
    assert_eq!(machine.download::<f32>(table, 16), [9.0; 16]);
}
