// SPDX-License-Identifier: MIT OR Apache-2.0
//! Graphs: the operations of their nodes, graphs under construction, instantiated graphs, and capture.

pub(crate) mod attribute;
pub(crate) mod capture;
pub(crate) mod dot;
pub(crate) mod given;
pub(crate) mod graph;
pub(crate) mod graph_exec;
pub(crate) mod handles;
pub(crate) mod lent;
pub(crate) mod operation;
