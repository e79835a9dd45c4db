// SPDX-License-Identifier: MIT OR Apache-2.0
//! Dispatches that must be refused, on a queue and while recording, with the same error.

use windlass_hal::{Argument, BufferParams, BufferUsage, Code, DispatchConfig, Error, Function, Semaphore};

use super::dispatch::{over, single};
use crate::{
    check::{ensure_eq, names},
    context::Context,
    kernels,
    outcome::{Outcome, Stop},
};

suite! { "dispatch_refused";
    #[smoke] argument_count [Dispatch]: "Too few or too many arguments are INVALID_ARGUMENT, and the signature is named.";
    argument_size [Dispatch]: "Bytes of another size than the parameter are INVALID_ARGUMENT.";
    argument_kind [Dispatch]: "A buffer in the place of a number, and a number in the place of a buffer, are INVALID_ARGUMENT.";
    argument_of_another_device [Dispatch]: "A buffer of another device is INVALID_ARGUMENT.";
    argument_usage [Dispatch]: "A buffer without usage for dispatches is INVALID_ARGUMENT.";
    raw_arguments [Dispatch]: "A packed block of another size, or another argument in its place, is INVALID_ARGUMENT.";
    slot_without_a_table [Dispatch]: "A table slot in a dispatch on a queue is INVALID_ARGUMENT.";
    function_of_another_device [Dispatch]: "A function that was loaded on another device is INVALID_ARGUMENT.";
    workgroup_size_missing [Dispatch]: "A dispatch without a workgroup size is refused if the function fixes none.";
    workgroup_size_other_than_fixed [Dispatch]: "A workgroup size other than the one that the code fixes is INVALID_ARGUMENT.";
    workgroup_size_zero [Dispatch]: "A workgroup without work-items is INVALID_ARGUMENT.";
    workgroup_too_large [Dispatch]: "A workgroup larger than code or device allow is OUT_OF_RANGE, and the limit is named.";
    grid_too_large [Dispatch]: "A grid larger than the device allows is OUT_OF_RANGE.";
    local_memory_too_large [Dispatch]: "More local memory than a workgroup can have is OUT_OF_RANGE.";
    usable_afterwards [Dispatch]: "After all these refusals the function runs.";
}

