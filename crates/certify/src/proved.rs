//! The checker of proofs over threads (decision 23): are the invariants of a [`ThreadProof`] kept by every step of every thread, and do they,
//! with the static facts, exclude every pair of accesses that the static rules leave open?
//!
//! The program is translated by code of its own: [`compute`] for registers, [`memory`] for shared memory, [`calls`] for calls, [`walk`]
//! for paths between locations. [`queries`] asks a [`Judge`] whether formulas are valid; nothing is solved here and no engine is believed. What is
//! not understood is refused, and so is what the judge does not know. On trust besides it: what [`crate::statics`] trusts.
//!
//! Stricter than the decision's text where that says less than soundness needs; each place says so.

mod calls;
mod cells;
mod compute;
mod memory;
mod names;
mod places;
mod queries;
mod state;
#[cfg(test)]
mod tests;
mod text;
mod walk;

pub use text::{ReadError, is_proof, read, write};

use crate::statics::{Refusal, Standing};
use cells::Cells;
use places::{Mentioned, Places};
use raddle_base::SiteId;
use raddle_facts::{Start, ThreadProof};
use raddle_ir::Program;
use raddle_libmodel::Models;
use raddle_logic::Term;
use raddle_smt::Checker;
use std::cell::{Cell, RefCell};

/// Says whether formulas hold whatever their variables are.
pub trait Judge {
    fn valid(&mut self, claim: &Term) -> Validity;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Validity {
    Valid,
    Invalid,
    /// And why.
    Unknown(String),
}

impl Judge for Checker {
    fn valid(&mut self, claim: &Term) -> Validity {
        match Checker::valid(self, claim) {
            raddle_smt::Validity::Valid => Validity::Valid,
            raddle_smt::Validity::Invalid(_) => Validity::Invalid,
            raddle_smt::Validity::Unknown(why) => Validity::Unknown(why),
        }
    }
}

/// What is refused as too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Instructions on a path between two locations.
    pub steps: usize,
    /// Instructions on all paths from one location.
    pub states: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { steps: 20_000, states: 400_000 }
    }
}

/// What an accepted proof says: no execution of the program has a race, if the assumptions hold. No public constructor: see [`check`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    pub assumptions: Vec<String>,
    /// Questions that the judge was asked.
    pub queries: usize,
}

/// Checks a proof against the program that it is about.
pub fn check(
    program: &Program,
    models: &Models,
    proof: &ThreadProof,
    judge: &mut dyn Judge,
    limits: &Limits,
) -> Result<Checked, Refusal> {
    let standing = Standing::of(program, models, &proof.statics)?;
    covered(&standing)?;
    let places = Places::of(&standing, &proof.locations)?;
    let cells = Cells::of(&standing);
    if cells.weak && !proof.statics.assumptions.iter().any(|listed| listed == "A-SC") {
        return refuse("assumptions", "A-SC is needed and not listed");
    }
    let model = Model {
        standing: &standing,
        mentioned: &places.mentioned,
        cells: RefCell::new(cells),
        fresh: Cell::new(0),
        limits: *limits,
    };
    let queries = queries::check(&model, &places, judge)?;
    Ok(Checked { assumptions: proof.statics.assumptions.clone(), queries })
}

/// The program as transitions over the variables of formulas.
struct Model<'s, 'a> {
    standing: &'s Standing<'a>,
    mentioned: &'s Mentioned,
    cells: RefCell<Cells>,
    /// The next arbitrary value.
    fresh: Cell<u64>,
    limits: Limits,
}

/// Whether the program is one that the model speaks of.
fn covered(standing: &Standing<'_>) -> Result<(), Refusal> {
    let code = standing.code();
    if !code.roots.entries.is_empty() || code.roots.main.is_none() {
        return refuse(COVERED, "an open program");
    }
    if !code.roots.constructors.is_empty() || !code.roots.destructors.is_empty() {
        return refuse(COVERED, "constructors or destructors");
    }
    for thread in code.facts.threads.threads.values() {
        match thread.start {
            Start::Main | Start::Created(_) => {}
            Start::Client | Start::Once(_) | Start::Handler(_) => {
                return refuse(COVERED, "a function that the library runs later, or once");
            }
        }
    }
    let mut functions = code.program.functions.ids();
    match functions.find(|function| code.is_run(*function) && code.calls.recursive[*function]) {
        Some(_) => refuse(COVERED, "recursion"),
        None => Ok(()),
    }
}

const COVERED: &str = "covered";

fn refuse<T>(rule: &'static str, text: impl Into<String>) -> Result<T, Refusal> {
    Err(Refusal { place: None::<SiteId>, rule, text: text.into() })
}
