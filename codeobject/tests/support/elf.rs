// SPDX-License-Identifier: MIT OR Apache-2.0
//! Small ELFs for amdgpu, laid out so that each address equals its offset in the file.

use super::metadata::{Value, encode, map};

pub(crate) const TEXT: u64 = 0x1000;
const DYNAMIC: u64 = 0x2000;

/// A kernel to put into an ELF.
#[derive(Debug, Clone)]
pub(crate) struct KernelSpec {
    pub(crate) name: Vec<u8>,
    /// The map in the metadata.
    pub(crate) metadata: Value,
    /// Offset of its entry in the text.
    pub(crate) entry: i64,
    /// Whether there is a descriptor and a symbol for it.
    pub(crate) described: bool,
}

impl KernelSpec {
    /// A kernel with a buffer, a value and a hidden argument.
    pub(crate) fn new(name: &str) -> KernelSpec {
        let arg = |offset: i64, size: i64, kind: &str| {
            map(vec![(".offset", offset.into()), (".size", size.into()), (".value_kind", kind.into())])
        };
        let args =
            vec![arg(0, 8, "global_buffer"), arg(8, 4, "by_value"), arg(16, 4, "hidden_block_count_x")];
        KernelSpec::with(name, vec![(".args", args.into())])
    }

    /// A kernel whose metadata has these keys in addition to the usual ones, which they override.
    pub(crate) fn with(name: &str, keys: Vec<(&str, Value)>) -> KernelSpec {
        let mut pairs = vec![
            (".name", Value::from(name)),
            (".symbol", Value::from(format!("{name}.kd").as_str())),
            (".kernarg_segment_size", 272.into()),
            (".kernarg_segment_align", 8.into()),
            (".group_segment_fixed_size", 64.into()),
            (".private_segment_fixed_size", 16.into()),
            (".wavefront_size", 64.into()),
            (".max_flat_workgroup_size", 256.into()),
            (".sgpr_count", 14.into()),
            (".vgpr_count", 8.into()),
        ];
        pairs.retain(|(key, _)| !keys.iter().any(|(given, _)| given == key));
        pairs.extend(keys);
        KernelSpec { name: name.as_bytes().to_vec(), metadata: map(pairs), entry: 0, described: true }
    }
}

/// The parts of an ELF.
#[derive(Debug, Clone)]
pub(crate) struct ElfBuilder {
    pub(crate) elf_type: u16,
    pub(crate) machine: u16,
    pub(crate) abi_version: u8,
    pub(crate) flags: u32,
    pub(crate) kernels: Vec<KernelSpec>,
    /// Name, value, size, info (binding and type), section index.
    pub(crate) symbols: Vec<(Vec<u8>, u64, u64, u8, u16)>,
    /// Offset, kind, symbol, addend.
    pub(crate) relocations: Vec<(u64, u32, u32, i64)>,
    /// The content of the note, if it is not the kernels' metadata.
    pub(crate) note: Option<Vec<u8>>,
    /// The contents of further notes.
    pub(crate) further_notes: Vec<Vec<u8>>,
    /// Whether each note has a program header of its own, besides the one for all of them.
    pub(crate) header_per_note: bool,
    /// Program headers for notes in the content of the first note, each 20 bytes behind the one before.
    pub(crate) nested_headers: u64,
    /// Whether the note is that of code object version 2.
    pub(crate) version_2: bool,
    pub(crate) with_note: bool,
    pub(crate) with_hash: bool,
    pub(crate) target: String,
    /// The code, if it is not the instructions that end a program.
    pub(crate) text: Option<Vec<u8>>,
    /// Bytes of data behind the dynamic section.
    pub(crate) spare: usize,
    /// The dynamic string table with the offsets of the symbols' names, if they are not the true ones.
    pub(crate) strings: Option<(Vec<u8>, u32)>,
}

impl ElfBuilder {
    /// For gfx942, code object version 5.
    pub(crate) fn new(kernels: Vec<KernelSpec>) -> ElfBuilder {
        ElfBuilder {
            elf_type: 3,
            machine: 224,
            abi_version: 3,
            flags: 0x54c,
            kernels,
            symbols: Vec::new(),
            relocations: Vec::new(),
            note: None,
            further_notes: Vec::new(),
            header_per_note: false,
            nested_headers: 0,
            version_2: false,
            with_note: true,
            with_hash: true,
            target: "amdgcn-amd-amdhsa--gfx942".to_owned(),
            text: None,
            spare: 0,
            strings: None,
        }
    }

