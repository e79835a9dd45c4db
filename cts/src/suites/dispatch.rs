// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels run by queues. The refusals are in `dispatch_refused`.

use windlass_hal::{Argument, Buffer, BufferParams, DispatchConfig, Fence, Function, Queue, Semaphore};

use crate::{
    check::{ensure, ensure_eq, same_bytes, same_items},
    context::Context,
    kernels,
    outcome::{Outcome, Stop},
};

suite! { "dispatch";
    #[smoke] vector_add [Dispatch]: "A kernel computes the right result for sizes that are no multiple of the workgroup.";
    scalars_by_value [Dispatch]: "Numbers pass between pointers in the kernel's own order.";
    bindings_then_constants [Dispatch]: "Arguments may be buffers followed by 32-bit constants, as IREE passes them.";
    #[smoke] struct_argument [Dispatch]: "A struct by value between scalars and pointers arrives with its padding.";
    small_scalars [Dispatch]: "Scalars of one to eight bytes arrive at their alignment.";
    large_argument_block [Dispatch]: "An argument block of more than a kilobyte arrives whole.";
    null_argument [Dispatch]: "A null argument is a null address.";
    raw_arguments [Dispatch]: "A block that the caller packed reaches the kernel unchanged.";
    no_arguments [Dispatch]: "A kernel without parameters runs.";
    subspan_argument [Dispatch]: "A subspan's address is that of its first byte.";
    workgroup_ids [Dispatch]: "In a grid of three dimensions each workgroup sees its own id.";
    #[smoke] positions [Dispatch]: "Work-item ids, workgroup ids and both sizes are right in three dimensions.";
    several_entry_points [Dispatch]: "Several functions of one executable each run their own code.";
    #[smoke] dynamic_local_memory [Dispatch]: "A kernel gets the dynamic local memory that the dispatch requests.";
    local_memory_to_the_limit [Dispatch]: "A dispatch may request all the local memory that the device reports.";
    static_local_memory [Dispatch]: "A tiled matrix product through static local memory is right.";
    fixed_workgroup_size [Dispatch]: "A kernel with a fixed workgroup size is launched with it if the dispatch gives none.";
    atomics_between_dispatches [Dispatch]: "Sixty-four dispatches without edges add to one counter, and none is lost.";
    empty_grid_is_a_barrier [Dispatch]: "A grid without workgroups waits, touches nothing, and signals.";
    many_workgroups [Dispatch]: "Each of a quarter of a million work-items in a thousand workgroups runs once.";
    arguments_are_captured [Dispatch]: "A dispatch that waits keeps the arguments and buffers of its submission.";
    one_function_many_times [Dispatch]: "Each of a hundred in-flight dispatches of one function takes its own arguments.";
    chain_keeps_its_order [Dispatch]: "Two hundred dispatches over all queues, submitted in random order, run in the order of their edges.";
    log_keeps_its_order [Dispatch]: "Dispatches that append to a log appear in it in the order of their edges.";
    transfers_feed_kernels [Dispatch]: "Update, dispatch and copy in a chain each see the data of the operation before.";
    host_memory_argument [Dispatch]: "A kernel reads and writes memory that the host has mapped.";
    transient_memory_argument [Dispatch, Alloca]: "A kernel works on memory of an alloca.";
    failure_skips_dispatch [Dispatch]: "A dispatch whose wait failed does not run.";
}

/// A grid of workgroups of 64 work-items for `n` elements.
pub(super) fn over(n: usize) -> DispatchConfig {
    DispatchConfig::new([n.div_ceil(64) as u32, 1, 1]).workgroup_size([64, 1, 1])
}

/// One work-item.
pub(super) fn single() -> DispatchConfig {
    DispatchConfig::new([1; 3]).workgroup_size([1; 3])
}

pub(super) fn bytes_of<T: Copy, const N: usize>(values: &[T], bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|value| bytes(*value)).collect()
}

pub(super) fn floats(ctx: &Context, values: &[f32]) -> Outcome<Buffer> {
    ctx.upload(&bytes_of(values, f32::to_le_bytes))
}

