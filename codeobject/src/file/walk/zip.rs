// SPDX-License-Identifier: MIT OR Apache-2.0
//! The walk through the members of a zip file.

use super::{Walk, may_hold_code};
use crate::bytes::range;
use crate::container::iree::IreeFormat;
use crate::container::zip::{HEAD_SIZE, Zip, ends};
use crate::error::Error;
use crate::file::FileKind;

impl<'a> Walk<'a, '_> {
    /// Reads the members that are stored as they are, and those that somebody has unpacked; members without GPU code
    /// are passed over.
    pub(super) fn zip(&mut self, bytes: &'a [u8]) -> Result<FileKind, Error> {
        let zip = Zip::of_bytes(bytes)?;
        self.problems.extend(zip.problem.clone());
        // How many bundles are in executables of IREE: of a module all are.
        let mut of_iree = 0;
        let mut packed = None;
        let companions = self.companions;
        for (index, member) in zip.members.iter().enumerate() {
            if self.is_full(0) {
                break;
            }
            if let Some(unpacked) = companions.members.get(&index) {
                self.inside(&member.name, |walk| walk.zipped(unpacked, 0));
            } else if member.is_stored() {
                match zip.place(member) {
                    Ok(place) => {
                        let content = range(bytes, place.start, place.end - place.start).unwrap_or_default();
                        let before = self.bundles.len();
                        self.inside(&member.name, |walk| walk.zipped(content, place.start));
                        if IreeFormat::of(content).is_some() {
                            of_iree += self.bundles.len() - before;
                        }
                    }
                    Err(error) => self.problem(error),
                }
            } else if companions.is_empty() && packed.is_none() {
                let head = zip.head(member, HEAD_SIZE);
                packed = head.is_ok_and(|head| may_hold_code(&head)).then(|| member.name.clone());
            }
        }
        if let Some(name) = packed {
            let advice = "open the file by its path (`Input::open`), which unpacks such members";
            self.problems.push(Error::unsupported(
                format!("the compressed member `{name}` of a zip file"),
                0,
                advice,
            ));
        }
        let nothing = self.bundles.is_empty() && self.references.is_empty() && self.problems.is_empty();
        if nothing && companions.problems.is_empty() {
            return Err(Error::NotFound {
                what: "GPU code in the zip file".to_owned(),
                present:
                    "none of its members has any; compile a module for the rocm target, take the wheel that \
                          was built for ROCm"
                        .to_owned(),
            });
        }
        let is_module = of_iree > 0 && of_iree == self.bundles.len();
        Ok(if is_module { FileKind::IreeModule } else { FileKind::Zip })
    }

    /// Reads a member that lies at `base` of the file.
    fn zipped(&mut self, content: &'a [u8], base: u64) {
        if !may_hold_code(content) {
            return;
        }
        match self.content(content, base) {
            Ok(_) | Err(Error::NotFound { .. }) => {}
            Err(error) => self.problem(error),
        }
    }
}

/// Whether a file that begins otherwise ends as a zip file with GPU code in it.
pub(super) fn carries_code(bytes: &[u8]) -> bool {
    let holds = |zip: Zip<&[u8]>| {
        let heads = zip.members.iter().filter_map(|member| zip.head(member, HEAD_SIZE).ok());
        heads.into_iter().any(|head| may_hold_code(&head))
    };
    ends(bytes) && Zip::of_bytes(bytes).is_ok_and(holds)
}
