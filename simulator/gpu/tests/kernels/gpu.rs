// SPDX-License-Identifier: MIT OR Apache-2.0
//! A simulated GPU for tests: loads the project's kernels, fills buffers, launches.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_codeobject::{EntryTarget, File, Options as FileOptions};
use windlass_simulated_gpu::Part;
use windlass_simulated_gpu::engine::{Engine, Fault, Kernel, Launch, Module, Statistics};
use windlass_simulated_gpu::memory::{AllocationKind, Memory, MemoryOptions};

/// A GPU with memory of its own.
pub(crate) struct Gpu {
    pub(crate) part: &'static Part,
    pub(crate) memory: Arc<Memory>,
    pub(crate) engine: Arc<Engine>,
}

/// A value that is copied unchanged into a buffer or an argument block.
pub(crate) trait Plain: Copy {
    fn put(self, bytes: &mut Vec<u8>);
    fn get(bytes: &[u8]) -> Self;
}

macro_rules! plain {
    ($($ty:ty)*) => {$(
        impl Plain for $ty {
            fn put(self, bytes: &mut Vec<u8>) {
                bytes.extend(self.to_le_bytes());
            }

            fn get(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().unwrap())
            }
        }
    )*};
}

plain!(u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 half::f16 half::bf16);

fn bytes_of<T: Plain>(values: &[T]) -> Vec<u8> {
    let mut bytes = Vec::new();
    values.iter().for_each(|value| value.put(&mut bytes));
    bytes
}

/// A buffer in device memory.
#[derive(Clone, Copy)]
pub(crate) struct Buffer {
    pub(crate) address: u64,
    len: usize,
}

/// An argument of a kernel.
pub(crate) struct Arg(Vec<u8>);

impl From<Buffer> for Arg {
    fn from(buffer: Buffer) -> Self {
        Self(bytes_of(&[buffer.address]))
    }
}

impl<T: Plain> From<T> for Arg {
    fn from(value: T) -> Self {
        Self(bytes_of(&[value]))
    }
}

