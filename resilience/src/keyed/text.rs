//! The text of a key, in a buffer that needs no allocation and has a bound.

use std::{
    collections::hash_map::RandomState,
    fmt::{self, Display, Write as _},
    hash::{BuildHasher, DefaultHasher, Hasher},
    io::Write as _,
    sync::{Arc, LazyLock},
};

/// The longest key that is kept as it is, in bytes.
const LONGEST: usize = 256;

/// How much is kept of a longer one. With the hash behind it, it is longer than every key that is kept
/// as it is: the two sorts never meet.
const PREFIX: usize = 232;

/// What comes between the two, and the hash in hexadecimal digits.
const MARK: &str = "…";
const DIGITS: usize = 32;

const CAPACITY: usize = PREFIX + MARK.len() + DIGITS;

const _: () = assert!(CAPACITY - 3 > LONGEST, "a cut inside of a character takes up to 3 bytes");

/// `SipHash` under random keys: keys come from outside, and nobody there can aim at a collision.
static HASHERS: LazyLock<[RandomState; 3]> = LazyLock::new(Default::default);

/// What a key is called.
pub(super) struct KeyText {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl KeyText {
    /// # Errors
    ///
    /// When the key's `Display` fails, which its contract forbids: half of a text would be another key.
    pub(super) fn of(key: &dyn Display) -> Result<Self, fmt::Error> {
        let mut writer = Writer { text: Self { bytes: [0; CAPACITY], len: 0 }, rest: None };
        write!(writer, "{key}")?;
        Ok(writer.finish())
    }

    pub(super) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    pub(super) fn hash(&self) -> u64 {
        HASHERS[0].hash_one(self.as_bytes())
    }

    pub(super) fn to_shared(&self) -> Arc<str> {
        // Whole texts were written, and a cut is between characters, so nothing is ever replaced.
        String::from_utf8_lossy(self.as_bytes()).into()
    }
}

struct Writer {
    text: KeyText,
    rest: Option<Rest>,
}

/// What becomes of a text beyond [`LONGEST`].
struct Rest {
    hashers: [DefaultHasher; 2],
    /// A hasher promises nothing about the same bytes in other portions: they all go in by blocks.
    block: [u8; LONGEST],
    filled: usize,
}

impl Rest {
    fn new(first: &[u8]) -> Self {
        let hashers = [HASHERS[1].build_hasher(), HASHERS[2].build_hasher()];
        let mut rest = Self { hashers, block: [0; LONGEST], filled: 0 };
        rest.push(first);
        rest
    }

    fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(LONGEST - self.filled));
            self.block[self.filled..][..now.len()].copy_from_slice(now);
            self.filled += now.len();
            if self.filled == LONGEST {
                self.flush();
            }
            bytes = later;
        }
    }

    fn flush(&mut self) {
        for hasher in &mut self.hashers {
            hasher.write(&self.block[..self.filled]);
        }
        self.filled = 0;
    }

    fn finish(mut self) -> [u64; 2] {
        self.flush();
        self.hashers.map(|hasher| hasher.finish())
    }
}

impl fmt::Write for Writer {
    fn write_str(&mut self, written: &str) -> fmt::Result {
        let text = &mut self.text;
        let (fits, beyond) = written.as_bytes().split_at(written.len().min(LONGEST - text.len));
        text.bytes[text.len..][..fits.len()].copy_from_slice(fits);
        text.len += fits.len();
        if !beyond.is_empty() {
            self.rest.get_or_insert_with(|| Rest::new(&text.bytes[..LONGEST])).push(beyond);
        }
        Ok(())
    }
}

impl Writer {
    fn finish(self) -> KeyText {
        let Self { mut text, rest } = self;
        let Some(rest) = rest else { return text };
        let is_within_a_character = |at: usize| text.bytes[at] & 0b1100_0000 == 0b1000_0000;
        let cut = (0..=PREFIX).rev().find(|&at| !is_within_a_character(at)).unwrap_or(0);
        let [high, low] = rest.finish();
        write!(&mut text.bytes[cut..], "{MARK}{high:016x}{low:016x}")
            .expect("there is room for it");
        text.len = cut + MARK.len() + DIGITS;
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(key: &dyn Display) -> String {
        KeyText::of(key).expect("it shows itself").to_shared().to_string()
    }

    /// Shows a text in portions of this many characters.
    struct Portions<'a>(&'a str, usize);

    impl Display for Portions<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            let characters: Vec<char> = self.0.chars().collect();
            let portions = characters.chunks(self.1).map(|portion| portion.iter().collect());
            portions.into_iter().try_for_each(|portion: String| f.write_str(&portion))
        }
    }

    #[test]
    fn a_key_up_to_256_bytes_is_its_own_text() {
        for key in [String::new(), "7".to_owned(), "ü".repeat(128)] {
            assert_eq!(text(&key), key);
            assert_eq!(text(&Portions(&key, 3)), key);
        }
    }

    #[test]
    fn a_longer_key_has_a_text_of_its_own_and_of_bounded_length() {
        let start = "ü".repeat(5_000);
        let mut seen = std::collections::HashSet::new();
        for end in ["", "a", "b", "ab"] {
            for at in [LONGEST / 2, 5_000] {
                let key = format!("{}{end}", &start[..2 * at]);
                let short = text(&key);
                assert_eq!(short, text(&Portions(&key, 7)), "whatever portions it comes in");
                if key.len() > LONGEST {
                    assert!(short.len() > LONGEST && short.len() <= CAPACITY, "{}", short.len());
                }
                assert!(seen.insert(short), "{end} {at}");
            }
        }
    }

    #[test]
    fn a_long_key_is_cut_between_characters() {
        for shift in 0..4 {
            let key = format!("{}{}", "x".repeat(shift), "🦀".repeat(100));
            let short = text(&key);
            assert!(key.starts_with(short.split(MARK).next().unwrap()), "{short}");
        }
    }
}
