// SPDX-License-Identifier: MIT OR Apache-2.0
//! Loading device code, and its reflection.

use windlass_hal::{Code, Device, Error, Executable, ParameterKind};

use super::{dispatch::vector_add_with, semaphore_thread::on_threads};
use crate::{
    check::{ensure, ensure_eq, names, refused, same_items},
    context::Context,
    kernels::{self, Module, processor},
    outcome::{Outcome, Stop},
};

suite! { "executable";
    #[smoke] loads_every_container [Dispatch]: "Compressed bundles of each version and method, and an uncompressed one, offer the same functions.";
    lists_functions [Dispatch]: "An executable lists each of its kernels once.";
    finds_by_name [Dispatch]: "A function is found by its exact name, and by no other.";
    not_found_names_what_exists [Dispatch]: "Looking up a missing function is NOT_FOUND and names the existing ones.";
    reflects_parameters [Dispatch]: "The explicit parameters are reflected in order, with kind and size, and the hidden ones are not.";
    reflects_struct_parameters [Dispatch]: "A struct by value is one parameter of exactly its size.";
    parameters_lie_in_their_block [Dispatch]: "Parameters lie within the argument block and apart from each other.";
    reflects_workgroup_size [Dispatch]: "A workgroup size is reflected exactly if the code fixes it.";
    reflects_local_memory [Dispatch]: "Static local memory is reflected.";
    function_outlives_executable [Dispatch]: "A function keeps its executable loaded.";
    known_by_its_bytes [Dispatch]:
        "Code is not confused with other code of the same length, and the same code may be loaded twice.";
    #[smoke] wrong_architecture_refused [Dispatch]: "A bundle without code for the device is NOT_FOUND, naming the device's target and the bundle's, or INVALID_ARGUMENT if the device takes no bundles.";
    garbage_refused [Dispatch]: "Bytes that are no device code are refused with INVALID_ARGUMENT.";
    truncated_refused [Dispatch]: "A file cut off anywhere is refused with an error, and nothing crashes.";
    usable_after_refusals [Dispatch]: "After refused files the device loads good ones.";
    loads_at_once [Dispatch]: "Threads may load executables at the same time.";
}

fn try_load(device: &Device, bytes: &[u8]) -> Result<Executable, Error> {
    // SAFETY: the code is the suite's own kernels, or damaged copies of them, which are never dispatched.
    unsafe { device.load_executable(bytes) }
}

fn loads_every_container(ctx: &Context) -> Outcome {
    let expected = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    for module in [
        &kernels::VECTOR_ADD_UNCOMPRESSED,
        &kernels::VECTOR_ADD_V1,
        &kernels::VECTOR_ADD_V2_ZLIB,
        &kernels::VECTOR_ADD_V3,
    ] {
        let found = ctx.function(module, "vector_add")?;
        ensure_eq!(found.info(), expected.info(), "vector_add of {}", module.name);
    }
    Ok(())
}

fn names_of(executable: &Executable) -> Vec<String> {
    let mut names: Vec<_> = executable.functions().map(|function| function.name().to_owned()).collect();
    names.sort();
    names
}

const ENTRIES: [&str; 5] = ["absolute", "empty", "negate", "scale_and_offset", "twice"];

fn lists_functions(ctx: &Context) -> Outcome {
    same_items(
        &names_of(&ctx.load(&kernels::ENTRIES)?),
        &ENTRIES.map(str::to_owned),
        "the functions of entries.ccob",
    )
}

fn finds_by_name(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::ENTRIES)?;
    for name in ENTRIES {
        ensure_eq!(executable.function(name)?.name(), name, "the name of the found function");
    }
    for name in ["", "neg", "negate.kd", "NEGATE", "negate "] {
        refused(executable.function(name), Code::NotFound, &format!("a function `{name}`"))?;
    }
    Ok(())
}

fn not_found_names_what_exists(ctx: &Context) -> Outcome {
    let executable = ctx.load(&kernels::ENTRIES)?;
    let error = refused(executable.function("nagate"), Code::NotFound, "a misspelt function")?;
    names(&error, "nagate")?;
    ENTRIES.into_iter().try_for_each(|name| names(&error, name))
}

/// The kinds and sizes of a function's parameters.
fn shape(ctx: &Context, module: &Module, name: &str) -> Outcome<Vec<(ParameterKind, u32)>> {
    let function = ctx.function(module, name)?;
    Ok(function.info().parameters.iter().map(|parameter| (parameter.kind, parameter.size)).collect())
}

