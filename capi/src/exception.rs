// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exceptions of the program: one that leaves a function of the program goes no further, and becomes an error.
//!
//! Rust cannot catch the exception of another language: it ends the process. So the library calls a function of the
//! program through a frame in assembly code, whose personality routine catches all exceptions. The frames of Rust
//! between the two are those of [`call`] and of its closure, which own nothing. Where there is no such frame, the
//! process ends, with the name of the function.

use std::{
    cell::Cell,
    ffi::c_void,
    io::{self, Write},
};

use facade::{Error, Result};

thread_local! {
    /// The function of the program that this thread calls now.
    static CALLED: Cell<&'static str> = const { Cell::new("") };
}

/// The call of a function, and its result.
struct Call<F, T> {
    function: Option<F>,
    result: Option<T>,
}

/// Calls a function of the program. ABORTED, with the name of the function, if an exception leaves it.
pub(crate) fn guarded<T>(name: &'static str, function: impl FnOnce() -> T) -> Result<T> {
    let mut made = Call { function: Some(function), result: None };
    let outer = CALLED.replace(name);
    let exception = frame::enter(&mut made);
    CALLED.set(outer);
    match (exception, made.result) {
        (None, Some(result)) => Ok(result),
        (exception, _) => {
            let exception = exception.unwrap_or_else(|| "an exception".to_owned());
            Err(Error::aborted(format!("{exception} left {name}; catch it in that function")))
        }
    }
}

/// Calls a function of the program that can report no failure. If an exception leaves it, a line on standard error says
/// so, as for a panic.
pub(crate) fn contained(name: &'static str, function: impl FnOnce()) {
    if let Err(error) = guarded(name, function) {
        // A program without a standard error goes on.
        let _ = writeln!(io::stderr(), "windlass: {error}");
    }
}

/// Ends the process, with the name of the function.
fn fatal(deed: &str) -> ! {
    let _ = writeln!(io::stderr(), "windlass: {} {deed}; the process ends", CALLED.get());
    std::process::abort()
}

unsafe extern "C-unwind" fn call<F: FnOnce() -> T, T>(made: *mut c_void) {
    // SAFETY: `enter` calls this with a `Call` of these types, which nothing else uses meanwhile.
    let made = unsafe { &mut *made.cast::<Call<F, T>>() };
    if let Some(function) = made.function.take() {
        made.result = Some(function());
    }
}

