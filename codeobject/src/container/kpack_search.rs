// SPDX-License-Identifier: MIT OR Apache-2.0
//! The search paths by which a host ELF refers to kpack archives.
//!
//! A search path is relative to the folder of the ELF. As the format's own tools write it
//! (`../.kpack/math_@GFXARCH@.kpack`), it may climb with `..` at its beginning and nowhere else. Absolute paths are not
//! followed, so that a foreign file cannot have other files of this machine opened. The architecture may stand in the
//! last component only.

/// The architecture in a search path.
const ARCHITECTURE: &str = "@GFXARCH@";

/// A search path in its parts.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SearchPath<'a> {
    /// The folder, relative to that of the ELF; empty for the same.
    pub(crate) folder: &'a str,
    /// The beginning of the archives' names.
    prefix: &'a str,
    /// The end of the archives' names; `None` if the prefix is the whole name.
    suffix: Option<&'a str>,
}

impl<'a> SearchPath<'a> {
    /// The error is the reason why the path is not followed.
    pub(crate) fn parse(path: &'a str) -> Result<SearchPath<'a>, &'static str> {
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        if path.starts_with('/') || path.contains(['\\', ':', '\0']) {
            return Err("it is not relative to the file's folder");
        }
        let mut climbs = true;
        for part in folder.split('/') {
            climbs &= matches!(part, ".." | "." | "");
            if part == ".." && !climbs {
                return Err("it climbs with `..` after its beginning");
            }
        }
        if folder.contains(ARCHITECTURE) {
            return Err("the architecture stands in a folder's name");
        }
        if matches!(name, "" | "." | "..") {
            return Err("it names no file");
        }
        let (prefix, suffix) = match name.split_once(ARCHITECTURE) {
            Some((prefix, suffix)) => (prefix, Some(suffix)),
            None => (name, None),
        };
        Ok(SearchPath { folder, prefix, suffix })
    }

    /// The only name to look for; `None` for a pattern.
    pub(crate) fn name(&self) -> Option<&'a str> {
        self.suffix.is_none().then_some(self.prefix)
    }

    /// Whether the path matches a file of that name in the folder.
    pub(crate) fn matches(&self, name: &str) -> bool {
        match self.suffix {
            None => name == self.prefix,
            Some(suffix) => name
                .strip_prefix(self.prefix)
                .and_then(|rest| rest.strip_suffix(suffix))
                .is_some_and(|arch| arch.starts_with("gfx")),
        }
    }

    /// The beginning of the names that match in a folder of a zip file.
    pub(crate) fn beginning_in_zip(&self, folder: &str) -> String {
        let separator = if folder.is_empty() { "" } else { "/" };
        format!("{folder}{separator}{}", self.prefix)
    }

    /// The folder in a zip file, relative to the member `elf`; `None` above the zip file's root.
    pub(crate) fn folder_in_zip(&self, elf: &str) -> Option<String> {
        let mut parts: Vec<&str> = elf.split('/').collect();
        parts.pop();
        for part in self.folder.split('/') {
            match part {
                "" | "." => {}
                ".." => {
                    parts.pop()?;
                }
                part => parts.push(part),
            }
        }
        Some(parts.join("/"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_as_the_tools_write_them() {
        let path = SearchPath::parse("../.kpack/blas_lib_@GFXARCH@.kpack").unwrap();
        assert_eq!((path.folder, path.name()), ("../.kpack", None));
        assert!(path.matches("blas_lib_gfx1201.kpack"));
        for other in
            ["blas_lib_.kpack", "blas_lib_gfx1201.kpack.bak", "lib_gfx1201.kpack", "blas_lib_x.kpack"]
        {
            assert!(!path.matches(other), "{other}");
        }
        assert_eq!(path.folder_in_zip("sdk/lib/librocblas.so.5").as_deref(), Some("sdk/.kpack"));
        assert_eq!(path.folder_in_zip("librocblas.so.5"), None);
        let path = SearchPath::parse("x.kpack").unwrap();
        assert_eq!((path.folder, path.name(), path.matches("x.kpack")), ("", Some("x.kpack"), true));
        assert_eq!(path.folder_in_zip("a.so").as_deref(), Some(""));
    }

    #[test]
    fn paths_that_are_not_followed() {
        for (path, words) in [
            ("/etc/x.kpack", "not relative"),
            ("C:\\x.kpack", "not relative"),
            ("..\\x.kpack", "not relative"),
            (".kpack/../../x.kpack", "after its beginning"),
            ("a/../x.kpack", "after its beginning"),
            ("@GFXARCH@/x.kpack", "a folder's name"),
            ("../", "no file"),
            ("..", "no file"),
            ("", "no file"),
        ] {
            assert!(SearchPath::parse(path).unwrap_err().contains(words), "{path}");
        }
    }
}
