//! Texts changed at random, the same ones in every run.

/// Pieces that mean something to a parser.
pub const PIECES: [&str; 40] = [
    "\n",
    " ",
    "\t",
    ":",
    ": ",
    "- ",
    "? ",
    "[",
    "]",
    "{",
    "}",
    "${",
    "&x ",
    "*x",
    "<<: ",
    "!!",
    "---\n",
    "#---\n",
    "[[",
    "'",
    "\"",
    "\"\"\"",
    "\\",
    "\\u00",
    "=",
    ".",
    "[0]",
    ",",
    "|",
    "!",
    "(",
    "0",
    "-1",
    "1e999",
    "99999999999h",
    "ä",
    "\u{0}",
    "\u{feff}",
    "\u{2028}",
    "null",
];

/// How often a piece is repeated at most.
const REPEATED: usize = 300;

/// A generator of its own, so that every run tries the same texts.
#[derive(Debug)]
pub struct Numbers(u64);

impl Numbers {
    /// The numbers that follow from `seed`.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next number, from 0 to one less than `bound`.
    ///
    /// # Panics
    ///
    /// When `bound` is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from((self.0 >> 33) % bound as u64).expect("it is below a usize")
    }

    /// One of several.
    ///
    /// # Panics
    ///
    /// When there are none.
    pub fn one_of<'a, T>(&mut self, several: &'a [T]) -> &'a T {
        &several[self.below(several.len())]
    }
}

/// A text that was changed in one place or two: some characters, or a whole line, which more often
/// leaves what can be parsed.
pub fn mutate(text: &str, numbers: &mut Numbers) -> String {
    let mut text = text.to_owned();
    for _ in 0..=numbers.below(2) {
        text = if numbers.below(2) == 0 {
            change_lines(&text, numbers)
        } else {
            change_characters(&text, numbers)
        };
    }
    text
}

/// Takes a line out, or copies it to another place.
fn change_lines(text: &str, numbers: &mut Numbers) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    if lines.is_empty() {
        return String::new();
    }
    let at = numbers.below(lines.len());
    if numbers.below(2) == 0 {
        lines.remove(at);
    } else {
        lines.insert(numbers.below(lines.len() + 1), lines[at]);
    }
    lines.concat()
}

/// Takes characters out, copies some to another place, or puts in a piece, once or many times.
fn change_characters(text: &str, numbers: &mut Numbers) -> String {
    let mut chars: Vec<char> = text.chars().collect();
    let at = numbers.below(chars.len() + 1);
    match numbers.below(8) {
        0 | 1 => {
            let end = (at + numbers.below(12)).min(chars.len());
            chars.drain(at..end);
        }
        2 | 3 => {
            let from = numbers.below(chars.len() + 1);
            let end = (from + numbers.below(40)).min(chars.len());
            let copy: Vec<char> = chars[from..end].to_vec();
            chars.splice(at..at, copy);
        }
        4 => {
            let many = numbers.one_of(&PIECES).repeat(numbers.below(REPEATED));
            chars.splice(at..at, many.chars());
        }
        _ => {
            chars.splice(at..at, numbers.one_of(&PIECES).chars());
        }
    }
    chars.into_iter().collect()
}
