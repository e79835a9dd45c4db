// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loading the same bytes again.

use std::borrow::Cow;

use windlass_hal::{Code, Device, Error, Executable};

use super::semaphore_thread::on_threads;
use crate::{
    check::{ensure, refused},
    context::Context,
    kernels::{self, Module},
    outcome::Outcome,
};

suite! { "executable_cache";
    #[smoke] same_bytes_same_executable [Dispatch]: "The same bytes at any address are one executable while a handle lives.";
    other_bytes_other_executable [Dispatch]: "Other bytes are another executable, even if they hold the same functions.";
    kept_by_a_function [Dispatch]: "A function keeps its executable, and loading the same bytes finds it.";
    gone_with_the_last_handle [Dispatch]: "After every handle is dropped, the same bytes can be loaded and used again.";
    loaded_at_once [Dispatch]: "Threads that load the same bytes at once get one executable.";
    failures_are_not_kept [Dispatch]: "Refused bytes are refused again, and valid ones are loaded afterwards.";
    devices_apart [Dispatch]: "Each device has executables of its own.";
}

fn load(device: &Device, bytes: &[u8]) -> Result<Executable, Error> {
    // SAFETY: the code is the suite's own kernels, or damaged copies of them, which are never dispatched.
    unsafe { device.load_executable(bytes) }
}

/// The bytes of one of the suite's modules in the device's format. Skips the case if there are none.
fn bytes(ctx: &Context, module: &Module) -> Outcome<Cow<'static, [u8]>> {
    ctx.load(module)?;
    ctx.module_bytes(module)
}

fn same_bytes_same_executable(ctx: &Context) -> Outcome {
    let first = ctx.load(&kernels::VECTOR_ADD)?;
    let elsewhere = bytes(ctx, &kernels::VECTOR_ADD)?.to_vec();
    let again = load(ctx.device(), &elsewhere)?;
    drop(elsewhere);
    ensure!(first.same(&again), "the same bytes became two executables");
    ensure!(first.same(&again.function("vector_add")?.executable()), "the function is of another executable");
    super::dispatch::vector_add_with(ctx, &again.function("vector_add")?, 100)?;
    drop(first);
    super::dispatch::vector_add_with(ctx, &again.function("vector_add")?, 100)
}

fn other_bytes_other_executable(ctx: &Context) -> Outcome {
    let (entries, order) = (ctx.load(&kernels::ENTRIES)?, ctx.load(&kernels::ORDER)?);
    ensure!(!entries.same(&order), "different code is one executable");
    let mut longer = bytes(ctx, &kernels::ENTRIES)?.to_vec();
    longer.push(0);
    match load(ctx.device(), &longer) {
        Ok(other) => ensure!(!entries.same(&other), "different bytes are one executable"),
        // A format may refuse bytes after its end.
        Err(error) => ensure!(error.code() == Code::InvalidArgument, "{error}"),
    }
    Ok(())
}

fn kept_by_a_function(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    ensure!(
        function.executable().same(&ctx.load(&kernels::VECTOR_ADD)?),
        "the bytes of a living function were loaded again"
    );
    Ok(())
}

fn gone_with_the_last_handle(ctx: &Context) -> Outcome {
    for _ in 0..10 {
        let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
        super::dispatch::vector_add_with(ctx, &function, 64)?;
    }
    Ok(())
}

fn loaded_at_once(ctx: &Context) -> Outcome {
    let bytes = bytes(ctx, &kernels::VECTOR_ADD)?;
    // A device of its own, on which no code is loaded yet.
    let device = ctx.open()?;
    for _ in 0..5 {
        let kept = std::sync::Mutex::new(Vec::new());
        on_threads(8, |_| {
            let executable = load(&device, &bytes)?;
            kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(executable);
            Ok(())
        })?;
        let kept = kept.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        ensure!(kept.iter().all(|other| other.same(&kept[0])), "eight threads got several executables");
    }
    Ok(())
}

fn failures_are_not_kept(ctx: &Context) -> Outcome {
    let bytes = bytes(ctx, &kernels::ENTRIES)?;
    let device = ctx.open()?;
    let garbage = ctx.random().bytes(500);
    for _ in 0..2 {
        refused(load(&device, &garbage), Code::InvalidArgument, "noise")?;
        ensure!(load(&device, &bytes[..bytes.len() / 2]).is_err(), "half a file was loaded");
    }
    let executable = load(&device, &bytes)?;
    ensure!(executable.same(&load(&device, &bytes)?), "the same bytes became two executables");
    Ok(())
}

fn devices_apart(ctx: &Context) -> Outcome {
    let own = ctx.load(&kernels::ENTRIES)?;
    let other = ctx.load_on(&ctx.open()?, &kernels::ENTRIES)?;
    ensure!(!own.same(&other), "two devices share an executable");
    Ok(())
}
