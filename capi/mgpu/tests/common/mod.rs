// SPDX-License-Identifier: MIT OR Apache-2.0
//! The shared library with its functions, and processes of their own for calls that end the process.
#![allow(dead_code, reason = "no test program uses all of it")]
#![allow(
    clippy::undocumented_unsafe_blocks,
    reason = "the calls below share one contract, which their `impl` states"
)]

use std::{
    ffi::{CStr, c_char, c_int, c_void},
    path::PathBuf,
    process::Command,
    sync::OnceLock,
};

use object::{Object, ObjectSymbol};

type Pointer = *mut c_void;

pub(crate) const NULL: Pointer = std::ptr::null_mut();

/// A memory reference of two dimensions.
#[repr(C)]
pub(crate) struct Dense {
    pub(crate) allocated: *mut c_void,
    pub(crate) aligned: *mut f32,
    pub(crate) offset: i64,
    pub(crate) sizes: [i64; 2],
    pub(crate) strides: [i64; 2],
}

/// A memory reference of one dimension.
#[repr(C)]
pub(crate) struct MemRef1d {
    pub(crate) allocated: Pointer,
    pub(crate) aligned: Pointer,
    pub(crate) offset: i64,
    pub(crate) size: i64,
    pub(crate) stride: i64,
}

macro_rules! functions {
    ($($field:ident = $name:ident($($argument:ty),*) $(-> $result:ty)?;)*) => {
        /// The functions of the library, with the types of generated code.
        pub(crate) struct Library {
            $($field: unsafe extern "C" fn($($argument),*) $(-> $result)?,)*
        }

        impl Library {
            fn open() -> Self {
                // SAFETY: the library of this package, whose functions have these types.
                unsafe {
                    let library = libloading::Library::new(path()).unwrap();
                    let functions = Self {
                        $($field: *library.get(stringify!($name)).unwrap(),)*
                    };
                    std::mem::forget(library);
                    functions
                }
            }
        }
    };
}

functions! {
    module_load = mgpuModuleLoad(*const c_void, usize) -> Pointer;
    module_load_jit = mgpuModuleLoadJIT(*const c_void, c_int) -> Pointer;
    module_unload = mgpuModuleUnload(Pointer);
    module_get_function = mgpuModuleGetFunction(Pointer, *const c_char) -> Pointer;
    launch_kernel = mgpuLaunchKernel(Pointer, isize, isize, isize, isize, isize, isize, i32, Pointer, *const *const c_void,
        *const *const c_void, usize);
    stream_create = mgpuStreamCreate() -> Pointer;
    stream_destroy = mgpuStreamDestroy(Pointer);
    stream_synchronize = mgpuStreamSynchronize(Pointer);
    stream_wait_event = mgpuStreamWaitEvent(Pointer, Pointer);
    event_create = mgpuEventCreate() -> Pointer;
    event_destroy = mgpuEventDestroy(Pointer);
    event_synchronize = mgpuEventSynchronize(Pointer);
    event_record = mgpuEventRecord(Pointer, Pointer);
    mem_alloc = mgpuMemAlloc(u64, Pointer, u8) -> Pointer;
    mem_free = mgpuMemFree(Pointer, Pointer);
    memcpy = mgpuMemcpy(Pointer, Pointer, usize, Pointer);
    memset32 = mgpuMemset32(Pointer, u32, usize, Pointer);
    memset16 = mgpuMemset16(Pointer, u16, usize, Pointer);
    host_register = mgpuMemHostRegister(Pointer, u64);
    host_register_memref = mgpuMemHostRegisterMemRef(i64, *const c_void, i64);
    host_unregister = mgpuMemHostUnregister(Pointer);
    host_unregister_memref = mgpuMemHostUnregisterMemRef(i64, *const c_void, i64);
    device_memref_float = mgpuMemGetDeviceMemRef1dFloat(Pointer, Pointer, i64, i64, i64) -> MemRef1d;
    device_memref_int = mgpuMemGetDeviceMemRef1dInt32(Pointer, Pointer, i64, i64, i64) -> MemRef1d;
    set_default_device = mgpuSetDefaultDevice(i32);
}

/// Any argument of a kernel, by its address.
pub(crate) trait AnyArgument {
    fn address(&self) -> *const c_void;
}

impl<T> AnyArgument for T {
    fn address(&self) -> *const c_void {
        (&raw const *self).cast()
    }
}

