// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/uris.md` has a row for each key of each driver, and no other.

use std::collections::BTreeSet;

/// The first cells of the table that begins with `heading`, without backticks.
fn rows(heading: &str) -> BTreeSet<(&'static str, &'static str)> {
    let page = include_str!("../../docs/uris.md");
    let table = page.lines().skip_while(|line| !line.starts_with(heading)).skip(2);
    let cell = |text: &'static str| text.trim().trim_matches('`');
    table
        .take_while(|line| line.starts_with('|'))
        .filter_map(|line| {
            let mut cells = line.trim_start_matches('|').split('|');
            Some((cell(cells.next()?), cell(cells.next()?)))
        })
        .collect()
}

/// The keys that a driver lists in its error for an unknown key.
fn keys_of(scheme: &str) -> Vec<String> {
    let more = match scheme {
        // An invalid URI loads nothing.
        "hip" => "&library=/no/such/library.so",
        "shuffle" => "&over=null://",
        // An invalid URI makes no file.
        "record" => "&file=none&over=null://",
        _ => "",
    };
    let error = windlass::open(&format!("{scheme}://?no-such-key=1{more}")).unwrap_err();
    assert_eq!(error.code(), windlass::Code::InvalidArgument, "{error}");
    let known = error.message().rsplit_once(&format!("{scheme}:// knows "));
    let (_, known) = known.unwrap_or_else(|| panic!("no list of keys: {error}"));
    known.split(", ").map(str::to_owned).collect()
}

#[test]
fn the_table_has_the_keys_that_drivers_know() {
    let documented = rows("| scheme | key |");
    let schemes: Vec<_> = windlass::registry().drivers().map(|driver| driver.scheme()).collect();
    let known: Vec<_> = schemes
        .iter()
        .flat_map(|&scheme| keys_of(scheme).into_iter().map(move |key| (scheme, key)))
        .collect();
    let known: BTreeSet<_> = known.iter().map(|(scheme, key)| (*scheme, key.as_str())).collect();
    assert!(known.len() >= 3, "{known:?}");
    // The page also lists drivers that this build lacks.
    let documented: BTreeSet<_> =
        documented.into_iter().filter(|(scheme, _)| schemes.contains(scheme)).collect();
    let missing: Vec<_> = known.difference(&documented).collect();
    let gone: Vec<_> = documented.difference(&known).collect();
    assert!(missing.is_empty() && gone.is_empty(), "without a row: {missing:?}; no such key: {gone:?}");
}

#[test]
fn the_facts_about_the_build_name_the_same_drivers() {
    let registered: BTreeSet<_> = windlass::registry().drivers().map(|driver| driver.scheme()).collect();
    assert_eq!(windlass::build_info::DRIVERS.iter().copied().collect::<BTreeSet<_>>(), registered);
}

#[test]
fn the_table_has_every_scheme() {
    let documented: BTreeSet<_> = rows("| scheme | path |").into_iter().map(|(scheme, _)| scheme).collect();
    for driver in windlass::registry().drivers() {
        assert!(documented.contains(driver.scheme()), "docs/uris.md lacks {}", driver.scheme());
    }
}
