// SPDX-License-Identifier: MIT OR Apache-2.0
//! Element types, with IREE's numeric values.

use std::{
    ffi::{CString, c_char},
    mem::MaybeUninit,
    ptr::{self, NonNull},
    sync::OnceLock,
};

use facade::{ElementType, Error, Result};

use crate::{
    boundary::{fallible, infallible},
    error::windlass_error_t,
    memory::{c_string, out, text},
};

/// The type of an array element: one of WINDLASS_ELEMENT_TYPE_*, with IREE's numeric values. The low byte is the width
/// in bits.
pub type windlass_element_type_t = u32;

/// A truth value in a byte, 0 or 1.
pub const WINDLASS_ELEMENT_TYPE_BOOL_8: windlass_element_type_t = 0x1300_0008;
/// 8 bits, signed or unsigned as the reader chooses.
pub const WINDLASS_ELEMENT_TYPE_INT_8: windlass_element_type_t = 0x1000_0008;
/// 16 bits, signed or unsigned as the reader chooses.
pub const WINDLASS_ELEMENT_TYPE_INT_16: windlass_element_type_t = 0x1000_0010;
/// 32 bits, signed or unsigned as the reader chooses.
pub const WINDLASS_ELEMENT_TYPE_INT_32: windlass_element_type_t = 0x1000_0020;
/// 64 bits, signed or unsigned as the reader chooses.
pub const WINDLASS_ELEMENT_TYPE_INT_64: windlass_element_type_t = 0x1000_0040;
/// 8 bits, signed.
pub const WINDLASS_ELEMENT_TYPE_SINT_8: windlass_element_type_t = 0x1100_0008;
/// 16 bits, signed.
pub const WINDLASS_ELEMENT_TYPE_SINT_16: windlass_element_type_t = 0x1100_0010;
/// 32 bits, signed.
pub const WINDLASS_ELEMENT_TYPE_SINT_32: windlass_element_type_t = 0x1100_0020;
/// 64 bits, signed.
pub const WINDLASS_ELEMENT_TYPE_SINT_64: windlass_element_type_t = 0x1100_0040;
/// 8 bits, unsigned.
pub const WINDLASS_ELEMENT_TYPE_UINT_8: windlass_element_type_t = 0x1200_0008;
/// 16 bits, unsigned.
pub const WINDLASS_ELEMENT_TYPE_UINT_16: windlass_element_type_t = 0x1200_0010;
/// 32 bits, unsigned.
pub const WINDLASS_ELEMENT_TYPE_UINT_32: windlass_element_type_t = 0x1200_0020;
/// 64 bits, unsigned.
pub const WINDLASS_ELEMENT_TYPE_UINT_64: windlass_element_type_t = 0x1200_0040;
/// IEEE 754 binary16.
pub const WINDLASS_ELEMENT_TYPE_FLOAT_16: windlass_element_type_t = 0x2100_0010;
/// IEEE 754 binary32.
pub const WINDLASS_ELEMENT_TYPE_FLOAT_32: windlass_element_type_t = 0x2100_0020;
/// IEEE 754 binary64.
pub const WINDLASS_ELEMENT_TYPE_FLOAT_64: windlass_element_type_t = 0x2100_0040;
/// The upper half of a binary32.
pub const WINDLASS_ELEMENT_TYPE_BFLOAT_16: windlass_element_type_t = 0x2200_0010;

/// The element type of a number.
pub(crate) fn element_type_of(number: windlass_element_type_t) -> Result<ElementType> {
    ElementType::ALL.iter().find(|kind| **kind as u32 == number).copied().ok_or_else(|| {
        Error::invalid_argument(format!("{number:#010x} is no element type; use WINDLASS_ELEMENT_TYPE_*"))
    })
}

/// The name that IREE's tools use, such as "f32" and "ui8"; NULL for an unknown number. The string is valid forever.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_element_type_name(element_type: windlass_element_type_t) -> *const c_char {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    infallible(ptr::null(), || {
        let kind = element_type_of(element_type)?;
        let names = NAMES.get_or_init(|| ElementType::ALL.iter().map(|kind| c_string(kind.name())).collect());
        let index = ElementType::ALL.iter().position(|known| *known == kind);
        Ok(index.and_then(|index| names.get(index)).map_or(ptr::null(), |name| name.as_ptr()))
    })
}

/// The size of an element in bytes; 0 for an unknown number.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_element_type_size(element_type: windlass_element_type_t) -> usize {
    infallible(0, || Ok(element_type_of(element_type)?.size()))
}

/// The element type of a name: IREE's names, and also "u8", "u16", "u32", "u64" and "bool". INVALID_ARGUMENT for other
/// text.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_element_type_parse(
    name: *const c_char,
    element_type: Option<&mut MaybeUninit<windlass_element_type_t>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        let element_type = out("element_type", element_type)?;
        // SAFETY: the contract in the header covers that of `text`.
        let name = unsafe { text("name", name) }?;
        element_type.write(name.parse::<ElementType>()? as u32);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_type_of_the_hal_has_a_constant() {
        use ElementType::*;
        let ours = [
            (WINDLASS_ELEMENT_TYPE_BOOL_8, Bool8),
            (WINDLASS_ELEMENT_TYPE_INT_8, Int8),
            (WINDLASS_ELEMENT_TYPE_INT_16, Int16),
            (WINDLASS_ELEMENT_TYPE_INT_32, Int32),
            (WINDLASS_ELEMENT_TYPE_INT_64, Int64),
            (WINDLASS_ELEMENT_TYPE_SINT_8, Sint8),
            (WINDLASS_ELEMENT_TYPE_SINT_16, Sint16),
            (WINDLASS_ELEMENT_TYPE_SINT_32, Sint32),
            (WINDLASS_ELEMENT_TYPE_SINT_64, Sint64),
            (WINDLASS_ELEMENT_TYPE_UINT_8, Uint8),
            (WINDLASS_ELEMENT_TYPE_UINT_16, Uint16),
            (WINDLASS_ELEMENT_TYPE_UINT_32, Uint32),
            (WINDLASS_ELEMENT_TYPE_UINT_64, Uint64),
            (WINDLASS_ELEMENT_TYPE_FLOAT_16, Float16),
            (WINDLASS_ELEMENT_TYPE_FLOAT_32, Float32),
            (WINDLASS_ELEMENT_TYPE_FLOAT_64, Float64),
            (WINDLASS_ELEMENT_TYPE_BFLOAT_16, Bfloat16),
        ];
        assert_eq!(ours.map(|(_, theirs)| theirs), ElementType::ALL);
        for (ours, theirs) in ours {
            assert_eq!(element_type_of(ours).unwrap(), theirs);
        }
    }
}
