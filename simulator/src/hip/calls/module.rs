// SPDX-License-Identifier: MIT OR Apache-2.0
//! Modules, their functions and variables.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use windlass_hip_sys::bindings::{
    hipDeviceptr_t, hipError_t, hipFuncAttribute, hipFuncAttributes, hipFuncCache_t, hipFunction_attribute,
    hipFunction_t, hipJitOption, hipModule_t, hipSharedMemConfig,
};

use crate::hip::boundary::call::Call;
use crate::hip::hardware::device::limits;
use crate::hip::programs::program::{Function, Program};
use crate::hip::programs::unsuited::Subject;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::work::occupancy::Occupancy;

/// A function by its handle.
pub(super) fn function(call: &Call, handle: hipFunction_t) -> Outcome<Arc<Function>> {
    call.runtime.functions.get(handle as u64).ok_or(Code::INVALID_HANDLE)
}

/// A function by its host symbol or, since HIP 7, by its handle.
pub(super) fn function_of_symbol(call: &Call, symbol: *const c_void) -> Outcome<Arc<Function>> {
    function_on(call, symbol, call.any_device()?.index)
}

/// A function of a device by its host symbol or, since HIP 7, by its handle.
pub(super) fn function_on(call: &Call, symbol: *const c_void, device: usize) -> Outcome<Arc<Function>> {
    if let Some(function) = call.runtime.functions.get(symbol as u64).filter(|_| call.is_since(7)) {
        return Ok(function);
    }
    let handle = call.runtime.compiled.function(device, symbol as u64)?;
    call.runtime.functions.get(handle).ok_or(Code::INVALID_DEVICE_FUNCTION)
}

/// Refuses the null symbol, for functions whose answer differs from that to a symbol that stands for no function.
pub(super) fn check_symbol(symbol: *const c_void) -> Outcome<()> {
    if symbol.is_null() { Err(Code::INVALID_HANDLE) } else { Ok(()) }
}

/// A module by its handle.
fn find(call: &Call, module: hipModule_t) -> Outcome<Arc<Program>> {
    let absent = if module.is_null() { Code::INVALID_HANDLE } else { Code::NOT_FOUND };
    call.runtime.modules.get(module as u64).ok_or(absent)
}

/// Whether a name is wrong for every module. HIP 5 looks the empty name up.
fn is_refused(call: &Call, name: &str) -> bool {
    name.is_empty() && call.is_since(6)
}

fn enter(call: &Call, module: *mut hipModule_t, program: Arc<Program>) -> Outcome<()> {
    let machine = &call.runtime.machine;
    program.set_up_managed(machine, &call.describe())?;
    let Some(handle) = call.runtime.modules.insert(program.clone()) else {
        program.release_managed(machine, &call.describe());
        return Err(Code::OUT_OF_MEMORY);
    };
    call.put(module, handle.get() as hipModule_t)
}

pub(super) fn load(call: &Call, module: *mut hipModule_t, image: *const c_void) -> Outcome<()> {
    if module.is_null() || image.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let device = call.device()?.index;
    // SAFETY: the client vouches for the image, as long as its own headers say.
    let program = unsafe {
        Program::load_image(&call.runtime.machine, device, image, call.describe(), &Subject::Module)
    }?;
    enter(call, module, program)
}

