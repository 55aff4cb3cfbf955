//! Which locks must be held at every point, in which mode and since when: the solver of [`raddle_facts::locks`].
//!
//! 2007 paper, section 4, interprocedural by summaries: bottom-up over the call graph what a function acquires and releases relative
//! to its entry, then top-down what all its callers hold. It works on the expanded program, on reachable blocks only, so a call with
//! two contexts is two calls here. Everything held is a *must* fact, everything released a *may* fact; whatever is not understood
//! (an unresolved call) releases everything.
//!
//! What counts as held:
//! * A blocking lock, whether or not its result is tested, except that a mutex that can be error-checking or robust (an
//!   initialisation with such an attribute may be its own) is held only where the result was seen to be success: the lock may have
//!   failed because the caller's caller holds it, and the next unlock is then not its partner. Errors that need a lock used after
//!   its end, or more readers than can be counted, are not considered.
//! * A try-lock or timed lock under the guard that its result was success ([`condition`]).
//! * The mutex of a condition wait after the wait exactly if before it.
//! * A semaphore only if it is used as a lock throughout ([`semaphores`]).
//! * An atomic word that the program uses as a lock throughout ([`words`]).
//! * None that a function without body or model was given, or that was handed out, after a call of one; all others (A-EXTLOCK).
//! * `__VERIFIER_atomic` sections and functions as one recursive lock, [`raddle_facts::ATOMIC_SECTION`].
//!
//! Acquisitions are counted: an entry of depth `n` stands for `n` acquisitions of its own that no unlock has undone, and two terms that
//! happen to name one recursive lock stand for different ones. So an unlock whose term is held takes one level from it and nothing
//! from others. An unlock of anything else takes one level from all that may be meant, and is added to `released`. POSIX
//! read-write locks are not counted: a read lock inside a write lock fails at once, and its unlock releases the write lock.
//!
//! Conditional locking: where paths join and only some hold a lock, it is kept under a guard if the branches that lead to the other paths
//! exclude it ([`join`]); the next branch on the same condition decides it.

mod apply;
mod condition;
mod effects;
mod join;
mod kinds;
mod overwritten;
mod places;
mod queries;
mod regions;
mod result;
mod returning;
mod semaphores;
mod shape;
mod sites;
mod solver;
mod translate;
mod words;

use kinds::Kinds;
pub use queries::Acquisition;
use raddle_absint::calls::{Calls, Way};
use raddle_absint::components::components;
use raddle_absint::foreign::Foreign;
use raddle_absint::terms::Definitions;
use raddle_base::{Id, IdVec, SiteId};
use raddle_facts::{
    Guard, HeldLock, LockFacts, LockWord, ObjectId, ObjectKind, PointsTo, Term, ThreadFacts, Times, Values,
};
use raddle_ir::{BlockId, FunctionId, Operand, Program};
use raddle_libmodel::{Effect, Models, SemOp, VerifierOp};
pub(crate) use regions::Branching;
use result::ResultOf;
use shape::Shape;
use std::collections::{BTreeMap, BTreeSet};

/// What must be held right before an instruction; a convenience for one look, see [`Locks::for_each_site`] for many.
#[allow(clippy::too_many_arguments)]
pub fn at_site(
    program: &Program,
    models: &Models,
    points_to: &PointsTo,
    values: &Values,
    threads: &ThreadFacts,
    facts: &LockFacts,
    function: FunctionId,
    block: BlockId,
    index: usize,
) -> Vec<HeldLock> {
    let mut locks = Locks::new(program, models, points_to, values, threads);
    locks.use_solution(facts);
    let mut found = Vec::new();
    locks.for_each_site(facts, function, |at, position, held| {
        if at == block && position == index {
            found = held.to_vec();
        }
    });
    found
}

/// The program as this analysis sees it: what stays the same while it solves and while its solution is read.
pub struct Locks<'a> {
    program: &'a Program,
    points_to: &'a PointsTo,
    values: &'a Values,
    threads: &'a ThreadFacts,
    calls: Calls,
    definitions: Definitions,
    objects: BTreeMap<ObjectKind, ObjectId>,
    /// Calls with targets that are not known.
    unresolved: BTreeSet<SiteId>,
    kinds: Kinds,
    /// Over calls that run in the caller's activation, callees first.
    components: Vec<Vec<FunctionId>>,
    /// Functions that do something to locks, themselves or in callees.
    relevant: IdVec<FunctionId, bool>,
    /// Functions that can return.
    returns: IdVec<FunctionId, bool>,
    /// Of relevant functions.
    shapes: IdVec<FunctionId, Option<Shape>>,
    results: IdVec<FunctionId, ResultOf>,
    semaphores: BTreeSet<(ObjectId, i64)>,
    words: BTreeSet<LockWord>,
    foreign: Foreign<'a>,
}

