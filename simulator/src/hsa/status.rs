// SPDX-License-Identifier: MIT OR Apache-2.0
//! HSA's status codes that this runtime returns, with their texts.

use std::ffi::CStr;
use std::fmt;

use crate::packet::Refusal;

/// `hsa_status_t`.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Status(pub u32);

/// The result of the body of a call: `Err` is the status that the client gets.
pub(crate) type Outcome<T> = Result<T, Status>;

macro_rules! statuses {
    ($($name:ident = $number:literal, $spelling:literal, $text:literal;)*) => {
        impl Status {
            $(
                #[doc = concat!("`", $spelling, "`: ", $text, ".")]
                pub const $name: Self = Self($number);
            )*

            /// AMD's spelling, such as `HSA_STATUS_ERROR_INVALID_AGENT`.
            pub(crate) fn name(self) -> Option<&'static str> {
                match self.0 {
                    $($number => Some($spelling),)*
                    _ => None,
                }
            }

            /// The text of the status; `None` for a number that HSA does not have.
            pub(crate) fn text(self) -> Option<&'static CStr> {
                const fn c(text: &'static str) -> &'static CStr {
                    match CStr::from_bytes_with_nul(text.as_bytes()) {
                        Ok(text) => text,
                        Err(_) => c"",
                    }
                }
                match self.0 {
                    $($number => Some(const { c(concat!($spelling, ": ", $text, ".\0")) }),)*
                    _ => None,
                }
            }

            /// The status with a name.
            pub(crate) fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($spelling => Some(Self::$name),)*
                    _ => None,
                }
            }
        }
    };
}

