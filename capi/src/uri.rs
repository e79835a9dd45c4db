// SPDX-License-Identifier: MIT OR Apache-2.0
//! Device URIs in parts: as a driver reads them, and as a program has them that cuts off their parameters.

use std::{
    ffi::{CString, c_char},
    fmt::Write,
    mem::MaybeUninit,
    ptr::{self, NonNull},
    sync::{Mutex, PoisonError},
};

use facade::{Error, Result, Uri};

use crate::{
    boundary::{fallible, infallible},
    device::{Opened, windlass_device_t},
    error::windlass_error_t,
    handle::{Shell, object, used},
    memory::{c_string, give, list, text},
    registry::registry,
};

/// The URI of a device that a driver or a wrapper opens. It belongs to the library, and ends with the call that has it.
pub struct windlass_uri_t(Shell<Parts>);
object!(windlass_uri_t, Parts, "URI");

/// A URI with C strings.
pub(crate) struct Parts {
    text: CString,
    scheme: String,
    path: CString,
    parameters: Vec<(String, CString)>,
    asked: Mutex<Vec<String>>,
}

impl Parts {
    pub(crate) fn new(uri: &Uri) -> Self {
        let parameters = uri.parameters().iter().map(|(key, value)| (key.clone(), c_string(value)));
        Self {
            text: c_string(&uri.to_string()),
            scheme: uri.scheme().to_owned(),
            path: c_string(uri.path()),
            parameters: parameters.collect(),
            asked: Mutex::default(),
        }
    }

    /// Marks a key as known.
    pub(crate) fn asked_for(&self, key: &str) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        if !asked.iter().any(|known| known == key) {
            asked.push(key.to_owned());
        }
    }

    /// `INVALID_ARGUMENT` if there is a parameter that was never asked for.
    pub(crate) fn finish(&self) -> Result<()> {
        let asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        match self.parameters.iter().find(|(key, _)| !asked.contains(key)) {
            None => Ok(()),
            Some((key, _)) => Err(Error::invalid_argument(format!(
                "unknown key `{key}` in {}; {}:// knows {}",
                self.text.to_string_lossy(),
                self.scheme,
                if asked.is_empty() { "no keys".to_owned() } else { asked.join(", ") }
            ))),
        }
    }
}

/// The whole URI, as in "my-gpu://0?memory=64M". Valid until the driver's function returns. NULL for NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_uri_text(uri: Option<NonNull<windlass_uri_t>>) -> *const c_char {
    infallible(ptr::null(), || Ok(used(uri)?.text.as_ptr()))
}

/// The part between "://" and "?"; empty for the default device. Valid until the driver's function returns. NULL for
/// NULL.
#[unsafe(no_mangle)]
pub extern "C" fn windlass_uri_path(uri: Option<NonNull<windlass_uri_t>>) -> *const c_char {
    infallible(ptr::null(), || Ok(used(uri)?.path.as_ptr()))
}

/// The value of a parameter; NULL if the URI lacks it. Valid until the driver's function returns. A driver asks for each
/// key that it knows: a parameter that was never asked for is an error of the program, which the library reports.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn windlass_uri_parameter(
    uri: Option<NonNull<windlass_uri_t>>,
    key: *const c_char,
) -> *const c_char {
    infallible(ptr::null(), || {
        // SAFETY: the contract in the header covers that of `text`.
        let key = unsafe { text("key", key) }?;
        let uri = used(uri)?;
        uri.asked_for(key);
        let found = uri.parameters.iter().find(|(name, _)| name == key);
        Ok(found.map_or(ptr::null(), |(_, value)| value.as_ptr()))
    })
}

/// Opens a device by a URI without parameters, such as "hip-sim://gfx942", and a list of parameters: `keys[i]` has the
/// value `values[i]`. Values need no escapes. For programs whose own URIs have parameters in the same form, and which
/// therefore receive them apart. The caller owns the device.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn windlass_device_open_with_parameters(
    uri: *const c_char,
    parameter_count: usize,
    keys: *const *const c_char,
    values: *const *const c_char,
    device: Option<&mut MaybeUninit<Option<NonNull<windlass_device_t>>>>,
) -> Option<NonNull<windlass_error_t>> {
    fallible(|| {
        give(device, || {
            // SAFETY: the contract in the header covers that of `text`.
            let uri = unsafe { text("uri", uri) }?;
            // SAFETY: the contract in the header covers that of `list`, for this and the next.
            let keys = unsafe { list("keys", parameter_count, keys) }?;
            // SAFETY: as above.
            let values = unsafe { list("values", parameter_count, values) }?;
            let pairs = keys.iter().zip(values).enumerate().map(|(index, (key, value))| {
                // SAFETY: the contract in the header covers that of `text`, for each string.
                let key = unsafe { text(&format!("keys[{index}]"), *key) }?;
                // SAFETY: as above.
                Ok((key, unsafe { text(&format!("values[{index}]"), *value) }?))
            });
            registry().open(&joined(uri, &pairs.collect::<Result<Vec<_>>>()?)?).map(Opened::new)
        })
    })
}

/// The URI with parameters. The key `over` goes last, because the rest of the URI is its value.
fn joined(uri: &str, pairs: &[(&str, &str)]) -> Result<String> {
    if uri.contains('?') && !pairs.is_empty() {
        return Err(Error::invalid_argument(format!(
            "the URI `{uri}` has parameters, and a list of parameters beside it; give all of them in one place"
        )));
    }
    let mut text = uri.to_owned();
    let (over, others): (Vec<_>, Vec<_>) = pairs.iter().partition(|(key, _)| *key == "over");
    for (index, (key, value)) in others.iter().chain(&over).enumerate() {
        if key.is_empty() || key.contains(['=', '&', '?', '%']) {
            return Err(Error::invalid_argument(format!("`{key}` cannot be the key of a parameter")));
        }
        let mark = if index == 0 { '?' } else { '&' };
        let value = match *key {
            "over" => (*value).to_owned(),
            _ => value.replace('%', "%25").replace('&', "%26"),
        };
        write!(text, "{mark}{key}={value}").map_err(|_| Error::internal("a string cannot grow"))?;
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_parameters_are_those_of_the_parsed_uri() {
        let pairs = [("over", "null://?memory=1&x=%"), ("seed", "7"), ("path", "/a&b=c?d%20")];
        let uri: Uri = joined("shuffle://", &pairs).unwrap().parse().unwrap();
        let reader = uri.reader();
        assert_eq!(reader.text("over"), Some("null://?memory=1&x=%"));
        assert_eq!((reader.text("seed"), reader.text("path")), (Some("7"), Some("/a&b=c?d%20")));
        reader.finish().unwrap();
        assert_eq!(joined("null://?memory=1", &[]).unwrap(), "null://?memory=1");
        assert!(joined("null://?memory=1", &[("seed", "7")]).is_err());
        assert!(joined("null://", &[("a=b", "7")]).is_err());
    }
}
