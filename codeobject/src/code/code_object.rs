// SPDX-License-Identifier: MIT OR Apache-2.0
//! One code object: its target, kernels and symbols, and its layout in memory.

use std::collections::{HashMap, HashSet};

use object::LittleEndian;
use object::read::elf::Sym;

use crate::bytes::{glimpse, range, text};
use crate::code::arg::Arg;
use crate::code::descriptor::KernelDescriptor;
use crate::code::elf::{Elf, ElfSymbol};
use crate::code::elf_flags::ElfHead;
use crate::code::kernel::{Kernel, KernelKind, RejectedKernel};
use crate::code::layout::{Relocation, Segment, Symbol, SymbolRole};
use crate::code::metadata::{KernelRecord, Metadata};
use crate::code::symbols;
use crate::error::Error;
use crate::warnings::Warnings;
use crate::words::magic::Format;
use crate::words::target::TargetId;

const ENDIAN: LittleEndian = LittleEndian;
/// At most this many rejected kernels are described.
const MAX_REJECTED: usize = 1024;

/// The content of one code object (an ELF for amdgpu). It keeps none of the ELF's bytes.
#[derive(Debug, Clone)]
pub struct CodeObject {
    target: TargetId,
    head: ElfHead,
    metadata_version: Option<(u32, u32)>,
    kernels: Vec<Kernel>,
    rejected: Vec<RejectedKernel>,
    segments: Vec<Segment>,
    symbols: Vec<Symbol>,
    relocations: Vec<Relocation>,
    warnings: Vec<String>,
}

impl CodeObject {
    /// Reads a code object.
    ///
    /// A kernel that cannot be launched is listed in [`rejected`](Self::rejected), and does not affect the others. Of
    /// kernels with one name the first can be launched.
    ///
    /// # Errors
    ///
    /// If the bytes are no ELF for amdgpu, if segments, symbols or relocations are malformed, if the metadata of a note
    /// ends early, if notes are of different versions, and for code object version 2.
    pub fn parse(elf: &[u8]) -> Result<CodeObject, Error> {
        let head = amdgpu_head(elf)?;
        let mut warnings = Warnings::default();
        let elf = Elf::parse(elf, &mut warnings)?;
        let symbols = elf.symbols(&mut warnings)?;
        let mut kernels = Kernels::new(&elf, &symbols, head.is_linked());
        let notes = elf.metadata_notes(&mut warnings)?;
        if notes.is_empty() {
            warnings.push(|| "it has no kernel metadata, so no kernel of it can be launched".to_owned());
        }
        let metadata =
            Metadata::read(&notes, &mut warnings, &mut |record, warnings| kernels.add(record, warnings))?;
        let Kernels { found, rejected, .. } = kernels;
        let target = target(head, metadata.target.as_deref(), &mut warnings);
        let symbols = symbols::describe(&symbols);
        let relocations = symbols::relocations(&elf, &symbols)?;
        Ok(CodeObject {
            target,
            head,
            metadata_version: metadata.version,
            kernels: found,
            rejected,
            segments: elf.segments,
            symbols,
            relocations,
            warnings: warnings.into_list(),
        })
    }

    /// The memory of this value in bytes, without the allocator's overhead.
    pub(crate) fn memory_size(&self) -> usize {
        let args = |args: &[Arg]| size_of_val(args) + args.iter().map(Arg::text_size).sum::<usize>();
        let kernels = self
            .kernels
            .iter()
            .map(|kernel| size_of::<Kernel>() + kernel.name.len() + kernel.symbol.len() + args(&kernel.args));
        let rejected = self.rejected.iter().map(|kernel| {
            size_of::<RejectedKernel>() + kernel.name.len() + kernel.reason.len() + args(&kernel.args)
        });
        let symbols = self.symbols.iter().map(|symbol| size_of::<Symbol>() + symbol.name.len());
        let warnings = self.warnings.iter().map(|warning| size_of::<String>() + warning.len());
        kernels.chain(rejected).chain(symbols).chain(warnings).sum::<usize>()
            + size_of_val(&self.segments[..])
            + size_of_val(&self.relocations[..])
    }

