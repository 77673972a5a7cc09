use std::ops::Range;

use toml_edit::{Document, Item, Key, Table, TableLike, Value};

use super::node::{Budget, Member, Node, Parsed, Syntax, check_depth, flatten};

/// Reads TOML: one document.
pub(super) fn parse(text: &str) -> Result<Parsed, Syntax> {
    let lines = Lines::of(text);
    let document = Document::parse(text).map_err(|error| {
        let message = error.message().replace('\n', ", ");
        Syntax::new(lines.at(error.span()), format!("no valid TOML: {message}"))
    })?;
    let mut converter = Converter { lines, budget: Budget::new() };
    let root = converter.table(document.as_table(), 0)?;
    let mut problems = Vec::new();
    let properties = flatten(&root, &mut problems);
    Ok((vec![properties], problems))
}

/// Finds the line of a byte.
struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    fn of(text: &str) -> Self {
        let after_breaks = text.match_indices('\n').map(|(at, _)| at + 1);
        Self { starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    fn at(&self, span: Option<Range<usize>>) -> Option<usize> {
        span.map(|span| self.starts.partition_point(|start| *start <= span.start))
    }
}

struct Converter {
    lines: Lines,
    budget: Budget,
}

impl Converter {
    fn table(&mut self, table: &Table, depth: usize) -> Result<Node, Syntax> {
        self.members(table, depth)
    }

    fn members(&mut self, table: &dyn TableLike, depth: usize) -> Result<Node, Syntax> {
        let mut members = Vec::with_capacity(table.len());
        for (name, item) in table.iter() {
            let line = self.lines.at(table.key(name).and_then(Key::span));
            self.budget.take(line, 1, name.len())?;
            check_depth(line, depth + 1)?;
            let value = self.item(item, line, depth + 1)?;
            members.push(Member { key: name.into(), line, value });
        }
        Ok(Node::Map(members))
    }

    fn item(&mut self, item: &Item, line: Option<usize>, depth: usize) -> Result<Node, Syntax> {
        match item {
            Item::None => Ok(Node::Null),
            Item::Value(value) => self.value(value, line, depth),
            Item::Table(table) => self.table(table, depth),
            Item::ArrayOfTables(tables) => {
                let tables = tables.iter().map(|table| self.table(table, depth + 1));
                Ok(Node::Sequence(tables.collect::<Result<_, _>>()?))
            }
        }
    }

    fn value(&mut self, value: &Value, line: Option<usize>, depth: usize) -> Result<Node, Syntax> {
        check_depth(line, depth)?;
        let text = match value {
            Value::String(text) => text.value().clone(),
            Value::Integer(n) => n.value().to_string(),
            Value::Float(x) => x.value().to_string(),
            Value::Boolean(b) => b.value().to_string(),
            Value::Datetime(time) => time.value().to_string(),
            Value::Array(items) => {
                let items = items.iter().map(|item| {
                    self.budget.take(line, 1, 0)?;
                    self.value(item, line, depth + 1)
                });
                return Ok(Node::Sequence(items.collect::<Result<_, _>>()?));
            }
            Value::InlineTable(table) => return self.members(table, depth),
        };
        self.budget.take(line, 0, text.len())?;
        Ok(Node::Scalar(text.into()))
    }
}
