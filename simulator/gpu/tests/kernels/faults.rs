// SPDX-License-Identifier: MIT OR Apache-2.0
//! Invalid actions of a kernel stop it, and the fault names them.

use crate::args;
use crate::gpu::{Buffer, Gpu};
use windlass_simulated_gpu::engine::{AccessKind, Cause, Engine, Fault, LoadError, Module, unsupported};
use windlass_simulated_gpu::memory::Place;

fn write_at(gpu: &Gpu, buffer: Buffer, index: i64) -> Result<(), Box<Fault>> {
    let kernel = gpu.kernel("faults", "write_at");
    gpu.launch(&kernel, [1, 1, 1], [1, 1, 1], 0, args![buffer, index, 7u32]).map(drop)
}

#[test]
fn stores_out_of_bounds_name_the_allocation() {
    let gpu = Gpu::new();
    let buffer = gpu.buffer(&vec![0u32; 1024]);
    write_at(&gpu, buffer, 1023).unwrap();
    let fault = write_at(&gpu, buffer, 1025).unwrap_err();
    let text = fault.to_string();
    assert_eq!(fault.cause, Cause::IllegalAddress);
    assert_eq!(fault.access.as_ref().unwrap().kind, AccessKind::Write);
    assert!(text.contains("write_at") && text.contains("store"), "{text}");
    assert!(text.contains("4 bytes past the end of the 4096-byte allocation"), "{text}");
    assert!(text.contains("test buffer"), "{text}");
    assert!(text.contains("workgroup (0, 0, 0), wave 0, lane 0"), "{text}");
    let text = write_at(&gpu, buffer, -1).unwrap_err().to_string();
    assert!(text.contains("4 bytes before"), "{text}");
    assert_eq!(gpu.contents::<u32>(buffer)[1023], 7, "what was written before stays");

    gpu.memory.free(buffer.address).unwrap();
    let text = write_at(&gpu, buffer, 3).unwrap_err().to_string();
    assert!(text.contains("use after free"), "{text}");
}

#[test]
fn loads_and_atomics_out_of_bounds() {
    let gpu = Gpu::new();
    let (buffer, out) = (gpu.buffer(&[0u32; 16]), gpu.buffer(&[0u32]));
    let kernel = gpu.kernel("faults", "read_at");
    let fault = gpu.launch(&kernel, [1, 1, 1], [1, 1, 1], 0, args![buffer, 16i64, out]).unwrap_err();
    assert_eq!(fault.access.unwrap().kind, AccessKind::Read);
    let kernel = gpu.kernel("faults", "add_at");
    let fault = gpu.launch(&kernel, [1, 1, 1], [1, 1, 1], 0, args![buffer, 1i64 << 40, 1u32]).unwrap_err();
    assert_eq!(fault.access.unwrap().kind, AccessKind::Atomic);
    let fault = gpu.launch(&kernel, [1, 1, 1], [1, 1, 1], 0, args![0u64, 0i64, 1u32]).unwrap_err();
    assert_eq!(fault.access.unwrap().address, 0);
    let misaligned = buffer.address + 2;
    let fault = gpu.launch(&kernel, [1, 1, 1], [1, 1, 1], 0, args![misaligned, 0i64, 1u32]).unwrap_err();
    assert_eq!(fault.cause, Cause::MisalignedAtomic);
}

#[test]
fn one_lane_is_blamed() {
    let gpu = Gpu::new();
    let buffer = gpu.buffer(&vec![0u32; 256]);
    let kernel = gpu.kernel("faults", "write_one_lane_at");
    let args = args![buffer, 256i32, 170i32, 300i64];
    let fault = gpu.launch(&kernel, [1, 1, 1], [256, 1, 1], 0, args).unwrap_err();
    let location = fault.location.unwrap();
    assert_eq!((location.wave, location.lane), (2, Some(170 - 128)));
    assert!(location.instruction.contains("global_store_dword"), "{}", location.instruction);
}

#[test]
fn lds_has_an_end() {
    let gpu = Gpu::new();
    let out = gpu.buffer(&[1u32]);
    let kernel = gpu.kernel("faults", "write_lds_at");
    gpu.run_grid(&kernel, [1, 1, 1], [1, 1, 1], 64, args![out, 15u32, 77u32]);
    assert_eq!(gpu.contents::<u32>(out), [77]);
    let fault = gpu.launch(&kernel, [1, 1, 1], [1, 1, 1], 64, args![out, 16u32, 78u32]).unwrap_err();
    assert_eq!(fault.cause, Cause::IllegalAddress);
    assert_eq!(fault.access.unwrap().place, Place::Lds { offset: 64, size: 64 });
    assert_eq!(gpu.contents::<u32>(out), [77]);
}

