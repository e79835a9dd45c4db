// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code that a driver of the program has loaded.

use std::{any::Any, ffi::c_void, ptr, sync::Arc};

use facade::{
    Error, FunctionInfo, GlobalInfo, QueueAffinity, Result, SymbolInfo,
    driver::{RawBuffer, RawExecutable},
    edge::Domain,
};

use super::memory::{Allocation, Freeing, Memory};

/// Loaded code.
pub(crate) struct Executable {
    memory: Memory,
    /// The driver's own object.
    executable: *mut c_void,
    functions: Vec<FunctionInfo>,
    globals: Vec<GlobalInfo>,
}

// SAFETY: the driver's object is only passed back to it, on any thread, which its contract allows.
unsafe impl Send for Executable {}
// SAFETY: as above.
unsafe impl Sync for Executable {}

impl Executable {
    pub(crate) fn load(memory: Memory, parts: &[&[u8]]) -> Result<Self> {
        let (executable, answer) = memory.link.load(parts)?;
        Ok(Self { memory, executable, functions: answer.functions, globals: answer.globals })
    }

    /// The driver's own object; NULL for code of another device.
    pub(crate) fn of(raw: &dyn RawExecutable) -> *mut c_void {
        raw.as_any().downcast_ref::<Self>().map_or(ptr::null_mut(), |own| own.executable)
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        self.memory.link.unload(self.executable);
    }
}

// SAFETY: the descriptions are those that the driver gave for this code, and never change.
unsafe impl RawExecutable for Executable {
    fn domain(&self) -> Domain {
        self.memory.domain
    }

    fn functions(&self) -> &[FunctionInfo] {
        &self.functions
    }

    fn globals(&self) -> &[GlobalInfo] {
        &self.globals
    }

    fn global(self: Arc<Self>, index: u32, affinity: QueueAffinity) -> Result<Arc<dyn RawBuffer>> {
        let size = self.globals.get(index as usize).map(|global| global.size);
        let size = size.ok_or_else(|| Error::internal(format!("variable {index} does not exist")))?;
        let given = self.memory.link.global(self.executable, index, affinity)?;
        let memory = self.memory.clone();
        Ok(Arc::new(Allocation::new(&memory, given, size, Freeing::Variable(self))))
    }

    fn symbols(&self, affinity: QueueAffinity) -> Result<Vec<SymbolInfo>> {
        Ok(self.memory.link.symbols(self.executable, affinity)?.symbols)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
