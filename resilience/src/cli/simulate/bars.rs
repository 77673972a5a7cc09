//! Small bars of block characters.

const BARS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The bar for a part of the most; the least that is anything is seen.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number from 0 to 8")]
pub(super) fn bar(part: f64, most: f64) -> char {
    if part <= 0.0 || most <= 0.0 {
        return BARS[0];
    }
    let eighths = (part / most * 8.0).round().clamp(1.0, 8.0);
    BARS[eighths as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_high_as_its_part_and_never_nothing_for_something() {
        assert_eq!(
            [0.0, 0.001, 5.0, 10.0, 11.0].map(|part| bar(part, 10.0)),
            [' ', '▁', '▄', '█', '█']
        );
        assert_eq!(bar(0.0, 0.0), ' ');
    }
}
