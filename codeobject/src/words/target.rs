// SPDX-License-Identifier: MIT OR Apache-2.0
//! Target ids: a processor and its stated features.

use std::fmt;
use std::str::FromStr;

use crate::error::Error;
use crate::words::processor;

/// A processor with its stated features, as in `gfx942:sramecc+:xnack-`.
///
/// A code object states a feature when it works in one mode only; a feature that it leaves out fits both. A GPU (an
/// *agent*) states the mode of every feature that it has. Neither processors nor features are checked against a
/// list: names are data.
///
/// [`FromStr`] reads a target id, and also the ISA names that contain one (`amdgcn-amd-amdhsa--gfx942:xnack-`,
/// `amdgpu9.42-amd-amdhsa-unknown-gfx942`). [`Display`](fmt::Display) writes the target id, with the features in
/// alphabetical order.
///
/// ```
/// use windlass_codeobject::TargetId;
/// let target: TargetId = "gfx942:xnack-:sramecc+".parse()?;
/// assert_eq!(target.to_string(), "gfx942:sramecc+:xnack-");
/// assert_eq!(target.feature("xnack"), Some(false));
/// # Ok::<(), windlass_codeobject::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TargetId {
    processor: String,
    features: Vec<(String, bool)>,
}

impl TargetId {
    /// The processor: `gfx942`, or a generic target such as `gfx9-4-generic`.
    pub fn processor(&self) -> &str {
        &self.processor
    }

    /// The stated features, sorted by name, and whether each is on.
    pub fn features(&self) -> impl Iterator<Item = (&str, bool)> {
        self.features.iter().map(|(name, on)| (name.as_str(), *on))
    }

    /// Whether a feature is stated on (`Some(true)`), stated off (`Some(false)`), or not stated.
    pub fn feature(&self, name: &str) -> Option<bool> {
        self.features.iter().find(|(stated, _)| stated == name).map(|(_, on)| *on)
    }

    /// Whether the processor is a generic target, which covers several processors.
    pub fn is_generic(&self) -> bool {
        processor::is_generic(&self.processor)
    }

    /// Whether this crate's tables list the processor or generic target. An unlisted one may be newer than the tables,
    /// and is listed and matched by name like any other.
    pub fn is_known(&self) -> bool {
        processor::to_mach(&self.processor).is_some()
    }

    pub(crate) fn new(processor: &str, mut features: Vec<(String, bool)>) -> TargetId {
        features.sort();
        TargetId { processor: processor.to_owned(), features }
    }

    /// Reads `processor{:feature(+|-)}`; the error describes the problem.
    pub(crate) fn parse_id(text: &str) -> Result<TargetId, String> {
        let mut parts = text.split(':');
        let processor = parts.next().unwrap_or_default();
        if processor.is_empty() {
            return Err("it has no processor".to_owned());
        }
        if let Some(odd) = processor.chars().find(|c| !c.is_ascii_alphanumeric() && !"-_.".contains(*c)) {
            return Err(format!("{odd:?} belongs in no processor name"));
        }
        if processor.starts_with("amdgcn-") || processor.starts_with("amdgpu") {
            return Err(format!("{processor} is a triple, not a processor"));
        }
        let mut features: Vec<(String, bool)> = Vec::new();
        for part in parts {
            let (name, on) = match (part.strip_suffix('+'), part.strip_suffix('-')) {
                (Some(name), _) => (name, true),
                (_, Some(name)) => (name, false),
                _ => return Err(format!("the feature `{part}` ends in neither + nor -")),
            };
            if name.is_empty() || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
                return Err(format!("`{part}` is no feature"));
            }
            if features.iter().any(|(stated, _)| stated == name) {
                return Err(format!("the feature {name} is stated twice"));
            }
            features.push((name.to_owned(), on));
        }
        Ok(TargetId::new(processor, features))
    }

    /// Reads `arch-vendor-os-env-processor{:feature(+|-)}`, with old ids that leave the environment out.
    pub(crate) fn parse_triple(text: &str) -> Result<TargetId, String> {
        let mut fields = text.splitn(4, '-');
        let (arch, vendor, os) = match (fields.next(), fields.next(), fields.next()) {
            (Some(arch), Some(vendor), Some(os)) => (arch, vendor, os),
            _ => return Err("the triple has fewer than three fields".to_owned()),
        };
        let subarch = Subarch::parse(arch)?;
        if vendor != "amd" || os != "amdhsa" {
            return Err(format!("the system {vendor}-{os} is not amd-amdhsa"));
        }
        let rest = fields.next().unwrap_or_default();
        // Without an environment the processor comes one field early; no environment begins with "gfx".
        let id = match rest.split_once('-') {
            _ if rest.starts_with("gfx") => rest,
            Some((_environment, id)) => id,
            None => "",
        };
        if id.is_empty() {
            let processor = subarch.processor().ok_or("it has no processor")?;
            return Ok(TargetId::new(&processor, Vec::new()));
        }
        let target = TargetId::parse_id(id)?;
        if !subarch.agrees_with(&target.processor) {
            return Err(format!("its architecture {arch} is not that of {}", target.processor));
        }
        Ok(target)
    }
}

impl FromStr for TargetId {
    type Err = Error;

