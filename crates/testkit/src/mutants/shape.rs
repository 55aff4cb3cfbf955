//! What mutation needs to know of a C text, found without parsing C: functions, simple statements, calls, variables and their types.
//!
//! It may misread a text (macros, old-style definitions); the mutant then does not compile, or is another program than its tag says.
//! Neither matters: a mutant has no expected answer.

use super::tokens::{Kind, Token, tokens};
use std::ops::Range;

pub(super) struct Shape<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Token>,
    pub(super) functions: Vec<Function>,
    pub(super) variables: Vec<Variable>,
    /// In the order of the text.
    pub(super) statements: Vec<Statement>,
}

pub(super) struct Function {
    pub(super) name: String,
    /// Tokens from the first word of its type to before the brace.
    pub(super) head: Range<usize>,
    /// Tokens between the braces.
    pub(super) body: Range<usize>,
}

pub(super) struct Variable {
    pub(super) name: String,
    /// Words of its type without storage class and qualifiers: `struct node`, `unsigned long`.
    pub(super) base: String,
    pub(super) stars: usize,
    pub(super) is_array: bool,
    /// Tokens of the whole declaration's type, storage class included.
    pub(super) specifiers: Range<usize>,
    /// Tokens after `=`.
    pub(super) initialiser: Option<Range<usize>>,
    /// Index of the function it is local to.
    pub(super) function: Option<usize>,
    /// The token after its declaration: it is visible from here on.
    pub(super) from: usize,
}

/// Up to and with its semicolon.
pub(super) struct Statement {
    pub(super) tokens: Range<usize>,
    pub(super) function: usize,
    pub(super) is_declaration: bool,
    /// It is the whole branch of an `if`, or the body of a loop: nothing may stand beside it without braces.
    pub(super) is_branch: bool,
}

/// `name(arguments)`.
pub(super) struct Call<'a> {
    pub(super) name: &'a str,
    pub(super) at: usize,
    /// Tokens of each argument.
    pub(super) arguments: Vec<Range<usize>>,
    /// The closing parenthesis.
    pub(super) end: usize,
}

impl<'a> Shape<'a> {
    pub(super) fn of(text: &'a str) -> Shape<'a> {
        let tokens = tokens(text);
        let mut shape =
            Shape { text, tokens, functions: Vec::new(), variables: Vec::new(), statements: Vec::new() };
        shape.read_file_scope();
        for function in 0..shape.functions.len() {
            shape.read_body(function);
        }
        shape
    }

    pub(super) fn word(&self, token: usize) -> &'a str {
        self.tokens.get(token).map_or("", |token| &self.text[token.at.clone()])
    }

    pub(super) fn is_word(&self, token: usize) -> bool {
        self.tokens.get(token).is_some_and(|token| token.kind == Kind::Word)
    }

    /// The bytes of these tokens, what lies between them included.
    pub(super) fn bytes(&self, tokens: &Range<usize>) -> Range<usize> {
        if tokens.is_empty() {
            let at = self.tokens.get(tokens.start).map_or(self.text.len(), |token| token.at.start);
            return at..at;
        }
        self.tokens[tokens.start].at.start..self.tokens[tokens.end - 1].at.end
    }

