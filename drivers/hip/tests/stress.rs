// SPDX-License-Identifier: MIT OR Apache-2.0
//! Eight threads submit seeded random work over the null HIP, ordered by each other's timelines. No wait hangs or fails, and
//! memory does not grow. `WINDLASS_STRESS=N` sets the number of submissions.

mod common;

use std::{
    fs, thread,
    time::{Duration, Instant},
};

use windlass_hal::{BufferParams, Deadline, Device, Point, Result, Semaphore};

const THREADS: usize = 8;
/// Submissions of a thread until it waits for its own timeline, so that a bounded amount of work is in flight.
const WINDOW: u64 = 64;
/// The bytes that may come on top of those in use after the first tenth: fragments of the allocator, no work.
const SLACK: u64 = 16 << 20;

/// A number for each step of each thread, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        // SplitMix64.
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }
}

/// The timelines of all threads. Each thread signals its own.
struct Timelines([Semaphore; THREADS]);

/// Submits random work from one thread. Each operation waits for the one before, and some wait for the present value of
/// another timeline.
fn submit(device: &Device, timelines: &Timelines, own: usize, first: u64, count: u64) -> Result<()> {
    let mut random = Random(own as u64 * 0x1000_0000 + first);
    let (commands, table) = common::record(device, 1, own.is_multiple_of(2));
    let buffer = device.allocate_device(4096)?;
    let timeline = &timelines.0[own];
    for value in first..first + count {
        let queue = device.queue(random.below(u64::from(device.limits().queues)) as u32)?;
        let mut waits: Vec<Point> = vec![timeline.at(value)];
        if random.below(4) == 0 {
            let other = &timelines.0[random.below(THREADS as u64) as usize];
            waits.push(other.at(other.query()?));
        }
        let signals = [timeline.at(value + 1)];
        match random.below(8) {
            0 => queue.barrier(&waits, &signals)?,
            1 => queue.fill(&waits, &signals, &buffer, 7_u8)?,
            2 => queue.update(&waits, &signals, &[1; 16], &buffer.subspan(0, 16)?)?,
            3 => {
                let placed = queue.alloca(&waits, &[], &BufferParams::device(), 256 << random.below(6))?;
                queue.dealloca(&waits, &signals, &placed)?;
            }
            _ => queue.execute(&waits, &signals, &commands, table.clone())?,
        }
        if value % WINDOW == 0 {
            timeline.wait_blocking(value + 1, Deadline::after(Duration::from_secs(60)))?;
        }
    }
    timeline.wait_blocking(first + count, Deadline::after(Duration::from_secs(60)))
}

/// The bytes of memory that this process has, or `None` where the system does not tell.
fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

#[test]
fn many_submissions_of_many_threads_grow_no_memory() {
    let total = std::env::var("WINDLASS_STRESS").map_or(40_000, |text| text.parse().expect("a number"));
    let (_instance, device) = common::open();
    let timelines = Timelines(std::array::from_fn(|_| Semaphore::new(0)));
    let per_thread = (total / THREADS as u64).max(10);
    let run = |first: u64, count: u64| {
        thread::scope(|scope| {
            for own in 0..THREADS {
                let (device, timelines) = (&device, &timelines);
                scope.spawn(move || submit(device, timelines, own, first, count).expect("no failure"));
            }
        });
    };
    let start = Instant::now();
    let warm = per_thread / 10;
    run(0, warm);
    let before = resident();
    run(warm, per_thread - warm);
    let after = resident();
    // For `.ci/stress`, which shows it.
    #[allow(clippy::print_stdout)]
    {
        println!("{total} submissions in {:.1?}: {before:?} bytes, then {after:?}", start.elapsed());
    }
    if let (Some(before), Some(after)) = (before, after) {
        assert!(after <= before + SLACK, "{before} bytes grew to {after} over {total} submissions");
    }
    let ends: Vec<u64> = timelines.0.iter().map(|timeline| timeline.query().expect("no failure")).collect();
    assert_eq!(ends, [per_thread; THREADS]);
}
