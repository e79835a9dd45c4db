// SPDX-License-Identifier: MIT OR Apache-2.0
//! The code objects of an executable's files that fit a target, and the kernels and variables in them.

use std::sync::Arc;

use windlass_codeobject::{ArgKind, File, Fit, Image, Kernel, KernelKind, Options, TargetId, retarget};
use windlass_hal::{
    Code, Error, FunctionInfo, FunctionResources, GlobalInfo, Parameter, ParameterKind, Result,
};

use crate::image_cache::image_cache;

/// The code objects that fit one target.
pub(crate) struct Images {
    pub(crate) architecture: String,
    /// One for each bundle that has code for the target, in the order of the files.
    pub(crate) images: Vec<Arc<Image>>,
    /// The name of each image in messages.
    pub(crate) names: Vec<String>,
    pub(crate) kernels: Vec<FunctionInfo>,
    /// For each kernel the index of its image.
    pub(crate) homes: Vec<usize>,
    pub(crate) globals: Vec<GlobalInfo>,
}

impl Images {
    /// Selects the best entry of each bundle of each file. The error `NOT_FOUND` says for each entry why it does not fit.
    pub(crate) fn select(files: &[File<'_>], options: &Options, architecture: &str) -> Result<Self> {
        let agent: TargetId = architecture.parse().map_err(|error| {
            Error::internal(format!(
                "HIP names the device's target {architecture:?}, which is no target id: {error}"
            ))
        })?;
        let mut images = Self {
            architecture: architecture.to_owned(),
            images: Vec::new(),
            names: Vec::new(),
            kernels: Vec::new(),
            homes: Vec::new(),
            globals: Vec::new(),
        };
        for (index, file) in files.iter().enumerate() {
            let name = if files.len() > 1 { format!("piece {index}") } else { String::new() };
            images.select_of(file, options, &agent, &name)?;
        }
        Ok(images)
    }

    /// Selects the best entry of each bundle of one file, which messages call `file_name` if there are several files.
    fn select_of(
        &mut self,
        file: &File<'_>,
        options: &Options,
        agent: &TargetId,
        file_name: &str,
    ) -> Result<()> {
        let before = self.images.len();
        let mut refusals = Vec::new();
        for bundle in file.bundles() {
            let choice =
                image_cache().choose(bundle, agent, options).map_err(|error| from_codeobject(&error))?;
            let name = match (file_name, file.bundles().len()) {
                (file_name, 0..=1) if !file_name.is_empty() => file_name.to_owned(),
                ("", _) => format!("bundle {}", bundle.index()),
                (file_name, _) => format!("{file_name}, bundle {}", bundle.index()),
            };
            match &choice.image {
                Some(image) if choice.selection.fit() == Some(Fit::Family) => {
                    self.add(&under_the_name_of(agent, image)?, name)?;
                }
                Some(image) => self.add(image, name)?,
                None => refusals.extend(choice.selection.verdicts.iter().filter_map(|verdict| {
                    let entry = bundle.entries().get(verdict.entry)?;
                    Some(format!("bundle {} entry {}: {verdict}", bundle.index(), entry.id_text()))
                })),
            }
        }
        if self.images.len() == before {
            let mut problems: Vec<_> = file.problems().iter().map(ToString::to_string).collect();
            problems.append(&mut refusals);
            if has_family_code(file, options, agent) {
                problems.push("the key compatible=families of the device's URI allows such code".to_owned());
            }
            let place = if file_name.is_empty() { "this file" } else { file_name };
            return Err(Error::not_found(format!(
                "no code for {agent} in {place}; build it for that target, or pick another device: {}",
                if problems.is_empty() { "it holds no code at all".to_owned() } else { problems.join("; ") }
            )));
        }
        Ok(())
    }

    /// Adds one code object. A kernel that an earlier bundle has too keeps the earlier code.
    fn add(&mut self, image: &Arc<Image>, name: String) -> Result<()> {
        let code = image.code_object().map_err(|error| from_codeobject(&error))?;
        check(image)?;
        for kernel in code.kernels().iter().filter(|kernel| kernel.kind == KernelKind::Normal) {
            if self.position(&kernel.name).is_none() {
                self.kernels.push(reflect(kernel));
                self.homes.push(self.images.len());
            }
        }
        for variable in code.variables().filter(|variable| variable.exported) {
            if !self.globals.iter().any(|known| known.name == variable.name) {
                self.globals.push(GlobalInfo::new(&variable.name, variable.size));
            }
        }
        self.images.push(image.clone());
        self.names.push(name);
        Ok(())
    }

    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.kernels.iter().position(|kernel| kernel.name == name)
    }

