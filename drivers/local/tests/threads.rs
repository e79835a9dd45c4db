// SPDX-License-Identifier: MIT OR Apache-2.0
//! Devices with threads of their own. Kernels that meet each other prove that work runs at the same time. If it does
//! not, they give up after a minute and fail.

use std::{
    sync::{
        Arc, Barrier, Condvar, Mutex,
        atomic::{AtomicU32, Ordering::SeqCst},
        mpsc,
    },
    task::{Wake, Waker},
};

use windlass_hal::{BindingTable, Code, Deadline, DispatchConfig, Error, Function, Semaphore};
use windlass_local::Kernel;

use crate::common::{LONG, held, loaded_on, single};

mod common;

/// A meeting point for a fixed number of threads.
#[derive(Clone)]
struct Meeting(Arc<(Mutex<u32>, Condvar)>, u32);

impl Meeting {
    fn new(count: u32) -> Self {
        Self(Arc::default(), count)
    }

    fn arrive(&self) -> windlass_hal::Result<()> {
        let (here, told) = &*self.0;
        let mut here = here.lock().unwrap();
        *here += 1;
        told.notify_all();
        let (here, wait) = told.wait_timeout_while(here, LONG, |here| *here < self.1).unwrap();
        if wait.timed_out() {
            return Err(Error::deadline_exceeded(format!("{} of {} came", *here, self.1)));
        }
        Ok(())
    }
}

/// A kernel whose workgroups wait for each other at a meeting.
fn meets(meeting: &Meeting) -> Kernel {
    let meeting = meeting.clone();
    Kernel::new("meets", move |_| meeting.arrive())
}

#[test]
fn workgroups_of_a_dispatch_run_at_once() {
    let meeting = Meeting::new(3);
    let (device, executable) = loaded_on("local://?threads=3", [meets(&meeting)]);
    let (queue, done) = (device.queue(0).unwrap(), Semaphore::new(0));
    let grid = DispatchConfig::new([3, 1, 1]).workgroup_size([1; 3]);
    queue.dispatch(&[], &[done.at(1)], &executable.function("meets").unwrap(), grid, &[]).unwrap();
    done.wait_blocking(1, LONG).unwrap();
}

#[test]
fn dispatches_without_an_edge_run_at_once() {
    let meeting = Meeting::new(2);
    let (device, executable) = loaded_on("local://?threads=2", [meets(&meeting)]);
    let (queue, done) = (device.queue(0).unwrap(), Semaphore::new(0));
    let function = executable.function("meets").unwrap();
    for value in 1..=2 {
        queue.dispatch(&[], &[done.at(value)], &function, single(), &[]).unwrap();
    }
    device.drain(LONG).unwrap();
    assert_eq!(done.query().unwrap(), 2);
}

#[test]
fn commands_that_nothing_orders_run_at_once() {
    let meeting = Meeting::new(2);
    let (device, executable) = loaded_on("local://?threads=2", [meets(&meeting)]);
    let (queue, done) = (device.queue(0).unwrap(), Semaphore::new(0));
    let function = executable.function("meets").unwrap();
    let mut recorder = device.record().unwrap();
    recorder.dispatch(&function, single(), &[]).unwrap();
    recorder.dispatch(&function, single(), &[]).unwrap();
    let list = recorder.finish().unwrap();
    queue.execute(&[], &[done.at(1)], &list, BindingTable::empty()).unwrap();
    done.wait_blocking(1, LONG).unwrap();
}

