// SPDX-License-Identifier: MIT OR Apache-2.0
//! The end of the process, after which no call enters a HIP library any more.
//!
//! AMD's library destroys its objects when the process ends, and a call that meets them then is a segmentation fault,
//! on whichever thread. Threads go on while a process ends. So every call of a library passes a [`Gate`], and a handler
//! of `atexit` closes the gates, and then waits, for [`PATIENCE`] at most, until each call that is inside has returned.
//!
//! Handlers run in the reverse order of their registration, and HIP registers some of its own late, when a function is
//! first used. So ours is registered anew behind the first call of each function. The earliest to run does the work.
//!
//! To pass an open gate costs a thread two stores to a byte of its own and one load, in between, of a byte that nobody
//! writes. What orders the first store before the load is a barrier that the handler has the system put into every
//! thread (`membarrier`). Where the system has none, each call passes the slow way, with a fence.

use std::sync::atomic::{
    AtomicBool, AtomicU8, AtomicUsize,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    compiler_fence, fence,
};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::table::EntryPoints;

/// What a call finds for its function.
mod state {
    /// Nobody has called the function before.
    pub(super) const NEW: u8 = 0;
    pub(super) const OPEN: u8 = 1;
    /// As `OPEN`, but each call has to make its own fence.
    pub(super) const FENCED: u8 = 2;
    pub(super) const CLOSED: u8 = 3;
}

/// Where a thread is.
mod place {
    /// Nobody looks at the thread's byte yet.
    pub(super) const UNKNOWN: u8 = 0;
    pub(super) const OUTSIDE: u8 = 1;
    pub(super) const INSIDE: u8 = 2;
    /// The thread ends, and HIP's objects of it are being destroyed.
    pub(super) const ENDING: u8 = 3;
    /// The thread ends, and nobody looks at its byte any more.
    pub(super) const GONE: u8 = 4;
}

/// What the calls of one library pass.
pub(crate) struct Gate {
    /// The address of one of its functions, by which the library is known.
    library: usize,
    functions: [AtomicU8; EntryPoints::NAMES.len()],
}

impl std::fmt::Debug for Gate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Gate({:#x})", self.library)
    }
}

/// No call may enter any more. Written once.
static ENDED: AtomicBool = AtomicBool::new(false);

/// Calls of threads that have no byte any more.
static COUNTED: AtomicUsize = AtomicUsize::new(0);

/// One for each library. They are never freed: calls may come until the process is gone.
static GATES: Mutex<Vec<&'static Gate>> = Mutex::new(Vec::new());

thread_local! {
    // Without a destructor, so that calls of other destructors find it.
    static PLACE: AtomicU8 = const { AtomicU8::new(place::UNKNOWN) };
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Gate {
    /// The gate of the library with a function at this address.
    pub(crate) fn of(library: usize) -> &'static Self {
        let mut gates = lock(&GATES);
        if let Some(known) = gates.iter().find(|gate| gate.library == library) {
            return known;
        }
        let functions = [const { AtomicU8::new(state::NEW) }; EntryPoints::NAMES.len()];
        let gate: &'static Self = Box::leak(Box::new(Self { library, functions }));
        gates.push(gate);
        gate
    }

    /// Before a call of a function: whether it may be made, and what [`leave`](Self::leave) is to know behind it.
    #[inline]
    pub(crate) fn enter(&self, function: usize) -> Leave {
        PLACE.with(|own| {
            if own.load(Relaxed) == place::OUTSIDE {
                own.store(place::INSIDE, Relaxed);
                compiler_fence(SeqCst);
                if self.functions[function].load(Relaxed) == state::OPEN {
                    return Leave::Gate;
                }
                own.store(place::OUTSIDE, Relaxed);
            }
            self.enter_slowly(own)
        })
    }

    /// Behind a call that was entered.
    #[inline]
    pub(crate) fn leave(&self, function: usize, how: Leave) {
        PLACE.with(|own| match how {
            Leave::Gate => own.store(place::OUTSIDE, Release),
            _ => self.leave_slowly(own, function, how),
        });
    }

    #[cold]
    #[inline(never)]
    fn enter_slowly(&self, own: &AtomicU8) -> Leave {
        let how = match own.load(Relaxed) {
            place::INSIDE => Leave::Nested,
            place::OUTSIDE => Leave::Slowly,
            place::UNKNOWN if exit::know(own) => Leave::First,
            place::ENDING | place::GONE if !exit::is_child() => {
                Leave::Elsewhere { thread: std::ptr::from_ref(own).addr() }
            }
            _ => Leave::Counted,
        };
        match how {
            Leave::Slowly | Leave::First => own.store(place::INSIDE, Relaxed),
            Leave::Counted | Leave::Elsewhere { .. } => drop(COUNTED.fetch_add(1, SeqCst)),
            _ => {}
        }
        // The handler sees this call, or the call sees that the end has come.
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
        if known.load(Relaxed) == state::NEW {
            // Whatever HIP registered during the call is to run after ours.
            let next = if exit::watch() { state::OPEN } else { state::FENCED };
            // Closed by now, it stays so.
            let _ = known.compare_exchange(state::NEW, next, SeqCst, Relaxed);
        }
        leave(own, how);
    }
}

