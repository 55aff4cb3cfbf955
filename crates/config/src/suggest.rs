//! The known word that a misspelt one probably stands for.

/// The word of `known` at the smallest edit distance, if it is near enough to be a slip of the keyboard.
pub(crate) fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let limit = 1 + word.chars().count() / 3;
    known
        .iter()
        .map(|candidate| (edit_distance(word, candidate), *candidate))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, candidate)| candidate)
}

/// Levenshtein distance, one row at a time.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::{edit_distance, nearest};

    #[test]
    fn distances() {
        for (a, b, distance) in [("", "", 0), ("", "ab", 2), ("kitten", "sitting", 3), ("lock", "lock", 0)] {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
            assert_eq!(edit_distance(b, a), distance, "{b} {a}");
        }
    }

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let known = ["acquire", "release", "try"];
        assert_eq!(nearest("aquire", &known), Some("acquire"));
        assert_eq!(nearest("relaese", &known), Some("release"));
        assert_eq!(nearest("budget", &known), None);
        assert_eq!(nearest("x", &[]), None);
    }
}
