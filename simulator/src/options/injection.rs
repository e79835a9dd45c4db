// SPDX-License-Identifier: MIT OR Apache-2.0
//! Calls that fail or are late on purpose, and their spelling in options.

use std::fmt;
use std::time::Duration;

use windlass_hip_sys::EntryPoints;

use super::error::OptionsError;
use crate::hip::words::code::Code;
use crate::hip::words::functions::is_simulated;
use crate::hsa;

/// Calls of a function of HIP or of HSA that fail or are late.
///
/// The spelling is the function, its calls, and their error or delay: `hipMalloc@3:hipErrorOutOfMemory`,
/// `hipModuleLaunchKernel~0.01`, `*~0.001:hipErrorUnknown` for `fail=`; `hipMemcpyAsync@2:5ms` for `delay=`.
///
/// | calls | means |
/// |---|---|
/// | nothing | every call |
/// | `@3` | the third call, over all threads |
/// | `@3-5`, `@3-` | the third to the fifth; the third and all that follow |
/// | `~0.01` | one call in a hundred, drawn from the seed and the number of the call |
///
/// `*` is every function; the calls of all functions are counted together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Injection {
    /// `None` is every function.
    function: Option<String>,
    calls: Calls,
    effect: Effect,
    text: String,
}

/// The calls of a function that are hit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    /// The first and the last, from 1.
    Numbered(u64, u64),
    /// This many of 2^32.
    Drawn(u64),
}

/// The effect on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// The call only answers this status.
    Fail(u32),
    /// The call begins this much later.
    Delay(Duration),
}

/// The longest delay that can be asked for.
const LONGEST: Duration = Duration::from_secs(600);

/// Functions that have no status to fail with.
const INFALLIBLE: [&str; 2] = ["hipGetErrorName", "hipGetErrorString"];

impl Injection {
    /// Reads the value of `fail=`, separated by commas.
    pub(crate) fn failures(text: &str) -> Result<Vec<Self>, OptionsError> {
        each(text, |one| {
            let (calls, error) = match one.split_once(':') {
                Some((calls, error)) => (calls, Some(error)),
                None => (one, None),
            };
            let (function, calls) = parse_calls("fail", one, calls)?;
            let status = match (error, &function) {
                (Some(error), _) => parse_error(one, error, function.as_deref())?,
                (None, Some(name)) if name.starts_with("hsa_") => hsa::Status::ERROR.0,
                (None, Some(name)) if name.contains("Malloc") || name.contains("Alloc") => {
                    Code::OUT_OF_MEMORY.0
                }
                (None, _) => Code::UNKNOWN.0,
            };
            Ok(Self { function, calls, effect: Effect::Fail(status), text: one.to_owned() })
        })
    }

    /// Reads the value of `delay=`, separated by commas.
    pub(crate) fn delays(text: &str) -> Result<Vec<Self>, OptionsError> {
        each(text, |one| {
            let Some((calls, time)) = one.split_once(':') else {
                return Err(OptionsError::new(format!(
                    "delay={one}: say how long, as in hipMemcpyAsync@2:5ms"
                )));
            };
            let (function, calls) = parse_calls("delay", one, calls)?;
            let effect = Effect::Delay(parse_time(one, time)?);
            Ok(Self { function, calls, effect, text: one.to_owned() })
        })
    }

    /// The function; none where it is every function.
    pub fn function(&self) -> Option<&str> {
        self.function.as_deref()
    }

    /// Whether this is spelled after `fail=`.
    pub(crate) fn is_failure(&self) -> bool {
        matches!(self.effect, Effect::Fail(_))
    }

    /// Whether calls of a function count for this one.
    pub(crate) fn concerns(&self, function: &str) -> bool {
        self.function.as_ref().is_none_or(|name| name == function)
    }

    /// The effect on the call of this number, from 1. `draw` is a number that is drawn for this call alone.
    pub(crate) fn effect(&self, number: u64, draw: u32) -> Option<Effect> {
        let hit = match self.calls {
            Calls::Numbered(first, last) => (first..=last).contains(&number),
            Calls::Drawn(chance) => u64::from(draw) < chance,
        };
        hit.then_some(self.effect)
    }
}