const BUFFER: (ParameterKind, u32) = (ParameterKind::Buffer, 8);

fn value(size: u32) -> (ParameterKind, u32) {
    (ParameterKind::Value, size)
}

fn reflects_parameters(ctx: &Context) -> Outcome {
    let vector_add = shape(ctx, &kernels::VECTOR_ADD, "vector_add")?;
    same_items(&vector_add, &[BUFFER, BUFFER, BUFFER, value(4)], "the parameters of vector_add")?;
    let saxpy = shape(ctx, &kernels::SAXPY, "saxpy")?;
    same_items(&saxpy, &[value(4), BUFFER, BUFFER, value(4)], "the parameters of saxpy")?;
    let mixed = shape(ctx, &kernels::ARGUMENTS, "write_arguments")?;
    let expected = [BUFFER, value(1), value(2), value(4), value(8), value(2), value(8)];
    same_items(&mixed, &expected, "the parameters of write_arguments")?;
    same_items(&shape(ctx, &kernels::ENTRIES, "empty")?, &[], "the parameters of empty")
}

fn reflects_struct_parameters(ctx: &Context) -> Outcome {
    let apply_scale = shape(ctx, &kernels::ARGUMENTS, "apply_scale")?;
    same_items(&apply_scale, &[BUFFER, value(4), value(16), BUFFER], "the parameters of apply_scale")?;
    let sum_words = shape(ctx, &kernels::ARGUMENTS, "sum_words")?;
    same_items(&sum_words, &[value(1024), value(4), BUFFER], "the parameters of sum_words")
}

fn parameters_lie_in_their_block(ctx: &Context) -> Outcome {
    for module in
        [&kernels::ARGUMENTS, &kernels::ENTRIES, &kernels::MATMUL, &kernels::ORDER, &kernels::POSITIONS]
    {
        for function in ctx.load(module)?.functions() {
            let info = function.info();
            let mut end = 0;
            for parameter in &info.parameters {
                ensure!(parameter.offset >= end, "{}: parameters overlap at {}", info.name, parameter.offset);
                end = parameter.offset + parameter.size;
            }
            let size = info.argument_size;
            ensure!(end <= size, "{}: parameters end at {end} of a block of {size} bytes", info.name);
        }
    }
    Ok(())
}

fn reflects_workgroup_size(ctx: &Context) -> Outcome {
    let fixed = ctx.function(&kernels::FIXED_BLOCK, "fixed_block")?;
    ensure_eq!(fixed.info().workgroup_size, Some([64, 2, 1]), "the workgroup size of fixed_block");
    let free = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    ensure_eq!(free.info().workgroup_size, None, "the workgroup size of vector_add");
    ensure!(
        free.info().max_workgroup_threads >= 64,
        "at most {} work-items",
        free.info().max_workgroup_threads
    );
    Ok(())
}

fn reflects_local_memory(ctx: &Context) -> Outcome {
    let histogram = ctx.function(&kernels::HISTOGRAM, "histogram")?;
    ensure_eq!(histogram.info().static_local_memory, 1024, "the local memory of histogram");
    let vector_add = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    ensure_eq!(vector_add.info().static_local_memory, 0, "the local memory of vector_add");
    Ok(())
}

fn function_outlives_executable(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
    // The executable's own handle is dropped here.
    vector_add_with(ctx, &function, 1000)
}

fn known_by_its_bytes(ctx: &Context) -> Outcome {
    let good = kernels::VECTOR_ADD.bytes;
    // Without its magic the file is invalid.
    let mut bad = good.to_vec();
    bad[..4].fill(0);
    for _ in 0..2 {
        let function = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
        vector_add_with(ctx, &function, 100)?;
        let again = ctx.function(&kernels::VECTOR_ADD, "vector_add")?;
        vector_add_with(ctx, &function, 10)?;
        drop(function);
        vector_add_with(ctx, &again, 10)?;
        // SAFETY: invalid code cannot be dispatched.
        let loaded = unsafe { ctx.device().load_executable(&bad) };
        refused(loaded, Code::InvalidArgument, "invalid code of the same length as loaded code")?;
    }
    Ok(())
}

