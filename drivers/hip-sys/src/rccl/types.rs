// SPDX-License-Identifier: MIT OR Apache-2.0
//! RCCL's types and constants, under RCCL's names. Enumerations are integers in a newtype, so an unknown value is harmless.
#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case, reason = "as RCCL names them")]

use core::ffi::{c_char, c_int, c_uint};
use std::fmt;

/// The object behind a [`ncclComm_t`].
#[repr(C)]
#[derive(Debug)]
pub struct ncclComm {
    _opaque: [u8; 0],
}

/// A handle of one rank's side of a communicator.
pub type ncclComm_t = *mut ncclComm;

/// The bytes of a [`ncclUniqueId`].
pub const NCCL_UNIQUE_ID_BYTES: usize = 128;

/// The name of a communicator that is being made. Every rank passes the same one.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ncclUniqueId {
    /// The library's own.
    pub internal: [c_char; NCCL_UNIQUE_ID_BYTES],
}

impl Default for ncclUniqueId {
    fn default() -> Self {
        Self { internal: [0; NCCL_UNIQUE_ID_BYTES] }
    }
}

impl fmt::Debug for ncclUniqueId {
    /// Its first bytes, in hexadecimal.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ncclUniqueId(")?;
        self.internal.iter().take(16).try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str("..)")
    }
}

