// SPDX-License-Identifier: MIT OR Apache-2.0
//! Programs: a graph as one command buffer of a device, whose inputs and result are slots of its binding table.

use std::fmt;

use windlass::{Argument, Buffer, CommandBuffer, Device, DispatchConfig, Error, Result};

use crate::{
    codegen::{self, BLOCK},
    graph::{Graph, Node, Op},
    kernels::{Form, kernels},
    plan::Plan,
};

/// The kernels of all operations for the GPUs that `build.sh` names.
const OPERATIONS: &[u8] = include_bytes!("operations.ccob");

pub struct Program {
    commands: CommandBuffer,
    description: String,
}

impl Program {
    /// Compiles the part of a graph that `result` needs. The slots are the inputs in order, and then the result.
    pub fn compile(device: &Device, graph: &Graph, result: Node) -> Result<Self> {
        let clang = codegen::clang();
        let kernels = kernels(graph, result, clang.is_some());
        let made;
        let (code, origin) = match &clang {
            Some(clang) => {
                let processor = device.info().architecture.split(':').next().unwrap_or_default();
                made = codegen::compile(clang, processor, &codegen::source(&kernels))
                    .map_err(Error::internal)?;
                (&made[..], format!("made by {clang} for {processor}"))
            }
            None => (OPERATIONS, "from the bundle of operations, because there is no clang".to_owned()),
        };
        // SAFETY: each kernel stays within the shapes that it is given.
        #[allow(unsafe_code)]
        let executable = unsafe { device.load_executable(code)? };

        let plan = Plan::new(graph, &kernels, result);
        let memory = device.allocate_device(plan.size.max(1))?;
        let slots = graph.inputs().count() as u32 + 1;
        let ranges: Vec<Range> = (0..=result)
            .map(|node| {
                let length = graph.shape(node).bytes();
                match (graph.op(node), plan.offset(node)) {
                    (Op::Input(slot), _) => Ok(Range::Slot(slot, length)),
                    (_, Some(offset)) => Ok(Range::Memory(memory.subspan(offset, length)?)),
                    _ => Ok(Range::Slot(slots - 1, length)),
                }
            })
            .collect::<Result<_>>()?;

        let mut recorder = device.record_with_slots(slots)?;
        for kernel in &kernels {
            let shape = graph.shape(kernel.node);
            let depth =
                graph.op(kernel.node).operands().next().map_or(0, |operand| graph.shape(operand).columns);
            let mut arguments: Vec<Argument> = vec![ranges[kernel.node].argument()];
            arguments.extend([shape.rows, shape.columns, depth].map(Argument::from));
            for operand in &kernel.operands {
                arguments.push(ranges[*operand].argument());
                arguments.extend(graph.shape(*operand).strides().map(Argument::from));
            }
            let groups = match kernel.form {
                Form::Reduce(_) => shape.rows,
                Form::Map | Form::MatMul => shape.elements().div_ceil(BLOCK.into()) as u32,
            };
            let grid = DispatchConfig::new([groups, 1, 1]).workgroup_size([BLOCK, 1, 1]);
            recorder.dispatch(&executable.function(&kernel.name)?, grid, &arguments)?;
            // The next kernel reads the result, or takes the place of a value that this one reads.
            recorder.barrier();
        }
        let description = format!(
            "{} kernels {origin}; {} intermediate values in {} bytes, {} without reuse",
            kernels.len(),
            plan.values(),
            plan.size,
            plan.without_reuse
        );
        Ok(Self { commands: recorder.finish()?, description })
    }

    pub fn commands(&self) -> &CommandBuffer {
        &self.commands
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.description)
    }
}

/// The memory of a value.
enum Range {
    /// A slot of the binding table, and the bytes of its buffer.
    Slot(u32, u64),
    Memory(Buffer),
}

impl Range {
    fn argument(&self) -> Argument<'_> {
        match self {
            Self::Slot(slot, length) => Argument::Slot { slot: *slot, offset: 0, length: *length },
            Self::Memory(buffer) => buffer.arg(),
        }
    }
}
