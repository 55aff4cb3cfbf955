//! Creation and end of threads: joins, arguments, thread functions.

use super::{Edit, any, plain};
use crate::mutants::shape::{Call, Shape};
use crate::random::Random;
use std::ops::Range;

fn named<'s>(shape: &Shape<'s>, names: &[&str]) -> Vec<Call<'s>> {
    shape.calls(0..shape.tokens.len()).into_iter().filter(|call| names.contains(&call.name)).collect()
}

/// Removed, done earlier or later, of another thread, or a detach instead.
pub(super) fn join(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let joins: Vec<_> = plain(shape)
        .into_iter()
        .filter(|statement| {
            shape.call_of(statement).is_some_and(|call| matches!(call.name, "pthread_join" | "thrd_join"))
        })
        .collect();
    let join = *any(&joins, random)?;
    let bytes = shape.bytes(&join.tokens);
    let call = shape.call_of(join)?;
    let thread = shape.text_of(call.arguments.first()?);
    match random.below(5) {
        0 => Edit::one(bytes, ";"),
        1 => {
            let detach = if call.name == "thrd_join" { "thrd_detach" } else { "pthread_detach" };
            Edit::one(bytes, format!("{detach}({thread});"))
        }
        2 => {
            let other = joins.iter().filter_map(|other| shape.call_of(other)?.arguments.first().cloned());
            let others: Vec<_> = other.filter(|other| shape.text_of(other) != thread).collect();
            let other = shape.text_of(any(&others, random)?);
            Edit::one(shape.bytes(call.arguments.first()?), other)
        }
        3 => Edit::one(bytes, format!("pthread_timedjoin_np({thread}, NULL, &(struct timespec){{0, 0}});")),
        _ => {
            let all = plain(shape);
            let same: Vec<_> = all
                .iter()
                .filter(|s| s.function == join.function && s.tokens.start != join.tokens.start)
                .collect();
            super::statements::exchanged(shape, join, any(&same, random)?)
        }
    }
}

/// The call, and which argument.
fn created<'s>(shape: &Shape<'s>) -> Vec<(Call<'s>, usize)> {
    let of = |name, last| named(shape, &[name]).into_iter().map(move |call| (call, last));
    of("pthread_create", 3)
        .chain(of("thrd_create", 2))
        .filter(|(call, last)| call.arguments.len() == last + 1)
        .collect()
}

pub(super) fn create_argument(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let created = created(shape);
    let (call, last) = any(&created, random)?;
    let mut choices: Vec<String> = vec!["0".to_owned(), "(void *)1".to_owned(), "(void *)2".to_owned()];
    for variable in shape.visible(call.at).filter(|v| v.stars == 0) {
        choices.push(format!("&{}", variable.name));
    }
    let others = created.iter().map(|(call, last)| shape.text_of(&call.arguments[*last]).to_owned());
    choices.extend(others);
    let old: &Range<usize> = &call.arguments[*last];
    choices.retain(|choice| choice != shape.text_of(old));
    Edit::one(shape.bytes(old), any(&choices, random)?.clone())
}

/// A thread runs another function, of this program or of the other creations.
pub(super) fn thread_function(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let created = created(shape);
    let (call, last) = any(&created, random)?;
    let old = &call.arguments[last - 1];
    let mut choices: Vec<String> =
        created.iter().map(|(call, last)| shape.text_of(&call.arguments[last - 1]).to_owned()).collect();
    let declared = shape.functions.iter().filter(|f| f.name != "main" && f.body.start < call.at);
    choices.extend(declared.map(|function| format!("(void *){}", function.name)));
    choices.retain(|choice| choice.trim_start_matches("(void *)") != shape.text_of(old));
    Edit::one(shape.bytes(old), any(&choices, random)?.clone())
}
