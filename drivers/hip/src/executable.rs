// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executables: loads the code that fits the device into HIP, and finds its kernels, variables and symbols.

use std::{any::Any, sync::Arc};

use windlass_codeobject::{
    ArgKind, CodeObject, File, HiddenKind, Image, Options as CodeOptions, Symbol, SymbolRole,
};
use windlass_hal::{
    Error, FunctionInfo, GlobalInfo, Occupancy, QueueAffinity, Result, SuggestedWorkgroup, SymbolInfo,
    callback_pool, driver, edge::Domain,
};

use crate::{
    call::{Function, Module},
    global::Global,
    gpu::Gpu,
    gpus::{Gpus, KeepOpen},
    images::{Images, from_codeobject},
    link::Plan,
    symbol,
};

/// The modules of one or more files: on each GPU, one for each bundle that has code for the device.
pub(crate) struct Executable {
    gpus: Arc<Gpus>,
    _device: KeepOpen,
    modules: Vec<Loaded>,
    infos: Vec<FunctionInfo>,
    globals: Vec<GlobalInfo>,
    /// Each kernel once for every GPU of the device.
    functions: Vec<Function>,
}

/// A module of one GPU.
struct Loaded {
    gpu: usize,
    /// Its number among the GPU's modules.
    number: usize,
    module: Module,
    /// Kept alive, because HIP does not promise that it is done with the bytes when loading returns.
    image: Arc<Image>,
}

impl Executable {
    /// Loads the files `parts`, linked with each other.
    pub(crate) fn load(
        gpus: &Arc<Gpus>,
        device: KeepOpen,
        options: &CodeOptions,
        parts: &[&[u8]],
    ) -> Result<Self> {
        let cannot_link = gpus.iter().find(|gpu| gpu.hip.quirks.completion_actions_crash);
        if let Some(gpu) = cannot_link.filter(|_| parts.len() > 1) {
            return Err(Error::unimplemented(format!(
                "HIP {} ends the process on launching kernels that call functions of other code objects: link the code when you \
                 build it, or use HIP 5.7 or newer",
                version_of(gpu)
            )));
        }
        let files =
            parts.iter().map(|code| File::parse(code, options).map_err(|error| from_codeobject(&error)));
        let files = files.collect::<Result<Vec<_>>>()?;
        let mut targets: Vec<(Images, Plan)> = Vec::new();
        let mut executable = Self {
            gpus: gpus.clone(),
            _device: device,
            modules: Vec::new(),
            infos: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
        };
        let mut found = Vec::with_capacity(gpus.len());
        for gpu in gpus.iter() {
            let known = targets.iter().position(|(images, _)| images.architecture == gpu.architecture);
            let index = known.unwrap_or(targets.len());
            if known.is_none() {
                let images = Images::select(&files, options, &gpu.architecture)?;
                let plan = Plan::new(&images.images, &images.names)?;
                targets.push((images, plan));
            }
            let (images, plan) = &targets[index];
            found.push(executable.add(gpu, images, plan)?);
        }
        let (first, _) = &targets[0];
        executable.infos.clone_from(&first.kernels);
        for (images, _) in &targets[1..] {
            first.check_same(images)?;
            images.narrow(&mut executable.infos);
        }
        executable.globals.clone_from(&first.globals);
        for kernel in &first.kernels {
            for (functions, gpu) in found.iter().zip(gpus.iter()) {
                let target = targets.iter().find(|(images, _)| images.architecture == gpu.architecture);
                let at = target.and_then(|(images, _)| images.position(&kernel.name));
                let function = at.and_then(|at| functions.get(at).copied());
                executable.functions.push(function.ok_or_else(|| {
                    Error::internal(format!("{} is lost between the device's GPUs", kernel.name))
                })?);
            }
        }
        Ok(executable)
    }

    /// Loads the images into one GPU, and finds their kernels.
    fn add(&mut self, gpu: &Gpu, images: &Images, plan: &Plan) -> Result<Vec<Function>> {
        let first = self.modules.len();
        for number in plan.order() {
            let address_of = |definer, symbol: &Symbol| {
                let loaded = self.modules[first..].iter().find(|loaded| loaded.number == definer);
                loaded.map_or(Ok(None), |loaded| loaded.address(gpu, symbol))
            };
            let image = plan.link(number, &images.images, address_of)?;
            if gpu.hip.quirks.completion_actions_crash {
                check_completion_actions(gpu, &image)?;
            }
            let version = image.code_object().ok().and_then(CodeObject::code_object_version);
            let module = gpu.hip.load_module(&image, version)?;
            self.modules.push(Loaded { gpu: gpu.index, number, module, image });
        }
        self.modules[first..].sort_by_key(|loaded| loaded.number);
        let _current = gpu.hip.current()?;
        let found = images
            .kernels
            .iter()
            .zip(&images.homes)
            .map(|(kernel, home)| gpu.hip.function(self.modules[first + home].module, &kernel.name));
        found.collect()
    }

    /// A kernel on the first GPU that has a queue of `affinity`.
    fn on_nearest(&self, index: u32, affinity: QueueAffinity) -> Result<(&Gpu, Function)> {
        let gpu = self.gpus.nearest(affinity);
        let function = self.functions_of(index).and_then(|functions| functions.get(gpu.index));
        let function = function.ok_or_else(|| Error::internal(format!("no function {index}")))?;
        Ok((gpu, *function))
    }

