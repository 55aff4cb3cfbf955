//! Any statement: gone, twice, or in another place.

use super::{Edit, any, plain};
use crate::mutants::shape::{Shape, Statement};
use crate::random::Random;

pub(super) fn drop(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let statements = plain(shape);
    Edit::one(shape.bytes(&any(&statements, random)?.tokens), ";")
}

pub(super) fn double(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let statements = plain(shape);
    let statement = any(&statements, random)?;
    Edit::before(shape, statement, shape.text_of(&statement.tokens))
}

/// Neighbours, or two statements of one function.
pub(super) fn swap(shape: &Shape<'_>, random: &mut Random) -> Option<Edit> {
    let statements = plain(shape);
    let first = *any(&statements, random)?;
    let near = random.chance(70);
    let others: Vec<&Statement> = statements
        .iter()
        .copied()
        .filter(|other| other.function == first.function && other.tokens.start != first.tokens.start)
        .filter(|other| !near || other.tokens.start == first.tokens.end)
        .collect();
    exchanged(shape, first, any(&others, random)?)
}

pub(super) fn exchanged(shape: &Shape<'_>, first: &Statement, second: &Statement) -> Option<Edit> {
    let texts = [first, second].map(|statement| shape.text_of(&statement.tokens).to_owned());
    let [one, two] = texts;
    Edit::many(vec![(shape.bytes(&first.tokens), two), (shape.bytes(&second.tokens), one)])
}
