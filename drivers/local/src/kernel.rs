// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels: a Rust function with its parameters and limits.

use std::{fmt, sync::Arc};

use windlass_hal::{Error, FunctionInfo, Parameter, ParameterKind, Result};

use crate::{arguments::Scalar, workgroup::Workgroup};

/// The code of a kernel, called once for each workgroup.
pub(crate) type Code = dyn Fn(&mut Workgroup<'_>) -> Result<()> + Send + Sync;

/// A Rust function that queues can dispatch.
///
/// The function is called once for each workgroup and does the work of all its work-items, as a rule in a loop over
/// [`Workgroup::items`]. In place of a GPU kernel's barrier, one loop ends and the next begins. An error or a panic
/// fails the dispatch, and the workgroups after it do not run.
///
/// Parameters are declared in the kernel's order. They lie in the argument block as in a C struct, as compilers for AMD GPUs
/// lay them out.
///
/// ```
/// use windlass_local::Kernel;
///
/// let scale = Kernel::new("scale", |group| {
///     let data = group.arguments.buffer::<f32>(0)?;
///     let (factor, n) = (group.arguments.value::<f32>(1)?, group.arguments.value::<u32>(2)?);
///     for [x, _, _] in group.global_items() {
///         if x < n {
///             // SAFETY: the dispatching program gives a `data` of `n` elements.
///             unsafe { data.store(x as usize, data.load(x as usize) * factor) };
///         }
///     }
///     Ok(())
/// });
/// let scale = scale.buffer("data").value::<f32>("factor").value::<u32>("n").max_workgroup_threads(256);
/// assert_eq!(scale.info().signature(), "scale(data: buffer, factor: 4 bytes, n: 4 bytes)");
/// ```
#[derive(Clone)]
pub struct Kernel {
    pub(crate) info: FunctionInfo,
    pub(crate) code: Arc<Code>,
    /// The first fault of the declaration.
    problem: Option<Error>,
}

impl Kernel {
    /// A kernel without parameters, for workgroups of any size.
    pub fn new(
        name: impl Into<String>,
        code: impl Fn(&mut Workgroup<'_>) -> Result<()> + Send + Sync + 'static,
    ) -> Self {
        let mut info = FunctionInfo::default();
        info.name = name.into();
        Self { info, code: Arc::new(code), problem: None }
    }

    /// Adds a parameter: the address of a buffer, or null.
    #[must_use]
    pub fn buffer(self, name: &str) -> Self {
        self.parameter(name, ParameterKind::Buffer, 8, 8)
    }

    /// Adds a parameter: a number.
    #[must_use]
    pub fn value<T: Scalar>(self, name: &str) -> Self {
        self.parameter(name, ParameterKind::Value, size_of::<T>() as u32, size_of::<T>() as u32)
    }

    /// Adds a parameter: a struct by value of `size` bytes, at a multiple of `alignment`.
    #[must_use]
    pub fn bytes(self, name: &str, size: u32, alignment: u32) -> Self {
        self.parameter(name, ParameterKind::Value, size, alignment)
    }

    /// Allows workgroups of this size only.
    #[must_use]
    pub fn workgroup_size(mut self, size: [u32; 3]) -> Self {
        self.info.workgroup_size = Some(size);
        self.max_workgroup_threads(size.iter().fold(1, |threads: u32, n| threads.saturating_mul(*n)))
    }

    /// Allows workgroups of at most this many work-items.
    #[must_use]
    pub fn max_workgroup_threads(mut self, threads: u32) -> Self {
        self.info.max_workgroup_threads = threads;
        self
    }

    /// Gives each workgroup this many bytes of local memory. The bytes that a dispatch requests follow them.
    #[must_use]
    pub fn local_memory(mut self, bytes: u32) -> Self {
        self.info.static_local_memory = bytes;
        self
    }

    /// The parameters and limits, as [`Function::info`](windlass_hal::Function::info) returns them.
    pub fn info(&self) -> &FunctionInfo {
        &self.info
    }

    fn parameter(mut self, name: &str, kind: ParameterKind, size: u32, alignment: u32) -> Self {
        let offset = self.info.argument_size.checked_next_multiple_of(alignment);
        let end = offset.and_then(|offset| offset.checked_add(size));
        match (offset, end) {
            (Some(offset), Some(end)) if size > 0 && alignment.is_power_of_two() => {
                self.info.parameters.push(Parameter::new(kind, offset, size).named(Some(name.to_owned())));
                self.info.argument_size = end;
            }
            _ => {
                let problem = Error::invalid_argument(format!(
                    "parameter `{name}` of `{}`: {size} bytes at a multiple of {alignment} behind {} bytes; the size \
                     must not be 0, and the alignment must be a power of two",
                    self.info.name, self.info.argument_size
                ));
                self.problem.get_or_insert(problem);
            }
        }
        self
    }

    /// Fails if the declaration makes no sense.
    pub(crate) fn check(&self) -> Result<()> {
        if let Some(problem) = &self.problem {
            return Err(problem.clone());
        }
        if self.info.name.is_empty() {
            return Err(Error::invalid_argument("a kernel needs a name"));
        }
        if self.info.workgroup_size.is_some_and(|size| size.contains(&0)) {
            return Err(Error::invalid_argument(format!(
                "`{}` fixes the workgroup size {:?}, which has no work-item",
                self.info.name, self.info.workgroup_size
            )));
        }
        Ok(())
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({})", self.info.signature())
    }
}
