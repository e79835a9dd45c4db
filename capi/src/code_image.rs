// SPDX-License-Identifier: MIT OR Apache-2.0
//! The bytes of one entry, and the kernels in them.

use std::{
    ffi::{CString, c_char, c_void},
    mem::MaybeUninit,
    ptr::{self, NonNull},
    sync::OnceLock,
};

use facade::{Error, Result};
use windlass_codeobject::{
    Arg, ArgKind, CodeObject, HostKernel, HostLibrary, HostParameter, HostParameterKind, Image, Kernel,
    KernelKind,
};

use crate::{
    boundary::{fallible, infallible},
    code::error_of,
    code_file::{no_entry, windlass_code_file_t},
    error::windlass_error_t,
    handle::{self, Shell, object, used},
    memory::{Growing, c_string, give, optional, write_struct},
};

/// The bytes of one entry, aligned to a page, with zeros up to the end of the last page. It does not keep its file.
pub struct windlass_code_image_t(Shell<Extracted>);
object!(windlass_code_image_t, Extracted, "code image");

/// An image with C strings.
pub(crate) struct Extracted {
    image: Image,
    /// The image as code for the host, if it is that.
    host: OnceLock<Option<HostLibrary>>,
    texts: OnceLock<Texts>,
}

/// The code in an image.
enum Code<'a> {
    Gpu(&'a CodeObject),
    Host(&'a HostLibrary),
}

struct Texts {
    target: CString,
    kernels: Vec<KernelTexts>,
    rejected: Vec<(CString, CString)>,
}

struct KernelTexts {
    name: CString,
    /// The name and the type of each argument.
    arguments: Vec<(Option<CString>, Option<CString>)>,
}

impl Extracted {
    /// The code, and its strings for C.
    fn code(&self) -> Result<(Code<'_>, &Texts)> {
        let code = match self.image.code_object() {
            Ok(code) => Code::Gpu(code),
            Err(error) => {
                let library = || HostLibrary::parse(&self.image).ok().filter(HostLibrary::has_kernels);
                Code::Host(self.host.get_or_init(library).as_ref().ok_or_else(|| error_of(&error))?)
            }
        };
        let texts = self.texts.get_or_init(|| Texts::new(&code));
        Ok((code, texts))
    }
}

fn optional_text(text: &Option<String>) -> Option<CString> {
    text.as_deref().map(c_string)
}

impl Texts {
    fn new(code: &Code<'_>) -> Self {
        let (target, kernels, rejected) = match code {
            Code::Gpu(code) => {
                let argument = |arg: &Arg| (optional_text(&arg.name), optional_text(&arg.type_name));
                let kernel = |kernel: &Kernel| KernelTexts {
                    name: c_string(&kernel.name),
                    arguments: kernel.args.iter().map(argument).collect(),
                };
                (code.target().to_string(), code.kernels().iter().map(kernel).collect(), code.rejected())
            }
            Code::Host(library) => {
                let argument = |parameter: &HostParameter| (optional_text(&parameter.name), None);
                let kernel = |kernel: &HostKernel| KernelTexts {
                    name: c_string(&kernel.name),
                    arguments: kernel.parameters.iter().map(argument).collect(),
                };
                let kernels = library.kernels().iter().map(kernel).collect();
                (library.machine().to_string(), kernels, library.rejected())
            }
        };
        let rejected = rejected.iter().map(|kernel| (c_string(&kernel.name), c_string(&kernel.reason)));
        Self { target: c_string(&target), kernels, rejected: rejected.collect() }
    }
}

/// A kernel of a code object, by its descriptor and its metadata. Sizes are in bytes. A kernel for the host has zeros
/// for the alignment, private memory, wave and registers. The name belongs to the image's handle.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_code_kernel_t {
    /// sizeof this struct, set by the caller: windlass_code_kernel_init does so.
    pub struct_size: usize,
    /// The name for windlass_executable_function.
    pub name: *const c_char,
    /// The number of arguments, hidden ones included, which follow the others.
    pub argument_count: u32,
    /// The number of arguments that the caller gives.
    pub explicit_argument_count: u32,
    /// The size of the argument block, with hidden arguments.
    pub argument_block_size: u32,
    /// The alignment of the argument block.
    pub argument_block_alignment: u32,
    /// The only permitted workgroup size; zeros if there is none.
    pub workgroup_size: [u32; 3],
    /// The maximum number of work-items of a workgroup.
    pub max_workgroup_threads: u32,
    /// Static local memory (LDS) of a workgroup.
    pub static_local_memory: u32,
    /// Private memory (scratch) of a work-item.
    pub private_memory: u32,
    /// Work-items of a wave, 32 or 64.
    pub wave_size: u32,
    /// Vector registers of a work-item.
    pub vector_registers: u32,
    /// Scalar registers of a wave.
    pub scalar_registers: u32,
    /// Vector and scalar registers that were spilled to memory.
    pub spilled_registers: u32,
    /// A set of WINDLASS_CODE_KERNEL_*.
    pub flags: u32,
    /// Zero.
    pub reserved: u32,
}

