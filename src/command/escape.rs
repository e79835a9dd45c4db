// SPDX-License-Identifier: MIT OR Apache-2.0
//! Control characters in what others have named. A terminal obeys them, so they are shown as escapes.

use std::{borrow::Cow, fmt::Write, path::Path};

/// Text of several lines: what ends a line stays.
pub(crate) fn text(text: &str) -> Cow<'_, str> {
    escape(text, |letter| letter.is_control() && letter != '\n')
}

/// A name, or anything else that is to stay on its line.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escape(text, char::is_control)
}

/// A path in a line.
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
            // Beyond ASCII, `\x` would be a byte.
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
