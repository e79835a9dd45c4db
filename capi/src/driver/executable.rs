// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code that a driver of the program has loaded.

use std::{any::Any, sync::Arc};

use facade::{
    Error, FunctionInfo, GlobalInfo, QueueAffinity, Result, SymbolInfo,
    driver::{RawBuffer, RawExecutable},
    edge::Domain,
};

use super::memory::{Allocation, Freeing, Memory};
use crate::backing::Code;

/// Loaded code.
pub(crate) struct Executable {
    memory: Memory,
    code: Code,
    functions: Vec<FunctionInfo>,
    globals: Vec<GlobalInfo>,
}

impl Executable {
    pub(crate) fn load(memory: Memory, parts: &[&[u8]]) -> Result<Self> {
        let (executable, answer) = memory.link.load(parts)?;
        Ok(Self { memory, code: Code(executable), functions: answer.functions, globals: answer.globals })
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        self.memory.link.unload(self.code.0);
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
        let given = self.memory.link.global(self.code.0, index, affinity)?;
        let memory = self.memory.clone();
        Ok(Arc::new(Allocation::new(&memory, given, size, Freeing::Variable(self))))
    }

    fn symbols(&self, affinity: QueueAffinity) -> Result<Vec<SymbolInfo>> {
        Ok(self.memory.link.symbols(self.code.0, affinity)?.symbols)
    }

    /// All that a driver or a wrapper asks of code.
    fn as_any(&self) -> &dyn Any {
        &self.code
    }
}
