// SPDX-License-Identifier: MIT OR Apache-2.0
//! Arguments of a dispatch, and how they are packed into the block that the kernel reads.

use crate::{
    driver::range::Buffer,
    order::edge::Domain,
    words::{
        buffer_params::BufferUsage,
        error::{Error, Result},
        function_info::{FunctionInfo, Parameter, ParameterKind},
    },
};

/// One argument of a dispatch. There is one for each explicit parameter of the function, in the order of the function.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Argument<'a> {
    /// The address of a buffer range.
    Buffer(&'a Buffer),
    /// The address of a part of the buffer that the binding table holds in this slot at submission. Only in command
    /// buffers.
    Slot {
        /// The number of the slot.
        slot: u32,
        /// The offset of the part in the bound range, in bytes.
        offset: u64,
        /// The number of bytes that the kernel may use. Checked against the bound range.
        length: u64,
    },
    /// Bytes of exactly the parameter's size: numbers and structs by value, in the layout of the kernel.
    Bytes(&'a [u8]),
    /// A number.
    Value(Value),
    /// A null address.
    Null,
}

/// A number of at most eight bytes.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    bytes: [u8; 8],
    size: u8,
}

macro_rules! values {
    ($($type:ty),*) => {$(
        impl From<$type> for Argument<'_> {
            fn from(value: $type) -> Self {
                let mut bytes = [0; 8];
                let value = value.to_le_bytes();
                bytes[..value.len()].copy_from_slice(&value);
                Self::Value(Value { bytes, size: value.len() as u8 })
            }
        }
    )*};
}
values!(u8, i8, u16, i16, u32, i32, f32, u64, i64, f64);

impl Buffer {
    /// This range as an argument of a dispatch.
    pub fn arg(&self) -> Argument<'_> {
        Argument::Buffer(self)
    }
}

impl<'a> From<&'a Buffer> for Argument<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Self::Buffer(buffer)
    }
}

/// The target of packed arguments.
pub(crate) trait Pack<'a> {
    /// The block: `argument_size` bytes, zero at first.
    fn block(&mut self) -> &mut [u8];
    /// Keeps the buffer alive with the submission.
    fn retain(&mut self, buffer: &'a Buffer);
    /// Notes that the address of a slot belongs at byte `at` of the block.
    fn patch(&mut self, at: u32, slot: u32, offset: u64, length: u64) -> Result<()>;
}

/// Lists arguments in IREE's form: the bindings in order, then the constants of four bytes each.
///
/// ```
/// # use windlass_hal::{Argument, bindings_then_constants};
/// let arguments = bindings_then_constants(&[Argument::Null, Argument::Null], &[7, 0x3f80_0000]);
/// assert_eq!(arguments.len(), 4);
/// ```
pub fn bindings_then_constants<'a>(bindings: &[Argument<'a>], constants: &[u32]) -> Vec<Argument<'a>> {
    bindings.iter().copied().chain(constants.iter().map(|constant| (*constant).into())).collect()
}

/// Takes a block that the caller packed, and keeps the buffers alive whose addresses are in it.
pub(crate) fn pack_raw<'a, P: Pack<'a>>(
    function: &FunctionInfo,
    arguments: &[Argument<'a>],
    domain: Domain,
    to: &mut P,
) -> Result<()> {
    let wrong = |what: String| {
        Error::invalid_argument(format!(
            "raw arguments of `{}` are one block of {} bytes and then buffers to keep alive; {what}",
            function.name, function.argument_size
        ))
    };
    let Some((Argument::Bytes(block), buffers)) = arguments.split_first() else {
        return Err(wrong("the first argument is not a block".to_owned()));
    };
    if block.len() != to.block().len() {
        return Err(wrong(format!("the block has {} bytes", block.len())));
    }
    to.block().copy_from_slice(block);
    for (index, argument) in buffers.iter().enumerate() {
        match argument {
            Argument::Buffer(buffer) => retain(function, index + 1, buffer, domain, to)?,
            _ => return Err(wrong(format!("argument {} is no buffer", index + 1))),
        }
    }
    Ok(())
}

fn retain<'a>(
    function: &FunctionInfo,
    index: usize,
    buffer: &'a Buffer,
    domain: Domain,
    to: &mut impl Pack<'a>,
) -> Result<()> {
    if buffer.raw().domain() != domain {
        return Err(Error::invalid_argument(format!(
            "argument {index} of `{}` is a buffer of another device",
            function.name
        )));
    }
    buffer.require(BufferUsage::DISPATCH_STORAGE, "a dispatch argument")?;
    to.retain(buffer);
    Ok(())
}

/// Packs `arguments` for `function`. Errors name the function, the argument and the parameter.
pub(crate) fn pack<'a, P: Pack<'a>>(
    function: &FunctionInfo,
    arguments: &[Argument<'a>],
    domain: Domain,
    to: &mut P,
) -> Result<()> {
    if arguments.len() != function.parameters.len() {
        return Err(Error::invalid_argument(format!(
            "`{}` takes {} arguments and was given {}: {}",
            function.name,
            function.parameters.len(),
            arguments.len(),
            function.signature()
        )));
    }
    for (index, (argument, parameter)) in arguments.iter().zip(&function.parameters).enumerate() {
        let mut put = |bytes: &[u8]| {
            let start = parameter.offset as usize;
            match to.block().get_mut(start..start + bytes.len()) {
                Some(place) => {
                    place.copy_from_slice(bytes);
                    Ok(())
                }
                None => Err(Error::internal(format!(
                    "`{}` places argument {index} outside its block",
                    function.name
                ))),
            }
        };
        match (parameter.kind, argument) {
            (ParameterKind::Buffer, Argument::Buffer(buffer)) => {
                put(&buffer.device_address().to_le_bytes())?;
                retain(function, index, buffer, domain, to)?;
            }
            (ParameterKind::Buffer, Argument::Slot { slot, offset, length }) => {
                to.patch(parameter.offset, *slot, *offset, *length)?;
            }
            (ParameterKind::Buffer, Argument::Null) => put(&0_u64.to_le_bytes())?,
            (ParameterKind::Value, Argument::Bytes(bytes)) if bytes.len() == parameter.size as usize => {
                put(bytes)?
            }
            (ParameterKind::Value, Argument::Value(value)) if u32::from(value.size) == parameter.size => {
                put(&value.bytes[..value.size as usize])?;
            }
            _ => return Err(mismatch(function, index, parameter, argument)),
        }
    }
    Ok(())
}

#[cold]
fn mismatch(function: &FunctionInfo, index: usize, parameter: &Parameter, argument: &Argument<'_>) -> Error {
    let given = match argument {
        Argument::Buffer(_) => "a buffer".to_owned(),
        Argument::Slot { .. } => "a table slot".to_owned(),
        Argument::Bytes(bytes) => format!("{} bytes", bytes.len()),
        Argument::Value(value) => format!("{} bytes", value.size),
        Argument::Null => "null".to_owned(),
    };
    let wanted = match parameter.kind {
        ParameterKind::Buffer => "a buffer, a table slot or null".to_owned(),
        ParameterKind::Value => format!("exactly {} bytes", parameter.size),
    };
    Error::invalid_argument(format!(
        "argument {index} of {} must be {wanted}, not {given}",
        function.signature()
    ))
}
