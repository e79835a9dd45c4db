// SPDX-License-Identifier: MIT OR Apache-2.0
//! [`Rccl`]: a table of functions with its origin, and RCCL's functions as methods.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use tracing::level_filters::LevelFilter;

use super::functions::{Function, Functions};
use super::types::*;
use crate::binding::Binding;
use crate::bindings::hipStream_t;
use crate::end::{self, Gate, Leave};
use crate::ending_thread;
use crate::log::tell;

/// The environment variable with the RCCL library: a file, a folder that holds one, or a name for the system's search.
pub const LIBRARY_VARIABLE: &str = "WINDLASS_RCCL_LIBRARY";

/// An RCCL: a library, or functions of this process. Clones share it.
///
/// Every function of RCCL is a method of the same name and parameters. A method emits a trace event with the arguments
/// (target `windlass::rccl`, level trace), tells the [`Binding`], if there is one, which instance is meant, and calls. A
/// method of a function that not every RCCL has returns `None` if this one lacks it. When the process ends, the methods
/// of a library return `ncclSystemError` (a null pointer if RCCL returns a pointer) and do not call.
///
/// RCCL keeps a thread's group (`ncclGroupStart`) and HIP's current device for each thread: calls that belong together
/// are made on one thread. `ncclCommInitRank` waits until every rank has called it, unless it is within a group.
///
/// The methods are unsafe like RCCL's functions: pointers and handles must be as RCCL's documentation demands, and
/// buffers must outlive the enqueued work that uses them.
#[derive(Clone)]
pub struct Rccl(Arc<Table>);

struct Table {
    functions: Functions,
    way: Way,
    origin: Origin,
}

/// The function that a call runs before it enters the implementation.
enum Way {
    Open,
    Bound(Binding),
    /// A library, which is unusable once the process ends.
    Library(&'static Gate),
}

// SAFETY: RCCL's functions may be called from any thread; the contract of `Binding` covers its context; everything else
// is Send and Sync by itself.
unsafe impl Send for Table {}
// SAFETY: as for Send; a table does not change after its construction.
unsafe impl Sync for Table {}

/// How an RCCL was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// The caller named the library.
    Explicit,
    /// The variable `WINDLASS_RCCL_LIBRARY` named the library.
    Environment,
    /// The library was in this process already.
    AlreadyLoaded,
    /// The library lies beside the HIP in use.
    BesideHip,
    /// The system's library search, or ROCm's installation folder, found the library.
    Search,
    /// An implementation in this process; no library was opened.
    InProcess,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Explicit => "named by the caller",
            Self::Environment => "named by WINDLASS_RCCL_LIBRARY",
            Self::AlreadyLoaded => "already loaded",
            Self::BesideHip => "beside HIP",
            Self::Search => "found by search",
            Self::InProcess => "in this process",
        })
    }
}

/// The origin of a table, for listings, reports and error messages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Origin {
    /// The name that was opened, or the name of the implementation in this process.
    pub name: String,
    /// The path of the file, if there is one and the system tells.
    pub path: Option<PathBuf>,
    /// The version that the implementation reports.
    pub version: Option<Version>,
    /// How the implementation was found.
    pub found: Found,
    /// Whether it is Windlass's own, for simulated GPUs.
    pub simulated: bool,
}

impl Origin {
    /// The origin of an implementation in this process, which is simulated.
    pub fn in_process(name: impl Into<String>, version: Option<Version>) -> Self {
        Self { name: name.into(), path: None, version, found: Found::InProcess, simulated: true }
    }
}

impl fmt::Display for Origin {
    /// For example `librccl.so.1, RCCL 2.22.3, beside HIP: /opt/rocm/lib/librccl.so.1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(version) = self.version {
            write!(f, ", RCCL {version}")?;
        }
        if self.simulated {
            f.write_str(", simulated")?;
        }
        write!(f, ", {}", self.found)?;
        match &self.path {
            Some(path) => write!(f, ": {}", path.display()),
            None => Ok(()),
        }
    }
}

impl Rccl {
    /// Wraps a table of functions in this process.
    ///
    /// # Safety
    ///
    /// Each function must behave as RCCL documents it, on any thread, for as long as the table lives; with a `binding`,
    /// after `enter` was called on the same thread. The binding must honour its contract.
    pub unsafe fn from_functions(functions: Functions, origin: Origin, binding: Option<Binding>) -> Self {
        Self(Arc::new(Table { functions, way: binding.map_or(Way::Open, Way::Bound), origin }))
    }

    /// Wraps the table of a library, whose calls pass through a `Gate`.
    ///
    /// # Safety
    ///
    /// As for [`from_functions`](Self::from_functions), until the process ends.
    pub(super) unsafe fn of_library(functions: Functions, origin: Origin, gate: &'static Gate) -> Self {
        Self(Arc::new(Table { functions, way: Way::Library(gate), origin }))
    }

