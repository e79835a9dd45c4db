// SPDX-License-Identifier: MIT OR Apache-2.0
//! Checks that an entry's bytes are the code that its id promises.

use crate::code::code_object::CodeObject;
use crate::code::elf_flags::ElfHead;
use crate::code::extent::declared_size;
use crate::code::host::machine::HostMachine;
use crate::words::processor;
use crate::words::target::TargetId;

/// From this ABI version on, the flags tell a disabled feature from an unspecified one.
const ABI_V4: u8 = 2;

/// The target of a code object; the error is the reason why HIP does not load it.
pub(super) fn target_of(bytes: &[u8]) -> Result<TargetId, String> {
    let head = loadable(bytes)?;
    if head.processor().is_some() {
        return Ok(head.target());
    }
    // The metadata names a processor that is newer than the table of flags.
    let code = CodeObject::parse(bytes).map_err(|error| error.to_string())?;
    let (target, number) = (code.target(), head.flags & 0xff);
    if target.processor() == head.target().processor() {
        return Err(format!(
            "their ELF is for processor {number:#04x}, which neither this version nor their metadata names; \
             name it and write them unchecked"
        ));
    }
    if let Some(mach) = processor::to_mach(target.processor()) {
        return Err(format!(
            "the flags of their ELF say processor {number:#04x}, their metadata says {}, which is {mach:#04x}; \
             the file is damaged, build it again",
            target.processor()
        ));
    }
    Ok(target.clone())
}

/// Checks that the bytes are an ELF for the machine that a host's id names. Parts for other systems than Linux are not
/// checked.
pub(super) fn check_host(id: &str, bytes: &[u8]) -> Result<(), String> {
    if bytes.is_empty() {
        return Err("it is empty; name the host in the options, or write it unchecked".to_owned());
    }
    if !id.contains("linux") {
        return Ok(());
    }
    let Some(head) = ElfHead::read(bytes) else {
        return Err("it is no ELF of 64 bits; link a shared object, or write it unchecked".to_owned());
    };
    let machine = HostMachine::from_elf(head.machine);
    match id.split('-').nth(1).and_then(HostMachine::from_name) {
        Some(named) if named != machine => Err(format!("it is for {machine}; name that machine in the id")),
        _ => Ok(()),
    }
}

/// Checks that the code object is for exactly the target that its id names.
pub(super) fn check(id: &TargetId, bytes: &[u8]) -> Result<(), String> {
    let head = loadable(bytes)?;
    let found = target_of(bytes)?;
    if let Some((feature, _)) = id.features().find(|(feature, _)| !matches!(*feature, "sramecc" | "xnack")) {
        return Err(format!(
            "no ELF states `{feature}`, so no GPU would get it; leave it out of the id, or write it unchecked"
        ));
    }
    let stated = |feature: &str, on: bool| match found.feature(feature) {
        Some(mode) => mode == on,
        None => head.abi_version < ABI_V4,
    };
    let same = found.processor() == id.processor()
        && id.features().all(|(feature, on)| stated(feature, on))
        && found.features().all(|(feature, on)| id.feature(feature) == Some(on));
    if same {
        Ok(())
    } else {
        Err(format!("its ELF is for {found}; give it that id, or rebuild it for {id}"))
    }
}

fn loadable(bytes: &[u8]) -> Result<ElfHead, String> {
    let head = ElfHead::read(bytes)
        .ok_or("they are no 64-bit little-endian ELF; write bitcode, SPIR-V and the like unchecked")?;
    if !head.is_amdgpu() {
        return Err(format!("their ELF is for machine {}, not for amdgpu (224)", head.machine));
    }
    if !ElfHead::is_hsa(bytes) {
        return Err("their ELF is not for the HSA system that ROCm runs".to_owned());
    }
    if !head.is_linked() {
        return Err("their ELF is an object of the compiler; link it with ld.lld -shared".to_owned());
    }
    match declared_size(bytes) {
        Some(size) if size <= bytes.len() as u64 => Ok(head),
        _ => Err("their ELF claims more bytes than there are: it is cut short or damaged".to_owned()),
    }
}
