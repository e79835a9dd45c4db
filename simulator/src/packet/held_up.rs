// SPDX-License-Identifier: MIT OR Apache-2.0
//! Reports streams that a hardware queue blocks, where that may last for ever.
//!
//! One case is certain: a host function waits, inside a call, for a packet that is behind it, in its stream or
//! in a hardware queue. The log reports it as an error. A host function that waits elsewhere, or a kernel that spins, may
//! still be released by an event that the simulator does not see. If a call waits for a packet behind such a
//! function or kernel, the log has a warning.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::time::{Duration, Instant};

use super::hardware::Name;
use super::queue::{Point, Queue};
use super::scheduler::Scheduler;
use super::state::SchedulerState;
use crate::trace::tell;

/// The time for which a packet may block others before it is reported, where there is no seed.
const LONG: Duration = Duration::from_secs(1);

thread_local! {
    /// The queue whose packet this thread runs, by its scheduler and its id.
    static RUNS: Cell<Option<(*const Scheduler, u64)>> = const { Cell::new(None) };
}

/// The packets that a wait depends on, directly or not. The value is the packet that waits for the key, and
/// whether it does so because of a hardware queue.
type Ways = BTreeMap<Name, Option<(Name, bool)>>;

/// A wait of a host function, which ends when it is dropped.
pub(super) struct HostWait<'a> {
    scheduler: &'a Scheduler,
    queue: u64,
}

impl Drop for HostWait<'_> {
    fn drop(&mut self) {
        self.scheduler.lock().host_waits.remove(&self.queue);
    }
}

/// How a host function waits for itself.
enum Circle {
    /// By its own stream, which is named, or by others that wait for that.
    Stream(String),
    /// By a hardware queue.
    Hardware(Report),
}

/// The names in a report about a stream that a hardware queue blocks.
struct Report {
    device: usize,
    hardware_queue: usize,
    most: usize,
    /// The stream that cannot run.
    behind: String,
    /// The stream that it is behind.
    ahead: String,
    /// The stream whose packet runs and does not end.
    holder: String,
    calls_host: bool,
}

impl Scheduler {
    /// Runs a packet of a queue.
    pub(super) fn run_on_thread(&self, queue: &Queue, packet: impl FnOnce()) {
        RUNS.set(Some((self, queue.id)));
        packet();
        RUNS.set(None);
    }

    /// The queue whose packet this thread runs.
    pub(super) fn runs_here(&self) -> Option<u64> {
        let (scheduler, queue) = RUNS.try_with(Cell::get).ok()??;
        std::ptr::eq(scheduler, self).then_some(queue)
    }

    /// Notes that this thread begins to wait, if it runs a host function. Reports a wait that never ends.
    pub(super) fn note_wait(&self, points: &[Point]) -> Option<HostWait<'_>> {
        let queue = self.runs_here()?;
        let report = {
            let mut state = self.lock();
            state.host_waits.insert(queue, points.to_vec());
            state.circle(queue, points)
        };
        match report {
            Some(Circle::Hardware(report)) => tell(|| {
                let Report { device, hardware_queue, .. } = report;
                tracing::error!(
                    target: "windlass::sim", device, hardware_queue,
                    "deadlock: {report}: {} waits for that stream inside a call of HIP, so neither ever ends. No host \
                     function may wait for a stream; with hardware_queues=0 each stream has a hardware queue of its own",
                    report.work()
                );
            }),
            Some(Circle::Stream(stream)) => tell(|| {
                tracing::error!(
                    target: "windlass::sim",
                    "deadlock: the host function that {stream} runs waits, inside a call of HIP, for work that cannot begin \
                     before the function ends, so neither ever ends. No host function may wait for a stream"
                );
            }),
            None => {}
        }
        Some(HostWait { scheduler: self, queue })
    }

    /// Reports packets that keep `points` from being reached because of a hardware queue, each packet once.
    pub(super) fn tell_held_up(&self, points: &[Point]) {
        let at_once = self.schedule.is_some();
        let report = self.lock().held_up(points, at_once);
        report.iter().for_each(warn);
    }

    /// Reports a kernel of `queue` that only spins and so blocks other streams, once.
    pub(super) fn tell_spinning(&self, queue: u64) {
        let report = self.lock().held_up_by(queue);
        report.iter().for_each(warn);
    }
}

fn warn(report: &Report) {
    let Report { device, hardware_queue, .. } = *report;
    tell(|| {
        tracing::warn!(
            target: "windlass::sim", device, hardware_queue,
            "{report}: {} does not end. If it waits for work behind it, neither ever continues; with hardware_queues=0 \
             each stream has a hardware queue of its own",
            report.work()
        );
    });
}