    fn from_str(text: &str) -> Result<TargetId, Error> {
        let parsed = if text.starts_with("amdgcn-") || text.starts_with("amdgpu") {
            TargetId::parse_triple(text)
        } else {
            TargetId::parse_id(text)
        };
        parsed.map_err(|problem| Error::BadTarget { text: text.to_owned(), problem })
    }
}

impl fmt::Display for TargetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.processor)?;
        for (name, on) in &self.features {
            write!(f, ":{name}{}", if *on { '+' } else { '-' })?;
        }
        Ok(())
    }
}

/// The processor's number by the architecture of a triple: `amdgpu9.42` states all of it, `amdgpu9` the major number,
/// `amdgcn` nothing.
enum Subarch<'a> {
    Any,
    Major(&'a str),
    Exact(&'a str, &'a str),
}

impl<'a> Subarch<'a> {
    fn parse(arch: &'a str) -> Result<Subarch<'a>, String> {
        if arch == "amdgcn" || arch == "amdgpu" {
            return Ok(Subarch::Any);
        }
        let wrong = || format!("the architecture {arch} is not amdgcn or amdgpu");
        let number = arch.strip_prefix("amdgpu").ok_or_else(wrong)?;
        let (major, minor) = match number.split_once('.') {
            Some((major, minor)) => (major, Some(minor)),
            None => (number, None),
        };
        let digits = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_digit());
        let lower_hex = |text: &str| text.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f'));
        match minor {
            None if digits(major) => Ok(Subarch::Major(major)),
            Some(minor) if digits(major) && minor.len() == 2 && lower_hex(minor) => {
                Ok(Subarch::Exact(major, minor))
            }
            _ => Err(wrong()),
        }
    }

    fn processor(&self) -> Option<String> {
        match self {
            Subarch::Any => None,
            Subarch::Major(major) => Some(format!("gfx{major}-generic")),
            Subarch::Exact(major, minor) => Some(format!("gfx{major}{minor}")),
        }
    }

    fn agrees_with(&self, processor: &str) -> bool {
        let number = processor.strip_prefix("gfx").unwrap_or(processor);
        match (self, number.strip_suffix("-generic")) {
            (Subarch::Any, _) => true,
            (Subarch::Major(major) | Subarch::Exact(major, _), Some(generic)) => {
                generic.split('-').next() == Some(major)
            }
            (Subarch::Major(major), None) => number.len() == major.len() + 2 && number.starts_with(major),
            (Subarch::Exact(major, minor), None) => {
                number.strip_prefix(major).is_some_and(|rest| rest == *minor)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<String, String> {
        text.parse::<TargetId>().map(|target| target.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn target_ids() {
        assert_eq!(parse("gfx90a").as_deref(), Ok("gfx90a"));
        assert_eq!(parse("gfx9-4-generic:xnack+").as_deref(), Ok("gfx9-4-generic:xnack+"));
        assert!(parse("").is_err_and(|e| e.contains("no processor")));
        assert!(parse("gfx942:xnack").is_err_and(|e| e.contains("neither + nor -")));
        assert!(parse("gfx942:xnack+:xnack-").is_err_and(|e| e.contains("twice")));
        assert!(parse("gfx942:+").is_err());
        assert!(parse("gfx 942").is_err());
        let nested = "amdgcn-amd-amdhsa-env-amdgcn-amd-amdhsa--gfx942";
        assert!(parse(nested).is_err_and(|e| e.contains("not a processor")));
    }

    #[test]
    fn processors_of_the_tables_are_known() {
        for (text, known) in
            [("gfx942:xnack-", true), ("gfx9-4-generic", true), ("gfx9O2", false), ("gfx9999", false)]
        {
            assert_eq!(text.parse::<TargetId>().unwrap().is_known(), known, "{text}");
        }
    }

    #[test]
    fn isa_names_with_old_and_new_triples() {
        for text in [
            "amdgcn-amd-amdhsa--gfx942:sramecc+",
            "amdgcn-amd-amdhsa-unknown-gfx942:sramecc+",
            "amdgcn-amd-amdhsa-gfx942:sramecc+",
            "amdgpu9.42-amd-amdhsa-unknown-gfx942:sramecc+",
            "amdgpu9-amd-amdhsa--gfx942:sramecc+",
            "amdgpu-amd-amdhsa--gfx942:sramecc+",
        ] {
            assert_eq!(parse(text).as_deref(), Ok("gfx942:sramecc+"), "{text}");
        }
        assert_eq!(parse("amdgpu9.0a-amd-amdhsa").as_deref(), Ok("gfx90a"));
        assert_eq!(parse("amdgpu10.30-amd-amdhsa--").as_deref(), Ok("gfx1030"));
        assert_eq!(parse("amdgcn-amd-amdhsa-gfx9-4-generic").as_deref(), Ok("gfx9-4-generic"));
        assert_eq!(parse("amdgpu11-amd-amdhsa--gfx11-generic").as_deref(), Ok("gfx11-generic"));
    }

    #[test]
    fn triples_that_contradict_the_processor_are_refused() {
        for text in [
            "amdgpu9.42-amd-amdhsa--gfx90a",
            "amdgpu9-amd-amdhsa--gfx1030",
            "amdgpu1-amd-amdhsa--gfx1030",
            "amdgpu10.30-amd-amdhsa--gfx11-generic",
            "amdgpu9.4-amd-amdhsa--gfx942",
            "amdgcn-amd-amdpal--gfx942",
            "amdgcn-amd-amdhsa",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