#[test]
fn commands_behind_a_barrier_wait_for_every_part_before_it() {
    const GROUPS: u32 = 1000;
    let count = Arc::new(AtomicU32::new(0));
    let (counts, seen) = (count.clone(), count.clone());
    let adds = Kernel::new("adds", move |_| {
        counts.fetch_add(1, SeqCst);
        Ok(())
    });
    let checks = Kernel::new("checks", move |_| match seen.load(SeqCst) {
        n if n % GROUPS == 0 => Ok(()),
        n => Err(Error::internal(format!("{n} workgroups have run"))),
    });
    let (device, executable) = loaded_on("local://?threads=3", [adds, checks]);
    let (queue, done) = (device.queue(0).unwrap(), Semaphore::new(0));
    let [adds, checks] = ["adds", "checks"].map(|name| executable.function(name).unwrap());
    let grid = DispatchConfig::new([10, 20, 5]).workgroup_size([1; 3]);
    let mut recorder = device.record().unwrap();
    for _ in 0..20 {
        recorder.dispatch(&adds, grid, &[]).unwrap();
        recorder.barrier();
        recorder.dispatch(&checks, grid, &[]).unwrap();
        recorder.barrier();
    }
    let list = recorder.finish().unwrap();
    for value in 1..=5 {
        queue.execute(&[done.at(value - 1)], &[done.at(value)], &list, BindingTable::empty()).unwrap();
    }
    done.wait_blocking(5, LONG).unwrap();
    assert_eq!(count.load(SeqCst), 5 * 20 * GROUPS);
}

#[test]
fn work_that_waits_holds_no_thread() {
    let (device, executable) = loaded_on("local://?threads=1", [Kernel::new("nothing", |_| Ok(()))]);
    let nothing: Function = executable.function("nothing").unwrap();
    let (gate, held, done) = (Semaphore::new(0), Semaphore::new(0), Semaphore::new(0));
    for index in 0..4 {
        let queue = device.queue(index).unwrap();
        queue.dispatch(&[gate.at(1)], &[held.at(u64::from(index) + 1)], &nothing, single(), &[]).unwrap();
    }
    let queue = device.queue(0).unwrap();
    queue.dispatch(&[], &[done.at(1)], &nothing, single(), &[]).unwrap();
    done.wait_blocking(1, LONG).unwrap();
    assert_eq!(held.query().unwrap(), 0);
    gate.signal(1).unwrap();
    held.wait_blocking(4, LONG).unwrap();
}

#[test]
fn a_submission_returns_while_the_kernel_runs() {
    let (kernel, starts, end) = held();
    let (device, executable) = loaded_on("local://?threads=1", [kernel]);
    let (queue, done) = (device.queue(0).unwrap(), Semaphore::new(0));
    queue.dispatch(&[], &[done.at(1)], &executable.function("held").unwrap(), single(), &[]).unwrap();
    starts.recv_timeout(LONG).unwrap();
    assert_eq!(done.query().unwrap(), 0);
    assert_eq!(device.drain(Deadline::now()).unwrap_err().code(), Code::DeadlineExceeded);
    end.send(()).unwrap();
    device.drain(LONG).unwrap();
    assert_eq!(done.query().unwrap(), 1);
}

#[test]
fn a_failure_waits_for_the_parts_that_run() {
    // One workgroup fails while another still runs: the signal fails only when both have ended.
    let meeting = Meeting::new(2);
    let ended = Arc::new(AtomicU32::new(0));
    let ends = ended.clone();
    let gate = Arc::new(Barrier::new(2));
    let opens = gate.clone();
    let kernel = Kernel::new("fails", move |group| {
        meeting.arrive()?;
        if group.id[0] == 0 {
            return Err(Error::aborted("on purpose"));
        }
        opens.wait();
        ends.fetch_add(1, SeqCst);
        Ok(())
    });
    let (device, executable) = loaded_on("local://?threads=2", [kernel]);
    let (queue, done) = (device.queue(0).unwrap(), Semaphore::new(0));
    let grid = DispatchConfig::new([2, 1, 1]).workgroup_size([1; 3]);
    queue.dispatch(&[], &[done.at(1)], &executable.function("fails").unwrap(), grid, &[]).unwrap();
    assert_eq!(done.query().unwrap(), 0, "told before its other workgroup had ended");
    gate.wait();
    let error = done.wait_blocking(1, LONG).unwrap_err();
    assert!(error.to_string().contains("workgroup [0, 0, 0]"), "{error}");
    assert_eq!(ended.load(SeqCst), 1);
}

