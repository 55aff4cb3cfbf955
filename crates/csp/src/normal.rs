//! A specification, normalised lazily: sets of its states, one for each trace.
//!
//! Roscoe (2010), section 16.1; part of FDR3 in the 2015 paper. We differ in that a node is made when the search comes to it, and nodes are
//! not merged by bisimulation. Which way it errs: neither; a budget bounds the states that are looked at, and `None` is returned beyond it.
//!
//! A node without acceptances stands for a specification that diverges there: it has no stable failure, so nothing stable refines it.

use crate::event::{EventId, EventSet};
use crate::step::Label;
use crate::term::{Arena, ProcId};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// A node, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NodeId(pub(crate) u32);

/// What a stable state offers. A state that can tick offers the tick alone.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Offer {
    Tick,
    Events(EventSet),
}

pub(crate) struct Normal {
    nodes: Vec<Node>,
    ids: HashMap<Vec<ProcId>, NodeId>,
    /// How many more states of the specification may be looked at.
    budget: usize,
}

pub(crate) struct Node {
    after: BTreeMap<EventId, BTreeSet<ProcId>>,
    known: HashMap<EventId, NodeId>,
    pub(crate) may_tick: bool,
    /// Minimal ones.
    pub(crate) offers: Vec<Offer>,
}

impl Offer {
    pub(crate) fn is_subset(&self, other: &Offer) -> bool {
        match (self, other) {
            (Offer::Tick, Offer::Tick) => true,
            (Offer::Events(own), Offer::Events(others)) => own.is_subset(others),
            (Offer::Events(own), Offer::Tick) => own.is_empty(),
            (Offer::Tick, Offer::Events(_)) => false,
        }
    }
}

impl Normal {
    pub(crate) fn new(budget: usize) -> Self {
        Self { nodes: Vec::new(), ids: HashMap::new(), budget }
    }

    pub(crate) fn root(&mut self, arena: &mut Arena, specification: ProcId) -> Option<NodeId> {
        self.node(arena, BTreeSet::from([specification]))
    }

    pub(crate) fn get(&self, node: NodeId) -> &Node {
        &self.nodes[node.0 as usize]
    }

    /// Whether the specification can do the event here.
    pub(crate) fn may(&self, node: NodeId, event: EventId) -> bool {
        self.get(node).after.contains_key(&event)
    }

    /// The node after an event that [`Normal::may`] happen; `None` where the budget is used up.
    pub(crate) fn next(&mut self, arena: &mut Arena, node: NodeId, event: EventId) -> Option<NodeId> {
        if let Some(&next) = self.get(node).known.get(&event) {
            return Some(next);
        }
        let states = self.get(node).after[&event].clone();
        let next = self.node(arena, states)?;
        self.nodes[node.0 as usize].known.insert(event, next);
        Some(next)
    }

    fn node(&mut self, arena: &mut Arena, mut states: BTreeSet<ProcId>) -> Option<NodeId> {
        let mut todo: Vec<ProcId> = states.iter().copied().collect();
        while let Some(state) = todo.pop() {
            self.budget = self.budget.checked_sub(1)?;
            for step in arena.steps(state).iter() {
                if step.label == Label::Tau && states.insert(step.next) {
                    todo.push(step.next);
                }
            }
        }
        let key: Vec<ProcId> = states.into_iter().collect();
        if let Some(&id) = self.ids.get(&key) {
            return Some(id);
        }
        let mut node =
            Node { after: BTreeMap::new(), known: HashMap::new(), may_tick: false, offers: Vec::new() };
        let mut offers = BTreeSet::new();
        for &state in &key {
            let steps = arena.steps(state);
            for step in steps.iter() {
                match step.label {
                    Label::Event(event) => {
                        node.after.entry(event).or_default().insert(step.next);
                    }
                    Label::Tick => node.may_tick = true,
                    Label::Tau => {}
                }
            }
            offers.extend(offer(steps.iter().map(|step| step.label)));
        }
        let minimal = |o: &&Offer| !offers.iter().any(|other| other != *o && other.is_subset(o));
        node.offers = offers.iter().filter(minimal).cloned().collect();
        let id = NodeId(self.nodes.len() as u32);
        self.nodes.push(node);
        self.ids.insert(key, id);
        Some(id)
    }
}

/// What a state with these steps offers when it is stable. Tick is not refusable: a state that has it refuses every event, whether or not
/// it also has a tau.
pub(crate) fn offer(labels: impl Iterator<Item = Label>) -> Option<Offer> {
    let (mut events, mut tau, mut tick) = (EventSet::new(), false, false);
    for label in labels {
        match label {
            Label::Event(event) => events.insert(event),
            Label::Tau => tau = true,
            Label::Tick => tick = true,
        }
    }
    if tick {
        Some(Offer::Tick)
    } else if tau {
        None
    } else {
        Some(Offer::Events(events))
    }
}
