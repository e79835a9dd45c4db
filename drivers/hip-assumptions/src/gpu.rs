// SPDX-License-Identifier: MIT OR Apache-2.0
//! A GPU that runs the suite's kernels, and work that stays in flight until a gate opens.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::ops::Deref;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use windlass_codeobject::{File, Options, TargetId};
use windlass_hip_sys::bindings::*;

use crate::hips::{Handle, Hip};

/// The bundle of a kernel module of the conformance suite, by the name of the module.
pub type Kernels = fn(&str) -> Option<&'static [u8]>;

pub(crate) const VECTOR_ADD: &str = "vector_add";
pub(crate) const GLOBALS: &str = "globals";
pub(crate) const ENTRIES: &str = "entries";
pub(crate) const POSITIONS: &str = "positions";
pub(crate) const ORDER: &str = "order";
pub(crate) const FAULTS: &str = "faults";
const SPIN: &str = "spin";
const MODULES: [&str; 7] = [VECTOR_ADD, GLOBALS, ENTRIES, POSITIONS, ORDER, FAULTS, SPIN];

/// A GPU with kernels.
pub(crate) struct Gpu<'a> {
    hip: &'a Hip,
    /// The code of each of [`MODULES`] for the device.
    images: BTreeMap<&'static str, Vec<u8>>,
    spin: Handle<hipFunction_t>,
    /// Pinned memory of gates, kept until the end, because freeing it might wait for the gate.
    flags: Mutex<Vec<Handle<*mut c_void>>>,
}

impl Deref for Gpu<'_> {
    type Target = Hip;

    fn deref(&self) -> &Hip {
        self.hip
    }
}

/// The target for a device's code, by the layout of the properties that the library fills.
pub(crate) fn architecture(hip: &Hip, device: c_int) -> String {
    let mut modern = Box::<hipDeviceProp_tR0600>::new_uninit();
    let name = if call!(hip.hipGetDevicePropertiesR0600(modern.as_mut_ptr(), device)) == crate::hips::OK {
        // SAFETY: HIP filled it; every bit pattern is valid for its fields.
        unsafe { modern.assume_init() }.gcnArchName
    } else {
        let mut old = Box::<hipDeviceProp_tR0000>::new_uninit();
        ok!(hip.hipGetDeviceProperties(old.as_mut_ptr(), device));
        // SAFETY: as above.
        unsafe { old.assume_init() }.gcnArchName
    };
    let bytes = name.iter().map(|byte| byte.to_ne_bytes()[0]).take_while(|byte| *byte != 0);
    String::from_utf8_lossy(&bytes.collect::<Vec<_>>()).into_owned()
}

/// The code object of a module that fits a target.
fn image_of(kernels: Kernels, module: &str, target: &TargetId) -> Result<Vec<u8>, String> {
    let bundle = kernels(module).ok_or_else(|| format!("there is no bundle {module}"))?;
    let options = Options::default();
    let file = File::parse(bundle, &options).map_err(|error| format!("{module}: {error}"))?;
    let bundles = file.bundles().first();
    let (bundle, entry) = bundles
        .and_then(|bundle| Some((bundle, bundle.select(target, &options).best?)))
        .ok_or_else(|| format!("no {module} for {target}"))?;
    let image = bundle.image(entry).map_err(|error| format!("{module}: {error}"))?;
    Ok(image.to_vec())
}

impl<'a> Gpu<'a> {
    /// The first device. An error says which kernels it lacks.
    pub(crate) fn of(hip: &'a Hip, kernels: Kernels) -> Result<Self, String> {
        let name = architecture(hip, 0);
        let target = name.parse().map_err(|error| format!("{name} is no target: {error}"))?;
        let image = |module| Ok((module, image_of(kernels, module, &target)?));
        let images = MODULES.into_iter().map(image).collect::<Result<_, String>>()?;
        let mut gpu = Self { hip, images, spin: Handle::new(ptr::null_mut()), flags: Mutex::default() };
        gpu.spin = Handle::new(gpu.function(gpu.load(SPIN), c"spin_until_host"));
        Ok(gpu)
    }

    /// The code object of a module that fits the device, with room behind it, because HIP takes no length.
    pub(crate) fn image(&self, module: &str) -> Vec<u8> {
        let mut image = self.images[module].clone();
        image.resize(image.len() + 4096, 0);
        image
    }

    pub(crate) fn load(&self, name: &str) -> hipModule_t {
        let mut module = ptr::null_mut();
        let image = self.image(name);
        ok!(self.hipModuleLoadData(&mut module, image.as_ptr().cast()));
        // HIP does not promise that it is done with the image.
        std::mem::forget(image);
        module
    }

    pub(crate) fn function(&self, module: hipModule_t, name: &CStr) -> hipFunction_t {
        let mut function = ptr::null_mut();
        ok!(self.hipModuleGetFunction(&mut function, module, name.as_ptr()));
        function
    }

    pub(crate) fn find(&self, module: &str, name: &CStr) -> hipFunction_t {
        self.function(self.load(module), name)
    }

    /// Launches as the driver does: one block of arguments in the kernel's layout.
    pub(crate) fn launch(
        &self,
        function: hipFunction_t,
        grid: [u32; 3],
        block: [u32; 3],
        local_memory: u32,
        stream: hipStream_t,
        arguments: &[u8],
    ) -> hipError_t {
        let mut size = arguments.len();
        let mut extra = [
            ptr::without_provenance_mut(1),
            arguments.as_ptr().cast_mut().cast(),
            ptr::without_provenance_mut(2),
            (&raw mut size).cast(),
            ptr::without_provenance_mut(3),
        ];
        let extra = if arguments.is_empty() { ptr::null_mut() } else { extra.as_mut_ptr() };
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        let none = ptr::null_mut();
        call!(self.hipModuleLaunchKernel(function, gx, gy, gz, bx, by, bz, local_memory, stream, none, extra))
    }

