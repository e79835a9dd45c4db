// SPDX-License-Identifier: MIT OR Apache-2.0
//! Handles: the objects behind the opaque pointers of `windlass.h`.
//!
//! A handle points to a [`Shell`]. The shell counts the references that C holds, and separately the calls that are
//! using the handle. When both counts are zero, the value is dropped. The shell is never freed, but reused for a later
//! object of the same type, oldest first. So a handle always points to a shell, and a call with a released handle, or
//! one that another thread is releasing, detects that instead of touching freed memory.
//!
//! Each reuse of a shell has the next generation, which the lowest bits of a handle repeat: shells begin at multiples
//! of 64. With the queue of dead shells, a released handle can pass for another object's only after some 16000 objects
//! of its type. A generation in the highest bits would hide the shell from tools that search for leaks.
//!
//! A shell begins with the kind of its object, so a call also detects a handle of another kind, which languages without
//! C's types pass easily.
//!
//! Handles cross the boundary as `Option<NonNull<T>>`. All of them come from [`create`] or from C, which by contract
//! passes NULL or a handle of this library.

use std::{
    cell::UnsafeCell,
    collections::VecDeque,
    ops::Deref,
    ptr::NonNull,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use facade::{Error, Result, fork};

/// An opaque type of the header.
pub(crate) trait Object: Sync + Sized + 'static {
    /// The type of the value.
    type Value: Send + Sync;
    /// The name of the type in messages.
    const NAME: &'static str;
    fn kind() -> &'static Kind;
    fn shell(&self) -> &Shell<Self::Value>;
    fn around(shell: Shell<Self::Value>) -> Self;
    fn dead() -> &'static Dead<Self>;
}

/// The kind of an object, told apart by its address.
pub(crate) struct Kind(pub(crate) &'static str);

/// The kinds of which there have been objects.
static KINDS: Mutex<Vec<&'static Kind>> = Mutex::new(Vec::new());

/// Makes a tuple struct around a [`Shell`] an [`Object`].
macro_rules! object {
    ($name:ident, $value:ty, $text:literal) => {
        impl $crate::handle::Object for $name {
            type Value = $value;
            const NAME: &'static str = $text;
            fn kind() -> &'static $crate::handle::Kind {
                static KIND: $crate::handle::Kind = $crate::handle::Kind($text);
                &KIND
            }
            fn shell(&self) -> &$crate::handle::Shell<$value> {
                &self.0
            }
            fn around(shell: $crate::handle::Shell<$value>) -> Self {
                Self(shell)
            }
            fn dead() -> &'static $crate::handle::Dead<Self> {
                static DEAD: $crate::handle::Dead<$name> = $crate::handle::Dead::new();
                &DEAD
            }
        }
        const _: () = assert!(std::mem::offset_of!($name, 0) == 0, "a handle leads to the kind");
    };
}
pub(crate) use object;

/// One call in progress that uses the value: in the lowest 32 bits.
const USE: u64 = 1;
/// One generation: in the next 6 bits.
const GENERATION: u64 = 1 << 32;
/// One reference that C holds: in the highest 26 bits.
const REFERENCE: u64 = 1 << 38;
const GENERATIONS: u64 = REFERENCE - GENERATION;
/// The bits of a handle that have the generation.
const MARK: usize = 63;

/// A place for a value, with its reference counts.
#[repr(C, align(64))]
pub(crate) struct Shell<T> {
    /// The first field, where a call with a handle of any kind finds it.
    kind: *const Kind,
    /// The numbers of references and of uses, and between them the generation.
    counts: AtomicU64,
    value: UnsafeCell<Option<T>>,
}

// SAFETY: the kind never changes, and leads to a static. The value is written only while both counts are zero, by the
// one thread that owns the shell: the one that counted down to zero, or the one that took the shell from the queue.
// Other threads only read the value, and only while they are counted.
unsafe impl<T: Send + Sync> Sync for Shell<T> {}

/// Shells without a value, the most recent last.
pub(crate) struct Dead<O: 'static>(Mutex<VecDeque<&'static O>>);

impl<O> Dead<O> {
    /// The number of dead shells that are kept before the first is reused.
    const KEPT: usize = 256;

    pub(crate) const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    fn take(&self) -> Option<&'static O> {
        // In a forked child, a thread of the parent may hold the lock. There no shell is reused.
        fork::check().ok()?;
        let mut dead = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if dead.len() > Self::KEPT { dead.pop_front() } else { None }
    }

    fn put(&self, object: &'static O) {
        if fork::check().is_err() {
            return;
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(object);
    }
}

