// SPDX-License-Identifier: MIT OR Apache-2.0
//! Exports of memory, and imports of memory by its device address.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering::SeqCst},
};

use windlass_hal::{
    Buffer, BufferParams, BufferUsage, Code, Device, Exported, External, Location, Result, Semaphore,
};

use super::dispatch::{bytes_of, floats, over, to_floats};
use crate::{
    check::{ensure, ensure_eq, refused, same_bytes, same_items},
    context::{Context, queue_of},
    kernels,
    outcome::{Outcome, Stop},
};

suite! { "export";
    #[smoke] device_address: "An exported device address is that of the range's first byte, with the range's size.";
    location: "A part of a buffer is in the buffer's location. Memory for the host is not a GPU's own, and as memory of the process it has the host's pointer for its address.";
    host_pointer: "A queue reads the program's writes through an exported pointer, and the program reads the queue's.";
    keeps_the_memory: "An export keeps the memory allocated after every other handle is dropped.";
    outlives_the_device: "An exported pointer stays valid after the device is dropped.";
    empty_refused: "An export of no bytes is INVALID_ARGUMENT.";
    host_needs_mapping: "A host pointer to memory without usage MAPPING is FAILED_PRECONDITION.";
    #[smoke] round_trip [ImportDevice]: "Memory imported by its address is the same memory, for reads and for writes.";
    round_trip_of_a_part [ImportDevice]: "A part of an allocation can be imported by its address.";
    imported_argument [ImportDevice, Dispatch]: "A kernel works on memory imported by its address.";
    import_released [ImportDevice]: "The release of an imported address is called once, after the last handle and the last use.";
    imported_by_another_device [ImportDevice]: "Another opened device on the same hardware works on the memory, or refuses it with INVALID_ARGUMENT.";
    null_address_refused [ImportDevice]: "An import of address 0 is INVALID_ARGUMENT.";
    empty_import_refused [ImportDevice]: "An import of no bytes at an address of the device is INVALID_ARGUMENT.";
    mappable_import_refused [ImportDevice]: "An import of a device address for mapping is INVALID_ARGUMENT.";
}

/// Imports exported memory. The import's release drops the export.
fn import(device: &Device, exported: &Exported, releases: &Arc<AtomicU32>) -> Result<Buffer> {
    let (kept, releases) = (exported.clone(), releases.clone());
    let release = move || {
        drop(kept);
        releases.fetch_add(1, SeqCst);
    };
    let (address, size) = (exported.address(), exported.memory().size());
    // SAFETY: the memory is that of a device on the same hardware, and the release keeps it. Or the device refuses
    // the address.
    unsafe { device.import_device_address(&BufferParams::device(), address, size, release) }
}

fn device_address(ctx: &Context) -> Outcome {
    for params in [BufferParams::device(), BufferParams::host()] {
        let buffer = ctx.device().allocate(&params, 10_000)?;
        let exported = buffer.export_device_address()?;
        let address = buffer.device_address();
        ensure_eq!(exported.memory(), External::Device { address, size: 10_000 }, "the export");
        let part = buffer.subspan(100, 50)?.export_device_address()?;
        ensure_eq!(
            part.memory(),
            External::Device { address: address + 100, size: 50 },
            "the export of a part"
        );
    }
    Ok(())
}

