//! Values: indices, initialisers, numbers, conditions, pointers, and an access that nothing protects.

use super::{Edit, any, plain};
use crate::mutants::shape::{Shape, Variable};
use crate::mutants::tokens::Kind;
use crate::random::Random;
use std::ops::Range;

/// `[i]` of an access.
pub(super) fn index(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let mut places = Vec::new();
    for function in &shape.functions {
        for at in function.body.clone().filter(|at| shape.word(*at) == "[") {
            let is_access = shape.is_word(at.wrapping_sub(1)) || shape.word(at.wrapping_sub(1)) == ")";
            if let Some(end) = shape.closing(at).filter(|end| is_access && *end > at + 1) {
                places.push(at + 1..end);
            }
        }
    }
    let place = any(&places, random)?;
    let old = shape.text_of(place);
    let new = match random.below(9) {
        0 | 1 => "0".to_owned(),
        2 => "1".to_owned(),
        3 => format!("({old}) + 1"),
        4 => format!("({old}) - 1"),
        5 => format!("({old}) / 2"),
        6 => format!("(unsigned long)({old}) << 63"),
        7 => format!("(unsigned char)(({old}) + 255)"),
        _ => format!("(unsigned)({old}) * 0x80000000u"),
    };
    Edit::one(shape.bytes(place), new)
}

const INTEGERS: [&str; 12] = [
    "int",
    "long",
    "short",
    "char",
    "unsigned",
    "unsigned int",
    "unsigned long",
    "unsigned char",
    "size_t",
    "atomic_int",
    "uint32_t",
    "uint64_t",
];

pub(super) fn is_integer(variable: &Variable) -> bool {
    variable.stars == 0 && !variable.is_array && INTEGERS.contains(&variable.base.as_str())
}

/// Of an integer or a pointer.
pub(super) fn initialiser(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let mut choices: Vec<(Range<usize>, &str)> = Vec::new();
    for variable in &shape.variables {
        let Some(tokens) = variable.initialiser.as_ref() else { continue };
        if shape.word(tokens.start) == "{" || variable.is_array {
            continue;
        }
        let bytes = shape.bytes(tokens);
        if variable.stars > 0 {
            choices.push((bytes, "0"));
        } else if is_integer(variable) {
            choices.extend(["0", "1", "2", "-1"].map(|value| (bytes.clone(), value)));
        }
    }
    let (bytes, value) = any(&choices, random)?.clone();
    Edit::one(bytes, value)
}

/// The conditions of `if` and `while`.
fn conditions(shape: &Shape<'_>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for function in &shape.functions {
        for at in function.body.clone().filter(|at| matches!(shape.word(*at), "if" | "while")) {
            if let Some(end) = shape.closing(at + 1) {
                found.push(at + 2..end);
            }
        }
    }
    found
}

pub(super) fn negate(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let conditions = conditions(shape);
    let condition = any(&conditions, random)?;
    let old = shape.text_of(condition);
    let new = match random.below(4) {
        0 => "1".to_owned(),
        1 => "0".to_owned(),
        _ => format!("!({old})"),
    };
    Edit::one(shape.bytes(condition), new)
}

/// A condition reads a variable that was never written; or a statement is only done under such a condition.
pub(super) fn undefined(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let conditions = conditions(shape);
    let (token, (at, new)) = if random.chance(50) && !conditions.is_empty() {
        let condition = any(&conditions, random)?;
        (condition.start, (shape.bytes(condition), "raddle_undefined".to_owned()))
    } else {
        let statements = plain(shape);
        let statement = any(&statements, random)?;
        let at = shape.bytes(&statement.tokens);
        (statement.tokens.start, (at.start..at.start, "if (raddle_undefined) ".to_owned()))
    };
    let body = &shape.functions[shape.function_at(token)?].body;
    let start = shape.tokens[body.start - 1].at.end;
    Edit::many(vec![(start..start, " int raddle_undefined;".to_owned()), (at, new)])
}

/// A number of a function: one more or less, double, 0; or the other comparison.
pub(super) fn number(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let is_place = |at: &usize| {
        shape.tokens[*at].kind == Kind::Number || matches!(shape.word(*at), "<" | "<=" | "==" | "!=" | ">")
    };
    let places: Vec<usize> =
        shape.functions.iter().flat_map(|function| function.body.clone()).filter(is_place).collect();
    let at = *any(&places, random)?;
    let old = shape.word(at);
    let new = match old {
        "<" => "<=".to_owned(),
        "<=" => "<".to_owned(),
        "==" => "!=".to_owned(),
        "!=" => "==".to_owned(),
        ">" => ">=".to_owned(),
        _ => random.pick(&["($ + 1)", "($ - 1)", "($ * 2)", "0", "1"]).replace('$', old),
    };
    Edit::one(shape.tokens[at].at.clone(), new)
}

/// Variables of file scope that are plain memory.
pub(super) fn shared<'a>(shape: &'a Shape<'_>, token: usize) -> Vec<&'a Variable> {
    let opaque =
        ["pthread_", "mtx_t", "cnd_t", "sem_t", "once_flag", "thrd_t", "atomic_", "spinlock", "struct mutex"];
    shape
        .visible(token)
        .filter(|v| v.function.is_none() && !opaque.iter().any(|name| v.base.starts_with(name)))
        .collect()
}

/// A read or a write of a shared variable, of one byte or of all.
pub(super) fn stray_access(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let statements = plain(shape);
    let statement = any(&statements, random)?;
    let variables = shared(shape, statement.tokens.start);
    let name = &any(&variables, random)?.name;
    let text = match random.below(6) {
        0 => format!("(void)*(volatile char *)&{name};"),
        1 => format!("*(volatile char *)&{name} = 0;"),
        2 => format!("((volatile char *)&{name})[sizeof {name} - 1] = 0;"),
        3 => format!("{{ __typeof__({name}) kept; __builtin_memcpy(&kept, &{name}, sizeof kept); }}"),
        4 => format!("((char *)&{name})[sizeof {name} / 2]++;"),
        _ => format!("__builtin_memset(&{name}, 0, sizeof {name});"),
    };
    Edit::before(shape, statement, &text)
}

/// `&x` of a function by way of integers.
pub(super) fn pointer_through_number(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let mut places = Vec::new();
    for function in &shape.functions {
        for at in function.body.clone().filter(|at| shape.word(*at) == "&" && shape.is_word(at + 1)) {
            let before = shape.word(at - 1);
            // An address, not a bitwise and.
            if matches!(before, "(" | "," | "=" | "return") && matches!(shape.word(at + 2), ")" | "," | ";") {
                places.push(at..at + 2);
            }
        }
    }
    let place = any(&places, random)?;
    let old = shape.text_of(place);
    let word = "unsigned long";
    let number = match random.below(5) {
        0 => format!("({word}){old}"),
        1 => format!("-(-({word}){old})"),
        2 => format!("~~({word}){old}"),
        3 => format!("(({word}){old} ^ 5ul) ^ 5ul"),
        _ => format!("({word}){old} - ({word})&raddle_zero + ({word})&raddle_zero"),
    };
    let mut changes = vec![(shape.bytes(place), format!("((__typeof__({old}))({number}))"))];
    if number.contains("raddle_zero") {
        changes.push((0..0, "static char raddle_zero;\n".to_owned()));
    }
    Edit::many(changes)
}