    /// For another target, by its flags and ABI version.
    pub(crate) fn for_flags(flags: u32, abi_version: u8, target: &str) -> ElfBuilder {
        let target = format!("amdgcn-amd-amdhsa--{target}");
        ElfBuilder { flags, abi_version, target, ..ElfBuilder::new(vec![KernelSpec::new("k")]) }
    }

    /// The offset of the spare bytes, unless a larger part before them moves the data.
    pub(crate) fn spare_address(&self) -> u64 {
        // Seven entries, with the table of hashes eight.
        DYNAMIC + 16 * (6 + u64::from(self.with_hash))
    }

    pub(crate) fn metadata(&self) -> Vec<u8> {
        self.metadata_of(&self.kernels)
    }

    /// The metadata of some kernels.
    pub(crate) fn metadata_of(&self, kernels: &[KernelSpec]) -> Vec<u8> {
        let kernels: Vec<Value> = kernels.iter().map(|kernel| kernel.metadata.clone()).collect();
        encode(&map(vec![
            ("amdhsa.kernels", kernels.into()),
            ("amdhsa.target", Value::from(self.target.as_str())),
            ("amdhsa.version", vec![Value::Int(1), Value::Int(2)].into()),
        ]))
    }

    pub(crate) fn build(&self) -> Vec<u8> {
        let mut out = vec![0; 64];
        let note = self.note.clone().unwrap_or_else(|| self.metadata());
        let note_bytes = match self.version_2 {
            true => elf_note(b"AMD\0", 10, b"---\nVersion: [ 1, 0 ]\nKernels:\n  - Name: k\n...\n"),
            false => elf_note(b"AMDGPU\0", 32, &note),
        };
        let mut notes = vec![(place(&mut out, &note_bytes), note_bytes.len() as u64)];
        for content in &self.further_notes {
            align(&mut out, 4);
            let note = elf_note(b"AMDGPU\0", 32, content);
            notes.push((out.len() as u64, note.len() as u64));
            out.extend(note);
        }
        let (note_offset, notes_size) = (notes[0].0, out.len() as u64 - notes[0].0);

        let mut symbols = self.symbols.clone();
        align(&mut out, 64);
        for kernel in self.kernels.iter().filter(|kernel| kernel.described) {
            let address = out.len() as u64;
            out.extend(descriptor(TEXT as i64 + kernel.entry - address as i64));
            symbols.push(([&kernel.name[..], b".kd"].concat(), address, 64, 0x11, 1));
            symbols.push((kernel.name.clone(), TEXT, 16, 0x12, 2));
        }
        let mut dynamic = self.symbol_tables(&symbols, &mut out);
        let mut relocations = Vec::new();
        for (offset, kind, symbol, addend) in &self.relocations {
            relocations.extend(offset.to_le_bytes());
            relocations.extend(kind.to_le_bytes());
            relocations.extend(symbol.to_le_bytes());
            relocations.extend(addend.to_le_bytes());
        }
        dynamic.push((7, place(&mut out, &relocations)));
        dynamic.push((8, relocations.len() as u64));
        dynamic.push((0, 0));
        let read_only = out.len() as u64;

        let text = TEXT.max(read_only.next_multiple_of(0x1000));
        assert!(text == TEXT || self.kernels.is_empty(), "kernels need their text at {TEXT:#x}");
        pad(&mut out, text as usize);
        out.extend(self.text.clone().unwrap_or_else(|| [0xbf, 0x81, 0, 0].repeat(64)));
        let text_size = out.len() as u64 - text;

        let data = (DYNAMIC - TEXT + text).max(out.len().next_multiple_of(0x1000) as u64);
        pad(&mut out, data as usize);
        out.extend(dynamic.iter().flat_map(|(tag, value)| [*tag, *value]).flat_map(u64::to_le_bytes));
        assert!(self.spare == 0 || text != TEXT || out.len() as u64 == self.spare_address());
        out.extend(vec![0; self.spare]);
        let dynamic_size = out.len() as u64 - data;

        let mut program = vec![
            program_header(1, 4, 0, read_only, read_only),
            program_header(1, 5, text, text_size, text_size),
            program_header(1, 6, data, dynamic_size, dynamic_size + 0x100),
            program_header(2, 6, data, dynamic_size, dynamic_size),
        ];
        if self.with_note {
            program.push(program_header(4, 4, note_offset, notes_size, notes_size));
            let own = notes.iter().filter(|_| self.header_per_note);
            program.extend(own.map(|(offset, size)| program_header(4, 4, *offset, *size, *size)));
            let nested = (1..self.nested_headers).map(|index| 20 * index);
            program.extend(nested.map(|skipped| {
                let size = notes_size - skipped;
                program_header(4, 4, note_offset + skipped, size, size)
            }));
        }
        // Behind everything else, so that their number moves nothing.
        let program_offset = place(&mut out, &program.concat());
        out[..64].copy_from_slice(&self.header(program_offset, program.len() as u16));
        out
    }

