// SPDX-License-Identifier: MIT OR Apache-2.0
//! Escapes control characters in text from files and arguments, so that a terminal does not obey them.

use std::{borrow::Cow, fmt::Write, path::Path};

/// Escapes text of several lines. Line ends stay.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    escape(text, |letter| letter.is_control() && letter != '\n')
}

/// Escapes text that must stay on one line, such as a name.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escape(text, char::is_control)
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
}