impl fmt::Display for Injection {
    /// Without its key.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn each(
    text: &str,
    parse: impl Fn(&str) -> Result<Injection, OptionsError>,
) -> Result<Vec<Injection>, OptionsError> {
    text.split(',').filter(|one| !one.is_empty()).map(parse).collect()
}

fn parse_calls(key: &str, whole: &str, text: &str) -> Result<(Option<String>, Calls), OptionsError> {
    let refuse = |reason: String| OptionsError::new(format!("{key}={whole}: {reason}"));
    let (function, calls) = if let Some((function, chance)) = text.split_once('~') {
        let chance = chance.parse::<f64>().ok().filter(|chance| (0.0..=1.0).contains(chance));
        let chance = chance.ok_or_else(|| refuse("~ takes a number from 0 to 1, such as 0.01".to_owned()))?;
        // At most 2^32.
        (function, Calls::Drawn((chance * 4_294_967_296.0) as u64))
    } else if let Some((function, numbers)) = text.split_once('@') {
        let (first, last) = match numbers.split_once('-') {
            Some((first, "")) => (first.parse().ok(), Some(u64::MAX)),
            Some((first, last)) => (first.parse().ok(), last.parse().ok()),
            None => (numbers.parse().ok(), numbers.parse().ok()),
        };
        match (first, last) {
            (Some(first @ 1..), Some(last)) if first <= last => (function, Calls::Numbered(first, last)),
            _ => {
                let known = "@ takes the number of a call from 1 on: @3, @3-5 or @3-";
                return Err(refuse(known.to_owned()));
            }
        }
    } else {
        (text, Calls::Numbered(1, u64::MAX))
    };
    if function == "*" {
        return Ok((None, calls));
    }
    if hsa::FUNCTIONS.contains(&function) {
        if key == "fail" && !hsa::can_fail(function) {
            return Err(refuse(format!("{function} has no status and cannot fail")));
        }
        return Ok((Some(function.to_owned()), calls));
    }
    if function.starts_with("hsa_") {
        let near = nearest(function, hsa::FUNCTIONS.iter().copied());
        return Err(refuse(format!("the simulated HSA has no function {function:?}; {near} is similar")));
    }
    if !EntryPoints::NAMES.contains(&function) {
        let near = nearest(function, EntryPoints::NAMES.iter().copied());
        return Err(refuse(format!("HIP has no function {function:?}; {near} is similar")));
    }
    if key == "fail" && INFALLIBLE.contains(&function) {
        return Err(refuse(format!("{function} returns text and cannot fail")));
    }
    if !is_simulated(function) {
        return Err(refuse(format!(
            "the simulator has no {function}: it answers hipErrorNotSupported always"
        )));
    }
    Ok((Some(function.to_owned()), calls))
}

fn parse_error(whole: &str, name: &str, function: Option<&str>) -> Result<u32, OptionsError> {
    let refuse = |reason: &str| Err(OptionsError::new(format!("fail={whole}: {reason}")));
    let of_hsa = function.map(|function| function.starts_with("hsa_"));
    if let Some(status) = hsa::Status::from_name(name) {
        return match (status, of_hsa) {
            (hsa::Status::SUCCESS | hsa::Status::INFO_BREAK, _) => refuse("that is no failure"),
            (_, Some(false)) => refuse("that is a status of HSA's, and the function is HIP's"),
            (status, _) => Ok(status.0),
        };
    }
    if of_hsa == Some(true) {
        return refuse(&format!(
            "a status of HSA's is wanted, such as HSA_STATUS_ERROR_OUT_OF_RESOURCES; HSA has no {name:?}"
        ));
    }
    match Code::from_name(name) {
        Some(Code::SUCCESS) => Err(OptionsError::new(format!("fail={whole}: hipSuccess is no failure"))),
        Some(code) => Ok(code.0),
        None => {
            let near = nearest(name, Code::known().map(|(_, name)| name));
            Err(OptionsError::new(format!("fail={whole}: HIP has no error {name:?}; {near} is similar")))
        }
    }
}

