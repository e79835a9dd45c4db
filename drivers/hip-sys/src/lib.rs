// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP types and the table of HIP entry points, filled at run time.
