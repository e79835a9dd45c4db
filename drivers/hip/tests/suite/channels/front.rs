// SPDX-License-Identifier: MIT OR Apache-2.0
//! An RCCL in front of another one. A rule hears each call before it is made, and may make it fail.

use std::{
    cell::Cell,
    ffi::{c_char, c_int, c_void},
    ptr::null,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering::SeqCst},
    },
};

use windlass_hip_sys::{
    Binding,
    bindings::hipStream_t,
    for_each_rccl_function,
    rccl::{Functions, Origin, *},
};

/// Decides about a call by its name: `None` makes it.
type Rule = Box<dyn Fn(&'static str) -> Option<ncclResult_t> + Send + Sync>;

pub(super) struct Front {
    behind: Rccl,
    rule: Rule,
    /// The communicators that were joined and not given up.
    lives: Arc<AtomicI64>,
}

thread_local! {
    /// The front of this thread's next call.
    static CURRENT: Cell<*const Front> = const { Cell::new(null()) };
}

/// The `enter` of a front's binding.
///
/// # Safety
///
/// `context` is a [`Front`] that the binding keeps.
unsafe fn enter(context: *const ()) {
    CURRENT.set(context.cast());
}

impl Front {
    /// The RCCL in front of `behind`, after `change` has removed functions from it, and the number of communicators that were
    /// joined and not given up.
    pub(super) fn rccl(
        behind: Rccl,
        rule: Rule,
        change: impl FnOnce(&mut Functions),
    ) -> (Rccl, Arc<AtomicI64>) {
        let origin = Origin::in_process("an RCCL in front of the simulated one", behind.origin().version);
        let lives = Arc::new(AtomicI64::new(0));
        let front = Arc::new(Self { behind, rule, lives: lives.clone() });
        let mut functions = FUNCTIONS;
        change(&mut functions);
        let binding = Binding { context: Arc::as_ptr(&front).cast(), enter, keep_alive: front };
        // SAFETY: the functions make the same call to the RCCL behind, or answer a result and do nothing.
        let rccl = unsafe { Rccl::from_functions(functions, origin, Some(binding)) };
        (rccl, lives)
    }

    fn count(&self, call: &str, worked: bool) {
        let change = match call {
            "ncclCommInitRankConfig" if worked => 1,
            "ncclCommAbort" | "ncclCommDestroy" if worked => -1,
            _ => 0,
        };
        self.lives.fetch_add(change, SeqCst);
    }
}

/// The return value of a call.
trait Answer: Sized {
    /// That of a call which the rule makes fail.
    fn failed(result: ncclResult_t) -> Option<Self>;

    fn has_worked(&self) -> bool;
}

impl Answer for ncclResult_t {
    fn failed(result: ncclResult_t) -> Option<Self> {
        Some(result)
    }

    fn has_worked(&self) -> bool {
        matches!(*self, Self::ncclSuccess | Self::ncclInProgress)
    }
}

impl Answer for *const c_char {
    fn failed(_: ncclResult_t) -> Option<Self> {
        None
    }

    fn has_worked(&self) -> bool {
        true
    }
}

macro_rules! define {
    (
        required { $(fn $name:ident($($parameter:ident: $ty:ty),*) -> $result:ty;)* }
        optional { $(fn $other:ident($($of_other:ident: $other_ty:ty),*) -> $other_result:ty;)* }
    ) => {
        $(
            #[allow(non_snake_case, clippy::too_many_arguments)]
            unsafe extern "C" fn $name($($parameter: $ty),*) -> $result {
                // SAFETY: `enter` has set the front of this call, which is kept during it.
                let front = unsafe { &*CURRENT.get() };
                let failed = (front.rule)(stringify!($name)).and_then(<$result as Answer>::failed);
                // SAFETY: the caller vouches for the arguments.
                let answer = failed.unwrap_or_else(|| unsafe { front.behind.$name($($parameter),*) });
                front.count(stringify!($name), answer.has_worked());
                answer
            }
        )*
        $(
            #[allow(non_snake_case, clippy::too_many_arguments)]
            unsafe extern "C" fn $other($($of_other: $other_ty),*) -> $other_result {
                // SAFETY: as above.
                let front = unsafe { &*CURRENT.get() };
                let failed = (front.rule)(stringify!($other)).and_then(<$other_result as Answer>::failed);
                // SAFETY: as above.
                let answer = failed.or_else(|| unsafe { front.behind.$other($($of_other),*) });
                let answer = answer.expect("the simulated RCCL has all");
                front.count(stringify!($other), answer.has_worked());
                answer
            }
        )*

        const FUNCTIONS: Functions = Functions { $($name,)* $($other: Some($other),)* };
    };
}

for_each_rccl_function!(define);
