//! Terms read from text: what [`crate::print`] writes, and the constants that solvers write in models (`#b01`, `#xff`).

use crate::build::fits;
use crate::print::from_name;
use crate::term::{Op, Sort, Term, Var};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("at byte {at}: {text}")]
pub struct ParseError {
    pub at: usize,
    pub text: String,
}

/// Deeper terms are refused.
const DEEPEST: usize = 500;

/// `sort` gives the sort of a variable; what it does not know is an error.
pub fn parse(text: &str, sort: &mut dyn FnMut(&str) -> Option<Sort>) -> Result<Term, ParseError> {
    let mut reader = Reader { text, at: 0, sort };
    let term = reader.term(0)?;
    reader.blank();
    if reader.at < text.len() {
        return reader.fail("more after the term");
    }
    Ok(term)
}

struct Reader<'t, 's> {
    text: &'t str,
    at: usize,
    sort: &'s mut dyn FnMut(&str) -> Option<Sort>,
}

impl<'t> Reader<'t, '_> {
    fn fail<T>(&self, text: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { at: self.at, text: text.into() })
    }

    fn blank(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn takes(&mut self, what: char) -> bool {
        self.blank();
        let found = self.text[self.at..].starts_with(what);
        if found {
            self.at += what.len_utf8();
        }
        found
    }

    fn expect(&mut self, what: char) -> Result<(), ParseError> {
        if self.takes(what) { Ok(()) } else { self.fail(format!("`{what}` expected")) }
    }

    fn word(&mut self) -> Result<&'t str, ParseError> {
        self.blank();
        let rest = &self.text[self.at..];
        let end = rest.find(|c: char| c.is_whitespace() || "()|\";".contains(c)).unwrap_or(rest.len());
        if end == 0 {
            return self.fail("a name or a constant expected");
        }
        self.at += end;
        Ok(&rest[..end])
    }

    fn number<N: std::str::FromStr>(&mut self) -> Result<N, ParseError> {
        let word = self.word()?;
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        match word.parse() {
            Ok(number) if digits => Ok(number),
            _ => self.fail(format!("`{word}` is not a number that fits")),
        }
    }

    fn term(&mut self, depth: usize) -> Result<Term, ParseError> {
        if depth > DEEPEST {
            return self.fail(format!("nested deeper than {DEEPEST}"));
        }
        if self.takes('|') {
            let rest = &self.text[self.at..];
            let Some(end) = rest.find('|') else { return self.fail("`|` without its end") };
            self.at += end + 1;
            return self.variable(&rest[..end]);
        }
        if !self.takes('(') {
            let word = self.word()?;
            return match word {
                "true" => Ok(Term::truth(true)),
                "false" => Ok(Term::truth(false)),
                _ => match word.strip_prefix('#') {
                    Some(digits) => self.literal(digits),
                    None => self.variable(word),
                },
            };
        }
        let op = if self.takes('(') {
            let op = self.indexed()?;
            self.expect(')')?;
            op
        } else {
            let word = self.word()?;
            if word == "_" {
                return self.constant();
            }
            match from_name(word) {
                Some(op) => op,
                None => return self.fail(format!("`{word}` is not an operator")),
            }
        };
        let mut args = Vec::new();
        while !self.takes(')') {
            args.push(self.term(depth + 1)?);
        }
        if args.is_empty() || !fits(op, &args) {
            return self.fail(format!("{op:?} does not take these arguments"));
        }
        Ok(Term::app(op, args))
    }

    fn variable(&mut self, name: &str) -> Result<Term, ParseError> {
        match (self.sort)(name) {
            Some(sort) => Ok(Term::from(Var::new(name, sort))),
            None => self.fail(format!("`{name}` is not a variable here")),
        }
    }

    /// After `((`.
    fn indexed(&mut self) -> Result<Op, ParseError> {
        if self.word()? != "_" {
            return self.fail("`_` expected");
        }
        match self.word()? {
            "extract" => Ok(Op::Extract { high: self.number()?, low: self.number()? }),
            "zero_extend" => Ok(Op::ZeroExtend(self.number()?)),
            "sign_extend" => Ok(Op::SignExtend(self.number()?)),
            word => self.fail(format!("`{word}` is not an operator with indices")),
        }
    }

    /// After `(_`.
    fn constant(&mut self) -> Result<Term, ParseError> {
        let word = self.word()?;
        let digits =
            word.strip_prefix("bv").filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        let value: Option<u128> = digits.and_then(|digits| digits.parse().ok());
        let width: u32 = self.number()?;
        self.expect(')')?;
        match value {
            Some(value) => self.bits(value, width),
            None => self.fail(format!("`{word}` is not a constant")),
        }
    }

    /// After `#`.
    fn literal(&mut self, text: &str) -> Result<Term, ParseError> {
        let (radix, bits) = match text.bytes().next() {
            Some(b'b') => (2, 1),
            Some(b'x') => (16, 4),
            _ => return self.fail("a constant expected after `#`"),
        };
        let digits = &text[1..];
        let value = u128::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with('+'));
        match (value, u32::try_from(digits.len())) {
            (Some(value), Ok(length)) if length <= 128 => self.bits(value, length * bits),
            _ => self.fail(format!("`#{text}` is not a constant of at most 128 bits")),
        }
    }

    fn bits(&self, value: u128, width: u32) -> Result<Term, ParseError> {
        let is_small = width >= 128 || width > 0 && value >> width == 0;
        if width > 128 || !is_small {
            return self.fail(format!("{value} is not a constant of {width} bits"));
        }
        Ok(Term::bits(value, width))
    }
}
