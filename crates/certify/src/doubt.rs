//! Could functions without body or model have ordered the two accesses of a race, or kept them apart? The replay takes such calls to do
//! nothing.
//!
//! A race is withheld only where calls of two threads could do it together. With `u` and `v` such calls, and a call that comes before
//! the creation of the other access's thread left out:
//! * a lock: `u` before one access and `v`, of another thread, before the other;
//! * a wait and a wake-up: `v` before one access; `u`, of another thread, after the other or still to come, and not after `v`;
//! * a join: `v` before one access could know the id of the other's thread;
//! * known synchronisation: `v` before one access could reach something that threads synchronise by, or, in a program with atomic
//!   operations, any memory.
//!
//! Before and after are happens-before of the replay. Whether a thread may still make such a call is read from the program text: from
//! where it stands and from its callers, along all branches. Errs towards doubt: whatever is not understood may order.

use crate::detector::{Cone, Start};
use crate::replay::{Collector, Noted};
use raddle_base::{IdVec, SiteId};
use raddle_event::{Event, EventKind, ThreadId};
use raddle_ir::{BlockId, Callee, FunctionId, Inst, Operand, Program};
use raddle_libmodel::{Meaning, Models};
use raddle_machine::{Machine, OpKind, Status};
use std::collections::BTreeSet;

/// More calls than this are not compared with each other.
const MOST_CALLS: usize = 4_000;

/// Sites of calls that could order the accesses at these two positions or keep them apart; empty: none can.
pub(crate) fn find<M: Machine>(
    program: &Program,
    models: &Models,
    machine: &M,
    collected: &Collector,
    (first, second): (usize, usize),
) -> BTreeSet<SiteId> {
    let (events, calls) = (&collected.events, &collected.calls);
    if calls.is_empty() {
        return BTreeSet::new();
    }
    if calls.len() > MOST_CALLS {
        return calls.iter().map(|noted| noted.call.site).collect();
    }
    let cones: Vec<Cone> = (0..calls.len()).map(|at| Cone::of(events, calls, Start::Call(at))).collect();
    let threads = [events[first].thread, events[second].thread];
    let after = [first, second].map(|at| Cone::of(events, calls, Start::Event(at)));
    let before = |access: usize, other: ThreadId| -> Vec<usize> {
        let counts = |at: &usize| cones[*at].events[access] && !precedes_creation(events, &cones[*at], other);
        (0..calls.len()).filter(counts).collect()
    };
    let before = [before(first, threads[1]), before(second, threads[0])];
    let site = |at: usize| calls[at].call.site;
    let thread = |at: usize| calls[at].call.thread;
    let mut found = BTreeSet::new();
    for u in &before[0] {
        for v in before[1].iter().filter(|v| thread(**v) != thread(*u)) {
            found.extend([site(*u), site(*v)]);
        }
    }
    let text = Text::of(program, models);
    let coming = text.coming(machine);
    let has_atomics = has_atomics(program, models);
    for side in 0..2 {
        let other = 1 - side;
        for v in &before[other] {
            let wakes = |u: &usize| after[side].calls[*u] && thread(*u) != thread(*v) && !cones[*v].calls[*u];
            found.extend((0..calls.len()).filter(wakes).flat_map(|u| [site(u), site(*v)]));
            let later = |t: &&ThreadId| **t != thread(*v) && !cones[*v].threads.contains(*t);
            let Noted { call, .. } = &calls[*v];
            let joins = call.thread != threads[side] && call.threads.contains(&threads[side]);
            if coming.iter().any(|t| later(&t)) || joins || call.sync || call.memory && has_atomics {
                found.insert(site(*v));
            }
        }
    }
    found
}

fn precedes_creation(events: &[Event], cone: &Cone, thread: ThreadId) -> bool {
    let creates = |event: &Event| matches!(event.kind, EventKind::Create { child } if child == thread);
    events.iter().position(creates).is_some_and(|at| cone.events[at])
}

