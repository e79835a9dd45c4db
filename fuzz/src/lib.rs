// SPDX-License-Identifier: MIT OR Apache-2.0
//! The fuzz targets. They check only properties that must always hold. The main property is that nothing panics, hangs
//! or takes unbounded memory.

use windlass_codeobject::{
    CodeObject, File, HostLibrary, Options, TargetId, Wheel, declared_size, retarget, validate,
};

const AGENTS: [&str; 3] = ["gfx942:sramecc+:xnack-", "gfx90a:sramecc+:xnack+", "gfx1031"];
/// Small, to allow many inputs instead of long ones.
const MOST_UNPACKED: u64 = 1 << 18;
/// The number of entries read of one bundle, and of bundles read of one file.
const MOST_READ: usize = 8;

macro_rules! host_objects {
    ($($name:literal),*) => {
        [$(include_bytes!(concat!("../../drivers/local/tests/native/", $name, ".so"))),*]
    };
}

/// Shared objects of two machines, most of them with kernels: alone, with variables, and with references to each
/// other.
pub const HOST_OBJECTS: [&[u8]; 5] =
    host_objects!("kernels.x86_64", "kernels.aarch64", "user.x86_64", "provider.x86_64", "cycle.x86_64");

fn options() -> Options {
    let mut options = Options::default();
    options.max_unpacked = MOST_UNPACKED;
    options.compatible_families = true;
    options
}

/// Lists, chooses for three GPUs and reads a file of any kind.
pub fn containers(data: &[u8]) {
    let options = options();
    if data.starts_with(b"PK") {
        wheel(data, &options);
    }
    if let Ok(file) = File::parse(data, &options) {
        read(&file, &options);
    }
}

/// A compressed bundle: the first bytes determine the header, the rest is the payload. The payload is used as it is,
/// or wrapped in a stream that stores it, so that tables are reached.
pub fn decode(data: &[u8]) {
    let Some((&[form, a, b, c], payload)) = data.split_first_chunk() else { return };
    let declared = u32::from_le_bytes([a, b, c, 0]) & 0x7_ffff;
    let version = u16::from(form % 3) + 1;
    let is_zstd = form & 0x40 != 0;
    let payload = match (form & 0x80 != 0, is_zstd) {
        (false, _) => payload.to_vec(),
        (true, false) => zlib_stored(payload),
        (true, true) => zstd_stored(payload),
    };
    let header_size = [20, 24, 32][usize::from(version) - 1];
    let size = header_size + payload.len();
    let mut bytes = b"CCOB".to_vec();
    bytes.extend([version, u16::from(is_zstd)].map(u16::to_le_bytes).concat());
    match version {
        1 => bytes.extend(declared.to_le_bytes()),
        2 => bytes.extend([size as u32, declared].map(u32::to_le_bytes).concat()),
        _ => bytes.extend([size as u64, declared.into()].map(u64::to_le_bytes).concat()),
    }
    bytes.extend([0; 8]);
    bytes.extend(payload);
    containers(&bytes);
}

/// One code object.
pub fn elf(data: &[u8]) {
    code_object(data);
    let _ = declared_size(data);
    let _ = validate(data);
    let mut copy = data.to_vec();
    for agent in AGENTS {
        let agent: TargetId = agent.parse().expect("a target id");
        if retarget(&mut copy, &agent).is_err() {
            assert_eq!(copy, data, "what is refused stays as it was");
        }
        copy.copy_from_slice(data);
    }
}

