// SPDX-License-Identifier: MIT OR Apache-2.0
//! Makes wrong calls of HIP, on AMD's HIP and on the simulated one, and compares the answers.
//!
//!     differences compare VERSION LIST [PREFIX...]   both, and the list of known differences; PREFIX starts AMD's
//!     differences document LIST PAGE                 the tables of PAGE, docs/hip-differences.md, from LIST
//!     differences group NAME FROM [MACHINE]          a group's cases from one on; on a simulated machine, else the system's HIP
//!     differences groups                             the names of the groups
//!
//! The cases are generated from `cases.txt`: see [`cases`].
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the command line")]

#[cfg(all(unix, target_arch = "x86_64"))]
mod any_node;
#[cfg(all(unix, target_arch = "x86_64"))]
mod cases;
#[cfg(all(unix, target_arch = "x86_64"))]
mod compare;
#[cfg(all(unix, target_arch = "x86_64"))]
mod compiled;
#[cfg(all(unix, target_arch = "x86_64"))]
mod fields;
#[cfg(all(unix, target_arch = "x86_64"))]
mod known;
#[cfg(all(unix, target_arch = "x86_64"))]
mod lab;
#[cfg(all(unix, target_arch = "x86_64"))]
mod nodes;
#[cfg(all(unix, target_arch = "x86_64"))]
mod perform;
#[cfg(all(unix, target_arch = "x86_64"))]
mod values;
#[cfg(all(unix, target_arch = "x86_64"))]
mod virtual_memory;

#[cfg(all(unix, target_arch = "x86_64"))]
fn main() -> anyhow::Result<std::process::ExitCode> {
    use std::process::ExitCode;

    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["groups"] => {
            for group in cases::groups()? {
                println!("{} {}", group.name, group.cases.len());
            }
            Ok(ExitCode::SUCCESS)
        }
        ["group", name, from] => perform::group(name, from.parse()?, None),
        ["group", name, from, machine] => perform::group(name, from.parse()?, Some(machine)),
        ["document", list, page] => {
            let known = known::Known::read(list.as_ref())?;
            std::fs::write(page, known.in_page(&std::fs::read_to_string(page)?)?)?;
            Ok(ExitCode::SUCCESS)
        }
        ["compare", version, list, ref prefix @ ..] => compare::compare(version, list.as_ref(), prefix),
        _ => anyhow::bail!("differences: unknown arguments; the head of main.rs has the usage"),
    }
}

#[cfg(not(all(unix, target_arch = "x86_64")))]
fn main() {
    println!("skipped: HIP's functions are called by x86-64's convention on a Unix");
}