/// The stack size is unknown before the launch.
pub const WINDLASS_CODE_KERNEL_DYNAMIC_STACK: u32 = 1 << 0;
/// The grid must consist of whole workgroups.
pub const WINDLASS_CODE_KERNEL_UNIFORM_WORKGROUPS: u32 = 1 << 1;
/// Runs once after the code object is loaded, and is not dispatched.
pub const WINDLASS_CODE_KERNEL_INIT: u32 = 1 << 2;
/// Runs once before the code object is unloaded, and is not dispatched.
pub const WINDLASS_CODE_KERNEL_FINI: u32 = 1 << 3;

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_code_kernel_t {
    const NAME: &'static str = "windlass_code_kernel_t";
}

/// The kind of a kernel's argument: one of WINDLASS_CODE_ARGUMENT_*. Later versions may add kinds.
pub type windlass_code_argument_kind_t = u32;

/// Another kind: a sampler, an image, a pipe, a queue.
pub const WINDLASS_CODE_ARGUMENT_OTHER: windlass_code_argument_kind_t = 0;
/// A value.
pub const WINDLASS_CODE_ARGUMENT_VALUE: windlass_code_argument_kind_t = 1;
/// An address in global memory.
pub const WINDLASS_CODE_ARGUMENT_BUFFER: windlass_code_argument_kind_t = 2;
/// An offset in dynamic local memory (LDS).
pub const WINDLASS_CODE_ARGUMENT_LOCAL: windlass_code_argument_kind_t = 3;
/// Filled by the runtime.
pub const WINDLASS_CODE_ARGUMENT_HIDDEN: windlass_code_argument_kind_t = 4;

/// An argument of a kernel. The strings belong to the image's handle.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_code_argument_t {
    /// sizeof this struct, set by the caller: windlass_code_argument_init does so.
    pub struct_size: usize,
    /// The name in the source; NULL if the compiler did not keep it.
    pub name: *const c_char,
    /// The type in the source; NULL if the compiler did not keep it.
    pub type_name: *const c_char,
    /// The kind.
    pub kind: windlass_code_argument_kind_t,
    /// The offset in the argument block, in bytes.
    pub offset: u32,
    /// The size in bytes.
    pub size: u32,
    /// Zero.
    pub reserved: u32,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_code_argument_t {
    const NAME: &'static str = "windlass_code_argument_t";
}

/// A kernel in the metadata that cannot be launched. The strings belong to the image's handle.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_code_rejected_t {
    /// sizeof this struct, set by the caller: windlass_code_rejected_init does so.
    pub struct_size: usize,
    /// The name, or "kernel N" if it is missing.
    pub name: *const c_char,
    /// The reason.
    pub reason: *const c_char,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_code_rejected_t {
    const NAME: &'static str = "windlass_code_rejected_t";
}

/// The bytes of an entry, unpacked. OUT_OF_RANGE for an entry or a bundle that does not exist, INVALID_ARGUMENT for an
/// entry with a problem or a damaged stream, RESOURCE_EXHAUSTED above the limit of the file's options. The caller owns
/// the image.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_code_file_extract(
    file: Option<NonNull<windlass_code_file_t>>,
    bundle: usize,
    entry: usize,
    image: Option<&mut MaybeUninit<Option<NonNull<windlass_code_image_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(image, || {
            let file = used(file)?;
            let bundle = file.bundle(bundle)?;
            if entry >= bundle.entries().len() {
                return Err(no_entry(bundle, entry));
            }
            let image = bundle.take_image(entry).map_err(|error| error_of(&error))?;
            file.check()?;
            Ok(Extracted { image, host: OnceLock::new(), texts: OnceLock::new() })
        })
    })
}

