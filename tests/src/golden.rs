//! Tables in Markdown that tests read.

/// The rows of the only table in a text: the cells of each, without the backticks around them.
///
/// # Panics
///
/// When a row has not `N` cells, or there are no rows.
pub fn rows<const N: usize>(text: &str) -> Vec<[String; N]> {
    let lines = text.lines().filter_map(|line| line.strip_prefix('|')?.strip_suffix('|'));
    let rows: Vec<_> = lines
        .skip(2) // the heads, and the line below them
        .map(|line| {
            let cells: Vec<String> = line.split('|').map(cell).collect();
            cells.try_into().unwrap_or_else(|cells| panic!("not {N} cells: {cells:?}"))
        })
        .collect();
    assert!(!rows.is_empty(), "no rows");
    rows
}

/// What a cell says; backticks that are not around all of it are part of it.
fn cell(text: &str) -> String {
    let text = text.trim();
    let inner = text.strip_prefix('`').and_then(|text| text.strip_suffix('`'));
    inner.filter(|inner| !inner.contains('`')).unwrap_or(text).to_owned()
}
