// SPDX-License-Identifier: MIT OR Apache-2.0
//! GPU code at a start address whose size nobody states, as HIP's own entry points take it.
//!
//! The headers state the size. They are read in stages, and each stage reads only bytes that the previous one announced.
//! So code that ends at the last byte of a mapping is measured without a read of the next page.
//!
//! | first bytes | source of the size |
//! |---|---|
//! | ELF for amdgpu | its header, then the tables of segments and sections |
//! | `__CLANG_OFFLOAD_BUNDLE__` | the table of entries |
//! | `CCOB` version 2, 3 | the header |
//! | `CCOB` version 1 | the compressed stream itself: frames and blocks of zstd, the end that zlib marks |
//! | LLVM offload binary | the header |
//! | `HIP1`, `AMD1` of IREE | the prefix |
//! | `HIPF` wrapper (`__hip_fatbin_wrapper`) | the code that its pointer leads to, one of the above |

use std::slice;

use crate::bytes::glimpse;
use crate::code::elf_flags::{ELF_HEAD_SIZE, ElfHead};
use crate::code::extent::Tables;
use crate::container::ccob::CcobHeader;
use crate::container::iree::{self, IreeFormat};
use crate::container::offload_binary::Header;
use crate::container::room::Room;
use crate::container::table::Table;
use crate::container::wrapper::WRAPPER_VERSION;
use crate::decode;
use crate::error::Error;
use crate::file::File;
use crate::options::Options;
use crate::words::magic::Format;
use crate::words::source::Source;

/// The bytes that tell the formats apart; the least that lies at an address.
const MAGIC_SIZE: usize = 4;
const ELF_IDENT_SIZE: usize = 16;

/// The bytes of the GPU code at `start`, as many as its headers say. A `HIPF` wrapper gives the bytes that it points
/// to.
///
/// [`Options::max_stored`] limits them. Nothing is copied. [`File::parse`] reads the result like any other file, and
/// [`File::at_address`] does both.
///
/// # Safety
///
/// - Four bytes at `start` can be read.
/// - If they begin one of the formats that the [crate page](crate#from-a-start-address) lists, the code there is whole:
///   its header and everything that the header announces can be read. Code from an untrusted source must not be passed,
///   since its headers may announce memory that does not exist.
/// - If they begin a `HIPF` wrapper, its pointer leads to such code.
/// - All of it stays mapped and unchanged for the lifetime `'a`.
///
/// `start` need not be aligned.
///
/// # Errors
///
/// [`Error::NotRecognised`] for other bytes, [`Error::Unsupported`] for formats without a size of their own, such as
/// kpack archives and SPIR-V, [`Error::Limit`] above [`Options::max_stored`], [`Error::Malformed`] if headers
/// contradict themselves, and [`Error::NotFound`] for a null pointer.
///
/// ```
/// # #![allow(unsafe_code)]
/// use windlass_codeobject::{Options, bytes_at};
///
/// let mut bundle = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
/// for number in [1_u64, 64, 8, 4] {
///     bundle.extend(number.to_le_bytes());
/// }
/// bundle.extend(b"hip-");
/// bundle.resize(72, 0);
/// let longer = [&bundle[..], b"something else"].concat();
/// // SAFETY: a whole bundle lies there, and the vector outlives the slice unchanged.
/// let bytes = unsafe { bytes_at(longer.as_ptr(), &Options::default()) }?;
/// assert_eq!(bytes, bundle);
/// # Ok::<(), windlass_codeobject::Error>(())
/// ```
pub unsafe fn bytes_at<'a>(start: *const u8, options: &Options) -> Result<&'a [u8], Error> {
    // SAFETY: the caller promises four bytes at `start`, and behind a wrapper's magic the whole wrapper.
    let start = unsafe { behind_wrapper(start) }?;
    // The code cannot reach past the end of the address space.
    let room = (usize::MAX - start.addr()).min(isize::MAX.unsigned_abs());
    let read = |offset: u64, out: &mut [u8]| {
        // SAFETY: earlier bytes announce these, so by the promise of the caller of `bytes_at` they can be read. The
        // offset is below `limit`, which is below the end of the address space. The destination is borrowed apart.
        unsafe { start.add(offset as usize).copy_to_nonoverlapping(out.as_mut_ptr(), out.len()) };
        true
    };
    let size = Memory { read: &read, limit: options.max_stored.min(room as u64) }.size(options)?;
    // SAFETY: the headers announce `size` bytes, and the caller of `bytes_at` promises that these exist, stay, and do not
    // change. By `limit` they fit behind `start` and into half of the address space.
    Ok(unsafe { slice::from_raw_parts(start, size as usize) })
}

