// SPDX-License-Identifier: MIT OR Apache-2.0
//! `docs/conformance.md` lists the suite's contracts. This test writes the page from the code, and fails if the page
//! is out of date.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    fs,
    path::Path,
};

use windlass_cts::{
    Case, cases,
    saboteurs::{self, held_otherwise},
};

/// IREE's cases, one on each line: the name, our counterparts separated by spaces, and the reason if there are none.
const IREE_CASES: &str = include_str!("../../iree_cases.csv");

/// Suffixes of names that distinguish cases of one contract. They do not count as contracts of their own.
const PARAMETERS: [&str; 6] = ["direct", "table", "1", "2", "4", "repeated"];

/// The parameters of the suite that runs for each kind of operation. In other suites a kind is the subject of a
/// contract.
const KINDS: [&str; 11] = [
    "barrier",
    "alloca",
    "dealloca",
    "fill",
    "update",
    "copy",
    "read",
    "write",
    "host_call",
    "dispatch",
    "execute",
];

struct Counterpart {
    iree: &'static str,
    ours: Vec<&'static str>,
    reason: &'static str,
}

fn counterparts() -> Vec<Counterpart> {
    let row = |line: &'static str| {
        let mut fields = line.splitn(3, ',');
        let mut next = || fields.next().unwrap_or_default();
        Counterpart { iree: next(), ours: next().split_whitespace().collect(), reason: next() }
    };
    IREE_CASES.lines().skip(1).map(row).collect()
}

/// The contract that a case belongs to.
fn contract(name: &str) -> &str {
    let parameters: &[&str] = if name.starts_with("operation.") { &KINDS } else { &PARAMETERS };
    let rest = parameters.iter().find_map(|parameter| name.strip_suffix(parameter)?.strip_suffix('_'));
    rest.unwrap_or(name)
}

fn contracts(cases: &[Case]) -> BTreeSet<&str> {
    cases.iter().map(|case| contract(case.name)).collect()
}

fn page() -> String {
    let (cases, counterparts) = (cases(), counterparts());
    let mut suites = BTreeMap::<&str, Vec<&str>>::new();
    for case in &cases {
        suites.entry(case.name.split('.').next().unwrap_or_default()).or_default().push(case.name);
    }
    let mut page = String::new();
    let out = &mut page;
    let distinct = contracts(&cases).len();
    let with = counterparts.iter().filter(|row| !row.ours.is_empty()).count();
    let named: BTreeSet<&str> = counterparts.iter().flat_map(|row| row.ours.iter().copied()).collect();
    let beyond = contracts(&cases).difference(&named.iter().map(|name| contract(name)).collect()).count();
    let mut line = |text: String| writeln!(out, "{text}").unwrap();
    line("# Conformance: the contracts of the suite".to_owned());
    line(String::new());
    line(
        "`cargo test -p windlass-cts --test suite conformance -- --ignored` writes this page, and the tests keep it \
         current.\n`windlass cts --list` prints each case with its contract."
            .to_owned(),
    );
    line(String::new());
    line("## Counts".to_owned());
    line(String::new());
    line(format!(
        "{} cases prove {distinct} distinct contracts. A contract that is tried by direct ranges and by a table, with patterns \
         of one, two\nand four bytes, or for each kind of operation, counts once.",
        cases.len()
    ));
    line(String::new());
    line("| suite | cases | contracts |".to_owned());
    line("|---|---|---|".to_owned());
    for (suite, names) in &suites {
        let distinct: BTreeSet<_> = names.iter().map(|name| contract(name)).collect();
        line(format!("| {suite} | {} | {} |", names.len(), distinct.len()));
    }
    line(String::new());
    line("## IREE's cases and ours".to_owned());
    line(String::new());
    line(format!(
        "IREE's suite has {} cases (at b48a5955). {with} of them have a counterpart here; for the others the reason is \
         given.\n{beyond} of our contracts have none in IREE's.",
        counterparts.len()
    ));
    line(String::new());
    line("| IREE | Windlass |".to_owned());
    line("|---|---|".to_owned());
    for row in &counterparts {
        let ours = code(&row.ours);
        line(format!("| {} | {} |", row.iree, if ours.is_empty() { row.reason } else { &ours }));
    }
    line(String::new());
    line("## Saboteurs, and the cases that catch them".to_owned());
    line(String::new());
    let saboteurs = saboteurs::all();
    line(format!(
        "Each of these {} wraps a driver that conforms and breaks one contract. The named cases must fail \
         over it:\n`cts/tests/suite/saboteurs.rs` and `tests/suite/saboteurs.rs` run them. Other cases may fail too.",
        saboteurs.len()
    ));
    line(String::new());
    line("| saboteur | its fault | caught by |".to_owned());
    line("|---|---|---|".to_owned());
    for saboteur in &saboteurs {
        line(format!("| {} | {} | {} |", saboteur.name, saboteur.breaks, code(saboteur.kills)));
    }
    line(String::new());
    line("## Contracts that no saboteur breaks".to_owned());
    line(String::new());
    line(
        "Not every contract can be broken by wrapping a driver: semaphores, fences, futures, recording and most \
         refusals are\nhal's own, and hal's tests and `docs/mutants.md` check them. The list is \
         `cts/unbroken_cases.csv`; if a case calls no\ndriver, a test runs it over one that refuses everything."
            .to_owned(),
    );
    line(String::new());
    line("| reason | cases |".to_owned());
    line("|---|---|".to_owned());
    let mut reasons = BTreeMap::<&str, Vec<&str>>::new();
    for held in held_otherwise() {
        reasons.entry(held.why).or_default().push(held.case);
    }
    for (why, cases) in reasons {
        line(format!("| {why} | {} |", code(&cases)));
    }
    page
}

fn code(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn path() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/conformance.md")
}

#[test]
fn every_counterpart_exists() {
    let cases = cases();
    let rows = counterparts();
    assert_eq!(rows.len(), 207, "IREE's suite has 207 cases");
    let distinct: BTreeSet<_> = rows.iter().map(|row| row.iree).collect();
    assert_eq!(distinct.len(), rows.len(), "a case of IREE's is listed twice");
    for row in &rows {
        assert_ne!(row.ours.is_empty(), row.reason.is_empty(), "{} has cases or a reason", row.iree);
        for name in &row.ours {
            assert!(cases.iter().any(|case| case.name == *name), "{}: there is no case {name}", row.iree);
        }
    }
}

#[test]
fn each_contract_is_stated_once() {
    let cases = cases();
    let mut stated = BTreeMap::<&str, &str>::new();
    for case in &cases {
        assert!(case.contract.ends_with('.'), "{}: {}", case.name, case.contract);
        if let Some(other) = stated.insert(case.contract, case.name) {
            panic!("{other} and {} state the same: {}", case.name, case.contract);
        }
    }
    let distinct = contracts(&cases).len();
    assert!(distinct >= 150, "{distinct} contracts");
}

#[test]
fn the_page_is_current() {
    let written = fs::read_to_string(path()).unwrap_or_default();
    assert!(
        written == page(),
        "docs/conformance.md is not what the code says; write it with \
         `cargo test -p windlass-cts --test suite conformance -- --ignored`"
    );
}

#[test]
#[ignore = "writes docs/conformance.md"]
fn write_the_page() {
    fs::write(path(), page()).unwrap();
}
