//! A script as a [`Machine`]: the step, the status after it, and the questions that engines ask.

use super::code::{Code, EndlessLoops, Program, compile};
use super::operations::Stuck;
use super::state::{At, Local, Objects, State, Thread, Weak};
use super::stutter::{Condition, Effect, Nap};
use super::syntax::{Act, Script};
use raddle_base::SiteId;
use raddle_event::{Addr, Choice, Event, EventKind, Loc, ObjectId, Problem, ProblemKind, ThreadId};
use raddle_machine::{
    Canonical, Machine, ObjectInfo, ObjectKind, OpKind, Operation, Origin, Sink, StackSource, Status,
    ThreadInfo, Visibility,
};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

#[derive(Clone)]
pub struct ScriptMachine {
    pub(super) program: Arc<Program>,
    pub(super) objects: Arc<Objects>,
    pub(super) visibility: Visibility,
    pub(super) spurious_wakeups: SpuriousWakeups,
    pub(super) stuttering: Stuttering,
    branches: Branches,
    pub(super) state: State,
}

/// Whether branches are events: side 0 of an `If` is `then`, side 0 of a `BreakIf` leaves the loop and has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branches {
    Reported,
    Silent,
}

/// Whether a thread that goes round in circles falls asleep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stuttering {
    Sleeps,
    /// Runs do not end: only a search that remembers states does.
    GoesOn,
}

/// Whether a condition wait may end for no reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpuriousWakeups {
    On,
    Off,
}

/// A copy of the whole state.
pub struct Saved(State);

/// Steps without a visible operation after which a run is given up.
const LONGEST_SEGMENT: usize = 10_000;

impl ScriptMachine {
    pub fn new(script: &Script) -> Self {
        Self::with(script, SpuriousWakeups::On)
    }

    pub fn with(script: &Script, spurious_wakeups: SpuriousWakeups) -> Self {
        let program = compile(script);
        let state = State::new(script, &program);
        Self {
            program: Arc::new(program),
            objects: Arc::new(Objects::new(script)),
            visibility: Visibility::default(),
            spurious_wakeups,
            stuttering: Stuttering::Sleeps,
            branches: Branches::Silent,
            state,
        }
    }

    /// Whether a thread may go round in circles.
    pub fn has_endless_loops(&self) -> bool {
        self.program.endless_loops == EndlessLoops::Present
    }

    pub fn stuttering(mut self, stuttering: Stuttering) -> Self {
        self.stuttering = stuttering;
        self
    }

    pub fn branches(mut self, branches: Branches) -> Self {
        self.branches = branches;
        self
    }

    /// Where a lock of the script is; the one behind the last is that of atomic sections.
    pub fn lock_address(&self, lock: usize) -> Addr {
        self.objects.lock(lock)
    }

    /// The bytes of all variables, in order: with the status, the outcome of a run.
    pub fn memory(&self) -> Vec<u8> {
        self.state.memory.concat()
    }

    pub(super) fn emit(&self, thread: ThreadId, site: SiteId, kind: EventKind, sink: &mut dyn Sink) {
        sink.event(
            Event { thread, site, kind },
            &CallSites { thread: self.state.thread(thread), machine: self },
        );
    }

    pub(super) fn problem(
        &mut self,
        kind: ProblemKind,
        thread: ThreadId,
        site: SiteId,
        object: Option<Addr>,
    ) {
        let stack = CallSites { thread: self.state.thread(thread), machine: self }.call_sites();
        self.state.problems.push(Problem { kind, thread, site, object, stack, detail: String::new() });
    }

    pub(super) fn next(&mut self, thread: ThreadId) {
        let local = self.state.local_mut(thread);
        local.at = At::Code;
        local.frame_mut().position += 1;
    }

