// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executables and their functions.

use std::{
    ffi::{CString, c_char, c_void},
    mem::MaybeUninit,
    ops::Deref,
    ptr::{self, NonNull},
    sync::OnceLock,
};

use facade::{Error, Executable, Function, ParameterKind, Result};

use crate::{
    boundary::{fallible, infallible},
    device::windlass_device_t,
    error::windlass_error_t,
    handle::{self, Shell, object, used},
    memory::{Growing, bytes, c_string, give, list, text, write_struct},
    unknown::{flag, number},
};

/// Loaded device code. It lives until the last reference to it and to its functions is released and the last
/// submission that uses it has ended.
pub struct windlass_executable_t(Shell<Loaded>);
object!(windlass_executable_t, Loaded, "executable");

/// An executable with C strings.
pub(crate) struct Loaded {
    executable: Executable,
    global_names: OnceLock<Vec<CString>>,
}

impl Loaded {
    fn new(executable: Executable) -> Self {
        Self { executable, global_names: OnceLock::new() }
    }

    /// The names of the global variables, in their order.
    pub(crate) fn global_names(&self) -> &[CString] {
        let names = || self.executable.globals().iter().map(|global| c_string(&global.name)).collect();
        self.global_names.get_or_init(names)
    }
}

impl Deref for Loaded {
    type Target = Executable;

    fn deref(&self) -> &Executable {
        &self.executable
    }
}

/// A function of an executable, which it keeps loaded.
pub struct windlass_function_t(Shell<Reflected>);
object!(windlass_function_t, Reflected, "function");

/// A function with C strings.
pub(crate) struct Reflected {
    pub(crate) function: Function,
    name: CString,
    signature: CString,
    parameter_names: Vec<Option<CString>>,
}

impl Reflected {
    fn new(function: Function) -> Self {
        let info = function.info();
        let names = info.parameters.iter().map(|parameter| parameter.name.as_deref().map(c_string));
        Self {
            name: c_string(&info.name),
            signature: c_string(&info.signature()),
            parameter_names: names.collect(),
            function,
        }
    }
}

/// The kind of a parameter: one of WINDLASS_PARAMETER_*. Later versions may add kinds.
pub type windlass_parameter_kind_t = u32;

/// A device address of eight bytes: a buffer, a slot or null.
pub const WINDLASS_PARAMETER_BUFFER: windlass_parameter_kind_t = 1;
/// Bytes of exactly the parameter's size.
pub const WINDLASS_PARAMETER_VALUE: windlass_parameter_kind_t = 2;

/// The description of a function. Its strings belong to the function's handle.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_function_info_t {
    /// sizeof this struct, set by the caller: windlass_function_info_init does so.
    pub struct_size: usize,
    /// The name for lookups.
    pub name: *const c_char,
    /// Name and parameters in one line: "saxpy(alpha: 4 bytes, x: buffer, y: buffer, n: 4 bytes)".
    pub signature: *const c_char,
    /// The number of explicit parameters. The runtime fills hidden ones.
    pub parameter_count: u32,
    /// The size of the block of explicit arguments in bytes.
    pub argument_size: u32,
    /// The workgroup size that the code was built for; zeros if the code fixes none.
    pub workgroup_size: [u32; 3],
    /// The maximum number of work-items of a workgroup; 0 if only the device's limit counts.
    pub max_workgroup_threads: u32,
    /// Bytes of local memory (LDS) of every workgroup.
    pub static_local_memory: u32,
    /// Vector registers (VGPRs) of a work-item, accumulation registers included where both share one file. Here and in
    /// all fields below, WINDLASS_UNKNOWN stands for a number that the code does not state.
    pub vector_registers: u32,
    /// Scalar registers (SGPRs) of a wave.
    pub scalar_registers: u32,
    /// Accumulation registers (AGPRs) of a work-item.
    pub accumulation_registers: u32,
    /// Private memory (scratch) of a work-item.
    pub private_memory_bytes: u32,
    /// Whether the size of the stack is not known before the launch: 0, 1 or WINDLASS_UNKNOWN.
    pub dynamic_stack: u32,
    /// Vector registers that the compiler stored in memory for lack of registers.
    pub spilled_vector_registers: u32,
    /// Scalar registers that the compiler stored elsewhere for lack of registers.
    pub spilled_scalar_registers: u32,
    /// Work-items of a wave that the code was compiled for.
    pub wave_size: u32,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_function_info_t {
    /// Without the registers and all that follows.
    const LEAST: usize = 56;
    const NAME: &'static str = "windlass_function_info_t";
}