pub(super) fn words(ctx: &Context, values: &[u32]) -> Outcome<Buffer> {
    ctx.upload(&bytes_of(values, u32::to_le_bytes))
}

pub(super) fn to_words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
}

pub(super) fn to_floats(bytes: &[u8]) -> Vec<f32> {
    to_words(bytes).into_iter().map(f32::from_bits).collect()
}

/// Dispatches one function without waits and waits for it.
fn run(ctx: &Context, function: &Function, config: DispatchConfig, arguments: &[Argument<'_>]) -> Outcome {
    let done = Semaphore::new(0);
    ctx.queue(0)?.dispatch(&[], &[done.at(1)], function, config, arguments)?;
    ctx.wait(&done.at(1))
}

fn vector_add(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    [1, 63, 64, 65, 1000].into_iter().try_for_each(|n| vector_add_with(ctx, &function, n))
}

pub(crate) fn vector_add_with(ctx: &Context, function: &Function, n: usize) -> Outcome {
    let a: Vec<f32> = (0..n).map(|i| i as f32).collect();
    let b: Vec<f32> = (0..n).map(|i| 0.5 - 3.0 * i as f32).collect();
    let (a_buffer, b_buffer) = (floats(ctx, &a)?, floats(ctx, &b)?);
    // The buffer is longer than n, to see that the bytes after n stay unchanged.
    let out = ctx.filled(4 * n as u64 + 64, 0xee)?;
    run(ctx, function, over(n), &[a_buffer.arg(), b_buffer.arg(), out.arg(), (n as i32).into()])?;
    let sums: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    let mut expected = bytes_of(&sums, f32::to_le_bytes);
    expected.resize(4 * n + 64, 0xee);
    same_bytes(&ctx.download(&out)?, &expected, &format!("the sums of {n} elements"))
}

fn scalars_by_value(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::SAXPY, "saxpy")?;
    let x: Vec<f32> = (0..300).map(|i| i as f32).collect();
    let (x_buffer, y) = (floats(ctx, &x)?, floats(ctx, &[10.0; 300])?);
    let arguments = [2.5_f32.into(), x_buffer.arg(), y.arg(), 300_i32.into()];
    run(ctx, &function, over(300), &arguments)?;
    let expected: Vec<f32> = x.iter().map(|x| 2.5 * x + 10.0).collect();
    same_items(&to_floats(&ctx.download(&y)?), &expected, "2.5 x + 10")
}

fn bindings_then_constants(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ENTRIES, "scale_and_offset")?;
    let input: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let (source, out) = (floats(ctx, &input)?, ctx.filled(400, 0)?);
    let constants = [3.0_f32.to_bits(), (-7.0_f32).to_bits(), 100];
    let arguments = [source.arg(), out.arg(), constants[0].into(), constants[1].into(), constants[2].into()];
    run(ctx, &function, over(100), &arguments)?;
    let expected: Vec<f32> = input.iter().map(|x| 3.0 * x - 7.0).collect();
    same_items(&to_floats(&ctx.download(&out)?), &expected, "3 x - 7")
}

/// The struct of `apply_scale`: f32 factor, four bytes unused, i64 offset.
pub(super) fn scale(factor: f32, offset: i64) -> [u8; 16] {
    let mut bytes = [0xa5; 16];
    bytes[..4].copy_from_slice(&factor.to_le_bytes());
    bytes[8..].copy_from_slice(&offset.to_le_bytes());
    bytes
}

fn struct_argument(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ARGUMENTS, "apply_scale")?;
    let input: Vec<i64> = (0..100).map(|i| i * 7 - 200).collect();
    let (source, out) = (ctx.upload(&bytes_of(&input, i64::to_le_bytes))?, ctx.filled(800, 0)?);
    let by_value = scale(0.5, 1 << 40);
    let arguments = [source.arg(), 100_i32.into(), Argument::Bytes(&by_value), out.arg()];
    run(ctx, &function, over(100), &arguments)?;
    let expected: Vec<i64> = input.iter().map(|i| (*i as f32 * 0.5) as i64 + (1 << 40)).collect();
    same_bytes(&ctx.download(&out)?, &bytes_of(&expected, i64::to_le_bytes), "half of each element plus 2^40")
}