/// Tries a dispatch on a queue and, if the device has command buffers, in a recording. Both must refuse it with
/// `code`.
fn refuse(
    ctx: &Context,
    function: &Function,
    config: DispatchConfig,
    arguments: &[Argument<'_>],
    code: Code,
    what: &str,
) -> Outcome<Error> {
    let done = Semaphore::new(0);
    let direct = ctx.queue(0)?.dispatch(&[], &[done.at(1)], function, config, arguments);
    let error = crate::check::refused(direct, code, what)?;
    ensure_eq!(done.query()?, 0, "the semaphore of a refused dispatch");
    let lacks = &ctx.device().info().lacks;
    if !lacks.iter().any(|lack| lack.feature == windlass_hal::Feature::CommandBuffers) {
        let mut recorder = ctx.device().record()?;
        let recorded = recorder.dispatch(function, config, arguments);
        crate::check::refused(recorded, code, &format!("{what}, recorded,"))?;
        ensure_eq!(recorder.finish()?.list().commands().len(), 0, "commands of a refused recording");
    }
    Ok(error)
}

fn vector_add(ctx: &Context) -> Outcome<(Function, windlass_hal::Buffer)> {
    Ok((ctx.function(&kernels::VECTOR_ADD, "vector_add")?, ctx.filled(256, 0)?))
}

fn argument_count(ctx: &Context) -> Outcome {
    let (function, buffer) = vector_add(ctx)?;
    let all = [buffer.arg(), buffer.arg(), buffer.arg(), 64_i32.into(), 1_i32.into()];
    for count in [0, 1, 3, 5] {
        let what = format!("{count} arguments for four parameters");
        let error = refuse(ctx, &function, over(64), &all[..count], Code::InvalidArgument, &what)?;
        names(&error, "vector_add")?;
        names(&error, &count.to_string())?;
    }
    Ok(())
}

fn argument_size(ctx: &Context) -> Outcome {
    let (function, buffer) = vector_add(ctx)?;
    let code = Code::InvalidArgument;
    for (what, last) in [
        ("eight bytes for four", Argument::from(64_i64)),
        ("two bytes for four", Argument::from(64_i16)),
        ("no bytes for four", Argument::Bytes(&[])),
        ("five bytes for four", Argument::Bytes(&[0; 5])),
    ] {
        let arguments = [buffer.arg(), buffer.arg(), buffer.arg(), last];
        names(&refuse(ctx, &function, over(64), &arguments, code, what)?, "argument 3")?;
    }
    let scaled = ctx.function(&kernels::ARGUMENTS, "apply_scale")?;
    let arguments = [buffer.arg(), 1_i32.into(), Argument::Bytes(&[0; 12]), buffer.arg()];
    names(&refuse(ctx, &scaled, over(1), &arguments, code, "12 bytes for a struct of 16")?, "argument 2")
}

fn argument_kind(ctx: &Context) -> Outcome {
    let (function, buffer) = vector_add(ctx)?;
    for (place, argument) in
        [(0, Argument::from(1_u64)), (1, Argument::Bytes(&[0; 8])), (3, buffer.arg()), (3, Argument::Null)]
    {
        let mut arguments = [buffer.arg(), buffer.arg(), buffer.arg(), 64_i32.into()];
        arguments[place] = argument;
        let what = format!("{argument:?} as argument {place}");
        let error = refuse(ctx, &function, over(64), &arguments, Code::InvalidArgument, &what)?;
        names(&error, &format!("argument {place}"))?;
    }
    Ok(())
}

fn argument_of_another_device(ctx: &Context) -> Outcome {
    let (function, buffer) = vector_add(ctx)?;
    let foreign = ctx.open()?.allocate_device(256)?;
    let arguments = [buffer.arg(), foreign.arg(), buffer.arg(), 64_i32.into()];
    let error = refuse(ctx, &function, over(64), &arguments, Code::InvalidArgument, "a foreign buffer")?;
    names(&error, "argument 1")
}

fn argument_usage(ctx: &Context) -> Outcome {
    let (function, buffer) = vector_add(ctx)?;
    let params = BufferParams::device().with_usage(BufferUsage::TRANSFER);
    let wrong = ctx.device().allocate(&params, 256)?;
    let arguments = [buffer.arg(), wrong.arg(), buffer.arg(), 64_i32.into()];
    refuse(ctx, &function, over(64), &arguments, Code::InvalidArgument, "a buffer for transfers alone")?;
    Ok(())
}

fn raw_arguments(ctx: &Context) -> Outcome {
    let (function, buffer) = vector_add(ctx)?;
    let (config, size) = (over(64).raw_arguments(), function.info().argument_size as usize);
    let block = vec![0; size + 8];
    let wrong: [(&str, &[Argument<'_>]); 6] = [
        ("no argument", &[]),
        ("a block that is too short", &[Argument::Bytes(&block[..size - 1])]),
        ("a block that is too long", &[Argument::Bytes(&block)]),
        ("a buffer for a block", &[buffer.arg()]),
        ("a number behind the block", &[Argument::Bytes(&block[..size]), 64_i32.into()]),
        ("two blocks", &[Argument::Bytes(&block[..size]), Argument::Bytes(&block[..size])]),
    ];
    for (what, arguments) in wrong {
        let error = refuse(ctx, &function, config, arguments, Code::InvalidArgument, what)?;
        names(&error, "vector_add")?;
    }
    Ok(())
}

fn slot_without_a_table(ctx: &Context) -> Outcome {
    let (function, buffer) = vector_add(ctx)?;
    let done = Semaphore::new(0);
    let slot = Argument::Slot { slot: 0, offset: 0, length: 256 };
    let arguments = [buffer.arg(), slot, buffer.arg(), 64_i32.into()];
    let dispatched = ctx.queue(0)?.dispatch(&[], &[done.at(1)], &function, over(64), &arguments);
    crate::check::refused(dispatched, Code::InvalidArgument, "a slot in a direct dispatch")?;
    ensure_eq!(done.query()?, 0, "the semaphore of a refused dispatch");
    Ok(())
}

fn function_of_another_device(ctx: &Context) -> Outcome {
    let function = ctx.load_on(&ctx.open()?, &kernels::VECTOR_ADD)?.function("vector_add")?;
    let buffer = ctx.filled(256, 0)?;
    let arguments = [buffer.arg(), buffer.arg(), buffer.arg(), 64_i32.into()];
    refuse(ctx, &function, over(64), &arguments, Code::InvalidArgument, "a foreign function")?;
    Ok(())
}

fn workgroup_size_missing(ctx: &Context) -> Outcome {
    let (function, buffer) = vector_add(ctx)?;
    let arguments = [buffer.arg(), buffer.arg(), buffer.arg(), 64_i32.into()];
    let config = DispatchConfig::new([1; 3]);
    let error = refuse(ctx, &function, config, &arguments, Code::InvalidArgument, "no workgroup size")?;
    names(&error, "vector_add")
}

fn workgroup_size_other_than_fixed(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::FIXED_BLOCK, "fixed_block")?;
    let buffer = ctx.filled(256, 0)?;
    let arguments = [buffer.arg(), buffer.arg(), 1_u32.into()];
    for size in [[64, 1, 1], [128, 1, 1], [2, 64, 1]] {
        let config = DispatchConfig::new([1; 3]).workgroup_size(size);
        let what = format!("a workgroup of {size:?} for code that fixes 64 x 2");
        names(&refuse(ctx, &function, config, &arguments, Code::InvalidArgument, &what)?, "64, 2")?;
    }
    Ok(())
}

fn workgroup_size_zero(ctx: &Context) -> Outcome {
    let (function, buffer) = vector_add(ctx)?;
    let arguments = [buffer.arg(), buffer.arg(), buffer.arg(), 64_i32.into()];
    for size in [[0, 1, 1], [64, 0, 1], [64, 1, 0]] {
        let config = DispatchConfig::new([1; 3]).workgroup_size(size);
        refuse(
            ctx,
            &function,
            config,
            &arguments,
            Code::InvalidArgument,
            &format!("a workgroup of {size:?}"),
        )?;
    }
    Ok(())
}

fn workgroup_too_large(ctx: &Context) -> Outcome {
    let (function, buffer) = vector_add(ctx)?;
    let most = ctx.device().limits().max_workgroup_threads;
    let arguments = [buffer.arg(), buffer.arg(), buffer.arg(), 64_i32.into()];
    for size in [[4096, 1, 1], [2048, 2, 1], [64, 64, 64], [u32::MAX, u32::MAX, u32::MAX]] {
        let config = DispatchConfig::new([1; 3]).workgroup_size(size);
        let what = format!("a workgroup of {size:?} where {most} work-items are allowed");
        names(&refuse(ctx, &function, config, &arguments, Code::OutOfRange, &what)?, "vector_add")?;
    }
    Ok(())
}

fn grid_too_large(ctx: &Context) -> Outcome {
    let (function, buffer) = vector_add(ctx)?;
    let arguments = [buffer.arg(), buffer.arg(), buffer.arg(), 0_i32.into()];
    let limits = ctx.device().limits().max_workgroup_count;
    for (axis, most) in limits.into_iter().enumerate() {
        let mut grid = [1; 3];
        grid[axis] = match most {
            0 => u32::MAX,
            most => most.saturating_add(1),
        };
        if grid[axis] == most {
            continue;
        }
        let config = DispatchConfig::new(grid).workgroup_size([2, 2, 2]);
        refuse(ctx, &function, config, &arguments, Code::OutOfRange, &format!("a grid of {grid:?}"))?;
    }
    Ok(())
}

fn local_memory_too_large(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::REDUCE, "reduce_sum")?;
    let most = match ctx.device().limits().max_local_memory {
        0 => return Err(Stop::skip("the device sets no limit to local memory")),
        most => most,
    };
    let buffer = ctx.filled(256, 0)?;
    let arguments = [buffer.arg(), buffer.arg(), 64_i32.into()];
    for bytes in [most.saturating_add(1), u32::MAX] {
        let config = over(64).dynamic_local_memory(bytes);
        let what = format!("{bytes} bytes of dynamic local memory");
        names(&refuse(ctx, &function, config, &arguments, Code::OutOfRange, &what)?, &most.to_string())?;
    }
    Ok(())
}

fn usable_afterwards(ctx: &Context) -> Outcome {
    argument_count(ctx)?;
    workgroup_too_large(ctx)?;
    let function = ctx.function(&kernels::ORDER, "increment")?;
    let (counter, done) = (ctx.filled(4, 0)?, Semaphore::new(0));
    ctx.queue(0)?.dispatch(&[], &[done.at(1)], &function, single(), &[counter.arg()])?;
    crate::check::same_bytes(&ctx.download_after(&done.at(1), &counter)?, &[1, 0, 0, 0], "the counter")
}