    /// The target by the ELF's flags. The metadata supplies the name of a processor that the table of flags lacks.
    pub fn target(&self) -> &TargetId {
        &self.target
    }

    /// `EI_ABIVERSION` of the ELF; two less than the code object version.
    pub fn abi_version(&self) -> u8 {
        self.head.abi_version
    }

    /// The code object version, 2 to 6; `None` for an ABI version that is not known.
    pub fn code_object_version(&self) -> Option<u32> {
        self.head.code_object_version()
    }

    /// The version of the generic target; `None` where the target is not generic.
    pub fn generic_version(&self) -> Option<u8> {
        Some(self.head.generic_version()).filter(|version| *version > 0)
    }

    /// `e_flags` of the ELF.
    pub fn elf_flags(&self) -> u32 {
        self.head.flags
    }

    /// `amdhsa.version` of the metadata, major and minor.
    pub fn metadata_version(&self) -> Option<(u32, u32)> {
        self.metadata_version
    }

    /// The kernels that can be launched, in the order of the metadata. A code object has the metadata of each object that
    /// was linked into it; all of them count.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// Kernels to run once after loading: the constructors of variables. HIP runs none of them.
    pub fn init_kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.kernels.iter().filter(|kernel| kernel.kind == KernelKind::Init)
    }

    /// Kernels to run once before unloading: the destructors of variables.
    pub fn fini_kernels(&self) -> impl Iterator<Item = &Kernel> {
        self.kernels.iter().filter(|kernel| kernel.kind == KernelKind::Fini)
    }

    /// The kernel of that name.
    ///
    /// # Errors
    ///
    /// [`Error::NotFound`], with the reason for a rejected kernel, or else with the names of the kernels.
    pub fn kernel(&self, name: &str) -> Result<&Kernel, Error> {
        if let Some(kernel) = self.kernels.iter().find(|kernel| kernel.name == name) {
            return Ok(kernel);
        }
        let present = match self.rejected.iter().find(|kernel| kernel.name == name) {
            Some(rejected) => format!("the metadata lists it, but {}", rejected.reason),
            None => list_names(&self.kernels),
        };
        Err(Error::NotFound {
            what: format!("kernel `{name}` in the code object for {}", self.target),
            present,
        })
    }

    /// Kernels in the metadata that cannot be launched, with the reason; the first 1024 of them.
    pub fn rejected(&self) -> &[RejectedKernel] {
        &self.rejected
    }

    /// The parts of the file that are loaded to memory.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The symbols of the dynamic table, then those that only the debugger's table has.
    pub fn symbols(&self) -> &[Symbol] {
        &self.symbols
    }

    /// The variables, without [markers](SymbolRole::Marker). `hipModuleGetGlobal` finds the exported ones.
    pub fn variables(&self) -> impl Iterator<Item = &Symbol> {
        self.with_role(SymbolRole::Variable)
    }

    /// The functions that are no kernels. Their calling convention is not stable.
    pub fn functions(&self) -> impl Iterator<Item = &Symbol> {
        self.with_role(SymbolRole::Function)
    }

    /// The bytes of a symbol in the file: a function's code, a variable's initial value. `elf` must be the bytes that
    /// were parsed. `None` for a symbol without bytes in the file, such as a zeroed variable or an undefined symbol.
    pub fn bytes_of<'e>(&self, elf: &'e [u8], symbol: &Symbol) -> Option<&'e [u8]> {
        if matches!(symbol.role, SymbolRole::Undefined | SymbolRole::Other) {
            return None;
        }
        let segment = self.segments.iter().find(|segment| segment.holds(symbol.address, symbol.size))?;
        range(elf, segment.offset.checked_add(symbol.address - segment.address)?, symbol.size)
    }

    /// Symbols that another code object must define.
    pub fn undefined(&self) -> impl Iterator<Item = &Symbol> {
        self.with_role(SymbolRole::Undefined)
    }

    /// The words that a loader writes when it knows the addresses.
    pub fn relocations(&self) -> &[Relocation] {
        &self.relocations
    }

    /// Harmless oddities of the code object.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn with_role(&self, role: SymbolRole) -> impl Iterator<Item = &Symbol> {
        self.symbols.iter().filter(move |symbol| symbol.role == role)
    }
}

