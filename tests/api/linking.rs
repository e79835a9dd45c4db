// SPDX-License-Identifier: MIT OR Apache-2.0
//! Executables of several code objects on the simulated GPU: the code that HIP gets, the errors, and the results of
//! kernels.

use std::path::Path;

use windlass::{
    Code, Device, DispatchConfig, Error, Executable, Queue, QueueAffinity, Semaphore, SymbolKind,
};
use windlass_codeobject::{CodeObject, SymbolRole};

fn kernels(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cts/kernels/bundles").join(name);
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn open(uri: &str) -> Device {
    windlass::open(uri).expect("a simulated GPU opens")
}

fn link(device: &Device, parts: &[&[u8]]) -> Result<Executable, Error> {
    // SAFETY: the project's own kernels, which stay within the buffers of their arguments.
    unsafe { device.load_linked(parts) }
}

/// The results of `link_apply` for a few values on a queue.
fn apply(device: &Device, queue: &Queue, executable: &Executable) -> Vec<f32> {
    let values: Vec<u8> = [1.0_f32, -2.0, 10.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let (buffer, done) = (device.allocate_device(12).expect("memory"), Semaphore::new(0));
    queue.update(&[], &[done.at(1)], &values, &buffer).expect("submits");
    let function = executable.function("link_apply").expect("is there");
    let grid = DispatchConfig::new([1, 1, 1]).workgroup_size([3, 1, 1]);
    queue.dispatch(&[done.at(1)], &[done.at(2)], &function, grid, &[buffer.arg()]).expect("submits");
    let download = queue.download(&[done.at(2)], &buffer).expect("submits");
    let bytes = pollster::block_on(download).expect("runs");
    bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).collect()
}

const RESULT: [f32; 3] = [3.5, -5.5, 30.5];

#[test]
fn a_kernel_calls_and_reads_what_is_in_another_code_object() {
    let device = open("hip-sim://gfx942");
    let queue = device.queue(0).expect("a queue");
    let (user, provider) = (kernels("link_user.ccob"), kernels("link_provider.ccob"));
    for parts in [[&user[..], &provider], [&provider, &user]] {
        let executable = link(&device, &parts).expect("links");
        assert_eq!(apply(&device, &queue, &executable), RESULT);
    }
    let (user, provider) = (kernels("link_user.gfx942.co"), kernels("link_provider.gfx942.co"));
    assert_eq!(apply(&device, &queue, &link(&device, &[&user, &provider]).expect("links")), RESULT);
}

#[test]
fn bundles_of_one_file_are_linked() {
    let device = open("hip-sim://gfx942");
    let file = [kernels("link_user.ccob"), kernels("link_provider.ccob")].concat();
    // SAFETY: the project's own kernels, which stay within the buffers of their arguments.
    let executable = unsafe { device.load_executable(&file) }.expect("links");
    assert_eq!(apply(&device, &device.queue(0).expect("a queue"), &executable), RESULT);
}

#[test]
fn every_gpu_is_given_addresses_of_its_own() {
    for uri in ["hip-sim://gfx942?devices=2", "hip-sim://gfx942,gfx90a"] {
        check_addresses_of_each(&open(uri));
    }
}

/// Checks that each of two GPUs reads its own copy of a variable.
fn check_addresses_of_each(device: &Device) {
    let parts = [kernels("link_user.ccob"), kernels("link_provider.ccob")];
    let executable = link(device, &[&parts[0], &parts[1]]).expect("links");
    let limits = device.limits();
    assert_eq!(limits.physical_devices, 2);
    for gpu in 0..2 {
        let affinity = limits.physical_affinity(gpu).expect("a GPU");
        let queue = device.queue_of(affinity).expect("a queue");
        let (bias, done) =
            (executable.global_on("link_bias", affinity).expect("is there"), Semaphore::new(0));
        queue.fill(&[], &[done.at(1)], &bias, gpu as f32).expect("submits");
        done.wait_blocking(1, std::time::Duration::from_secs(60)).expect("runs");
    }
    for gpu in 0..2 {
        let queue = device.queue_of(limits.physical_affinity(gpu).expect("a GPU")).expect("a queue");
        let expected = RESULT.map(|value| value - 0.5 + gpu as f32);
        assert_eq!(apply(device, &queue, &executable), expected, "GPU {gpu}");
    }
}

/// Pieces that cannot be linked, the error code, and words of its message.
type Refusal<'a> = (Vec<&'a [u8]>, Code, &'a [&'a str]);

