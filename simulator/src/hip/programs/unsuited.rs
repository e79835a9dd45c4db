// SPDX-License-Identifier: MIT OR Apache-2.0
//! Code that has nothing for the simulated GPU: its owner, the GPUs that it is for, and the ways out.

use std::ffi::c_void;

use windlass_codeobject::{Bundle, EntryTarget, Options};

use windlass_simulated_gpu::Part;

/// The owner of an image.
pub(crate) enum Subject<'a> {
    /// A module that the client loads.
    Module,
    /// A program or library whose code is in it. Its call needs the named kernel or variable.
    Compiled {
        /// The file.
        library: &'a str,
        /// The kernel or variable, as the compiler names it.
        symbol: &'a str,
    },
}

/// The reason, in words, that nothing of `bundles` is loaded for a part.
pub(crate) fn describe(bundles: &[Bundle<'_>], part: &'static Part, subject: &Subject<'_>) -> String {
    let mut targets: Vec<String> = Vec::new();
    let mut reasons = String::new();
    let options = Options::default();
    let suits = |part: &Part| {
        let target = part.target_id().parse().ok();
        target.is_some_and(|target| bundles.iter().any(|one| one.select(&target, &options).best.is_some()))
    };
    for bundle in bundles {
        for entry in bundle.entries() {
            if let EntryTarget::Gpu(target) = entry.target() {
                let target = target.to_string();
                if !targets.contains(&target) {
                    targets.push(target);
                }
            }
        }
        if let Ok(target) = part.target_id().parse() {
            for verdict in &bundle.select(&target, &options).verdicts {
                reasons.push_str(&format!("\n  {verdict}"));
            }
        }
    }
    let name = part.name();
    let other = Part::in_every_mode().find(|other| *other != part && suits(other)).map(|other| {
        let other = other.spelling();
        format!("run it on a simulated {other} (windlass exec --device hip-sim://{other} -- PROGRAM), or ")
    });
    let other = other.unwrap_or_default();
    let rebuild = format!("{other}build it with --offload-arch={name}");
    let target = part.target_id();
    match subject {
        Subject::Module => {
            format!("the module was not loaded: nothing in it suits {target}; {rebuild}:{reasons}")
        }
        Subject::Compiled { library, symbol } => {
            let targets = if targets.is_empty() { "no GPU".to_owned() } else { targets.join(", ") };
            format!(
                "no kernel of {library} runs on the simulated {name}: its code is for {targets}. The first call that needs \
                 it is for {symbol}; each such call answers hipErrorNoBinaryForGpu, and a library that ignores that \
                 gives wrong results. To mend that, {rebuild}; `windlass audit {library} --targets {name}` shows what it has"
            )
        }
    }
}

/// The file that an address of the client's program was loaded from.
pub(crate) fn library_at(address: *const c_void) -> String {
    #[cfg(unix)]
    {
        // SAFETY: zeros are a valid `Dl_info`.
        let mut found: libc::Dl_info = unsafe { std::mem::zeroed() };
        // SAFETY: dladdr takes any address, and fills the structure with strings of the dynamic linker.
        let known = unsafe { libc::dladdr(address, &mut found) } != 0 && !found.dli_fname.is_null();
        if known {
            // SAFETY: a string that ends, and that lasts as long as the library stays loaded.
            let name = unsafe { std::ffi::CStr::from_ptr(found.dli_fname) };
            return name.to_string_lossy().into_owned();
        }
    }
    let _ = address;
    "the program".to_owned()
}
