// SPDX-License-Identifier: MIT OR Apache-2.0
//! Runs the command, makes pseudorandom inputs, and compares floats.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicU32, Ordering},
};

/// The simulated GPU that all of these tests run on.
pub(crate) const DEVICE: &str = "hip-sim://gfx942?threads=2";

/// The result of the command.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

/// The command, without environment variables about devices.
pub(crate) fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windlass"));
    command.current_dir(env!("CARGO_MANIFEST_DIR"));
    for name in ["WINDLASS_DEVICE", "WINDLASS_HIP_LIBRARY", "WINDLASS_SIM", "WINDLASS_LOG"] {
        command.env_remove(name);
    }
    command
}

/// Runs the command to its end.
pub(crate) fn finish(command: &mut Command) -> Finished {
    let output = command.output().expect("the command starts");
    Finished {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).expect("text"),
        stderr: String::from_utf8(output.stderr).expect("text"),
    }
}

/// Runs the command with arguments.
pub(crate) fn windlass<S: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = S>) -> Finished {
    finish(command().args(arguments))
}

/// A file of this test alone.
pub(crate) fn scratch(ending: &str) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("command");
    fs::create_dir_all(&folder).expect("a folder for scratch files");
    folder.join(format!("{}-{}.{ending}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)))
}

/// A real input from outside of the repository; `None`, with a message, if the variable is unset.
pub(crate) fn fixture(name: &str) -> Option<PathBuf> {
    match std::env::var_os("WINDLASS_FIXTURES") {
        Some(folder) => {
            // Cargo runs tests in the package's folder, so a relative path is relative to that.
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(name);
            assert!(path.exists(), "WINDLASS_FIXTURES is set, and {} is not there", path.display());
            Some(path)
        }
        None => {
            eprintln!("skipped: WINDLASS_FIXTURES is not set, so {name} cannot be found");
            None
        }
    }
}

/// A run of one kernel, whose buffers go through files.
pub(crate) struct Launch {
    arguments: Vec<String>,
    buffers: usize,
    scratch: Vec<PathBuf>,
    outputs: Vec<(usize, PathBuf)>,
}

impl Launch {
    pub(crate) fn new(file: impl AsRef<Path>, kernel: &str, grid: &str) -> Self {
        let file = file.as_ref().display().to_string();
        let arguments = ["run", &file, "--kernel", kernel, "--device", DEVICE, "--grid", grid];
        Self {
            arguments: arguments.map(str::to_owned).to_vec(),
            buffers: 0,
            scratch: Vec::new(),
            outputs: Vec::new(),
        }
    }

    pub(crate) fn option(mut self, name: &str, value: &str) -> Self {
        self.arguments.extend([name.to_owned(), value.to_owned()]);
        self
    }

    /// On another device.
    pub(crate) fn on(mut self, device: &str) -> Self {
        self.arguments[5] = device.to_owned();
        self
    }

    pub(crate) fn block(self, size: &str) -> Self {
        self.option("--block", size)
    }

    /// An argument in the command's spelling.
    pub(crate) fn arg(mut self, spec: &str) -> Self {
        self.buffers += 1;
        self.option("--arg", spec)
    }

    /// A buffer with these contents.
    pub(crate) fn bytes(mut self, kind: &str, bytes: &[u8]) -> Self {
        let path = scratch("bin");
        fs::write(&path, bytes).expect("a scratch file");
        let spec = format!("{kind}=@{}", path.display());
        self.scratch.push(path);
        self.arg(&spec)
    }

    pub(crate) fn floats(self, values: &[f32]) -> Self {
        self.bytes(&format!("{}xf32", values.len()), &bytes_of(values, f32::to_le_bytes))
    }

    /// Requests the contents of the latest argument.
    pub(crate) fn out(mut self) -> Self {
        let index = self.buffers - 1;
        let path = scratch("bin");
        self.outputs.push((index, path.clone()));
        self.option("--out", &format!("{index}={}", path.display()))
    }

    /// Runs the kernel, which must succeed, and returns the outputs in order.
    pub(crate) fn run(self) -> Vec<Vec<u8>> {
        let finished = windlass(&self.arguments);
        assert_eq!(finished.code, Some(0), "{:?}: {}", self.arguments, finished.stderr);
        let outputs =
            self.outputs.iter().map(|(_, path)| fs::read(path).expect("the output is there")).collect();
        for path in self.scratch.iter().chain(self.outputs.iter().map(|(_, path)| path)) {
            let _ = fs::remove_file(path);
        }
        outputs
    }

    /// The floats of the only output.
    pub(crate) fn run_floats(self) -> Vec<f32> {
        let outputs = self.run();
        assert_eq!(outputs.len(), 1);
        floats_of(&outputs[0])
    }
}

pub(crate) fn bytes_of<T: Copy, const N: usize>(values: &[T], to_bytes: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|value| to_bytes(*value)).collect()
}

pub(crate) fn floats_of(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|chunk| f32::from_le_bytes(chunk.try_into().unwrap())).collect()
}

/// Pseudorandom numbers that are the same in every run: xorshift64*, independent of the command's generator.
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn bits(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }

    /// From [-1, 1).
    pub(crate) fn float(&mut self) -> f32 {
        (self.bits() >> 8) as f32 / (1 << 23) as f32 - 1.0
    }

    pub(crate) fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| self.float()).collect()
    }
}

/// Like numpy's `allclose`, with the first difference in the message.
pub(crate) fn assert_close(got: &[f32], expected: &[f64], relative: f64, absolute: f64) {
    assert_eq!(got.len(), expected.len());
    for (index, (got, expected)) in got.iter().zip(expected).enumerate() {
        let difference = (f64::from(*got) - expected).abs();
        assert!(
            difference <= relative * expected.abs() + absolute,
            "[{index}] is {got}, expected {expected}"
        );
    }
}

/// `a[m,k] * b[k,n]`, row major, in f64.
pub(crate) fn product(a: &[f32], b: &[f32], m: usize, n: usize, k: usize) -> Vec<f64> {
    let element = |row: usize, column: usize| {
        (0..k).map(|at| f64::from(a[row * k + at]) * f64::from(b[at * n + column])).sum()
    };
    (0..m).flat_map(|row| (0..n).map(move |column| element(row, column))).collect()
}

/// The softmax of each row, in f64.
pub(crate) fn softmax(x: &[f32], columns: usize) -> Vec<f64> {
    let row = |row: &[f32]| {
        let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let powers: Vec<f64> = row.iter().map(|value| f64::from(value - most).exp()).collect();
        let sum: f64 = powers.iter().sum();
        powers.into_iter().map(move |power| power / sum).collect::<Vec<_>>()
    };
    x.chunks_exact(columns).flat_map(row).collect()
}

/// The f16 nearest to a value that f16 can hold well.
pub(crate) fn half_bits(value: f32) -> u16 {
    half::f16::from_f32(value).to_bits()
}

/// The value of an f16.
pub(crate) fn half_value(bits: u16) -> f32 {
    half::f16::from_bits(bits).to_f32()
}
