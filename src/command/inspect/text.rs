// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report as text: a summary, or everything.

use super::{
    group::{self, Group},
    report::{
        ArgumentReport, BindingReport, BundleReport, Choice, DeviceReport, EntryReport, IreeReport,
        KernelReport, NotSimulated, Report, SymbolReport, TargetReport,
    },
};
use crate::command::{escape::line, input::count, table::Table};

/// The number of items of each list that a summary shows.
const BUNDLES: usize = 16;
const GROUPS: usize = 4;
const KERNELS: usize = 12;
const LINES: usize = 10;
const NAMES: usize = 8;
const REASONS: usize = 32;

/// The amount of detail.
#[derive(Clone, Copy)]
pub(super) struct Detail {
    /// Every kernel and symbol of every entry.
    pub(super) all: bool,
    /// Why a device does not get the other entries.
    pub(super) reasons: bool,
}

impl Detail {
    fn limit(self, most: usize) -> usize {
        if self.all { usize::MAX } else { most }
    }
}

impl Report {
    pub(super) fn text(&self, detail: Detail) -> String {
        let mut text = format!(
            "{}: {}, {} bytes, {}\n",
            line(&self.file),
            self.kind,
            self.size,
            count(self.bundles.len(), "bundle", "bundles")
        );
        let shown = detail.limit(BUNDLES);
        for bundle in self.bundles.iter().take(shown) {
            bundle.print(&mut text, detail);
        }
        more(&mut text, "", self.bundles.len(), shown, "bundle", "bundles");
        for executable in &self.iree_executables {
            executable.print(&mut text, detail);
        }
        for reference in &self.kpack_references {
            let paths = names(&reference.search_paths);
            text.push_str(&format!("\ncode of {} lies beside the file: {paths}\n", line(&reference.name)));
        }
        if !self.problems.is_empty() {
            text.push('\n');
        }
        lines(&mut text, "problem: ", &self.problems, detail);
        for target in &self.targets {
            target.print(&mut text, detail);
        }
        for device in &self.devices {
            device.print(&mut text, detail);
        }
        text
    }
}

impl BundleReport {
    fn print(&self, text: &mut String, detail: Detail) {
        let member = self.member.as_ref().map(|name| format!(" ({})", line(name))).unwrap_or_default();
        let place = format!("bundle {}{member} at offset {:#x}", self.index, self.offset);
        text.push_str(&format!("\n{place}: {}, {} bytes\n", self.container, self.stored_size));
        if let (Some(unpacked), Some(ratio)) = (self.unpacked_size, self.ratio) {
            text.push_str(&format!("  unpacks to {unpacked} bytes (ratio {ratio:.2})"));
            let time = self.decode_ms.map(|time| format!(" in {time:.2} ms")).unwrap_or_default();
            text.push_str(&format!("{time}\n"));
        }
        self.print_entries(text);
        for entry in &self.entries {
            let in_front = |what| format!("  entry {}: {what}: ", entry.index);
            lines(text, &in_front("problem"), &entry.problems, detail);
            lines(text, &in_front("warning"), &entry.warnings, detail);
        }
        if detail.all {
            for entry in &self.entries {
                entry.print_all(text);
            }
        } else {
            for entry in self.entries.iter().filter(|entry| entry.same_as_bundle.is_some()).take(GROUPS) {
                entry.print_all(text);
            }
            self.print_groups(text, detail);
        }
        self.print_simulated(text, detail);
    }

    /// Whether the simulated GPU executes the code of the entries.
    fn print_simulated(&self, text: &mut String, detail: Detail) {
        let groups = group::by(&self.entries, |entry| entry.code.not_simulated.clone());
        for group in &groups {
            let Some(found) = group.first().and_then(|entry| entry.code.not_simulated.as_deref()) else {
                continue;
            };
            let of = group.numbers();
            if found.is_empty() {
                text.push_str(&format!("  the simulated GPU executes every instruction of {of}\n"));
                continue;
            }
            text.push_str(&format!("  the simulated GPU does not execute, of {of}:\n"));
            let told: Vec<String> = found.iter().map(NotSimulated::text).collect();
            lines(text, "    ", &told, detail);
        }
    }

    fn print_entries(&self, text: &mut String) {
        let mut table = Table::new(&[
            ">entry",
            "id",
            ">bytes",
            "content",
            ">kernels",
            ">functions",
            ">variables",
            ">undefined",
        ]);
        let number = |number: usize| if number == 0 { String::new() } else { number.to_string() };
        for entry in &self.entries {
            table.row([
                entry.index.to_string(),
                entry.id.clone(),
                entry.size.to_string(),
                entry.content.clone(),
                number(entry.code.kernels.len()),
                number(entry.code.functions.len()),
                number(entry.code.variables.len()),
                number(entry.code.undefined.len()),
            ]);
        }
        table.print("  ", text);
    }

