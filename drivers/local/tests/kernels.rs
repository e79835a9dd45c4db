// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels in Rust: declaration, loading, arguments, local memory, failures.

mod common;

use std::{
    mem::offset_of,
    sync::{Arc, Mutex},
};

use windlass_hal::{
    Argument, BufferRef, Code, Device, DispatchConfig, Error, Executable, Function, ParameterKind, Semaphore,
};
use windlass_local::{Kernel, Library, LocalDriver, Workgroup, image};

use common::{LONG, device, device_with, open, single};

fn load(device: &Device, bytes: &[u8]) -> windlass_hal::Result<Executable> {
    // SAFETY: the kernels of these tests stay within the buffers that the tests give them.
    unsafe { device.load_executable(bytes) }
}

/// Dispatches a kernel and returns the outcome.
fn run(
    device: &Device,
    function: &Function,
    config: DispatchConfig,
    arguments: &[Argument<'_>],
) -> windlass_hal::Result<()> {
    let done = Semaphore::new(0);
    device.queue(0)?.dispatch(&[], &[done.at(1)], function, config, arguments)?;
    done.wait_blocking(1, LONG)
}

/// The error of a kernel that is dispatched once, with these arguments.
fn failure(kernel: Kernel, arguments: &[Argument<'_>]) -> Error {
    let name = kernel.info().name.clone();
    let (device, executable) = device_with([kernel]);
    run(&device, &executable.function(&name).unwrap(), single(), arguments).unwrap_err()
}

#[test]
fn parameters_lie_as_in_a_c_struct() {
    #[repr(C)]
    struct Block {
        a: u8,
        b: *mut u8,
        c: i16,
        d: f32,
        e: u8,
        f: f64,
        g: [u8; 3],
        h: [u32; 3],
    }
    let kernel = Kernel::new("all", |_| Ok(()));
    let kernel = kernel.value::<u8>("a").buffer("b").value::<i16>("c").value::<f32>("d").value::<u8>("e");
    let kernel = kernel.value::<f64>("f").bytes("g", 3, 1).bytes("h", 12, 4);
    let info = kernel.info();
    let offsets: Vec<_> = info.parameters.iter().map(|parameter| parameter.offset as usize).collect();
    let expected = [
        offset_of!(Block, a),
        offset_of!(Block, b),
        offset_of!(Block, c),
        offset_of!(Block, d),
        offset_of!(Block, e),
        offset_of!(Block, f),
        offset_of!(Block, g),
        offset_of!(Block, h),
    ];
    assert_eq!(offsets, expected);
    assert_eq!(info.argument_size as usize, offset_of!(Block, h) + 12);
    assert_eq!(info.parameters[1].kind, ParameterKind::Buffer);
    assert_eq!(info.parameters[5].name.as_deref(), Some("f"));
}

#[test]
fn arguments_arrive() {
    type Seen = (u8, i64, f32, Vec<u8>, bool, usize);
    let seen: Arc<Mutex<Option<Seen>>> = Arc::default();
    let written = seen.clone();
    let kernel = Kernel::new("look", move |group: &mut Workgroup<'_>| {
        let arguments = group.arguments;
        let (some, none) = (arguments.buffer::<u16>(4)?, arguments.buffer::<u16>(5)?);
        let values = (arguments.value(0)?, arguments.value(1)?, arguments.value(2)?);
        let bytes = arguments.bytes(3)?.to_vec();
        *written.lock().unwrap() =
            Some((values.0, values.1, values.2, bytes, none.is_null(), some.as_ptr() as usize));
        Ok(())
    });
    let kernel = kernel.value::<u8>("a").value::<i64>("b").value::<f32>("c").bytes("d", 3, 1);
    let (device, executable) = device_with([kernel.buffer("e").buffer("f")]);
    let buffer = device.allocate_device(64).unwrap();
    let part = buffer.subspan(13, 20).unwrap();
    let arguments = [
        7_u8.into(),
        (-5_i64).into(),
        0.25_f32.into(),
        Argument::Bytes(&[1, 2, 3]),
        part.arg(),
        Argument::Null,
    ];
    run(&device, &executable.function("look").unwrap(), single(), &arguments).unwrap();
    let address = buffer.device_address() as usize + 13;
    assert_eq!(seen.lock().unwrap().take(), Some((7, -5, 0.25, vec![1, 2, 3], true, address)));
}

#[test]
fn elements_need_no_alignment() {
    let kernel = Kernel::new("double", |group| {
        let data = group.arguments.buffer::<u32>(0)?;
        for i in 0..4 {
            // SAFETY: the test's buffer holds four words.
            unsafe { data.store(i, data.load(i) * 2) };
        }
        Ok(())
    });
    let (device, executable) = device_with([kernel.buffer("data")]);
    let (queue, buffer) = (device.queue(0).unwrap(), device.allocate_device(32).unwrap());
    let (part, step) = (buffer.subspan(3, 16).unwrap(), Semaphore::new(0));
    queue.fill(&[], &[step.at(1)], &buffer, 0x11_u8).unwrap();
    let double = executable.function("double").unwrap();
    queue.dispatch(&[step.at(1)], &[step.at(2)], &double, single(), &[part.arg()]).unwrap();
    let bytes = queue.download(&[step.at(2)], &buffer).unwrap().wait(LONG).unwrap();
    let mut expected = [0x11; 32];
    expected[3..19].fill(0x22);
    assert_eq!(bytes, expected);
}

#[test]
fn a_kernel_that_misreads_its_arguments_fails() {
    let kernels = [
        Kernel::new("kind", |group| group.arguments.buffer::<u8>(0).map(drop)).value::<u64>("a"),
        Kernel::new("kind", |group| group.arguments.value::<u64>(0).map(drop)).buffer("a"),
        Kernel::new("size", |group| group.arguments.value::<u32>(0).map(drop)).value::<u64>("a"),
        Kernel::new("place", |group| group.arguments.value::<u64>(1).map(drop)).value::<u64>("a"),
    ];
    for kernel in kernels {
        let name = kernel.info().name.clone();
        let null = kernel.info().parameters[0].kind == ParameterKind::Buffer;
        let error = failure(kernel, &[if null { Argument::Null } else { 1_u64.into() }]);
        assert_eq!(error.code(), Code::InvalidArgument, "{error}");
        assert!(error.to_string().contains(&format!("`{name}`")), "{error}");
    }
    let error = failure(Kernel::new("global", |group| group.arguments.global::<u8>("x").map(drop)), &[]);
    assert_eq!(error.code(), Code::NotFound, "{error}");
}

#[test]
fn a_panic_fails_its_dispatch_alone() {
    let kernel = Kernel::new("panics", |group| {
        let n: u32 = group.arguments.value(0)?;
        assert!(group.id[0] < n, "no workgroup may be beyond {n}");
        Ok(())
    });
    let (device, executable) = device_with([kernel.value::<u32>("n")]);
    let function = executable.function("panics").unwrap();
    let config = DispatchConfig::new([5, 1, 1]).workgroup_size([1; 3]);
    let error = run(&device, &function, config, &[3_u32.into()]).unwrap_err();
    assert_eq!(error.code(), Code::Aborted);
    for word in ["`panics`", "[3, 0, 0]", "beyond 3"] {
        assert!(error.to_string().contains(word), "{error}");
    }
    run(&device, &function, config, &[5_u32.into()]).unwrap();
}

#[test]
fn an_error_ends_its_dispatch_and_reaches_dependants() {
    let ran = Arc::new(Mutex::new(Vec::new()));
    let log = ran.clone();
    let kernel = Kernel::new("third", move |group| {
        log.lock().unwrap().push(group.id);
        if group.id == [0, 1, 0] { Err(Error::data_loss("on purpose")) } else { Ok(()) }
    });
    let (device, executable) = device_with([kernel]);
    let (queue, step) = (device.queue(0).unwrap(), Semaphore::new(0));
    let function = executable.function("third").unwrap();
    let config = DispatchConfig::new([2, 2, 1]).workgroup_size([1; 3]);
    queue.barrier(&[step.at(1)], &[step.at(2)]).unwrap();
    queue.dispatch(&[], &[step.at(1)], &function, config, &[]).unwrap();
    assert_eq!(step.query().unwrap_err().code(), Code::DataLoss);
    assert_eq!(*ran.lock().unwrap(), [[0, 0, 0], [1, 0, 0], [0, 1, 0]]);
}

#[test]
fn an_error_in_a_command_buffer_names_the_command() {
    let kernel = Kernel::new("fails", |_| Err(Error::data_loss("on purpose")));
    let (device, executable) = device_with([kernel]);
    let (buffer, done) = (device.allocate_device(16).unwrap(), Semaphore::new(0));
    let mut recorder = device.record_with_slots(1).unwrap();
    recorder.fill(BufferRef::slot(0, 0, 16), 1_u8).unwrap();
    recorder.barrier();
    recorder.dispatch(&executable.function("fails").unwrap(), single(), &[]).unwrap();
    recorder.barrier();
    recorder.fill(BufferRef::slot(0, 0, 16), 2_u8).unwrap();
    let queue = device.queue(0).unwrap();
    queue.execute(&[], &[done.at(1)], &recorder.finish().unwrap(), [buffer.clone()]).unwrap();
    let error = done.query().unwrap_err();
    assert_eq!(error.code(), Code::DataLoss);
    assert!(error.to_string().contains("command 2"), "{error}");
    assert_eq!(queue.download(&[], &buffer).unwrap().wait(LONG).unwrap(), [1; 16]);
}

#[test]
fn local_memory_is_what_was_asked_for() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let kernel = Kernel::new("local", move |group| {
        let aligned = group.local_memory.as_ptr().addr().is_multiple_of(64);
        group.local_memory.fill(group.id[0] as u8);
        log.lock().unwrap().push((group.local_memory.len(), aligned || group.local_memory.is_empty()));
        Ok(())
    });
    let plain = Kernel::new("none", |group| {
        if group.local_memory.is_empty() { Ok(()) } else { Err(Error::internal("unasked")) }
    });
    let (device, executable) = device_with([kernel.local_memory(40), plain]);
    let function = executable.function("local").unwrap();
    let limit = device.limits().max_local_memory;
    for dynamic in [0, 1, 1000, limit - 40] {
        run(&device, &function, single().dynamic_local_memory(dynamic), &[]).unwrap();
        assert_eq!(seen.lock().unwrap().pop(), Some((40 + dynamic as usize, true)));
    }
    let refused = run(&device, &function, single().dynamic_local_memory(limit - 39), &[]).unwrap_err();
    assert_eq!(refused.code(), Code::OutOfRange);
    run(&device, &executable.function("none").unwrap(), single(), &[]).unwrap();
}

