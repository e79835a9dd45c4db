// SPDX-License-Identifier: MIT OR Apache-2.0
//! A program and what it needs of a HIP.

use std::fmt;

use windlass_hip_sys::Api;

use crate::gpu::{Gpu, Kernels};
use crate::hips::Hip;

/// A program that holds a HIP against one assumption.
pub struct Program {
    pub(crate) name: &'static str,
    pub(crate) body: Body,
}

/// The function of a program.
pub(crate) enum Body {
    Memory(fn(&Hip)),
    Work(fn(&Hip)),
    Pair(fn(&Hip)),
    Kernels(fn(&Gpu<'_>)),
    Fault(fn(&Gpu<'_>)),
}

/// The devices that a program needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Needs {
    /// One device that copies and fills memory, as the null HIP does too.
    Memory,
    /// One device whose work may be in flight.
    Work,
    /// Two devices whose work may be in flight.
    Pair,
    /// One device that runs the kernels of the conformance suite.
    Kernels,
    /// As [`Kernels`](Self::Kernels), and the program costs the process its device.
    Fault,
}

/// The end of a program whose assumption is not broken.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The assumption holds.
    Held,
    /// The HIP lacks what the program needs, for this reason.
    NotRun(String),
}

impl Program {
    /// The file and the assumption, such as `event::a_query_is_about_the_latest_recording`.
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The devices that the program needs.
    pub const fn needs(&self) -> Needs {
        match self.body {
            Body::Memory(_) => Needs::Memory,
            Body::Work(_) => Needs::Work,
            Body::Pair(_) => Needs::Pair,
            Body::Kernels(_) => Needs::Kernels,
            Body::Fault(_) => Needs::Fault,
        }
    }

    /// Runs the program on the devices of a HIP. `kernels` gives the bundles of the conformance suite.
    ///
    /// Programs on the devices of one process run one at a time: some wait for all work of a device. A library may end
    /// the process, and a call that waits for what it should not returns after a minute.
    ///
    /// # Panics
    ///
    /// If the assumption is broken. The message names the call and the values.
    pub fn run(&self, api: Api, kernels: Kernels) -> Outcome {
        let on_gpu = |hip: &Hip, body: fn(&Gpu<'_>)| match Gpu::of(hip, kernels) {
            Ok(gpu) => {
                body(&gpu);
                Ok(())
            }
            Err(reason) => Err(reason),
        };
        let ran = Hip::of(api).and_then(|hip| match self.body {
            Body::Pair(_) if hip.devices < 2 => Err(format!("{} has one device", hip.origin())),
            Body::Memory(body) | Body::Work(body) | Body::Pair(body) => {
                body(&hip);
                Ok(())
            }
            Body::Kernels(body) | Body::Fault(body) => on_gpu(&hip, body),
        });
        match ran {
            Ok(()) => Outcome::Held,
            Err(reason) => Outcome::NotRun(reason),
        }
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program").field("name", &self.name).field("needs", &self.needs()).finish()
    }
}
