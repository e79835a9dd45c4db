// SPDX-License-Identifier: MIT OR Apache-2.0
//! Logging on threads that other threads wait for, and that may be ending.

pub(crate) use windlass_hip_sys::log::tell;
