// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels that compute each element from the elements at the same index.

use crate::{LibraryBuilder, Pointer, Scalar, Workgroup};
use windlass_hal::Result;

use super::items::{below, kernel, strided};

pub(super) fn vector_add(library: LibraryBuilder) -> LibraryBuilder {
    let add = kernel("vector_add", |group| {
        let [a, b, out] = [buffer::<f32>(group, 0)?, buffer(group, 1)?, buffer(group, 2)?];
        for i in below(group, group.arguments.value(3)?) {
            // SAFETY: i < n, and each buffer holds n elements.
            unsafe { out.store(i, a.load(i) + b.load(i)) };
        }
        Ok(())
    });
    library.kernel(add.buffer("a").buffer("b").buffer("out").value::<i32>("n"))
}

pub(super) fn saxpy(library: LibraryBuilder) -> LibraryBuilder {
    let single = kernel("saxpy", |group| {
        let alpha: f32 = group.arguments.value(0)?;
        axpy(group, |x, y| f32::mul_add(alpha, x, y))
    });
    let double = kernel("saxpy_f64", |group| {
        let alpha: f64 = group.arguments.value(0)?;
        axpy(group, |x, y| f64::mul_add(alpha, x, y))
    });
    let (single, double) = (single.value::<f32>("alpha"), double.value::<f64>("alpha"));
    [single, double].into_iter().fold(library, |library, kernel| {
        let kernel = kernel.buffer("x").buffer("y").value::<i32>("n");
        library.kernel(kernel.max_workgroup_threads(256))
    })
}

fn axpy<T: Scalar>(group: &Workgroup<'_>, result: impl Fn(T, T) -> T) -> Result<()> {
    let (x, y) = (buffer::<T>(group, 1)?, buffer::<T>(group, 2)?);
    for i in strided(group, group.arguments.value(3)?) {
        // SAFETY: i < n, and both buffers hold n elements.
        unsafe { y.store(i, result(x.load(i), y.load(i))) };
    }
    Ok(())
}

pub(super) fn entries(library: LibraryBuilder) -> LibraryBuilder {
    let scale_and_offset = kernel("scale_and_offset", |group| {
        let (scale, offset) = (group.arguments.value(2)?, group.arguments.value(3)?);
        each(group, 4, |x| x.mul_add(scale, offset))
    });
    let constants = scale_and_offset.buffer("in").buffer("out").value::<f32>("scale");
    let mut library = library
        .kernel(constants.value::<f32>("offset").value::<i32>("n"))
        .kernel(kernel("empty", |_| Ok(())));
    type Compute = fn(f32) -> f32;
    let (negate, twice): (Compute, Compute) = (|x| -x, |x| x + x);
    let functions = [("negate", negate), ("twice", twice), ("absolute", f32::abs)];
    for (name, result) in functions {
        let each = kernel(name, move |group| each(group, 2, result));
        library = library.kernel(each.buffer("in").buffer("out").value::<i32>("n"));
    }
    library
}

/// Computes `out` from `in`, the first two parameters. Argument `n` is the number of elements.
fn each(group: &Workgroup<'_>, n: usize, result: impl Fn(f32) -> f32) -> Result<()> {
    let (from, to) = (buffer::<f32>(group, 0)?, buffer::<f32>(group, 1)?);
    for i in below(group, group.arguments.value(n)?) {
        // SAFETY: i < n, and both buffers hold n elements.
        unsafe { to.store(i, result(from.load(i))) };
    }
    Ok(())
}

pub(super) fn fixed_block(library: LibraryBuilder) -> LibraryBuilder {
    let fixed = kernel("fixed_block", |group| {
        let (from, to) = (buffer::<u32>(group, 0)?, buffer::<u32>(group, 1)?);
        let n: u32 = group.arguments.value(2)?;
        for [x, y, _] in group.items() {
            let i = group.id[0] * 128 + x + 64 * y;
            if i < n {
                // SAFETY: i < n, and both buffers hold n elements.
                unsafe { to.store(i as usize, from.load(i as usize).wrapping_add(1)) };
            }
        }
        Ok(())
    });
    library.kernel(fixed.buffer("in").buffer("out").value::<u32>("n").workgroup_size([64, 2, 1]))
}

fn buffer<T: Scalar>(group: &Workgroup<'_>, index: usize) -> Result<Pointer<T>> {
    group.arguments.buffer(index)
}
