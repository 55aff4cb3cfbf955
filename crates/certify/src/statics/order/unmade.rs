//! Whether an object may be waited for before it is made: each way of control from the start, through calls and creations, must have gone
//! past the initialisation. Looked at in rounds, until no further function is entered and none is seen to return.

use super::super::calls::{Call, Way};
use super::super::code::{At, Code};
use raddle_base::Id;
use raddle_facts::Start;
use raddle_ir::{BlockId, FunctionId, Terminator};
use std::collections::BTreeSet;

/// Functions that are entered, and those that return, without the initialisation.
#[derive(Default)]
struct Seen {
    entered: BTreeSet<FunctionId>,
    returning: BTreeSet<FunctionId>,
}

/// Whether one of `uses` can be reached without `made`.
pub(super) fn reached(code: &Code<'_>, made: At, uses: &[At]) -> bool {
    let mut seen = Seen::default();
    for thread in code.facts.threads.threads.values() {
        if !matches!(thread.start, Start::Created(_) | Start::Once(_)) {
            seen.entered.insert(thread.entry);
        }
    }
    seen.entered.extend(&code.roots.constructors);
    loop {
        let before = (seen.entered.len(), seen.returning.len());
        for function in seen.entered.clone() {
            if through(code, made, function, &mut seen, uses) {
                return true;
            }
        }
        if before == (seen.entered.len(), seen.returning.len()) {
            return false;
        }
    }
}

/// Goes through one function from its entry as far as it gets; whether it meets a use.
fn through(code: &Code<'_>, made: At, function: FunctionId, seen: &mut Seen, uses: &[At]) -> bool {
    let mut done = BTreeSet::from([BlockId(0)]);
    let mut work = vec![BlockId(0)];
    while let Some(block) = work.pop() {
        let mut stopped = false;
        for call in code.calls.from[function].iter().filter(|call| call.block == block) {
            let at = call.at(function);
            if uses.contains(&at) {
                return true;
            }
            seen.entered.extend(call.runs.iter().map(|run| run.function));
            if at == made || !returns(call, seen) {
                stopped = true;
                break;
            }
        }
        if stopped {
            continue;
        }
        if matches!(code.program.functions[function].blocks[block].terminator, Terminator::Ret { .. }) {
            seen.returning.insert(function);
        }
        let next = code.flows[function].successors[block.index()].iter();
        work.extend(next.filter(|to| done.insert(**to)));
    }
    false
}

fn returns(call: &Call, seen: &Seen) -> bool {
    let is_body = |way: Way| matches!(way, Way::Call | Way::AtomicCall);
    call.runs.is_empty()
        || !call.is_only_bodies()
        || call.runs.iter().any(|run| !is_body(run.way) || seen.returning.contains(&run.function))
}