fn has_atomics(program: &Program, models: &Models) -> bool {
    let blocks = program.functions.values().flat_map(|function| function.blocks.values());
    let modelled = models
        .meanings
        .values()
        .any(|meaning| matches!(meaning, Meaning::Effect(raddle_libmodel::Effect::Atomic(_), _)));
    modelled
        || blocks.flat_map(|block| &block.insts).any(|inst| {
            matches!(
                inst,
                Inst::Rmw { .. }
                    | Inst::CmpXchg(_)
                    | Inst::Load { atomic: Some(_), .. }
                    | Inst::Store { atomic: Some(_), .. }
            )
        })
}

/// Which functions may call one without body or model, themselves or in what they call or create.
struct Text<'p> {
    program: &'p Program,
    models: &'p Models,
    calls: IdVec<FunctionId, bool>,
}

impl<'p> Text<'p> {
    fn of(program: &'p Program, models: &'p Models) -> Text<'p> {
        let calls = models.meanings.values().map(|meaning| *meaning == Meaning::Unknown).collect();
        let mut text = Text { program, models, calls };
        loop {
            let new: Vec<FunctionId> = program
                .functions
                .iter()
                .filter(|(id, function)| {
                    let mut insts = function.blocks.values().flat_map(|block| &block.insts);
                    !text.calls[*id]
                        && text.models.meanings[*id].is_body()
                        && insts.any(|inst| text.may_call(inst))
                })
                .map(|(id, _)| id)
                .collect();
            if new.is_empty() {
                return text;
            }
            new.into_iter().for_each(|id| text.calls[id] = true);
        }
    }

    fn may_call(&self, inst: &Inst) -> bool {
        let Inst::Call { callee, args, .. } = inst else { return matches!(inst, Inst::Unsupported { .. }) };
        let target = match callee {
            Callee::Direct(target) | Callee::Indirect(Operand::Function(target)) => *target,
            Callee::Indirect(_) => return true,
        };
        match &self.models.meanings[target] {
            Meaning::Effect(effect, _) => effect.memory().calls.iter().any(|callback| {
                match args.get(usize::from(callback.function.0)).map(|arg| arg.value) {
                    Some(Operand::Function(function)) => self.calls[function],
                    Some(Operand::Null) | None => false,
                    Some(_) => true,
                }
            }),
            _ => self.calls[target],
        }
    }

    /// Threads that may still make such a call.
    fn coming<M: Machine>(&self, machine: &M) -> Vec<ThreadId> {
        if machine.status() != Status::Running {
            return Vec::new();
        }
        (0..machine.thread_count()).map(ThreadId).filter(|thread| self.is_coming(machine, *thread)).collect()
    }

    fn is_coming<M: Machine>(&self, machine: &M, thread: ThreadId) -> bool {
        let Some(operation) = machine.pending(thread) else { return false };
        if operation.kind == OpKind::Begin {
            let entry = machine.thread_info(thread).entry;
            let mut named = self.program.functions.iter().filter(|(_, f)| self.program.text(f.name) == entry);
            return named.next().is_none_or(|(id, _)| self.calls[id]) || named.any(|(id, _)| self.calls[id]);
        }
        let callers = machine.call_sites(thread);
        self.from(operation.site, 0) || callers.into_iter().any(|site| self.from(site, 1))
    }

    /// Whether such a call lies ahead of a site in its function, `skip` instructions from there.
    fn from(&self, site: SiteId, skip: usize) -> bool {
        let Some(info) = self.program.sites.get(site) else { return true };
        let body = &self.program.functions[info.function];
        let place = body.blocks.iter().find_map(|(id, block)| {
            let index = site.0.checked_sub(block.site_of(0).0)? as usize;
            (index <= block.insts.len()).then_some((id, index))
        });
        let Some((start, index)) = place else { return true };
        let rest = body.blocks[start].insts.iter().skip(index + skip);
        if rest.into_iter().any(|inst| self.may_call(inst)) {
            return true;
        }
        let mut seen: BTreeSet<BlockId> = BTreeSet::new();
        let mut work: Vec<BlockId> = Vec::new();
        let next = |block: BlockId, work: &mut Vec<BlockId>| {
            body.blocks[block].terminator.each_target(|target| work.push(target));
        };
        next(start, &mut work);
        while let Some(block) = work.pop() {
            if seen.insert(block) {
                if body.blocks[block].insts.iter().any(|inst| self.may_call(inst)) {
                    return true;
                }
                next(block, &mut work);
            }
        }
        false
    }
}
