// SPDX-License-Identifier: MIT OR Apache-2.0
//! [`Api`]: a table of entry points with its origin, and HIP's functions as methods.

use core::ffi::c_void;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use tracing::level_filters::LevelFilter;

use crate::binding::Binding;
use crate::bindings::*;
use crate::end::{self, Gate, Leave};
use crate::ending_thread;
use crate::features::{Feature, FeatureSet};
use crate::log::tell;
use crate::rccl::Rccl;
use crate::table::{EntryPoints, Function};

/// A HIP implementation: a library, or functions of this process.
///
/// Every function of HIP is a method of the same name and parameters. A method emits a trace event with the arguments
/// (target `windlass::hip`, level trace), tells the [`Binding`], if there is one, which instance is meant, and calls.
/// If the entry point is absent, the method returns `hipErrorNotSupported` (a null pointer if HIP returns a pointer,
/// -1 if HIP returns a device number). When the process ends, the methods of a library return `hipErrorDeinitialized`
/// (or null or -1). On Linux, destructors of thread-locals call a library on a helper thread, because the library may
/// have destroyed its own objects of the ending thread. The current device of a helper thread is 0 at first: such a
/// destructor sets its device before other calls.
///
/// Without a subscriber for trace events, a call costs a handful of instructions more than the raw function; a call of
/// a library costs about 15, because it must watch for the end of the process.
///
/// The methods are unsafe like HIP's functions: pointers and handles must be as HIP's documentation demands, and must
/// outlive the enqueued work that uses them.
pub struct Api {
    entries: EntryPoints,
    way: Way,
    features: FeatureSet,
    origin: Origin,
    diagnosis: Option<Diagnosis>,
    contained_faults: bool,
    rccl: Option<Rccl>,
}

/// The function that a call runs before it enters the implementation.
#[derive(Debug)]
enum Way {
    /// An implementation in this process, which is always available.
    Open,
    /// An implementation in this process with instances.
    Bound(Binding),
    /// A library, which is unusable once the process ends.
    Library(&'static Gate),
}

/// Tells why the latest call of the calling thread failed.
type Diagnosis = Arc<dyn Fn() -> Option<String> + Send + Sync>;

// SAFETY: function pointers may be called from any thread, as HIP allows; the contract of `Binding` covers its
// context; everything else is Send and Sync by itself.
unsafe impl Send for Api {}
// SAFETY: as for Send; an `Api` does not change after its construction.
unsafe impl Sync for Api {}

/// How an implementation was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// The caller named the library.
    Explicit,
    /// The variable `WINDLASS_HIP_LIBRARY` named the library.
    Environment,
    /// The library was in this process already, loaded by other code than a search of Windlass.
    AlreadyLoaded,
    /// The system's library search, or ROCm's installation folder, found the library.
    Search,
    /// An implementation in this process; no library was opened.
    InProcess,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Explicit => "named by the caller",
            Self::Environment => "named by WINDLASS_HIP_LIBRARY",
            Self::AlreadyLoaded => "already loaded",
            Self::Search => "found by search",
            Self::InProcess => "in this process",
        })
    }
}

/// The version of a HIP library.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version {
    /// The major version, that of ROCm.
    pub major: u32,
    /// The minor version.
    pub minor: u32,
    /// The patch number, which counts builds rather than fixes.
    pub patch: u32,
}

impl Version {
    /// Decodes the result of `hipRuntimeGetVersion` or `hipDriverGetVersion`; `None` for a number that is not
    /// positive.
    pub fn from_number(number: i32) -> Option<Self> {
        let number = u32::try_from(number).ok().filter(|number| *number > 0)?;
        Some(Self { major: number / 10_000_000, minor: number / 100_000 % 100, patch: number % 100_000 })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

/// The origin of a table, for listings, reports and error messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The name that was opened, or the name of the implementation in this process.
    pub name: String,
    /// The path of the file, if there is one and the system tells.
    pub path: Option<PathBuf>,
    /// The version that the implementation reports.
    pub version: Option<Version>,
    /// How the implementation was found.
    pub found: Found,
    /// Whether there is no GPU: Windlass's software GPU, or the null HIP. No measurement on it says anything about a
    /// GPU.
    pub simulated: bool,
    /// Whether HIP itself is Windlass's. False for AMD's HIP over Windlass's HSA, which behaves as over a GPU.
    pub simulated_hip: bool,
}

impl fmt::Display for Origin {
    /// For example `libamdhip64.so.5, HIP 5.2.21153, found by search: /usr/lib/x86_64-linux-gnu/libamdhip64.so.5`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(version) = self.version {
            write!(f, ", HIP {version}")?;
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

impl Api {
    /// Wraps a table of functions in this process.
    ///
    /// The table may be incomplete; [`EntryPoints::missing_required`] lists the functions that a driver needs.
    ///
    /// # Safety
    ///
    /// Each present function must behave as HIP documents it, on any thread, for as long as the `Api` lives; with a
    /// `binding`, after `enter` was called on the same thread. The binding must honour its contract.
    pub unsafe fn from_entries(entries: EntryPoints, origin: Origin, binding: Option<Binding>) -> Self {
        Self {
            features: FeatureSet::from_entries(&entries),
            entries,
            way: binding.map_or(Way::Open, Way::Bound),
            origin,
            diagnosis: None,
            contained_faults: false,
            rccl: None,
        }
    }

