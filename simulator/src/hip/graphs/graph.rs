// SPDX-License-Identifier: MIT OR Apache-2.0
//! Graphs under construction: nodes, and the nodes that each waits for. `freeze` gives the form that can be launched.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use super::lent::Lent;
use super::operation::{GraphStep, KernelCall, Operation};
use crate::hip::words::code::{Code, Outcome};

/// A graph that a client builds. [`GraphHandles`](super::handles::GraphHandles) has the handles of its nodes.
#[derive(Debug)]
pub(crate) struct Graph {
    /// The device that was current when the graph was made.
    pub(crate) device: usize,
    /// The handle of the graph that it was copied from; 0 if there is none.
    pub(crate) origin: u64,
    /// 0 for a graph of the client's, otherwise that of the graph whose node owns it and 1.
    pub(crate) level: usize,
    state: Mutex<State>,
    /// References of the graph to user objects, by handle. As in HIP a graph may release more than its own.
    objects: Mutex<BTreeMap<u64, i64>>,
    /// Whether a stream is being captured into the graph.
    captured_into: AtomicBool,
    /// Whether it was ever instantiated.
    is_instantiated: AtomicBool,
}

#[derive(Debug, Default)]
struct State {
    /// In the order of their addition. The edges alone order their execution.
    nodes: Vec<Entry>,
}

/// A node in its graph.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) handle: u64,
    pub(crate) node: Arc<Node>,
    /// Handles of the nodes that must have run before.
    pub(crate) after: Vec<u64>,
}

/// One node of a graph.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) graph: Weak<Graph>,
    /// The handle of the node that it was copied from; 0 if there is none.
    origin: u64,
    operation: Mutex<Operation>,
    lent: Mutex<Option<Lent>>,
}

impl Node {
    pub(crate) fn new(graph: &Arc<Graph>, operation: Operation, origin: u64) -> Self {
        let (operation, lent) = (Mutex::new(operation), Mutex::new(None));
        Self { graph: Arc::downgrade(graph), origin, operation, lent }
    }