#[test]
fn what_cannot_be_linked_is_named() {
    let device = open("hip-sim://gfx942");
    let [user, function, cycle, other] =
        ["link_user.ccob", "link_function.ccob", "link_cycle.ccob", "vector_add.ccob"].map(kernels);
    let provider = kernels("link_provider.ccob");
    let both = [&other[..], &user].concat();
    let cases: [Refusal<'_>; 9] = [
        (
            vec![&user[..]],
            Code::NotFound,
            &["linking piece 0", "bundle 0 needs `link_scale`", "bundle 0 needs `link_bias`", "load_linked"]
                [..],
        ),
        (vec![&other, &user], Code::NotFound, &["piece 1 needs `link_scale`"]),
        (vec![&function, &both], Code::NotFound, &["piece 1, bundle 1 needs `link_bias`"]),
        (vec![&user, &function], Code::NotFound, &["piece 0 needs `link_bias`"]),
        (
            vec![&user, &cycle],
            Code::FailedPrecondition,
            &["piece 0 needs `link_scale` of piece 1", "piece 1 needs `link_seed` of piece 0", "circle"],
        ),
        (
            vec![&user, &function, &provider],
            Code::FailedPrecondition,
            &["piece 0 needs `link_scale` of piece 1", "no variable", "-fuse-cuid"],
        ),
        (vec![&user, b"no code at all"], Code::InvalidArgument, &["no code", "linking 2 pieces"]),
        (vec![&user, &user[..100]], Code::InvalidArgument, &["linking 2 pieces"]),
        (vec![], Code::InvalidArgument, &["no pieces"]),
    ];
    for (parts, code, words) in cases {
        let error = link(&device, &parts).expect_err("cannot be linked");
        assert_eq!(error.code(), code, "{error}");
        for words in words {
            assert!(error.to_string().contains(words), "{words}: {error}");
        }
    }
    let good = link(&device, &[&user, &provider]).expect("links");
    assert_eq!(apply(&device, &device.queue(0).expect("a queue"), &good), RESULT);
}

#[test]
fn symbols_lie_where_the_code_object_puts_them() {
    let device = open("hip-sim://gfx942");
    let parts = [kernels("link_provider.gfx942.co"), kernels("functions.gfx942.co")];
    let executable = link(&device, &[&parts[0], &parts[1]]).expect("loads");
    let symbols = executable.symbols().expect("are known");
    let find = |name: &str| symbols.iter().find(|symbol| symbol.name == name).expect("is listed");
    let bias = executable.global("link_bias").expect("is there").device_address();
    assert_eq!(find("link_bias").address, Some(bias));
    let code = CodeObject::parse(&parts[0]).expect("a code object");
    let known = |name: &str| {
        let roles = [SymbolRole::Function, SymbolRole::KernelEntry, SymbolRole::Variable];
        let symbols = code.symbols().iter();
        symbols.clone().find(|symbol| symbol.name == name && roles.contains(&symbol.role)).expect("is there")
    };
    for (name, kind) in [
        ("link_scale", SymbolKind::Function),
        ("link_set_bias", SymbolKind::Kernel),
        ("link_bias", SymbolKind::Variable),
    ] {
        let (symbol, known) = (find(name), known(name));
        assert_eq!((symbol.kind, symbol.size), (kind, known.size), "{name}");
        assert_eq!(symbol.address, Some(bias - known_bias(&code) + known.address), "{name}");
    }
    let twofold = find("twofold");
    assert_eq!(
        (twofold.kind, twofold.address),
        (SymbolKind::Function, None),
        "nothing tells where that code is"
    );

    let two = open("hip-sim://gfx942?devices=2");
    let executable = link(&two, &[&parts[0], &parts[1]]).expect("loads");
    assert_eq!(executable.symbols().expect_err("two copies").code(), Code::FailedPrecondition);
    let on = |queue| {
        let symbols = executable.symbols_on(QueueAffinity::queue(queue)).expect("one GPU");
        symbols.iter().find(|symbol| symbol.name == "link_bias").and_then(|symbol| symbol.address)
    };
    assert_ne!(on(0), on(two.limits().queues - 1));
}

fn known_bias(code: &CodeObject) -> u64 {
    code.variables().find(|variable| variable.name == "link_bias").expect("is there").address
}
