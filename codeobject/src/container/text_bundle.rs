// SPDX-License-Identifier: MIT OR Apache-2.0
//! Text bundles: what the compiler writes between its stages (`.ll`, `.s`, `.i`, `.d`), one body of text per entry.
//!
//! A line with a comment that names the entry stands before each body, and one behind it. The newline in front of the
//! closing line belongs to it, not to the body.

use crate::container::magic::Format;
use crate::container::room::Room;
use crate::container::table::{MAX_ENTRIES, MAX_ID_SIZE};
use crate::entry::Entry;
use crate::error::Error;

/// C and C++; dependencies and assembly; LLVM IR.
const COMMENTS: [&[u8]; 3] = [b"//", b"#", b";"];
const START: &[u8] = b"__START__ ";
const END: &[u8] = b"__END__ ";
/// The first mark stands at the head of the file. Nothing is searched further for it.
const HEAD: usize = 4096;

/// Whether `bytes` are a text bundle.
pub(crate) fn begins(bytes: &[u8]) -> bool {
    comment(bytes).is_some()
}

/// The entries of the text bundle that lies at `place` of its file. Their ranges are of `bytes`.
pub(crate) fn entries(bytes: &[u8], place: u64, room: &Room) -> Result<Vec<Entry>, Error> {
    let comment = comment(bytes).unwrap_or_default();
    let mut entries = Vec::new();
    let mut ids = room.ids(place);
    let mut open: Option<Open<'_>> = None;
    for line in lines(bytes) {
        match &open {
            None => {
                let Some(id) = mark(line.text, comment, START) else { continue };
                check(id, entries.len(), place)?;
                ids.take(id.len() as u64)?;
                open = Some(Open { id, body: line.next, crlf: line.crlf });
            }
            Some(start) => {
                let Some(id) = mark(line.text, comment, END) else { continue };
                let newline = if start.crlf && bytes[..line.start].ends_with(b"\r\n") { 2 } else { 1 };
                let end = line.start.saturating_sub(newline).max(start.body);
                let problem = (id != start.id).then(|| {
                    format!(
                        "the mark at its end is for `{}`; was a bundle put into it?",
                        crate::bytes::text(id)
                    )
                });
                entries.push(start.entry(end, problem));
                open = None;
            }
        }
    }
    if let Some(start) = open {
        entries.push(
            start.entry(bytes.len(), Some("the mark at its end is missing: it is cut short".to_owned())),
        );
    }
    Ok(entries)
}

/// An entry whose end was not seen yet.
struct Open<'a> {
    id: &'a [u8],
    body: usize,
    crlf: bool,
}

impl Open<'_> {
    fn entry(&self, end: usize, problem: Option<String>) -> Entry {
        Entry::new(self.id.to_vec(), self.body as u64, (end - self.body) as u64, problem)
    }
}

/// What a comment line begins with in this bundle, by its first mark.
fn comment(bytes: &[u8]) -> Option<&'static [u8]> {
    let head = bytes.get(..HEAD).unwrap_or(bytes);
    lines(head)
        .find_map(|line| COMMENTS.into_iter().find(|comment| mark(line.text, comment, START).is_some()))
}

/// The id in a line that is a mark.
fn mark<'a>(line: &'a [u8], comment: &[u8], word: &[u8]) -> Option<&'a [u8]> {
    line.strip_prefix(comment)?.strip_prefix(b" ")?.strip_prefix(Format::Bundle.magic())?.strip_prefix(word)
}

fn check(id: &[u8], count: usize, place: u64) -> Result<(), Error> {
    let (what, value, limit) = if count >= MAX_ENTRIES {
        ("the text bundle (entries)".to_owned(), count as u64 + 1, MAX_ENTRIES as u64)
    } else if id.len() as u64 > MAX_ID_SIZE {
        (format!("the id of entry {count} of the text bundle"), id.len() as u64, MAX_ID_SIZE)
    } else {
        return Ok(());
    };
    let advice = "no tool writes so many, the input is damaged".to_owned();
    Err(Error::Limit { what, offset: place, value, limit, advice })
}

struct Line<'a> {
    start: usize,
    /// Without its end.
    text: &'a [u8],
    crlf: bool,
    /// Where the next line begins.
    next: usize,
}

fn lines(bytes: &[u8]) -> impl Iterator<Item = Line<'_>> {
    let mut next = 0;
    bytes.split_inclusive(|byte| *byte == b'\n').map(move |whole| {
        let start = next;
        next += whole.len();
        let text = whole.strip_suffix(b"\n").unwrap_or(whole);
        match text.strip_suffix(b"\r") {
            Some(text) => Line { start, text, crlf: true, next },
            None => Line { start, text, crlf: false, next },
        }
    })
}
