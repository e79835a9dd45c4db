// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernel arguments by the metadata.

/// One argument of a kernel: its place in the argument block, and its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Arg {
    /// The name in the source, if the compiler kept it (HIP builds do not).
    pub name: Option<String>,
    /// The type in the source, if the compiler kept it.
    pub type_name: Option<String>,
    /// The offset in the argument block, in bytes.
    pub offset: u32,
    /// The size in bytes.
    pub size: u32,
    /// The kind of the argument.
    pub kind: ArgKind,
    /// The address space of a pointer.
    pub address_space: Option<AddressSpace>,
    /// The declared access to the pointed-to memory.
    pub access: Option<Access>,
    /// The actual access to the pointed-to memory, as the compiler found it.
    pub actual_access: Option<Access>,
    /// The alignment in bytes of the memory of a [`DynamicSharedPointer`](ArgKind::DynamicSharedPointer).
    pub pointee_align: Option<u32>,
    /// Whether the pointed-to type is `const`.
    pub is_const: bool,
    /// Whether the pointer is `restrict`.
    pub is_restrict: bool,
    /// Whether the pointed-to type is `volatile`.
    pub is_volatile: bool,
}

impl Arg {
    /// The memory of the names in bytes.
    pub(crate) fn text_size(&self) -> usize {
        let kind = if let ArgKind::Other(name) = &self.kind { name.len() } else { 0 };
        let names = [&self.name, &self.type_name].map(|name| name.as_ref().map_or(0, String::len));
        kind + names[0] + names[1]
    }

    /// An argument without any properties yet.
    pub(crate) fn blank() -> Arg {
        Arg {
            name: None,
            type_name: None,
            offset: 0,
            size: 0,
            kind: ArgKind::ByValue,
            address_space: None,
            access: None,
            actual_access: None,
            pointee_align: None,
            is_const: false,
            is_restrict: false,
            is_volatile: false,
        }
    }

    /// Whether the runtime fills the argument, not the caller.
    pub fn is_hidden(&self) -> bool {
        matches!(self.kind, ArgKind::Hidden(_))
    }
}

/// The kind of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgKind {
    /// A value, copied into the argument block.
    ByValue,
    /// An address in global memory.
    GlobalBuffer,
    /// An offset in dynamic group memory (LDS).
    DynamicSharedPointer,
    /// A sampler.
    Sampler,
    /// An image.
    Image,
    /// An OpenCL pipe.
    Pipe,
    /// An OpenCL queue.
    Queue,
    /// Filled by the runtime.
    Hidden(HiddenKind),
    /// An unknown kind, by its name in the metadata.
    Other(String),
}

macro_rules! hidden_kinds {
    ($($(#[doc = $doc:literal])* $kind:ident = $name:literal,)*) => {
        /// The value of a hidden argument, which the runtime fills in.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum HiddenKind {
            $($(#[doc = $doc])* $kind,)*
        }

        const HIDDEN_KINDS: &[(&str, HiddenKind)] = &[$(($name, HiddenKind::$kind),)*];
    };
}

hidden_kinds! {
    /// Nothing: the space is reserved.
    None = "hidden_none",
    /// Number of workgroups in x (u32).
    BlockCountX = "hidden_block_count_x",
    /// Number of workgroups in y (u32).
    BlockCountY = "hidden_block_count_y",
    /// Number of workgroups in z (u32).
    BlockCountZ = "hidden_block_count_z",
    /// Size of a full workgroup in x (u16).
    GroupSizeX = "hidden_group_size_x",
    /// Size of a full workgroup in y (u16).
    GroupSizeY = "hidden_group_size_y",
    /// Size of a full workgroup in z (u16).
    GroupSizeZ = "hidden_group_size_z",
    /// Size of the last, partial workgroup in x (u16).
    RemainderX = "hidden_remainder_x",
    /// Size of the last, partial workgroup in y (u16).
    RemainderY = "hidden_remainder_y",
    /// Size of the last, partial workgroup in z (u16).
    RemainderZ = "hidden_remainder_z",
    /// OpenCL's global offset in x (u64).
    GlobalOffsetX = "hidden_global_offset_x",
    /// OpenCL's global offset in y (u64).
    GlobalOffsetY = "hidden_global_offset_y",
    /// OpenCL's global offset in z (u64).
    GlobalOffsetZ = "hidden_global_offset_z",
    /// Number of dimensions of the grid (u16).
    GridDims = "hidden_grid_dims",
    /// Address of the buffer for OpenCL's `printf`.
    PrintfBuffer = "hidden_printf_buffer",
    /// Address of the buffer for calls to the host.
    HostcallBuffer = "hidden_hostcall_buffer",
    /// Address of the argument for synchronisation across GPUs.
    MultigridSyncArg = "hidden_multigrid_sync_arg",
    /// Address of the heap for `malloc` on the device.
    HeapV1 = "hidden_heap_v1",
    /// Address of the default queue for launches on the device.
    DefaultQueue = "hidden_default_queue",
    /// Address of the completion action for launches on the device.
    CompletionAction = "hidden_completion_action",
    /// Bytes of dynamic group memory (u32).
    DynamicLdsSize = "hidden_dynamic_lds_size",
    /// High half of the private aperture's address (u32).
    PrivateBase = "hidden_private_base",
    /// High half of the shared aperture's address (u32).
    SharedBase = "hidden_shared_base",
    /// Address of the HSA queue.
    QueuePtr = "hidden_queue_ptr",
}

/// The memory that a pointer points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressSpace {
    /// Memory of one work item.
    Private,
    /// Device memory.
    Global,
    /// Device memory that the kernel only reads.
    Constant,
    /// Memory of one workgroup (LDS).
    Local,
    /// Any of the others, by the address.
    Generic,
    /// Global data share.
    Region,
}

/// How memory is accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Access {
    /// Only read.
    ReadOnly,
    /// Only written.
    WriteOnly,
    /// Read and written.
    ReadWrite,
}

impl ArgKind {
    pub(crate) fn from_metadata(name: &str) -> ArgKind {
        match name {
            "by_value" => ArgKind::ByValue,
            "global_buffer" => ArgKind::GlobalBuffer,
            "dynamic_shared_pointer" => ArgKind::DynamicSharedPointer,
            "sampler" => ArgKind::Sampler,
            "image" => ArgKind::Image,
            "pipe" => ArgKind::Pipe,
            "queue" => ArgKind::Queue,
            other => match HIDDEN_KINDS.iter().find(|(name, _)| *name == other) {
                Some((_, kind)) => ArgKind::Hidden(*kind),
                None => ArgKind::Other(other.to_owned()),
            },
        }
    }
}

impl AddressSpace {
    pub(crate) fn from_metadata(name: &str) -> Option<AddressSpace> {
        Some(match name {
            "private" => AddressSpace::Private,
            "global" => AddressSpace::Global,
            "constant" => AddressSpace::Constant,
            "local" => AddressSpace::Local,
            "generic" => AddressSpace::Generic,
            "region" => AddressSpace::Region,
            _ => return None,
        })
    }
}

impl Access {
    pub(crate) fn from_metadata(name: &str) -> Option<Access> {
        Some(match name {
            "read_only" => Access::ReadOnly,
            "write_only" => Access::WriteOnly,
            "read_write" => Access::ReadWrite,
            _ => return None,
        })
    }
}
