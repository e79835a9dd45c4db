// SPDX-License-Identifier: MIT OR Apache-2.0
//! Errors: a status code, a message, and the chain of contexts.

use std::{error, fmt, panic::Location, sync::Arc};

/// The result of all fallible calls of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The kind of a failure, with the numeric values of gRPC and IREE.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[repr(u32)]
pub enum Code {
    /// The work was cancelled before it was issued, usually because its device was closed.
    Cancelled = 1,
    /// A failure that fits no other code.
    Unknown = 2,
    /// An argument is wrong in any state of the object.
    InvalidArgument = 3,
    /// The deadline of a wait passed. The awaited event may still happen.
    DeadlineExceeded = 4,
    /// A named object (a function, a device, a file) does not exist.
    NotFound = 5,
    /// An object that must be new exists already.
    AlreadyExists = 6,
    /// The system denies access, for example to `/dev/kfd`.
    PermissionDenied = 7,
    /// Memory or another bounded resource is used up.
    ResourceExhausted = 8,
    /// The call is correct but not allowed in the present state of the object.
    FailedPrecondition = 9,
    /// The work failed while it ran, or work that it depends on failed. The device continues.
    Aborted = 10,
    /// An offset, a length or a count is out of bounds.
    OutOfRange = 11,
    /// The driver does not offer this.
    Unimplemented = 12,
    /// An invariant of Windlass or of the vendor's library is broken.
    Internal = 13,
    /// The device or the library is not available now.
    Unavailable = 14,
    /// The device was lost, or data cannot be recovered. A lost device fails all its work and all later calls with
    /// this. A device that is opened anew may work.
    DataLoss = 15,
    /// Credentials are missing.
    Unauthenticated = 16,
}

impl Code {
    /// The code with this number. `None` for 0, which means success, and for numbers without a code.
    pub const fn from_number(number: u32) -> Option<Self> {
        Some(match number {
            1 => Self::Cancelled,
            2 => Self::Unknown,
            3 => Self::InvalidArgument,
            4 => Self::DeadlineExceeded,
            5 => Self::NotFound,
            6 => Self::AlreadyExists,
            7 => Self::PermissionDenied,
            8 => Self::ResourceExhausted,
            9 => Self::FailedPrecondition,
            10 => Self::Aborted,
            11 => Self::OutOfRange,
            12 => Self::Unimplemented,
            13 => Self::Internal,
            14 => Self::Unavailable,
            15 => Self::DataLoss,
            16 => Self::Unauthenticated,
            _ => return None,
        })
    }

    /// The name as gRPC and IREE spell it, such as `INVALID_ARGUMENT`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cancelled => "CANCELLED",
            Self::Unknown => "UNKNOWN",
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::DeadlineExceeded => "DEADLINE_EXCEEDED",
            Self::NotFound => "NOT_FOUND",
            Self::AlreadyExists => "ALREADY_EXISTS",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            Self::Aborted => "ABORTED",
            Self::OutOfRange => "OUT_OF_RANGE",
            Self::Unimplemented => "UNIMPLEMENTED",
            Self::Internal => "INTERNAL",
            Self::Unavailable => "UNAVAILABLE",
            Self::DataLoss => "DATA_LOSS",
            Self::Unauthenticated => "UNAUTHENTICATED",
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A failure: its [`Code`], its message, its contexts, and the source line that made it.
///
/// It is one pointer wide and cheap to clone, because one failure reaches all dependants of the failed work. All crates
/// can make one, so a driver outside of this workspace reports failures like the drivers inside.
///
/// ```
/// use windlass_hal::{Code, Error};
/// let error = Error::not_found("no function `vadd`; the executable has `vector_add`").context("looking up a kernel");
/// assert_eq!(error.code(), Code::NotFound);
/// assert_eq!(
///     error.to_string(),
///     "NOT_FOUND: no function `vadd`; the executable has `vector_add` (while looking up a kernel)"
/// );
/// ```
#[derive(Clone)]
pub struct Error(Arc<Inner>);

struct Inner {
    code: Code,
    message: String,
    contexts: Vec<String>,
    location: &'static Location<'static>,
}

macro_rules! constructors {
    ($($(#[$doc:meta])* $name:ident => $code:ident;)*) => {
        $($(#[$doc])*
        #[track_caller]
        pub fn $name(message: impl Into<String>) -> Self {
            Self::new(Code::$code, message)
        })*
    };
}

impl Error {
    /// A failure with a code and a message. The message names the attempt and the remedy.
    #[track_caller]
    #[cold]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            code,
            message: message.into(),
            contexts: Vec::new(),
            location: Location::caller(),
        }))
    }