#[test]
fn work_items_by_their_places() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let kernel = Kernel::new("items", move |group| {
        log.lock().unwrap().extend(group.items().zip(group.global_items()));
        Ok(())
    });
    let (device, executable) = device_with([kernel.workgroup_size([2, 1, 2])]);
    run(&device, &executable.function("items").unwrap(), DispatchConfig::new([1, 2, 1]), &[]).unwrap();
    let items = [[0, 0, 0], [1, 0, 0], [0, 0, 1], [1, 0, 1]];
    let expected: Vec<_> = (0..2).flat_map(|y| items.map(|[i, j, k]| ([i, j, k], [i, j + y, k]))).collect();
    assert_eq!(*seen.lock().unwrap(), expected);
}

#[test]
fn globals_belong_to_their_executable() {
    let count = Kernel::new("count", |group| {
        let counter = group.arguments.global::<u32>("counter")?;
        // SAFETY: the global has four bytes, and the test's buffer too.
        unsafe {
            counter.store(0, counter.load(0) + 1);
            group.arguments.buffer(0)?.store(0, counter.load(0));
        }
        Ok(())
    });
    let library =
        Library::builder("counting").kernel(count.buffer("out")).global("counter", &7_u32.to_ne_bytes());
    let library = library.build().unwrap();
    let device = open(LocalDriver::new().with_library(library.clone()), "local://");
    let out = device.allocate_device(4).unwrap();
    let count = |executable: &windlass_hal::Executable| {
        run(&device, &executable.function("count").unwrap(), single(), &[out.arg()]).unwrap();
        let bytes = device.queue(0).unwrap().download(&[], &out).unwrap().wait(LONG).unwrap();
        u32::from_ne_bytes(bytes.try_into().unwrap())
    };
    let executable = load(&device, &library.image()).unwrap();
    assert_eq!((count(&executable), count(&executable)), (8, 9));
    // The same bytes give the same executable, so its variable keeps its value.
    assert_eq!(count(&load(&device, &library.image()).unwrap()), 10);
    assert_eq!(executable.global("counter").unwrap().len(), 4);
    assert_eq!(executable.global("none").unwrap_err().code(), Code::NotFound);
    drop(executable);
    // The executable was dropped, so loading makes a fresh one.
    assert_eq!(count(&load(&device, &library.image()).unwrap()), 8);
}

