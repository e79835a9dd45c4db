// SPDX-License-Identifier: MIT OR Apache-2.0
//! Bundles of text: what is between the marks, whatever the comment, the newline and the text.

use windlass_codeobject::{Container, EntryTarget, Error, File, FileKind, Options};

use crate::support::text_bundle;
use crate::{GFX942, HOST};

const BODIES: [&str; 5] =
    ["text", "text\n", "\n\ntext\n\n", "", "a line about __CLANG_OFFLOAD_BUNDLE____START__ host-x86_64\n"];

fn open(bytes: &[u8]) -> File<'_> {
    let file = File::parse(bytes, &Options::default()).unwrap();
    assert_eq!((file.kind(), file.bundles().len(), file.problems()), (FileKind::FatBinary, 1, &[][..]));
    assert_eq!(file.bundles()[0].container(), Container::TextBundle);
    file
}

#[test]
fn bodies_come_out_as_they_went_in() {
    for comment in ["//", "#", ";"] {
        for newline in ["\n", "\r\n"] {
            for body in BODIES {
                let body = body.replace('\n', newline);
                let bytes = text_bundle(comment, newline, &[(HOST, "host\n"), (GFX942, &body)]);
                let file = open(&bytes);
                let bundle = &file.bundles()[0];
                assert_eq!(bundle.entries()[0].target(), &EntryTarget::Host);
                assert_eq!(bundle.extract(0).unwrap(), b"host\n");
                assert_eq!(bundle.entries()[1].id_text(), GFX942);
                assert_eq!(bundle.extract(1).unwrap(), body.as_bytes(), "{comment} {newline:?}");
            }
        }
    }
}

#[test]
fn marks_inside_a_body_are_its_text() {
    let nested =
        format!("; __CLANG_OFFLOAD_BUNDLE____START__ {HOST}\n// __CLANG_OFFLOAD_BUNDLE____END__ {HOST}\n");
    let bytes = text_bundle(";", "\n", &[(GFX942, &nested), (HOST, "")]);
    let file = open(&bytes);
    assert_eq!(file.bundles()[0].entries().len(), 2);
    assert_eq!(file.bundles()[0].extract(0).unwrap(), nested.as_bytes());
}

#[test]
fn no_gpu_gets_text() {
    let bytes = text_bundle(";", "\n", &[(GFX942, "define void @f()")]);
    let file = open(&bytes);
    let selection = file.bundles()[0].select(&"gfx942".parse().unwrap(), &Options::default());
    assert_eq!(selection.best, None);
    assert!(selection.verdicts[0].to_string().contains("text"), "{}", selection.verdicts[0]);
}

#[test]
fn ends_that_are_missing_or_for_another_entry_are_told() {
    let whole = text_bundle("//", "\n", &[(HOST, "host"), (GFX942, "gpu")]);
    let end = whole.len() - format!("\n// __CLANG_OFFLOAD_BUNDLE____END__ {GFX942}\n").len();
    for size in [end, end + 1, end + 20] {
        let file = open(&whole[..size]);
        assert_eq!(file.bundles()[0].extract(0).unwrap(), b"host");
        let error = file.bundles()[0].extract(1).unwrap_err().to_string();
        assert!(error.contains("is missing"), "{error}");
    }
    let text = String::from_utf8(whole).unwrap();
    let wrong = text.replace(&format!("____END__ {HOST}"), "____END__ other");
    let file = open(wrong.as_bytes());
    assert!(file.bundles()[0].extract(0).unwrap_err().to_string().contains("is for `other`"));
    assert_eq!(file.bundles()[0].extract(1).unwrap(), b"gpu");
}

#[test]
fn marks_without_end_are_limited() {
    let one = text_bundle("#", "\n", &[(HOST, "")]);
    let error = File::parse(&one.repeat(5000), &Options::default()).unwrap_err();
    assert!(matches!(error, Error::Limit { limit: 4096, .. }), "{error}");
    let long = text_bundle("#", "\n", &[(&"x".repeat(5000), ""), (HOST, "")]);
    assert!(matches!(File::parse(&long, &Options::default()), Err(Error::Limit { .. })));
    let late = [vec![b'\n'; 5000], one].concat();
    assert!(matches!(File::parse(&late, &Options::default()), Err(Error::NotRecognised { .. })));
}
