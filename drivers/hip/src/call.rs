// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP's calls as the driver makes them: typed handles, the right device current, errors of the HAL.
//!
//! The unsafe calls of the driver are here, a few in `hip.rs`, those about other GPUs in `peers.rs`, and those with foreign handles in
//! `foreign.rs`. They are sound for these reasons. Only this module
//! makes handles; each handle belongs to one [`Hip`], and its owner destroys it once. Device addresses are numbers: HIP
//! checks them, or the device faults, and the caller of [`windlass_hal::Device::load_executable`] vouches for its kernels.
//! Copies read and write only host memory that HIP allocated or registered.

use std::{
    ffi::{CStr, CString, c_void},
    ptr::{self, NonNull},
};

use windlass_hal::{Error, Result, callback_pool};
use windlass_hip_sys::{
    Launcher,
    bindings::{
        hipDeviceAttribute_t, hipDeviceProp_tR0000, hipDeviceProp_tR0600, hipError_t, hipEvent_t,
        hipEventBlockingSync, hipEventDisableTiming, hipFunction_t, hipHostMallocMapped,
        hipHostMallocPortable, hipHostRegisterMapped, hipHostRegisterPortable, hipMemcpyKind, hipModule_t,
        hipPointerAttribute_t, hipStream_t, hipStreamNonBlocking, hipUUID,
    },
};

use crate::{hip::Hip, status};

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident($raw:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) struct $name($raw);
        // SAFETY: HIP's handles may be used from any thread.
        unsafe impl Send for $name {}
        // SAFETY: HIP locks inside; using a handle from several threads at once is legal.
        unsafe impl Sync for $name {}
    )*};
}

handles! {
    /// An in-order stream.
    StreamHandle(hipStream_t);
    /// A point in a stream.
    Event(hipEvent_t);
    /// A loaded code object.
    Module(hipModule_t);
    /// A kernel of a module.
    Function(hipFunction_t);
}

impl StreamHandle {
    /// A stream that the driver does not own. See `foreign.rs`.
    pub(crate) fn foreign(handle: hipStream_t) -> Self {
        Self(handle)
    }

    pub(crate) fn raw(self) -> hipStream_t {
        self.0
    }
}

impl Event {
    pub(crate) fn raw(self) -> hipEvent_t {
        self.0
    }
}

/// Pinned host memory: its address for the host, and its address for the device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostMemory {
    pub(crate) host: NonNull<u8>,
    pub(crate) device: u64,
}

// SAFETY: an address; the allocator decides how the bytes may be used.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

/// Bytes that no allocation exceeds: twice the memory of the largest machine, and far below an address space.
const LARGEST: u64 = 1 << 46;

/// The state of the work before an event.
pub(crate) enum EventStatus {
    Running,
    Complete,
    /// All of the work has ended, and the piece that the event was recorded for went wrong.
    Faulted(Error),
}

impl Hip {
    // Streams and events.

    pub(crate) fn create_stream(&self) -> Result<StreamHandle> {
        let _current = self.current()?;
        let mut stream = ptr::null_mut();
        // SAFETY: a pointer to a local.
        let status = unsafe { self.api.hipStreamCreateWithFlags(&mut stream, hipStreamNonBlocking) };
        self.check("hipStreamCreateWithFlags(non-blocking)", status)?;
        Ok(StreamHandle(stream))
    }

    pub(crate) fn destroy_stream(&self, stream: StreamHandle) {
        // SAFETY: the owner gives the handle up.
        self.succeeded(unsafe { self.api.hipStreamDestroy(stream.0) });
    }

    pub(crate) fn create_event(&self) -> Result<Event> {
        let mut event = ptr::null_mut();
        // SAFETY: a pointer to a local.
        let status = unsafe {
            self.api.hipEventCreateWithFlags(&mut event, hipEventDisableTiming | hipEventBlockingSync)
        };
        self.check("hipEventCreateWithFlags(no timing, blocking)", status)?;
        Ok(Event(event))
    }

