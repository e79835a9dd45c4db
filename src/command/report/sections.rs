// SPDX-License-Identifier: MIT OR Apache-2.0
//! The section of the page for each part.

use std::collections::BTreeMap;

use serde_json::Value;

use super::markdown::{Page, inline, line, list};

/// Writes the section of a part, if the part was begun.
pub(super) fn section(part: &Value, page: &mut Page) {
    let (name, result) = (line(&part["name"]), &part["result"]);
    let message = line(&part["message"]);
    if result.is_null() && !message.contains('\n') {
        return;
    }
    page.heading(&name);
    if message.contains('\n') {
        page.block(&message);
    }
    match &*name {
        "system" => system(result, page),
        "libraries" => libraries(result, page),
        "devices" => devices(result, page),
        "assumptions" => assumptions(result, page),
        "cts" => suite(result, page),
        "bench" => bench(result, page),
        _ => {}
    }
}

/// Whether the device of the report is none of hardware, as far as a part tells.
pub(super) fn is_simulated(report: &Value) -> bool {
    let result = |name: &str| {
        let part = list(&report["parts"]).iter().find(|part| part["name"] == name);
        part.map_or(&Value::Null, |part| &part["result"])
    };
    let uri = line(&report["device"]["uri"]);
    let mut sources = list(result("devices")).iter();
    let of_device =
        sources.find_map(|source| list(&source["devices"]).iter().find(|device| device["uri"] == *uri));
    let told = [
        &result("cts")["opened"]["device"]["simulated"],
        &result("bench")["device"]["simulated"],
        of_device.map_or(&Value::Null, |device| &device["simulated"]),
    ];
    told.iter().any(|told| **told == true) || !uri.starts_with("hip://")
}

/// Every value of an object, each with its name.
fn items(value: &Value, page: &mut Page) {
    for (name, value) in value.as_object().into_iter().flatten() {
        page.item(&name.replace('_', " "), &inline(&line(value)));
    }
}

fn system(result: &Value, page: &mut Page) {
    for section in ["software", "machine", "kernel_driver", "environment"] {
        items(&result[section], page);
    }
    let files = &result["device_files"];
    page.item("groups of this process", &inline(&line(&files["groups_of_this_process"])));
    page.table(
        &["device file", "mode", "group", "opens", "problem"],
        list(&files["files"])
            .iter()
            .map(|file| ["file", "mode", "group", "opens", "problem"].map(|name| line(&file[name])).to_vec()),
    );
    page.table(
        &["node", "name", "target", "properties"],
        list(&result["topology"]).iter().map(|node| {
            let properties = pairs(&node["properties"]);
            [line(&node["node"]), line(&node["name"]), line(&node["target"]), properties].to_vec()
        }),
    );
    page.table(
        &["card", "facts", "firmware"],
        list(&result["gpus"])
            .iter()
            .map(|card| [line(&card["card"]), pairs(&card["facts"]), pairs(&card["firmware"])].to_vec()),
    );
}

/// The fields of an object in one line.
fn pairs(value: &Value) -> String {
    let fields = value.as_object().into_iter().flatten();
    fields.map(|(name, value)| format!("{name} {}", line(value))).collect::<Vec<_>>().join(", ")
}

fn libraries(result: &Value, page: &mut Page) {
    page.table(
        &["library", "HIP", "build id", "found by", "names", "absent functions", "problem"],
        list(&result["libraries"]).iter().map(|library| {
            let simulated = if library["simulated"] == true { " (simulated)" } else { "" };
            let problem = line(&library["problem"]).lines().next().unwrap_or_default().to_owned();
            vec![
                line(&library["path"]),
                line(&library["version"]) + simulated,
                line(&library["build_id"]),
                line(&library["found"]),
                line(&library["names"]),
                list(&library["missing"]).len().to_string(),
                problem,
            ]
        }),
    );
    let absent: Vec<_> = list(&result["not_found"]).iter().map(|absent| line(&absent["name"])).collect();
    page.item("not found", &inline(&absent.join(", ")));
}

