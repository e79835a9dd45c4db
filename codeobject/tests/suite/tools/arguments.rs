// SPDX-License-Identifier: MIT OR Apache-2.0
//! Kernels with each argument, and symbols with kind and binding, compared with `llvm-readelf`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use windlass_codeobject::{Arg, ArgKind, Binding, CodeObject, Kernel, Symbol, SymbolRole};

type Facts = BTreeMap<String, String>;

/// A kernel of the note that a listing prints: its scalars, and those of each argument.
#[derive(Default)]
struct Listed {
    facts: Facts,
    args: Vec<Facts>,
}

/// The kernels of the note, in order.
fn listed(listing: &str) -> Vec<Listed> {
    let mut kernels: Vec<Listed> = Vec::new();
    let mut list = String::new();
    let notes = listing.lines().skip_while(|line| *line != "amdhsa.kernels:").skip(1);
    for line in notes.take_while(|line| line.starts_with(' ')) {
        if line.starts_with("  - ") {
            kernels.push(Listed::default());
        }
        let kernel = kernels.last_mut().unwrap();
        if line.starts_with("      - .") {
            kernel.args.push(Facts::new());
        }
        let depth = line.len() - line.trim_start_matches([' ', '-']).len();
        let text = line.trim_start_matches([' ', '-']);
        let Some((key, value)) = text.strip_prefix('.').and_then(|text| text.split_once(':')) else {
            // An element of a list of scalars.
            let all = kernel.facts.entry(list.clone()).or_default();
            all.push_str(&format!("{text} "));
            continue;
        };
        let value = value.trim().trim_start_matches("!str ").trim_matches(['\'', '"']).to_owned();
        match depth {
            4 if value.is_empty() => list = key.to_owned(),
            4 => drop(kernel.facts.insert(key.to_owned(), value)),
            _ => drop(kernel.args.last_mut().unwrap().insert(key.to_owned(), value)),
        }
    }
    kernels
}

/// `GlobalBuffer` as `global_buffer`.
fn snake_case(value: impl Debug) -> String {
    let mut out = String::new();
    for letter in format!("{value:?}").chars() {
        if letter.is_ascii_uppercase() && !out.is_empty() {
            out.push('_');
        }
        out.push(letter.to_ascii_lowercase());
    }
    out
}

fn arg_facts(arg: &Arg) -> Facts {
    let kind = match &arg.kind {
        ArgKind::Hidden(kind) => format!("hidden_{}", snake_case(kind)),
        ArgKind::Other(name) => name.clone(),
        kind => snake_case(kind),
    };
    let mut facts: Facts =
        [("offset", arg.offset.to_string()), ("size", arg.size.to_string()), ("value_kind", kind)]
            .map(|(key, value)| (key.to_owned(), value))
            .into();
    let optional = [
        ("name", arg.name.clone()),
        ("type_name", arg.type_name.clone()),
        ("address_space", arg.address_space.map(snake_case)),
        ("access", arg.access.map(snake_case)),
        ("actual_access", arg.actual_access.map(snake_case)),
        ("pointee_align", arg.pointee_align.map(|align| align.to_string())),
    ];
    facts.extend(optional.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))));
    let flags =
        [("is_const", arg.is_const), ("is_restrict", arg.is_restrict), ("is_volatile", arg.is_volatile)];
    facts.extend(flags.into_iter().filter(|(_, on)| *on).map(|(key, _)| (key.to_owned(), "true".to_owned())));
    facts
}