#[test]
fn a_failure_ends_its_list_alone() {
    let kernels = [
        Kernel::new("fails", |group| match group.id {
            [7, _, _] => Err(Error::aborted("on purpose")),
            _ => Ok(()),
        }),
        Kernel::new("nothing", |_| Ok(())),
    ];
    let (device, executable) = loaded_on("local://?threads=2", kernels);
    let (queue, failed, done) = (device.queue(0).unwrap(), Semaphore::new(0), Semaphore::new(0));
    let [fails, nothing] = ["fails", "nothing"].map(|name| executable.function(name).unwrap());
    let grid = DispatchConfig::new([100, 1, 1]).workgroup_size([1; 3]);
    let mut recorder = device.record().unwrap();
    recorder.dispatch(&nothing, grid, &[]).unwrap();
    recorder.barrier();
    recorder.dispatch(&fails, grid, &[]).unwrap();
    recorder.barrier();
    recorder.dispatch(&nothing, grid, &[]).unwrap();
    let list = recorder.finish().unwrap();
    queue.execute(&[], &[failed.at(1)], &list, BindingTable::empty()).unwrap();
    queue.dispatch(&[], &[done.at(1)], &nothing, grid, &[]).unwrap();
    let error = failed.wait_blocking(1, LONG).unwrap_err();
    assert_eq!(error.code(), Code::Aborted);
    for word in ["command 2", "workgroup [7, 0, 0]"] {
        assert!(error.to_string().contains(word), "{error}");
    }
    done.wait_blocking(1, LONG).unwrap();
}

#[test]
fn long_chains_over_two_devices() {
    let add = || Kernel::new("nothing", |_| Ok(()));
    let devices = [(); 2].map(|()| loaded_on("local://?threads=2", [add()]));
    let functions = [0, 1].map(|index: usize| devices[index].1.function("nothing").unwrap());
    let step = Semaphore::new(0);
    let links = 20_000;
    for link in (0..links).rev() {
        let side = link as usize % 2;
        let queue = devices[side].0.queue(0).unwrap();
        queue.dispatch(&[step.at(link)], &[step.at(link + 1)], &functions[side], single(), &[]).unwrap();
    }
    step.wait_blocking(links, LONG).unwrap();
}

/// A waker that drains.
struct Drains(windlass_hal::Device, mpsc::Sender<windlass_hal::Result<()>>);

impl Wake for Drains {
    fn wake(self: Arc<Self>) {
        self.1.send(self.0.drain(LONG)).unwrap();
    }
}

