// SPDX-License-Identifier: MIT OR Apache-2.0
//! The functions of AMD's `libamd_comgr`, and its objects, which are released when dropped.

use std::ffi::{CStr, CString, c_char};
use std::sync::{Mutex, OnceLock, PoisonError};

/// The library's names, the newest first.
const NAMES: [&str; 3] = ["libamd_comgr.so.3", "libamd_comgr.so.2", "libamd_comgr.so"];

type Status = u32;
type Object = u64;

/// Kinds of data, the same in all versions.
pub(super) const SOURCE: u32 = 1;
pub(super) const LOG: u32 = 5;
pub(super) const BITCODE: u32 = 6;
pub(super) const OBJECT_FILE: u32 = 7;
pub(super) const EXECUTABLE: u32 = 8;

/// The numbers of what is used, which version 3 changed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    pub(super) hip: u32,
    pub(super) link_bitcode: u32,
    pub(super) generate_code: u32,
    pub(super) link_code: u32,
    pub(super) compile: u32,
}

const OF_2: Numbers = Numbers { hip: 4, link_bitcode: 4, generate_code: 6, link_code: 9, compile: 15 };
const OF_3: Numbers = Numbers { hip: 3, link_bitcode: 3, generate_code: 4, link_code: 7, compile: 12 };

macro_rules! functions {
    ($($field:ident: $symbol:literal ($($ty:ty),*) -> $result:ty;)*) => {
        /// The library's functions. It stays loaded.
        pub(super) struct Library {
            $($field: unsafe extern "C" fn($($ty),*) -> $result,)*
            pub(super) numbers: Numbers,
        }

        impl Library {
            /// # Safety
            /// The library is comgr.
            unsafe fn resolve(library: &libloading::Library) -> Result<Self, libloading::Error> {
                // SAFETY: comgr's functions have these signatures.
                unsafe {
                    Ok(Self { $($field: *library.get($symbol)?,)* numbers: OF_2 })
                }
            }
        }
    };
}

functions! {
    version: b"amd_comgr_get_version\0" (*mut usize, *mut usize) -> ();
    isa_count: b"amd_comgr_get_isa_count\0" (*mut usize) -> Status;
    isa_name: b"amd_comgr_get_isa_name\0" (usize, *mut *const c_char) -> Status;
    create_data: b"amd_comgr_create_data\0" (u32, *mut Object) -> Status;
    release_data: b"amd_comgr_release_data\0" (Object) -> Status;
    set_data: b"amd_comgr_set_data\0" (Object, usize, *const c_char) -> Status;
    set_data_name: b"amd_comgr_set_data_name\0" (Object, *const c_char) -> Status;
    get_data: b"amd_comgr_get_data\0" (Object, *mut usize, *mut c_char) -> Status;
    create_set: b"amd_comgr_create_data_set\0" (*mut Object) -> Status;
    destroy_set: b"amd_comgr_destroy_data_set\0" (Object) -> Status;
    add: b"amd_comgr_data_set_add\0" (Object, Object) -> Status;
    count: b"amd_comgr_action_data_count\0" (Object, u32, *mut usize) -> Status;
    element: b"amd_comgr_action_data_get_data\0" (Object, u32, usize, *mut Object) -> Status;
    create_info: b"amd_comgr_create_action_info\0" (*mut Object) -> Status;
    destroy_info: b"amd_comgr_destroy_action_info\0" (Object) -> Status;
    set_isa: b"amd_comgr_action_info_set_isa_name\0" (Object, *const c_char) -> Status;
    set_language: b"amd_comgr_action_info_set_language\0" (Object, u32) -> Status;
    set_options: b"amd_comgr_action_info_set_option_list\0" (Object, *const *const c_char, usize) -> Status;
    set_logging: b"amd_comgr_action_info_set_logging\0" (Object, bool) -> Status;
    act: b"amd_comgr_do_action\0" (u32, Object, Object, Object) -> Status;
}

/// The first library that is installed.
pub(super) fn library() -> Result<&'static Library, &'static str> {
    static LIBRARY: OnceLock<Result<Library, String>> = OnceLock::new();
    let found = LIBRARY.get_or_init(|| {
        // SAFETY: the libraries of these names are comgr.
        let loaded = NAMES.iter().find_map(|name| unsafe { libloading::Library::new(*name) }.ok());
        let loaded = loaded.ok_or_else(|| format!("{} are not installed", NAMES[..2].join(" and ")))?;
        // SAFETY: as above.
        let resolved = unsafe { Library::resolve(&loaded) };
        // LLVM has threads and handlers in the process.
        std::mem::forget(loaded);
        let mut library = resolved.map_err(|error| format!("libamd_comgr: {error}"))?;
        let (mut major, mut minor) = (0, 0);
        // SAFETY: the pointers are to locals.
        unsafe { (library.version)(&mut major, &mut minor) };
        library.numbers = match major {
            2 => OF_2,
            3 => OF_3,
            _ => return Err(format!("libamd_comgr {major}.{minor} is neither version 2 nor 3")),
        };
        Ok(library)
    });
    found.as_ref().map_err(String::as_str)
}