impl<'a> Locks<'a> {
    pub fn new(
        program: &'a Program,
        models: &Models,
        points_to: &'a PointsTo,
        values: &'a Values,
        threads: &'a ThreadFacts,
    ) -> Locks<'a> {
        let calls = Calls::new(program, models, values, points_to);
        let unresolved: BTreeSet<SiteId> = points_to.unresolved.iter().map(|(site, _)| *site).collect();
        let nested = |function: usize| -> Vec<usize> {
            let mut targets: Vec<usize> = calls.from[FunctionId::from_index(function)]
                .iter()
                .flat_map(|call| call.runs.iter().filter(|(_, way)| in_activation(*way)))
                .map(|(target, _)| target.index())
                .collect();
            targets.sort_unstable();
            targets.dedup();
            targets
        };
        let components: Vec<Vec<FunctionId>> = components(program.functions.len(), nested)
            .into_iter()
            .map(|component| component.into_iter().map(FunctionId::from_index).collect())
            .collect();
        let (words, uses_word) = words::candidates(program, &calls, values, points_to);
        let relevant = relevant(program, &calls, &components, &unresolved, &uses_word);
        let returns = returning::returns(program, values, &calls, &components);
        let mut locks = Locks {
            program,
            points_to,
            values,
            threads,
            definitions: Definitions::new(program),
            objects: points_to.objects.iter().map(|(id, object)| (object.kind, id)).collect(),
            unresolved,
            kinds: Kinds::default(),
            components,
            shapes: IdVec::new(),
            results: IdVec::new(),
            relevant,
            returns,
            calls,
            semaphores: BTreeSet::new(),
            words,
            foreign: Foreign::new(program, points_to),
        };
        locks.kinds = Kinds::new(&locks);
        locks.listen();
        locks
    }

    /// The shapes, and what branches and results say; the words have a say in it.
    fn listen(&mut self) {
        let shape = |id| self.relevant[id].then(|| Shape::new(self, id));
        self.shapes = self.program.functions.ids().map(shape).collect();
        for id in self.program.functions.ids() {
            let heard = self.shapes[id].as_ref().map(|shape| (self.said(id, shape), self.tested(id, shape)));
            if let (Some((said, tested)), Some(shape)) = (heard, &mut self.shapes[id]) {
                shape.listen(said, tested);
            }
        }
        let outside = self.called_from_outside();
        for id in self.program.functions.ids() {
            let inherited = self.shapes[id].is_some().then(|| self.inherited(id, &outside));
            if let (Some(inherited), Some(mut shape)) = (inherited, self.shapes[id].take()) {
                shape.inherit(inherited, |shape, from, to| self.edge_says(shape, id, from, to));
                self.shapes[id] = Some(shape);
            }
        }
        self.results = self.program.functions.ids().map(|id| self.result_of(id)).collect();
    }

    /// What branches say where the function is called or started, if there is one such place, and further up: of registers that
    /// are assigned once in the whole run, so that it stays so.
    fn inherited(&self, id: FunctionId, outside: &IdVec<FunctionId, bool>) -> Vec<Guard> {
        let mut found = Vec::new();
        let mut at = id;
        for _ in 0..HIGHEST {
            let [(caller, position)] = self.calls.to[at][..] else { break };
            let Some(shape) = self.shapes[caller].as_ref().filter(|_| !outside[at]) else { break };
            let known = shape.known_inside(self.calls.from[caller][position].block);
            found.extend(known.filter(|guard| {
                self.definitions.times(self.threads, guard.function, guard.reg) == Times::Once
            }));
            at = caller;
        }
        found
    }

    /// To read a solution, the semaphores and words that it takes for locks must be known.
    pub fn use_solution(&mut self, facts: &LockFacts) {
        self.semaphores = facts.semaphores.iter().copied().collect();
        let words = facts.words.iter().copied().collect();
        if std::mem::replace(&mut self.words, words) != self.words {
            self.listen();
        }
    }

    fn term(&self, function: FunctionId, operand: Operand) -> Term {
        raddle_absint::terms::term_of(self.values, function, operand)
    }

    /// Whether the term names one concrete lock, the same for all threads.
    pub fn is_global(&self, term: Term) -> bool {
        self.definitions.is_global(self.threads, term)
    }
}

/// Callers of callers that are looked at for what is so when a function runs.
const HIGHEST: usize = 16;

/// Whether the target runs before the call returns, on the caller's stack.
fn in_activation(way: Way) -> bool {
    way.is_nested() || way == Way::Once
}

fn relevant(
    program: &Program,
    calls: &Calls,
    components: &[Vec<FunctionId>],
    unresolved: &BTreeSet<SiteId>,
    uses_word: &IdVec<FunctionId, bool>,
) -> IdVec<FunctionId, bool> {
    let mut relevant: IdVec<FunctionId, bool> = program.functions.ids().map(|_| false).collect();
    for component in components {
        let found = component.iter().any(|function| {
            uses_word[*function]
                || calls.from[*function].iter().any(|call| {
                    unresolved.contains(&call.site)
                        || !call.unknown.is_empty()
                        || call.effects.iter().any(touches_locks)
                        || call.runs.is_empty() && call.effects.is_empty()
                        || call.runs.iter().any(|(target, way)| {
                            *way == Way::AtomicCall || in_activation(*way) && relevant[*target]
                        })
                })
        });
        component.iter().for_each(|function| relevant[*function] = found);
    }
    relevant
}

/// Whether a library call can change what is held.
fn touches_locks(effect: &Effect) -> bool {
    match effect {
        Effect::Lock { .. }
        | Effect::Unlock { .. }
        | Effect::SyncInit { .. }
        | Effect::SyncDestroy { .. }
        | Effect::Cond(..)
        | Effect::Sem(SemOp::Post { .. } | SemOp::Wait { .. }, _)
        | Effect::Verifier(VerifierOp::AtomicBegin | VerifierOp::AtomicEnd) => true,
        Effect::MutexConsistent { .. }
        | Effect::Thread(..)
        | Effect::BarrierWait { .. }
        | Effect::Sem(..)
        | Effect::Once { .. }
        | Effect::Tls(..)
        | Effect::Atomic(_)
        | Effect::Verifier(_)
        | Effect::Process(_)
        | Effect::Libc(_)
        | Effect::Nothing { .. }
        | Effect::Unsupported { .. } => false,
    }
}
