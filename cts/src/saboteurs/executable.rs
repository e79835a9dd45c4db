// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of executables: what is loaded, and what it says of itself.

use std::{
    any::Any,
    sync::{Arc, Mutex, Weak},
};

use windlass_hal::{
    Buffer, BufferParams, Deadline, Error, FunctionInfo, GlobalInfo, Operation, Parameter, ParameterKind,
    QueueAffinity, Result, Semaphore, driver, edge::Domain,
};

use crate::pass::Pass;

use super::sabotage::{Inner, Sabotage, Submission, load, lock};

type Raw = Arc<dyn driver::RawExecutable>;

saboteurs! {
    loads_the_first_again: "Whatever is loaded, the device's first executable is what comes back.",
        Cache(|_, _| true, Mutex::default()),
        [
            "executable.reflects_local_memory", "executable.truncated_refused",
            "dispatch_refused.argument_size", "command_buffer_dispatch.null_and_empty",
            "executable_cache.other_bytes_other_executable",
        ];
    caches_by_length: "Code of the length of other code is taken for it.",
        Cache(|known, code| known.len() == code.len(), Mutex::default()), ["executable.known_by_its_bytes"];
    accepts_anything: "What cannot be loaded is accepted as something else that could.", Accepts::default(),
        ["executable.garbage_refused", "executable.truncated_refused"];
    refuses_compressed_bundles: "Compressed bundles are refused.", Loads(|inner, code| {
        if code.starts_with(b"CCOB") {
            return Err(Error::invalid_argument("the bundle is compressed"));
        }
        load(inner, code)
    }), ["executable.loads_every_container"];
    refuses_plain_bundles: "Bundles that are not compressed are refused.", Loads(|inner, code| {
        if code.starts_with(b"__CLANG_OFFLOAD_BUNDLE__") {
            return Err(Error::invalid_argument("the bundle is not compressed"));
        }
        load(inner, code)
    }), ["executable.loads_every_container", "executable.wrong_architecture_refused"];
    refusals_are_unknown: "What cannot be loaded is UNKNOWN.",
        Loads(|inner, code| load(inner, code).map_err(|error| Error::unknown(error.to_string()))),
        [
            "executable.wrong_architecture_refused", "executable.garbage_refused",
            "executable.usable_after_refusals",
        ];
    refusals_give_no_reason: "What cannot be loaded is refused without naming targets.",
        Loads(|inner, code| load(inner, code).map_err(|error| Error::new(error.code(), "cannot load this"))),
        ["executable.wrong_architecture_refused"];
    loads_once: "After code that could not be loaded nothing can be.", LoadsOnce::default(),
        [
            "executable.garbage_refused", "executable.truncated_refused",
            "executable_cache.failures_are_not_kept",
        ];
    loads_code_once: "Code that was loaded before is refused, whether anybody still holds it or not.",
        LoadsEachOnce::default(), ["executable_cache.gone_with_the_last_handle"];
    hides_a_function: "The last function of several is not listed.",
        Reflects(|functions| if functions.len() > 1 { functions.truncate(functions.len() - 1) }),
        [
            "executable.lists_functions", "executable.finds_by_name",
            "executable.not_found_names_what_exists", "failure.trap_is_reported",
        ];
    lists_a_function_twice: "The first function is listed twice.",
        Reflects(|functions| functions.extend(functions.first().cloned())),
        ["executable.lists_functions", "executable.loads_at_once"];
    renames_functions: "Functions are listed with a suffix.",
        Reflects(|functions| functions.iter_mut().for_each(|function| function.name.push_str(".kd"))),
        ["executable.finds_by_name"];
    hides_a_parameter: "The last parameter of a function is not reflected.",
        Reflects(|functions| functions.iter_mut().for_each(|function| drop(function.parameters.pop()))),
        ["executable.reflects_parameters", "dispatch_refused.argument_count"];
    shows_hidden_parameters: "A parameter that the compiler added is reflected with the explicit ones.",
        Reflects(|functions| functions.iter_mut().for_each(|function| {
            let end = function.argument_size;
            function.argument_size += 8;
            function.parameters.push(Parameter::new(ParameterKind::Value, end, 8));
        })), ["executable.reflects_parameters"];
    turns_parameters_round: "Parameters are reflected from the last to the first.",
        Reflects(|functions| functions.iter_mut().for_each(|function| function.parameters.reverse())),
        ["executable.reflects_parameters", "dispatch_refused.argument_kind"];
    takes_values_for_buffers: "Every parameter of eight bytes is reflected as a buffer.",
        Reflects(|functions| each_parameter(functions, |parameter| {
            if parameter.size == 8 { parameter.kind = ParameterKind::Buffer }
        })),
        ["executable.reflects_parameters", "failure.bad_access_is_reported", "failure.after_a_bad_access"];
    takes_buffers_for_values: "Buffers are reflected as values of eight bytes.",
        Reflects(|functions| each_parameter(functions, |parameter| parameter.kind = ParameterKind::Value)),
        ["executable.reflects_parameters", "dispatch.empty_grid_is_a_barrier"];
    pads_structs: "A struct is reflected eight bytes shorter than it is.",
        Reflects(|functions| each_parameter(functions, |parameter| {
            if parameter.size > 8 { parameter.size -= 8 }
        })), ["executable.reflects_struct_parameters", "command_buffer_dispatch.struct_argument_direct"];
    parameters_overlap: "Every parameter lies at the start of the block.",
        Reflects(|functions| each_parameter(functions, |parameter| parameter.offset = 0)),
        ["executable.parameters_lie_in_their_block", "command_buffer_dispatch.chain_direct"];
    forgets_workgroup_sizes: "A workgroup size that the code fixes is not reflected.",
        Reflects(|functions| functions.iter_mut().for_each(|function| function.workgroup_size = None)),
        [
            "executable.reflects_workgroup_size", "dispatch.fixed_workgroup_size",
            "dispatch_refused.workgroup_size_other_than_fixed",
        ];
    forgets_local_memory: "Static local memory is not reflected.",
        Reflects(|functions| functions.iter_mut().for_each(|function| function.static_local_memory = 0)),
        ["executable.reflects_local_memory"];
    forgets_workgroup_limits: "How many work-items the code was built for is not reflected.",
        Reflects(|functions| functions.iter_mut().for_each(|function| function.max_workgroup_threads = 0)),
        ["executable.reflects_workgroup_size"];
    hides_globals: "Global variables after the first are not listed.",
        Globals(|globals| globals.truncate(1), |found| found), ["executable_global.listed", "executable_global.not_found_names_the_nearest"];
    lists_a_global_twice: "The first global variable is listed twice.",
        Globals(|globals| globals.extend(globals.first().cloned()), |found| found), ["executable_global.listed"];
    finds_no_global: "No global variable is found.",
        Globals(|_| {}, |_| Err(Error::not_found("there are no globals"))),
        [
            "executable_global.found_by_name", "executable_global.as_an_argument",
            "executable_global.in_command_buffers", "executable_global.not_mapped",
            "executable_global.one_copy_for_a_queue",
        ];
    misplaces_globals: "A global variable is found four bytes before it begins.",
        Globals(|_| {}, |found| found.map(|raw| moved(raw, |address| address - 4, |size| size))),
        ["executable_global.lies_at_its_address", "executable_global.read_by_a_queue"];
    shrinks_globals: "A global variable is found four bytes shorter than it is.",
        Globals(|_| {}, |found| found.map(|raw| moved(raw, |address| address, |size| size - 4))),
        ["executable_global.found_by_name", "executable_global.written_by_a_queue"];
    snapshots_globals: "What is found as a global variable is other memory, with what the variable held.",
        Snapshots, [
            "executable_global.written_by_a_kernel", "executable_global.written_by_a_queue",
            "executable_global.same_memory_each_time",
        ];
    globals_do_not_keep_their_code: "A copy from a variable whose code nobody else holds is forgotten.", Unkept,
        ["executable_global.keeps_its_executable"];
    devices_share_executables: "Code that one device has loaded is not loaded on another.", Shared::default(),
        ["executable_cache.devices_apart"];
    fixes_workgroup_sizes: "Code that takes any workgroup size is said to fix one.",
        Reflects(|functions| functions.iter_mut().for_each(|function| {
            function.workgroup_size.get_or_insert([64, 1, 1]);
        })), ["dispatch_refused.workgroup_size_missing"];
}

