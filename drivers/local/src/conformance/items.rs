// SPDX-License-Identifier: MIT OR Apache-2.0
//! Declares a kernel of the suite, and iterates over the work-items of a workgroup.

use windlass_hal::Result;

use crate::{Kernel, Workgroup};

/// A kernel for workgroups of up to 1024 work-items, the default of compilers for AMD GPUs.
pub(super) fn kernel(
    name: &str,
    code: impl Fn(&mut Workgroup<'_>) -> Result<()> + Send + Sync + 'static,
) -> Kernel {
    Kernel::new(name, code).max_workgroup_threads(1024)
}

/// The global indices of a one-dimensional workgroup's work-items, as far as they are below `n`.
pub(super) fn below(group: &Workgroup<'_>, n: i32) -> impl Iterator<Item = usize> + use<> {
    group.global_items().map(|[x, _, _]| x as usize).filter(move |x| (*x as i64) < i64::from(n))
}

/// The elements that a one-dimensional workgroup visits in a loop that strides over the whole grid.
pub(super) fn strided(group: &Workgroup<'_>, n: i32) -> impl Iterator<Item = usize> + use<> {
    let stride = group.count[0] as usize * group.size[0] as usize;
    let items = group.global_items();
    items.flat_map(move |[x, _, _]| (x as usize..n.max(0) as usize).step_by(stride))
}
