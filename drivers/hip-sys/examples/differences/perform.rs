// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes the calls of a group and prints the answers.

use std::ffi::CStr;
use std::io::Write as _;
use std::process::ExitCode;
use std::ptr;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use windlass_hip_sys::bindings::*;
use windlass_hip_sys::{Api, Source};
use windlass_simulator::Simulator;

use crate::cases::{self, Case};
use crate::lab::{Lab, Setting};

/// A case that takes longer hangs. HIP's first call takes the longest.
const DEADLINE: Duration = Duration::from_secs(20);
/// The exit code of a process that hangs.
pub(crate) const HUNG: i32 = 98;
/// Marks the beginning and the result of a case in the output, which libraries share.
pub(crate) const BEGIN: &str = "@begin ";
pub(crate) const RESULT: &str = "@result ";

/// The kinds of parameters for HIP's outputs.
const OUT: [&str; 6] = ["out", "int", "long", "pointer", "new-field", "old-field"];

/// Ends the process without exit handlers: some libraries crash in theirs, which is not part of the comparison.
fn leave(code: i32) -> ! {
    let _ = std::io::stdout().flush();
    // SAFETY: it does not return.
    unsafe { libc::_exit(code) }
}

/// Ends the process if a case takes too long.
fn watch() -> Sender<()> {
    let (alive, heard) = channel();
    std::thread::spawn(move || {
        while heard.recv_timeout(DEADLINE) != Err(RecvTimeoutError::Timeout) {}
        leave(HUNG);
    });
    alive
}

/// Runs the cases of a group from this number on.
pub(crate) fn group(name: &str, from: usize, machine: Option<&str>) -> Result<ExitCode> {
    let groups = cases::groups()?;
    let group = groups.iter().find(|group| group.name == name).with_context(|| format!("no group {name}"))?;
    let alive = watch();
    let hip = match machine {
        Some(machine) => Simulator::new(machine.parse()?)?.api(),
        // SAFETY: the library that the system or the environment names as HIP is HIP.
        None => unsafe { Api::load(&Source::System) }?,
    };
    let lab = Lab::new(hip)?;
    for case in &group.cases[from..] {
        println!("{BEGIN}{}", case.name());
        std::io::stdout().flush()?;
        alive.send(())?;
        let result = perform(&lab, case).unwrap_or_else(|error| format!("not made: {error}"));
        println!("{RESULT}{result}");
        std::io::stdout().flush()?;
        alive.send(())?;
        if lab.is_spoilt() {
            // The next case needs a new process.
            break;
        }
    }
    leave(0)
}

/// Calls a function of HIP with arbitrary values in its argument registers.
fn call(lab: &Lab, function: &str, registers: &[u64]) -> Option<i32> {
    type Function =
        unsafe extern "C" fn(u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64, u64) -> i32;

    let address = lab.hip.entries().address(function)?;
    let mut all = [0; 14];
    all.get_mut(..registers.len())?.copy_from_slice(registers);
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = all;
    // SAFETY: HIP's functions take numbers, pointers and structures of integers only, each of which fills whole
    // registers or stack slots in this order. The caller cleans up the stack, so excess arguments are ignored. The
    // effect of wrong arguments is the purpose of the test, in a process of its own.
    let status = unsafe {
        let function: Function = std::mem::transmute::<*const c_void, Function>(address);
        function(a, b, c, d, e, f, g, h, i, j, k, l, m, n)
    };
    Some(status)
}

/// Functions that return text and no status.
const TEXTS: [&str; 2] = ["hipGetErrorName", "hipGetErrorString"];

/// Calls one of these.
fn text(lab: &Lab, function: &str, registers: &[u64]) -> Option<String> {
    let address = lab.hip.entries().address(function)?;
    let error = hipError_t(*registers.first()? as u32);
    // SAFETY: both take a number and return text with static lifetime, or null.
    let text = unsafe {
        let function =
            std::mem::transmute::<*const c_void, unsafe extern "C" fn(hipError_t) -> *const c_char>(address);
        let text = function(error);
        (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
    };
    Some(text.map_or("null".to_owned(), |text| format!("says {text}")))
}

/// The answer to a case.
fn perform(lab: &Lab, case: &Case) -> Result<String> {
    lab.begin();
    // SAFETY: no pointers.
    unsafe {
        lab.hip.hipSetDevice(0);
        lab.hip.hipGetLastError();
    }
    let mut registers = Vec::new();
    for parameter in &case.parameters {
        registers.push(lab.value(&parameter.kind, &parameter.value)?);
    }
    enter(lab, case.setting)?;
    if case.setting == Setting::Twice {
        call(lab, &case.function, &registers);
    }
    // SAFETY: no pointers.
    unsafe { lab.hip.hipGetLastError() };
    if case.setting == Setting::Failed {
        // SAFETY: no pointers.
        unsafe { lab.hip.hipSetDevice(77) };
    }
    if TEXTS.contains(&case.function.as_str()) {
        return Ok(text(lab, &case.function, &registers).unwrap_or_else(|| "absent".to_owned()));
    }
    let Some(status) = call(lab, &case.function, &registers) else { return Ok("absent".to_owned()) };
    // SAFETY: no pointers.
    let mut result = format!("{status} last {}", unsafe { lab.hip.hipGetLastError() }.0);
    let out = case.parameters.iter().find(|parameter| OUT.contains(&parameter.kind.as_str()));
    if let Some(answer) = out.and_then(|parameter| lab.answer(&parameter.kind, &parameter.value)) {
        result += &format!(" gives {answer}");
    }
    // Queued work ends before it is judged.
    match case.setting {
        setting if setting.captures() => {
            let mut graph = ptr::null_mut();
            // SAFETY: a stream of the lab's, and a pointer to a local.
            let ended = unsafe { lab.hip.hipStreamEndCapture(lab.stream()? as hipStream_t, &mut graph) };
            result += &format!(" end {}", ended.0);
        }
        Setting::Reset => {}
        _ => {
            // SAFETY: no pointers.
            let after = unsafe { lab.hip.hipDeviceSynchronize() };
            if after != hipError_t::hipSuccess {
                result += &format!(" then {}", after.0);
            }
        }
    }
    Ok(result)
}

/// Establishes the setting of the call.
fn enter(lab: &Lab, setting: Setting) -> Result<()> {
    // SAFETY: handles of the lab's, no pointers.
    let statuses = unsafe {
        match setting {
            Setting::Plain | Setting::Twice | Setting::Failed => vec![],
            Setting::Other => vec![lab.hip.hipSetDevice(1)],
            Setting::Reset => vec![lab.hip.hipDeviceReset()],
            Setting::Pushed => {
                let mut context = ptr::null_mut();
                let retained = lab.hip.hipDevicePrimaryCtxRetain(&mut context, 1);
                vec![retained, lab.hip.hipCtxPushCurrent(context)]
            }
            Setting::Capture(mode) => vec![lab.hip.hipStreamBeginCapture(lab.stream()? as hipStream_t, mode)],
            Setting::Spoilt => {
                let stream = lab.stream()? as hipStream_t;
                let relaxed = hipStreamCaptureMode::hipStreamCaptureModeRelaxed;
                let begun = lab.hip.hipStreamBeginCapture(stream, relaxed);
                // Not allowed in a capture.
                lab.hip.hipStreamSynchronize(stream);
                vec![begun]
            }
        }
    };
    ensure!(
        statuses.iter().all(|status| *status == hipError_t::hipSuccess),
        "{setting:?} answers {statuses:?}"
    );
    Ok(())
}