    constructors! {
        /// [`Code::Cancelled`].
        cancelled => Cancelled;
        /// [`Code::Unknown`].
        unknown => Unknown;
        /// [`Code::InvalidArgument`].
        invalid_argument => InvalidArgument;
        /// [`Code::DeadlineExceeded`].
        deadline_exceeded => DeadlineExceeded;
        /// [`Code::NotFound`].
        not_found => NotFound;
        /// [`Code::PermissionDenied`].
        permission_denied => PermissionDenied;
        /// [`Code::ResourceExhausted`].
        resource_exhausted => ResourceExhausted;
        /// [`Code::FailedPrecondition`].
        failed_precondition => FailedPrecondition;
        /// [`Code::Aborted`].
        aborted => Aborted;
        /// [`Code::OutOfRange`].
        out_of_range => OutOfRange;
        /// [`Code::Unimplemented`].
        unimplemented => Unimplemented;
        /// [`Code::Internal`].
        internal => Internal;
        /// [`Code::Unavailable`].
        unavailable => Unavailable;
        /// [`Code::DataLoss`].
        data_loss => DataLoss;
    }

    /// Adds a context: the act during which the failure passed. The innermost context is added first.
    #[cold]
    #[must_use]
    pub fn context(self, context: impl Into<String>) -> Self {
        let mut contexts = self.0.contexts.clone();
        contexts.push(context.into());
        Self(Arc::new(Inner {
            code: self.0.code,
            message: self.0.message.clone(),
            contexts,
            location: self.0.location,
        }))
    }

    /// The kind of the failure.
    pub fn code(&self) -> Code {
        self.0.code
    }

    /// The message, without code and contexts.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The contexts, the innermost first.
    pub fn contexts(&self) -> impl Iterator<Item = &str> {
        self.0.contexts.iter().map(String::as_str)
    }

    /// The source line that made the error.
    pub fn location(&self) -> &'static Location<'static> {
        self.0.location
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.code, self.0.message)?;
        for (i, context) in self.0.contexts.iter().enumerate() {
            write!(f, "{}while {context}", if i == 0 { " (" } else { ", " })?;
        }
        if self.0.contexts.is_empty() { Ok(()) } else { f.write_str(")") }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} [{}]", self.0.location)
    }
}

impl error::Error for Error {}

/// Adds contexts to the error of a result.
pub trait ResultExt<T> {
    /// Calls [`Error::context`] on the error. The closure runs only on failure.
    fn context<C: Into<String>>(self, context: impl FnOnce() -> C) -> Result<T>;
}

impl<T> ResultExt<T> for Result<T> {
    fn context<C: Into<String>>(self, context: impl FnOnce() -> C) -> Result<T> {
        self.map_err(|error| error.context(context()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_pointer_wide_with_a_niche() {
        assert_eq!(size_of::<Error>(), size_of::<usize>());
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }

    #[test]
    fn contexts_read_from_the_inside_out() {
        let error = Error::aborted("it broke").context("copying").context("loading the model");
        assert_eq!(error.to_string(), "ABORTED: it broke (while copying, while loading the model)");
        assert!(error.location().file().ends_with("error.rs"));
    }

    #[test]
    fn every_code_has_its_number() {
        let numbered: Vec<_> = (0..20).filter_map(Code::from_number).map(|code| code as u32).collect();
        assert_eq!(numbered, (1..=16).collect::<Vec<_>>());
    }
}