fn small_scalars(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ARGUMENTS, "write_arguments")?;
    let out = ctx.filled(40, 0xee)?;
    let half_of_21 = 0x4d40_u16.to_le_bytes();
    let arguments = [
        out.arg(),
        0xab_u8.into(),
        (-2_i16).into(),
        0x89ab_cdef_u32.into(),
        0x0123_4567_89ab_cdef_u64.into(),
        Argument::Bytes(&half_of_21),
        42.0_f64.into(),
    ];
    run(ctx, &function, single(), &arguments)?;
    let mut expected = Vec::new();
    for word in [0xab, 0xfffe, 0x89ab_cdef, 0x0123_4567_89ab_cdef_u64] {
        expected.extend_from_slice(&word.to_le_bytes());
    }
    expected.extend_from_slice(&[21, 42, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee]);
    same_bytes(&ctx.download(&out)?, &expected, "the arguments as the kernel saw them")
}

fn large_argument_block(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ARGUMENTS, "sum_words")?;
    let values: Vec<u32> = (0..256).map(|i| i * i).collect();
    let (out, block) = (ctx.filled(4, 0)?, bytes_of(&values, u32::to_le_bytes));
    for n in [256_u32, 255, 1, 0] {
        run(ctx, &function, single(), &[Argument::Bytes(&block), n.into(), out.arg()])?;
        let expected: u32 = values[..n as usize].iter().sum();
        same_items(&to_words(&ctx.download(&out)?), &[expected], &format!("the sum of the first {n} words"))?;
    }
    Ok(())
}

fn null_argument(ctx: &Context) -> Outcome {
    // With n = 0 the kernel dereferences none of its pointers.
    let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    let arguments = [Argument::Null, Argument::Null, Argument::Null, 0_i32.into()];
    run(ctx, &function, single(), &arguments)
}

fn raw_arguments(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ENTRIES, "scale_and_offset")?;
    let input: Vec<f32> = (0..100).map(|i| i as f32).collect();
    let (source, out) = (floats(ctx, &input)?, ctx.filled(400, 0)?);
    let values: [&[u8]; 5] = [
        &source.device_address().to_le_bytes(),
        &out.device_address().to_le_bytes(),
        &3.0_f32.to_le_bytes(),
        &(-7.0_f32).to_le_bytes(),
        &100_u32.to_le_bytes(),
    ];
    let mut block = vec![0; function.info().argument_size as usize];
    for (parameter, value) in function.info().parameters.iter().zip(values) {
        block[parameter.offset as usize..][..value.len()].copy_from_slice(value);
    }
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    let arguments = [Argument::Bytes(&block), source.arg(), out.arg()];
    let config = over(100).raw_arguments();
    ctx.queue(0)?.dispatch(&[gate.at(1)], &[done.at(1)], &function, config, &arguments)?;
    block.fill(0);
    drop(source);
    gate.signal(1)?;
    let expected: Vec<f32> = input.iter().map(|x| 3.0 * x - 7.0).collect();
    same_items(&to_floats(&ctx.download_after(&done.at(1), &out)?), &expected, "3 x - 7")
}

fn no_arguments(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ENTRIES, "empty")?;
    run(ctx, &function, DispatchConfig::new([3, 2, 2]).workgroup_size([8, 4, 2]), &[])
}

fn subspan_argument(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ENTRIES, "negate")?;
    let buffer = floats(ctx, &(0..96).map(|i| i as f32).collect::<Vec<_>>())?;
    let (from, to) = (buffer.subspan(4 * 8, 4 * 16)?, buffer.subspan(4 * 72, 4 * 16)?);
    run(ctx, &function, over(16), &[from.arg(), to.arg(), 16_i32.into()])?;
    let expected: Vec<f32> = (0..96).map(|i| if (72..88).contains(&i) { 64 - i } else { i } as f32).collect();
    same_items(&to_floats(&ctx.download(&buffer)?), &expected, "elements 8 to 24 negated into 72 to 88")
}

