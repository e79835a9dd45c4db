// SPDX-License-Identifier: MIT OR Apache-2.0
//! The calls of a driver of the program. Each has one place here, so that its unsafe line has one justification: the
//! driver gave the functions for these calls, on any thread, and keeps the contract of the header.

use std::{ffi::c_void, ptr::NonNull};

use facade::{BufferParams, Error, External, MemoryType, QueueAffinity, Result};

use super::table::{windlass_driver_memory_t, windlass_driver_t};
use crate::{
    answer::{Answer, Question, windlass_answer_t},
    buffer::windlass_buffer_params_t,
    callback::UserData,
    error::windlass_error_t,
    exception::{contained, guarded},
    handle::{self, Object, create, used},
    memory::list_pointer,
    operation::windlass_operation_t,
    uri::{Parts, windlass_uri_t},
};

/// The functions of a registered driver.
#[derive(Clone)]
pub(crate) struct Functions {
    pub(crate) scheme: String,
    pub(crate) description: String,
    pub(crate) table: windlass_driver_t,
    pub(crate) user_data: UserData,
}

// SAFETY: the table has strings, which nothing reads after the registration, and functions for any thread.
unsafe impl Send for Functions {}
// SAFETY: as above.
unsafe impl Sync for Functions {}

/// An opened device of the driver. Dropping it closes the device.
pub(crate) struct Link {
    functions: Functions,
    device: UserData,
}

/// A handle that lasts as long as a call of the driver.
pub(crate) struct Lent<O: Object>(pub(crate) NonNull<O>);

impl<O: Object> Lent<O> {
    pub(crate) fn new(value: O::Value) -> Self {
        Self(create(value))
    }
}

impl<O: Object> Drop for Lent<O> {
    fn drop(&mut self) {
        handle::release(Some(self.0));
    }
}

impl Functions {
    /// An error of the driver's, not of the program that uses it.
    pub(crate) fn mistake(&self, what: impl std::fmt::Display) -> Error {
        Error::internal(format!("the driver of {}:// is wrong: {what}", self.scheme))
    }

    /// Calls a function of the driver.
    fn call(
        &self,
        name: &'static str,
        function: impl FnOnce() -> Option<NonNull<windlass_error_t>>,
    ) -> Result<()> {
        let returned = guarded(name, function)
            .map_err(|error| error.context(format!("calling the driver of {}://", self.scheme)));
        returned.and_then(windlass_error_t::take)
    }

    /// Asks the driver for descriptions.
    fn ask(
        &self,
        question: Question,
        name: &'static str,
        call: impl FnOnce(NonNull<windlass_answer_t>) -> Option<NonNull<windlass_error_t>>,
    ) -> Result<Answer> {
        let answer = Lent::<windlass_answer_t>::new(Answer::new(question).into());
        self.call(name, || call(answer.0))?;
        let answer = used(Some(answer.0))?;
        let mut given = answer.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        Ok(std::mem::replace(&mut *given, Answer::new(question)))
    }

    pub(crate) fn devices(&self) -> Result<Answer> {
        let Some(devices) = self.table.devices else { return Ok(Answer::new(Question::Devices)) };
        // SAFETY: as this file says.
        self.ask(Question::Devices, "`devices` of a driver", |answer| unsafe {
            devices(self.user_data.0, Some(answer))
        })
    }

    /// Opens a device. A URI with unknown keys is refused.
    pub(crate) fn open_device(&self, uri: &facade::Uri) -> Result<(Link, Answer)> {
        let parts = Lent::<windlass_uri_t>::new(Parts::new(uri));
        let mut device = std::ptr::null_mut();
        let open = self.table.open.ok_or_else(|| self.mistake("it has no `open`"))?;
        let answer = self.ask(Question::Open, "`open` of a driver", |answer| {
            // SAFETY: as this file says.
            unsafe { open(self.user_data.0, Some(parts.0), Some(answer), &mut device) }
        })?;
        let link = Link { functions: self.clone(), device: UserData(device) };
        used(Some(parts.0))?.finish()?;
        Ok((link, answer))
    }
}

const NOTHING: windlass_driver_memory_t = windlass_driver_memory_t {
    memory: std::ptr::null_mut(),
    device_address: 0,
    host_pointer: std::ptr::null_mut(),
    reserved: 0,
};

impl Link {
    pub(crate) fn table(&self) -> &windlass_driver_t {
        &self.functions.table
    }

    pub(crate) fn mistake(&self, what: impl std::fmt::Display) -> Error {
        self.functions.mistake(what)
    }

    fn lacks<T>(&self, function: Option<T>, name: &str) -> Result<T> {
        function.ok_or_else(|| {
            Error::unimplemented(format!("the driver of {}:// has no `{name}`", self.functions.scheme))
        })
    }

    pub(crate) fn allocate(
        &self,
        kind: MemoryType,
        size: u64,
        alignment: u64,
    ) -> Result<windlass_driver_memory_t> {
        let allocate = self.lacks(self.table().allocate, "allocate")?;
        let mut memory = NOTHING;
        // SAFETY: as this file says.
        self.functions.call("`allocate` of a driver", || unsafe {
            allocate(self.device.0, kind.0, size, alignment, &mut memory)
        })?;
        Ok(memory)
    }