/// cbindgen:ignore
#[cfg(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod frame {
    use std::{
        arch::global_asm,
        cell::Cell,
        ffi::{CStr, c_char, c_int, c_void},
        ptr::{self, NonNull},
    };

    use super::{Call, call, fatal};

    // The frame has one call, so the place of the data of its language is free for the address where exceptions end.
    global_asm!(
        ".pushsection .text.windlass_capi_guarded_call, \"ax\", @progbits",
        ".globl windlass_capi_guarded_call",
        ".hidden windlass_capi_guarded_call",
        ".type windlass_capi_guarded_call, @function",
        "windlass_capi_guarded_call:",
        ".cfi_startproc",
        ".cfi_personality 0x1b, {personality}",
        ".cfi_lsda 0x1b, .Lwindlass_capi_caught",
        "sub rsp, 8",
        ".cfi_def_cfa_offset 16",
        "mov rax, rdi",
        "mov rdi, rsi",
        "call rax",
        "xor eax, eax",
        "jmp 2f",
        ".Lwindlass_capi_caught:",
        "mov eax, 1",
        "2:",
        "add rsp, 8",
        ".cfi_def_cfa_offset 8",
        "ret",
        ".cfi_endproc",
        ".size windlass_capi_guarded_call, . - windlass_capi_guarded_call",
        ".popsection",
        personality = sym personality,
    );

    unsafe extern "C" {
        /// Calls a function with its argument. Returns whether an exception left it, which is in `CAUGHT` then.
        fn windlass_capi_guarded_call(
            function: unsafe extern "C-unwind" fn(*mut c_void),
            argument: *mut c_void,
        ) -> bool;
        fn _Unwind_SetIP(context: *mut c_void, address: usize);
        fn _Unwind_GetLanguageSpecificData(context: *mut c_void) -> *const c_void;
        fn _Unwind_DeleteException(exception: *mut Exception);
    }

    thread_local! {
        /// The last exception that a frame of this thread has caught.
        static CAUGHT: Cell<*mut Exception> = const { Cell::new(ptr::null_mut()) };
    }

    /// The head of an exception, as the Itanium C++ ABI has it.
    #[repr(C)]
    struct Exception {
        class: u64,
    }

    unsafe extern "C" fn personality(
        _version: c_int,
        actions: c_int,
        _class: u64,
        exception: *mut Exception,
        context: *mut c_void,
    ) -> c_int {
        /// Of the actions.
        const SEARCH: c_int = 1;
        const FORCED: c_int = 8;
        /// Of the results.
        const HANDLER_FOUND: c_int = 6;
        const INSTALL_CONTEXT: c_int = 7;
        if actions & FORCED != 0 {
            fatal("ended its thread, by pthread_exit or pthread_cancel");
        }
        if actions & SEARCH != 0 {
            return HANDLER_FOUND;
        }
        // A register would hold the exception, but for a program with an unwinder of its own: the setter of registers
        // belongs to another one, which may not have begun.
        CAUGHT.set(exception);
        // SAFETY: the unwinder calls this with the context of the frame above, which goes on at that address.
        unsafe { _Unwind_SetIP(context, _Unwind_GetLanguageSpecificData(context) as usize) };
        INSTALL_CONTEXT
    }

    /// Makes a call. Returns a description of the exception that ended it.
    pub(super) fn enter<F: FnOnce() -> T, T>(made: &mut Call<F, T>) -> Option<String> {
        // SAFETY: `call` gets a `Call` of its types.
        let is_caught = unsafe { windlass_capi_guarded_call(call::<F, T>, ptr::from_mut(made).cast()) };
        let exception = NonNull::new(CAUGHT.get()).filter(|_| is_caught)?;
        // SAFETY: the frame has caught the exception, and nothing else has it.
        Some(unsafe { finish(exception) })
    }

    /// Describes an exception and frees it.
    ///
    /// # Safety
    /// The exception is caught, and this is its end.
    unsafe fn finish(exception: NonNull<Exception>) -> String {
        /// "GNUC" and "CLNG", each with "C++". The last byte tells how the exception is stored.
        const OF_CXX: [u64; 2] = [0x47_4e55_4343_2b2b, 0x43_4c4e_4743_2b2b];
        // SAFETY: an exception begins with its class.
        let class = unsafe { exception.as_ref() }.class;
        if !OF_CXX.contains(&(class >> 8)) {
            // Only the language's own runtime may free it.
            return "an exception of another language".to_owned();
        }
        type Begin = unsafe extern "C" fn(*mut c_void) -> *mut c_void;
        type End = unsafe extern "C" fn();
        type Type = unsafe extern "C" fn() -> *const TypeInfo;
        // SAFETY: the Itanium C++ ABI gives the functions these types.
        let functions = unsafe {
            (
                found::<Begin>(c"__cxa_begin_catch"),
                found::<End>(c"__cxa_end_catch"),
                found::<Type>(c"__cxa_current_exception_type"),
            )
        };
        let (Some(begin), Some(end), Some(current)) = functions else {
            // The C++ runtime is private to the program's library. It still counts the exception as one on its way.
            // SAFETY: as this function's contract says.
            unsafe { _Unwind_DeleteException(exception.as_ptr()) };
            return "a C++ exception".to_owned();
        };
        // SAFETY: an exception of C++, which begins and ends to be handled here.
        unsafe {
            begin(exception.as_ptr().cast());
            let name = current().as_ref().and_then(|info| info.name());
            end();
            name.map_or("a C++ exception".to_owned(), |name| format!("a C++ exception of the type `{name}`"))
        }
    }

    /// The head of a `std::type_info`, as the Itanium C++ ABI has it.
    #[repr(C)]
    struct TypeInfo {
        table: *const c_void,
        name: *const c_char,
    }

    impl TypeInfo {
        /// The name as C++ spells it, or its mangled form.
        ///
        /// # Safety
        /// The information is that of a C++ type.
        unsafe fn name(&self) -> Option<String> {
            type Demangle =
                unsafe extern "C" fn(*const c_char, *mut c_char, *mut usize, *mut c_int) -> *mut c_char;
            if self.name.is_null() {
                return None;
            }
            // GNU's library marks the names of types that only one object file knows.
            // SAFETY: a string, of which one character is skipped.
            let mangled =
                unsafe { if *self.name == b'*'.cast_signed() { self.name.add(1) } else { self.name } };
            // SAFETY: the Itanium C++ ABI gives the function this type. It allocates its result with malloc.
            let plain = unsafe { found::<Demangle>(c"__cxa_demangle") }.and_then(|demangle| {
                let mut status = 0;
                // SAFETY: as above.
                NonNull::new(unsafe { demangle(mangled, ptr::null_mut(), ptr::null_mut(), &mut status) })
            });
            // SAFETY: both are strings, and the allocated one is freed once.
            unsafe {
                let name = plain.map_or(mangled, |plain| plain.as_ptr().cast_const());
                let text = CStr::from_ptr(name).to_string_lossy().into_owned();
                if let Some(plain) = plain {
                    libc::free(plain.as_ptr().cast());
                }
                Some(text)
            }
        }
    }

    /// A function of the process by its name.
    ///
    /// # Safety
    /// `F` is the function pointer of its type.
    unsafe fn found<F: Copy>(name: &CStr) -> Option<F> {
        const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
        // SAFETY: the name is a string.
        let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
        // SAFETY: as this function's contract says.
        (!address.is_null()).then(|| unsafe { std::mem::transmute_copy(&address) })
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", target_arch = "x86_64")))]
mod frame {
    use std::ptr;

    use super::{Call, call, fatal};

    struct Stop;

    impl Drop for Stop {
        fn drop(&mut self) {
            fatal("was left by an exception");
        }
    }

    /// Makes a call. An exception that leaves it ends the process.
    pub(super) fn enter<F: FnOnce() -> T, T>(made: &mut Call<F, T>) -> Option<String> {
        let stop = Stop;
        // SAFETY: `call` gets a `Call` of its types.
        unsafe { call::<F, T>(ptr::from_mut(made).cast()) };
        std::mem::forget(stop);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_returns_its_result_and_calls_nest() {
        let inner = || guarded("the inner one", || CALLED.get()).unwrap();
        let names = guarded("the outer one", || (CALLED.get(), inner(), CALLED.get())).unwrap();
        assert_eq!(names, ("the outer one", "the inner one", "the outer one"));
        assert_eq!(CALLED.get(), "");
    }
}
