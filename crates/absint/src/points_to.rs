//! May-points-to: inclusion-based (Andersen), flow-insensitive, field-sensitive by byte offsets, with a call graph through function pointers
//! that grows with it. *May*: see [`raddle_facts::points_to`] for what the result promises.
//!
//! Sets are interned ([`sets`]), flow along edges in topological order ([`graph`]), memory is cells per object ([`memory`]);
//! [`instructions`], [`calls`] and [`library`] make constraints, [`outside`] says what is in memory from the start, [`clients`] what those who
//! call an open program can point to. Only what is
//! reachable from the roots by calls, in blocks that [`Values`] says are reachable, is looked at.
//!
//! Assumed beyond the module docs of the parts: an address is not made out of a number that no address went into, and not by
//! overwriting some of its bytes; the first access outside of an object is an error of its own. Functions without body or model:
//! [`foreign`].

mod calls;
mod clients;
mod copies;
mod foreign;
mod graph;
mod instructions;
mod library;
mod lists;
mod memory;
mod objects;
mod outside;
mod parts;
mod pattern;
mod result;
mod retype;
mod sets;
mod solver;
mod strides;
mod types;
mod uses;

use crate::Roots;
use raddle_facts::{PointsTo, Values};
use raddle_ir::Program;
use raddle_libmodel::Models;

pub use objects::{FOREIGN, LibraryPart, foreign_offsets, part_around};
pub(crate) use types::Types;

pub fn solve(program: &Program, models: &Models, values: &Values, roots: &Roots) -> PointsTo {
    let mut solver = solver::Solver::new(program, models, values, roots);
    solver.run();
    result::facts(solver)
}
