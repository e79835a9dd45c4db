// SPDX-License-Identifier: MIT OR Apache-2.0
//! A build without a zstd decoder reads everything else, and names the missing feature.

use windlass_codeobject::{Error, File, Options};

use crate::support::{Ccob, plain};
use crate::{GFX942, HOST};

#[test]
fn the_missing_feature_is_named() {
    let content = plain(&[(HOST, b""), (GFX942, b"image")], 8);
    let bytes = Ccob::zlib(3, &content).bytes();
    let file = File::parse(&bytes, &Options::default()).unwrap();
    assert_eq!(file.bundles()[0].extract(1).unwrap(), b"image");
    let error = File::parse(&Ccob::zstd(3, &content).bytes(), &Options::default()).unwrap_err();
    assert!(matches!(error, Error::NoDecoder { method: "zstd", offset: 32, .. }));
    assert!(error.to_string().contains("zstd-c or zstd-pure"), "{error}");
}
