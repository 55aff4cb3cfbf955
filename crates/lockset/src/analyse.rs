//! The whole static analysis of one program, from its IR to ranked warnings.
//!
//! Order of work: expand, registers, points-to, threads, order; then, as long as it pays, memory facts and all of that once more; then
//! locks, flags that locks guard, pairs.

use crate::deadlock::{self, Candidates};
use crate::gaps::{self, Gap};
use crate::held::Locks;
use crate::pairs::{self, Pairs};
use crate::published::Unpublished;
use crate::ranking;
use crate::renewed::Renewed;
use crate::rules::{Memo, Rules, State};
use crate::warnings::{self, Listing, Warning};
use raddle_absint::accesses::{self, Access};
use raddle_absint::calls::Calls;
use raddle_absint::order::{self, Holders, Order};
use raddle_absint::specialise::{self, Budget};
use raddle_absint::terms::Definitions;
use raddle_absint::{Roots, points_to, threads, values};
use raddle_base::SiteId;
use raddle_facts::{
    Facts, HeldLock, LocalOrder, LockFacts, LockMode, OrderFacts, PointsTo, Term, ThreadFacts, ThreadId,
    Values,
};
use raddle_ir::expand::{self, ExpandError, Expanded, Recipe};
use raddle_ir::{FunctionId, Program};
use raddle_libmodel::Models;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// What to analyse besides the program itself.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Functions that any number of clients may call at once.
    pub entries: Vec<FunctionId>,
    pub budget: Budget,
}

/// The result.
pub struct Analysis {
    pub recipe: Recipe,
    pub expanded: Expanded,
    pub models: Models,
    pub facts: Facts,
    pub accesses: Vec<Access>,
    pub pairs: Pairs,
    /// One per pair of source places, the most telling first.
    pub warnings: Vec<Warning>,
    pub listing: Listing,
    /// Cycles in the order in which locks are taken.
    pub deadlocks: Candidates,
    /// Reachable things that are not understood: nothing is proved while there is one.
    pub gaps: Vec<Gap>,
    /// Ids of assumptions that the facts rest on.
    pub assumptions: BTreeSet<&'static str>,
    pub counters: Counters,
    pub(crate) states: Vec<State>,
    pub(crate) definitions: Definitions,
    pub(crate) calls: Calls,
}

/// The columns of the paper's table (section 5), and sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub shared_variables: u64,
    /// Conflicting pairs of accesses in two threads, contexts told apart.
    pub pairs: u64,
    /// What no rule excludes.
    pub warnings: u64,
    /// Of these, those that no weaker warning covers.
    pub after_reduction: u64,
    /// One per pair of source places of these.
    pub after_contexts: u64,
    /// Pairs of source places, covered or not.
    pub places: u64,
    pub instructions: u64,
}

