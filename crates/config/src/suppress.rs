//! Races that the user knows of: which of them are not told. `*` in a pattern stands for any text.

/// Every pattern that is there must fit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Suppression {
    pub function: Option<String>,
    pub file: Option<String>,
    pub variable: Option<String>,
}

impl Suppression {
    /// Whether a race with these functions on its two stacks, these files of its two accesses and these names is one of them.
    pub fn fits(&self, functions: &[&str], files: &[&str], variables: &[&str]) -> bool {
        let any = |pattern: &Option<String>, texts: &[&str]| match pattern {
            Some(pattern) => texts.iter().any(|text| fits(pattern, text)),
            None => true,
        };
        any(&self.function, functions) && any(&self.file, files) && any(&self.variable, variables)
    }
}

fn fits(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut pieces: Vec<&str> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    for piece in pieces {
        let Some((_, after)) = rest.split_once(piece) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::fits;

    #[test]
    fn patterns() {
        for (pattern, text) in
            [("a", "a"), ("*", ""), ("a*", "ab"), ("*b", "ab"), ("a*c*e", "abcde"), ("*.c", "x/y.c")]
        {
            assert!(fits(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("a", "ab"), ("", "a"), ("a*", "ba"), ("*b", "abc"), ("a*c*e", "aec"), ("ab*ba", "aba")]
        {
            assert!(!fits(pattern, text), "{pattern} {text}");
        }
    }
}