fn location(ctx: &Context) -> Outcome {
    let host = ctx.device().allocate(&BufferParams::host(), 10_000)?;
    for buffer in [&host, &ctx.device().allocate_device(10_000)?] {
        let part = buffer.subspan(100, 50)?;
        ensure_eq!(part.location(), buffer.location(), "the location of a part");
    }
    match host.location() {
        Some(Location::Rocm(ordinal)) => {
            Err(Stop::fail(format!("memory for the host is said to be GPU {ordinal}'s own")))
        }
        Some(Location::Host) => {
            let pointer = host.map()?.as_ptr().addr() as u64;
            ensure_eq!(host.device_address(), pointer, "the address of memory of the process");
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The host pointer of an export.
fn pointer(exported: &Exported) -> Outcome<*mut u8> {
    match exported.memory() {
        External::Host { pointer, .. } => Ok(pointer.as_ptr()),
        other => Err(Stop::fail(format!("a host pointer was exported as {other:?}"))),
    }
}

fn host_pointer(ctx: &Context) -> Outcome {
    let (buffer, target, done) = (ctx.host_buffer(64)?, ctx.filled(8, 0)?, Semaphore::new(0));
    let exported = buffer.subspan(16, 8)?.export_host_pointer()?;
    ensure_eq!(exported.memory().size(), 8, "the size of the export");
    let bytes = pointer(&exported)?;
    buffer.map()?.write(0, &[1; 64])?;
    for index in 0..8 {
        // SAFETY: the bytes are exported, and no work is in flight.
        unsafe { bytes.add(index).write(2) };
    }
    ctx.queue(0)?.copy(&[], &[done.at(1)], &buffer.subspan(16, 8)?, &target)?;
    same_bytes(&ctx.download_after(&done.at(1), &target)?, &[2; 8], "the bytes that a queue read")?;
    ctx.queue(0)?.fill(&[], &[done.at(2)], &buffer, 3_u8)?;
    ctx.wait(&done.at(2))?;
    // SAFETY: as above.
    let seen: Vec<u8> = (0..8).map(|index| unsafe { bytes.add(index).read() }).collect();
    same_bytes(&seen, &[3; 8], "the bytes that a queue wrote")
}

fn keeps_the_memory(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let before = device.statistics().device_bytes_used;
    let buffer = device.allocate_device(1 << 16)?;
    let exported = buffer.export_device_address()?;
    let during = device.statistics().device_bytes_used;
    ensure_eq!(during - before, 1 << 16, "bytes in use");
    drop(buffer);
    ensure_eq!(device.statistics().device_bytes_used, during, "bytes in use while an export lives");
    let copy = exported.clone();
    drop(exported);
    ensure_eq!(device.statistics().device_bytes_used, during, "bytes in use while its clone lives");
    drop(copy);
    ensure_eq!(device.statistics().device_bytes_used, before, "bytes in use afterwards");
    Ok(())
}

fn outlives_the_device(ctx: &Context) -> Outcome {
    let device = ctx.open()?;
    let (buffer, done) = (device.allocate(&BufferParams::host(), 64)?, Semaphore::new(0));
    queue_of(&device, 0)?.fill(&[], &[done.at(1)], &buffer, 5_u8)?;
    ctx.wait(&done.at(1))?;
    let exported = buffer.export_host_pointer()?;
    drop((buffer, device));
    let bytes = pointer(&exported)?;
    // SAFETY: the bytes are exported, and no work is in flight.
    let seen: Vec<u8> = (0..64).map(|index| unsafe { bytes.add(index).read() }).collect();
    same_bytes(&seen, &[5; 64], "the bytes behind the pointer")
}

fn empty_refused(ctx: &Context) -> Outcome {
    let buffer = ctx.host_buffer(64)?.subspan(64, 0)?;
    refused(buffer.export_device_address(), Code::InvalidArgument, "an export of no bytes")?;
    refused(buffer.export_host_pointer(), Code::InvalidArgument, "an export of no bytes")?;
    Ok(())
}

fn host_needs_mapping(ctx: &Context) -> Outcome {
    let memory = ctx.device().allocate_device(64)?;
    refused(memory.export_host_pointer(), Code::FailedPrecondition, "a pointer to device memory")?;
    let unmapped = BufferParams::host().with_usage(BufferUsage::TRANSFER);
    let memory = ctx.device().allocate(&unmapped, 64)?;
    refused(memory.export_host_pointer(), Code::FailedPrecondition, "a pointer without usage MAPPING")?;
    Ok(())
}

fn round_trip(ctx: &Context) -> Outcome {
    let bytes = ctx.random().bytes(4096);
    let (original, done) = (ctx.upload(&bytes)?, Semaphore::new(0));
    let twin = import(ctx.device(), &original.export_device_address()?, &Arc::default())?;
    ensure_eq!(
        (twin.device_address(), twin.len()),
        (original.device_address(), 4096),
        "the address and the size"
    );
    same_bytes(&ctx.download(&twin)?, &bytes, "the bytes of the import")?;
    ctx.queue(0)?.fill(&[], &[done.at(1)], &twin, 6_u8)?;
    same_bytes(
        &ctx.download_after(&done.at(1), &original)?,
        &[6; 4096],
        "the bytes written through the import",
    )
}

fn round_trip_of_a_part(ctx: &Context) -> Outcome {
    let (original, done) = (ctx.filled(1000, 1)?, Semaphore::new(0));
    let part = original.subspan(300, 100)?.export_device_address()?;
    let twin = import(ctx.device(), &part, &Arc::default())?;
    ctx.queue(0)?.fill(&[], &[done.at(1)], &twin.subspan(10, 20)?, 2_u8)?;
    let mut expected = [1; 1000];
    expected[310..330].fill(2);
    same_bytes(&ctx.download_after(&done.at(1), &original)?, &expected, "the allocation")
}

fn imported_argument(ctx: &Context) -> Outcome {
    let function = ctx.function(&kernels::ENTRIES, "twice")?;
    let input: Vec<f32> = (0..100).map(|i| 0.5 * i as f32).collect();
    let (source, out, done) = (floats(ctx, &input)?, ctx.filled(400, 0)?, Semaphore::new(0));
    let from = import(ctx.device(), &source.export_device_address()?, &Arc::default())?;
    let to = import(ctx.device(), &out.export_device_address()?, &Arc::default())?;
    drop(source);
    let arguments = [from.arg(), to.arg(), 100_i32.into()];
    ctx.queue(0)?.dispatch(&[], &[done.at(1)], &function, over(100), &arguments)?;
    let expected: Vec<f32> = input.iter().map(|x| x + x).collect();
    let bytes = ctx.download_after(&done.at(1), &out)?;
    same_bytes(&bytes, &bytes_of(&expected, f32::to_le_bytes), "the result")?;
    same_items(&to_floats(&ctx.download(&to)?), &expected, "the same by the import")
}

fn import_released(ctx: &Context) -> Outcome {
    let (releases, gate, done) = (Arc::<AtomicU32>::default(), Semaphore::new(0), Semaphore::new(0));
    let original = ctx.filled(64, 1)?;
    let twin = import(ctx.device(), &original.export_device_address()?, &releases)?;
    ctx.queue(0)?.fill(&[gate.at(1)], &[done.at(1)], &twin, 2_u8)?;
    drop(twin);
    ctx.device().poll();
    ensure_eq!(releases.load(SeqCst), 0, "calls of the release while work is in flight");
    gate.signal(1)?;
    same_bytes(&ctx.download_after(&done.at(1), &original)?, &[2; 64], "the memory")?;
    ctx.until("the memory is given back", || releases.load(SeqCst) > 0)?;
    ensure_eq!(releases.load(SeqCst), 1, "calls of the release");
    Ok(())
}

fn imported_by_another_device(ctx: &Context) -> Outcome {
    let (other, done) = (ctx.open()?, Semaphore::new(0));
    let original = ctx.filled(64, 1)?;
    let twin = match import(&other, &original.export_device_address()?, &Arc::default()) {
        Err(error) if error.code() == Code::InvalidArgument => return Ok(()),
        twin => twin?,
    };
    queue_of(&other, 0)?.fill(&[], &[done.at(1)], &twin, 2_u8)?;
    same_bytes(
        &ctx.download_after(&done.at(1), &original)?,
        &[2; 64],
        "the bytes that the other device wrote",
    )
}

/// Checks that an import is refused.
fn no_import(ctx: &Context, params: &BufferParams, address: u64, size: u64, what: &str) -> Outcome {
    let owned = Arc::new(());
    let owner = owned.clone();
    // SAFETY: the import is refused for every address.
    let import = unsafe { ctx.device().import_device_address(params, address, size, move || drop(owner)) };
    refused(import, Code::InvalidArgument, what)?;
    ensure!(Arc::strong_count(&owned) == 1, "a refused import keeps its release");
    Ok(())
}

fn null_address_refused(ctx: &Context) -> Outcome {
    no_import(ctx, &BufferParams::device(), 0, 64, "address 0")
}

fn empty_import_refused(ctx: &Context) -> Outcome {
    no_import(ctx, &BufferParams::device(), 4096, 0, "an import of no bytes")
}

fn mappable_import_refused(ctx: &Context) -> Outcome {
    let mapping = BufferParams::device().with_usage(BufferUsage::DEFAULT | BufferUsage::MAPPING);
    for params in [BufferParams::host(), mapping] {
        no_import(ctx, &params, 4096, 64, "a device address to be mapped")?;
    }
    Ok(())
}
