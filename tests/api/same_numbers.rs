// SPDX-License-Identifier: MIT OR Apache-2.0
//! One bundle on two machines: each kernel of `cts/kernels` with host code gives the same result on `local://` as on
//! the simulated GPU, bit for bit, for arguments that the manifest determines.

use std::{collections::BTreeSet, fs, path::Path, time::Duration};

use serde_json::Value;
use windlass::{Argument, Buffer, Device, DispatchConfig, Executable, Function, ParameterKind, Semaphore};

const FOLDER: &str = "cts/kernels";
/// Longer than any step takes, so a timeout is a failure.
const SOON: Duration = Duration::from_secs(60);
/// The number of elements, if a kernel takes one: no multiple of a workgroup, and even, as some kernels demand.
const COUNT: u32 = 1002;
/// The size of a buffer without a size in the manifest: kernels write up to 12 elements for each one that they read.
const ELEMENTS: usize = 16 * 1024;

#[test]
fn each_kernel_gives_the_same_on_the_host_and_on_the_simulated_gpu() {
    let devices = devices();
    let mut kernels = 0;
    let mut different = Vec::new();
    for module in modules() {
        let Some(executables) = load(&devices, &module) else { continue };
        for kernel in with_host_code(&module) {
            let launch = Launch::prepare(kernel);
            let [host, gpu] = std::array::from_fn(|index| {
                launch.run(&devices[index], &function(&executables[index], kernel))
            });
            let before: Vec<_> = launch.pointers.iter().map(|pointer| &pointer.contents).collect();
            assert!(before.is_empty() || host.iter().ne(before), "{} wrote nothing", name(kernel));
            let arguments = launch.pointers.iter().zip(host.iter().zip(&gpu));
            different.extend(arguments.filter_map(|(pointer, (host, gpu))| {
                let place = pointer.first_difference(host, gpu, tolerance(kernel))?;
                Some(format!("{} of {}: {place}", pointer.name, name(kernel)))
            }));
            kernels += 1;
        }
    }
    assert!(
        different.is_empty(),
        "{} of {kernels} kernels differ:\n{}",
        different.len(),
        different.join("\n")
    );
    assert!(kernels > 130, "only {kernels} kernels ran");
}

#[test]
fn host_code_is_reflected_as_the_manifest_tells() {
    let [host, _] = devices();
    for module in modules() {
        let path = bundle(&module);
        if module["files"][0]["entries"][0] == "host"
            || path.contains("link_user")
            || path.contains("link_cycle")
        {
            continue;
        }
        // SAFETY: nothing of the code is dispatched.
        let executable = unsafe { host.load_executable(&fs::read(&path).unwrap()) }.unwrap();
        let described: BTreeSet<_> = with_host_code(&module).map(name).collect();
        let functions: BTreeSet<_> =
            executable.functions().map(|function| function.name().to_owned()).collect();
        assert_eq!(functions, described, "{path}");
        for kernel in with_host_code(&module) {
            let function = function(&executable, kernel);
            let info = function.info();
            let parameters = arguments(kernel).map(|argument| {
                let pointer = argument["kind"] == "pointer";
                let kind = if pointer { ParameterKind::Buffer } else { ParameterKind::Value };
                (kind, number(&argument["offset"]), number(&argument["size"]), argument["name"].as_str())
            });
            let own = info.parameters.iter();
            let own: Vec<_> = own.map(|own| (own.kind, own.offset, own.size, own.name.as_deref())).collect();
            assert_eq!(own, parameters.collect::<Vec<_>>(), "{}", info.name);
            assert_eq!(info.argument_size, number(&kernel["explicit_argument_bytes"]), "{}", info.name);
            assert_eq!(info.static_local_memory, number(&kernel["static_lds_bytes"]), "{}", info.name);
            assert_eq!(info.max_workgroup_threads, number(&kernel["max_block_items"]), "{}", info.name);
            assert_eq!(info.workgroup_size, three(&kernel["required_block"]), "{}", info.name);
        }
    }
}

// ---- the manifest ----