impl Arg {
    /// A struct by value.
    pub(crate) fn bytes(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

/// Makes a list of arguments.
#[macro_export]
macro_rules! args {
    ($($value:expr),* $(,)?) => { &[$($crate::gpu::Arg::from($value)),*] };
}

impl Gpu {
    /// A gfx942 whose kernels run on two threads.
    pub(crate) fn new() -> Self {
        Self::named("gfx942")
    }

    /// The same of another part.
    pub(crate) fn named(part: &str) -> Self {
        let part = Part::named(part).unwrap();
        let memory = Memory::new(MemoryOptions { capacity: 1 << 30, ..MemoryOptions::default() }).unwrap();
        Self { part, memory, engine: Engine::new(2) }
    }

    /// A buffer with contents.
    pub(crate) fn buffer<T: Plain>(&self, values: &[T]) -> Buffer {
        let bytes = bytes_of(values);
        let address =
            self.memory.allocate(bytes.len() as u64, 256, AllocationKind::Device, "test buffer").unwrap();
        self.memory.write(address, &bytes).unwrap();
        Buffer { address, len: bytes.len() }
    }

    /// The contents of a buffer.
    pub(crate) fn contents<T: Plain>(&self, buffer: Buffer) -> Vec<T> {
        let mut bytes = vec![0; buffer.len];
        self.memory.read(buffer.address, &mut bytes).unwrap();
        bytes.chunks_exact(size_of::<T>()).map(T::get).collect()
    }

    /// Loads the code object for this GPU from a file, bundle or not.
    pub(crate) fn load(&self, file: &Path) -> Arc<Module> {
        let found = self.load_all(file).into_iter().next();
        found.unwrap_or_else(|| panic!("{} has nothing for {}", file.display(), self.part.name()))
    }

    /// Loads all code objects for this GPU from a file.
    pub(crate) fn load_all(&self, file: &Path) -> Vec<Arc<Module>> {
        let images = self.images(file);
        images.iter().map(|image| Module::load(self.part, &self.memory, image).unwrap()).collect()
    }

    /// The first code object for this GPU in a file.
    pub(crate) fn image(&self, file: &Path) -> Vec<u8> {
        let found = self.images(file).into_iter().next();
        found.unwrap_or_else(|| panic!("{} has nothing for {}", file.display(), self.part.name()))
    }

    /// All code objects for this GPU in a file.
    fn images(&self, file: &Path) -> Vec<Vec<u8>> {
        let bytes = std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let parsed = File::parse(&bytes, &FileOptions::default()).unwrap();
        let mut images = Vec::new();
        for bundle in parsed.bundles() {
            let find = |fits: &dyn Fn(&str) -> bool| {
                bundle.entries().iter().position(
                    |entry| matches!(entry.target(), EntryTarget::Gpu(target) if fits(target.processor())),
                )
            };
            // Its own code, else that of its generic target.
            let own = find(&|name| name == self.part.name());
            if let Some(index) = own.or_else(|| find(&|name| self.part.runs(name))) {
                images.push(bundle.image(index).unwrap().into_owned());
            }
        }
        images
    }

    /// Loads one of the project's own modules.
    pub(crate) fn module(&self, name: &str) -> Arc<Module> {
        self.load(&kernels().join(format!("bundles/{name}.ccob")))
    }

    /// A kernel of one of the project's own modules.
    pub(crate) fn kernel(&self, module: &str, kernel: &str) -> Arc<Kernel> {
        let module = self.module(module);
        module.kernel(kernel).unwrap_or_else(|| panic!("no kernel {kernel}"))
    }

    /// Launches a kernel.
    pub(crate) fn launch(
        &self,
        kernel: &Kernel,
        grid: [u32; 3],
        block: [u32; 3],
        lds: u32,
        args: &[Arg],
    ) -> Result<Statistics, Box<Fault>> {
        let mut arguments = vec![0; kernel.explicit_argument_size() as usize];
        assert_eq!(args.len(), kernel.parameters().len(), "arguments of {}", kernel.name());
        for (arg, parameter) in args.iter().zip(kernel.parameters()) {
            assert_eq!(
                arg.0.len(),
                parameter.size as usize,
                "size of {}'s {}",
                kernel.name(),
                parameter.name
            );
            arguments[parameter.offset as usize..][..arg.0.len()].copy_from_slice(&arg.0);
        }
        let mut launch = Launch::new(grid, block, &arguments);
        launch.dynamic_lds = lds;
        self.engine.dispatch(&self.memory, kernel, &launch)
    }

    /// Launches a kernel that must succeed.
    pub(crate) fn run_grid(&self, kernel: &Kernel, grid: [u32; 3], block: [u32; 3], lds: u32, args: &[Arg]) {
        if let Err(fault) = self.launch(kernel, grid, block, lds, args) {
            panic!("{fault}");
        }
    }

    /// Launches a kernel of one dimension with a work-item for each of `n` elements; it must succeed.
    pub(crate) fn run(&self, kernel: &Kernel, n: usize, block: u32, args: &[Arg]) {
        let grid = [(n as u32).div_ceil(block).max(1), 1, 1];
        if let Err(fault) = self.launch(kernel, grid, [block, 1, 1], 0, args) {
            panic!("{fault}");
        }
    }
}

/// The folder of the project's own kernels.
pub(crate) fn kernels() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../cts/kernels")
}

/// The folder of real inputs. `None`, with a message on standard error, if `WINDLASS_FIXTURES` does not name
/// it.
#[allow(clippy::print_stderr)]
pub(crate) fn fixtures() -> Option<PathBuf> {
    let found = std::env::var_os("WINDLASS_FIXTURES").map(PathBuf::from);
    if found.is_none() {
        eprintln!("skipped: WINDLASS_FIXTURES does not name the folder of real inputs");
    }
    found
}

/// Pseudorandom numbers that are the same in every run.
pub(crate) struct Random(pub u64);

impl Random {
    /// 64 bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// A number from -1 to 1.
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}
