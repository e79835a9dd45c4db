// SPDX-License-Identifier: MIT OR Apache-2.0
//! Answers: descriptions of devices, code and symbols that a driver of the program gives to the library.

use std::{
    ffi::c_char,
    ptr::NonNull,
    sync::{Mutex, MutexGuard, PoisonError},
};

use facade::{
    BufferUsage, DeviceInfo, Error, FunctionInfo, GlobalInfo, Heap, Lack, Limits, MemoryType, Parameter,
    ParameterKind, Result, SymbolBinding, SymbolInfo, SymbolKind,
};

use crate::{
    boundary::fallible,
    device::{windlass_device_info_t, windlass_device_limits_t},
    error::windlass_error_t,
    executable::{
        WINDLASS_PARAMETER_BUFFER, WINDLASS_PARAMETER_VALUE, windlass_function_info_t, windlass_parameter_t,
    },
    feature::feature_of,
    global::windlass_global_info_t,
    handle::{Shell, object, used},
    heap::windlass_heap_t,
    memory::{check_list, list, read_struct, text},
    symbol::{
        WINDLASS_SYMBOL_BINDING_GLOBAL, WINDLASS_SYMBOL_BINDING_LOCAL, WINDLASS_SYMBOL_BINDING_WEAK,
        WINDLASS_SYMBOL_KIND_FUNCTION, WINDLASS_SYMBOL_KIND_KERNEL, WINDLASS_SYMBOL_KIND_VARIABLE,
        windlass_symbol_t,
    },
};

/// The place for a driver's descriptions. It belongs to the library, and ends with the call that has it. The functions
/// windlass_answer_* copy all that they get.
pub struct windlass_answer_t(Shell<Mutex<Answer>>);
object!(windlass_answer_t, Mutex<Answer>, "answer");

/// The function of a driver that an answer is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// `devices`
    Devices,
    /// `open`
    Open,
    /// `load` and `load_linked`
    Code,
    /// `symbols`
    Symbols,
}

/// The descriptions that the driver has given so far.
pub(crate) struct Answer {
    question: Question,
    pub(crate) devices: Vec<DeviceInfo>,
    pub(crate) limits: Option<Limits>,
    pub(crate) heaps: Vec<Heap>,
    pub(crate) functions: Vec<FunctionInfo>,
    pub(crate) globals: Vec<GlobalInfo>,
    pub(crate) symbols: Vec<SymbolInfo>,
}

impl Answer {
    pub(crate) fn new(question: Question) -> Self {
        let (devices, heaps, functions) = (Vec::new(), Vec::new(), Vec::new());
        let (globals, symbols) = (Vec::new(), Vec::new());
        Self { question, devices, limits: None, heaps, functions, globals, symbols }
    }

    /// The limits, with heaps in any case.
    pub(crate) fn limits(&mut self) -> Limits {
        let mut limits = self.limits.take().unwrap_or_default();
        let size = if limits.total_memory == 0 { u64::MAX } else { limits.total_memory };
        limits.heaps = std::mem::take(&mut self.heaps);
        if limits.heaps.is_empty() {
            let alignment = limits.allocation_alignment;
            limits.heaps = vec![Heap::device(size, alignment), Heap::host(size, alignment)];
        }
        limits
    }
}

/// Gives an answer of one of these questions to `fill`.
fn answer(
    answer: Option<NonNull<windlass_answer_t>>,
    questions: &[Question],
    fill: impl FnOnce(&mut Answer) -> Result<()>,
) -> Result<()> {
    let answer = used(answer)?;
    let mut answer: MutexGuard<'_, Answer> = answer.lock().unwrap_or_else(PoisonError::into_inner);
    if !questions.contains(&answer.question) {
        return Err(Error::failed_precondition(format!(
            "this description is an answer to {questions:?}, and was given to {:?}",
            answer.question
        )));
    }
    fill(&mut answer)
}

/// # Safety
/// As for [`text`].
unsafe fn optional_text(name: &str, pointer: *const c_char) -> Result<Option<String>> {
    if pointer.is_null() {
        return Ok(None);
    }
    // SAFETY: the same contract.
    unsafe { text(name, pointer) }.map(|text| Some(text.to_owned()))
}