/// A refusal of comgr.
#[derive(Debug)]
pub(super) struct Refused;

fn accepted(status: Status) -> Result<(), Refused> {
    if status == 0 { Ok(()) } else { Err(Refused) }
}

impl Library {
    /// The processors that it compiles for, with their triple.
    pub(super) fn knows(&self, isa: &str) -> bool {
        let mut count = 0;
        // SAFETY: the pointer is to a local.
        if unsafe { (self.isa_count)(&mut count) } != 0 {
            return false;
        }
        (0..count).any(|index| {
            let mut name = std::ptr::null();
            // SAFETY: the pointer is to a local, and the name is a string of the library.
            unsafe {
                (self.isa_name)(index, &mut name) == 0
                    && !name.is_null()
                    && CStr::from_ptr(name).to_str().is_ok_and(|name| name == isa)
            }
        })
    }

    pub(super) fn set(&self) -> Result<Set<'_>, Refused> {
        let mut set = 0;
        // SAFETY: the pointer is to a local.
        accepted(unsafe { (self.create_set)(&mut set) })?;
        Ok(Set { library: self, set })
    }

    /// Runs an action, and returns its result with the messages appended to `messages`.
    pub(super) fn run(
        &self,
        action: u32,
        isa: &str,
        language: Option<u32>,
        options: &[String],
        input: &Set<'_>,
        messages: &mut String,
    ) -> Result<Set<'_>, Refused> {
        // LLVM's options are those of the process, so AMD's hipRTC compiles one unit at a time too.
        static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
        let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let isa = CString::new(isa).map_err(|_| Refused)?;
        let options: Result<Vec<_>, _> = options.iter().map(|option| CString::new(option.as_str())).collect();
        let options = options.map_err(|_| Refused)?;
        let pointers: Vec<_> = options.iter().map(|option| option.as_ptr()).collect();
        let output = self.set()?;
        let mut info = 0;
        // SAFETY: the objects are comgr's own, and the strings live until the action has run.
        let status = unsafe {
            accepted((self.create_info)(&mut info))?;
            let mut status = (self.set_isa)(info, isa.as_ptr());
            if let (0, Some(language)) = (status, language) {
                status = (self.set_language)(info, language);
            }
            if status == 0 {
                status = (self.set_options)(info, pointers.as_ptr(), pointers.len());
            }
            if status == 0 {
                status = (self.set_logging)(info, true);
            }
            if status == 0 {
                status = (self.act)(action, info, input.set, output.set);
            }
            (self.destroy_info)(info);
            status
        };
        if let Some(log) = output.first(LOG) {
            messages.push_str(&String::from_utf8_lossy(&log));
        }
        accepted(status).map(|()| output)
    }
}

/// Data for an action, or of one.
pub(super) struct Set<'a> {
    library: &'a Library,
    set: Object,
}

impl Set<'_> {
    pub(super) fn add(&self, kind: u32, name: &str, bytes: &[u8]) -> Result<(), Refused> {
        let name = CString::new(name).map_err(|_| Refused)?;
        let mut data = 0;
        // SAFETY: the objects are comgr's own, which copies the bytes and the name.
        unsafe {
            accepted((self.library.create_data)(kind, &mut data))?;
            let mut status = (self.library.set_data)(data, bytes.len(), bytes.as_ptr().cast());
            if status == 0 {
                status = (self.library.set_data_name)(data, name.as_ptr());
            }
            if status == 0 {
                status = (self.library.add)(self.set, data);
            }
            (self.library.release_data)(data);
            accepted(status)
        }
    }

    /// The first data of a kind.
    pub(super) fn first(&self, kind: u32) -> Option<Vec<u8>> {
        let (mut count, mut data, mut size) = (0, 0, 0);
        // SAFETY: the objects are comgr's own, the pointers are to locals, and the bytes have the size that comgr gave.
        unsafe {
            accepted((self.library.count)(self.set, kind, &mut count)).ok()?;
            if count == 0 || (self.library.element)(self.set, kind, 0, &mut data) != 0 {
                return None;
            }
            let mut bytes = Vec::new();
            let mut status = (self.library.get_data)(data, &mut size, std::ptr::null_mut());
            if status == 0 {
                bytes.resize(size, 0_u8);
                status = (self.library.get_data)(data, &mut size, bytes.as_mut_ptr().cast());
            }
            (self.library.release_data)(data);
            accepted(status).ok().map(|()| bytes)
        }
    }
}

impl Drop for Set<'_> {
    fn drop(&mut self) {
        // SAFETY: the set is comgr's own.
        unsafe { (self.library.destroy_set)(self.set) };
    }
}