/// Analyses a program. The error is a fault of Raddle: the recipe is its own.
pub fn analyse(program: &Program, models: &Models, options: &Options) -> Result<Analysis, ExpandError> {
    let roots = Roots::of(program, options.entries.clone());
    let starts: Vec<FunctionId> = roots.all().collect();
    let recipe = specialise::recipe(program, models, &starts, options.budget);
    let expanded = expand::apply(program, &recipe)?;
    let models = models.of_expanded(&expanded.function_origin);
    let round = solve(&expanded.program, &models, &roots);
    let input = input(&expanded.program, &round, &roots);
    let hold = || {
        let mut reader =
            Locks::new(&expanded.program, &models, &round.points_to, &round.values, &round.threads);
        let locks = reader.solve();
        let edges = deadlock::edges(&expanded.program, &reader, &locks, &round.threads);
        let all_held = held_at_accesses(&reader, &locks, &round.accesses, &expanded.program);
        (locks, all_held, edges)
    };
    let publish = || {
        let unpublished = Unpublished::new(
            &expanded.program,
            &round.calls,
            &round.definitions,
            &round.values,
            &round.points_to,
            &round.threads,
        );
        (unpublished, Renewed::new(input))
    };
    let ((locks, all_held, edges), (mut unpublished, mut renewed)) = rayon::join(hold, publish);
    let by_site: HashMap<SiteId, usize> =
        round.accesses.iter().enumerate().map(|(index, access)| (access.site, index)).collect();
    let mut before: Option<Order> = None;
    let (order, states, order_facts, pairs) = loop {
        let held = renewed.without(input, &all_held);
        let query = |_: FunctionId, site: SiteId| -> Vec<(Term, bool)> {
            by_site.get(&site).map_or_else(Vec::new, |index| {
                let is_global = |lock| round.definitions.is_global(&round.threads, lock);
                held[*index]
                    .iter()
                    .filter(|lock| lock.guard.is_none() && is_global(lock.lock))
                    .map(|lock| (lock.lock, lock.mode == LockMode::Exclusive))
                    .collect()
            })
        };
        let order = order::solve(input, Some(&query), before.take());
        if renewed.grows(input, &order, &mut unpublished) {
            before = Some(order);
            continue;
        }
        let states = states(input, &order, &round.accesses, &held);
        let order_facts = order.facts();
        let rules = rules(&expanded.program, &round, &order_facts, &states);
        let pairs = pairs::find(&rules, &round.points_to, &round.threads, &round.accesses, &mut unpublished);
        if !renewed.withdraws(input, &pairs) {
            break (order, states, order_facts, pairs);
        }
        before = Some(order);
    };
    let deadlocks = {
        let rules = rules(&expanded.program, &round, &order_facts, &states);
        let parallel = |x: &deadlock::Edge, y: &deadlock::Edge| {
            let single = x.thread == y.thread && !round.threads.threads[x.thread].many;
            let at = |edge: &deadlock::Edge| order.before(input, edge.function, edge.block, edge.index);
            let (p, q) = (at(x), at(y));
            !single
                && rules.before(&p, x.thread, &q, y.thread).is_none()
                && rules.before(&q, y.thread, &p, x.thread).is_none()
        };
        let by_place: HashMap<(SiteId, ThreadId), &deadlock::Edge> =
            edges.iter().map(|edge| ((edge.site, edge.thread), edge)).collect();
        let together = |a: SiteId, s: ThreadId, b: SiteId, t: ThreadId| match (
            by_place.get(&(a, s)),
            by_place.get(&(b, t)),
        ) {
            (Some(x), Some(y)) => parallel(x, y),
            _ => true,
        };
        deadlock::candidates(&edges, &round.threads, together, deadlock::Limits::default())
    };
    let (gaps, assumptions) = gaps::find(
        &roots,
        &expanded,
        &models,
        &round.values,
        &round.points_to,
        &round.calls,
        &round.accesses,
        &round.threads,
        &order_facts,
    );
    let unranked = warnings::list(program, &expanded, &round.accesses, &pairs.relation);
    let ranks = ranking::rank(
        &expanded.program,
        &round.calls,
        &round.definitions,
        &round.points_to,
        &round.threads,
        &round.accesses,
        &states,
        &unranked.pairs,
    );
    let warnings = unranked.rank(program, &expanded, &round.accesses, &ranks);
    let unseen = pairs.unseen;
    let counters = Counters {
        shared_variables: pairs.shared.len() as u64,
        pairs: pairs.candidates,
        warnings: pairs.open,
        after_reduction: pairs.open - ranks.iter().filter(|(rank, _)| *rank > 0).count() as u64,
        after_contexts: unranked.places() - warnings.iter().filter(|warning| warning.covered).count() as u64,
        places: unranked.places(),
        instructions: program.sites.len() as u64,
    };
    Ok(Analysis {
        recipe,
        models,
        pairs,
        warnings,
        listing: if unseen > 0 { Listing::Uncounted } else { unranked.listing() },
        deadlocks,
        gaps,
        assumptions,
        counters,
        states,
        definitions: round.definitions,
        calls: round.calls,
        accesses: round.accesses,
        facts: Facts {
            values: round.values,
            points_to: round.points_to,
            threads: round.threads,
            order: order_facts,
            locks,
        },
        expanded,
    })
}

impl Analysis {
    /// Nothing left that may race, and nothing that was not understood.
    pub fn is_safe(&self) -> bool {
        self.pairs.open == 0 && self.pairs.unseen == 0 && self.warnings.is_empty() && self.gaps.is_empty()
    }

    /// Whether the program never runs two threads at once.
    pub fn is_single_threaded(&self) -> bool {
        let threads = &self.facts.threads.threads;
        threads.len() <= 1 && threads.values().all(|thread| !thread.many)
    }
}

/// One round of everything but locks.
struct Round {
    values: Values,
    points_to: PointsTo,
    calls: Calls,
    definitions: Definitions,
    accesses: Vec<Access>,
    threads: ThreadFacts,
    holders: Holders,
}

/// Programs with more instructions than this do without memory facts.
const SMALL: usize = 60_000;