fn modules() -> Vec<Value> {
    let manifest = fs::read_to_string(Path::new(FOLDER).join("manifest.json")).unwrap();
    let manifest: Value = serde_json::from_str(&manifest).unwrap();
    let modules = manifest["modules"].as_array().unwrap().iter();
    modules.filter(|module| module["source"].as_str().unwrap().starts_with("src/")).cloned().collect()
}

fn bundle(module: &Value) -> String {
    format!("{FOLDER}/{}", module["files"][0]["path"].as_str().unwrap())
}

fn with_host_code(module: &Value) -> impl Iterator<Item = &Value> {
    module["kernels"].as_array().unwrap().iter().filter(|kernel| kernel.get("no_host_code").is_none())
}

fn name(kernel: &Value) -> String {
    kernel["name"].as_str().unwrap().to_owned()
}

fn arguments(kernel: &Value) -> impl Iterator<Item = &Value> {
    kernel["arguments"].as_array().unwrap().iter()
}

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

fn three(value: &Value) -> Option<[u32; 3]> {
    value.as_array().map(|size| std::array::from_fn(|axis| number(&size[axis])))
}

// ---- the machines ----

/// The host, then the GPU.
fn devices() -> [Device; 2] {
    ["local://?threads=0", "hip-sim://gfx942"].map(|uri| windlass::open(uri).unwrap())
}

/// The module on both machines, linked with its dependencies. `None` if it has no host code, or if it and its
/// dependency need each other, which HIP cannot load.
fn load(devices: &[Device; 2], module: &Value) -> Option<[Executable; 2]> {
    with_host_code(module).next()?;
    let files: &[&str] = match module["module"].as_str().unwrap() {
        "link_cycle" => return None,
        "link_user" => &["link_user", "link_provider"],
        name => &[name],
    };
    let files: Vec<_> =
        files.iter().map(|name| fs::read(format!("{FOLDER}/bundles/{name}.ccob")).unwrap()).collect();
    let parts: Vec<_> = files.iter().map(Vec::as_slice).collect();
    Some(devices.each_ref().map(|device| {
        // SAFETY: the project's own kernels, used as their README says.
        unsafe {
            if parts.len() == 1 { device.load_executable(parts[0]) } else { device.load_linked(&parts) }
        }
        .unwrap_or_else(|error| panic!("{}: {error}", module["module"]))
    }))
}

fn function(executable: &Executable, kernel: &Value) -> Function {
    executable.function(&name(kernel)).unwrap()
}

// ---- a dispatch ----

/// The relative and absolute tolerance for kernels that the README calls approximate.
fn tolerance(kernel: &Value) -> Option<(f64, f64)> {
    (name(kernel) == "approximate_f32").then_some((1e-6, 4e-6))
}

struct Launch {
    config: DispatchConfig,
    pointers: Vec<Pointer>,
    /// In order: the bytes of a value, or `None` for the next pointer.
    arguments: Vec<Option<Vec<u8>>>,
}

struct Pointer {
    name: String,
    element: String,
    contents: Vec<u8>,
}

impl Launch {
    fn prepare(kernel: &Value) -> Self {
        let mut random = SplitMix64(name(kernel).bytes().map(u64::from).sum());
        let (mut pointers, mut values) = (Vec::new(), Vec::new());
        for argument in arguments(kernel) {
            let name = argument["name"].as_str().unwrap();
            if argument["kind"] == "pointer" {
                let element = argument["element"].as_str().unwrap().to_owned();
                let count = argument["count"].as_u64().map_or(ELEMENTS, |count| count as usize);
                let contents =
                    (0..count).flat_map(|_| of_buffer(kernel, name, &element, &mut random)).collect();
                pointers.push(Pointer { name: name.to_owned(), element, contents });
                values.push(None);
            } else {
                values.push(Some(of_value(kernel, argument, &mut random)));
            }
        }
        Self { config: config(kernel), pointers, arguments: values }
    }

