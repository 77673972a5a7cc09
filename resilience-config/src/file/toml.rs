use std::ops::Range;

use toml::{
    Spanned,
    de::{DeFloat, DeInteger, DeTable, DeValue},
};

use super::node::{Budget, Member, Node, Parsed, Syntax, check_depth, flatten};

/// Reads TOML: one document.
pub(super) fn parse(text: &str) -> Result<Parsed, Syntax> {
    let lines = Lines::of(text);
    let document = DeTable::parse(text).map_err(|error| {
        let line = error.span().map(|span| lines.at(&span));
        invalid(line, &error.message().replace('\n', ", "))
    })?;
    let mut converter = Converter { lines, budget: Budget::new() };
    let root = converter.table(document.get_ref(), 0)?;
    let mut problems = Vec::new();
    let properties = flatten(&root, &mut problems);
    Ok((vec![properties], problems))
}

fn invalid(line: Option<usize>, message: &str) -> Syntax {
    Syntax::new(line, format!("no valid TOML: {message}"))
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

    fn at(&self, span: &Range<usize>) -> usize {
        self.starts.partition_point(|start| *start <= span.start)
    }
}

struct Converter {
    lines: Lines,
    budget: Budget,
}

impl Converter {
    fn table(&mut self, table: &DeTable<'_>, depth: usize) -> Result<Node, Syntax> {
        // The table is sorted by name; what is reported should come in the order of the file.
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_unstable_by_key(|(name, _)| name.span().start);
        let mut members = Vec::with_capacity(entries.len());
        for (name, value) in entries {
            let line = Some(self.lines.at(&name.span()));
            let name = name.get_ref();
            self.budget.take(line, 1, name.len())?;
            check_depth(line, depth + 1)?;
            let value = self.value(value, line, depth + 1)?;
            members.push(Member { key: name.as_ref().into(), line, value });
        }
        Ok(Node::Map(members))
    }

    fn value(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        line: Option<usize>,
        depth: usize,
    ) -> Result<Node, Syntax> {
        check_depth(line, depth)?;
        // Numbers are known by their shape only.
        let beyond = |what| invalid(Some(self.lines.at(&value.span())), what);
        let text = match value.get_ref() {
            DeValue::String(text) => text.clone().into_owned(),
            DeValue::Integer(n) => integer(n).ok_or_else(|| beyond("integer number overflowed"))?,
            DeValue::Float(x) => {
                float(x).ok_or_else(|| beyond("floating-point number overflowed"))?
            }
            DeValue::Boolean(b) => b.to_string(),
            DeValue::Datetime(time) => time.to_string(),
            DeValue::Array(items) => {
                let items = items.iter().map(|item| {
                    self.budget.take(line, 1, 0)?;
                    self.value(item, line, depth + 1)
                });
                return Ok(Node::Sequence(items.collect::<Result<_, _>>()?));
            }
            DeValue::Table(table) => return self.table(table, depth),
        };
        self.budget.take(line, 0, text.len())?;
        Ok(Node::Scalar(text.into()))
    }
}

/// An integer in decimal digits.
fn integer(integer: &DeInteger<'_>) -> Option<String> {
    let n = i64::from_str_radix(integer.as_str(), integer.radix()).ok()?;
    Some(n.to_string())
}

/// A float without an exponent.
fn float(float: &DeFloat<'_>) -> Option<String> {
    let x: f64 = float.as_str().parse().ok()?;
    let is_written_infinite = float.as_str().ends_with("inf");
    (x.is_finite() || x.is_nan() || is_written_infinite).then(|| x.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::property::Leaf;

    /// The lines, keys and texts of a document.
    fn read(text: &str) -> Vec<(usize, String, String)> {
        let (documents, problems) = parse(text).unwrap();
        assert_eq!(problems, []);
        let properties = documents.into_iter().flatten();
        properties
            .map(|property| {
                let keys: Vec<_> = property.path.segments().iter().map(|key| &*key.text).collect();
                let Leaf::Text(text) = &property.leaf else { panic!("no text: {property:?}") };
                (property.line.unwrap(), keys.join("."), text.value.to_string())
            })
            .collect()
    }

    fn triple(line: usize, key: &str, text: &str) -> (usize, String, String) {
        (line, key.to_owned(), text.to_owned())
    }

    #[test]
    fn keys_come_in_the_order_of_the_file() {
        let text = "z = 1\na = { y = 2, b = 3 }\n[m.x]\nd = 4\nc = 5\n[k]\ni = 6\n[m.w]\ni = 7\n";
        assert_eq!(
            read(text),
            [
                triple(1, "z", "1"),
                triple(2, "a.y", "2"),
                triple(2, "a.b", "3"),
                triple(4, "m.x.d", "4"),
                triple(5, "m.x.c", "5"),
                triple(9, "m.w.i", "7"),
                triple(7, "k.i", "6"),
            ]
        );
    }

    #[test]
    fn numbers_are_written_as_decimal_digits() {
        for (written, read_as) in [
            ("1_000", "1000"),
            ("+7", "7"),
            ("0xfF", "255"),
            ("0o17", "15"),
            ("0b101", "5"),
            ("-9223372036854775808", "-9223372036854775808"),
            ("2_5.5", "25.5"),
            ("5e1", "50"),
            ("-inf", "-inf"),
            ("nan", "NaN"),
            ("2024-01-02T03:04:05Z", "2024-01-02T03:04:05Z"),
        ] {
            let text = format!("a = {written}");
            assert_eq!(read(&text), [triple(1, "a", read_as)], "{text}");
        }
    }

    #[test]
    fn a_number_beyond_64_bits_is_refused_at_its_own_line() {
        for (written, message) in [
            ("9223372036854775808", "no valid TOML: integer number overflowed"),
            ("0xffffffffffffffffff", "no valid TOML: integer number overflowed"),
            ("-1e400", "no valid TOML: floating-point number overflowed"),
        ] {
            let refused = parse(&format!("a = [\n  1,\n  {written},\n]")).unwrap_err();
            assert_eq!(refused, Syntax::new(Some(3), message), "{written}");
        }
    }
}
