// SPDX-License-Identifier: MIT OR Apache-2.0
//! The registrations of a compiled program at its start: a fat binary, a kernel of it and a variable, by their
//! symbols.

use std::ffi::CStr;
use std::ptr;

use anyhow::{Context as _, Result, ensure};
use windlass_codeobject::{BundleWriter, File, Options, TargetId, WriteOptions};
use windlass_hip_sys::bindings::*;

use crate::lab::{Lab, SIZE};

const KERNELS: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cts/kernels/bundles/vector_add.ccob"));
const VARIABLES: &[u8] =
    include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../cts/kernels/bundles/globals.ccob"));

/// `__hipFatBinary`, as clang emits it.
#[repr(C)]
#[derive(Clone, Copy)]
struct Wrapper {
    magic: u32,
    version: u32,
    image: u64,
    unused: u64,
}

/// The code object with the kernel `vector_add`, and one with the variable `counter`.
pub(crate) struct Images {
    pub(crate) kernels: Vec<u8>,
    pub(crate) variables: Vec<u8>,
}

fn image(bundle: &[u8], target: &TargetId) -> Result<Vec<u8>> {
    let options = Options::default();
    let file = File::parse(bundle, &options)?;
    let bundle = file.bundles().first().context("a bundle")?;
    let entry = bundle.select(target, &options).best.context("no code for the device")?;
    Ok(bundle.image(entry)?.to_vec())
}

impl Images {
    /// The code objects for a device.
    pub(crate) fn of(target: &TargetId) -> Result<Self> {
        Ok(Self { kernels: image(KERNELS, target)?, variables: image(VARIABLES, target)? })
    }
}

impl Lab {
    fn register(&self, elf: &[u8]) -> Result<*mut *mut c_void> {
        let mut writer = BundleWriter::new();
        writer.add_code_object(elf)?;
        let bundle = self.keep(&writer.write(&WriteOptions::default())?);
        let wrapper = self.keep_value(Wrapper { magic: 0x4849_5046, version: 1, image: bundle, unused: 0 });
        // SAFETY: the stored values outlive the process's use of them.
        let binary = unsafe { self.hip.__hipRegisterFatBinary(wrapper as *const c_void) };
        ensure!(!binary.is_null(), "__hipRegisterFatBinary gives null");
        Ok(binary)
    }

    /// The symbol of a kernel and that of a variable, as this process registered them.
    pub(crate) fn register_all(&self) -> Result<(u64, u64)> {
        let name = |name: &CStr| self.keep(name.to_bytes_with_nul());
        let (kernel, variable) = (self.keep(&[7; 64]), self.keep(&[7; SIZE]));
        let (vector_add, counter) = (name(c"vector_add"), name(c"counter"));
        let binary = self.register(&self.images.kernels)?;
        // SAFETY: stored strings, and no other pointers.
        unsafe {
            let (none, no_extent, vector_add) = (ptr::null_mut(), ptr::null_mut(), vector_add as *mut c_char);
            let (kernel, size) = (kernel as *const c_void, ptr::null_mut());
            self.hip.__hipRegisterFunction(
                binary,
                kernel,
                vector_add,
                vector_add,
                u32::MAX,
                none,
                ptr::null_mut(),
                no_extent,
                ptr::null_mut(),
                size,
            );
        }
        let binary = self.register(&self.images.variables)?;
        // SAFETY: as above.
        unsafe {
            let counter = counter as *mut c_char;
            self.hip.__hipRegisterVar(binary, variable as *mut c_void, counter, counter, 0, 4, 0, 0);
        }
        Ok((kernel, variable))
    }
}
