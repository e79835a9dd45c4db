// SPDX-License-Identifier: MIT OR Apache-2.0
//! Variables and kernels that compiled programs name by the addresses of their own.

use std::ffi::c_void;
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
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles").join(file);
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
fn kernel(machine: &Machine) -> *const c_void {
    let (modules, kernel) = (register(machine, "vector_add.hipfb"), symbol());
    let name = c"vector_add".as_ptr().cast_mut();
    let none = null_mut();
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
    for none in [null(), symbol().cast_const()] {
        fails!(hipErrorInvalidDeviceFunction, machine, hipFuncSetCacheConfig(none, cache));
        fails!(hipErrorInvalidDeviceFunction, machine, hipFuncSetSharedMemConfig(none, bank));
    }
}
