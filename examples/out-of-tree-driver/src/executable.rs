// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executables: a program that was read. Globals and symbols stay with the defaults, which are `UNIMPLEMENTED`: `driver.rs`
//! declares these lacks.

use std::any::Any;

use windlass_hal::{FunctionInfo, Result, driver, edge::Domain};

use crate::program::{self, Kernel};

pub(crate) struct Executable {
    domain: Domain,
    kernels: Vec<Kernel>,
    functions: Vec<FunctionInfo>,
}

impl Executable {
    pub(crate) fn load(domain: Domain, code: &[u8]) -> Result<Self> {
        let kernels = program::parse(code)?;
        let functions = kernels.iter().map(|kernel| kernel.info.clone()).collect();
        Ok(Self { domain, kernels, functions })
    }

    pub(crate) fn kernel(&self, index: u32) -> Option<&Kernel> {
        self.kernels.get(index as usize)
    }
}

// SAFETY: the descriptions are read from the code that is loaded here, and never change.
unsafe impl driver::RawExecutable for Executable {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn functions(&self) -> &[FunctionInfo] {
        &self.functions
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