    /// The content of the entries, once for all entries that share it.
    fn print_groups(&self, text: &mut String, detail: Detail) {
        let some = |is_there: bool| is_there.then_some(());
        let kernels = group::by(&self.entries, |entry| {
            some(!entry.code.kernels.is_empty())?;
            // Kernels for hosts have other properties than kernels for GPUs.
            let signature = |kernel: &KernelReport| {
                (kernel.name.clone(), kernel.kind, kernel.signature(), kernel.wave_size.is_some())
            };
            Some(entry.code.kernels.iter().map(signature).collect::<Vec<_>>())
        });
        for group in kernels.iter().take(GROUPS) {
            print_kernels(group, text, detail);
        }
        if kernels.len() > GROUPS {
            let left: usize = kernels[GROUPS..].iter().map(|group| group.entries.len()).sum();
            let left = count(left, "more entry has", "more entries have");
            text.push_str(&format!("  {left} other kernels; --all shows them\n"));
        }
        let of = |symbols: &[SymbolReport]| -> Vec<String> {
            symbols.iter().map(|symbol| symbol.name.clone()).collect()
        };
        self.print_names(text, "device functions", |entry| of(&entry.code.functions));
        self.print_names(text, "variables", |entry| of(&entry.code.variables));
        self.print_names(text, "undefined symbols", |entry| entry.code.undefined.clone());
    }

    fn print_names(&self, text: &mut String, what: &str, of: impl Fn(&EntryReport) -> Vec<String>) {
        let groups = group::by(&self.entries, |entry| Some(of(entry)).filter(|names| !names.is_empty()));
        for group in groups.iter().take(GROUPS) {
            let all = group.first().map(&of).unwrap_or_default();
            text.push_str(&format!("  {what} of {}: {}\n", group.numbers(), names(&all)));
        }
        more(
            text,
            "  ",
            groups.len(),
            GROUPS,
            &format!("other set of {what}"),
            &format!("other sets of {what}"),
        );
    }
}

fn print_kernels(group: &Group<'_>, text: &mut String, detail: Detail) {
    let Some(first) = group.first() else { return };
    text.push_str(&format!(
        "  {} of {}\n",
        count(first.code.kernels.len(), "kernel", "kernels"),
        group.numbers()
    ));
    let shown = detail.limit(KERNELS);
    for (index, kernel) in first.code.kernels.iter().enumerate().take(shown) {
        let span = |number: fn(&KernelReport) -> u32| group.span(index, number);
        kernel.print(text, &span);
    }
    more(text, "    ", first.code.kernels.len(), shown, "kernel", "kernels");
}

impl EntryReport {
    fn print_all(&self, text: &mut String) {
        if self.code.kernels.is_empty() && self.code.functions.is_empty() && self.code.variables.is_empty() {
            return;
        }
        let id = line(&self.id);
        if let Some(first) = self.same_as {
            let of = self.same_as_bundle.map(|bundle| format!(" of bundle {bundle}")).unwrap_or_default();
            let same = format!("  entry {}, {id}: the same bytes as entry {first}{of}\n", self.index);
            return text.push_str(&same);
        }
        text.push_str(&format!("  entry {}, {id}\n", self.index));
        for kernel in &self.code.kernels {
            kernel.print(text, &|number| number(kernel).to_string());
        }
        for (what, symbols) in [("function", &self.code.functions), ("variable", &self.code.variables)] {
            for symbol in symbols {
                let local = if symbol.exported { "" } else { ", local" };
                let SymbolReport { name, address, size, .. } = symbol;
                let name = line(name);
                text.push_str(&format!("    {what} {name} at {address:#x}, {size} bytes{local}\n"));
            }
        }
        for name in &self.code.undefined {
            text.push_str(&format!("    undefined {}\n", line(name)));
        }
    }
}

impl KernelReport {
    fn signature(&self) -> String {
        let arguments = self.arguments.iter().enumerate();
        arguments.map(|(index, argument)| argument.text(index)).collect::<Vec<_>>().join(", ")
    }

    fn print(&self, text: &mut String, span: &dyn Fn(fn(&KernelReport) -> u32) -> String) {
        let kind = match self.kind {
            "init" => " runs when the code is loaded",
            "fini" => " runs when the code is unloaded",
            _ => "",
        };
        let block = match self.workgroup_size {
            Some([x, y, z]) => format!("{x},{y},{z}"),
            None if self.max_workgroup_threads == 0 => "any".to_owned(),
            None => format!("up to {}", span(|kernel| kernel.max_workgroup_threads)),
        };
        let memory = span(|kernel| kernel.local_memory);
        text.push_str(&format!(
            "    {}({}){kind}\n      block {block}",
            line(&self.name),
            line(&self.signature())
        ));
        text.push_str(&match self.wave_size {
            None => format!(", local memory {memory}\n"),
            Some(_) => format!(
                ", LDS {memory}, scratch {}, {} VGPRs, {} SGPRs, wave {}\n",
                span(|kernel| kernel.scratch.unwrap_or(0)),
                span(|kernel| kernel.vgprs.unwrap_or(0)),
                span(|kernel| kernel.sgprs.unwrap_or(0)),
                span(|kernel| kernel.wave_size.unwrap_or(0)).replace('-', " or "),
            ),
        });
    }
}