    /// The raw table. A call through it skips the binding, the trace, and the check for the end of the process.
    pub fn functions(&self) -> &Functions {
        &self.0.functions
    }

    /// The origin of the table.
    pub fn origin(&self) -> &Origin {
        &self.0.origin
    }

    /// Whether the process is ending. The library behind this table is then no longer called, and its communicators need
    /// no release.
    pub fn has_ended(&self) -> bool {
        matches!(self.0.way, Way::Library(_)) && end::has_come()
    }

    /// RCCL's words about the latest error of the process; `None` if it has none, or this RCCL cannot tell.
    pub fn last_error(&self) -> Option<String> {
        // SAFETY: the function takes any communicator, null included, and ignores it.
        let words =
            unsafe { self.ncclGetLastError(core::ptr::null_mut()) }.filter(|words| !words.is_null())?;
        // SAFETY: RCCL answers a C string that stays in place.
        let words = unsafe { CStr::from_ptr(words) }.to_string_lossy().trim().to_owned();
        (!words.is_empty()).then_some(words)
    }
}

impl fmt::Debug for Rccl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rccl")
            .field("origin", &self.0.origin)
            .field("functions", &self.0.functions)
            .finish_non_exhaustive()
    }
}

/// The return value of a method if the library has ended.
trait Ended {
    const ENDED: Self;
}

impl Ended for ncclResult_t {
    const ENDED: Self = Self::ncclSystemError;
}

impl Ended for *const c_char {
    const ENDED: Self = core::ptr::null();
}

/// Separate from the calls, so that an untraced call contains only a comparison.
#[cold]
#[inline(never)]
fn trace_call(call: fmt::Arguments<'_>) {
    tell(|| tracing::trace!(target: "windlass::rccl", "{call}"));
}

/// Runs a call in its way.
fn pass<R: Ended>(way: &Way, function: Function, mut call: impl FnMut() -> R) -> R {
    let gate = match way {
        Way::Open => return call(),
        Way::Bound(binding) => {
            // SAFETY: the binding keeps its context alive and honours its contract.
            unsafe { (binding.enter)(binding.context) };
            return call();
        }
        Way::Library(gate) => gate,
    };
    let leave = gate.enter(function as usize);
    let answer = match leave {
        Leave::Refused => return R::ENDED,
        Leave::Elsewhere { thread } => ending_thread::call(thread, call),
        _ => call(),
    };
    gate.leave(function as usize, leave);
    answer
}

/// The format of a call's arguments: `first={:?}, second={:?}`.
macro_rules! arguments_format {
    () => { "" };
    ($first:ident $($other:ident)*) => {
        concat!(stringify!($first), "={:?}" $(, ", ", stringify!($other), "={:?}")*)
    };
}

macro_rules! trace {
    ($name:ident($($parameter:ident)*)) => {
        if LevelFilter::TRACE <= LevelFilter::current() {
            trace_call(format_args!(
                concat!(stringify!($name), "(", arguments_format!($($parameter)*), ")"),
                $($parameter),*
            ));
        }
    };
}

macro_rules! define_methods {
    (
        required { $(fn $name:ident($($parameter:ident: $ty:ty),*) -> $result:ty;)* }
        optional { $(fn $other:ident($($of_other:ident: $other_ty:ty),*) -> $other_result:ty;)* }
    ) => {
        /// RCCL's functions.
        #[allow(non_snake_case, clippy::too_many_arguments)]
        impl Rccl {
            $(
                #[doc = concat!("Calls `", stringify!($name), "`.")]
                ///
                /// # Safety
                ///
                /// As RCCL documents the function; see [`Rccl`].
                pub unsafe fn $name(&self, $($parameter: $ty),*) -> $result {
                    trace!($name($($parameter)*));
                    let entry = self.0.functions.$name;
                    // SAFETY: the maker of the table vouches for the function, the caller for the arguments.
                    pass(&self.0.way, Function::$name, || unsafe { entry($($parameter),*) })
                }
            )*
            $(
                #[doc = concat!("Calls `", stringify!($other), "`; `None` if this RCCL lacks it.")]
                ///
                /// # Safety
                ///
                /// As RCCL documents the function; see [`Rccl`].
                pub unsafe fn $other(&self, $($of_other: $other_ty),*) -> Option<$other_result> {
                    let entry = self.0.functions.$other?;
                    trace!($other($($of_other)*));
                    // SAFETY: as above.
                    Some(pass(&self.0.way, Function::$other, || unsafe { entry($($of_other),*) }))
                }
            )*
        }
    };
}

crate::for_each_rccl_function!(define_methods);
