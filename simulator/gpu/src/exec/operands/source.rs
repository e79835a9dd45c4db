// SPDX-License-Identifier: MIT OR Apache-2.0
//! Sources that are the same in all lanes, and the values that have no register.

use crate::exec::machine::step::Source;
use crate::exec::machine::wave::Wave;
use crate::isa::Special;
use crate::lane_mask::LaneMask;

/// The 32-bit value of a scalar source. For a vector register, the value of lane 0.
#[inline(always)]
pub(crate) fn scalar32(wave: &Wave, source: Source) -> u32 {
    match source {
        Source::Scalar(number) => wave.s[usize::from(number) & 127],
        Source::Constant(value) => value as u32,
        Source::Special(special) => special_value(wave, special, false) as u32,
        Source::Vector(number) => wave.row(number)[0],
        Source::None => 0,
    }
}

/// The 64-bit value of a scalar source. For vector registers, the value of lane 0.
#[inline(always)]
pub(crate) fn scalar64(wave: &Wave, source: Source) -> u64 {
    match source {
        Source::Scalar(number) => wave.pair(number.into()),
        Source::Constant(value) => value,
        Source::Special(special) => special_value(wave, special, true),
        Source::Vector(number) => u64::from(wave.row(number)[0]) | u64::from(wave.row(number + 1)[0]) << 32,
        Source::None => 0,
    }
}

/// The lane mask of a scalar source.
#[inline(always)]
pub(crate) fn lane_mask(wave: &Wave, source: Source) -> LaneMask {
    LaneMask::of_bits(scalar64(wave, source)) & wave.lanes()
}

/// First address of the aperture through which FLAT instructions see LDS; 4 GiB long.
pub const SHARED_APERTURE: u64 = 1 << 48;
/// First address of the aperture through which FLAT instructions see private memory; 4 GiB long.
pub const PRIVATE_APERTURE: u64 = 2 << 48;

#[cold]
fn special_value(wave: &Wave, special: Special, wide: bool) -> u64 {
    // Read as 32 bits, an aperture register gives its high half.
    let aperture = |address: u64| if wide { address } else { address >> 32 };
    match special {
        Special::SharedBase => aperture(SHARED_APERTURE),
        Special::SharedLimit => aperture(SHARED_APERTURE | 0xffff_ffff),
        Special::PrivateBase => aperture(PRIVATE_APERTURE),
        Special::PrivateLimit => aperture(PRIVATE_APERTURE | 0xffff_ffff),
        Special::Vccz => (wave.vcc().is_empty()).into(),
        Special::Execz => (wave.exec().is_empty()).into(),
        Special::Scc => wave.scc.into(),
        Special::PopsExitingWaveId | Special::LdsDirect => 0,
    }
}