fn workgroup_ids(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::POSITIONS, "write_workgroup_ids")?;
    for grid in [[1, 1, 1], [7, 1, 1], [1, 5, 1], [1, 1, 6], [3, 4, 5]] {
        let count: u32 = grid.iter().product();
        let out = ctx.filled(16 * u64::from(count), 0xee)?;
        let config = DispatchConfig::new(grid).workgroup_size([32, 2, 1]);
        run(ctx, &function, config, &[out.arg()])?;
        let expected: Vec<u32> =
            (0..count).flat_map(|w| [w % grid[0], w / grid[0] % grid[1], w / grid[0] / grid[1], w]).collect();
        same_items(&to_words(&ctx.download(&out)?), &expected, &format!("the ids of a grid of {grid:?}"))?;
    }
    Ok(())
}

fn positions(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::POSITIONS, "write_positions")?;
    let (block, grid) = ([5, 3, 2], [3, 2, 4]);
    let (items, groups): (u32, u32) = (block.iter().product(), grid.iter().product());
    let out = ctx.filled(48 * u64::from(items * groups), 0xee)?;
    run(ctx, &function, DispatchConfig::new(grid).workgroup_size(block), &[out.arg()])?;
    let split = |linear: u32, size: [u32; 3]| {
        [linear % size[0], linear / size[0] % size[1], linear / size[0] / size[1]]
    };
    let expected: Vec<[u32; 12]> = (0..items * groups)
        .map(|t| {
            let (item, group) = (split(t % items, block), split(t / items, grid));
            let mut row = [0; 12];
            for (place, triple) in row.chunks_exact_mut(3).zip([item, group, block, grid]) {
                place.copy_from_slice(&triple);
            }
            row
        })
        .collect();
    let bytes = ctx.download(&out)?;
    let rows: Vec<[u32; 12]> =
        to_words(&bytes).chunks_exact(12).filter_map(|row| row.try_into().ok()).collect();
    same_items(&rows, &expected, "item, workgroup, block and grid of each work-item")
}

fn several_entry_points(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::ENTRIES)?;
    let buffer = floats(ctx, &[1.5; 70])?;
    let (queue, step) = (ctx.queue(0)?, Semaphore::new(0));
    for (value, name) in (0..).zip(["negate", "twice", "twice", "absolute", "negate", "twice"]) {
        let arguments = [buffer.arg(), buffer.arg(), 70_i32.into()];
        let function = executable.function(name)?;
        queue.dispatch(&[step.at(value)], &[step.at(value + 1)], &function, over(70), &arguments)?;
    }
    let values = to_floats(&ctx.download_after(&step.at(6), &buffer)?);
    same_items(&values, &[-12.0; 70], "1.5 negated, doubled twice, made positive, negated and doubled")
}

fn dynamic_local_memory(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::REDUCE, "reduce_sum")?;
    // Small whole numbers, whose sum is exact in every order.
    let input: Vec<f32> = (0..1000).map(|i| (i % 17) as f32).collect();
    let source = floats(ctx, &input)?;
    for (block, groups) in [(64, 1), (256, 3), (128, 16)] {
        let total = floats(ctx, &[0.25])?;
        let config =
            DispatchConfig::new([groups, 1, 1]).workgroup_size([block, 1, 1]).dynamic_local_memory(4 * block);
        run(ctx, &function, config, &[source.arg(), total.arg(), 1000_i32.into()])?;
        let expected = 0.25 + input.iter().sum::<f32>();
        let what = format!("the sum by {groups} workgroups of {block}");
        same_items(&to_floats(&ctx.download(&total)?), &[expected], &what)?;
    }
    Ok(())
}

fn local_memory_to_the_limit(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::REDUCE, "reduce_sum")?;
    let most = match ctx.device().limits().max_local_memory {
        0 => return Err(Stop::skip("the device sets no limit to local memory")),
        most => most - function.info().static_local_memory,
    };
    let (source, total) = (floats(ctx, &[1.0; 200])?, floats(ctx, &[0.0])?);
    let config = DispatchConfig::new([1, 1, 1]).workgroup_size([64, 1, 1]).dynamic_local_memory(most);
    run(ctx, &function, config, &[source.arg(), total.arg(), 200_i32.into()])?;
    same_items(&to_floats(&ctx.download(&total)?), &[200.0], "the sum")
}