pub(crate) fn amdgpu_head(elf: &[u8]) -> Result<ElfHead, Error> {
    match Format::of(elf) {
        Some(Format::Elf | Format::OtherElf) => {}
        Some(format) if format.is_bundle() => {
            let advice = "open it with File::parse, and give one of its entries";
            return Err(Error::unsupported("an offload bundle in the place of one code object", 0, advice));
        }
        Some(format) => return Err(format.refused(0)),
        None => return Err(Error::NotRecognised { offset: 0, found: glimpse(elf) }),
    }
    let head = ElfHead::read(elf).ok_or_else(|| {
        Error::malformed("the ELF header", 0, "it is not 64-bit little-endian, or it is cut short")
    })?;
    if head.is_amdgpu() {
        return Ok(head);
    }
    let advice = "a host file is opened with File::parse, which finds the GPU code in it";
    Err(Error::unsupported(format!("an ELF for machine {} (amdgpu is 224)", head.machine), 0, advice))
}

/// The target by the flags. The metadata helps if the processor is newer than the table of flags.
fn target(head: ElfHead, metadata: Option<&str>, warnings: &mut Warnings) -> TargetId {
    let flags = head.target();
    let Some(metadata) = metadata else { return flags };
    match metadata.parse::<TargetId>() {
        Ok(stated) if stated == flags => flags,
        Ok(stated) if head.processor().is_none() => TargetId::new(stated.processor(), head.features()),
        Ok(stated) => {
            warnings.push(|| {
                format!("its flags say {flags}, its metadata says {stated}; the flags are believed")
            });
            flags
        }
        Err(error) => {
            warnings.push(|| format!("the target in its metadata cannot be read: {error}"));
            flags
        }
    }
}

/// Joins the metadata's kernels with their descriptors.
struct Kernels<'e, 'a> {
    elf: &'e Elf<'a>,
    linked: bool,
    symbols: HashMap<&'a [u8], &'e ElfSymbol<'a>>,
    seen: HashSet<&'a [u8]>,
    found: Vec<Kernel>,
    rejected: Vec<RejectedKernel>,
    count: usize,
}

