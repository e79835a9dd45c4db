// SPDX-License-Identifier: MIT OR Apache-2.0
//! The skeleton to copy for a Windlass driver of your own.
