// SPDX-License-Identifier: MIT OR Apache-2.0
//! The C ABI of Windlass: not there yet.
//!
//! This package holds the place of `windlass.h` and its library: registry and device, executables and lookup, buffers
//! and copies, semaphores, submission with wait and signal lists, and statuses with messages, over [`windlass_hal`].
//! Until it is there, C programs that speak HIP can run on the simulated GPU by way of `libamdhip64.so`, which
//! `windlass-simulator-dropin` builds.
