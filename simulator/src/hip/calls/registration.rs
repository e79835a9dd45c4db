// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions that compiled HIP programs call by themselves: registrations at start, and the two halves of `<<<>>>`.

use std::ffi::{c_char, c_int, c_uint, c_void};

use windlass_hip_sys::bindings::{dim3, hipError_t, hipStream_t, uint3};

use crate::hip::hardware::allocation::{self, Request};
use crate::hip::hardware::ledger::Origin;
use crate::hip::instance::thread::CallConfiguration;
use crate::hip::words::code::Code;
use crate::hip::work::launch::Shape;

/// The wrapper of a fat binary, which the compiler emits for each translation unit.
#[repr(C)]
#[derive(Clone, Copy)]
struct Wrapper {
    magic: u32,
    version: u32,
    image: *const c_void,
    unused: *const c_void,
}

/// "HIPF".
const MAGIC: u32 = 0x4849_5046;

pub(in crate::hip) unsafe extern "C" fn __hipRegisterFatBinary(data: *const c_void) -> *mut *mut c_void {
    let mut handle = 0;
    let _ = hip!(__hipRegisterFatBinary, |call| {
        let wrapper = call.get(data.cast::<Wrapper>())?;
        if wrapper.magic != MAGIC || wrapper.version != 1 {
            return Err(Code::INVALID_IMAGE);
        }
        handle = call.runtime.compiled.register(wrapper.image)?;
        Ok(())
    });
    handle as *mut *mut c_void
}

pub(in crate::hip) unsafe extern "C" fn __hipUnregisterFatBinary(binary: *mut *mut c_void) {
    let _ = hip!(__hipUnregisterFatBinary, |call| {
        call.runtime.compiled.unregister(binary as u64);
        Ok(())
    });
}

pub(in crate::hip) unsafe extern "C" fn __hipRegisterFunction(
    binary: *mut *mut c_void,
    symbol: *const c_void,
    _host_name: *mut c_char,
    name: *const c_char,
    _thread_limit: c_uint,
    _tid: *mut uint3,
    _bid: *mut uint3,
    _block: *mut dim3,
    _grid: *mut dim3,
    _wave_size: *mut c_int,
) {
    let _ = hip!(__hipRegisterFunction, |call| {
        call.runtime.compiled.register_function(binary as u64, symbol as u64, call.get_string(name)?);
        Ok(())
    });
}

pub(in crate::hip) unsafe extern "C" fn __hipRegisterVar(
    binary: *mut *mut c_void,
    variable: *mut c_void,
    _host_name: *mut c_char,
    name: *mut c_char,
    _external: c_int,
    _size: usize,
    _constant: c_int,
    _global: c_int,
) {
    let _ = hip!(__hipRegisterVar, |call| {
        call.runtime.compiled.register_variable(binary as u64, variable as u64, call.get_string(name)?);
        Ok(())
    });
}

pub(in crate::hip) unsafe extern "C" fn __hipRegisterManagedVar(
    binary: *mut c_void,
    pointer: *mut *mut c_void,
    value: *mut c_void,
    name: *const c_char,
    size: usize,
    _alignment: c_uint,
) {
    let _ = hip!(__hipRegisterManagedVar, |call| {
        let (name, value) = (call.get_string(name)?, call.get_bytes(value, size)?);
        if pointer.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let request = Request {
            size: size as u64,
            origin: Origin::Device,
            managed: true,
            flags: 1,
            pool: None,
            call: call.describe(),
        };
        let machine = &call.runtime.machine;
        let address = allocation::allocate(machine, call.thread.device.get(), request)?;
        machine.memory.write(address, &value).map_err(|_| Code::OUT_OF_MEMORY)?;
        call.put(pointer, address as *mut c_void)?;
        call.runtime.compiled.register_managed(binary as u64, name, address)
    });
}

/// A texture is refused where it is bound. Its registration at the start of a program is no failure: the program may never
/// use it.
pub(in crate::hip) unsafe extern "C" fn __hipRegisterTexture(
    _binary: *mut *mut c_void,
    _variable: *mut c_void,
    _host_name: *mut c_char,
    _name: *mut c_char,
    _kind: c_int,
    _normalised: c_int,
    _external: c_int,
) {
    let _ = hip!(__hipRegisterTexture, |_| Ok(()));
}

/// As [`__hipRegisterTexture`], for surfaces.
pub(in crate::hip) unsafe extern "C" fn __hipRegisterSurface(
    _binary: *mut *mut c_void,
    _variable: *mut c_void,
    _host_name: *mut c_char,
    _name: *mut c_char,
    _kind: c_int,
    _external: c_int,
) {
    let _ = hip!(__hipRegisterSurface, |_| Ok(()));
}

pub(in crate::hip) unsafe extern "C" fn __hipPushCallConfiguration(
    grid: dim3,
    block: dim3,
    dynamic: usize,
    stream: hipStream_t,
) -> hipError_t {
    hip!(__hipPushCallConfiguration, |call| {
        let dynamic_lds = u32::try_from(dynamic).map_err(|_| Code::INVALID_VALUE)?;
        let shape = Shape::new([grid.x, grid.y, grid.z], [block.x, block.y, block.z], dynamic_lds);
        let configuration = CallConfiguration { shape, stream: stream as u64, arguments: Vec::new() };
        call.thread.configurations.borrow_mut().push(configuration);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn __hipPopCallConfiguration(
    grid: *mut dim3,
    block: *mut dim3,
    dynamic: *mut usize,
    stream: *mut hipStream_t,
) -> hipError_t {
    hip!(__hipPopCallConfiguration, |call| {
        let configuration = call.thread.configurations.borrow_mut().pop();
        let CallConfiguration { shape, stream: handle, .. } =
            configuration.ok_or(Code::MISSING_CONFIGURATION)?;
        let extents = |[x, y, z]: [u32; 3]| dim3 { x, y, z };
        call.put(grid, extents(shape.grid))?;
        call.put(block, extents(shape.block))?;
        call.put(dynamic, shape.dynamic_lds as usize)?;
        call.put(stream, handle as hipStream_t)
    })
}
