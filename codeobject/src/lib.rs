// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads AMD GPU code objects, and finds them in the files that carry them.
//!
//! A compiler for AMD GPUs writes a *code object*: an ELF with kernels for one target. Most files do not hold that ELF
//! alone. A host library, executable or object keeps it in a section `.hip_fatbin`. A `.hipfb` holds one *bundle* for each
//! source file, with an *entry* for each target, often compressed (CCOB). Code objects are also in LLVM offload binaries,
//! IREE's `HIP1` and `AMD1`, archives of objects, `.vmfb` files, wheels, and `.kpack` files beside a library. This crate
//! answers three questions about all of these files:
//!
//! 1. **Which bundles are in the file?** [`Input::open`] reads the file and its companions, [`Input::file`] finds the
//!    bundles, and [`Bundle::entries`] lists the entries. Of a compressed bundle, only the table is decoded. Version 1 is
//!    the exception: its header does not state where the bundle ends, so all of it is decoded.
//! 2. **Which entry does a GPU get, and why not the others?** [`Bundle::select`] prefers the exact target, then a generic
//!    one, then, if the caller asks for it, an entry for the same ISA-compatible family. It gives a [`Verdict`] for each
//!    entry.
//! 3. **What is in the code?** [`CodeObject::parse`] gives kernels with their arguments, variables, functions, segments and
//!    relocations. It reads stripped files and files without section headers as well.
//!
//! ```no_run
//! # #[cfg(feature = "carriers")] {
//! use windlass_codeobject::{CodeObject, Input, Options, TargetId};
//!
//! // HIP's gcnArchName, which states the mode of each feature that the GPU has.
//! let gpu: TargetId = "gfx942:sramecc+:xnack-".parse()?;
//! let options = Options::default();
//!
//! let input = Input::open("libbitsandbytes_rocm71.so", &options)?;
//! let file = input.file(&options)?;
//! println!("{}, {} bundles", file.kind(), file.bundles().len());
//! for bundle in file.bundles() {
//!     let selection = bundle.select(&gpu, &options);
//!     for (entry, verdict) in bundle.entries().iter().zip(&selection.verdicts) {
//!         println!("  {}: {verdict}", entry.id_text());
//!     }
//!     let Some(best) = selection.best else { continue };
//!     let elf = bundle.extract(best)?;
//!     for kernel in CodeObject::parse(&elf)?.kernels() {
//!         println!("    {} takes {} arguments", kernel.name, kernel.explicit_args().count());
//!     }
//! }
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The code of a library may lie in kpack archives (`.kpack`) beside it: ROCm's libraries have referred to such
//! archives since 2026. The files in a wheel are compressed. [`Input::open`] reads both. [`File::parse`] reads bytes
//! that are in memory already, and no other files. [`Wheel`] reads the members of a wheel one at a time, and
//! [`Format::of`] tells a file's format by its first bytes.
//!
//! [`HostLibrary`] reads kernels for the CPU: a shared object describes them as `windlass_kernel.h` says. The shared object
//! stands alone, or is a bundle's entry for the host.
//!
//! [`BundleWriter`] writes the bundles that clang writes.
//!
//! A bundle need not come from a file. This one has two entries of eight bytes, which no GPU can run:
//!
//! ```
//! use windlass_codeobject::{Container, File, Options};
//!
//! let mut bytes = b"__CLANG_OFFLOAD_BUNDLE__".to_vec();
//! bytes.extend(2_u64.to_le_bytes());
//! for (offset, id) in [(200_u64, "hip-amdgcn-amd-amdhsa--gfx1100"), (208, "hip-amdgcn-amd-amdhsa--gfx942")] {
//!     for number in [offset, 8, id.len() as u64] {
//!         bytes.extend(number.to_le_bytes());
//!     }
//!     bytes.extend(id.as_bytes());
//! }
//! bytes.resize(216, 0);
//!
//! let file = File::parse(&bytes, &Options::default())?;
//! let bundle = &file.bundles()[0];
//! assert_eq!(bundle.container(), Container::Bundle);
//! let selection = bundle.select(&"gfx942".parse()?, &Options::default());
//! assert_eq!(selection.verdicts[0].to_string(), "refused: gfx1100 is another processor than gfx942");
//! assert_eq!(selection.verdicts[1].to_string(), "refused: its bytes are no 64-bit little-endian ELF");
//! # Ok::<(), windlass_codeobject::Error>(())
//! ```
//!
//! # Input is hostile until proven otherwise
//!
//! No input makes the crate panic or hang. The bytes of an input take memory of at most two sizes: its own, and the
//! unpacked size that it declares. The second is at most [`Options::max_unpacked`]. A declared size is never trusted
//! for an allocation: memory grows with the bytes that come out. The parsed description of a code object or of a shared
//! object takes more memory: several times the size of its tables in the file. So the tables have limits: a million
//! symbols and four million relocations.
//!
//! Damage in one part does not affect the others. An entry whose range lies outside its bundle has a
//! [`problem`](Entry::problem), a damaged bundle is among [`File::problems`], and a kernel that cannot be launched is among
//! [`CodeObject::rejected`]. Every [`Error`] names the part that was read, its place, and a remedy.
//!
//! [`HostLibrary`] is the exception: it checks that the description of each kernel is sound, and trusts the rest of the
//! shared object. Loading one runs its constructors anyway, so the caller must trust it before that.
//!
//! # Time and memory
//!
//! Listing an uncompressed bundle and choosing from it touches the bundle's table and the head of the chosen entry.
//! [`Input::open_in_place`] makes use of that: it leaves a file where it is and reads only the requested bytes, by
//! position, so a library of gigabytes costs the memory of its largest entry. A file that changes in the meantime is an
//! error. A compressed bundle is one stream. Its table needs only the first block, and an entry needs the stream up to
//! the entry's end. [`Bundle::with_image`] lends an entry and keeps the decoded bytes for the next entry.
//! [`Bundle::take_image`] turns the decoded memory into the [`Image`], so peak memory is the decoded bytes up to the
//! end of the entry, plus one block. An [`ImageCache`] serves a program that loads for several GPUs, or loads a file
//! again: it decodes each choice once and holds a bounded number of bytes.
//!
//! # From a start address
//!
//! HIP's own entry points take code by its start address. So do [`bytes_at`] and [`File::at_address`], which find the
//! end by the headers. They know code objects, bundles, compressed bundles of version 1 to 3, LLVM offload binaries,
//! `HIP1`, `AMD1`, and the `HIPF` wrapper that a host program registers. Both are `unsafe`, because the headers must be
//! true. The module of these two functions holds the only `unsafe` code of the crate. For headers that may be damaged,
//! [`size_at`] takes a function that reads memory safely.
//!
//! ROCm's loaders trust an image: `hipModuleLoadData` takes no length, and walks the image by its headers. [`validate`]
//! checks every number that the walk uses. An [`Image`] holds one code object in pages of its own, with zeros up to the
//! end of the last page.
//!
//! # Features
//!
//! - `carriers` (default): containers of files (zip files and wheels, archives of objects, kpack archives), with [`Input`],
//!   [`Wheel`] and [`Package`]. A runtime that loads bundles and code objects does not need this feature. Without it such
//!   files are an error that names the feature.
//! - `zstd-c` (default): zstd by the C library. Decoding stops at the end of the wanted entry.
//! - `zstd-pure`: zstd in Rust, for builds without a C compiler. It decodes the whole stream of a bundle that clang
//!   wrote, even if only one entry is wanted, and keeps its window in memory beside the output. With both zstd features
//!   the C library is used; with neither, a zstd bundle is an error that names the features. Writing zstd needs
//!   `zstd-c`. The encoder in Rust would make large bundles: it does not look back far enough to find the similar code
//!   of another target.
//!
//! zlib is always available, and is implemented in Rust. Debug messages go to `tracing` with the target
//! `windlass::codeobject`.
//!
//! # Formats that are not read
//!
//! These formats are not read, and the error names the format and a remedy: thin archives, whose members are separate
//! files; files of SPIR-V or LLVM bitcode; clang's text bundles; code object version 2; tar files and packages
//! ([`Package`]). As entries of a bundle, SPIR-V, bitcode and text are listed and extracted. They are never selected for a
//! GPU, and the verdict says why.
#![cfg_attr(
    not(feature = "carriers"),
    doc = "",
    doc = "[`Input`]: crate#features",
    doc = "[`Input::open`]: crate#features",
    doc = "[`Input::open_in_place`]: crate#features",
    doc = "[`Input::file`]: crate#features",
    doc = "[`Wheel`]: crate#features",
    doc = "[`Package`]: crate#features"
)]
#![deny(unsafe_code)]

