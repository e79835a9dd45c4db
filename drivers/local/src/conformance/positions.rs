// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels that write down where they run.

use crate::{LibraryBuilder, Workgroup};

use super::items::kernel;

pub(super) fn all(library: LibraryBuilder) -> LibraryBuilder {
    let workgroup_ids = kernel("write_workgroup_ids", |group| {
        let (out, linear) = (group.arguments.buffer::<u32>(0)?, linear(group));
        for (at, value) in group.id.into_iter().chain([linear]).enumerate() {
            // SAFETY: the buffer holds four words for each workgroup.
            unsafe { out.store(4 * linear as usize + at, value) };
        }
        Ok(())
    });
    let positions = kernel("write_positions", |group| {
        let (out, size) = (group.arguments.buffer::<u32>(0)?, group.size.iter().product::<u32>());
        for (item, place) in group.items().enumerate() {
            let row = 12 * (linear(group) as usize * size as usize + item);
            let values = [place, group.id, group.size, group.count];
            for (at, value) in values.into_iter().flatten().enumerate() {
                // SAFETY: the buffer holds twelve words for each work-item.
                unsafe { out.store(row + at, value) };
            }
        }
        Ok(())
    });
    library.kernel(workgroup_ids.buffer("out")).kernel(positions.buffer("out"))
}

/// The number of a workgroup, x fastest.
fn linear(group: &Workgroup<'_>) -> u32 {
    group.id[0] + group.count[0] * (group.id[1] + group.count[1] * group.id[2])
}
