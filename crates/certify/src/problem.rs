//! Confirms an error other than a race: replay, and look for it among the problems that the machine met.

use crate::names::{Direction, Names};
use crate::replay::{Witness, Witnessing, run_until};
use crate::{ConfirmedProblem, Refusal};
use raddle_base::SiteId;
use raddle_event::{Addr, Loc, Problem, ProblemKind};
use raddle_finding::AccessReport;
use raddle_ir::{Code, Inst, Program};
use raddle_machine::{Machine, OpKind};
use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

/// `fresh` makes the machine in its start state. A deadlock or livelock is confirmed as a whole: one access per thread in it.
pub(crate) fn confirm<M: Machine>(
    program: &Program,
    fresh: impl Fn() -> Result<M, Refusal>,
    witness: &Witness,
    (kind, site): (ProblemKind, SiteId),
    stop: &AtomicBool,
) -> Result<ConfirmedProblem, Refusal> {
    let mut machine = fresh()?;
    let mut witnessing = Witnessing::new(Vec::new());
    let standstill = matches!(kind, ProblemKind::Deadlock | ProblemKind::Livelock);
    // What was held is what is held there, not what is held when all is over.
    let met = |machine: &M| {
        !standstill && machine.problems().iter().any(|problem| (problem.kind, problem.site) == (kind, site))
    };
    run_until(&mut machine, witness, &mut witnessing, stop, met)?;
    let all: Vec<&Problem> = machine.problems().iter().filter(|problem| problem.kind == kind).collect();
    if !all.iter().any(|problem| problem.site == site) {
        return Err(Refusal::NoProblem { kind });
    }
    let mut met: Vec<&Problem> = match standstill {
        true => all,
        false => all.into_iter().filter(|problem| problem.site == site).take(1).collect(),
    };
    met.sort_by_key(|problem| problem.thread);

    let names = Names { program, machine: &machine };
    let held =
        met.iter().flat_map(|problem| witnessing.held(problem.thread)).map(|held| (held.lock, held.site));
    let wanted = met.iter().filter_map(|problem| Some((problem.object?, problem.site)));
    let objects_by_address = names.sync_objects(held.chain(wanted));
    let accesses =
        met.iter().map(|problem| access(&names, &witnessing, problem, &objects_by_address)).collect();
    let objects: Vec<String> = met.iter().filter_map(|p| p.object.map(|o| object(&names, o, p))).collect();
    Ok(ConfirmedProblem {
        kind,
        variable: if standstill { String::new() } else { objects.into_iter().next().unwrap_or_default() },
        accesses,
        assumptions: machine.assumptions(),
        detail: met.iter().map(|p| p.detail.as_str()).find(|d| !d.is_empty()).unwrap_or_default().to_owned(),
        witness: witness.clone(),
    })
}

fn access<M: Machine>(
    names: &Names<'_, M>,
    witnessing: &Witnessing,
    problem: &Problem,
    objects: &BTreeMap<Addr, String>,
) -> AccessReport {
    let (action, direction) = action(names, problem);
    let expression = match problem.object {
        Some(object) if direction.is_none() => objects.get(&object).cloned().unwrap_or_default(),
        _ => names.expression(problem.site, direction.unwrap_or(Direction::Read)),
    };
    AccessReport {
        at: names.frame(problem.site),
        thread: names.thread(problem.thread),
        action,
        atomic: false,
        expression,
        locks: names.locks(&witnessing.held(problem.thread), objects),
        stack: names.frames(&problem.stack),
    }
}

/// What the thread was about to do: from its pending operation if that is at the site, else from the instruction there.
fn action<M: Machine>(names: &Names<'_, M>, problem: &Problem) -> (String, Option<Direction>) {
    let pending = names.machine.pending(problem.thread).filter(|operation| operation.site == problem.site);
    if let Some(word) = pending.and_then(|operation| waiting(operation.kind)) {
        return (word.to_owned(), None);
    }
    match names.program.code_at(problem.site) {
        Some(Code::Inst(Inst::Load { .. })) => ("read".to_owned(), Some(Direction::Read)),
        Some(Code::Inst(
            Inst::Store { .. }
            | Inst::Rmw { .. }
            | Inst::CmpXchg(_)
            | Inst::MemSet { .. }
            | Inst::MemCopy { .. },
        )) => ("write".to_owned(), Some(Direction::Write)),
        Some(Code::Inst(Inst::Call { .. })) => {
            (names.callee(problem.site).unwrap_or("call").to_owned(), None)
        }
        _ => (String::new(), None),
    }
}

fn waiting(kind: OpKind) -> Option<&'static str> {
    match kind {
        OpKind::Lock { .. } => Some("lock"),
        OpKind::Join { .. } => Some("join"),
        OpKind::WaitBegin { .. } | OpKind::WaitEnd { .. } => Some("wait"),
        OpKind::SemWait { .. } => Some("semaphore wait"),
        OpKind::BarrierArrive { .. } | OpKind::BarrierLeave { .. } => Some("barrier wait"),
        OpKind::Once { .. } => Some("once"),
        OpKind::Channel { channel: Some(_) } => Some("read"),
        OpKind::Channel { channel: None } => Some("wait"),
        OpKind::Spin => Some("spin"),
        _ => None,
    }
}

fn object<M: Machine>(names: &Names<'_, M>, object: Addr, problem: &Problem) -> String {
    let expression = names.expression(problem.site, Direction::Read);
    if !expression.is_empty() {
        return expression;
    }
    let argument = names.argument(problem.site);
    if !argument.is_empty() {
        return argument;
    }
    if problem.kind == ProblemKind::LockHeldAtExit {
        return names.sync_object(object, problem.site);
    }
    names.machine.place_name(Loc { object: object.object, offset: object.offset, len: 1 })
}
