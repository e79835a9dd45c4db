// SPDX-License-Identifier: MIT OR Apache-2.0
//! docs/hip-absent.md, the page of the functions that the simulator lacks.

const PAGE: &str = include_str!("../../../../docs/hip-absent.md");

/// The functions that one word of the page stands for.
pub(crate) struct Entry {
    /// A name, or the beginning of names and `*`.
    pub(crate) word: &'static str,
    /// The title of its section.
    pub(crate) section: &'static str,
}

impl Entry {
    /// Whether the entry stands for a function.
    pub(crate) fn covers(&self, name: &str) -> bool {
        self.word.strip_suffix('*').map_or(self.word == name, |start| name.starts_with(start))
    }
}

/// The words of the page's lists.
pub(crate) fn entries() -> Vec<Entry> {
    let mut found = Vec::new();
    let (mut section, mut is_list) = ("", false);
    for line in PAGE.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            section = title;
        } else if line.starts_with("```") {
            is_list = line == "```text";
        } else if is_list {
            found.extend(line.split_whitespace().map(|word| Entry { word, section }));
        }
    }
    found
}