fn static_local_memory(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::MATMUL, "matmul")?;
    let (m, n, k) = (33_usize, 18_usize, 50_usize);
    // Small whole numbers, whose sums are exact in every order.
    let a: Vec<f32> = (0..m * k).map(|i| (i % 7) as f32 - 3.0).collect();
    let b: Vec<f32> = (0..k * n).map(|i| (i % 5) as f32 - 2.0).collect();
    let (a_buffer, b_buffer, c) = (floats(ctx, &a)?, floats(ctx, &b)?, ctx.filled(4 * (m * n) as u64, 0xee)?);
    let config =
        DispatchConfig::new([n.div_ceil(16) as u32, m.div_ceil(16) as u32, 1]).workgroup_size([16, 16, 1]);
    let sizes = [m, n, k].map(|size| Argument::from(size as i32));
    run(ctx, &function, config, &[a_buffer.arg(), b_buffer.arg(), c.arg(), sizes[0], sizes[1], sizes[2]])?;
    let mut expected = Vec::new();
    for row in 0..m {
        for column in 0..n {
            expected.push((0..k).map(|i| a[row * k + i] * b[i * n + column]).sum::<f32>());
        }
    }
    same_items(&to_floats(&ctx.download(&c)?), &expected, "the product of 33 x 50 and 50 x 18")
}

fn fixed_workgroup_size(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::FIXED_BLOCK, "fixed_block")?;
    let input: Vec<u32> = (0..300).collect();
    let (source, out) = (words(ctx, &input)?, ctx.filled(1200, 0)?);
    run(ctx, &function, DispatchConfig::new([3, 1, 1]), &[source.arg(), out.arg(), 300_u32.into()])?;
    let expected: Vec<u32> = (1..301).collect();
    same_items(&to_words(&ctx.download(&out)?), &expected, "each element plus one")
}

fn atomics_between_dispatches(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ORDER, "increment")?;
    let (counter, gate) = (words(ctx, &[5])?, Semaphore::new(0));
    let mut ends = Fence::new();
    for index in 0..64 {
        let done = Semaphore::new(0);
        let config = DispatchConfig::new([3, 1, 1]).workgroup_size([64, 1, 1]);
        ctx.queue(index)?.dispatch(&[gate.at(1)], &[done.at(1)], &function, config, &[counter.arg()])?;
        ends.insert(done.at(1));
    }
    gate.signal(1)?;
    ends.wait_blocking(ctx.deadline())?;
    same_items(&to_words(&ctx.download(&counter)?), &[5 + 64 * 3 * 64], "the counter")
}

fn empty_grid_is_a_barrier(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ORDER, "increment")?;
    let (counter, gate, done) = (words(ctx, &[5])?, Semaphore::new(0), Semaphore::new(0));
    for (value, grid) in (0..).zip([[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 0]]) {
        let config = DispatchConfig::new(grid).workgroup_size([64, 1, 1]);
        let waits = [gate.at(1), done.at(value)];
        ctx.queue(0)?.dispatch(&waits, &[done.at(value + 1)], &function, config, &[counter.arg()])?;
    }
    ensure_eq!(done.query()?, 0, "the payload before the gate opens");
    gate.signal(1)?;
    ctx.wait(&done.at(4))?;
    same_items(&to_words(&ctx.download(&counter)?), &[5], "the counter")
}

fn many_workgroups(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ORDER, "multiply_add")?;
    let n = 250_000;
    let buffer = words(ctx, &(0..n).collect::<Vec<_>>())?;
    let config = DispatchConfig::new([n.div_ceil(256), 1, 1]).workgroup_size([256, 1, 1]);
    run(ctx, &function, config, &[buffer.arg(), (n as i32).into(), 3_u32.into(), 1_u32.into()])?;
    let expected: Vec<u32> = (0..n).map(|i| 3 * i + 1).collect();
    same_items(&to_words(&ctx.download(&buffer)?), &expected, "3 i + 1")
}

