// SPDX-License-Identifier: MIT OR Apache-2.0
//! Profiles over the drivers of the facade: times of the device, the trace of a viewer, statistics.

use std::{
    io::{self, Write},
    sync::{Arc, Mutex},
};

use serde_json::Value;
use windlass::{
    BufferParams, CommandKind, Deadline, DebugGroup, Device, DeviceInfo, DispatchConfig, Error, Function,
    HostCallFlags, ProfileChunk, ProfileOptions, ProfileRecord, ProfileSink, ProfileSinks, ProfileStatistics,
    ProfileTrace, Semaphore, Uri, driver,
};
use windlass_cts::{Exit, Kernels, Options};

/// The error of a device's clock against the host's on a busy machine, in nanoseconds.
const CLOCKS: u64 = 10_000_000;

const ALL: [&str; 5] =
    ["hip-sim://gfx942", "hip-sim://gfx942?devices=2", "hip-null://", "local://", "null://"];

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Default)]
struct Notes(Mutex<Vec<ProfileRecord>>);

impl ProfileSink for Notes {
    fn records(&self, chunk: ProfileChunk) {
        assert_eq!(chunk.dropped, 0);
        self.0.lock().unwrap().extend(chunk.records);
    }
}

/// Two groups, one in the other, with a fill and a copy.
fn grouped(device: &Device) -> windlass::Result<windlass::CommandBuffer> {
    let (a, b) = (device.allocate_device(4096)?, device.allocate_device(4096)?);
    let mut recorder = device.record()?;
    recorder.begin_debug_group(DebugGroup::new("outer \"quoted\"\n").color([1, 2, 3, 4]));
    recorder.fill(&a, 7_u8)?;
    recorder.barrier();
    recorder.begin_debug_group("inner");
    recorder.copy(&a, &b)?;
    recorder.end_debug_group()?;
    recorder.end_debug_group()?;
    recorder.finish()
}

/// The trace and the statistics of a chain over two queues, with a command buffer, a host call and a failure.
fn profile(uri: &str) -> (Value, Arc<ProfileStatistics>) {
    let device = windlass::open(uri).unwrap();
    let (text, statistics) = (Shared::default(), Arc::new(ProfileStatistics::new()));
    let trace = Arc::new(ProfileTrace::new(text.clone()));
    let sinks: [Arc<dyn ProfileSink>; 2] = [trace.clone(), statistics.clone()];
    let options = ProfileOptions::default().with_commands(true);
    device.profiling_begin(options, Arc::new(ProfileSinks::new(sinks))).unwrap();
    let buffer = device.allocate_device(4096).unwrap();
    let (step, bad) = (Semaphore::new(0), Semaphore::new(0));
    let queue = |index: u32| device.queue(index % device.limits().queues).unwrap();
    queue(0).fill(&[], &[step.at(1)], &buffer, 1_u32).unwrap();
    queue(1).update(&[step.at(1)], &[step.at(2)], &[5; 4096], &buffer).unwrap();
    let commands = grouped(&device).unwrap();
    queue(0).execute(&[step.at(2)], &[step.at(3)], &commands, []).unwrap();
    queue(1).host_call(&[step.at(3)], &[step.at(4)], HostCallFlags::NONE, |_| Ok(())).unwrap();
    step.wait_blocking(4, Deadline::NEVER).unwrap();
    queue(0).barrier(&[step.at(4)], &[bad.at(1)]).unwrap();
    queue(0)
        .host_call(&[bad.at(1)], &[bad.at(2)], HostCallFlags::NONE, |_| {
            Err(Error::data_loss("on \"purpose\""))
        })
        .unwrap();
    bad.wait_blocking(2, Deadline::NEVER).unwrap_err();
    device.profiling_end().unwrap();
    trace.finish().unwrap();
    let bytes = text.0.lock().unwrap().clone();
    (serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{uri}: {error}")), statistics)
}

fn events<'a>(trace: &'a Value, kind: &str) -> Vec<&'a Value> {
    trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["ph"] == kind).collect()
}

