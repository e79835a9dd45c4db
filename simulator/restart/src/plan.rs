// SPDX-License-Identifier: MIT OR Apache-2.0
//! The plan for restarting this program.

use std::{
    env,
    ffi::{CString, OsString},
    fs, io,
    os::unix::{
        ffi::{OsStrExt, OsStringExt},
        fs::MetadataExt,
    },
    path::PathBuf,
    ptr,
};

use crate::VARIABLE;

/// A program that the machine's loader has begun.
pub(crate) struct Plan {
    loader: OsString,
    libraries: OsString,
    /// The program's file.
    pub(crate) program: PathBuf,
}

impl Plan {
    /// `None` if the variable is not set, and if the program runs under a loader that was started as a
    /// program.
    pub(crate) fn new() -> Option<Self> {
        let value = env::var_os(VARIABLE)?;
        let colon = value.as_bytes().iter().position(|byte| *byte == b':')?;
        let (loader, folders) = value.as_bytes().split_at(colon);
        let program = fs::read_link("/proc/self/exe").ok()?;
        if program.file_name()?.as_bytes().starts_with(b"ld-linux") {
            return None;
        }
        let loader = OsString::from_vec(loader.to_vec());
        let of = |metadata: fs::Metadata| (metadata.dev(), metadata.ino());
        // Compared by file, as the same file may have another name.
        if of(fs::metadata("/proc/self/exe").ok()?) == of(fs::metadata(&loader).ok()?) {
            return None;
        }
        let mut libraries = OsString::from_vec(folders[1..].to_vec());
        // The loader's option overrides the variable, so it must contain the variable's folders.
        if let Some(own) = env::var_os("LD_LIBRARY_PATH").filter(|own| !own.is_empty()) {
            libraries.push(":");
            libraries.push(own);
        }
        Some(Self { loader, libraries, program })
    }

    /// Restarts the program with its arguments and environment. Returns only if that fails.
    pub(crate) fn restart(&self) -> io::Error {
        let mut words = env::args_os();
        let name = words.next().unwrap_or_else(|| self.program.clone().into());
        let own = [
            self.loader.clone(),
            "--library-path".into(),
            self.libraries.clone(),
            "--argv0".into(),
            name,
            self.program.clone().into(),
        ];
        let words: Result<Vec<_>, _> =
            own.into_iter().chain(words).map(|word| CString::new(word.into_vec())).collect();
        let words = match words {
            Ok(words) => words,
            Err(error) => return error.into(),
        };
        let pointers: Vec<_> = words.iter().map(|word| word.as_ptr()).chain([ptr::null()]).collect();
        // SAFETY: strings with a zero at their end, and an array of them with a null pointer at its end, all
        // of them alive.
        unsafe { libc::execv(pointers[0], pointers.as_ptr()) };
        io::Error::last_os_error()
    }
}
