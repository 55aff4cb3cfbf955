//! Text to tokens.

use super::{ParseError, Parsed};
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Word(String),
    Number(u128),
    /// `%12`
    Reg(u32),
    Text(String),
    Punct(char),
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => write!(f, "`{word}`"),
            Token::Number(number) => write!(f, "`{number}`"),
            Token::Reg(reg) => write!(f, "`%{reg}`"),
            Token::Text(text) => write!(f, "the string {text:?}"),
            Token::Punct(c) => write!(f, "`{c}`"),
        }
    }
}

/// Tokens with their lines. `;` starts a comment that ends with the line.
pub(super) fn lex(text: &str) -> Parsed<Vec<(Token, u32)>> {
    let mut lexer = Lexer { rest: text, line: 1 };
    let mut tokens = Vec::new();
    while let Some(c) = lexer.rest.chars().next() {
        let line = lexer.line;
        match c {
            '\n' => {
                lexer.line += 1;
                lexer.skip(1);
            }
            c if c.is_whitespace() => lexer.skip(c.len_utf8()),
            ';' => lexer.skip(lexer.rest.find('\n').unwrap_or(lexer.rest.len())),
            '"' => tokens.push((Token::Text(lexer.string()?), line)),
            '%' => {
                lexer.skip(1);
                tokens.push((Token::Reg(lexer.number()?), line));
            }
            '0'..='9' => tokens.push((Token::Number(lexer.number()?), line)),
            'a'..='z' | 'A'..='Z' | '_' => {
                let word = lexer.take_while(|c| c.is_ascii_alphanumeric() || c == '_');
                tokens.push((Token::Word(word.to_owned()), line));
            }
            '=' | ',' | '(' | ')' | '{' | '}' | '[' | ']' | ':' | '*' | '+' | '-' | '.' | '?' => {
                lexer.skip(1);
                tokens.push((Token::Punct(c), line));
            }
            c => return lexer.error(format!("the character {c:?} means nothing here")),
        }
    }
    Ok(tokens)
}

struct Lexer<'t> {
    rest: &'t str,
    line: u32,
}

impl<'t> Lexer<'t> {
    fn skip(&mut self, bytes: usize) {
        self.rest = &self.rest[bytes..];
    }

    fn error<T>(&self, message: String) -> Parsed<T> {
        Err(ParseError { line: self.line, message })
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'t str {
        let end = self.rest.find(|c| !keep(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn number<T: std::str::FromStr>(&mut self) -> Parsed<T> {
        let digits = self.take_while(|c| c.is_ascii_digit());
        digits.parse().or_else(|_| self.error(format!("the number {digits:?} is missing or out of range")))
    }

    fn string(&mut self) -> Parsed<String> {
        self.skip(1);
        let mut text = String::new();
        loop {
            text.push_str(self.take_while(|c| !matches!(c, '"' | '\\' | '\n')));
            match self.rest.as_bytes().first() {
                Some(b'"') => {
                    self.skip(1);
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                _ => return self.error("the string does not end on its line".to_owned()),
            }
        }
    }

    fn escape(&mut self) -> Parsed<char> {
        self.skip(1);
        let kind = self.rest.chars().next();
        self.skip(kind.map_or(0, char::len_utf8));
        match kind {
            Some('n') => Ok('\n'),
            Some(c @ ('"' | '\\')) => Ok(c),
            Some('u') if self.rest.starts_with('{') => {
                self.skip(1);
                let digits = self.take_while(|c| c.is_ascii_hexdigit());
                let value = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                match value {
                    Some(c) if self.rest.starts_with('}') => {
                        self.skip(1);
                        Ok(c)
                    }
                    _ => self.error(format!("\\u{{{digits} is no character")),
                }
            }
            _ => self.error("unknown escape in a string".to_owned()),
        }
    }
}
