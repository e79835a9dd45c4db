// SPDX-License-Identifier: MIT OR Apache-2.0
//! Saboteurs of executables: what is loaded, and what it says of itself.

use std::{
    any::Any,
    sync::{Arc, Mutex},
};

use windlass_hal::{Error, FunctionInfo, Parameter, ParameterKind, Result, driver, edge::Domain};

use super::sabotage::{Inner, Sabotage, load, lock};

type Raw = Arc<dyn driver::Executable>;

saboteurs! {
    loads_the_first_again: "Whatever is loaded, the device's first executable is what comes back.",
        Cache(|_, _| true, Mutex::default()),
        [
            "executable.reflects_local_memory", "executable.truncated_refused",
            "dispatch_refused.argument_size", "command_buffer_dispatch.null_and_empty",
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
        ["executable.garbage_refused", "executable.truncated_refused"];
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
    finds_every_global: "A global that is not there is found at address zero.",
        Globals(|found| Ok(found.unwrap_or((0, 0)))), ["executable.globals"];
    finds_no_global: "No global is found.", Globals(|_| Err(Error::not_found("there are no globals"))),
        ["executable.globals", "executable.globals_lie_at_their_address"];
    misplaces_globals: "A global is found eight bytes before it begins.",
        Globals(|found| found.map(|(address, size)| (address - 8, size))),
        ["executable.globals_lie_at_their_address"];
    shrinks_globals: "A global is found four bytes shorter than it is.",
        Globals(|found| found.map(|(address, size)| (address, size - 4))), ["executable.globals"];
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

impl driver::Executable for Empty {
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

/// Changes what executables say of their functions.
struct Reflects(fn(&mut Vec<FunctionInfo>));

impl Sabotage for Reflects {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Raw> {
        let raw = load(inner, code)?;
        let mut functions = raw.functions().to_vec();
        (self.0)(&mut functions);
        Ok(Arc::new(Reflected { raw, functions, global: |found| found }))
    }
}

/// What a global is found as: its address and its size.
type Found = Result<(u64, u64)>;

struct Globals(fn(Found) -> Found);

impl Sabotage for Globals {
    fn load(&self, inner: &Inner, code: &[u8]) -> Result<Raw> {
        let raw = load(inner, code)?;
        let functions = raw.functions().to_vec();
        Ok(Arc::new(Reflected { raw, functions, global: self.0 }))
    }
}

/// An executable that says something else of itself than is true.
struct Reflected {
    raw: Raw,
    functions: Vec<FunctionInfo>,
    global: fn(Found) -> Found,
}

impl driver::Executable for Reflected {
    fn domain(&self) -> Domain {
        self.raw.domain()
    }

    fn functions(&self) -> &[FunctionInfo] {
        &self.functions
    }

    fn global(&self, name: &str) -> Found {
        (self.global)(self.raw.global(name))
    }

    fn as_any(&self) -> &dyn Any {
        self.raw.as_any()
    }
}
