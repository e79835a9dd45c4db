// SPDX-License-Identifier: MIT OR Apache-2.0
//! IREE executables for AMD GPUs, for HIP (`HIP1`) and for IREE's AMDGPU driver (`AMD1`): a prefix, and a flatbuffer
//! with images in it.

use std::fmt;
use std::ops::Range;

use crate::bytes::{range, text, u32_at, u64_at};
use crate::container::flatbuffer::Table;
use crate::container::room::Room;
use crate::error::Error;
use crate::words::magic::Format;

const PREFIX_SIZE: u64 = 64;
const MAX_IMAGES: u32 = 4096;
const MAX_EXPORTS: u32 = 65_536;
/// The size of a binding's flags, in bytes.
const FLAGS_SIZE: u64 = 8;

/// The IREE driver that an executable is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IreeFormat {
    /// `HIP1`: the driver over HIP.
    Hip,
    /// `AMD1`: the driver over HSA.
    Amdgpu,
}

impl fmt::Display for IreeFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            IreeFormat::Hip => "HIP1",
            IreeFormat::Amdgpu => "AMD1",
        })
    }
}

impl IreeFormat {
    /// The executable that begins with `head`, if one does.
    pub(crate) fn from_head(head: &[u8]) -> Option<IreeFormat> {
        match Format::of(head)? {
            Format::IreeHip => Some(IreeFormat::Hip),
            Format::IreeAmdgpu => Some(IreeFormat::Amdgpu),
            _ => None,
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            IreeFormat::Hip => "the IREE HIP executable (HIP1)",
            IreeFormat::Amdgpu => "the IREE AMDGPU executable (AMD1)",
        }
    }

    /// The positions of fields in IREE's schemas.
    fn schema(self) -> Schema {
        match self {
            IreeFormat::Hip => Schema {
                isa: None,
                exports: 0,
                modules: 1,
                export_module: Some(0),
                export_name: 1,
                export_workgroup: 2,
                export_constants: 4,
                export_bindings: 5,
            },
            IreeFormat::Amdgpu => Schema {
                isa: Some(0),
                exports: 1,
                modules: 2,
                export_module: None,
                export_name: 0,
                export_workgroup: 1,
                export_constants: 2,
                export_bindings: 3,
            },
        }
    }
}

struct Schema {
    isa: Option<u64>,
    exports: u64,
    modules: u64,
    export_module: Option<u64>,
    export_name: u64,
    export_workgroup: u64,
    export_constants: u64,
    export_bindings: u64,
}

/// The entry points of an IREE executable, in the order by which IREE counts them.
#[derive(Debug, Clone)]
pub struct IreeExecutable<'a> {
    format: IreeFormat,
    isa: &'a [u8],
    exports: Vec<IreeExport<'a>>,
    pub(crate) bundles: Range<usize>,
}

impl<'a> IreeExecutable<'a> {
    /// The driver that the executable is for.
    pub fn format(&self) -> IreeFormat {
        self.format
    }

    /// The ISA that the executable was compiled for, such as `amdgcn-amd-amdhsa--gfx1100`; empty for `HIP1`, which does
    /// not state it.
    pub fn isa(&self) -> String {
        text(self.isa)
    }

    /// The entry points.
    pub fn exports(&self) -> &[IreeExport<'a>] {
        &self.exports
    }

    /// The bundles of the [`File`](crate::File) that hold its code.
    pub fn bundles(&self) -> Range<usize> {
        self.bundles.clone()
    }

    pub(crate) fn isa_bytes(&self) -> &'a [u8] {
        self.isa
    }
}

/// An entry point of an IREE executable. Its kernel takes the bindings in order, then the constants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IreeExport<'a> {
    name: &'a [u8],
    module: Option<u32>,
    workgroup_size: Option<[u32; 3]>,
    constant_count: u32,
    bindings: &'a [u8],
}

impl IreeExport<'_> {
    /// The kernel's name: [`Kernel::name`](crate::Kernel::name) in `HIP1`, [`Kernel::symbol`](crate::Kernel::symbol) in
    /// `AMD1`.
    pub fn name(&self) -> String {
        text(self.name)
    }

    /// The index of the executable's module that has the kernel; `None` if the format does not state it.
    pub fn module(&self) -> Option<u32> {
        self.module
    }

    /// The workgroup size in work items, in each dimension.
    pub fn workgroup_size(&self) -> Option<[u32; 3]> {
        self.workgroup_size
    }

    /// The number of 32-bit constants.
    pub fn constant_count(&self) -> u32 {
        self.constant_count
    }

    /// The bindings.
    pub fn bindings(&self) -> impl ExactSizeIterator<Item = IreeBinding> {
        self.bindings.chunks_exact(FLAGS_SIZE as usize).map(|flags| {
            let flags = u64_at(flags, 0).unwrap_or_default();
            IreeBinding { read_only: flags & 1 != 0, indirect: flags & 2 != 0 }
        })
    }
}