    pub(crate) fn free(&self, memory: *mut c_void) {
        if let Some(free) = self.table().free {
            // SAFETY: as this file says. The memory is freed once.
            contained("`free` of a driver", || unsafe { free(self.device.0, memory) });
        }
    }

    pub(crate) fn trim(&self) {
        if let Some(trim) = self.table().trim {
            // SAFETY: as this file says.
            contained("`trim` of a driver", || unsafe { trim(self.device.0) });
        }
    }

    pub(crate) fn import(&self, params: &BufferParams, memory: External) -> Result<windlass_driver_memory_t> {
        let params = windlass_buffer_params_t {
            struct_size: size_of::<windlass_buffer_params_t>(),
            memory_type: params.memory_type.0,
            usage: params.usage.0,
            min_alignment: params.min_alignment,
            queue_affinity: params.queue_affinity.bits(),
        };
        let mut given = NOTHING;
        match memory {
            External::Host { pointer, size } => {
                let import = self.lacks(self.table().import_host, "import_host")?;
                // SAFETY: as this file says. The program vouches for its memory.
                self.functions.call("`import_host` of a driver", || unsafe {
                    import(self.device.0, &params, pointer.as_ptr().cast(), size, &mut given)
                })?;
            }
            External::Device { address, size } => {
                let import = self.lacks(self.table().import_device, "import_device")?;
                // SAFETY: as above.
                self.functions.call("`import_device` of a driver", || unsafe {
                    import(self.device.0, &params, address, size, &mut given)
                })?;
            }
            other => return Err(Error::unimplemented(format!("importing {other:?}"))),
        }
        Ok(given)
    }

    /// Loads one piece of code, or several as one executable.
    pub(crate) fn load(&self, parts: &[&[u8]]) -> Result<(*mut c_void, Answer)> {
        let mut executable = std::ptr::null_mut();
        let answer = match parts {
            [code] => {
                let load = self.lacks(self.table().load, "load")?;
                self.functions.ask(Question::Code, "`load` of a driver", |answer| {
                    let (bytes, size) = (list_pointer(code).cast(), code.len());
                    // SAFETY: as this file says.
                    unsafe { load(self.device.0, bytes, size, Some(answer), &mut executable) }
                })
            }
            parts => {
                let load = self.lacks(self.table().load_linked, "load_linked")?;
                let codes: Vec<*const c_void> = parts.iter().map(|part| list_pointer(part).cast()).collect();
                let sizes: Vec<usize> = parts.iter().map(|part| part.len()).collect();
                self.functions.ask(Question::Code, "`load_linked` of a driver", |answer| {
                    let (count, codes, sizes) = (parts.len(), codes.as_ptr(), sizes.as_ptr());
                    // SAFETY: as this file says.
                    unsafe { load(self.device.0, count, codes, sizes, Some(answer), &mut executable) }
                })
            }
        }?;
        Ok((executable, answer))
    }

    pub(crate) fn unload(&self, executable: *mut c_void) {
        if let Some(unload) = self.table().unload {
            // SAFETY: as this file says. The executable is unloaded once.
            contained("`unload` of a driver", || unsafe { unload(self.device.0, executable) });
        }
    }

    pub(crate) fn global(
        &self,
        executable: *mut c_void,
        index: u32,
        affinity: QueueAffinity,
    ) -> Result<windlass_driver_memory_t> {
        let global = self.lacks(self.table().global, "global")?;
        let mut memory = NOTHING;
        // SAFETY: as this file says.
        self.functions.call("`global` of a driver", || unsafe {
            global(self.device.0, executable, index, affinity.bits(), &mut memory)
        })?;
        Ok(memory)
    }

    pub(crate) fn symbols(&self, executable: *mut c_void, affinity: QueueAffinity) -> Result<Answer> {
        let symbols = self.lacks(self.table().symbols, "symbols")?;
        self.functions.ask(Question::Symbols, "`symbols` of a driver", |answer| {
            // SAFETY: as this file says.
            unsafe { symbols(self.device.0, executable, affinity.bits(), Some(answer)) }
        })
    }

    /// Gives an operation to the driver.
    pub(crate) fn submit(&self, operation: &Lent<windlass_operation_t>) -> Result<()> {
        let submit = self.lacks(self.table().submit, "submit")?;
        // SAFETY: as this file says.
        self.functions.call("`submit` of a driver", || unsafe { submit(self.device.0, Some(operation.0)) })
    }

    /// Gives a command buffer to the driver.
    pub(crate) fn execute(&self, operation: &Lent<windlass_operation_t>) -> Result<()> {
        let execute = self.lacks(self.table().execute, "execute")?;
        // SAFETY: as this file says.
        self.functions.call("`execute` of a driver", || unsafe { execute(self.device.0, Some(operation.0)) })
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        if let Some(close) = self.table().close {
            // SAFETY: as this file says. Nothing of the device is left.
            contained("`close` of a driver", || unsafe { close(self.device.0) });
        }
    }
}
