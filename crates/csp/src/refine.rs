//! Refinement: does every behaviour of the implementation belong to the specification?
//!
//! Section 2.2 of the 2015 paper, equations 1 to 3 and the deadlock check of 2.2.2, which it gives to FDR3. The search goes breadth
//! first over pairs of a state of the implementation and a node of the normalised specification, so the first counterexample has as few
//! steps as any, hidden ones included. We differ in that a counterexample comes with the events before hiding: those are the schedule.
//!
//! Which way it errs: neither. A bound on counterexamples ends the search early, but only after it failed; a bound on states gives
//! [`Outcome::Exhausted`], unless a counterexample was found before. Same terms, same answer: no order depends on hashes.

use crate::event::{EventId, EventSet};
use crate::network::{Move, Network};
use crate::normal::{NodeId, Normal, Offer, offer};
use crate::step::Label;
use crate::term::{Arena, IllFormed, ProcId};
use crate::visited::Visited;
use std::time::Instant;

/// Whether `specification [= implementation`.
pub fn refine(arena: &mut Arena, check: &Check) -> Result<Outcome, IllFormed> {
    Ok(search(arena, check, None)?.0)
}

/// The same, where a state in which one of the `eager` events is possible and hidden, or a part terminates, is left by that step alone.
/// FDR has `chase` for this.
///
/// The caller knows that these steps, once possible, stay so until they are taken, commute with all other steps, and are in no cycle.
/// Then every state without such a step that was reachable still is, and so is every failure.
pub fn refine_eagerly(
    arena: &mut Arena,
    check: &Check,
    eager: &EventSet,
) -> Result<(Outcome, Coverage), IllFormed> {
    search(arena, check, Some(eager))
}

/// Whether all states were looked at, also where counterexamples were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    All,
    /// A limit was reached before.
    Part,
}

fn search(
    arena: &mut Arena,
    check: &Check,
    eager: Option<&EventSet>,
) -> Result<(Outcome, Coverage), IllFormed> {
    arena.check(&[check.specification, check.implementation])?;
    let network = match check.states {
        States::Flat => Network::flat(arena, check.implementation),
        States::Terms => Network::whole(check.implementation),
    };
    Ok(Search::new(&network, check, eager).run(arena))
}

/// A question.
#[derive(Clone, Copy, Debug)]
pub struct Check {
    pub specification: ProcId,
    pub implementation: ProcId,
    pub model: Model,
    pub limits: Limits,
    pub states: States,
}

/// Which behaviours are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// `[T=`
    Traces,
    /// `[F=`: traces, and what is refused in stable states.
    StableFailures,
}

/// How states of the implementation are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum States {
    /// Vectors of leaf states: the compact form.
    #[default]
    Flat,
    /// Terms: the obvious form, against which the other is tested.
    Terms,
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Pairs of states that are kept; the same number bounds the states of the specification that are looked at.
    pub states: usize,
    /// Counterexamples after which the search ends; at least one.
    pub counterexamples: usize,
    /// The search ends then, as if the states were used up.
    pub until: Option<Instant>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Holds {
        states: usize,
    },
    /// At least one, in order of their number of steps.
    Fails(Vec<Counterexample>),
    /// The limit on states, or on time, was reached before an answer.
    Exhausted {
        states: usize,
    },
}

/// A behaviour that the specification does not have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counterexample {
    /// Visible events; the last one is the violation where that is an event.
    pub trace: Vec<EventId>,
    /// All events, hidden ones included, in the order in which they happened.
    pub underlying: Vec<EventId>,
    pub violation: Violation,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// An event that the specification cannot do there.
    Event(EventId),
    /// It terminates where the specification cannot.
    Tick,
    /// It comes to rest and offers only these events.
    Refusal(Vec<EventId>),
    /// It may decide to terminate, and refuse every event, where the specification may not.
    RefusalBeforeTick,
}

impl Default for Limits {
    fn default() -> Self {
        Self { states: 1_000_000, counterexamples: 1, until: None }
    }
}

impl Check {
    pub fn new(specification: ProcId, model: Model, implementation: ProcId) -> Self {
        Self { specification, implementation, model, limits: Limits::default(), states: States::default() }
    }
}

struct Search<'a> {
    network: &'a Network,
    check: &'a Check,
    eager: Option<&'a EventSet>,
    normal: Normal,
    /// The slots of the implementation, then the node.
    visited: Visited,
    /// How each state was reached first.
    reached: Vec<Reached>,
    counterexamples: Vec<Counterexample>,
}

#[derive(Clone, Copy)]
struct Reached {
    parent: u32,
    /// Event plus one; 0 where there was none.
    underlying: u32,
    visible: bool,
}

/// The limit on states was reached, or the time is over.
struct Full;