#[test]
fn a_library_replaces_one_of_its_name() {
    let library =
        |name: &str| Library::builder("same").kernel(Kernel::new(name, |_| Ok(()))).build().unwrap();
    let device =
        open(LocalDriver::new().with_library(library("old")).with_library(library("new")), "local://");
    let executable = load(&device, &image("same")).unwrap();
    executable.function("new").unwrap();
    assert_eq!(executable.function("old").unwrap_err().code(), Code::NotFound);
}

#[test]
fn libraries_that_make_no_sense_are_refused() {
    let kernel = || Kernel::new("k", |_| Ok(()));
    for (library, word) in [
        (Library::builder("").kernel(kernel()), "name"),
        (Library::builder("l").kernel(Kernel::new("", |_| Ok(()))), "name"),
        (Library::builder("l").kernel(kernel()).kernel(kernel()), "`k`"),
        (Library::builder("l").global("g", &[1]).global("g", &[2]), "`g`"),
        (Library::builder("l").kernel(kernel().bytes("p", 0, 4)), "`p`"),
        (Library::builder("l").kernel(kernel().bytes("p", 4, 0)), "`p`"),
        (Library::builder("l").kernel(kernel().bytes("p", 4, 3)), "`p`"),
        (Library::builder("l").kernel(kernel().value::<u8>("o").bytes("p", u32::MAX, 1)), "`p`"),
        (Library::builder("l").kernel(kernel().workgroup_size([1, 0, 1])), "work-item"),
    ] {
        let error = library.build().unwrap_err();
        assert_eq!(error.code(), Code::InvalidArgument);
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn images_that_name_no_library_are_refused() {
    let (device, _) = device_with([]);
    let whole = image("test");
    load(&device, &whole).unwrap();
    let mut wrong = vec![whole[..whole.len() - 1].to_vec(), whole[..18].to_vec(), whole[..16].to_vec()];
    wrong.push([&whole[..], b"s"].concat());
    wrong.push([&whole[..20], b"t\xffst"].concat());
    for bytes in wrong {
        assert_eq!(load(&device, &bytes).unwrap_err().code(), Code::InvalidArgument, "{bytes:?}");
    }
    let error = load(&device, &image("tests")).unwrap_err();
    assert_eq!(error.code(), Code::NotFound);
    for word in ["`tests`", "test", "with_library"] {
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn code_for_gpus_is_refused_with_what_it_is_for() {
    let device = device();
    for (bytes, words) in [
        (
            &include_bytes!("../../../cts/kernels/bundles/vector_add.generic.ccob")[..],
            &["gfx11-generic", "host-x86_64-unknown-linux-- (empty)"][..],
        ),
        (include_bytes!("../../../cts/kernels/bundles/vector_add.gfx942.co"), &["gfx942"]),
    ] {
        let error = load(&device, bytes).unwrap_err();
        assert_eq!(error.code(), Code::NotFound, "{error}");
        for word in words.iter().chain(&["hip-sim://gfx942"]) {
            assert!(error.to_string().contains(word), "{error}");
        }
    }
    for bytes in [&b""[..], b"CCOB", b"\x7fELF", b"WINDLASS"] {
        assert_eq!(load(&device, bytes).unwrap_err().code(), Code::InvalidArgument, "{bytes:?}");
    }
}

#[test]
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn a_driver_without_native_code_refuses_it() {
    let bundle: &[u8] = include_bytes!("../../../cts/kernels/bundles/vector_add.ccob");
    let device = open(LocalDriver::new().without_native(), "local://?threads=0");
    assert_eq!(device.info().executable_formats, [windlass_local::FORMAT]);
    let error = load(&device, bundle).unwrap_err();
    assert_eq!(error.code(), Code::Unimplemented, "{error}");
    assert!(error.to_string().contains("without_native"), "{error}");
    // SAFETY: loading is refused.
    let linked = unsafe { device.load_linked(&[bundle, bundle]) };
    assert_eq!(linked.unwrap_err().code(), Code::Unimplemented);
    // The device still loads libraries of Rust kernels.
    load(&device, &windlass_local::conformance::find("vector_add").unwrap()).unwrap();
    load(&open(LocalDriver::new(), "local://?threads=0"), bundle).unwrap();
}

#[test]
fn uris() {
    let mut registry = windlass_hal::Registry::new();
    windlass_local::register(&mut registry);
    for (uri, code, word) in [
        ("local://?threads=100000", Code::OutOfRange, "1024"),
        ("local://?threads=many", Code::InvalidArgument, "threads"),
        ("local://?colour=red", Code::InvalidArgument, "colour"),
        ("local://cpu", Code::NotFound, "local://"),
    ] {
        let error = registry.open(uri).unwrap_err();
        assert_eq!(error.code(), code, "{uri}: {error}");
        assert!(error.to_string().contains(word), "{uri}: {error}");
    }
    let device = registry.open("local://?memory=1000").unwrap();
    let first = device.allocate_device(600).unwrap();
    let error = device.allocate_device(600).unwrap_err();
    assert_eq!(error.code(), Code::ResourceExhausted);
    assert!(error.to_string().contains("400 free of 1000"), "{error}");
    drop(first);
    device.allocate_device(600).unwrap();
    assert_eq!(registry.open("local://").unwrap().info().architecture, std::env::consts::ARCH);
}
