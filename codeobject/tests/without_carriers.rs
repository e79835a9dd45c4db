// SPDX-License-Identifier: MIT OR Apache-2.0
//! A build without the feature `carriers` names the containers that it does not read.
#![cfg(not(feature = "carriers"))]

use windlass_codeobject::{Error, File, Format, Options};

#[test]
fn files_of_files_are_errors_that_name_the_feature() {
    for (head, format) in [
        (&b"!<arch>\n"[..], Format::Archive),
        (b"!<thin>\n", Format::ThinArchive),
        (b"PK\x03\x04", Format::Zip),
        (b"KPAK", Format::Kpack),
    ] {
        let error = File::parse(head, &Options::default()).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. }), "{error}");
        let text = error.to_string();
        assert!(text.starts_with(&format.to_string()) && text.contains("`carriers`"), "{text}");
    }
}