statuses! {
    SUCCESS = 0x0, "HSA_STATUS_SUCCESS", "the function has been executed";
    INFO_BREAK = 0x1, "HSA_STATUS_INFO_BREAK", "a callback ended the traversal";
    INVALID_MEMORY_POOL = 40, "HSA_STATUS_ERROR_INVALID_MEMORY_POOL", "the memory pool is invalid";
    MEMORY_APERTURE_VIOLATION = 41, "HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION",
        "a kernel used an address of the wrong aperture";
    ILLEGAL_INSTRUCTION = 42, "HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION", "a kernel holds an illegal instruction";
    MEMORY_FAULT = 43, "HSA_STATUS_ERROR_MEMORY_FAULT", "a kernel used an address that it must not";
    CU_MASK_REDUCED = 44, "HSA_STATUS_CU_MASK_REDUCED", "the mask was applied but for units that there are not";
    OUT_OF_REGISTERS = 45, "HSA_STATUS_ERROR_OUT_OF_REGISTERS", "a kernel needs more registers than there are";
    RESOURCE_BUSY = 46, "HSA_STATUS_ERROR_RESOURCE_BUSY", "the resource is in use";
    ERROR = 0x1000, "HSA_STATUS_ERROR", "an error without a name of its own";
    INVALID_ARGUMENT = 0x1001, "HSA_STATUS_ERROR_INVALID_ARGUMENT", "an argument is invalid";
    INVALID_QUEUE_CREATION = 0x1002, "HSA_STATUS_ERROR_INVALID_QUEUE_CREATION",
        "the agent has no queues of this type";
    INVALID_ALLOCATION = 0x1003, "HSA_STATUS_ERROR_INVALID_ALLOCATION", "the allocation is invalid";
    INVALID_AGENT = 0x1004, "HSA_STATUS_ERROR_INVALID_AGENT", "the agent is invalid";
    INVALID_REGION = 0x1005, "HSA_STATUS_ERROR_INVALID_REGION", "the region is invalid";
    INVALID_SIGNAL = 0x1006, "HSA_STATUS_ERROR_INVALID_SIGNAL", "the signal is invalid";
    INVALID_QUEUE = 0x1007, "HSA_STATUS_ERROR_INVALID_QUEUE", "the queue is invalid";
    OUT_OF_RESOURCES = 0x1008, "HSA_STATUS_ERROR_OUT_OF_RESOURCES", "resources are used up";
    INVALID_PACKET_FORMAT = 0x1009, "HSA_STATUS_ERROR_INVALID_PACKET_FORMAT", "a packet is malformed";
    RESOURCE_FREE = 0x100a, "HSA_STATUS_ERROR_RESOURCE_FREE", "resources could not be given back";
    NOT_INITIALIZED = 0x100b, "HSA_STATUS_ERROR_NOT_INITIALIZED", "hsa_init was not called";
    REFCOUNT_OVERFLOW = 0x100c, "HSA_STATUS_ERROR_REFCOUNT_OVERFLOW", "hsa_init was called too often";
    INCOMPATIBLE_ARGUMENTS = 0x100d, "HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS",
        "the arguments do not fit each other";
    INVALID_INDEX = 0x100e, "HSA_STATUS_ERROR_INVALID_INDEX", "the index is invalid";
    INVALID_ISA = 0x100f, "HSA_STATUS_ERROR_INVALID_ISA", "the instruction set is invalid";
    INVALID_CODE_OBJECT = 0x1010, "HSA_STATUS_ERROR_INVALID_CODE_OBJECT", "the code object is invalid";
    INVALID_EXECUTABLE = 0x1011, "HSA_STATUS_ERROR_INVALID_EXECUTABLE", "the executable is invalid";
    FROZEN_EXECUTABLE = 0x1012, "HSA_STATUS_ERROR_FROZEN_EXECUTABLE", "the executable is frozen";
    INVALID_SYMBOL_NAME = 0x1013, "HSA_STATUS_ERROR_INVALID_SYMBOL_NAME", "there is no symbol of this name";
    VARIABLE_ALREADY_DEFINED = 0x1014, "HSA_STATUS_ERROR_VARIABLE_ALREADY_DEFINED",
        "the variable is already defined";
    VARIABLE_UNDEFINED = 0x1015, "HSA_STATUS_ERROR_VARIABLE_UNDEFINED", "a variable is undefined";
    EXCEPTION = 0x1016, "HSA_STATUS_ERROR_EXCEPTION", "a kernel raised a hardware exception";
    INVALID_ISA_NAME = 0x1017, "HSA_STATUS_ERROR_INVALID_ISA_NAME", "there is no instruction set of this name";
    INVALID_CODE_SYMBOL = 0x1018, "HSA_STATUS_ERROR_INVALID_CODE_SYMBOL", "the code symbol is invalid";
    INVALID_EXECUTABLE_SYMBOL = 0x1019, "HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL",
        "the executable symbol is invalid";
    INVALID_FILE = 0x1020, "HSA_STATUS_ERROR_INVALID_FILE", "the file cannot be read";
    INVALID_CODE_OBJECT_READER = 0x1021, "HSA_STATUS_ERROR_INVALID_CODE_OBJECT_READER",
        "the code object reader is invalid";
    INVALID_CACHE = 0x1022, "HSA_STATUS_ERROR_INVALID_CACHE", "the cache is invalid";
    INVALID_WAVEFRONT = 0x1023, "HSA_STATUS_ERROR_INVALID_WAVEFRONT", "the wavefront is invalid";
    INVALID_SIGNAL_GROUP = 0x1024, "HSA_STATUS_ERROR_INVALID_SIGNAL_GROUP", "the signal group is invalid";
    INVALID_RUNTIME_STATE = 0x1025, "HSA_STATUS_ERROR_INVALID_RUNTIME_STATE", "the runtime is in the wrong state";
    IMAGE_FORMAT_UNSUPPORTED = 0x3000, "HSA_EXT_STATUS_ERROR_IMAGE_FORMAT_UNSUPPORTED",
        "the agent has no images of this format";
    IMAGE_SIZE_UNSUPPORTED = 0x3001, "HSA_EXT_STATUS_ERROR_IMAGE_SIZE_UNSUPPORTED",
        "the agent has no images of this size";
    IMAGE_PITCH_UNSUPPORTED = 0x3002, "HSA_EXT_STATUS_ERROR_IMAGE_PITCH_UNSUPPORTED",
        "the agent has no images of this pitch";
    SAMPLER_DESCRIPTOR_UNSUPPORTED = 0x3003, "HSA_EXT_STATUS_ERROR_SAMPLER_DESCRIPTOR_UNSUPPORTED",
        "the agent has no such sampler";
    FATAL = 0x1026, "HSA_STATUS_ERROR_FATAL", "the queue met an error and processes no packets any more";
}

impl Status {
    /// The status of an injected failure with this number. A number that HSA lacks, such as HIP's default,
    /// becomes `ERROR`.
    pub(crate) fn of_failure(number: u32) -> Self {
        let known = number >= Self::ERROR.0
            || (Self::INVALID_MEMORY_POOL.0..=Self::RESOURCE_BUSY.0).contains(&number);
        if known { Self(number) } else { Self::ERROR }
    }
}

impl From<Refusal> for Status {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Closed => Self::NOT_INITIALIZED,
            Refusal::NoThread => Self::OUT_OF_RESOURCES,
            Refusal::QueueClosed | Refusal::Backwards | Refusal::Defect => Self::ERROR,
        }
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "{:#x}", self.0),
        }
    }
}
