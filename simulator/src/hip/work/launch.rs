// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernel launches. A call checks and packs a launch; the stream runs it later.

use std::sync::Arc;

use windlass_codeobject::{ArgKind, HiddenKind};

use crate::engine::{self, Cause, Choose, Fault, Kernel, StepOutcome};
use crate::hip::hardware::device::{Device, limits};
use crate::hip::hardware::machine::Machine;
use crate::hip::services::attendance::{Attendance, Attended};
use crate::hip::services::grid_sync::Part;
use crate::hip::words::code::{Code, Outcome};
use crate::hip::words::explanation::explain;
use crate::hip::words::failure::Failure;
use crate::memory::Place;
use crate::options::Lds;
use crate::packet::{Dispatch, GoingDispatch, WorkError};

/// The shape of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// Workgroups.
    pub(crate) grid: [u32; 3],
    /// Work-items of a workgroup.
    pub(crate) block: [u32; 3],
    pub(crate) dynamic_lds: u32,
    /// Whether all workgroups must be in flight together.
    pub(crate) cooperative: bool,
    /// Work-items of the whole grid, if the last workgroups may have fewer than the others.
    pub(crate) work_items: Option<[u32; 3]>,
}

/// A launch with its arguments.
pub(crate) struct Launch {
    kernel: Arc<Kernel>,
    shape: Shape,
    arguments: Vec<u8>,
    by: Launched,
    /// Its place in a grid that several devices share.
    part: Option<Part>,
}

/// The call that launched a kernel: its name, and its number if that is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launched(pub(crate) &'static str, pub(crate) Option<u64>);

impl Shape {
    /// A grid of whole workgroups.
    pub(crate) fn new(grid: [u32; 3], block: [u32; 3], dynamic_lds: u32) -> Self {
        Self { grid, block, dynamic_lds, cooperative: false, work_items: None }
    }

    /// All workgroups are in flight together.
    pub(crate) fn cooperative(self) -> Self {
        Self { cooperative: true, ..self }
    }

    /// The grid has as many workgroups as the work-items take. A workgroup is no larger than all work-items.
    ///
    /// # Errors
    /// `INVALID_VALUE` for no work-items, in the grid or in a workgroup.
    pub(crate) fn of_work_items(work_items: [u32; 3], block: [u32; 3], dynamic_lds: u32) -> Outcome<Self> {
        if work_items.contains(&0) || block.contains(&0) {
            explain(format!(
                "nothing is launched: {work_items:?} work-items in workgroups of {block:?} are none, each direction needs one"
            ));
            return Err(Code::INVALID_VALUE);
        }
        let block: [u32; 3] = std::array::from_fn(|axis| block[axis].min(work_items[axis]));
        let grid = std::array::from_fn(|axis| work_items[axis].div_ceil(block[axis]));
        Ok(Self { grid, block, dynamic_lds, cooperative: false, work_items: Some(work_items) })
    }

    /// The work-items of all workgroups.
    pub(crate) fn all_work_items(&self) -> u64 {
        let extents = self.grid.iter().chain(&self.block);
        extents.fold(1, |product: u64, extent| product.saturating_mul(u64::from(*extent)))
    }

    /// Whether it has no work-items.
    pub(crate) fn is_empty(&self) -> bool {
        self.grid.contains(&0) || self.block.contains(&0)
    }

    /// The work-items of a workgroup.
    pub(crate) fn threads(&self) -> u64 {
        self.block.iter().fold(1, |product: u64, extent| product.saturating_mul(u64::from(*extent)))
    }

    /// Whether a workgroup has more work-items than the device's largest.
    pub(crate) fn has_too_large_blocks(&self) -> bool {
        self.threads() > u64::from(limits::THREADS_PER_BLOCK)
    }