/// The number of bytes of GPU code in memory that `read` reads: as [`bytes_at`], for memory that may not exist.
///
/// `read` fills its second argument with the bytes from an offset on, and returns whether all of them could be read. A
/// `HIPF` wrapper is not followed. Bytes that state no size are not read, so they may be missing.
///
/// # Errors
///
/// As for [`bytes_at`], and [`Error::Malformed`] for headers that lead to bytes which `read` cannot read.
pub fn size_at(read: &dyn Fn(u64, &mut [u8]) -> bool, options: &Options) -> Result<u64, Error> {
    Memory { read, limit: options.max_stored }.size(options)
}

/// The address of the code that begins at `start`, or that the wrapper at `start` points to.
///
/// # Safety
///
/// As for [`bytes_at`], of the first bytes.
unsafe fn behind_wrapper(start: *const u8) -> Result<*const u8, Error> {
    // SAFETY: as of this function.
    if unsafe { format_at(start) }? != Some(Format::HostWrapper) {
        return Ok(start);
    }
    // SAFETY: a wrapper is two words of 32 bits and two pointers.
    let version = unsafe { start.add(4).cast::<u32>().read_unaligned() };
    if version != WRAPPER_VERSION {
        let advice = "version 1 is known; give the address of the bundle itself";
        return Err(Error::unsupported(format!("version {version} of a HIPF wrapper"), 0, advice));
    }
    // SAFETY: as above; the first pointer leads to code, of which four bytes can be read.
    let (code, format) = unsafe {
        let code = start.add(8).cast::<*const u8>().read_unaligned();
        (code, format_at(code)?)
    };
    if format == Some(Format::HostWrapper) {
        return Err(Error::malformed("the HIPF wrapper", 0, "it points to another wrapper"));
    }
    Ok(code)
}

/// # Safety
///
/// `start` is null, or four bytes there can be read.
unsafe fn format_at(start: *const u8) -> Result<Option<Format>, Error> {
    if start.is_null() {
        let present = "the pointer is null; give the address where the code begins".to_owned();
        return Err(Error::NotFound { what: "AMD GPU code".to_owned(), present });
    }
    // SAFETY: not null, so four bytes can be read.
    Ok(Format::at_address(unsafe { start.cast::<[u8; MAGIC_SIZE]>().read_unaligned() }))
}

impl<'a> File<'a> {
    /// Reads the GPU code that begins at `start`: [`bytes_at`], then [`File::parse`].
    ///
    /// # Safety
    ///
    /// As for [`bytes_at`].
    ///
    /// # Errors
    ///
    /// As for [`bytes_at`] and [`File::parse`].
    pub unsafe fn at_address(start: *const u8, options: &Options) -> Result<File<'a>, Error> {
        // SAFETY: the caller makes the same promise.
        File::parse(unsafe { bytes_at(start, options) }?, options)
    }
}

/// Memory that begins with code. Each read asks only for bytes that earlier reads announced.
struct Memory<'r> {
    read: &'r dyn Fn(u64, &mut [u8]) -> bool,
    limit: u64,
}

