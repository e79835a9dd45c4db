// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that destructors make while a thread ends are not logged: the subscriber's own variables may be gone.

use std::cell::RefCell;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};
use windlass_hip_sys::Api;
use windlass_hip_sys::null::{Instance, Options};

static EVENTS: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// As the layers of `tracing-subscriber` have it.
    static TEXT: RefCell<String> = RefCell::new(String::from("text"));
    static DEVICE: RefCell<Option<Device>> = const { RefCell::new(None) };
}

struct Listener;

impl Subscriber for Listener {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _span: &Id, _values: &Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn event(&self, _event: &Event<'_>) {
        TEXT.with(|text| text.borrow_mut().push('x'));
        EVENTS.fetch_add(1, Ordering::SeqCst);
    }
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}

/// Calls HIP when the thread ends.
struct Device(Api);

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: no arguments.
        let _ = unsafe { self.0.hipDeviceSynchronize() };
    }
}

#[test]
fn a_thread_with_a_device_of_its_own_ends_quietly() {
    tracing::subscriber::set_global_default(Listener).expect("no other subscriber");
    let panics: &'static Mutex<Vec<String>> = Box::leak(Box::default());
    std::panic::set_hook(Box::new(move |panic| {
        panics.lock().expect("no panic here").push(panic.to_string())
    }));
    let instance = Instance::new(Options::default());
    let (api, own) = (instance.api(), instance.api());
    let thread = std::thread::spawn(move || {
        // Used first, so it is destroyed last.
        DEVICE.with(|device| *device.borrow_mut() = Some(Device(own)));
        // SAFETY: no arguments.
        let _ = unsafe { api.hipDeviceSynchronize() };
        EVENTS.load(Ordering::SeqCst)
    });
    let events = thread.join().expect("the thread ends");
    drop(std::panic::take_hook());
    assert_eq!(*panics.lock().expect("no panic here"), [""; 0]);
    assert_eq!((events, EVENTS.load(Ordering::SeqCst)), (1, 1), "the call in the destructor is not logged");
}