impl<'e, 'a> Kernels<'e, 'a> {
    fn new(elf: &'e Elf<'a>, symbols: &'e [ElfSymbol<'a>], linked: bool) -> Kernels<'e, 'a> {
        let mut by_name = HashMap::new();
        for symbol in symbols.iter().filter(|symbol| symbol.name.ends_with(b".kd")) {
            by_name.entry(symbol.name).or_insert(symbol);
        }
        Kernels {
            elf,
            linked,
            symbols: by_name,
            seen: HashSet::new(),
            found: Vec::new(),
            rejected: Vec::new(),
            count: 0,
        }
    }

    fn add(&mut self, mut record: KernelRecord<'a>, warnings: &mut Warnings) {
        let index = self.count;
        self.count += 1;
        let name = record.name.or_else(|| record.symbol.map(name_of));
        match self.join(&mut record, name, warnings) {
            Ok(kernel) => self.found.push(kernel),
            Err(reason) if self.rejected.len() < MAX_REJECTED => {
                let name = name.map_or_else(|| format!("kernel {index}"), text);
                warnings.push(|| format!("the kernel {name} cannot be launched: {reason}"));
                self.rejected.push(RejectedKernel { name, reason, args: record.args });
            }
            Err(_) => warnings.push(|| format!("more than {MAX_REJECTED} kernels cannot be launched")),
        }
    }

    /// The symbol of a kernel's descriptor.
    fn descriptor(&self, record: &KernelRecord<'a>, name: &[u8]) -> Result<&'e ElfSymbol<'a>, String> {
        let symbol = match record.symbol {
            Some(symbol) => self.symbols.get(symbol),
            None => self.symbols.get([name, b".kd"].concat().as_slice()),
        };
        symbol.copied().ok_or_else(|| "its descriptor's symbol is not in the symbol table".to_owned())
    }

    fn join(
        &mut self,
        record: &mut KernelRecord<'a>,
        name: Option<&'a [u8]>,
        warnings: &mut Warnings,
    ) -> Result<Kernel, String> {
        if let Some(problem) = record.problem.take() {
            return Err(problem);
        }
        let name = name.ok_or("it has neither .name nor .symbol")?;
        if !self.linked {
            return Err("the ELF is an object of the compiler; link it with ld.lld -shared".to_owned());
        }
        let symbol = self.descriptor(record, name)?;
        if !self.seen.insert(name) {
            return Err("another kernel of that name comes before it".to_owned());
        }
        let address = symbol.symbol.st_value(ENDIAN);
        let descriptor = self
            .elf
            .memory(address, KernelDescriptor::SIZE)
            .and_then(KernelDescriptor::parse)
            .ok_or_else(|| format!("no segment holds its descriptor at {address:#x}"))?;
        let entry = address
            .checked_add_signed(descriptor.kernel_code_entry_byte_offset)
            .filter(|entry| self.elf.segments.iter().any(|code| code.executable && code.holds(*entry, 4)))
            .ok_or("its first instruction lies in no executable segment")?;
        let kernarg_size = record.kernarg_size.unwrap_or(descriptor.kernarg_size);
        check_args(record, kernarg_size)?;
        if descriptor.kernarg_size != 0 && descriptor.kernarg_size != kernarg_size {
            warnings.push(|| {
                let stated = descriptor.kernarg_size;
                format!(
                    "the descriptor of {} states {stated} bytes of arguments, its metadata {kernarg_size}",
                    text(name)
                )
            });
        }
        let wave = if descriptor.wavefront_size32() { 32 } else { 64 };
        let wavefront_size = record.wavefront_size.unwrap_or(wave);
        if !matches!(wavefront_size, 32 | 64) {
            return Err(format!("its waves have {wavefront_size} lanes, where 32 and 64 exist"));
        }
        Ok(Kernel {
            name: text(name),
            symbol: text(symbol.name),
            descriptor,
            descriptor_address: address,
            entry_address: entry,
            kernarg_size,
            kernarg_align: record.kernarg_align.filter(|align| align.is_power_of_two()).unwrap_or(16),
            group_segment_size: record.group_segment_size.unwrap_or(descriptor.group_segment_fixed_size),
            private_segment_size: record
                .private_segment_size
                .unwrap_or(descriptor.private_segment_fixed_size),
            wavefront_size,
            max_flat_workgroup_size: record.max_flat_workgroup_size.unwrap_or(1024),
            reqd_workgroup_size: record.reqd_workgroup_size,
            kind: record.kind.unwrap_or(KernelKind::Normal),
            args: std::mem::take(&mut record.args),
            vgpr_count: record.vgpr_count.unwrap_or(0),
            sgpr_count: record.sgpr_count.unwrap_or(0),
            agpr_count: record.agpr_count,
            vgpr_spill_count: record.vgpr_spill_count.unwrap_or(0),
            sgpr_spill_count: record.sgpr_spill_count.unwrap_or(0),
            uses_dynamic_stack: record.uses_dynamic_stack.unwrap_or(descriptor.uses_dynamic_stack()),
            workgroup_processor_mode: record.workgroup_processor_mode.unwrap_or(false),
            uniform_workgroup_size: record.uniform_workgroup_size.unwrap_or(false),
        })
    }
}

/// The name of a kernel, by its descriptor's symbol.
fn name_of(symbol: &[u8]) -> &[u8] {
    symbol.strip_suffix(b".kd").unwrap_or(symbol)
}

fn check_args(record: &KernelRecord<'_>, kernarg_size: u32) -> Result<(), String> {
    for (index, arg) in record.args.iter().enumerate() {
        let end = u64::from(arg.offset) + u64::from(arg.size);
        if end > u64::from(kernarg_size) {
            return Err(format!(
                "its argument {index} ends at {end}, past its {kernarg_size} bytes of arguments"
            ));
        }
    }
    Ok(())
}

fn list_names(kernels: &[Kernel]) -> String {
    const SHOWN: usize = 8;
    if kernels.is_empty() {
        return "it has no kernels".to_owned();
    }
    let mut names: Vec<&str> = kernels.iter().take(SHOWN).map(|kernel| kernel.name.as_str()).collect();
    if kernels.len() > SHOWN {
        names.push("...");
    }
    format!("its {} kernels are {}", kernels.len(), names.join(", "))
}
