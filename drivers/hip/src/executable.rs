// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device code: choosing the entry that fits, loading it into HIP, and reflecting its kernels.

use std::{any::Any, sync::Arc};

use windlass_codeobject::{
    ArgKind, File, Fit, Image, Kernel, KernelKind, Options, TargetId, declared_size, retarget,
};
use windlass_hal::{
    Code, Error, FunctionInfo, GlobalInfo, Parameter, ParameterKind, QueueAffinity, Result, callback_pool,
    driver, edge::Domain,
};

use crate::{
    call::{Function, Module},
    device::Inner,
    global::Global,
    gpu::Gpu,
    image_cache::image_cache,
};

/// The modules of one file: one for each bundle that has code for the device.
pub(crate) struct Executable {
    device: Arc<Inner>,
    modules: Vec<Loaded>,
    infos: Vec<FunctionInfo>,
    globals: Vec<GlobalInfo>,
    /// Each kernel once for every GPU of the device.
    functions: Vec<Function>,
}

/// A module of one GPU.
struct Loaded {
    gpu: usize,
    module: Module,
    /// What it was loaded from: HIP does not say that it is done with the bytes when loading returns.
    _image: Arc<Image>,
}

/// What a file has for one target.
struct Images {
    architecture: String,
    loaded: Vec<Arc<Image>>,
    kernels: Vec<FunctionInfo>,
    /// For each kernel the image that has it.
    homes: Vec<usize>,
    globals: Vec<GlobalInfo>,
}

impl Executable {
    pub(crate) fn load(device: &Arc<Inner>, code: &[u8]) -> Result<Self> {
        let options = &device.code;
        let file = File::parse(code, options).map_err(|error| from_codeobject(&error))?;
        let mut targets: Vec<Images> = Vec::new();
        let mut executable = Self {
            device: device.clone(),
            modules: Vec::new(),
            infos: Vec::new(),
            globals: Vec::new(),
            functions: Vec::new(),
        };
        let mut found = Vec::with_capacity(device.gpus.len());
        for gpu in &device.gpus {
            let known = targets.iter().position(|images| images.architecture == gpu.architecture);
            let index = known.unwrap_or(targets.len());
            if known.is_none() {
                targets.push(Images::select(&file, options, &gpu.architecture)?);
            }
            found.push(executable.add(gpu, &targets[index])?);
        }
        let first = &targets[0];
        for images in &targets[1..] {
            first.check_same(images)?;
        }
        executable.infos.clone_from(&first.kernels);
        executable.globals.clone_from(&first.globals);
        for kernel in &first.kernels {
            for (functions, gpu) in found.iter().zip(&device.gpus) {
                let images = targets.iter().find(|images| images.architecture == gpu.architecture);
                let at = images.and_then(|images| images.position(&kernel.name));
                let function = at.and_then(|at| functions.get(at).copied());
                executable.functions.push(function.ok_or_else(|| {
                    Error::internal(format!("{} is lost between the device's GPUs", kernel.name))
                })?);
            }
        }
        Ok(executable)
    }

    /// Loads the images into one GPU, and finds the kernels.
    fn add(&mut self, gpu: &Gpu, images: &Images) -> Result<Vec<Function>> {
        let first = self.modules.len();
        for image in &images.loaded {
            let module = gpu.hip.load_module(image)?;
            self.modules.push(Loaded { gpu: gpu.index, module, _image: image.clone() });
        }
        let _current = gpu.hip.current()?;
        let found = images
            .kernels
            .iter()
            .zip(&images.homes)
            .map(|(kernel, home)| gpu.hip.function(self.modules[first + home].module, &kernel.name));
        found.collect()
    }

    /// A kernel on each GPU of the device.
    pub(crate) fn functions_of(&self, index: u32) -> Option<&[Function]> {
        let gpus = self.device.gpus.len();
        let start = (index as usize).checked_mul(gpus)?;
        self.functions.get(start..start.checked_add(gpus)?)
    }
}

