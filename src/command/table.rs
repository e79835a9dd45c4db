// SPDX-License-Identifier: MIT OR Apache-2.0
//! A text table with aligned columns.

use super::escape;

/// Cells are cut at this many letters, because the widest cell sets the width of its column. JSON has the full values.
const WIDEST: usize = 120;

/// Rows of cells under headings. Empty columns are left out.
pub(crate) struct Table {
    columns: Vec<Column>,
    widest: usize,
}

struct Column {
    heading: String,
    /// Whether the column is right-aligned, for numbers.
    right: bool,
    cells: Vec<String>,
}

impl Table {
    /// A heading that begins with `>` makes a right-aligned column.
    pub(crate) fn new(headings: &[&str]) -> Table {
        let column = |heading: &&str| Column {
            heading: cut(&escape::line(heading.trim_start_matches('>')), WIDEST),
            right: heading.starts_with('>'),
            cells: Vec::new(),
        };
        Table { columns: headings.iter().map(column).collect(), widest: WIDEST }
    }

    /// Sets the number of letters at which cells are cut.
    pub(crate) fn with_widest(self, widest: usize) -> Table {
        Table { widest, ..self }
    }

    /// Adds a row. A cell that is too long ends with an ellipsis.
    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.cells.push(cut(&escape::line(&cell), self.widest));
        }
    }

    /// Appends the lines to `text`, each behind `indent`.
    pub(crate) fn print(&self, indent: &str, text: &mut String) {
        let width = |column: &Column| {
            let width = column.cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
            width.max(column.heading.chars().count())
        };
        let shown: Vec<(&Column, usize)> = self
            .columns
            .iter()
            .filter(|column| column.cells.iter().any(|cell| !cell.is_empty()))
            .map(|column| (column, width(column)))
            .collect();
        let rows = shown.first().map_or(0, |(column, _)| column.cells.len());
        let mut line = |cell: &dyn Fn(&Column) -> String| {
            let mut out = indent.to_owned();
            for (column, width) in &shown {
                let cell = cell(column);
                out.push_str(&if column.right {
                    format!("{cell:>width$}  ")
                } else {
                    format!("{cell:<width$}  ")
                });
            }
            text.push_str(out.trim_end());
            text.push('\n');
        };
        line(&|column| column.heading.clone());
        for row in 0..rows {
            line(&|column| column.cells.get(row).cloned().unwrap_or_default());
        }
    }
}

/// A cell of at most `widest` letters.
fn cut(cell: &str, widest: usize) -> String {
    let mut letters = cell.char_indices();
    match letters.nth(widest.saturating_sub(1)) {
        Some((end, _)) if letters.next().is_some() => format!("{}…", cell.get(..end).unwrap_or_default()),
        _ => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_cells_are_cut() {
        for (letters, shown) in [(WIDEST, WIDEST), (WIDEST + 1, WIDEST - 1), (100_000, WIDEST - 1)] {
            let mut table = Table::new(&["name", ">bytes"]);
            table.row(["ö".repeat(letters), "1".to_owned()]);
            table.row(["short".to_owned(), "2".repeat(70_000)]);
            let mut text = String::new();
            table.print("", &mut text);
            let [_, long, short] = text.lines().collect::<Vec<_>>()[..] else { panic!("{text}") };
            assert_eq!(long.chars().filter(|letter| *letter == 'ö').count(), shown);
            assert_eq!(long.contains('…'), letters > WIDEST);
            assert_eq!(short.chars().count(), 2 * WIDEST + 2, "columns stand below each other");
        }
    }

    #[test]
    fn columns_stand_below_each_other_and_empty_ones_are_left_out() {
        let mut table = Table::new(&["name", ">bytes", "note"]);
        table.row(["a".to_owned(), "12345678".to_owned(), String::new()]);
        table.row(["longer".to_owned(), "9".to_owned(), String::new()]);
        let mut text = String::new();
        table.print("  ", &mut text);
        assert_eq!(text, "  name       bytes\n  a       12345678\n  longer         9\n");
    }
}