/// An uncompressed bundle without code for the device. An entry for the device gets the name of another processor.
/// The host's entries get the machine of no host.
fn without_own_entry(own: &str) -> Vec<u8> {
    let mut bytes = kernels::VECTOR_ADD_UNCOMPRESSED.bytes.to_vec();
    // Entries begin at multiples of a page. The values are e_machine of x86-64 and of aarch64.
    const MACHINES: [[u8; 2]; 2] = [[62, 0], [183, 0]];
    for code in bytes.chunks_mut(4096).filter(|page| page.starts_with(b"\x7fELF")) {
        if MACHINES.iter().any(|machine| code[18..20] == *machine) {
            code[18..20].fill(0);
        }
    }
    let exact = kernels::PROCESSORS.into_iter().find(|processor| *processor == own);
    for name in [exact, kernels::generic_for(own)].into_iter().flatten() {
        // The name is as long as the replaced one, and compatible with none of the processors.
        let other = match name.len() {
            6 => "gfx802",
            7 => "gfx1013",
            13 if name == "gfx12-generic" => "gfx11-generic",
            13 => "gfx12-generic",
            14 => "gfx9-7-generic",
            _ => "gfx12-5-generic",
        };
        // The table of entries lies in the first page, and the code after it.
        for start in 0..4096.min(bytes.len()) - name.len() {
            if bytes[start..].starts_with(name.as_bytes()) {
                bytes[start..start + name.len()].copy_from_slice(other.as_bytes());
            }
        }
    }
    bytes
}

fn wrong_architecture_refused(ctx: &Context) -> Outcome {
    let own = processor(&ctx.device().info().architecture);
    let loaded = try_load(ctx.device(), &without_own_entry(own));
    if !kernels::is_gpu(ctx.device()) {
        // To a device that takes no bundles, a bundle is invalid code.
        if matches!(&loaded, Err(error) if error.code() == Code::InvalidArgument) {
            return Ok(());
        }
    }
    let error = refused(loaded, Code::NotFound, "a bundle without code for the device")?;
    names(&error, own)?;
    for other in kernels::PROCESSORS.into_iter().filter(|processor| *processor != own) {
        names(&error, other)?;
    }
    if own != "gfx942" {
        let alone = try_load(ctx.device(), kernels::VECTOR_ADD_GFX942.bytes);
        names(&refused(alone, Code::NotFound, "a code object for gfx942")?, "gfx942")?;
    }
    Ok(())
}

fn garbage_refused(ctx: &Context) -> Outcome {
    let mut random = ctx.random();
    let noise = random.bytes(5000);
    let zeros = vec![0; 5000];
    for (what, bytes) in [
        ("an empty file", &[][..]),
        ("one byte", b"x"),
        ("text", b"#!/bin/sh\necho this is no kernel\n"),
        ("zeros", &zeros),
        ("noise", &noise),
        ("the magic of a compressed bundle alone", b"CCOB"),
        ("the magic of a bundle alone", b"__CLANG_OFFLOAD_BUNDLE__"),
        ("the magic of an ELF file alone", b"\x7fELF"),
    ] {
        refused(try_load(ctx.device(), bytes), Code::InvalidArgument, what)?;
    }
    Ok(())
}

fn truncated_refused(ctx: &Context) -> Outcome {
    // Each of these files has code for the device, or only for gfx942, near its end.
    for module in [&kernels::VECTOR_ADD, &kernels::VECTOR_ADD_V2_ZLIB, &kernels::VECTOR_ADD_V1] {
        ctx.load(module)?;
        let bytes = ctx.module_bytes(module)?;
        let length = bytes.len();
        for cut in (0..length).step_by(length / 40 + 1) {
            if let Ok(executable) = try_load(ctx.device(), &bytes[..cut]) {
                return Err(Stop::fail(format!(
                    "{} cut to {cut} of {length} bytes was loaded: {executable:?}",
                    module.name
                )));
            }
        }
    }
    Ok(())
}

fn usable_after_refusals(ctx: &Context) -> Outcome {
    garbage_refused(ctx)?;
    function_outlives_executable(ctx)
}

fn loads_at_once(ctx: &Context) -> Outcome {
    ctx.load(&kernels::ENTRIES)?;
    on_threads(4, |_| {
        for _ in 0..5 {
            lists_functions(ctx)?;
            ctx.load(&kernels::VECTOR_ADD)?;
        }
        Ok(())
    })
}
