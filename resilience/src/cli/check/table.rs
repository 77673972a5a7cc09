use std::fmt::Write as _;

use crate::config::{Origin, Value, one_line, shorten};

/// Every setting on a line: key path, value and origin, in columns. Long lists are cut.
pub(super) fn of(settings: &[(String, Value, Origin)]) -> String {
    if settings.is_empty() {
        return String::new();
    }
    let head = ["KEY", "VALUE", "ORIGIN"].map(str::to_owned);
    let rows: Vec<[String; 3]> = [head]
        .into_iter()
        .chain(settings.iter().map(|(path, value, origin)| {
            [path.clone(), one_line(&shorten(&value.to_string())), one_line(&origin.to_string())]
        }))
        .collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let [first, second] = [0, 1].map(|column| width(column).unwrap_or(0));
    let mut text = String::new();
    for [path, value, origin] in &rows {
        let _ = writeln!(text, "{path:first$}  {value:second$}  {origin}"); // a String takes everything
    }
    text.push('\n');
    text
}
