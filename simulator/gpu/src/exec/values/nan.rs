// SPDX-License-Identifier: MIT OR Apache-2.0
//! NaNs: their payloads between formats.

use crate::exec::values::lane_kind::LaneKind;

/// The NaN in a float's bits, made quiet, in the layout of double precision; `None` if the float is not a
/// NaN.
#[inline]
pub(crate) fn carried(bits: u64, kind: LaneKind) -> Option<u64> {
    let (sign, infinity, shift) = match kind {
        LaneKind::F16 => (0x8000u64, 0x7c00u64, 42),
        LaneKind::F32 => (0x8000_0000, 0x7f80_0000, 29),
        _ => (1 << 63, 0x7ff0_0000_0000_0000, 0),
    };
    let magnitude = bits & (sign - 1);
    let is_negative = bits & sign != 0;
    // The exponent of a NaN is all ones in every format.
    let payload = magnitude.wrapping_sub(infinity) << shift;
    let quiet = 0x7ff8_0000_0000_0000 | payload & 0x000f_ffff_ffff_ffff;
    (magnitude > infinity).then_some(quiet | u64::from(is_negative) << 63)
}

/// Narrows a NaN in the layout of double precision to another format. `None` gives the usual NaN.
#[inline]
pub(crate) fn delivered(nan: Option<u64>, kind: LaneKind) -> u64 {
    let nan = nan.unwrap_or(0x7ff8_0000_0000_0000);
    match kind {
        LaneKind::F16 => nan >> 48 & 0x8000 | 0x7c00 | nan >> 42 & 0x3ff,
        LaneKind::F32 => nan >> 32 & 0x8000_0000 | 0x7f80_0000 | nan >> 29 & 0x7f_ffff,
        _ => nan,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_move_between_formats() {
        assert_eq!(carried(0x7f80_0001, LaneKind::F32), Some(0x7ff8_0000_2000_0000));
        assert_eq!(delivered(carried(0xff80_0001, LaneKind::F32), LaneKind::F32), 0xffc0_0001);
        assert_eq!(delivered(carried(0xfe05, LaneKind::F16), LaneKind::F32), 0xffc0_a000);
        assert_eq!(delivered(None, LaneKind::F16), 0x7e00);
        assert_eq!(carried(0x7f80_0000, LaneKind::F32), None);
        assert_eq!(carried(0x7ff0_0000_0000_0000, LaneKind::F64), None);
    }
}
