// SPDX-License-Identifier: MIT OR Apache-2.0
//! Minima and maxima of GFX12, which has no mode for them: those by numbers, where a NaN of any kind is missing data, and those
//! that carry NaNs on. -0 is less than +0.

/// The four functions of a type of float.
macro_rules! extrema {
    ($float:ty, $quiet:literal, $($number:ident $carrying:ident $less:tt $negative:literal $doc:literal)*) => {
        $(
            #[doc = $doc]
            ///
            /// A number wins over a NaN. Of two NaNs the first comes out quiet.
            #[inline(always)]
            pub(crate) fn $number(a: $float, b: $float) -> $float {
                let first = (a $less b) | ((a == b) & (a.is_sign_negative() == $negative)) | b.is_nan();
                let chosen = if first { a } else { b };
                if chosen.is_nan() { <$float>::from_bits(chosen.to_bits() | $quiet) } else { chosen }
            }

            #[doc = $doc]
            ///
            /// A NaN wins over a number, a signalling one over a quiet one, and comes out quiet.
            #[inline(always)]
            pub(crate) fn $carrying(a: $float, b: $float) -> $float {
                let signalling = |value: $float| value.is_nan() & (value.to_bits() & $quiet == 0);
                let first = (a $less b) | ((a == b) & (a.is_sign_negative() == $negative));
                let first = signalling(a) | !signalling(b) & (a.is_nan() | !b.is_nan() & first);
                let chosen = if first { a } else { b };
                if chosen.is_nan() { <$float>::from_bits(chosen.to_bits() | $quiet) } else { chosen }
            }
        )*
    };
}

extrema!(f32, 0x0040_0000u32,
    min_num_f32 minimum_f32 < true "The lesser of two singles."
    max_num_f32 maximum_f32 > false "The greater of two singles."
);
extrema!(f64, 0x0008_0000_0000_0000u64,
    min_num_f64 minimum_f64 < true "The lesser of two doubles."
    max_num_f64 maximum_f64 > false "The greater of two doubles."
);

/// The middle one of three; the least if any is a NaN.
#[inline(always)]
pub(crate) fn med3_num_f32(a: f32, b: f32, c: f32) -> f32 {
    let middle = max_num_f32(min_num_f32(a, b), min_num_f32(max_num_f32(a, b), c));
    let least = min_num_f32(min_num_f32(a, b), c);
    if a.is_nan() | b.is_nan() | c.is_nan() { least } else { middle }
}

/// Whether the bits of a half are those of a NaN.
#[inline(always)]
fn is_nan16(bits: u16) -> bool {
    bits & 0x7fff > 0x7c00
}

/// The bits of a half as an integer of the same order.
#[inline(always)]
fn key16(bits: u16) -> i16 {
    (bits as i16) ^ ((bits as i16 >> 15) as u16 >> 1) as i16
}

#[inline(always)]
fn quiet16(bits: u16) -> u16 {
    if is_nan16(bits) { bits | 0x0200 } else { bits }
}

/// The lesser of two halves, by numbers.
#[inline(always)]
pub(crate) fn min_num_f16(a: u16, b: u16) -> u16 {
    quiet16(if is_nan16(b) | !is_nan16(a) & (key16(a) < key16(b)) { a } else { b })
}

/// The greater of two halves, by numbers.
#[inline(always)]
pub(crate) fn max_num_f16(a: u16, b: u16) -> u16 {
    quiet16(if is_nan16(b) | !is_nan16(a) & (key16(a) > key16(b)) { a } else { b })
}

/// The middle one of three halves; the least if any is a NaN.
#[inline(always)]
pub(crate) fn med3_num_f16(a: u16, b: u16, c: u16) -> u16 {
    let middle = max_num_f16(min_num_f16(a, b), min_num_f16(max_num_f16(a, b), c));
    let least = min_num_f16(min_num_f16(a, b), c);
    if is_nan16(a) | is_nan16(b) | is_nan16(c) { least } else { middle }
}

/// The first of two halves if it is chosen among numbers; NaNs are carried on.
#[inline(always)]
fn carried16(a: u16, b: u16, first: bool) -> u16 {
    let signalling = |bits: u16| is_nan16(bits) & (bits & 0x0200 == 0);
    let first = signalling(a) | !signalling(b) & (is_nan16(a) | !is_nan16(b) & first);
    quiet16(if first { a } else { b })
}

/// The lesser of two halves, or a NaN.
#[inline(always)]
pub(crate) fn minimum_f16(a: u16, b: u16) -> u16 {
    carried16(a, b, key16(a) < key16(b))
}

/// The greater of two halves, or a NaN.
#[inline(always)]
pub(crate) fn maximum_f16(a: u16, b: u16) -> u16 {
    carried16(a, b, key16(a) > key16(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A quiet and a signalling NaN.
    const QUIET: u32 = 0x7fc0_0005;
    const SIGNALLING: u32 = 0xff80_0003;

    #[test]
    fn numbers_win_or_nans_do() {
        let [quiet, signalling] = [QUIET, SIGNALLING].map(f32::from_bits);
        for least in [min_num_f32, max_num_f32] {
            assert_eq!(least(signalling, 1.0), 1.0);
            assert_eq!(least(1.0, quiet), 1.0);
            assert_eq!(least(signalling, quiet).to_bits(), 0xffc0_0003, "the first of two");
            assert_eq!(least(quiet, signalling).to_bits(), QUIET);
        }
        for least in [minimum_f32, maximum_f32] {
            assert_eq!(least(quiet, signalling).to_bits(), 0xffc0_0003, "a signalling one");
            assert_eq!(least(1.0, quiet).to_bits(), QUIET);
            assert_eq!(least(quiet, 1.0).to_bits(), QUIET);
        }
        assert!(minimum_f32(0.0, -0.0).is_sign_negative() && min_num_f32(-0.0, 0.0).is_sign_negative());
        assert!(maximum_f64(-0.0, 0.0).is_sign_positive() && max_num_f64(0.0, -0.0).is_sign_positive());
        assert_eq!([min_num_f64(1.0, 2.0), max_num_f64(1.0, 2.0), minimum_f64(1.0, 2.0)], [1.0, 2.0, 1.0]);
        assert_eq!([med3_num_f32(3.0, 1.0, 2.0), med3_num_f32(2.0, 3.0, 1.0)], [2.0, 2.0]);
        assert_eq!(med3_num_f32(3.0, signalling, 2.0), 2.0);
    }

    #[test]
    fn halves_are_chosen_alike() {
        let (one, two, quiet, signalling) = (0x3c00, 0x4000, 0x7e05, 0xfc03);
        assert_eq!([min_num_f16(one, two), max_num_f16(one, two)], [one, two]);
        assert_eq!([minimum_f16(0xc000, one), maximum_f16(0xc000, one)], [0xc000, one]);
        assert_eq!([min_num_f16(signalling, one), max_num_f16(one, quiet)], [one, one]);
        assert_eq!(min_num_f16(signalling, quiet), 0xfe03);
        assert_eq!([minimum_f16(quiet, signalling), maximum_f16(one, quiet)], [0xfe03, quiet]);
        assert_eq!([min_num_f16(0, 0x8000), maximum_f16(0x8000, 0)], [0x8000, 0]);
        assert_eq!(med3_num_f16(two, one, 0x3e00), 0x3e00);
    }
}
