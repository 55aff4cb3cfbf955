//! Which objects more than one thread can reach.
//!
//! *May*. Globals, library memory and what clients pass in are shared from the start; so is whatever a thread is given as its argument,
//! returns, or leaves in thread-specific data; and whatever shared memory may point to. Everything else can be reached only from
//! registers and private memory of the thread that made it.

use crate::calls::Calls;
use raddle_base::IdVec;
use raddle_facts::{ObjectId, ObjectKind, PointsTo, SetId, ThreadFacts};
use raddle_ir::{Operand, Program};
use raddle_libmodel::memory::{Value, When};
use raddle_libmodel::{Effect, ThreadOp, TlsOp};

pub(super) fn solve(
    program: &Program,
    calls: &Calls,
    points_to: &PointsTo,
    facts: &ThreadFacts,
) -> IdVec<ObjectId, bool> {
    let mut shared: IdVec<ObjectId, bool> = points_to.objects.ids().map(|_| false).collect();
    let mut work: Vec<ObjectId> = Vec::new();
    for (id, object) in points_to.objects.iter() {
        match object.kind {
            ObjectKind::Global(_)
            | ObjectKind::Function(_)
            | ObjectKind::Library
            | ObjectKind::Outside(_)
            | ObjectKind::Unknown => work.push(id),
            ObjectKind::ThreadLocal(_)
            | ObjectKind::Stack(_)
            | ObjectKind::Parameter(..)
            | ObjectKind::Heap(_) => {}
        }
    }
    let mut hand_over = |set: SetId| work.extend(points_to.targets_of(set).iter().map(|(object, _)| *object));
    for (function, list) in calls.from.iter() {
        let set_of = |operand: Operand| match operand {
            Operand::Reg(reg) => points_to.regs[function][reg.0 as usize],
            _ => SetId(0),
        };
        let constant = |operand: Operand| match operand {
            Operand::Global(global, _) => Some(ObjectKind::Global(global)),
            _ => None,
        };
        for call in list {
            let (_, args) = call.parts(program, function);
            for effect in &call.effects {
                let memory = effect.memory();
                let elsewhere = memory.calls.iter().filter(|callback| callback.when != When::Now);
                let passed = elsewhere.flat_map(|callback| &callback.passes);
                let handed: Vec<usize> = passed
                    .filter_map(|value| match value {
                        Value::Arg(arg) => Some(usize::from(arg.0)),
                        _ => None,
                    })
                    .chain(given_away(effect))
                    .collect();
                for at in handed {
                    if let Some(arg) = args.get(at)
                        && constant(arg.value).is_none()
                    {
                        hand_over(set_of(arg.value));
                    }
                }
            }
        }
    }
    for thread in facts.threads.values() {
        points_to.returns[thread.entry].iter().for_each(|set| hand_over(*set));
    }
    let mut seen: IdVec<SetId, bool> = points_to.sets.ids().map(|_| false).collect();
    while let Some(object) = work.pop() {
        if std::mem::replace(&mut shared[object], true) {
            continue;
        }
        for cell in &points_to.contents[object] {
            if std::mem::replace(&mut seen[cell.holds], true) {
                continue;
            }
            work.extend(points_to.targets_of(cell.holds).iter().map(|(target, _)| *target));
        }
    }
    shared
}

/// Arguments that another thread may see: results of threads, thread-specific data (its destructor is a thread of its own here).
fn given_away(effect: &Effect) -> Vec<usize> {
    match *effect {
        Effect::Thread(ThreadOp::Exit { result: Some(arg) }, _)
        | Effect::Tls(TlsOp::Set { value: arg, .. }, _) => {
            vec![usize::from(arg.0)]
        }
        _ => Vec::new(),
    }
}