#[test]
fn a_trace_is_json_with_a_slice_for_each_operation_and_arrows_between_them() {
    for uri in ALL {
        let (trace, _) = profile(uri);
        let slices = events(&trace, "X");
        let count = |name: &str| slices.iter().filter(|slice| slice["name"] == name).count();
        for (name, times) in [
            ("queue_fill", 1),
            ("queue_update", 1),
            ("queue_execute", 1),
            ("queue_barrier", 1),
            ("queue_host_call", 2),
            ("host call", 2),
        ] {
            assert_eq!(count(name), times, "{uri}: {name} in {slices:#?}");
        }
        // Fill to update to execute to call to barrier to call.
        let (tails, heads) = (events(&trace, "s"), events(&trace, "f"));
        assert_eq!((tails.len(), heads.len()), (5, 5), "{uri}");
        let encloses = |slice: &Value, end: &Value| {
            let time = |value: &Value| value.as_f64().unwrap();
            let (begun, at) = (time(&slice["ts"]), time(&end["ts"]));
            slice["pid"] == end["pid"]
                && slice["tid"] == end["tid"]
                && begun <= at
                && at <= begun + time(&slice["dur"]) + 0.001
        };
        for end in tails.iter().chain(&heads) {
            assert!(slices.iter().any(|slice| encloses(slice, end)), "{uri}: {end} is in no slice");
        }
        for (tail, head) in tails.iter().zip(&heads) {
            assert_eq!(tail["id"], head["id"]);
            let time = |event: &Value| event["ts"].as_f64().unwrap();
            // As in the suite: on a busy machine the clocks of the host and of a device agree within ten milliseconds.
            assert!(time(tail) <= time(head) + 10_000.0, "{uri}: an arrow points back: {tail} {head}");
        }
        let failed: Vec<_> =
            slices.iter().filter(|slice| slice["args"]["error"].to_string().contains("purpose")).collect();
        assert_eq!(failed.len(), 2, "{uri}: the call and its operation");
        assert!(!events(&trace, "C").is_empty(), "{uri}: memory has counters");
        let name = events(&trace, "M").into_iter().find(|event| event["name"] == "process_name").unwrap();
        let simulated = windlass::open(uri).unwrap().info().simulated;
        assert_eq!(name["args"]["name"].as_str().unwrap().contains("simulated"), simulated, "{name}");
    }
}

#[test]
fn slices_of_a_row_nest_and_do_not_overlap() {
    for uri in ALL {
        let (trace, _) = profile(uri);
        let nanoseconds = |value: &Value| (value.as_f64().unwrap() * 1000.0).round() as u64;
        let mut spans: Vec<_> = events(&trace, "X")
            .into_iter()
            .map(|slice| {
                let begun = nanoseconds(&slice["ts"]);
                let row = (slice["pid"].as_u64().unwrap(), slice["tid"].as_u64().unwrap());
                (row, begun, begun + nanoseconds(&slice["dur"]))
            })
            .collect();
        // The longer one first, which encloses the others.
        spans.sort_by_key(|(row, begun, ended)| (*row, *begun, u64::MAX - *ended));
        let mut open: Vec<((u64, u64), u64, u64)> = Vec::new();
        for span in spans {
            while open.last().is_some_and(|last| last.0 != span.0 || last.2 <= span.1) {
                open.pop();
            }
            if let Some(last) = open.last() {
                // A float of microseconds since the boot has an error of a few nanoseconds.
                assert!(span.2 <= last.2 + 8, "{uri}: {span:?} overlaps {last:?}");
            }
            open.push(span);
        }
    }
}

#[test]
fn debug_groups_are_slices_around_their_commands() {
    for uri in ["hip-sim://gfx942", "hip-null://"] {
        let (trace, _) = profile(uri);
        let slices = events(&trace, "X");
        let span = |name: &str| {
            let slice = slices.iter().find(|slice| slice["name"] == name);
            let slice = slice.unwrap_or_else(|| panic!("{uri}: no {name} in {slices:#?}"));
            let begun = slice["ts"].as_f64().unwrap();
            (begun, begun + slice["dur"].as_f64().unwrap())
        };
        let within =
            |inner: (f64, f64), outer: (f64, f64)| outer.0 <= inner.0 + 0.01 && inner.1 <= outer.1 + 0.01;
        let (outer, inner) = (span("outer \"quoted\"\n"), span("inner"));
        assert!(within(inner, outer) && within(span("fill"), outer) && within(span("copy"), inner), "{uri}");
        assert!(within(outer, span("queue_execute")), "{uri}");
    }
}