fn solve(program: &Program, models: &Models, roots: &Roots) -> Round {
    let mut round = once(program, models, roots, values::registers(program, models, roots));
    if program.sites.len() > SMALL {
        return round;
    }
    for _ in 0..2 {
        let order = order::solve(input(program, &round, roots), None, None).facts();
        let next = values::with_memory(
            program,
            models,
            roots,
            &round.values,
            &round.points_to,
            &round.threads,
            &order,
        );
        if next == round.values {
            break;
        }
        if reaches_more(&next, &round.values) {
            // What showed a block to be unreachable rests on that block: true, but nothing that can be checked point by point.
            return once(program, models, roots, values::registers(program, models, roots));
        }
        round = once(program, models, roots, next);
    }
    round
}

fn reaches_more(new: &Values, old: &Values) -> bool {
    let blocks = new.reachable.values().flatten().zip(old.reachable.values().flatten());
    blocks.into_iter().any(|(new, old)| *new && !*old)
}

fn rules<'a>(
    program: &'a Program,
    round: &'a Round,
    order: &'a OrderFacts,
    states: &'a [State],
) -> Rules<'a> {
    Rules {
        program,
        definitions: &round.definitions,
        values: &round.values,
        points_to: &round.points_to,
        threads: &round.threads,
        order,
        accesses: &round.accesses,
        states,
        memo: Memo::new(round.accesses.len()),
    }
}

fn input<'a>(program: &'a Program, round: &'a Round, roots: &'a Roots) -> order::Input<'a> {
    order::Input {
        program,
        calls: &round.calls,
        definitions: &round.definitions,
        values: &round.values,
        points_to: &round.points_to,
        threads: &round.threads,
        accesses: &round.accesses,
        holders: &round.holders,
        constructors: &roots.constructors,
    }
}

fn once(program: &Program, models: &Models, roots: &Roots, values: Values) -> Round {
    let points_to = points_to::solve(program, models, &values, roots);
    let calls = Calls::new(program, models, &values, &points_to);
    let definitions = Definitions::new(program);
    let accesses = accesses::collect(program, &calls, &values, &points_to);
    let threads = threads::solve(program, roots, &calls, &definitions, &values, &points_to, &accesses);
    let holders = Holders::find(program, &calls, &points_to, &threads, &accesses);
    Round { values, points_to, calls, definitions, accesses, threads, holders }
}

fn held_at_accesses(
    locks: &Locks<'_>,
    facts: &LockFacts,
    accesses: &[Access],
    program: &Program,
) -> Vec<Arc<Vec<HeldLock>>> {
    let nothing = Arc::new(Vec::new());
    let mut held: Vec<Arc<Vec<HeldLock>>> = vec![nothing.clone(); accesses.len()];
    let mut at = 0;
    for function in program.functions.ids() {
        let from = at;
        while at < accesses.len() && accesses[at].function == function {
            at += 1;
        }
        if from == at {
            continue;
        }
        let mut index: HashMap<(raddle_ir::BlockId, usize), Vec<usize>> = HashMap::new();
        for (offset, access) in accesses[from..at].iter().enumerate() {
            index.entry((access.block, access.index)).or_default().push(from + offset);
        }
        let mut last: Arc<Vec<HeldLock>> = nothing.clone();
        locks.for_each_site(facts, function, |block, position, state| {
            if let Some(list) = index.get(&(block, position)) {
                if *last != state {
                    last = Arc::new(state.to_vec());
                }
                list.iter().for_each(|at| held[*at] = last.clone());
            }
        });
    }
    held
}

fn states(
    input: order::Input<'_>,
    order: &Order,
    accesses: &[Access],
    held: &[Arc<Vec<HeldLock>>],
) -> Vec<State> {
    let mut interned: HashMap<String, Arc<LocalOrder>> = HashMap::new();
    let mut last: Option<((FunctionId, raddle_ir::BlockId, usize), Arc<LocalOrder>)> = None;
    accesses
        .iter()
        .zip(held)
        .map(|(access, locks)| {
            // Nothing changes inside a function that does not matter to order.
            let at = if order.matters(access.function) {
                (access.function, access.block, access.index)
            } else {
                (access.function, raddle_ir::BlockId(0), 0)
            };
            let state = match &last {
                Some((place, state)) if *place == at => state.clone(),
                _ => {
                    let mut state = order.before(input, at.0, at.1, at.2);
                    state.handles.clear();
                    state.overwritten.clear();
                    let state =
                        interned.entry(format!("{state:?}")).or_insert_with(|| Arc::new(state)).clone();
                    last = Some((at, state.clone()));
                    state
                }
            };
            State { order: state, locks: locks.clone() }
        })
        .collect()
}