    /// The contents of the buffers afterwards.
    fn run(&self, device: &Device, function: &Function) -> Vec<Vec<u8>> {
        let (queue, step) = (device.queue(0).unwrap(), Semaphore::new(0));
        let mut written = 0;
        let mut upload = |contents: &[u8]| {
            let buffer = device.allocate_device(contents.len() as u64).unwrap();
            // An update takes at most 64 KiB.
            for (index, part) in contents.chunks(1 << 15).enumerate() {
                let target = buffer.subspan((index << 15) as u64, part.len() as u64).unwrap();
                queue.update(&[step.at(written)], &[step.at(written + 1)], part, &target).unwrap();
                written += 1;
            }
            buffer
        };
        let buffers: Vec<Buffer> = self.pointers.iter().map(|pointer| upload(&pointer.contents)).collect();
        let mut given = buffers.iter();
        let arguments: Vec<Argument<'_>> = self
            .arguments
            .iter()
            .map(|value| match value {
                Some(bytes) => Argument::Bytes(bytes),
                None => given.next().unwrap().arg(),
            })
            .collect();
        let (ready, done) = ([step.at(written)], [step.at(written + 1)]);
        queue.dispatch(&ready, &done, function, self.config, &arguments).unwrap();
        step.wait_blocking(written + 1, SOON).unwrap_or_else(|error| panic!("{}: {error}", function.name()));
        buffers.iter().map(|buffer| queue.download(&[], buffer).unwrap().wait(SOON).unwrap()).collect()
    }
}

/// The grid and the workgroup size by the manifest's rules.
fn config(kernel: &Value) -> DispatchConfig {
    let rule = |key: &str| kernel[key].as_str().unwrap().to_owned();
    let free = if rule("block_rule").starts_with("any") { [4, 2, 3] } else { [64, 1, 1] };
    let block = three(&kernel["block"]).unwrap_or(free);
    let grid = match rule("grid_rule").as_str() {
        "x = 1" => [1, 1, 1],
        "x = ceil(n / 16), y = ceil(m / 16)" => [SIZES.1.div_ceil(16), SIZES.0.div_ceil(16), 1],
        "x = ceil(n / 128)" => [COUNT.div_ceil(128), 1, 1],
        "x = ceil(n / block.x)" | "x = ceil(n / 2 / block.x)" => [COUNT.div_ceil(block[0]), 1, 1],
        "x, any; the kernel strides over n" => [5, 1, 1],
        "any, in x, y and z" => [3, 2, 4],
        "any" | "any that fits the device at once" => [3, 1, 1],
        other => panic!("{}: unknown rule of the grid: {other}", name(kernel)),
    };
    let dynamic = match rule("dynamic_lds_bytes").as_str() {
        "0" => 0,
        "block.x * 4" => 4 * block[0],
        "256, through the argument" => 256,
        other => panic!("{}: unknown rule of LDS: {other}", name(kernel)),
    };
    DispatchConfig::new(grid).workgroup_size(block).dynamic_local_memory(dynamic)
}

/// m, n and k of a matrix product.
const SIZES: (u32, u32, u32) = (50, 33, 70);

fn of_value(kernel: &Value, argument: &Value, random: &mut SplitMix64) -> Vec<u8> {
    let size = number(&argument["size"]) as usize;
    let number = |value: u64| value.to_le_bytes()[..size.min(8)].to_vec();
    match (name(kernel).as_str(), argument["name"].as_str().unwrap()) {
        ("matmul", "m") => number(u64::from(SIZES.0)),
        ("matmul", "n") => number(u64::from(SIZES.1)),
        ("matmul", "k") => number(u64::from(SIZES.2)),
        ("sum_words", "n") => number(200),
        (_, "n") => number(u64::from(COUNT)),
        // The offset of local memory; a flag that is already set; no trap.
        (_, "exchange") | ("spin_until" | "spin_until_host", "value") | ("trap_if", "condition") => number(0),
        // Converted to a byte.
        ("write_arguments", "e") => half::f16::from_f32(7.5).to_le_bytes().to_vec(),
        ("write_arguments", "f") => 250.75_f64.to_le_bytes().to_vec(),
        ("apply_scale", "scale") => [0.37_f32.to_le_bytes(), [0; 4], [9; 4], [1; 4]].concat(),
        (_, name) => match argument["type"].as_str() {
            Some(element) => of_buffer(kernel, name, element, random),
            None => (0..size).map(|_| random.next() as u8).collect(),
        },
    }
}

