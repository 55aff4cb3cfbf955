//! Running one thread from one visible operation to the next.

pub(crate) mod access;
mod arith;
mod atomic_calls;
mod atomics;
mod calls;
mod cast;
mod effects;
mod ends;
mod float;
mod foreign;
mod intrinsics;
mod library;
mod rare;
mod run;
mod spurious;
mod unwinding;
mod varargs;
mod wide;

pub(crate) use calls::Flow;

use crate::code::{ArgDesc, CallDesc, Code, Func, S};
use crate::image::Image;
use crate::memory::{At, Memory, Miss};
use crate::thread::{Action, Ending, Frame, Phase, Stand, Thread};
use crate::world::World;
use raddle_base::SiteId;
use raddle_event::{Addr, Event, EventKind, Problem, ProblemKind};
use raddle_ir::Ty;
use raddle_libmodel::Arg;
use raddle_machine::{OpKind, Operation, Sink, StackSource};
use std::sync::Arc;

/// One thread in motion, with all it can reach.
pub(crate) struct Cx<'a> {
    pub image: &'a Image,
    pub memory: &'a mut Memory,
    pub world: &'a mut World,
    pub thread: &'a mut Thread,
    pub sink: &'a mut dyn Sink,
}

/// The thread stands before a visible operation (or has ended); nothing more happens in this step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Halt;

/// Call sites of a thread, innermost first.
pub(crate) struct Calls<'a> {
    pub image: &'a Image,
    pub frames: &'a [Frame],
}

impl StackSource for Calls<'_> {
    fn call_sites(&self) -> Vec<SiteId> {
        let callers = self.frames.split_last().map_or(&[][..], |(_, callers)| callers);
        callers.iter().rev().map(|frame| self.image.site(frame)).collect()
    }
}

impl<'a> Cx<'a> {
    pub fn func(&self) -> &'a Func {
        self.image.func(self.thread.top().function)
    }

    /// Where the innermost frame stands.
    pub fn site(&self) -> SiteId {
        self.thread.frames.last().map_or(SiteId::NONE, |frame| self.image.site(frame))
    }

    pub fn call_sites(&self) -> Vec<SiteId> {
        Calls { image: self.image, frames: &self.thread.frames }.call_sites()
    }

    pub fn event(&mut self, kind: EventKind) {
        let site = self.site();
        self.event_at(site, kind);
    }

    pub fn event_at(&mut self, site: SiteId, kind: EventKind) {
        let event = Event { thread: self.thread.id, site, kind };
        self.image.reached.event(event.thread, site);
        self.sink.event(event, &Calls { image: self.image, frames: &self.thread.frames });
    }

    pub fn assume(&mut self, id: &'static str) {
        self.world.state.assume(id);
    }

    pub fn stand(&mut self, kind: OpKind, action: Action) -> Halt {
        let operation = Operation { site: self.site(), kind };
        self.thread.stand = Stand::Before { operation, action };
        Halt
    }

    /// A problem that the run survives. Noted once per place and object.
    pub fn problem(&mut self, kind: ProblemKind, object: Option<Addr>, detail: &str) {
        let problem = self.make_problem(kind, object, detail.to_owned());
        let known = self.world.problems.iter().any(|p| {
            (p.kind, p.site, p.object, p.thread)
                == (problem.kind, problem.site, problem.object, problem.thread)
        });
        if !known {
            self.world.problems.push(problem);
        }
    }

    fn make_problem(&self, kind: ProblemKind, object: Option<Addr>, detail: String) -> Problem {
        Problem { kind, thread: self.thread.id, site: self.site(), object, stack: self.call_sites(), detail }
    }

    /// A problem that the run does not survive. Other threads may still move before the run ends.
    pub fn crash(&mut self, kind: ProblemKind, object: Option<Addr>, detail: String) -> Halt {
        let problem = self.make_problem(kind, object, detail);
        self.end_with(Ending::Problem(problem))
    }

    pub fn unsupported(&mut self, reason: String) -> Halt {
        let site = self.site();
        self.end_with(Ending::Unsupported { site, reason })
    }

    pub fn limit(&mut self, reason: &str) -> Halt {
        self.end_with(Ending::Limit { reason: reason.to_owned() })
    }

    pub fn end_with(&mut self, ending: Ending) -> Halt {
        self.thread.phase = Phase::Start;
        self.stand(OpKind::Exit, Action::Exit(Arc::new(ending)))
    }

    pub fn missed(&mut self, miss: Miss) -> Halt {
        self.crash(miss.kind, miss.object, miss.detail)
    }

    /// The object behind a pointer given to a library function, or the end of the run.
    pub fn resolve(&mut self, address: u64, len: u64) -> Result<At, Halt> {
        match self.memory.find(address, len) {
            Some(at) => Ok(at),
            None => {
                let miss = self.memory.miss(address, len);
                Err(self.missed(miss))
            }
        }
    }

    pub fn call_desc(&self) -> &'a CallDesc {
        let func = self.func();
        match func.code[self.thread.top().pc as usize] {
            Code::Call { desc } => &func.calls[desc as usize],
            _ => unreachable!("the thread stands at a call"),
        }
    }

    pub fn value(&self, slot: S) -> u64 {
        self.thread.regs[(self.thread.top().base + slot) as usize]
    }

    pub fn value_of(&self, slot: S, ty: Ty) -> u128 {
        let low = u128::from(self.value(slot));
        if ty.is_wide() { low | u128::from(self.value(slot + 1)) << 64 } else { low }
    }

    pub fn set(&mut self, slot: S, ty: Ty, value: u128) {
        let at = (self.thread.top().base + slot) as usize;
        self.thread.regs[at] = value as u64;
        if ty.is_wide() {
            self.thread.regs[at + 1] = (value >> 64) as u64;
        }
    }

    /// Bits of an argument of the call at the present position; 0 when there are fewer.
    pub fn arg(&self, arg: Arg) -> u64 {
        match self.call_desc().args.get(arg.0 as usize) {
            Some(&ArgDesc { slot, .. }) => self.value(slot),
            None => 0,
        }
    }

    /// A pointer argument: cut to pointer width (K&R calls may pass anything).
    pub fn pointer_arg(&self, arg: Arg) -> u64 {
        self.arg(arg) & self.memory.layout.mask
    }

    /// Stores the result of the call at the present position and moves past it.
    pub fn return_value(&mut self, value: u128) {
        if let Some(&(slot, ty)) = self.call_desc().dsts.first() {
            self.set(slot, ty, wide::keep(value, self.image.bits(ty)));
        }
        self.thread.phase = Phase::Start;
        self.thread.top_mut().pc += 1;
    }
}
