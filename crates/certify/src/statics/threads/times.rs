//! How often blocks are executed. *May*, at most: a block off all cycles is executed as often as its function is entered.

use super::super::Refusal;
use super::super::calls::Way;
use super::super::code::{At, Code};
use raddle_base::Id;
use raddle_facts::Times;
use raddle_ir::FunctionId;

pub(super) fn check(code: &Code<'_>) -> Result<(), Refusal> {
    for function in code.program.functions.ids().filter(|function| code.is_run(*function)) {
        let entered = entered(code, function);
        for block in code.reachable_blocks(function) {
            let cyclic = code.flows[function].is_cyclic(block) || code.calls.recursive[function];
            let least = if cyclic { Times::Many } else { entered };
            if code.facts.threads.times[function][block.index()] < least {
                let text = format!("{block} of {function} may be executed more often");
                return code.refuse_at(At { function, block, index: 0 }, "times", text);
            }
        }
    }
    Ok(())
}

/// How often the function can be entered, by what the facts say of those who enter it.
fn entered(code: &Code<'_>, function: FunctionId) -> Times {
    let mut nested = Vec::new();
    for (caller, call, run) in code.calls.runs_of(function) {
        match run.way {
            Way::Call | Way::AtomicCall => nested.push(code.facts.threads.times[caller][call.block.index()]),
            Way::Callback => nested.push(Times::Many),
            // These enter as threads.
            Way::Thread | Way::Once | Way::Handler => {}
        }
    }
    let before_main = code.roots.constructors.iter().filter(|root| **root == function).count();
    nested.extend(std::iter::repeat_n(Times::Once, before_main));
    let starts: Vec<bool> = (code.facts.threads.threads.values())
        .filter(|thread| thread.entry == function)
        .map(|thread| thread.many)
        .collect();
    match (&nested[..], &starts[..]) {
        ([], []) | ([], [false]) => Times::Once,
        ([one], []) => *one,
        ([], _) => Times::OncePerThread,
        _ => Times::Many,
    }
}