fn each_parameter(functions: &mut [FunctionInfo], change: fn(&mut Parameter)) {
    functions.iter_mut().for_each(|function| function.parameters.iter_mut().for_each(change));
}

/// What was loaded, beside the code it was loaded from.
struct Cache(fn(&[u8], &[u8]) -> bool, Mutex<Vec<(Vec<u8>, Raw)>>);

impl Sabotage for Cache {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Raw> {
        let mut loaded = lock(&self.1);
        let same = |(known, raw): &&(Vec<u8>, Raw)| raw.domain() == inner.domain() && (self.0)(known, code);
        if let Some((_, raw)) = loaded.iter().find(same) {
            return Ok(raw.clone());
        }
        let raw = load(inner, code)?;
        loaded.push((code.to_vec(), raw.clone()));
        Ok(raw)
    }
}

#[derive(Default)]
struct Accepts(Mutex<Option<Raw>>);

impl Sabotage for Accepts {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Raw> {
        match load(inner, code) {
            Ok(raw) => {
                *lock(&self.0) = Some(raw.clone());
                Ok(raw)
            }
            Err(_) => {
                let empty = || Arc::new(Empty(inner.domain())) as Raw;
                Ok(lock(&self.0).clone().unwrap_or_else(empty))
            }
        }
    }
}

