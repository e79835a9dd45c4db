// SPDX-License-Identifier: MIT OR Apache-2.0
//! Parameters of nodes of any kind, as the functions for all kinds take them.

use anyhow::{Context as _, Result};
use windlass_hip_sys::bindings::*;

use crate::lab::Lab;

/// The values: a kind of node, and a fault of its parameters behind a colon.
pub(crate) const ANY: &[&str] = &[
    "launch",
    "null",
    "launch:no-function",
    "launch:no-block",
    "copy",
    "copy:no-extent",
    "copy:no-pointer",
    "copy:kind",
    "copy:wide",
    "fill",
    "fill:no-pointer",
    "fill:element",
    "fill:no-width",
    "fill:no-height",
    "call",
    "call:no-function",
    "call:data",
    "child",
    "child:null",
    "empty",
    "wait",
    "wait:null",
    "record",
    "record:null",
    "signal",
    "await",
    "give",
    "give:no-size",
    "give:type",
    "give:location",
    "give:device",
    "free",
    "free:null",
    "free:device",
    "batch",
    "unknown",
    "negative",
];

impl Lab {
    /// The parameters of a node of any kind.
    pub(crate) fn any_node(&self, value: &str) -> Result<u64> {
        // SAFETY: zeroes are null pointers and numbers.
        let mut node: hipGraphNodeParams = unsafe { std::mem::zeroed() };
        let (kind, fault) = value.split_once(':').unwrap_or((value, "good"));
        let each = &mut node.__bindgen_anon_1;
        let number = match kind {
            "launch" => {
                // SAFETY: this value and the others below are kept.
                each.kernel = unsafe { (self.kernel_node(fault)? as *const hipKernelNodeParams).read() };
                0
            }
            "copy" => {
                // SAFETY: zeroes are null pointers and numbers.
                let mut copy: hipMemcpyNodeParams = unsafe { std::mem::zeroed() };
                // SAFETY: as above.
                copy.copyParams = unsafe { (self.copy(fault)? as *const hipMemcpy3DParms).read() };
                each.memcpy = copy;
                1
            }
            "fill" => {
                // SAFETY: as above.
                each.memset = unsafe { (self.memset_node(fault)? as *const hipMemsetParams).read() };
                2
            }
            "call" => {
                let fault_of = if fault == "data" { "good" } else { fault };
                let host = self.value("host-node", fault_of)? as *const hipHostNodeParams;
                // SAFETY: as above.
                each.host = unsafe { host.read() };
                if fault == "data" {
                    each.host.userData = self.keep_words(&[0]) as *mut c_void;
                }
                3
            }
            "child" => {
                let child = if fault == "null" { 0 } else { self.new_graph()?.0 };
                each.graph.graph = child as hipGraph_t;
                4
            }
            "empty" => 5,
            "wait" => {
                each.eventWait.event = self.any_event(fault)?;
                6
            }
            "record" => {
                each.eventRecord.event = self.any_event(fault)?;
                7
            }
            "signal" => 8,
            "await" => 9,
            "give" => {
                // SAFETY: as above.
                each.alloc = unsafe { (self.alloc_node(fault)? as *const hipMemAllocNodeParams).read() };
                10
            }
            "free" => {
                each.free.dptr = self.value("given", fault)? as *mut c_void;
                11
            }
            "batch" => 14,
            "unknown" => 99,
            "negative" => u32::MAX,
            _ => return None.context(format!("no parameters {value}")),
        };
        node.type_ = hipGraphNodeType(number);
        Ok(self.keep_value(node))
    }

    fn any_event(&self, fault: &str) -> Result<hipEvent_t> {
        Ok(if fault == "null" { 0 } else { self.new_event()? } as hipEvent_t)
    }
}