/// A shared object with kernels for the host: the first byte chooses it, and changes of up to eight bytes follow.
pub fn host(data: &[u8]) {
    let Some((which, changes)) = data.split_first() else { return };
    let mut object = HOST_OBJECTS[usize::from(*which) % HOST_OBJECTS.len()].to_vec();
    for change in changes.chunks(11) {
        let Some((&[low, high, size], value)) = change.split_first_chunk() else { break };
        let value = &value[..value.len().min(usize::from(size % 8) + 1)];
        let at = usize::from(u16::from_le_bytes([low, high])) % object.len();
        let end = object.len().min(at + value.len());
        object[at..end].copy_from_slice(&value[..end - at]);
    }
    match HostLibrary::parse(&object) {
        Ok(library) => {
            assert!(!library.has_kernels() || HostLibrary::may_have_kernels(&object));
            for kernel in library.kernels() {
                let ends = kernel.parameters.iter().map(|parameter| parameter.offset + parameter.size);
                assert!(ends.max().unwrap_or(0) <= kernel.argument_size, "{kernel:?}");
            }
            let symbols = library.variables().chain(library.constants()).chain(library.functions());
            for symbol in symbols.chain(library.undefined()) {
                library.is_interposable(&symbol.name);
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    containers(&object);
}

/// The content of a code object's metadata note.
pub fn metadata(data: &[u8]) {
    code_object(&elf_of_note(data));
}

/// Target ids: the printed form of an accepted id parses to the same id.
pub fn targets(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(target) = text.parse::<TargetId>() {
        assert_eq!(target.to_string().parse(), Ok(target), "{text}");
    }
    let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
    bundle.extend([1, 0, 0, data.len() as u64].map(u64::to_le_bytes).concat());
    bundle.extend(data);
    containers(&bundle);
}

/// Wheels are read from disk.
fn wheel(data: &[u8], options: &Options) {
    let path = std::env::temp_dir().join(format!("windlass-fuzz-{}.whl", std::process::id()));
    std::fs::write(&path, data).expect("a temporary file");
    if let Ok(wheel) = Wheel::open(&path) {
        members(&wheel, options, 0);
    }
    let _ = std::fs::remove_file(&path);
}

fn members(wheel: &Wheel, options: &Options, depth: usize) {
    for member in wheel.members().take(MOST_READ) {
        if depth < 2
            && let Ok(Some(inner)) = member.wheel(options)
        {
            members(&inner, options, depth + 1);
        }
        if member.may_hold_code() == Ok(true)
            && let Ok(input) = member.open(options)
            && let Ok(file) = input.file(options)
        {
            read(&file, options);
        }
    }
}

fn read(file: &File<'_>, options: &Options) {
    for bundle in file.bundles().iter().take(MOST_READ) {
        for agent in AGENTS {
            let selection = bundle.select(&agent.parse().expect("a target id"), options);
            assert_eq!(selection.verdicts.len(), bundle.entries().len());
            if bundle.index() == 0
                && let Some(best) = selection.best
                && let Ok(image) = bundle.take_image(best)
            {
                assert_eq!(image.len() as u64, bundle.entries()[best].size());
                let _ = validate(&image);
            }
        }
        for index in 0..bundle.entries().len().min(MOST_READ) {
            let _ = bundle.with_image(index, code_object);
        }
        bundle.digest();
    }
    for problem in file.problems() {
        assert!(!problem.to_string().is_empty());
    }
}

fn code_object(elf: &[u8]) {
    let code = match CodeObject::parse(elf) {
        Ok(code) => code,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for kernel in code.kernels() {
        assert!(code.kernel(&kernel.name).is_ok(), "{}", kernel.name);
        kernel.explicit_args().for_each(drop);
    }
    for symbol in code.symbols().iter().take(256) {
        code.bytes_of(elf, symbol);
    }
    let _ = (code.variables().count(), code.functions().count(), code.undefined().count());
}

/// An ELF for gfx942 that is a header, a segment with one note, and nothing else.
fn elf_of_note(content: &[u8]) -> Vec<u8> {
    const OWNER: &[u8; 8] = b"AMDGPU\0\0";
    const KIND: u32 = 32;
    const HEADER: usize = 64;
    const SEGMENT: usize = 56;
    let mut elf = b"\x7fELF\x02\x01\x01\x40\x04".to_vec();
    elf.resize(16, 0);
    elf.extend([3_u16, 224].map(u16::to_le_bytes).concat());
    elf.extend(1_u32.to_le_bytes());
    elf.extend([0, HEADER as u64, 0].map(u64::to_le_bytes).concat());
    elf.extend(0x54c_u32.to_le_bytes());
    elf.extend([HEADER as u16, SEGMENT as u16, 1, 64, 0, 0].map(u16::to_le_bytes).concat());
    let name = OWNER.len() as u32 - 1;
    let mut note = [name, content.len() as u32, KIND].map(u32::to_le_bytes).concat();
    note.extend(OWNER);
    note.extend(content);
    note.resize(note.len().next_multiple_of(4), 0);
    let (start, size) = ((HEADER + SEGMENT) as u64, note.len() as u64);
    elf.extend([4_u32, 4].map(u32::to_le_bytes).concat());
    elf.extend([start, start, start, size, size, 4].map(u64::to_le_bytes).concat());
    elf.extend(note);
    elf
}

/// A zlib stream of uncompressed blocks, without the checksum at its end.
fn zlib_stored(content: &[u8]) -> Vec<u8> {
    let mut out = vec![0x78, 0x01];
    for block in content.chunks(0xffff) {
        let size = block.len() as u16;
        out.push(0);
        out.extend([size, !size].map(u16::to_le_bytes).concat());
        out.extend(block);
    }
    out
}

/// A zstd frame of uncompressed blocks, with its content size.
fn zstd_stored(content: &[u8]) -> Vec<u8> {
    const BLOCK: usize = 1 << 17;
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    out.extend((content.len() as u32).to_le_bytes());
    let last = content.len().saturating_sub(1) / BLOCK;
    for index in 0..=last {
        let start = index * BLOCK;
        let block = &content[start..content.len().min(start + BLOCK)];
        let header = (block.len() as u32) << 3 | u32::from(index == last);
        out.extend(&header.to_le_bytes()[..3]);
        out.extend(block);
    }
    out
}