    /// A kernel on each GPU of the device.
    pub(crate) fn functions_of(&self, index: u32) -> Option<&[Function]> {
        let gpus = self.gpus.len();
        let start = (index as usize).checked_mul(gpus)?;
        self.functions.get(start..start.checked_add(gpus)?)
    }
}

/// Refuses code whose kernels this version of HIP cannot launch without ending the process.
fn check_completion_actions(gpu: &Gpu, image: &Image) -> Result<()> {
    let code = image.code_object().map_err(|error| from_codeobject(&error))?;
    let has_action = |kernel: &&windlass_codeobject::Kernel| {
        kernel.args.iter().any(|arg| arg.kind == ArgKind::Hidden(HiddenKind::CompletionAction))
    };
    let Some(kernel) = code.kernels().iter().find(has_action) else { return Ok(()) };
    let hip = version_of(gpu);
    Err(Error::unimplemented(format!(
        "HIP {hip} ends the process on launching {}, which has an argument for the completion of launches on the \
         device (hidden_completion_action): LLVM gives it to kernels that call functions which it cannot see. Compile the kernel with all \
         that it calls in one file, with optimisation, or use HIP 5.7 or newer",
        kernel.name
    )))
}

fn version_of(gpu: &Gpu) -> String {
    gpu.hip.api.origin().version.map_or_else(String::new, |version| version.to_string())
}

impl Loaded {
    /// The address of a symbol of the module, if HIP tells it.
    fn address(&self, gpu: &Gpu, symbol: &Symbol) -> Result<Option<u64>> {
        if symbol.exported && matches!(symbol.role, SymbolRole::Variable) {
            let _current = gpu.hip.current()?;
            return Ok(Some(gpu.hip.global(self.module, &symbol.name)?.0));
        }
        let base = self.base(gpu)?;
        Ok(base.map(|base| base.wrapping_add(symbol.address)))
    }

    /// The address that the module is loaded at. HIP tells only addresses of variables, so `None` if there is no variable.
    fn base(&self, gpu: &Gpu) -> Result<Option<u64>> {
        let code = self.image.code_object().map_err(|error| from_codeobject(&error))?;
        let Some(known) = symbol::landmark(code) else { return Ok(None) };
        let _current = gpu.hip.current()?;
        let (address, _) = gpu.hip.global(self.module, &known.name)?;
        Ok(Some(address.wrapping_sub(known.address)))
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        if self.gpus.hip.keeps_all() {
            return;
        }
        let (gpus, modules) = (self.gpus.clone(), std::mem::take(&mut self.modules));
        callback_pool::spawn(Box::new(move || {
            for gpu in gpus.iter() {
                let own = modules.iter().filter(|loaded| loaded.gpu == gpu.index);
                gpu.hip.give_back(|hip| own.for_each(|loaded| hip.unload_module(loaded.module)));
            }
        }));
    }
}

// SAFETY: the descriptions are read from the code that is loaded here, and never change.
unsafe impl driver::RawExecutable for Executable {
    fn domain(&self) -> Domain {
        self.gpus.domain
    }

    fn functions(&self) -> &[FunctionInfo] {
        &self.infos
    }

    fn globals(&self) -> &[GlobalInfo] {
        &self.globals
    }

    fn global(self: Arc<Self>, index: u32, affinity: QueueAffinity) -> Result<Arc<dyn driver::RawBuffer>> {
        let info = self.globals.get(index as usize);
        let name = &info.ok_or_else(|| Error::internal(format!("no global variable {index}")))?.name;
        let gpu = self.gpus.only(affinity)?;
        let _current = gpu.hip.current()?;
        let mut last = Error::not_found(format!("no code of GPU {} has `{name}`", gpu.index));
        // The earliest bundle that has the variable, as for kernels.
        for loaded in self.modules.iter().filter(|loaded| loaded.gpu == gpu.index) {
            match gpu.hip.global(loaded.module, name) {
                Ok((address, size)) => {
                    return Ok(Arc::new(Global::new(self.clone(), address, size, gpu.hip.ordinal())));
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn symbols(&self, affinity: QueueAffinity) -> Result<Vec<SymbolInfo>> {
        let gpu = self.gpus.only(affinity)?;
        let mut symbols = Vec::new();
        for loaded in self.modules.iter().filter(|loaded| loaded.gpu == gpu.index) {
            let code = loaded.image.code_object().map_err(|error| from_codeobject(&error))?;
            let base = loaded.base(gpu)?;
            symbols.extend(code.symbols().iter().filter_map(|symbol| symbol::reflect(symbol, base)));
        }
        Ok(symbols)
    }

    fn occupancy(
        &self,
        function: u32,
        affinity: QueueAffinity,
        threads: u32,
        dynamic_local_memory: u32,
    ) -> Result<Occupancy> {
        let most = self.gpus.limits.max_workgroup_threads;
        if threads > most {
            return Err(Error::out_of_range(format!("{threads} work-items; the device allows {most}")));
        }
        let (gpu, function) = self.on_nearest(function, affinity)?;
        let _current = gpu.hip.current()?;
        gpu.hip.resident_workgroups(function, threads, dynamic_local_memory).map(Occupancy::new)
    }

    fn suggested_workgroup(
        &self,
        function: u32,
        affinity: QueueAffinity,
        dynamic_local_memory: u32,
    ) -> Result<SuggestedWorkgroup> {
        let (gpu, function) = self.on_nearest(function, affinity)?;
        let _current = gpu.hip.current()?;
        let (threads, workgroups) = gpu.hip.filling_workgroup(function, dynamic_local_memory)?;
        Ok(SuggestedWorkgroup::new(threads, workgroups))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
