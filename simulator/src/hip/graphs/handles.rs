// SPDX-License-Identifier: MIT OR Apache-2.0
//! The handles of graphs and of their nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::graph::{Entry, Graph, Node};
use super::operation::{GraphStep, Operation};
use crate::handles::{HandleKind, Handles};
use crate::hip::objects::user_object::UserObjects;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;

/// The deepest level of a child graph of a child graph.
const DEEPEST: usize = 128;

/// The graphs of a simulator, and the nodes of all graphs.
pub(crate) struct GraphHandles {
    graphs: Handles<Graph>,
    nodes: Handles<Node>,
    pub(crate) objects: Arc<UserObjects>,
}

impl GraphHandles {
    /// Empty tables. `salt` is that of the simulator's other tables.
    pub(crate) fn new(salt: u64) -> Self {
        Self {
            graphs: Handles::new(HandleKind::Graph, salt),
            nodes: Handles::new(HandleKind::GraphNode, salt),
            objects: Arc::new(UserObjects::new(salt)),
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
        let Entry { handle, node, .. } = self.enter(graph, operation, 0)?;
        graph.add(handle, node, after).inspect_err(|_| drop(self.nodes.remove(handle)))?;
        Ok(handle)
    }

    /// Enters a node that waits for no other. The caller adds it to the graph.
    fn enter(&self, graph: &Arc<Graph>, operation: Operation, origin: u64) -> Outcome<Entry> {
        let node = Arc::new(Node::new(graph, operation, origin));
        let handle = self.nodes.insert(node.clone()).ok_or(Code::OUT_OF_MEMORY)?.get();
        Ok(Entry { handle, node, after: Vec::new() })
    }

    /// Copies a graph, which has a handle, and its child graphs. Returns the copy and its handle.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`, and `INVALID_VALUE` for child graphs that are too deep.
    pub(crate) fn copy(&self, original: &Graph, origin: u64, level: usize) -> Outcome<(Arc<Graph>, u64)> {
        if level > DEEPEST {
            explain(format!("a graph has child graphs of child graphs up to level {DEEPEST}"));
            return Err(Code::INVALID_VALUE);
        }
        let copy = Arc::new(Graph::for_copy(original.device, origin, level));
        let handle = self.insert(copy.clone())?;
        let entries = original.entries();
        let mut twins = BTreeMap::new();
        let filled: Outcome<()> = entries.iter().try_for_each(|entry| {
            let operation = match entry.node.operation() {
                Operation::Child(child, of) => {
                    let (child, handle) = self.copy(&child, of, level + 1)?;
                    Operation::Child(child, handle)
                }
                operation => operation,
            };
            let mut twin = self.enter(&copy, operation, entry.handle)?;
            twins.insert(entry.handle, twin.handle);
            twin.after.clone_from(&entry.after);
            copy.extend(vec![twin]);
            Ok(())
        });
        if let Err(code) = filled {
            self.discard(handle);
            return Err(code);
        }
        copy.rename_edges(&twins);
        for (object, _) in original.references() {
            if self.objects.retain(object, 1) {
                copy.refer(object, 1);
            }
        }
        Ok((copy, handle))
    }

    /// A graph of steps, of which one that is left out only joins others. Returns the graph and its handle.
    ///
    /// # Errors
    /// `OUT_OF_MEMORY`.
    pub(crate) fn of_steps(
        &self,
        steps: &[GraphStep],
        device: usize,
        level: usize,
    ) -> Outcome<(Arc<Graph>, u64)> {
        let graph = Arc::new(Graph::for_copy(device, 0, level));
        let handle = self.insert(graph.clone())?;
        let mut nodes = Vec::with_capacity(steps.len());
        let filled: Outcome<()> = steps.iter().try_for_each(|step| {
            let operation = if step.is_enabled { step.operation.clone() } else { Operation::Empty };
            let mut entry = self.enter(&graph, operation, 0)?;
            nodes.push(entry.handle);
            entry.after = step.after.iter().filter_map(|before| nodes.get(*before).copied()).collect();
            graph.extend(vec![entry]);
            Ok(())
        });
        if let Err(code) = filled {
            self.discard(handle);
            return Err(code);
        }
        Ok((graph, handle))
    }

    /// Removes a node from its graph.
    ///
    /// # Errors
    /// As for [`Graph::remove`].
    pub(crate) fn remove(&self, graph: &Graph, node: u64) -> Outcome<()> {
        graph.remove(node)?;
        self.discard_node(node);
        Ok(())
    }

    /// Makes the handles of a graph and of its nodes stale, and releases its user objects. Whether there was such a graph.
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
            self.discard_node(node);
        }
        for (object, count) in graph.take_references() {
            // The references of a graph that counts more than there are stay, as in HIP.
            self.objects.release(object, u64::try_from(count).unwrap_or(0));
        }
    }

    /// Makes the handle of a node stale, and those of the graph that the node has.
    fn discard_node(&self, handle: u64) {
        let operation = self.nodes.remove(handle).map(|node| node.operation());
        if let Some(Operation::Child(_, graph)) = operation {
            self.discard(graph);
        }
    }
}