fn devices(result: &Value, page: &mut Page) {
    let mut rows = Vec::new();
    for source in list(result) {
        let driver = format!("{}://", line(&source["scheme"]));
        for device in list(&source["devices"]) {
            let kind = if device["simulated"] == true { "simulated" } else { "" };
            let check = &device["check"];
            rows.push(vec![
                line(&device["uri"]),
                line(&device["name"]),
                line(&device["architecture"]),
                line(&device["library"]),
                kind.to_owned(),
                line(&check["verdict"]).replace('_', " "),
                line(&check["message"]),
            ]);
        }
        if let Some(problem) = source["problem"].as_str() {
            let end = source["stopped"].as_str().unwrap_or("none");
            rows.push([&driver, "", "", "", "", end, problem].map(str::to_owned).to_vec());
        }
    }
    let headings = ["device", "name", "architecture", "library", "kind", "kernel", "message"];
    page.table(&headings, rows.into_iter());
}

fn assumptions(result: &Value, page: &mut Page) {
    let programs = result["programs"].as_object().into_iter().flatten();
    let mut not_run = BTreeMap::<String, Vec<&str>>::new();
    for (name, program) in programs {
        let message = line(&program["message"]);
        match program["outcome"].as_str().unwrap_or_default() {
            "held" => {}
            "not_run" => not_run.entry(message).or_default().push(name),
            outcome => {
                page.text(&format!("`{name}`: **{}**", inline(outcome)));
                page.block(&message);
            }
        }
    }
    grouped(&not_run, "not run", page);
}

/// Names under the reason that they share.
fn grouped(reasons: &BTreeMap<String, Vec<&str>>, what: &str, page: &mut Page) {
    page.table(
        &[what, "reason"],
        reasons.iter().map(|(reason, names)| vec![names.join(", "), reason.clone()]),
    );
}

fn suite(result: &Value, page: &mut Page) {
    page.item("level", &inline(&line(&result["opened"]["run"]["level"])));
    page.item("seed", &inline(&line(&result["opened"]["run"]["seed"])));
    page.item("seconds", &inline(&line(&result["ended"]["seconds"])));
    for death in list(&result["deaths"]) {
        page.text(&format!("After `{}`: {}", line(&death["after"]), inline(&line(&death["end"]))));
        page.block(&line(&death["errors"]));
    }
    let mut skipped = BTreeMap::<String, Vec<&str>>::new();
    for (name, case) in result["cases"].as_object().into_iter().flatten() {
        match case["verdict"].as_str().unwrap_or_default() {
            "pass" => {}
            "skip" => skipped.entry(line(&case["message"])).or_default().push(name),
            verdict => {
                let contract = inline(&line(&case["contract"]));
                page.text(&format!("`{name}`: **{}**. {contract}", inline(verdict)));
                page.block(&line(&case["message"]));
            }
        }
    }
    grouped(&skipped, "skipped", page);
}

fn bench(result: &Value, page: &mut Page) {
    let machine = &result["machine"];
    let governor = format!("governor {}, load {}", line(&machine["governor"]), line(&machine["load"]));
    page.item("machine", &inline(&format!("{}, {governor}", line(&machine["profile"]))));
    page.item("marks", &inline(&line(&result["device"]["marks"])));
    page.item("HIP library", &inline(&line(&result["device"]["library"])));
    page.table(
        &["row", "unit", "median", "least", "samples", "floor", "status"],
        list(&result["rows"]).iter().map(|row| {
            let status = match row["status"].as_str() {
                Some("measured") => String::new(),
                _ => format!("{}: {}", line(&row["status"]), line(&row["reason"])),
            };
            vec![
                line(&row["row"]),
                line(&row["unit"]),
                number(&row["median"]),
                number(&row["min"]),
                line(&row["n"]),
                number(&row["floor"]["median"]),
                status,
            ]
        }),
    );
}

/// A number with four digits or more.
fn number(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if number.abs() >= 100.0 => format!("{number:.0}"),
        Some(number) => format!("{number:.3}"),
        None => String::new(),
    }
}
