//! Terms of quantifier-free bit-vector logic over the variables of a program: what invariants, predicates and transitions are written
//! in. Knows no solver and no program.
//!
//! The meaning is that of SMT-LIB's theory `FixedSizeBitVectors`, division by zero included; [`Term::eval`] is that meaning, and the
//! text of a term ([`print`]) is SMT-LIB's, so that a solver and this crate can be compared. The constructors simplify (constants,
//! neutral elements, double negations), and keep the meaning.

mod build;
mod eval;
mod fold;
mod parse;
mod print;
mod substitute;
mod term;

pub use eval::{Assignment, Unassigned, Value};
pub use parse::{ParseError, parse};
pub use term::{Node, Op, Sort, Term, Var};