macro_rules! define_codes {
    ($(#[$of_type:meta])* $type:ident { $($(#[$of_code:meta])* $name:ident = $value:expr,)* }) => {
        $(#[$of_type])*
        #[repr(transparent)]
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $type(pub c_uint);

        impl $type {
            $($(#[$of_code])* pub const $name: Self = Self($value);)*

            /// The name in RCCL's headers; `None` for a value that these bindings lack.
            pub fn name(self) -> Option<&'static str> {
                match self {
                    $(Self::$name => Some(stringify!($name)),)*
                    _ => None,
                }
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, concat!(stringify!($type), "({})"), self.0),
                }
            }
        }
    };
}

define_codes! {
    /// The result of a call.
    ncclResult_t {
        /// The call went well.
        ncclSuccess = 0,
        /// A call of HIP failed.
        ncclUnhandledCudaError = 1,
        /// A call of the system failed.
        ncclSystemError = 2,
        /// RCCL itself failed.
        ncclInternalError = 3,
        /// An argument is wrong.
        ncclInvalidArgument = 4,
        /// The call does not fit those before it.
        ncclInvalidUsage = 5,
        /// Another rank has ended, or cannot be reached.
        ncclRemoteError = 6,
        /// The communicator is not blocking, and its last call has not ended.
        ncclInProgress = 7,
    }
}

define_codes! {
    /// A reduction. Values from [`ncclNumOps`](Self::ncclNumOps) on are made by `ncclRedOpCreatePreMulSum`.
    ncclRedOp_t {
        /// The sum.
        ncclSum = 0,
        /// The product.
        ncclProd = 1,
        /// The largest.
        ncclMax = 2,
        /// The smallest.
        ncclMin = 3,
        /// The sum divided by the number of ranks.
        ncclAvg = 4,
    }
}

impl ncclRedOp_t {
    /// The number of reductions that RCCL has from the start.
    pub const ncclNumOps: c_uint = 5;
}

define_codes! {
    /// The type of an element.
    ncclDataType_t {
        /// A signed byte; `ncclChar` too.
        ncclInt8 = 0,
        /// An unsigned byte.
        ncclUint8 = 1,
        /// 32 bits, signed; `ncclInt` too.
        ncclInt32 = 2,
        /// 32 bits, unsigned.
        ncclUint32 = 3,
        /// 64 bits, signed.
        ncclInt64 = 4,
        /// 64 bits, unsigned.
        ncclUint64 = 5,
        /// IEEE's half; `ncclHalf` too.
        ncclFloat16 = 6,
        /// IEEE's single; `ncclFloat` too.
        ncclFloat32 = 7,
        /// IEEE's double; `ncclDouble` too.
        ncclFloat64 = 8,
        /// The upper half of a single.
        ncclBfloat16 = 9,
        /// A byte with 4 bits of exponent and 3 of mantissa. From RCCL 2.22 on.
        ncclFloat8e4m3 = 10,
        /// A byte with 5 bits of exponent and 2 of mantissa. From RCCL 2.22 on.
        ncclFloat8e5m2 = 11,
    }
}

impl ncclDataType_t {
    /// The bytes of an element; `None` for a type that these bindings lack.
    pub fn size(self) -> Option<usize> {
        Some(match self {
            Self::ncclInt8 | Self::ncclUint8 | Self::ncclFloat8e4m3 | Self::ncclFloat8e5m2 => 1,
            Self::ncclFloat16 | Self::ncclBfloat16 => 2,
            Self::ncclInt32 | Self::ncclUint32 | Self::ncclFloat32 => 4,
            Self::ncclInt64 | Self::ncclUint64 | Self::ncclFloat64 => 8,
            _ => return None,
        })
    }
}

define_codes! {
    /// Where the scalar of `ncclRedOpCreatePreMulSum` lies.
    ncclScalarResidence_t {
        /// In the device's memory, read when the work runs.
        ncclScalarDevice = 0,
        /// In the host's memory, read by the call.
        ncclScalarHostImmediate = 1,
    }
}

impl ncclResult_t {
    /// `Ok` for `ncclSuccess`, else the code.
    ///
    /// # Errors
    ///
    /// Every code but `ncclSuccess`, `ncclInProgress` included.
    #[inline]
    pub fn ok(self) -> Result<(), Self> {
        if self == Self::ncclSuccess { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for ncclResult_t {
    /// For example `ncclInvalidUsage (5)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name().unwrap_or("an unknown result of RCCL"), self.0)
    }
}

impl std::error::Error for ncclResult_t {}

/// An integer of [`ncclConfig_t`] that is left to RCCL.
pub const NCCL_CONFIG_UNDEF_INT: c_int = c_int::MIN;
/// The color of `ncclCommSplit` for a rank that joins no new communicator.
pub const NCCL_SPLIT_NOCOLOR: c_int = -1;

/// How a communicator is set up. RCCL's structure grows at its end, and RCCL reads as much as `size` tells.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct ncclConfig_t {
    /// The bytes of this structure.
    pub size: usize,
    /// [`MAGIC`](Self::MAGIC).
    pub magic: c_uint,
    /// The version of the structure, as RCCL's headers number themselves.
    pub version: c_uint,
    /// 0 if calls return [`ncclInProgress`](ncclResult_t::ncclInProgress) instead of waiting, 1 if they wait.
    pub blocking: c_int,
    /// Not for AMD's GPUs.
    pub cgaClusterSize: c_int,
    /// The least number of workgroups.
    pub minCTAs: c_int,
    /// The greatest number of workgroups.
    pub maxCTAs: c_int,
    /// The network to use, a C string; null for any.
    pub netName: *const c_char,
    /// Whether communicators that are split from this one share its resources.
    pub splitShare: c_int,
    /// The traffic class of the network.
    pub trafficClass: c_int,
}

impl ncclConfig_t {
    /// The value that marks a structure as set up.
    pub const MAGIC: c_uint = 0xcafe_beef;

    /// The version of the headers that have exactly these fields: 2.26.
    const VERSION: c_uint = 22_600;

    /// A configuration that leaves everything to an RCCL of this version, a number of `ncclGetVersion`.
    pub fn undefined(version: c_int) -> Self {
        let version = c_uint::try_from(version).unwrap_or(Self::VERSION).min(Self::VERSION);
        Self {
            size: size_of::<Self>(),
            magic: Self::MAGIC,
            version,
            blocking: NCCL_CONFIG_UNDEF_INT,
            cgaClusterSize: NCCL_CONFIG_UNDEF_INT,
            minCTAs: NCCL_CONFIG_UNDEF_INT,
            maxCTAs: NCCL_CONFIG_UNDEF_INT,
            netName: core::ptr::null(),
            splitShare: NCCL_CONFIG_UNDEF_INT,
            trafficClass: NCCL_CONFIG_UNDEF_INT,
        }
    }
}

/// The version of an RCCL: that of the NCCL whose interface it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The major version.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
    /// The patch number.
    pub patch: u32,
}

impl Version {
    /// Decodes the result of `ncclGetVersion`; `None` for a number that is not positive. Up to 2.8 the major version
    /// counts thousands, later it counts ten thousands.
    pub fn from_number(number: c_int) -> Option<Self> {
        let number = u32::try_from(number).ok().filter(|number| *number > 0)?;
        let unit = if number < 10_000 { 1_000 } else { 10_000 };
        Some(Self { major: number / unit, minor: number % unit / 100, patch: number % 100 })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_decoded_before_and_after_2_9() {
        let text = |number| Version::from_number(number).map(|version| version.to_string());
        assert_eq!(text(2_804).as_deref(), Some("2.8.4"));
        assert_eq!(text(21_104).as_deref(), Some("2.11.4"));
        assert_eq!(text(22_203).as_deref(), Some("2.22.3"));
        assert_eq!(text(0), None);
    }

    #[test]
    fn the_structures_have_the_sizes_of_the_c_headers() {
        assert_eq!(size_of::<ncclUniqueId>(), 128);
        // Of a 64-bit system: three words, four integers, a pointer, two integers.
        #[cfg(target_pointer_width = "64")]
        assert_eq!((size_of::<ncclConfig_t>(), core::mem::offset_of!(ncclConfig_t, netName)), (48, 32));
    }

    #[test]
    fn results_have_names() {
        assert_eq!(ncclResult_t::ncclInvalidUsage.to_string(), "ncclInvalidUsage (5)");
        assert_eq!(ncclResult_t(99).to_string(), "an unknown result of RCCL (99)");
        assert_eq!(format!("{:?}", ncclRedOp_t(9)), "ncclRedOp_t(9)");
    }
}
