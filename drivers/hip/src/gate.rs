// SPDX-License-Identifier: MIT OR Apache-2.0
//! Gates: words of memory that foreign streams wait for, where the work that will open the gate is not in a stream yet.
//!
//! A gate is opened in stream order by the submission that holds its [`Opening`]. Where that submission ends in any
//! other way, or never runs, the drop of the opening opens the gate from the host. So no stream waits for ever.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use windlass_hal::Result;

use crate::{
    call::{Event, EventStatus},
    hip::Hip,
};

/// A word of signal memory, by its address, which is the same for the host and for streams.
pub(crate) struct Word(u64);

impl Word {
    pub(crate) fn address(&self) -> u64 {
        self.0
    }

    fn store(&self, value: u64) {
        // SAFETY: HIP allocated an aligned word that the host reaches. It is freed only after each opening is dropped.
        // Streams read and write it in one piece.
        let word = unsafe { AtomicU64::from_ptr(self.0 as *mut u64) };
        word.store(value, Ordering::SeqCst);
    }
}

/// The duty to open a gate.
pub(crate) struct Opening(Arc<Word>);

impl Opening {
    pub(crate) fn word(&self) -> u64 {
        self.0.address()
    }
}

impl Drop for Opening {
    fn drop(&mut self) {
        self.0.store(1);
    }
}

/// The words of a device.
#[derive(Default)]
pub(crate) struct Gates(Vec<Gate>);

struct Gate {
    word: Arc<Word>,
    /// Recorded in the foreign stream behind its wait: until then the stream may look at the word.
    passed: Option<Arc<Event>>,
}

impl Gates {
    /// A shut gate that no stream waits for.
    pub(crate) fn shut(&mut self, hip: &Hip) -> Result<(Arc<Word>, Opening)> {
        let idle = self.0.iter_mut().find_map(|gate| {
            let passed = gate.passed.as_deref().is_none_or(|event| has_completed(hip, *event));
            (passed && Arc::strong_count(&gate.word) == 1).then(|| {
                gate.passed = None;
                gate.word.clone()
            })
        });
        let word = match idle {
            Some(word) => word,
            None => {
                let word = Arc::new(Word(hip.malloc_word()?));
                self.0.push(Gate { word: word.clone(), passed: None });
                word
            }
        };
        word.store(0);
        Ok((word.clone(), Opening(word)))
    }

    /// Notes the event behind the wait of a foreign stream.
    pub(crate) fn note(&mut self, word: &Arc<Word>, passed: Arc<Event>) {
        if let Some(gate) = self.0.iter_mut().find(|gate| Arc::ptr_eq(&gate.word, word)) {
            gate.passed = Some(passed);
        }
    }

    /// Keeps a word for ever, because nobody knows for how long a stream looks at it.
    pub(crate) fn abandon(&mut self, word: &Arc<Word>) {
        self.0.retain(|gate| !Arc::ptr_eq(&gate.word, word));
    }

    /// Takes all words out, each with the event after which it can be freed.
    pub(crate) fn take(&mut self) -> Vec<(u64, Option<Arc<Event>>)> {
        std::mem::take(&mut self.0).into_iter().map(|gate| (gate.word.address(), gate.passed)).collect()
    }
}

fn has_completed(hip: &Hip, event: Event) -> bool {
    !matches!(hip.query(event), Ok(EventStatus::Running))
}