fn arguments_are_captured(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ARGUMENTS, "apply_scale")?;
    let (gate, done, out) = (Semaphore::new(0), Semaphore::new(0), ctx.filled(80, 0)?);
    let source = ctx.upload(&bytes_of(&[8_i64; 10], i64::to_le_bytes))?;
    let mut by_value = scale(1.0, 34);
    let arguments = [source.arg(), 10_i32.into(), Argument::Bytes(&by_value), out.arg()];
    ctx.queue(0)?.dispatch(&[gate.at(1)], &[done.at(1)], &function, over(10), &arguments)?;
    by_value.fill(0);
    drop((source, function));
    // The memory of the dropped handle would be free for these buffers, if it were freed.
    let _others: Vec<_> = (0..8).map(|_| ctx.filled(80, 0xee)).collect::<Outcome<_>>()?;
    ensure!(by_value == [0; 16], "the caller's bytes");
    gate.signal(1)?;
    let bytes = ctx.download_after(&done.at(1), &out)?;
    same_bytes(&bytes, &bytes_of(&[42_i64; 10], i64::to_le_bytes), "8 + 34")
}

fn one_function_many_times(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ORDER, "multiply_add")?;
    let (gate, mut runs) = (Semaphore::new(0), Vec::new());
    for index in 0..100 {
        let (buffer, done) = (words(ctx, &[index; 65])?, Semaphore::new(0));
        let arguments = [buffer.arg(), 65_i32.into(), (index + 2).into(), 7_u32.into()];
        ctx.queue(index)?.dispatch(&[gate.at(1)], &[done.at(1)], &function, over(65), &arguments)?;
        runs.push((index, buffer, done));
    }
    gate.signal(1)?;
    for (index, buffer, done) in runs {
        let values = to_words(&ctx.download_after(&done.at(1), &buffer)?);
        same_items(&values, &[index * (index + 2) + 7; 65], &format!("the buffer of run {index}"))?;
    }
    Ok(())
}

fn chain_keeps_its_order(ctx: &Context) -> Outcome {
    const LINKS: usize = 200;
    let function = ctx.function(&kernels::ORDER, "multiply_add")?;
    let mut random = ctx.random();
    let links: Vec<(u32, u32)> =
        (0..LINKS).map(|_| (random.next_u64() as u32 | 1, random.next_u64() as u32)).collect();
    let mut order: Vec<_> = (0..LINKS).collect();
    random.shuffle(&mut order);
    let (buffer, step) = (words(ctx, &(0..100).collect::<Vec<_>>())?, Semaphore::new(0));
    for link in order {
        let at = link as u64;
        let (factor, addend) = links[link];
        let arguments = [buffer.arg(), 100_i32.into(), factor.into(), addend.into()];
        let queue = ctx.queue(random.below(4) as u32)?;
        queue.dispatch(&[step.at(at)], &[step.at(at + 1)], &function, over(100), &arguments)?;
    }
    let run = |value: u32| {
        links.iter().fold(value, |value, (factor, addend)| value.wrapping_mul(*factor).wrapping_add(*addend))
    };
    let expected: Vec<u32> = (0..100).map(run).collect();
    let values = to_words(&ctx.download_after(&step.at(LINKS as u64), &buffer)?);
    same_items(&values, &expected, "the buffer at the end of the chain")
}

fn log_keeps_its_order(ctx: &Context) -> Outcome {
    const ENTRIES: u32 = 100;
    let function = ctx.function(&kernels::ORDER, "append")?;
    let mut random = ctx.random();
    let done: Vec<_> = (0..=ENTRIES).map(|_| Semaphore::new(0)).collect();
    let mut order: Vec<_> = (0..ENTRIES).collect();
    random.shuffle(&mut order);
    let log = ctx.filled(4 * (u64::from(ENTRIES) + 1), 0)?;
    for entry in order {
        let (before, after) = (&done[entry as usize], &done[entry as usize + 1]);
        let arguments = [log.arg(), ENTRIES.into(), (1000 + entry).into()];
        let queue = ctx.queue(random.below(4) as u32)?;
        queue.dispatch(&[before.at(1)], &[after.at(1)], &function, single(), &arguments)?;
    }
    done[0].signal(1)?;
    let words = to_words(&ctx.download_after(&done[ENTRIES as usize].at(1), &log)?);
    let expected: Vec<u32> = std::iter::once(ENTRIES).chain((0..ENTRIES).map(|entry| 1000 + entry)).collect();
    same_items(&words, &expected, "the log")
}

