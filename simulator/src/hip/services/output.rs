// SPDX-License-Identifier: MIT OR Apache-2.0
//! The standard streams of the process, as C's library has them: so what kernels print and what the program prints stay
//! in order, and a program that redirects or buffers its `stdout` finds both there.

/// A standard stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stream {
    Out,
    Error,
}

#[cfg(target_os = "linux")]
pub(super) fn write(stream: Stream, bytes: &[u8]) {
    unsafe extern "C" {
        static mut stdout: *mut libc::FILE;
        static mut stderr: *mut libc::FILE;
    }
    // SAFETY: C's library sets both pointers before the program starts, and locks the stream during the call. The bytes
    // are a slice.
    let written = unsafe {
        let file = match stream {
            Stream::Out => stdout,
            Stream::Error => stderr,
        };
        libc::fwrite(bytes.as_ptr().cast(), 1, bytes.len(), file)
    };
    if written < bytes.len() {
        tracing::warn!(target: "windlass::sim", ?stream, "what a kernel printed was not written");
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) fn write(stream: Stream, bytes: &[u8]) {
    use std::io::Write;
    let written = match stream {
        Stream::Out => std::io::stdout().write_all(bytes),
        Stream::Error => std::io::stderr().write_all(bytes),
    };
    if let Err(error) = written {
        tracing::warn!(target: "windlass::sim", ?stream, %error, "what a kernel printed was not written");
    }
}
