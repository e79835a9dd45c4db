// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulated GPU as a drop-in libamdhip64.so.
