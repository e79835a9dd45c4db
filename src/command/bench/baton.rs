// SPDX-License-Identifier: MIT OR Apache-2.0
//! Signals between two threads, by the bare means of the system: the floors of wakes.

use std::{
    future::Future,
    pin::pin,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    task::{Context, Poll, Wake, Waker},
    thread::{self, Thread},
};

use super::stop::Work;

/// A counter that one thread raises and another one waits for.
pub(super) trait Baton: Send + Sync + 'static {
    fn post(&self, value: u64) -> Work;
    fn take(&self, value: u64) -> Work;
}

/// Runs a future on this thread, which parks while the future is not ready.
pub(super) fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);

    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let (mut future, mut context) = (pin!(future), Context::from_waker(&waker));
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}

/// The plainest future of a counter: a waker behind a mutex.
#[derive(Default)]
pub(super) struct Parked {
    value: AtomicU64,
    waker: Mutex<Option<Waker>>,
}

impl Parked {
    fn waker(&self) -> std::sync::MutexGuard<'_, Option<Waker>> {
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Baton for Parked {
    fn post(&self, value: u64) -> Work {
        let waker = {
            let mut waker = self.waker();
            self.value.store(value, Ordering::Release);
            waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok(())
    }

    fn take(&self, value: u64) -> Work {
        block_on(std::future::poll_fn(|context| {
            let mut waker = self.waker();
            if self.value.load(Ordering::Acquire) >= value {
                return Poll::Ready(Ok(()));
            }
            *waker = Some(context.waker().clone());
            Poll::Pending
        }))
    }
}

#[cfg(target_os = "linux")]
pub(super) use of_linux::{Futex, SpinThenFutex};

#[cfg(target_os = "linux")]
mod of_linux {
    use std::{
        hint,
        sync::atomic::{AtomicU32, Ordering::SeqCst},
    };

    use rustix::thread::futex::{self, Flags};

    use super::{Baton, Work};

    /// A futex whose waiter sleeps at once.
    #[derive(Default)]
    pub(crate) struct Futex(AtomicU32);

    impl Baton for Futex {
        fn post(&self, value: u64) -> Work {
            self.0.store(value as u32, SeqCst);
            // Only a wrong address could fail.
            let _ = futex::wake(&self.0, Flags::PRIVATE, 1);
            Ok(())
        }

        fn take(&self, value: u64) -> Work {
            sleep_until(&self.0, value as u32);
            Ok(())
        }
    }

    /// A futex whose waiter polls first, and whose signaller wakes only a waiter that sleeps.
    #[derive(Default)]
    pub(crate) struct SpinThenFutex {
        value: AtomicU32,
        sleepers: AtomicU32,
    }

    impl Baton for SpinThenFutex {
        fn post(&self, value: u64) -> Work {
            self.value.store(value as u32, SeqCst);
            if self.sleepers.load(SeqCst) != 0 {
                let _ = futex::wake(&self.value, Flags::PRIVATE, 1);
            }
            Ok(())
        }

        fn take(&self, value: u64) -> Work {
            const POLLS: u32 = 2000;
            for _ in 0..POLLS {
                if self.value.load(SeqCst) == value as u32 {
                    return Ok(());
                }
                hint::spin_loop();
            }
            self.sleepers.fetch_add(1, SeqCst);
            sleep_until(&self.value, value as u32);
            self.sleepers.fetch_sub(1, SeqCst);
            Ok(())
        }
    }

    fn sleep_until(word: &AtomicU32, value: u32) {
        loop {
            let now = word.load(SeqCst);
            if now == value {
                return;
            }
            // Interrupted, or the word has changed: the loop looks again.
            let _ = futex::wait(word, Flags::PRIVATE, now, None);
        }
    }
}
