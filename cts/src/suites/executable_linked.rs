// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executables of several pieces of code that refer to each other.

use std::borrow::Cow;

use windlass_hal::{Code, Error, Executable, QueueAffinity, Semaphore};

use super::dispatch::{floats, single, to_floats, vector_add_with};
use crate::{
    check::{ensure, names, refused, same_items},
    context::Context,
    kernels::{self, Module},
    outcome::{Outcome, Stop},
};

suite! { "executable_linked";
    #[smoke] calls_across [Dispatch, Linking]: "A kernel calls a function of another piece, and reads its variable.";
    pieces_in_any_order [Dispatch, Linking]: "Pieces may be given in any order.";
    variable_is_one [Dispatch, Linking, Globals]: "A variable that one piece defines and another uses is one variable for queues and for kernels of both.";
    independent_pieces [Dispatch, Linking]: "Pieces that do not refer to each other are loaded into one executable.";
    bundles_of_one_file [Dispatch, Linking]: "The bundles of one file are linked like pieces.";
    missing_symbols_are_named [Dispatch, Linking]: "Symbols that no piece defines are NOT_FOUND, and each is named.";
    circles_refused [Dispatch, Linking]: "Pieces that refer to each other in a circle run, or are FAILED_PRECONDITION with the symbols named.";
    damaged_piece_refused [Dispatch, Linking]: "An invalid piece is INVALID_ARGUMENT, and valid pieces are linked afterwards.";
    no_pieces_refused [Dispatch, Linking]: "An executable of no pieces is INVALID_ARGUMENT.";
    one_piece [Dispatch, Linking]: "Linking one piece gives the same executable as loading it.";
    same_pieces_same_executable [Dispatch, Linking]: "The same pieces in the same order are one executable while a handle lives; other pieces are another.";
}

fn link(ctx: &Context, parts: &[&[u8]]) -> Result<Executable, Error> {
    // SAFETY: the code is the suite's own kernels, used as cts/kernels/README.md specifies, or invalid.
    unsafe { ctx.device().load_linked(parts) }
}

fn load(ctx: &Context, code: &[u8]) -> Result<Executable, Error> {
    // SAFETY: as above.
    unsafe { ctx.device().load_executable(code) }
}

/// The bytes of modules in the device's format. Skips the case if there are none for the device.
fn bytes<const N: usize>(ctx: &Context, modules: [&Module; N]) -> Outcome<[Cow<'static, [u8]>; N]> {
    ctx.load(&kernels::LINK_PROVIDER)?;
    let mut all = [const { Cow::Borrowed(b"" as &[u8]) }; N];
    for (bytes, module) in all.iter_mut().zip(modules) {
        *bytes = ctx.module_bytes(module)?;
    }
    Ok(all)
}

/// `link_user` with `link_provider`, which defines its missing symbols.
fn linked(ctx: &Context) -> Outcome<Executable> {
    let [user, provider] = bytes(ctx, [&kernels::LINK_USER, &kernels::LINK_PROVIDER])?;
    Ok(link(ctx, &[&user, &provider])?)
}

/// Runs `link_apply`. With `link_provider` it computes three times the values plus `bias`.
fn apply(ctx: &Context, executable: &Executable, bias: f32) -> Outcome {
    let values = [1.0, -2.0, 10.0];
    let (buffer, done) = (floats(ctx, &values)?, Semaphore::new(0));
    let config = single().workgroup_size([3, 1, 1]);
    let function = executable.function("link_apply")?;
    ctx.queue(0)?.dispatch(&[], &[done.at(1)], &function, config, &[buffer.arg()])?;
    let found = to_floats(&ctx.download_after(&done.at(1), &buffer)?);
    same_items(&found, &values.map(|value| 3.0 * value + bias), "three times the values and the bias")
}

fn calls_across(ctx: &Context) -> Outcome {
    apply(ctx, &linked(ctx)?, 0.5)
}

fn pieces_in_any_order(ctx: &Context) -> Outcome {
    let [user, provider, other] =
        bytes(ctx, [&kernels::LINK_USER, &kernels::LINK_PROVIDER, &kernels::ENTRIES])?;
    for parts in [[&user, &provider, &other], [&provider, &other, &user], [&other, &user, &provider]] {
        let executable = link(ctx, &parts.map(|part| &part[..]))?;
        for name in ["link_apply", "link_set_bias", "twice"] {
            executable.function(name)?;
        }
        apply(ctx, &executable, 0.5)?;
    }
    Ok(())
}

