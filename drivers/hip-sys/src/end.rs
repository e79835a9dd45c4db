// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of the process, after which no call may enter a HIP library.
//!
//! AMD's library destroys its objects when the process ends, and a call that uses them afterwards crashes, on any
//! thread. Other threads keep running while a process ends. So every call of a library passes a [`Gate`]. A handler of
//! `atexit` closes the gates, and waits, for [`PATIENCE`] at most, until each call in progress has returned.
//!
//! Handlers run in the reverse order of their registration, and HIP registers some of its own late, when a function is
//! first used. So this handler is registered again after the first call of each function. The first one to run does
//! the work.
//!
//! An open gate costs a thread two stores to a byte of its own and, between them, one load of a byte that is not
//! written. The handler's `membarrier` call puts a barrier into every thread, which orders the first store before the
//! load. On systems without `membarrier` each call makes a fence of its own.

use std::cell::Cell;
use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    compiler_fence, fence,
};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::table::EntryPoints;

/// The state of a function's gate.
mod function_state {
    /// The function was not called yet.
    pub(super) const NEW: u8 = 0;
    pub(super) const OPEN: u8 = 1;
    /// As `OPEN`, but each call makes a fence of its own.
    pub(super) const FENCED: u8 = 2;
    pub(super) const CLOSED: u8 = 3;
}

/// The state of a thread.
mod thread_state {
    /// The handler does not read the thread's byte yet.
    pub(super) const UNKNOWN: u8 = 0;
    pub(super) const OUTSIDE: u8 = 1;
    pub(super) const INSIDE: u8 = 2;
    /// The thread ends, and HIP's objects of the thread are being destroyed.
    pub(super) const ENDING: u8 = 3;
    /// The thread ends, and the handler no longer reads its byte.
    pub(super) const GONE: u8 = 4;
}

/// The gate of one library.
pub(crate) struct Gate {
    /// The address of one of the library's functions, which identifies the library.
    library: usize,
    functions: [AtomicU8; EntryPoints::NAMES.len()],
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gate({:#x})", self.library)
    }
}

/// Whether calls are refused. Written once.
static ENDED: AtomicBool = AtomicBool::new(false);

/// The number of calls in progress on threads without a byte.
static COUNTED: AtomicUsize = AtomicUsize::new(0);

/// One gate for each library, never freed, because calls may come until the process is gone.
static GATES: Mutex<Vec<&'static Gate>> = Mutex::new(Vec::new());

thread_local! {
    // Without a destructor, so that it stays usable in other destructors.
    static PLACE: AtomicU8 = const { AtomicU8::new(thread_state::UNKNOWN) };
    static NUMBER: Cell<usize> = const { Cell::new(0) };
}

/// A number of the calling thread that no other thread has, unlike the address of a thread-local.
fn thread_number() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(1);
    NUMBER.with(|own| {
        if own.get() == 0 {
            own.set(NEXT.fetch_add(1, Relaxed));
        }
        own.get()
    })
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gate {
    /// The gate of the library with a function at this address.
    pub(crate) fn for_library(library: usize) -> &'static Self {
        let mut gates = lock(&GATES);
        if let Some(known) = gates.iter().find(|gate| gate.library == library) {
            return known;
        }
        let functions = [const { AtomicU8::new(function_state::NEW) }; EntryPoints::NAMES.len()];
        let gate: &'static Self = Box::leak(Box::new(Self { library, functions }));
        gates.push(gate);
        gate
    }

    /// Enters a call of a function. The result says whether the call may be made, and is the argument of
    /// [`leave`](Self::leave).
    #[inline]
    pub(crate) fn enter(&self, function: usize) -> Leave {
        PLACE.with(|own| {
            if own.load(Relaxed) == thread_state::OUTSIDE {
                own.store(thread_state::INSIDE, Relaxed);
                compiler_fence(SeqCst);
                if self.functions[function].load(Relaxed) == function_state::OPEN {
                    return Leave::Gate;
                }
                own.store(thread_state::OUTSIDE, Relaxed);
            }
            self.enter_slowly(own)
        })
    }