    /// The same table with another origin.
    pub(crate) fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }

    /// Wraps the table of a library, whose calls pass through a `Gate`.
    ///
    /// # Safety
    ///
    /// As for [`from_entries`](Self::from_entries), until the process ends.
    pub(crate) unsafe fn of_library(entries: EntryPoints, origin: Origin, gate: &'static Gate) -> Self {
        // SAFETY: the gate refuses calls after the end of the process.
        let api = unsafe { Self::from_entries(entries, origin, None) };
        Self { way: Way::Library(gate), ..api }
    }

    /// Whether the process is ending. The library behind this table is then no longer called, and HIP's handles and
    /// memory need no release.
    pub fn has_ended(&self) -> bool {
        matches!(self.way, Way::Library(_)) && end::has_come()
    }

    /// The same table, with a function that tells why the latest call of the asking thread failed.
    #[must_use]
    pub fn with_diagnosis(mut self, diagnosis: impl Fn() -> Option<String> + Send + Sync + 'static) -> Self {
        self.diagnosis = Some(Arc::new(diagnosis));
        self
    }

    /// The same table, for an implementation that contains faults: work behind a failed kernel goes on. Only the event
    /// that is recorded next on the kernel's stream answers the error, to every query until it is recorded again.
    #[must_use]
    pub fn with_contained_faults(mut self) -> Self {
        self.contained_faults = true;
        self
    }

    /// The same table, for an implementation in this process that has an RCCL for its devices.
    #[must_use]
    pub fn with_rccl(mut self, rccl: Rccl) -> Self {
        self.rccl = Some(rccl);
        self
    }

    /// The RCCL that an implementation in this process brings. [`Rccl::load`] finds that of any other HIP.
    pub fn rccl(&self) -> Option<&Rccl> {
        self.rccl.as_ref()
    }

    /// Whether a fault affects only the event that is recorded next on its stream; see
    /// [`with_contained_faults`](Self::with_contained_faults). On hardware a fault costs the process its device.
    pub fn contains_faults(&self) -> bool {
        self.contained_faults
    }

    /// Whether a failed kernel is an error that the implementation explains, and the process goes on.
    pub fn diagnoses_faults(&self) -> bool {
        self.diagnosis.is_some()
    }

    /// Why the latest call of this thread failed, if the implementation can tell more than the status. AMD's runtime
    /// cannot; the simulated GPU names the kernel, the instruction, the lane and the address. Ask before the next
    /// call.
    pub fn diagnose(&self) -> Option<String> {
        self.diagnosis.as_ref().and_then(|diagnosis| diagnosis())
    }

    /// The raw table.
    ///
    /// A call through the raw table skips the binding, the trace, and the check for the end of the process.
    pub fn entries(&self) -> &EntryPoints {
        &self.entries
    }

    /// The origin of the table.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// Whether every function of `feature` is present.
    pub fn has(&self, feature: Feature) -> bool {
        self.features.contains(feature)
    }

    /// The functions of the table that are absent, in the order of the declarations.
    pub fn missing(&self) -> Vec<&'static str> {
        EntryPoints::NAMES.iter().copied().filter(|name| self.entries.address(name).is_none()).collect()
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Api")
            .field("origin", &self.origin)
            .field("entries", &self.entries)
            .field("way", &self.way)
            .finish_non_exhaustive()
    }
}

/// The signature of `hipModuleLaunchKernel`.
type LaunchKernel = unsafe extern "C" fn(
    hipFunction_t,
    u32,
    u32,
    u32,
    u32,
    u32,
    u32,
    u32,
    hipStream_t,
    *mut *mut c_void,
    *mut *mut c_void,
) -> hipError_t;

/// Launches one kernel behind the other: what each call of [`Api::hipModuleLaunchKernel`] looks up is looked up once.
#[derive(Clone, Copy)]
pub struct Launcher<'a> {
    api: &'a Api,
    /// Absent if calls are traced, or need more than the gate.
    direct: Option<(LaunchKernel, &'static Gate)>,
}

impl Api {
    /// A launcher. Its launches emit trace events if trace events are on now.
    pub fn launcher(&self) -> Launcher<'_> {
        let traced = LevelFilter::TRACE <= LevelFilter::current();
        let direct = match (&self.way, self.entries.hipModuleLaunchKernel) {
            (Way::Library(gate), Some(entry)) if !traced => Some((entry, *gate)),
            _ => None,
        };
        Launcher { api: self, direct }
    }
}

