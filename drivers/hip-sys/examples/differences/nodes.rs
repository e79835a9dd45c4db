// SPDX-License-Identifier: MIT OR Apache-2.0
//! A graph with a node of each kind, memory that nodes give, and what nodes and streams take.

use std::ptr;

use anyhow::{Result, ensure};
use windlass_hip_sys::bindings::*;

use crate::lab::{Lab, SIZE, need};

/// The kinds of parameters for its nodes.
pub(crate) const NODES: [&str; 7] =
    ["launch-node", "copy-node", "line-node", "fill-node", "call-node", "record-node", "wait-node"];

/// The kinds of parameters for nodes that are alone in their graphs: a graph as a node, copies to and from a variable,
/// a batch.
pub(crate) const ALONE: [&str; 4] = ["child-node", "to-symbol-node", "from-symbol-node", "batch-node"];

/// Those for these graphs, instantiated.
pub(crate) const ALONE_EXECS: [&str; 4] = ["child-exec", "to-symbol-exec", "from-symbol-exec", "batch-exec"];

/// The graph, and its nodes in the order of [`NODES`].
#[derive(Clone, Copy)]
pub(crate) struct Full {
    pub(crate) graph: hipGraph_t,
    nodes: [hipGraphNode_t; 7],
}

impl Full {
    /// The node for a kind of parameters.
    pub(crate) fn node(&self, kind: &str) -> u64 {
        let place = NODES.iter().position(|name| *name == kind);
        place.map_or(0, |place| self.nodes[place] as u64)
    }
}

impl Lab {
    fn new_full(&self) -> Result<Full> {
        let mut graph = ptr::null_mut();
        need!(self.hipGraphCreate(&mut graph, 0));
        let mut nodes = [ptr::null_mut(); 7];
        let [launch, copy, line, fill, call, record, wait] = &mut nodes;
        let parameters = |kind| self.value(kind, "good");
        let (event, none) = (self.new_event()? as hipEvent_t, ptr::null());
        let kernel = parameters("kernel-node")? as *const hipKernelNodeParams;
        need!(self.hipGraphAddKernelNode(launch, graph, none, 0, kernel));
        let volume = parameters("copy3d")? as *const hipMemcpy3DParms;
        need!(self.hipGraphAddMemcpyNode(copy, graph, none, 0, volume));
        let (to, from) = (self.memory("device", "good")? as *mut c_void, self.memory("plain", "good")?);
        let kind = hipMemcpyKind::hipMemcpyHostToDevice;
        need!(self.hipGraphAddMemcpyNode1D(line, graph, none, 0, to, from as *const c_void, 64, kind));
        let memset = parameters("memset-node")? as *const hipMemsetParams;
        need!(self.hipGraphAddMemsetNode(fill, graph, none, 0, memset));
        let host = parameters("host-node")? as *const hipHostNodeParams;
        need!(self.hipGraphAddHostNode(call, graph, none, 0, host));
        need!(self.hipGraphAddEventRecordNode(record, graph, none, 0, event));
        need!(self.hipGraphAddEventWaitNode(wait, graph, none, 0, event));
        Ok(Full { graph, nodes })
    }

    /// The graph of the case with a node of each kind.
    pub(crate) fn full(&self) -> Result<Full> {
        if let Some(full) = self.full.get() {
            return Ok(full);
        }
        let full = self.new_full()?;
        self.full.set(Some(full));
        Ok(full)
    }

    /// That graph, instantiated.
    pub(crate) fn new_full_exec(&self) -> Result<u64> {
        let mut exec = ptr::null_mut();
        let graph = self.full()?.graph;
        need!(self.hipGraphInstantiate(&mut exec, graph, ptr::null_mut(), ptr::null_mut(), 0));
        Ok(exec as u64)
    }

