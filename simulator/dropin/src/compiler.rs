// SPDX-License-Identifier: MIT OR Apache-2.0
//! Functions of the library that need no GPU: those that compilers emit calls to, and a constructor of a
//! plain struct.

use std::ffi::{c_int, c_void};

use half::f16;
use windlass_hip_sys::bindings::{hipChannelFormatDesc, hipChannelFormatKind};
use windlass_simulator::hip::Exported;

use crate::versions::{exported, versioned};

/// `hipCreateChannelDesc`: the bits of each component, and the kind of their values.
#[unsafe(no_mangle)]
#[allow(non_snake_case)]
pub extern "C" fn hipCreateChannelDesc(
    x: c_int,
    y: c_int,
    z: c_int,
    w: c_int,
    f: hipChannelFormatKind,
) -> hipChannelFormatDesc {
    hipChannelFormatDesc { x, y, z, w, f }
}

/// `__gnu_h2f_ieee`: half to single precision.
#[unsafe(no_mangle)]
pub extern "C" fn __gnu_h2f_ieee(bits: u16) -> f32 {
    f16::from_bits(bits).to_f32()
}

/// `__gnu_f2h_ieee`: single to half precision, to the nearest, ties to even.
#[unsafe(no_mangle)]
pub extern "C" fn __gnu_f2h_ieee(value: f32) -> u16 {
    f16::from_f32(value).to_bits()
}

versioned! { "hip_4.2": hipCreateChannelDesc __gnu_h2f_ieee __gnu_f2h_ieee; }

/// The function of this name, if it is one of these.
pub(crate) fn find(name: &str) -> Option<Exported> {
    let address = match name {
        "hipCreateChannelDesc" => hipCreateChannelDesc as *const c_void,
        "__gnu_h2f_ieee" => __gnu_h2f_ieee as *const c_void,
        "__gnu_f2h_ieee" => __gnu_f2h_ieee as *const c_void,
        _ => return None,
    };
    Some(exported(address, "hip_4.2"))
}
