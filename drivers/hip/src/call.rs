// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP's calls as the driver makes them: typed handles, the right device current, errors of the HAL.
//!
//! The unsafe calls of the driver are here. What makes them sound: handles are made by this module alone, belong
//! to one [`Hip`], and are destroyed once, by the owner that the type system knows; device addresses are numbers
//! that HIP checks or the device faults on, which is what [`windlass_hal::Device::load_executable`] makes its
//! caller vouch for. Copies that touch host memory take it from allocations that HIP itself made.

use std::{
    ffi::{CStr, CString, c_void},
    ptr::{self, NonNull},
    sync::{Arc, OnceLock},
};

use windlass_hal::{Error, Result, callback_pool};
use windlass_hip_sys::{
    Api,
    bindings::{
        hipDeviceAttribute_t, hipDeviceProp_tR0000, hipDeviceProp_tR0600, hipError_t, hipEvent_t,
        hipEventBlockingSync, hipEventDisableTiming, hipFunction_t, hipHostMallocMapped,
        hipHostMallocPortable, hipHostRegisterMapped, hipHostRegisterPortable, hipMemcpyKind, hipModule_t,
        hipPointerAttribute_t, hipStream_t, hipStreamNonBlocking, hipUUID,
    },
};

use crate::{quirks::Quirks, status};

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
    Stream(hipStream_t);
    /// A point in a stream.
    Event(hipEvent_t);
    /// A loaded code object.
    Module(hipModule_t);
    /// A kernel of a module.
    Function(hipFunction_t);
}

/// Pinned host memory: where the host sees it, and where the device does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostMemory {
    pub(crate) host: NonNull<u8>,
    pub(crate) device: u64,
}

// SAFETY: an address; what may be done with the bytes is the allocator's business.
unsafe impl Send for HostMemory {}
// SAFETY: as above.
unsafe impl Sync for HostMemory {}

/// HIP for one device: a table of entry points and an ordinal.
#[derive(Clone, Debug)]
pub(crate) struct Hip {
    pub(crate) api: Arc<Api>,
    pub(crate) quirks: Quirks,
    ordinal: i32,
    /// With one device there is nothing to switch.
    alone: bool,
    /// Why the device cannot be trusted any more. The first reason stays.
    lost: Arc<OnceLock<Error>>,
}

/// No allocation is larger: twice the memory of the largest machine, and far below an address space.
const LARGEST: u64 = 1 << 46;

/// What an event says of the work before it.
pub(crate) enum Progress {
    Running,
    Complete,
    /// All of it has ended, and what the event stands for went wrong.
    Faulted(Error),
}

/// Makes the device current while it lives, and the one before current again.
pub(crate) struct Current<'a> {
    hip: &'a Hip,
    before: Option<i32>,
}

impl Drop for Current<'_> {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            // SAFETY: an ordinal that HIP gave.
            self.hip.succeeded(unsafe { self.hip.api.hipSetDevice(before) });
        }
    }
}

/// What stands between this process and a GPU, where a runtime of the system looked for one.
#[cfg(target_os = "linux")]
fn obstacles(origin: &windlass_hip_sys::Origin) -> Option<String> {
    let is_of_system = origin.found != windlass_hip_sys::Found::InProcess && !origin.simulated;
    is_of_system.then(crate::access::explained).flatten()
}

#[cfg(not(target_os = "linux"))]
fn obstacles(_origin: &windlass_hip_sys::Origin) -> Option<String> {
    None
}

/// Initialises HIP and counts its devices. `UNAVAILABLE` with HIP's reason where there is none.
pub(crate) fn initialise(api: &Api) -> Result<i32> {
    let mut count = 0;
    // SAFETY: no arguments but numbers and a pointer to a local.
    let calls = [
        ("hipInit", unsafe { api.hipInit(0) }),
        ("hipGetDeviceCount", unsafe { api.hipGetDeviceCount(&mut count) }),
    ];
    for (call, status) in calls {
        if api.has_ended() {
            return Err(ended(call));
        }
        if status != hipError_t::hipSuccess {
            // SAFETY: clears this thread's sticky error; no arguments.
            let _ = unsafe { api.hipGetLastError() };
            let origin = api.origin();
            let obstacles = obstacles(origin).map(|obstacles| format!("; {obstacles}"));
            return Err(Error::unavailable(format!(
                "{call} returned {status}: {origin} finds no GPU{}",
                obstacles.unwrap_or_default()
            )));
        }
    }
    Ok(count)
}

