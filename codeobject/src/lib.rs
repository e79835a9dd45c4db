// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reads AMD GPU code objects, and finds them in whatever file they come in.
//!
//! A compiler for AMD GPUs writes a *code object*: an ELF with kernels for one target. What you have in hand is rarely
//! that ELF. It is a library, an executable or an object with a section `.hip_fatbin`; a `.hipfb` with one *bundle*
//! per source file, each with an *entry* per target, often compressed (CCOB); an offload binary; an archive; a `.vmfb`,
//! `HIP1` or `AMD1` of IREE; or a bare `.hsaco`; in a wheel; or in a `.kpack` beside the library. This crate answers three questions about all of them:
//!
//! 1. **What is in the file?** [`Input::open`] reads it with what belongs to it, [`Input::file`] finds the bundles,
//!    [`Bundle::entries`] lists them. Nothing but the tables of compressed bundles is unpacked for that.
//! 2. **Which entry does a GPU get, and why not the others?** [`Bundle::select`] takes the exact target first, then a
//!    generic one, then, if you ask for it, one of the same ISA-compatible family; it gives a [`Verdict`] on each.
//! 3. **What is in the code?** [`CodeObject::parse`] gives kernels with their arguments, variables, functions,
//!    segments and relocations; from stripped files too, and from those without section headers.
//!    [`CodeObject::calls`] tells which functions a kernel may call.
//!
//! ```no_run
//! use windlass_codeobject::{CodeObject, Input, Options, TargetId};
//!
//! // What HIP calls gcnArchName, with the mode of each feature that the GPU has.
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
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Code may lie beside the file, in the kpack archives (`.kpack`) that libraries of ROCm refer to since 2026, or compressed
//! in a wheel: [`Input::open`] brings both. Who has bytes and no path calls [`File::parse`], which sees no more than these.
//! Zip files may lie in zip files and behind a script; the checksums of members that are read are compared.
//! [`Wheel`] takes the members of a wheel one at a time, and [`may_hold_code`] tells by its first bytes whether a
//! file is worth reading.
//!
//! [`HostLibrary`] reads kernels for the CPU: those that a shared object describes as `windlass_kernel.h` says, alone or as a
//! bundle's entry for the host. What it accepts can be handed to the system's loader.
//!
//! [`BundleWriter`] goes the other way: it writes the bundles that clang writes.
//!
//! A bundle needs no file; this one has two entries of a few bytes, which no GPU can run:
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
//! No input panics, hangs, or makes the crate take more memory than the input has, declares and is allowed
//! ([`Options::max_unpacked`]). What is known of a code object or of a shared object takes several times what it takes in the
//! file, and has limits of its own: a million symbols, four million relocations. Sizes that a file states are never allocated before bytes come out that bear them out.
//! What is wrong with one part costs no other: an entry whose range is outside its bundle has a
//! [`problem`](Entry::problem), a damaged bundle is among [`File::problems`], a kernel that cannot be launched among
//! [`CodeObject::rejected`]. Every [`Error`] says what was read, where, and what to do.
//!
//! # Time and memory
//!
//! Listing an uncompressed bundle and choosing from it touches its table and the head of the chosen entry; no other page
//! of a mapped file is read. A compressed bundle is one stream: its table costs the first block, an entry everything
//! up to its end, and nothing behind that is decoded. [`Bundle::with_image`] lends an entry and keeps what was decoded
//! for the next one; [`Bundle::take_image`] makes the memory that it was decoded into the [`Image`], so that the peak is
//! the end of the entry and one block. A program that loads for several GPUs, or the same file again, asks an
//! [`ImageCache`]: it decodes each choice once, whoever asks, and holds a bounded number of bytes.
//!
//! # From a start address
//!
//! HIP's own entry points take code by where it begins. [`bytes_at`] and [`File::at_address`] do so too, and find its
//! end by its headers, of a code object, a bundle, a compressed bundle of version 1 to 3, an LLVM offload binary,
//! `HIP1`, `AMD1`, or the `HIPF` wrapper that a host program registers. They are `unsafe`: the headers must be true. They
//! are the only `unsafe` code here.
//!
//! Loaders of the field believe what they read: `hipModuleLoadData` is given no length, and walks an image by its own
//! headers. [`validate`] checks each number that such a walk rests on, and [`Image`] is the memory that it wants.
//!
//! # Features
//!
//! - `zstd-c` (default): zstd by the C library. It stops where the wanted entry ends.
//! - `zstd-pure`: zstd in pure Rust, for builds without a C compiler. It decodes the whole of a real bundle, and keeps
//!   its window beside the output. With both features on, the C library is used; with neither, bundles compressed by
//!   zstd are an error that names the features. Writing zstd needs `zstd-c`: what makes a bundle small is that code for
//!   one target resembles that for another, further back than the encoder in Rust looks.
//!
//! zlib is always there, in pure Rust. Debug messages go to `tracing` with the target `windlass::codeobject`.
//!
//! # What is not read
//!
//! Thin archives (their members are files beside them), and files that are nothing but SPIR-V or LLVM
//! bitcode are known by name, and the error says what to do instead. So are tar files and packages
//! ([`Package`]). As entries of a bundle, SPIR-V, bitcode and the
//! compiler's text are listed and extracted; no GPU gets them, and the verdict says why. Kernels of code
//! object version 2 are listed with their arguments, from YAML that is taken verbatim, and are
//! [rejected](CodeObject::rejected): no runtime of today starts them.
#![deny(unsafe_code)]

mod bundle;
mod bytes;
mod choice;
mod code;
mod container;
mod decode;
mod entry;
mod error;
mod file;
mod image;
mod image_cache;
mod options;
mod warnings;
mod write;

pub use bundle::{Bundle, Container};
pub use choice::retarget::retarget;
pub use choice::select::{Fit, Selection, Verdict};
pub use choice::target::TargetId;
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
pub use container::ccob::Method;
pub use container::iree::{IreeBinding, IreeExecutable, IreeExport, IreeFormat};
pub use container::kpack_reference::KpackReference;
pub use container::magic::{Format, may_hold_code};
pub use container::package::Package;
pub use entry::{Entry, EntryKind, EntryTarget};
pub use error::Error;
pub use file::File;
pub use file::address::bytes_at;
pub use file::input::Input;
pub use file::kind::FileKind;
pub use file::wheel::{Wheel, WheelMember};
pub use image::Image;
pub use image_cache::{Choice, ImageCache, ImageCacheStats};
pub use options::Options;
pub use write::{BundleWriter, Compression, WriteError, WriteOptions};