    /// Checks the shape against the device and a kernel.
    ///
    /// # Errors
    /// `INVALID_VALUE` for an extent of zero, `INVALID_CONFIGURATION` for a grid or block larger than the device's,
    /// `LAUNCH_OUT_OF_RESOURCES` for more work-items or LDS than the kernel or the device allows.
    pub(crate) fn check(&self, kernel: &Kernel) -> Outcome<()> {
        if self.is_empty() {
            return self.refuse(kernel, Code::INVALID_VALUE, "an extent is zero");
        }
        // Work-items of a grid are counted in 32 bits in each direction.
        let too_wide = self.work_items.is_none()
            && self.grid.iter().zip(&self.block).any(|(grid, block)| grid.checked_mul(*block).is_none());
        let too_many =
            self.work_items.is_none() && self.grid.iter().any(|extent| i32::try_from(*extent).is_err());
        if self.has_too_large_blocks() {
            let reason = format!("a workgroup has at most {} work-items", limits::THREADS_PER_BLOCK);
            return self.refuse(kernel, Code::INVALID_CONFIGURATION, &reason);
        }
        if too_wide || too_many {
            let reason = "each direction of the grid has at most 2^31 - 1 workgroups and 2^32 - 1 work-items";
            return self.refuse(kernel, Code::INVALID_CONFIGURATION, reason);
        }
        if self.threads() > u64::from(kernel.max_workgroup_size()) {
            return self.refuse(
                kernel,
                Code::LAUNCH_FAILURE,
                "the kernel was compiled for smaller workgroups",
            );
        }
        if kernel.required_workgroup_size().is_some_and(|required| required != self.block) {
            return self.refuse(kernel, Code::INVALID_VALUE, "the kernel requires another workgroup size");
        }
        let lds = u64::from(self.dynamic_lds) + u64::from(kernel.static_lds());
        let most = kernel.module().part().lds;
        if lds > u64::from(most) {
            let reason = format!("a workgroup has {} KiB of LDS", most >> 10);
            return self.refuse(kernel, Code::LAUNCH_OUT_OF_RESOURCES, &reason);
        }
        Ok(())
    }

    fn refuse(&self, kernel: &Kernel, code: Code, reason: &str) -> Outcome<()> {
        let Self { grid, block, dynamic_lds, .. } = self;
        explain(format!(
            "kernel {} cannot be launched with grid {grid:?}, block {block:?} and {dynamic_lds} bytes of dynamic LDS: \
             {reason}",
            kernel.name()
        ));
        Err(code)
    }
}

impl Launch {
    /// A launch of a checked shape with its arguments in the kernel's layout.
    pub(crate) fn new(kernel: Arc<Kernel>, shape: Shape, arguments: Vec<u8>, by: Launched) -> Self {
        Self { kernel, shape, arguments, by, part: None }
    }

    /// The same as a part of a grid that several devices share.
    pub(crate) fn part_of_grid(self, part: Part) -> Self {
        Self { part: Some(part), ..self }
    }

    /// Runs the kernel to its end.
    pub(crate) fn run(self, machine: &Machine, device: &Device) -> Result<(), Failure> {
        let attendance = self.attend(machine, device)?;
        let ran = self.dispatch(machine).run_of(&self.parameters(machine, device), attendance.of_queue());
        attendance.end();
        ran.map_err(|error| self.origin().failure(error))
    }

    /// Begins to run the kernel. `choices` gives the order in which workgroups start.
    pub(crate) fn begin(
        self,
        machine: &Machine,
        device: &Device,
        choices: &mut dyn Choose,
    ) -> Result<GoingLaunch, Failure> {
        let attendance = self.attend(machine, device)?;
        let parameters = self.parameters(machine, device);
        let begun = self.dispatch(machine).begin(parameters, attendance.of_queue(), choices);
        let dispatch = begun.map_err(|error| self.origin().failure(error))?;
        Ok(GoingLaunch { dispatch, attendance, origin: self.origin() })
    }