/// What a call comes to that is not made because the process is ending.
#[cold]
fn ended(call: &str) -> Error {
    Error::failed_precondition(format!(
        "{call} was not called: the process is ending, and HIP with it; drain devices and join the threads that use them \
         before main returns or exit is called"
    ))
}

impl Hip {
    pub(crate) fn new(api: Arc<Api>, ordinal: i32, devices: i32) -> Self {
        let quirks = Quirks::of(&api);
        Self { api, quirks, ordinal, alone: devices == 1 && ordinal == 0, lost: Arc::default() }
    }

    /// Another GPU of the same device: lost with it.
    pub(crate) fn sibling(&self, ordinal: i32) -> Self {
        Self { ordinal, ..self.clone() }
    }

    /// Why the device is lost, if it is: a call of anybody returned a status after which HIP repeats itself.
    #[inline]
    pub(crate) fn lost(&self) -> Option<&Error> {
        self.lost.get()
    }

    /// From now on the device is lost: whoever uses it learns that from the code, and from the text why.
    #[cold]
    pub(crate) fn lose(&self, error: Error) {
        let error = status::loss(&error)
            .context(format!("using HIP device {}, which is lost now; open it anew", self.ordinal));
        if self.lost.set(error.clone()).is_ok() {
            tracing::error!(target: "windlass::hip", %error, "device lost");
        }
    }

    /// Whether all that HIP made stays as it is: because the device is lost, or because the process is ending.
    pub(crate) fn keeps_all(&self) -> bool {
        self.lost().is_some() || self.api.has_ended()
    }

    pub(crate) fn ordinal(&self) -> i32 {
        self.ordinal
    }

