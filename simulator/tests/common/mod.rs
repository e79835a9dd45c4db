// SPDX-License-Identifier: MIT OR Apache-2.0
//! The common part of the tests of HIP functions: a simulator with its table, and gates that hold a stream.

#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]

pub mod events;

use std::ffi::c_void;
use std::ptr::{null, null_mut, without_provenance_mut};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use windlass_hip_sys::bindings::*;
use windlass_hip_sys::{Api, Source};
use windlass_simulator::Simulator;

/// Calls a function of HIP: `hip!(machine, hipFree(pointer))` returns its status.
#[macro_export]
macro_rules! hip {
    ($machine:expr, $name:ident($($argument:expr),* $(,)?)) => {{
        let api: &windlass_hip_sys::Api = &$machine.api;
        // SAFETY: pointers of the tests are null, handles, device addresses or locals that outlive their use.
        #[allow(unused_unsafe, clippy::macro_metavars_in_unsafe, reason = "arguments hold no unsafe operations")]
        unsafe { api.$name($($argument),*) }
    }};
}

/// Calls a function of HIP that must succeed.
#[macro_export]
macro_rules! ok {
    ($machine:expr, $name:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(
            $crate::hip!($machine, $name($($argument),*)),
            windlass_hip_sys::bindings::hipError_t::hipSuccess,
            "{}: {:?}", stringify!($name), $machine.simulator.last_fault()
        )
    };
}

/// Calls a function of HIP that must fail with the named error.
#[macro_export]
macro_rules! fails {
    ($error:ident, $machine:expr, $name:ident($($argument:expr),* $(,)?)) => {
        assert_eq!(
            $crate::hip!($machine, $name($($argument),*)),
            windlass_hip_sys::bindings::hipError_t::$error,
            "{}", stringify!($name)
        )
    };
}

/// The environment variable that makes programs run on the system's HIP, each in a process of its own:
/// `.ci/amd-hip`.
const SYSTEM: &str = "WINDLASS_TEST_SYSTEM_HIP";

/// The system's HIP, if it can replace a simulated one with the options. Else the process prints the reason,
/// and ends.
#[allow(clippy::print_stderr, reason = "the script counts what is not run")]
fn system(options: &str) -> Api {
    let wanted = match options {
        "" | "gfx942" => 1,
        "gfx942?devices=2" => 2,
        _ => {
            eprintln!(
                "not run on the system's HIP: the program sets options of the simulated one, {options}"
            );
            std::process::exit(0);
        }
    };
    // SAFETY: the library that the system or the environment names is HIP.
    let api = unsafe { Api::load(&Source::System) }.unwrap();
    let mut devices = 0;
    // SAFETY: the pointer is to a local.
    assert_eq!(unsafe { api.hipGetDeviceCount(&mut devices) }, hipError_t::hipSuccess, "{}", api.origin());
    if devices != wanted {
        eprintln!("not run on the system's HIP: the program is for {wanted} GPUs, and there are {devices}");
        std::process::exit(0);
    }
    api
}

/// A simulator and its functions.
pub struct Machine {
    pub simulator: Arc<Simulator>,
    pub api: Api,
}

impl Machine {
    /// A machine with the options; where [`SYSTEM`] is set, the HIP of the system.
    pub fn new(options: &str) -> Self {
        let simulator = Simulator::new(options.parse().unwrap()).unwrap();
        let api = match std::env::var_os(SYSTEM) {
            Some(_) => system(options),
            None => simulator.api(),
        };
        Self { simulator, api }
    }

    /// Checks that the explanation of the latest refusal has these words. The system's HIP explains nothing.
    pub fn explains(&self, words: &[&str]) {
        if std::env::var_os(SYSTEM).is_some() {
            return;
        }
        let reason = self.api.diagnose().unwrap();
        assert!(words.iter().all(|word| reason.contains(word)), "{words:?} in {reason}");
    }

    /// A non-blocking stream: it is not ordered against the null stream.
    pub fn stream(&self) -> hipStream_t {
        self.stream_with(1)
    }

    pub fn stream_with(&self, flags: u32) -> hipStream_t {
        let mut stream = null_mut();
        ok!(self, hipStreamCreateWithFlags(&mut stream, flags));
        stream
    }

    pub fn event(&self) -> hipEvent_t {
        let mut event = null_mut();
        ok!(self, hipEventCreate(&mut event));
        event
    }

