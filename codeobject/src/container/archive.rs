// SPDX-License-Identifier: MIT OR Apache-2.0
//! Archives of objects (`ar`): GNU's with its table of long names, BSD's with names before the content.
//!
//! The `object` crate would search a hostile table of names from end to end for each member, so names are looked up
//! here.

use std::borrow::Cow;

use crate::bytes::text;
use crate::content::Content;
use crate::error::Error;
use crate::words::magic::Format;

const HEADER_SIZE: u64 = 60;
/// The most bytes of a name that are searched, and that are shown.
const LONGEST_NAME: u64 = 4096;
const SHOWN_NAME: usize = 256;

/// One member of an archive.
pub(crate) struct Member<'a> {
    pub(crate) name: String,
    pub(crate) content: Content<'a>,
    /// The offset of the content in the whole file.
    pub(crate) offset: u64,
}

/// A whole name, and the number of bytes of the content that it takes.
type Name<'n> = (Cow<'n, [u8]>, u64);

/// The members of an archive in their order, without the tables of symbols and names. An error ends them.
pub(crate) struct Members<'a> {
    content: Content<'a>,
    /// The offset of the archive in its file.
    base: u64,
    position: u64,
    long_names: Content<'a>,
    count: u64,
    over: bool,
}

impl<'a> Members<'a> {
    pub(crate) fn new(archive: Content<'a>, base: u64) -> Members<'a> {
        Members {
            content: archive,
            base,
            position: Format::Archive.magic().len() as u64,
            long_names: Content::EMPTY,
            count: 0,
            over: false,
        }
    }

    /// The next member, or `None` for a table.
    fn read(&mut self) -> Result<Option<Member<'a>>, Error> {
        let position = self.position;
        let index = self.count;
        let place = self.base.saturating_add(position);
        let what = || format!("member {index} of the archive");
        let left = self.content.size() - position;
        let header = self.content.array::<{ HEADER_SIZE as usize }>(position)?;
        let header = header.ok_or_else(|| Error::truncated(what(), place, HEADER_SIZE, left))?;
        let malformed = |problem: &str| Error::malformed(what(), place, problem);
        let (name, rest) = header.split_at(16);
        if !rest.ends_with(b"`\n") {
            return Err(malformed("its header does not end as headers do"));
        }
        let size = number(&rest[32..42]).ok_or_else(|| malformed("its size is no number"))?;
        let start = position + HEADER_SIZE;
        let content = self
            .content
            .part(start, size)
            .ok_or_else(|| Error::truncated(what(), place, size, left - HEADER_SIZE))?;
        self.position = (start + size).next_multiple_of(2);
        self.count += 1;
        match trim(name) {
            name if is_table(name) => Ok(None),
            b"//" => {
                self.long_names = content;
                Ok(None)
            }
            name => {
                let (name, before) =
                    self.name(name, content)?.ok_or_else(|| malformed("its name is not in the archive"))?;
                // BSD's table of symbols.
                let is_table = name.starts_with(b"__.SYMDEF");
                let content = content.from(before);
                let offset = self.base.saturating_add(start + before);
                let name = match name.get(..SHOWN_NAME) {
                    Some(shown) if shown.len() < name.len() => text(shown) + "…",
                    _ => text(&name),
                };
                Ok((!is_table).then_some(Member { name, content, offset }))
            }
        }
    }

    /// The whole name, and the number of bytes of the content that it takes.
    fn name<'n>(&self, name: &'n [u8], content: Content<'n>) -> Result<Option<Name<'n>>, Error>
    where
        'a: 'n,
    {
        if let Some(size) = name.strip_prefix(b"#1/") {
            let size = number(size).filter(|size| *size <= LONGEST_NAME);
            let Some((name, size)) = size.and_then(|size| Some((content.part(0, size)?, size))) else {
                return Ok(None);
            };
            let name = name.load()?;
            let end = name.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            return Ok(Some((cut(name, end), size)));
        }
        if let Some(at) = name.strip_prefix(b"/") {
            let Some(at) = number(at).filter(|at| *at <= self.long_names.size()) else { return Ok(None) };
            let rest = self.long_names.from(at).head(LONGEST_NAME as usize)?;
            let end = rest.iter().position(|byte| matches!(byte, b'\n' | 0));
            return Ok(end.map(|end| (without_slash(cut(rest, end)), 0)));
        }
        Ok(Some((without_slash(Cow::Borrowed(name)), 0)))
    }
}

fn without_slash(name: Cow<'_, [u8]>) -> Cow<'_, [u8]> {
    let end = name.strip_suffix(b"/").map_or(name.len(), <[u8]>::len);
    cut(name, end)
}

fn cut(mut bytes: Cow<'_, [u8]>, end: usize) -> Cow<'_, [u8]> {
    match &mut bytes {
        Cow::Borrowed(bytes) => *bytes = bytes.get(..end).unwrap_or_default(),
        Cow::Owned(bytes) => bytes.truncate(end),
    }
    bytes
}

impl<'a> Iterator for Members<'a> {
    type Item = Result<Member<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.over && self.position < self.content.size() {
            match self.read() {
                Ok(None) => {}
                Ok(Some(member)) => return Some(Ok(member)),
                Err(error) => {
                    self.over = true;
                    return Some(Err(error));
                }
            }
        }
        None
    }
}

/// Whether a name is that of a table of symbols. Microsoft's tools put further names in angle brackets.
fn is_table(name: &[u8]) -> bool {
    matches!(name, b"/" | b"/SYM64/") || name.starts_with(b"/<")
}

/// The error for a thin archive, which holds names and no contents. It names the first member.
pub(crate) fn thin(archive: Content<'_>) -> Error {
    let first = first_of_thin(archive).ok().flatten();
    let first = first.map(|name| format!(" (the first is `{name}`)")).unwrap_or_default();
    let advice = format!(
        "its members are files of their own beside it{first}; read those, or make a whole archive with `ar rcs` \
         without T"
    );
    Error::unsupported(Format::ThinArchive.name(), 0, advice)
}

fn first_of_thin(archive: Content<'_>) -> Result<Option<String>, Error> {
    let mut names = Content::EMPTY;
    let mut position = Format::ThinArchive.magic().len() as u64;
    while let Some(header) = archive.array::<{ HEADER_SIZE as usize }>(position)? {
        let (name, rest) = header.split_at(16);
        let start = position + HEADER_SIZE;
        // Only the tables have their content in the archive.
        match (trim(name), number(&rest[32..42])) {
            (name, Some(size)) if is_table(name) => position = start.saturating_add(size).next_multiple_of(2),
            (b"//", Some(size)) => {
                names = archive.part(start, size).unwrap_or(Content::EMPTY);
                position = start.saturating_add(size).next_multiple_of(2);
            }
            (name, _) => {
                let members = Members { long_names: names, ..Members::new(archive, 0) };
                return Ok(members.name(name, Content::EMPTY)?.map(|(name, _)| text(&name)));
            }
        }
    }
    Ok(None)
}

fn number(digits: &[u8]) -> Option<u64> {
    std::str::from_utf8(trim(digits)).ok()?.parse().ok()
}

fn trim(field: &[u8]) -> &[u8] {
    field.trim_ascii_end()
}