#[test]
fn traps_stop_the_kernel() {
    let gpu = Gpu::new();
    let out = gpu.buffer(&[0u32]);
    let kernel = gpu.kernel("faults", "trap_if");
    gpu.run(&kernel, 1, 1, args![out, 0u32]);
    assert_eq!(gpu.contents::<u32>(out), [1]);
    let fault = gpu.launch(&kernel, [1, 1, 1], [1, 1, 1], 0, args![out, 1u32]).unwrap_err();
    assert_eq!(fault.cause, Cause::Trap(2));
    assert!(fault.to_string().contains("s_trap 2"), "{fault}");
}

#[test]
fn runaway_kernels_are_cancelled() {
    let gpu = Gpu::new();
    let (flag, out) = (gpu.buffer(&[0u32]), gpu.buffer(&[0u32]));
    let kernel = gpu.kernel("spin", "spin_until");
    let cause = std::thread::scope(|scope| {
        let spinning = scope.spawn(|| gpu.launch(&kernel, [4, 1, 1], [128, 1, 1], 0, args![flag, 1u32, out]));
        gpu.engine.cancel();
        spinning.join().unwrap().unwrap_err().cause
    });
    assert_eq!(cause, Cause::Cancelled);
    let fault = gpu.launch(&kernel, [1, 1, 1], [1, 1, 1], 0, args![flag, 0u32, out]).unwrap_err();
    assert_eq!(fault.cause, Cause::Cancelled, "a cancelled engine starts nothing");
    let other = Gpu { engine: Engine::new(1), ..gpu };
    other.run(&kernel, 1, 1, args![flag, 0u32, out]);
}

/// The project's `vector_add` with one word of its code replaced.
fn patched(gpu: &Gpu, word: u32) -> Box<Fault> {
    let path = crate::gpu::kernels().join("bundles/vector_add.gfx942.co");
    let mut elf = std::fs::read(path).unwrap();
    let object = windlass_codeobject::CodeObject::parse(&elf).unwrap();
    let entry = object.kernel("vector_add").unwrap().entry_address;
    let segment = object.segments().iter().find(|segment| segment.holds(entry, 4)).unwrap();
    let at = (entry - segment.address + segment.offset) as usize;
    elf[at..at + 4].copy_from_slice(&word.to_le_bytes());
    let module = Module::load(gpu.part, &gpu.memory, &elf).unwrap();
    let kernel = module.kernel("vector_add.kd").unwrap();
    let out = gpu.buffer(&[0f32]);
    gpu.launch(&kernel, [1, 1, 1], [1, 1, 1], 0, args![out, out, out, 1i32]).unwrap_err()
}

#[test]
fn unknown_instructions_refuse_the_launch() {
    let gpu = Gpu::new();
    // No format starts like this; then s_cbranch_g_fork s[0:1], s[2:3], which is known and not executed.
    for (word, named) in [(0xffff_ffff, "ff ff ff ff"), (0x9480_0200, "s_cbranch_g_fork")] {
        let fault = patched(&gpu, word);
        assert!(matches!(fault.cause, Cause::Unsupported { .. }), "{fault}");
        assert!(fault.location.is_none(), "nothing ran");
        assert!(fault.to_string().contains(named) && fault.to_string().contains("offset"), "{fault}");
    }
}

/// v_lshl_add_u64 v[0:1], v[2:3], 1, v[4:5], in place of a kernel's first instruction.
#[test]
fn an_instruction_of_another_part_is_named() {
    let gpu = Gpu::named("gfx90a");
    let elf = patched_kernel(&gpu, "vector_add", "vector_add", &[0xd208_0000, 0x0411_0302]);
    let module = Module::load(gpu.part, &gpu.memory, &elf).unwrap();
    let kernel = module.kernel("vector_add").unwrap();
    let out = gpu.buffer(&[0f32]);
    let fault = gpu.launch(&kernel, [1, 1, 1], [1, 1, 1], 0, args![out, out, out, 1i32]).unwrap_err();
    assert!(matches!(fault.cause, Cause::Unsupported { .. }), "{fault}");
    assert!(fault.to_string().contains("gfx90a has no v_lshl_add_u64 v[0:1], v[2:3], 1, v[4:5]"), "{fault}");
    assert!(fault.to_string().contains("gfx942"), "{fault}");
    assert_eq!(unsupported(&elf).unwrap().len(), 1);
}

