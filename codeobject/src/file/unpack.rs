// SPDX-License-Identifier: MIT OR Apache-2.0
//! Unpacks the members of a zip file that hold GPU code, and of zip files in it.

use crate::container::zip::{HEAD_SIZE, Member, Zip, is_zip};
use crate::content::Content;
use crate::error::Error;
use crate::file::File;
use crate::file::companions::{Companions, Unpacked};
use crate::file::walk::nested::{MAX_DEPTH, UNZIP, too_deep};
use crate::options::Options;
use crate::words::magic::{Format, may_hold_code};

/// The usual ratio of a zip file's members to the file.
const USUAL_RATIO: u64 = 32;

/// Unpacks the companions of the zip file `bytes`, `room` bytes together at most.
pub(crate) fn unpack(content: Content<'_>, options: &Options, room: u64) -> Companions {
    // Members that turn out to hold no code cost time, and no memory.
    let work = room.saturating_add(content.size().saturating_mul(USUAL_RATIO));
    Unpacking { options, room, work, depth: 0 }.zip(content)
}

struct Unpacking<'o> {
    options: &'o Options,
    /// The bytes that may still be kept.
    room: u64,
    /// The bytes that may still be unpacked and dropped.
    work: u64,
    /// The number of zip files around the one that is being unpacked.
    depth: usize,
}

impl Unpacking<'_> {
    fn zip(&mut self, content: Content<'_>) -> Companions {
        let mut companions = Companions { are_unpacked: true, ..Companions::default() };
        // Parsing the bytes reports damage of the directory.
        let Ok(zip) = Zip::of_content(content) else { return companions };
        if self.depth > MAX_DEPTH {
            companions.problem(too_deep("zip files in zip files", 0, self.depth, UNZIP));
            return companions;
        }
        self.depth += 1;
        for (index, member) in zip.members.iter().enumerate() {
            let unpacked = if member.is_stored() {
                // Parsing the bytes reports a wrong place.
                let place = zip.place(member).unwrap_or_default();
                let content = content.part(place.start, place.end.saturating_sub(place.start));
                let inner = content.filter(|content| is_zip(*content).unwrap_or_default());
                Ok(inner.map(|inner| Unpacked { bytes: None, companions: self.zip(inner) }))
            } else {
                self.member(&zip, member)
            };
            match unpacked {
                Ok(Some(unpacked)) => drop(companions.members.insert(index, unpacked)),
                Ok(None) => {}
                Err(error) => companions.problem(error),
            }
        }
        self.depth -= 1;
        companions
    }

    /// Unpacks a compressed member, if it holds code.
    fn member(&mut self, zip: &Zip<Content<'_>>, member: &Member) -> Result<Option<Unpacked>, Error> {
        let head = zip.head(member, HEAD_SIZE)?;
        if !may_hold_code(&head) && Format::of(&head) != Some(Format::Zip) {
            let may_be_zip = zip.may_be_zip(member, self.work, &self.options.budget)?;
            self.work = self.work.saturating_sub(member.size);
            if !may_be_zip {
                return Ok(None);
            }
        }
        let bytes = zip.unpack(member, self.room.min(self.work), &self.options.budget)?;
        let size = bytes.len() as u64;
        let room = self.room;
        self.room = room.saturating_sub(size);
        let content = Content::Memory(&bytes);
        let companions = if is_zip(content)? { self.zip(content) } else { Companions::default() };
        let holds_code = !matches!(
            File::with_companions(content, &companions, self.options, &mut |_| true),
            Err(Error::NotFound { .. } | Error::NotRecognised { .. })
        );
        if holds_code {
            return Ok(Some(Unpacked { bytes: Some(bytes), companions }));
        }
        self.room = room;
        self.work = self.work.saturating_sub(size);
        Ok(None)
    }
}
