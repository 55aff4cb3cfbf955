//! Which functions to copy and which loops to unroll before the analysis: the policy behind [`raddle_ir::expand`].
//!
//! Every analysis of this crate is insensitive to contexts; what a context would tell apart is told apart by copies in the program.
//! First loops are unrolled, then functions are copied per call site along the call tree from the roots, breadth first, so that two
//! threads that a loop creates run two copies of their start function. Nothing here needs to be right: the recipe is checked when it is
//! applied, and a poor one costs only precision. The same program gives the same recipe.
//!
//! Not copied: functions on a cycle of calls, once functions, functions reached by pointer (they keep one shared body).

mod copies;
mod graph;
mod unrolling;

use graph::CallGraph;
use raddle_ir::expand::{FunctionCopy, Recipe, never_returning};
use raddle_ir::{FunctionId, Program};
use raddle_libmodel::Models;

/// A recipe for this program; `roots` are the functions that are called from outside, the important ones first.
pub fn recipe(program: &Program, models: &Models, roots: &[FunctionId], budget: Budget) -> Recipe {
    let graph = CallGraph::new(program, models, roots);
    let original: usize = graph.size.values().sum();
    let scope = if original > budget.small_program { Scope::LockWrappers } else { Scope::All };
    let limit = budget.instructions.max(original.saturating_mul(budget.growth));
    let plans = unrolling::plan(program, models, &graph, scope, limit, budget);
    let functions = copies::assign(program, models, &graph, &plans, scope, limit, budget);
    let never_return = never_returning(program, |function| models.meanings[function].is_body());
    Recipe { functions, never_return }
}

/// How much larger the program may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Instructions of the expanded program: this many, or `growth` times the original, whichever is more.
    pub instructions: usize,
    pub growth: usize,
    /// Loops that go round more often stay loops.
    pub iterations: u32,
    /// In code of threads that neither starts threads nor waits for them, the same with this number.
    pub short: u32,
    /// In a program with more instructions than this only lock wrappers are copied and no loop is unrolled.
    pub small_program: usize,
    /// Instructions of a lock wrapper, at most.
    pub wrapper: usize,
    /// Calls between a lock wrapper and the lock, at most.
    pub wrapper_depth: u32,
}

impl Default for Budget {
    fn default() -> Self {
        Budget {
            instructions: 20_000,
            growth: 2,
            iterations: 32,
            short: 4,
            small_program: 20_000,
            wrapper: 40,
            wrapper_depth: 3,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scope {
    All,
    LockWrappers,
}

/// A function as it will be, before its calls are led to copies.
struct Plan {
    copy: FunctionCopy,
    size: usize,
    slots: Vec<graph::Named>,
}
