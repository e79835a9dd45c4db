// SPDX-License-Identifier: MIT OR Apache-2.0
//! The drivers and wrappers of `tests/plugin`, which gcc compiles against `windlass.h` as a shared library of a program.
//! `WINDLASS_CAPI_PLUGIN` names another such library, for the suite over drivers of your own.
#![allow(clippy::print_stderr, reason = "a skip must be seen")]

use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use crate::{
    api,
    bindings::windlass_error_t,
    common::{PACKAGE, libraries},
};

const SOURCES: [&str; 4] = ["plugin.c", "driver.c", "wrappers.c", "broken.c"];

/// Compiles and loads the library once, and registers what it has. `false`, with a note, without a compiler.
pub(crate) fn load() -> bool {
    static LOADED: OnceLock<bool> = OnceLock::new();
    *LOADED.get_or_init(|| {
        let other = std::env::var_os("WINDLASS_CAPI_PLUGIN").map(PathBuf::from);
        if other.is_none()
            && let Err(error) = Command::new("gcc").arg("--version").output()
        {
            eprintln!("skipped: gcc: {error}; install it");
            return false;
        }
        let library = other.unwrap_or_else(build);
        // SAFETY: the library is the one of this package's tests, and stays loaded.
        let library = Box::leak(Box::new(unsafe { libloading::Library::new(library) }.expect("the plugin")));
        type Register = unsafe extern "C" fn() -> *mut windlass_error_t;
        // SAFETY: plugin.h declares it so.
        let register: libloading::Symbol<'_, Register> =
            unsafe { library.get(b"plugin_register\0") }.expect("plugin_register");
        // SAFETY: as above.
        api::check(unsafe { register() }).expect("the plugin registers");
        true
    })
}

fn build() -> PathBuf {
    let (folder, package) = (Path::new(env!("CARGO_TARGET_TMPDIR")), Path::new(PACKAGE));
    let other = std::env::var_os("WINDLASS_CAPI_LIBRARY").map(PathBuf::from);
    let windlass = other.unwrap_or_else(|| libraries().0.clone());
    let output = folder.join(format!("libplugin-{}.so", std::process::id()));
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", "-O1", "-shared", "-fPIC"]);
    gcc.arg("-I").arg(package.join("include"));
    gcc.args(SOURCES.map(|source| package.join("tests/plugin").join(source)));
    gcc.arg(&windlass).arg(format!("-Wl,-rpath,{}", windlass.parent().unwrap().display()));
    let built = gcc.args(["-lpthread", "-ldl", "-o"]).arg(&output).output().expect("gcc");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    output
}
