//! What can be reached before an object is made: points to which some way of control from the start of the program, through calls and
//! creations of threads, leads past the initialisation.
//!
//! *May*, erring towards reachable. A point that is not reached was preceded by the initialisation, done by the same thread or by one of
//! those that created it. Order by other means, such as joining the thread that initialises, is not looked at.

use super::Input;
use super::renewed::At;
use crate::calls::{Call, Way};
use raddle_facts::Start;
use raddle_ir::{BlockId, FunctionId, Terminator};
use std::collections::{BTreeMap, BTreeSet};

pub(super) struct Unmade {
    /// Per block, the stretches that are reached: first and last instruction.
    reached: BTreeMap<(FunctionId, BlockId), Vec<(usize, usize)>>,
}

impl Unmade {
    /// All that is reached without going past `made`.
    pub fn before(input: Input<'_>, made: At) -> Unmade {
        let mut walk = Walk {
            input,
            made,
            work: Vec::new(),
            seen: BTreeSet::new(),
            returned: BTreeSet::new(),
            waiting: BTreeMap::new(),
            reached: BTreeMap::new(),
        };
        let from_outside = |start: Start| match start {
            Start::Main | Start::Client | Start::Handler(_) => true,
            Start::Created(_) | Start::Once(_) => false,
        };
        let threads = input.threads.threads.values().filter(|thread| from_outside(thread.start));
        let roots = threads.map(|thread| thread.entry).chain(input.constructors.iter().copied());
        roots.for_each(|function| walk.enter(function));
        while let Some(at) = walk.work.pop() {
            walk.stretch(at);
        }
        Unmade { reached: walk.reached }
    }

    pub fn reaches(&self, (function, block, index): At) -> bool {
        let stretches = self.reached.get(&(function, block)).into_iter().flatten();
        stretches.into_iter().any(|(first, last)| (*first..=*last).contains(&index))
    }
}

struct Walk<'a> {
    input: Input<'a>,
    made: At,
    work: Vec<At>,
    seen: BTreeSet<At>,
    /// Functions whose end is reached.
    returned: BTreeSet<FunctionId>,
    /// Where to go on when a function returns.
    waiting: BTreeMap<FunctionId, Vec<At>>,
    reached: BTreeMap<(FunctionId, BlockId), Vec<(usize, usize)>>,
}

impl Walk<'_> {
    fn enter(&mut self, function: FunctionId) {
        self.go((function, BlockId(0), 0));
    }

    fn go(&mut self, at: At) {
        if self.seen.insert(at) {
            self.work.push(at);
        }
    }

    /// From one instruction to the end of its block, to the initialisation, or into a call that does not come back.
    fn stretch(&mut self, (function, block, first): At) {
        let calls = &self.input.calls.from[function];
        let from = calls.partition_point(|call| (call.block, call.index) < (block, first));
        for call in calls[from..].iter().take_while(|call| call.block == block) {
            call.runs.iter().for_each(|(target, _)| self.enter(*target));
            let after = (function, block, call.index + 1);
            if (function, block, call.index) == self.made || !self.comes_back(call, after) {
                self.reached.entry((function, block)).or_default().push((first, call.index));
                return;
            }
        }
        self.reached.entry((function, block)).or_default().push((first, usize::MAX));
        let terminator = &self.input.program.functions[function].blocks[block].terminator;
        if matches!(terminator, Terminator::Ret { .. }) && self.returned.insert(function) {
            let waiting = self.waiting.remove(&function).unwrap_or_default();
            waiting.into_iter().for_each(|at| self.go(at));
        }
        let mut next = Vec::new();
        terminator.each_target(|to| next.push(to));
        next.retain(|to| self.input.values.is_reachable(function, *to));
        next.into_iter().for_each(|to| self.go((function, to, 0)));
    }

    /// Whether a call is known to return without the initialisation; if not, whoever may still show it goes on from there.
    fn comes_back(&mut self, call: &Call, after: At) -> bool {
        let runs_body = |way: &Way| matches!(way, Way::Call | Way::AtomicCall);
        let only_bodies = call.effects.is_empty()
            && call.unknown.is_empty()
            && !call.runs.is_empty()
            && call.runs.iter().all(|(_, way)| runs_body(way));
        if !only_bodies || call.runs.iter().any(|(target, _)| self.returned.contains(target)) {
            return true;
        }
        for (target, _) in &call.runs {
            self.waiting.entry(*target).or_default().push(after);
        }
        false
    }
}