/// Calls with the functions' contract: the tests pass valid memory, and keep it until they have synchronized.
impl Library {
    pub(crate) fn stream(&self) -> Pointer {
        unsafe { (self.stream_create)() }
    }
    pub(crate) fn destroy_stream(&self, stream: Pointer) {
        unsafe { (self.stream_destroy)(stream) }
    }
    pub(crate) fn synchronize(&self, stream: Pointer) {
        unsafe { (self.stream_synchronize)(stream) }
    }
    pub(crate) fn event(&self) -> Pointer {
        unsafe { (self.event_create)() }
    }
    pub(crate) fn destroy_event(&self, event: Pointer) {
        unsafe { (self.event_destroy)(event) }
    }
    pub(crate) fn record(&self, event: Pointer, stream: Pointer) {
        unsafe { (self.event_record)(event, stream) }
    }
    pub(crate) fn wait_event(&self, stream: Pointer, event: Pointer) {
        unsafe { (self.stream_wait_event)(stream, event) }
    }
    pub(crate) fn synchronize_event(&self, event: Pointer) {
        unsafe { (self.event_synchronize)(event) }
    }
    pub(crate) fn alloc(&self, size: usize, stream: Pointer) -> Pointer {
        unsafe { (self.mem_alloc)(size as u64, stream, 0) }
    }
    pub(crate) fn alloc_shared(&self, size: usize, stream: Pointer) -> Pointer {
        unsafe { (self.mem_alloc)(size as u64, stream, 1) }
    }
    pub(crate) fn free(&self, memory: Pointer, stream: Pointer) {
        unsafe { (self.mem_free)(memory, stream) }
    }
    pub(crate) fn copy<T, S>(&self, target: *mut T, source: *const S, size: usize, stream: Pointer) {
        unsafe { (self.memcpy)(target.cast(), source.cast_mut().cast(), size, stream) }
    }
    pub(crate) fn fill32(&self, target: Pointer, value: u32, count: usize, stream: Pointer) {
        unsafe { (self.memset32)(target, value, count, stream) }
    }
    pub(crate) fn fill16(&self, target: Pointer, value: u16, count: usize, stream: Pointer) {
        unsafe { (self.memset16)(target, value, count, stream) }
    }
    pub(crate) fn load(&self, code: &[u8]) -> Pointer {
        unsafe { (self.module_load)(code.as_ptr().cast(), code.len()) }
    }
    pub(crate) fn load_text(&self, text: &CStr) {
        unsafe { (self.module_load_jit)(text.as_ptr().cast(), 2) };
    }
    pub(crate) fn unload(&self, module: Pointer) {
        unsafe { (self.module_unload)(module) }
    }
    pub(crate) fn function(&self, module: Pointer, name: &CStr) -> Pointer {
        unsafe { (self.module_get_function)(module, name.as_ptr()) }
    }
    pub(crate) fn launch(
        &self,
        function: Pointer,
        grid: isize,
        block: isize,
        stream: Pointer,
        arguments: &[&dyn AnyArgument],
    ) {
        let list: Vec<_> = arguments.iter().map(|argument| (**argument).address()).collect();
        let none = std::ptr::null();
        unsafe {
            (self.launch_kernel)(
                function,
                grid,
                1,
                1,
                block,
                1,
                1,
                0,
                stream,
                list.as_ptr(),
                none,
                list.len(),
            );
        }
    }
    pub(crate) fn register<T>(&self, memory: *const T, size: usize) {
        unsafe { (self.host_register)(memory.cast_mut().cast(), size as u64) }
    }
    pub(crate) fn unregister<T>(&self, memory: *const T) {
        unsafe { (self.host_unregister)(memory.cast_mut().cast()) }
    }
    pub(crate) fn register_memref<T>(&self, rank: i64, descriptor: &T, element: i64) {
        unsafe { (self.host_register_memref)(rank, (&raw const *descriptor).cast(), element) }
    }
    pub(crate) fn unregister_memref<T>(&self, rank: i64, descriptor: &T, element: i64) {
        unsafe { (self.host_unregister_memref)(rank, (&raw const *descriptor).cast(), element) }
    }
    pub(crate) fn device_memref<T>(&self, memory: *mut T, size: usize) -> MemRef1d {
        let memory = memory.cast();
        let float = unsafe { (self.device_memref_float)(memory, memory, 0, size as i64, 1) };
        let int = unsafe { (self.device_memref_int)(memory, memory, 0, size as i64, 1) };
        assert_eq!((float.allocated, float.aligned), (int.allocated, int.aligned));
        float
    }
    pub(crate) fn set_default_device(&self, index: i32) {
        unsafe { (self.set_default_device)(index) }
    }
}

/// The newest build of a library of the workspace, if there is one.
fn built(name: &str) -> Option<PathBuf> {
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let places = [deps.join(name), deps.parent().unwrap().join(name)];
    let modified = |path: &PathBuf| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    places.into_iter().filter(|path| path.exists()).max_by_key(modified)
}

/// The shared library, which Cargo builds with the Rust library for this test.
pub(crate) fn path() -> PathBuf {
    built("libwindlass_mgpu.so").expect("libwindlass_mgpu.so is built")
}

/// The simulated HIP's library.
pub(crate) fn drop_in() -> Option<PathBuf> {
    built("libamdhip64.so")
}

/// The names that the library exports.
pub(crate) fn exported() -> Vec<String> {
    let bytes = std::fs::read(path()).unwrap();
    let library = object::File::parse(&*bytes).unwrap();
    let exported = library.dynamic_symbols().filter(|symbol| symbol.is_definition());
    exported.map(|symbol| symbol.name().unwrap().to_owned()).collect()
}

/// The library in this process, on the device that the environment names, else a GPU, else the simulated one.
pub(crate) fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(Library::open)
}

/// The bundle of one of the suite's modules.
pub(crate) fn kernel(module: &str) -> &'static [u8] {
    windlass_cts::bundle(module).unwrap()
}

/// In a process that [`child`] started for this test, the library.
pub(crate) fn in_child(test: &str) -> Option<&'static Library> {
    std::env::var("MGPU_CHILD").is_ok_and(|child| child == test).then(library)
}

/// The end of a process.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) output: String,
    pub(crate) error: String,
}

impl Run {
    #[track_caller]
    pub(crate) fn succeeds(&self) {
        assert_eq!(self.code, Some(0), "{self:?}");
    }
}

/// Runs one test in a process of its own.
pub(crate) fn child(test: &str, variables: &[(&str, &str)]) -> Run {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads", "1"]);
    command.env("MGPU_CHILD", test).env("WINDLASS_DEVICE", "hip-sim://gfx942").env("RUST_BACKTRACE", "0");
    command.env_remove("WINDLASS_MGPU_ERRORS").env_remove("WINDLASS_SIM").env_remove("WINDLASS_HIP_LIBRARY");
    command.envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Run { code: output.status.code(), output: text(output.stdout), error: text(output.stderr) }
}