/// An explicit parameter of a function. The name belongs to the function's handle.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_parameter_t {
    /// sizeof this struct, set by the caller: windlass_parameter_init does so.
    pub struct_size: usize,
    /// The name in the source; NULL if the compiler did not keep it.
    pub name: *const c_char,
    /// The kind of the parameter.
    pub kind: windlass_parameter_kind_t,
    /// The offset in the argument block, in bytes.
    pub offset: u32,
    /// The size in bytes.
    pub size: u32,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_parameter_t {
    const NAME: &'static str = "windlass_parameter_t";
}

/// Loads device code: a code object or a bundle, compressed or not. The best entry for the device is chosen; if none
/// fits, NOT_FOUND gives the reason for each entry. The code is copied. The caller owns the executable.
///
/// This is the one unsafe act of the C interface, apart from the program's own pointers: device code can write to all
/// memory of the device, and no check can stop it. The caller vouches for every dispatch of the code that the program
/// can make: with any buffers, values and raw argument blocks, the code stays within live buffers of this device and
/// within their usage.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_executable_load(
    device: Option<NonNull<windlass_device_t>>,
    code: *const c_void,
    size: usize,
    executable: Option<&mut MaybeUninit<Option<NonNull<windlass_executable_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(executable, || {
            let device = used(device)?;
            // SAFETY: the contract in the header covers that of `bytes`.
            let code = unsafe { bytes("code", size, code) }?;
            // SAFETY: the contract in the header covers that of `load_executable`.
            unsafe { device.device.load_executable(code) }.map(Loaded::new)
        })
    })
}

/// Loads `count` pieces of device code as one executable: a function or a variable that one piece leaves undefined may
/// be defined by another. Piece i has `sizes[i]` bytes at `codes[i]`, as for `windlass_executable_load`. NOT_FOUND
/// names symbols that no piece defines. FAILED_PRECONDITION if pieces need each other in a circle, or if the device
/// address of a symbol is unknown. The code is copied. The caller owns the executable, and vouches for all pieces as
/// for `windlass_executable_load`.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_executable_load_linked(
    device: Option<NonNull<windlass_device_t>>,
    count: usize,
    codes: *const *const c_void,
    sizes: *const usize,
    executable: Option<&mut MaybeUninit<Option<NonNull<windlass_executable_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(executable, || {
            let device = used(device)?;
            // SAFETY: the contract in the header covers that of `list`, for this and the next.
            let codes = unsafe { list("codes", count, codes) }?;
            // SAFETY: as above.
            let sizes = unsafe { list("sizes", count, sizes) }?;
            let pieces = codes.iter().zip(sizes).map(|(code, size)| {
                // SAFETY: the contract in the header covers that of `bytes`, for each piece.
                unsafe { bytes("codes[i]", *size, *code) }
            });
            let pieces = pieces.collect::<Result<Vec<_>>>()?;
            // SAFETY: the contract in the header covers that of `load_linked`.
            unsafe { device.device.load_linked(&pieces) }.map(Loaded::new)
        })
    })
}

/// Adds a reference and returns the executable. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_executable_retain(
    executable: Option<NonNull<windlass_executable_t>>,
) -> Option<NonNull<windlass_executable_t>> {
    infallible(None, || handle::retain(executable).map(|()| executable))
}

/// Releases a reference. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_executable_release(executable: Option<NonNull<windlass_executable_t>>) {
    infallible((), || {
        handle::release(executable);
        Ok(())
    });
}

/// A function by name. NOT_FOUND lists the existing names. The caller owns the handle.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_executable_function(
    executable: Option<NonNull<windlass_executable_t>>,
    name: *const c_char,
    function: Option<&mut MaybeUninit<Option<NonNull<windlass_function_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(function, || {
            // SAFETY: the contract in the header covers that of `text`.
            let name = unsafe { text("name", name) }?;
            used(executable)?.function(name).map(Reflected::new)
        })
    })
}

