// SPDX-License-Identifier: MIT OR Apache-2.0
//! The heaps of a device, and the compatibility of buffers that it reports.

use windlass_hal::{BufferParams, BufferUsage, Code, Compatibility, Feature, MemoryType};

use crate::{
    check::{ensure, ensure_eq},
    context::Context,
    outcome::{Outcome, Stop},
};

suite! { "heap";
    #[smoke] kinds: "A device has a heap for device memory and a heap for mappable memory, each with an alignment and a size.";
    alignment_holds: "Every allocation has the alignment of its heap.";
    allocatable_is_allocated: "Parameters that are reported as allocatable can be allocated and used as reported.";
    too_large_is_nothing: "A size larger than every heap is compatible with nothing, and cannot be allocated.";
    nonsense_is_nothing: "Invalid parameters are compatible with nothing.";
    transfer_and_dispatch_by_usage: "Compatibility with transfers and dispatches follows the requested usage.";
    importable_without_a_lack: "Memory is importable unless the device declares a lack of imports.";
    a_wish_is_low_performance: "Memory in another place than the preferred one is allocatable with LOW_PERFORMANCE.";
}

const EACH: [BufferParams; 2] = [BufferParams::device(), BufferParams::host()];

fn kinds(ctx: &Context) -> Outcome {
    let (device, heaps) = (ctx.device(), ctx.device().heaps());
    for params in EACH {
        let serving = heaps
            .iter()
            .find(|heap| heap.memory_type.contains(params.memory_type) && heap.usage.contains(params.usage));
        ensure!(serving.is_some(), "no heap for {params:?} among {heaps:?}");
    }
    for heap in heaps {
        ensure!(heap.min_alignment.is_power_of_two(), "an alignment of {}", heap.min_alignment);
        ensure!(heap.max_size > 0, "a heap that no buffer fits in: {heap:?}");
        ensure_eq!(
            heap.min_alignment % device.limits().allocation_alignment,
            0,
            "the remainder of the alignment of {heap:?}"
        );
    }
    let first = heaps.first().map_or(MemoryType::NONE, |heap| heap.memory_type);
    ensure!(
        first.contains(MemoryType::DEVICE_VISIBLE),
        "the first heap is the best for dispatches: {first:?}"
    );
    Ok(())
}

fn alignment_holds(ctx: &Context) -> Outcome {
    for params in EACH {
        let heaps = ctx.device().heaps().iter();
        let alignment = heaps
            .filter(|heap| heap.memory_type.contains(params.memory_type))
            .map(|heap| heap.min_alignment)
            .min()
            .ok_or_else(|| Stop::fail(format!("no heap for {params:?}")))?;
        for size in [1, 100, 5000, 1 << 20] {
            let address = ctx.device().allocate(&params, size)?.device_address();
            ensure!(address % alignment == 0, "{address:#x} is no multiple of {alignment}");
        }
    }
    Ok(())
}

fn allocatable_is_allocated(ctx: &Context) -> Outcome {
    let everything = Compatibility::ALLOCATABLE | Compatibility::EXPORTABLE | Compatibility::QUEUE_TRANSFER;
    for params in EACH {
        for size in [0, 1, 64, 1 << 20] {
            let compatibility = ctx.device().compatibility(&params, size);
            ensure!(compatibility.contains(everything), "{size} bytes, {params:?}: {compatibility:?}");
            ensure_eq!(ctx.device().allocate(&params, size)?.len(), size, "the size");
        }
    }
    Ok(())
}

fn too_large_is_nothing(ctx: &Context) -> Outcome {
    let device = ctx.device();
    for params in EACH {
        let largest = device.heaps().iter().filter(|heap| heap.memory_type.contains(params.memory_type));
        let Some(beyond) = largest.map(|heap| heap.max_size).max().and_then(|size| size.checked_add(1))
        else {
            // The amount of free memory is unknown.
            continue;
        };
        ensure_eq!(
            device.compatibility(&params, beyond - 1).contains(Compatibility::ALLOCATABLE),
            true,
            "the most"
        );
        ensure_eq!(device.compatibility(&params, beyond), Compatibility::NONE, "one byte more");
        crate::check::refused(device.allocate(&params, beyond), Code::ResourceExhausted, "one byte more")?;
    }
    Ok(())
}

fn nonsense_is_nothing(ctx: &Context) -> Outcome {
    for params in EACH {
        let odd = params.with_min_alignment(3);
        ensure_eq!(ctx.device().compatibility(&odd, 64), Compatibility::NONE, "an alignment of 3");
    }
    let mapped = BufferParams::device().with_usage(BufferUsage::MAPPING);
    let compatibility = ctx.device().compatibility(&mapped, 64);
    let served = ctx.device().heaps().iter().any(|heap| heap.usage.contains(BufferUsage::MAPPING));
    ensure_eq!(compatibility.contains(Compatibility::ALLOCATABLE), served, "memory to be mapped");
    Ok(())
}

fn transfer_and_dispatch_by_usage(ctx: &Context) -> Outcome {
    let dispatches = ctx.require(Feature::Dispatch).is_ok();
    for (usage, transfer, dispatch) in [
        (BufferUsage::DEFAULT, true, dispatches),
        (BufferUsage::TRANSFER_SOURCE, true, false),
        (BufferUsage::TRANSFER_TARGET, true, false),
        (BufferUsage::DISPATCH_STORAGE_READ, false, dispatches),
        (BufferUsage::DISPATCH_INDIRECT_PARAMETERS, false, dispatches),
    ] {
        let compatibility = ctx.device().compatibility(&BufferParams::device().with_usage(usage), 64);
        let told = [Compatibility::QUEUE_TRANSFER, Compatibility::QUEUE_DISPATCH]
            .map(|flag| compatibility.contains(flag));
        ensure_eq!(told, [transfer, dispatch], "transfers and dispatches of {usage:?}");
    }
    Ok(())
}

fn importable_without_a_lack(ctx: &Context) -> Outcome {
    for (params, feature) in EACH.into_iter().zip([Feature::ImportDevice, Feature::ImportHost]) {
        let importable = ctx.device().compatibility(&params, 64).contains(Compatibility::IMPORTABLE);
        ensure_eq!(importable, ctx.require(feature).is_ok(), "whether {params:?} can be imported");
    }
    Ok(())
}

fn a_wish_is_low_performance(ctx: &Context) -> Outcome {
    let mut wish = BufferParams::host();
    wish.memory_type = wish.memory_type | MemoryType::DEVICE_LOCAL;
    let compatibility = ctx.device().compatibility(&wish, 64);
    let granted = ctx
        .device()
        .heaps()
        .iter()
        .any(|heap| heap.memory_type.contains(wish.memory_type) && heap.usage.contains(wish.usage));
    ensure!(
        compatibility.contains(Compatibility::ALLOCATABLE),
        "mappable device memory is {compatibility:?}"
    );
    ensure_eq!(compatibility.contains(Compatibility::LOW_PERFORMANCE), !granted, "whether it is slow");
    ensure_eq!(ctx.device().allocate(&wish, 64)?.map()?.len(), 64, "the mapping's length");
    Ok(())
}