    pub(super) fn text_of(&self, tokens: &Range<usize>) -> &'a str {
        &self.text[self.bytes(tokens)]
    }

    /// The token that closes the bracket at `open`.
    pub(super) fn closing(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for at in open..self.tokens.len() {
            match self.word(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// All calls inside these tokens, inner ones too.
    pub(super) fn calls(&self, within: Range<usize>) -> Vec<Call<'a>> {
        let mut calls = Vec::new();
        for at in within {
            let name = self.word(at);
            if !self.is_word(at) || KEYWORDS.contains(&name) || self.word(at + 1) != "(" {
                continue;
            }
            let Some(end) = self.closing(at + 1) else { continue };
            let arguments = self.split(at + 2..end, ",");
            calls.push(Call { name, at, arguments, end });
        }
        calls
    }

    /// The call that is the whole statement.
    pub(super) fn call_of(&self, statement: &Statement) -> Option<Call<'a>> {
        let at = statement.tokens.start;
        let call = self.calls(at..at + 1).pop()?;
        (call.end + 2 == statement.tokens.end).then_some(call)
    }

    /// Parts between separators outside of brackets; none for an empty range.
    pub(super) fn split(&self, within: Range<usize>, separator: &str) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let (mut start, mut depth) = (within.start, 0usize);
        for at in within.clone() {
            match self.word(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                word if word == separator && depth == 0 => {
                    parts.push(start..at);
                    start = at + 1;
                }
                _ => {}
            }
        }
        if !within.is_empty() {
            parts.push(start..within.end);
        }
        parts
    }

    pub(super) fn function_at(&self, token: usize) -> Option<usize> {
        self.functions.iter().position(|function| function.body.contains(&token))
    }

    /// Variables that can be named at this token.
    pub(super) fn visible(&self, token: usize) -> impl Iterator<Item = &Variable> {
        let function = self.function_at(token);
        self.variables
            .iter()
            .filter(move |v| v.from <= token && (v.function.is_none() || v.function == function))
    }

    fn read_file_scope(&mut self) {
        let mut at = 0;
        let mut start = 0;
        while at < self.tokens.len() {
            match self.word(at) {
                "(" | "[" => at = self.closing(at).map_or(self.tokens.len(), |end| end + 1),
                "{" => {
                    let Some(end) = self.closing(at) else { return };
                    if self.word(at.wrapping_sub(1)) == ")" && !self.has_mark(start..at, "=") {
                        self.add_function(start..at, at + 1..end);
                        start = end + 1;
                    }
                    at = end + 1;
                }
                ";" => {
                    self.read_declaration(start..at, None);
                    at += 1;
                    start = at;
                }
                _ => at += 1,
            }
        }
    }

    fn has_mark(&self, mut within: Range<usize>, mark: &str) -> bool {
        within.any(|at| self.word(at) == mark)
    }

    fn add_function(&mut self, head: Range<usize>, body: Range<usize>) {
        let name = head
            .clone()
            .find(|at| self.is_word(*at) && self.word(at + 1) == "(" && self.word(*at) != "__attribute__");
        if let Some(name) = name {
            let name = self.word(name).to_owned();
            self.functions.push(Function { name, head, body });
        }
    }

    /// `type a, *b = 1, c[2];` without the semicolon; what does not look like this is passed over.
    fn read_declaration(&mut self, within: Range<usize>, function: Option<usize>) -> bool {
        let first = self.word(within.start);
        if matches!(first, "typedef" | "extern" | "return" | "goto" | "case" | "else" | "_Static_assert") {
            return false;
        }
        let mut at = within.start;
        let mut base = Vec::new();
        while at < within.end {
            let word = self.word(at);
            if !self.is_word(at) {
                break;
            }
            if matches!(word, "struct" | "union" | "enum") {
                base.extend([word, self.word(at + 1)]);
                at += 2;
                if self.word(at) == "{" {
                    at = self.closing(at).map_or(within.end, |end| end + 1);
                }
            } else if matches!(word, "__attribute__" | "_Alignas" | "__declspec") {
                at = self.closing(at + 1).map_or(within.end, |end| end + 1);
            } else if word == "_Atomic" && self.word(at + 1) == "(" {
                base.push(self.word(at + 2));
                at = self.closing(at + 1).map_or(within.end, |end| end + 1);
            } else if STORAGE.contains(&word) {
                at += 1;
            } else if base.is_empty() || (ARITHMETIC.contains(&word) && ARITHMETIC.contains(&base[0])) {
                base.push(word);
                at += 1;
            } else {
                break;
            }
        }
        if base.is_empty() || at >= within.end {
            return false;
        }
        let specifiers = within.start..at;
        let mut found = false;
        for part in self.split(at..within.end, ",") {
            let mut at = part.start;
            let mut stars = 0;
            while self.word(at) == "*" || STORAGE.contains(&self.word(at)) {
                stars += usize::from(self.word(at) == "*");
                at += 1;
            }
            let ends = matches!(self.word(at + 1), "[" | "=") || at + 1 == part.end;
            if at >= part.end || !self.is_word(at) || !ends {
                continue;
            }
            let equals = (at..part.end).find(|at| self.word(*at) == "=");
            self.variables.push(Variable {
                name: self.word(at).to_owned(),
                base: base.join(" "),
                stars,
                is_array: self.word(at + 1) == "[",
                specifiers: specifiers.clone(),
                initialiser: equals.map(|equals| equals + 1..part.end),
                function,
                from: part.end,
            });
            found = true;
        }
        found
    }

    fn read_body(&mut self, function: usize) {
        let body = self.functions[function].body.clone();
        let mut at = body.start;
        let mut start = at;
        let mut is_branch = false;
        while at < body.end {
            let word = self.word(at);
            if matches!(word, "if" | "while" | "for" | "switch") && at == start {
                at = self.closing(at + 1).map_or(body.end, |end| end + 1);
                start = at;
                is_branch = true;
            } else if matches!(word, "else" | "do") && at == start {
                at += 1;
                start = at;
                is_branch = true;
            } else if matches!(word, "(" | "[") || (word == "{" && at != start) {
                at = self.closing(at).map_or(body.end, |end| end + 1);
            } else if word == "{" || word == "}" {
                at += 1;
                start = at;
                is_branch = false;
            } else if word == ":" && at == start + 1 {
                // A label: what follows it stays where it is.
                at += 1;
                start = at;
                is_branch = true;
            } else if word == ";" {
                let is_declaration = self.read_declaration(start..at, Some(function));
                let tokens = start..at + 1;
                self.statements.push(Statement { tokens, function, is_declaration, is_branch });
                at += 1;
                start = at;
                is_branch = false;
            } else {
                at += 1;
            }
        }
    }
}