fn transfers_feed_kernels(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ORDER, "multiply_add")?;
    let (buffer, out, step) = (ctx.filled(400, 0)?, ctx.filled(400, 0)?, Semaphore::new(0));
    for round in 0..20_u32 {
        let at = 3 * u64::from(round);
        let queue: Queue = ctx.queue(round)?;
        let input: Vec<u32> = (0..100).map(|i| i + round).collect();
        let source = bytes_of(&input, u32::to_le_bytes);
        queue.update(&[step.at(at)], &[step.at(at + 1)], &source, &buffer)?;
        let arguments = [buffer.arg(), 100_i32.into(), 5_u32.into(), round.into()];
        let (waits, signals) = ([step.at(at + 1)], [step.at(at + 2)]);
        ctx.queue(round + 1)?.dispatch(&waits, &signals, &function, over(100), &arguments)?;
        ctx.queue(round + 2)?.copy(&[step.at(at + 2)], &[step.at(at + 3)], &buffer, &out)?;
        let expected: Vec<u32> = input.iter().map(|i| 5 * i + round).collect();
        let words = to_words(&ctx.download_after(&step.at(at + 3), &out)?);
        same_items(&words, &expected, &format!("round {round}"))?;
    }
    Ok(())
}

fn host_memory_argument(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ENTRIES, "twice")?;
    let (source, out) = (ctx.host_buffer(400)?, ctx.host_buffer(400)?);
    let input: Vec<f32> = (0..100).map(|i| i as f32).collect();
    source.map()?.write(0, &bytes_of(&input, f32::to_le_bytes))?;
    run(ctx, &function, over(100), &[source.arg(), out.arg(), 100_i32.into()])?;
    let expected: Vec<f32> = input.iter().map(|x| x + x).collect();
    same_items(&to_floats(&out.map()?.to_vec()), &expected, "twice each element")
}

fn transient_memory_argument(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ORDER, "multiply_add")?;
    let (queue, step, out) = (ctx.queue(0)?, Semaphore::new(0), ctx.filled(400, 0)?);
    for round in 0..20_u32 {
        let at = 5 * u64::from(round);
        let buffer = queue.alloca(&[step.at(at)], &[step.at(at + 1)], &BufferParams::device(), 400)?;
        queue.fill(&[step.at(at + 1)], &[step.at(at + 2)], &buffer, round)?;
        let arguments = [buffer.arg(), 100_i32.into(), 3_u32.into(), 1_u32.into()];
        queue.dispatch(&[step.at(at + 2)], &[step.at(at + 3)], &function, over(100), &arguments)?;
        queue.copy(&[step.at(at + 3)], &[step.at(at + 4)], &buffer, &out)?;
        queue.dealloca(&[step.at(at + 4)], &[step.at(at + 5)], &buffer)?;
        let words = to_words(&ctx.download_after(&step.at(at + 4), &out)?);
        same_items(&words, &[3 * round + 1; 100], &format!("round {round}"))?;
    }
    Ok(())
}

fn failure_skips_dispatch(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ORDER, "increment")?;
    let (counter, broken, done) = (words(ctx, &[5])?, Semaphore::new(0), Semaphore::new(0));
    ctx.queue(0)?.dispatch(&[broken.at(1)], &[done.at(1)], &function, single(), &[counter.arg()])?;
    broken.fail(windlass_hal::Error::aborted("on purpose"));
    let error = ctx.wait_for_failure(&done.at(1))?;
    if error.code() != windlass_hal::Code::Aborted {
        return Err(Stop::fail(format!("the dispatch failed with {error:?} instead of its wait's error")));
    }
    ctx.device().drain(ctx.deadline())?;
    same_items(&to_words(&ctx.download(&counter)?), &[5], "the counter")
}
