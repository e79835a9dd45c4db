// SPDX-License-Identifier: MIT OR Apache-2.0
//! HIP 5, as the simulated GPU imitates it: the driver avoids its defects, and explains code that it cannot read.

use std::time::Duration;

use windlass::{
    BindingTable, Buffer, BufferRef, Code, Device, DispatchConfig, Executable, Pattern, Result, Semaphore,
};

const SOON: Duration = Duration::from_secs(60);
const VECTOR_ADD: &[u8] = include_bytes!("../../cts/kernels/bundles/vector_add.gfx942.co");

/// Two words. The second begins behind the first.
const SIZE: u64 = 16;

fn open(hip: &str) -> Device {
    windlass::open(&format!("hip-sim://gfx942?hip={hip}&threads=1")).expect("a simulated GPU")
}

/// Every fill of whole elements that begins in the first word, with patterns of 1, 2 and 4 bytes.
fn fills() -> impl Iterator<Item = (u64, u64, Pattern)> {
    let patterns: [Pattern; 3] = [0x11_u8.into(), 0x2221_u16.into(), 0x3433_3231_u32.into()];
    patterns.into_iter().flat_map(|pattern| {
        let size = pattern.bytes().len() as u64;
        let starts = (0..8).step_by(size as usize);
        starts.flat_map(move |start| {
            (size..=SIZE - start).step_by(size as usize).map(move |length| (start, length, pattern))
        })
    })
}

fn expected(start: u64, length: u64, pattern: Pattern) -> Vec<u8> {
    let mut bytes = vec![0xee; SIZE as usize];
    let filled = pattern.bytes().iter().copied().cycle();
    bytes[start as usize..].iter_mut().zip(filled).take(length as usize).for_each(|(byte, by)| *byte = by);
    bytes
}

/// Unfilled memory.
fn untouched(device: &Device) -> Buffer {
    let buffer = device.allocate_device(SIZE).expect("memory");
    let done = Semaphore::new(0);
    device.queue(0).expect("a queue").fill(&[], &[done.at(1)], &buffer, 0xee_u8).expect("a fill");
    done.wait_blocking(1, SOON).expect("is filled");
    buffer
}

/// Fills by `submit` while the queue is blocked, and then compares every byte.
#[track_caller]
fn check(device: &Device, fill: (u64, u64, Pattern), submit: impl FnOnce(&Buffer, &Semaphore, &Semaphore)) {
    let (start, length, pattern) = fill;
    let buffer = untouched(device);
    let (gate, done) = (Semaphore::new(0), Semaphore::new(0));
    submit(&buffer, &gate, &done);
    assert_eq!(done.query().expect("no failure"), 0, "nothing runs before its wait");
    gate.signal(1).expect("the gate opens");
    let queue = device.queue(0).expect("a queue");
    let bytes = queue.download(&[done.at(1)], &buffer).expect("a download").wait(SOON);
    let bytes = bytes.unwrap_or_else(|error| panic!("{length} bytes at {start}: {error}"));
    assert_eq!(bytes, expected(start, length, pattern), "{length} bytes at {start}, {pattern:?}");
}

#[test]
fn fills_within_a_word_are_right() {
    let device = open("5.2");
    for (start, length, pattern) in fills() {
        check(&device, (start, length, pattern), |buffer, gate, done| {
            let target = buffer.subspan(start, length).expect("a part");
            let queue = device.queue(0).expect("a queue");
            queue.fill(&[gate.at(1)], &[done.at(1)], &target, pattern).expect("a fill");
        });
    }
}

#[test]
fn recorded_fills_within_a_word_are_right() {
    let device = open("5.2");
    for (start, length, pattern) in fills() {
        check(&device, (start, length, pattern), |buffer, gate, done| {
            let mut recorder = device.record().expect("a recorder");
            // Updates and fills stage their bytes in one place.
            let first = buffer.subspan(start, 1).expect("a part");
            recorder.update(&[0x99], &first).expect("an update");
            recorder.barrier();
            recorder.fill(buffer.subspan(start, length).expect("a part"), pattern).expect("a fill");
            let commands = recorder.finish().expect("a command buffer");
            let queue = device.queue(0).expect("a queue");
            queue.execute(&[gate.at(1)], &[done.at(1)], &commands, BindingTable::empty()).expect("submits");
        });
    }
}