pub(in crate::hip) unsafe extern "C" fn hipModuleLoad(
    module: *mut hipModule_t,
    path: *const c_char,
) -> hipError_t {
    hip!(hipModuleLoad, |call| {
        let path = call.get_string(path)?;
        if module.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        if path.is_empty() {
            return Err(Code::INVALID_VALUE);
        }
        let device = call.device()?.index;
        let bytes = std::fs::read(&path).map_err(|error| {
            explain(format!("{path} was not read: {error}"));
            if error.kind() == ErrorKind::IsADirectory { Code::INVALID_VALUE } else { Code::FILE_NOT_FOUND }
        })?;
        if bytes.is_empty() {
            explain(format!("{path} is empty"));
            return Err(Code::INVALID_VALUE);
        }
        let by = call.describe();
        enter(call, module, Program::load(&call.runtime.machine, device, &bytes, by, &Subject::Module)?)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipModuleLoadData(
    module: *mut hipModule_t,
    image: *const c_void,
) -> hipError_t {
    hip!(hipModuleLoadData, |call| load(call, module, image))
}

pub(in crate::hip) unsafe extern "C" fn hipModuleLoadDataEx(
    module: *mut hipModule_t,
    image: *const c_void,
    _options_count: c_uint,
    _options: *mut hipJitOption,
    _values: *mut *mut c_void,
) -> hipError_t {
    // The options are for code that HIP compiles.
    hip!(hipModuleLoadDataEx, |call| load(call, module, image))
}

pub(in crate::hip) unsafe extern "C" fn hipModuleUnload(module: hipModule_t) -> hipError_t {
    hip!(hipModuleUnload, |call| {
        let program = find(call, module)?;
        call.runtime.synchronize(program.device)?;
        // Another thread may have unloaded it meanwhile.
        let program = call.runtime.modules.remove(module as u64).ok_or(Code::NOT_FOUND)?;
        program.unload(&call.runtime.functions);
        program.release_managed(&call.runtime.machine, &call.describe());
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipModuleGetFunction(
    function: *mut hipFunction_t,
    module: hipModule_t,
    name: *const c_char,
) -> hipError_t {
    hip!(hipModuleGetFunction, |call| {
        let name = call.get_string(name)?;
        if function.is_null() || is_refused(call, &name) {
            return Err(Code::INVALID_VALUE);
        }
        let program = find(call, module)?;
        call.put(function, program.function(&call.runtime.functions, &name)? as hipFunction_t)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipModuleGetFunctionCount(
    count: *mut c_uint,
    module: hipModule_t,
) -> hipError_t {
    hip!(hipModuleGetFunctionCount, |call| {
        let program = find(call, module)?;
        call.put(count, program.module.kernel_names().count() as c_uint)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipModuleGetGlobal(
    address: *mut hipDeviceptr_t,
    size: *mut usize,
    module: hipModule_t,
    name: *const c_char,
) -> hipError_t {
    hip!(hipModuleGetGlobal, |call| {
        let name = call.get_string(name)?;
        if is_refused(call, &name) || address.is_null() && size.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        let program = find(call, module)?;
        let Some((base, length)) = program.global(&name) else {
            call.put_if(address, std::ptr::null_mut());
            return Err(Code::NOT_FOUND);
        };
        call.put_if(address, base as hipDeviceptr_t);
        call.put_if(size, length as usize);
        Ok(())
    })
}

pub(in crate::hip) unsafe extern "C" fn hipFuncGetAttribute(
    value: *mut c_int,
    attribute: hipFunction_attribute,
    handle: hipFunction_t,
) -> hipError_t {
    hip!(hipFuncGetAttribute, |call| {
        let function = function(call, handle)?;
        let kernel = &function.kernel;
        let number = match attribute {
            hipFunction_attribute::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK => kernel.max_workgroup_size(),
            hipFunction_attribute::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES => kernel.static_lds(),
            hipFunction_attribute::HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES
            | hipFunction_attribute::HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA
            | hipFunction_attribute::HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT => 0,
            hipFunction_attribute::HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES => kernel.private_size(),
            hipFunction_attribute::HIP_FUNC_ATTRIBUTE_NUM_REGS => kernel.vgprs(),
            hipFunction_attribute::HIP_FUNC_ATTRIBUTE_PTX_VERSION if !call.is_since(6) => 30,
            hipFunction_attribute::HIP_FUNC_ATTRIBUTE_BINARY_VERSION if !call.is_since(6) => 2,
            hipFunction_attribute::HIP_FUNC_ATTRIBUTE_PTX_VERSION
            | hipFunction_attribute::HIP_FUNC_ATTRIBUTE_BINARY_VERSION => 94,
            hipFunction_attribute::HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES => function.dynamic_lds(),
            _ => return Err(Code::INVALID_VALUE),
        };
        call.put(value, c_int::try_from(number).unwrap_or(c_int::MAX))
    })
}

pub(in crate::hip) unsafe extern "C" fn hipFuncGetAttributes(
    attributes: *mut hipFuncAttributes,
    symbol: *const c_void,
) -> hipError_t {
    hip!(hipFuncGetAttributes, |call| {
        if attributes.is_null() {
            return Err(Code::INVALID_VALUE);
        }
        check_symbol(symbol)?;
        let function = function_of_symbol(call, symbol)?;
        let kernel = &function.kernel;
        let number = |value: u32| c_int::try_from(value).unwrap_or(c_int::MAX);
        let known = hipFuncAttributes {
            binaryVersion: 94,
            localSizeBytes: kernel.private_size() as usize,
            maxDynamicSharedSizeBytes: number(function.wanted_lds.load(Ordering::Relaxed)),
            maxThreadsPerBlock: number(kernel.max_workgroup_size()),
            numRegs: number(kernel.vgprs()),
            ptxVersion: 94,
            sharedSizeBytes: kernel.static_lds() as usize,
            ..Default::default()
        };
        call.put(attributes, known)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipFuncSetAttribute(
    symbol: *const c_void,
    attribute: hipFuncAttribute,
    value: c_int,
) -> hipError_t {
    hip!(hipFuncSetAttribute, |call| {
        if attribute.0 >= hipFuncAttribute::hipFuncAttributeMax.0 {
            return Err(Code::INVALID_VALUE);
        }
        let function = function_of_symbol(call, symbol)?;
        let wanted = u32::try_from(value);
        match (attribute, wanted) {
            (hipFuncAttribute::hipFuncAttributeMaxDynamicSharedMemorySize, Ok(wanted))
                if wanted <= function.dynamic_lds() =>
            {
                function.wanted_lds.store(wanted, Ordering::Relaxed);
                Ok(())
            }
            // A share of LDS in per cent, without effect here; -1 asks for the default.
            (hipFuncAttribute::hipFuncAttributePreferredSharedMemoryCarveout, Ok(..=100)) => Ok(()),
            (hipFuncAttribute::hipFuncAttributePreferredSharedMemoryCarveout, _) if value == -1 => Ok(()),
            _ => Err(Code::INVALID_VALUE),
        }
    })
}

pub(in crate::hip) unsafe extern "C" fn hipFuncSetCacheConfig(
    symbol: *const c_void,
    config: hipFuncCache_t,
) -> hipError_t {
    hip!(hipFuncSetCacheConfig, |call| match config.0 {
        0..=3 => function_of_symbol(call, symbol).map(|_| ()),
        _ => Err(Code::INVALID_VALUE),
    })
}

pub(in crate::hip) unsafe extern "C" fn hipFuncSetSharedMemConfig(
    symbol: *const c_void,
    config: hipSharedMemConfig,
) -> hipError_t {
    hip!(hipFuncSetSharedMemConfig, |call| match config.0 {
        0..=2 => function_of_symbol(call, symbol).map(|_| ()),
        _ => Err(Code::INVALID_VALUE),
    })
}

pub(in crate::hip) unsafe extern "C" fn hipGetFuncBySymbol(
    handle: *mut hipFunction_t,
    symbol: *const c_void,
) -> hipError_t {
    hip!(hipGetFuncBySymbol, |call| {
        let device = call.device()?.index;
        let found = call.runtime.compiled.function(device, symbol as u64)?;
        call.put(handle, found as hipFunction_t)
    })
}

/// The workgroups of `block_size` work-items that fit into a compute unit.
fn resident_blocks(call: &Call, function: &Function, block_size: c_int, dynamic: usize) -> Outcome<c_int> {
    let block_size = u32::try_from(block_size).ok().filter(|size| *size > 0).ok_or(Code::INVALID_VALUE)?;
    call.device()?;
    let resident = Occupancy::new(&function.kernel, dynamic as u64).blocks(block_size);
    Ok(c_int::try_from(resident).unwrap_or(c_int::MAX))
}

fn give_resident_blocks(
    call: &Call,
    blocks: *mut c_int,
    function: impl FnOnce() -> Outcome<Arc<Function>>,
    block_size: c_int,
    dynamic: usize,
) -> Outcome<()> {
    if blocks.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let resident = resident_blocks(call, &*function()?, block_size, dynamic);
    // No workgroup of size 0 is resident.
    call.put(blocks, *resident.as_ref().unwrap_or(&0))?;
    resident.map(|_| ())
}

pub(in crate::hip) unsafe extern "C" fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut c_int,
    handle: hipFunction_t,
    block_size: c_int,
    dynamic: usize,
) -> hipError_t {
    hip!(hipModuleOccupancyMaxActiveBlocksPerMultiprocessor, |call| {
        give_resident_blocks(call, blocks, || function(call, handle), block_size, dynamic)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: *mut c_int,
    handle: hipFunction_t,
    block_size: c_int,
    dynamic: usize,
    flags: c_uint,
) -> hipError_t {
    hip!(hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, |call| {
        if flags > 1 {
            return Err(Code::INVALID_VALUE);
        }
        give_resident_blocks(call, blocks, || function(call, handle), block_size, dynamic)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipOccupancyMaxActiveBlocksPerMultiprocessor(
    blocks: *mut c_int,
    symbol: *const c_void,
    block_size: c_int,
    dynamic: usize,
) -> hipError_t {
    hip!(hipOccupancyMaxActiveBlocksPerMultiprocessor, |call| {
        give_resident_blocks(call, blocks, || function_of_symbol(call, symbol), block_size, dynamic)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    blocks: *mut c_int,
    symbol: *const c_void,
    block_size: c_int,
    dynamic: usize,
    flags: c_uint,
) -> hipError_t {
    hip!(hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, |call| {
        if flags > 1 {
            return Err(Code::INVALID_VALUE);
        }
        give_resident_blocks(call, blocks, || function_of_symbol(call, symbol), block_size, dynamic)
    })
}

fn potential_block_size(
    call: &Call,
    (grid_size, block_size): (*mut c_int, *mut c_int),
    function: impl FnOnce() -> Outcome<Arc<Function>>,
    dynamic: usize,
    limit: c_int,
) -> Outcome<()> {
    if grid_size.is_null() || block_size.is_null() {
        return Err(Code::INVALID_VALUE);
    }
    let function = function()?;
    let most = limits::THREADS_PER_BLOCK;
    let limit = u32::try_from(limit).ok().filter(|limit| (1..most).contains(limit)).unwrap_or(most);
    call.device()?;
    let units = call.runtime.machine.device(function.program.device)?.units;
    let (size, blocks) = Occupancy::new(&function.kernel, dynamic as u64).best(limit, units);
    call.put(grid_size, c_int::try_from(blocks).unwrap_or(c_int::MAX))?;
    call.put(block_size, size as c_int)
}

pub(in crate::hip) unsafe extern "C" fn hipModuleOccupancyMaxPotentialBlockSize(
    grid_size: *mut c_int,
    block_size: *mut c_int,
    handle: hipFunction_t,
    dynamic: usize,
    limit: c_int,
) -> hipError_t {
    hip!(hipModuleOccupancyMaxPotentialBlockSize, |call| {
        potential_block_size(call, (grid_size, block_size), || function(call, handle), dynamic, limit)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipModuleOccupancyMaxPotentialBlockSizeWithFlags(
    grid_size: *mut c_int,
    block_size: *mut c_int,
    handle: hipFunction_t,
    dynamic: usize,
    limit: c_int,
    flags: c_uint,
) -> hipError_t {
    hip!(hipModuleOccupancyMaxPotentialBlockSizeWithFlags, |call| {
        if flags > 1 {
            return Err(Code::INVALID_VALUE);
        }
        potential_block_size(call, (grid_size, block_size), || function(call, handle), dynamic, limit)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipOccupancyMaxPotentialBlockSize(
    grid_size: *mut c_int,
    block_size: *mut c_int,
    symbol: *const c_void,
    dynamic: usize,
    limit: c_int,
) -> hipError_t {
    hip!(hipOccupancyMaxPotentialBlockSize, |call| {
        let function = || function_of_symbol(call, symbol);
        potential_block_size(call, (grid_size, block_size), function, dynamic, limit)
    })
}

pub(in crate::hip) unsafe extern "C" fn hipOccupancyAvailableDynamicSMemPerBlock(
    bytes: *mut usize,
    symbol: *const c_void,
    blocks: c_int,
    block_size: c_int,
) -> hipError_t {
    /// Bytes in which a compute unit gives LDS out.
    const GRANULE: u32 = 512;
    hip!(hipOccupancyAvailableDynamicSMemPerBlock, |call| {
        let (blocks, block_size) =
            (u32::try_from(blocks).unwrap_or(0), u32::try_from(block_size).unwrap_or(0));
        if bytes.is_null() || blocks == 0 || block_size == 0 {
            return Err(Code::INVALID_VALUE);
        }
        let function = function_of_symbol(call, symbol).map_err(|_| Code::INVALID_DEVICE_FUNCTION)?;
        let kernel = &function.kernel;
        let part = kernel.module().part();
        if block_size > part.work_items_of_unit() {
            return Err(Code::INVALID_VALUE);
        }
        let most = part.work_items_of_unit() / block_size;
        let whole = part.lds;
        let left = whole.saturating_sub(kernel.static_lds().saturating_mul(blocks.min(most)));
        let dynamic = whole.saturating_sub(kernel.static_lds());
        // More workgroups than fit cannot make the share of each smaller.
        let share = (left / most).min(dynamic).max((left / blocks).min(dynamic));
        call.put(bytes, (share - share % GRANULE) as usize)
    })
}
