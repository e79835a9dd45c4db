// SPDX-License-Identifier: MIT OR Apache-2.0
//! The drivers of the process: those of the library, then those that programs have registered.

use std::{
    ffi::CString,
    sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError},
};

use facade::{Error, Registry, Result, driver::Driver, fork};

use crate::memory::c_string;

struct Drivers {
    registry: Registry,
    /// The schemes in the order of registration. The strings live as long as the process.
    schemes: Vec<&'static CString>,
}

fn drivers() -> MutexGuard<'static, Drivers> {
    static DRIVERS: OnceLock<Mutex<Drivers>> = OnceLock::new();
    let own = || {
        let registry = facade::registry().clone();
        let schemes = registry.drivers().map(|driver| leaked(driver.scheme())).collect();
        Mutex::new(Drivers { registry, schemes })
    };
    DRIVERS.get_or_init(own).lock().unwrap_or_else(PoisonError::into_inner)
}

fn leaked(scheme: &str) -> &'static CString {
    Box::leak(Box::new(c_string(scheme)))
}

/// The drivers as of now. No lock is held when one of them is called. In a forked child, which can use none of them, and
/// where a thread of the parent may hold the lock, they are those of the library.
pub(crate) fn registry() -> Registry {
    if fork::check().is_err() { facade::registry().clone() } else { drivers().registry.clone() }
}

/// The scheme of a driver by number.
pub(crate) fn scheme(index: usize) -> Option<&'static CString> {
    fork::check().ok()?;
    drivers().schemes.get(index).copied()
}

/// Adds a driver. `ALREADY_EXISTS` if its scheme is taken, `INVALID_ARGUMENT` for a scheme that no URI can have.
pub(crate) fn register(driver: Arc<dyn Driver>) -> Result<()> {
    let scheme = driver.scheme();
    if scheme.is_empty() || !scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-') {
        return Err(Error::invalid_argument(format!(
            "the scheme `{scheme}` of a driver; a scheme is letters, digits and `-`, as in \"my-gpu\""
        )));
    }
    fork::check()?;
    let mut drivers = drivers();
    if drivers.registry.drivers().any(|known| known.scheme() == scheme) {
        return Err(Error::new(
            facade::Code::AlreadyExists,
            format!("a driver for `{scheme}://` is registered; choose another scheme"),
        ));
    }
    drivers.schemes.push(leaked(scheme));
    drivers.registry.register(driver);
    Ok(())
}
