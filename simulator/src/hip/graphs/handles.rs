// SPDX-License-Identifier: MIT OR Apache-2.0
//! The handles of graphs and of their nodes.

use std::sync::Arc;

use super::graph::{Graph, Node};
use super::operation::Operation;
use crate::handles::{HandleKind, Handles};
use crate::hip::words::code::{Code, Outcome};

/// The graphs of a simulator, and the nodes of all graphs.
pub(crate) struct GraphHandles {
    graphs: Handles<Graph>,
    nodes: Handles<Node>,
}

impl GraphHandles {
    /// Empty tables. `salt` is that of the simulator's other tables.
    pub(crate) fn new(salt: u64) -> Self {
        Self {
            graphs: Handles::new(HandleKind::Graph, salt),
            nodes: Handles::new(HandleKind::GraphNode, salt),
        }
    }

    /// Enters a graph and returns its handle.
    pub(crate) fn insert(&self, graph: Arc<Graph>) -> Outcome<u64> {
        Ok(self.graphs.insert(graph).ok_or(Code::OUT_OF_MEMORY)?.get())
    }

    pub(crate) fn graph(&self, handle: u64) -> Option<Arc<Graph>> {
        self.graphs.get(handle)
    }

    pub(crate) fn node(&self, handle: u64) -> Option<Arc<Node>> {
        self.nodes.get(handle)
    }

    /// Adds a node to a graph, behind other nodes of it, and returns its handle.
    ///
    /// # Errors
    /// As for [`Graph::add`].
    pub(crate) fn add(&self, graph: &Arc<Graph>, operation: Operation, after: Vec<u64>) -> Outcome<u64> {
        let node = Arc::new(Node::new(graph, operation));
        let handle = self.nodes.insert(node.clone()).ok_or(Code::OUT_OF_MEMORY)?.get();
        graph.add(handle, node, after).inspect_err(|_| drop(self.nodes.remove(handle)))?;
        Ok(handle)
    }

    /// Removes a node from its graph.
    ///
    /// # Errors
    /// As for [`Graph::remove`].
    pub(crate) fn remove(&self, graph: &Graph, node: u64) -> Outcome<()> {
        graph.remove(node)?;
        self.nodes.remove(node);
        Ok(())
    }

    /// Makes the handles of a graph and of its nodes stale. Whether there was such a graph.
    pub(crate) fn discard(&self, handle: u64) -> bool {
        let graph = self.graphs.remove(handle);
        graph.map(|graph| self.discard_nodes(&graph)).is_some()
    }

    /// Discards the graphs that concern a device, but for those that a stream is captured into.
    pub(crate) fn discard_of(&self, device: usize) {
        let concerned = |graph: &Graph| !graph.is_captured_into() && graph.concerns(device);
        for graph in self.graphs.remove_where(concerned) {
            self.discard_nodes(&graph);
        }
    }

    fn discard_nodes(&self, graph: &Graph) {
        for node in graph.nodes() {
            self.nodes.remove(node);
        }
    }
}
