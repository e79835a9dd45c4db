// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels: a graph divided into pieces, each of which stores one value.

use crate::graph::{Graph, Node, Op};

/// The computation of one element, from the elements of stored values.
#[derive(Debug)]
pub enum Body {
    /// The element of an operand of the kernel, by its number.
    Load(usize),
    Unary(&'static str, Box<Body>),
    Binary(&'static str, Box<Body>, Box<Body>),
}

/// The form of a kernel.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// Each work-item computes an element.
    Map,
    /// Each workgroup reduces a row of elements, by this operation.
    Reduce(&'static str),
    /// Each work-item computes an element of the product of the two operands.
    MatMul,
}

#[derive(Debug)]
pub struct Kernel {
    /// The value that it stores.
    pub node: Node,
    pub form: Form,
    pub body: Body,
    /// The stored values that it reads.
    pub operands: Vec<Node>,
    /// The function that runs it.
    pub name: String,
}

/// Divides the part of a graph that `result` needs. With `fuse`, elementwise operations with one user become part of it.
pub fn kernels(graph: &Graph, result: Node, fuse: bool) -> Vec<Kernel> {
    let mut users = vec![0_u32; result + 1];
    let mut whole = vec![false; result + 1];
    users[result] = 1;
    whole[result] = true;
    for node in (0..=result).rev().filter(|node| graph.op(*node).operands().next().is_some()) {
        if users[node] > 0 {
            for operand in graph.op(node).operands() {
                users[operand] += 1;
                // A product reads each element many times, so nobody wants to compute it anew.
                whole[operand] |= matches!(graph.op(node), Op::MatMul(..));
            }
        }
    }
    let is_stored = |node: Node| {
        whole[node] || !fuse || users[node] > 1 || !matches!(graph.op(node), Op::Unary(..) | Op::Binary(..))
    };
    let mut kernels = Vec::new();
    for node in (0..=result).filter(|node| users[*node] > 0 && is_stored(*node)) {
        let mut reads = Reads { graph, is_stored: &is_stored, operands: Vec::new() };
        let (form, body, name) = match graph.op(node) {
            Op::Input(_) => continue,
            Op::Reduce(name, a) => (Form::Reduce(name), reads.element(a), name),
            Op::MatMul(a, b) => {
                reads.operands = vec![a, b];
                (Form::MatMul, Body::Load(0), "matmul")
            }
            Op::Unary(name, _) | Op::Binary(name, ..) => (Form::Map, reads.operation(node), name),
        };
        // A kernel of one operation has the operation's name, by which the bundle knows it.
        let name = if fuse { format!("kernel_{}", kernels.len()) } else { name.to_owned() };
        kernels.push(Kernel { node, form, body, operands: reads.operands, name });
    }
    kernels
}

/// The stored values that a kernel was found to read.
struct Reads<'a> {
    graph: &'a Graph,
    is_stored: &'a dyn Fn(Node) -> bool,
    operands: Vec<Node>,
}

impl Reads<'_> {
    /// An element of a value: it is loaded if the value is stored, and else computed.
    fn element(&mut self, node: Node) -> Body {
        if !(self.is_stored)(node) {
            return self.operation(node);
        }
        let known = self.operands.iter().position(|operand| *operand == node);
        Body::Load(known.unwrap_or_else(|| {
            self.operands.push(node);
            self.operands.len() - 1
        }))
    }

    fn operation(&mut self, node: Node) -> Body {
        match self.graph.op(node) {
            Op::Unary(name, a) => Body::Unary(name, Box::new(self.element(a))),
            Op::Binary(name, a, b) => {
                Body::Binary(name, Box::new(self.element(a)), Box::new(self.element(b)))
            }
            op => unreachable!("{op:?} is always stored"),
        }
    }
}
