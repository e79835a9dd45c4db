// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names and words for HIP's status codes, without asking a library.
