// SPDX-License-Identifier: MIT OR Apache-2.0
//! Every function of the header, called with NULL, zeros, the greatest numbers, crooked pointers, released handles and
//! handles of another kind, and by threads with handles that another thread releases. Each call gives an error with a
//! message, or does nothing, and never ends the process. The calls are generated from the header, so new functions are among
//! them.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a skip must be seen")]

use std::{
    collections::BTreeSet,
    fmt::Write,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

mod common;

use common::{PACKAGE, libraries};

/// Functions that succeed with zero in each place.
const CONTENT_WITH_ZEROS: [&str; 2] = ["windlass_wait_all", "windlass_wait_all_with"];

/// Functions whose result is an error in any case, or an error of the caller's.
const GIVES_AN_ERROR: [&str; 2] = ["windlass_error_create", "windlass_error_retain"];

/// Handles that the library alone releases.
const LENT: [&str; 3] = ["host_call", "uri", "answer"];

/// The handles that sweep.c makes.
fn fixtures() -> BTreeSet<String> {
    let harness = fs::read_to_string(Path::new(PACKAGE).join("tests/sweep.c")).unwrap();
    let start = harness.find("static struct {").unwrap();
    let fields = &harness[start..harness[start..].find("} live;").unwrap() + start];
    fields
        .lines()
        .filter_map(|line| Some(line.split_once(" *")?.1.trim_end_matches(';').to_owned()))
        .collect()
}

struct Parameter {
    kind: String,
    name: String,
}

struct Function {
    result: String,
    name: String,
    parameters: Vec<Parameter>,
}

/// The pages of the header, without comments.
fn header() -> String {
    let folder = Path::new(PACKAGE).join("include/windlass");
    let mut text = String::new();
    for page in fs::read_dir(folder).unwrap() {
        let page = fs::read_to_string(page.unwrap().path()).unwrap();
        page.lines().filter(|line| !line.trim_start().starts_with("//")).for_each(|line| {
            text.push_str(line);
            text.push('\n');
        });
    }
    text
}

/// A declarator such as `const char *name`.
fn declarator(text: &str) -> Parameter {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let start = text.rfind([' ', '*']).map_or(0, |end| end + 1);
    Parameter { kind: text[..start].trim().to_owned(), name: text[start..].to_owned() }
}

/// The declarations of functions, each of which is a paragraph.
fn functions(header: &str) -> Vec<Function> {
    let parse = |paragraph: &str| {
        let text = paragraph.trim().trim_start_matches("WINDLASS_MUST_USE").trim().strip_suffix(");")?;
        let (head, list) = text.split_once('(')?;
        let Parameter { kind, name } = declarator(head);
        let is_other = ["static", "typedef", "#"].iter().any(|word| kind.starts_with(word));
        if !name.starts_with("windlass_") || kind.is_empty() || is_other {
            return None;
        }
        let parameters = match list.trim() {
            "void" => Vec::new(),
            list => list.split(',').map(declarator).collect(),
        };
        Some(Function { result: kind, name, parameters })
    };
    header.split("\n\n").filter_map(parse).collect()
}

/// Types by their form in the header.
struct Types {
    opaque: BTreeSet<String>,
    callbacks: BTreeSet<String>,
    sized: BTreeSet<String>,
    structs: BTreeSet<String>,
}

fn types(header: &str) -> Types {
    let mut types = Types {
        opaque: BTreeSet::new(),
        callbacks: BTreeSet::new(),
        sized: BTreeSet::new(),
        structs: BTreeSet::new(),
    };
    for line in header.lines() {
        if let Some(rest) = line.strip_prefix("typedef struct windlass_") {
            let name = rest.split(' ').next().unwrap();
            types.opaque.insert(format!("windlass_{name}"));
        }
        if line.starts_with("typedef")
            && let Some((_, rest)) = line.split_once("(*")
        {
            types.callbacks.insert(rest.split(')').next().unwrap().to_owned());
        }
    }
    for body in header.split("typedef struct {").skip(1) {
        let (fields, rest) = body.split_once("\n} ").unwrap();
        let name = rest.split(';').next().unwrap().to_owned();
        if fields.trim_start().starts_with("size_t struct_size;") {
            types.sized.insert(name.clone());
        }
        types.structs.insert(name);
    }
    types
}

/// The argument of a call, and whether it is a handle that a stale one can replace.
fn argument(
    parameter: &Parameter,
    index: usize,
    types: &Types,
    fixtures: &BTreeSet<String>,
) -> (String, bool) {
    let kind = parameter.kind.as_str();
    let plain = kind.trim_start_matches("const ").trim();
    if let Some(pointee) = plain.strip_suffix(" *") {
        if types.opaque.contains(pointee) {
            let name = pointee.trim_start_matches("windlass_").trim_end_matches("_t");
            return match (fixtures.contains(name), LENT.contains(&name)) {
                (true, false) => (format!("HANDLE({name}, {index})"), true),
                (true, true) => (format!("LENT({name}, {index})"), false),
                // sweep.c makes no such handle.
                (false, _) => ("NULL".to_owned(), false),
            };
        }
        let size = if types.sized.contains(pointee) { format!("sizeof({pointee})") } else { "0".to_owned() };
        return (format!("({kind})place({index}, {size})"), false);
    }
    if kind.ends_with('*') {
        return (format!("({kind})place({index}, 0)"), false);
    }
    let text = match kind {
        _ if types.callbacks.contains(kind) => "NULL".to_owned(),
        "windlass_buffer_ref_t" => {
            "(row == ZEROS ? (windlass_buffer_ref_t){0} : windlass_whole(live.buffer))".to_owned()
        }
        _ if types.structs.contains(kind) => format!("({kind}){{0}}"),
        _ if parameter.name == "timeout_ns" => "0".to_owned(),
        _ => format!("({kind})number()"),
    };
    (text, false)
}

fn calls() -> String {
    let header = header();
    let (functions, types, fixtures) = (functions(&header), types(&header), fixtures());
    assert!(functions.len() > 200, "only {} functions were found in the header", functions.len());
    let (mut calls, mut entries) = (String::new(), String::new());
    for function in &functions {
        let Function { result, name, parameters } = function;
        let arguments =
            parameters.iter().enumerate().map(|(index, of)| argument(of, index, &types, &fixtures));
        let arguments: Vec<(String, bool)> = arguments.collect();
        let handles: u32 = arguments.iter().enumerate().map(|(index, (_, is))| u32::from(*is) << index).sum();
        let list: Vec<_> = arguments.into_iter().map(|(text, _)| text).collect();
        let call = format!("{name}({})", list.join(", "));
        let body = match result.as_str() {
            "windlass_error_t *" if GIVES_AN_ERROR.contains(&name.as_str()) => {
                format!("windlass_error_release({call})")
            }
            "windlass_error_t *" => {
                let content = CONTENT_WITH_ZEROS.contains(&name.as_str());
                let must_fail = if content { "0" } else { "row == ZEROS" };
                format!("judge(\"{name}\", {call}, {must_fail})")
            }
            "const char *" => format!("readable(\"{name}\", {call})"),
            "void" => call,
            _ => format!("(void){call}"),
        };
        writeln!(calls, "static void call_{name}(void) {{\n    {body};\n}}\n").unwrap();
        writeln!(entries, "    {{\"{name}\", call_{name}, {handles:#x}}},").unwrap();
    }
    format!(
        "/* Generated by tests/sweep.rs from the header. */\n{calls}static const entry_t entries[] = {{\n{entries}}};\n"
    )
}

#[test]
fn bad_arguments_of_every_function_are_refused() {
    if let Err(error) = Command::new("gcc").arg("--version").output() {
        eprintln!("skipped: gcc: {error}; install it");
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("sweep");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("sweep_calls.h"), calls()).unwrap();
    let (library, program): (&Path, PathBuf) = (&libraries().0, folder.join("sweep"));
    let package = Path::new(PACKAGE);
    let mut gcc = Command::new("gcc");
    gcc.args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-g", "-O1"]);
    gcc.arg("-I").arg(package.join("include")).arg("-I").arg(&folder).arg("-I").arg(package.join("tests"));
    gcc.arg(package.join("tests/sweep.c")).arg(library);
    gcc.arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display()))
        .arg("-lpthread")
        .arg("-o")
        .arg(&program);
    let built = gcc.output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let output = Command::new(program)
        .arg(package.join("../cts/kernels/bundles/vector_add.ccob"))
        .current_dir(&folder)
        .env_remove("WINDLASS_DEVICE")
        .output()
        .unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{out}{err}");
    assert!(out.contains("were survived"), "{out}");
}
