// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels that share local memory. Where a GPU kernel has a barrier, one loop over the work-items ends and the next
//! begins.

use std::sync::atomic::Ordering::Relaxed;

use crate::{LibraryBuilder, Pointer};

use super::items::{kernel, strided};

/// Local memory as words.
fn words(bytes: &mut [u8]) -> &mut [[u8; 4]] {
    bytes.as_chunks_mut().0
}

fn float(word: [u8; 4]) -> f32 {
    f32::from_ne_bytes(word)
}

/// Replaces a float that other threads may replace at the same time.
///
/// # Safety
/// As for [`Pointer::atomic`].
unsafe fn update(cell: Pointer<u32>, result: impl Fn(f32) -> f32) {
    // SAFETY: the caller's.
    let cell = unsafe { cell.atomic(0) };
    let replaced = cell.fetch_update(Relaxed, Relaxed, |bits| Some(result(f32::from_bits(bits)).to_bits()));
    debug_assert!(replaced.is_ok());
}

pub(super) fn reduce(mut library: LibraryBuilder) -> LibraryBuilder {
    type Combine = fn(f32, f32) -> f32;
    let (sum, largest): (Combine, Combine) = (|a, b| a + b, f32::max);
    let reductions =
        [("reduce_sum", "total", 0.0, sum), ("reduce_max", "largest", f32::NEG_INFINITY, largest)];
    for (name, result, neutral, combine) in reductions {
        let reduce = kernel(name, move |group| {
            let (from, n) = (group.arguments.buffer::<f32>(0)?, group.arguments.value::<i32>(2)?.max(0));
            let (width, stride) = (group.size[0] as usize, (group.count[0] * group.size[0]) as usize);
            let start = group.id[0] as usize * width;
            let partial = words(group.local_memory);
            for (x, cell) in partial.iter_mut().enumerate().take(width) {
                // SAFETY: i < n, and the buffer holds n elements.
                let each = (start + x..n as usize).step_by(stride).map(|i| unsafe { from.load(i) });
                *cell = each.fold(neutral, combine).to_ne_bytes();
            }
            let mut half = width / 2;
            while half > 0 {
                for x in 0..half {
                    partial[x] = combine(float(partial[x]), float(partial[x + half])).to_ne_bytes();
                }
                half /= 2;
            }
            let whole = float(partial[0]);
            // SAFETY: the buffer holds one word, which all that runs meanwhile treats as this atomic.
            unsafe { update(group.arguments.buffer(1)?, |seen| combine(seen, whole)) };
            Ok(())
        });
        library = library.kernel(reduce.buffer("in").buffer(result).value::<i32>("n"));
    }
    library
}

pub(super) fn histogram(library: LibraryBuilder) -> LibraryBuilder {
    let histogram = kernel("histogram", |group| {
        let (from, bins) = (group.arguments.buffer::<u8>(0)?, group.arguments.buffer::<u32>(1)?);
        let items = strided(group, group.arguments.value(2)?);
        let counts = words(group.local_memory);
        counts.fill([0; 4]);
        for i in items {
            // SAFETY: i < n, and the buffer holds n bytes.
            let bin = usize::from(unsafe { from.load(i) });
            counts[bin] = u32::from_ne_bytes(counts[bin]).wrapping_add(1).to_ne_bytes();
        }
        for (bin, count) in counts.iter().enumerate() {
            // SAFETY: there are 256 counts and 256 bins, and all that runs meanwhile treats these as atomics.
            unsafe { bins.atomic(bin) }.fetch_add(u32::from_ne_bytes(*count), Relaxed);
        }
        Ok(())
    });
    let histogram = histogram.buffer("in").buffer("bins").value::<i32>("n");
    library.kernel(histogram.max_workgroup_threads(256).local_memory(1024))
}

/// The width of a tile in words. A GPU kernel pads its rows by a word because of LDS banks.
const TILE: usize = 16;
const ROW: usize = TILE + 1;

pub(super) fn matmul(library: LibraryBuilder) -> LibraryBuilder {
    let matmul = kernel("matmul", |group| {
        let arguments = group.arguments;
        let [a, b, c] = [arguments.buffer::<f32>(0)?, arguments.buffer(1)?, arguments.buffer(2)?];
        let size = |index| Ok(arguments.value::<i32>(index)?.max(0) as usize);
        let (m, n, k) = (size(3)?, size(4)?, size(5)?);
        let (top, left) = (group.id[1] as usize * TILE, group.id[0] as usize * TILE);
        let items = group.items().map(|[x, y, _]| (x as usize, y as usize));
        let items: Vec<_> = items.filter(|(x, y)| *x < TILE && *y < TILE).collect();
        let (a_tile, b_tile) = words(group.local_memory).split_at_mut(TILE * ROW);
        let mut sums = [[0.0_f32; TILE]; TILE];
        for start in (0..k).step_by(TILE) {
            for &(x, y) in &items {
                let (row, column) = (top + y, left + x);
                // SAFETY: row < m and start + x < k, within a[m, k].
                let from_a = (row < m && start + x < k).then(|| unsafe { a.load(row * k + start + x) });
                // SAFETY: start + y < k and column < n, within b[k, n].
                let from_b =
                    (start + y < k && column < n).then(|| unsafe { b.load((start + y) * n + column) });
                a_tile[y * ROW + x] = from_a.unwrap_or(0.0).to_ne_bytes();
                b_tile[y * ROW + x] = from_b.unwrap_or(0.0).to_ne_bytes();
            }
            for &(x, y) in &items {
                for j in 0..TILE {
                    sums[y][x] = float(a_tile[y * ROW + j]).mul_add(float(b_tile[j * ROW + x]), sums[y][x]);
                }
            }
        }
        for &(x, y) in items.iter().filter(|(x, y)| top + y < m && left + x < n) {
            // SAFETY: within c[m, n].
            unsafe { c.store((top + y) * n + left + x, sums[y][x]) };
        }
        Ok(())
    });
    let matmul = matmul.buffer("a").buffer("b").buffer("c").value::<i32>("m").value::<i32>("n");
    library
        .kernel(matmul.value::<i32>("k").max_workgroup_threads(256).local_memory(2 * 4 * (TILE * ROW) as u32))
}