/// One element for a kernel whose result the README fixes to the bit.
fn of_buffer(kernel: &Value, buffer: &str, element: &str, random: &mut SplitMix64) -> Vec<u8> {
    let name = name(kernel);
    let bits = random.next();
    let small = |modulus: u64| integer(element, bits % modulus);
    match (name.as_str(), buffer) {
        // Kernels with loops must end soon.
        ("collatz", "in") => integer(element, 1 + bits % 100_000),
        ("recurse", "in") => small(12),
        // They count from zero.
        ("tickets" | "append", _) => small(1),
        ("scale_f32" | "scale_f64", "e") => integer(element, (bits % 61).wrapping_sub(30)),
        // No division by zero, and no quotient that overflows.
        (divide, "b") if divide.starts_with("divide_") => match integer(element, bits | 1) {
            ones if ones.iter().all(|byte| *byte == 0xff) => integer(element, 3),
            other => other,
        },
        (compare, _) if compare.starts_with("compare_") || compare.starts_with("branch_") => match element {
            // With equal values, zeros of either sign, and NaN.
            "f16" | "f32" | "f64" if buffer != "out" => {
                float(element, [0.0, -0.0, 1.5, -1.5, f64::NAN, f64::INFINITY, -3.0][(bits % 7) as usize])
            }
            _ => small(3),
        },
        // Sums that are exact in any order.
        ("reduce_sum" | "atomics_f64", _) => float(element, (bits % 512) as f64 * 0.25 - 64.0),
        ("approximate_f32", _) => float(element, 0.01 + (bits >> 11) as f64 / (1_u64 << 53) as f64 * 15.9),
        _ if element.starts_with('f') => {
            // Any mantissa, and exponents without overflow or underflow. Halves take all of their exponents.
            let exponents = if element == "f16" && name.starts_with("half_") { 30 } else { 12 };
            let sign = if bits & 1 == 0 { 1.0 } else { -1.0 };
            let mantissa = 1.0 + (bits >> 12) as f64 / (1_u64 << 52) as f64;
            let exponent = (bits >> 1) % exponents;
            float(element, sign * mantissa * 2_f64.powi(exponent as i32 - exponents as i32 / 2))
        }
        _ => integer(element, bits),
    }
}

fn integer(element: &str, value: u64) -> Vec<u8> {
    let bits: usize = element[1..].parse().unwrap();
    [value, value.rotate_left(7)].map(u64::to_le_bytes).concat()[..bits / 8].to_vec()
}

fn float(element: &str, value: f64) -> Vec<u8> {
    match element {
        "f16" => half::f16::from_f64(value).to_le_bytes().to_vec(),
        "f32" => (value as f32).to_le_bytes().to_vec(),
        "f64" => value.to_le_bytes().to_vec(),
        other => panic!("{other} is no float"),
    }
}

impl Pointer {
    /// The first differing element. All NaN count as equal.
    fn first_difference(&self, host: &[u8], gpu: &[u8], tolerance: Option<(f64, f64)>) -> Option<String> {
        let bits = self.element[1..].parse::<usize>().unwrap();
        let value = |bytes: &[u8]| match self.element.as_str() {
            "f16" => Some(f64::from(half::f16::from_le_bytes(bytes.try_into().unwrap()))),
            "f32" => Some(f64::from(f32::from_le_bytes(bytes.try_into().unwrap()))),
            "f64" => Some(f64::from_le_bytes(bytes.try_into().unwrap())),
            _ => None,
        };
        let same = |host: &[u8], gpu: &[u8]| {
            host == gpu
                || match (value(host), value(gpu)) {
                    (Some(host), Some(gpu)) if host.is_nan() || gpu.is_nan() => host.is_nan() && gpu.is_nan(),
                    (Some(host), Some(gpu)) => tolerance.is_some_and(|(relative, absolute)| {
                        (host - gpu).abs() <= absolute + relative * gpu.abs()
                    }),
                    _ => false,
                }
        };
        let pairs = host.chunks(bits / 8).zip(gpu.chunks(bits / 8));
        let (index, (host, gpu)) = pairs.enumerate().find(|(_, (host, gpu))| !same(host, gpu))?;
        Some(format!(
            "element {index} is {host:02x?} ({:?}) on the host, {gpu:02x?} ({:?}) on the GPU",
            value(host),
            value(gpu)
        ))
    }
}

struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
