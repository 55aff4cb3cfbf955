//! Whether other threads leave memory alone while one is in a block, by the facts about order.
//!
//! *Must*. A write of another thread is no danger to a block, up to some instruction, if a gate that is passed at the start of the block
//! can be opened only by the writer's thread, and only after the write; or if one that is passed where the write is can be opened only
//! by this thread, and is not opened before that instruction. Both ends of the block count, not each point of it: a thread that
//! is created and joined inside one block is not overlooked.

use super::accesses::Access;
use super::calls::Way;
use super::code::{At, Code};
use raddle_base::Id;
use raddle_facts::{GateId, GateKind, Start, ThreadId};
use raddle_ir::{BlockId, FunctionId, Inst, Terminator};

/// Whether no execution of the write by another thread falls between the start of the block and the point.
pub(crate) fn is_apart(code: &Code<'_>, point: At, write: &Access<'_>) -> bool {
    let threads = &code.facts.threads;
    threads.runs[point.function].iter().all(|mine| {
        threads.runs[write.at.function].iter().all(|theirs| {
            if mine == theirs {
                return !threads.threads[*mine].many;
            }
            comes_before(code, *theirs, write.at, *mine, point)
                || comes_before(code, *mine, point, *theirs, write.at)
        })
    })
}

/// Whether the first thread's executions of `a` come before all that the second does in the block of `b`.
fn comes_before(code: &Code<'_>, first: ThreadId, a: At, second: ThreadId, b: At) -> bool {
    let order = &code.facts.order;
    let here = &order.functions[b.function];
    let local = here.blocks.get(b.block.index()).map_or(&[][..], |block| &block.passed);
    let passed = order.at_start[second].iter().chain(&here.entry.passed).chain(local);
    passed.copied().any(|id| {
        let gate = &order.gates[id];
        let one = !code.facts.threads.threads[first].many || gate.kind == GateKind::Exited(first);
        one && gate.openers == [first] && !may_be_opened(code, a, id)
    })
}

/// *May*: whether the thread has opened the gate before the point.
fn may_be_opened(code: &Code<'_>, at: At, gate: GateId) -> bool {
    let facts = &code.facts.order.functions[at.function];
    if facts.entry.opened.contains(&gate) {
        return true;
    }
    let Some(start) = facts.blocks.get(at.block.index()) else { return false };
    start.opened.contains(&gate)
        || (opened_behind(code, at.function, at.block, gate) && opened_inside(code, at, gate))
}

/// Whether the gate may be opened at the end of a block: what is opened there is opened at the start of every block that follows.
fn opened_behind(code: &Code<'_>, function: FunctionId, block: BlockId, gate: GateId) -> bool {
    let facts = &code.facts.order.functions[function];
    let terminator = &code.program.functions[function].blocks[block].terminator;
    let next = &code.flows[function].successors[block.index()];
    let ends = matches!(
        terminator,
        Terminator::Ret { .. } | Terminator::Unreachable | Terminator::Unsupported { .. }
    );
    let at_exit = ends && facts.at_exit.opened.contains(&gate);
    at_exit || next.iter().any(|to| facts.blocks.get(to.index()).is_none_or(|to| to.opened.contains(&gate)))
}

/// Whether an instruction of the block before the point may open the gate.
fn opened_inside(code: &Code<'_>, at: At, gate: GateId) -> bool {
    let block = &code.program.functions[at.function].blocks[at.block];
    let kind = code.facts.order.gates[gate].kind;
    block.insts.iter().take(at.index).enumerate().any(|(index, inst)| match inst {
        Inst::Call { .. } => call_opens(code, At { index, ..at }, gate, kind),
        Inst::Store { .. }
        | Inst::Rmw { .. }
        | Inst::CmpXchg(_)
        | Inst::MemSet { .. }
        | Inst::MemCopy { .. }
        | Inst::Asm { .. }
        | Inst::Fence { .. } => match kind {
            GateKind::Started(_) | GateKind::Exited(_) | GateKind::Semaphore(_) => false,
            GateKind::AtomicFlag(_) | GateKind::FencedFlag(_) | GateKind::LockedFlag(..) => true,
        },
        _ => false,
    })
}

fn call_opens(code: &Code<'_>, at: At, gate: GateId, kind: GateKind) -> bool {
    let site = code.site(at);
    let Some(call) = code.calls.at(at.function, site) else { return true };
    let inside = call.runs.iter().any(|run| match run.way {
        Way::Call | Way::AtomicCall | Way::Callback => {
            code.facts.order.functions[run.function].at_exit.opened.contains(&gate)
        }
        Way::Thread | Way::Once | Way::Handler => false,
    });
    let itself = match kind {
        GateKind::Started(thread) | GateKind::Exited(thread) => {
            match code.facts.threads.threads[thread].start {
                Start::Created(created) => created == site,
                Start::Main | Start::Client => false,
                Start::Once(_) | Start::Handler(_) => !call.effects.is_empty(),
            }
        }
        GateKind::Semaphore(_)
        | GateKind::AtomicFlag(_)
        | GateKind::FencedFlag(_)
        | GateKind::LockedFlag(..) => !call.effects.is_empty(),
    };
    inside || itself
}
