//! Races that the user knows of: which of them are not reported. `*` in a pattern stands for any text.
//!
//! They stand in `raddle.toml`, which tools read as TOML. A program that is run without `raddle run` reads the tables `[[suppress]]` of it
//! itself, one key and one string on a line; what it does not understand there is an error.

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

/// The tables `[[suppress]]` of a file; the error names the line.
pub fn read(text: &str) -> Result<Vec<Suppression>, String> {
    let mut all: Vec<Suppression> = Vec::new();
    let mut inside = false;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        let wrong = || format!("line {}: {line}", number + 1);
        if line.starts_with('[') {
            inside = line.split('#').next().is_some_and(|line| line.trim() == "[[suppress]]");
            if inside {
                all.push(Suppression::default());
            }
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            let (key, value) = line.split_once('=').ok_or_else(wrong)?;
            let pattern = Some(string(value.trim()).ok_or_else(wrong)?);
            let one = all.last_mut().ok_or_else(wrong)?;
            match key.trim() {
                "function" => one.function = pattern,
                "file" => one.file = pattern,
                "variable" => one.variable = pattern,
                _ => return Err(wrong()),
            }
        }
    }
    match all.iter().any(|one| *one == Suppression::default()) {
        true => Err("a `[[suppress]]` needs `function`, `file` or `variable`".to_owned()),
        false => Ok(all),
    }
}

/// A string in quotes, without escapes, and perhaps a comment.
fn string(value: &str) -> Option<String> {
    let quote = value.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let (text, rest) = value[1..].split_once(quote)?;
    let rest = rest.trim();
    (!text.contains('\\') && (rest.is_empty() || rest.starts_with('#'))).then(|| text.to_owned())
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
    use super::{Suppression, fits, read};

    #[test]
    fn tables_are_read() {
        let text = "ignore = [\"f\"]\n[[suppress]] # known\nfunction = \"log_*\" # any\n\n[[lock]]\nacquire = \"a\"\n[[suppress]]\nfile='x/*'\nvariable = \"v\"\n";
        let some = |text: &str| Some(text.to_owned());
        let first = Suppression { function: some("log_*"), ..Suppression::default() };
        let second = Suppression { function: None, file: some("x/*"), variable: some("v") };
        assert_eq!(read(text), Ok(vec![first, second]));
        for wrong in [
            "[[suppress]]\nname = \"a\"",
            "[[suppress]]\nfile = a",
            "[[suppress]]\n",
            "[[suppress]]\nfile = \"a\\t\"",
        ] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

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
