//! What a formula consists of. Shared parts are visited once, so that the cost is that of the graph and not of the tree.

use raddle_logic::{Node, Term, Var};
use std::collections::{BTreeSet, HashMap};

pub(crate) struct Shape {
    pub variables: BTreeSet<Var>,
    /// Nodes of the tree that is printed, where shared parts are repeated.
    pub printed: u64,
}

pub(crate) fn shape(terms: &[Term]) -> Shape {
    let mut shape = Shape { variables: BTreeSet::new(), printed: 0 };
    let mut known = HashMap::new();
    for term in terms {
        shape.printed = shape.printed.saturating_add(visit(term, &mut shape.variables, &mut known));
    }
    shape
}

/// The nodes of its tree.
fn visit(term: &Term, variables: &mut BTreeSet<Var>, known: &mut HashMap<*const Node, u64>) -> u64 {
    match term.node() {
        Node::Var(var) => {
            variables.insert(var.clone());
            1
        }
        Node::Bool(_) | Node::Bits { .. } => 1,
        Node::App(_, args) => {
            let key: *const Node = term.node();
            if let Some(size) = known.get(&key) {
                return *size;
            }
            let sizes = args.iter().map(|arg| visit(arg, variables, known));
            let size = sizes.fold(1_u64, u64::saturating_add);
            known.insert(key, size);
            size
        }
    }
}
