// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device code: choosing the entry that fits, loading it into HIP, and reflecting its kernels.

use std::{any::Any, sync::Arc};

use windlass_codeobject::{ArgKind, CodeObject, File, Kernel, KernelKind, Options, TargetId, declared_size};
use windlass_hal::{
    Code, Error, FunctionInfo, Parameter, ParameterKind, Result, callback_pool, driver, edge::Domain,
};

use crate::{
    call::{Function, Module},
    device::Inner,
};

/// The modules of one file: one for each bundle that has code for the device.
pub(crate) struct Executable {
    device: Arc<Inner>,
    /// With the bytes that each was loaded from: HIP does not say that it is done with them when loading returns.
    modules: Vec<(Module, Pages)>,
    infos: Vec<FunctionInfo>,
    functions: Vec<Function>,
}

impl Executable {
    pub(crate) fn load(device: &Arc<Inner>, code: &[u8]) -> Result<Self> {
        let options = Options::default();
        let file = File::parse(code, &options).map_err(|error| from_codeobject(&error))?;
        let architecture = &device.info.architecture;
        let agent: TargetId = architecture.parse().map_err(|error| {
            Error::internal(format!(
                "HIP names the device's target {architecture:?}, which is no target id: {error}"
            ))
        })?;
        let mut executable =
            Self { device: device.clone(), modules: Vec::new(), infos: Vec::new(), functions: Vec::new() };
        let mut refusals = Vec::new();
        for bundle in file.bundles() {
            let selection = bundle.select(&agent, &options);
            match selection.best {
                Some(entry) => {
                    let image = bundle.image(entry).map_err(|error| from_codeobject(&error))?;
                    executable.add(&image)?;
                }
                None => refusals.extend(selection.verdicts.iter().filter_map(|verdict| {
                    let entry = bundle.entries().get(verdict.entry)?;
                    Some(format!("bundle {} entry {}: {verdict}", bundle.index(), entry.id_text()))
                })),
            }
        }
        if executable.modules.is_empty() {
            let mut problems: Vec<_> = file.problems().iter().map(ToString::to_string).collect();
            problems.append(&mut refusals);
            return Err(Error::not_found(format!(
                "no code for {agent} in this file; build it for that target, or pick another device: {}",
                if problems.is_empty() { "it holds no code at all".to_owned() } else { problems.join("; ") }
            )));
        }
        Ok(executable)
    }

    /// Loads one code object. A kernel that an earlier bundle has keeps the earlier code.
    fn add(&mut self, image: &[u8]) -> Result<()> {
        let code = CodeObject::parse(image).map_err(|error| from_codeobject(&error))?;
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
        let pages = Pages::copy(image);
        let hip = &self.device.hip;
        let module = hip.load_module(pages.bytes())?;
        self.modules.push((module, pages));
        let _current = hip.current()?;
        for kernel in code.kernels().iter().filter(|kernel| kernel.kind == KernelKind::Normal) {
            if self.infos.iter().any(|known| known.name == kernel.name) {
                continue;
            }
            self.functions.push(hip.function(module, &kernel.name)?);
            self.infos.push(reflect(kernel));
        }
        Ok(())
    }

    pub(crate) fn function(&self, index: u32) -> Option<Function> {
        self.functions.get(index as usize).copied()
    }
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

/// A private copy that begins at a page. `hipModuleLoadData` takes no length, so HIP is shown exactly one validated
/// code object, with zeros behind it.
struct Pages {
    pages: Vec<Page>,
    length: usize,
}

#[derive(Clone)]
#[repr(C, align(4096))]
struct Page([u8; 4096]);

impl Pages {
    fn copy(image: &[u8]) -> Self {
        let mut pages = vec![Page([0; 4096]); image.len() / 4096 + 1];
        for (page, bytes) in pages.iter_mut().zip(image.chunks(4096)) {
            page.0[..bytes.len()].copy_from_slice(bytes);
        }
        Self { pages, length: image.len() }
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: pages are arrays of bytes without padding, next to each other, and cover `length`.
        unsafe { std::slice::from_raw_parts(self.pages.as_ptr().cast(), self.length) }
    }
}

impl Drop for Executable {
    fn drop(&mut self) {
        if self.device.is_lost() {
            return;
        }
        let (hip, modules) = (self.device.hip.clone(), std::mem::take(&mut self.modules));
        callback_pool::spawn(Box::new(move || {
            if let Ok(_current) = hip.current() {
                modules.into_iter().for_each(|(module, _pages)| hip.unload_module(module));
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

    fn global(&self, name: &str) -> Result<(u64, u64)> {
        let _current = self.device.hip.current()?;
        let mut last = Error::not_found(format!("no global `{name}`: the executable has no code"));
        for (module, _) in &self.modules {
            match self.device.hip.global(*module, name) {
                Ok(found) => return Ok(found),
                Err(error) => last = error,
            }
        }
        Err(last)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
