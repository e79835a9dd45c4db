// SPDX-License-Identifier: MIT OR Apache-2.0
//! The sequential model: each operation happens when it is submitted, and the words of a memory are alike.

use super::generate::{MEMORIES, Op, POOLED, Program, Work};

/// The results that a program must have.
pub(super) struct Expected {
    /// The value of each read of the host, and the values that host functions find, by their numbers.
    pub(super) reads: Vec<u32>,
    pub(super) found: Vec<u32>,
    /// The value of each memory at the end; `None` if it is not allocated.
    pub(super) last: [Option<u32>; MEMORIES],
}

impl Program {
    pub(super) fn expected(&self) -> Expected {
        let mut values = [Some(0_u32); MEMORIES];
        POOLED.iter().for_each(|memory| values[*memory] = None);
        let mut expected = Expected { reads: Vec::new(), found: vec![0; self.functions], last: values };
        for step in &self.steps {
            match &step.op {
                Op::Work(work) => apply(work, &mut values, &mut expected.found),
                Op::Graph { branches, times } => {
                    for _ in 0..*times {
                        branches
                            .iter()
                            .flatten()
                            .for_each(|work| apply(work, &mut values, &mut expected.found));
                    }
                }
                // The performer fills it at once.
                Op::Allocate(memory) => values[*memory] = Some(1),
                Op::Free(memory) => values[*memory] = None,
                Op::Read(memory) => expected.reads.push(values[*memory].unwrap_or(0)),
                Op::Write { memory, value } => values[*memory] = Some(*value),
                Op::Record(_)
                | Op::Wait(_)
                | Op::Query { .. }
                | Op::WaitForEvent { .. }
                | Op::WaitForStream { .. } => {}
            }
        }
        expected.last = values;
        expected
    }
}

fn apply(work: &Work, values: &mut [Option<u32>; MEMORIES], found: &mut [u32]) {
    let scaled = |value: Option<u32>, factor: u32, sum| {
        value.map(|value| value.wrapping_mul(factor).wrapping_add(sum))
    };
    match *work {
        Work::Fill { memory, value } => values[memory] = Some(value),
        Work::Kernel { memory, factor, sum } => values[memory] = scaled(values[memory], factor, sum),
        Work::Copy { from, to } => values[to] = values[from],
        Work::Host { memory, factor, sum, id, .. } => {
            found[id] = values[memory].unwrap_or(0);
            values[memory] = scaled(values[memory], factor, sum);
        }
    }
}
