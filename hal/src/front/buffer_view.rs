// SPDX-License-Identifier: MIT OR Apache-2.0
//! Buffer views: buffers with a shape and an element type.

use crate::{
    driver::range::Buffer,
    words::{
        element_type::ElementType,
        error::{Error, Result},
        literal::Literal,
        shape::Shape,
    },
};

/// A buffer that holds a dense row-major array.
#[derive(Clone, Debug)]
pub struct BufferView {
    buffer: Buffer,
    shape: Shape,
    element_type: ElementType,
}

impl BufferView {
    /// A view of a whole buffer. `INVALID_ARGUMENT` unless the buffer has exactly the bytes of the array.
    pub fn new(buffer: Buffer, shape: Shape, element_type: ElementType) -> Result<Self> {
        let needed = shape.byte_length(element_type)?;
        if needed != buffer.len() {
            return Err(Error::invalid_argument(format!(
                "{} takes {needed} bytes, and the buffer has {}",
                shape.with(element_type),
                buffer.len()
            )));
        }
        Ok(Self { buffer, shape, element_type })
    }

    /// The buffer.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// The shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The type of the elements.
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    /// Makes an array of bytes that were downloaded from the buffer. `INVALID_ARGUMENT` unless the array has as many
    /// bytes.
    pub fn literal(&self, bytes: Vec<u8>) -> Result<Literal> {
        Literal::new(self.shape.clone(), self.element_type, bytes)
    }
}