fn variable_is_one(ctx: &Context) -> Outcome {
    let (executable, done, queue) = (linked(ctx)?, Semaphore::new(0), ctx.queue(0)?);
    let bias = executable.global_on("link_bias", QueueAffinity::queue(0))?;
    queue.fill(&[], &[done.at(1)], &bias, -4.0_f32)?;
    ctx.wait(&done.at(1))?;
    apply(ctx, &executable, -4.0)?;
    let set = executable.function("link_set_bias")?;
    queue.dispatch(&[], &[done.at(2)], &set, single(), &[7.25_f32.into()])?;
    same_items(
        &to_floats(&ctx.download_after(&done.at(2), &bias)?),
        &[7.25],
        "the value that a kernel wrote",
    )?;
    apply(ctx, &executable, 7.25)?;
    // Another case may get this executable, so its variable is reset.
    queue.fill(&[], &[done.at(3)], &bias, 0.5_f32)?;
    ctx.wait(&done.at(3))
}

fn independent_pieces(ctx: &Context) -> Outcome {
    let [add, entries] = bytes(ctx, [&kernels::VECTOR_ADD, &kernels::ENTRIES])?;
    let executable = link(ctx, &[&add, &entries])?;
    executable.function("twice")?;
    vector_add_with(ctx, &executable.function("vector_add")?, 100)
}

fn bundles_of_one_file(ctx: &Context) -> Outcome {
    let [user, provider] = bytes(ctx, [&kernels::LINK_USER, &kernels::LINK_PROVIDER])?;
    if matches!(user, Cow::Owned(_)) {
        return Err(Stop::skip("the device's format need not have files of several bundles"));
    }
    apply(ctx, &load(ctx, &[&user[..], &provider].concat())?, 0.5)
}

fn missing_symbols_are_named(ctx: &Context) -> Outcome {
    let [user, function, other] =
        bytes(ctx, [&kernels::LINK_USER, &kernels::LINK_FUNCTION, &kernels::ENTRIES])?;
    for (result, missing) in [
        (load(ctx, &user), &["link_scale", "link_bias"][..]),
        (link(ctx, &[&other, &user]), &["link_scale", "link_bias"]),
        (link(ctx, &[&function, &user]), &["link_bias"]),
    ] {
        let error = refused(result, Code::NotFound, "code that is not whole")?;
        missing.iter().try_for_each(|name| names(&error, name))?;
    }
    Ok(())
}

fn circles_refused(ctx: &Context) -> Outcome {
    let [user, cycle] = bytes(ctx, [&kernels::LINK_USER, &kernels::LINK_CYCLE])?;
    match link(ctx, &[&user, &cycle]) {
        Ok(executable) => executable.function("link_apply").map(drop).map_err(Into::into),
        refusal => {
            let error = refused(refusal, Code::FailedPrecondition, "a circle")?;
            ["link_scale", "link_bias", "link_seed"].into_iter().try_for_each(|name| names(&error, name))
        }
    }
}

fn damaged_piece_refused(ctx: &Context) -> Outcome {
    let [user, provider] = bytes(ctx, [&kernels::LINK_USER, &kernels::LINK_PROVIDER])?;
    for damaged in [&b"no device code"[..], &provider[..provider.len() / 2], b""] {
        for parts in [[&user[..], damaged], [damaged, &user]] {
            refused(link(ctx, &parts), Code::InvalidArgument, "a damaged piece")?;
        }
    }
    apply(ctx, &linked(ctx)?, 0.5)
}

fn no_pieces_refused(ctx: &Context) -> Outcome {
    refused(link(ctx, &[]), Code::InvalidArgument, "no pieces").map(drop)
}

fn one_piece(ctx: &Context) -> Outcome {
    let [entries] = bytes(ctx, [&kernels::ENTRIES])?;
    let (loaded, linked) = (load(ctx, &entries)?, link(ctx, &[&entries])?);
    ensure!(loaded.same(&linked), "linking one piece gives another executable than loading it");
    Ok(())
}

fn same_pieces_same_executable(ctx: &Context) -> Outcome {
    let first = linked(ctx)?;
    ensure!(first.same(&linked(ctx)?), "the same pieces became two executables");
    let [user, provider, other] =
        bytes(ctx, [&kernels::LINK_USER, &kernels::LINK_PROVIDER, &kernels::ENTRIES])?;
    let alone = load(ctx, &provider)?;
    for parts in [vec![&provider, &user], vec![&user, &provider, &other]] {
        let parts: Vec<&[u8]> = parts.into_iter().map(|part| &part[..]).collect();
        let executable = link(ctx, &parts)?;
        ensure!(!first.same(&executable) && !alone.same(&executable), "other pieces are one executable");
    }
    Ok(())
}
