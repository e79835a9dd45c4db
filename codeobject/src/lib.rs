// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads AMD GPU code objects: bundles, CCOB, ELF, kernel metadata.
