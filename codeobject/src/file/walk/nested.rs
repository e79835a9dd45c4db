// SPDX-License-Identifier: MIT OR Apache-2.0
//! The names of files in files, and the limit of their depth.

use super::Walk;
use crate::error::Error;

/// The number of letters of a member's name that are shown.
const LONGEST_MEMBER: usize = 512;
/// The depth of archives in archives, and of zip files in zip files, that are read.
pub(crate) const MAX_DEPTH: usize = 4;

pub(crate) const UNZIP: &str = "take the inner zip file out with `unzip`";

/// The error for files in files below that depth.
pub(crate) fn too_deep(what: &str, offset: u64, depth: usize, advice: &str) -> Error {
    Error::Limit {
        what: format!("the depth of {what}"),
        offset,
        value: depth as u64,
        limit: MAX_DEPTH as u64,
        advice: advice.to_owned(),
    }
}

impl Walk<'_, '_> {
    pub(super) fn check_depth(&self, what: &str, offset: u64, advice: &str) -> Result<(), Error> {
        match self.path.len() {
            0..=MAX_DEPTH => Ok(()),
            depth => Err(too_deep(what, offset, depth, advice)),
        }
    }

    /// Reads a member under its name.
    pub(super) fn inside(&mut self, name: &str, read: impl FnOnce(&mut Self)) {
        let outer = self.member.take();
        self.path.push(name.to_owned());
        self.member = Some(member_name(&self.path).into());
        read(self);
        self.path.pop();
        self.member = outer;
    }
}

/// The name of a member, from the names of the files that it lies in. Each gets the same share of the shown letters,
/// since there may be as many members as bundles, all with the longest name.
fn member_name(path: &[String]) -> String {
    let share = LONGEST_MEMBER / path.len().max(1);
    let mut name = String::new();
    for (depth, part) in path.iter().enumerate() {
        name.extend((depth > 0).then_some('('));
        match part.char_indices().nth(share) {
            None => name.push_str(part),
            Some(_) => {
                name.extend(part.chars().take(share.saturating_sub(1)));
                name.push('…');
            }
        }
    }
    name.push_str(&")".repeat(path.len().saturating_sub(1)));
    name
}
