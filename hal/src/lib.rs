// SPDX-License-Identifier: MIT OR Apache-2.0
//! The interface of Windlass and the machinery that every driver shares.
#![deny(unsafe_code)]

mod allocator;
mod argument;
mod buffer;
mod buffer_view;
pub mod callback_pool;
mod command_buffer;
mod command_list;
mod device;
mod dispatch;
pub mod driver;
pub mod edge;
mod element_type;
mod error;
mod executable;
mod fence;
pub mod file;
mod flags;
mod host_call;
mod info;
mod mapping;
mod operation;
pub mod pending;
mod queue;
mod registry;
mod semaphore;
mod sync;
mod uri;
mod wait;

pub use allocator::Statistics;
pub use argument::{Argument, Value};
pub use buffer::{Buffer, BufferParams, BufferUsage, MemoryType};
pub use buffer_view::{BufferView, Literal, Shape};
pub use command_buffer::{BindingTable, CommandBuffer, Recorder};
pub use command_list::{BufferRef, Command, CommandList, DispatchCommand, Patch, SlotRequirement};
pub use device::Device;
pub use dispatch::DispatchConfig;
pub use element_type::{ElementType, Number};
pub use error::{Code, Error, Result, ResultExt};
pub use executable::{Executable, Function, FunctionInfo, Parameter, ParameterKind};
pub use fence::{Fence, FenceWait};
pub use file::File;
pub use host_call::{Completion, HostCall, HostCallContext, HostCallFlags};
pub use info::{DeviceInfo, Feature, Lack, Limits};
pub use mapping::Mapping;
pub use operation::{Dispatch, Operation, Pattern, QueueAffinity};
pub use queue::{Download, Queue};
pub use registry::Registry;
pub use semaphore::{Notifications, Point, Points, Probe, Semaphore};
pub use uri::{Parameters, Uri};
pub use wait::{Deadline, Wait, WaitPolicy, wait_all, wait_any};