/// # Safety
/// As for [`read_struct`], with the strings and lists in it.
unsafe fn info_of(info: *const windlass_device_info_t) -> Result<DeviceInfo> {
    // SAFETY: the same contract.
    let given = unsafe { read_struct(info) }?;
    let mut info = DeviceInfo::default();
    // SAFETY: the same contract, for each string and list.
    unsafe {
        info.uri = optional_text("uri", given.uri)?.unwrap_or_default();
        info.name = text("name", given.name)?.to_owned();
        info.architecture = optional_text("architecture", given.architecture)?.unwrap_or_default();
        info.uuid = optional_text("uuid", given.uuid)?;
        info.library = optional_text("library", given.library)?;
        let formats = list("executable_formats", given.executable_format_count, given.executable_formats)?;
        for format in formats {
            info.executable_formats.push(text("executable_formats[i]", *format)?.to_owned());
        }
        for lack in list("lacks", given.lack_count, given.lacks)? {
            let feature = feature_of(lack.feature).ok_or_else(|| {
                Error::invalid_argument(format!("the lack of the unknown feature {}", lack.feature))
            })?;
            info.lacks.push(Lack::new(feature, text("lacks[i].reason", lack.reason)?));
        }
    }
    info.simulated = given.simulated;
    info.reports_faults = given.reports_faults;
    Ok(info)
}

/// Describes a device. `devices` calls this once for each device that can be opened now, with the URI that opens it.
/// `open` calls it once, and its URI may be NULL. The name is required. The library adds the lacks of the functions that
/// the driver has not got.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_answer_device(
    answer: Option<NonNull<windlass_answer_t>>,
    info: *const windlass_device_info_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `info_of`.
        let info = unsafe { info_of(info) }?;
        self::answer(answer, &[Question::Devices, Question::Open], |answer| {
            match answer.question {
                Question::Devices if info.uri.is_empty() => {
                    return Err(Error::invalid_argument(format!(
                        "the listed device `{}` has no URI that opens it",
                        info.name
                    )));
                }
                Question::Open => answer.devices.clear(),
                _ => {}
            }
            answer.devices.push(info);
            Ok(())
        })
    })
}

/// States the limits of the device that `open` opens. A zero is no limit; `queues`, `physical_devices` and
/// `allocation_alignment` of zero are 1, 1 and 256. Without this call the limits are those of a device with one queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_answer_limits(
    answer: Option<NonNull<windlass_answer_t>>,
    limits: *const windlass_device_limits_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `read_struct`.
        let given = unsafe { read_struct(limits) }?;
        let mut limits = Limits::default();
        limits.queues = given.queues.max(1);
        limits.physical_devices = given.physical_devices.max(1);
        limits.max_workgroup_size = given.max_workgroup_size;
        limits.max_workgroup_threads = given.max_workgroup_threads;
        limits.max_workgroup_count = given.max_workgroup_count;
        limits.max_local_memory = given.max_local_memory;
        limits.wave_size = given.wave_size;
        limits.total_memory = given.total_memory;
        if given.allocation_alignment != 0 {
            limits.allocation_alignment = given.allocation_alignment;
        }
        if limits.queues > 64 || limits.physical_devices > limits.queues {
            return Err(Error::out_of_range(format!(
                "a device of {} queues and {} physical devices; there are 1 to 64 queues, and one for each",
                limits.queues, limits.physical_devices
            )));
        }
        if !limits.allocation_alignment.is_power_of_two() {
            return Err(Error::invalid_argument(format!(
                "an allocation_alignment of {}, which is no power of two",
                limits.allocation_alignment
            )));
        }
        self::answer(answer, &[Question::Open], |answer| {
            answer.limits = Some(limits);
            Ok(())
        })
    })
}

/// Adds a kind of memory to the device that `open` opens; the best for dispatches first. Without this call the device
/// has memory of its own and memory that the host can map.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_answer_heap(
    answer: Option<NonNull<windlass_answer_t>>,
    heap: *const windlass_heap_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `read_struct`.
        let given = unsafe { read_struct(heap) }?;
        let mut heap = Heap::device(given.max_size, given.min_alignment);
        heap.memory_type = MemoryType(given.memory_type);
        heap.usage = BufferUsage(given.usage);
        self::answer(answer, &[Question::Open], |answer| {
            answer.heaps.push(heap);
            Ok(())
        })
    })
}

/// A parameter of a list whose elements have the size that the first one states.
///
/// # Safety
/// `parameters` is NULL or points to more than `index` structs.
unsafe fn parameter_of(
    parameters: *const windlass_parameter_t,
    index: usize,
) -> Result<windlass_parameter_t> {
    // SAFETY: the same contract.
    let first = unsafe { read_struct(parameters) }?;
    // SAFETY: within the list, by the same contract.
    unsafe { read_struct(parameters.byte_add(index * first.struct_size)) }
}

