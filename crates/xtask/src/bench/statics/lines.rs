//! Lines of C: as written, and those that hold code.

use std::path::PathBuf;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Lines {
    pub(super) all: usize,
    /// Neither blank nor only comment.
    pub(super) code: usize,
}

/// Of the given files, headers not counted.
pub(super) fn count(sources: &[PathBuf]) -> Lines {
    let mut lines = Lines::default();
    for source in sources {
        let bytes = std::fs::read(source).unwrap_or_default();
        lines = lines + of_text(&bytes);
    }
    lines
}

impl std::ops::Add for Lines {
    type Output = Lines;

    fn add(self, other: Lines) -> Lines {
        Lines { all: self.all + other.all, code: self.code + other.code }
    }
}

enum State {
    Code,
    LineComment,
    BlockComment,
    Quoted(u8),
}

fn of_text(text: &[u8]) -> Lines {
    let mut lines = Lines::default();
    let (mut state, mut has_code, mut index) = (State::Code, false, 0);
    while index < text.len() {
        let (byte, next) = (text[index], text.get(index + 1).copied());
        index += 1;
        if byte == b'\n' {
            lines.all += 1;
            lines.code += usize::from(std::mem::take(&mut has_code));
            if matches!(state, State::LineComment) {
                state = State::Code;
            }
            continue;
        }
        match state {
            State::Code if byte == b'/' && next == Some(b'/') => state = State::LineComment,
            State::Code if byte == b'/' && next == Some(b'*') => {
                state = State::BlockComment;
                index += 1;
            }
            State::Code => {
                has_code |= !byte.is_ascii_whitespace();
                if byte == b'"' || byte == b'\'' {
                    state = State::Quoted(byte);
                }
            }
            State::Quoted(_) if byte == b'\\' && next != Some(b'\n') => {
                has_code = true;
                index += 1;
            }
            State::Quoted(quote) => {
                has_code = true;
                if byte == quote {
                    state = State::Code;
                }
            }
            State::BlockComment if byte == b'*' && next == Some(b'/') => {
                state = State::Code;
                index += 1;
            }
            State::BlockComment | State::LineComment => {}
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{Lines, of_text};

    #[test]
    fn comments_and_blanks_are_not_code() {
        let text = b"int a; /* x\n y */\n\n// only\nchar *s = \"/* no */\"; // end\n/* a */ int b;\n'\\'' /* c\n*/\n";
        assert_eq!(of_text(text), Lines { all: 8, code: 4 });
    }
}