impl Images {
    /// The best entry of each bundle for a target. `NOT_FOUND` says for each entry why it does not fit.
    fn select(file: &File<'_>, options: &Options, architecture: &str) -> Result<Self> {
        let agent: TargetId = architecture.parse().map_err(|error| {
            Error::internal(format!(
                "HIP names the device's target {architecture:?}, which is no target id: {error}"
            ))
        })?;
        let mut images = Self {
            architecture: architecture.to_owned(),
            loaded: Vec::new(),
            kernels: Vec::new(),
            homes: Vec::new(),
            globals: Vec::new(),
        };
        let mut refusals = Vec::new();
        for bundle in file.bundles() {
            let choice =
                image_cache().choose(bundle, &agent, options).map_err(|error| from_codeobject(&error))?;
            match &choice.image {
                Some(image) if choice.selection.fit() == Some(Fit::Family) => {
                    images.add(&under_the_name_of(&agent, image)?)?;
                }
                Some(image) => images.add(image)?,
                None => refusals.extend(choice.selection.verdicts.iter().filter_map(|verdict| {
                    let entry = bundle.entries().get(verdict.entry)?;
                    Some(format!("bundle {} entry {}: {verdict}", bundle.index(), entry.id_text()))
                })),
            }
        }
        if images.loaded.is_empty() {
            let mut problems: Vec<_> = file.problems().iter().map(ToString::to_string).collect();
            problems.append(&mut refusals);
            if has_family_code(file, options, &agent) {
                problems.push("the key compatible=families of the device's URI allows such code".to_owned());
            }
            return Err(Error::not_found(format!(
                "no code for {agent} in this file; build it for that target, or pick another device: {}",
                if problems.is_empty() { "it holds no code at all".to_owned() } else { problems.join("; ") }
            )));
        }
        Ok(images)
    }

    /// Takes one code object in. A kernel that an earlier bundle has keeps the earlier code.
    fn add(&mut self, image: &Arc<Image>) -> Result<()> {
        let code = image.code_object().map_err(|error| from_codeobject(&error))?;
        // HIP gets no length: it believes the headers.
        match declared_size(image) {
            Some(size) if size <= image.len() as u64 => {}
            size => {
                return Err(Error::invalid_argument(format!(
                    "the code object has {} bytes and its headers claim {}; it is truncated or damaged",
                    image.len(),
                    size.map_or_else(|| "more than an address space has".to_owned(), |size| size.to_string())
                )));
            }
        }
        for kernel in code.kernels().iter().filter(|kernel| kernel.kind == KernelKind::Normal) {
            if self.position(&kernel.name).is_none() {
                self.kernels.push(reflect(kernel));
                self.homes.push(self.loaded.len());
            }
        }
        for variable in code.variables().filter(|variable| variable.exported) {
            if !self.globals.iter().any(|known| known.name == variable.name) {
                self.globals.push(GlobalInfo::new(&variable.name, variable.size));
            }
        }
        self.loaded.push(image.clone());
        Ok(())
    }

    fn position(&self, name: &str) -> Option<usize> {
        self.kernels.iter().position(|kernel| kernel.name == name)
    }

    /// Fails unless another target has the same kernels with the same parameters: one block of arguments serves all
    /// GPUs of a device.
    fn check_same(&self, other: &Self) -> Result<()> {
        for kernel in &self.kernels {
            let twin = other.position(&kernel.name).map(|at| &other.kernels[at]);
            if twin.map(|twin| (&twin.parameters, twin.argument_size))
                != Some((&kernel.parameters, kernel.argument_size))
            {
                return Err(Error::invalid_argument(format!(
                    "the kernel {} differs between the code for {} and for {}, or one lacks it, so it cannot run on a \
                     device of both; open the GPUs one by one",
                    kernel.name, self.architecture, other.architecture
                )));
            }
        }
        Ok(())
    }
}