    /// An event whose recordings have a time.
    pub(crate) fn create_timed_event(&self) -> Result<Event> {
        let mut event = ptr::null_mut();
        // SAFETY: a pointer to a local.
        let status = unsafe { self.api.hipEventCreateWithFlags(&mut event, hipEventBlockingSync) };
        self.check("hipEventCreateWithFlags(blocking)", status)?;
        Ok(Event(event))
    }

    /// The milliseconds between two recordings that are reached. `None` if HIP does not tell.
    pub(crate) fn elapsed(&self, start: Event, end: Event) -> Option<f32> {
        let mut milliseconds = 0.0;
        // SAFETY: a pointer to a local, and live handles.
        let status = unsafe { self.api.hipEventElapsedTime(&mut milliseconds, start.0, end.0) };
        self.succeeded(status).then_some(milliseconds)
    }

    pub(crate) fn destroy_event(&self, event: Event) {
        // SAFETY: the owner gives the handle up.
        self.succeeded(unsafe { self.api.hipEventDestroy(event.0) });
    }

    #[inline]
    pub(crate) fn record(&self, event: Event, stream: StreamHandle) -> Result<()> {
        // SAFETY: live handles of this device.
        self.check("hipEventRecord", unsafe { self.api.hipEventRecord(event.0, stream.0) })
    }

    #[inline]
    pub(crate) fn wait_event(&self, stream: StreamHandle, event: Event) -> Result<()> {
        // SAFETY: live handles of this device.
        self.check("hipStreamWaitEvent", unsafe { self.api.hipStreamWaitEvent(stream.0, event.0, 0) })
    }

    /// Asks whether everything before the event has completed, and whether it went wrong.
    #[inline]
    pub(crate) fn query(&self, event: Event) -> Result<EventStatus> {
        // SAFETY: a live handle.
        match unsafe { self.api.hipEventQuery(event.0) } {
            hipError_t::hipSuccess => Ok(EventStatus::Complete),
            hipError_t::hipErrorNotReady => {
                // Before 7.0 HIP keeps even this status as the thread's last error.
                // SAFETY: no arguments.
                let _ = unsafe { self.api.hipGetLastError() };
                Ok(EventStatus::Running)
            }
            status => {
                let error = self.failed("hipEventQuery", status);
                if self.is_contained(status) { Ok(EventStatus::Faulted(error)) } else { Err(error) }
            }
        }
    }

    /// Blocks this thread inside HIP until everything before the event has ended, well or not. For reapers only.
    pub(crate) fn synchronize(&self, event: Event) -> Result<()> {
        // SAFETY: a live handle.
        let status = unsafe { self.api.hipEventSynchronize(event.0) };
        self.check("hipEventSynchronize", status)
            .or_else(|error| if self.is_contained(status) { Ok(()) } else { Err(error) })
    }

    /// Blocks this thread inside HIP until the stream has no work, well or not. For threads that serve one stream only.
    pub(crate) fn drain(&self, stream: StreamHandle) {
        // SAFETY: a live handle. A stream that cannot be waited for belongs to a device that is lost.
        let _ = unsafe { self.api.hipStreamSynchronize(stream.0) };
    }

    // Work.

    pub(crate) fn fill(
        &self,
        stream: StreamHandle,
        target: u64,
        value: u32,
        size: usize,
        count: usize,
    ) -> Result<()> {
        let target = target as *mut c_void;
        let (call, status) = match size {
            // SAFETY: a checked range of this device, for this call and the two below.
            1 => ("hipMemsetD8Async", unsafe {
                self.api.hipMemsetD8Async(target, value as u8, count, stream.0)
            }),
            // SAFETY: as above.
            2 => ("hipMemsetD16Async", unsafe {
                self.api.hipMemsetD16Async(target, value as u16, count, stream.0)
            }),
            // SAFETY: as above.
            _ => ("hipMemsetD32Async", unsafe {
                self.api.hipMemsetD32Async(target, value as i32, count, stream.0)
            }),
        };
        self.check(call, status)
    }