    /// A graph of one node, the same for the whole case, and that node.
    pub(crate) fn alone(&self, kind: &str) -> Result<(u64, u64)> {
        if let Some(made) = self.alone.get() {
            return Ok(made);
        }
        let (mut graph, mut node, none) = (ptr::null_mut(), ptr::null_mut(), ptr::null());
        need!(self.hipGraphCreate(&mut graph, 0));
        let (symbol, host) = (self.symbols.1 as *const c_void, self.memory("plain", "good")? as *mut c_void);
        let (into, out_of) = (hipMemcpyKind::hipMemcpyHostToDevice, hipMemcpyKind::hipMemcpyDeviceToHost);
        match kind.split_once('-').map_or(kind, |(first, _)| first) {
            "child" => {
                let inner = self.new_graph()?.0 as hipGraph_t;
                need!(self.hipGraphAddChildGraphNode(&mut node, graph, none, 0, inner));
            }
            "to" => {
                need!(
                    self.hipGraphAddMemcpyNodeToSymbol(&mut node, graph, none, 0, symbol, host, 4, 0, into)
                );
            }
            "from" => {
                need!(
                    self.hipGraphAddMemcpyNodeFromSymbol(
                        &mut node, graph, none, 0, host, symbol, 4, 0, out_of
                    )
                );
            }
            _ => {
                let parameters = self.batch_parameters("good")? as *const hipBatchMemOpNodeParams;
                need!(self.hipGraphAddBatchMemOpNode(&mut node, graph, none, 0, parameters));
            }
        }
        let made = (graph as u64, node as u64);
        self.alone.set(Some(made));
        Ok(made)
    }

    /// That graph, instantiated.
    pub(crate) fn new_alone_exec(&self, kind: &str) -> Result<u64> {
        let mut exec = ptr::null_mut();
        let graph = self.alone(kind)?.0 as hipGraph_t;
        need!(self.hipGraphInstantiate(&mut exec, graph, ptr::null_mut(), ptr::null_mut(), 0));
        Ok(exec as u64)
    }

    /// The parameters of a batch of one write.
    pub(crate) fn batch_parameters(&self, value: &str) -> Result<u64> {
        let list = self.batch()?;
        let mut context = ptr::null_mut();
        need!(self.hipDevicePrimaryCtxRetain(&mut context, 0));
        let mut parameters = hipBatchMemOpNodeParams {
            ctx: context,
            count: 1,
            paramArray: list as *mut hipStreamBatchMemOpParams,
            flags: 0,
        };
        match value {
            "no-context" => parameters.ctx = ptr::null_mut(),
            "no-list" => parameters.paramArray = ptr::null_mut(),
            "no-count" => parameters.count = 0,
            "many" => parameters.count = 257,
            "flags" => parameters.flags = 1,
            _ => {}
        }
        Ok(self.keep_value(parameters))
    }

    /// A copy of a graph.
    pub(crate) fn clone_of(&self, graph: u64) -> Result<u64> {
        let mut copy = ptr::null_mut();
        need!(self.hipGraphClone(&mut copy, graph as hipGraph_t));
        Ok(copy as u64)
    }

    /// The parameters of a node that gives memory.
    pub(crate) fn alloc_node(&self, value: &str) -> Result<u64> {
        let properties = ["type", "location", "device"].contains(&value);
        let properties = self.value("properties", if properties { value } else { "good" })?;
        let parameters = hipMemAllocNodeParams {
            // SAFETY: these properties are kept.
            poolProps: unsafe { (properties as *const hipMemPoolProps).read() },
            bytesize: if value == "no-size" { 0 } else { SIZE },
            ..Default::default()
        };
        Ok(self.keep_value(parameters))
    }

    /// Memory that a node of a graph gives and that no node frees.
    pub(crate) fn given(&self) -> Result<u64> {
        let mut node = ptr::null_mut();
        let (graph, parameters) = (self.graph()?.0 as hipGraph_t, self.alloc_node("good")?);
        let parameters = parameters as *mut hipMemAllocNodeParams;
        need!(self.hipGraphAddMemAllocNode(&mut node, graph, ptr::null(), 0, parameters));
        // SAFETY: the parameters are kept.
        Ok(unsafe { parameters.read() }.dptr as u64)
    }

    pub(crate) fn new_object(&self) -> Result<u64> {
        unsafe extern "C" fn end(_: *mut c_void) {}
        let mut object = ptr::null_mut();
        need!(self.hipUserObjectCreate(&mut object, ptr::null_mut(), Some(end), 1, 1));
        Ok(object as u64)
    }

    /// A list of one write of a word.
    pub(crate) fn batch(&self) -> Result<u64> {
        let write = hipStreamBatchMemOpType::hipStreamMemOpWriteValue64.0;
        Ok(self.keep_words(&[write.into(), self.memory("device", "good")?, 7, 0, 0, 0]))
    }

    /// An event for other processes.
    pub(crate) fn new_shared_event(&self) -> Result<u64> {
        const INTERPROCESS_WITHOUT_TIMES: u32 = 4 | 2;
        let mut event = ptr::null_mut();
        need!(self.hipEventCreateWithFlags(&mut event, INTERPROCESS_WITHOUT_TIMES));
        Ok(event as u64)
    }
}
