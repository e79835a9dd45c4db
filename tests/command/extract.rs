// SPDX-License-Identifier: MIT OR Apache-2.0
//! `extract`: where it writes, and what that takes.

use std::{fs, path::Path};

use crate::support::{Finished, scratch, windlass};

const VECTOR_ADD: &str = "cts/kernels/bundles/vector_add.ccob";

fn extract(from: &Path, to: &Path) -> Finished {
    let words = ["extract", "--target", "gfx942", "-o"].map(AsRef::as_ref);
    windlass([&words[..], &[to.as_os_str(), from.as_os_str()]].concat())
}

#[test]
#[cfg(unix)]
fn the_file_that_is_read_stays() {
    let folder = scratch("extract");
    fs::create_dir_all(&folder).unwrap();
    let [file, symbolic, hard, copy] = ["a.ccob", "symbolic", "hard", "copy"].map(|name| folder.join(name));
    for path in [&file, &copy] {
        fs::copy(VECTOR_ADD, path).unwrap();
    }
    std::os::unix::fs::symlink("a.ccob", &symbolic).unwrap();
    fs::hard_link(&file, &hard).unwrap();
    for (from, to) in [(&file, &file), (&file, &symbolic), (&symbolic, &file), (&file, &hard)] {
        let refused = extract(from, to);
        assert_eq!(refused.code, Some(2), "{from:?} to {to:?}: {}", refused.stderr);
        assert!(refused.stderr.contains("name another file"), "{}", refused.stderr);
        assert!(fs::read(&file).unwrap() == fs::read(VECTOR_ADD).unwrap());
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 4, "nothing was written");
    assert_eq!(extract(&file, &copy).code, Some(0), "another file with the same bytes is written over");
    assert!(fs::read(&copy).unwrap().starts_with(b"\x7fELF"));
    assert_eq!(extract(&file, Path::new("/dev/null")).code, Some(0));
    fs::remove_dir_all(folder).unwrap();
}