/// The use that an entry point makes of a binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct IreeBinding {
    /// The binding is not written.
    pub read_only: bool,
    /// The binding is a pointer to the buffer's address.
    pub indirect: bool,
}

/// An executable, and its images with their offsets in the file.
pub(crate) type Contents<'a> = (IreeExecutable<'a>, Vec<(&'a [u8], u64)>);

/// The size in bytes of the executable at the head of `bytes`, which lies at `base` of its file.
pub(crate) fn stored_size(format: IreeFormat, bytes: &[u8], base: u64) -> Result<u64, Error> {
    let what = format.name();
    let cut = |needed| Error::truncated(what, base, needed, bytes.len() as u64);
    let version = u32_at(bytes, 4).ok_or_else(|| cut(PREFIX_SIZE))?;
    if version != 0 {
        let advice = "version 0 is read; give the .hsaco that iree-compile dumps";
        return Err(Error::unsupported(format!("version {version} of {what}"), base, advice));
    }
    let size = u64_at(bytes, 8).ok_or_else(|| cut(PREFIX_SIZE))?;
    PREFIX_SIZE
        .checked_add(size)
        .ok_or_else(|| Error::malformed(what, base, format!("its size {size:#x} overflows")))
}

/// Reads an executable at `base` of its file, with no more entry points than `room` allows.
pub(crate) fn read<'a>(
    format: IreeFormat,
    bytes: &'a [u8],
    base: u64,
    room: &mut Room,
) -> Result<Contents<'a>, Error> {
    let what = format.name();
    let size = stored_size(format, bytes, base)?;
    let buffer = range(bytes, PREFIX_SIZE, size - PREFIX_SIZE)
        .ok_or_else(|| Error::truncated(what, base, size, bytes.len() as u64))?;
    let malformed = |problem| Error::malformed(what, base, problem);
    if !buffer.get(4..).and_then(IreeFormat::from_head).is_some_and(|inner| inner == format) {
        return Err(malformed("its flatbuffer is of another kind"));
    }
    let outside = || malformed("its flatbuffer points outside itself");
    let root = Table::root(buffer).ok_or_else(outside)?;
    let exports = root.vector(format.schema().exports).ok_or_else(outside)?;
    let limit = u32::try_from(room.entries).unwrap_or(u32::MAX).min(MAX_EXPORTS);
    if exports.count > limit {
        return Err(Error::Limit {
            what: format!("the number of entry points of {what}"),
            offset: base,
            value: exports.count.into(),
            limit: limit.into(),
            advice: "no compiler writes this many; the input is damaged".to_owned(),
        });
    }
    let executable = executable(format, root).ok_or_else(outside)?;
    let images = images(format, root, base.saturating_add(PREFIX_SIZE)).ok_or_else(outside)?;
    let bytes_of = |export: &IreeExport<'_>| (export.name.len() + export.bindings.len()) as u64;
    room.exports(executable.exports.iter().map(bytes_of).fold(0, u64::saturating_add), base)?;
    room.entries = room.entries.saturating_sub(executable.exports.len());
    Ok((executable, images))
}

fn executable(format: IreeFormat, root: Table<'_>) -> Option<IreeExecutable<'_>> {
    let schema = format.schema();
    let isa = schema.isa.map_or(Some(&[][..]), |isa| root.vector(isa)?.bytes(1))?;
    let exports = root.vector(schema.exports)?.tables().map(|export| {
        let export = export?;
        Some(IreeExport {
            name: export.vector(schema.export_name)?.bytes(1)?,
            module: schema.export_module.map_or(Some(None), |field| export.number(field).map(Some))?,
            workgroup_size: export.numbers(schema.export_workgroup)?,
            constant_count: export.number(schema.export_constants)?,
            bindings: export.vector(schema.export_bindings)?.bytes(FLAGS_SIZE)?,
        })
    });
    let exports = exports.collect::<Option<_>>()?;
    Some(IreeExecutable { format, isa, exports, bundles: 0..0 })
}

fn images<'b>(format: IreeFormat, root: Table<'b>, base: u64) -> Option<Vec<(&'b [u8], u64)>> {
    const IMAGE: u64 = 0;
    let modules = root.vector(format.schema().modules)?;
    if modules.count > MAX_IMAGES {
        return None;
    }
    let image = |module: Option<Table<'b>>| {
        let image = module?.vector(IMAGE)?;
        Some((image.bytes(1)?, base.checked_add(image.start)?))
    };
    modules.tables().map(image).collect()
}
