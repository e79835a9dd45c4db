// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device URIs: `scheme://path?key=value&key=value`.

use std::{cell::RefCell, fmt, str::FromStr};

use crate::words::error::{Error, Result};

/// A parsed device URI such as `hip-sim://gfx942?devices=2&seed=7`.
///
/// `%XX` escapes are decoded in the path and in values. The key `over` takes the rest of the text verbatim, so that one
/// URI can hold another: `shuffle://?seed=3&over=hip-sim://gfx942?devices=2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uri {
    scheme: String,
    path: String,
    parameters: Vec<(String, String)>,
}

impl Uri {
    /// The part before `://`.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// The part between `://` and `?`. Empty for the default device.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The parameters in their order.
    pub fn parameters(&self) -> &[(String, String)] {
        &self.parameters
    }

    /// A reader of the parameters by name. Parameters that were never asked for are an error at its end.
    pub fn reader(&self) -> Parameters<'_> {
        Parameters { uri: self, known: RefCell::new(Vec::new()) }
    }
}

impl FromStr for Uri {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong = |what: &str| {
            Error::invalid_argument(format!(
                "`{text}` is no device URI: {what}; the form is scheme://path?key=value, such as hip-sim://gfx942"
            ))
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| wrong("`://` is missing"))?;
        if scheme.is_empty() || !scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-') {
            return Err(wrong("the scheme must be letters, digits and `-`"));
        }
        let (path, mut query) = rest.split_once('?').unwrap_or((rest, ""));
        let mut parameters = Vec::<(String, String)>::new();
        while !query.is_empty() {
            let (item, next) = if query.starts_with("over=") {
                (query, "")
            } else {
                query.split_once('&').unwrap_or((query, ""))
            };
            let (key, value) = item.split_once('=').ok_or_else(|| wrong("a parameter lacks its `=`"))?;
            if key.is_empty() {
                return Err(wrong("a parameter lacks its key"));
            }
            if parameters.iter().any(|(known, _)| known == key) {
                return Err(wrong(&format!("`{key}` is given twice")));
            }
            let value = if key == "over" {
                value.to_owned()
            } else {
                unescape(value).ok_or_else(|| wrong("a bad %XX"))?
            };
            parameters.push((key.to_owned(), value));
            query = next;
        }
        let path = unescape(path).ok_or_else(|| wrong("a bad %XX"))?;
        Ok(Self { scheme: scheme.to_owned(), path, parameters })
    }
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        rest = tail;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let [high, low, tail @ ..] = rest else { return None };
        let digit = |b: u8| char::from(b).to_digit(16);
        bytes.push((digit(*high)? * 16 + digit(*low)?) as u8);
        rest = tail;
    }
    String::from_utf8(bytes).ok()
}

impl fmt::Display for Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let escape = |text: &str| text.replace('%', "%25").replace('?', "%3F").replace('&', "%26");
        write!(f, "{}://{}", self.scheme, escape(&self.path))?;
        for (index, (key, value)) in self.parameters.iter().enumerate() {
            let value = if key == "over" { value.clone() } else { escape(value) };
            write!(f, "{}{key}={value}", if index == 0 { '?' } else { '&' })?;
        }
        Ok(())
    }
}

/// The parameters of a URI, read by name. See [`Uri::reader`].
#[derive(Debug)]
pub struct Parameters<'a> {
    uri: &'a Uri,
    known: RefCell<Vec<&'static str>>,
}

impl<'a> Parameters<'a> {
    /// The text of a parameter.
    pub fn text(&self, key: &'static str) -> Option<&'a str> {
        self.known.borrow_mut().push(key);
        self.uri.parameters.iter().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// A parameter parsed as `T`. `INVALID_ARGUMENT` where it does not parse.
    pub fn value<T: FromStr>(&self, key: &'static str) -> Result<Option<T>> {
        let Some(text) = self.text(key) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| {
            let kind = kind_of(std::any::type_name::<T>());
            Error::invalid_argument(format!("`{key}={text}` in {}: the value must be {kind}", self.uri))
        })
    }

    /// `INVALID_ARGUMENT` if there is a parameter that was never asked for. The message lists the known keys.
    pub fn finish(self) -> Result<()> {
        let known = self.known.into_inner();
        match self.uri.parameters.iter().find(|(key, _)| !known.contains(&key.as_str())) {
            None => Ok(()),
            Some((key, _)) => Err(Error::invalid_argument(format!(
                "unknown key `{key}` in {}; {}:// knows {}",
                self.uri,
                self.uri.scheme,
                if known.is_empty() { "no keys".to_owned() } else { known.join(", ") }
            ))),
        }
    }
}

/// The kind of a value in words, from the name of its Rust type.
fn kind_of(type_name: &str) -> String {
    match type_name {
        "u8" => format!("a whole number from 0 to {}", u8::MAX),
        "u16" => format!("a whole number from 0 to {}", u16::MAX),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" => format!("a whole number from 0 to {}", u64::MAX),
        "usize" => format!("a whole number from 0 to {}", usize::MAX),
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number within the range of the key".to_owned(),
        "f32" | "f64" => "a number".to_owned(),
        "bool" => "true or false".to_owned(),
        other => format!("a {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_path_parameters_and_nested_uris() {
        let uri: Uri = "shuffle://?seed=3&over=hip-sim://gfx942?devices=2&seed=9".parse().unwrap();
        assert_eq!((uri.scheme(), uri.path()), ("shuffle", ""));
        let reader = uri.reader();
        assert_eq!(reader.value::<u64>("seed").unwrap(), Some(3));
        assert_eq!(reader.text("over"), Some("hip-sim://gfx942?devices=2&seed=9"));
        reader.finish().unwrap();
        let uri: Uri = "hip://?library=/opt/a%3Fb%20c".parse().unwrap();
        assert_eq!(uri.reader().text("library"), Some("/opt/a?b c"));
        assert_eq!(uri.to_string().parse::<Uri>().unwrap(), uri);
    }

    #[test]
    fn refuses_what_it_does_not_know() {
        for bad in
            ["hip", "://x", "h p://", "hip://?x", "hip://?=1", "hip://?a=1&a=2", "hip://%4", "hip://%ff"]
        {
            assert!(bad.parse::<Uri>().is_err(), "{bad}");
        }
        let uri: Uri = "hip://?colour=red".parse().unwrap();
        let reader = uri.reader();
        reader.text("library");
        assert!(reader.finish().unwrap_err().to_string().contains("knows library"));
        let uri: Uri = "null://?threads=many".parse().unwrap();
        let error = uri.reader().value::<usize>("threads").unwrap_err();
        assert!(error.to_string().contains("a whole number"), "{error}");
    }
}
