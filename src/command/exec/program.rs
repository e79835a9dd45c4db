// SPDX-License-Identifier: MIT OR Apache-2.0
//! How the kernel starts a file: as an ELF file with a loader, an ELF file without, or a script.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, Read},
    os::unix::{ffi::OsStrExt, fs::FileExt},
    path::{Path, PathBuf},
};

use object::{
    LittleEndian, elf,
    elf::{FileHeader64, ProgramHeader64},
    pod,
};
use rustix::fs::{Access, access};

type Header = FileHeader64<LittleEndian>;
type Segment = ProgramHeader64<LittleEndian>;

/// The kernel reads at most this many bytes of a script's first line.
const LINE: usize = 256;

/// How the kernel starts a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// By the dynamic loader that the file names.
    Loader(PathBuf),
    /// By an interpreter, which gets the optional word of the first line, and the file.
    Script(OsString, Option<OsString>),
    /// Without a dynamic loader of this machine, with the reason.
    Alone(&'static str),
}

/// The file for the first word of a command line, as `execvp` finds it.
pub(super) fn find(program: &OsStr) -> io::Result<PathBuf> {
    if program.as_bytes().contains(&b'/') {
        return Ok(program.into());
    }
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    let found = std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| {
        access(file, Access::EXEC_OK).is_ok() && fs::metadata(file).is_ok_and(|metadata| metadata.is_file())
    });
    found.ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, "no folder of PATH has it"))
}

/// Reads how a file is started.
///
/// # Errors
/// It cannot be read, or the kernel would refuse it.
pub(super) fn look(path: &Path) -> io::Result<Start> {
    let mut file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
    }
    // A readable file may still not be executable.
    access(path, Access::EXEC_OK)?;
    let mut first = Vec::new();
    file.by_ref().take(LINE as u64).read_to_end(&mut first)?;
    if let Some(line) = first.strip_prefix(b"#!") {
        return script(line);
    }
    match pod::from_bytes::<Header>(&first) {
        Ok((header, _)) if header.e_ident.magic == elf::ELFMAG => loader(&file, header),
        _ => Ok(Start::Alone("it is neither an ELF file nor a script with a #! line")),
    }
}

fn script(line: &[u8]) -> io::Result<Start> {
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default().trim_ascii();
    let end = line.iter().position(|byte| matches!(byte, b' ' | b'\t')).unwrap_or(line.len());
    let (interpreter, rest) = line.split_at(end);
    if interpreter.is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "its #! line names no interpreter"));
    }
    let rest = rest.trim_ascii();
    let word = |bytes: &[u8]| OsStr::from_bytes(bytes).to_owned();
    Ok(Start::Script(word(interpreter), (!rest.is_empty()).then(|| word(rest))))
}

fn loader(file: &File, header: &Header) -> io::Result<Start> {
    let endian = LittleEndian;
    let ident = &header.e_ident;
    let fits = ident.class == elf::ELFCLASS64
        && ident.data == elf::ELFDATA2LSB
        && header.e_machine.get(endian) == elf::EM_X86_64;
    if !fits {
        return Ok(Start::Alone("it is for another processor, or a 32-bit program"));
    }
    let mut segments = vec![0; usize::from(header.e_phnum.get(endian)) * size_of::<Segment>()];
    file.read_exact_at(&mut segments, header.e_phoff.get(endian))?;
    let (segments, _) =
        pod::slice_from_all_bytes::<Segment>(&segments).map(|all| (all, ())).map_err(|()| damaged())?;
    let Some(named) = segments.iter().find(|segment| segment.p_type.get(endian) == elf::PT_INTERP) else {
        return Ok(Start::Alone("it is linked statically and loads no library"));
    };
    let length = usize::try_from(named.p_filesz.get(endian)).ok().filter(|length| *length <= 4096);
    let mut name = vec![0; length.ok_or_else(damaged)?];
    file.read_exact_at(&mut name, named.p_offset.get(endian))?;
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let name = PathBuf::from(OsStr::from_bytes(name));
    let is_glibc = name.file_name().is_some_and(|name| name.as_bytes().starts_with(b"ld-linux"));
    Ok(if is_glibc { Start::Loader(name) } else { Start::Alone("its C library is not glibc") })
}

fn damaged() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "its ELF headers are damaged")
}