    /// The loan of the runtime to the dispatch.
    fn attend(&self, machine: &Machine, device: &Device) -> Result<Arc<Attendance>, Failure> {
        let Shape { grid, block, cooperative, .. } = self.shape;
        let product =
            |extents: [u32; 3]| extents.iter().fold(1, |all: u64, one| all.saturating_mul((*one).into()));
        let workgroups = product(grid);
        let waves = workgroups.saturating_mul(product(block).div_ceil(self.kernel.wave_size().into()));
        let services = machine.services.get(device.index).ok_or_else(Failure::defect)?;
        let part = self.part.clone();
        services.attend(&self.kernel, Attended { workgroups, waves, cooperative, part }).map_err(|error| {
            let kernel = self.kernel.name();
            let report =
                format!("kernel {kernel} cannot be launched: no memory for its hidden arguments: {error}");
            Failure::new(Code::LAUNCH_OUT_OF_RESOURCES, report)
        })
    }

    fn origin(&self) -> Origin {
        let barrier = ArgKind::Hidden(HiddenKind::MultigridSyncArg);
        let may_use_barrier = self.kernel.description().args.iter().any(|argument| argument.kind == barrier);
        Origin { by: self.by, lacks_grid_barrier: may_use_barrier && !self.shape.cooperative }
    }

    fn dispatch(&self, machine: &Machine) -> Dispatch {
        Dispatch {
            engine: machine.engine.clone(),
            memory: machine.memory.clone(),
            kernel: self.kernel.clone(),
        }
    }

    fn parameters(&self, machine: &Machine, device: &Device) -> engine::Launch<'_> {
        let mut launch = engine::Launch::new(self.shape.grid, self.shape.block, &self.arguments);
        launch.dynamic_lds = self.shape.dynamic_lds;
        launch.work_items = self.shape.work_items;
        launch.stack = device.chosen_stack();
        launch.lds_faults = machine.lds == Lds::Fault;
        launch.translates = machine.translates;
        launch.reach = device.reach();
        launch
    }
}

/// A launch that runs step by step.
pub(crate) struct GoingLaunch {
    dispatch: GoingDispatch,
    attendance: Arc<Attendance>,
    origin: Origin,
}

impl GoingLaunch {
    /// Runs one turn of one wave.
    pub(crate) fn step(&mut self, choices: &mut dyn Choose) -> Result<StepOutcome, Failure> {
        let stepped = self.dispatch.step(choices);
        if !matches!(stepped, Ok(StepOutcome::Progress | StepOutcome::Spun)) {
            self.attendance.end();
        }
        stepped.map_err(|error| self.origin.failure(error))
    }
}

/// The facts about a launch that the report of its fault tells.
#[derive(Clone, Copy)]
struct Origin {
    by: Launched,
    /// Whether the kernel may ask for the barrier of its grid, which only cooperative launches have.
    lacks_grid_barrier: bool,
}

impl Origin {
    /// The failure of the launch.
    fn failure(self, error: WorkError) -> Failure {
        let WorkError::Fault(fault) = error else { return error.into() };
        let Launched(call, number) = self.by;
        let number = number.map(|number| format!(", call {number}")).unwrap_or_default();
        let at_null = fault.access.as_ref().is_some_and(|access| access.place == Place::Null);
        let hint = if self.lacks_grid_barrier && at_null {
            "\n  hint: if the kernel synchronises its grid (grid.sync()), it needs hipLaunchCooperativeKernel or \
             hipModuleLaunchCooperativeKernel: in other launches the barrier is a null pointer"
        } else {
            ""
        };
        Failure::new(code_of(&fault), format!("{fault}\n  launched by: {call}{number}{hint}"))
    }
}

/// The status that HIP answers after a fault.
fn code_of(fault: &Fault) -> Code {
    match fault.cause {
        Cause::IllegalAddress
        | Cause::ReadOnly
        | Cause::MisalignedAtomic
        | Cause::NoPeerAccess { .. }
        | Cause::NoMappingAccess
        | Cause::IllegalProgramCounter { .. } => Code::ILLEGAL_ADDRESS,
        Cause::InvalidLaunch { .. } => Code::INVALID_CONFIGURATION,
        Cause::OutOfMemory { .. } => Code::LAUNCH_OUT_OF_RESOURCES,
        Cause::Unsupported { .. } => Code::NOT_SUPPORTED,
        _ => Code::LAUNCH_FAILURE,
    }
}