#[test]
fn a_drain_on_a_thread_of_the_device_is_refused() {
    let (kernel, starts, end) = held();
    let (device, executable) = loaded_on("local://?threads=1", [kernel]);
    let (queue, done) = (device.queue(0).unwrap(), Semaphore::new(0));
    queue.dispatch(&[], &[done.at(1)], &executable.function("held").unwrap(), single(), &[]).unwrap();
    starts.recv_timeout(LONG).unwrap();
    let (told, tells) = mpsc::channel();
    let mut wait = Box::pin(done.wait(1));
    let waker = Waker::from(Arc::new(Drains(device.clone(), told)));
    assert!(wait.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
    end.send(()).unwrap();
    let result = tells.recv_timeout(LONG).unwrap();
    assert_eq!(result.unwrap_err().code(), Code::FailedPrecondition);
    device.drain(LONG).unwrap();
}

#[test]
fn a_dropped_device_sees_through_what_was_issued() {
    let (kernel, starts, end) = held();
    let (device, executable) = loaded_on("local://?threads=2", [kernel]);
    let (queue, gate) = (device.queue(0).unwrap(), Semaphore::new(0));
    let [done, behind] = [(); 2].map(|()| Semaphore::new(0));
    let function = executable.function("held").unwrap();
    queue.dispatch(&[], &[done.at(1)], &function, single(), &[]).unwrap();
    queue.dispatch(&[gate.at(1)], &[behind.at(1)], &function, single(), &[]).unwrap();
    starts.recv_timeout(LONG).unwrap();
    drop((queue, function, executable, device));
    assert_eq!(behind.query().unwrap_err().code(), Code::Cancelled);
    end.send(()).unwrap();
    done.wait_blocking(1, LONG).unwrap();
}

#[test]
fn long_transfers_in_pieces() {
    let (device, _) = loaded_on("local://?threads=3", [Kernel::new("nothing", |_| Ok(()))]);
    let (queue, step) = (device.queue(0).unwrap(), Semaphore::new(0));
    let size = (5 << 20) + 12;
    let bytes: Vec<u8> =
        (0..size as u32).map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let [source, target] = [(); 2].map(|()| device.allocate_device(size as u64).unwrap());
    queue.update(&[], &[step.at(1)], &bytes, &source).unwrap();
    queue.fill(&[step.at(1)], &[step.at(2)], &target, 0x0403_0201_u32).unwrap();
    let filled = pollster::block_on(queue.download(&[step.at(2)], &target).unwrap()).unwrap();
    assert!(filled.chunks(4).all(|word| word == [1, 2, 3, 4]));
    queue.copy(&[step.at(2)], &[step.at(3)], &source, &target).unwrap();
    let copied = pollster::block_on(queue.download(&[step.at(3)], &target).unwrap()).unwrap();
    assert!(copied == bytes, "the copy differs");
}

#[test]
fn a_list_of_very_many_stages() {
    let (device, executable) = loaded_on("local://?threads=2", [Kernel::new("nothing", |_| Ok(()))]);
    let nothing = executable.function("nothing").unwrap();
    let mut recorder = device.record().unwrap();
    for _ in 0..50_000 {
        recorder.dispatch(&nothing, single(), &[]).unwrap();
        recorder.dispatch(&nothing, single(), &[]).unwrap();
        recorder.barrier();
    }
    let (list, done) = (recorder.finish().unwrap(), Semaphore::new(0));
    device.queue(0).unwrap().execute(&[], &[done.at(1)], &list, BindingTable::empty()).unwrap();
    done.wait_blocking(1, LONG).unwrap();
}

/// Sleeps long enough for idle threads to fall asleep. If they are still awake, the test proves less and passes.
fn let_threads_sleep() {
    std::thread::sleep(std::time::Duration::from_millis(30));
}

#[test]
fn work_that_one_end_makes_ready_runs_at_once() {
    let meeting = Meeting::new(2);
    let (device, executable) =
        loaded_on("local://?threads=2", [meets(&meeting), Kernel::new("nothing", |_| Ok(()))]);
    let [meets, nothing] = ["meets", "nothing"].map(|name| executable.function(name).unwrap());
    let (queue, [first, between, done]) = (device.queue(0).unwrap(), [(); 3].map(|()| Semaphore::new(0)));
    queue.dispatch(&[first.at(1)], &[done.at(1)], &meets, single(), &[]).unwrap();
    queue.barrier(&[first.at(1)], &[between.at(1)]).unwrap();
    queue.dispatch(&[between.at(1)], &[done.at(2)], &meets, single(), &[]).unwrap();
    let_threads_sleep();
    queue.dispatch(&[], &[first.at(1)], &nothing, single(), &[]).unwrap();
    done.wait_blocking(2, LONG).unwrap();
}

/// A kernel that runs the closure that the test sends, once.
fn does(name: &str) -> (Kernel, mpsc::Sender<Box<dyn FnOnce() + Send>>) {
    let (sender, receiver) = mpsc::channel::<Box<dyn FnOnce() + Send>>();
    let receiver = Mutex::new(receiver);
    let kernel = Kernel::new(name, move |_| {
        let work = receiver.lock().unwrap().recv_timeout(LONG);
        work.map_err(|_| Error::deadline_exceeded("nobody sent anything"))?();
        Ok(())
    });
    (kernel, sender)
}

#[test]
fn work_that_a_kernel_submits_runs_on_other_threads() {
    let (does, send) = does("does");
    let (device, executable) = loaded_on("local://?threads=2", [does, Kernel::new("nothing", |_| Ok(()))]);
    let [does, nothing] = ["does", "nothing"].map(|name| executable.function(name).unwrap());
    let (queue, done) = (device.queue(0).unwrap(), Semaphore::new(0));
    queue.dispatch(&[], &[done.at(1)], &does, single(), &[]).unwrap();
    let (inner, waited) = (queue.clone(), done.clone());
    send.send(Box::new(move || {
        let step = Semaphore::new(0);
        let_threads_sleep();
        inner.dispatch(&[step.at(1)], &[step.at(2)], &nothing, single(), &[]).unwrap();
        inner.barrier(&[], &[step.at(1)]).unwrap();
        step.wait_blocking(2, LONG).unwrap();
        assert_eq!(waited.query().unwrap(), 0);
    }))
    .unwrap();
    done.wait_blocking(1, LONG).unwrap();
}

/// A waker that runs a closure, once.
struct Does(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Wake for Does {
    fn wake(self: Arc<Self>) {
        self.0.lock().unwrap().take().into_iter().for_each(|work| work());
    }
}

#[test]
fn a_slow_waker_delays_no_dependant() {
    let (device, executable) = loaded_on("local://?threads=2", [Kernel::new("nothing", |_| Ok(()))]);
    let nothing = executable.function("nothing").unwrap();
    let (queue, step, (told, tells)) = (device.queue(0).unwrap(), Semaphore::new(0), mpsc::channel());
    queue.dispatch(&[step.at(1)], &[step.at(2)], &nothing, single(), &[]).unwrap();
    let behind = step.clone();
    let work: Box<dyn FnOnce() + Send> = Box::new(move || told.send(behind.wait_blocking(2, LONG)).unwrap());
    let waker = Waker::from(Arc::new(Does(Mutex::new(Some(work)))));
    let mut wait = Box::pin(step.wait(1));
    assert!(wait.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
    let_threads_sleep();
    queue.dispatch(&[], &[step.at(1)], &nothing, single(), &[]).unwrap();
    tells.recv_timeout(LONG).unwrap().unwrap();
}

#[test]
fn an_inline_device_behind_it_holds_up_no_dependant() {
    let (does, send) = does("does");
    let (device, executable) = loaded_on("local://?threads=2", [Kernel::new("nothing", |_| Ok(()))]);
    let (inline, inline_executable) = loaded_on("local://?threads=0", [does]);
    let nothing = executable.function("nothing").unwrap();
    let does = inline_executable.function("does").unwrap();
    let (queue, step, done) = (device.queue(0).unwrap(), Semaphore::new(0), Semaphore::new(0));
    queue.dispatch(&[step.at(1)], &[step.at(2)], &nothing, single(), &[]).unwrap();
    let inline_queue = inline.queue(0).unwrap();
    inline_queue.dispatch(&[step.at(1)], &[done.at(1)], &does, single(), &[]).unwrap();
    let behind = step.clone();
    send.send(Box::new(move || behind.wait_blocking(2, LONG).unwrap())).unwrap();
    let_threads_sleep();
    queue.dispatch(&[], &[step.at(1)], &nothing, single(), &[]).unwrap();
    done.wait_blocking(1, LONG).unwrap();
}

#[test]
fn a_waker_of_a_file_may_drain() {
    for uri in ["local://?threads=2", "local://?threads=0"] {
        let (device, _) = loaded_on(uri, [Kernel::new("nothing", |_| Ok(()))]);
        let (queue, buffer) = (device.queue(0).unwrap(), device.allocate_device(64).unwrap());
        let file =
            windlass_hal::file::File::from(std::fs::File::open(std::env::current_exe().unwrap()).unwrap());
        let (gate, done, (told, tells)) = (Semaphore::new(0), Semaphore::new(0), mpsc::channel());
        queue.read(&[gate.at(1)], &[done.at(1)], &file, 0, &buffer).unwrap();
        let waker = Waker::from(Arc::new(Drains(device.clone(), told)));
        let mut wait = Box::pin(done.wait(1));
        assert!(wait.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
        gate.signal(1).unwrap();
        tells.recv_timeout(LONG).unwrap().unwrap();
    }
}
