// SPDX-License-Identifier: MIT OR Apache-2.0
//! Files of device code: their bundles, and the entries of these.

use std::{
    ffi::{CString, c_char, c_void},
    mem::MaybeUninit,
    ptr::{self, NonNull},
    sync::{Arc, OnceLock},
};

use facade::{Error, Result};
#[cfg(feature = "carriers")]
use windlass_codeobject::Input;
use windlass_codeobject::{Bundle, EntryTarget, File, Options};

use crate::{
    boundary::{fallible, infallible},
    code::{error_of, options_of, windlass_code_options_t},
    error::windlass_error_t,
    handle::{self, Shell, object, used},
    memory::{Growing, bytes, c_string, give, optional, text, write_struct},
};

/// A file with AMD GPU code, read as far as its entries are listed. It needs no device. Damage in one part does not
/// affect the others.
pub struct windlass_code_file_t(Shell<CodeFile>);
object!(windlass_code_file_t, CodeFile, "code file");

/// The owner of the bytes that a file borrows.
enum Owner {
    Memory(#[expect(dead_code, reason = "it keeps the bytes")] Arc<Vec<u8>>),
    #[cfg(feature = "carriers")]
    Input(Arc<Input>),
}

/// A file and its bytes. The fields are dropped in their order, so the file goes before the bytes that it borrows.
pub(crate) struct CodeFile {
    /// It borrows from the owner, so it must not leave this struct.
    file: File<'static>,
    kind: CString,
    problems: Vec<CString>,
    bundles: Vec<OnceLock<BundleTexts>>,
    owner: Owner,
}

struct BundleTexts {
    member: Option<CString>,
    container: CString,
    entries: Vec<EntryTexts>,
}

struct EntryTexts {
    id: CString,
    kind: CString,
    target: Option<CString>,
    problem: Option<CString>,
}

impl CodeFile {
    fn of_memory(bytes: &[u8], options: &Options) -> Result<Self> {
        let mut copy = Vec::new();
        copy.try_reserve_exact(bytes.len()).map_err(|_| {
            Error::resource_exhausted(format!("no memory for a copy of {} bytes of code", bytes.len()))
        })?;
        copy.extend_from_slice(bytes);
        let owner = Arc::new(copy);
        // SAFETY: the vector does not move or change while the `Arc` lives, which the struct below drops after the
        // file. Nothing that borrows from the file leaves the struct with this lifetime.
        let lent: &'static [u8] = unsafe { &*ptr::from_ref(owner.as_slice()) };
        let file = File::parse(lent, options).map_err(|error| error_of(&error))?;
        Ok(Self::new(file, Owner::Memory(owner)))
    }

    #[cfg(feature = "carriers")]
    fn of_path(path: &str, options: &Options) -> Result<Self> {
        let owner = Arc::new(Input::open_in_place(path, options).map_err(|error| error_of(&error))?);
        // SAFETY: the input does not move or change while the `Arc` lives, as above.
        let lent: &'static Input = unsafe { &*Arc::as_ptr(&owner) };
        let file = lent.file(options).map_err(|error| error_of(&error))?;
        Ok(Self::new(file, Owner::Input(owner)))
    }

    #[cfg(not(feature = "carriers"))]
    fn of_path(path: &str, options: &Options) -> Result<Self> {
        let bytes = std::fs::read(path);
        let bytes = bytes.map_err(|error| crate::file::io_error(&format!("reading {path}"), &error))?;
        Self::of_memory(&bytes, options)
    }

    fn new(file: File<'static>, owner: Owner) -> Self {
        let kind = c_string(&file.kind().to_string());
        let problems = file.problems().iter().map(|problem| c_string(&problem.to_string())).collect();
        let bundles = file.bundles().iter().map(|_| OnceLock::new()).collect();
        Self { file, kind, problems, bundles, owner }
    }

    /// A bundle by number.
    pub(crate) fn bundle(&self, index: usize) -> Result<&Bundle<'_>> {
        let bundles = self.file.bundles();
        bundles.get(index).ok_or_else(|| {
            Error::out_of_range(format!("bundle {index} of a file that has {}", bundles.len()))
        })
    }

    /// Fails if the file has changed since it was opened, so that what was read may be wrong.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.owner {
            Owner::Memory(_) => Ok(()),
            #[cfg(feature = "carriers")]
            Owner::Input(input) => input.check().map_err(|error| error_of(&error)),
        }
    }

    /// A bundle by number, with C strings.
    fn described(&self, index: usize) -> Result<(&Bundle<'_>, &BundleTexts)> {
        let bundle = self.bundle(index)?;
        let texts = self.bundles.get(index).ok_or_else(|| Error::internal("a bundle without texts"))?;
        Ok((bundle, texts.get_or_init(|| BundleTexts::new(bundle))))
    }
}

