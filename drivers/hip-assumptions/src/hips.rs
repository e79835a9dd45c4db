// SPDX-License-Identifier: MIT OR Apache-2.0
//! A HIP with devices, and calls that most programs make.

use std::ops::Deref;
use std::ptr;

use windlass_hip_sys::Api;
use windlass_hip_sys::bindings::*;

pub(crate) const OK: hipError_t = hipError_t::hipSuccess;
pub(crate) const NOT_READY: hipError_t = hipError_t::hipErrorNotReady;
pub(crate) const DEVICE_TO_HOST: hipMemcpyKind = hipMemcpyKind::hipMemcpyDeviceToHost;
pub(crate) const HOST_TO_DEVICE: hipMemcpyKind = hipMemcpyKind::hipMemcpyHostToDevice;

/// A HIP with devices, and the functions that most programs need.
pub(crate) struct Hip {
    api: Api,
    pub(crate) devices: c_int,
}

impl Deref for Hip {
    type Target = Api;

    fn deref(&self) -> &Api {
        &self.api
    }
}

impl Hip {
    /// The first device is current.
    pub(crate) fn of(api: Api) -> Result<Self, String> {
        let mut devices = 0;
        // SAFETY: the pointer is to a local.
        let statuses = unsafe { [api.hipInit(0), api.hipGetDeviceCount(&mut devices), api.hipSetDevice(0)] };
        match statuses.iter().find(|status| **status != OK) {
            Some(status) => Err(format!("{} finds no device: {status}", api.origin())),
            None if devices < 1 => Err(format!("{} has no device", api.origin())),
            None => Ok(Self { api, devices }),
        }
    }

    /// A stream without implicit waits for other streams.
    pub(crate) fn stream(&self) -> hipStream_t {
        self.stream_with(hipStreamNonBlocking)
    }

    pub(crate) fn stream_with(&self, flags: c_uint) -> hipStream_t {
        let mut stream = ptr::null_mut();
        ok!(self.hipStreamCreateWithFlags(&mut stream, flags));
        stream
    }

    /// An event as the driver makes them.
    pub(crate) fn event(&self) -> hipEvent_t {
        let mut event = ptr::null_mut();
        ok!(self.hipEventCreateWithFlags(&mut event, hipEventDisableTiming | hipEventBlockingSync));
        event
    }

    pub(crate) fn device_memory(&self, size: usize) -> *mut c_void {
        let mut address = ptr::null_mut();
        ok!(self.hipMalloc(&mut address, size));
        assert!(!address.is_null());
        address
    }

    /// Pinned memory as the driver allocates it, and its device address.
    pub(crate) fn host_memory(&self, size: usize) -> (*mut c_void, *mut c_void) {
        let (mut host, mut device) = (ptr::null_mut(), ptr::null_mut());
        ok!(self.hipHostMalloc(&mut host, size, hipHostMallocPortable | hipHostMallocMapped));
        ok!(self.hipHostGetDevicePointer(&mut device, host, 0));
        assert!(!host.is_null() && !device.is_null());
        (host, device)
    }

    /// The contents of device memory when the work of a stream is done.
    pub(crate) fn read(&self, stream: hipStream_t, memory: *mut c_void, size: usize) -> Vec<u8> {
        let mut bytes = vec![0; size];
        ok!(self.hipMemcpyAsync(bytes.as_mut_ptr().cast(), memory, size, DEVICE_TO_HOST, stream));
        ok!(self.hipStreamSynchronize(stream));
        bytes
    }

    /// The same, as words.
    pub(crate) fn read_words(&self, stream: hipStream_t, memory: *mut c_void, count: usize) -> Vec<u32> {
        let bytes = self.read(stream, memory, 4 * count);
        bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
    }

    /// Makes a device current.
    pub(crate) fn select(&self, device: c_int) {
        ok!(self.hipSetDevice(device));
    }

    /// The device that is current.
    pub(crate) fn current(&self) -> c_int {
        let mut device = -1;
        ok!(self.hipGetDevice(&mut device));
        device
    }
}

/// A value of HIP's that may move to another thread: HIP's handles and addresses belong to no thread.
#[derive(Clone, Copy)]
pub(crate) struct Handle<T>(T);

// SAFETY: a handle or an address of HIP's, which any thread may pass to it.
unsafe impl<T> Send for Handle<T> {}
// SAFETY: as for Send.
unsafe impl<T> Sync for Handle<T> {}

impl<T: Copy> Handle<T> {
    pub(crate) fn new(value: T) -> Self {
        Self(value)
    }

    pub(crate) fn get(&self) -> T {
        self.0
    }
}