fn parse_time(whole: &str, text: &str) -> Result<Duration, OptionsError> {
    let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
    let count = digits.parse::<u64>().ok();
    let time = count.and_then(|count| match &text[digits.len()..] {
        "us" => Some(Duration::from_micros(count)),
        "ms" => Some(Duration::from_millis(count)),
        "s" => Some(Duration::from_secs(count)),
        _ => None,
    });
    time.filter(|time| *time <= LONGEST).ok_or_else(|| {
        OptionsError::new(format!("delay={whole}: a time up to 600s is needed, such as 50us, 5ms or 1s"))
    })
}

fn nearest<'a>(wrong: &str, known: impl Iterator<Item = &'a str>) -> &'a str {
    known.min_by_key(|name| strsim::osa_distance(wrong, name)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(text: &str) -> Injection {
        Injection::failures(text).unwrap().remove(0)
    }

    #[test]
    fn calls_are_counted_from_one() {
        let hits = |text: &str| -> Vec<u64> {
            let one = failure(text);
            (0..8).filter(|number| one.effect(*number, 0).is_some()).collect()
        };
        assert_eq!(hits("hipMalloc@3"), [3]);
        assert_eq!(hits("hipMalloc@3-5"), [3, 4, 5]);
        assert_eq!(hits("hipMalloc@6-"), [6, 7]);
        assert_eq!(hits("hipMalloc"), [1, 2, 3, 4, 5, 6, 7]);
    }

    #[test]
    fn a_chance_is_a_share_of_all_draws() {
        let one = failure("hipFree~0.25:hipErrorInvalidValue");
        assert_eq!(one.effect(1, (1 << 30) - 1), Some(Effect::Fail(1)));
        assert_eq!(one.effect(1, 1 << 30), None);
        assert_eq!(failure("hipFree~1").effect(1, u32::MAX), Some(Effect::Fail(999)));
        assert_eq!(failure("hipFree~0").effect(1, 0), None);
    }

    #[test]
    fn what_is_not_said_is_likely() {
        assert_eq!(failure("hipMallocAsync@1").effect(1, 0), Some(Effect::Fail(2)));
        assert_eq!(failure("hipEventRecord@1").effect(1, 0), Some(Effect::Fail(999)));
    }

    #[test]
    fn functions_are_told_apart() {
        assert!(
            failure("hipMalloc").concerns("hipMalloc") && !failure("hipMalloc").concerns("hipMallocAsync")
        );
        assert!(failure("*@2").concerns("hipMallocAsync"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            ("hipMaloc@3", "hipMalloc "),
            ("hipMalloc@3:hipErrorOutOfMemry", "hipErrorOutOfMemory"),
            ("hipMalloc@0", "from 1 on"),
            ("hipMalloc@5-3", "@3-5"),
            ("hipMalloc@x", "@3-"),
            ("hipMalloc~2", "0 to 1"),
            ("hipMalloc~NaN", "0 to 1"),
            ("hipMalloc:hipSuccess", "no failure"),
            ("hipGetErrorName", "cannot fail"),
        ] {
            let message = Injection::failures(text).unwrap_err().to_string();
            assert!(message.contains(named) && message.contains(text), "{text}: {message}");
        }
        for name in EntryPoints::NAMES.iter().filter(|name| !is_simulated(name)).take(1) {
            let message = Injection::failures(name).unwrap_err().to_string();
            assert!(message.contains("hipErrorNotSupported"), "{message}");
        }
        for text in
            ["hipMalloc@3", "hipMalloc:5", "hipMalloc:5h", "hipMalloc:ms", "hipMalloc:601s", "hipMalloc:é"]
        {
            let message = Injection::delays(text).unwrap_err().to_string();
            assert!(message.contains("5ms"), "{text}: {message}");
        }
    }
}
