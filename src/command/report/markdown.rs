// SPDX-License-Identifier: MIT OR Apache-2.0
//! The page of a report, made from its JSON alone.

use serde_json::Value;

use super::sections;

/// The first line of a page, by which it is known.
pub(super) const TITLE: &str = "# Windlass report";

/// The whole page.
pub(super) fn page(report: &Value) -> String {
    let mut page = Page(format!("{TITLE}\n"));
    head(report, &mut page);
    let parts = list(&report["parts"]);
    page.table(
        &["part", "outcome", "seconds", "message"],
        parts.iter().map(|part| {
            let message = line(&part["message"]).lines().next().unwrap_or_default().to_owned();
            [line(&part["name"]), line(&part["outcome"]), line(&part["seconds"]), message].to_vec()
        }),
    );
    for part in parts {
        sections::section(part, &mut page);
    }
    page.0
}

/// The device and the build, and whether the device is simulated, which no reader may miss.
fn head(report: &Value, page: &mut Page) {
    let device = &report["device"];
    let uri = line(&device["uri"]);
    if let Some(problem) = device["no_real_gpu"].as_str() {
        page.text(&format!(
            "**This machine has no real GPU. The report is over `{uri}`, which is simulated, and says nothing about \
             hardware.** The reason: {}",
            inline(problem)
        ));
    } else if sections::is_simulated(report) {
        page.text(&format!("**`{uri}` is simulated or no GPU. The report says nothing about hardware.**"));
    }
    if report["complete"] != true {
        page.text(
            "**The report is not complete: the command or the machine went down, or a part still runs.**",
        );
    }
    page.item("device", &format!("`{uri}`"));
    page.item("windlass", &inline(&line(&report["windlass"])));
    page.item("schema", &format!("{} {}", line(&report["schema"]), line(&report["version"])));
}

/// The elements of a list; none for other values.
pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A value as text. Nothing for null.
pub(super) fn line(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Bool(is) => if *is { "yes" } else { "no" }.to_owned(),
        Value::Array(values) => values.iter().map(line).collect::<Vec<_>>().join(", "),
        value => value.to_string(),
    }
}

/// Text between other text: no letter of it begins a format, a link or a tag.
pub(super) fn inline(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = ' ';
    for (at, letter) in text.char_indices() {
        let in_word =
            before.is_alphanumeric() && text[at + letter.len_utf8()..].starts_with(char::is_alphanumeric);
        before = letter;
        match letter {
            '_' if in_word => shown.push('_'),
            '\n' | '\r' | '\t' => shown.push(' '),
            letter if letter.is_control() => shown.push('\u{fffd}'),
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '#' | '@' => shown.extend(['\\', letter]),
            letter => shown.push(letter),
        }
    }
    shown
}

/// A page that grows.
pub(super) struct Page(String);

impl Page {
    pub(super) fn heading(&mut self, text: &str) {
        self.0.push_str(&format!("\n## {}\n\n", inline(text)));
    }

    /// A paragraph in Markdown.
    pub(super) fn text(&mut self, text: &str) {
        self.0.push_str(&format!("\n{text}\n\n"));
    }

    /// An item of a list, whose text is Markdown. Nothing without a text.
    pub(super) fn item(&mut self, name: &str, text: &str) {
        if !text.is_empty() {
            self.0.push_str(&format!("- {}: {text}\n", inline(name)));
        }
    }

    /// A table. Nothing without rows.
    pub(super) fn table(&mut self, headings: &[&str], rows: impl Iterator<Item = Vec<String>>) {
        let rows: Vec<_> = rows.map(|row| row.iter().map(|cell| inline(cell)).collect::<Vec<_>>()).collect();
        if rows.is_empty() {
            return;
        }
        let dashes = vec!["---"; headings.len()];
        self.0.push_str(&format!("\n| {} |\n|{}|\n", headings.join(" | "), dashes.join("|")));
        for row in rows {
            self.0.push_str(&format!("| {} |\n", row.join(" | ")));
        }
    }

    /// Text as it is, between fences that are longer than any in it.
    pub(super) fn block(&mut self, text: &str) {
        let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or(0);
        let fence = "`".repeat(longest.max(2) + 1);
        let text: String = text.chars().filter(|letter| !letter.is_control() || *letter == '\n').collect();
        self.0.push_str(&format!("\n{fence}text\n{}\n{fence}\n", text.trim_end()));
    }
}
