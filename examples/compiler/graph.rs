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

/// An elementwise operation: in C, with operands A and B, and in Rust.
pub struct Elementwise<F> {
    pub name: &'static str,
    pub code: &'static str,
    pub compute: F,
}

pub type Unary = Elementwise<fn(f64) -> f64>;
pub type Binary = Elementwise<fn(f64, f64) -> f64>;

pub const UNARY: [Unary; 3] = [
    Elementwise { name: "negate", code: "-(A)", compute: |a| -a },
    Elementwise { name: "exp", code: "__builtin_amdgcn_exp2f((A) * 1.44269504f)", compute: f64::exp },
    Elementwise { name: "relu", code: "__builtin_fmaxf((A), 0.0f)", compute: |a| a.max(0.0) },
];
pub const BINARY: [Binary; 5] = [
    Elementwise { name: "add", code: "((A) + (B))", compute: |a, b| a + b },
    Elementwise { name: "subtract", code: "((A) - (B))", compute: |a, b| a - b },
    Elementwise { name: "multiply", code: "((A) * (B))", compute: |a, b| a * b },
    Elementwise { name: "divide", code: "((A) / (B))", compute: |a, b| a / b },
    Elementwise { name: "maximum", code: "__builtin_fmaxf((A), (B))", compute: f64::max },
];

/// A reduction by a binary operation, from a value that changes nothing.
pub struct Reduction {
    pub name: &'static str,
    pub operation: &'static str,
    pub start_code: &'static str,
    pub start: f64,
}

pub const REDUCE: [Reduction; 2] = [
    Reduction { name: "row_sum", operation: "add", start_code: "0.0f", start: 0.0 },
    Reduction {
        name: "row_max",
        operation: "maximum",
        start_code: "-__builtin_inff()",
        start: f64::NEG_INFINITY,
    },
];

pub fn elementwise<'a, F>(table: &'a [Elementwise<F>], name: &str) -> &'a Elementwise<F> {
    table.iter().find(|line| line.name == name).unwrap_or_else(|| panic!("there is no operation {name}"))
}

pub fn reduction(name: &str) -> &'static Reduction {
    REDUCE.iter().find(|line| line.name == name).unwrap_or_else(|| panic!("there is no reduction {name}"))
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
                Op::Unary(name, a) => (elementwise(&UNARY, name).compute)(at(a, row, column)),
                Op::Binary(name, a, b) => {
                    (elementwise(&BINARY, name).compute)(at(a, row, column), at(b, row, column))
                }
                Op::Reduce(name, a) => {
                    let reduction = reduction(name);
                    let join = elementwise(&BINARY, reduction.operation).compute;
                    let columns = 0..self.shape(a).columns;
                    columns.fold(reduction.start, |sum, column| join(sum, at(a, row, column)))
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