/// Adds a reference and returns the image. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_image_retain(
    image: Option<NonNull<windlass_code_image_t>>,
) -> Option<NonNull<windlass_code_image_t>> {
    infallible(None, || handle::retain(image).map(|()| image))
}

/// Releases a reference. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_image_release(image: Option<NonNull<windlass_code_image_t>>) {
    infallible((), || {
        handle::release(image);
        Ok(())
    });
}

/// The first byte, valid until the image's last reference is released; NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_image_data(image: Option<NonNull<windlass_code_image_t>>) -> *const c_void {
    infallible(ptr::null(), || Ok(used(image)?.image.as_ptr().cast()))
}

/// The number of bytes; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_image_size(image: Option<NonNull<windlass_code_image_t>>) -> usize {
    infallible(0, || Ok(used(image)?.image.len()))
}

/// The target by the code object's own flags, or the host's machine such as "x86_64", and the number of kernels that can be launched, of those that cannot, and
/// the code object version, 0 if it is unknown. Each out parameter may be NULL. The string is valid until the image's
/// last reference is released. Fails for bytes that are neither a code object for a GPU nor a shared object with
/// kernels for the host.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_code_image_describe(
    image: Option<NonNull<windlass_code_image_t>>,
    target: Option<&mut MaybeUninit<*const c_char>>,
    kernel_count: Option<&mut MaybeUninit<usize>>,
    rejected_count: Option<&mut MaybeUninit<usize>>,
    version: Option<&mut MaybeUninit<u32>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let image = used(image)?;
        let (code, texts) = image.code()?;
        if let Some(target) = target {
            target.write(texts.target.as_ptr());
        }
        if let Some(count) = kernel_count {
            count.write(texts.kernels.len());
        }
        if let Some(count) = rejected_count {
            count.write(texts.rejected.len());
        }
        if let Some(version) = version {
            let found = if let Code::Gpu(code) = code { code.code_object_version() } else { None };
            version.write(found.unwrap_or_default());
        }
        Ok(())
    })
}

/// Checks that a loader that trusts every header stays within the image, as ROCm's loaders do. INVALID_ARGUMENT with
/// the first number that leads outside.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_code_image_validate(
    image: Option<NonNull<windlass_code_image_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| used(image)?.image.validate().map_err(|error| error_of(&error)))
}

/// A kernel that can be launched, by number, from 0, in the order of the code object. OUT_OF_RANGE if there are fewer.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_code_image_kernel(
    image: Option<NonNull<windlass_code_image_t>>,
    index: usize,
    kernel: *mut windlass_code_kernel_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let image = used(image)?;
        let (code, texts) = image.code()?;
        let name = texts.kernels.get(index).map(|texts| texts.name.as_ptr());
        let value = match (&code, name) {
            (Code::Gpu(code), Some(name)) => code.kernels().get(index).map(|of| gpu_kernel(of, name)),
            (Code::Host(library), Some(name)) => library.kernels().get(index).map(|of| host_kernel(of, name)),
            _ => None,
        };
        let value = value.ok_or_else(|| no_kernel(texts, index))?;
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(kernel, &value) }
    })
}

fn gpu_kernel(of: &Kernel, name: *const c_char) -> windlass_code_kernel_t {
    let flags = [
        (WINDLASS_CODE_KERNEL_DYNAMIC_STACK, of.uses_dynamic_stack),
        (WINDLASS_CODE_KERNEL_UNIFORM_WORKGROUPS, of.uniform_workgroup_size),
        (WINDLASS_CODE_KERNEL_INIT, of.kind == KernelKind::Init),
        (WINDLASS_CODE_KERNEL_FINI, of.kind == KernelKind::Fini),
    ];
    windlass_code_kernel_t {
        struct_size: size_of::<windlass_code_kernel_t>(),
        name,
        argument_count: of.args.len() as u32,
        explicit_argument_count: of.explicit_args().count() as u32,
        argument_block_size: of.kernarg_size,
        argument_block_alignment: of.kernarg_align,
        workgroup_size: of.reqd_workgroup_size.unwrap_or_default(),
        max_workgroup_threads: of.max_flat_workgroup_size,
        static_local_memory: of.group_segment_size,
        private_memory: of.private_segment_size,
        wave_size: of.wavefront_size,
        vector_registers: of.vgpr_count,
        scalar_registers: of.sgpr_count,
        spilled_registers: of.vgpr_spill_count.saturating_add(of.sgpr_spill_count),
        flags: flags.iter().filter(|(_, holds)| *holds).map(|(flag, _)| flag).sum(),
        reserved: 0,
    }
}