/// Code of another processor of the agent's family. HIP would refuse it under its own name.
fn under_the_name_of(agent: &TargetId, image: &Image) -> Result<Arc<Image>> {
    let mut bytes = image.to_vec();
    let renamed = retarget(&mut bytes, agent).and_then(|()| Image::copy(&bytes));
    tracing::warn!(target: "windlass::hip", %agent, "loading code of another processor of its ISA-compatible family");
    renamed.map(Arc::new).map_err(|error| from_codeobject(&error))
}

/// Whether there would be code for the agent if code of its family counted.
fn has_family_code(file: &File<'_>, options: &Options, agent: &TargetId) -> bool {
    let mut options = options.clone();
    options.compatible_families = true;
    file.bundles().iter().any(|bundle| bundle.select(agent, &options).best.is_some())
}

/// What a kernel takes, in the HAL's words. Hidden arguments are HIP's to fill.
fn reflect(kernel: &Kernel) -> FunctionInfo {
    let mut info = FunctionInfo::default();
    info.name.clone_from(&kernel.name);
    info.parameters = kernel
        .explicit_args()
        .map(|arg| {
            let kind = match arg.kind {
                ArgKind::GlobalBuffer if arg.size == 8 => ParameterKind::Buffer,
                _ => ParameterKind::Value,
            };
            Parameter::new(kind, arg.offset, arg.size).named(arg.name.clone())
        })
        .collect();
    info.argument_size = kernel
        .explicit_args()
        .map(|arg| arg.offset.saturating_add(arg.size))
        .max()
        .unwrap_or(0)
        .min(kernel.kernarg_size);
    info.workgroup_size = kernel.reqd_workgroup_size;
    info.max_workgroup_threads = kernel.max_flat_workgroup_size;
    info.static_local_memory = kernel.group_segment_size;
    info
}

fn from_codeobject(error: &windlass_codeobject::Error) -> Error {
    Error::new(Code::InvalidArgument, error.to_string())
}

impl Drop for Executable {
    fn drop(&mut self) {
        if self.device.is_lost() {
            return;
        }
        let (gpus, modules) = (self.device.gpus.clone(), std::mem::take(&mut self.modules));
        callback_pool::spawn(Box::new(move || {
            for gpu in &gpus {
                let own = modules.iter().filter(|loaded| loaded.gpu == gpu.index);
                gpu.hip.give_back(|hip| own.for_each(|loaded| hip.unload_module(loaded.module)));
            }
        }));
    }
}

impl driver::Executable for Executable {
    fn domain(&self) -> Domain {
        self.device.domain
    }

    fn functions(&self) -> &[FunctionInfo] {
        &self.infos
    }

    fn globals(&self) -> &[GlobalInfo] {
        &self.globals
    }

    fn global(self: Arc<Self>, index: u32, affinity: QueueAffinity) -> Result<Arc<dyn driver::Buffer>> {
        let info = self.globals.get(index as usize);
        let name = &info.ok_or_else(|| Error::internal(format!("no global variable {index}")))?.name;
        let gpu = self.device.only_gpu_of(affinity)?;
        let _current = gpu.hip.current()?;
        let mut last = Error::not_found(format!("no code of GPU {} has `{name}`", gpu.index));
        // The earliest bundle that has it, as for kernels.
        for loaded in self.modules.iter().filter(|loaded| loaded.gpu == gpu.index) {
            match gpu.hip.global(loaded.module, name) {
                Ok((address, size)) => return Ok(Arc::new(Global::new(self.clone(), address, size))),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hip_sees_code_of_the_family_under_the_name_of_the_gpu() {
        let mut elf = include_bytes!(concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../cts/kernels/bundles/vector_add.gfx942.co"
        ))
        .to_vec();
        elf[48] = 0x36;
        let agent = "gfx1031".parse().expect("a target");
        let image = under_the_name_of(&agent, &Image::copy(&elf).expect("memory")).expect("one family");
        elf[48] = 0x37;
        assert_eq!(image[..], elf);
    }
}