    /// Makes a call if the gate is open and the thread is in no other call. `None` where [`enter`](Self::enter) has to decide.
    #[inline]
    pub(crate) fn pass<T>(&self, function: usize, call: impl FnOnce() -> T) -> Option<T> {
        PLACE.with(|own| {
            if own.load(Relaxed) != thread_state::OUTSIDE {
                return None;
            }
            own.store(thread_state::INSIDE, Relaxed);
            compiler_fence(SeqCst);
            if self.functions[function].load(Relaxed) != function_state::OPEN {
                own.store(thread_state::OUTSIDE, Relaxed);
                return None;
            }
            let answer = call();
            own.store(thread_state::OUTSIDE, Release);
            Some(answer)
        })
    }

    /// Leaves a call that was entered.
    #[inline]
    pub(crate) fn leave(&self, function: usize, how: Leave) {
        PLACE.with(|own| match how {
            Leave::Gate => own.store(thread_state::OUTSIDE, Release),
            _ => self.leave_slowly(own, function, how),
        });
    }

    #[cold]
    #[inline(never)]
    fn enter_slowly(&self, own: &AtomicU8) -> Leave {
        let how = match own.load(Relaxed) {
            thread_state::INSIDE => Leave::Nested,
            thread_state::OUTSIDE => Leave::Slowly,
            thread_state::UNKNOWN if exit::know(own) => Leave::First,
            thread_state::ENDING | thread_state::GONE if !exit::is_child() => {
                Leave::Elsewhere { thread: thread_number() }
            }
            _ => Leave::Counted,
        };
        match how {
            Leave::Slowly | Leave::First => own.store(thread_state::INSIDE, Relaxed),
            Leave::Counted | Leave::Elsewhere { .. } => drop(COUNTED.fetch_add(1, SeqCst)),
            _ => {}
        }
        // Either the handler sees this call, or this call sees that the process ends.
        fence(SeqCst);
        if ENDED.load(SeqCst) {
            leave(own, how);
            return Leave::Refused;
        }
        how
    }

    #[cold]
    #[inline(never)]
    fn leave_slowly(&self, own: &AtomicU8, function: usize, how: Leave) {
        let known = &self.functions[function];
        if known.load(Relaxed) == function_state::NEW {
            // HIP may have registered a handler during the call. Register ours again, to run before it.
            let next = if exit::watch() { function_state::OPEN } else { function_state::FENCED };
            // A gate that was closed meanwhile stays closed.
            let _ = known.compare_exchange(function_state::NEW, next, SeqCst, Relaxed);
        }
        leave(own, how);
    }
}

/// How a call entered, which decides how it leaves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leave {
    /// Refused, because the process is ending.
    Refused,
    /// Through an open gate.
    Gate,
    /// By the slow path.
    Slowly,
    /// By the slow path, as the first call of this thread.
    First,
    /// By the slow path, on a thread without a byte.
    Counted,
    /// By the slow path. The call is made on a helper thread, because this thread is ending.
    Elsewhere {
        /// A number that identifies the thread.
        thread: usize,
    },
    /// Within another call of the same thread, which stands for both, as in a signal handler.
    Nested,
}

/// Leaves a call that entered by the slow path.
fn leave(own: &AtomicU8, how: Leave) {
    match how {
        Leave::Slowly => own.store(thread_state::OUTSIDE, Release),
        Leave::First => {
            own.store(thread_state::OUTSIDE, Release);
            // After the call, so that it runs before HIP destroys its objects of the thread.
            exit::watch_thread();
        }
        Leave::Counted | Leave::Elsewhere { .. } => drop(COUNTED.fetch_sub(1, SeqCst)),
        _ => {}
    }
}

/// Whether the gates are closed.
#[inline]
pub(crate) fn has_come() -> bool {
    ENDED.load(Relaxed)
}

