// SPDX-License-Identifier: MIT OR Apache-2.0
//! The view of a workgroup that a kernel in Rust gets.

use std::fmt;

use crate::arguments::Arguments;

/// One workgroup of a dispatch.
#[non_exhaustive]
pub struct Workgroup<'a> {
    /// The arguments of the dispatch, the same for every workgroup.
    pub arguments: Arguments<'a>,
    /// The position of this workgroup in the grid, in x, y, z.
    pub id: [u32; 3],
    /// The number of workgroups of the grid, in x, y, z.
    pub count: [u32; 3],
    /// The number of work-items of a workgroup, in x, y, z.
    pub size: [u32; 3],
    /// Local memory, aligned to 64 bytes: the bytes that the kernel declares, then the bytes that the dispatch
    /// requests. It belongs to this workgroup alone, and its initial content is arbitrary.
    pub local_memory: &'a mut [u8],
}

impl Workgroup<'_> {
    /// The work-items by their position in the workgroup, x fastest.
    pub fn items(&self) -> impl Iterator<Item = [u32; 3]> + use<> {
        let [x, y, z] = self.size;
        (0..z).flat_map(move |k| (0..y).flat_map(move |j| (0..x).map(move |i| [i, j, k])))
    }

    /// The work-items by their position in the grid, x fastest within the workgroup.
    pub fn global_items(&self) -> impl Iterator<Item = [u32; 3]> + use<> {
        // A grid has fewer than 2^32 work-items in each dimension.
        let start: [u32; 3] = std::array::from_fn(|axis| self.id[axis] * self.size[axis]);
        self.items().map(move |item| std::array::from_fn(|axis| start[axis] + item[axis]))
    }
}

impl fmt::Debug for Workgroup<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Workgroup({:?} of {:?}, {:?} work-items)", self.id, self.count, self.size)
    }
}
