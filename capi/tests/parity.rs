// SPDX-License-Identifier: MIT OR Apache-2.0
//! Each public function of the HAL has a function in C, or a line that says why it has none.
//!
//! `parity.csv` has a line for each: the Rust function, and its C functions or `-` and the reason. Functions of types that
//! only drivers use are not listed.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

const PACKAGE: &str = env!("CARGO_MANIFEST_DIR");

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

fn parse(path: &Path) -> syn::File {
    syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The names that a `pub use` makes public.
fn used(tree: &syn::UseTree, names: &mut BTreeSet<String>) {
    match tree {
        syn::UseTree::Path(path) => used(&path.tree, names),
        syn::UseTree::Group(group) => group.items.iter().for_each(|tree| used(tree, names)),
        syn::UseTree::Name(name) => _ = names.insert(name.ident.to_string()),
        syn::UseTree::Rename(name) => _ = names.insert(name.rename.to_string()),
        syn::UseTree::Glob(_) => {}
    }
}

fn is_public(visibility: &syn::Visibility) -> bool {
    matches!(visibility, syn::Visibility::Public(_))
}

fn is_hidden(attributes: &[syn::Attribute]) -> bool {
    let hides = |list: &syn::MetaList| list.path.is_ident("doc") && list.tokens.to_string() == "hidden";
    attributes.iter().any(|attribute| matches!(&attribute.meta, syn::Meta::List(list) if hides(list)))
}

/// The public functions of public types, as `Type::function`, and the public functions of the root.
fn rust_functions() -> BTreeSet<String> {
    let hal = Path::new(PACKAGE).join("../hal/src");
    let mut public = BTreeSet::new();
    for item in parse(&hal.join("lib.rs")).items {
        if let syn::Item::Use(item) = item
            && is_public(&item.vis)
        {
            used(&item.tree, &mut public);
        }
    }
    let mut functions = BTreeSet::new();
    for path in sources(&hal) {
        for item in parse(&path).items {
            match item {
                syn::Item::Fn(item)
                    if is_public(&item.vis) && public.contains(&item.sig.ident.to_string()) =>
                {
                    functions.insert(item.sig.ident.to_string());
                }
                syn::Item::Impl(item) if item.trait_.is_none() => {
                    let syn::Type::Path(of) = &*item.self_ty else { continue };
                    let name = of.path.segments.last().unwrap().ident.to_string();
                    let methods = item.items.iter().filter_map(|item| match item {
                        syn::ImplItem::Fn(item) if is_public(&item.vis) && !is_hidden(&item.attrs) => {
                            Some(item)
                        }
                        _ => None,
                    });
                    if public.contains(&name) {
                        functions.extend(methods.map(|method| format!("{name}::{}", method.sig.ident)));
                    }
                }
                _ => {}
            }
        }
    }
    functions
}

/// The table: what each Rust function has in C.
fn table() -> BTreeMap<String, String> {
    let text = fs::read_to_string(Path::new(PACKAGE).join("tests/parity.csv")).unwrap();
    let rows = text.lines().skip(1).map(|line| {
        let (rust, c) = line.split_once(',').unwrap_or_else(|| panic!("a line without a comma: {line}"));
        (rust.to_owned(), c.to_owned())
    });
    rows.collect()
}

/// Types of the HAL that serve drivers and wrappers.
const OF_DRIVERS: [&str; 26] = [
    "Accounts",
    "Command",
    "CommandList",
    "CommandListBuilder",
    "Commands",
    "Completion",
    "Dispatch",
    "DispatchCommand",
    "HostCall",
    "HostCallContext",
    "HostCalls",
    "InOrder",
    "IndirectParameters",
    "Notifications",
    "Operation",
    "OperationRef",
    "Parameters",
    "Patch",
    "PatchedBlock",
    "Probe",
    "RecordedFunction",
    "RecordedLaunch",
    "RecordedRange",
    "SlotRequirement",
    "WorkgroupCount",
    "WorkgroupCountRef",
];

/// The pages of the header, without comments.
fn header() -> String {
    let pages = sources(&Path::new(PACKAGE).join("include/windlass"));
    let text: Vec<_> = pages.iter().map(|page| fs::read_to_string(page).unwrap()).collect();
    let text = text.join("\n");
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The functions that the library exports.
fn exported(header: &str) -> BTreeSet<&str> {
    let is_inline = |line: &&str| line.starts_with("static inline") || line.starts_with("WINDLASS_");
    let inline = header.lines().filter(is_inline).filter(|line| *line != "WINDLASS_MUST_USE");
    let inline = inline.filter(|line| !line.starts_with("WINDLASS_MUST_USE "));
    let inline: BTreeSet<&str> = inline.flat_map(|line| line.split(['(', ')', ' ', ','])).collect();
    let declared =
        header.lines().filter(|line| !line.starts_with([' ', '#'])).filter_map(|line| line.split_once('('));
    declared
        .filter_map(|(before, _)| before.rsplit([' ', '*']).next())
        .filter(|name| name.starts_with("windlass_") && !inline.contains(name))
        .collect()
}

#[test]
fn the_driver_of_the_suite_has_the_functions_of_the_header() {
    let bindings = fs::read_to_string(Path::new(PACKAGE).join("tests/conformance/bindings.rs")).unwrap();
    let bound: BTreeSet<&str> =
        bindings.split("pub unsafe fn ").skip(1).filter_map(|rest| rest.split(['(', '<']).next()).collect();
    let header = header();
    let declared = exported(&header);
    let lacks: Vec<_> =
        bound.iter().filter(|name| name.starts_with("windlass") && !declared.contains(*name)).collect();
    let new: Vec<_> = declared.iter().filter(|name| !bound.contains(*name)).collect();
    assert!(lacks.is_empty() && new.is_empty(), "run the example write_bindings for {lacks:?} and {new:?}");
}

#[test]
fn each_function_has_its_twin_or_a_reason() {
    let (rust, table) = (rust_functions(), table());
    let is_for_drivers = |function: &&String| {
        OF_DRIVERS.iter().any(|name| function.strip_prefix(name).is_some_and(|rest| rest.starts_with("::")))
    };
    let rust: BTreeSet<_> = rust.iter().filter(|function| !is_for_drivers(function)).cloned().collect();
    let missing: Vec<_> = rust.iter().filter(|function| !table.contains_key(*function)).collect();
    assert!(missing.is_empty(), "tests/parity.csv lacks {missing:#?}");
    let stale: Vec<_> = table.keys().filter(|function| !rust.contains(*function)).collect();
    assert!(stale.is_empty(), "tests/parity.csv has functions that Rust lacks: {stale:#?}");

    let header = header();
    for (function, c) in &table {
        if let Some(reason) = c.strip_prefix("- ") {
            assert!(reason.len() > 10, "{function} has no reason");
            continue;
        }
        for name in c.split(' ') {
            assert!(header.contains(&format!("{name}(")), "{function}: windlass.h has no function {name}");
        }
    }
}