/// An executable without functions.
struct Empty(Domain);

// SAFETY: there is nothing to dispatch.
unsafe impl driver::RawExecutable for Empty {
    fn domain(&self) -> Domain {
        self.0
    }

    fn functions(&self) -> &[FunctionInfo] {
        &[]
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

struct Loads(fn(&Inner, &[u8]) -> Result<Raw>);

impl Sabotage for Loads {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Raw> {
        (self.0)(inner, code)
    }
}

#[derive(Default)]
struct LoadsOnce(Mutex<Option<Error>>);

impl Sabotage for LoadsOnce {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Raw> {
        match lock(&self.0).clone() {
            Some(error) => Err(error),
            None => load(inner, code).inspect_err(|error| *lock(&self.0) = Some(error.clone())),
        }
    }
}

/// Code that was loaded.
#[derive(Default)]
struct LoadsEachOnce(Mutex<Vec<Vec<u8>>>);

impl Sabotage for LoadsEachOnce {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Raw> {
        let mut known = lock(&self.0);
        if known.iter().any(|known| known == code) {
            return Err(Error::failed_precondition("the code was loaded before"));
        }
        known.push(code.to_vec());
        load(inner, code)
    }
}

/// Changes what executables say of their functions.
struct Reflects(fn(&mut Vec<FunctionInfo>));

impl Sabotage for Reflects {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Raw> {
        reflected(inner, code, self.0)
    }
}

/// Loads code that says something else of its functions than is true.
pub(super) fn reflected(inner: &Inner, code: &[u8], change: fn(&mut Vec<FunctionInfo>)) -> Result<Raw> {
    let raw = load(inner, code)?;
    let mut functions = raw.functions().to_vec();
    change(&mut functions);
    let globals = raw.globals().to_vec();
    Ok(Arc::new(Reflected { raw, functions, globals, global: |found| found }))
}

/// What was loaded on any device, beside the code it was loaded from.
#[derive(Default)]
struct Shared(Mutex<Vec<(Vec<u8>, Raw)>>);

impl Sabotage for Shared {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Raw> {
        let mut loaded = lock(&self.0);
        if let Some((_, raw)) = loaded.iter().find(|(known, _)| known == code) {
            return Ok(raw.clone());
        }
        let raw = load(inner, code)?;
        loaded.push((code.to_vec(), raw.clone()));
        Ok(raw)
    }
}

/// What a global variable is found as.
type Found = Result<Arc<dyn driver::RawBuffer>>;

/// Changes what executables say of their variables, and where these are found.
struct Globals(fn(&mut Vec<GlobalInfo>), fn(Found) -> Found);

impl Sabotage for Globals {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Raw> {
        let raw = load(inner, code)?;
        let (functions, mut globals) = (raw.functions().to_vec(), raw.globals().to_vec());
        (self.0)(&mut globals);
        Ok(Arc::new(Reflected { raw, functions, globals, global: self.1 }))
    }
}

/// The same memory with another address and size.
pub(super) fn moved(
    raw: Arc<dyn driver::RawBuffer>,
    address: fn(u64) -> u64,
    size: fn(u64) -> u64,
) -> Arc<dyn driver::RawBuffer> {
    let (address, size) = (address(raw.device_address()), size(raw.size()));
    Arc::new(Moved { raw, address, size })
}

struct Moved {
    raw: Arc<dyn driver::RawBuffer>,
    address: u64,
    size: u64,
}

// SAFETY: none of its own; it lies about a variable, whose neighbours are variables of the same code.
unsafe impl driver::RawBuffer for Moved {
    fn domain(&self) -> Domain {
        self.raw.domain()
    }
    fn size(&self) -> u64 {
        self.size
    }
    fn device_address(&self) -> u64 {
        self.address
    }
    fn host_pointer(&self) -> Option<driver::HostPointer> {
        None
    }
    fn as_any(&self) -> &dyn Any {
        self.raw.as_any()
    }
}

/// Gives a copy of a variable in the place of the variable.
struct Snapshots;

impl Sabotage for Snapshots {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Raw> {
        Ok(copied(load(inner, code)?, inner))
    }
}

/// An executable whose variables are found as copies of what they hold.
pub(super) fn copied(raw: Raw, inner: &Inner) -> Raw {
    Arc::new(Copied { raw, inner: inner.clone() })
}

struct Copied {
    raw: Raw,
    inner: Inner,
}

// SAFETY: the descriptions are forwarded with the code.
unsafe impl driver::RawExecutable for Copied {
    fn domain(&self) -> Domain {
        self.raw.domain()
    }

    fn functions(&self) -> &[FunctionInfo] {
        self.raw.functions()
    }

    fn globals(&self) -> &[GlobalInfo] {
        self.raw.globals()
    }

    fn global(self: Arc<Self>, index: u32, affinity: QueueAffinity) -> Found {
        let (raw, params) = (self.raw.clone().global(index, affinity)?, BufferParams::device());
        let copy = self.inner.allocate(&params, raw.size())?;
        let done = Semaphore::new(0);
        let operation = Operation::Copy {
            source: Buffer::from_driver(raw, params),
            target: Buffer::from_driver(copy.clone(), params),
        };
        self.inner.pass(affinity, &[], &[done.at(1)], operation)?;
        done.wait_blocking(1, Deadline::NEVER)?;
        Ok(copy)
    }

    fn as_any(&self) -> &dyn Any {
        self.raw.as_any()
    }
}

/// Gives variables that are of use while somebody holds the executable.
struct Unkept;

impl Sabotage for Unkept {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Raw> {
        Ok(Arc::new(Lent(load(inner, code)?)))
    }

    fn submit(&self, inner: &Inner, mut s: Submission<'_>) -> Result<()> {
        let source = match &s.operation {
            Operation::Copy { source, .. } => (source.raw().as_ref() as &dyn Any).downcast_ref(),
            _ => None,
        };
        if source.is_some_and(|LentGlobal { code, .. }| code.strong_count() == 0) {
            s.operation = Operation::Barrier;
        }
        s.to(inner)
    }
}

struct Lent(Raw);

// SAFETY: the descriptions are forwarded with the code.
unsafe impl driver::RawExecutable for Lent {
    fn domain(&self) -> Domain {
        self.0.domain()
    }

    fn functions(&self) -> &[FunctionInfo] {
        self.0.functions()
    }

    fn globals(&self) -> &[GlobalInfo] {
        self.0.globals()
    }

    fn global(self: Arc<Self>, index: u32, affinity: QueueAffinity) -> Found {
        let raw = self.0.clone().global(index, affinity)?;
        Ok(Arc::new(LentGlobal { raw, code: Arc::downgrade(&self) }))
    }

    fn as_any(&self) -> &dyn Any {
        self.0.as_any()
    }
}

struct LentGlobal {
    raw: Arc<dyn driver::RawBuffer>,
    code: Weak<Lent>,
}

// SAFETY: everything is that of the buffer that this keeps.
unsafe impl driver::RawBuffer for LentGlobal {
    fn domain(&self) -> Domain {
        self.raw.domain()
    }
    fn size(&self) -> u64 {
        self.raw.size()
    }
    fn device_address(&self) -> u64 {
        self.raw.device_address()
    }
    fn host_pointer(&self) -> Option<driver::HostPointer> {
        self.raw.host_pointer()
    }
    fn as_any(&self) -> &dyn Any {
        self.raw.as_any()
    }
}

/// An executable that says something else of itself than is true.
struct Reflected {
    raw: Raw,
    functions: Vec<FunctionInfo>,
    globals: Vec<GlobalInfo>,
    global: fn(Found) -> Found,
}

// SAFETY: no saboteur lowers `argument_size`, so the code reads within its block. The other descriptions are wrong on
// purpose.
unsafe impl driver::RawExecutable for Reflected {
    fn domain(&self) -> Domain {
        self.raw.domain()
    }

    fn functions(&self) -> &[FunctionInfo] {
        &self.functions
    }

    fn globals(&self) -> &[GlobalInfo] {
        &self.globals
    }

    fn global(self: Arc<Self>, index: u32, affinity: QueueAffinity) -> Found {
        // By name: the list may be another than the driver's.
        let name = self.globals.get(index as usize).map(|global| &global.name);
        let index = self.raw.globals().iter().position(|global| Some(&global.name) == name);
        let index = index.ok_or_else(|| Error::internal("a variable that is not there"))?;
        (self.global)(self.raw.clone().global(index as u32, affinity))
    }

    fn as_any(&self) -> &dyn Any {
        self.raw.as_any()
    }
}
