// SPDX-License-Identifier: MIT OR Apache-2.0
//! `devices --check`: one kernel on a device, and its numbers.

use crate::{Code, Deadline, Device, DispatchConfig, Error, Executable, Result, Semaphore};

use super::report::{Check, DriverReport, Verdict};
use crate::command::{
    escape, executes,
    failure::{Failure, Outcome},
};

/// The kernel, which adds two lists of `f32`.
const KERNEL: &str = "vector_add";
/// The same kernel for generic targets, for GPUs that the other bundle does not name.
const GENERIC: &str = "vector_add.generic";
/// The numbers that it adds. The last workgroup is not full.
const COUNT: usize = 1000;
/// The numbers of each buffer. Those behind the last must stay.
const LENGTH: usize = 1024;
const BLOCK: u32 = 64;
const UNTOUCHED: f32 = -1.0;

/// Runs the kernel on the device of a URI.
pub(super) fn check(uri: &str) -> Check {
    let wrong = |error: Error| Check { verdict: Verdict::Wrong, message: error.to_string() };
    let not = |message: String| Check { verdict: Verdict::NotChecked, message };
    let device = match crate::open(uri) {
        Ok(device) => device,
        Err(error) => return wrong(error),
    };
    if let Some(reason) = executes::nothing(device.info()) {
        return not(reason);
    }
    let executable = match load(&device) {
        Ok(executable) => executable,
        Err(error) if error.code() == Code::NotFound => {
            return not(format!("this command has no kernel for it: {error}"));
        }
        Err(error) => return wrong(error),
    };
    match run(&device, &executable).map(|numbers| first_wrong(&numbers)) {
        Ok(None) => {
            Check { verdict: Verdict::Right, message: format!("{KERNEL} of {COUNT} numbers is right") }
        }
        Ok(Some(message)) => Check { verdict: Verdict::Wrong, message },
        Err(error) => wrong(error),
    }
}

/// An error if a source that this machine must have has no device: the simulated GPU, and a library that the user named.
pub(super) fn judge_sources(sources: &[DriverReport]) -> Outcome {
    let without_device = |scheme: &str| {
        let found = sources.iter().find(|source| source.scheme == scheme && source.devices.is_empty());
        found.map(|source| source.problem.as_deref().unwrap_or_default())
    };
    if let Some(problem) = without_device("hip-sim") {
        return Err(Failure::failed(format!("--check: hip-sim:// has no device to check: {problem}")));
    }
    let named = std::env::var_os("WINDLASS_HIP_LIBRARY").filter(|library| !library.is_empty());
    match (named, without_device(crate::REAL_SCHEME)) {
        (Some(library), Some(problem)) => Err(Failure::failed(format!(
            "--check: WINDLASS_HIP_LIBRARY names {}, and no device of it can be checked: {problem}",
            escape::path(library.as_ref())
        ))),
        _ => Ok(()),
    }
}

fn load(device: &Device) -> Result<Executable> {
    let mut refused = Error::not_found("this build has no kernels");
    for module in [KERNEL, GENERIC] {
        let Some(code) = windlass_cts::bundle(module) else { continue };
        // SAFETY: the project's own kernel writes to the first numbers of its third buffer alone, as many as its last
        // argument says.
        match unsafe { device.load_executable(code) } {
            Err(error) if error.code() == Code::NotFound => refused = error,
            answer => return answer,
        }
    }
    Err(refused)
}

fn terms() -> [Vec<f32>; 2] {
    [|index| index as f32, |index| 0.5 * index as f32 + 1.0]
        .map(|term: fn(usize) -> f32| (0..LENGTH).map(term).collect())
}

/// The third buffer after the kernel.
fn run(device: &Device, executable: &Executable) -> Result<Vec<f32>> {
    let function = executable.function(KERNEL)?;
    let queue = device.queue(0)?;
    let timeline = Semaphore::new(0);
    let [a, b, out] = [(); 3].map(|()| device.allocate_device(4 * LENGTH as u64));
    let (a, b, out) = (a?, b?, out?);
    for (step, (numbers, buffer)) in terms().iter().zip([&a, &b]).enumerate() {
        let bytes: Vec<_> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let step = step as u64;
        queue.update(&[timeline.at(step)], &[timeline.at(step + 1)], &bytes, buffer)?;
    }
    queue.fill(&[timeline.at(2)], &[timeline.at(3)], &out, UNTOUCHED)?;
    let config =
        DispatchConfig::new([COUNT.div_ceil(BLOCK as usize) as u32, 1, 1]).workgroup_size([BLOCK, 1, 1]);
    let arguments = [a.arg(), b.arg(), out.arg(), (COUNT as i32).into()];
    queue.dispatch(&[timeline.at(3)], &[timeline.at(4)], &function, config, &arguments)?;
    let bytes = queue.download(&[timeline.at(4)], &out)?.wait(Deadline::NEVER)?;
    Ok(bytes.chunks_exact(4).map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect())
}

/// The first number that is wrong, and how many are.
fn first_wrong(numbers: &[f32]) -> Option<String> {
    let [a, b] = terms();
    let expected = |index: usize| if index < COUNT { a[index] + b[index] } else { UNTOUCHED };
    let wrong: Vec<_> = numbers.iter().enumerate().filter(|(index, got)| **got != expected(*index)).collect();
    let (index, got) = wrong.first()?;
    Some(format!(
        "{KERNEL} of {COUNT} numbers: number {index} is {got}, and {} is right; {} of {LENGTH} numbers are wrong",
        expected(*index),
        wrong.len()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_wrong_or_behind_the_last_are_found() {
        let [a, b] = terms();
        let mut right: Vec<_> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        right[COUNT..].fill(UNTOUCHED);
        assert_eq!(first_wrong(&right), None);
        for place in [0, 63, COUNT - 1, COUNT, LENGTH - 1] {
            let mut wrong = right.clone();
            wrong[place] += 1.0;
            let told = first_wrong(&wrong).expect("a wrong number");
            assert!(told.contains(&format!("number {place} is")) && told.contains("; 1 of"), "{told}");
        }
        assert!(
            first_wrong(&vec![0.0; LENGTH]).is_some_and(|told| told.contains("of 1024 numbers are wrong"))
        );
    }
}
