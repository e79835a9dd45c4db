// SPDX-License-Identifier: MIT OR Apache-2.0
//! Fronts believe what the objects of drivers say, so implementing their traits is unsafe.

use std::any::Any;

use windlass_hal::{CommandList, FunctionInfo, driver, edge::Domain};

struct Lie;

impl driver::RawExecutable for Lie {
    fn domain(&self) -> Domain {
        unimplemented!()
    }
    fn functions(&self) -> &[FunctionInfo] {
        unimplemented!()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl driver::RawCommandBuffer for Lie {
    fn domain(&self) -> Domain {
        unimplemented!()
    }
    fn list(&self) -> &CommandList {
        unimplemented!()
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl driver::Wrapper for Lie {
    fn inner(&self) -> &dyn driver::RawDevice {
        unimplemented!()
    }
}

fn main() {}