impl Memory<'_> {
    fn array<const N: usize>(&self, offset: u64) -> Result<[u8; N], Error> {
        let mut out = [0; N];
        self.read(offset, &mut out)?;
        Ok(out)
    }

    fn too_long(&self, value: u64) -> Error {
        Error::Limit {
            what: "the GPU code in memory (bytes)".to_owned(),
            offset: 0,
            value,
            limit: self.limit,
            advice: "raise `Options::max_stored` if the code at the address is to be trusted".to_owned(),
        }
    }

    /// The size of the code, at most `limit`.
    fn size(&self, options: &Options) -> Result<u64, Error> {
        let magic: [u8; MAGIC_SIZE] = self.array(0)?;
        let size = match Format::at_address(magic) {
            Some(Format::Elf | Format::OtherElf) => self.elf()?,
            Some(Format::Ccob) => self.ccob(options)?,
            Some(Format::Bundle) => self.bundle()?,
            Some(Format::OffloadBinary) => {
                let head: [u8; 8] = self.array(0)?;
                let version = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
                Header::read(&self.vec(Header::size_of(version, 0)?)?, 0)?.size
            }
            Some(Format::IreeHip) => iree::stored_size(IreeFormat::Hip, &self.array::<16>(0)?, 0)?,
            Some(Format::IreeAmdgpu) => iree::stored_size(IreeFormat::Amdgpu, &self.array::<16>(0)?, 0)?,
            Some(format) => return Err(format.refused_at_address()),
            None => return Err(Error::NotRecognised { offset: 0, found: glimpse(&magic) }),
        };
        if size > self.limit { Err(self.too_long(size)) } else { Ok(size) }
    }

    /// A header of `size` bytes.
    fn vec(&self, size: u64) -> Result<Vec<u8>, Error> {
        let mut out = vec![0; size as usize];
        self.read(0, &mut out)?;
        Ok(out)
    }

    fn elf(&self) -> Result<u64, Error> {
        let malformed = |problem: &str| Error::malformed("the ELF header", 0, problem);
        let ident: [u8; ELF_IDENT_SIZE] = self.array(0)?;
        if ident[4] != 2 || ident[5] != 1 {
            return Err(malformed("it is not 64-bit little-endian"));
        }
        let head = self.vec(ELF_HEAD_SIZE)?;
        match ElfHead::read(&head) {
            Some(head) if head.is_amdgpu() => {}
            Some(head) => {
                let advice = "only code objects are taken from an address; read a host ELF from its file";
                return Err(Error::unsupported(format!("an ELF for machine {}", head.machine), 0, advice));
            }
            None => return Err(malformed("it is cut short")),
        }
        let overflows = || malformed("the size that it states overflows");
        let tables = Tables::of(&head).ok_or_else(overflows)?;
        if tables.end > self.limit {
            return Err(self.too_long(tables.end));
        }
        tables.declared_size(|offset, out| self.read(offset, out))?.ok_or_else(overflows)
    }

    fn bundle(&self) -> Result<u64, Error> {
        let table = Table::read(self, self.limit, 0, &mut Room::of_file(0)).map_err(|error| match error {
            // Only the limit cuts the table short.
            Error::Truncated { offset, needed, .. } => self.too_long(offset.saturating_add(needed)),
            error => error,
        })?;
        for (index, entry) in table.entries.iter().enumerate() {
            let Some(problem) = entry.problem() else { continue };
            let end = entry.offset().checked_add(entry.size());
            return Err(match end.filter(|end| *end > self.limit) {
                Some(end) => self.too_long(end),
                None => {
                    Error::malformed(format!("entry {index} ({}) of the bundle", entry.id_text()), 0, problem)
                }
            });
        }
        Ok(table.end)
    }

    fn ccob(&self, options: &Options) -> Result<u64, Error> {
        let head: [u8; 8] = self.array(0)?;
        let version = u16::from_le_bytes([head[4], head[5]]);
        let header = CcobHeader::read(&self.vec(CcobHeader::size_of(version, 0)?)?, 0)?;
        if let Some(size) = header.stored_size {
            return Ok(size);
        }
        let place = header.header_size;
        let mut read = |offset: u64, out: &mut [u8]| self.read(place.saturating_add(offset), out);
        if header.unpacked_size > options.max_unpacked {
            return Err(Error::Limit {
                what: "the compressed bundle (CCOB), which must be unpacked to find its end,".to_owned(),
                offset: 0,
                value: header.unpacked_size,
                limit: options.max_unpacked,
                advice: "raise `Options::max_unpacked` if the code at the address is to be trusted"
                    .to_owned(),
            });
        }
        decode::announced_size(header.method, &mut read, header.unpacked_size)
            .map(|size| place.saturating_add(size))
            .map_err(|problem| match problem {
                decode::Unmeasured::Unreadable(error) => error,
                decode::Unmeasured::Broken(problem) => {
                    Error::malformed("the compressed bundle (CCOB) of version 1", 0, problem)
                }
            })
    }
}

