// SPDX-License-Identifier: MIT OR Apache-2.0
//! The names of HIP's status codes, without a library.

use std::ffi::CStr;
use std::fmt;

use crate::bindings::{STATUS_NAMES, hipError_t};

impl hipError_t {
    /// The name in HIP's headers; `None` for a code that these bindings lack.
    ///
    /// If the headers have two names for one code, this is the one that is not deprecated.
    pub fn name(self) -> Option<&'static str> {
        self.find().and_then(|name| name.to_str().ok())
    }

    /// The name as HIP's own `hipGetErrorName` gives it: `hipErrorUnknown` for a code that these bindings lack.
    pub fn c_name(self) -> &'static CStr {
        self.find().unwrap_or(c"hipErrorUnknown")
    }

    fn find(self) -> Option<&'static CStr> {
        let index = STATUS_NAMES.binary_search_by_key(&self.0, |(status, _)| status.0).ok()?;
        STATUS_NAMES.get(index).map(|(_, name)| *name)
    }

    /// The code with the name `name` in HIP's headers.
    pub fn from_name(name: &str) -> Option<Self> {
        STATUS_NAMES.iter().find(|(_, known)| known.to_bytes() == name.as_bytes()).map(|(status, _)| *status)
    }

    /// `Ok` for `hipSuccess`, else the code.
    ///
    /// # Errors
    ///
    /// Every code but `hipSuccess`, `hipErrorNotReady` included.
    #[inline]
    pub fn ok(self) -> Result<(), Self> {
        if self == Self::hipSuccess { Ok(()) } else { Err(self) }
    }
}

impl fmt::Display for hipError_t {
    /// For example `hipErrorNotReady (600)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.name().unwrap_or("an unknown HIP status"), self.0)
    }
}

impl std::error::Error for hipError_t {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_their_names() {
        for (status, name) in [
            (hipError_t::hipSuccess, "hipSuccess"),
            (hipError_t::hipErrorOutOfMemory, "hipErrorOutOfMemory"),
            (hipError_t::hipErrorNotReady, "hipErrorNotReady"),
            (hipError_t::hipErrorIllegalAddress, "hipErrorIllegalAddress"),
            (hipError_t::hipErrorRuntimeOther, "hipErrorRuntimeOther"),
        ] {
            assert_eq!(status.name(), Some(name));
            assert_eq!(hipError_t::from_name(name), Some(status));
        }
        assert_eq!(hipError_t::hipErrorNotReady.to_string(), "hipErrorNotReady (600)");
    }

    #[test]
    fn an_unknown_code_is_named_by_number() {
        assert_eq!(hipError_t(4711).name(), None);
        assert_eq!(hipError_t(4711).to_string(), "an unknown HIP status (4711)");
        assert_eq!(hipError_t::from_name("hipErrorTbd"), None, "the sentinel moves between versions");
    }

    #[test]
    fn names_ascend() {
        assert!(STATUS_NAMES.is_sorted_by(|left, right| left.0.0 < right.0.0), "binary search needs this");
    }

    #[test]
    fn only_success_is_ok() {
        assert_eq!(hipError_t::hipSuccess.ok(), Ok(()));
        assert_eq!(hipError_t::hipErrorNotReady.ok(), Err(hipError_t::hipErrorNotReady));
    }
}
