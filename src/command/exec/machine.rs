// SPDX-License-Identifier: MIT OR Apache-2.0
//! Translates a device URI to the machine description that the drop-in library reads.

use crate::Uri;
use windlass_simulator::{Options, Simulator};

use super::super::failure::{Failure, Outcome};

/// The value of `WINDLASS_SIM` for a URI, and the options that it describes. The URI outranks the variable's present
/// value.
///
/// # Errors
/// The URI is not one of a simulated machine, or the URI or the variable describes no valid machine.
pub(super) fn describe(uri: &str) -> Outcome<(String, Options)> {
    let own = match std::env::var("WINDLASS_SIM") {
        Ok(own) => own,
        Err(std::env::VarError::NotPresent) => String::new(),
        Err(error) => return Err(Failure::input(format!("WINDLASS_SIM: {error}"))),
    };
    own.parse::<Options>().map_err(|error| Failure::input(format!("WINDLASS_SIM={own}: {error}")))?;
    let machine = merge(uri, &own)?;
    let options = machine.parse::<Options>();
    let options = options.map_err(|error| Failure::input(format!("--device {uri}: {error}")))?;
    // Checked here, because the program would see an error only as failing calls.
    Simulator::check_files(&options).map_err(|error| Failure::input(error.to_string()))?;
    Ok((machine, options))
}

fn merge(uri: &str, own: &str) -> Outcome<String> {
    let parsed: Uri = uri.parse().map_err(|error| Failure::input(format!("--device: {error}")))?;
    if parsed.scheme() != "hip-sim" {
        return Err(Failure::input(format!(
            "--device {uri}: programs can be run on hip-sim:// only, such as hip-sim://gfx942?devices=2"
        )));
    }
    if !parsed.path().is_empty() && parsed.path().bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Failure::input(format!(
            "--device {uri}: a program sees all GPUs of the machine; hip-sim://?devices=N says how many, and \
             HIP_VISIBLE_DEVICES={} shows one of them alone",
            parsed.path()
        )));
    }
    let (own_target, own_settings) = own.split_once('?').unwrap_or((own, ""));
    let target = if parsed.path().is_empty() { own_target } else { parsed.path() };
    // If a key is set several times, the last setting counts. A list of targets says how many GPUs there are.
    let is_void =
        |setting: &str| setting.is_empty() || target.contains(',') && setting.starts_with("devices=");
    let own_settings = own_settings.split('&').filter(|setting| !is_void(setting)).map(str::to_owned);
    let settings = parsed.parameters().iter().map(|(key, value)| format!("{key}={value}"));
    let settings: Vec<_> = own_settings.chain(settings).collect();
    Ok(match settings.is_empty() {
        true => target.to_owned(),
        false => format!("{target}?{}", settings.join("&")),
    })
}

/// Refuses options of the simulated HIP for programs that get AMD's.
pub(super) fn without_hip(machine: &str, options: &Options) -> Outcome {
    /// The keys of the simulated HIP, as opposed to those of the GPU below it.
    const KEYS: [&str; 2] = ["hip", "without"];
    let mut calls = options.injections.iter();
    let of_hip = |name: &&str| !name.starts_with("hsa_");
    if let Some(name) = calls.find_map(|call| call.function().filter(of_hip)) {
        return Err(Failure::input(format!(
            "fail= and delay= in --device or WINDLASS_SIM: with --hip amd {name} is AMD's own and is not changed; name a \
             function of HSA's below it, as in fail=hsa_queue_create@2:HSA_STATUS_ERROR_OUT_OF_RESOURCES"
        )));
    }
    let (_, settings) = machine.split_once('?').unwrap_or_default();
    let mut keys = settings.split('&').filter_map(|setting| setting.split('=').next());
    match keys.find(|key| KEYS.contains(key)) {
        None => Ok(()),
        Some(key) => Err(Failure::input(format!(
            "{key}= in --device or WINDLASS_SIM describes the simulated HIP, which --hip amd does not use: remove the key"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uri_outranks_the_variable() {
        let machine = merge("hip-sim://?seed=9", "gfx942?devices=2&seed=7").unwrap();
        let options: Options = machine.parse().unwrap();
        assert_eq!((options.devices, options.seed), (2, Some(9)));
        let mixed: Options = merge("hip-sim://gfx942,gfx90a", "?devices=3&seed=7").unwrap().parse().unwrap();
        assert_eq!((mixed.devices, mixed.seed), (2, Some(7)));
        assert_eq!(merge("hip-sim://", "").unwrap(), "");
        assert_eq!(merge("hip-sim://gfx942", "?threads=2").unwrap(), "gfx942?threads=2");
    }

    #[test]
    fn only_simulated_machines_will_do() {
        for uri in ["hip://", "local://", "gfx942"] {
            assert!(merge(uri, "").is_err(), "{uri}");
        }
        for uri in ["hip-sim://gfx1250", "hip-sim://gfx942,", "hip-sim://0", "hip-sim://?colour=red"] {
            assert!(describe(uri).is_err(), "{uri}");
        }
    }
}
