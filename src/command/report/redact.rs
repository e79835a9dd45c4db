// SPDX-License-Identifier: MIT OR Apache-2.0
//! Takes the names of people and machines out of a report, in each string of the JSON before it is written.

use serde_json::Value;

use super::{names::Names, patterns};

/// Home folders of any user, in front of the user's name.
const HOMES: [&str; 3] = ["/home/", "/Users/", "\\Users\\"];
/// The home of the administrator, which is in a password file that this process may not see.
const ROOT: &str = "/root";
/// Keys whose values name one GPU or one machine.
const KEYS: [&str; 3] = ["uuid", "serial", "hostname"];

/// The names to take out.
pub(super) struct Redactor {
    /// The longest first, so that a home in another one is found.
    homes: Vec<String>,
    /// Each name, its word in the report, and whether its letters may be large or small. The longest first.
    words: Vec<(String, &'static str, bool)>,
}

impl Redactor {
    pub(super) fn of_this_machine() -> Self {
        Self::of(Names::of_this_machine())
    }

    fn of(names: Names) -> Self {
        let mut homes: Vec<_> = names.homes.into_iter().chain([ROOT.to_owned()]).collect();
        homes.sort_by_key(|home| std::cmp::Reverse(home.len()));
        let hosts = names.hosts.into_iter().map(|host| (host, "HOST", true));
        let domains = names.domains.into_iter().map(|domain| (domain, "DOMAIN", true));
        let users = names.users.into_iter().map(|user| (user, "USER", false));
        let mut words: Vec<_> = hosts.chain(domains).chain(users).collect();
        words.sort_by_key(|(name, ..)| std::cmp::Reverse(name.len()));
        Self { homes, words }
    }

    /// Cleans each string of a value.
    pub(super) fn clean(&self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.clean(value)),
            Value::Object(fields) => {
                for (key, value) in fields {
                    match value {
                        Value::String(text) if KEYS.contains(&key.as_str()) => *text = key.to_uppercase(),
                        value => self.clean(value),
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&self, text: &str) -> String {
        let mut text = patterns::clean(&self.without_homes(text));
        for (name, word, any_case) in &self.words {
            text = replace_word(&text, name, word, *any_case);
        }
        text
    }

    /// Puts `~` in the place of home folders, and leaves out the folders below them.
    fn without_homes(&self, text: &str) -> String {
        let mut cleaned = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            match self.home_at(&cleaned, rest) {
                Some(length) => {
                    let (path, after) = rest[length..].split_at(end_of_path(&rest[length..]));
                    cleaned.push('~');
                    cleaned.push_str(&without_folders(path));
                    rest = after;
                }
                None => {
                    cleaned.push(letter);
                    rest = &rest[letter.len_utf8()..];
                }
            }
        }
        cleaned
    }

    /// The length of the home folder at the start of a text.
    fn home_at(&self, before: &str, text: &str) -> Option<usize> {
        let is_over = |rest: &str| rest.is_empty() || end_of_path(rest) == 0 || rest.starts_with(['/', '\\']);
        let in_path = before.ends_with(|letter: char| letter.is_alphanumeric() || "_-.~/".contains(letter));
        let known = self.homes.iter().filter(|_| !in_path);
        let known =
            known.filter_map(|home| text.strip_prefix(home.as_str()).filter(|rest| is_over(rest))).next();
        let any = HOMES.iter().find_map(|folder| {
            let name = text.strip_prefix(folder)?;
            let end = name.find(['/', '\\']).unwrap_or(name.len()).min(end_of_path(name));
            (end > 0).then(|| &name[end..])
        });
        known.or(any).map(|rest| text.len() - rest.len())
    }
}

/// The length of the path at the start of a text.
fn end_of_path(text: &str) -> usize {
    let is_end = |letter: char| {
        letter.is_whitespace() || letter.is_control() || "\"'`:;,()<>[]{}|&?=".contains(letter)
    };
    text.find(is_end).unwrap_or(text.len())
}

/// The path below a home folder with its file's name alone. The names of folders may tell of a person's work.
fn without_folders(path: &str) -> String {
    let parts: Vec<_> = path.split(['/', '\\']).filter(|part| !part.is_empty()).collect();
    match parts[..] {
        [] => String::new(),
        [name] if name.contains('.') => format!("/{name}"),
        [.., name] if name.contains('.') => format!("/.../{name}"),
        _ => "/...".to_owned(),
    }
}

/// Replaces a name where no letter or digit is beside it.
fn replace_word(text: &str, name: &str, word: &str, any_case: bool) -> String {
    let is_same = |part: &str| part == name || (any_case && part.eq_ignore_ascii_case(name));
    let mut replaced = String::new();
    let mut done = 0;
    let mut before = None;
    for (at, letter) in text.char_indices() {
        let is_begin = at >= done && !before.is_some_and(char::is_alphanumeric);
        before = Some(letter);
        if !is_begin {
            continue;
        }
        let end = at + name.len();
        let is_name = text.get(at..end).is_some_and(is_same);
        if is_name && !text[end..].starts_with(char::is_alphanumeric) {
            replaced.push_str(&text[done..at]);
            replaced.push_str(word);
            done = end;
        }
    }
    replaced + &text[done..]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redactor() -> Redactor {
        let mut names = Names::default();
        names.home("/data/people/ann");
        for user in ["ann", "gpu", "a"] {
            names.user(user);
        }
        names.host("lab7.example.org");
        Redactor::of(names)
    }

    #[test]
    fn names_go_and_words_stay() {
        for (text, cleaned) in [
            ("/data/people/ann/x/libamdhip64.so.7: cannot open", "~/.../libamdhip64.so.7: cannot open"),
            ("hip://?library=/home/bob/rocm&queues=2", "hip://?library=~/...&queues=2"),
            ("thread at /root/.cargo/registry/a.rs:10:5 panicked", "thread at ~/.../a.rs:10:5 panicked"),
            ("(/home/bob) and C:\\Users\\Bob\\x.dll", "(~) and C:~/x.dll"),
            ("/opt/root/lib and /rooted and root", "/opt/root/lib and /rooted and root"),
            ("annual plan of ann on LAB7, lab7.example.org", "annual plan of USER on HOST, HOST"),
            ("other.example.org: a gpu of a user", "other.DOMAIN: a gpu of a user"),
            ("/tmp/ann_build/ann", "/tmp/USER_build/USER"),
        ] {
            assert_eq!(redactor().text(text), cleaned);
        }
    }

    #[test]
    fn each_string_of_a_value_is_cleaned() {
        let mut value = serde_json::json!({ "a": ["of ann", { "uuid": "17", "n": 1 }], "b": null });
        redactor().clean(&mut value);
        assert_eq!(value, serde_json::json!({ "a": ["of USER", { "uuid": "UUID", "n": 1 }], "b": null }));
    }
}