/// How a call entered, and so how it is to leave.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Leave {
    /// It must not be made: the process is ending.
    Refused,
    /// It passed no gate.
    Nothing,
    /// Through an open gate.
    Gate,
    /// The slow way.
    Slowly,
    /// The slow way, the first time on this thread.
    First,
    /// The slow way, on a thread without a byte.
    Counted,
    /// The slow way, and the call is made on another thread, as this one is ending.
    Elsewhere {
        /// A number of this thread.
        thread: usize,
    },
    /// Within another call of the same thread, which stands for it: as in the handler of a signal.
    Nested,
}

/// The end of what came the slow way.
fn leave(own: &AtomicU8, how: Leave) {
    match how {
        Leave::Slowly => own.store(place::OUTSIDE, Release),
        Leave::First => {
            own.store(place::OUTSIDE, Release);
            // Behind the call, so that it comes before what HIP has destroyed of the thread.
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

/// Without `atexit` nobody hears of the end.
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

    /// For how long the end of the process waits for calls that are inside.
    pub(super) const PATIENCE: Duration = Duration::from_secs(5);

    /// How long it waits for whoever writes the log that they were.
    const LAST_WORDS: Duration = Duration::from_secs(1);

    /// Between two looks.
    const PAUSE: Duration = Duration::from_micros(100);

    /// The process that has made calls, whose children by `fork` have copies of all this, but not its threads.
    static PROCESS: AtomicU32 = AtomicU32::new(0);

    /// The bytes of the threads that have made calls.
    static THREADS: Mutex<Vec<Byte>> = Mutex::new(Vec::new());

    struct Byte(*const AtomicU8);

    // SAFETY: an address of an atomic. A thread takes its own off the list before it is gone.
    unsafe impl Send for Byte {}

    struct Leaving;

    thread_local! {
        /// Takes the thread's byte off the list.
        static LEAVING: Leaving = const { Leaving };
    }

    impl Drop for Leaving {
        fn drop(&mut self) {
            // In a child a thread of the parent's may have held the lock.
            if is_child() {
                return;
            }
            PLACE.with(|own| {
                lock(&THREADS).retain(|byte| !std::ptr::eq(byte.0, own));
                own.store(place::GONE, Relaxed);
            });
        }
    }

    pub(super) fn is_child() -> bool {
        let process = PROCESS.load(Relaxed);
        process != 0 && process != std::process::id()
    }

    /// Has the end look at the byte of the calling thread. False where it must not: the thread is ending, or the
    /// process is a child.
    pub(super) fn know(own: &AtomicU8) -> bool {
        if is_child() || LEAVING.try_with(|_| ()).is_err() {
            return false;
        }
        lock(&THREADS).push(Byte(own));
        own.store(place::OUTSIDE, Relaxed);
        true
    }

    /// Has the thread's later calls made elsewhere from when the system destroys what this thread has had so far. The
    /// destructors of Rust's thread-locals come later: one was used before ([`know`]), and they come all at once.
    #[cfg(target_os = "linux")]
    pub(super) fn watch_thread() {
        type Register = unsafe extern "C" fn(extern "C" fn(*mut u8), *mut u8, *const u8) -> libc::c_int;

        unsafe extern "C" {
            static __dso_handle: u8;
        }

        extern "C" fn end(_: *mut u8) {
            PLACE.with(|own| {
                // A call that is inside is one of a handler that ends the process.
                let _ = own.compare_exchange(place::OUTSIDE, place::ENDING, Relaxed, Relaxed);
            });
        }

        static REGISTER: OnceLock<Option<Register>> = OnceLock::new();
        let register = REGISTER.get_or_init(|| {
            // SAFETY: a name that ends with a zero. The C++ ABI has the function's type; musl has no such function.
            let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"__cxa_thread_atexit_impl".as_ptr()) };
            // SAFETY: as above.
            unsafe { std::mem::transmute::<*mut libc::c_void, Option<Register>>(address) }
        });
        if let Some(register) = register {
            // SAFETY: the function stays as long as the library that the handle stands for, which the system keeps
            // until the thread is gone. It uses a thread-local that has no destructor.
            unsafe { register(end, std::ptr::null_mut(), &raw const __dso_handle) };
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn watch_thread() {}

    /// Registers the handler once more. Whether calls may leave the fence to it.
    pub(super) fn watch() -> bool {
        if is_child() {
            return false;
        }
        static BARRIER: OnceLock<bool> = OnceLock::new();
        let has_barrier = *BARRIER.get_or_init(|| {
            PROCESS.store(std::process::id(), Relaxed);
            barrier::register()
        });
        // SAFETY: the handler may run at any time. It stays where it is: this code is in the program, or in a library
        // whose handlers the system runs before it unloads the library.
        if unsafe { libc::atexit(close) } != 0 {
            tracing::warn!(target: "windlass::hip", "atexit takes no handler: HIP may crash when the process ends");
        }
        has_barrier
    }

    /// Closes the gates and waits for whoever is inside.
    extern "C" fn close() {
        // The first to run does it. A child leaves its own without a word, as it has none of the threads.
        if is_child() || ENDED.swap(true, SeqCst) {
            return;
        }
        // A panic would be one of the clock's or of a lock's.
        let _ = catch_unwind(|| {
            let deadline = Instant::now() + PATIENCE;
            for gate in lock_until(&GATES, deadline).iter().flat_map(|gates| gates.iter()) {
                gate.functions.iter().for_each(|function| function.store(state::CLOSED, SeqCst));
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

    /// How many calls of other threads have not returned.
    fn inside(deadline: Instant) -> usize {
        // Who has the lock has it for good, or is about to be inside.
        let Some(threads) = lock_until(&THREADS, deadline) else { return 1 };
        let is_inside = |byte: &&Byte| {
            // SAFETY: a thread takes its byte off the list, under the lock, before the byte is gone.
            PLACE.with(|own| !std::ptr::eq(byte.0, own)) && unsafe { &*byte.0 }.load(Acquire) == place::INSIDE
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

    /// Says that calls stay inside. On a thread of its own: what listens may need storage that this one has no more.
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

    /// A barrier in all threads of the process, so that each need not make its own.
    mod barrier {
        #[cfg(target_os = "linux")]
        fn membarrier(command: libc::c_int) -> bool {
            // SAFETY: the call takes numbers, and changes nothing but the order in which threads see memory.
            unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
        }

        /// Whether there is one.
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
