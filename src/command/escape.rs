// SPDX-License-Identifier: MIT OR Apache-2.0
//! Escapes control and format characters in text from files and arguments, so that a terminal does not obey them, and that
//! no name looks like another one.

use std::{borrow::Cow, fmt::Write, ops::RangeInclusive, path::Path};

/// Escapes text of several lines. Line ends stay.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    escape(text, |letter| is_obeyed(letter) && letter != '\n')
}

/// Escapes text that must stay on one line, such as a name.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escape(text, is_obeyed)
}

/// The invisible characters that change how others are shown: the general categories Cf, Zl and Zp. Source: Unicode 17.0,
/// `extracted/DerivedGeneralCategory.txt`. U+2065 has no meaning yet, and is kept for one more of them.
const FORMAT: [RangeInclusive<char>; 19] = [
    '\u{ad}'..='\u{ad}',
    '\u{600}'..='\u{605}',
    '\u{61c}'..='\u{61c}',
    '\u{6dd}'..='\u{6dd}',
    '\u{70f}'..='\u{70f}',
    '\u{890}'..='\u{891}',
    '\u{8e2}'..='\u{8e2}',
    '\u{180e}'..='\u{180e}',
    '\u{200b}'..='\u{200f}',
    '\u{2028}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{feff}'..='\u{feff}',
    '\u{fff9}'..='\u{fffb}',
    '\u{110bd}'..='\u{110bd}',
    '\u{110cd}'..='\u{110cd}',
    '\u{13430}'..='\u{1343f}',
    '\u{1bca0}'..='\u{1bca3}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0001}'..='\u{e007f}',
];

fn is_obeyed(letter: char) -> bool {
    letter.is_control() || FORMAT.iter().any(|range| range.contains(&letter))
}

/// A path, escaped for one line.
pub(crate) fn path(path: &Path) -> String {
    line(&path.to_string_lossy()).into_owned()
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            letter if !is_escaped(letter) => shown.push(letter),
            '\n' | '\r' | '\t' => shown.extend(letter.escape_default()),
            // `\x` stands for a byte, so characters beyond ASCII are written as `\u`.
            letter => {
                let number = u32::from(letter);
                let _ = if letter.is_ascii() {
                    write!(shown, "\\x{number:02x}")
                } else {
                    write!(shown, "\\u{{{number:x}}}")
                };
            }
        }
    }
    shown.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_and_all_else_stays() {
        let name = "\x1b]0;hi\x07 \u{9b}1m \x7f\0\r\t ö…\n";
        assert_eq!(line(name), "\\x1b]0;hi\\x07 \\u{9b}1m \\x7f\\x00\\r\\t ö…\\n");
        assert!(text(name).ends_with(" ö…\n"));
        assert!(matches!(line("kernel `a b`"), Cow::Borrowed(_)));
    }

    #[test]
    fn format_characters_are_shown() {
        assert_eq!(line("lib\u{202e}os.oc\u{2066}"), "lib\\u{202e}os.oc\\u{2066}");
        assert_eq!(text("\u{feff}a\u{2028}b\u{ad}\u{e0041}\n"), "\\u{feff}a\\u{2028}b\\u{ad}\\u{e0041}\n");
        assert!(matches!(line("שלום, e\u{301}, 日本語\u{3000}\u{a0}"), Cow::Borrowed(_)));
    }
}
