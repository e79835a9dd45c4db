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
            #[inline]
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
    #[inline]
    pub fn arg(&self) -> Argument<'_> {
        Argument::Buffer(self)
    }
}

impl<'a> From<&'a Buffer> for Argument<'a> {
    fn from(buffer: &'a Buffer) -> Self {
        Self::Buffer(buffer)
    }
}

/// The keeper of the objects that packed arguments name.
pub(crate) trait Pack<'a> {
    /// Whether the keeper keeps the buffer's allocation already, whose device is checked then.
    #[inline]
    fn keeps(&self, _buffer: &Buffer) -> bool {
        false
    }
    /// Keeps the buffer alive with the submission.
    fn retain(&mut self, buffer: &'a Buffer);
    /// Notes that the address of a slot, plus the offset, belongs at byte `at` of the block.
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
    block: &mut [u8],
    keeper: &mut P,
) -> Result<()> {
    let wrong = |what: String| {
        Error::invalid_argument(format!(
            "raw arguments of `{}` are one block of {} bytes and then buffers to keep alive; {what}",
            function.name, function.argument_size
        ))
    };
    let Some((Argument::Bytes(packed), buffers)) = arguments.split_first() else {
        return Err(wrong("the first argument is not a block".to_owned()));
    };
    if packed.len() != block.len() {
        return Err(wrong(format!("the block has {} bytes", packed.len())));
    }
    block.copy_from_slice(packed);
    for (index, argument) in buffers.iter().enumerate() {
        match argument {
            Argument::Buffer(buffer) => {
                check(function, index + 1, buffer, domain)?;
                keeper.retain(buffer);
            }
            _ => return Err(wrong(format!("argument {} is no buffer", index + 1))),
        }
    }
    Ok(())
}

/// Checks that a kernel may use a buffer.
#[inline(never)]
fn check(function: &FunctionInfo, index: usize, buffer: &Buffer, domain: Domain) -> Result<()> {
    if buffer.raw().domain() != domain {
        return Err(Error::invalid_argument(format!(
            "argument {index} of `{}` is a buffer of another device",
            function.name
        )));
    }
    buffer.require(BufferUsage::DISPATCH_STORAGE, "a dispatch argument")
}

/// Packs `arguments` for `function` into a block of zeros. Errors name the function, the argument and the parameter.
#[inline]
pub(crate) fn pack<'a, P: Pack<'a>>(
    function: &FunctionInfo,
    arguments: &[Argument<'a>],
    domain: Domain,
    block: &mut [u8],
    keeper: &mut P,
) -> Result<()> {
    if arguments.len() != function.parameters.len() {
        return Err(wrong_number(function, arguments));
    }
    let mut parameters = function.parameters.iter();
    for argument in arguments {
        let Some(parameter) = parameters.next() else { return Err(wrong_number(function, arguments)) };
        let index = || function.parameters.len() - parameters.len() - 1;
        let at = parameter.offset as usize;
        let fits = match (parameter.kind, argument) {
            (ParameterKind::Buffer, Argument::Buffer(buffer)) => {
                if !(buffer.params().usage.contains(BufferUsage::DISPATCH_STORAGE) && keeper.keeps(buffer)) {
                    check(function, index(), buffer, domain)?;
                    keeper.retain(buffer);
                }
                put(block, at, buffer.device_address().to_le_bytes())
            }
            (ParameterKind::Value, Argument::Value(Value { bytes, size }))
                if u32::from(*size) == parameter.size =>
            {
                let [a, b, c, d, ..] = *bytes;
                match size {
                    4 => put(block, at, [a, b, c, d]),
                    8 => put(block, at, *bytes),
                    1 => put(block, at, [a]),
                    _ => put(block, at, [a, b]),
                }
            }
            (ParameterKind::Buffer, Argument::Slot { slot, offset, length }) => {
                keeper.patch(parameter.offset, *slot, *offset, *length)?;
                put(block, at, offset.to_le_bytes())
            }
            (ParameterKind::Buffer, Argument::Null) => put(block, at, [0; 8]),
            (ParameterKind::Value, Argument::Bytes(bytes)) if bytes.len() == parameter.size as usize => {
                let place = block.get_mut(at..).and_then(|rest| rest.get_mut(..bytes.len()));
                place.map(|place| place.copy_from_slice(bytes)).is_some()
            }
            _ => return Err(mismatch(function, index(), parameter, argument)),
        };
        if !fits {
            return Err(outside(function, index()));
        }
    }
    Ok(())
}

/// Writes bytes to a place of a block. `false` where they do not fit.
#[inline]
fn put<const N: usize>(block: &mut [u8], at: usize, bytes: [u8; N]) -> bool {
    block.get_mut(at..at + N).map(|place| place.copy_from_slice(&bytes)).is_some()
}

#[cold]
fn wrong_number(function: &FunctionInfo, arguments: &[Argument<'_>]) -> Error {
    Error::invalid_argument(format!(
        "`{}` takes {} arguments and was given {}: {}",
        function.name,
        function.parameters.len(),
        arguments.len(),
        function.signature()
    ))
}

#[cold]
fn outside(function: &FunctionInfo, index: usize) -> Error {
    Error::internal(format!("`{}` places argument {index} outside its block", function.name))
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
