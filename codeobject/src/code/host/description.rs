// SPDX-License-Identifier: MIT OR Apache-2.0
//! The description of one kernel: `windlass_kernel_info_t`, followed by its parameters.

use object::LittleEndian;
use object::elf::{STT_GNU_IFUNC, Sym64};
use object::read::elf::Sym;

use crate::bytes::{array, range, u32_at};
use crate::code::elf::Elf;
use crate::code::host::kernel::{HostKernel, HostParameter, HostParameterKind};

const ABI_VERSION: u32 = 1;
/// The sizes of the records of version 1, in bytes. Later versions may have longer ones.
const INFO_SIZE: u32 = 48;
const PARAMETER_SIZE: u32 = 64;
const NAME_SIZE: u64 = 48;
const NAME_OFFSET: u64 = 16;
/// The limit of the argument block in bytes. Every dispatch allocates a block, and no compiler passes so much by
/// value.
const MAX_ARGUMENTS: u32 = 1 << 20;
/// A GPU has at most 160 KiB.
const MAX_LOCAL_MEMORY: u32 = 1 << 30;

/// Reads the description at `address`. Its symbol has `size` bytes, or 0 if it does not say. `function` is the kernel's
/// own symbol. `room` is the number of bytes that descriptions may still take in all, so that symbols which share bytes
/// take no more than the file. An error is the problem in words.
pub(super) fn read(
    elf: &Elf<'_>,
    name: &[u8],
    function: &Sym64<LittleEndian>,
    (address, size): (u64, u64),
    room: &mut u64,
) -> Result<HostKernel, String> {
    let name = std::str::from_utf8(name).map_err(|_| "its name is not UTF-8 text")?;
    if name.is_empty() {
        return Err("it has no name".to_owned());
    }
    if !elf.is_code(function.st_value(LittleEndian)) {
        return Err("its function lies in no executable segment".to_owned());
    }
    let info = elf
        .memory(address, INFO_SIZE.into())
        .ok_or_else(|| format!("the file does not hold its description at {address:#x}"))?;
    let at = |index: u64| u32_at(info, 4 * index).unwrap_or_default();
    let [version, info_size, parameter_size, count] = [0, 1, 2, 3].map(at);
    if version != ABI_VERSION {
        return Err(format!("its description is of version {version} of the ABI; this reads {ABI_VERSION}"));
    }
    for (what, size, least) in
        [("info_size", info_size, INFO_SIZE), ("parameter_size", parameter_size, PARAMETER_SIZE)]
    {
        if size < least || !size.is_multiple_of(4) {
            return Err(format!("{what} is {size}, which is less than {least} or no multiple of 4"));
        }
    }
    let all = u64::from(info_size).saturating_add(u64::from(count).saturating_mul(parameter_size.into()));
    if size != 0 && all > size {
        return Err(format!(
            "its description with {count} parameters takes {all} bytes, and its symbol has {size}"
        ));
    }
    let records = elf
        .memory(address, all)
        .and_then(|bytes| range(bytes, info_size.into(), all - u64::from(info_size)))
        .ok_or_else(|| {
            format!("the file does not hold the {all} bytes of its description at {address:#x}")
        })?;
    *room = room
        .checked_sub(all)
        .ok_or("its description and those before it take more bytes than the file: they overlap")?;
    let mut kernel = HostKernel {
        name: name.to_owned(),
        address: function.st_value(LittleEndian),
        is_indirect: function.st_type() == STT_GNU_IFUNC,
        size: function.st_size(LittleEndian),
        argument_size: at(4),
        parameters: Vec::new(),
        workgroup_size: None,
        max_workgroup_threads: at(8),
        local_memory_size: at(9),
    };
    if kernel.argument_size > MAX_ARGUMENTS {
        return Err(format!("it takes {} bytes of arguments, above the limit of {MAX_ARGUMENTS}", at(4)));
    }
    if kernel.local_memory_size > MAX_LOCAL_MEMORY {
        return Err(format!(
            "it takes {} bytes of local memory, above the limit of {MAX_LOCAL_MEMORY}",
            at(9)
        ));
    }
    kernel.workgroup_size = match [5, 6, 7].map(at) {
        [0, 0, 0] => None,
        size if size.contains(&0) => {
            return Err(format!("it fixes the workgroup size {size:?}, which has no work item"));
        }
        size => Some(size),
    };
    let mut end = 0;
    for index in 0..count {
        let record = range(records, u64::from(index) * u64::from(parameter_size), PARAMETER_SIZE.into());
        let parameter = record
            .ok_or_else(|| "its record is cut short".to_owned())
            .and_then(|record| self::parameter(record, end, kernel.argument_size))
            .map_err(|problem| format!("parameter {index}: {problem}"))?;
        end = parameter.offset + parameter.size;
        kernel.parameters.push(parameter);
    }
    Ok(kernel)
}

/// Reads one parameter, which must begin at `least` or later and end within the block.
fn parameter(record: &[u8], least: u32, block: u32) -> Result<HostParameter, String> {
    let [kind, offset, size] = [0, 4, 8].map(|at| u32_at(record, at).unwrap_or_default());
    let kind = match kind {
        0 => HostParameterKind::Value,
        1 if size == 8 => HostParameterKind::Buffer,
        1 => return Err(format!("a buffer of {size} bytes, where an address has 8")),
        kind => return Err(format!("its kind is {kind}, where 0 is a value and 1 a buffer")),
    };
    if size == 0 {
        return Err("it has no bytes".to_owned());
    }
    if offset < least {
        return Err(format!("it begins at {offset}, before the one ahead of it ends at {least}"));
    }
    if offset.checked_add(size).is_none_or(|end| end > block) {
        return Err(format!("{size} bytes at {offset} do not lie in the {block} bytes of arguments"));
    }
    let name: [u8; NAME_SIZE as usize] = array(record, NAME_OFFSET).unwrap_or([0xff; NAME_SIZE as usize]);
    let end = name.iter().position(|byte| *byte == 0).ok_or("its name has no end")?;
    let name = std::str::from_utf8(&name[..end]).map_err(|_| "its name is not UTF-8 text")?;
    Ok(HostParameter { kind, offset, size, name: Some(name.to_owned()).filter(|name| !name.is_empty()) })
}
