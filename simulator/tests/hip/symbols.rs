// SPDX-License-Identifier: MIT OR Apache-2.0
//! Variables and kernels that compiled programs name by the addresses of their own.

use std::ffi::{CStr, c_void};
use std::path::Path;
use std::ptr::{null, null_mut};

use crate::common::Machine;
use windlass_hip_sys::bindings::*;

/// The start of a fat binary in a program.
#[repr(C)]
struct Wrapper {
    magic: u32,
    version: u32,
    binary: *const c_void,
    unused: *const c_void,
}

/// Registers an image as clang's code does. Returns the list of its modules.
fn register(machine: &Machine, file: &str) -> *mut *mut c_void {
    register_file(machine, &Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles").join(file))
}

pub(super) fn register_file(machine: &Machine, path: &Path) -> *mut *mut c_void {
    let image = Box::leak(std::fs::read(path).unwrap().into_boxed_slice());
    let wrapper = Wrapper { magic: 0x4849_5046, version: 1, binary: image.as_ptr().cast(), unused: null() };
    hip!(machine, __hipRegisterFatBinary(std::ptr::from_ref(Box::leak(Box::new(wrapper))).cast())).cast()
}

/// An address that stands for something.
fn symbol() -> *mut c_void {
    std::ptr::from_mut(Box::leak(Box::new(0_u64))).cast()
}

/// The variable `table` of 64 bytes.
fn variable(machine: &Machine) -> *const c_void {
    let (modules, variable) = (register(machine, "globals.gfx942.co"), symbol());
    let name = c"table".as_ptr().cast_mut();
    hip!(machine, __hipRegisterVar(modules.cast(), variable, name, name, 0, 64, 0, 0));
    variable
}

/// The kernel `vector_add`.
pub(super) fn kernel(machine: &Machine) -> *const c_void {
    name_kernel(machine, register(machine, "vector_add.hipfb"), c"vector_add")
}

/// A symbol for a kernel of a registered image.
pub(super) fn name_kernel(machine: &Machine, modules: *mut *mut c_void, name: &CStr) -> *const c_void {
    let (kernel, name, none) = (symbol(), name.as_ptr().cast_mut(), null_mut());
    hip!(
        machine,
        __hipRegisterFunction(
            modules.cast(),
            kernel,
            name,
            name,
            u32::MAX,
            none,
            null_mut(),
            null_mut(),
            null_mut(),
            null_mut()
        )
    );
    kernel
}

const TO: hipMemcpyKind = hipMemcpyKind::hipMemcpyHostToDevice;
const FROM: hipMemcpyKind = hipMemcpyKind::hipMemcpyDeviceToHost;

#[test]
fn a_variable_tells_its_address_and_its_size() {
    let machine = Machine::new("gfx942?devices=2");
    let variable = variable(&machine);
    let values: Vec<u32> = (0..16).collect();
    let address_of = |symbol| {
        let mut address = std::ptr::without_provenance_mut(7);
        (hip!(machine, hipGetSymbolAddress(&mut address, symbol)), address)
    };
    let (status, address) = address_of(variable);
    assert_eq!(status, hipError_t::hipSuccess);
    ok!(machine, hipMemcpyHtoD(address, values.as_ptr().cast(), 64));
    let mut back = [0_u32; 2];
    ok!(machine, hipMemcpyFromSymbol(back.as_mut_ptr().cast(), variable, 8, 56, FROM));
    assert_eq!(back, [14, 15]);
    let mut size = 7;
    ok!(machine, hipGetSymbolSize(&mut size, variable));
    assert_eq!(size, 64);
    // Each device has a variable of its own.
    ok!(machine, hipSetDevice(1));
    assert_ne!(address_of(variable).1, address);
    for none in [null(), symbol().cast_const()] {
        fails!(hipErrorInvalidSymbol, machine, hipGetSymbolAddress(&mut null_mut(), none));
        fails!(hipErrorInvalidSymbol, machine, hipGetSymbolSize(&mut size, none));
    }
    fails!(hipErrorInvalidValue, machine, hipGetSymbolAddress(null_mut(), variable));
    fails!(hipErrorInvalidValue, machine, hipGetSymbolSize(null_mut(), variable));
}

#[test]
fn a_variable_is_copied_in_the_order_of_a_stream() {
    let machine = Machine::new("");
    let (variable, stream) = (variable(&machine), machine.stream());
    let mut pinned = null_mut();
    ok!(machine, hipHostMalloc(&mut pinned, 64, 0));
    let words: *mut u32 = pinned.cast();
    // SAFETY: 64 bytes of the host's, which nothing else uses until the copies run.
    unsafe { words.write_bytes(0, 16) };
    let gate = machine.gate(stream);
    ok!(machine, hipMemcpyToSymbolAsync(variable, pinned, 8, 56, TO, stream));
    ok!(machine, hipMemcpyFromSymbolAsync(pinned, variable, 4, 60, FROM, stream));
    // SAFETY: as above.
    unsafe { words.add(1).write(9) };
    drop(gate);
    ok!(machine, hipStreamSynchronize(stream));
    // SAFETY: the stream is done with it.
    assert_eq!(unsafe { [words.read(), words.add(1).read()] }, [9, 9]);

    let device = machine.malloc(64);
    let both = hipMemcpyKind::hipMemcpyDeviceToDevice;
    ok!(machine, hipMemcpyFromSymbolAsync(device, variable, 64, 0, both, stream));
    ok!(machine, hipMemcpyToSymbolAsync(variable, device, 64, 0, both, stream));
    ok!(machine, hipStreamSynchronize(stream));
    assert_eq!(machine.download::<u32>(device, 16)[15], 9);
}

#[test]
fn copies_beyond_a_variable_or_against_its_direction_are_refused() {
    let machine = Machine::new("");
    let (variable, stream) = (variable(&machine), machine.stream());
    let mut words = [0_u32; 32];
    let host: *mut c_void = words.as_mut_ptr().cast();
    let both = |symbol, size, offset, (to, from), stream| {
        [
            hip!(machine, hipMemcpyToSymbolAsync(symbol, host, size, offset, to, stream)),
            hip!(machine, hipMemcpyFromSymbolAsync(host, symbol, size, offset, from, stream)),
        ]
    };
    assert_eq!(both(variable, 64, 0, (TO, FROM), stream), [hipError_t::hipSuccess; 2]);
    assert_eq!(both(variable, 0, 64, (TO, FROM), stream), [hipError_t::hipSuccess; 2]);
    for (size, offset) in [(65, 0), (1, 64), (64, 1), (usize::MAX, 1), (1, usize::MAX)] {
        let statuses = both(variable, size, offset, (TO, FROM), stream);
        assert_eq!(statuses, [hipError_t::hipErrorInvalidValue; 2], "{size} {offset}");
    }
    for kind in [hipMemcpyKind::hipMemcpyHostToHost, hipMemcpyKind::hipMemcpyDefault, hipMemcpyKind(9)] {
        let statuses = both(variable, 64, 0, (kind, kind), stream);
        assert_eq!(statuses, [hipError_t::hipErrorInvalidMemcpyDirection; 2], "{kind:?}");
    }
    let statuses = both(variable, 64, 0, (FROM, TO), stream);
    assert_eq!(statuses, [hipError_t::hipErrorInvalidMemcpyDirection; 2]);
    for none in [null(), symbol().cast_const()] {
        assert_eq!(both(none, 64, 0, (TO, FROM), stream), [hipError_t::hipErrorInvalidSymbol; 2]);
    }
    let gone = machine.stream();
    ok!(machine, hipStreamDestroy(gone));
    assert_eq!(both(variable, 64, 0, (TO, FROM), gone), [hipError_t::hipErrorContextIsDestroyed; 2]);
    ok!(machine, hipStreamSynchronize(stream));
}

#[test]
fn a_kernel_takes_wishes_for_caches_and_banks() {
    let machine = Machine::new("");
    let kernel = kernel(&machine);
    for choice in 0..=3 {
        ok!(machine, hipFuncSetCacheConfig(kernel, hipFuncCache_t(choice)));
    }
    for choice in 0..=2 {
        ok!(machine, hipFuncSetSharedMemConfig(kernel, hipSharedMemConfig(choice)));
    }
    for choice in [4, u32::MAX] {
        fails!(hipErrorInvalidValue, machine, hipFuncSetCacheConfig(kernel, hipFuncCache_t(choice)));
    }
    for choice in [3, u32::MAX] {
        fails!(hipErrorInvalidValue, machine, hipFuncSetSharedMemConfig(kernel, hipSharedMemConfig(choice)));
    }
    let (cache, bank) = (hipFuncCache_t(0), hipSharedMemConfig(0));
    fails!(hipErrorInvalidDeviceFunction, machine, hipFuncSetCacheConfig(null(), cache));
    fails!(hipErrorInvalidDeviceFunction, machine, hipFuncSetSharedMemConfig(null(), bank));
}

#[test]
fn an_address_of_no_kernel_takes_no_wishes() {
    let machine = Machine::new("");
    let none = symbol().cast_const();
    fails!(hipErrorInvalidDeviceFunction, machine, hipFuncSetCacheConfig(none, hipFuncCache_t(0)));
    fails!(hipErrorInvalidDeviceFunction, machine, hipFuncSetSharedMemConfig(none, hipSharedMemConfig(0)));
    let kernel = kernel(&machine);
    fails!(
        hipErrorInvalidValue,
        machine,
        hipFuncSetAttribute(kernel, hipFuncAttribute::hipFuncAttributeMax, 0)
    );
}

#[test]
fn a_managed_variable_is_the_host_s_and_the_kernels() {
    let machine = Machine::new("");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/services/services.gfx942.co");
    let modules = register_file(&machine, &file);
    // The place that the program's own code reads the address from, and the first value.
    let (mut counter, mut first) = (null_mut::<c_void>(), 40_u32);
    let (name, place) = (c"counter".as_ptr(), &raw mut counter);
    let value: *mut c_void = (&raw mut first).cast();
    hip!(machine, __hipRegisterManagedVar(modules.cast(), place, value, name, 4, 4));
    let (mut table, mut numbers) = (null_mut::<c_void>(), [1_i64, 2, 30]);
    let more: *mut c_void = numbers.as_mut_ptr().cast();
    let second = (c"table".as_ptr(), &raw mut table);
    hip!(machine, __hipRegisterManagedVar(modules.cast(), second.1, more, second.0, 24, 8));
    let number: *mut u32 = counter.cast();
    // SAFETY: managed memory of 4 bytes, and no kernel runs.
    assert_eq!(unsafe { number.read() }, 40);
    let count = name_kernel(&machine, modules, c"count");
    let mut out = machine.upload(&[0_u32]);
    let mut each: [*mut c_void; 1] = [(&raw mut out).cast()];
    let (one, ten) = (dim3 { x: 1, y: 1, z: 1 }, dim3 { x: 10, y: 1, z: 1 });
    ok!(machine, hipLaunchKernel(count, one, ten, each.as_mut_ptr(), 0, null_mut()));
    ok!(machine, hipDeviceSynchronize());
    // SAFETY: as above.
    assert_eq!(unsafe { number.read() }, 50);
    assert_eq!(machine.download::<u32>(out, 1), [80]);
    // The variable goes with its program.
    let mut attributes = hipPointerAttribute_t::default();
    ok!(machine, hipPointerGetAttributes(&mut attributes, counter));
    assert_eq!(attributes.isManaged, 1);
    hip!(machine, __hipUnregisterFatBinary(modules));
    ok!(machine, hipPointerGetAttributes(&mut attributes, counter));
    assert_eq!(attributes.type_, hipMemoryType::hipMemoryTypeUnregistered);
}

#[test]
fn a_managed_variable_that_cannot_be_leaves_its_place_as_it_is() {
    let machine = Machine::new("");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/services/services.gfx942.co");
    let modules = register_file(&machine, &file);
    let (mut counter, mut first) = (null_mut::<c_void>(), 40_u32);
    let (name, place) = (c"counter".as_ptr(), &raw mut counter);
    let value: *mut c_void = (&raw mut first).cast();
    hip!(machine, __hipRegisterManagedVar(modules.cast(), place, value, null(), 4, 4));
    hip!(machine, __hipRegisterManagedVar(modules.cast(), place, null_mut(), name, 4, 4));
    hip!(machine, __hipRegisterManagedVar(modules.cast(), null_mut(), value, name, 4, 4));
    assert!(counter.is_null());
}

#[test]
fn a_symbol_has_a_function_on_each_device() {
    let machine = Machine::new("gfx942?devices=2");
    let kernel = kernel(&machine);
    let function_of = |symbol| {
        let mut function = null_mut();
        (hip!(machine, hipGetFuncBySymbol(&mut function, symbol)), function)
    };
    let (status, first) = function_of(kernel);
    assert!(status == hipError_t::hipSuccess && !first.is_null());
    assert_eq!(function_of(kernel), (status, first));
    let mut bytes = 7;
    let lds = hipFunction_attribute::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
    ok!(machine, hipFuncGetAttribute(&mut bytes, lds, first));
    assert_eq!(bytes, 0);
    ok!(machine, hipSetDevice(1));
    assert_ne!(function_of(kernel).1, first);
    for none in [null(), symbol().cast_const()] {
        assert_eq!(function_of(none), (hipError_t::hipErrorInvalidDeviceFunction, null_mut()));
    }
}

#[test]
fn a_kernel_may_ask_for_all_the_lds_that_is_left() {
    let machine = Machine::new("");
    let kernel = kernel(&machine);
    let lds = hipFuncAttribute::hipFuncAttributeMaxDynamicSharedMemorySize;
    let share = hipFuncAttribute::hipFuncAttributePreferredSharedMemoryCarveout;
    let set = |attribute, value| hip!(machine, hipFuncSetAttribute(kernel, attribute, value));
    let told = || {
        let mut attributes = hipFuncAttributes::default();
        ok!(machine, hipFuncGetAttributes(&mut attributes, kernel));
        attributes.maxDynamicSharedSizeBytes
    };
    assert_eq!(told(), 64 << 10);
    assert_eq!(set(lds, 4096), hipError_t::hipSuccess);
    assert_eq!(told(), 4096);
    assert_eq!([set(share, -1), set(lds, -1)], [hipError_t::hipSuccess, hipError_t::hipErrorInvalidValue]);
    for (attribute, most) in [(lds, 64 << 10), (share, 100)] {
        assert_eq!([0, most].map(|value| set(attribute, value)), [hipError_t::hipSuccess; 2]);
        let wrong = [-2, most + 1, i32::MAX].map(|value| set(attribute, value));
        assert_eq!(wrong, [hipError_t::hipErrorInvalidValue; 3]);
    }
    let none = hipFuncAttribute(hipFuncAttribute::hipFuncAttributeMax.0 + 1);
    assert_eq!(set(none, 0), hipError_t::hipErrorInvalidValue);
    for no_kernel in [null(), symbol().cast_const()] {
        fails!(hipErrorInvalidDeviceFunction, machine, hipFuncSetAttribute(no_kernel, lds, 0));
    }
}

#[test]
fn a_symbol_tells_how_many_of_its_workgroups_fit() {
    let machine = Machine::new("gfx942?units=10");
    let kernel = kernel(&machine);
    let (mut blocks, mut with_flags) = (7, 7);
    for (size, lds, resident) in [(64, 0, 32), (65, 0, 16), (1024, 0, 2), (1025, 0, 0), (64, 33 << 10, 1)] {
        ok!(machine, hipOccupancyMaxActiveBlocksPerMultiprocessor(&mut blocks, kernel, size, lds));
        assert_eq!(blocks, resident, "{size} {lds}");
        for flags in [0, 1] {
            let out = &mut with_flags;
            ok!(
                machine,
                hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, kernel, size, lds, flags)
            );
            assert_eq!(with_flags, resident, "{size} {lds}");
        }
    }
    let (mut grid, mut block) = (7, 7);
    for (limit, expected) in [(0, (20, 1024)), (1025, (20, 1024)), (256, (80, 256))] {
        ok!(machine, hipOccupancyMaxPotentialBlockSize(&mut grid, &mut block, kernel, 0, limit));
        assert_eq!((grid, block), expected);
    }
    let ask = |out, symbol, size| {
        [
            hip!(machine, hipOccupancyMaxActiveBlocksPerMultiprocessor(out, symbol, size, 0)),
            hip!(machine, hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, symbol, size, 0, 0)),
        ]
    };
    assert_eq!(ask(null_mut(), kernel, 64), [hipError_t::hipErrorInvalidValue; 2]);
    for size in [0, -1] {
        assert_eq!(ask(&mut blocks, kernel, size), [hipError_t::hipErrorInvalidValue; 2]);
    }
    for none in [null(), symbol().cast_const()] {
        assert_eq!(ask(&mut blocks, none, 64), [hipError_t::hipErrorInvalidDeviceFunction; 2]);
        let (grid, block) = (&mut grid, &mut block);
        fails!(
            hipErrorInvalidDeviceFunction,
            machine,
            hipOccupancyMaxPotentialBlockSize(grid, block, none, 0, 0)
        );
    }
    for flags in [2, u32::MAX] {
        let out = &mut blocks;
        fails!(
            hipErrorInvalidValue,
            machine,
            hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(out, kernel, 64, 0, flags)
        );
    }
    fails!(
        hipErrorInvalidValue,
        machine,
        hipOccupancyMaxPotentialBlockSize(null_mut(), &mut block, kernel, 0, 0)
    );
    fails!(
        hipErrorInvalidValue,
        machine,
        hipOccupancyMaxPotentialBlockSize(&mut grid, null_mut(), kernel, 0, 0)
    );
}
