// SPDX-License-Identifier: MIT OR Apache-2.0
//! The known processors, the generic targets that cover them, and the ISA-compatible families.
//!
//! A processor that is in no table can still be listed and matched exactly.

/// The values of `EF_AMDGPU_MACH` in an ELF, with their processors.
const MACH: &[(u8, &str)] = &[
    (0x20, "gfx600"),
    (0x21, "gfx601"),
    (0x22, "gfx700"),
    (0x23, "gfx701"),
    (0x24, "gfx702"),
    (0x25, "gfx703"),
    (0x26, "gfx704"),
    (0x28, "gfx801"),
    (0x29, "gfx802"),
    (0x2a, "gfx803"),
    (0x2b, "gfx810"),
    (0x2c, "gfx900"),
    (0x2d, "gfx902"),
    (0x2e, "gfx904"),
    (0x2f, "gfx906"),
    (0x30, "gfx908"),
    (0x31, "gfx909"),
    (0x32, "gfx90c"),
    (0x33, "gfx1010"),
    (0x34, "gfx1011"),
    (0x35, "gfx1012"),
    (0x36, "gfx1030"),
    (0x37, "gfx1031"),
    (0x38, "gfx1032"),
    (0x39, "gfx1033"),
    (0x3a, "gfx602"),
    (0x3b, "gfx705"),
    (0x3c, "gfx805"),
    (0x3d, "gfx1035"),
    (0x3e, "gfx1034"),
    (0x3f, "gfx90a"),
    (0x40, "gfx940"),
    (0x41, "gfx1100"),
    (0x42, "gfx1013"),
    (0x43, "gfx1150"),
    (0x44, "gfx1103"),
    (0x45, "gfx1036"),
    (0x46, "gfx1101"),
    (0x47, "gfx1102"),
    (0x48, "gfx1200"),
    (0x49, "gfx1250"),
    (0x4a, "gfx1151"),
    (0x4b, "gfx941"),
    (0x4c, "gfx942"),
    (0x4e, "gfx1201"),
    (0x4f, "gfx950"),
    (0x50, "gfx1310"),
    (0x51, "gfx9-generic"),
    (0x52, "gfx10-1-generic"),
    (0x53, "gfx10-3-generic"),
    (0x54, "gfx11-generic"),
    (0x55, "gfx1152"),
    (0x58, "gfx1153"),
    (0x59, "gfx12-generic"),
    (0x5a, "gfx1251"),
    (0x5b, "gfx12-5-generic"),
    (0x5c, "gfx1172"),
    (0x5d, "gfx1170"),
    (0x5e, "gfx1171"),
    (0x5f, "gfx9-4-generic"),
];

/// The generic targets, with the processors that they cover.
const GENERIC: &[(&str, &[&str])] = &[
    ("gfx9-generic", &["gfx900", "gfx902", "gfx904", "gfx906", "gfx909", "gfx90c"]),
    ("gfx9-4-generic", &["gfx940", "gfx941", "gfx942", "gfx950"]),
    ("gfx10-1-generic", &["gfx1010", "gfx1011", "gfx1012", "gfx1013"]),
    ("gfx10-3-generic", &["gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"]),
    (
        "gfx11-generic",
        &[
            "gfx1100", "gfx1101", "gfx1102", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153",
            "gfx1170", "gfx1171", "gfx1172",
        ],
    ),
    ("gfx12-generic", &["gfx1200", "gfx1201"]),
    ("gfx12-5-generic", &["gfx1250", "gfx1251"]),
];

/// The families by the rule of the Linux distributions: (processor that may run the code, processor of the code).
const FAMILIES: &[(&[&str], &[&str])] = &[
    (&["gfx900", "gfx902", "gfx906", "gfx909", "gfx90c"], &["gfx900", "gfx902", "gfx909", "gfx90c"]),
    (&["gfx1010", "gfx1011", "gfx1012", "gfx1013"], &["gfx1010"]),
    (
        &["gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"],
        &["gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"],
    ),
];

/// The processor of an `EF_AMDGPU_MACH` value.
pub(crate) fn from_mach(mach: u8) -> Option<&'static str> {
    MACH.iter().find(|(value, _)| *value == mach).map(|(_, name)| *name)
}

/// The `EF_AMDGPU_MACH` value of a processor.
pub(crate) fn to_mach(processor: &str) -> Option<u8> {
    MACH.iter().find(|(_, name)| *name == processor).map(|(value, _)| *value)
}

/// Whether the name is that of a generic target.
pub(crate) fn is_generic(processor: &str) -> bool {
    processor.ends_with("-generic")
}