    /// Runs the thread up to its next visible operation.
    fn advance(&mut self, thread: ThreadId, sink: &mut dyn Sink) {
        let mut last_round: Option<(Local, Vec<Condition>)> = None;
        for _ in 0..LONGEST_SEGMENT {
            if self.state.status != Status::Running || self.state.thread(thread).local.at != At::Code {
                return;
            }
            match self.code(thread) {
                Code::End => return,
                Code::Act { act, site } => {
                    if self.act_operation(thread, act).is_some() {
                        return;
                    }
                    let effect = self.silent_act(thread, site, act, sink);
                    match (&effect, &mut last_round) {
                        (Effect::Some, round) => *round = None,
                        (Effect::None(new), Some((_, conditions))) => conditions.extend(new),
                        (Effect::None(_), None) => {}
                    }
                    self.state.note(thread, effect);
                    self.next(thread);
                }
                Code::Unless { site, cond, target } => {
                    let holds = self.truth(thread, cond);
                    if self.branches == Branches::Reported {
                        let taken = if holds { 0 } else { 1 };
                        self.emit(thread, site, EventKind::BranchBegin { taken }, sink);
                    }
                    let frame = self.state.local_mut(thread).frame_mut();
                    frame.position = if holds { frame.position + 1 } else { target };
                }
                Code::Merge { site } => {
                    if self.branches == Branches::Reported {
                        self.emit(thread, site, EventKind::BranchEnd, sink);
                    }
                    self.state.local_mut(thread).frame_mut().position += 1;
                }
                Code::Goto(target) => self.state.local_mut(thread).frame_mut().position = target,
                Code::Again { site, target } => {
                    let local = self.state.local_mut(thread);
                    local.frame_mut().position = target;
                    if let Some((before, conditions)) = last_round.take()
                        && before == *local
                    {
                        local.at = At::Spin { site };
                        let thread = self.state.thread_mut(thread);
                        let local = Arc::clone(&thread.local);
                        thread.naps.push(Nap { local, variant: 0, conditions });
                        return;
                    }
                    last_round = Some((local.clone(), Vec::new()));
                }
                Code::Count { slot, times, exit } => {
                    let frame = self.state.local_mut(thread).frame_mut();
                    if frame.counters[slot] == times {
                        frame.position = exit;
                    } else {
                        frame.counters[slot] += 1;
                        frame.position += 1;
                    }
                }
                Code::ResetCount { slot } => {
                    let frame = self.state.local_mut(thread).frame_mut();
                    frame.counters[slot] = 0;
                    frame.position += 1;
                }
            }
        }
        self.state.status =
            Status::Limit { reason: "a segment without visible operations is too long".into() };
    }

    /// Ends the run if nobody can move.
    fn settle(&mut self) {
        if self.state.status != Status::Running {
            return;
        }
        let threads = || (0..self.state.threads.len() as u32).map(ThreadId);
        if threads().any(|thread| !self.enabled_variants(thread).is_empty()) {
            return;
        }
        let alive: Vec<ThreadId> =
            threads().filter(|thread| self.state.thread(*thread).local.at != At::Ended).collect();
        if alive.is_empty() {
            self.state.status = Status::Exited(0);
            return;
        }
        let circling = alive.iter().any(|thread| self.stuck(*thread) == Stuck::Asleep);
        let (status, kind) = if circling {
            (Status::Livelock, ProblemKind::Livelock)
        } else {
            (Status::Deadlock, ProblemKind::Deadlock)
        };
        self.state.status = status;
        for thread in alive {
            let operation = self.operation(thread).expect("the thread is alive");
            self.problem(kind, thread, operation.site, awaited(operation.kind));
        }
    }
}

impl Machine for ScriptMachine {
    type Checkpoint = Saved;

    fn thread_count(&self) -> u32 {
        self.state.threads.len() as u32
    }

    fn status(&self) -> Status {
        self.state.status.clone()
    }

    fn pending(&self, thread: ThreadId) -> Option<Operation> {
        self.operation(thread)
    }