    /// Work that stays in flight in a stream until the gate is opened or dropped.
    pub(crate) fn hold(&self, stream: hipStream_t) -> Gate {
        let (host, device) = self.host_memory(8);
        self.flags.lock().unwrap_or_else(PoisonError::into_inner).push(Handle::new(host));
        // SAFETY: eight bytes of pinned memory that live as long as the GPU; host and device use atomics alone.
        let flag = unsafe { AtomicU32::from_ptr(host.cast()) };
        flag.store(0, Ordering::SeqCst);
        let arguments =
            block(&[&address(device), &1_u32.to_le_bytes(), &address(device.wrapping_byte_add(4))]);
        assert_eq!(self.launch(self.spin.get(), [1; 3], [1; 3], 0, stream, &arguments), crate::hips::OK);
        Gate(Handle::new(host.cast()))
    }

    /// Runs calls while a gate is closed. They must return; if they have not after a long time, the gate opens.
    #[track_caller]
    pub(crate) fn while_closed<T>(&self, gate: &Gate, calls: impl FnOnce() -> T) -> T {
        let (done, is_done) = channel::<()>();
        let late = AtomicBool::new(false);
        let waited = &late;
        let result = thread::scope(|scope| {
            scope.spawn(move || {
                if is_done.recv_timeout(LONG) == Err(RecvTimeoutError::Timeout) {
                    waited.store(true, Ordering::SeqCst);
                    gate.open();
                }
            });
            let result = calls();
            drop(done);
            result
        });
        assert!(!late.load(Ordering::SeqCst), "a call waited for work in flight");
        result
    }

    /// Makes a call that must not return before a gate is opened.
    #[track_caller]
    pub(crate) fn returns_behind(&self, gate: &Gate, call: impl FnOnce() + Send) {
        let (returned, has_returned) = channel();
        let device = self.current();
        let early = thread::scope(|scope| {
            scope.spawn(move || {
                self.select(device);
                call();
                let _ = returned.send(());
            });
            let early = has_returned.recv_timeout(A_WHILE);
            gate.open();
            early
        });
        assert_eq!(early, Err(RecvTimeoutError::Timeout), "returned while work was in flight");
    }
}

impl Drop for Gpu<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            return;
        }
        let hip = self.hip;
        for flag in self.flags.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            ok!(hip.hipHostFree(flag.get()));
        }
    }
}

/// Longer than any call takes.
const LONG: Duration = Duration::from_secs(60);
/// Long enough for a call that does not wait to return, most of the time. A longer pause would not prove more.
const A_WHILE: Duration = Duration::from_millis(50);

/// Holds work in flight; see [`Gpu::hold`].
pub(crate) struct Gate(Handle<*mut u32>);

impl Gate {
    pub(crate) fn open(&self) {
        // SAFETY: pinned memory that outlives its gates.
        unsafe { AtomicU32::from_ptr(self.0.get()) }.store(1, Ordering::SeqCst);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        self.open();
    }
}

/// An argument block: values one after the other, each at a multiple of its size.
pub(crate) fn block(values: &[&[u8]]) -> Vec<u8> {
    let mut block = Vec::new();
    for value in values {
        block.resize(usize::next_multiple_of(block.len(), value.len()), 0);
        block.extend_from_slice(value);
    }
    block
}

pub(crate) fn address(memory: *mut c_void) -> [u8; 8] {
    (memory as u64).to_le_bytes()
}

/// The arguments of `vector_add`: three buffers of floats and their length.
pub(crate) struct Add {
    pub(crate) function: hipFunction_t,
    pub(crate) sum: *mut c_void,
    pub(crate) arguments: Vec<u8>,
}

impl Add {
    pub(crate) const COUNT: usize = 256;
    pub(crate) const SIZE: usize = 4 * Self::COUNT;

    /// With inputs of 1.5 and 2, and sums of 0.
    pub(crate) fn new(gpu: &Gpu<'_>) -> Self {
        let [a, b, sum] = [1.5_f32, 2.0, 0.0].map(|value| {
            let memory = gpu.device_memory(Self::SIZE);
            let stream = gpu.stream();
            ok!(gpu.hipMemsetD32Async(memory, value.to_bits().cast_signed(), Self::COUNT, stream));
            ok!(gpu.hipStreamSynchronize(stream));
            ok!(gpu.hipStreamDestroy(stream));
            memory
        });
        let count = (Self::COUNT as i32).to_le_bytes();
        let arguments = block(&[&address(a), &address(b), &address(sum), &count]);
        Self { function: gpu.find(VECTOR_ADD, c"vector_add"), sum, arguments }
    }

    pub(crate) fn launch(&self, gpu: &Gpu<'_>, stream: hipStream_t) -> hipError_t {
        gpu.launch(self.function, [4, 1, 1], [64, 1, 1], 0, stream, &self.arguments)
    }

    /// The sums are complete behind the work of a stream.
    #[track_caller]
    pub(crate) fn check(&self, gpu: &Gpu<'_>, stream: hipStream_t) {
        assert_eq!(gpu.read_words(stream, self.sum, Self::COUNT), [3.5_f32.to_bits(); Self::COUNT]);
    }
}
