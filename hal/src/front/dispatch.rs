// SPDX-License-Identifier: MIT OR Apache-2.0
//! The configuration of a dispatch, and its check against the limits of the function and the device.

use crate::{
    driver,
    front::executable::Function,
    words::{
        error::{Error, Result},
        function_info::FunctionInfo,
        limits::Limits,
    },
};

/// How to launch a function: the number of workgroups in x, y, z, and optional settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DispatchConfig {
    /// Workgroups in x, y, z.
    pub workgroup_count: [u32; 3],
    /// Work-items of a workgroup in x, y, z. `None` where the code fixes the size.
    pub workgroup_size: Option<[u32; 3]>,
    /// Bytes of local memory (LDS) in addition to those that the function declares.
    pub dynamic_local_memory: u32,
    /// Whether the caller packed the arguments. See [`raw_arguments`](Self::raw_arguments).
    pub raw_arguments: bool,
}

impl DispatchConfig {
    /// This many workgroups, of the size that the code fixes.
    pub const fn new(workgroup_count: [u32; 3]) -> Self {
        Self { workgroup_count, workgroup_size: None, dynamic_local_memory: 0, raw_arguments: false }
    }

    /// Sets the workgroup size.
    pub const fn workgroup_size(mut self, size: [u32; 3]) -> Self {
        self.workgroup_size = Some(size);
        self
    }

    /// Says that the caller packed the arguments. The first argument is then
    /// [`Argument::Bytes`](crate::Argument::Bytes): a block of exactly
    /// [`FunctionInfo::argument_size`](crate::FunctionInfo::argument_size) bytes in the layout of the function. The
    /// other arguments are the buffers whose addresses the block contains, so that the submission keeps them alive.
    pub const fn raw_arguments(mut self) -> Self {
        self.raw_arguments = true;
        self
    }

    /// Sets the dynamic local memory in bytes.
    pub const fn dynamic_local_memory(mut self, bytes: u32) -> Self {
        self.dynamic_local_memory = bytes;
        self
    }
}

impl From<[u32; 3]> for DispatchConfig {
    fn from(workgroup_count: [u32; 3]) -> Self {
        Self::new(workgroup_count)
    }
}

pub(crate) struct Resolved {
    pub(crate) workgroup_count: [u32; 3],
    pub(crate) workgroup_size: [u32; 3],
    pub(crate) dynamic_local_memory: u32,
    pub(crate) raw_arguments: bool,
}

/// The limits of the launches of one function, in a form that is quick to compare.
pub(crate) struct LaunchLimits {
    /// The size that the code fixes; zeros where it fixes none.
    fixed: [u32; 3],
    workgroup_count: [u32; 3],
    workgroup_size: [u32; 3],
    threads: u64,
    dynamic_local_memory: u64,
}

impl LaunchLimits {
    pub(crate) fn new(function: &FunctionInfo, device: &Limits) -> Self {
        let most = |limit: u32| if limit == 0 { u32::MAX } else { limit };
        let threads = most(function.max_workgroup_threads).min(most(device.max_workgroup_threads));
        let local = u64::from(most(device.max_local_memory)).checked_sub(function.static_local_memory.into());
        Self {
            fixed: function.workgroup_size.unwrap_or_default(),
            workgroup_count: device.max_workgroup_count.map(most),
            workgroup_size: device.max_workgroup_size.map(most),
            // Code that no workgroup may run is a case for the whole check.
            threads: if local.is_some() { threads.into() } else { 0 },
            dynamic_local_memory: local.unwrap_or(0),
        }
    }

    /// The workgroup size of a launch that [`resolve`] accepts. `None` for a launch that it refuses, and for a few rare
    /// ones that it accepts.
    #[inline]
    pub(crate) fn admit(&self, config: &DispatchConfig) -> Option<[u32; 3]> {
        let size = match config.workgroup_size {
            Some(size) if self.fixed == [0; 3] || self.fixed == size => size,
            Some(_) => return None,
            None => self.fixed,
        };
        let [x, y, z] = size.map(u64::from);
        let [columns, rows, layers] = config.workgroup_count.map(u64::from);
        let mut fits = ((columns * x) | (rows * y) | (layers * z)) >> 32 == 0;
        let at_most =
            |given: [u32; 3], most: [u32; 3]| given.iter().zip(most).all(|(given, most)| *given <= most);
        fits &= at_most(size, self.workgroup_size) && at_most(config.workgroup_count, self.workgroup_count);
        fits &= x * y <= self.threads;
        let threads = (x * y).wrapping_mul(z);
        fits &= threads.wrapping_sub(1) < self.threads;
        fits &= u64::from(config.dynamic_local_memory) <= self.dynamic_local_memory;
        fits.then_some(size)
    }
}

/// Checks a launch against the limits of the function and the device, and fills in the workgroup size.
pub(crate) fn resolve(
    function: &Function,
    device: &dyn driver::RawDevice,
    config: &DispatchConfig,
) -> Result<Resolved> {
    let (info, limits) = (function.info(), device.limits());
    let name = &info.name;
    if function.executable.domain() != device.domain() {
        return Err(Error::invalid_argument(format!("`{name}` was loaded on another device")));
    }
    let size = match (info.workgroup_size, config.workgroup_size) {
        (None, None) => {
            return Err(Error::invalid_argument(format!(
                "`{name}` does not fix its workgroup size: state `workgroup_size` with the dispatch"
            )));
        }
        (Some(fixed), Some(given)) if fixed != given => {
            return Err(Error::invalid_argument(format!(
                "`{name}` was built for workgroups of {fixed:?} and was given {given:?}"
            )));
        }
        (fixed, given) => given.or(fixed).unwrap_or([1; 3]),
    };
    let threads = size.iter().fold(1, |threads: u64, n| threads.saturating_mul(u64::from(*n)));
    if threads == 0 {
        return Err(Error::invalid_argument(format!(
            "`{name}`: the workgroup size {size:?} has no work-item"
        )));
    }
    let most =
        [info.max_workgroup_threads, limits.max_workgroup_threads].into_iter().filter(|most| *most > 0).min();
    if let Some(most) = most.filter(|most| threads > u64::from(*most)) {
        return Err(Error::out_of_range(format!(
            "`{name}`: a workgroup of {size:?} has {threads} work-items, and at most {most} are allowed \
             (the code was built for {}, the device allows {})",
            info.max_workgroup_threads, limits.max_workgroup_threads
        )));
    }
    limits.check_workgroups(info, config.workgroup_count, size)?;
    let local = u64::from(info.static_local_memory) + u64::from(config.dynamic_local_memory);
    if limits.max_local_memory > 0 && local > u64::from(limits.max_local_memory) {
        return Err(Error::out_of_range(format!(
            "`{name}`: {} bytes of local memory and {} dynamic ones; the device has {} for a workgroup",
            info.static_local_memory, config.dynamic_local_memory, limits.max_local_memory
        )));
    }
    Ok(Resolved {
        workgroup_count: config.workgroup_count,
        workgroup_size: size,
        dynamic_local_memory: config.dynamic_local_memory,
        raw_arguments: config.raw_arguments,
    })
}
