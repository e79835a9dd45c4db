// SPDX-License-Identifier: MIT OR Apache-2.0
//! Expressions: operations on arrays of two dimensions, and their meaning as plain loops.

/// Rows and columns. In an elementwise operation, one row or one column stands for as many as the other operand has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub rows: u32,
    pub columns: u32,
}

impl Shape {
    pub fn elements(self) -> u64 {
        u64::from(self.rows) * u64::from(self.columns)
    }

    pub fn bytes(self) -> u64 {
        4 * self.elements()
    }

    /// The distance of neighbours in a column and in a row, in elements. 0 repeats the one row or column.
    pub fn strides(self) -> [u32; 2] {
        [if self.rows == 1 { 0 } else { self.columns }, u32::from(self.columns > 1)]
    }
}

/// A value of a graph, by its number. Operands have smaller numbers than their users.
pub type Node = usize;

#[derive(Clone, Copy, Debug)]
pub enum Op {
    /// The buffer in a slot of the binding table.
    Input(u32),
    Unary(&'static str, Node),
    Binary(&'static str, Node, Node),
    /// All columns of a row become one.
    Reduce(&'static str, Node),
    MatMul(Node, Node),
}

impl Op {
    pub fn operands(self) -> impl Iterator<Item = Node> {
        let operands = match self {
            Self::Input(_) => [None, None],
            Self::Unary(_, a) | Self::Reduce(_, a) => [Some(a), None],
            Self::Binary(_, a, b) | Self::MatMul(a, b) => [Some(a), Some(b)],
        };
        operands.into_iter().flatten()
    }
}

/// The elementwise operations and reductions: name, C, Rust. A reduction also has the value that changes nothing.
pub const UNARY: [(&str, &str, fn(f64) -> f64); 3] = [
    ("negate", "-(A)", |a| -a),
    ("exp", "__builtin_amdgcn_exp2f((A) * 1.44269504f)", f64::exp),
    ("relu", "__builtin_fmaxf((A), 0.0f)", |a| a.max(0.0)),
];
pub const BINARY: [(&str, &str, fn(f64, f64) -> f64); 5] = [
    ("add", "((A) + (B))", |a, b| a + b),
    ("subtract", "((A) - (B))", |a, b| a - b),
    ("multiply", "((A) * (B))", |a, b| a * b),
    ("divide", "((A) / (B))", |a, b| a / b),
    ("maximum", "__builtin_fmaxf((A), (B))", f64::max),
];
pub const REDUCE: [(&str, &str, &str, f64); 2] =
    [("row_sum", "add", "0.0f", 0.0), ("row_max", "maximum", "-__builtin_inff()", f64::NEG_INFINITY)];

/// The line of a table with a name.
pub fn find<T>(table: &[T], name: impl Fn(&T) -> &'static str, wanted: &str) -> usize {
    table
        .iter()
        .position(|line| name(line) == wanted)
        .unwrap_or_else(|| panic!("there is no operation {wanted}"))
}

#[derive(Default)]
pub struct Graph {
    nodes: Vec<(Op, Shape)>,
    inputs: u32,
}

impl Graph {
    fn push(&mut self, op: Op, shape: Shape) -> Node {
        self.nodes.push((op, shape));
        self.nodes.len() - 1
    }

    pub fn input(&mut self, shape: Shape) -> Node {
        self.inputs += 1;
        self.push(Op::Input(self.inputs - 1), shape)
    }

    pub fn unary(&mut self, name: &'static str, a: Node) -> Node {
        self.push(Op::Unary(name, a), self.shape(a))
    }

    pub fn binary(&mut self, name: &'static str, a: Node, b: Node) -> Node {
        let (left, right) = (self.shape(a), self.shape(b));
        let common = |left: u32, right: u32| {
            assert!(left == right || left == 1 || right == 1, "{name} of {left} and {right} rows or columns");
            left.max(right)
        };
        let shape =
            Shape { rows: common(left.rows, right.rows), columns: common(left.columns, right.columns) };
        self.push(Op::Binary(name, a, b), shape)
    }

    pub fn reduce(&mut self, name: &'static str, a: Node) -> Node {
        self.push(Op::Reduce(name, a), Shape { columns: 1, ..self.shape(a) })
    }

    pub fn matmul(&mut self, a: Node, b: Node) -> Node {
        let (left, right) = (self.shape(a), self.shape(b));
        assert_eq!(
            left.columns, right.rows,
            "a product needs as many columns on the left as rows on the right"
        );
        self.push(Op::MatMul(a, b), Shape { rows: left.rows, columns: right.columns })
    }

    pub fn op(&self, node: Node) -> Op {
        self.nodes[node].0
    }

    pub fn shape(&self, node: Node) -> Shape {
        self.nodes[node].1
    }

    /// The slots of the inputs, in order.
    pub fn inputs(&self) -> impl Iterator<Item = (u32, Shape)> {
        self.nodes.iter().filter_map(|(op, shape)| match op {
            Op::Input(slot) => Some((*slot, *shape)),
            _ => None,
        })
    }

    /// The value of a node by plain loops in f64, to check a device's.
    pub fn evaluate(&self, wanted: Node, inputs: &[Vec<f32>]) -> Vec<f64> {
        let mut values: Vec<Vec<f64>> = Vec::new();
        for (op, shape) in &self.nodes {
            let at = |node: Node, row: u32, column: u32| {
                let [across, along] = self.shape(node).strides();
                values[node][(row * across + column * along) as usize]
            };
            let element = |row: u32, column: u32| match *op {
                Op::Input(slot) => f64::from(inputs[slot as usize][(row * shape.columns + column) as usize]),
                Op::Unary(name, a) => UNARY[find(&UNARY, |line| line.0, name)].2(at(a, row, column)),
                Op::Binary(name, a, b) => {
                    BINARY[find(&BINARY, |line| line.0, name)].2(at(a, row, column), at(b, row, column))
                }
                Op::Reduce(name, a) => {
                    let (_, binary, _, start) = REDUCE[find(&REDUCE, |line| line.0, name)];
                    let fold = BINARY[find(&BINARY, |line| line.0, binary)].2;
                    (0..self.shape(a).columns).fold(start, |sum, column| fold(sum, at(a, row, column)))
                }
                Op::MatMul(a, b) => {
                    (0..self.shape(a).columns).map(|k| at(a, row, k) * at(b, k, column)).sum()
                }
            };
            let rows = (0..shape.rows).flat_map(|row| (0..shape.columns).map(move |column| (row, column)));
            let value = rows.map(|(row, column)| element(row, column)).collect();
            values.push(value);
        }
        values.swap_remove(wanted)
    }
}
