// SPDX-License-Identifier: MIT OR Apache-2.0
//! The state of a wave and of its workgroup, and the form of decoded code.

pub(crate) mod barrier;
pub(crate) mod core;
pub(crate) mod debug;
pub(crate) mod gws;
pub(crate) mod handler;
pub(crate) mod lds;
pub(crate) mod outside;
pub(crate) mod program;
pub(crate) mod shape;
pub(crate) mod step;
pub(crate) mod trouble;
pub(crate) mod wave;
