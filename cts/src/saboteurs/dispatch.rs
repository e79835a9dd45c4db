// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of dispatches, on queues and in command buffers.

use std::sync::{Arc, Mutex};

use windlass_hal::{Command, Dispatch, Operation, Patches, Result, Semaphore, WorkgroupCount};

use crate::pass::Pass;

use super::{
    command_buffer::{Records, all, each},
    sabotage::{Change, Inner, LetsGo, Only, Sabotage, Submission, alone, lock},
    transfer::whole,
};

const DISPATCH: &str = "queue_dispatch";

saboteurs! {
    forgets_dispatches: "Dispatches are never run, and their signals are reached.",
        Only(DISPATCH, |inner, s| Submission { operation: Operation::Barrier, ..s }.to(inner)),
        ["dispatch.vector_add"];
    runs_dispatches_twice: "Each dispatch runs twice.", Only(DISPATCH, run_twice),
        [
            "dispatch.several_entry_points", "dispatch.atomics_between_dispatches",
            "dispatch.transient_memory_argument",
        ];
    ignores_dynamic_local_memory: "A dispatch gets no dynamic local memory.",
        Change(|o| if let Operation::Dispatch(d) = o { d.dynamic_local_memory = 0 }),
        ["dispatch.dynamic_local_memory"];
    halves_dynamic_local_memory: "A dispatch gets half of the dynamic local memory that it requests.",
        Change(|o| if let Operation::Dispatch(d) = o { d.dynamic_local_memory /= 2 }),
        ["dispatch.dynamic_local_memory"];
    ignores_the_grid_beyond_x: "A grid has one workgroup in y and in z.",
        Change(|o| if let Operation::Dispatch(d) = o { grid(d, |g| *g = [g[0], 1, 1]) }),
        ["dispatch.workgroup_ids", "dispatch.positions", "dispatch.static_local_memory"];
    turns_the_grid: "A grid's x and y are swapped.",
        Change(|o| if let Operation::Dispatch(d) = o { grid(d, |g| g.swap(0, 1)) }),
        ["executable.function_outlives_executable", "dispatch.workgroup_ids"];
    turns_the_workgroup: "A workgroup's x and y are swapped.",
        Change(|o| if let Operation::Dispatch(d) = o { d.workgroup_size.swap(0, 1) }), ["dispatch.positions"];
    loses_the_last_workgroup: "The last workgroup in x is not launched, unless it is the only one.",
        Change(|o| if let Operation::Dispatch(d) = o { grid(d, |g| if g[0] > 1 { g[0] -= 1 }) }),
        ["physical_device.dispatch_on_each", "dispatch.vector_add"];
    adds_a_workgroup: "One more workgroup is launched in x.",
        Change(|o| if let Operation::Dispatch(d) = o { grid(d, |g| g[0] += 1) }),
        ["dispatch.atomics_between_dispatches", "dispatch_refused.usable_afterwards"];
    launches_a_thousand_workgroups_at_most: "Workgroups beyond the first nine hundred are not launched.",
        Change(|o| if let Operation::Dispatch(d) = o { grid(d, |g| g[0] = g[0].min(900)) }),
        ["dispatch.many_workgroups"];
    launches_the_first_function: "Instead of the requested function, the first with the same parameters is launched.",
        Change(|o| if let Operation::Dispatch(d) = o { d.function = first_alike(d) }),
        ["dispatch.positions", "dispatch.host_memory_argument", "operation.waits_dispatch"];
    truncates_structs: "The kernel gets only the first eight bytes of a longer value.",
        Change(|o| if let Operation::Dispatch(d) = o { truncate(d, 8) }),
        ["dispatch.struct_argument", "dispatch.large_argument_block", "dispatch.arguments_are_captured"];
    truncates_small_values: "Values of fewer than four bytes arrive as zero.",
        Change(|o| if let Operation::Dispatch(d) = o { zero_values(d, |size| size < 4) }),
        ["dispatch.small_scalars"];
    truncates_the_argument_block: "The kernel gets only the first 256 bytes of an argument block.",
        Change(|o| if let Operation::Dispatch(d) = o { d.arguments.iter_mut().skip(256).for_each(|b| *b = 0) }),
        ["dispatch.large_argument_block"];
    swaps_the_first_arguments: "The first two pointers of a dispatch are swapped.",
        Change(|o| if let Operation::Dispatch(d) = o { swap_pointers(d) }),
        ["dispatch.scalars_by_value", "dispatch.bindings_then_constants", "dispatch.raw_arguments"];
    loses_argument_offsets: "A subspan argument is the address of its allocation.",
        Change(|o| if let Operation::Dispatch(d) = o { lose_offsets(d) }), ["dispatch.subspan_argument"];
    captures_arguments_late: "A dispatch that waits runs with the arguments of the dispatch before it.",
        LateArguments::default(),
        [
            "dispatch.one_function_many_times", "dispatch.chain_keeps_its_order",
            "dispatch.log_keeps_its_order", "dispatch.transfers_feed_kernels",
        ];
    lets_go_of_arguments: "A dispatch whose buffers lose their last other handle before its waits are reached does not run.",
        LetsGo(|o| matches!(o, Operation::Dispatch(dispatch) if alone(&dispatch.resources))),
        ["dispatch.raw_arguments", "operation.keeps_dispatch"];
    recorded_dispatches_are_lost: "Recorded dispatches are not run.",
        Records(|commands, edited| {
            all(commands.filter(|command| !matches!(command, Command::Dispatch(_))), edited)
        }),
        [
            "command_buffer_dispatch.vector_add_direct", "command_buffer_dispatch.table_is_captured",
            "command_buffer_dispatch.transient_memory", "command_buffer_dispatch.concurrent_dispatches",
            "command_buffer_dispatch.keeps_executable", "command_buffer_indirect.dependants_wait_for_all",
        ];
    recorded_dispatches_get_no_local_memory: "Recorded dispatches get no dynamic local memory.",
        Records(|commands, edited| each(commands, edited, |command| {
            if let Command::Dispatch(dispatch) = command { dispatch.dynamic_local_memory = 0 }
        })), ["command_buffer_dispatch.local_memory"];
    recorded_structs_are_truncated: "The kernel gets only the first 20 bytes of a recorded argument block.",
        Records(|mut commands, edited| commands.try_for_each(|command| match command {
            Command::Dispatch(mut dispatch) => {
                let mut arguments = dispatch.arguments.to_vec();
                arguments.iter_mut().skip(20).for_each(|byte| *byte = 0);
                dispatch.arguments = &arguments;
                edited.push(Command::Dispatch(dispatch))
            }
            other => edited.push(other),
        })),
        [
            "command_buffer_dispatch.struct_argument_direct",
            "command_buffer_dispatch.struct_argument_table", "command_buffer_dispatch.pipeline_direct",
            "command_buffer_dispatch.mixed_arguments", "command_buffer_dispatch.replay_with_other_tables",
        ];
    recorded_patches_are_lost: "The addresses of a table are not written into a dispatch's arguments.",
        Records(|commands, edited| each(commands, edited, |command| {
            if let Command::Dispatch(dispatch) = command { dispatch.patches = Patches::NONE }
        })),
        [
            "command_buffer_dispatch.vector_add_table", "command_buffer_dispatch.chain_table",
            "command_buffer_dispatch.pipeline_table", "command_buffer_dispatch.slot_offsets",
            "command_buffer_dispatch.replay_in_a_chain", "command_buffer_dispatch.long_table",
        ];
}