/// Puts a value behind a new handle, with one reference.
pub(crate) fn create<O: Object>(value: O::Value) -> NonNull<O> {
    let object: &'static O = O::dead().take().unwrap_or_else(|| {
        if fork::check().is_ok() {
            let mut kinds = KINDS.lock().unwrap_or_else(PoisonError::into_inner);
            if !kinds.iter().any(|kind| std::ptr::eq(*kind, O::kind())) {
                kinds.push(O::kind());
            }
        }
        let shell = Shell { kind: O::kind(), counts: AtomicU64::new(0), value: UnsafeCell::new(None) };
        Box::leak(Box::new(O::around(shell)))
    });
    let shell = object.shell();
    // SAFETY: both counts are zero, and until they are not, only this thread has the shell.
    unsafe { *shell.value.get() = Some(value) };
    let generation = (shell.counts.load(Ordering::Relaxed) + GENERATION) & GENERATIONS;
    shell.counts.store(REFERENCE | generation, Ordering::Release);
    NonNull::from(object).map_addr(|address| address | (generation / GENERATION) as usize)
}

/// The value behind a handle, kept while this lives.
pub(crate) struct Used<O: Object>(&'static O, u64);

/// The value behind a handle. `INVALID_ARGUMENT` for NULL, for a released handle and for one of another kind.
pub(crate) fn used<O: Object>(handle: Option<NonNull<O>>) -> Result<Used<O>> {
    let (object, generation) = object_of(handle)?;
    if count_up(object, generation, USE) { Ok(Used(object, generation)) } else { Err(released::<O>()) }
}

/// Adds a reference. `INVALID_ARGUMENT` for NULL, for a released handle and for one of another kind.
pub(crate) fn retain<O: Object>(handle: Option<NonNull<O>>) -> Result<()> {
    let (object, generation) = object_of(handle)?;
    if count_up(object, generation, REFERENCE) { Ok(()) } else { Err(released::<O>()) }
}

/// Removes a reference, unless the handle is NULL, released or of another kind.
pub(crate) fn release<O: Object>(handle: Option<NonNull<O>>) {
    if handle.is_none() {
        return;
    }
    match object_of(handle) {
        Ok((object, generation)) if count_down(object, generation, REFERENCE) => {}
        Ok(_) => {
            tracing::error!(target: "windlass::capi", "a {} was released more often than retained", O::NAME);
        }
        Err(error) => tracing::error!(target: "windlass::capi", %error, "nothing was released"),
    }
}

/// The object of a handle, and the generation that the handle is for.
fn object_of<O: Object>(handle: Option<NonNull<O>>) -> Result<(&'static O, u64)> {
    match handle {
        Some(handle) => {
            let generation = (handle.addr().get() & MARK) as u64 * GENERATION;
            let Some(shell) = NonNull::new(handle.as_ptr().map_addr(|address| address & !MARK)) else {
                return Err(mistaken::<O>(std::ptr::null()));
            };
            // SAFETY: the handle came from `create`, by the contract of this module, for an object of some kind. All of
            // these begin with a `Shell`, as `object` checks, and that with its kind. Shells are never freed.
            let kind = unsafe { shell.cast::<*const Kind>().read() };
            if !std::ptr::eq(kind, O::kind()) {
                return Err(mistaken::<O>(kind));
            }
            // SAFETY: as above, and it is an `O`.
            Ok((unsafe { shell.as_ref() }, generation))
        }
        None => Err(Error::invalid_argument(format!("the {} is NULL", O::NAME))),
    }
}

#[cold]
fn mistaken<O: Object>(given: *const Kind) -> Error {
    if let Err(error) = fork::check() {
        return error;
    }
    let kinds = KINDS.lock().unwrap_or_else(PoisonError::into_inner);
    // Memory that is no handle may hold any address here, which is compared and not followed.
    let known = kinds.iter().find(|kind| std::ptr::eq(**kind, given));
    let given = known.map_or("no handle".to_owned(), |kind| format!("a handle of the kind `{}`", kind.0));
    Error::invalid_argument(format!("{given} was passed as one of the kind `{}`", O::NAME))
}

#[cold]
fn released<O: Object>() -> Error {
    Error::invalid_argument(format!(
        "the {} was released: its handle is used after its last release",
        O::NAME
    ))
}

/// Adds one to a count, unless C holds no reference of this generation or the count is at its maximum.
fn count_up<O: Object>(object: &O, generation: u64, one: u64) -> bool {
    let more = |counts: u64| {
        let full = if one == USE { counts as u32 == u32::MAX } else { counts > u64::MAX - REFERENCE };
        (counts >= REFERENCE && counts & GENERATIONS == generation && !full).then(|| counts + one)
    };
    object.shell().counts.fetch_update(Ordering::Acquire, Ordering::Relaxed, more).is_ok()
}

/// Subtracts one from a count, and empties the shell if nothing is left. `false` if the count of this generation was
/// zero.
fn count_down<O: Object>(object: &'static O, generation: u64, one: u64) -> bool {
    let less = |counts: u64| {
        let any = if one == USE { counts as u32 > 0 } else { counts >= REFERENCE };
        (any && counts & GENERATIONS == generation).then(|| counts - one)
    };
    match object.shell().counts.fetch_update(Ordering::AcqRel, Ordering::Relaxed, less) {
        Ok(before) if before == one | generation => {
            // SAFETY: both counts are zero now, so no thread reads, and only this thread observed the transition.
            let value = unsafe { (*object.shell().value.get()).take() };
            O::dead().put(object);
            drop(value);
            true
        }
        Ok(_) => true,
        Err(_) => false,
    }
}

impl<O: Object> Deref for Used<O> {
    type Target = O::Value;

    fn deref(&self) -> &O::Value {
        // SAFETY: this use is counted, so no thread writes the value.
        let value = unsafe { &*self.0.shell().value.get() };
        value.as_ref().expect("a shell that is counted has a tenant")
    }
}

impl<O: Object> Drop for Used<O> {
    fn drop(&mut self) {
        count_down(self.0, self.1, USE);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    struct Thing(Shell<Arc<u32>>);
    object!(Thing, Arc<u32>, "thing");

    struct Other(Shell<String>);
    object!(Other, String, "other");

    #[test]
    fn a_handle_of_another_kind_is_refused_and_keeps_its_value() {
        let value = Arc::new(1);
        let handle = create::<Thing>(value.clone());
        let mistaken = Some(handle.cast::<Other>());
        for refusal in [used(mistaken).err(), retain(mistaken).err()] {
            let text = refusal.unwrap().to_string();
            assert!(text.contains("`thing`") && text.contains("`other`"), "{text}");
        }
        release(mistaken);
        assert_eq!(Arc::strong_count(&value), 2, "it was not released");
        release(Some(handle));
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn the_value_goes_with_the_last_reference_and_the_last_use() {
        let value = Arc::new(7);
        let handle = Some(create::<Thing>(value.clone()));
        retain(handle).unwrap();
        release(handle);
        let used_now = used(handle).unwrap();
        release(handle);
        assert_eq!((**used_now, Arc::strong_count(&value)), (7, 2), "a use outlives the last release");
        assert!(used(handle).is_err(), "and no new one begins");
        drop(used_now);
        assert_eq!(Arc::strong_count(&value), 1);
    }

    #[test]
    fn what_is_released_or_null_is_refused() {
        let handle = Some(create::<Thing>(Arc::new(1)));
        release(handle);
        release(handle);
        for handle in [handle, None] {
            release(handle);
            let refusals = [used(handle).err(), retain(handle).err()];
            assert!(refusals.into_iter().all(|e| e.unwrap().code() == facade::Code::InvalidArgument));
        }
    }

    #[test]
    fn shells_are_used_again_but_not_at_once() {
        struct Other(Shell<u32>);
        object!(Other, u32, "other");
        let first = create::<Other>(0);
        release(Some(first));
        let (place, _) = object_of(Some(first)).unwrap();
        let mut again = 0;
        for round in 0..32 * Dead::<Other>::KEPT as u32 {
            let handle = create::<Other>(round);
            again += usize::from(std::ptr::eq(object_of(Some(handle)).unwrap().0, place));
            assert_eq!(*used(Some(handle)).unwrap(), round);
            release(Some(first));
            assert!(used(Some(first)).is_err() && retain(Some(first)).is_err(), "in round {round}");
            assert_eq!(*used(Some(handle)).unwrap(), round, "an old handle releases nothing");
            release(Some(handle));
            assert!(again == 0 || round as usize >= Dead::<Other>::KEPT, "used again in round {round}");
        }
        assert!(again > 20, "memory does not grow for ever");
    }

    #[test]
    fn threads_that_race_with_the_last_release_see_the_value_or_a_refusal() {
        for _ in 0..200 {
            let handle = create::<Thing>(Arc::new(42)).as_ptr() as usize;
            let pointer = move || NonNull::new(handle as *mut Thing);
            std::thread::scope(|scope| {
                for _ in 0..2 {
                    scope.spawn(move || assert!(used(pointer()).map_or(true, |value| **value == 42)));
                }
                scope.spawn(move || release(pointer()));
            });
            assert!(used(pointer()).is_err());
        }
    }
}