    pub fn malloc(&self, size: usize) -> *mut c_void {
        let mut pointer = null_mut();
        ok!(self, hipMalloc(&mut pointer, size));
        pointer
    }

    /// Device memory with these contents.
    pub fn upload<T: Copy>(&self, values: &[T]) -> *mut c_void {
        let pointer = self.malloc(size_of_val(values));
        ok!(self, hipMemcpyHtoD(pointer, values.as_ptr().cast(), size_of_val(values)));
        pointer
    }

    /// The contents of device memory.
    pub fn download<T: Copy + Default>(&self, pointer: *mut c_void, count: usize) -> Vec<T> {
        let mut values = vec![T::default(); count];
        ok!(self, hipMemcpyDtoH(values.as_mut_ptr().cast(), pointer, size_of_val(&values[..])));
        values
    }

    /// Holds a stream until the gate is opened or dropped.
    pub fn gate(&self, stream: hipStream_t) -> Gate {
        let (open, opened) = channel();
        self.call_on(stream, move || {
            let _: Result<(), _> = opened.recv();
        });
        Gate { _open: open }
    }

    /// Calls a closure in the order of a stream.
    pub fn call_on(&self, stream: hipStream_t, f: impl FnOnce() + Send + 'static) {
        unsafe extern "C" fn run(data: *mut c_void) {
            // SAFETY: the pointer is the box that was leaked below; a host function is called once.
            let f = unsafe { Box::from_raw(data.cast::<Box<dyn FnOnce() + Send>>()) };
            f();
        }
        let f: Box<Box<dyn FnOnce() + Send>> = Box::new(Box::new(f));
        ok!(self, hipLaunchHostFunc(stream, Some(run), Box::into_raw(f).cast()));
    }

    /// Appends a word to a log in the order of a stream.
    pub fn log_on(&self, stream: hipStream_t, log: &Log, word: &'static str) {
        let log = log.clone();
        self.call_on(stream, move || log.push(word));
    }

    /// The module of an image of any kind.
    pub fn load(&self, image: &[u8]) -> hipModule_t {
        let mut module = null_mut();
        ok!(self, hipModuleLoadData(&mut module, image.as_ptr().cast()));
        module
    }

    pub fn function(&self, module: hipModule_t, name: &std::ffi::CStr) -> hipFunction_t {
        let mut function = null_mut();
        ok!(self, hipModuleGetFunction(&mut function, module, name.as_ptr()));
        function
    }

    /// Launches with an argument block in the kernel's layout.
    pub fn launch(
        &self,
        function: hipFunction_t,
        grid: u32,
        block: u32,
        stream: hipStream_t,
        arguments: &[u8],
    ) -> hipError_t {
        let mut size = arguments.len();
        let mut extra = [
            without_provenance_mut(1),
            arguments.as_ptr().cast_mut().cast(),
            without_provenance_mut(2),
            (&raw mut size).cast(),
            without_provenance_mut(3),
        ];
        hip!(
            self,
            hipModuleLaunchKernel(
                function,
                grid,
                1,
                1,
                block,
                1,
                1,
                0,
                stream,
                null_mut(),
                extra.as_mut_ptr()
            )
        )
    }
}

/// Holds a stream; see [`Machine::gate`].
pub struct Gate {
    _open: Sender<()>,
}

/// Words in the order of logging.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    pub fn push(&self, word: &'static str) {
        self.0.lock().unwrap().push(word);
    }

    /// The words since the last call.
    pub fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }

    pub fn words(&self) -> Vec<&'static str> {
        self.0.lock().unwrap().clone()
    }
}

/// A channel for an event of a host function.
pub fn signal() -> (Sender<()>, Receiver<()>) {
    channel()
}

/// Argument blocks: values one after the other, each at a multiple of its size.
#[derive(Default)]
pub struct Block(Vec<u8>);

impl Block {
    pub fn pointer(self, pointer: *mut c_void) -> Self {
        self.bytes(&(pointer as u64).to_le_bytes())
    }

    pub fn u32(self, value: u32) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    pub fn f32(self, value: f32) -> Self {
        self.bytes(&value.to_le_bytes())
    }

    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        self.0.resize(self.0.len().next_multiple_of(bytes.len()), 0);
        self.0.extend(bytes);
        self
    }

    pub fn done(self) -> Vec<u8> {
        self.0
    }
}

/// A null pointer of any type.
pub fn nothing<T>() -> *const T {
    null()
}