/// The values of a kernel for the keys in the note.
fn fact(kernel: &Kernel, key: &str, noted: &str) -> Option<String> {
    let truth = |value: bool| {
        if noted.parse::<u32>().is_ok() { u32::from(value).to_string() } else { value.to_string() }
    };
    Some(match key {
        "name" => kernel.name.clone(),
        "symbol" => kernel.symbol.clone(),
        "kernarg_segment_size" => kernel.kernarg_size.to_string(),
        "kernarg_segment_align" => kernel.kernarg_align.to_string(),
        "group_segment_fixed_size" => kernel.group_segment_size.to_string(),
        "private_segment_fixed_size" => kernel.private_segment_size.to_string(),
        "wavefront_size" => kernel.wavefront_size.to_string(),
        "max_flat_workgroup_size" => kernel.max_flat_workgroup_size.to_string(),
        "sgpr_count" => kernel.sgpr_count.to_string(),
        "vgpr_count" => kernel.vgpr_count.to_string(),
        "agpr_count" => kernel.agpr_count?.to_string(),
        "sgpr_spill_count" => kernel.sgpr_spill_count.to_string(),
        "vgpr_spill_count" => kernel.vgpr_spill_count.to_string(),
        "uses_dynamic_stack" => truth(kernel.uses_dynamic_stack),
        "workgroup_processor_mode" => truth(kernel.workgroup_processor_mode),
        "uniform_work_group_size" => truth(kernel.uniform_workgroup_size),
        "kind" => snake_case(kernel.kind),
        "reqd_workgroup_size" => kernel.reqd_workgroup_size?.map(|size| format!("{size} ")).concat(),
        // Loaders do not need these.
        "language" | "language_version" | "vec_type_hint" | "workgroup_size_hint" => noted.to_owned(),
        "args" => "[]".to_owned(),
        _ => return None,
    })
}

/// Compares each kernel with the note.
pub(super) fn same_kernels(code: &CodeObject, listing: &str, what: &str) {
    let listed = listed(listing);
    assert_eq!(code.kernels().len(), listed.len(), "{what}");
    for (kernel, listed) in code.kernels().iter().zip(listed) {
        for (key, value) in &listed.facts {
            assert_eq!(fact(kernel, key, value).as_ref(), Some(value), "{what}: {} of {}", key, kernel.name);
        }
        let args: Vec<Facts> = kernel.args.iter().map(arg_facts).collect();
        assert_eq!(args, listed.args, "{what}: {}", kernel.name);
    }
}

/// The ELF type of a symbol, by its role.
fn kind(symbol: &Symbol) -> &'static str {
    match symbol.role {
        SymbolRole::Function | SymbolRole::KernelEntry => "FUNC",
        SymbolRole::Variable | SymbolRole::KernelDescriptor | SymbolRole::Marker => "OBJECT",
        _ => "NOTYPE",
    }
}

/// Compares kind and binding of the symbols with an address, and the names of those without.
pub(super) fn same_symbol_kinds(code: &CodeObject, listing: &str, what: &str) {
    let mut expected = BTreeSet::new();
    for line in listing.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [number, value, size, kind, bind, _, section, name] = words[..] else { continue };
        let is_row = number.strip_suffix(':').is_some_and(|number| number.parse::<u32>().is_ok());
        if is_row && size != "Size" && matches!(kind, "FUNC" | "OBJECT") || is_row && section == "UND" {
            let kind = if section == "UND" { "NOTYPE" } else { kind };
            expected.insert((value.to_owned(), name.to_owned(), kind.to_owned(), bind.to_owned()));
        }
    }
    let found: BTreeSet<(String, String, String, String)> = code
        .symbols()
        .iter()
        .filter(|symbol| symbol.role != SymbolRole::Other)
        .map(|symbol| {
            let bind = match symbol.binding {
                Binding::Global => "GLOBAL",
                Binding::Weak => "WEAK",
                _ => "LOCAL",
            };
            (
                format!("{:016x}", symbol.address),
                symbol.name.clone(),
                kind(symbol).to_owned(),
                bind.to_owned(),
            )
        })
        .collect();
    assert_eq!(found, expected, "{what}");
    let roles = |role| code.symbols().iter().filter(move |symbol| symbol.role == role && symbol.exported);
    let entries: BTreeSet<&str> = roles(SymbolRole::KernelEntry).map(|symbol| symbol.name.as_str()).collect();
    let kernels: BTreeSet<&str> = code.kernels().iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(entries, kernels, "{what}");
    assert_eq!(roles(SymbolRole::KernelDescriptor).count(), kernels.len(), "{what}");
}