impl NotSimulated {
    fn text(&self) -> String {
        let Self { instruction, symbol, address, count } = self;
        let times = if *count == 1 { String::new() } else { format!(", {count} of the kind") };
        format!("{instruction} in {symbol} at {address:#x}{times}")
    }
}

impl ArgumentReport {
    fn text(&self, index: usize) -> String {
        let name = self.name.clone().unwrap_or_else(|| format!("#{index}"));
        let access = self.access.map(|access| format!(" ({access})")).unwrap_or_default();
        match self.kind.as_str() {
            "value" => format!("{name}: {}", count(self.size as usize, "byte", "bytes")),
            kind => format!("{name}: {kind}{access}"),
        }
    }
}

impl IreeReport {
    fn print(&self, text: &mut String, detail: Detail) {
        let exports = count(self.exports.len(), "export", "exports");
        let place = match self.bundles {
            1 => format!("bundle {}", self.first_bundle),
            bundles => format!("bundles {} to {}", self.first_bundle, self.first_bundle + bundles.max(1) - 1),
        };
        text.push_str(&format!("\nIREE executable ({}) over {place}: {exports}\n", self.format));
        let shown = detail.limit(KERNELS);
        let mut table = Table::new(&[">export", "name", "block", "bindings", ">constants"]);
        for (index, export) in self.exports.iter().enumerate().take(shown) {
            let block = export.workgroup_size.map(|[x, y, z]| format!("{x},{y},{z}"));
            let bindings: Vec<&str> = export.bindings.iter().map(BindingReport::text).collect();
            table.row([
                index.to_string(),
                export.name.clone(),
                block.unwrap_or_default(),
                bindings.join(", "),
                export.constants.to_string(),
            ]);
        }
        table.print("  ", text);
        more(text, "  ", self.exports.len(), shown, "export", "exports");
    }
}

impl BindingReport {
    fn text(&self) -> &'static str {
        match (self.read_only, self.indirect) {
            (false, false) => "any",
            (true, false) => "read",
            (false, true) => "indirect",
            (true, true) => "read indirect",
        }
    }
}

impl TargetReport {
    fn print(&self, text: &mut String, detail: Detail) {
        text.push_str(&format!("\ntarget {}\n", self.target));
        print_choices(&self.choices, text, Detail { reasons: true, ..detail });
    }
}

impl DeviceReport {
    fn print(&self, text: &mut String, detail: Detail) {
        let simulated = if self.simulated { ", *simulated*" } else { "" };
        text.push_str(&format!("\ndevice {} ({}{simulated})\n", self.uri, self.architecture));
        print_choices(&self.choices, text, detail);
    }
}

fn print_choices(choices: &[Choice], text: &mut String, detail: Detail) {
    let shown = detail.limit(BUNDLES);
    let bundles: Vec<_> = choices.chunk_by(|one, other| one.bundle == other.bundle).collect();
    for choice in bundles.iter().take(shown).copied().flatten() {
        let best = choice.entry.and_then(|entry| Some((entry, choice.verdicts.get(entry)?)));
        let got = match best {
            Some((entry, verdict)) => format!("gets entry {entry}: {}", line(verdict)),
            None => "gets nothing".to_owned(),
        };
        let mode = choice.mode.as_ref().map_or(String::new(), |mode| format!(" with {}", line(mode)));
        text.push_str(&format!("  of bundle {}{mode} it {got}\n", choice.bundle));
        if best.is_some() && !detail.reasons {
            continue;
        }
        let others = choice.verdicts.iter().enumerate().filter(|(entry, _)| Some(*entry) != choice.entry);
        for (entry, verdict) in others.take(detail.limit(REASONS)) {
            text.push_str(&format!("    entry {entry}: {}\n", line(verdict)));
        }
        let others = choice.verdicts.len() - usize::from(best.is_some());
        more(text, "    ", others, detail.limit(REASONS), "entry", "entries");
    }
    more(text, "  ", bundles.len(), shown, "bundle", "bundles");
}

/// A list of the first few names.
fn names(all: &[String]) -> String {
    let shown = all.iter().take(NAMES).map(|name| line(name)).collect::<Vec<_>>().join(", ");
    match all.len().saturating_sub(NAMES) {
        0 => shown,
        left => format!("{shown} and {left} more"),
    }
}

fn lines(text: &mut String, in_front: &str, all: &[String], detail: Detail) {
    let shown = detail.limit(LINES);
    for told in all.iter().take(shown) {
        text.push_str(&format!("{in_front}{}\n", line(told)));
    }
    more(text, in_front, all.len(), shown, "of the kind", "of the kind");
}

/// The number of items that were left out.
fn more(text: &mut String, in_front: &str, number: usize, shown: usize, one: &str, many: &str) {
    if number > shown {
        let left = number - shown;
        let what = if left == 1 { one } else { many };
        text.push_str(&format!("{in_front}... and {left} more {what}; --all shows them\n"));
    }
}
