// SPDX-License-Identifier: MIT OR Apache-2.0
//! Messages that lanes send in parts. The first word of a part describes it: whether it is the first or the last of its
//! message, how many words it has, and the number of the message, which the answer to the first part gives.

use std::collections::BTreeMap;

use super::format::{self, Arguments};
use super::output::{self, Stream};

const BEGIN: u64 = 1;
const END: u64 = 2;
const LENGTH: u32 = 5;
const NUMBER: u32 = 8;

/// The most words of a message. A kernel that sends more without an end loses them.
const LONGEST: usize = 1 << 21;
/// The most messages without an end: one for each lane that a device can have in flight. A kernel that begins more loses the
/// oldest.
const MOST_OPEN: usize = 1 << 20;
/// The most words of all messages without an end. A kernel that sends more loses them.
const MOST_WORDS: usize = 1 << 26;

/// The result of C's `printf` for a message that it does not print whole.
const FAILED: u64 = u64::MAX;

/// A message without an end.
#[derive(Debug, Default)]
struct Open {
    words: Vec<u64>,
    /// Whether words were lost.
    is_cut: bool,
}

/// The messages that have no end yet.
#[derive(Debug, Default)]
pub(super) struct Messages {
    open: BTreeMap<u64, Open>,
    /// The words of the open messages.
    words: usize,
    last: u64,
}

impl Messages {
    /// Whether each message has had its end.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Takes one part, and returns its answer: the description for the next part, or what the whole message gives.
    pub(super) fn take(&mut self, part: &[u64; 8]) -> u64 {
        let description = part[0];
        let mut number = description >> NUMBER;
        if description & BEGIN != 0 {
            self.last = self.last.wrapping_add(1) & (u64::MAX >> NUMBER);
            number = self.last;
            self.open.insert(number, Open::default());
            if self.open.len() > MOST_OPEN {
                self.words -= self.open.pop_first().map_or(0, |(_, message)| message.words.len());
            }
        }
        let Some(message) = self.open.get_mut(&number) else {
            tracing::warn!(target: "windlass::sim", number, "a kernel continues a message that it did not begin");
            return 0;
        };
        let length = (description >> LENGTH & 7) as usize;
        // Words behind a gap would be taken for others.
        let fits = message.words.len() + length <= LONGEST && self.words + length <= MOST_WORDS;
        message.is_cut |= !fits;
        if !message.is_cut {
            message.words.extend(&part[1..=length]);
            self.words += length;
        }
        if description & END == 0 {
            return number << NUMBER;
        }
        let Some(Open { words, is_cut }) = self.open.remove(&number) else { return 0 };
        self.words -= words.len();
        if is_cut {
            tracing::error!(
                target: "windlass::sim",
                words = words.len(),
                "a kernel printed a message that is too long, or too many at once: none of it is printed"
            );
            return FAILED;
        }
        print(&words)
    }
}

/// Prints a message: the stream, the format and its arguments. Returns the bytes that were printed.
fn print(words: &[u64]) -> u64 {
    let mut arguments = Arguments::new(words);
    let stream = if arguments.word() & 1 == 0 { Stream::Out } else { Stream::Error };
    let format = arguments.string();
    let bytes = format::format(&format, &mut arguments);
    output::write(stream, &bytes);
    bytes.len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_without_an_end_are_bounded() {
        let mut messages = Messages::default();
        for _ in 0..MOST_OPEN + 10 {
            messages.take(&[BEGIN | 7 << LENGTH, 0, 0, 0, 0, 0, 0, 0]);
        }
        assert_eq!((messages.open.len(), messages.words), (MOST_OPEN, 7 * MOST_OPEN));
        let newest = messages.last << NUMBER;
        for _ in 0..LONGEST {
            messages.take(&[newest | 7 << LENGTH, 0, 0, 0, 0, 0, 0, 0]);
        }
        assert!(messages.open[&messages.last].words.len() <= LONGEST && messages.words <= MOST_WORDS);
        // A message that lost words is not printed as if it were whole.
        assert!(messages.open[&messages.last].is_cut);
        assert_eq!(messages.take(&[newest | END, 0, 0, 0, 0, 0, 0, 0]), FAILED);
        // A message that is gone is not continued.
        assert_eq!(messages.take(&[1 << NUMBER, 0, 0, 0, 0, 0, 0, 0]), 0);
    }
}
