// SPDX-License-Identifier: MIT OR Apache-2.0
//! Launches.

use crate::gpu::{Add, ENTRIES, FAULTS, Gpu, POSITIONS, address, block};
use crate::hips::OK;

/// A submission packs its block into memory that the next one reuses.
pub(crate) fn arguments_are_copied_when_a_kernel_is_launched(gpu: &Gpu<'_>) {
    let stream = gpu.stream();
    let mut add = Add::new(gpu);
    let gate = gpu.hold(stream);
    gpu.while_closed(&gate, || assert_eq!(add.launch(gpu, stream), OK));
    add.arguments.fill(0xff);
    drop(gate);
    add.check(gpu, stream);
    ok!(gpu.hipStreamDestroy(stream));
}

/// A block of the explicit arguments is enough, and a grid counts workgroups.
pub(crate) fn hidden_arguments_are_filled_by_hip(gpu: &Gpu<'_>) {
    let stream = gpu.stream();
    let (grid, group) = ([3_u32, 2, 1], [4_u32, 2, 2]);
    let items = (grid.iter().product::<u32>() * group.iter().product::<u32>()) as usize;
    let out = gpu.device_memory(48 * items);
    let kernel = gpu.find(POSITIONS, c"write_positions");
    assert_eq!(gpu.launch(kernel, grid, group, 0, stream, &address(out)), OK);
    let words = gpu.read_words(stream, out, 12 * items);
    for row in words.chunks_exact(12) {
        assert_eq!((&row[6..9], &row[9..12]), (&group[..], &grid[..]));
    }
    assert_eq!(words[words.len() - 12..][..6], [3, 1, 1, 2, 1, 0]);
    ok!(gpu.hipFree(out));
    ok!(gpu.hipStreamDestroy(stream));
}

pub(crate) fn a_kernel_without_parameters_needs_no_block(gpu: &Gpu<'_>) {
    let stream = gpu.stream();
    assert_eq!(gpu.launch(gpu.find(ENTRIES, c"empty"), [2, 1, 1], [64, 1, 1], 0, stream, &[]), OK);
    ok!(gpu.hipStreamSynchronize(stream));
    ok!(gpu.hipStreamDestroy(stream));
}

pub(crate) fn local_memory_beyond_what_is_declared_is_there(gpu: &Gpu<'_>) {
    let stream = gpu.stream();
    let out = gpu.device_memory(4);
    let kernel = gpu.find(FAULTS, c"write_lds_at");
    let arguments = block(&[&address(out), &1023_u32.to_le_bytes(), &77_u32.to_le_bytes()]);
    assert_eq!(gpu.launch(kernel, [1; 3], [1; 3], 4096, stream, &arguments), OK);
    assert_eq!(gpu.read_words(stream, out, 1), [77]);
    ok!(gpu.hipFree(out));
    ok!(gpu.hipStreamDestroy(stream));
}

/// HIP also refuses the launches that the front refuses, at once, and the stream continues.
pub(crate) fn a_launch_that_cannot_be_is_refused_and_does_no_harm(gpu: &Gpu<'_>) {
    let stream = gpu.stream();
    let add = Add::new(gpu);
    let launch = |grid, block, local| gpu.launch(add.function, grid, block, local, stream, &add.arguments);
    assert_ne!(launch([0, 1, 1], [64, 1, 1], 0), OK, "no workgroup");
    assert_ne!(launch([1, 1, 1], [64, 0, 1], 0), OK, "no work-item");
    assert_ne!(launch([1, 1, 1], [2048, 1, 1], 0), OK, "too many work-items");
    assert_ne!(launch([1, 1, 1], [64, 1, 1], 1 << 24), OK, "too much local memory");
    call!(gpu.hipGetLastError());
    assert_eq!(add.launch(gpu, stream), OK);
    add.check(gpu, stream);
    ok!(gpu.hipStreamDestroy(stream));
}