    fn standpoint(&self, thread: ThreadId) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.state.thread(thread).local.hash(&mut hasher);
        hasher.finish()
    }

    fn enabled(&self, choices: &mut Vec<Choice>) {
        choices.clear();
        if self.state.status != Status::Running {
            return;
        }
        for thread in (0..self.thread_count()).map(ThreadId) {
            let variants = self.enabled_variants(thread);
            choices.extend(variants.into_iter().map(|variant| Choice { thread, variant }));
        }
    }

    fn step(&mut self, choice: Choice, sink: &mut dyn Sink) {
        let Choice { thread, variant } = choice;
        assert!(
            self.state.status == Status::Running
                && thread.0 < self.thread_count()
                && self.enabled_variants(thread).contains(&variant),
            "{choice:?} is not enabled"
        );
        if self.program.endless_loops == EndlessLoops::Present && self.stuttering == Stuttering::Sleeps {
            let outcomes = self.outcomes(thread);
            self.state.visit(thread, variant, outcomes);
        }
        let effect = self.perform(thread, variant, sink);
        self.state.note(thread, effect);
        self.advance(thread, sink);
        self.state.arrive(thread);
        self.settle();
    }

    fn checkpoint(&mut self) -> Saved {
        Saved(self.state.clone())
    }

    fn restore(&mut self, checkpoint: &Saved) {
        self.state.clone_from(&checkpoint.0);
    }

    fn discard(&mut self, _checkpoint: Saved) {}

    fn canonical(&mut self) -> Canonical {
        super::fingerprint::canonical(self)
    }

    fn problems(&self) -> &[Problem] {
        &self.state.problems
    }

    fn assumptions(&self) -> Vec<&'static str> {
        let weak = (self.state.weak_atomics == Weak::Met).then_some("A-SC");
        let spurious = (self.spurious_wakeups == SpuriousWakeups::Off).then_some("A-SPURIOUS");
        let asleep = self.state.threads.iter().any(|thread| !thread.naps.is_empty());
        let asleep = asleep.then_some(["A-HASH", "A-LOOP"]).into_iter().flatten();
        asleep.chain(weak).chain(spurious).collect()
    }

    fn output(&self) -> &[u8] {
        &[]
    }

    fn set_visibility(&mut self, visibility: Visibility) {
        self.visibility = visibility;
    }

    fn origin(&self, thread: ThreadId) -> Option<Origin> {
        let thread = self.state.thread(thread);
        let (creator, _) = thread.created?;
        Some(Origin { creator, function: thread.function as u32, argument: 0, detached: false })
    }

    fn thread_info(&self, thread: ThreadId) -> ThreadInfo {
        let thread = self.state.thread(thread);
        let body = thread.function - self.program.once_count;
        let entry = if body == 0 { "main".to_owned() } else { format!("t{body}") };
        ThreadInfo { entry, created: thread.created.map(|(creator, site)| (creator, site, Vec::new())) }
    }

    fn call_sites(&self, thread: ThreadId) -> Vec<SiteId> {
        CallSites { thread: self.state.thread(thread), machine: self }.call_sites()
    }

    fn object_info(&self, object: ObjectId) -> ObjectInfo {
        ObjectInfo { kind: ObjectKind::Global, name: self.objects.name(object), size: 8, allocated: None }
    }

    fn place_name(&self, loc: Loc) -> String {
        format!("{}[{}..{}]", self.objects.name(loc.object), loc.offset, loc.offset + loc.len)
    }

    fn held_locks(&self, thread: ThreadId) -> Vec<Addr> {
        self.state.thread(thread).local.held.iter().map(|held| self.objects.lock(held.lock)).collect()
    }
}

struct CallSites<'a> {
    thread: &'a Thread,
    machine: &'a ScriptMachine,
}

impl StackSource for CallSites<'_> {
    /// A frame below the innermost one stands at the once call that made the next.
    fn call_sites(&self) -> Vec<SiteId> {
        let callers = self.thread.local.frames.split_last().map_or(&[][..], |(_, callers)| callers);
        callers
            .iter()
            .rev()
            .filter_map(|frame| match self.machine.program.functions[frame.function].code[frame.position] {
                Code::Act { site, act: Act::Once { .. } } => Some(site),
                _ => None,
            })
            .collect()
    }
}

/// The object that a stuck thread waits for.
fn awaited(kind: OpKind) -> Option<Addr> {
    match kind {
        OpKind::Lock { lock, .. } => Some(lock),
        OpKind::WaitEnd { cond, .. } => Some(cond),
        OpKind::BarrierLeave { barrier } => Some(barrier),
        OpKind::SemWait { sem, .. } => Some(sem),
        OpKind::Once { once } => Some(once),
        _ => None,
    }
}