/// Without `atexit` there is no notice of the end.
#[cfg(any(not(unix), miri))]
mod exit {
    use super::AtomicU8;

    pub(super) fn watch() -> bool {
        true
    }

    pub(super) fn know(_own: &AtomicU8) -> bool {
        false
    }

    pub(super) fn watch_thread() {}

    pub(super) fn is_child() -> bool {
        false
    }
}

#[cfg(all(unix, not(miri)))]
mod exit {
    use std::panic::catch_unwind;
    use std::sync::{OnceLock, TryLockError, atomic::AtomicU32, mpsc};
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    /// How long the end of the process waits for calls in progress.
    pub(super) const PATIENCE: Duration = Duration::from_secs(5);

    /// How long the end waits for the log message about calls that did not return.
    const LAST_WORDS: Duration = Duration::from_secs(1);

    /// The pause between two checks.
    const PAUSE: Duration = Duration::from_micros(100);

    /// The process that has made calls. A child by `fork` copies this state, but not the threads.
    static PROCESS: AtomicU32 = AtomicU32::new(0);

    /// The bytes of the threads that have made calls.
    static THREADS: Mutex<Vec<Byte>> = Mutex::new(Vec::new());

    struct Byte(*const AtomicU8);

    // SAFETY: the address of an atomic. A thread removes its own from the list before the thread is gone.
    unsafe impl Send for Byte {}

    struct Leaving;

    thread_local! {
        /// Removes the thread's byte from the list.
        static LEAVING: Leaving = const { Leaving };
    }

    impl Drop for Leaving {
        fn drop(&mut self) {
            // In a child, a thread of the parent may have held the lock.
            if is_child() {
                return;
            }
            PLACE.with(|own| {
                lock(&THREADS).retain(|byte| !std::ptr::eq(byte.0, own));
                own.store(thread_state::GONE, Relaxed);
            });
        }
    }

    pub(super) fn is_child() -> bool {
        let process = PROCESS.load(Relaxed);
        process != 0 && process != std::process::id()
    }

    /// Makes the handler read the byte of the calling thread. False if it must not: the thread is ending, or the
    /// process is a child.
    pub(super) fn know(own: &AtomicU8) -> bool {
        if is_child() || LEAVING.try_with(|_| ()).is_err() {
            return false;
        }
        // Before the thread calls HIP: a child of a fork during that call must find that it is a child.
        PROCESS.store(std::process::id(), Relaxed);
        lock(&THREADS).push(Byte(own));
        own.store(thread_state::OUTSIDE, Relaxed);
        true
    }

