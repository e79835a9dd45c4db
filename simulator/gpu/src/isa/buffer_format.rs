// SPDX-License-Identifier: MIT OR Apache-2.0
//! Formats of buffer elements. GFX9 has a number for the components and one for the kind of their numbers, later families have
//! one number for both.

use super::set::{Family, InstructionSet};

/// The names of the kinds of numbers, by GFX9's codes.
const KINDS: [&str; 8] = ["UNORM", "SNORM", "USCALED", "SSCALED", "UINT", "SINT", "", "FLOAT"];

/// The components of consecutive formats, in the order of GFX9's codes from 1 on, and the codes of their kinds.
type Groups = [(&'static str, &'static [u8]); 14];

fn groups(family: Family) -> Groups {
    const ALL: &[u8] = &[0, 1, 2, 3, 4, 5, 7];
    let (no_float, whole) = (&ALL[..6], &ALL[4..]);
    // GFX10 has more.
    let (packed, narrow) = match family {
        Family::Gfx10 => (ALL, no_float),
        _ => (&ALL[6..], [0, 1, 4, 5].as_slice()),
    };
    [
        ("8", no_float),
        ("16", ALL),
        ("8_8", no_float),
        ("32", whole),
        ("16_16", ALL),
        ("10_11_11", packed),
        ("11_11_10", packed),
        ("10_10_10_2", narrow),
        ("2_10_10_10", no_float),
        ("8_8_8_8", no_float),
        ("32_32", whole),
        ("16_16_16_16", ALL),
        ("32_32_32", whole),
        ("32_32_32_32", whole),
    ]
}

/// The place of a format in [`groups`], and the code of its kind.
fn found(groups: &Groups, number: u32) -> Option<(usize, u8)> {
    let mut left = usize::try_from(number).ok()?.checked_sub(1)?;
    for (at, (_, kinds)) in groups.iter().enumerate() {
        match kinds.get(left) {
            Some(kind) => return Some((at, *kind)),
            None => left -= kinds.len(),
        }
    }
    None
}

impl InstructionSet {
    /// The codes of the components and of the kind of numbers, as GFX9 has them, of the format in a typed instruction. `None` if
    /// there is no such format.
    pub(crate) fn buffer_format(&self, number: u32) -> Option<(u32, u32)> {
        if self.family == Family::Gfx9 {
            return Some((number & 15, number >> 4 & 7));
        }
        let (at, kind) = found(&groups(self.family), number)?;
        Some((at as u32 + 1, kind.into()))
    }

    /// The name of a format of a family that has one number for both.
    pub(super) fn buffer_format_name(&self, number: u32) -> Option<[&'static str; 2]> {
        let groups = groups(self.family);
        found(&groups, number).map(|(at, kind)| [groups[at].0, KINDS[usize::from(kind)]])
    }
}

#[cfg(test)]
mod tests {
    use crate::isa::{GFX942, GFX1030, GFX1100};

    #[test]
    fn formats_are_numbered_as_llvm_names_them() {
        // 8_UNORM, 16_FLOAT, 10_11_11_FLOAT, 2_10_10_10_UNORM, 8_8_8_8_UNORM, 32_32_32_32_FLOAT.
        let formats = [1, 13, 30, 36, 42, 63].map(|number| GFX1100.buffer_format(number).unwrap());
        assert_eq!(formats, [(1, 0), (2, 7), (6, 7), (9, 0), (10, 0), (14, 7)]);
        assert_eq!(GFX1100.buffer_format(0), None);
        assert_eq!(GFX1100.buffer_format(64), None);
        assert_eq!(GFX1030.buffer_format(30), Some((6, 0)), "10_11_11_UNORM");
        assert_eq!(GFX942.buffer_format(4 << 4 | 10), Some((10, 4)));
    }
}