#[test]
fn statistics_count_each_operation_and_say_whose_time_it_is() {
    for uri in ALL {
        let (_, statistics) = profile(uri);
        let rows = statistics.rows();
        let row =
            |kind: &str| rows.iter().find(|row| row.kind == kind).unwrap_or_else(|| panic!("{uri}: {kind}"));
        assert_eq!((row("queue_fill").count, row("queue_fill").failed), (1, 0), "{uri}");
        assert_eq!((row("queue_host_call").count, row("queue_host_call").failed), (2, 1), "{uri}");
        assert_eq!((row("host_call").count, row("host_call").failed), (2, 1), "{uri}");
        for row in &rows {
            assert!(
                row.least <= row.median && row.median <= row.p99 && row.p99 <= row.most,
                "{uri}: {row:?}"
            );
            assert!(row.least <= row.mean && row.mean <= row.most && row.total >= row.most, "{uri}: {row:?}");
        }
        assert!(rows.is_sorted_by(|a, b| a.total >= b.total), "{uri}");
        assert!(row("queue_fill").is_device_time, "{uri}: a driver of this repository tells times");
        assert!(!row("queue_host_call").is_device_time, "{uri}");
        let text = statistics.to_string();
        assert_eq!(text.lines().count(), rows.len() + 1, "{text}");
        let simulated = windlass::open(uri).unwrap().info().simulated;
        assert_eq!(text.contains("device (simulated)"), simulated, "{uri}: {text}");
    }
}

fn vector_add(device: &Device) -> Function {
    let code = std::fs::read("cts/kernels/bundles/vector_add.ccob").unwrap();
    // SAFETY: the suite's kernel stays within its buffers.
    unsafe { device.load_executable(&code) }.unwrap().function("vector_add").unwrap()
}

/// The simulated GPU executes instructions, so a hundred times the work takes longer.
#[test]
fn the_time_of_a_dispatch_is_that_of_its_kernel() {
    let device = windlass::open("hip-sim://gfx942").unwrap();
    let function = vector_add(&device);
    let notes = Arc::new(Notes::default());
    device.profiling_begin(ProfileOptions::default(), notes.clone()).unwrap();
    let buffers: Vec<_> = (0..3).map(|_| device.allocate_device(4 << 18).unwrap()).collect();
    let (queue, done) = (device.queue(0).unwrap(), Semaphore::new(0));
    for (step, groups) in [(1, 1_u32), (2, 4096)] {
        let config = DispatchConfig::new([groups, 1, 1]).workgroup_size([64, 1, 1]);
        let count = (groups * 64) as i32;
        let arguments = [buffers[0].arg(), buffers[1].arg(), buffers[2].arg(), count.into()];
        queue.dispatch(&[done.at(step - 1)], &[done.at(step)], &function, config, &arguments).unwrap();
    }
    done.wait_blocking(2, Deadline::NEVER).unwrap();
    device.profiling_end().unwrap();
    let records = notes.0.lock().unwrap();
    let mut times = records.iter().filter_map(|record| match record {
        ProfileRecord::Operation(record) if record.function() == Some("vector_add") => {
            assert_eq!((record.queue, record.gpu), (Some(0), Some(0)));
            record.device
        }
        _ => None,
    });
    let (small, large) = (times.next().unwrap(), times.next().unwrap());
    let length = |time: windlass::TimeSpan| time.ended - time.begun;
    assert!(length(large) > length(small), "{small:?} {large:?}");
    assert!(small.ended <= large.ended, "{small:?} {large:?}");
}

#[test]
fn commands_of_a_replay_have_times_one_after_the_other_with_indirect_counts_too() {
    let device = windlass::open("hip-sim://gfx942").unwrap();
    let function = vector_add(&device);
    let notes = Arc::new(Notes::default());
    let buffers: Vec<_> = (0..3).map(|_| device.allocate_device(4096).unwrap()).collect();
    let usage = windlass::BufferUsage::DISPATCH_INDIRECT_PARAMETERS | windlass::BufferUsage::TRANSFER;
    let counts = device.allocate(&BufferParams::device().with_usage(usage), 12).unwrap();
    let arguments = [buffers[0].arg(), buffers[1].arg(), buffers[2].arg(), 64_i32.into()];
    let mut recorder = device.record().unwrap();
    let config = DispatchConfig::new([1, 1, 1]).workgroup_size([64, 1, 1]);
    recorder.dispatch(&function, config, &arguments).unwrap();
    recorder.fill(&counts, 1_u32).unwrap();
    recorder.barrier();
    let parameters = windlass::IndirectParameters::Dynamic(windlass::BufferRef::Direct(counts.clone()));
    let indirect = windlass::IndirectDispatchConfig::new(parameters).workgroup_size([64, 1, 1]);
    recorder.dispatch_indirect(&function, indirect, &arguments).unwrap();
    let commands = recorder.finish().unwrap();
    let options = ProfileOptions::default().with_commands(true).with_memory(false);
    device.profiling_begin(options, notes.clone()).unwrap();
    let (queue, done) = (device.queue(0).unwrap(), Semaphore::new(0));
    for step in 0..3 {
        queue.execute(&[done.at(step)], &[done.at(step + 1)], &commands, []).unwrap();
    }
    done.wait_blocking(3, Deadline::NEVER).unwrap();
    device.profiling_end().unwrap();
    let records = notes.0.lock().unwrap();
    let commands: Vec<_> = records
        .iter()
        .filter_map(|record| match record {
            ProfileRecord::Command(command) => Some(command),
            _ => None,
        })
        .collect();
    let kinds: Vec<_> = commands.iter().map(|command| command.kind).collect();
    let once = [CommandKind::Dispatch, CommandKind::Fill, CommandKind::Dispatch];
    assert_eq!(kinds, once.repeat(3));
    for replay in commands.chunks(3) {
        let times: Vec<_> = replay.iter().map(|command| command.device.expect("a time")).collect();
        assert!(times.windows(2).all(|pair| pair[0].ended <= pair[1].begun + 1000), "{times:?}");
        assert_eq!(replay[0].workgroup_count, Some([1, 1, 1]));
        assert_eq!(replay[2].workgroup_count, None, "the device knows it");
    }
}

