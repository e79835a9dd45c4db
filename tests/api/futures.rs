// SPDX-License-Identifier: MIT OR Apache-2.0
//! The future of a wait under independent executors: pollster, tokio, and one that polls once and stops.

use std::{
    future::Future,
    pin::pin,
    task::{Context, Waker},
};

use windlass::{Buffer, Deadline, Device, DispatchConfig, Function, Point, Queue, Semaphore};

const VECTOR_ADD: &[u8] = include_bytes!("../../cts/kernels/bundles/vector_add.ccob");
const COUNT: usize = 1000;

struct Add {
    device: Device,
    queue: Queue,
    function: Function,
    buffers: [Buffer; 3],
}

impl Add {
    fn open() -> Self {
        let device = windlass::open("hip-sim://gfx942").expect("the simulated GPU opens");
        // SAFETY: vector_add stays within the buffers that it is given.
        let executable = unsafe { device.load_executable(VECTOR_ADD) }.expect("vector_add loads");
        let function = executable.function("vector_add").expect("the kernel of the bundle");
        let buffers = [(); 3].map(|()| device.allocate_device(4 * COUNT as u64).expect("4000 bytes"));
        Self { queue: device.queue(0).expect("a queue"), device, function, buffers }
    }

    /// Fills two buffers and adds them into the third, all behind `start`. Returns the point at which the sum is
    /// complete.
    fn submit(&self, start: Point) -> Point {
        let [a, b, sum] = &self.buffers;
        let timeline = Semaphore::new(0);
        self.queue.fill(&[start], &[timeline.at(1)], a, 1.5_f32).expect("a fill");
        self.queue.fill(&[timeline.at(1)], &[timeline.at(2)], b, 2.0_f32).expect("a fill");
        let grid = DispatchConfig::new([4, 1, 1]).workgroup_size([256, 1, 1]);
        let arguments = [a.arg(), b.arg(), sum.arg(), (COUNT as i32).into()];
        self.queue
            .dispatch(&[timeline.at(2)], &[timeline.at(3)], &self.function, grid, &arguments)
            .expect("a dispatch");
        timeline.at(3)
    }

    fn check(&self, bytes: &[u8]) {
        assert_eq!(bytes, 3.5_f32.to_le_bytes().repeat(COUNT));
    }
}

#[test]
fn under_pollster() {
    let add = Add::open();
    let start = Semaphore::new(0);
    let done = add.submit(start.at(1));
    let download = add.queue.download(&[done], &add.buffers[2]).expect("a download");
    start.signal(1).expect("a signal");
    add.check(&pollster::block_on(download).expect("the sum"));
}

#[test]
fn under_tokio_among_many_tasks() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).build().expect("a runtime");
    runtime.block_on(async {
        let tasks: Vec<_> = (0..16)
            .map(|_| {
                tokio::spawn(async {
                    let add = Add::open();
                    let start = Semaphore::new(0);
                    let done = add.submit(start.at(1));
                    let signal = tokio::spawn(async move { start.signal(1) });
                    let bytes = add.queue.download(&[done], &add.buffers[2]).expect("a download").await;
                    add.check(&bytes.expect("the sum"));
                    signal.await.expect("the task").expect("a signal");
                })
            })
            .collect();
        for task in tasks {
            task.await.expect("a task ends without panic");
        }
    });
}

#[test]
fn polled_once_and_forgotten() {
    let add = Add::open();
    let start = Semaphore::new(0);
    let done = add.submit(start.at(1));
    {
        let mut wait = pin!(done.semaphore.wait(done.value));
        let mut context = Context::from_waker(Waker::noop());
        assert!(wait.as_mut().poll(&mut context).is_pending());
    }
    start.signal(1).expect("a signal");
    done.semaphore
        .wait_blocking(done.value, Deadline::NEVER)
        .expect("the work completes without that executor");
    let bytes = add.queue.download(&[done], &add.buffers[2]).expect("a download").wait(Deadline::NEVER);
    add.check(&bytes.expect("the sum"));
    add.device.drain(Deadline::NEVER).expect("nothing is left");
}