impl Launcher<'_> {
    /// Calls `hipModuleLaunchKernel` with the numbers of workgroups and of work-items in x, y, z, bytes of local memory, a
    /// stream, and `extra`.
    ///
    /// # Safety
    ///
    /// As for [`Api::hipModuleLaunchKernel`].
    #[inline(always)]
    #[allow(non_snake_case, reason = "as HIP names it")]
    pub unsafe fn hipModuleLaunchKernel(
        &self,
        function: hipFunction_t,
        [gx, gy, gz]: [u32; 3],
        [bx, by, bz]: [u32; 3],
        local_memory: u32,
        stream: hipStream_t,
        extra: *mut *mut c_void,
    ) -> hipError_t {
        if let Some((entry, gate)) = self.direct {
            let none = core::ptr::null_mut();
            // SAFETY: the maker of the table vouches for the function, the caller for the arguments.
            let call =
                move || unsafe { entry(function, gx, gy, gz, bx, by, bz, local_memory, stream, none, extra) };
            if let Some(status) = gate.pass(Function::hipModuleLaunchKernel as usize, call) {
                return status;
            }
        }
        // SAFETY: as above.
        unsafe { self.launch_slowly(function, [gx, gy, gz], [bx, by, bz], local_memory, stream, extra) }
    }

    /// # Safety
    ///
    /// As for [`Api::hipModuleLaunchKernel`].
    #[cold]
    #[inline(never)]
    unsafe fn launch_slowly(
        &self,
        function: hipFunction_t,
        [gx, gy, gz]: [u32; 3],
        [bx, by, bz]: [u32; 3],
        local_memory: u32,
        stream: hipStream_t,
        extra: *mut *mut c_void,
    ) -> hipError_t {
        let none = core::ptr::null_mut();
        // SAFETY: as the caller promises.
        unsafe {
            self.api.hipModuleLaunchKernel(
                function,
                gx,
                gy,
                gz,
                bx,
                by,
                bz,
                local_memory,
                stream,
                none,
                extra,
            )
        }
    }
}

/// The return value of a method if its entry point is absent, or if the library has ended.
trait Absent: Sized {
    const ABSENT: Self;
    const ENDED: Self = Self::ABSENT;
}

impl Absent for hipError_t {
    const ABSENT: Self = hipError_t::hipErrorNotSupported;
    const ENDED: Self = hipError_t::hipErrorDeinitialized;
}

impl Absent for () {
    const ABSENT: Self = ();
}

impl Absent for c_int {
    const ABSENT: Self = -1;
}

impl Absent for *const c_char {
    const ABSENT: Self = core::ptr::null();
}

impl Absent for *mut *mut c_void {
    const ABSENT: Self = core::ptr::null_mut();
}

/// Separate from the calls, so that an untraced call contains only a comparison.
#[cold]
#[inline(never)]
fn trace_call(call: fmt::Arguments<'_>) {
    tell(|| tracing::trace!(target: "windlass::hip", "{call}"));
}

/// The format of a call's arguments: `first={:?}, second={:?}`.
macro_rules! arguments_format {
    () => { "" };
    ($first:ident $($other:ident)*) => {
        concat!(stringify!($first), "={:?}" $(, ", ", stringify!($other), "={:?}")*)
    };
}

macro_rules! define_methods {
    ($(fn $name:ident($($parameter:ident: $ty:ty),* $(,)?) -> $result:ty;)*) => {
        /// HIP's functions.
        #[allow(non_snake_case, clippy::too_many_arguments)]
        impl Api {
            $(
                #[doc = concat!("Calls `", stringify!($name), "`.")]
                ///
                /// # Safety
                ///
                /// As HIP documents the function; see [`Api`].
                #[inline]
                pub unsafe fn $name(&self, $($parameter: $ty),*) -> $result {
                    let Some(entry) = self.entries.$name else {
                        return <$result as Absent>::ABSENT;
                    };
                    if LevelFilter::TRACE <= LevelFilter::current() {
                        // Copies: the arguments themselves stay in registers if their addresses are not taken.
                        $(let $parameter = $parameter;)*
                        trace_call(format_args!(
                            concat!(stringify!($name), "(", arguments_format!($($parameter)*), ")"),
                            $($parameter),*
                        ));
                    }
                    let gate = match &self.way {
                        // SAFETY: the maker of the table vouches for the function, the caller for the arguments.
                        Way::Open => return unsafe { entry($($parameter),*) },
                        Way::Bound(binding) => {
                            // SAFETY: the binding keeps its context alive and honours its contract.
                            unsafe { (binding.enter)(binding.context) };
                            // SAFETY: as for an open table.
                            return unsafe { entry($($parameter),*) };
                        }
                        Way::Library(gate) => gate,
                    };
                    let leave = gate.enter(Function::$name as usize);
                    let answer = match leave {
                        Leave::Refused => return <$result as Absent>::ENDED,
                        Leave::Elsewhere { thread } => {
                            $(let $parameter = $parameter;)*
                            // SAFETY: as for an open table.
                            ending_thread::call(thread, || unsafe { entry($($parameter),*) })
                        }
                        // SAFETY: as for an open table.
                        _ => unsafe { entry($($parameter),*) },
                    };
                    gate.leave(Function::$name as usize, leave);
                    answer
                }
            )*
        }
    };
}

crate::for_each_entry_point!(define_methods);