    /// Places the symbols, and returns their entries of the dynamic section.
    fn symbol_tables(&self, symbols: &[(Vec<u8>, u64, u64, u8, u16)], out: &mut Vec<u8>) -> Vec<(u64, u64)> {
        let mut strings = vec![0];
        let mut table = vec![0; 24];
        for (name, value, size, info, section) in symbols {
            let at = self.strings.as_ref().map_or(strings.len() as u32, |(_, at)| *at);
            table.extend(at.to_le_bytes());
            table.extend([*info, 0]);
            table.extend(section.to_le_bytes());
            table.extend(value.to_le_bytes());
            table.extend(size.to_le_bytes());
            strings.extend(name);
            strings.push(0);
        }
        if let Some((given, _)) = &self.strings {
            strings.clone_from(given);
        }
        let mut hash = [1_u32, symbols.len() as u32 + 1, 0].map(u32::to_le_bytes).concat();
        hash.resize(hash.len() + 4 * (symbols.len() + 1), 0);
        let mut dynamic = vec![(6, place(out, &table))];
        // Without a hash table, readers assume that the strings begin where the symbols end.
        align(out, 8);
        dynamic.push((5, out.len() as u64));
        dynamic.push((10, strings.len() as u64));
        out.extend(&strings);
        if self.with_hash {
            dynamic.push((4, place(out, &hash)));
        }
        dynamic
    }

    fn header(&self, program_offset: u64, program_count: u16) -> Vec<u8> {
        let mut header = b"\x7fELF\x02\x01\x01\x40".to_vec();
        header.push(self.abi_version);
        header.resize(16, 0);
        header.extend(self.elf_type.to_le_bytes());
        header.extend(self.machine.to_le_bytes());
        header.extend(1_u32.to_le_bytes());
        for address in [0, program_offset, 0] {
            header.extend(address.to_le_bytes());
        }
        header.extend(self.flags.to_le_bytes());
        for half in [64, 56, program_count, 64, 0, 0] {
            header.extend(half.to_le_bytes());
        }
        header
    }
}

fn elf_note(owner: &[u8], kind: u32, content: &[u8]) -> Vec<u8> {
    let mut note = [owner.len() as u32, content.len() as u32, kind].map(u32::to_le_bytes).concat();
    note.extend(owner);
    align(&mut note, 4);
    note.extend(content);
    note
}

fn descriptor(entry: i64) -> [u8; 64] {
    let mut descriptor = [0; 64];
    descriptor[0..4].copy_from_slice(&64_u32.to_le_bytes());
    descriptor[4..8].copy_from_slice(&16_u32.to_le_bytes());
    descriptor[8..12].copy_from_slice(&272_u32.to_le_bytes());
    descriptor[16..24].copy_from_slice(&entry.to_le_bytes());
    descriptor[44..48].copy_from_slice(&0x0101_u32.to_le_bytes());
    descriptor[48..52].copy_from_slice(&0x0202_u32.to_le_bytes());
    // Two user SGPRs, workgroup ids in x and z, work item ids in x and y.
    descriptor[52..56].copy_from_slice(&(2_u32 << 1 | 1 << 7 | 1 << 9 | 1 << 11).to_le_bytes());
    descriptor[56..58].copy_from_slice(&0x8_u16.to_le_bytes());
    descriptor[58..60].copy_from_slice(&(3_u16 | 5 << 7).to_le_bytes());
    descriptor
}

fn program_header(kind: u32, flags: u32, offset: u64, file_size: u64, memory_size: u64) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(kind.to_le_bytes());
    out.extend(flags.to_le_bytes());
    for value in [offset, offset, offset, file_size, memory_size, 4] {
        out.extend(value.to_le_bytes());
    }
    out
}

pub(crate) fn align(out: &mut Vec<u8>, to: usize) {
    pad(out, out.len().next_multiple_of(to));
}

/// Appends zeros up to a size, in one step: Miri, which interprets `resize`, would take seconds.
pub(crate) fn pad(out: &mut Vec<u8>, size: usize) {
    out.extend(vec![0; size - out.len()]);
}

fn place(out: &mut Vec<u8>, bytes: &[u8]) -> u64 {
    align(out, 8);
    let offset = out.len() as u64;
    out.extend(bytes);
    offset
}
