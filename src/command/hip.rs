// SPDX-License-Identifier: MIT OR Apache-2.0
//! The simulated HIP behind a URI, without the HAL.

use windlass_simulator::{Options, OptionsError, Simulator};

/// Keys of a URI that are the driver's, and not the machine's.
pub(crate) const OF_THE_DRIVER: [&str; 4] = ["queues", "slab", "compatible", "device"];

/// A machine as a URI of `hip-sim://` describes it, without some of its keys and with another setting. A URI without targets
/// means those of `WINDLASS_SIM`, and one that describes nothing means its settings too.
pub(crate) fn simulated(uri: &str, without: &[&str], with: &str) -> Result<windlass_hip_sys::Api, String> {
    let (_, rest) = uri.split_once("://").unwrap_or_default();
    let variable = std::env::var("WINDLASS_SIM").unwrap_or_default();
    let split = |text| str::split_once(text, '?').unwrap_or((text, ""));
    let ((path, keys), (own_path, own_keys)) = (split(rest), split(&variable));
    let keys = if rest.is_empty() { own_keys } else { keys };
    let is_of_machine = |setting: &&str| {
        let key = setting.split('=').next().unwrap_or_default();
        !setting.is_empty() && !without.contains(&key)
    };
    let keys: Vec<_> = keys.split('&').filter(is_of_machine).chain(Some(with)).collect();
    let path = if path.bytes().all(|byte| byte.is_ascii_digit()) { own_path } else { path };
    let wrong = |error: OptionsError| error.to_string();
    let options: Options = format!("{path}?{}", keys.join("&")).parse().map_err(wrong)?;
    Ok(Simulator::new(options).map_err(|error| error.to_string())?.api())
}
