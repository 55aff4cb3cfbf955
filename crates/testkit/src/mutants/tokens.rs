//! C text as tokens. Comments, white space and preprocessor lines are skipped: mutation leaves them alone.

use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier or a keyword.
    Word,
    Number,
    /// A string or a character constant.
    Literal,
    Mark,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    /// Bytes of the source.
    pub(super) at: Range<usize>,
}

/// Longest first.
const LONG_MARKS: [&str; 22] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=",
];

pub(super) fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut line_start = true;
    while at < bytes.len() {
        let rest = &text[at..];
        let byte = bytes[at];
        if byte == b'\n' {
            line_start = true;
            at += 1;
        } else if byte.is_ascii_whitespace() || byte == b'\\' {
            at += 1;
        } else if byte == b'#' && line_start {
            at += directive_length(rest);
        } else if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else {
            line_start = false;
            let (kind, length) = token(rest);
            tokens.push(Token { kind, at: at..at + length });
            at += length;
        }
    }
    tokens
}

/// Up to the end of the line that is not continued.
fn directive_length(rest: &str) -> usize {
    let mut length = 0;
    for line in rest.split_inclusive('\n') {
        length += line.len();
        if !line.trim_end_matches('\n').ends_with('\\') {
            break;
        }
    }
    // The line end stays: it starts the next line.
    length - usize::from(rest[..length].ends_with('\n'))
}

fn token(rest: &str) -> (Kind, usize) {
    let first = rest.as_bytes()[0];
    let run = |wanted: fn(char) -> bool| rest.find(|c| !wanted(c)).unwrap_or(rest.len());
    if first.is_ascii_alphabetic() || first == b'_' {
        (Kind::Word, run(|c| c.is_ascii_alphanumeric() || c == '_'))
    } else if first.is_ascii_digit() {
        (Kind::Number, run(|c| c.is_ascii_alphanumeric() || c == '.'))
    } else if first == b'"' || first == b'\'' {
        let mut escaped = false;
        for (index, byte) in rest.bytes().enumerate().skip(1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                _ if byte == first => return (Kind::Literal, index + 1),
                _ => {}
            }
        }
        (Kind::Literal, rest.len())
    } else {
        let long = LONG_MARKS.iter().find(|mark| rest.starts_with(**mark));
        (Kind::Mark, long.map_or_else(|| rest.chars().next().map_or(1, char::len_utf8), |mark| mark.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn comments_and_directives_are_skipped() {
        let text =
            "#define A \\\n  x y\n/* a */ int i = '\\''; // b\nchar *s = \"/* \\\" */\"; a->b <<= 0x1f;\n";
        let words: Vec<&str> = tokens(text).into_iter().map(|token| &text[token.at]).collect();
        assert_eq!(
            words,
            [
                "int",
                "i",
                "=",
                "'\\''",
                ";",
                "char",
                "*",
                "s",
                "=",
                "\"/* \\\" */\"",
                ";",
                "a",
                "->",
                "b",
                "<<=",
                "0x1f",
                ";"
            ]
        );
    }
}