pub(super) const KEYWORDS: [&str; 12] = [
    "if",
    "while",
    "for",
    "switch",
    "return",
    "sizeof",
    "do",
    "else",
    "__attribute__",
    "_Alignas",
    "_Atomic",
    "_Generic",
];

/// Words before or inside a type that do not change what it is.
pub(super) const STORAGE: [&str; 13] = [
    "static",
    "const",
    "volatile",
    "register",
    "auto",
    "_Thread_local",
    "__thread",
    "inline",
    "restrict",
    "_Atomic",
    "_Noreturn",
    "thread_local",
    "__extension__",
];

const ARITHMETIC: [&str; 10] =
    ["unsigned", "signed", "char", "short", "int", "long", "float", "double", "_Bool", "__int128"];

#[cfg(test)]
mod tests {
    use super::Shape;

    const TEXT: &str = "
struct pair { int a, b; };
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, *p = &m;
static struct pair pairs[2];
unsigned long count = 3;
static void *work(void *arg)
{
    int i = 0, *q = &i;
    pthread_mutex_lock(&m);
    if (i)
        count++;
    else {
        pairs[i].a = f(1, g(2, 3));
    }
    for (int k = 0; k < 2; k++)
        h();
    pthread_mutex_unlock(&m);
    return arg;
}
";

    #[test]
    fn the_parts_are_found() {
        let shape = Shape::of(TEXT);
        assert_eq!(shape.functions.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(), ["work"]);
        let variables: Vec<String> = shape
            .variables
            .iter()
            .map(|v| {
                format!("{} {}{}{}", v.base, "*".repeat(v.stars), v.name, if v.is_array { "[]" } else { "" })
            })
            .collect();
        assert_eq!(
            variables,
            [
                "pthread_mutex_t m",
                "pthread_mutex_t *p",
                "struct pair pairs[]",
                "unsigned long count",
                "int i",
                "int *q"
            ]
        );
        let statements: Vec<&str> = shape.statements.iter().map(|s| shape.text_of(&s.tokens)).collect();
        assert_eq!(
            statements,
            [
                "int i = 0, *q = &i;",
                "pthread_mutex_lock(&m);",
                "count++;",
                "pairs[i].a = f(1, g(2, 3));",
                "h();",
                "pthread_mutex_unlock(&m);",
                "return arg;"
            ]
        );
        let branches: Vec<bool> = shape.statements.iter().map(|s| s.is_branch).collect();
        assert_eq!(branches, [false, false, true, false, true, false, false]);
        let calls = shape.calls(0..shape.tokens.len());
        let f = calls.iter().find(|call| call.name == "f").expect("it is there");
        assert_eq!(f.arguments.iter().map(|a| shape.text_of(a)).collect::<Vec<_>>(), ["1", "g(2, 3)"]);
    }
}
