// SPDX-License-Identifier: MIT OR Apache-2.0
//! A table in text whose columns stand below each other.

/// Rows of cells under a heading. Columns of which no cell has anything are left out.
pub(crate) struct Table {
    columns: Vec<Column>,
}

struct Column {
    heading: String,
    /// Numbers stand to the right.
    right: bool,
    cells: Vec<String>,
}

impl Table {
    /// Headings; one that begins with `>` is of numbers.
    pub(crate) fn new(headings: &[&str]) -> Table {
        let column = |heading: &&str| Column {
            heading: heading.trim_start_matches('>').to_owned(),
            right: heading.starts_with('>'),
            cells: Vec::new(),
        };
        Table { columns: headings.iter().map(column).collect() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        for (column, cell) in self.columns.iter_mut().zip(cells) {
            column.cells.push(cell);
        }
    }

    /// The lines, with so much in front of each.
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

#[cfg(test)]
mod tests {
    use super::*;

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