mod budget;
mod bundle;
mod bytes;
mod choice;
mod code;
mod container;
mod content;
mod decode;
mod entry;
mod error;
mod file;
mod image;
mod image_cache;
mod options;
mod warnings;
mod words;
mod write;

pub use budget::Budget;
pub use bundle::{Bundle, Container};
pub use choice::retarget::retarget;
pub use choice::select::{Fit, Selection, Verdict};
pub use code::arg::{Access, AddressSpace, Arg, ArgKind, HiddenKind};
pub use code::code_object::CodeObject;
pub use code::descriptor::KernelDescriptor;
pub use code::extent::declared_size;
pub use code::host::HostLibrary;
pub use code::host::kernel::{HostKernel, HostParameter, HostParameterKind};
pub use code::host::machine::HostMachine;
pub use code::kernel::{Kernel, KernelKind, RejectedKernel};
pub use code::layout::{Binding, Relocation, RelocationKind, Segment, Symbol, SymbolRole};
pub use code::validate::validate;
pub use container::iree::{IreeBinding, IreeExecutable, IreeExport, IreeFormat};
pub use container::kpack_reference::KpackReference;
#[cfg(feature = "carriers")]
pub use container::package::Package;
pub use entry::{Entry, EntryKind, EntryTarget};
pub use error::Error;
pub use file::File;
pub use file::address::{bytes_at, size_at};
#[cfg(feature = "carriers")]
pub use file::input::Input;
pub use file::kind::FileKind;
#[cfg(feature = "carriers")]
pub use file::wheel::{Wheel, WheelMember};
pub use image::Image;
pub use image_cache::{Choice, ImageCache, ImageCacheStats};
pub use options::Options;
pub use words::magic::{Format, may_hold_code};
pub use words::method::Method;
pub use words::target::TargetId;
pub use write::{BundleWriter, Compression, WriteError, WriteOptions};