    /// Fails unless the code for another target has the same kernels with the same parameters and fixed workgroup sizes. One
    /// argument block must serve all GPUs of a device.
    pub(crate) fn check_same(&self, other: &Self) -> Result<()> {
        for kernel in &self.kernels {
            let twin = other.position(&kernel.name).map(|at| &other.kernels[at]);
            let shape = |kernel: &FunctionInfo| {
                (kernel.parameters.clone(), kernel.argument_size, kernel.workgroup_size)
            };
            if twin.map(shape) != Some(shape(kernel)) {
                return Err(Error::invalid_argument(format!(
                    "the kernel {} differs between the code for {} and for {}, or one lacks it, so it cannot run on a \
                     device of both; open the GPUs one by one",
                    kernel.name, self.architecture, other.architecture
                )));
            }
        }
        Ok(())
    }

    /// Lowers the limits of kernels to those of their code here.
    pub(crate) fn narrow(&self, kernels: &mut [FunctionInfo]) {
        for kernel in kernels {
            let Some(at) = self.position(&kernel.name) else { continue };
            let twin = &self.kernels[at];
            let limits = [kernel.max_workgroup_threads, twin.max_workgroup_threads];
            // 0 is no limit.
            kernel.max_workgroup_threads = limits.into_iter().filter(|limit| *limit > 0).min().unwrap_or(0);
            kernel.static_local_memory = kernel.static_local_memory.max(twin.static_local_memory);
        }
    }
}

/// Checks that everything that the headers point to is within the image. HIP gets no length and trusts the headers.
pub(crate) fn check(image: &Image) -> Result<()> {
    image.validate().map_err(|error| from_codeobject(&error))
}

/// A copy of code for another processor of the agent's family, under the agent's name. HIP would refuse the code under its
/// own name.
fn under_the_name_of(agent: &TargetId, image: &Image) -> Result<Arc<Image>> {
    let mut bytes = image.to_vec();
    let renamed = retarget(&mut bytes, agent).and_then(|()| Image::copy(&bytes));
    tracing::warn!(target: "windlass::hip", %agent, "loading code of another processor of its ISA-compatible family");
    renamed.map(Arc::new).map_err(|error| from_codeobject(&error))
}

/// Whether the file has code for the agent's family.
fn has_family_code(file: &File<'_>, options: &Options, agent: &TargetId) -> bool {
    let mut options = options.clone();
    options.compatible_families = true;
    file.bundles().iter().any(|bundle| bundle.select(agent, &options).best.is_some())
}

/// The HAL's description of a kernel. HIP fills the hidden arguments, so they are left out.
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
    info.resources = resources(kernel);
    info
}

fn resources(kernel: &Kernel) -> FunctionResources {
    let mut resources = FunctionResources::default();
    resources.vector_registers = Some(kernel.vgpr_count);
    resources.scalar_registers = Some(kernel.sgpr_count);
    resources.accumulation_registers = kernel.agpr_count;
    resources.private_memory_bytes = Some(kernel.private_segment_size);
    resources.dynamic_stack = Some(kernel.uses_dynamic_stack);
    resources.spilled_vector_registers = Some(kernel.vgpr_spill_count);
    resources.spilled_scalar_registers = Some(kernel.sgpr_spill_count);
    resources.wave_size = Some(kernel.wavefront_size);
    resources
}

pub(crate) fn from_codeobject(error: &windlass_codeobject::Error) -> Error {
    Error::new(Code::InvalidArgument, error.to_string())
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
