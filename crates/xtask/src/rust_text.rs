//! Separates a Rust source into code and comments, so that a check on code is not fooled by a comment or a string.
//!
//! A small lexer of comments, string, byte-string, raw-string and character literals; both results keep every line where
//! it was. A lifetime (`'a`) is told from a character (`'a'`) by its closing quote.

use std::iter::Peekable;
use std::str::Chars;

/// The same lines twice: once with comments and literal contents blanked, once with everything but comments blanked.
pub struct RustText {
    pub code: String,
    pub comments: String,
}

pub fn split(source: &str) -> RustText {
    let mut splitter = Splitter {
        rest: source.chars().peekable(),
        out: RustText { code: String::new(), comments: String::new() },
        in_word: false,
    };
    while let Some(c) = splitter.rest.next() {
        splitter.step(c);
    }
    splitter.out
}

struct Splitter<'a> {
    rest: Peekable<Chars<'a>>,
    out: RustText,
    /// The last code character belongs to an identifier, so that `r` or `b` after it opens no literal.
    in_word: bool,
}

impl Splitter<'_> {
    fn step(&mut self, c: char) {
        let follows = |rest: &Peekable<Chars>, n: usize| rest.clone().nth(n);
        match c {
            '/' if self.rest.peek() == Some(&'/') => self.line_comment(),
            '/' if self.rest.peek() == Some(&'*') => self.block_comment(),
            '"' => {
                self.code(c);
                self.string();
            }
            'r' if !self.in_word => match raw_hashes(&self.rest) {
                Some(hashes) => self.raw_string(hashes),
                None => self.code(c),
            },
            '\'' => {
                self.code(c);
                let escaped = self.rest.peek() == Some(&'\\');
                if escaped || follows(&self.rest, 1) == Some('\'') {
                    self.character();
                }
            }
            // br"…" and cr"…": the raw string starts with the next character.
            'b' | 'c' if !self.in_word && raw_string_follows(&self.rest) => {
                self.code(c);
                self.in_word = false;
            }
            _ => self.code(c),
        }
    }

    fn code(&mut self, c: char) {
        self.out.code.push(c);
        self.out.comments.push(blank(c));
        self.in_word = c.is_alphanumeric() || c == '_';
    }

    fn comment(&mut self, c: char) {
        self.out.code.push(blank(c));
        self.out.comments.push(c);
        self.in_word = false;
    }

    fn literal(&mut self, c: char) {
        self.out.code.push(blank(c));
        self.out.comments.push(blank(c));
        self.in_word = false;
    }

    fn line_comment(&mut self) {
        self.comment('/');
        while let Some(c) = self.rest.next_if(|c| *c != '\n') {
            self.comment(c);
        }
    }

    fn block_comment(&mut self) {
        self.comment('/');
        let mut depth = 0;
        let mut last = '/';
        while let Some(c) = self.rest.next() {
            self.comment(c);
            match (last, c) {
                ('/', '*') => depth += 1,
                ('*', '/') => depth -= 1,
                _ => {
                    last = c;
                    continue;
                }
            }
            if depth == 0 {
                return;
            }
            last = ' ';
        }
    }

    fn string(&mut self) {
        while let Some(c) = self.rest.next() {
            match c {
                '"' => return self.code(c),
                '\\' => {
                    self.literal(c);
                    if let Some(escaped) = self.rest.next() {
                        self.literal(escaped);
                    }
                }
                _ => self.literal(c),
            }
        }
    }

    fn raw_string(&mut self, hashes: usize) {
        self.code('r');
        for _ in 0..=hashes {
            let opening = self.rest.next().unwrap_or('"');
            self.code(opening);
        }
        while let Some(c) = self.rest.next() {
            let closes = c == '"' && self.rest.clone().take(hashes).filter(|c| *c == '#').count() == hashes;
            if !closes {
                self.literal(c);
                continue;
            }
            self.code(c);
            for _ in 0..hashes {
                self.rest.next();
                self.code('#');
            }
            return;
        }
    }

    fn character(&mut self) {
        while let Some(c) = self.rest.next() {
            match c {
                '\'' => return self.code(c),
                '\\' => {
                    self.literal(c);
                    if let Some(escaped) = self.rest.next() {
                        self.literal(escaped);
                    }
                }
                _ => self.literal(c),
            }
        }
    }
}

/// How many `#` stand before the opening quote of a raw string whose `r` was just read; `None` for `r#identifier`.
fn raw_hashes(rest: &Peekable<Chars>) -> Option<usize> {
    let mut rest = rest.clone();
    let mut hashes = 0;
    while rest.next_if_eq(&'#').is_some() {
        hashes += 1;
    }
    (rest.next() == Some('"')).then_some(hashes)
}

fn raw_string_follows(rest: &Peekable<Chars>) -> bool {
    let mut rest = rest.clone();
    rest.next() == Some('r') && raw_hashes(&rest).is_some()
}

fn blank(c: char) -> char {
    if c == '\n' { '\n' } else { ' ' }
}

#[cfg(test)]
mod tests {
    use super::split;

    fn code_words(source: &str) -> Vec<String> {
        split(source).code.split_whitespace().map(str::to_string).collect()
    }

    #[test]
    fn comments_leave_the_code() {
        let text = split("a // one\nb /* two /* nested */ still */ c\n");
        assert_eq!(text.code.split_whitespace().collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(
            text.comments.split_whitespace().collect::<Vec<_>>(),
            ["//", "one", "/*", "two", "/*", "nested", "*/", "still", "*/"]
        );
    }

    #[test]
    fn literals_leave_the_code() {
        for literal in [r#""w""#, r##""q\"w""##, r###"r#"w " w"#"###, r#"b"w""#, r#"br"w""#, r#"c"w""#, "'w'"]
        {
            let source = format!("x {literal} y");
            let words = code_words(&source);
            assert_eq!(words.first().map(String::as_str), Some("x"), "{source}");
            assert_eq!(words.last().map(String::as_str), Some("y"), "{source}");
            assert!(!split(&source).code.contains('w'), "{source}");
        }
    }

    #[test]
    fn quotes_that_open_no_string() {
        assert_eq!(
            code_words(r#"fn f<'a>(x: &'a str) { '\'' ; '"' ; z }"#).last().map(String::as_str),
            Some("}")
        );
        assert!(split(r"let q = '\''; word").code.contains("word"));
        assert!(split("let q = '\"'; word").code.contains("word"));
        assert!(split("let r#type = var\"x\"; word").code.contains("word"));
        assert!(split("'outer: loop { break 'outer; } word").code.contains("word"));
    }

    #[test]
    fn lines_stay_where_they_were() {
        let source = "a\n/* b\nc */ d\n\"e\nf\" g\n";
        let text = split(source);
        assert_eq!(text.code.lines().count(), source.lines().count());
        assert_eq!(text.comments.lines().count(), source.lines().count());
        assert_eq!(text.code.lines().nth(2).map(str::trim), Some("d"));
        assert_eq!(text.comments.lines().nth(1).map(str::trim), Some("/* b"));
    }
}
