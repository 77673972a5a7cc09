//! The file of records: text, a line a path.

use std::fmt;

use crate::count::Count;

/// Where the records hold. Another architecture has other instructions.
pub(crate) const TARGET: &str = "x86_64-unknown-linux-gnu";
pub(crate) const HOLD_HERE: bool =
    cfg!(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"));

const TITLE: &str = "# path, instructions, clock reads, allocations; set by --bless, see README.md";

/// What the paths took when that was found right.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Records {
    /// What `rustc --version` said then.
    pub(crate) rustc: String,
    pub(crate) counts: Vec<(String, Count)>,
}

impl Records {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
        let rustc = lines.next().map(|(_, line)| line.trim()).unwrap_or_default();
        if !rustc.starts_with("rustc ") {
            return Err("records.txt names no rustc in its first line; --bless writes it".into());
        }
        let counts = lines.map(|(index, line)| {
            record(line).ok_or_else(|| {
                format!("line {} of records.txt is no path and three numbers: {line}", index + 1)
            })
        });
        Ok(Self { rustc: rustc.to_owned(), counts: counts.collect::<Result<_, _>>()? })
    }

    pub(crate) fn of(&self, path: &str) -> Option<Count> {
        self.counts.iter().find(|(known, _)| known == path).map(|(_, count)| *count)
    }

    pub(crate) fn paths(&self) -> impl Iterator<Item = &str> {
        self.counts.iter().map(|(path, _)| path.as_str())
    }
}

fn record(line: &str) -> Option<(String, Count)> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [path, instructions, clock_reads, allocations] = words[..] else { return None };
    let count = Count {
        instructions: instructions.parse().ok()?,
        clock_reads: clock_reads.parse().ok()?,
        allocations: allocations.parse().ok()?,
    };
    Some((path.to_owned(), count))
}

impl fmt::Display for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{TITLE}\n{}", self.rustc)?;
        for (path, Count { instructions, clock_reads, allocations }) in &self.counts {
            writeln!(f, "{path:26}{instructions:>6}{clock_reads:>3}{allocations:>3}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let count = Count { instructions: 812, clock_reads: 2, allocations: 0 };
        let records =
            Records { rustc: "rustc 1.95.0".into(), counts: vec![("stack-of-five".into(), count)] };
        assert_eq!(Records::parse(&records.to_string()), Ok(records));
    }

    #[test]
    fn a_line_that_is_no_record_is_named() {
        let error = Records::parse("rustc 1.95.0\nretry 12 0\n").unwrap_err();
        assert!(error.contains("line 2") && error.contains("retry 12 0"), "{error}");
    }
}
