// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every call is a trace event with its arguments, for subscribers.

use std::fmt;
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use windlass_hip_sys::null::{Instance, Options};

/// Records level, target and message of every event.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<(Level, String, String)>>>);

struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}

impl Subscriber for Listener {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _span: &Id, _values: &Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut message = Message(String::new());
        event.record(&mut message);
        let metadata = event.metadata();
        let mut events = self.0.lock().expect("no test panics while it holds this");
        events.push((*metadata.level(), metadata.target().to_owned(), message.0));
    }
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}

#[test]
fn a_call_is_an_event_with_its_arguments() {
    let listener = Listener::default();
    let api = Instance::new(Options::default()).api();
    tracing::subscriber::with_default(listener.clone(), || {
        // SAFETY: nothing is written through the null pointer.
        unsafe {
            api.hipSetDevice(7);
            api.hipMemset(std::ptr::null_mut(), 1, 0);
            api.hipGetLastError();
        }
    });
    let events = listener.0.lock().expect("no test panics while it holds this").clone();
    let event = |message: &str| (Level::TRACE, "windlass::hip".to_owned(), message.to_owned());
    assert_eq!(
        events,
        [
            event("hipSetDevice(deviceId=7)"),
            event("hipMemset(dst=0x0, value=1, sizeBytes=0)"),
            event("hipGetLastError()")
        ]
    );
}
