// SPDX-License-Identifier: MIT OR Apache-2.0
//! Builders of graphs and their nodes.

use std::ffi::c_void;
use std::path::Path;
use std::ptr::null_mut;

use windlass_hip_sys::bindings::*;

use crate::common::{Log, Machine};

impl Machine {
    pub(crate) fn graph(&self) -> hipGraph_t {
        let mut graph = null_mut();
        ok!(self, hipGraphCreate(&mut graph, 0));
        graph
    }

    pub(crate) fn exec(&self, graph: hipGraph_t) -> hipGraphExec_t {
        let mut exec = null_mut();
        ok!(self, hipGraphInstantiate(&mut exec, graph, null_mut(), null_mut(), 0));
        exec
    }

    /// Launches a graph on a stream and waits for it.
    pub(crate) fn run(&self, graph: hipGraph_t, stream: hipStream_t) {
        let exec = self.exec(graph);
        ok!(self, hipGraphLaunch(exec, stream));
        ok!(self, hipStreamSynchronize(stream));
        ok!(self, hipGraphExecDestroy(exec));
    }

    /// A node that appends a word to a log.
    pub(crate) fn log_node(
        &self,
        graph: hipGraph_t,
        after: &[hipGraphNode_t],
        log: &Log,
        word: &'static str,
    ) -> hipGraphNode_t {
        unsafe extern "C" fn append(data: *mut c_void) {
            // SAFETY: the pointer is a box that was leaked below, and is never freed.
            let (log, word) = unsafe { &*data.cast::<(Log, &'static str)>() };
            log.push(word);
        }
        let data: *mut (Log, &'static str) = Box::into_raw(Box::new((log.clone(), word)));
        let parameters = hipHostNodeParams { fn_: Some(append), userData: data.cast() };
        let mut node = null_mut();
        ok!(self, hipGraphAddHostNode(&mut node, graph, after.as_ptr(), after.len(), &parameters));
        node
    }

    pub(crate) fn fill_node(
        &self,
        graph: hipGraph_t,
        after: &[hipGraphNode_t],
        to: *mut c_void,
        value: u32,
        count: usize,
    ) -> hipGraphNode_t {
        let parameters =
            hipMemsetParams { dst: to, elementSize: 4, height: 1, pitch: 0, value, width: count };
        let mut node = null_mut();
        ok!(self, hipGraphAddMemsetNode(&mut node, graph, after.as_ptr(), after.len(), &parameters));
        node
    }

    pub(crate) fn copy_node(
        &self,
        graph: hipGraph_t,
        after: &[hipGraphNode_t],
        to: *mut c_void,
        from: *const c_void,
        size: usize,
    ) -> hipGraphNode_t {
        let mut node = null_mut();
        let kind = hipMemcpyKind::hipMemcpyDefault;
        ok!(
            self,
            hipGraphAddMemcpyNode1D(&mut node, graph, after.as_ptr(), after.len(), to, from, size, kind)
        );
        node
    }

    pub(crate) fn vector_add(&self) -> hipFunction_t {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cts/kernels/bundles/vector_add.ccob");
        let module = self.load(&std::fs::read(file).unwrap());
        self.function(module, c"vector_add")
    }
}

/// The data of a kernel node while it is added.
pub(crate) struct Launch {
    pub(crate) addresses: [u64; 3],
    pub(crate) count: u32,
}

impl Launch {
    pub(crate) fn with(&mut self, function: hipFunction_t, f: impl FnOnce(&hipKernelNodeParams)) {
        let [a, b, c] = &mut self.addresses;
        let mut each: [*mut c_void; 4] =
            [(&raw mut *a).cast(), (&raw mut *b).cast(), (&raw mut *c).cast(), (&raw mut self.count).cast()];
        f(&hipKernelNodeParams {
            blockDim: dim3 { x: 64, y: 1, z: 1 },
            extra: null_mut(),
            func: function.cast(),
            gridDim: dim3 { x: 1, y: 1, z: 1 },
            kernelParams: each.as_mut_ptr(),
            sharedMemBytes: 0,
        });
    }
}

pub(crate) fn floats(value: f32) -> u32 {
    value.to_bits()
}