/// Changes the grid of a dispatch, unless the grid is in a buffer.
fn grid(dispatch: &mut Dispatch, change: fn(&mut [u32; 3])) {
    if let WorkgroupCount::Direct(grid) = &mut dispatch.workgroup_count {
        change(grid);
    }
}

fn run_twice(inner: &Inner, s: Submission<'_>) -> Result<()> {
    if let Operation::Dispatch(dispatch) = &s.operation {
        let first = Semaphore::new(0).at(1);
        let again = Operation::Dispatch(dispatch.clone());
        inner.pass(s.affinity, s.waits, std::slice::from_ref(&first), again)?;
        return Submission { waits: &[first], ..s }.to(inner);
    }
    s.to(inner)
}

/// The first function with the same parameters as the dispatched one.
fn first_alike(dispatch: &Dispatch) -> u32 {
    let functions = dispatch.executable.functions();
    let shape = |index: usize| {
        let function = &functions[index];
        (function.argument_size, function.parameters.iter().map(|p| (p.kind, p.offset)).collect::<Vec<_>>())
    };
    let wanted = shape(dispatch.function as usize);
    (0..functions.len()).position(|index| shape(index) == wanted).unwrap_or(0) as u32
}

/// Cuts values longer than `kept` bytes.
fn truncate(dispatch: &mut Dispatch, kept: u32) {
    let executable = dispatch.executable.clone();
    for parameter in &executable.functions()[dispatch.function as usize].parameters {
        if parameter.size > kept {
            let (start, end) = (parameter.offset + kept, parameter.offset + parameter.size);
            dispatch.arguments[start as usize..end as usize].fill(0);
        }
    }
}

/// Zeroes values of some sizes.
fn zero_values(dispatch: &mut Dispatch, which: fn(u32) -> bool) {
    let executable = dispatch.executable.clone();
    for parameter in &executable.functions()[dispatch.function as usize].parameters {
        if which(parameter.size) {
            let (start, end) = (parameter.offset, parameter.offset + parameter.size);
            dispatch.arguments[start as usize..end as usize].fill(0);
        }
    }
}

/// The offsets of the pointers in the block of a dispatch.
fn pointers(dispatch: &Dispatch) -> Vec<usize> {
    let parameters = &dispatch.executable.functions()[dispatch.function as usize].parameters;
    let buffers = parameters.iter().filter(|p| p.kind == windlass_hal::ParameterKind::Buffer);
    buffers.map(|parameter| parameter.offset as usize).collect()
}

fn swap_pointers(dispatch: &mut Dispatch) {
    if let [first, second, ..] = pointers(dispatch)[..] {
        for byte in 0..8 {
            dispatch.arguments.swap(first + byte, second + byte);
        }
    }
}

fn lose_offsets(dispatch: &mut Dispatch) {
    for at in pointers(dispatch) {
        let place = at..at + 8;
        for buffer in &dispatch.resources {
            if dispatch.arguments[place.clone()] == buffer.device_address().to_le_bytes() {
                let start = whole(buffer).device_address().to_le_bytes();
                dispatch.arguments[place].copy_from_slice(&start);
                break;
            }
        }
    }
}

/// Remembers the last argument block.
#[derive(Default)]
struct LateArguments(Mutex<Option<Dispatch>>);

impl Sabotage for LateArguments {
    fn submit(&self, inner: &Inner, mut s: Submission<'_>) -> Result<()> {
        if let Operation::Dispatch(dispatch) = &mut s.operation {
            let last = lock(&self.0).replace(dispatch.clone());
            if let Some(last) = last.filter(|last| {
                !s.waits.is_empty()
                    && Arc::ptr_eq(&last.executable, &dispatch.executable)
                    && last.function == dispatch.function
            }) {
                dispatch.arguments = last.arguments;
                dispatch.resources.extend(last.resources);
            }
        }
        s.to(inner)
    }
}