    /// Copies between device addresses, pinned host memory included.
    pub(crate) fn copy(&self, stream: StreamHandle, target: u64, source: u64, size: u64) -> Result<()> {
        let (target, source) = (target as *mut c_void, source as *const c_void);
        // SAFETY: checked ranges of allocations that HIP made.
        let status = unsafe {
            self.api.hipMemcpyAsync(target, source, size as usize, hipMemcpyKind::hipMemcpyDefault, stream.0)
        };
        self.check("hipMemcpyAsync", status)
    }

    /// Launches of kernels in a stream.
    pub(crate) fn launches(&self, stream: StreamHandle) -> Launches<'_> {
        Launches::new(self, stream)
    }

    // Memory.

    pub(crate) fn malloc(&self, size: u64) -> Result<u64> {
        let _current = self.current()?;
        let mut pointer = ptr::null_mut();
        // SAFETY: a pointer to a local.
        let status = unsafe { self.api.hipMalloc(&mut pointer, size as usize) };
        self.check("hipMalloc", status)?;
        Ok(pointer as u64)
    }

    /// Synchronises the device: not on a caller's thread.
    pub(crate) fn free(&self, pointer: u64) {
        // SAFETY: the owner gives the memory up.
        self.succeeded(unsafe { self.api.hipFree(pointer as *mut c_void) });
    }

    pub(crate) fn malloc_host(&self, size: u64) -> Result<HostMemory> {
        let _current = self.current()?;
        let mut pointer = ptr::null_mut();
        // SAFETY: a pointer to a local.
        let status = unsafe {
            self.api.hipHostMalloc(&mut pointer, size as usize, hipHostMallocPortable | hipHostMallocMapped)
        };
        self.check("hipHostMalloc", status)?;
        let host = NonNull::new(pointer.cast())
            .ok_or_else(|| Error::internal("hipHostMalloc succeeded with a null pointer"))?;
        self.device_pointer(host).inspect_err(|_| {
            let hip = self.clone();
            let memory = HostMemory { host, device: 0 };
            callback_pool::spawn(Box::new(move || hip.give_back(|hip| hip.free_host(memory))));
        })
    }

    /// Synchronises the device: not on a caller's thread.
    pub(crate) fn free_host(&self, memory: HostMemory) {
        // SAFETY: the owner gives the memory up.
        self.succeeded(unsafe { self.api.hipHostFree(memory.host.as_ptr().cast()) });
    }

    /// Registers host memory that HIP did not allocate, so that the device can use it.
    ///
    /// # Safety
    /// The memory must stay valid until [`unregister_host`](Self::unregister_host).
    pub(crate) unsafe fn register_host(&self, host: NonNull<u8>, size: u64) -> Result<()> {
        let _current = self.current()?;
        let flags = hipHostRegisterPortable | hipHostRegisterMapped;
        // SAFETY: valid memory, as the caller promises.
        let status = unsafe { self.api.hipHostRegister(host.as_ptr().cast(), size as usize, flags) };
        self.check("hipHostRegister", status)
    }

    /// The device's address of host memory that HIP allocated or registered.
    pub(crate) fn device_pointer(&self, host: NonNull<u8>) -> Result<HostMemory> {
        let mut device = ptr::null_mut();
        // SAFETY: a pointer to a local, and memory that HIP made or registered.
        let status = unsafe { self.api.hipHostGetDevicePointer(&mut device, host.as_ptr().cast(), 0) };
        self.check("hipHostGetDevicePointer", status)?;
        Ok(HostMemory { host, device: device as u64 })
    }

    /// Ends a registration. Returns whether HIP released the memory. May synchronise the device: not on a caller's thread.
    pub(crate) fn unregister_host(&self, host: NonNull<u8>) -> bool {
        // SAFETY: registered memory, which its owner gives up.
        self.succeeded(unsafe { self.api.hipHostUnregister(host.as_ptr().cast()) })
    }

    /// The ordinal of the GPU that memory belongs to.
    pub(crate) fn device_of(&self, address: u64) -> Result<i32> {
        let mut attributes = std::mem::MaybeUninit::<hipPointerAttribute_t>::zeroed();
        // SAFETY: a pointer to a local; HIP looks the address up and does not follow it.
        let status =
            unsafe { self.api.hipPointerGetAttributes(attributes.as_mut_ptr(), address as *const c_void) };
        self.check("hipPointerGetAttributes", status)?;
        // SAFETY: zeroed and filled by HIP; every bit pattern is valid for its fields.
        let attributes = unsafe { attributes.assume_init() };
        match attributes.device {
            // Since ROCm 6 an unknown pointer is no error.
            _ if attributes.devicePointer.is_null() => {
                Err(Error::not_found("hipPointerGetAttributes finds nothing"))
            }
            ordinal => Ok(ordinal),
        }
    }

    /// The base address and the size of the allocation that an address lies in. `None` if HIP knows none there.
    pub(crate) fn address_range(&self, address: u64) -> Result<Option<(u64, u64)>> {
        let (mut base, mut size) = (ptr::null_mut(), 0);
        // SAFETY: pointers to locals; HIP looks the address up and does not follow it.
        match unsafe { self.api.hipMemGetAddressRange(&mut base, &mut size, address as *mut c_void) } {
            // HIP 6 and newer answer with the first status, HIP 5 with the second.
            status @ (hipError_t::hipErrorNotFound | hipError_t::hipErrorInvalidDevicePointer) => {
                self.succeeded(status);
                Ok(None)
            }
            status => {
                self.check("hipMemGetAddressRange", status)?;
                // If the GPU reaches all memory of the process, HIP reports one huge allocation that stands for it.
                Ok((size as u64 <= LARGEST).then_some((base as u64, size as u64)))
            }
        }
    }

    // Code.

    /// Loads `image`, which must be one complete code object, aligned to a page. `version` is its code object version, for
    /// the error if HIP refuses it.
    pub(crate) fn load_module(&self, image: &[u8], version: Option<u32>) -> Result<Module> {
        let _current = self.current()?;
        let mut module = ptr::null_mut();
        // SAFETY: windlass-codeobject validated the image, which ends where its headers say. The caller of
        // load_executable vouched for the code in it.
        let status = unsafe { self.api.hipModuleLoadData(&mut module, image.as_ptr().cast()) };
        self.check("hipModuleLoadData", status)
            .map_err(|error| self.too_new(status, version).unwrap_or(error))?;
        Ok(Module(module))
    }

    /// The error of code whose version is newer than HIP reads. `None` if the refusal has another cause.
    #[cold]
    fn too_new(&self, status: hipError_t, version: Option<u32>) -> Option<Error> {
        let (version, newest) = version.zip(self.quirks.newest_code_object)?;
        if version <= newest || !status::is_refusal_of_code(status) {
            return None;
        }
        let hip = self.api.origin().version?;
        Some(Error::not_found(format!(
            "hipModuleLoadData returned {status}: HIP {hip} reads code objects up to v{newest}, and this is a \
             code object v{version}; compile it with -mcode-object-version={newest}, or use a newer HIP"
        )))
    }

    /// Synchronises the device: not on a caller's thread.
    pub(crate) fn unload_module(&self, module: Module) {
        // SAFETY: the owner gives the handle up.
        self.succeeded(unsafe { self.api.hipModuleUnload(module.0) });
    }

    pub(crate) fn function(&self, module: Module, name: &str) -> Result<Function> {
        let name = c_string(name)?;
        let mut function = ptr::null_mut();
        // SAFETY: a pointer to a local, a live handle, a terminated string.
        let status = unsafe { self.api.hipModuleGetFunction(&mut function, module.0, name.as_ptr()) };
        self.check(&format!("hipModuleGetFunction({name:?})"), status)?;
        Ok(Function(function))
    }

    pub(crate) fn global(&self, module: Module, name: &str) -> Result<(u64, u64)> {
        let name = c_string(name)?;
        let (mut pointer, mut size) = (ptr::null_mut(), 0);
        // SAFETY: pointers to locals, a live handle, a terminated string.
        let status = unsafe { self.api.hipModuleGetGlobal(&mut pointer, &mut size, module.0, name.as_ptr()) };
        self.check(&format!("hipModuleGetGlobal({name:?})"), status)?;
        Ok((pointer as u64, size as u64))
    }

    /// The workgroups of `threads` work-items that a compute unit runs at once. The GPU of the kernel must be current.
    pub(crate) fn resident_workgroups(
        &self,
        function: Function,
        threads: u32,
        local_memory: u32,
    ) -> Result<u32> {
        let (threads, mut resident) = (i32::try_from(threads).unwrap_or(i32::MAX), 0);
        // SAFETY: a pointer to a local, and a live handle.
        let status = unsafe {
            self.api.hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(
                &mut resident,
                function.0,
                threads,
                local_memory as usize,
            )
        };
        self.check("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", status)?;
        Ok(u32::try_from(resident).unwrap_or(0))
    }

    /// A workgroup size that fills the GPU, and how many such workgroups do. The GPU of the kernel must be current.
    pub(crate) fn filling_workgroup(&self, function: Function, local_memory: u32) -> Result<(u32, u32)> {
        let (mut workgroups, mut threads) = (0, 0);
        // SAFETY: pointers to locals, and a live handle. A limit of 0 is none.
        let status = unsafe {
            self.api.hipModuleOccupancyMaxPotentialBlockSize(
                &mut workgroups,
                &mut threads,
                function.0,
                local_memory as usize,
                0,
            )
        };
        self.check("hipModuleOccupancyMaxPotentialBlockSize", status)?;
        Ok((u32::try_from(threads).unwrap_or(0), u32::try_from(workgroups).unwrap_or(0)))
    }

    // Identity.

    pub(crate) fn attribute(&self, attribute: hipDeviceAttribute_t) -> Option<u32> {
        let mut value = 0;
        // SAFETY: a pointer to a local.
        let status = unsafe { self.api.hipDeviceGetAttribute(&mut value, attribute, self.ordinal()) };
        if self.succeeded(status) { u32::try_from(value).ok() } else { None }
    }

    pub(crate) fn name(&self) -> Result<String> {
        let mut name = [0; 256];
        // SAFETY: the length is that of the local array.
        let status =
            unsafe { self.api.hipDeviceGetName(name.as_mut_ptr(), name.len() as i32, self.ordinal()) };
        self.check("hipDeviceGetName", status)?;
        Ok(text(&name))
    }

    /// The UUID as AMD's tools print it: `GPU-`, then 16 bytes as text, or as hex digits if they are not text.
    pub(crate) fn uuid(&self) -> Option<String> {
        let mut uuid = hipUUID { bytes: [0; 16] };
        // SAFETY: a pointer to a local.
        let status = unsafe { self.api.hipDeviceGetUuid(&mut uuid, self.ordinal()) };
        if !self.succeeded(status) {
            return None;
        }
        let bytes = uuid.bytes.map(|byte| byte as u8);
        if bytes.iter().all(|byte| *byte == 0) {
            return None;
        }
        if bytes.iter().all(u8::is_ascii_graphic) {
            return Some(format!("GPU-{}", String::from_utf8_lossy(&bytes)));
        }
        Some(format!("GPU-{}", bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>()))
    }

    /// The target id with the state of its features, and the memory in bytes. Reads the layout of `hipDeviceProp_t` that the
    /// library has.
    pub(crate) fn properties(&self) -> Result<(String, u64)> {
        let mut modern = Box::<hipDeviceProp_tR0600>::new_uninit();
        // SAFETY: a pointer to room for the layout that this entry point fills.
        let status = unsafe { self.api.hipGetDevicePropertiesR0600(modern.as_mut_ptr(), self.ordinal()) };
        if self.succeeded(status) {
            // SAFETY: HIP filled it; every bit pattern is valid for its fields.
            let modern = unsafe { modern.assume_init() };
            return Ok((text(&modern.gcnArchName), modern.totalGlobalMem as u64));
        }
        let mut old = Box::<hipDeviceProp_tR0000>::new_uninit();
        // SAFETY: as above, for the layout of the unsuffixed symbol.
        let status = unsafe { self.api.hipGetDeviceProperties(old.as_mut_ptr(), self.ordinal()) };
        self.check("hipGetDeviceProperties", status)?;
        // SAFETY: as above.
        let old = unsafe { old.assume_init() };
        Ok((text(&old.gcnArchName), old.totalGlobalMem as u64))
    }

    /// Free and total device memory in bytes.
    pub(crate) fn memory(&self) -> Option<(u64, u64)> {
        let _current = self.current().ok()?;
        let (mut free, mut total) = (0, 0);
        // SAFETY: pointers to locals.
        let status = unsafe { self.api.hipMemGetInfo(&mut free, &mut total) };
        self.check("hipMemGetInfo", status).ok()?;
        Some((free as u64, total as u64))
    }
}

