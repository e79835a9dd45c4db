// SPDX-License-Identifier: MIT OR Apache-2.0
//! A graph as text for Graphviz, laid out as AMD's runtime prints it: one cluster for each graph, with its child graphs'
//! clusters behind it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::sync::Arc;

use super::graph::{Entry, Graph};
use super::operation::Operation;
use crate::hip::work::host_function::HostCall;

/// `hipGraphDebugDotFlags`: the parameters that labels tell.
#[derive(Clone, Copy)]
pub(crate) struct Details(pub(crate) u32);

impl Details {
    const VERBOSE: u32 = 1;
    const KERNELS: u32 = 1 << 2;
    const COPIES: u32 = 1 << 3;
    const FILLS: u32 = 1 << 4;
    const HOST: u32 = 1 << 5;
    const EVENTS: u32 = 1 << 6;
    const ATTRIBUTES: u32 = 1 << 9;
    const HANDLES: u32 = 1 << 10;

    fn tell(self, flag: u32) -> bool {
        self.0 & (Self::VERBOSE | flag) != 0
    }
}

/// The text of a graph.
pub(crate) fn text(graph: &Arc<Graph>, details: Details) -> String {
    let mut text = String::from("digraph dot {\n");
    let mut waiting = VecDeque::from([(0, graph.clone())]);
    let mut graphs = 1;
    while let Some((number, graph)) = waiting.pop_front() {
        let entries = graph.entries();
        let name = |index: usize| format!("\"graph_{number}_node_{index}\"");
        let places: BTreeMap<u64, usize> =
            entries.iter().enumerate().map(|(index, entry)| (entry.handle, index)).collect();
        let _ = writeln!(
            text,
            "subgraph cluster_{number} {{\nlabel=\"graph_{number}\"; graph[style=\"dashed\"];"
        );
        for (index, entry) in entries.iter().enumerate() {
            let operation = entry.node.operation();
            let (style, shape) = look(&operation);
            let mut label = match operation {
                Operation::Child(child, _) => {
                    waiting.push_back((graphs, child));
                    graphs += 1;
                    format!("graph_{}", graphs - 1)
                }
                operation => describe(&operation, details),
            };
            if details.tell(Details::HANDLES) {
                let _ = write!(label, "\\nnode {:#x}", entry.handle);
            }
            let _ = writeln!(
                text,
                "{}[style=\"{style}\" shape=\"{shape}\" label=\"{index}\\n{label}\"];",
                name(index)
            );
        }
        let edge = |text: &mut String, from: &u64, to: usize| {
            if let Some(from) = places.get(from) {
                let _ = writeln!(text, "{} -> {};", name(*from), name(to));
            }
        };
        for (index, Entry { after, .. }) in entries.iter().enumerate() {
            for from in after {
                edge(&mut text, from, index);
            }
        }
        text.push_str("}\n");
    }
    text.push_str("}\n");
    text
}

/// Style and shape of a node.
fn look(operation: &Operation) -> (&'static str, &'static str) {
    match operation {
        Operation::Launch(..) => ("bold", "octagon"),
        Operation::Copy(..) => ("solid", "trapezium"),
        Operation::Fill(..) => ("solid", "invtrapezium"),
        _ => ("solid", "rectangle"),
    }
}

/// The label of a node, in Graphviz' escapes.
fn describe(operation: &Operation, details: Details) -> String {
    let tell = |flag| details.tell(flag);
    match operation {
        Operation::Empty => "EMPTY".to_owned(),
        Operation::Launch(launch, attribute) => {
            let mut label = escaped(launch.function.kernel.name());
            let ([x, y, z], [a, b, c]) = (launch.shape.grid, launch.shape.block);
            if tell(Details::KERNELS) {
                let lds = launch.shape.dynamic_lds;
                let _ = write!(label, "\\n<<<({x},{y},{z}),({a},{b},{c}),{lds}>>>");
            }
            if tell(Details::ATTRIBUTES)
                && let Some(attribute) = attribute
            {
                let _ = write!(label, "\\n{}", escaped(&format!("{attribute:?}")));
            }
            if tell(Details::HANDLES) {
                let _ = write!(label, "\\nfunction {:#x}", launch.named);
            }
            label
        }
        Operation::Copy(copy, _) => {
            let [width, rows, planes] = copy.to.1.extents();
            let mut label = format!("MEMCPY\\n({:?},{width}", copy.direction);
            if rows > 1 || planes > 1 {
                let _ = write!(label, "x{rows}x{planes}");
            }
            label.push(')');
            if tell(Details::COPIES) {
                let (to, from) = (copy.to.1.pitches(), copy.from.1.pitches());
                let _ = write!(label, "\\nsrc {:#x} pitches {from:?}", copy.from.0);
                let _ = write!(label, "\\ndst {:#x} pitches {to:?}", copy.to.0);
            }
            label
        }
        Operation::Fill(fill, pitch) => {
            let [width, rows, _] = fill.rows.extents();
            let mut label = format!("MEMSET\\n({},{})", fill.pattern.value, width.saturating_mul(rows));
            if tell(Details::FILLS) {
                let size = fill.pattern.size;
                let _ = write!(label, "\\ndst {:#x} pitch {pitch} elementSize {size}", fill.address);
                let _ = write!(label, "\\nwidth {width} bytes, height {rows}");
            }
            label
        }
        Operation::Host(function) => {
            let mut label = "HOST".to_owned();
            if tell(Details::HOST) {
                let address = match function.call {
                    HostCall::Plain(function) => function as usize,
                    HostCall::WithStatus(function, _) => function as usize,
                };
                let _ = write!(label, "\\nfn {address:#x} userData {:?}", function.data);
            }
            label
        }
        Operation::Record(_, event) => with_event("EVENT_RECORD", *event, details),
        Operation::Wait(_, event) => with_event("EVENT_WAIT", *event, details),
        Operation::Allocate(memory, _) => format!("MEM_ALLOC\\n({:#x})", memory.base),
        Operation::Free { base, .. } => format!("MEM_FREE\\n({base:#x})"),
        Operation::Batch(batch) => format!("BATCH_MEM_OP\\n({})", batch.operations.len()),
        Operation::Child(..) => "GRAPH".to_owned(),
    }
}

fn with_event(label: &str, event: u64, details: Details) -> String {
    match details.tell(Details::EVENTS) {
        true => format!("{label}\\n(event {event:#x})"),
        false => label.to_owned(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