/// The number of functions that can be dispatched; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_executable_function_count(
    executable: Option<NonNull<windlass_executable_t>>,
) -> usize {
    infallible(0, || Ok(used(executable)?.functions().count()))
}

/// A function by number, from 0, in the order in which the code object lists its kernels. OUT_OF_RANGE if there are
/// fewer. The caller owns the handle.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_executable_function_at(
    executable: Option<NonNull<windlass_executable_t>>,
    index: usize,
    function: Option<&mut MaybeUninit<Option<NonNull<windlass_function_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(function, || {
            let executable = used(executable)?;
            let found = executable.functions().nth(index).map(Reflected::new);
            found.ok_or_else(|| {
                let count = executable.functions().count();
                Error::out_of_range(format!("function {index} of an executable that has {count}"))
            })
        })
    })
}

/// Whether both handles are of the same loaded code: while a handle lives, loading the same bytes again gives the same
/// code, with the same global variables. False for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_executable_same(
    first: Option<NonNull<windlass_executable_t>>,
    second: Option<NonNull<windlass_executable_t>>,
) -> bool {
    infallible(false, || {
        let second = used(second)?;
        Ok(used(first)?.same(&second))
    })
}

/// The executable of a function. The caller owns the handle.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_function_executable(
    function: Option<NonNull<windlass_function_t>>,
    executable: Option<&mut MaybeUninit<Option<NonNull<windlass_executable_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(executable, || Ok(Loaded::new(used(function)?.function.executable()))))
}

/// Adds a reference and returns the function. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_function_retain(
    function: Option<NonNull<windlass_function_t>>,
) -> Option<NonNull<windlass_function_t>> {
    infallible(None, || handle::retain(function).map(|()| function))
}

/// Releases a reference. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_function_release(function: Option<NonNull<windlass_function_t>>) {
    infallible((), || {
        handle::release(function);
        Ok(())
    });
}

/// The description of the function. The strings are valid until the function's last reference is released.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_function_info(
    function: Option<NonNull<windlass_function_t>>,
    info: *mut windlass_function_info_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let function = used(function)?;
        let of = function.function.info();
        let value = windlass_function_info_t {
            struct_size: size_of::<windlass_function_info_t>(),
            name: function.name.as_ptr(),
            signature: function.signature.as_ptr(),
            parameter_count: of.parameters.len() as u32,
            argument_size: of.argument_size,
            workgroup_size: of.workgroup_size.unwrap_or_default(),
            max_workgroup_threads: of.max_workgroup_threads,
            static_local_memory: of.static_local_memory,
            vector_registers: number(of.resources.vector_registers),
            scalar_registers: number(of.resources.scalar_registers),
            accumulation_registers: number(of.resources.accumulation_registers),
            private_memory_bytes: number(of.resources.private_memory_bytes),
            dynamic_stack: flag(of.resources.dynamic_stack),
            spilled_vector_registers: number(of.resources.spilled_vector_registers),
            spilled_scalar_registers: number(of.resources.spilled_scalar_registers),
            wave_size: number(of.resources.wave_size),
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(info, &value) }
    })
}

/// A parameter by number, from 0. OUT_OF_RANGE if the function has fewer. The name is valid until the function's last
/// reference is released.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_function_parameter(
    function: Option<NonNull<windlass_function_t>>,
    index: u32,
    parameter: *mut windlass_parameter_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let function = used(function)?;
        let value = describe(&function, index as usize)?;
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(parameter, &value) }
    })
}

fn describe(of: &Reflected, index: usize) -> Result<windlass_parameter_t> {
    let parameters = &of.function.info().parameters;
    let parameter = parameters.get(index).ok_or_else(|| {
        Error::out_of_range(format!("parameter {index} of a function that has {}", parameters.len()))
    })?;
    let name = of.parameter_names.get(index).and_then(Option::as_ref);
    Ok(windlass_parameter_t {
        struct_size: size_of::<windlass_parameter_t>(),
        name: name.map_or(ptr::null(), |name| name.as_ptr()),
        kind: match parameter.kind {
            ParameterKind::Buffer => WINDLASS_PARAMETER_BUFFER,
            ParameterKind::Value => WINDLASS_PARAMETER_VALUE,
            other => return Err(Error::unimplemented(format!("a parameter of the kind {other:?}"))),
        },
        offset: parameter.offset,
        size: parameter.size,
    })
}
