//! The checker of static proofs: are the facts of a [`StaticProof`] closed under their rules, and do they exclude every pair?
//!
//! Simple on purpose: nothing is solved here. Each rule looks at one instruction, one edge or one call and asks whether the facts after
//! it follow from the facts before it, with transfer functions of its own. All facts are checked together: they are one invariant of
//! all prefixes of executions, and each rule may use all others for the steps before. What is not understood is refused, so a
//! wrong engine costs a proof, and only a wrong rule here could accept a wrong one.
//!
//! On trust: the IR and its expansion, the models of `libmodel`, and the assumptions that the proof must list: [`gaps`] finds out which it needs.

pub(crate) mod accesses;
pub(crate) mod calls;
pub(crate) mod code;
pub(crate) mod conditions;
pub(crate) mod flow;
pub(crate) mod fold;
pub(crate) mod foreign;
pub(crate) mod gaps;
pub(crate) mod initial;
pub(crate) mod intervals;
pub(crate) mod library;
pub(crate) mod linear;
pub(crate) mod locks;
pub(crate) mod memory;
pub(crate) mod names;
pub(crate) mod order;
pub(crate) mod pairs;
pub(crate) mod patterns;
pub(crate) mod places;
pub(crate) mod points_to;
pub(crate) mod quiet;
pub(crate) mod renewed;
pub(crate) mod returning;
pub(crate) mod sizes;
mod standing;
pub(crate) mod terms;
mod text;
pub(crate) mod threads;
pub(crate) mod transfer;
pub(crate) mod value;
pub(crate) mod values;
pub(crate) mod writes;

use code::At;
use locks::HeldAt;
use memory::Memory;
use order::OrderAt;
use raddle_base::SiteId;
use raddle_facts::{Released, StaticProof};
use raddle_ir::{FunctionId, Program};
use raddle_libmodel::Models;
use returning::Returning;
use std::collections::BTreeSet;
use std::fmt;

pub use accesses::{Access, Atomic, Kind};
pub use calls::{Call, Passes, Run, Way};
pub use code::At as Spot;
pub(crate) use code::Code;
pub use standing::{Held, Open, Standing, Taken};
pub use text::{ReadError, read, write};

/// Checks a proof against the program that it is about.
pub fn check(program: &Program, models: &Models, proof: &StaticProof) -> Result<Checked, Refusal> {
    let code = Code::new(program, models, proof)?;
    let accesses = accesses::collect(&code);
    check_base(&code, &accesses)?;
    check_pairs(&code, &accesses)?;
    Ok(Checked { assumptions: proof.assumptions.clone(), entries: proof.entries.clone() })
}

/// The first half of [`check`]: whether the facts about values, points-to and threads are closed, and no gap is reached. Facts about
/// order are used here and not checked.
pub fn is_closed(program: &Program, models: &Models, proof: &StaticProof) -> Result<(), Refusal> {
    let code = Code::new(program, models, proof)?;
    check_base(&code, &accesses::collect(&code))
}

fn check_base(code: &Code<'_>, accesses: &[Access<'_>]) -> Result<(), Refusal> {
    gaps::check(code, accesses)?;
    let memory = Memory::new(code, accesses);
    values::check(code, &memory)?;
    memory.check()?;
    points_to::check(code)?;
    threads::check(code, accesses, &memory)
}

/// The pairs of accesses that may be the first race of an execution, by sites of the original program, the smaller first: those that
/// no rule excludes. Refused when the facts are not closed; then nothing is known.
pub fn open_pairs(
    program: &Program,
    models: &Models,
    proof: &StaticProof,
) -> Result<BTreeSet<(SiteId, SiteId)>, Refusal> {
    let code = Code::new(program, models, proof)?;
    let accesses = accesses::collect(&code);
    check_base(&code, &accesses)?;
    let (held, order) = locks_and_order(&code, &accesses)?;
    let origin = |index: usize| code.origin(accesses[index].site);
    let open = pairs::open(&code, &accesses, &held, &order);
    let sites = open.into_iter().map(|(a, b)| (origin(a), origin(b)));
    Ok(sites.map(|(a, b)| (a.min(b), a.max(b))).collect())
}

/// The second half of [`check`]: whether the facts about order and locks are closed and exclude every pair of conflicting accesses, those
/// about values, points-to and threads taken as true.
pub fn excludes_races(program: &Program, models: &Models, proof: &StaticProof) -> Result<(), Refusal> {
    let code = Code::new(program, models, proof)?;
    check_pairs(&code, &accesses::collect(&code))
}

fn check_pairs(code: &Code<'_>, accesses: &[Access<'_>]) -> Result<(), Refusal> {
    let (held, order) = locks_and_order(code, accesses)?;
    pairs::check(code, accesses, &held, &order)
}

/// Checks both; what is made or destroyed while others may use it counts for nothing.
fn locks_and_order(code: &Code<'_>, accesses: &[Access<'_>]) -> Result<(HeldAt, OrderAt), Refusal> {
    locks_and_order_at(code, accesses, BTreeSet::new()).map(|both| (both.held, both.order))
}

/// What holds right before accesses, operations on synchronisation objects, and other points asked for.
struct LocksAndOrder {
    held: HeldAt,
    order: OrderAt,
    /// Places of locks that do not count.
    void: Vec<Released>,
}

fn locks_and_order_at(
    code: &Code<'_>,
    accesses: &[Access<'_>],
    mut points: BTreeSet<At>,
) -> Result<LocksAndOrder, Refusal> {
    let operations = renewed::operations(code, accesses);
    points.extend(accesses.iter().map(|access| access.at).chain(operations.iter().map(|one| one.at)));
    let mut held = locks::check(code, &Returning::of(code), accesses, &points)?;
    let mut order = order::check(code, accesses, &held, &points)?;
    let void = renewed::check(code, accesses, &operations, &order)?;
    if !void.is_empty() {
        held = renewed::without(code, held, &void);
        order = order::check(code, accesses, &held, &points)?;
    }
    Ok(LocksAndOrder { held, order, void })
}

/// What an accepted proof says: no execution of the program, entered by `main` and these functions, has a race, if the assumptions
/// hold. No public constructor: see [`check`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checked {
    pub assumptions: Vec<String>,
    /// In the original program.
    pub entries: Vec<FunctionId>,
}

/// Why a proof was not accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// In the original program.
    pub place: Option<SiteId>,
    /// The rule that does not hold.
    pub rule: &'static str,
    pub text: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.text)
    }
}

impl std::error::Error for Refusal {}