/// The code object that a bundle has for a GPU, with other words at the start of a kernel.
pub(crate) fn patched_kernel(gpu: &Gpu, bundle: &str, kernel: &str, words: &[u32]) -> Vec<u8> {
    let path = crate::gpu::kernels().join(format!("bundles/{bundle}.ccob"));
    let mut elf = gpu.image(&path);
    let object = windlass_codeobject::CodeObject::parse(&elf).unwrap();
    let entry = object.kernel(kernel).unwrap().entry_address;
    let segment = object.segments().iter().find(|segment| segment.holds(entry, 4)).unwrap();
    let at = (entry - segment.address + segment.offset) as usize;
    for (index, word) in words.iter().enumerate() {
        elf[at + 4 * index..][..4].copy_from_slice(&word.to_le_bytes());
    }
    elf
}

#[test]
fn only_code_for_this_processor_is_loaded() {
    let gpu = Gpu::new();
    let noise: Vec<u8> = (0..4096u32).map(|i| (i * 37) as u8).collect();
    assert!(matches!(Module::load(gpu.part, &gpu.memory, &noise), Err(LoadError::Malformed { .. })));
    let path = crate::gpu::kernels().join("bundles/vector_add.gfx942.co");
    let elf = std::fs::read(path).unwrap();
    let mut other = elf.clone();
    other[48] = 0x3f;
    match Module::load(gpu.part, &gpu.memory, &other) {
        Err(error @ LoadError::WrongProcessor { .. }) => {
            let said = error.to_string();
            assert!(said.contains("gfx90a") && said.contains("gfx942"), "{said}");
        }
        other => panic!("{other:?}"),
    }
    let older = Gpu::named("gfx90a");
    match Module::load(older.part, &older.memory, &elf) {
        Err(error @ LoadError::WrongProcessor { .. }) => {
            let said = error.to_string();
            assert!(said.contains("for gfx942") && said.contains("is a gfx90a"), "{said}");
        }
        other => panic!("{other:?}"),
    }
    let before = gpu.memory.usage();
    for len in 0..elf.len().min(6000) {
        let _ = Module::load(gpu.part, &gpu.memory, &elf[..len]);
    }
    assert_eq!(gpu.memory.usage(), before, "failed loads leave nothing behind");
}

#[test]
fn what_does_not_run_is_known_without_a_device() {
    let path = crate::gpu::kernels().join("bundles/vector_add.gfx942.co");
    let elf = std::fs::read(path).unwrap();
    assert_eq!(unsupported(&elf).unwrap(), []);
    // The kernel's first two instructions become s_cbranch_g_fork.
    let object = windlass_codeobject::CodeObject::parse(&elf).unwrap();
    let kernel = object.kernels()[0].clone();
    let segment = object.segments().iter().find(|segment| segment.executable).unwrap();
    let place = (kernel.entry_address - segment.address + segment.offset) as usize;
    let mut patched = elf.clone();
    patched[place..place + 4].copy_from_slice(&0x9480_0200u32.to_le_bytes());
    patched[place + 4..place + 8].copy_from_slice(&0x9480_0402u32.to_le_bytes());
    let found = unsupported(&patched).unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0].symbol, found[0].address), (&kernel.name, kernel.entry_address));
    assert!(found[0].reason.contains("s_cbranch_g_fork s[0:1], s[2:3]"), "{}", found[0].reason);
    assert_eq!((&*found[0].bytes, found[0].count), (&0x9480_0200u32.to_le_bytes()[..], 2));
    // Undecodable words end their path.
    patched[place + 4..place + 8].copy_from_slice(&[0xff; 4]);
    let found = unsupported(&patched).unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!((found[1].address, found[1].count), (kernel.entry_address + 4, 1));
    // gfx803.
    patched[48] = 0x2a;
    assert!(matches!(unsupported(&patched), Err(LoadError::WrongProcessor { .. })));
    assert!(matches!(unsupported(&[0; 100]), Err(LoadError::Malformed { .. })));
}
