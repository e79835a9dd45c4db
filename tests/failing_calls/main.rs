// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every HIP call of the driver fails, early and late, alone and with all later calls. Nothing hangs, nothing leaks,
//! no failed operation passes for done, the error names the call, and a new device works.
//!
//! [`program`] uses every part of a device, which [`parts`] prepares, and knows the expected result of each step.
//! [`world`] runs it on a simulated GPU or on the null HIP, through an interposer that fails chosen calls. [`source`]
//! reads the names of the calls from the driver's source, so that no call stays untested. [`one`] fails one call,
//! [`lost`] all calls from one on.

mod lost;
mod one;
mod parts;
mod program;
mod source;
mod world;