    /// Changes the operation in place.
    ///
    /// # Errors
    /// Those of `change`.
    pub(crate) fn change<T>(&self, change: impl FnOnce(&mut Operation) -> Outcome<T>) -> Outcome<T> {
        change(&mut self.operation.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Lends the arguments of its launch to the client: addresses for `kernelParams` and `extra`.
    pub(crate) fn lend(&self, call: &Arc<KernelCall>) -> (u64, u64) {
        let mut lent = self.lent.lock().unwrap_or_else(PoisonError::into_inner);
        if lent.as_ref().is_none_or(|lent| !lent.shows(call)) {
            *lent = None;
        }
        lent.get_or_insert_with(|| Lent::new(call)).pointers()
    }

    pub(crate) fn operation(&self) -> Operation {
        self.operation.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the operation by one of the same kind.
    ///
    /// # Errors
    /// `INVALID_VALUE` for an operation of another kind.
    pub(crate) fn set(&self, operation: Operation) -> Outcome<()> {
        self.operation.lock().unwrap_or_else(PoisonError::into_inner).replace(operation)
    }
}

impl Graph {
    /// An empty graph of a device.
    pub(crate) fn new(device: usize) -> Self {
        Self {
            device,
            origin: 0,
            level: 0,
            state: Mutex::default(),
            objects: Mutex::default(),
            captured_into: AtomicBool::new(false),
            is_instantiated: AtomicBool::new(false),
        }
    }

    /// An empty graph that is to become a copy of another.
    pub(crate) fn for_copy(device: usize, origin: u64, level: usize) -> Self {
        Self { origin, level, ..Self::new(device) }
    }

    /// Counts references of the graph to a user object.
    pub(crate) fn refer(&self, object: u64, count: i64) {
        let mut objects = self.objects();
        let references = objects.entry(object).or_default();
        *references = references.saturating_add(count);
    }

    /// Whether the graph has referred to a user object.
    pub(crate) fn has_object(&self, object: u64) -> bool {
        self.objects().contains_key(&object)
    }

    /// The user objects that it has referred to, with the numbers of its references.
    pub(crate) fn references(&self) -> Vec<(u64, i64)> {
        self.objects().iter().map(|(object, count)| (*object, *count)).collect()
    }

    /// Forgets its references to user objects, and returns them.
    pub(crate) fn take_references(&self) -> BTreeMap<u64, i64> {
        std::mem::take(&mut *self.objects())
    }

    /// The user objects of the graph and of its child graphs.
    pub(crate) fn all_objects(&self) -> Vec<u64> {
        let mut objects: Vec<u64> = self.objects().keys().copied().collect();
        for entry in self.entries() {
            if let Operation::Child(child, _) = entry.node.operation() {
                objects.extend(child.all_objects());
            }
        }
        objects
    }

    fn objects(&self) -> MutexGuard<'_, BTreeMap<u64, i64>> {
        self.objects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that it is instantiated. Whether it was before.
    pub(crate) fn note_instantiation(&self) -> bool {
        self.is_instantiated.swap(true, Ordering::Relaxed)
    }

    /// Whether a node of it gives or frees memory.
    pub(crate) fn has_memory_nodes(&self) -> bool {
        self.lock().nodes.iter().any(|entry| entry.node.operation().is_of_memory())
    }

    /// A graph that a stream is captured into.
    pub(crate) fn for_capture(device: usize) -> Self {
        Self { captured_into: AtomicBool::new(true), ..Self::new(device) }
    }

    /// Whether the graph was made for a device, or has operations for it.
    pub(crate) fn concerns(&self, device: usize) -> bool {
        self.device == device || self.lock().nodes.iter().any(|entry| entry.node.operation().concerns(device))
    }

    /// Notes that a stream is captured into the graph. False if one is already.
    pub(crate) fn begin_capture(&self) -> bool {
        !self.captured_into.swap(true, Ordering::Relaxed)
    }

    pub(crate) fn end_capture(&self) {
        self.captured_into.store(false, Ordering::Relaxed);
    }

    pub(crate) fn is_captured_into(&self) -> bool {
        self.captured_into.load(Ordering::Relaxed)
    }

    /// The nodes with their edges, in the order of their addition.
    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.lock().nodes.clone()
    }

    /// Adds nodes whose edges are known to lead to nodes of this graph.
    pub(crate) fn extend(&self, entries: Vec<Entry>) {
        self.lock().nodes.extend(entries);
    }

    /// Gives the nodes that edges come from other handles.
    pub(crate) fn rename_edges(&self, new: &BTreeMap<u64, u64>) {
        for entry in &mut self.lock().nodes {
            entry.after = entry.after.iter().filter_map(|from| new.get(from).copied()).collect();
        }
    }

    /// The node that was copied from another.
    pub(crate) fn copy_of(&self, original: u64) -> Option<u64> {
        self.lock().nodes.iter().find(|entry| entry.node.origin == original).map(|entry| entry.handle)
    }

    /// Gives its nodes the operations of the nodes of another graph, which must be of the same kinds.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a graph with other nodes. Nothing has changed then.
    pub(crate) fn adopt(&self, other: &Self) -> Outcome<()> {
        let (own, new) = (self.entries(), other.entries());
        let pairs =
            || own.iter().map(|entry| &entry.node).zip(new.iter().map(|entry| entry.node.operation()));
        if own.len() != new.len() || pairs().any(|(node, new)| node.operation().number() != new.number()) {
            return Err(Code::INVALID_VALUE);
        }
        for (node, new) in pairs() {
            match (node.operation(), new) {
                (Operation::Child(own, _), Operation::Child(new, _)) => own.adopt(&new)?,
                (_, new) => node.set(new)?,
            }
        }
        Ok(())
    }

    /// Adds a node behind others of this graph.
    ///
    /// # Errors
    /// `INVALID_VALUE` if one of the others is not in this graph or is named twice.
    pub(crate) fn add(&self, handle: u64, node: Arc<Node>, after: Vec<u64>) -> Outcome<()> {
        let mut state = self.lock();
        state.check(&after)?;
        state.nodes.push(Entry { handle, node, after });
        Ok(())
    }

    /// Makes each of `to` wait for its partner in `from`.
    ///
    /// # Errors
    /// `INVALID_VALUE` for nodes of other graphs, and for edges that exist or lead from a node to itself. No edge is added
    /// then. Edges may close a circle, since later calls may remove it.
    pub(crate) fn connect(&self, edges: &[(u64, u64)]) -> Outcome<()> {
        let mut state = self.lock();
        let before: Vec<Vec<u64>> = state.nodes.iter().map(|entry| entry.after.clone()).collect();
        let added = edges.iter().try_for_each(|(from, to)| state.connect(*from, *to));
        if added.is_err() {
            for (entry, after) in state.nodes.iter_mut().zip(before) {
                entry.after = after;
            }
        }
        added
    }

    /// Removes edges.
    ///
    /// # Errors
    /// `INVALID_VALUE` if one of them does not exist. No edge is removed then.
    pub(crate) fn disconnect(&self, edges: &[(u64, u64)]) -> Outcome<()> {
        let mut state = self.lock();
        let mut kept: Vec<(usize, Vec<u64>)> = Vec::new();
        for (from, to) in edges {
            let place = state.place(*to)?;
            let index = match kept.iter().position(|(known, _)| *known == place) {
                Some(index) => index,
                None => {
                    let after = state.nodes.get(place).map(|entry| entry.after.clone());
                    kept.push((place, after.unwrap_or_default()));
                    kept.len() - 1
                }
            };
            let after = kept.get_mut(index).map(|(_, after)| after).ok_or(Code::INVALID_VALUE)?;
            let edge = after.iter().position(|node| node == from).ok_or(Code::INVALID_VALUE)?;
            after.remove(edge);
        }
        for (place, after) in kept {
            if let Some(entry) = state.nodes.get_mut(place) {
                entry.after = after;
            }
        }
        Ok(())
    }

    /// Removes a node and its edges.
    ///
    /// # Errors
    /// `INVALID_VALUE` for a node of another graph, and while a stream is captured into this one.
    pub(crate) fn remove(&self, handle: u64) -> Outcome<()> {
        if self.is_captured_into() {
            return Err(Code::INVALID_VALUE);
        }
        let mut state = self.lock();
        let place = state.place(handle)?;
        state.nodes.remove(place);
        for entry in &mut state.nodes {
            entry.after.retain(|node| *node != handle);
        }
        Ok(())
    }

    /// Handles of the nodes that wait for no other.
    pub(crate) fn roots(&self) -> Vec<u64> {
        let state = self.lock();
        state.nodes.iter().filter(|entry| entry.after.is_empty()).map(|entry| entry.handle).collect()
    }

    /// Handles of the nodes, in the order of their addition.
    pub(crate) fn nodes(&self) -> Vec<u64> {
        self.lock().nodes.iter().map(|entry| entry.handle).collect()
    }

    /// Pairs of nodes; the second waits for the first.
    pub(crate) fn edges(&self) -> Vec<(u64, u64)> {
        let state = self.lock();
        let edges = state.nodes.iter().flat_map(|entry| entry.after.iter().map(|from| (*from, entry.handle)));
        edges.collect()
    }

    /// The nodes as a list in which each stands behind those that it waits for. Steps of child graphs stand in the list too.
    pub(crate) fn freeze(&self) -> Outcome<Vec<GraphStep>> {
        let state = self.lock();
        let mut steps = Vec::new();
        // By node, the index of the step that ends it.
        let mut ends: BTreeMap<u64, usize> = BTreeMap::new();
        for index in state.order()? {
            let Some(entry) = state.nodes.get(index) else { continue };
            let after: Vec<usize> = entry.after.iter().filter_map(|node| ends.get(node).copied()).collect();
            let end = match entry.node.operation() {
                Operation::Child(child, _) => insert(&mut steps, child.freeze()?, after, entry.handle),
                operation => {
                    steps.push(GraphStep::new(entry.handle, operation, after));
                    steps.len() - 1
                }
            };
            ends.insert(entry.handle, end);
        }
        Ok(steps)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Inserts a frozen graph between two steps that only join. Returns the index of the second.
fn insert(steps: &mut Vec<GraphStep>, child: Vec<GraphStep>, after: Vec<usize>, node: u64) -> usize {
    let entry = steps.len();
    steps.push(GraphStep::new(0, Operation::Empty, after));
    let first = steps.len();
    let mut is_last = vec![true; child.len()];
    for mut step in child {
        for before in &mut step.after {
            if let Some(last) = is_last.get_mut(*before) {
                *last = false;
            }
            *before += first;
        }
        if step.after.is_empty() {
            step.after.push(entry);
        }
        step.opened_by = step.opened_by.map(|opened| first + opened);
        steps.push(step);
    }
    let lasts = is_last.iter().enumerate().filter(|(_, last)| **last).map(|(index, _)| first + index);
    let mut after: Vec<usize> = lasts.collect();
    if after.is_empty() {
        after.push(entry);
    }
    steps.push(GraphStep { opened_by: Some(entry), ..GraphStep::new(node, Operation::Empty, after) });
    steps.len() - 1
}

impl State {
    fn place(&self, handle: u64) -> Outcome<usize> {
        self.nodes.iter().position(|entry| entry.handle == handle).ok_or(Code::INVALID_VALUE)
    }

    fn check(&self, after: &[u64]) -> Outcome<()> {
        for (index, handle) in after.iter().enumerate() {
            self.place(*handle)?;
            if after.get(..index).is_some_and(|earlier| earlier.contains(handle)) {
                return Err(Code::INVALID_VALUE);
            }
        }
        Ok(())
    }

    fn connect(&mut self, from: u64, to: u64) -> Outcome<()> {
        self.place(from)?;
        let place = self.place(to)?;
        let entry = self.nodes.get_mut(place).ok_or(Code::INVALID_VALUE)?;
        if from == to || entry.after.contains(&from) {
            return Err(Code::INVALID_VALUE);
        }
        entry.after.push(from);
        Ok(())
    }

    /// Indices of the nodes, each behind those that it waits for. Of several that could be next, the oldest is.
    ///
    /// # Errors
    /// `INVALID_VALUE` if nodes wait for each other in a circle.
    fn order(&self) -> Outcome<Vec<usize>> {
        let places: BTreeMap<u64, usize> =
            self.nodes.iter().enumerate().map(|(index, entry)| (entry.handle, index)).collect();
        let mut missing: Vec<usize> = self.nodes.iter().map(|entry| entry.after.len()).collect();
        let mut dependants = vec![Vec::new(); self.nodes.len()];
        for (index, entry) in self.nodes.iter().enumerate() {
            for from in &entry.after {
                let from = places.get(from).and_then(|from| dependants.get_mut(*from));
                from.ok_or(Code::INVALID_VALUE)?.push(index);
            }
        }
        let is_free = |(_, missing): &(usize, &usize)| **missing == 0;
        let mut free: std::collections::BTreeSet<usize> =
            missing.iter().enumerate().filter(is_free).map(|(index, _)| index).collect();
        let mut order = Vec::with_capacity(self.nodes.len());
        while let Some(index) = free.pop_first() {
            order.push(index);
            for dependant in dependants.get(index).into_iter().flatten() {
                let Some(missing) = missing.get_mut(*dependant) else { continue };
                *missing -= 1;
                if *missing == 0 {
                    free.insert(*dependant);
                }
            }
        }
        if order.len() == self.nodes.len() { Ok(order) } else { Err(Code::INVALID_VALUE) }
    }
}
