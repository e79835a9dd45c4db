// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executables, with their functions, variables and symbols.

use std::{any::Any, sync::Arc};

use windlass_hal::{
    FunctionInfo, GlobalInfo, Occupancy, Parameter, ParameterKind, QueueAffinity, Result, SuggestedWorkgroup,
    SymbolBinding, SymbolInfo, SymbolKind, driver, edge::Domain,
};

use crate::{
    api::{self, Handle, api, c_string, check, sized, text},
    bindings::*,
    buffer::Allocation,
    topology::{flag, number},
};

pub(crate) struct Executable {
    domain: Domain,
    handle: Handle<windlass_executable_t>,
    functions: Vec<FunctionInfo>,
    handles: Vec<Handle<windlass_function_t>>,
    globals: Vec<GlobalInfo>,
}

impl Executable {
    pub(crate) fn load(domain: Domain, device: &Handle<windlass_device_t>, parts: &[&[u8]]) -> Result<Self> {
        // SAFETY: the pieces live until the call returns, and the caller vouches for the code.
        let handle = Handle::from(api::executable, |executable| unsafe {
            match parts {
                [code] => {
                    api().windlass_executable_load(device.get(), code.as_ptr().cast(), code.len(), executable)
                }
                parts => {
                    let codes: Vec<_> = parts.iter().map(|part| part.as_ptr().cast()).collect();
                    let sizes: Vec<_> = parts.iter().map(|part| part.len()).collect();
                    api().windlass_executable_load_linked(
                        device.get(),
                        parts.len(),
                        codes.as_ptr(),
                        sizes.as_ptr(),
                        executable,
                    )
                }
            }
        })?;
        // SAFETY: a handle.
        let count = unsafe { api().windlass_executable_function_count(handle.get()) };
        let handles: Vec<Handle<windlass_function_t>> = (0..count)
            .map(|index| {
                // SAFETY: handles and locals.
                Handle::from(api::function, |function| unsafe {
                    api().windlass_executable_function_at(handle.get(), index, function)
                })
            })
            .collect::<Result<_>>()?;
        let functions = handles.iter().map(describe).collect::<Result<_>>()?;
        // SAFETY: a handle.
        let count = unsafe { api().windlass_executable_global_count(handle.get()) };
        let globals = (0..count).map(|index| global(&handle, index)).collect::<Result<_>>()?;
        Ok(Self { domain, handle, functions, handles, globals })
    }

    /// The library's handle of a function.
    pub(crate) fn function(
        raw: &dyn driver::RawExecutable,
        index: u32,
    ) -> Option<(*mut windlass_function_t, &FunctionInfo)> {
        let executable: &Self = raw.as_any().downcast_ref()?;
        let handle = executable.handles.get(index as usize)?;
        Some((handle.get(), executable.functions.get(index as usize)?))
    }
}

fn describe(function: &Handle<windlass_function_t>) -> Result<FunctionInfo> {
    let mut given = sized!(windlass_function_info_t);
    // SAFETY: the struct states its size.
    check(unsafe { api().windlass_function_info(function.get(), &mut given) })?;
    let mut info = FunctionInfo::default();
    info.name = text(given.name);
    info.argument_size = given.argument_size;
    info.workgroup_size = (given.workgroup_size != [0; 3]).then_some(given.workgroup_size);
    info.max_workgroup_threads = given.max_workgroup_threads;
    info.static_local_memory = given.static_local_memory;
    info.resources.vector_registers = number(given.vector_registers);
    info.resources.scalar_registers = number(given.scalar_registers);
    info.resources.accumulation_registers = number(given.accumulation_registers);
    info.resources.private_memory_bytes = number(given.private_memory_bytes);
    info.resources.dynamic_stack = flag(given.dynamic_stack);
    info.resources.spilled_vector_registers = number(given.spilled_vector_registers);
    info.resources.spilled_scalar_registers = number(given.spilled_scalar_registers);
    info.resources.wave_size = number(given.wave_size);
    info.parameters = (0..given.parameter_count)
        .map(|index| {
            let mut given = sized!(windlass_parameter_t);
            // SAFETY: the struct states its size.
            check(unsafe { api().windlass_function_parameter(function.get(), index, &mut given) })?;
            let kind = match given.kind {
                WINDLASS_PARAMETER_BUFFER => ParameterKind::Buffer,
                _ => ParameterKind::Value,
            };
            let name = (!given.name.is_null()).then(|| text(given.name));
            Ok(Parameter::new(kind, given.offset, given.size).named(name))
        })
        .collect::<Result<_>>()?;
    Ok(info)
}