impl BundleTexts {
    fn new(bundle: &Bundle<'_>) -> Self {
        let entry = |entry: &windlass_codeobject::Entry| {
            let (target, reason) = match entry.target() {
                EntryTarget::Gpu(target) => (Some(c_string(&target.to_string())), None),
                EntryTarget::Unknown(reason) => (None, Some(reason.as_str())),
                _ => (None, None),
            };
            EntryTexts {
                id: c_string(&entry.id_text()),
                kind: c_string(&entry.kind().to_string()),
                target,
                problem: entry.problem().or(reason).map(c_string),
            }
        };
        Self {
            member: bundle.member().map(c_string),
            container: c_string(&bundle.container().to_string()),
            entries: bundle.entries().iter().map(entry).collect(),
        }
    }
}

/// A bundle: code for several targets, side by side. A code object outside of any bundle counts as a bundle of one
/// entry. The strings belong to the file's handle.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_code_bundle_t {
    /// sizeof this struct, set by the caller: windlass_code_bundle_init does so.
    pub struct_size: usize,
    /// The name of the file in the file that holds the bundle, such as "a.o"; NULL for a bundle in the file itself.
    pub member: *const c_char,
    /// The container of the code, such as "compressed offload bundle (CCOB v2, zstd)".
    pub container: *const c_char,
    /// The bundle's offset in the file.
    pub offset: u64,
    /// The number of bytes that the bundle takes in the file.
    pub stored_size: u64,
    /// The declared unpacked size in bytes; 0 if the bundle declares none.
    pub unpacked_size: u64,
    /// The number of entries.
    pub entry_count: usize,
    /// Whether the entries must be unpacked to be read.
    pub is_compressed: bool,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_code_bundle_t {
    const NAME: &'static str = "windlass_code_bundle_t";
}

/// The kind of an entry's target: one of WINDLASS_CODE_TARGET_*. Later versions may add kinds.
pub type windlass_code_target_kind_t = u32;

/// An id that is not understood, with the reason as the problem.
pub const WINDLASS_CODE_TARGET_UNKNOWN: windlass_code_target_kind_t = 0;
/// A GPU.
pub const WINDLASS_CODE_TARGET_GPU: windlass_code_target_kind_t = 1;
/// The host.
pub const WINDLASS_CODE_TARGET_HOST: windlass_code_target_kind_t = 2;
/// SPIR-V.
pub const WINDLASS_CODE_TARGET_SPIRV: windlass_code_target_kind_t = 3;

/// An entry of a bundle. Listing it unpacks nothing. The strings belong to the file's handle.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct windlass_code_entry_t {
    /// sizeof this struct, set by the caller: windlass_code_entry_init does so.
    pub struct_size: usize,
    /// The id in the file: "hipv4-amdgcn-amd-amdhsa--gfx942".
    pub id: *const c_char,
    /// The first field of the id: "host", "hip", "hipv4", "openmp" or another one.
    pub kind: *const c_char,
    /// The target of code for a GPU: "gfx942:sramecc+:xnack-". NULL for other entries.
    pub target: *const c_char,
    /// The reason why the bytes cannot be read or the id is not understood; NULL for none.
    pub problem: *const c_char,
    /// The offset of the bytes in the unpacked bundle.
    pub offset: u64,
    /// The number of bytes.
    pub size: u64,
    /// The kind of the target.
    pub target_kind: windlass_code_target_kind_t,
}

// SAFETY: repr(C), its size first, and all zeros are a valid value.
unsafe impl Growing for windlass_code_entry_t {
    const NAME: &'static str = "windlass_code_entry_t";
}

/// Opens a file with GPU code, and its companions: the kpack archives to which it refers, and the members of a wheel.
/// Only headers and tables are read; the file must not change while the handle lives, which is noticed. NOT_FOUND and
/// UNAVAILABLE for a file that cannot be read, INVALID_ARGUMENT for one without readable code. The caller owns the file.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_code_file_open(
    path: *const c_char,
    options: *const windlass_code_options_t,
    file: Option<&mut MaybeUninit<Option<NonNull<windlass_code_file_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(file, || {
            // SAFETY: the contract in the header covers that of `text`.
            let path = unsafe { text("path", path) }?;
            // SAFETY: the contract in the header covers that of `options_of`.
            let options = unsafe { options_of(options) }?;
            CodeFile::of_path(path, &options)
        })
    })
}

