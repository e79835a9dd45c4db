// SPDX-License-Identifier: MIT OR Apache-2.0
//! The log of the process, for tests that read it.

use std::fmt::Write;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, Once};

use tracing::{Level, field, span};

/// Events of the log, as level and message.
pub type Line = (Level, String);

static LISTENERS: Mutex<Vec<Sender<Line>>> = Mutex::new(Vec::new());

/// Passes each message to all listeners.
struct Passing;

impl tracing::Subscriber for Passing {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        let line = (*event.metadata().level(), text.0);
        LISTENERS.lock().unwrap().retain(|listener| listener.send(line.clone()).is_ok());
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

/// Fields and message of an event.
struct Text(String);

impl field::Visit for Text {
    fn record_debug(&mut self, field: &field::Field, value: &dyn std::fmt::Debug) {
        let _ = write!(self.0, "{}={value:?} ", field.name());
    }
}

/// The log from now on, including lines of other tests.
pub fn listen() -> Receiver<Line> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| tracing::subscriber::set_global_default(Passing).unwrap());
    let (send, receive) = channel();
    LISTENERS.lock().unwrap().push(send);
    receive
}
