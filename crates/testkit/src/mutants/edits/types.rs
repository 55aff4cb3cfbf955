//! Types, qualifiers, storage classes and memory orders.

use super::{Edit, any};
use crate::mutants::shape::Shape;
use crate::random::Random;

const NARROWER: [(&str, &[&str]); 12] = [
    ("int", &["char", "short", "_Bool", "unsigned char", "long", "unsigned"]),
    ("long", &["int", "short", "unsigned char"]),
    ("unsigned", &["unsigned char", "unsigned short"]),
    ("unsigned int", &["unsigned char", "unsigned short"]),
    ("unsigned long", &["unsigned", "unsigned char"]),
    ("size_t", &["unsigned", "unsigned char"]),
    ("short", &["char"]),
    ("double", &["float"]),
    ("uint64_t", &["unsigned", "unsigned char"]),
    ("uint32_t", &["unsigned char"]),
    ("atomic_int", &["atomic_char", "atomic_long", "atomic_bool"]),
    ("atomic_long", &["atomic_int"]),
];

/// The words of the type inside the specifiers of a declaration.
fn type_words(
    shape: &Shape<'_>,
    variable: &crate::mutants::shape::Variable,
) -> Option<std::ops::Range<usize>> {
    let count = variable.base.split(' ').count();
    let first = variable.base.split(' ').next()?;
    let start = variable.specifiers.clone().find(|at| shape.word(*at) == first)?;
    Some(start..start + count)
}

pub(super) fn narrow(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let mut choices = Vec::new();
    for variable in &shape.variables {
        let rows = NARROWER.iter().filter(|(base, _)| *base == variable.base);
        for to in rows.flat_map(|(_, narrower)| narrower.iter()) {
            if let Some(words) = type_words(shape, variable) {
                choices.push((shape.bytes(&words), *to));
            }
        }
    }
    let (bytes, to) = any(&choices, random)?.clone();
    Edit::one(bytes, to)
}

pub(super) fn function_specifier(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let functions: Vec<_> = shape.functions.iter().filter(|function| function.name != "main").collect();
    let function = any(&functions, random)?;
    let start = function.head.start;
    let is_static = shape.word(start) == "static";
    let old = if is_static { shape.bytes(&(start..start + 1)) } else { shape.bytes(&(start..start)) };
    let new = random.pick(&[
        "",
        "inline",
        "static inline",
        "extern inline",
        "extern inline __attribute__((gnu_inline))",
        "__attribute__((noinline))",
        "static __attribute__((always_inline)) inline",
        "__attribute__((weak))",
        "static __attribute__((constructor))",
        "static __attribute__((destructor))",
        "static __attribute__((pure))",
    ]);
    Edit::one(old, format!("{new} "))
}

pub(super) fn variable_qualifier(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let variable = any(&shape.variables, random)?;
    let start = variable.specifiers.start;
    let old = shape.bytes(&(start..start));
    let is_static = shape.word(start) == "static";
    if is_static && random.chance(30) {
        return Edit::one(
            shape.bytes(&(start..start + 1)),
            random.pick(&["", "_Thread_local static", "register"]),
        );
    }
    let choices: &[&str] = match variable.function {
        Some(_) => &["static", "volatile", "register", "static _Thread_local"],
        None if is_static => &["volatile", "_Thread_local", "_Alignas(64)", "const volatile"],
        None => &["volatile", "static", "_Thread_local", "__attribute__((weak))", "const volatile"],
    };
    Edit::one(old, format!("{} ", random.pick(choices)))
}

const ORDERS: [&str; 5] = [
    "memory_order_relaxed",
    "memory_order_acquire",
    "memory_order_release",
    "memory_order_acq_rel",
    "memory_order_seq_cst",
];

/// Another order, or an explicit one where there was none.
pub(super) fn memory_order(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let mut choices = Vec::new();
    for at in 0..shape.tokens.len() {
        if ORDERS.contains(&shape.word(at)) {
            choices.push(vec![(shape.tokens[at].at.clone(), random.pick(&ORDERS).to_owned())]);
        }
    }
    for call in shape.calls(0..shape.tokens.len()) {
        let implicit =
            ["atomic_load", "atomic_store", "atomic_exchange", "atomic_fetch_add", "atomic_fetch_sub"];
        if implicit.contains(&call.name) {
            let end = shape.tokens[call.end].at.start;
            choices.push(vec![
                (shape.tokens[call.at].at.clone(), format!("{}_explicit", call.name)),
                (end..end, ", memory_order_relaxed".to_owned()),
            ]);
        }
    }
    Edit::many(any(&choices, random)?.clone())
}

/// An atomic object becomes a plain one, or a plain integer atomic.
pub(super) fn atomic_to_plain(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let mut choices = Vec::new();
    for at in 0..shape.tokens.len() {
        let new = match shape.word(at) {
            "atomic_int" => "int",
            "atomic_long" => "long",
            "atomic_bool" => "_Bool",
            "atomic_uint" => "unsigned",
            "_Atomic" if shape.word(at + 1) != "(" => "",
            _ => continue,
        };
        choices.push((shape.tokens[at].at.clone(), new.to_owned()));
    }
    for variable in shape.variables.iter().filter(|variable| super::values::is_integer(variable)) {
        if let Some(words) = type_words(shape, variable) {
            let bytes = shape.bytes(&words);
            choices.push((bytes.start..bytes.start, "_Atomic ".to_owned()));
        }
    }
    let (at, new) = any(&choices, random)?.clone();
    Edit::one(at, new)
}