/// Reads a file whose bytes are in memory, and no other files. The bytes are copied. Fails as windlass_code_file_open.
/// The caller owns the file.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_code_file_parse(
    code: *const c_void,
    size: usize,
    options: *const windlass_code_options_t,
    file: Option<&mut MaybeUninit<Option<NonNull<windlass_code_file_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(file, || {
            // SAFETY: the contract in the header covers that of `options_of`.
            let options = unsafe { options_of(options) }?;
            // SAFETY: the contract in the header covers that of `bytes`.
            let code = unsafe { bytes("code", size, code) }?;
            CodeFile::of_memory(code, &options)
        })
    })
}

/// Adds a reference and returns the file. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_file_retain(
    file: Option<NonNull<windlass_code_file_t>>,
) -> Option<NonNull<windlass_code_file_t>> {
    infallible(None, || handle::retain(file).map(|()| file))
}

/// Releases a reference. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_file_release(file: Option<NonNull<windlass_code_file_t>>) {
    infallible((), || {
        handle::release(file);
        Ok(())
    });
}

/// The kind of the file in words, such as "host ELF with GPU code"; NULL for NULL. The string is valid until the file's
/// last reference is released.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_file_kind(file: Option<NonNull<windlass_code_file_t>>) -> *const c_char {
    infallible(ptr::null(), || Ok(used(file)?.kind.as_ptr()))
}

/// The number of parts of the file that could not be read; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_file_problem_count(file: Option<NonNull<windlass_code_file_t>>) -> usize {
    infallible(0, || Ok(used(file)?.problems.len()))
}

/// The reason why a part could not be read, by number, from 0; NULL if there are fewer. The string is valid until the
/// file's last reference is released.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_file_problem(
    file: Option<NonNull<windlass_code_file_t>>,
    index: usize,
) -> *const c_char {
    infallible(ptr::null(), || Ok(optional(used(file)?.problems.get(index))))
}

/// The number of readable bundles; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_code_file_bundle_count(file: Option<NonNull<windlass_code_file_t>>) -> usize {
    infallible(0, || Ok(used(file)?.file.bundles().len()))
}

/// A bundle by number, from 0, in the order of the file. OUT_OF_RANGE if there are fewer.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_code_file_bundle(
    file: Option<NonNull<windlass_code_file_t>>,
    index: usize,
    bundle: *mut windlass_code_bundle_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let file = used(file)?;
        let (of, texts) = file.described(index)?;
        let value = windlass_code_bundle_t {
            struct_size: size_of::<windlass_code_bundle_t>(),
            member: optional(texts.member.as_ref()),
            container: texts.container.as_ptr(),
            offset: of.offset(),
            stored_size: of.stored_size(),
            unpacked_size: of.unpacked_size().unwrap_or_default(),
            entry_count: of.entries().len(),
            is_compressed: of.is_compressed(),
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(bundle, &value) }
    })
}

/// An entry of a bundle by number, from 0, in the order of the bundle. OUT_OF_RANGE if there are fewer.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_code_file_entry(
    file: Option<NonNull<windlass_code_file_t>>,
    bundle: usize,
    index: usize,
    entry: *mut windlass_code_entry_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let file = used(file)?;
        let (bundle, texts) = file.described(bundle)?;
        let (Some(of), Some(texts)) = (bundle.entries().get(index), texts.entries.get(index)) else {
            return Err(no_entry(bundle, index));
        };
        let value = windlass_code_entry_t {
            struct_size: size_of::<windlass_code_entry_t>(),
            id: texts.id.as_ptr(),
            kind: texts.kind.as_ptr(),
            target: optional(texts.target.as_ref()),
            problem: optional(texts.problem.as_ref()),
            offset: of.offset(),
            size: of.size(),
            target_kind: match of.target() {
                EntryTarget::Gpu(_) => WINDLASS_CODE_TARGET_GPU,
                EntryTarget::Host => WINDLASS_CODE_TARGET_HOST,
                EntryTarget::SpirV => WINDLASS_CODE_TARGET_SPIRV,
                _ => WINDLASS_CODE_TARGET_UNKNOWN,
            },
        };
        // SAFETY: the contract in the header covers that of `write_struct`.
        unsafe { write_struct(entry, &value) }
    })
}

/// The error for an entry that a bundle has not got.
pub(crate) fn no_entry(bundle: &Bundle<'_>, index: usize) -> Error {
    Error::out_of_range(format!("entry {index} of a bundle that has {}", bundle.entries().len()))
}