/// HIP's numbers lose precision with distance, so the driver moves its reference in so much time.
#[test]
fn times_stay_right_when_the_reference_moves() {
    for uri in ["hip-null://", "hip-sim://gfx942", "local://"] {
        stay_right(&windlass::open(uri).unwrap());
    }
}

fn stay_right(device: &Device) {
    let notes = Arc::new(Notes::default());
    let options = ProfileOptions::default().with_memory(false);
    device.profiling_begin(options, notes.clone()).unwrap();
    let (buffer, done) = (device.allocate_device(4).unwrap(), Semaphore::new(0));
    let start = std::time::Instant::now();
    let mut step = 0;
    while start.elapsed() < std::time::Duration::from_millis(200) {
        device.queue(0).unwrap().fill(&[], &[done.at(step + 1)], &buffer, 1_u8).unwrap();
        done.wait_blocking(step + 1, Deadline::NEVER).unwrap();
        step += 1;
    }
    device.profiling_end().unwrap();
    let records = notes.0.lock().unwrap();
    assert_eq!(records.len() as u64, step);
    for record in records.iter() {
        let ProfileRecord::Operation(record) = record else { panic!("{record:?}") };
        let (time, retired) = (record.device.unwrap(), record.retired.unwrap());
        assert!(record.submitted <= time.begun + CLOCKS && time.ended <= retired + CLOCKS, "{record:?}");
    }
}

/// A driver whose devices are profiled from the beginning.
struct Profiled(Arc<dyn driver::Driver>);

struct Nothing;

impl ProfileSink for Nothing {
    fn records(&self, _: ProfileChunk) {}
}

impl driver::Driver for Profiled {
    fn scheme(&self) -> &str {
        self.0.scheme()
    }

    fn description(&self) -> String {
        self.0.description()
    }

    fn enumerate(&self) -> windlass::Result<Vec<DeviceInfo>> {
        self.0.enumerate()
    }

    fn open(&self, uri: &Uri) -> windlass::Result<Arc<dyn driver::RawDevice>> {
        let device = Device::from_driver(self.0.open(uri)?);
        device.profiling_begin(ProfileOptions::default().with_commands(true), Arc::new(Nothing))?;
        Ok(device.raw())
    }
}

/// A profile changes no law of the HAL. The cases of profiles put a second profile over the first.
#[test]
fn the_suite_passes_over_devices_that_are_profiled() {
    for uri in ["hip-sim://gfx942", "hip-sim://gfx942?seed=3", "local://"] {
        let scheme = uri.split(':').next().unwrap();
        let mut registry = windlass::Registry::new();
        registry.register(Arc::new(Profiled(windlass::registry().driver(scheme).unwrap().clone())));
        let mut options = Options::new(uri);
        options.kernels = vec![Kernels::new(windlass_local::FORMAT, windlass_local::conformance::find)];
        let (mut report, mut messages) = (Vec::new(), Vec::new());
        let exit =
            windlass_cts::main_with(&registry, &windlass_cts::cases(), options, &mut report, &mut messages);
        assert_eq!(exit, Exit::Passed, "{uri}: {}", String::from_utf8_lossy(&report));
    }
}
