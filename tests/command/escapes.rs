// SPDX-License-Identifier: MIT OR Apache-2.0
//! Names from untrusted files have no effect on the terminal that shows them.

use std::{fs, path::PathBuf};

use crate::{
    audit::made::wheel,
    support::{Finished, scratch, windlass},
};

const SAXPY: &str = "cts/kernels/bundles/saxpy.gfx942.co";

/// The output has no control characters for a terminal.
fn assert_plain(finished: &Finished) {
    for text in [&finished.stdout, &finished.stderr] {
        assert!(!text.chars().any(|letter| letter.is_control() && letter != '\n'), "{text:?}");
    }
}

/// A file of this name in a folder of its own.
fn put(name: &str, bytes: &[u8]) -> PathBuf {
    let folder = scratch("escapes");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    fs::write(&path, bytes).unwrap();
    path
}

/// Code with a kernel name that would set the title of a terminal's window.
fn hostile_kernel() -> Vec<u8> {
    let mut code = fs::read(SAXPY).unwrap();
    let places: Vec<usize> = (0..code.len()).filter(|at| code[*at..].starts_with(b"saxpy")).collect();
    for at in places {
        code[at..at + 5].copy_from_slice(b"\x1b]2;\x07");
    }
    code
}

#[test]
fn names_of_kernels() {
    let path = put("a.co", &hostile_kernel()).display().to_string();
    for words in [&["inspect", &path][..], &["inspect", &path, "--all"]] {
        let shown = windlass(words);
        assert_eq!(shown.code, Some(0), "{}", shown.stderr);
        assert_plain(&shown);
        assert!(shown.stdout.contains("    \\x1b]2;\\x07("), "{}", shown.stdout);
    }
    let json = windlass(["inspect", &path, "--json"]).stdout;
    assert!(json.contains(r#""\u001b]2;\u0007""#), "JSON has an escape of its own: {json}");
    let run = windlass(["run", &path, "--device", "hip-sim://gfx942", "--grid", "1"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert_plain(&run);
    assert!(run.stderr.contains("`\\x1b]2;\\x07`"), "{}", run.stderr);
}

#[test]
fn members_that_pose_as_others_in_right_to_left_text() {
    let code = fs::read(SAXPY).unwrap();
    let path = put("a.whl", &wheel(&[("lib\u{202e}os.oc", &code), ("a\u{200b}\u{2028}b.co", &code)]));
    let audit = windlass(["audit".as_ref(), "--targets".as_ref(), "gfx942".as_ref(), path.as_os_str()]);
    assert_eq!(audit.code, Some(0), "{}", audit.stderr);
    assert!(audit.stdout.contains("a.whl(lib\\u{202e}os.oc)"), "{}", audit.stdout);
    assert!(audit.stdout.contains("a.whl(a\\u{200b}\\u{2028}b.co)"), "{}", audit.stdout);
}

#[test]
fn names_of_members_and_files() {
    let code = fs::read(SAXPY).unwrap();
    let broken = &code[..code.len() / 2];
    let members = [("\x1b[31mx.co", &code[..]), ("two\nlines.co", &code), ("\u{9b}1m\n.co", broken)];
    let path = put("a\x1b[1m\nb.whl", &wheel(&members));
    let folder = path.parent().unwrap();
    let inspect = windlass([&"inspect".into(), &path]);
    assert_eq!(inspect.code, Some(1), "one member is cut short: {}", inspect.stderr);
    assert_plain(&inspect);
    assert!(inspect.stdout.contains("\\x1b[31mx.co"), "{}", inspect.stdout);
    assert!(inspect.stdout.contains("two\\nlines.co"), "{}", inspect.stdout);
    let audit = windlass(["audit".as_ref(), "--targets".as_ref(), "gfx90a".as_ref(), folder.as_os_str()]);
    assert_eq!(audit.code, Some(1), "{}", audit.stderr);
    assert_plain(&audit);
    let lines: Vec<&str> = audit.stdout.lines().collect();
    for member in ["\\x1b[31mx.co", "two\\nlines.co", "\\u{9b}1m\\n.co"] {
        let path = format!("a\\x1b[1m\\nb.whl({member})");
        let row = lines.iter().find(|line| line.contains(&path)).expect(member);
        assert!(row.ends_with("none"), "{row}");
    }
    let extract =
        windlass(["extract".as_ref(), path.as_os_str(), "--id=\x1b\n".as_ref(), "-o/dev/null".as_ref()]);
    assert_eq!((extract.code, extract.stderr.lines().count()), (Some(2), 1), "{}", extract.stderr);
    assert_plain(&extract);
}

#[test]
fn words_of_the_command_line_in_messages() {
    for words in [
        &["inspect", "no\x1b[1m\nfile"][..],
        &["audit", "no\x1b[1m\nfile", "--targets", "gfx942"],
        &["help", "\x1b[1m"],
    ] {
        let refused = windlass(words);
        assert_eq!((refused.code, refused.stderr.lines().count()), (Some(2), 1), "{}", refused.stderr);
        assert_plain(&refused);
        assert!(refused.stderr.contains("\\x1b[1m"), "{}", refused.stderr);
    }
    let refused = windlass(["inspect", "a", "\x1b[1mb\x07"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    assert_plain(&refused);
}
