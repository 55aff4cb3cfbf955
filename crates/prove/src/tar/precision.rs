//! Which predicates are followed where.

use crate::ask::Stop;
use crate::system::{LocationIndex, System, ThreadIndex};
use raddle_logic::{Node, Op, Term};
use std::collections::BTreeSet;

/// By thread and location, sorted.
#[derive(Clone, Debug)]
pub(crate) struct Precision {
    at: Vec<Vec<BTreeSet<Term>>>,
}

/// More predicates at one location are given up on.
const MOST: usize = 48;

impl Precision {
    pub(crate) fn nothing(system: &System) -> Precision {
        Precision {
            at: system.threads.iter().map(|thread| vec![BTreeSet::new(); thread.edges.len()]).collect(),
        }
    }

    pub(crate) fn at(&self, thread: ThreadIndex, location: LocationIndex) -> Vec<Term> {
        self.at[thread][location].iter().cloned().collect()
    }

    pub(crate) fn locations(&self, thread: ThreadIndex) -> usize {
        self.at[thread].len()
    }

    pub(crate) fn count(&self) -> usize {
        let all: BTreeSet<&Term> = self.at.iter().flatten().flatten().collect();
        all.len()
    }

    /// Every atom of the term; whether one is new.
    pub(crate) fn add(
        &mut self,
        thread: ThreadIndex,
        location: LocationIndex,
        term: &Term,
    ) -> Result<bool, Stop> {
        let mut added = false;
        for atom in atoms(term) {
            added |= self.at[thread][location].insert(atom);
        }
        if self.at[thread][location].len() > MOST { Err(Stop::Predicates) } else { Ok(added) }
    }
}

/// The formulas without connectives that a formula is made of, none of them a negation.
pub(crate) fn atoms(term: &Term) -> BTreeSet<Term> {
    let mut found = BTreeSet::new();
    collect(term, &mut found);
    found
}

fn collect(term: &Term, found: &mut BTreeSet<Term>) {
    match term.node() {
        Node::Bool(_) => {}
        Node::App(Op::And | Op::Or | Op::Not, args) => args.iter().for_each(|arg| collect(arg, found)),
        Node::App(Op::Ite, args) if args[1].sort() == raddle_logic::Sort::Bool => {
            args.iter().for_each(|arg| collect(arg, found));
        }
        Node::App(Op::Eq, args) if args[0].sort() == raddle_logic::Sort::Bool => {
            args.iter().for_each(|arg| collect(arg, found));
        }
        Node::Var(_) | Node::Bits { .. } | Node::App(..) => {
            found.insert(term.clone());
        }
    }
}