/// States from one look at the time to the next.
const PERIOD: usize = 256;

fn is_eager(step: &Move, eager: &EventSet) -> bool {
    step.label == Label::Tau && step.underlying.is_none_or(|event| eager.contains(event))
}

impl<'a> Search<'a> {
    fn new(network: &'a Network, check: &'a Check, eager: Option<&'a EventSet>) -> Self {
        Self {
            network,
            check,
            eager,
            normal: Normal::new(check.limits.states),
            visited: Visited::new(network.initial().len() + 1),
            reached: Vec::new(),
            counterexamples: Vec::new(),
        }
    }

    fn run(mut self, arena: &mut Arena) -> (Outcome, Coverage) {
        let full = self.explore(arena).is_err();
        let states = self.reached.len();
        let bounded = self.counterexamples.len() >= self.check.limits.counterexamples.max(1);
        let coverage = if full || bounded { Coverage::Part } else { Coverage::All };
        let outcome = if !self.counterexamples.is_empty() {
            Outcome::Fails(self.counterexamples)
        } else if full {
            Outcome::Exhausted { states }
        } else {
            Outcome::Holds { states }
        };
        (outcome, coverage)
    }

    fn explore(&mut self, arena: &mut Arena) -> Result<(), Full> {
        let root = self.normal.root(arena, self.check.specification).ok_or(Full)?;
        let first = [self.network.initial(), &[root.0]].concat();
        self.visit(&first, Reached { parent: 0, underlying: 0, visible: false })?;
        let mut at = 0;
        while at < self.visited.len() && self.counterexamples.len() < self.check.limits.counterexamples.max(1)
        {
            self.expand(arena, at)?;
            at += 1;
        }
        Ok(())
    }

    fn expand(&mut self, arena: &mut Arena, at: usize) -> Result<(), Full> {
        let state = self.visited.get(at).to_vec();
        let (&node, slots) = state.split_last().expect("the node is the last");
        let node = NodeId(node);
        let mut moves = self.network.moves(arena, slots);
        if let Some(eager) = self.eager
            && let Some(first) = moves.iter().position(|step| is_eager(step, eager))
        {
            moves = vec![moves.swap_remove(first)];
        }
        if self.check.model == Model::StableFailures
            && let Some(offer) = offer(moves.iter().map(|step| step.label))
            && !self.normal.get(node).offers.iter().any(|allowed| allowed.is_subset(&offer))
        {
            let violation = match offer {
                Offer::Tick => Violation::RefusalBeforeTick,
                Offer::Events(events) => Violation::Refusal(events.iter().collect()),
            };
            self.fail(at, violation, None);
        }
        for step in &moves {
            let next = match step.label {
                Label::Tau => node,
                Label::Tick => {
                    if !self.normal.get(node).may_tick {
                        self.fail(at, Violation::Tick, None);
                    }
                    continue;
                }
                Label::Event(event) if self.normal.may(node, event) => {
                    self.normal.next(arena, node, event).ok_or(Full)?
                }
                Label::Event(event) => {
                    self.fail(at, Violation::Event(event), Some(event));
                    continue;
                }
            };
            let mut target = state.clone();
            step.apply(&mut target);
            *target.last_mut().expect("the node is the last") = next.0;
            let underlying = step.underlying.map_or(0, |event| event.index() as u32 + 1);
            self.visit(
                &target,
                Reached { parent: at as u32, underlying, visible: step.label != Label::Tau },
            )?;
        }
        Ok(())
    }

    fn visit(&mut self, state: &[u32], reached: Reached) -> Result<(), Full> {
        if self.visited.insert(state) {
            let visited = self.visited.len();
            if visited > self.check.limits.states || visited.is_multiple_of(PERIOD) && self.is_late() {
                return Err(Full);
            }
            self.reached.push(reached);
        }
        Ok(())
    }

    fn is_late(&self) -> bool {
        self.check.limits.until.is_some_and(|until| Instant::now() >= until)
    }

    fn fail(&mut self, at: usize, violation: Violation, last: Option<EventId>) {
        if self.counterexamples.len() >= self.check.limits.counterexamples.max(1) {
            return;
        }
        let (mut trace, mut underlying) = (Vec::from_iter(last), Vec::from_iter(last));
        let mut at = at;
        while at != 0 {
            let reached = self.reached[at];
            if let Some(event) = reached.underlying.checked_sub(1).map(EventId::from_index) {
                underlying.push(event);
                if reached.visible {
                    trace.push(event);
                }
            }
            at = reached.parent as usize;
        }
        trace.reverse();
        underlying.reverse();
        let found = Counterexample { trace, underlying, violation };
        if !self.counterexamples.contains(&found) {
            self.counterexamples.push(found);
        }
    }
}