/// The evidence that code for a generic target runs on a processor. A later variant is stronger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Membership {
    /// The major version numbers match, as for `gfx13-generic` and `gfx1301`; the table lacks one of the two.
    MajorNumber,
    /// The major and minor version numbers match, as for `gfx12-5-generic` and `gfx1252`.
    MinorNumber,
    /// The table lists the pair.
    Listed,
}

/// The evidence that code for the generic target runs on the processor; `None` if it does not. HIP makes the final
/// decision if only the numbers match.
///
/// Numbers count only for names that the table lacks, and only if they do not contradict the table. The number of a
/// new gfx9 processor proves nothing, because some gfx9 processors have a generic target of their own and some have
/// none.
pub(crate) fn generic_serves(generic: &str, processor: &str) -> Option<Membership> {
    let members = GENERIC.iter().find(|(name, _)| *name == generic).map(|(_, members)| *members);
    if let Some(members) = members
        && to_mach(processor).is_some()
    {
        return members.contains(&processor).then_some(Membership::Listed);
    }
    let numbers = generic.strip_prefix("gfx")?.strip_suffix("-generic")?;
    let (major, minor) = numbers.split_once('-').unwrap_or((numbers, ""));
    let is_like = |processor: &str| {
        let rest = processor.strip_prefix("gfx").and_then(|number| number.strip_prefix(major));
        // A minor number and a stepping follow the major number, one digit each.
        let rest = rest.filter(|rest| rest.len() == 2 && rest.bytes().all(|byte| byte.is_ascii_hexdigit()));
        !major.is_empty() && rest.is_some_and(|rest| rest.starts_with(minor))
    };
    let contradicts = |members: &[&str]| {
        MACH.iter().any(|(_, known)| !is_generic(known) && is_like(known) && !members.contains(known))
    };
    if !is_like(processor) || members.is_some_and(contradicts) {
        return None;
    }
    Some(if minor.is_empty() { Membership::MajorNumber } else { Membership::MinorNumber })
}

/// Whether distributions let the agent run code for the other processor.
pub(crate) fn family_serves(code: &str, agent: &str) -> bool {
    FAMILIES.iter().any(|(agents, codes)| agents.contains(&agent) && codes.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mach_values_are_unique() {
        for (index, (value, name)) in MACH.iter().enumerate() {
            for (other, other_name) in &MACH[index + 1..] {
                assert_ne!(value, other);
                assert_ne!(name, other_name);
            }
        }
    }

    #[test]
    fn members_of_generics_and_families_are_known_processors() {
        let known = |name: &str| MACH.iter().any(|(_, known)| *known == name);
        for (generic, members) in GENERIC {
            assert!(known(generic) && is_generic(generic));
            assert!(members.iter().all(|member| known(member)), "{generic}");
        }
        for (agents, codes) in FAMILIES {
            assert!(agents.iter().chain(codes.iter()).all(|name| known(name)));
        }
    }

    #[test]
    fn numbers_decide_where_the_table_ends() {
        for (generic, processor, expected) in [
            ("gfx11-generic", "gfx1100", Some(Membership::Listed)),
            ("gfx11-generic", "gfx1199", Some(Membership::MajorNumber)),
            ("gfx13-generic", "gfx1310", Some(Membership::MajorNumber)),
            ("gfx13-2-generic", "gfx1327", Some(Membership::MinorNumber)),
            ("gfx12-5-generic", "gfx1252", Some(Membership::MinorNumber)),
            ("gfx10-3-generic", "gfx1037", Some(Membership::MinorNumber)),
            ("gfx13-2-generic", "gfx1317", None),
            ("gfx9-generic", "gfx957", None),
            ("gfx12-generic", "gfx1252", None),
            ("gfx9-generic", "gfx908", None),
            ("gfx9-generic", "gfx942", None),
            ("gfx12-generic", "gfx1250", None),
            ("gfx1-generic", "gfx1100", None),
            ("gfx11-generic", "gfx11", None),
            ("gfx-generic", "gfx99", None),
            ("generic", "gfx1100", None),
        ] {
            assert_eq!(generic_serves(generic, processor), expected, "{generic} {processor}");
        }
    }

    #[test]
    fn families_are_one_way_where_the_rule_is() {
        assert!(family_serves("gfx900", "gfx906"));
        assert!(!family_serves("gfx906", "gfx900"));
        assert!(family_serves("gfx1010", "gfx1012"));
        assert!(!family_serves("gfx1012", "gfx1010"));
        assert!(family_serves("gfx1036", "gfx1031"));
        assert!(!family_serves("gfx1100", "gfx1101"));
    }
}
