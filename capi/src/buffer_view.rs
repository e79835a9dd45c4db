// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffer views: buffers with a shape and an element type.

use std::{mem::MaybeUninit, ptr::NonNull};

use facade::{BufferView, Error, Result, Shape};

use crate::{
    boundary::{fallible, infallible},
    buffer::windlass_buffer_t,
    element_type::{element_type_of, windlass_element_type_t},
    error::windlass_error_t,
    handle::{self, Shell, object, used},
    memory::{give, list, out},
};

/// A buffer that holds a dense row-major array. It keeps the buffer's memory.
pub struct windlass_buffer_view_t(Shell<BufferView>);
object!(windlass_buffer_view_t, BufferView, "buffer view");

/// The dimensions of the caller.
///
/// # Safety
/// As for [`list`].
unsafe fn shape_of(rank: usize, dimensions: *const u64) -> Result<Shape> {
    // SAFETY: the same contract.
    Ok(Shape::new(unsafe { list("dimensions", rank, dimensions) }?))
}

/// The number of bytes of a dense array. `dimensions` has `rank` numbers, the outermost first; a scalar has none.
/// OUT_OF_RANGE above 2^63.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_shape_byte_length(
    rank: usize,
    dimensions: *const u64,
    element_type: windlass_element_type_t,
    byte_length: Option<&mut MaybeUninit<u64>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let byte_length = out("byte_length", byte_length)?;
        // SAFETY: the contract in the header covers that of `shape_of`.
        let shape = unsafe { shape_of(rank, dimensions) }?;
        byte_length.write(shape.byte_length(element_type_of(element_type)?)?);
        Ok(())
    })
}

/// Makes a view of a whole buffer. INVALID_ARGUMENT unless the buffer has exactly the bytes of the array:
/// windlass_buffer_subspan makes a part a buffer of its own. The dimensions are copied. The caller owns the view.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_buffer_view_create(
    buffer: Option<NonNull<windlass_buffer_t>>,
    rank: usize,
    dimensions: *const u64,
    element_type: windlass_element_type_t,
    view: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_view_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(view, || {
            // SAFETY: the contract in the header covers that of `shape_of`.
            let shape = unsafe { shape_of(rank, dimensions) }?;
            BufferView::new(used(buffer)?.clone(), shape, element_type_of(element_type)?)
        })
    })
}

/// The buffer of the view. The caller owns the handle.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_buffer_view_buffer(
    view: Option<NonNull<windlass_buffer_view_t>>,
    buffer: Option<&mut MaybeUninit<Option<NonNull<windlass_buffer_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| give(buffer, || Ok(used(view)?.buffer().clone())))
}

/// The type of the elements; 0 for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_buffer_view_element_type(
    view: Option<NonNull<windlass_buffer_view_t>>,
) -> windlass_element_type_t {
    infallible(0, || Ok(used(view)?.element_type() as u32))
}

/// The number of dimensions; 0 for a scalar and for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_buffer_view_rank(view: Option<NonNull<windlass_buffer_view_t>>) -> usize {
    infallible(0, || Ok(used(view)?.shape().dimensions().len()))
}

/// A dimension by number, from 0, the outermost first. OUT_OF_RANGE if the view has fewer.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn windlass_buffer_view_dimension(
    view: Option<NonNull<windlass_buffer_view_t>>,
    index: usize,
    dimension: Option<&mut MaybeUninit<u64>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let dimension = out("dimension", dimension)?;
        let view = used(view)?;
        let all = view.shape().dimensions();
        dimension.write(*all.get(index).ok_or_else(|| {
            Error::out_of_range(format!("dimension {index} of a view that has {}", all.len()))
        })?);
        Ok(())
    })
}

/// Adds a reference and returns the view. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_buffer_view_retain(
    view: Option<NonNull<windlass_buffer_view_t>>,
) -> Option<NonNull<windlass_buffer_view_t>> {
    infallible(None, || handle::retain(view).map(|()| view))
}

/// Releases a reference. NULL is allowed.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_buffer_view_release(view: Option<NonNull<windlass_buffer_view_t>>) {
    infallible((), || {
        handle::release(view);
        Ok(())
    });
}
