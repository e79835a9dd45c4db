// SPDX-License-Identifier: MIT OR Apache-2.0
//! The report as text: a table, then the reasons and problems of each file.

use super::report::{FileReport, Problem, Report, TargetReport};
use crate::command::{
    escape,
    input::{count, names},
    table::Table,
};

/// At most this many reasons and problems are shown for each file.
const LINES: usize = 4;
/// Paths in the table are cut at this many letters.
const LONGEST_PATH: usize = 400;

impl Report {
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        if !self.files.is_empty() {
            let mut headings = vec!["file", ">stored", ">unpacked"];
            headings.extend(self.targets.iter().map(String::as_str));
            let mut table = Table::new(&headings).with_widest(LONGEST_PATH);
            for file in &self.files {
                let mut cells = file.cells();
                // A file that could not be read has no verdicts.
                cells.resize(headings.len(), "?".to_owned());
                table.row(cells);
            }
            table.print("", &mut text);
        }
        for file in &self.files {
            let lines = file.lines();
            if !lines.is_empty() {
                text.push_str(&format!("\n{}\n", escape::line(&file.path)));
                text.extend(lines.iter().map(|line| format!("  {}\n", escape::line(line))));
            }
        }
        for problem in &self.problems {
            text.push_str(&problem.text("cannot be judged"));
        }
        for note in &self.notes {
            text.push_str(&note.text("note"));
        }
        for path in &self.without_code {
            text.push_str(&format!("\n{}\n  has no AMD GPU code\n", escape::line(path)));
        }
        let with = self.files.iter().map(|file| file.files).sum::<usize>();
        text.push_str(&format!(
            "\n{} with GPU code; {} looked at{}\n",
            count(with, "file", "files"),
            self.looked_at,
            match self.members {
                0 => String::new(),
                members => {
                    format!(", {} among them", count(members, "member of a wheel", "members of wheels"))
                }
            }
        ));
        text.trim_start().to_owned()
    }
}

impl Problem {
    fn text(&self, what: &str) -> String {
        format!("\n{}\n  {what}: {}\n", escape::line(&self.path), escape::line(&self.problem))
    }
}

impl FileReport {
    fn cells(&self) -> Vec<String> {
        let path = match self.files {
            1 => self.path.clone(),
            files => format!("{} ({files} files)", self.path),
        };
        let mut cells = vec![path, size(self.stored_size), size(self.unpacked_size)];
        cells.extend(self.targets.iter().map(|target| target.cell(self.bundles)));
        cells
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for target in &self.targets {
            // Name the bundles without any code for the target; those that lack a mode only if there are no others.
            let is_partial = target.unserved.iter().all(|unserved| !unserved.modes.is_empty());
            let mut lacking =
                target.unserved.iter().filter(|unserved| is_partial || unserved.modes.is_empty());
            let lack = lacking.clone().count();
            if let Some(unserved) = lacking.next() {
                let place = match (unserved.bundle.as_str(), lack) {
                    // The empty name stands for the whole file.
                    ("", _) => String::new(),
                    (bundle, 1) => format!(" in {bundle}"),
                    (bundle, many) => format!(" in {bundle} and {} more", many - 1),
                };
                let has = match &self.has[..] {
                    [] => "no GPU as it is".to_owned(),
                    has => has.join(", "),
                };
                let modes = match &unserved.modes[..] {
                    [] => String::new(),
                    modes => format!(" for {}", modes.join(", ")),
                };
                lines.push(format!("{}: no code{modes}{place}; it is for {has}", target.target));
                lines.extend(unserved.compatible.iter().map(|entry| format!("  --compat counts {entry}")));
                let shown = unserved.reasons.iter().take(LINES);
                lines.extend(shown.map(|reason| format!("  {reason}")));
                lines.extend(more(unserved.reasons.len(), LINES));
            }
            if !target.missing_kernels.is_empty() {
                lines.push(format!(
                    "{} lacks {} of another target: {}",
                    target.target,
                    count(target.missing_kernels.len(), "kernel", "kernels"),
                    names(target.missing_kernels.iter().map(String::as_str))
                ));
            }
        }
        lines.extend(self.problems.iter().take(LINES).map(|problem| format!("problem: {problem}")));
        lines.extend(more(self.problems.len(), LINES));
        lines
    }
}

impl TargetReport {
    fn cell(&self, bundles: usize) -> String {
        if self.served == 0 {
            return "none".to_owned();
        }
        let mut cell = match self.verdict {
            "none" if self.served == bundles => "none: no mode in all bundles".to_owned(),
            "none" => format!("none in {} of {bundles}", bundles - self.served),
            verdict => verdict.to_owned(),
        };
        if !self.only.is_empty() {
            cell.push_str(&format!(" for {} only", self.only.join(", ")));
        }
        format!("{cell}  {}", size(self.size))
    }
}

/// A number of bytes, rounded, with its unit.
fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} B"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

fn more(number: usize, shown: usize) -> Option<String> {
    (number > shown).then(|| format!("  and {} more", number - shown))
}
