//! Which functions can return: paths that end the thread or the process take no part in what holds afterwards.
//!
//! *May*: the least solution, so a function that only calls itself does not return.

use raddle_absint::calls::{Call, Calls, Way};
use raddle_base::{Id, IdVec};
use raddle_facts::Values;
use raddle_ir::{BlockId, FunctionId, Inst, Program, Terminator};
use raddle_libmodel::{Effect, memory::Ending};

pub(super) fn returns(
    program: &Program,
    values: &Values,
    calls: &Calls,
    components: &[Vec<FunctionId>],
) -> IdVec<FunctionId, bool> {
    let mut returns: IdVec<FunctionId, bool> = program.functions.ids().map(|_| false).collect();
    for component in components {
        loop {
            let mut changed = false;
            for function in component {
                if !returns[*function] && reaches_return(program, values, calls, &returns, *function) {
                    returns[*function] = true;
                    changed = true;
                }
            }
            if !changed || component.len() == 1 && !calls.recursive[component[0]] {
                break;
            }
        }
    }
    returns
}

/// Whether control can go on after the call.
pub(super) fn goes_on(call: &Call, returns: &IdVec<FunctionId, bool>) -> bool {
    let mut plain = call.runs.iter().filter(|(_, way)| matches!(way, Way::Call | Way::AtomicCall)).peekable();
    if !call.unknown.is_empty() || call.effects.is_empty() && plain.peek().is_none() {
        return true;
    }
    plain.any(|(target, _)| returns[*target]) || call.effects.iter().any(|effect| !ends(effect))
}

/// Whether a library call never comes back.
pub(super) fn ends(effect: &Effect) -> bool {
    match effect {
        Effect::Thread(..) | Effect::Process(_) | Effect::Verifier(_) | Effect::Libc(_) => {
            matches!(effect.memory().ending, Ending::Exits | Ending::Aborts | Ending::EndsThread)
        }
        _ => false,
    }
}

fn reaches_return(
    program: &Program,
    values: &Values,
    calls: &Calls,
    returns: &IdVec<FunctionId, bool>,
    id: FunctionId,
) -> bool {
    let function = &program.functions[id];
    if function.blocks.is_empty() || !values.is_reachable(id, BlockId(0)) {
        return false;
    }
    let mut seen = vec![false; function.blocks.len()];
    let mut work = vec![BlockId(0)];
    seen[0] = true;
    while let Some(at) = work.pop() {
        let block = &function.blocks[at];
        let stops = block.insts.iter().enumerate().any(|(index, inst)| {
            matches!(inst, Inst::Call { .. })
                && calls.at(id, block.site_of(index)).is_some_and(|call| !goes_on(call, returns))
        });
        if stops {
            continue;
        }
        if matches!(block.terminator, Terminator::Ret { .. }) {
            return true;
        }
        block.terminator.each_target(|next| {
            if values.is_reachable(id, next) && !std::mem::replace(&mut seen[next.index()], true) {
                work.push(next);
            }
        });
    }
    false
}
