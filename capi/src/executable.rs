// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executables and their functions.

use std::{
    ffi::{CString, c_char, c_void},
    mem::MaybeUninit,
    ptr::{self, NonNull},
};

use facade::{Error, Executable, Function, ParameterKind, QueueAffinity, Result};

use crate::{
    boundary::{fallible, infallible},
    buffer::windlass_buffer_t,
    device::windlass_device_t,
    error::windlass_error_t,
    handle::{self, Shell, object, used},
    memory::{Growing, bytes, c_string, give, list, text, write_struct},
};

/// Loaded device code. Lives until the last reference to it and to its functions is released and the last submission
/// that uses it has ended.
pub struct windlass_executable_t(Shell<Executable>);
object!(windlass_executable_t, Executable, "executable");

/// A function of an executable, which it keeps loaded.
pub struct windlass_function_t(Shell<Reflected>);
object!(windlass_function_t, Reflected, "function");

/// A function with its strings in C's form.
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

/// What a parameter takes: one of WINDLASS_PARAMETER_*. More may come.
pub type windlass_parameter_kind_t = u32;

/// A device address of eight bytes: a buffer, a slot or null.
pub const WINDLASS_PARAMETER_BUFFER: windlass_parameter_kind_t = 1;
/// Bytes of exactly the parameter's size.
pub const WINDLASS_PARAMETER_VALUE: windlass_parameter_kind_t = 2;

/// What a function takes and needs. Its strings belong to the function's handle.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_function_info_t {
    /// sizeof this struct, set by the caller: windlass_function_info_init does.
    pub struct_size: usize,
    /// The name to look it up by.
    pub name: *const c_char,
    /// Name and parameters in one line: "saxpy(alpha: 4 bytes, x: buffer, y: buffer, n: 4 bytes)".
    pub signature: *const c_char,
    /// Explicit parameters. What the runtime fills in is not among them.
    pub parameter_count: u32,
    /// Bytes of the block that holds the explicit arguments.
    pub argument_size: u32,
    /// The workgroup size that the code was built for; zeros where it fixes none.
    pub workgroup_size: [u32; 3],
    /// The most work-items of a workgroup; 0 where only the device's limit counts.
    pub max_workgroup_threads: u32,
    /// Bytes of local memory (LDS) that every workgroup gets.
    pub static_local_memory: u32,
}

// SAFETY: repr(C), its size first, and zeros are a value of it.
unsafe impl Growing for windlass_function_info_t {
    const NAME: &'static str = "windlass_function_info_t";
}

/// An explicit parameter of a function. The name belongs to the function's handle.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_parameter_t {
    /// sizeof this struct, set by the caller: windlass_parameter_init does.
    pub struct_size: usize,
    /// Its name in the source; NULL where the compiler did not keep it.
    pub name: *const c_char,
    /// What it takes.
    pub kind: windlass_parameter_kind_t,
    /// Where it lies in the argument block, in bytes.
    pub offset: u32,
    /// Bytes.
    pub size: u32,
}

// SAFETY: repr(C), its size first, and zeros are a value of it.
unsafe impl Growing for windlass_parameter_t {
    const NAME: &'static str = "windlass_parameter_t";
}

/// Loads device code: a code object, or a bundle of them, compressed or not. The best entry for the device is chosen; where
/// none fits, NOT_FOUND says for each entry why. The code is copied; the caller owns the executable.
///
/// Besides the program's own pointers this is the one unsafe act of the C interface: device code can write wherever the
/// device can reach, and no check can stop it. The caller vouches for every dispatch of the code that the program can
/// make: whatever buffers, values and raw argument blocks it is given, it stays within live buffers of this device and
/// within the usage they were allocated for.
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
            // SAFETY: the header asks of the caller what `bytes` asks.
            let code = unsafe { bytes("code", size, code) }?;
            // SAFETY: the header asks of the caller what `load_executable` asks.
            unsafe { device.device.load_executable(code) }
        })
    })
}

/// Loads `count` pieces of device code as one executable: what one piece leaves undefined, a function or a variable, another
/// may define. Piece i has `sizes[i]` bytes at `codes[i]` and is what `windlass_executable_load` takes. A symbol that no
/// piece defines is NOT_FOUND and is named. FAILED_PRECONDITION where pieces need each other in a circle, and where nobody
/// tells the device address of a symbol. The code is copied; the caller owns the executable, and vouches for all pieces as
/// `windlass_executable_load` says.
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
            // SAFETY: the header asks of the caller what `list` asks, for this and the next.
            let codes = unsafe { list("codes", count, codes) }?;
            // SAFETY: as above.
            let sizes = unsafe { list("sizes", count, sizes) }?;
            let pieces = codes.iter().zip(sizes).map(|(code, size)| {
                // SAFETY: the header asks of the caller what `bytes` asks, for each piece.
                unsafe { bytes("codes[i]", *size, *code) }
            });
            let pieces = pieces.collect::<Result<Vec<_>>>()?;
            // SAFETY: the header asks of the caller what `load_linked` asks.
            unsafe { device.device.load_linked(&pieces) }
        })
    })
}

/// Adds a reference and gives the executable back. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_executable_retain(
    executable: Option<NonNull<windlass_executable_t>>,
) -> Option<NonNull<windlass_executable_t>> {
    infallible(None, || handle::retain(executable).map(|()| executable))
}

/// Gives a reference back. NULL is right.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_executable_release(executable: Option<NonNull<windlass_executable_t>>) {
    infallible((), || {
        handle::release(executable);
        Ok(())
    });
}

/// A function by name; NOT_FOUND names those that exist. The caller owns the handle.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_executable_function(
    executable: Option<NonNull<windlass_executable_t>>,
    name: *const c_char,
    function: Option<&mut MaybeUninit<Option<NonNull<windlass_function_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(function, || {
            // SAFETY: the header asks of the caller what `text` asks.
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

/// A function by number, from 0. OUT_OF_RANGE where there are fewer. The caller owns the handle.
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

/// The memory of a global variable, as a buffer, which keeps the executable loaded. NOT_FOUND names the variables that exist.
/// `affinity` is 0, or on a device of several GPUs, each of which has a copy of its own, the queues of one. The caller owns the
/// buffer.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_executable_global(
    executable: Option<NonNull<windlass_executable_t>>,
    name: *const c_char,
    affinity: u64,
    buffer: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(buffer, || {
            // SAFETY: the header asks of the caller what `text` asks.
            let name = unsafe { text("name", name) }?;
            used(executable)?.global_on(name, QueueAffinity::from_bits(affinity))
        })
    })
}

/// Adds a reference and gives the function back. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_function_retain(
    function: Option<NonNull<windlass_function_t>>,
) -> Option<NonNull<windlass_function_t>> {
    infallible(None, || handle::retain(function).map(|()| function))
}

/// Gives a reference back. NULL is right.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_function_release(function: Option<NonNull<windlass_function_t>>) {
    infallible((), || {
        handle::release(function);
        Ok(())
    });
}

/// What the function takes and needs. The strings are valid until the function's last reference is released.
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
        };
        // SAFETY: the header asks of the caller what `write_struct` asks.
        unsafe { write_struct(info, &value) }
    })
}

/// A parameter by number, from 0. OUT_OF_RANGE where the function has fewer. The name is valid until the function's last
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
        // SAFETY: the header asks of the caller what `write_struct` asks.
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