    /// The device for the calls of this thread until the guard is dropped. Two calls at most, none where the
    /// process has one device.
    pub(crate) fn current(&self) -> Result<Current<'_>> {
        let mut before = None;
        if !self.alone {
            let mut current = 0;
            // SAFETY: a pointer to a local.
            self.check("hipGetDevice", unsafe { self.api.hipGetDevice(&mut current) })?;
            if current != self.ordinal {
                // SAFETY: an ordinal below the device count.
                self.check("hipSetDevice", unsafe { self.api.hipSetDevice(self.ordinal) })?;
                before = Some(current);
            }
        }
        Ok(Current { hip: self, before })
    }

    /// Runs what gives things back to HIP, with the device current where it can be made so: HIP knows whose what it made
    /// is. A lost device keeps everything.
    pub(crate) fn give_back(&self, destroy: impl FnOnce(&Self)) {
        let current = self.current();
        if !self.keeps_all() {
            destroy(self);
        }
        drop(current);
    }

    #[inline]
    #[track_caller]
    fn check(&self, call: &str, status: hipError_t) -> Result<()> {
        if status == hipError_t::hipSuccess { Ok(()) } else { Err(self.failed(call, status)) }
    }

    /// The error of a failed call. Clears the thread's sticky error: the process is left as it was found.
    #[cold]
    #[track_caller]
    fn failed(&self, call: &str, status: hipError_t) -> Error {
        if self.api.has_ended() {
            let error = ended(call);
            // What is in flight fails, as nobody will see it complete. That a process ends is no error.
            if self.lost.set(error.clone()).is_ok() {
                tracing::debug!(target: "windlass::hip", %error, "device gone");
            }
            return error;
        }
        // Whoever explains a failure explains that of the latest call.
        let report = self.api.diagnose();
        // SAFETY: no arguments.
        let _ = unsafe { self.api.hipGetLastError() };
        let error = status::error(status, call);
        let error = match report {
            Some(report) => Error::new(error.code(), format!("{}: {report}", error.message())),
            None => error,
        };
        if !status::is_loss(status) || self.is_contained(status) {
            return error;
        }
        self.lose(error.clone());
        status::loss(&error)
    }

    /// Whether a status concerns no more than the submission whose event answers it.
    fn is_contained(&self, status: hipError_t) -> bool {
        self.quirks.contained_faults && status::is_fault(status)
    }

    /// Whether a call that may fail without harm did not. Clears the thread's sticky error if it did.
    fn succeeded(&self, status: hipError_t) -> bool {
        if status != hipError_t::hipSuccess {
            // SAFETY: no arguments.
            let _ = unsafe { self.api.hipGetLastError() };
        }
        status == hipError_t::hipSuccess
    }

    // Peers.

    /// Whether this GPU can be made to reach the memory of another.
    pub(crate) fn reaches(&self, peer: i32) -> Result<bool> {
        let mut can = 0;
        // SAFETY: a pointer to a local.
        let status = unsafe { self.api.hipDeviceCanAccessPeer(&mut can, self.ordinal, peer) };
        self.check("hipDeviceCanAccessPeer", status)?;
        Ok(can != 0)
    }

    /// Lets this GPU reach the memory of another; it may by now.
    pub(crate) fn enable_peer(&self, peer: i32) -> Result<()> {
        let _current = self.current()?;
        // SAFETY: an ordinal that HIP gave; no flags are defined.
        match unsafe { self.api.hipDeviceEnablePeerAccess(peer, 0) } {
            status @ hipError_t::hipErrorPeerAccessAlreadyEnabled => {
                self.succeeded(status);
                Ok(())
            }
            status => self.check("hipDeviceEnablePeerAccess", status),
        }
    }

    // Streams and events.

    pub(crate) fn create_stream(&self) -> Result<Stream> {
        let _current = self.current()?;
        let mut stream = ptr::null_mut();
        // SAFETY: a pointer to a local.
        let status = unsafe { self.api.hipStreamCreateWithFlags(&mut stream, hipStreamNonBlocking) };
        self.check("hipStreamCreateWithFlags(non-blocking)", status)?;
        Ok(Stream(stream))
    }

    pub(crate) fn destroy_stream(&self, stream: Stream) {
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

    pub(crate) fn destroy_event(&self, event: Event) {
        // SAFETY: the owner gives the handle up.
        self.succeeded(unsafe { self.api.hipEventDestroy(event.0) });
    }

    #[inline]
    pub(crate) fn record(&self, event: Event, stream: Stream) -> Result<()> {
        // SAFETY: live handles of this device.
        self.check("hipEventRecord", unsafe { self.api.hipEventRecord(event.0, stream.0) })
    }

    #[inline]
    pub(crate) fn wait_event(&self, stream: Stream, event: Event) -> Result<()> {
        // SAFETY: live handles of this device.
        self.check("hipStreamWaitEvent", unsafe { self.api.hipStreamWaitEvent(stream.0, event.0, 0) })
    }

    /// Whether everything before the event has completed, and how.
    #[inline]
    pub(crate) fn query(&self, event: Event) -> Result<Progress> {
        // SAFETY: a live handle.
        match unsafe { self.api.hipEventQuery(event.0) } {
            hipError_t::hipSuccess => Ok(Progress::Complete),
            hipError_t::hipErrorNotReady => {
                // HIP before 7.0 keeps this too as the thread's last error.
                // SAFETY: no arguments.
                let _ = unsafe { self.api.hipGetLastError() };
                Ok(Progress::Running)
            }
            status => {
                let error = self.failed("hipEventQuery", status);
                if self.is_contained(status) { Ok(Progress::Faulted(error)) } else { Err(error) }
            }
        }
    }

    /// Blocks this thread inside HIP until everything before the event has completed, however: for reapers only.
    pub(crate) fn synchronize(&self, event: Event) -> Result<()> {
        // SAFETY: a live handle.
        let status = unsafe { self.api.hipEventSynchronize(event.0) };
        self.check("hipEventSynchronize", status)
            .or_else(|error| if self.is_contained(status) { Ok(()) } else { Err(error) })
    }

    // Work.

    pub(crate) fn fill(
        &self,
        stream: Stream,
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
    pub(crate) fn copy(&self, stream: Stream, target: u64, source: u64, size: u64) -> Result<()> {
        let (target, source) = (target as *mut c_void, source as *const c_void);
        // SAFETY: checked ranges of allocations that HIP made.
        let status = unsafe {
            self.api.hipMemcpyAsync(target, source, size as usize, hipMemcpyKind::hipMemcpyDefault, stream.0)
        };
        self.check("hipMemcpyAsync", status)
    }

    /// Launches with an argument block in the kernel's layout.
    #[inline]
    pub(crate) fn launch(
        &self,
        stream: Stream,
        function: Function,
        grid: [u32; 3],
        block: [u32; 3],
        local_memory: u32,
        arguments: &[u8],
    ) -> Result<()> {
        const BUFFER_POINTER: *mut c_void = ptr::without_provenance_mut(1);
        const BUFFER_SIZE: *mut c_void = ptr::without_provenance_mut(2);
        const END: *mut c_void = ptr::without_provenance_mut(3);
        let mut size = arguments.len();
        let mut extra =
            [BUFFER_POINTER, arguments.as_ptr().cast_mut().cast(), BUFFER_SIZE, (&raw mut size).cast(), END];
        let extra = if arguments.is_empty() { ptr::null_mut() } else { extra.as_mut_ptr() };
        let ([gx, gy, gz], [bx, by, bz]) = (grid, block);
        // SAFETY: live handles; HIP reads the block during the call and keeps no pointer to it. What the kernel does
        // is what the caller of load_executable vouched for.
        let status = unsafe {
            self.api.hipModuleLaunchKernel(
                function.0,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                local_memory,
                stream.0,
                ptr::null_mut(),
                extra,
            )
        };
        self.check("hipModuleLaunchKernel", status)
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

    /// Makes host memory that is not HIP's the device's as well.
    ///
    /// # Safety
    /// The memory must be there until [`unregister_host`](Self::unregister_host).
    pub(crate) unsafe fn register_host(&self, host: NonNull<u8>, size: u64) -> Result<()> {
        let _current = self.current()?;
        let flags = hipHostRegisterPortable | hipHostRegisterMapped;
        // SAFETY: memory that is there, as the caller says.
        let status = unsafe { self.api.hipHostRegister(host.as_ptr().cast(), size as usize, flags) };
        self.check("hipHostRegister", status)
    }

    /// Where the device sees host memory that HIP knows.
    pub(crate) fn device_pointer(&self, host: NonNull<u8>) -> Result<HostMemory> {
        let mut device = ptr::null_mut();
        // SAFETY: a pointer to a local, and memory that HIP made or registered.
        let status = unsafe { self.api.hipHostGetDevicePointer(&mut device, host.as_ptr().cast(), 0) };
        self.check("hipHostGetDevicePointer", status)?;
        Ok(HostMemory { host, device: device as u64 })
    }

    /// Whether HIP has let go of the memory. May synchronise the device: not on a caller's thread.
    pub(crate) fn unregister_host(&self, host: NonNull<u8>) -> bool {
        // SAFETY: what was registered, given up by its owner.
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

    /// The allocation that an address lies in: where it begins, and its size. `None` where HIP knows nothing there.
    pub(crate) fn address_range(&self, address: u64) -> Result<Option<(u64, u64)>> {
        let (mut base, mut size) = (ptr::null_mut(), 0);
        // SAFETY: pointers to locals; HIP looks the address up and does not follow it.
        match unsafe { self.api.hipMemGetAddressRange(&mut base, &mut size, address as *mut c_void) } {
            // The first is the answer of today, the second that of HIP 5.
            status @ (hipError_t::hipErrorNotFound | hipError_t::hipErrorInvalidDevicePointer) => {
                self.succeeded(status);
                Ok(None)
            }
            status => {
                self.check("hipMemGetAddressRange", status)?;
                // Where the GPU reaches all memory of the process, HIP has one allocation that stands for it.
                Ok((size as u64 <= LARGEST).then_some((base as u64, size as u64)))
            }
        }
    }

    // Code.

    /// `image` must be one complete code object, aligned to a page. Its version is for the error where HIP refuses it.
    pub(crate) fn load_module(&self, image: &[u8], version: Option<u32>) -> Result<Module> {
        let _current = self.current()?;
        let mut module = ptr::null_mut();
        // SAFETY: the image was validated by windlass-codeobject and ends where its headers say; the code in it is
        // what the caller of load_executable vouched for.
        let status = unsafe { self.api.hipModuleLoadData(&mut module, image.as_ptr().cast()) };
        self.check("hipModuleLoadData", status)
            .map_err(|error| self.too_new(status, version).unwrap_or(error))?;
        Ok(Module(module))
    }

    /// The error of code that HIP refuses for its version, if that is why.
    #[cold]
    fn too_new(&self, status: hipError_t, version: Option<u32>) -> Option<Error> {
        let (version, newest) = version.zip(self.quirks.newest_code_object)?;
        if version <= newest || !status::is_refusal_of_code(status) {
            return None;
        }
        let hip = self.api.origin().version?;
        Some(Error::not_found(format!(
            "hipModuleLoadData returned {status}: HIP {hip} reads code objects up to version {newest}, and this one is of \
             version {version}; compile it with -mcode-object-version={newest}, or use a newer HIP"
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

    // Identity.

    pub(crate) fn attribute(&self, attribute: hipDeviceAttribute_t) -> Option<u32> {
        let mut value = 0;
        // SAFETY: a pointer to a local.
        let status = unsafe { self.api.hipDeviceGetAttribute(&mut value, attribute, self.ordinal) };
        if self.succeeded(status) { u32::try_from(value).ok() } else { None }
    }

    pub(crate) fn name(&self) -> Result<String> {
        let mut name = [0; 256];
        // SAFETY: the length is that of the local array.
        let status = unsafe { self.api.hipDeviceGetName(name.as_mut_ptr(), name.len() as i32, self.ordinal) };
        self.check("hipDeviceGetName", status)?;
        Ok(text(&name))
    }

    /// `GPU-` and 16 hex digits or bytes, as AMD's tools print it.
    pub(crate) fn uuid(&self) -> Option<String> {
        let mut uuid = hipUUID { bytes: [0; 16] };
        // SAFETY: a pointer to a local.
        let status = unsafe { self.api.hipDeviceGetUuid(&mut uuid, self.ordinal) };
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

    /// The target id with the state of its features, and the memory in bytes, from whichever layout of
    /// `hipDeviceProp_t` the library has.
    pub(crate) fn properties(&self) -> Result<(String, u64)> {
        let mut modern = Box::<hipDeviceProp_tR0600>::new_uninit();
        // SAFETY: a pointer to room for the layout that this entry point fills.
        let status = unsafe { self.api.hipGetDevicePropertiesR0600(modern.as_mut_ptr(), self.ordinal) };
        if self.succeeded(status) {
            // SAFETY: HIP filled it; every bit pattern is valid for its fields.
            let modern = unsafe { modern.assume_init() };
            return Ok((text(&modern.gcnArchName), modern.totalGlobalMem as u64));
        }
        let mut old = Box::<hipDeviceProp_tR0000>::new_uninit();
        // SAFETY: as above, for the layout of the unsuffixed symbol.
        let status = unsafe { self.api.hipGetDeviceProperties(old.as_mut_ptr(), self.ordinal) };
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

fn c_string(name: &str) -> Result<CString> {
    CString::new(name).map_err(|_| Error::invalid_argument(format!("{name:?} holds a NUL byte")))
}

/// The text of a C array, up to its terminator if it has one.
fn text(array: &[std::ffi::c_char]) -> String {
    let bytes: Vec<u8> = array.iter().map(|byte| *byte as u8).collect();
    match CStr::from_bytes_until_nul(&bytes) {
        Ok(text) => text.to_string_lossy().into_owned(),
        Err(_) => String::from_utf8_lossy(&bytes).into_owned(),
    }
}
