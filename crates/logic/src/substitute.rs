//! Terms in place of variables, all at once.

use crate::term::{Node, Term, Var};
use std::collections::HashMap;

impl Term {
    /// Where the function gives no term, the variable stays. The term has the sort of the variable.
    pub fn substitute(&self, with: &mut impl FnMut(&Var) -> Option<Term>) -> Term {
        // Shared parts are looked at once.
        let mut known: HashMap<*const Node, Term> = HashMap::new();
        self.replaced(with, &mut known)
    }

    fn replaced(
        &self,
        with: &mut impl FnMut(&Var) -> Option<Term>,
        known: &mut HashMap<*const Node, Term>,
    ) -> Term {
        let key: *const Node = self.node();
        match self.node() {
            Node::Bool(_) | Node::Bits { .. } => self.clone(),
            Node::Var(var) => with(var).unwrap_or_else(|| self.clone()),
            Node::App(op, args) => {
                if let Some(done) = known.get(&key) {
                    return done.clone();
                }
                let new: Vec<Term> = args.iter().map(|arg| arg.replaced(with, known)).collect();
                let done = if new == *args { self.clone() } else { Term::app(*op, new) };
                known.insert(key, done.clone());
                done
            }
        }
    }
}
