//! C text as a tree of lines: what the generator writes, mutation bends and the shrinker takes apart.
//!
//! Every name of file scope is written with a `$` before it; rendering puts a prefix there, so that many programs fit into one file.

/// One program: declarations and functions, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    pub items: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// A type, a variable or a prototype.
    Line(String),
    Function {
        head: String,
        body: Vec<Node>,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Node {
    Line(String),
    /// A declaration, a label or a return: mutation leaves it alone, so that the text stays C.
    Fixed(String),
    Block {
        /// `if (x)`, `while (x)`, `for (int i = 0; i < 2; i++)`.
        head: String,
        body: Vec<Node>,
        /// Only after `if`.
        otherwise: Vec<Node>,
    },
}

/// What every file starts with.
pub const HEADER: &str = "\
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
extern _Bool __VERIFIER_nondet_bool(void);
extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);
static const struct timespec soon = { 1, 0 };
";

impl Source {
    /// The program alone: its `main` is `main`.
    pub fn text(&self) -> String {
        let mut out = HEADER.to_owned();
        self.render("", &mut out);
        out
    }

    /// Without the header, names prefixed.
    pub fn render(&self, prefix: &str, out: &mut String) {
        let mut raw = String::new();
        for item in &self.items {
            match item {
                Item::Line(line) => put(&mut raw, 0, line),
                Item::Function { head, body } => {
                    put(&mut raw, 0, &format!("{head} {{"));
                    nodes(&mut raw, 1, body);
                    put(&mut raw, 0, "}");
                }
            }
        }
        out.push_str(&raw.replace('$', prefix));
    }
}

pub(super) fn line(text: impl Into<String>) -> Node {
    Node::Line(text.into())
}

pub(super) fn fixed(text: impl Into<String>) -> Node {
    Node::Fixed(text.into())
}

pub(super) fn block(head: impl Into<String>, body: Vec<Node>) -> Node {
    Node::Block { head: head.into(), body, otherwise: Vec::new() }
}

pub(super) fn branch(condition: &str, then: Vec<Node>, otherwise: Vec<Node>) -> Node {
    Node::Block { head: format!("if ({condition})"), body: then, otherwise }
}

/// Whether a line names this identifier.
pub(super) fn mentions(body: &[Node], name: &str) -> bool {
    body.iter().any(|node| match node {
        Node::Line(text) | Node::Fixed(text) => find_word(text, name, 0).is_some(),
        Node::Block { head, body, otherwise } => {
            find_word(head, name, 0).is_some() || mentions(body, name) || mentions(otherwise, name)
        }
    })
}

/// Where `word` stands in `text` from a position on, not as a part of a longer identifier.
pub(super) fn find_word(text: &str, word: &str, from: usize) -> Option<usize> {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'$';
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(found) = text.get(at..).and_then(|rest| rest.find(word)) {
        let start = at + found;
        let end = start + word.len();
        let starts_whole =
            !word.starts_with(|c: char| is_part(c as u8)) || start == 0 || !is_part(bytes[start - 1]);
        let ends_whole =
            !word.ends_with(|c: char| is_part(c as u8)) || end == bytes.len() || !is_part(bytes[end]);
        if starts_whole && ends_whole {
            return Some(start);
        }
        at = start + 1;
    }
    None
}

fn nodes(out: &mut String, depth: usize, body: &[Node]) {
    for node in body {
        match node {
            Node::Line(text) | Node::Fixed(text) => put(out, depth, text),
            Node::Block { head, body, otherwise } => {
                put(out, depth, &format!("{head} {{"));
                nodes(out, depth + 1, body);
                if !otherwise.is_empty() {
                    put(out, depth, "} else {");
                    nodes(out, depth + 1, otherwise);
                }
                put(out, depth, "}");
            }
        }
    }
}

fn put(out: &mut String, depth: usize, text: &str) {
    out.extend(std::iter::repeat_n("  ", depth));
    out.push_str(text);
    out.push('\n');
}