/// Adds a function of the code that is loaded. Its number is the number of calls before. Each of the parameters lies in
/// the block of `argument_size` bytes, behind the one before; a buffer has 8 bytes. The library packs arguments by this
/// description. `signature` and `parameter_count` of the description are ignored.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_answer_function(
    answer: Option<NonNull<windlass_answer_t>>,
    info: *const windlass_function_info_t,
    parameter_count: usize,
    parameters: *const windlass_parameter_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `read_struct`.
        let given = unsafe { read_struct(info) }?;
        let mut info = FunctionInfo::default();
        // SAFETY: the contract in the header covers that of `text`.
        info.name = unsafe { text("name", given.name) }?.to_owned();
        info.argument_size = given.argument_size;
        info.workgroup_size = (given.workgroup_size != [0; 3]).then_some(given.workgroup_size);
        info.max_workgroup_threads = given.max_workgroup_threads;
        info.static_local_memory = given.static_local_memory;
        check_list("parameters", parameter_count, parameters)?;
        let mut end = 0;
        for index in 0..parameter_count {
            // SAFETY: the contract in the header covers that of `parameter_of`.
            let parameter = unsafe { parameter_of(parameters, index) }?;
            // SAFETY: the contract in the header covers that of `optional_text`.
            let name = unsafe { optional_text("parameters[i].name", parameter.name) }?;
            let kind = match parameter.kind {
                WINDLASS_PARAMETER_BUFFER if parameter.size == 8 => ParameterKind::Buffer,
                WINDLASS_PARAMETER_VALUE if parameter.size > 0 => ParameterKind::Value,
                kind => {
                    return Err(Error::invalid_argument(format!(
                        "parameter {index} of `{}` is of the kind {kind} and has {} bytes; a buffer has 8",
                        info.name, parameter.size
                    )));
                }
            };
            let behind = u64::from(parameter.offset) + u64::from(parameter.size);
            if u64::from(parameter.offset) < end || behind > u64::from(info.argument_size) {
                return Err(Error::invalid_argument(format!(
                    "parameter {index} of `{}` has {} bytes at {}; they do not lie behind byte {end} in a block of {}",
                    info.name, parameter.size, parameter.offset, info.argument_size
                )));
            }
            end = behind;
            info.parameters.push(Parameter::new(kind, parameter.offset, parameter.size).named(name));
        }
        self::answer(answer, &[Question::Code], |answer| {
            if answer.functions.iter().any(|known| known.name == info.name) {
                return Err(Error::invalid_argument(format!("two functions `{}`", info.name)));
            }
            answer.functions.push(info);
            Ok(())
        })
    })
}

/// Adds a global variable of the code that is loaded. Its number is the number of calls before.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_answer_global(
    answer: Option<NonNull<windlass_answer_t>>,
    info: *const windlass_global_info_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `read_struct`.
        let given = unsafe { read_struct(info) }?;
        // SAFETY: the contract in the header covers that of `text`.
        let info = GlobalInfo::new(unsafe { text("name", given.name) }?, given.size);
        self::answer(answer, &[Question::Code], |answer| {
            answer.globals.push(info);
            Ok(())
        })
    })
}

/// Adds a symbol of an executable.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_answer_symbol(
    answer: Option<NonNull<windlass_answer_t>>,
    symbol: *const windlass_symbol_t,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        // SAFETY: the contract in the header covers that of `read_struct`.
        let given = unsafe { read_struct(symbol) }?;
        let kind = match given.kind {
            WINDLASS_SYMBOL_KIND_KERNEL => SymbolKind::Kernel,
            WINDLASS_SYMBOL_KIND_FUNCTION => SymbolKind::Function,
            WINDLASS_SYMBOL_KIND_VARIABLE => SymbolKind::Variable,
            kind => return Err(Error::invalid_argument(format!("a symbol of the unknown kind {kind}"))),
        };
        let binding = match given.binding {
            WINDLASS_SYMBOL_BINDING_LOCAL => SymbolBinding::Local,
            WINDLASS_SYMBOL_BINDING_GLOBAL => SymbolBinding::Global,
            WINDLASS_SYMBOL_BINDING_WEAK => SymbolBinding::Weak,
            binding => {
                return Err(Error::invalid_argument(format!("a symbol of the unknown binding {binding}")));
            }
        };
        // SAFETY: the contract in the header covers that of `text`.
        let symbol = SymbolInfo::new(unsafe { text("name", given.name) }?, kind).bound(binding);
        let address = (given.address != 0).then_some(given.address);
        self::answer(answer, &[Question::Symbols], |answer| {
            answer.symbols.push(symbol.placed(address, given.size));
            Ok(())
        })
    })
}