/// Launches in one stream.
pub(crate) struct Launches<'a> {
    hip: &'a Hip,
    launcher: Launcher<'a>,
    stream: StreamHandle,
    /// HIP's form of an argument block. Only the block's address and size differ between launches.
    extra: [*mut c_void; 5],
    size: usize,
}

impl<'a> Launches<'a> {
    fn new(hip: &'a Hip, stream: StreamHandle) -> Self {
        const BUFFER_POINTER: *mut c_void = ptr::without_provenance_mut(1);
        const BUFFER_SIZE: *mut c_void = ptr::without_provenance_mut(2);
        const END: *mut c_void = ptr::without_provenance_mut(3);
        let extra = [BUFFER_POINTER, ptr::null_mut(), BUFFER_SIZE, ptr::null_mut(), END];
        Self { hip, launcher: hip.api.launcher(), stream, extra, size: 0 }
    }

    /// Launches with an argument block in the kernel's layout.
    // A replay's loop has this call in it, and keeps its values in registers.
    #[inline(always)]
    pub(crate) fn launch(
        &mut self,
        function: Function,
        grid: [u32; 3],
        block: [u32; 3],
        local_memory: u32,
        arguments: &[u8],
    ) -> Result<()> {
        self.size = arguments.len();
        self.extra[1] = arguments.as_ptr().cast_mut().cast();
        self.extra[3] = (&raw mut self.size).cast();
        let extra = if arguments.is_empty() { ptr::null_mut() } else { self.extra.as_mut_ptr() };
        // SAFETY: live handles; HIP reads the block during the call and keeps no pointer to it. The caller of
        // load_executable vouched for the kernel.
        let status = unsafe {
            self.launcher.hipModuleLaunchKernel(function.0, grid, block, local_memory, self.stream.0, extra)
        };
        match status {
            hipError_t::hipSuccess => Ok(()),
            status => Err(self.failed(status)),
        }
    }

    #[cold]
    fn failed(&self, status: hipError_t) -> Error {
        self.hip.failed("hipModuleLaunchKernel", status)
    }
}

pub(crate) fn c_string(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| Error::invalid_argument(format!("{name:?} holds a NUL byte")))
}

/// The text of a C array, up to its terminator if it has one.
pub(crate) fn text(array: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = array.iter().map(|byte| *byte as u8).collect();
    match CStr::from_bytes_until_nul(&bytes) {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}