fn global(executable: &Handle<windlass_executable_t>, index: usize) -> Result<GlobalInfo> {
    let mut given = sized!(windlass_global_info_t);
    // SAFETY: the struct states its size.
    check(unsafe { api().windlass_executable_global_info(executable.get(), index, &mut given) })?;
    Ok(GlobalInfo::new(text(given.name), given.size))
}

// SAFETY: the descriptions are read once, and never change.
unsafe impl driver::RawExecutable for Executable {
    fn domain(&self) -> Domain {
        self.domain
    }

    fn functions(&self) -> &[FunctionInfo] {
        &self.functions
    }

    fn globals(&self) -> &[GlobalInfo] {
        &self.globals
    }

    fn global(self: Arc<Self>, index: u32, affinity: QueueAffinity) -> Result<Arc<dyn driver::RawBuffer>> {
        let info = &self.globals[index as usize];
        let name = c_string(&info.name)?;
        // SAFETY: handles and locals.
        let handle = Handle::from(api::buffer, |buffer| unsafe {
            api().windlass_executable_global(self.handle.get(), name.as_ptr(), affinity.bits(), buffer)
        })?;
        Ok(Arc::new(Allocation::new(self.domain, info.size, handle)?))
    }

    fn symbols(&self, affinity: QueueAffinity) -> Result<Vec<SymbolInfo>> {
        // SAFETY: handles and locals.
        let list = Handle::from(api::symbol_list, |list| unsafe {
            api().windlass_executable_symbols(self.handle.get(), affinity.bits(), list)
        })?;
        // SAFETY: a handle.
        let count = unsafe { api().windlass_symbol_list_count(list.get()) };
        (0..count).map(|index| symbol(&list, index)).collect()
    }

    fn occupancy(
        &self,
        function: u32,
        affinity: QueueAffinity,
        threads: u32,
        dynamic_local_memory: u32,
    ) -> Result<Occupancy> {
        let mut found = 0;
        let handle = self.handles[function as usize].get();
        // SAFETY: a handle and a local.
        check(unsafe {
            api().windlass_function_occupancy(
                handle,
                affinity.bits(),
                threads,
                dynamic_local_memory,
                &mut found,
            )
        })?;
        Ok(Occupancy::new(found))
    }

    fn suggested_workgroup(
        &self,
        function: u32,
        affinity: QueueAffinity,
        dynamic_local_memory: u32,
    ) -> Result<SuggestedWorkgroup> {
        let (mut threads, mut workgroups) = (0, 0);
        let handle = self.handles[function as usize].get();
        // SAFETY: a handle and locals.
        check(unsafe {
            api().windlass_function_suggested_workgroup(
                handle,
                affinity.bits(),
                dynamic_local_memory,
                &mut threads,
                &mut workgroups,
            )
        })?;
        Ok(SuggestedWorkgroup::new(threads, workgroups))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

fn symbol(list: &Handle<windlass_symbol_list_t>, index: usize) -> Result<SymbolInfo> {
    let mut given = sized!(windlass_symbol_t);
    // SAFETY: the struct states its size.
    check(unsafe { api().windlass_symbol_list_at(list.get(), index, &mut given) })?;
    let kind = match given.kind {
        WINDLASS_SYMBOL_KIND_KERNEL => SymbolKind::Kernel,
        WINDLASS_SYMBOL_KIND_FUNCTION => SymbolKind::Function,
        _ => SymbolKind::Variable,
    };
    let binding = match given.binding {
        WINDLASS_SYMBOL_BINDING_LOCAL => SymbolBinding::Local,
        WINDLASS_SYMBOL_BINDING_WEAK => SymbolBinding::Weak,
        _ => SymbolBinding::Global,
    };
    let address = (given.address != 0).then_some(given.address);
    Ok(SymbolInfo::new(text(given.name), kind).bound(binding).placed(address, given.size))
}