impl SchedulerState {
    /// The packets that `points` depend on. Hardware queues count only if `through_hardware`.
    fn ways(&self, points: &[Point], through_hardware: bool) -> Ways {
        let ahead = if through_hardware { self.hardware.ahead() } else { BTreeMap::new() };
        let mut ways = Ways::new();
        let name = |point: &Point| (point.queue.id, point.number);
        let mut left: Vec<(Name, Option<(Name, bool)>)> =
            points.iter().map(|point| (name(point), None)).collect();
        while let Some((packet, by)) = left.pop() {
            let Some(waiting) = self.queues.get(&packet.0) else { continue };
            if waiting.queue.finished() >= packet.1 || ways.contains_key(&packet) {
                continue;
            }
            ways.insert(packet, by);
            let behind = Some((packet, false));
            let Some(item) = waiting.item(packet.1) else {
                // It runs, so only the waits of its host function count.
                let waits = self.host_waits.get(&packet.0).into_iter().flatten();
                left.extend(waits.map(|point| (name(point), behind)));
                continue;
            };
            left.extend(ahead.get(&packet).map(|ahead| (*ahead, Some((packet, true)))));
            left.extend(item.points().map(|point| (name(point), behind)));
            left.push(((packet.0, packet.1 - 1), behind));
        }
        ways
    }

    /// The packet that a queue runs, if it runs one.
    fn running(&self, queue: u64) -> Option<Name> {
        let waiting = self.queues.get(&queue).filter(|waiting| waiting.is_running())?;
        Some((queue, waiting.queue.finished() + 1))
    }

    /// Whether the host function that a queue runs waits for itself.
    fn circle(&self, queue: u64, points: &[Point]) -> Option<Circle> {
        let own = self.running(queue)?;
        if self.ways(points, false).contains_key(&own) {
            return Some(Circle::Stream(self.queues.get(&queue)?.queue.to_string()));
        }
        self.report(own, &self.ways(points, true)).map(|(report, _)| Circle::Hardware(report))
    }

    /// A running packet that keeps `points` from being reached because of a hardware queue alone.
    fn held_up(&mut self, points: &[Point], at_once: bool) -> Option<Report> {
        let (direct, all) = (self.ways(points, false), self.ways(points, true));
        let runs = |packet: &&Name| self.running(packet.0) == Some(**packet) && !direct.contains_key(packet);
        let holders: Vec<Name> = all.keys().filter(runs).copied().collect();
        holders.into_iter().find_map(|holder| {
            let (report, place) = self.report(holder, &all)?;
            self.is_news(place, holder, at_once).then_some(report)
        })
    }

    /// A stream that the running packet of `queue` blocks.
    fn held_up_by(&mut self, queue: u64) -> Option<Report> {
        let holder = self.running(queue)?;
        let place = self.queues.get(&queue)?.hardware.place()?;
        let order = &self.hardware.queues.get(place)?.order;
        let behind = order.iter().copied().find(|(other, _)| *other != queue)?;
        let ways = Ways::from([(behind, None), (holder, Some((behind, true)))]);
        let (report, place) = self.report(holder, &ways)?;
        self.is_news(place, holder, true).then_some(report)
    }

    /// Whether a packet is due for a report and had none.
    fn is_news(&mut self, place: usize, holder: Name, at_once: bool) -> bool {
        let Some(hardware) = self.hardware.queues.get_mut(place) else { return false };
        let since = match hardware.seen {
            Some((seen, since)) if seen == holder => since,
            _ => Instant::now(),
        };
        hardware.seen = Some((holder, since));
        let news = hardware.told != Some(holder) && (at_once || since.elapsed() >= LONG);
        if news {
            hardware.told = Some(holder);
        }
        news
    }

    /// The report about a running packet that blocks the packets in `ways`, with the index of the hardware
    /// queue.
    fn report(&self, holder: Name, ways: &Ways) -> Option<(Report, usize)> {
        let mut ahead = holder;
        let behind = loop {
            match (*ways.get(&ahead)?)? {
                (behind, true) => break behind,
                (behind, false) => ahead = behind,
            }
        };
        let of = |packet: Name| self.queues.get(&packet.0);
        let place = of(behind)?.hardware.place()?;
        let hardware = self.hardware.queues.get(place)?;
        let report = Report {
            device: hardware.device,
            hardware_queue: hardware.number,
            most: self.hardware.most,
            behind: of(behind)?.queue.to_string(),
            ahead: of(ahead)?.queue.to_string(),
            holder: of(holder)?.queue.to_string(),
            calls_host: of(holder)?.calls_host,
        };
        Some((report, place))
    }
}

impl Report {
    /// The running packet, in words.
    fn work(&self) -> String {
        let kind = if self.calls_host { "the host function" } else { "the kernel" };
        format!("{kind} that {} runs", self.holder)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, hardware_queue, most, behind, ahead, .. } = self;
        write!(
            f,
            "{behind} cannot go on, for it shares hardware queue {hardware_queue} of device {device} with {ahead}, whose \
             work is ahead of it (hardware_queues={most})"
        )
    }
}
