// SPDX-License-Identifier: MIT OR Apache-2.0
//! The cases, generated from the table in `cases.txt`.
//!
//! A line of the table is a function and its parameters, `name:kind` or `kind` alone. A kind is one of
//! [`values`](crate::values), or numbers and words between bars, the first of which is the right one. A line gives
//! these cases: the call with all parameters right; for each parameter the call with each of its other values; and for
//! each setting that the line names behind `;`, the right call in that setting. `function@way` distinguishes lines of
//! one function, and `; only` omits the calls without a setting.

use std::collections::BTreeSet;

use anyhow::{Context as _, Result, ensure};

use crate::lab::Setting;
use crate::values;

/// Cases that share processes.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) cases: Vec<Case>,
}

/// One call of HIP.
pub(crate) struct Case {
    pub(crate) function: String,
    /// Distinguishes lines of the same function.
    way: String,
    pub(crate) parameters: Vec<Parameter>,
    /// The parameters and the setting of the case.
    what: String,
    pub(crate) setting: Setting,
}

#[derive(Clone)]
pub(crate) struct Parameter {
    name: String,
    pub(crate) kind: String,
    /// The index of the value within the kind.
    pub(crate) value: String,
}

impl Case {
    /// The function, the wrong parameter, and the setting.
    pub(crate) fn name(&self) -> String {
        let setting = self.setting.name();
        [self.function.as_str(), &self.way, &self.what, setting]
            .into_iter()
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join(" ")
    }
}

fn parameter(word: &str) -> Parameter {
    let (name, kind) = word.split_once(':').unwrap_or((word, word));
    let value = values::of(kind).first().cloned().unwrap_or_default();
    Parameter { name: name.to_owned(), kind: kind.to_owned(), value }
}

/// The cases of one line of the table.
fn cases(line: &str) -> Result<Vec<Case>> {
    let (call, settings) = line.split_once(';').unwrap_or((line, ""));
    let mut words = call.split_whitespace();
    let call = words.next().context("a function")?;
    let (function, way) = call.split_once('@').unwrap_or((call, ""));
    let right: Vec<Parameter> = words.map(parameter).collect();
    let case = |parameters, what, setting| Case {
        function: function.to_owned(),
        way: way.to_owned(),
        parameters,
        what,
        setting,
    };

    let mut cases = Vec::new();
    let (settings, alone) = match settings.trim().strip_prefix("only ") {
        Some(settings) => (settings, true),
        None => (settings, false),
    };
    if !alone {
        cases.push(case(right.clone(), String::new(), Setting::Plain));
    }
    for (place, parameter) in right.iter().enumerate().filter(|_| !alone) {
        for value in values::of(&parameter.kind).into_iter().skip(1) {
            let mut wrong = right.clone();
            let what = format!("{}={value}", parameter.name);
            wrong[place].value = value;
            cases.push(case(wrong, what, Setting::Plain));
        }
    }
    for setting in settings.split_whitespace() {
        for setting in Setting::named(setting).with_context(|| format!("no setting {setting}"))? {
            cases.push(case(right.clone(), String::new(), *setting));
            if setting.captures() {
                for (place, _) in right.iter().enumerate().filter(|(_, parameter)| parameter.kind == "stream")
                {
                    let mut wrong = right.clone();
                    wrong[place].value = "null".to_owned();
                    cases.push(case(wrong, format!("{}=null", right[place].name), *setting));
                }
            }
        }
    }
    Ok(cases)
}

/// All groups.
pub(crate) fn groups() -> Result<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for line in include_str!("cases.txt").lines().map(str::trim) {
        if let Some(name) = line.strip_prefix('[') {
            groups.push(Group { name: name.trim_end_matches(']').to_owned(), cases: Vec::new() });
        } else if !line.is_empty() && !line.starts_with('#') {
            let group = groups.last_mut().context("a group before the first function")?;
            group.cases.extend(cases(line).with_context(|| format!("in cases.txt: {line}"))?);
        }
    }
    let mut names = BTreeSet::new();
    for case in groups.iter().flat_map(|group| &group.cases) {
        ensure!(names.insert(case.name()), "two cases are called {}", case.name());
    }
    Ok(groups)
}