    /// Arranges that later calls of this thread are made on a helper thread once the system has destroyed the thread's
    /// earlier objects. The destructors of Rust's thread-locals run later, all together, because one of them was used
    /// before ([`know`]).
    #[cfg(target_os = "linux")]
    pub(super) fn watch_thread() {
        type Register = unsafe extern "C" fn(extern "C" fn(*mut u8), *mut u8, *const u8) -> libc::c_int;

        unsafe extern "C" {
            static __dso_handle: u8;
        }

        extern "C" fn end(_: *mut u8) {
            PLACE.with(|own| {
                // A call in progress here belongs to a handler that ends the process.
                let _ = own.compare_exchange(thread_state::OUTSIDE, thread_state::ENDING, Relaxed, Relaxed);
            });
        }

        static REGISTER: OnceLock<Option<Register>> = OnceLock::new();
        let register = REGISTER.get_or_init(|| {
            // SAFETY: a zero-terminated name. The C++ ABI gives the function's type; musl lacks the function.
            let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_thread_atexit_impl".as_ptr()) };
            // SAFETY: as above.
            unsafe { std::mem::transmute::<*mut libc::c_void, Option<Register>>(address) }
        });
        if let Some(register) = register {
            // SAFETY: the function stays as long as the library of the handle, which the system keeps until the thread
            // is gone. It uses a thread-local without a destructor.
            unsafe { register(end, std::ptr::null_mut(), &raw const __dso_handle) };
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn watch_thread() {}

    /// Registers the handler again. Returns whether calls may rely on its `membarrier` instead of a fence.
    pub(super) fn watch() -> bool {
        if is_child() {
            return false;
        }
        static BARRIER: OnceLock<bool> = OnceLock::new();
        let has_barrier = *BARRIER.get_or_init(barrier::register);
        // SAFETY: the handler may run at any time. It stays loaded: this code is in the program, or in a library whose
        // handlers the system runs before it unloads the library.
        if unsafe { libc::atexit(close) } != 0 {
            tracing::warn!(target: "windlass::hip", "atexit takes no handler: HIP may crash when the process ends");
        }
        has_barrier
    }

    /// Closes the gates and waits for calls in progress.
    extern "C" fn close() {
        // Only the first run does so. A child does nothing, because it has none of the threads.
        if is_child() || ENDED.swap(true, SeqCst) {
            return;
        }
        // A panic could come from the clock or a lock.
        let _ = catch_unwind(|| {
            let deadline = Instant::now() + PATIENCE;
            for gate in lock_until(&GATES, deadline).iter().flat_map(|gates| gates.iter()) {
                gate.functions.iter().for_each(|function| function.store(function_state::CLOSED, SeqCst));
            }
            barrier::everywhere();
            loop {
                let inside = inside(deadline);
                if inside == 0 {
                    return;
                }
                if Instant::now() >= deadline {
                    return report(inside);
                }
                thread::sleep(PAUSE);
            }
        });
    }

    /// The number of calls of other threads in progress.
    fn inside(deadline: Instant) -> usize {
        // The lock's holder keeps it forever, or is about to make a call.
        let Some(threads) = lock_until(&THREADS, deadline) else { return 1 };
        let is_inside = |byte: &&Byte| {
            // SAFETY: a thread removes its byte from the list, under the lock, before the byte is gone.
            PLACE.with(|own| !std::ptr::eq(byte.0, own))
                && unsafe { &*byte.0 }.load(Acquire) == thread_state::INSIDE
        };
        threads.iter().filter(is_inside).count() + COUNTED.load(SeqCst)
    }

    fn lock_until<T>(mutex: &Mutex<T>, deadline: Instant) -> Option<MutexGuard<'_, T>> {
        loop {
            match mutex.try_lock() {
                Ok(guard) => return Some(guard),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() >= deadline => return None,
                Err(TryLockError::WouldBlock) => thread::sleep(PAUSE),
            }
        }
    }

    /// Logs that calls are still in progress. On a thread of its own, because subscribers may need thread-locals that
    /// this thread no longer has.
    fn report(inside: usize) {
        let (said, done) = mpsc::channel();
        let say = move || {
            tracing::warn!(
                target: "windlass::hip",
                inside,
                "the process ends although calls of HIP have not returned for {PATIENCE:?}; HIP may crash. Wait for \
                 work before the process ends (Device::drain)"
            );
            let _ = said.send(());
        };
        if thread::Builder::new().name("windlass-end".to_owned()).spawn(say).is_ok() {
            let _ = done.recv_timeout(LAST_WORDS);
        }
    }

    /// A memory barrier in all threads of the process, in place of a fence in each call.
    mod barrier {
        #[cfg(target_os = "linux")]
        fn membarrier(command: libc::c_int) -> bool {
            // SAFETY: the call takes numbers, and affects only the order in which threads see memory.
            unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
        }

        /// Whether the system has such a barrier.
        #[cfg(target_os = "linux")]
        pub(super) fn register() -> bool {
            membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED)
        }

        #[cfg(target_os = "linux")]
        pub(super) fn everywhere() {
            membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED);
            super::fence(super::SeqCst);
        }

        #[cfg(not(target_os = "linux"))]
        pub(super) fn register() -> bool {
            false
        }

        #[cfg(not(target_os = "linux"))]
        pub(super) fn everywhere() {
            super::fence(super::SeqCst);
        }
    }
}
