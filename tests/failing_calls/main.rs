// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every HIP call of the driver fails, early and late, alone and with all that come after: nothing hangs, nothing leaks,
//! nothing that went wrong passes for done, the error names the call, and a new device works.
//!
//! [`program`] uses everything of a device, which [`parts`] holds ready, and knows what each of its steps must yield. [`world`] runs it on a simulated
//! GPU or on the null HIP, through an interposer that fails chosen calls. [`source`] reads the names of the calls out of
//! the driver's source, so that a new one cannot go untested. [`one`] fails one call, [`lost`] all calls from one on.

mod lost;
mod one;
mod parts;
mod program;
mod source;
mod world;