impl Source for Memory<'_> {
    fn read(&self, offset: u64, out: &mut [u8]) -> Result<(), Error> {
        let end = offset.saturating_add(out.len() as u64);
        if end > self.limit {
            return Err(self.too_long(end));
        }
        if (self.read)(offset, out) {
            return Ok(());
        }
        let problem = format!("the {} bytes there, which earlier ones announce, cannot be read", out.len());
        Err(Error::malformed("the GPU code in memory", offset, problem))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::code::extent::declared_size;

    const VECTOR_ADD: &[u8] =
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/../cts/kernels/bundles/vector_add.gfx942.co"));

    /// Miri sees a read behind an allocation of exactly that size.
    fn is_whole(bytes: &[u8]) {
        let alone: Box<[u8]> = bytes.into();
        // SAFETY: the whole code lies there, and outlives the slice.
        assert_eq!(unsafe { bytes_at(alone.as_ptr(), &Options::default()) }.unwrap(), bytes);
    }

    fn ccob(version: u16, method: u16, unpacked: u64, payload: &[u8]) -> Vec<u8> {
        let mut out = [&b"CCOB"[..], &version.to_le_bytes(), &method.to_le_bytes()].concat();
        let (size, long) = (payload.len() as u64, unpacked.to_le_bytes());
        match version {
            1 => out.extend(&long[..4]),
            2 => out.extend([&(size as u32 + 24).to_le_bytes()[..], &long[..4]].concat()),
            _ => out.extend([(size + 32).to_le_bytes(), long].concat()),
        }
        out.extend([0; 8]);
        out.extend(payload);
        out
    }

    #[test]
    fn no_byte_behind_the_code_is_read() {
        is_whole(&VECTOR_ADD[..declared_size(VECTOR_ADD).unwrap() as usize]);
        let mut bundle = Format::Bundle.magic().to_vec();
        for number in [1_u64, 64, 9, 4] {
            bundle.extend(number.to_le_bytes());
        }
        bundle.extend(b"hip-");
        bundle.resize(73, 7);
        is_whole(&bundle);
        is_whole(&ccob(2, 1, 9, b"any bytes"));
        is_whole(&ccob(3, 0, 9, b"any bytes"));
        // One uncompressed zstd block in a frame of one segment; then the same twice.
        let frame = [&0xfd2f_b528_u32.to_le_bytes()[..], &[0x20, 4, 0x21, 0, 0], b"text"].concat();
        is_whole(&ccob(1, 1, 4, &frame));
        is_whole(&ccob(1, 1, 8, &frame.repeat(2)));
        // One uncompressed deflate block, and its check value.
        let zlib =
            [&[0x78, 0x01, 0x01, 4, 0, 0xfb, 0xff][..], b"text", &0x0467_01c6_u32.to_be_bytes()].concat();
        is_whole(&ccob(1, 0, 4, &zlib));
        let mut binary =
            [Format::OffloadBinary.magic(), &1_u32.to_le_bytes(), &40_u64.to_le_bytes()].concat();
        binary.resize(40, 0);
        is_whole(&binary);
        let mut executable = [*b"AMD1", [0; 4]].concat();
        executable.extend(5_u64.to_le_bytes());
        executable.resize(64 + 5, 0);
        is_whole(&executable);
    }

    #[test]
    fn a_wrapper_is_followed() {
        #[repr(C)]
        struct Wrapper {
            magic: [u8; 4],
            version: u32,
            code: *const u8,
            reserved: *const u8,
        }
        let code = ccob(3, 0, 9, b"any bytes");
        let wrapper = Wrapper {
            magic: *b"FPIH",
            version: WRAPPER_VERSION,
            code: code.as_ptr(),
            reserved: std::ptr::null(),
        };
        assert!(wrapper.reserved.is_null());
        // SAFETY: a wrapper lies there that points to a whole bundle, and both outlive the slice.
        let found = unsafe { bytes_at((&raw const wrapper).cast(), &Options::default()) };
        assert_eq!(found.unwrap(), code);
    }
}
