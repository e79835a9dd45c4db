// SPDX-License-Identifier: MIT OR Apache-2.0
//! hipRTC's results.

use std::ffi::CStr;

/// `hiprtcResult`.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Code(pub i32);

macro_rules! codes {
    ($($name:ident = $number:literal, $text:literal;)*) => {
        impl Code {
            $(
                #[doc = concat!("`HIPRTC_", stringify!($name), "`.")]
                pub const $name: Self = Self($number);
            )*

            /// The name of the result in HIP's header, if it has one.
            pub fn name(self) -> Option<&'static CStr> {
                match self {
                    $(Self::$name => Some($text),)*
                    _ => None,
                }
            }
        }
    };
}

codes! {
    SUCCESS = 0, c"HIPRTC_SUCCESS";
    ERROR_OUT_OF_MEMORY = 1, c"HIPRTC_ERROR_OUT_OF_MEMORY";
    ERROR_PROGRAM_CREATION_FAILURE = 2, c"HIPRTC_ERROR_PROGRAM_CREATION_FAILURE";
    ERROR_INVALID_INPUT = 3, c"HIPRTC_ERROR_INVALID_INPUT";
    ERROR_INVALID_PROGRAM = 4, c"HIPRTC_ERROR_INVALID_PROGRAM";
    ERROR_INVALID_OPTION = 5, c"HIPRTC_ERROR_INVALID_OPTION";
    ERROR_COMPILATION = 6, c"HIPRTC_ERROR_COMPILATION";
    ERROR_BUILTIN_OPERATION_FAILURE = 7, c"HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE";
    ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION = 8, c"HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION";
    ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION = 9, c"HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION";
    ERROR_NAME_EXPRESSION_NOT_VALID = 10, c"HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID";
    ERROR_INTERNAL_ERROR = 11, c"HIPRTC_ERROR_INTERNAL_ERROR";
    ERROR_LINKING = 100, c"HIPRTC_ERROR_LINKING";
}