fn host_kernel(of: &HostKernel, name: *const c_char) -> windlass_code_kernel_t {
    windlass_code_kernel_t {
        struct_size: size_of::<windlass_code_kernel_t>(),
        name,
        argument_count: of.parameters.len() as u32,
        explicit_argument_count: of.parameters.len() as u32,
        argument_block_size: of.argument_size,
        argument_block_alignment: 0,
        workgroup_size: of.workgroup_size.unwrap_or_default(),
        max_workgroup_threads: of.max_workgroup_threads,
        static_local_memory: of.local_memory_size,
        private_memory: 0,
        wave_size: 0,
        vector_registers: 0,
        scalar_registers: 0,
        spilled_registers: 0,
        flags: 0,
        reserved: 0,
    }
}

fn no_kernel(texts: &Texts, index: usize) -> Error {
    Error::out_of_range(format!("kernel {index} of a code object that has {}", texts.kernels.len()))
}

/// An argument of a kernel, both by number, from 0. OUT_OF_RANGE if there are fewer.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_code_image_argument(
    image: Option<NonNull<windlass_code_image_t>>,
    kernel: usize,
    index: usize,
    argument: *mut windlass_code_argument_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let image = used(image)?;
        let (code, texts) = image.code()?;
        let names = texts.kernels.get(kernel).ok_or_else(|| no_kernel(texts, kernel))?;
        let found = match &code {
            Code::Gpu(code) => code.kernels().get(kernel).and_then(|kernel| {
                kernel.args.get(index).map(|arg| (argument_kind(arg), arg.offset, arg.size))
            }),
            Code::Host(library) => library.kernels().get(kernel).and_then(|kernel| {
                kernel.parameters.get(index).map(|of| (parameter_kind(of), of.offset, of.size))
            }),
        };
        let (Some((kind, offset, size)), Some((name, type_name))) = (found, names.arguments.get(index))
        else {
            let count = names.arguments.len();
            return Err(Error::out_of_range(format!("argument {index} of a kernel that has {count}")));
        };
        let value = windlass_code_argument_t {
            struct_size: size_of::<windlass_code_argument_t>(),
            name: optional(name.as_ref()),
            type_name: optional(type_name.as_ref()),
            kind,
            offset,
            size,
            reserved: 0,
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(argument, &value) }
    })
}

fn argument_kind(argument: &Arg) -> windlass_code_argument_kind_t {
    match argument.kind {
        ArgKind::ByValue => WINDLASS_CODE_ARGUMENT_VALUE,
        ArgKind::GlobalBuffer => WINDLASS_CODE_ARGUMENT_BUFFER,
        ArgKind::DynamicSharedPointer => WINDLASS_CODE_ARGUMENT_LOCAL,
        ArgKind::Hidden(_) => WINDLASS_CODE_ARGUMENT_HIDDEN,
        _ => WINDLASS_CODE_ARGUMENT_OTHER,
    }
}

fn parameter_kind(parameter: &HostParameter) -> windlass_code_argument_kind_t {
    match parameter.kind {
        HostParameterKind::Value => WINDLASS_CODE_ARGUMENT_VALUE,
        HostParameterKind::Buffer => WINDLASS_CODE_ARGUMENT_BUFFER,
        _ => WINDLASS_CODE_ARGUMENT_OTHER,
    }
}

/// A kernel that cannot be launched, by number, from 0. OUT_OF_RANGE if there are fewer.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_code_image_rejected(
    image: Option<NonNull<windlass_code_image_t>>,
    index: usize,
    rejected: *mut windlass_code_rejected_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let image = used(image)?;
        let (_, texts) = image.code()?;
        let Some((name, reason)) = texts.rejected.get(index) else {
            let count = texts.rejected.len();
            return Err(Error::out_of_range(format!(
                "rejected kernel {index} of a code object that has {count}"
            )));
        };
        let value = windlass_code_rejected_t {
            struct_size: size_of::<windlass_code_rejected_t>(),
            name: name.as_ptr(),
            reason: reason.as_ptr(),
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(rejected, &value) }
    })
}