/// The address of the buffer is known only at submission.
#[test]
fn recorded_fills_of_a_slot_are_right_wherever_it_lies() {
    let device = open("5.2");
    for (start, length, pattern) in fills() {
        let mut recorder = device.record_with_slots(1).expect("a recorder");
        recorder.fill(BufferRef::slot(0, 0, length), pattern).expect("a fill");
        let commands = recorder.finish().expect("a command buffer");
        check(&device, (start, length, pattern), |buffer, gate, done| {
            let target = buffer.subspan(start, length).expect("a part");
            let queue = device.queue(0).expect("a queue");
            let table = BindingTable::from(vec![target]);
            queue.execute(&[gate.at(1)], &[done.at(1)], &commands, table).expect("submits");
        });
    }
}

fn load(device: &Device, code: &[u8]) -> Result<Executable> {
    // SAFETY: the project's own kernel, dispatched within the buffers that it is given.
    unsafe { device.load_executable(code) }
}

/// The same kernel as another compiler's output: the version is a byte of the ELF header.
fn of_version(version: u8) -> Vec<u8> {
    let mut code = VECTOR_ADD.to_vec();
    code[8] = version - 2;
    code
}

#[test]
fn code_that_is_too_new_is_refused_with_the_remedy() {
    for (hip, version, newest) in [("5.2", 5, 4), ("5.2", 6, 4), ("5.3", 6, 5), ("5.7", 6, 5)] {
        let device = open(hip);
        let error = load(&device, &of_version(version)).expect_err("HIP does not read it");
        assert_eq!(error.code(), Code::NotFound, "{error}");
        let text = error.to_string();
        for part in [
            format!("HIP {hip}."),
            format!("reads code objects up to v{newest}"),
            format!("this is a code object v{version}"),
            format!("-mcode-object-version={newest}"),
            "newer HIP".to_owned(),
        ] {
            assert!(text.contains(&part), "{part} is not in: {text}");
        }
        assert_eq!(device.info().executable_formats, [format!("hsaco-v{newest}")]);
    }
}

#[test]
fn code_that_is_old_enough_runs() {
    for (hip, version) in [("5.2", 4), ("5.3", 4), ("5.3", 5), ("6.0", 5), ("6.0", 6)] {
        let device = open(hip);
        let executable = load(&device, &of_version(version)).expect("HIP reads it");
        let function = executable.function("vector_add").expect("is there");
        let [a, b, sum] = [1.5_f32, 2.0, 0.0].map(|value| {
            let (buffer, done) = (device.allocate_device(256).expect("memory"), Semaphore::new(0));
            device.queue(0).expect("a queue").fill(&[], &[done.at(1)], &buffer, value).expect("a fill");
            done.wait_blocking(1, SOON).expect("is filled");
            buffer
        });
        let (queue, done) = (device.queue(0).expect("a queue"), Semaphore::new(0));
        let config = DispatchConfig::new([1; 3]).workgroup_size([64, 1, 1]);
        let arguments = [a.arg(), b.arg(), sum.arg(), 64_i32.into()];
        queue.dispatch(&[], &[done.at(1)], &function, config, &arguments).expect("a dispatch");
        let bytes = queue.download(&[done.at(1)], &sum).expect("a download").wait(SOON).expect("it ran");
        assert_eq!(bytes, 3.5_f32.to_le_bytes().repeat(64), "HIP {hip}, code object version {version}");
    }
}

/// AMD's 5.2 dereferences a null pointer when it launches such kernels. The suite skips linked code, with the reason.
#[test]
fn kernels_that_would_end_the_process_are_refused_by_name() {
    const LINK_USER: &[u8] = include_bytes!("../../cts/kernels/bundles/link_user.ccob");
    const LINK_PROVIDER: &[u8] = include_bytes!("../../cts/kernels/bundles/link_provider.ccob");
    const CALLS: &[u8] = include_bytes!("../../cts/kernels/bundles/unoptimized.ccob");
    for (hip, refused) in [("5.2", true), ("5.6", true), ("5.7", false)] {
        let device =
            windlass::open(&format!("hip-sim://gfx90a?hip={hip}&threads=1")).expect("a simulated GPU");
        let lacks = device.info().lacks.iter().any(|lack| lack.feature == windlass::Feature::Linking);
        assert_eq!(lacks, refused, "HIP {hip}");
        // SAFETY: nothing of the code is dispatched.
        let (linked, loaded) =
            unsafe { (device.load_linked(&[LINK_USER, LINK_PROVIDER]), device.load_executable(CALLS)) };
        for (result, named) in [(linked, "link the code"), (loaded, "hidden_completion_action")] {
            assert_eq!(result.is_err(), refused, "HIP {hip}: {result:?}");
            let Err(error) = result else { continue };
            assert_eq!(error.code(), Code::Unimplemented);
            assert!(error.to_string().contains(named), "{error}");
        }
    }
}
