//! Reads the text form of [`crate::print()`].
//!
//! Only the form is checked, line by line; ids that lead nowhere and wrong types are for [`crate::verify()`]. Any text gives a
//! program or an error with its line, never a panic. Ids of one kind count up from 0 in the order of the text.

mod insts;
mod items;
mod lexer;

use crate::{Program, SiteInfo, Span};
use lexer::Token;
use std::fmt;

/// Reads a program. The result may be ill-formed in meaning: see [`crate::verify()`].
pub fn parse(text: &str) -> Result<Program, ParseError> {
    let tokens = lexer::lex(text)?;
    let mut parser = Parser { tokens, next: 0, program: Program::new(crate::DataModel::Lp64) };
    parser.program()?;
    Ok(parser.program)
}

/// What was wrong, and in which line (from 1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    pub line: u32,
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

type Parsed<T> = Result<T, ParseError>;

struct Parser {
    tokens: Vec<(Token, u32)>,
    next: usize,
    program: Program,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.next).map(|(token, _)| token)
    }

    fn error<T>(&self, expected: &str) -> Parsed<T> {
        let line = self.tokens.get(self.next).or(self.tokens.last()).map_or(1, |(_, line)| *line);
        let found = self.peek().map_or("the end of the text".to_owned(), |token| format!("{token}"));
        Err(ParseError { line, message: format!("expected {expected}, found {found}") })
    }

    fn is_punct(&self, c: char) -> bool {
        self.peek() == Some(&Token::Punct(c))
    }

    fn accept(&mut self, c: char) -> bool {
        let found = self.is_punct(c);
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, c: char) -> Parsed<()> {
        if self.accept(c) { Ok(()) } else { self.error(&format!("`{c}`")) }
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(w)) if w == word);
        self.next += usize::from(found);
        found
    }

    fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.accept_word(word) { Ok(()) } else { self.error(&format!("`{word}`")) }
    }

    fn word(&mut self, expected: &str) -> Parsed<String> {
        match self.peek() {
            Some(Token::Word(word)) => {
                let word = word.clone();
                self.next += 1;
                Ok(word)
            }
            _ => self.error(expected),
        }
    }

    /// One word of an enum's table.
    fn choice<T: crate::words::Word>(&mut self, expected: &str) -> Parsed<T> {
        match self.peek() {
            Some(Token::Word(word)) => match T::of_word(word) {
                Some(value) => {
                    self.next += 1;
                    Ok(value)
                }
                None => self.error(expected),
            },
            _ => self.error(expected),
        }
    }

    fn number<T: TryFrom<u128>>(&mut self, expected: &str) -> Parsed<T> {
        match self.peek() {
            Some(Token::Number(value)) => match T::try_from(*value) {
                Ok(value) => {
                    self.next += 1;
                    Ok(value)
                }
                Err(_) => self.error(&format!("{expected} within range")),
            },
            _ => self.error(expected),
        }
    }

    /// A number with an optional sign.
    fn signed(&mut self) -> Parsed<i64> {
        let negative = !self.accept('+') && self.accept('-');
        let before = self.next;
        let magnitude: i128 = self.number("a number")?;
        let value = if negative { -magnitude } else { magnitude };
        i64::try_from(value).or_else(|_| {
            self.next = before;
            self.error("a 64-bit number")
        })
    }

    /// A signed number if one follows, else 0.
    fn offset(&mut self) -> Parsed<i64> {
        if self.is_punct('+') || self.is_punct('-') { self.signed() } else { Ok(0) }
    }

    fn text(&mut self) -> Parsed<String> {
        match self.peek() {
            Some(Token::Text(text)) => {
                let text = text.clone();
                self.next += 1;
                Ok(text)
            }
            _ => self.error("a string"),
        }
    }

    fn symbol(&mut self) -> Parsed<crate::Symbol> {
        let text = self.text()?;
        Ok(self.program.strings.intern(&text))
    }

    fn optional_symbol(&mut self, key: &str) -> Parsed<Option<crate::Symbol>> {
        if self.accept_word(key) { self.symbol().map(Some) } else { Ok(None) }
    }

    /// An id such as `g12`, as the number after its prefix.
    fn id(&mut self, prefix: &str) -> Parsed<u32> {
        match self.id_if_next(prefix) {
            Some(id) => Ok(id),
            None => self.error(&format!("an id like `{prefix}0`")),
        }
    }

    fn id_if_next(&mut self, prefix: &str) -> Option<u32> {
        let Some(Token::Word(word)) = self.peek() else { return None };
        let digits = word.strip_prefix(prefix)?;
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let id = digits.parse().ok()?;
        self.next += 1;
        Some(id)
    }

    /// The id of a definition, which must be the next one of its kind.
    fn defined_id(&mut self, prefix: &str, next: usize) -> Parsed<()> {
        let before = self.next;
        if self.id(prefix)? as usize == next {
            return Ok(());
        }
        self.next = before;
        self.error(&format!("`{prefix}{next}`"))
    }

    fn reg(&mut self) -> Parsed<crate::Reg> {
        match self.peek() {
            Some(Token::Reg(reg)) => {
                let reg = crate::Reg(*reg);
                self.next += 1;
                Ok(reg)
            }
            _ => self.error("a register"),
        }
    }

    /// `(a, b, c)`
    fn list<T>(&mut self, mut each: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut items = Vec::new();
        self.expect('(')?;
        if self.accept(')') {
            return Ok(items);
        }
        loop {
            items.push(each(self)?);
            if self.accept(')') {
                return Ok(items);
            }
            self.expect(',')?;
        }
    }

    fn span(&mut self) -> Parsed<Option<Span>> {
        if !self.accept_word("at") {
            return Ok(None);
        }
        let file = crate::FileId(self.id("file")?);
        self.expect(':')?;
        let line = self.number("a line")?;
        self.expect(':')?;
        let column = self.number("a column")?;
        Ok(Some(Span { file, line, column }))
    }

    fn end_of_site(&mut self, function: crate::FunctionId) -> Parsed<()> {
        let span = self.span()?;
        self.program.sites.push(SiteInfo { function, span });
        Ok(())
    }
}
